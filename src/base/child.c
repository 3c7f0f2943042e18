// child.c: runs a program as a child process, within limits
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// A killed process may hang in a driver. child_run waits KILLED_MS for it, then leaves it to the system.
enum { POLL_MS = 5, KILLED_MS = 2000 };

// Returns 0, or errno.
static int start(const char *program, char *const arguments[], pid_t *child)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&files) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    int error = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    for (int fd = STDOUT_FILENO; error == 0 && fd <= STDERR_FILENO; fd++)
        error = posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, fd);
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    if (error == 0)
        error = posix_spawn(child, program, &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
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

enum child_end child_run(const char *program, char *const arguments[], int limit_ms, int *value)
{
    pid_t child;
    int status;
    *value = start(program, arguments, &child);
    if (*value != 0)
        return CHILD_NOT_STARTED;
    if (!ends_within(child, limit_ms, &status)) {
        kill(-child, SIGKILL);
        ends_within(child, KILLED_MS, &status);
        return CHILD_LATE;
    }
    *value = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return WIFSIGNALED(status) ? CHILD_KILLED : CHILD_EXITED;
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
    lower_limit(RLIMIT_CORE, 0);
    lower_limit(RLIMIT_CPU, (rlim_t)seconds);
    // Not RLIMIT_AS: drivers of GPUs reserve many times the memory that they use.
    lower_limit(RLIMIT_DATA, data_bytes() + bytes);
}
