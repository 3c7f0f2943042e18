// report_command.c: the `report` command: combines the reports of several batches
#include "base/json_text.h"
#include "base/log.h"
#include "base/text.h"
#include "batch/report.h"
#include "command/shared.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct report_options {
    const char *output;
    bool json;
};

static const struct option options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", .help = "write all reports as one to FILE, one line per file",
     .offset = offsetof(struct report_options, output), .complete = "file"},
    JSON_OPTION(offsetof(struct report_options, json), "print the summary as JSON"),
    {0},
};
static const char *const examples[] = {
    "monocle report merge shard-*.jsonl  check that every shard has done its files",
    "monocle report merge -o all.jsonl shard-*.jsonl  write one report",
    NULL,
};
static const char *const details[] = {
    "If several lines name the same file, the last line counts. Exception: a file that one run has done stays "
    "done if a later run skips it or finds its output.",
    NULL,
};
static const char *const exits[] = {
    "0\tevery file of every shard is done or skipped",
    "1\tfiles failed or are missing, a shard did not finish, or a report has no start line",
    "2\twrong arguments",
    "3\ta report cannot be read or written",
    NULL,
};
enum { FAILURES_MOST = 20, FAILURES_JSON_MOST = 10000 };

static void print_summary(const struct merge *merge, const struct merge_sum *sum)
{
    json_t *row = batch_report_counts(sum->status, sum->fault);
    json_object_update_new(row, json_pack("{s:I,s:I,s:i,s:i,s:i,s:i,s:I,s:I}", "files", (json_int_t)sum->files,
                                          "missing", (json_int_t)sum->missing, "shards", sum->shards, "shards_missing",
                                          sum->shards_missing, "shards_unfinished", sum->shards_cut, MERGE_UNSTARTED,
                                          sum->unstarted, "done_twice", (json_int_t)sum->twice, "torn_lines",
                                          (json_int_t)sum->torn));
    json_object_set_new(row, "failures", merge_failures(merge, FAILURES_JSON_MOST));
    print_json(row, JSON_COMPACT);
}

static void print_failures(const struct merge *merge, size_t failed)
{
    json_t *failures = merge_failures(merge, FAILURES_MOST);
    size_t i;
    json_t *row;
    json_array_foreach(failures, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "input"));
        const char *why = json_string_value(json_object_get(row, "why"));
        log_print_line(stdout, "  %s: %s", text_or(name, "a file whose name is not UTF-8"), text_or(why, "failed"));
    }
    json_decref(failures);
    if (failed > FAILURES_MOST)
        printf("  ... and %zu more; --json names all\n", failed - FAILURES_MOST);
}

static void print_text(const struct merge *merge, const struct merge_sum *sum)
{
    printf("%zu files of %d shard%s: %zu done, %zu skipped, %zu failed", sum->files, sum->shards,
           sum->shards == 1 ? "" : "s", sum->status[STATUS_DONE], sum->status[STATUS_SKIPPED],
           sum->status[STATUS_FAILED]);
    if (sum->missing > 0)
        printf(", %zu not reached", sum->missing);
    printf("\n");
    for (int i = FAULT_NONE + 1; i < FAULTS; i++) {
        if (sum->fault[i] > 0)
            printf("  %s: %zu\n", fault_names[i], sum->fault[i]);
    }
    print_failures(merge, sum->status[STATUS_FAILED]);
    for (int i = 0; i < sum->shards; i++) {
        const char *fault = merge_shard_fault(merge, i);
        if (fault)
            printf("  shard %d/%d %s\n", i + 1, sum->shards, fault);
    }
    if (sum->twice > 0)
        printf("  done by two shards: %zu\n", sum->twice);
    if (sum->unstarted > 0)
        printf("  reports without a start line: %d\n", sum->unstarted);
    if (sum->torn > 0)
        printf("  incomplete lines: %zu\n", sum->torn);
}

static int merge_reports(const struct report_options *o, const char *const *paths, int count)
{
    struct merge *merge = merge_open(paths, count);
    if (!merge)
        return EXIT_NOTHING;
    const struct merge_sum sum = merge_sum(merge);
    const bool complete =
        sum.status[STATUS_FAILED] + sum.missing == 0 && sum.shards_missing + sum.shards_cut == 0 && sum.unstarted == 0;
    if (o->json)
        print_summary(merge, &sum);
    else
        print_text(merge, &sum);
    const bool written = !o->output || merge_write(merge, o->output);
    merge_close(merge);
    if (!written)
        return EXIT_NOTHING;
    return complete ? EXIT_OK : EXIT_FAILED_SOME;
}

static int run(int argc, char **argv)
{
    struct report_options o = {0};
    struct command_operands operands;
    if (!command_parse(&report_command, argc, argv, &o, INT_MAX, &operands))
        return operands.code;
    if (operands.count < 2 || strcmp(operands.word[0], "merge") != 0) {
        log_error("name merge and at least one report; usage: monocle %s %s", report_command.name,
                  report_command.usage);
        return EXIT_USAGE;
    }
    if (o.output && !batch_report_check(o.output, NULL, &(struct inputs){0}, NULL))
        return EXIT_USAGE;
    return merge_reports(&o, operands.word + 1, operands.count - 1);
}

const struct command report_command = {
    .name = "report",
    .usage = "merge FILE... [options]",
    .summary = "combine the reports of several batches",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .actions = "merge",
    .complete = "file",
    .run = run,
};
