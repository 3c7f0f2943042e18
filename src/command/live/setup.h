// setup.h: opens and closes the parts of a session
#pragma once

#include <stdbool.h>

struct session;

// Opens everything and builds the first path; session->options is set. False on failure (logged), or if the user quits
// meanwhile: session->code is the exit code.
bool session_open(struct session *session);
// Builds the first path for the source's shape and runs a blank frame through it. False on failure (logged), or if the
// user quits meanwhile.
bool session_open_path(struct session *session);
// Closes everything. False if a driver is still busy or the display is lost: what they use, with the session, must stay
// as it is, and the caller exits with EXIT_AT_ONCE.
bool session_close(struct session *session);
