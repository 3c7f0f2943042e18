// local_socket.h: Unix sockets that only this user can connect to; logs nothing
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum { LOCAL_NAME = 81, LOCAL_WHY = 256 }; // bytes of a file's name, and of a message

struct local_socket {
    int fd; // listens, non-blocking
    int directory;
    char name[LOCAL_NAME]; // in the directory
    dev_t device;          // of the socket's file
    ino_t inode;
};

// Makes the socket `path` with mode 0600 and listens. Replaces a socket of this user at which no program listens.
// Refuses any other file, and a directory that belongs to another user or that others can write, unless the directory
// is sticky, as /tmp is. The directory must not be a symbolic link. False on failure: `why` is one line that names the
// path.
bool local_socket_listen(struct local_socket *socket, const char *path, char why[LOCAL_WHY]);
// Closes the socket and removes its file, unless another file has taken its place.
void local_socket_close(struct local_socket *socket);
// Connects to the socket `path` of this user or of root. Returns a blocking descriptor that the caller closes; -1 on
// failure: `why` is one line that names the path.
int local_socket_connect(const char *path, char why[LOCAL_WHY]);
