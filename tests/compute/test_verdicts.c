// test_verdicts.c: a probe's verdict is found once and kept in the directory of the program cache
#include "compute/driver_cache.h"

#include "base/thread.h"
#include "scratch.h"
#include "unit.h"

#include <dirent.h>
#include <stdatomic.h>
#include <sys/stat.h>

static const char key[] = "device\ndriver\ntext";
static struct scratch scratch;
static char directory[512], entry[800];

// The result of the next probe, and the number of probes so far.
struct finding {
    const char *verdict;
    enum verdict_hold hold;
    atomic_int count;
};

static enum verdict_hold find(void *context, char verdict[VERDICT_TEXT])
{
    struct finding *finding = context;
    snprintf(verdict, VERDICT_TEXT, "%s", finding->verdict);
    atomic_fetch_add(&finding->count, 1);
    return finding->hold;
}

// Requests the verdict twice, like a new process. Only the first answer is new.
static void check_asked(const char *what, const char *of, const char *finds, enum verdict_hold hold, const char *want,
                        int probes)
{
    struct verdicts verdicts;
    struct finding finding = {.verdict = finds, .hold = hold};
    verdicts_init(&verdicts);
    for (int i = 0; i < 2; i++) {
        char verdict[VERDICT_TEXT] = "";
        const bool first = verdicts_get(&verdicts, of, strlen(of), find, &finding, verdict);
        check_that(&unit, first == (i == 0), "%s: answer %d is %s", what, i, first ? "new" : "known");
        check_that(&unit, strcmp(verdict, want) == 0, "%s: '%s' instead of '%s'", what, verdict, want);
    }
    check_that(&unit, finding.count == probes, "%s: probed %d times instead of %d", what, finding.count, probes);
    verdicts_finish(&verdicts);
}

// Finds the path of the only verdict in the cache.
static bool find_entry(void)
{
    DIR *dir = opendir(directory);
    int count = 0;
    for (const struct dirent *at; dir && (at = readdir(dir));) {
        if (at->d_name[0] != '.' && ++count)
            snprintf(entry, sizeof(entry), "%s/%s", directory, at->d_name);
    }
    if (dir)
        closedir(dir);
    return count == 1;
}

static void write_entry(const char *data, size_t size)
{
    FILE *file = fopen(entry, "wb");
    CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static void test_kept(void)
{
    check_asked("the first run", key, "passed", VERDICT_LASTS, "passed", 1);
    check_asked("the second run", key, "failed", VERDICT_LASTS, "passed", 0);
    CHECK(find_entry());
    CHECK_HAS(entry, ".verdict");
    CHECK(unlink(entry) == 0);
    check_asked("the entry removed", key, "failed", VERDICT_LASTS, "failed", 1);
    check_asked("another driver", "device\nother!\ntext", "passed", VERDICT_LASTS, "passed", 1);
    check_asked("the first driver", key, "passed", VERDICT_LASTS, "failed", 0);
}

// A verdict of a probe that could not run is not kept for later runs.
static void test_not_kept(void)
{
    check_asked("not kept", "another key", "not started", VERDICT_UNKNOWN, "not started", 1);
    check_asked("still not kept", "another key", "passed", VERDICT_LASTS, "passed", 1);
}

// A doubtful verdict lasts once two runs in succession have found it.
static void test_doubtful(void)
{
    check_asked("a crash", "doubt", "crashed", VERDICT_DOUBTFUL, "crashed", 1);
    check_asked("another end", "doubt", "late", VERDICT_DOUBTFUL, "late", 1);
    check_asked("no verdict", "doubt", "killed", VERDICT_UNKNOWN, "killed", 1);
    check_asked("the same end", "doubt", "late", VERDICT_DOUBTFUL, "late", 1);
    check_asked("known now", "doubt", "passed", VERDICT_LASTS, "late", 0);
    check_asked("a crash of a good variant", "good", "crashed", VERDICT_DOUBTFUL, "crashed", 1);
    check_asked("no second crash", "good", "passed", VERDICT_LASTS, "passed", 1);
    check_asked("good", "good", "crashed", VERDICT_DOUBTFUL, "passed", 0);
}

// Entries that are damaged, that have another key, or that another user could have written.
static void test_damaged(void)
{
    static const char too_long[] = "passed, with many more words than there is any room for in a verdict, "
                                   "so that it is none";
    static const char *const entries[] = {"", "passed", "passed\ndevice\ndriver\ntext"};
    struct cache_entry kept;
    cache_entry_open(&kept, "verdict", key, strlen(key));
    cache_entry_write(&kept, too_long, strlen(too_long));
    cache_entry_close(&kept);
    check_asked("a verdict that is too long", key, "failed", VERDICT_LASTS, "failed", 1);
    for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
        write_entry(entries[i], strlen(entries[i]));
        check_asked(entries[i], key, "failed", VERDICT_LASTS, "failed", 1);
    }
    CHECK(chmod(entry, 0620) == 0);
    check_asked("an entry that others can write", key, "passed", VERDICT_LASTS, "passed", 1);
    CHECK(chmod(directory, 0770) == 0);
    check_asked("a directory that others can write", key, "failed", VERDICT_LASTS, "failed", 1);
    CHECK(chmod(directory, 0700) == 0);
    check_asked("safe again", key, "failed", VERDICT_LASTS, "passed", 0);
}

static void test_no_directory(void)
{
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    for (int i = 0; i < 2; i++)
        check_asked("no directory", key, "failed", VERDICT_LASTS, "failed", 1);
    setenv("XDG_CACHE_HOME", scratch.dir, 1);
}

struct asking {
    struct verdicts verdicts;
    struct finding finding;
    atomic_int passed;
};

static void ask(void *context, int part)
{
    struct asking *asking = context;
    char verdict[VERDICT_TEXT];
    verdicts_get(&asking->verdicts, "many", 4, find, &asking->finding, verdict);
    atomic_fetch_add(&asking->passed, strcmp(verdict, "passed") == 0);
}

static void test_threads(void)
{
    struct asking asking = {.finding = {.verdict = "passed"}};
    struct workers *workers = workers_open(8);
    verdicts_init(&asking.verdicts);
    workers_run(workers, ask, &asking, 8);
    CHECK_NUMBER(asking.finding.count, 1);
    CHECK_NUMBER(asking.passed, 8);
    workers_close(workers);
    verdicts_finish(&asking.verdicts);
}

int main(void)
{
    if (!scratch_open(&scratch))
        return 1;
    setenv("XDG_CACHE_HOME", scratch.dir, 1);
    snprintf(directory, sizeof(directory), "%s", scratch_path(&scratch, "monocle"));
    test_kept();
    test_not_kept();
    test_doubtful();
    test_damaged();
    test_no_directory();
    test_threads();
    scratch_close(&scratch);
    return check_end(&unit);
}
