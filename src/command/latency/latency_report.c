// latency_report.c: prints a histogram, or JSON lines
#include "command/latency/latency.h"

#include "base/json_text.h"
#include "base/log.h"
#include "command/shared.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BINS_MAX = 16, BAR = 40 };

enum part { PART_ALL, PART_UNTIL_CAPTURE, PART_FROM_CAPTURE, PARTS };
static const char *const part_names[PARTS] = {"glass to glass", "flash to capture", "capture to screen"};
static const char *const part_keys[PARTS] = {"glass_to_glass", "until_capture", "from_capture"};

static double part_ms(const struct latency_sample *sample, enum part part)
{
    const int64_t ns[PARTS] = {sample->shown_ns, sample->captured_ns, sample->shown_ns - sample->captured_ns};
    return (double)ns[part] / 1e6;
}

static void collect(const struct latency *l, enum part part, struct stats *stats)
{
    stats->count = 0;
    for (int i = 0; i < l->samples; i++)
        stats_add(stats, part_ms(&l->sample[i], part));
}

static void print_line(json_t *object)
{
    print_json(object, JSON_COMPACT | JSON_REAL_PRECISION(9));
    process_flush();
}

void latency_report_start(const struct latency *l)
{
    struct pane_facts facts;
    panes_describe(l->stream.panes, PANE_MAIN, &facts);
    if (l->options.json) {
        print_line(json_pack("{s:s,s:o,s:s,s:s,s:o}", "event", "start", "source", text_json(l->stream.info->name),
                             "path", facts.kind, "sharing", facts.sharing, "screen",
                             text_json(window_gl_name(l->stream.window))));
        return;
    }
    log_print_line(stdout, "%s, path %s, sharing mode %s, %s", l->stream.info->name, facts.kind, facts.sharing,
                   window_gl_name(l->stream.window));
    puts("Point the camera at the window. Press q to quit.");
    process_flush();
}

void latency_report_sample(const struct latency *l, int index)
{
    if (!l->options.json)
        return;
    json_t *object = json_object();
    json_object_set_new(object, "event", json_string("flash"));
    for (int part = 0; part < PARTS; part++) {
        char name[40];
        snprintf(name, sizeof(name), "%s_ms", part_keys[part]);
        json_object_set_new(object, name, json_thousandths(part_ms(&l->sample[index], (enum part)part)));
    }
    print_line(object);
}

static void print_summary(const struct latency *l)
{
    struct stats stats;
    json_t *object = json_pack("{s:s,s:i,s:i}", "event", "summary", "flashes", l->samples, "missed", l->missed);
    for (int part = 0; part < PARTS; part++) {
        collect(l, (enum part)part, &stats);
        json_object_set_new(object, part_keys[part],
                            json_pack("{s:o,s:o,s:o,s:o}", "min_ms", json_thousandths(stats_percentile(&stats, 0)),
                                      "median_ms", json_thousandths(stats_percentile(&stats, 50)), "p95_ms",
                                      json_thousandths(stats_percentile(&stats, 95)), "max_ms",
                                      json_thousandths(stats_percentile(&stats, 100))));
    }
    print_line(object);
}

// Returns the smallest of 1, 2, 5, 10, 20, ... ms that needs at most BINS_MAX bins.
static double bin_width(double low, double high)
{
    static const double steps[] = {1, 2, 5};
    for (double decade = 1;; decade *= 10)
        for (int i = 0; i < 3; i++) {
            const double width = steps[i] * decade;
            if (floor(high / width) - floor(low / width) < BINS_MAX)
                return width;
        }
}

static void print_histogram(const struct latency *l, const struct stats *stats)
{
    const double low = stats_percentile(stats, 0), high = stats_percentile(stats, 100), width = bin_width(low, high);
    const double first = floor(low / width);
    int count[BINS_MAX] = {0}, most = 1;
    for (int i = 0; i < l->samples; i++) {
        const int bin = (int)(floor(stats->value[i] / width) - first);
        count[bin]++;
        most = count[bin] > most ? count[bin] : most;
    }
    for (int bin = 0; bin <= (int)(floor(high / width) - first); bin++) {
        char bar[BAR + 1] = "";
        memset(bar, '#', (size_t)((count[bin] * BAR + most - 1) / most));
        printf("%5.0f to %5.0f ms %4d %s\n", (first + bin) * width, (first + bin + 1) * width, count[bin], bar);
    }
}

void latency_report(const struct latency *l)
{
    if (l->options.json) {
        print_summary(l);
        return;
    }
    struct stats stats;
    collect(l, PART_ALL, &stats);
    printf("\n");
    print_histogram(l, &stats);
    printf("\n%d flashes, %d missed\n%-25s %8s %8s %8s %8s\n", l->samples, l->missed, "ms", "min", "median", "p95",
           "max");
    for (int part = 0; part < PARTS; part++) {
        collect(l, (enum part)part, &stats);
        printf("%-25s %8.1f %8.1f %8.1f %8.1f\n", part_names[part], stats_percentile(&stats, 0),
               stats_percentile(&stats, 50), stats_percentile(&stats, 95), stats_percentile(&stats, 100));
    }
}
