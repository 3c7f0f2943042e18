// progress.c: shows the progress of a batch on the terminal
#include "command/batch/batch.h"

#include "base/clock.h"
#include "base/status_line.h"

#include <stdio.h>

enum { PERIOD_NS = 200000000, MINUTE_S = 60, HOUR_S = 3600 };

void progress_clear(struct progress *progress)
{
    if (progress->shown)
        status_line_show("");
    progress->shown = false;
}

static void print_time_left(char text[48], size_t left, double rate)
{
    const long left_s = (long)((double)left / rate + 0.5);
    if (left_s >= HOUR_S)
        snprintf(text, 48, "%ld:%02ld:%02ld left", left_s / HOUR_S, left_s / MINUTE_S % MINUTE_S, left_s % MINUTE_S);
    else
        snprintf(text, 48, "%ld:%02ld left", left_s / MINUTE_S, left_s % MINUTE_S);
}

void progress_show(struct progress *progress, const struct totals *totals, size_t files, int64_t start_ns)
{
    char text[192], failed[48] = "", speed[48] = "", time[48] = "";
    const int64_t now_ns = clock_now_ns();
    if (now_ns < progress->next_ns || !status_line_possible())
        return;
    progress->next_ns = now_ns + PERIOD_NS;
    const size_t worked = totals->status[STATUS_DONE] + totals->status[STATUS_FAILED];
    const size_t left = files - worked - totals->status[STATUS_SKIPPED];
    const double seconds = (double)(now_ns - start_ns) / 1e9, rate = seconds > 0 ? (double)worked / seconds : 0;
    if (totals->status[STATUS_FAILED] > 0)
        snprintf(failed, sizeof(failed), ", %zu failed", totals->status[STATUS_FAILED]);
    if (rate > 0) {
        snprintf(speed, sizeof(speed), ", %.1f per second, ", rate);
        print_time_left(time, left, rate);
    }
    snprintf(text, sizeof(text), "%zu of %zu%s%s%s", files - left, files, failed, speed, time);
    status_line_show(text);
    progress->shown = true;
}
