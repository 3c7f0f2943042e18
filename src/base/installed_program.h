// installed_program.h: an installed program as a child process, with pipes to its standard input or from its standard
// output, or both
#pragma once

#include "base/child.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROGRAM_LINE = 256, PROGRAM_FILE = 3 };

struct program {
    const char *name;            // for messages; of the arguments
    pid_t process;               // 0: not running
    bool ended;                  // program_ended has seen its end, and
    int status;                  // its wait status
    int pipe;                    // our end, which does not block; -1: closed
    int input;                   // PROGRAM_TALKS: our end of its standard input, which does not block; -1: closed
    int errors;                  // its standard error; -1: closed
    int file;                    // an open file of ours that it gets as PROGRAM_FILE; 0: none
    const char *awaits;          // for a message: where its input comes from, if that may be silent; NULL: nowhere
    const atomic_bool *given_up; // true: program_read returns; NULL: never
    bool outlasts_signals;       // only `given_up` ends program_read
    char line[PROGRAM_LINE];     // the line of standard error that is being read
    size_t line_bytes;
    // Called by program_listen for each line of standard error, without its newline, cut at PROGRAM_LINE - 1 bytes.
    void (*heard)(void *context, const char *line);
    void *context;
};

enum program_pipe {
    PROGRAM_READS,  // the pipe is its standard input; it outlives us and sees the end of its input
    PROGRAM_WRITES, // the pipe is its standard output; the kernel kills it when the calling thread ends
    PROGRAM_TALKS,  // as PROGRAM_WRITES, with a pipe to its standard input, too; it runs with a lower priority
};

// Finds a program in PATH. Returns false if there is none.
bool program_find(const char *name, char *path, size_t size);

// Starts a program of PATH, or of a path with '/', without a shell, in a process group of its own. Its other standard
// stream is /dev/null; it has no other open files but `file`. Sets all members except `file`, `awaits`,
// `given_up`, `outlasts_signals`, `heard` and `context`. Returns 0, or errno: ENOENT if the program is not installed.
// On any thread; later calls on one thread at a time.
int program_start(struct program *program, const char *const arguments[], enum program_pipe pipe);
// Reads the lines that have arrived on standard error. Call it often: a full pipe stops the program.
void program_listen(struct program *program);
// Reads all that the program writes, at most `limit` bytes, and adds a NUL. The caller frees. Waits as long as the
// program runs, and logs a long wait once. NULL if it writes more, after a signal to monocle or `given_up`, or if
// memory is full.
char *program_read(struct program *program, size_t limit);
// Waits until the program ends, at most until this time of clock_now_ns (INT64_MAX: without limit; a long wait is
// logged once), and listens meanwhile. False: it still runs.
bool program_ended(struct program *program, int64_t deadline_ns);
// Kills the program and all others of its group. Call program_end then.
void program_kill(struct program *program);
// Closes the pipe, waits until the program ends, kills it after `limit_ms` (negative: never), and listens meanwhile.
// Returns how it ended, as child_talk does. Accepts one that is not running: CHILD_EXITED with *value 0.
enum child_end program_end(struct program *program, int limit_ms, int *value);

// ---- ffmpeg ----

// Returns the message of a line of a log with levels ("[h264 @ 0x55d0] [error] message"), or NULL if it is no error.
const char *ffmpeg_fault(const char *line);
// Logs that a program did not start. `task` is a verb, such as "play"; `name` is the video; `error` is the result of
// program_start.
void ffmpeg_log_not_started(const char *task, const char *name, const char *program, int error);
