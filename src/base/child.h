// child.h: runs a program as a child process, within limits
#pragma once

#include <stddef.h>

enum child_end {
    CHILD_EXITED,      // *value is its exit status
    CHILD_KILLED,      // by a signal: *value is the number of the signal
    CHILD_LATE,        // it ran longer than the limit and was killed; *value is 0
    CHILD_NOT_STARTED, // *value is errno
};

// Runs a program with /dev/null as its standard streams, without other open files and in a process group of its own,
// and waits until it ends. After `limit_ms` it kills the whole group and waits at most 2 s more. On any thread. Logs
// nothing.
enum child_end child_run(const char *program, char *const arguments[], int limit_ms, int *value);

// The child program calls this first. It disables core files, and limits the program to `bytes` of further data memory
// and to `seconds` of processor time (SIGXCPU). The kernel kills the program when the thread that started it ends.
// `parent` is the process that started it; if that process has ended already, this ends the program.
void child_begin(int parent, size_t bytes, int seconds);
