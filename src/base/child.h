// child.h: runs a program as a child process, within limits
#pragma once

#include <stddef.h>

enum child_end {
    CHILD_EXITED,      // *value is its exit status
    CHILD_KILLED,      // by a signal: *value is its number
    CHILD_LATE,        // it ran longer than the limit and was killed
    CHILD_NOT_STARTED, // *value is errno
};

// Runs a program with /dev/null as its standard streams, without other open files and in a process group of its own,
// and waits for its end. After `limit_ms` it kills the whole group. On any thread. Logs nothing.
enum child_end child_run(const char *program, char *const arguments[], int limit_ms, int *value);

// Such a program calls this first. From then on the program writes no core file and can allocate at most `bytes`. The
// kernel kills it when the thread that started it ends, or after `seconds` of processor time (SIGXCPU). `parent` is the
// process that started it; if that process has ended already, this ends the program.
void child_begin(int parent, size_t bytes, int seconds);
