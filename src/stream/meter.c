// meter.c: statistics of the live view
#include "stream/meter.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { LATE_FRAMES = 60, LOW_FRAMES = 1000 }; // values behind the figures on the screen

void meter_begin(struct meter *m, uint64_t number)
{
    m->number = number;
    m->frame_stages = 0;
}

// Returns the index of that stage, which it adds if it is new. If the table is full, the new stage replaces one that
// the current frames do not use.
static int find_stage(struct meter *m, const char *name)
{
    for (int i = 0; i < m->stages; i++) {
        if (strcmp(m->stage[i].name, name) == 0)
            return i;
    }
    int free_entry = m->stages;
    if (m->stages < METER_STAGES) {
        m->stages++;
    } else {
        bool used[METER_STAGES] = {false};
        for (int i = 0; i < m->frame_stages; i++)
            used[m->frame_stage[i]] = true;
        for (int i = 0; i < m->shown_stages; i++)
            used[m->shown_stage[i]] = true;
        free_entry = 0;
        while (free_entry < METER_STAGES - 1 && used[free_entry])
            free_entry++;
    }
    struct meter_stage *stage = &m->stage[free_entry];
    snprintf(stage->name, sizeof(stage->name), "%s", name);
    stage->ms.count = 0;
    return free_entry;
}

void meter_add(struct meter *m, const char *track, const char *prefix, const struct stage_time *time)
{
    char name[METER_NAME];
    snprintf(name, sizeof(name), "%s%s%s", text_or(prefix, ""), text_if(prefix, " "), time->name);
    const int index = find_stage(m, name);
    m->stage[index].clock = time->clock;
    stats_add(&m->stage[index].ms, (double)(time->end_ns - time->start_ns) / 1e6);
    if (m->frame_stages < METER_STAGES)
        m->frame_stage[m->frame_stages++] = index;
    if (track)
        trace_span(m->trace, track, name, time->start_ns, time->end_ns, m->number);
}

void meter_host(struct meter *m, const char *track, const char *name, int64_t start_ns, int64_t end_ns)
{
    struct stage_time time = {.clock = STAGE_HOST, .start_ns = start_ns, .end_ns = end_ns};
    snprintf(time.name, sizeof(time.name), "%s", name);
    meter_add(m, track, NULL, &time);
}

void meter_shown_again(struct meter *m)
{
    memcpy(m->shown_stage, m->frame_stage, sizeof(m->shown_stage));
    m->shown_stages = m->frame_stages;
}

void meter_shown(struct meter *m, int64_t captured_ns, int64_t shown_ns)
{
    meter_shown_again(m);
    stats_add(&m->age_ms, (double)(shown_ns - captured_ns) / 1e6);
    if (m->frames == 0)
        m->first_ns = shown_ns;
    else if (!m->paused)
        stats_add(&m->interval_ms, (double)(shown_ns - m->last_ns) / 1e6);
    m->paused = false;
    m->last_ns = shown_ns;
    m->frames++;
}

void meter_forget(struct meter *m)
{
    m->stages = m->frame_stages = m->shown_stages = 0;
    m->age_ms.count = 0;
}

void meter_pause(struct meter *m)
{
    m->paused = true;
}

double meter_shown_ms(const struct meter *m, const char *stage)
{
    for (int i = 0; i < m->shown_stages; i++) {
        if (strcmp(m->stage[m->shown_stage[i]].name, stage) == 0)
            return stats_recent(&m->stage[m->shown_stage[i]].ms, 0);
    }
    return 0;
}

double meter_passes_ms(const struct meter *m)
{
    double ms = 0;
    for (int i = 0; i < m->shown_stages; i++) {
        const struct meter_stage *stage = &m->stage[m->shown_stage[i]];
        ms += strncmp(stage->name, "pass ", 5) == 0 ? meter_late_ms(&stage->ms, 50) : 0;
    }
    return ms;
}

double meter_fps(const struct meter *m)
{
    if (m->frames < 2 || m->last_ns <= m->first_ns)
        return 0;
    return (double)(m->frames - 1) * 1e9 / (double)(m->last_ns - m->first_ns);
}

double meter_fps_now(const struct meter *m)
{
    const double quiet_ms = (double)(clock_now_ns() - m->last_ns) / 1e6;
    if (m->frames < 2 || quiet_ms > 1000)
        return 0;
    double sum_ms = 0;
    size_t n = 0;
    while (n < m->interval_ms.count && n < STATS_WINDOW && sum_ms < 1000)
        sum_ms += stats_recent(&m->interval_ms, n++);
    return sum_ms > 0 ? (double)n * 1000 / sum_ms : 0;
}

double meter_fps_low(const struct meter *m)
{
    const double slow_ms = stats_late(&m->interval_ms, LOW_FRAMES, 99);
    return slow_ms > 0 ? 1000 / slow_ms : 0;
}

double meter_first_frame_ms(const struct meter *m)
{
    return m->frames ? (double)(m->first_ns - m->opened_ns) / 1e6 : 0;
}

double meter_late_ms(const struct stats *stats, double p)
{
    return stats_late(stats, LATE_FRAMES, p);
}

static void print_row(FILE *out, int width, const char *name, const struct stats *stats, const char *clock)
{
    fprintf(out, "%-*s %9.3f %9.3f %9.3f  %s\n", width, name, stats_percentile(stats, 50), stats_percentile(stats, 95),
            stats_percentile(stats, 99), clock);
}

void meter_print(const struct meter *meter, FILE *out)
{
    if (meter->frames == 0)
        return;
    fputc('\n', out);
    int width = (int)strlen("age when shown");
    for (int i = 0; i < meter->stages; i++) {
        const int length = (int)strlen(meter->stage[i].name);
        width = length > width ? length : width;
    }
    fprintf(out, "%-*s %9s %9s %9s  clock\n", width, "stage (ms)", "median", "p95", "p99");
    for (int i = 0; i < meter->stages; i++)
        print_row(out, width, meter->stage[i].name, &meter->stage[i].ms,
                  meter->stage[i].clock == STAGE_DEVICE ? "device" : "host");
    if (meter->age_ms.count > 0)
        print_row(out, width, "age when shown", &meter->age_ms, "host");
}
