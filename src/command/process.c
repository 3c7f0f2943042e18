// process.c: what the process shares with its surroundings: signals and standard streams
#include "command/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// A signal handler can reach nothing else.
static volatile sig_atomic_t interrupted, interrupted_ms;

// timeout(1) and others send a signal to a process and then to its group, which is one signal to whoever sent it.
enum { ONE_SIGNAL_MS = 100 };

static int now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int)((now.tv_sec * 1000 + now.tv_nsec / 1000000) & INT_MAX);
}

// A signal that came just before a wait began would not end it: another one every second does.
static void nudge(int number)
{
    alarm(1);
}

// A second signal ends a hung process.
static void hold(int number)
{
    const int ms = now_ms();
    if (interrupted && (ms - interrupted_ms >= ONE_SIGNAL_MS || ms < interrupted_ms)) {
        signal(number, SIG_DFL);
        raise(number); // when this returns
        return;
    }
    if (!interrupted)
        interrupted_ms = ms;
    interrupted = number;
    nudge(number);
}

// AddressSanitizer would take its allocator's lock ahead of what does not return, also where the signal came under it.
__attribute__((no_sanitize("address"))) static void leave(int number)
{
    _exit(128 + number);
}

int command_interrupted(void)
{
    return interrupted;
}

// Without SA_RESTART, so that waits end.
static void catch (void (*handler)(int number))
{
    const struct sigaction caught = {.sa_handler = handler};
    sigaction(SIGINT, &caught, NULL);
    sigaction(SIGTERM, &caught, NULL);
    struct sigaction old;
    if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN) // nohup means it
        sigaction(SIGHUP, &caught, NULL);
}

void command_hold_signals(void)
{
    const struct sigaction nudged = {.sa_handler = nudge};
    sigaction(SIGALRM, &nudged, NULL);
    catch (hold);
}

void command_catch_signals(void)
{
    catch (leave);
    const struct sigaction ignored = {.sa_handler = SIG_IGN}; // writing to a closed pipe is an error like others
    sigaction(SIGPIPE, &ignored, NULL);
    sigaction(SIGXFSZ, &ignored, NULL);                     // and so is a file grown to its limit
    const struct sigaction usual = {.sa_handler = SIG_DFL}; // else waiting for a probe or a driver's compiler fails
    sigaction(SIGCHLD, &usual, NULL);
}

void command_raise_limits(void)
{
    enum { FILES_USUAL = 1024 };
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= FILES_USUAL)
        return;
    files.rlim_cur = files.rlim_max < FILES_USUAL ? files.rlim_max : FILES_USUAL;
    setrlimit(RLIMIT_NOFILE, &files);
}

void command_guard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        // The lowest free number is `fd` itself. The wrong way round: reading or writing it stays an error.
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return;
    }
}

bool command_flush(void)
{
    return fflush(stdout) == 0 && !ferror(stdout);
}
