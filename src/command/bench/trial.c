// trial.c: measures several things in turns
#include "command/bench/trial.h"

#include "base/clock.h"
#include "base/log.h"
#include "command/command.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    ROUNDS_DEFAULT = 30,
    ROUNDS_MIN = 3, // with a time limit
    ROUNDS_MAX = 1000,
};

// A measurement is much longer than a timer interrupt or a wake-up, and short enough for many rounds.
static const double measurement_ms = 10;

void bench_progress(const char *format, ...)
{
    char text[128] = "";
    if (!status_line_possible())
        return;
    if (format) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof(text), format, arguments);
        va_end(arguments);
    }
    status_line_show(text);
}

static bool run(struct trial *trial, int runs, struct trial_time *time)
{
    trial->failed = trial->failed || !trial->run(trial->context, runs, time);
    return !trial->failed;
}

// Makes the first runs, and chooses the number of runs of a measurement.
static void warm_up(struct trial *trial)
{
    struct trial_time time = {0};
    if (!run(trial, trial->warm_runs, &time) || !run(trial, 1, &time))
        return;
    const double runs = fmax(ceil(measurement_ms / fmax(time.wall_ms, 1e-3)), fmax(trial->runs, 1));
    trial->runs = (int)fmin(runs, TRIAL_RUNS_MAX);
}

static void measure(struct trial *trial)
{
    struct trial_time time = {0};
    // The first run restores caches and clock rates after the other trials.
    if (!run(trial, 1, &time) || !run(trial, trial->runs, &time))
        return;
    if (!samples_add(&trial->ms, time.ms) || !samples_add(&trial->wall_ms, time.wall_ms)) {
        log_error("cannot store a measurement: out of memory");
        trial->failed = true;
    }
    if (trial->keep)
        trial->keep(trial->context);
}

static bool rounds_over(int done, int rounds, double seconds, int64_t start_ns)
{
    if (rounds == 0 && seconds > 0)
        return done >= ROUNDS_MAX ||
               (done >= ROUNDS_MIN && (double)(clock_now_ns() - start_ns) / 1e9 * (done + 1) / done > seconds);
    return done >= (rounds > 0 ? rounds : ROUNDS_DEFAULT);
}

bool trials_run(struct trial *const *trials, int count, int rounds, double seconds)
{
    for (int i = 0; i < count && !process_interrupted(); i++) {
        bench_progress("warming up, %d of %d", i + 1, count);
        warm_up(trials[i]);
    }
    const int64_t start_ns = clock_now_ns();
    for (int round = 0; !process_interrupted() && !rounds_over(round, rounds, seconds, start_ns); round++) {
        const double spent_s = (double)(clock_now_ns() - start_ns) / 1e9;
        bench_progress("round %d, %.0f s", round + 1, spent_s);
        for (int i = 0; i < count && !process_interrupted(); i++) {
            struct trial *trial = trials[(i + round) % count];
            if (!trial->failed)
                measure(trial);
        }
    }
    bench_progress(NULL);
    bool ok = true;
    for (int i = 0; i < count; i++)
        ok = ok && !trials[i]->failed;
    return ok;
}

void trial_finish(struct trial *trial)
{
    samples_free(&trial->ms);
    samples_free(&trial->wall_ms);
}
