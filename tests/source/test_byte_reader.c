// test_byte_reader.c: films from standard input: after bytes that were read before, interrupted, unreadable
#include "check.h"
#include "scratch.h"

#include "base/clock.h"
#include "source/source.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static struct check check = {.name = "stream"};
static struct scratch scratch;

static void refuse(const struct source_setup *setup, const char *because)
{
    capture_stderr(&scratch.said);
    struct source *source = source_open(setup);
    const int lines = captured_lines(&scratch.said);
    check_that(&check, !source && lines == 1 && strstr(scratch.said.text, because),
               "%s is refused because \"%s\"; said: %s", setup->text, because, scratch.said.text);
    source_close(source);
}

// Makes the file standard input and closes it. Returns the old standard input.
static int begin_input(int fd)
{
    const int saved = dup(STDIN_FILENO);
    if (saved < 0 || dup2(fd, STDIN_FILENO) < 0)
        abort();
    close(fd);
    return saved;
}

static void end_input(int saved)
{
    dup2(saved, STDIN_FILENO);
    close(saved);
}

// The film begins after the bytes of standard input that were read before.
static void test_behind_others(void)
{
    static const char bytes[] = "others' abcdefghijkl";
    const struct source_setup setup = {
        .text = "raw:-", .width = 2, .height = 2, .has_format = true, .format = PIXFMT_GREY, .loop = true};
    const int saved = begin_input(open(scratch_write(&scratch, "behind", bytes, sizeof(bytes) - 1), O_RDONLY));
    struct frame frame;
    lseek(STDIN_FILENO, 8, SEEK_SET);
    capture_stderr(&scratch.said);
    struct source *source = source_open(&setup);
    for (int i = 0; i < 7; i++) {
        const bool ok = source && source_next(source, &frame, 1000) == SOURCE_FRAME;
        check_that(&check, ok && memcmp(frame.image.plane[0], bytes + 8 + i % 3 * 4, 4) == 0, "picture %d", i);
        if (ok)
            source_return(source, &frame);
    }
    source_close(source);
    check_that(&check, captured_lines(&scratch.said) == 0, "no error at the end; said: %s", scratch.said.text);
    lseek(STDIN_FILENO, 17, SEEK_SET);
    refuse(&setup, "it has 3 bytes of pixels");
    end_input(saved);
}

static void take_signal(int number) {}

// A signal ends the wait for more bytes, but not the film.
static void test_signal(void)
{
    const struct source_setup setup = {
        .text = "raw:-", .width = 2, .height = 2, .has_format = true, .format = PIXFMT_GREY};
    const struct itimerval often = {{.tv_usec = 20000}, {.tv_usec = 20000}}, never = {{0}, {0}};
    struct frame frame;
    int ends[2];
    if (pipe(ends) != 0)
        return;
    const int saved = begin_input(ends[0]);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = take_signal}, NULL);
    capture_stderr(&scratch.said);
    struct source *source = source_open(&setup);
    setitimer(ITIMER_REAL, &often, NULL);
    check_that(&check, source && source_next(source, &frame, -1) == SOURCE_TIMEOUT, "a signal ends a wait without end");
    setitimer(ITIMER_REAL, &never, NULL);
    check_that(&check,
               write(ends[1], "abcd", 4) == 4 && source && source_next(source, &frame, 1000) == SOURCE_FRAME &&
                   memcmp(frame.image.plane[0], "abcd", 4) == 0,
               "and the frame still arrives");
    source_close(source);
    check_that(&check, captured_lines(&scratch.said) == 0, "no error; said: %s", scratch.said.text);
    close(ends[1]);
    end_input(saved);
}

// Reading the beginning of a process's memory is an error, because nothing is mapped there.
static void test_unreadable(void)
{
    const int saved = begin_input(open("/proc/self/mem", O_RDONLY));
    refuse(&(struct source_setup){.text = "-"}, "cannot read standard input: Input/output error");
    end_input(saved);
}

// A directory and a terminal are no streams of frames.
static void test_directory_and_terminal(void)
{
    int saved = begin_input(open(scratch.dir, O_RDONLY));
    refuse(&(struct source_setup){.text = "-"}, "it is a directory");
    end_input(saved);
    const int pty = posix_openpt(O_RDWR | O_NOCTTY);
    if (!check_that(&check, pty >= 0 && grantpt(pty) == 0 && unlockpt(pty) == 0, "a terminal opens"))
        return;
    saved = begin_input(open(ptsname(pty), O_RDONLY | O_NOCTTY));
    refuse(&(struct source_setup){.text = "-"}, "it is a terminal");
    end_input(saved);
    close(pty);
}

int main(void)
{
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    test_behind_others();
    test_signal();
    test_unreadable();
    test_directory_and_terminal();
    scratch_close(&scratch);
    return check_end(&check);
}
