// user_rows.h: compiles users' filters for the cpu path, with the system's C compiler
#pragma once

#include "filter/chain.h"

// Compiles the users' filters of a chain that have no row function yet, or loads them from the cache directory. A
// child process compiles, within limits. On any thread. False on failure: *error as in path_open.
bool user_rows_make(const struct chain *chain, char **error);
