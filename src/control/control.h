// control.h: --socket SOCKET: other programs drive a run with lines of JSON (docs/live.md). Main thread.
#pragma once

#include "control/properties.h"

#include <stdint.h>

struct control_socket;

// Makes the socket of the run, which is borrowed. NULL on failure (logged).
struct control_socket *control_open(const struct controlled *run, const char *path);
// Refuses the requests that wait, and removes the socket. Does nothing without a socket.
void control_close(struct control_socket *control);
// Carries out the requests that have arrived, for at most about a millisecond, and reports changed properties. Does
// nothing without a socket.
void control_serve(struct control_socket *control);
// Waits until `fd` can be read (-1: none), a client needs control_serve, a signal arrives, or the time is over.
void control_wait(const struct control_socket *control, int fd, int64_t timeout_ns);
