// process.h: exit codes, signals, standard streams and limits of the process; call all on the main thread, except
// process_interrupted
#pragma once

#include <stdbool.h>

// Exit codes, documented in the man page. A run that a signal ends has 128 + the signal's number: 130 for SIGINT, 143
// for SIGTERM.
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED_SOME = 1, // an error during the run
    EXIT_USAGE = 2,       // wrong arguments
    EXIT_NOTHING = 3,     // nothing could be done: no source, no device
    EXIT_DEVICE = 4,      // the device was lost and no other path could replace it, or the display was lost
};

// A command adds this to its exit code if one of its threads is still inside a driver. main then ends the process with
// _exit, because exit() would free data that the driver still uses.
enum { EXIT_AT_ONCE = 256 };
// A command adds this if its exit code already accounts for a signal that has arrived. main then keeps the code.
enum { EXIT_SETTLED = 512 };

// After process_catch_signals, SIGINT, SIGTERM and SIGHUP end the process at once with their exit code; their handler
// calls `clean_up` first.
// After process_hold_signals, the first signal only interrupts waits and sets the result of process_interrupted: the
// signal's number, 0 before. A second signal ends the process at once. The process also ends if a driver call hangs for
// 10 s after the first signal: a call of any thread (CALLS_ANY), or only of the main thread (CALLS_MAIN, for a command
// whose main thread does not wait for other threads).
enum process_calls { CALLS_ANY, CALLS_MAIN };
void process_catch_signals(void (*clean_up)(void));
void process_hold_signals(enum process_calls calls);
int process_interrupted(void);

// Opens /dev/null for each closed standard stream, so that no file opened later becomes a standard stream. Using such a
// stream is still an error.
void process_guard_streams(void);
// Raises the limit of open files to 1024, or to the hard limit if that is lower, because drivers open many files.
void process_raise_limits(void);
// Flushes standard output. Returns false if it could not be written completely (closed pipe, full disk), and logs
// nothing: main logs the error at the end. A command with much output should call it and stop.
bool process_flush(void);
