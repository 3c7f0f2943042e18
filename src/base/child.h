// child.h: a program run as a child process, within limits
#pragma once

#include <stddef.h>

enum child_end {
    CHILD_EXITED,      // *value is its exit status
    CHILD_KILLED,      // by a signal: *value is its number
    CHILD_LATE,        // it ran longer than the limit and was killed
    CHILD_NOT_STARTED, // *value is errno
};

// Runs a program with /dev/null as its standard streams, no other open file and a process group of its own; waits for
// its end. After `limit_ms`, the whole group is killed. On any thread; nothing is logged.
enum child_end child_run(const char *program, char *const arguments[], int limit_ms, int *value);

// To be called first by such a program. From then on it is killed when the thread that started it ends, writes no core
// file, can allocate `bytes` at most, and is killed (SIGXCPU) after `seconds` of processor time. `parent` is the
// process that started it; if that is gone already, the program ends here.
void child_begin(int parent, size_t bytes, int seconds);
