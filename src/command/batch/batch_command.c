// batch_command.c: the `batch` command: prints the plan, the progress and the summary
#include "base/clock.h"
#include "base/json_text.h"
#include "base/log.h"
#include "command/batch/batch_options.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum {
    PROGRESS_NS = 200000000, // between updates of the progress
    MINUTE_S = 60,
    HOUR_S = 3600,
};

// The context of the hooks
struct face {
    const struct command_operands *operands;
    bool dry_run, json;
    int64_t progress_ns; // time of the next update of the progress
    bool progress_shown;
    bool told; // that the run waits for files
};

static void clear_progress(struct face *face)
{
    if (face->progress_shown)
        status_line_show("");
    face->progress_shown = false;
}

static void print_file(void *context, const struct outcome *outcome, bool planned)
{
    struct face *face = context;
    const char *input = outcome->task->input->path;
    clear_progress(face);
    if (face->json) {
        if (face->dry_run)
            print_json(record_plan(outcome, planned), JSON_COMPACT);
        return;
    }
    if (planned)
        log_print_line(stdout, "%s -> %s%s", input, outcome->task->output, outcome->replace ? " (replaced)" : "");
    else if (outcome->status == STATUS_SKIPPED)
        log_print_line(stdout, "%s skipped: %s", input, outcome->why);
}

static void end_plan(void *context, size_t left_out)
{
    const struct face *face = context;
    if (left_out > 0 && !face->json)
        printf("%zu left out (outputs of earlier runs)\n", left_out);
}

// Shows one line on the terminal, which is updated in place.
static void show_progress(void *context, const struct totals *totals, size_t files, int64_t start_ns)
{
    struct face *face = context;
    const size_t *status = totals->status;
    const size_t worked = status[STATUS_DONE] + status[STATUS_FAILED], left = files - worked - status[STATUS_SKIPPED];
    const int64_t now_ns = clock_now_ns();
    const double seconds = (double)(now_ns - start_ns) / 1e9;
    const double rate = seconds > 0 ? (double)worked / seconds : 0;
    char text[192];
    if (now_ns < face->progress_ns || !status_line_possible())
        return;
    int used = snprintf(text, sizeof(text), "%zu of %zu", files - left, files);
    if (status[STATUS_FAILED] > 0)
        used += snprintf(text + used, sizeof(text) - (size_t)used, ", %zu failed", status[STATUS_FAILED]);
    if (rate > 0) {
        const long left_s = (long)((double)left / rate + 0.5), minutes = left_s / MINUTE_S, s = left_s % MINUTE_S;
        used += snprintf(text + used, sizeof(text) - (size_t)used, ", %.1f per second, ", rate);
        if (left_s >= HOUR_S)
            snprintf(text + used, sizeof(text) - (size_t)used, "%ld:%02ld:%02ld left", left_s / HOUR_S,
                     minutes % MINUTE_S, s);
        else
            snprintf(text + used, sizeof(text) - (size_t)used, "%ld:%02ld left", minutes, s);
    }
    status_line_show(text);
    face->progress_ns = now_ns + PROGRESS_NS;
    face->progress_shown = true;
}

// Prints the path of the run, and how many of its files the cpu path filtered instead.
static void print_path(const struct totals *totals, const struct record_run *run)
{
    printf(", path %s", run->path);
    if (run->path_why[0])
        printf(" (%s)", run->path_why);
    if (totals->on_cpu > 0 && strcmp(run->path, "cpu") != 0)
        printf("; the cpu path filtered %zu", totals->on_cpu);
    putchar('\n');
}

static void print_totals(void *context, const struct totals *totals, const struct record_run *run, double seconds,
                         int signal)
{
    struct face *face = context;
    const size_t *status = totals->status;
    const size_t left = totals_left(totals, run);
    clear_progress(face);
    if (face->json) {
        print_json(record_summary(totals, run, seconds, signal), JSON_COMPACT | JSON_REAL_PRECISION(9));
        return;
    }
    printf("%zu of %zu files done", status[STATUS_DONE], run->files);
    if (seconds > 0 && status[STATUS_DONE] > 0)
        printf(" in %.1f s (%.1f per second)", seconds, (double)status[STATUS_DONE] / seconds);
    if (status[STATUS_SKIPPED] > 0)
        printf(", %zu skipped (their outputs exist)", status[STATUS_SKIPPED]);
    if (status[STATUS_FAILED] > 0)
        printf(", %zu failed", status[STATUS_FAILED]);
    if (left > 0)
        printf(", %zu not reached", left);
    if (run->left_out > 0)
        printf(", %zu left out (outputs of earlier runs)", run->left_out);
    print_path(totals, run);
}

static void print_waiting(void *context)
{
    struct face *face = context;
    if (!face->told && !face->json)
        log_print_line(stdout, "watching %s%s for new images; Ctrl+C ends", face->operands->word[0],
                       face->operands->count > 1 ? " and other directories" : "");
    face->told = true;
    fflush(stdout); // the summary of this round, for a reader of a pipe
}

static int run(int argc, char **argv)
{
    struct batch_options options;
    struct command_operands operands;
    int code = EXIT_NOTHING;
    if (options_take(&options, argc, argv, &operands, &code)) {
        struct face face = {.operands = &operands, .dry_run = options.setup.dry_run, .json = options.json};
        const struct batch_hooks hooks = {&face, print_file, end_plan, show_progress, print_totals, print_waiting};
        code = batch_run(&options.setup, &hooks, operands.word, operands.count);
    }
    options_finish(&options);
    return code;
}

const struct command batch_command = {.list = &batch_list, .run = run};
