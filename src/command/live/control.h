// control.h: --socket SOCKET: other programs drive the session with lines of JSON (docs/live.md). Main thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct session;
struct control;

// Makes the socket. False on failure (logged).
bool control_open(struct session *session, const char *path);
// Refuses the requests that wait, and removes the socket. Does nothing without a socket.
void control_close(struct session *session);
// Carries out the requests that have arrived, for at most about a millisecond, and reports changed properties. Does
// nothing without a socket.
void control_serve(struct session *session);
// Waits until `fd` can be read (-1: none), a client needs control_serve, a signal arrives, or the time is over.
void control_wait(const struct session *session, int fd, int64_t timeout_ns);
