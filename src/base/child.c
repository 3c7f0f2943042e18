// child.c: runs a program as a child process, within limits
#include "base/child.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/driver_call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Closes all descriptors from `first` on. `flags`: 0, or CLOSE_RANGE_CLOEXEC: only in the programs that are started
// from now on. Returns -1 before Linux 5.9, with this flag before 5.11.
static int close_from(int first, unsigned flags)
{
    return (int)syscall(SYS_close_range, (unsigned)first, ~0U, flags);
}

// A killed process may hang in a driver. child_talk waits KILLED_MS for it, then leaves it to the system.
enum { POLL_MS = 5, KILLED_MS = 2000 };

enum { LINES_FILENO = CHILD_FILES - 1 }; // the child's descriptor for the lines of child_write, or for requests

// Runs in the child, which shares the memory of the parent until execv: only async-signal-safe functions are allowed.
// Returns after a failure.
static void become(const char *path, char *const arguments[], const int files[CHILD_FILES], bool dies, pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    if (dies)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    setpgid(0, 0);                   // the terminal's Ctrl-C is for monocle, which then ends this child
    for (int i = 1; i < NSIG; i++) { // a handler would change the parent's memory
        struct sigaction action;
        if (sigaction(i, NULL, &action) == 0 && (action.sa_handler != SIG_IGN || i == SIGPIPE))
            signal(i, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
    int last = STDERR_FILENO;
    const int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < CHILD_FILES; i++) {
        if (i > STDERR_FILENO && files[i] < 0)
            continue;
        if (dup2(files[i] < 0 ? null : files[i], i) < 0)
            return;
        if (i > STDERR_FILENO)
            fcntl(i, F_SETFD, 0); // dup2 leaves a descriptor as it is that is there already
        last = i;
    }
    close_from(last + 1, 0); // drivers leave descriptors open for programs
    execv(path, arguments);
}

int child_start(const char *path, char *const arguments[], const int files[CHILD_FILES], bool dies, pid_t *child)
{
    volatile int error = 0;
    sigset_t all, before;
    const pid_t parent = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    *child = vfork(); // fork would copy the tables of all memory
    if (*child == 0) {
        become(path, arguments, files, dies, parent);
        error = errno;
        _exit(EXIT_FAILURE);
    }
    if (*child < 0)
        error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (*child > 0 && error != 0)
        waitpid(*child, NULL, 0);
    return error;
}

// Returns false if the child still runs after `limit_ms`.
static bool ends_within(pid_t child, int limit_ms, int *status)
{
    for (int ms = 0; ms < limit_ms; ms += POLL_MS) {
        if (waitpid(child, status, WNOHANG) == child)
            return true;
        const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
        nanosleep(&pause, NULL);
    }
    return false;
}

static enum child_end ended(int status, int *value)
{
    *value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return WIFSIGNALED(status) ? CHILD_KILLED : CHILD_EXITED;
}

// ---- a child whose lines are read ----

enum { TALK_MS = 100 };

struct talk {
    bool (*line)(void *context, char *text);
    void *context;
    char text[CHILD_LINE];
    size_t bytes;
    bool over_long; // the rest of this line is ignored
};

// Returns false if `line` wants the child to end.
static bool take(struct talk *talk, const char *piece, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (piece[i] != '\n') {
            talk->over_long = talk->over_long || talk->bytes == sizeof(talk->text) - 1;
            if (!talk->over_long)
                talk->text[talk->bytes++] = piece[i];
            continue;
        }
        talk->text[talk->bytes] = '\0';
        if (!talk->over_long && !talk->line(talk->context, talk->text))
            return false;
        talk->bytes = 0;
        talk->over_long = false;
    }
    return true;
}

enum talk_end { TALK_CLOSED, TALK_LATE, TALK_STOPPED };

// Reads until the pipe is closed, the time is over, or `line` returns false.
static enum talk_end listen_to(int pipe, int limit_ms, struct talk *talk)
{
    const int64_t start_ns = clock_now_ns();
    while (clock_ms_since(start_ns) < limit_ms) {
        char piece[CHILD_LINE];
        struct pollfd polled = {.fd = pipe, .events = POLLIN};
        if (poll(&polled, 1, TALK_MS) <= 0) { // nothing yet, or a signal
            if (!talk->line(talk->context, NULL))
                return TALK_STOPPED;
            continue;
        }
        const ssize_t bytes = read(pipe, piece, sizeof(piece));
        if (bytes == 0 || (bytes < 0 && errno != EINTR))
            return TALK_CLOSED;
        if (bytes > 0 && !take(talk, piece, (size_t)bytes))
            return TALK_STOPPED;
    }
    return TALK_LATE;
}

enum child_end child_talk(const char *program, char *const arguments[], int limit_ms, int *value,
                          bool (*line)(void *context, char *text), void *context)
{
    struct talk talk = {.line = line, .context = context};
    int pipe[2], status;
    pid_t child;
    if (pipe2(pipe, O_CLOEXEC) != 0) {
        *value = errno;
        return CHILD_NOT_STARTED;
    }
    *value = child_start(program, arguments, (const int[CHILD_FILES]){-1, -1, -1, pipe[1]}, false, &child);
    close(pipe[1]);
    enum talk_end end = *value == 0 ? listen_to(pipe[0], limit_ms, &talk) : TALK_CLOSED;
    close(pipe[0]);
    if (*value != 0)
        return CHILD_NOT_STARTED;
    if (end == TALK_CLOSED && ends_within(child, KILLED_MS, &status))
        return ended(status, value);
    kill(-child, SIGKILL);
    ends_within(child, KILLED_MS, &status);
    *value = end == TALK_STOPPED ? SIGKILL : 0;
    return end == TALK_STOPPED ? CHILD_KILLED : CHILD_LATE;
}

// ---- a child that stays ----

struct child {
    pid_t process; // 0: it has ended
    int socket;
};

struct child *child_open(const char *program, char *const arguments[], int input)
{
    int pair[2], error;
    pid_t process;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return NULL;
    error = child_start(program, arguments, (const int[CHILD_FILES]){input, -1, -1, pair[1]}, false, &process);
    close(pair[1]);
    if (error != 0) {
        close(pair[0]);
        errno = error;
        return NULL;
    }
    struct child *child = xalloc(sizeof(*child));
    *child = (struct child){process, pair[0]};
    return child;
}

bool child_ask(struct child *child, const void *request, size_t bytes, void *reply, size_t most,
               const struct child_wait *wait, enum child_end *end, int *value)
{
    struct pollfd polled = {.fd = child->socket, .events = POLLIN};
    const int64_t start_ns = clock_now_ns();
    bool ready = send(child->socket, request, bytes, MSG_NOSIGNAL) < 0; // it has ended
    int status;
    while (!ready && clock_ms_since(start_ns) < (driver_call_interrupted() ? wait->signal_ms : wait->limit_ms))
        ready = poll(&polled, 1, TALK_MS) > 0;
    if (ready && recv(child->socket, reply, most, 0) == (ssize_t)most)
        return true;
    *end = !ready && driver_call_interrupted() ? CHILD_KILLED : CHILD_LATE;
    *value = *end == CHILD_KILLED ? SIGKILL : 0;
    if (ready && ends_within(child->process, KILLED_MS, &status)) {
        child->process = 0;
        *end = ended(status, value);
    }
    return false;
}

void child_close(struct child *child)
{
    int status;
    if (!child)
        return;
    if (child->process > 0) {
        kill(-child->process, SIGKILL);
        ends_within(child->process, KILLED_MS, &status);
    }
    close(child->socket);
    free(child);
}

struct child_pool {
    pthread_mutex_t lock; // guards the members below
    struct child *idle[CHILD_POOL_MAX];
    int count, most;
};

struct child_pool *child_pool_open(void)
{
    struct child_pool *pool = xalloc(sizeof(*pool));
    pthread_mutex_init(&pool->lock, NULL);
    pool->most = CHILD_POOL_MAX;
    return pool;
}

void child_pool_limit(struct child_pool *pool, size_t most)
{
    pool->most = most < CHILD_POOL_MAX ? (int)most : CHILD_POOL_MAX;
}

struct child *child_pool_take(struct child_pool *pool)
{
    if (!pool)
        return NULL;
    pthread_mutex_lock(&pool->lock);
    struct child *child = pool->count > 0 ? pool->idle[--pool->count] : NULL;
    pthread_mutex_unlock(&pool->lock);
    return child;
}

void child_pool_give(struct child_pool *pool, struct child *child)
{
    bool stays = false;
    if (pool) {
        pthread_mutex_lock(&pool->lock);
        stays = child && pool->count < pool->most;
        if (stays)
            pool->idle[pool->count++] = child;
        pthread_mutex_unlock(&pool->lock);
    }
    if (!stays)
        child_close(child);
}

void child_pool_close(struct child_pool *pool)
{
    for (struct child *child; (child = child_pool_take(pool));)
        child_close(child);
    if (pool)
        pthread_mutex_destroy(&pool->lock);
    free(pool);
}

bool child_receive(void *request, size_t bytes)
{
    return recv(LINES_FILENO, request, bytes, 0) == (ssize_t)bytes;
}

bool child_reply(const void *reply, size_t bytes)
{
    return send(LINES_FILENO, reply, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

void child_write(const char *line)
{
    dprintf(LINES_FILENO, "%s\n", line);
}

bool child_was_killed(enum child_end end, int value)
{
    return end == CHILD_KILLED && (value == SIGINT || value == SIGTERM || value == SIGHUP || value == SIGKILL);
}

void child_explain(enum child_end end, int value, int limit_s, int cpu_s, char why[CHILD_WHY])
{
    switch (end) {
    case CHILD_EXITED:
        snprintf(why, CHILD_WHY, "the driver ended the process with status %d", value);
        break;
    case CHILD_KILLED:
        if (value == SIGXCPU)
            snprintf(why, CHILD_WHY, "it took longer than %d s of processor time", cpu_s);
        else
            snprintf(why, CHILD_WHY, "it %s signal %d", child_was_killed(end, value) ? "was killed by" : "crashed with",
                     value);
        break;
    case CHILD_LATE:
        snprintf(why, CHILD_WHY, "it took longer than %d s", limit_s);
        break;
    case CHILD_NOT_STARTED:
        snprintf(why, CHILD_WHY, "its process cannot be started: %s", strerror(value));
        break;
    }
}

size_t child_memory(size_t least)
{
    const size_t all = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    return all > least ? all : least;
}

// Returns the bytes of data memory that the process already has. Sanitizers reserve terabytes.
static size_t data_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;
    if (file && fscanf(file, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void lower_limit(int resource, rlim_t most)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur <= most)
        return;
    limit.rlim_cur = most;
    setrlimit(resource, &limit);
}

void child_begin(int parent, size_t bytes, int seconds)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    fcntl(LINES_FILENO, F_SETFD, FD_CLOEXEC); // not for the programs that a driver starts
    lower_limit(RLIMIT_CORE, 0);
    lower_limit(RLIMIT_CPU, (rlim_t)seconds);
    // Not RLIMIT_AS: drivers of GPUs reserve many times the memory that they use.
    lower_limit(RLIMIT_DATA, data_bytes() + bytes);
}

void child_limit(int seconds)
{
    struct timespec used;
    struct rlimit limit;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0)
        return;
    const rlim_t until = (rlim_t)(used.tv_sec + 1 + seconds);
    limit.rlim_cur = until < limit.rlim_max ? until : limit.rlim_max;
    setrlimit(RLIMIT_CPU, &limit);
}
