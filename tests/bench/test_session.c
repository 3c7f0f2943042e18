// test_session.c: the cases of a session on made times: turns, loops, runs, rounds, medians, failures; whole
// frames on a made path; no device
#include "base/clock.h"
#include "bench/pool.h"
#include "bench/session.h"

#include "unit.h"

#include <math.h>

enum { CASES = 3, CALLS = 512, FIGURES = 16 };

static const struct bench_test test = {.name = "made", .unit = "Mpixel/s"};
static struct bench_session session;
static struct bench_case cases[CASES];
static struct figure answered[FIGURES];
static int answers, order[CALLS], runs_of[CALLS], calls;
static bool calibrated; // the calls of `time` are recorded from here on

static void take(void *context, const struct figure *figure)
{
    if (answers < FIGURES)
        answered[answers++] = *figure;
}

static int rounds_left; // the listener stops the session after these

static bool progress(void *context, const char *text)
{
    calibrated = calibrated || strstr(text, "round");
    return !strstr(text, "round") || rounds_left-- > 0;
}

static int index_of(const struct bench_case *c)
{
    return (int)(c - cases);
}

static void record(const struct bench_case *c, int runs)
{
    if (!calibrated || calls >= CALLS)
        return;
    order[calls] = index_of(c);
    runs_of[calls++] = runs;
}

// A run takes as long as its loops: a microsecond each.
static double by_loops(struct bench_case *c, int runs)
{
    record(c, runs);
    return c->loops * 1e-6;
}

// The rounds of each case have these values, in turns.
static double by_round(struct bench_case *c, int runs)
{
    static const double us[] = {10, 30, 20, 50, 40, 60, 80, 70, 90};
    static int round[CASES];
    record(c, runs);
    return calibrated ? us[round[index_of(c)]++ % 9] / 1e6 : 1e-5;
}

static double never(struct bench_case *c, int runs)
{
    record(c, runs);
    snprintf(session.error, sizeof(session.error), "as the test wants");
    return -1;
}

static double backwards(struct bench_case *c, int runs)
{
    return 0;
}

static bool wrong(struct bench_case *c)
{
    return false;
}

static bool right(struct bench_case *c)
{
    return true;
}

static void begin(double (*time)(struct bench_case *c, int runs), int rounds)
{
    answers = calls = 0;
    calibrated = false;
    rounds_left = CALLS;
    session = (struct bench_session){
        .test = &test, .seconds = 1e-3, .limit_s = 1e3, .rounds = rounds, .listener = {take, progress, NULL}};
    memset(cases, 0, sizeof(cases));
    for (int i = 0; i < CASES; i++) {
        cases[i] = (struct bench_case){.session = &session, .time = time, .check = right, .runs = 1, .loops = 1};
        snprintf(cases[i].figure.parameters, sizeof(cases[i].figure.parameters), "case=%d", i);
    }
}

// Each round begins with the next case. The figures have the order of the cases.
static void test_turns(void)
{
    int place[CASES][CASES] = {{0}};
    begin(by_loops, 9);
    bench_measure(&session, cases, CASES);
    CHECK_NUMBER(calls, 9 * CASES);
    for (int i = 0; i < calls; i++)
        place[order[i]][i % CASES]++;
    for (int i = 0; i < CASES * CASES; i++)
        CHECK_NUMBER(place[i / CASES][i % CASES], 3);
    CHECK_NUMBER(answers, CASES);
    for (int i = 0; i < answers; i++) {
        CHECK_NUMBER(answered[i].parameters[5] - '0', i);
        CHECK(answered[i].rounds == 9 && answered[i].checked && strcmp(answered[i].test, "made") == 0);
    }
}

// The value is the median of the rounds. The spread is half the interquartile range, unknown after one round.
static void test_values(void)
{
    begin(by_round, 9);
    bench_measure(&session, cases, 1);
    CHECK(fabs(answered[0].value - 50) < 1e-9 && fabs(answered[0].spread - .4) < 1e-9);
    begin(by_round, 1);
    bench_measure(&session, cases, 1);
    CHECK(answered[0].rounds == 1 && isnan(answered[0].spread));
    begin(by_loops, 3);
    cases[0].loops = 50;
    cases[0].work = 2;
    bench_measure(&session, cases, 1);
    CHECK(fabs(answered[0].value - 2e6) < 1e-3); // 2 * 50 in 50 microseconds
}

// Loops grow until a run takes a quarter of its slot: 1 ms / 4 rounds / 4. Then a measurement has runs that fill it.
static void test_calibration(void)
{
    begin(by_loops, 4);
    cases[0].runs = 0;
    cases[0].loops_most = 100000;
    bench_measure(&session, cases, 1);
    check_that(&unit, cases[0].loops >= 62 && cases[0].loops < 100, "%u loops", cases[0].loops);
    check_that(&unit, cases[0].runs >= 1 && cases[0].runs <= 4, "%d runs", cases[0].runs);
    begin(by_loops, 4);
    cases[0].runs = 0;
    cases[0].loops_most = 20;
    bench_measure(&session, cases, 1);
    CHECK_NUMBER(cases[0].loops, 20);
    for (int i = 0; i < calls && cases[0].runs > 1; i++) // one run restores the caches
        CHECK_NUMBER(runs_of[i], i % 2 ? cases[0].runs : 1);
}

// A case that fails has its reason. The others are measured, and their slots are larger.
static void test_failures(void)
{
    begin(by_loops, 3);
    cases[0].time = never;
    cases[1].check = wrong;
    bench_measure(&session, cases, CASES);
    CHECK(answered[0].status == FIGURE_FAILED && answered[1].status == FIGURE_FAILED);
    CHECK_TEXT(answered[0].note, "as the test wants");
    CHECK_TEXT(answered[1].note, "it computes a wrong result");
    CHECK(answered[2].status == FIGURE_OK && answered[2].rounds == 3);
    begin(backwards, 3);
    bench_skip(&cases[1], "a device without %s", "it");
    bench_measure(&session, cases, 2);
    CHECK_TEXT(answered[0].note, "the device reports impossible times");
    CHECK(answered[1].status == FIGURE_SKIPPED);
    CHECK_TEXT(answered[1].note, "a device without it");
}

// The first line of a compiler's log names the device. Warnings may precede the error.
static void test_build_log(void)
{
    begin(by_loops, 3);
    bench_fail_build(&cases[0], "on a device\na.cl:1: warning: odd\na.cl:2: error: wrong\nmore");
    CHECK_TEXT(cases[0].figure.note, "a.cl:2: error: wrong");
    bench_fail_build(&cases[0], "on a device\n\nsomething\nelse");
    CHECK_TEXT(cases[0].figure.note, "something");
    cases[0].session = &session;
    snprintf(session.error, sizeof(session.error), "the logged reason");
    bench_fail_build(&cases[0], NULL);
    CHECK_TEXT(cases[0].figure.note, "the logged reason");
}

// A case warms up. Its value is in the unit ms, with parts of other tests. A silent case is measured, but not reported.
static void test_units(void)
{
    static const struct bench_test in_ms = {.name = "made", .unit = "ms"};
    struct bench_part part = {.figure.test = "made.host", .value = 7};
    begin(by_loops, 3);
    session.test = &in_ms;
    cases[0].loops = 2000;
    cases[0].part = &part;
    cases[0].parts = 1;
    cases[1].silent = true;
    bench_measure(&session, cases, 2);
    CHECK_NUMBER(answers, 2);
    CHECK(fabs(answered[0].value - 2) < 1e-9 && cases[1].figure.rounds == 3);
    CHECK_TEXT(answered[0].test, "made");
    CHECK_TEXT(answered[1].test, "made.host");
    CHECK(answered[1].value == 7 && answered[1].checked);
}

// No round begins that would end after the limit, but three do. A listener that stops the session gets the rounds so
// far, and no figure without a round.
static void test_ends(void)
{
    begin(by_loops, 1000);
    session.limit_s = 1e-9;
    bench_measure(&session, cases, CASES);
    CHECK(answers == CASES && answered[0].rounds == 3);
    begin(by_loops, 9);
    rounds_left = 4;
    bench_measure(&session, cases, CASES);
    CHECK(answers == CASES && answered[0].rounds == 4);
    begin(by_loops, 9);
    rounds_left = 0;
    bench_measure(&session, cases, CASES);
    CHECK_NUMBER(answers, 0);
}

static void test_best(void)
{
    begin(by_loops, 3);
    for (int i = 0; i < CASES; i++)
        cases[i].work = i == 1 ? 9 : i == 2 ? 20 : 3;
    cases[2].check = wrong;
    const struct figure best = bench_best(cases, CASES);
    CHECK(fabs(best.value - 9e6) < 1 && best.parameters[5] == '1' && answers == 0);
    begin(never, 3);
    CHECK_NUMBER(bench_best(cases, CASES).value, 0);
}

// A path whose frames take 100 ms until the pipeline is full, and 10 ms then: in path_collect, or in path_submit.
static int64_t made_ns; // the time; 0: the clock runs
static int collected;
static bool in_submit;

static void pass_frame(bool here)
{
    enum { DEPTH = 3 };
    if (here)
        made_ns += (collected < DEPTH ? 100 : 10) * 1000000;
}

int64_t __real_clock_now_ns(void);
int64_t __wrap_clock_now_ns(void);
bool __wrap_path_submit(struct path *path, const struct image *frame, const struct frame_time *frame_time);
bool __wrap_path_collect(struct path *path, struct path_result *result);

int64_t __wrap_clock_now_ns(void)
{
    return made_ns > 0 ? made_ns : __real_clock_now_ns();
}

bool __wrap_path_submit(struct path *path, const struct image *frame, const struct frame_time *frame_time)
{
    (void)path, (void)frame_time;
    pass_frame(in_submit);
    return frame != NULL;
}

bool __wrap_path_collect(struct path *path, struct path_result *result)
{
    (void)path;
    *result = (struct path_result){.stages = 0};
    pass_frame(!in_submit);
    collected++;
    return true;
}

// The frames that fill and empty the pipeline do not count.
static void test_frames(void)
{
    struct image image = {.memory = NULL};
    const struct pictures pictures = {.image = &image, .count = 1};
    struct frames frames = {.pictures = &pictures, .depth = 3};
    for (int i = 0; i < 2; i++) {
        double ms = 0;
        made_ns = 1;
        collected = 0;
        in_submit = i == 1;
        CHECK(frames_run(&frames, 4, &ms));
        CHECK_NUMBER(collected, 4 + 3 + 2);
        CHECK(fabs(ms - 10) < 1e-9);
    }
    made_ns = 0;
}

int main(void)
{
    test_turns();
    test_values();
    test_calibration();
    test_failures();
    test_build_log();
    test_units();
    test_ends();
    test_best();
    test_frames();
    return check_end(&unit);
}
