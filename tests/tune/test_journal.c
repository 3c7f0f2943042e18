// test_journal.c: the log of a search keeps each result, and only results of the same program, in any state of its file
#include "tune/journal.h"
#include "tune/passes.h"

#include "unit.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static char home[64], path[160];
static const char *kernel = "kernel"; // the program text
static const struct tuner_trial *trials;
static double spent_s;

// The argument is a call that must not be repeated, as CHECK_NUMBER may do.
static void check_count(int got, int want)
{
    CHECK_NUMBER(got, want);
}

static char *key(const struct subject *subject)
{
    return strdup("pass, size, device, driver");
}

static bool source(const struct subject *subject, int configuration, char hash[HASH_TEXT])
{
    hash_128_text(kernel, strlen(kernel), hash);
    return true;
}

static const struct subject_type type = {.key = key, .source = source};
static struct subject subject = {.type = &type, .name = "blur"};

static void make_space(void)
{
    space_init(&subject.space);
    CHECK(space_add_param(&subject.space, "variant") == 0 && space_add_param(&subject.space, "ROWS") == 1);
    CHECK(space_add_value(&subject.space, 0, "window") == 0);
    for (uint16_t i = 0; i < 4; i++) {
        char text[8];
        snprintf(text, sizeof(text), "%d", i);
        CHECK(space_add_value(&subject.space, 1, text) == i);
        space_add(&subject.space, (uint16_t[]){0, i});
    }
    space_sort(&subject.space);
}

static const struct tuner_trial passed = {.configuration = 2,
                                          .status = PROBE_PASSED,
                                          .run_ms = {0.25, 0.75, 0.5},
                                          .ms = 0.5,
                                          .validate_ms = 8,
                                          .build_ms = 4};
static const struct tuner_trial failed = {
    .configuration = 1, .status = PROBE_LATE, .ms = INFINITY, .why = "it said \"\xff\n\""};

// Writes a log with both results.
static void write_log(void)
{
    struct journal *journal = journal_open(&subject, false);
    char name[JOURNAL_NAME];
    CHECK(journal);
    if (!journal)
        exit(1);
    journal_name(journal, name);
    snprintf(path, sizeof(path), "%s/monocle/%s", home, name);
    check_count(journal_trials(journal, &trials, &spent_s), 0);
    journal_add(journal, &passed, 1.5);
    journal_add(journal, &failed, 2.5);
    journal_close(journal);
}

static void append(const char *text)
{
    FILE *file = fopen(path, "a");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

// Opens the log to resume. Returns the number of its results, or -1; they stay valid until journal_close(*journal).
static int resume(struct journal **journal)
{
    *journal = journal_open(&subject, true);
    return *journal ? journal_trials(*journal, &trials, &spent_s) : -1;
}

static int count_resumed(void)
{
    struct journal *journal;
    const int count = resume(&journal);
    journal_close(journal);
    return count;
}

static void test_results(void)
{
    struct journal *journal;
    write_log();
    check_count(resume(&journal), 2);
    CHECK_NUMBER(trials[0].configuration, 2);
    CHECK(trials[0].status == PROBE_PASSED && trials[0].ms == 0.5 && trials[0].run_ms[1] == 0.75);
    CHECK(trials[0].validate_ms == 8 && trials[0].build_ms == 4 && trials[0].why[0] == '\0');
    CHECK_NUMBER(trials[1].configuration, 1);
    CHECK(trials[1].status == PROBE_LATE && isinf(trials[1].ms));
    CHECK_HAS(trials[1].why, "it said \"\\xff");
    CHECK_NUMBER(spent_s, 2.5);
    journal_close(journal);
    kernel = "another kernel";
    check_count(count_resumed(), 0);
    kernel = "kernel";
    check_count(count_resumed(), 2);
    journal_close(journal_open(&subject, false)); // starts anew
    check_count(count_resumed(), 0);
    CHECK(!journal_open(&(struct subject){.type = &(struct subject_type){.key = NULL}}, true));
    journal_add(NULL, &passed, 0);
    CHECK_NUMBER(journal_trials(NULL, &trials, &spent_s), 0);
}

static void test_damage(void)
{
    struct captured said;
    struct journal *journal;
    write_log();
    append("{\"name\":\"blur\",\"sour"); // the process was killed, or the disk was full
    capture_stderr(&said);
    check_count(resume(&journal), 2);
    CHECK_HAS(captured_stderr(&said), ":3 is not used: the line is damaged; its configuration is measured again");
    struct tuner_trial third = passed;
    third.configuration = 0;
    journal_add(journal, &third, 3);
    third.configuration = 3;
    journal_add(journal, &third, 1e17); // more nanoseconds than an int64_t can hold
    journal_close(journal);
    append("\n\xff\n[1]\n{}\n");
    capture_stderr(&said);
    check_count(count_resumed(), 3); // the line after the first damaged one is whole
    check_count(captured_lines(&said), 1);
}

static void test_trust(void)
{
    struct captured said;
    char other[200];
    write_log();
    struct journal *first = journal_open(&subject, true);
    capture_stderr(&said);
    check_count(count_resumed(), -1);
    CHECK_HAS(captured_stderr(&said), "another run uses it; this run cannot be resumed");
    journal_close(first);
    CHECK(chmod(path, 0666) == 0);
    capture_stderr(&said);
    check_count(count_resumed(), -1);
    CHECK_HAS(captured_stderr(&said), "can be written by other users");
    snprintf(other, sizeof(other), "%s.other", path);
    CHECK(chmod(path, 0600) == 0 && rename(path, other) == 0 && symlink(other, path) == 0);
    capture_stderr(&said);
    check_count(count_resumed(), -1);
    check_count(captured_lines(&said), 1);
    CHECK(unlink(path) == 0 && unlink(other) == 0);
    check_count(count_resumed(), 0); // a missing file is an empty one
    journal_remove(strrchr(path, '/') + 1);
    CHECK(access(path, F_OK) != 0);
}

// Runs that fail leave their logs. They do not pile up for ever.
static void test_old(void)
{
    const struct timespec day = {.tv_sec = time(NULL) - 29 * 24 * 3600}, month = {.tv_sec = day.tv_sec - 48 * 3600};
    char old[200], young[200], other[200];
    write_log();
    snprintf(old, sizeof(old), "%s/monocle/old.trials", home);
    snprintf(young, sizeof(young), "%s/monocle/young.trials", home);
    snprintf(other, sizeof(other), "%s/monocle/old.verdict", home);
    const char *const paths[] = {old, young, other};
    for (int i = 0; i < 3; i++) {
        FILE *file = fopen(paths[i], "w");
        CHECK(file && fclose(file) == 0);
        const struct timespec at = i == 1 ? day : month;
        CHECK(utimensat(AT_FDCWD, paths[i], (const struct timespec[2]){at, at}, 0) == 0);
    }
    CHECK(utimensat(AT_FDCWD, path, (const struct timespec[2]){month, month}, 0) == 0);
    check_count(count_resumed(), 2); // the log that is opened may have any age
    CHECK(access(old, F_OK) != 0 && access(young, F_OK) == 0 && access(other, F_OK) == 0);
}

// A full disk costs the rest of the log, with one warning.
static void test_full(void)
{
    struct rlimit old;
    struct stat status;
    struct captured said;
    write_log();
    struct journal *journal = journal_open(&subject, true);
    CHECK(stat(path, &status) == 0 && getrlimit(RLIMIT_FSIZE, &old) == 0);
    signal(SIGXFSZ, SIG_IGN);
    capture_stderr(&said);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)status.st_size + 30, old.rlim_max});
    journal_add(journal, &passed, 9);
    setrlimit(RLIMIT_FSIZE, &old);
    journal_add(journal, &passed, 9);
    journal_close(journal);
    check_count(captured_lines(&said), 1);
    CHECK_HAS(said.text, "File too large; this run cannot be resumed from here");
    capture_stderr(&said);
    check_count(count_resumed(), 2);
    check_count(captured_lines(&said), 1);
}

int main(void)
{
    char command[100];
    unit_directory(home);
    setenv("XDG_CACHE_HOME", home, 1);
    make_space();
    test_results();
    test_damage();
    test_trust();
    test_old();
    test_full();
    space_finish(&subject.space);
    snprintf(command, sizeof(command), "rm -rf %s", home);
    CHECK(system(command) == 0);
    return check_end(&unit);
}
