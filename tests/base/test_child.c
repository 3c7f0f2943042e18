// test_child.c: a child process ends within its limits, and when its parent ends
#include "base/child.h"

#include "base/clock.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { PATIENT_MS = 60000 };
enum { ASK_CRASH = -1, ASK_WAIT = -2, ASK_END = -3 }; // requests of the part "answer"

static char directory[64], note[80], own_pid[16];

// ---- the child: this program with the name of a part ----

static int count_open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = -3; // ".", ".." and the directory's own descriptor
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

// Checks that the streams are /dev/null, no file but that of child_write is open, the process group is new and SIGTERM
// is not blocked.
static int surroundings(void)
{
    struct stat null, stream;
    sigset_t blocked;
    if (stat("/dev/null", &null) != 0 || count_open_files() != 4 || getpgrp() != getpid())
        return 1;
    for (int fd = 0; fd < 3; fd++)
        if (fstat(fd, &stream) != 0 || stream.st_rdev != null.st_rdev)
            return 2;
    return sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGTERM) ? 7 : 3;
}

static bool can_map(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static int limits(int parent)
{
    enum { BYTES = 64 << 20 };
    struct rlimit core;
    if (!can_map(2 * BYTES)) // memory that the process already has does not count
        return 3;
    child_begin(parent, BYTES, PATIENT_MS);
    if (getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_cur != 0)
        return 1;
    return can_map(BYTES / 2) && !can_map(BYTES) ? 7 : 2;
}

static void write_pid(const char *path)
{
    char temporary[100];
    snprintf(temporary, sizeof(temporary), "%s.new", path);
    FILE *file = fopen(temporary, "w");
    if (file) {
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
        rename(temporary, path);
    }
}

static int child(const char *part, const char *argument)
{
    if (strcmp(part, "crash") == 0)
        signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
    if (strcmp(part, "surroundings") == 0)
        return surroundings();
    if (strcmp(part, "limits") == 0)
        return limits(atoi(argument));
    if (strcmp(part, "begin") == 0)
        child_begin(atoi(argument), 1 << 20, PATIENT_MS);
    if (strcmp(part, "work") == 0) {
        child_begin(atoi(argument), 1 << 20, 1);
        for (volatile unsigned i = 0;; i++)
            ;
    }
    if (strcmp(part, "wait") == 0) {
        child_begin(atoi(argument), 1 << 30, PATIENT_MS);
        write_pid(getenv("TEST_NOTE"));
        pause();
    }
    if (strcmp(part, "talk") == 0) {
        char over_long[CHILD_LINE + 1];
        snprintf(over_long, sizeof(over_long), "%*s", CHILD_LINE, "too long");
        child_write("one");
        printf("a library prints {");
        fflush(stdout);
        child_write(over_long);
        child_write("two");
        if (*argument)
            pause();
    }
    if (strcmp(part, "answer") == 0) {
        child_begin(atoi(argument), 1 << 20, PATIENT_MS);
        for (int request; child_receive(&request, sizeof(request));) {
            if (request == ASK_CRASH)
                signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
            if (request == ASK_WAIT)
                pause();
            if (request == ASK_END)
                _exit(7); // without a search for leaks, which child_begin's limits do not allow
            request += fgetc(stdin);
            child_reply(&request, sizeof(request));
        }
    }
    if (strcmp(part, "spin") == 0) {
        child_begin(atoi(argument), 1 << 20, PATIENT_MS);
        child_limit(0);
        while (true)
            clock_now_ns();
    }
    if (strcmp(part, "family") == 0) {
        if (fork() == 0)
            write_pid(argument);
        while (true)
            pause();
    }
    return 7;
}

// ---- the test ----

static bool ignore(void *context, char *line)
{
    return true;
}

static enum child_end run(const char *part, const char *argument, int limit_ms, int *value)
{
    char *const arguments[] = {"child", (char *)part, (char *)argument, NULL};
    return child_talk("/proc/self/exe", arguments, limit_ms, value, ignore, NULL);
}

static int read_pid(void)
{
    FILE *file = fopen(note, "r");
    int pid = 0;
    if (file && fscanf(file, "%d", &pid) != 1)
        pid = 0;
    if (file)
        fclose(file);
    return pid;
}

static void nap(void)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    nanosleep(&pause, NULL);
}

// Returns true if SIGKILL ended the process. The test is the parent of orphans (PR_SET_CHILD_SUBREAPER).
static bool was_killed(int pid)
{
    int status = 0;
    pid_t got = 0;
    for (int ms = 0; got == 0 && ms < PATIENT_MS; ms += 5, nap())
        got = waitpid(pid, &status, WNOHANG);
    return got == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void test_ends(void)
{
    int value;
    sigset_t set, old;
    const int spare = open("/dev/zero", O_RDONLY); // not closed by exec
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &old);
    CHECK_NUMBER(run("surroundings", "", PATIENT_MS, &value), CHILD_EXITED);
    CHECK_NUMBER(value, 7);
    sigprocmask(SIG_SETMASK, &old, NULL);
    close(spare);
    CHECK_NUMBER(run("crash", "", PATIENT_MS, &value), CHILD_KILLED);
    CHECK_NUMBER(value, SIGSEGV);
}

// A child that does not end is killed, and so is the process that it started.
static void test_late(void)
{
    int value, pid = 0;
    for (int limit_ms = 100; pid == 0 && limit_ms < PATIENT_MS; limit_ms *= 2) {
        CHECK_NUMBER(run("family", note, limit_ms, &value), CHILD_LATE);
        pid = read_pid(); // 0: on a busy machine the process has not written it yet
    }
    CHECK(pid > 0 && was_killed(pid));
    unlink(note);
}

struct heard {
    char lines[64];
    const char *stop_at;
};

static bool hear(void *context, char *line)
{
    struct heard *heard = context;
    if (line && strlen(heard->lines) + strlen(line) + 2 < sizeof(heard->lines))
        strcat(strcat(heard->lines, line), ";");
    return !line || !heard->stop_at || strcmp(line, heard->stop_at) != 0;
}

// A parent gets the lines of its child, and can end it.
static void test_talk(void)
{
    const struct {
        const char *argument, *stop_at, *lines;
        int limit_ms;
        enum child_end end;
        int value;
    } cases[] = {
        {"", NULL, "one;two;", PATIENT_MS, CHILD_EXITED, 7},
        {"and wait", NULL, "one;two;", 1000, CHILD_LATE, 0},
        {"and wait", "one", "one;", PATIENT_MS, CHILD_KILLED, SIGKILL},
    };
    int value;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct heard heard = {.stop_at = cases[i].stop_at};
        char *const arguments[] = {"child", "talk", (char *)cases[i].argument, NULL};
        const enum child_end end = child_talk("/proc/self/exe", arguments, cases[i].limit_ms, &value, hear, &heard);
        CHECK_NUMBER(end, cases[i].end);
        CHECK_NUMBER(value, cases[i].value);
        CHECK_TEXT(heard.lines, cases[i].lines);
    }
    struct heard heard = {.lines = ""};
    char *const crash[] = {"child", "crash", "", NULL};
    CHECK_NUMBER(child_talk("/proc/self/exe", crash, PATIENT_MS, &value, hear, &heard), CHILD_KILLED);
    CHECK_NUMBER(value, SIGSEGV);
    CHECK_NUMBER(child_talk("/nowhere/at/all", crash, PATIENT_MS, &value, hear, &heard), CHILD_NOT_STARTED);
    CHECK_NUMBER(value, ENOENT);
}

static const struct child_wait patient = {.limit_ms = PATIENT_MS};

// A child that stays answers requests in turn, until it crashes, is late or ends.
static void test_ask(void)
{
    static const struct {
        int request, limit_ms;
        enum child_end end;
        int value;
    } ends[] = {
        {ASK_CRASH, PATIENT_MS, CHILD_KILLED, SIGSEGV},
        {ASK_WAIT, 200, CHILD_LATE, 0},
        {ASK_END, PATIENT_MS, CHILD_EXITED, 7},
    };
    char *const arguments[] = {"child", "answer", own_pid, NULL};
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        enum child_end end = CHILD_NOT_STARTED;
        int reply = 0, value = -1;
        const int input = memfd_create("input", MFD_CLOEXEC);
        CHECK(write(input, "AB", 2) == 2 && lseek(input, 0, SEEK_SET) == 0);
        struct child *child = child_open("/proc/self/exe", arguments, input);
        for (int request = 1; child && request <= 2; request++) {
            CHECK(child_ask(child, &request, sizeof(request), &reply, sizeof(reply), &patient, &end, &value));
            CHECK_NUMBER(reply, request + 'A' + request - 1);
        }
        const int last = ends[i].request;
        const struct child_wait wait = {.limit_ms = ends[i].limit_ms};
        CHECK(child && !child_ask(child, &last, sizeof(last), &reply, sizeof(reply), &wait, &end, &value));
        CHECK_NUMBER(end, ends[i].end);
        CHECK_NUMBER(value, ends[i].value);
        child_close(child);
        close(input);
    }
    errno = 0;
    CHECK(!child_open("/nowhere/at/all", arguments, -1) && errno == ENOENT);
    child_close(NULL);
}

// A pool keeps the children that wait, up to its limit.
static void test_pool(void)
{
    const int files = count_open_files();
    char *const arguments[] = {"child", "answer", own_pid, NULL};
    const int input = memfd_create("input", MFD_CLOEXEC);
    struct child_pool *pool = child_pool_open();
    enum child_end end;
    int request = 1, reply = 0, value;
    CHECK(write(input, "ABCD", 4) == 4 && lseek(input, 0, SEEK_SET) == 0);
    struct child *first = child_open("/proc/self/exe", arguments, input);
    struct child *second = child_open("/proc/self/exe", arguments, input);
    CHECK(!child_pool_take(NULL) && !child_pool_take(pool));
    child_pool_limit(pool, 1);
    child_pool_give(pool, first);
    child_pool_give(pool, second); // closed
    child_pool_give(pool, NULL);
    child_pool_give(NULL, child_open("/proc/self/exe", arguments, input)); // closed
    CHECK(child_pool_take(pool) == first && !child_pool_take(pool));
    CHECK(child_ask(first, &request, sizeof(request), &reply, sizeof(reply), &patient, &end, &value));
    CHECK_NUMBER(reply, 1 + 'A');
    child_pool_give(pool, first);
    child_pool_close(pool);
    child_pool_close(NULL);
    close(input);
    CHECK_NUMBER(count_open_files(), files);
}

static void test_explain(void)
{
    static const struct {
        enum child_end end;
        int value;
        const char *why;
        bool was_killed;
    } cases[] = {
        {CHILD_EXITED, 3, "the driver ended the process with status 3", false},
        {CHILD_KILLED, SIGSEGV, "it crashed with signal 11", false},
        {CHILD_KILLED, SIGKILL, "it was killed by signal 9", true},
        {CHILD_KILLED, SIGXCPU, "it took longer than 20 s of processor time", false},
        {CHILD_LATE, 0, "it took longer than 10 s", false},
        {CHILD_NOT_STARTED, ENOENT, "its process cannot be started: No such file or directory", false},
    };
    char why[CHILD_WHY];
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        child_explain(cases[i].end, cases[i].value, 10, 20, why);
        CHECK_TEXT(why, cases[i].why);
        CHECK(child_was_killed(cases[i].end, cases[i].value) == cases[i].was_killed);
    }
}

static void test_limits(void)
{
    int value;
    CHECK_NUMBER(run("spin", own_pid, PATIENT_MS, &value), CHILD_KILLED);
    CHECK_NUMBER(value, SIGXCPU);
    CHECK_NUMBER(run("limits", own_pid, PATIENT_MS, &value), CHILD_EXITED);
    CHECK_NUMBER(value, 7);
    CHECK_NUMBER(run("work", own_pid, PATIENT_MS, &value), CHILD_KILLED);
    CHECK_NUMBER(value, SIGXCPU);
}

// If the parent is killed, the child is killed too. A child that begins after its parent's end ends at once.
static void test_parent(void)
{
    int value, pid = 0;
    setenv("TEST_NOTE", note, 1);
    const pid_t parent = fork();
    if (parent == 0) {
        snprintf(own_pid, sizeof(own_pid), "%d", (int)getpid());
        run("wait", own_pid, PATIENT_MS, &value);
        _exit(0);
    }
    for (int ms = 0; pid == 0 && ms < PATIENT_MS; ms += 5, nap())
        pid = read_pid();
    CHECK(pid > 0 && kill(parent, SIGKILL) == 0 && was_killed(parent) && was_killed(pid));
    unlink(note);
    CHECK_NUMBER(run("begin", "1", PATIENT_MS, &value), CHILD_EXITED);
    CHECK_NUMBER(value, EXIT_FAILURE);
}

// A device's memory is at most that of the machine, so this limit hides none of it.
static void test_memory(void)
{
    const size_t pages = (size_t)sysconf(_SC_PHYS_PAGES), all = pages * (size_t)sysconf(_SC_PAGESIZE);
    CHECK(child_memory(1) == all && child_memory(all + 1) == all + 1);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return child(argv[1], argv[2]);
    unit_directory(directory);
    snprintf(note, sizeof(note), "%s/pid", directory);
    snprintf(own_pid, sizeof(own_pid), "%d", (int)getpid());
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    test_ends();
    test_late();
    test_talk();
    test_ask();
    test_pool();
    test_explain();
    test_limits();
    test_parent();
    test_memory();
    rmdir(directory);
    return check_end(&unit);
}
