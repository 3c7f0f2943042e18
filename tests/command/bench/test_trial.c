// test_trial.c: measurements in turns: the order of the rounds, the number of runs, and trials that fail; the page
#include "base/claim.h"
#include "base/file.h"
#include "command/bench/results.h"
#include "command/bench/trial.h"

#include "unit.h"

#include <jansson.h>

enum { TRIALS = 3, CALLS = 4096 };

static struct made {
    double ms;
    int fails_at; // this call fails; 0: none
    int calls, kept;
} made[TRIALS];
static struct trial trial[TRIALS];
static int order[CALLS], runs_of[CALLS], calls;

static bool run(void *context, int runs, struct trial_time *time)
{
    struct made *own = context;
    if (calls < CALLS) {
        order[calls] = (int)(own - made);
        runs_of[calls++] = runs;
    }
    *time = (struct trial_time){own->ms * 2, own->ms};
    return ++own->calls != own->fails_at;
}

static void keep(void *context)
{
    ((struct made *)context)->kept++;
}

static bool measure(int count, int rounds, double seconds)
{
    struct trial *list[TRIALS];
    calls = 0;
    for (int i = 0; i < count; i++) {
        made[i].calls = made[i].kept = 0;
        trial[i] = (struct trial){.run = run, .keep = keep, .context = &made[i], .warm_runs = 5, .runs = 1};
        list[i] = &trial[i];
    }
    return trials_run(list, count, rounds, seconds);
}

static void finish(void)
{
    for (int i = 0; i < TRIALS; i++)
        trial_finish(&trial[i]);
}

// Each trial warms up. Each round begins with the next trial, and a measurement takes at least 10 ms.
static void test_turns(void)
{
    static const int runs[TRIALS] = {1, 5, 64}; // of 10, 2 and 0.001 ms
    for (int i = 0; i < TRIALS; i++)
        made[i] = (struct made){.ms = i == 0 ? 10 : i == 1 ? 2 : .001};
    CHECK(measure(TRIALS, 6, 0));
    int place[TRIALS][TRIALS] = {{0}};
    const int warm = 2 * TRIALS;
    CHECK_NUMBER(calls, warm + 6 * 2 * TRIALS);
    for (int i = 0; i < warm; i++)
        CHECK(order[i] == i / 2 && runs_of[i] == (i % 2 ? 1 : 5));
    for (int i = warm; i < calls; i++) {
        place[order[i]][(i - warm) / 2 % TRIALS]++;
        CHECK_NUMBER(runs_of[i], i % 2 ? runs[order[i]] : 1); // one run restores the caches
    }
    for (int i = 0; i < TRIALS * TRIALS; i++)
        CHECK_NUMBER(place[i / TRIALS][i % TRIALS], 4);
    for (int i = 0; i < TRIALS; i++)
        CHECK(trial[i].ms.count == 6 && trial[i].wall_ms.count == 6 && made[i].kept == 6 &&
              trial[i].ms.value[5] > trial[i].wall_ms.value[5]);
    finish();
}

// At most 1000 rounds, and at least 3, fit in a time. Without rounds and a time, there are 30.
static void test_rounds(void)
{
    made[0] = (struct made){.ms = 10};
    CHECK(measure(1, 0, 1e-9) && trial[0].ms.count == 3);
    finish();
    CHECK(measure(1, 0, 1e9) && trial[0].ms.count == 1000);
    finish();
    CHECK(measure(1, 0, 0) && trial[0].ms.count == 30);
    finish();
    CHECK(measure(1, 4, 1e9) && trial[0].ms.count == 4);
    finish();
}

// A trial that fails is left out.
static void test_failures(void)
{
    for (int at = 1; at <= 6; at++) {
        made[0] = made[2] = (struct made){.ms = 10};
        made[1] = (struct made){.ms = 10, .fails_at = at};
        CHECK(!measure(TRIALS, 4, 0) && trial[1].failed && !trial[0].failed && !trial[2].failed);
        CHECK(made[1].calls == at && trial[0].ms.count == 4 && trial[2].ms.count == 4);
        CHECK_NUMBER(trial[1].ms.count, at <= 4 ? 0 : 1);
        finish();
    }
}

// A file that appears during the run is not replaced: the page gets another name.
static void test_page(void)
{
    struct claim claim;
    struct captured said;
    char directory[64], name[80], other[80];
    unit_directory(directory);
    snprintf(name, sizeof(name), "%s/page.html", directory);
    snprintf(other, sizeof(other), "%s/page-2.html", directory);
    json_t *results = json_array();
    CHECK(claim_take(&claim, name, true) && file_write_atomic(name, "theirs", 6));
    capture_stderr(&said);
    CHECK(page_write(&claim, results));
    CHECK_HAS(captured_stderr(&said), "page.html during the run; monocle writes ");
    json_decref(results);
    char *theirs = file_read_text(name, 1000), *page = file_read_text(other, 1 << 24);
    CHECK_TEXT(theirs, "theirs");
    CHECK_HAS(page, "<html");
    free(theirs);
    free(page);
    CHECK(unlink(name) == 0 && unlink(other) == 0 && rmdir(directory) == 0);
}

int main(void)
{
    test_turns();
    test_rounds();
    test_failures();
    test_page();
    return check_end(&unit);
}
