// child.h: runs a program as a child process, within limits
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Path of the program whose hidden commands (probe, measure, inspect) are the children of monocle. A program that does
// not define this constant, such as a unit test, starts none: it trusts every driver and every variant.
extern const char child_program[] __attribute__((weak));

// Starts a program, without a shell, in a process group of its own, with no handled or blocked signal and no other open
// files than these: standard input, output and error (negative: /dev/null), and the descriptor 3 (negative: none).
// `dies`: the kernel kills it when the calling thread ends. Returns 0, or errno. On any thread.
enum { CHILD_FILES = 4 };
int child_start(const char *path, char *const arguments[], const int files[CHILD_FILES], bool dies, pid_t *child);

enum child_end {
    CHILD_EXITED,      // *value is its exit status
    CHILD_KILLED,      // by a signal: *value is the number of the signal
    CHILD_LATE,        // it ran longer than the limit and was killed; *value is 0
    CHILD_NOT_STARTED, // *value is errno
};

// Runs a program in a process group of its own, and waits until it ends. Its standard streams are /dev/null; it has one
// other open file, that of child_write. After `limit_ms` this kills the whole group and waits at most 2 s more. Calls
// line(context, text) for each line that the child writes with child_write, without its newline, and with NULL about
// every 100 ms. Ignores lines of more than CHILD_LINE bytes. If `line` returns false, this kills the group and returns
// CHILD_KILLED with *value SIGKILL. On any thread. Logs nothing.
enum { CHILD_LINE = 16384 };
enum child_end child_talk(const char *program, char *const arguments[], int limit_ms, int *value,
                          bool (*line)(void *context, char *text), void *context);

// A child that stays: it answers one request after the other. Starts it as child_talk does, but `input` is its standard
// input (-1: /dev/null). NULL on failure: errno. On any thread; the functions below on one at a time.
struct child;
struct child *child_open(const char *program, char *const arguments[], int input);
struct child_wait {
    int limit_ms, signal_ms; // for a reply: without a signal, and if one has arrived
};
// Sends a request, and waits at most `limit_ms` for a reply of exactly `most` bytes; at most `signal_ms` if a signal
// has arrived (driver_call_interrupted). False: the child has ended or is late, which *end and *value say as for
// child_talk, or the signal's time is over (CHILD_KILLED, SIGKILL). Only child_close may follow.
bool child_ask(struct child *child, const void *request, size_t bytes, void *reply, size_t most,
               const struct child_wait *wait, enum child_end *end, int *value);
void child_close(struct child *child); // kills the child; accepts NULL
// The child's part. False: the parent has closed it, or sends no request of this size.
bool child_receive(void *request, size_t bytes);
bool child_reply(const void *reply, size_t bytes); // async-signal-safe

// Children that wait for requests. On any thread.
struct child_pool;
struct child_pool *child_pool_open(void);
enum { CHILD_POOL_MAX = 16 };
void child_pool_limit(struct child_pool *pool, size_t most);        // before the first child; default: CHILD_POOL_MAX
struct child *child_pool_take(struct child_pool *pool);             // NULL: none waits. Accepts NULL
void child_pool_give(struct child_pool *pool, struct child *child); // closes it if it may not wait. Accepts NULL
void child_pool_close(struct child_pool *pool);                     // closes all that wait. Accepts NULL

// The child writes a line to the parent that called child_talk. Libraries do not write there, as they may to standard
// output.
void child_write(const char *line);

// Returns true if another program or the user ended the child, or the kernel because memory was full.
bool child_was_killed(enum child_end end, int value);
// Writes how a child failed, such as "it crashed with signal 11". The text of CHILD_EXITED blames a driver. `limit_s`
// and `cpu_s`: the child's limits of time and of processor time.
enum { CHILD_WHY = 80 };
void child_explain(enum child_end end, int value, int limit_s, int cpu_s, char why[CHILD_WHY]);

// The child program calls this first. It disables core files, and limits the program to `bytes` of further data memory
// and to `seconds` of processor time (SIGXCPU). The kernel kills the program when the thread that started it ends.
// `parent` is the process that started it; if that process has ended already, this ends the program.
void child_begin(int parent, size_t bytes, int seconds);
// Limits the processor time from now on. A child that stays calls it for each request.
void child_limit(int seconds);
// Returns the size of the machine's memory in bytes, but not less than `least`. Use it as the limit of a child that
// reports a device: PoCL reports a lower limit as the size of the device's memory.
size_t child_memory(size_t least);
