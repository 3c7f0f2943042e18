// process.c: signals, standard streams and limits of the process
#include "base/process.h"

#include "base/clock.h"
#include "base/driver_call.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// A signal handler may set only such variables. Other threads read `interrupted`.
static atomic_int interrupted;
static volatile sig_atomic_t interrupted_ms, interrupted_main;
// Of process_catch_signals, which sets it before the handlers; NULL before.
static void (*clean_up)(void);

// timeout(1) and other programs send a signal to the process and again to its process group. Both count as one signal.
enum { ONE_SIGNAL_MS = 100 };
// A driver call that still runs this long after a signal is taken for one that never returns.
enum { STUCK_MS = 10000 };

// AddressSanitizer takes its allocator's lock before a function that does not return. If the signal interrupted the
// allocator, that would be a deadlock.
__attribute__((no_sanitize("address"))) static void leave(int number)
{
    if (clean_up)
        clean_up();
    _exit(128 + number);
}

// A signal that arrives just before a wait begins does not interrupt it. Therefore an alarm interrupts waits every
// second. If a driver call hangs, this ends the process: outputs under their final name are complete.
static void nudge(int number)
{
    static const char text[] = "monocle: error: a driver call does not return; a signal has ended the run\n";
    if (interrupted && driver_call_stuck(interrupted_main, STUCK_MS)) {
        (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
        leave(interrupted);
    }
    alarm(1);
}

// The second signal ends the process, which may hang.
static void hold(int number)
{
    const int ms = (int)(clock_now_ns() / 1000000 & INT_MAX);
    if (interrupted && (ms - interrupted_ms >= ONE_SIGNAL_MS || ms < interrupted_ms)) {
        if (clean_up)
            clean_up();
        signal(number, SIG_DFL);
        raise(number); // takes effect when the handler returns
        return;
    }
    if (!interrupted)
        interrupted_ms = ms;
    interrupted = number;
    driver_call_interrupt();
    nudge(number);
}

int process_interrupted(void)
{
    return interrupted;
}

// Sets no SA_RESTART, so that signals interrupt waits.
static void catch (void (*handler)(int number))
{
    const struct sigaction caught = {.sa_handler = handler};
    sigaction(SIGINT, &caught, NULL);
    sigaction(SIGTERM, &caught, NULL);
    struct sigaction old;
    if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN) // nohup ignores SIGHUP; keep that
        sigaction(SIGHUP, &caught, NULL);
}

void process_hold_signals(enum process_calls calls)
{
    interrupted_main = calls == CALLS_MAIN;
    const struct sigaction nudged = {.sa_handler = nudge};
    sigaction(SIGALRM, &nudged, NULL);
    catch (hold);
}

void process_catch_signals(void (*at_end)(void))
{
    clean_up = at_end;
    catch (leave);
    const struct sigaction ignored = {.sa_handler = SIG_IGN}; // a write to a closed pipe then fails with EPIPE
    sigaction(SIGPIPE, &ignored, NULL);
    sigaction(SIGXFSZ, &ignored, NULL);                     // a write beyond the file size limit then fails with EFBIG
    const struct sigaction usual = {.sa_handler = SIG_DFL}; // waitpid would fail if the parent ignored SIGCHLD
    sigaction(SIGCHLD, &usual, NULL);
}

void process_raise_limits(void)
{
    enum { FILES_USUAL = 1024 };
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= FILES_USUAL)
        return;
    files.rlim_cur = files.rlim_max < FILES_USUAL ? files.rlim_max : FILES_USUAL;
    setrlimit(RLIMIT_NOFILE, &files);
}

void process_guard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        // open returns the lowest free number, which is `fd`. The access mode is the opposite of the stream's, so reads
        // or writes still fail.
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return;
    }
}

bool process_flush(void)
{
    return fflush(stdout) == 0 && !ferror(stdout);
}
