// progress.c: how far the batch is, on a terminal
#include "command/batch/batch.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { PERIOD_NS = 200000000, MINUTE_S = 60, HOUR_S = 3600 };

void progress_clear(struct progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    progress->shown = false;
}

void progress_show(struct progress *progress, const struct totals *totals, size_t files, int64_t start_ns)
{
    const int64_t now_ns = clock_now_ns();
    if (now_ns < progress->next_ns || !isatty(STDERR_FILENO))
        return;
    progress->next_ns = now_ns + PERIOD_NS;
    const size_t worked = totals->status[STATUS_DONE] + totals->status[STATUS_FAILED];
    const size_t left = files - worked - totals->status[STATUS_SKIPPED];
    const double seconds = (double)(now_ns - start_ns) / 1e9, rate = seconds > 0 ? (double)worked / seconds : 0;
    progress_clear(progress);
    fprintf(stderr, "%zu of %zu", files - left, files);
    if (totals->status[STATUS_FAILED] > 0)
        fprintf(stderr, ", %zu failed", totals->status[STATUS_FAILED]);
    if (rate > 0) {
        const long left_s = (long)((double)left / rate + 0.5);
        fprintf(stderr, ", %.1f a second, ", rate);
        if (left_s >= HOUR_S)
            fprintf(stderr, "%ld:%02ld:%02ld left", left_s / HOUR_S, left_s / MINUTE_S % MINUTE_S, left_s % MINUTE_S);
        else
            fprintf(stderr, "%ld:%02ld left", left_s / MINUTE_S, left_s % MINUTE_S);
    }
    progress->shown = true;
}
