// installed_program.c: an installed program as a child process, with pipes to its standard streams
#include "base/installed_program.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURN_MS = 10, TOLD_MS = 5000, KILLED_MS = 2000, PIPE_BYTES = 1 << 20 };

bool program_find(const char *name, char *path, size_t size)
{
    const char *at = getenv("PATH");
    struct stat status;
    while (at && *at) {
        const size_t bytes = strcspn(at, ":");
        const int length = snprintf(path, size, "%.*s/%s", (int)bytes, at, name);
        if (length > 0 && (size_t)length < size && access(path, X_OK) == 0 && stat(path, &status) == 0 &&
            S_ISREG(status.st_mode))
            return true;
        at += bytes + (at[bytes] == ':');
    }
    return false;
}

enum { LOWER_PRIORITY = 5, FULL_PIPE = 16 }; // FULL_PIPE: pieces that a pipe holds

// Both ends of each standard stream's pipe: [0] reads; -1: none.
typedef int ends[STDERR_FILENO + 1][2];

static void close_ends(ends end)
{
    for (int i = 0; i <= STDERR_FILENO; i++) {
        for (int k = 0; k < 2; k++) {
            if (end[i][k] >= 0)
                close(end[i][k]);
        }
    }
}

// Takes over our end of a stream, which does not block; -1 if it has no pipe.
static int take_end(ends end, int stream)
{
    const int which = stream == STDIN_FILENO, file = end[stream][which];
    end[stream][which] = -1;
    if (file >= 0 && stream != STDERR_FILENO)
        fcntl(file, F_SETPIPE_SZ, PIPE_BYTES); // fewer turns; may be refused
    if (file >= 0)
        fcntl(file, F_SETFL, O_NONBLOCK);
    return file;
}

int program_start(struct program *program, const char *const arguments[], enum program_pipe pipe)
{
    const bool used[] = {pipe != PROGRAM_WRITES, pipe != PROGRAM_READS, true};
    char path[PATH_MAX];
    ends end = {{-1, -1}, {-1, -1}, {-1, -1}};
    int files[CHILD_FILES] = {-1, -1, -1, program->file > 0 ? program->file : -1};
    program->name = arguments[0];
    program->process = 0;
    program->ended = false;
    program->pipe = program->input = program->errors = -1;
    program->line_bytes = 0;
    if (strchr(arguments[0], '/'))
        snprintf(path, sizeof(path), "%s", arguments[0]);
    else if (!program_find(arguments[0], path, sizeof(path)))
        return ENOENT;
    for (int i = 0; i <= STDERR_FILENO; i++) {
        if (used[i] && pipe2(end[i], O_CLOEXEC) != 0) {
            const int error = errno;
            close_ends(end);
            return error;
        }
        files[i] = end[i][i != STDIN_FILENO];
    }
    pid_t child;
    const int error = child_start(path, (char *const *)arguments, files, pipe != PROGRAM_READS, &child);
    if (error == 0) {
        program->process = child;
        program->input = take_end(end, STDIN_FILENO);
        program->pipe = take_end(end, STDOUT_FILENO);
        program->errors = take_end(end, STDERR_FILENO);
    }
    if (error == 0 && pipe == PROGRAM_READS) {
        program->pipe = program->input;
        program->input = -1;
    }
    if (error == 0 && pipe == PROGRAM_TALKS)
        setpriority(PRIO_PROCESS, (id_t)child, LOWER_PRIORITY);
    close_ends(end);
    return error;
}

static void hear(struct program *program, char c)
{
    if (c != '\n' && c != '\r') {
        if (program->line_bytes < PROGRAM_LINE - 1)
            program->line[program->line_bytes++] = c;
        return;
    }
    program->line[program->line_bytes] = '\0';
    if (program->line_bytes > 0 && program->heard)
        program->heard(program->context, program->line);
    program->line_bytes = 0;
}

void program_listen(struct program *program)
{
    char piece[4096];
    ssize_t bytes = 1;
    for (int i = 0; program->errors >= 0 && bytes > 0 && i < FULL_PIPE; i++) { // a program may write without end
        bytes = read(program->errors, piece, sizeof(piece));
        for (ssize_t k = 0; k < bytes; k++)
            hear(program, piece[k]);
    }
    if (program->errors < 0 || bytes != 0)
        return;
    hear(program, '\n'); // the last line may lack its newline
    close(program->errors);
    program->errors = -1;
}

// Says once that the program is waited for.
static void tell_wait(const struct program *program, int64_t begun_ns, bool *told)
{
    if (*told || clock_ms_since(begun_ns) <= TOLD_MS)
        return;
    if (program->awaits)
        log_warn("nothing has arrived from %s; check its address and that the sender runs (Ctrl+C ends the wait)",
                 program->awaits);
    else
        log_warn("waiting for %s, which still runs", program->name);
    *told = true;
}

char *program_read(struct program *program, size_t limit)
{
    const int64_t begun_ns = clock_now_ns();
    char *text = malloc(limit + 2);
    size_t size = 0;
    ssize_t bytes = -1;
    bool told = false;
    while (text && size <= limit && (program->outlasts_signals || !process_interrupted()) &&
           !(program->given_up && *program->given_up)) {
        tell_wait(program, begun_ns, &told);
        struct pollfd ready = {.fd = program->pipe, .events = POLLIN};
        program_listen(program);
        if (poll(&ready, 1, TURN_MS) < 0 && errno != EINTR)
            break;
        bytes = ready.revents ? read(program->pipe, text + size, limit + 1 - size) : -1;
        if (bytes == 0)
            break;
        size += bytes > 0 ? (size_t)bytes : 0;
    }
    if (!text || bytes != 0 || size > limit) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

bool program_ended(struct program *program, int64_t deadline_ns)
{
    const int64_t begun_ns = clock_now_ns();
    bool told = deadline_ns < INT64_MAX;
    for (;;) {
        program_listen(program);
        if (!program->ended && waitpid(program->process, &program->status, WNOHANG) == program->process)
            program->ended = true;
        if (program->ended || clock_now_ns() >= deadline_ns)
            return program->ended;
        tell_wait(program, begun_ns, &told);
        clock_sleep_until_ns(clock_now_ns() + TURN_MS * NS_PER_MS);
    }
}

static bool ends_within(struct program *program, int limit_ms)
{
    return program_ended(program, limit_ms < 0 ? INT64_MAX : clock_now_ns() + limit_ms * NS_PER_MS);
}

void program_kill(struct program *program)
{
    if (program->process != 0)
        kill(-program->process, SIGKILL);
}

enum child_end program_end(struct program *program, int limit_ms, int *value)
{
    enum child_end end = CHILD_EXITED;
    *value = 0;
    if (program->process == 0)
        return end;
    if (program->pipe >= 0)
        close(program->pipe);
    if (program->input >= 0)
        close(program->input);
    program->pipe = program->input = -1;
    if (ends_within(program, limit_ms)) {
        const int status = program->status;
        end = WIFSIGNALED(status) ? CHILD_KILLED : CHILD_EXITED;
        *value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    } else {
        program_kill(program);
        ends_within(program, KILLED_MS);
        end = CHILD_LATE;
    }
    program_listen(program);
    if (program->errors >= 0)
        close(program->errors);
    program->errors = -1;
    program->process = 0;
    return end;
}

// ---- ffmpeg ----

const char *ffmpeg_fault(const char *line)
{
    static const char *const faults[] = {"[error] ", "[fatal] ", "[panic] "};
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        const char *at = strstr(line, faults[i]);
        if (at)
            return at + strlen(faults[i]);
    }
    return NULL;
}

void ffmpeg_log_not_started(const char *task, const char *name, const char *program, int error)
{
    if (error == ENOENT)
        log_error("cannot %s %s: %s is not installed; run: sudo apt install ffmpeg", task, name, program);
    else
        log_error("cannot %s %s: cannot start %s: %s", task, name, program, strerror(error));
}
