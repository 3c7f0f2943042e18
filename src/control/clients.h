// clients.h: the clients of a Unix socket: lines in, lines out, within limits; never waits. Main thread.
#pragma once

#include "base/local_socket.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLIENTS_MAX = 8, CLIENT_LINE = 1 << 16, CLIENT_QUEUE = 1 << 20 };

// Only clients.c uses the members, except `waits`.
struct client {
    int fd;           // -1: the place is free
    unsigned number;  // of this client, from 1 on; 0: the place is free
    bool waits;       // the caller answers the last line later: take no further lines
    bool ended;       // it sends no more
    bool skips;       // the line before was too long: skip its rest
    size_t got, used; // bytes in `in`, and how many of them are taken
    size_t queued;    // bytes in `out`
    char *in;         // CLIENT_LINE + 1 bytes
    char *out;        // CLIENT_QUEUE bytes
};

struct clients {
    struct local_socket socket;
    unsigned accepted; // clients so far
    struct client client[CLIENTS_MAX];
};

// Listens at this path. False on failure (logged).
bool clients_open(struct clients *clients, const char *path);
void clients_close(struct clients *clients); // sends what the clients accept at once
// Accepts new clients, receives and sends. Frees the places of clients that have gone.
void clients_exchange(struct clients *clients);
// Waits until `fd` can be read (-1: none), a client or a new client needs clients_exchange, a signal arrives, or the
// time is over.
void clients_wait(const struct clients *clients, int fd, int64_t timeout_ns);

enum client_line { CLIENT_NONE, CLIENT_TAKEN, CLIENT_TOO_LONG };
// Takes the client's next line, which stays valid until clients_exchange. Never has a newline; is not NUL-terminated.
enum client_line client_take(struct client *client, const char **line, size_t *size);
// Sends text, or queues it. Drops a client that has gone, or whose queue is full (logged).
void client_send(struct client *client, const char *text, size_t size);
