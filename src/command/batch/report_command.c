// report_command.c: the command that combines the reports of batches
#include "command/batch/merge.h"

#include "base/file.h"
#include "base/log.h"
#include "command/command.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct report_options {
    const char *output;
    bool json;
};

struct sum {
    size_t status[STATUSES], fault[FAULTS];
    size_t missing;                 // files without a line
    int shards_missing, shards_cut; // shards without a report; shards whose last run did not finish
};

static const struct option options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", .help = "write all reports as one to FILE, one line per file",
     .offset = offsetof(struct report_options, output), .complete = "file"},
    {"json", 'j', OPTION_FLAG, .help = "print the summary as JSON", .offset = offsetof(struct report_options, json)},
    {0},
};
static const char *const examples[] = {
    "monocle report merge shard-*.jsonl  check that every shard has done its files",
    "monocle report merge -o all.jsonl shard-*.jsonl  write one report",
    NULL,
};
static const char *const details[] = {
    "If several lines name the same file, the last line counts. A file that is done once stays done if a later run "
    "skips it or finds its output.",
    NULL,
};
static const char *const exits[] = {
    "0\tevery file of every shard is done or skipped",
    "1\tfiles failed or are missing, a shard did not finish, or a report has no start line",
    "2\twrong arguments",
    "3\ta report cannot be read or written",
    NULL,
};
static const struct option_list list = {
    .command = "report",
    .usage = "merge FILE... [options]",
    .summary = "combine the reports of several batches",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .complete = "merge",
};

static struct sum add_up(const struct merge *merge)
{
    struct sum sum = {0};
    for (size_t i = 0; i < merge->count; i++) {
        sum.status[merge->row[i].status]++;
        sum.fault[merge->row[i].fault]++;
    }
    for (int i = 0; i < merge->shards; i++) {
        const struct merge_shard *shard = &merge->shard[i];
        const struct merge_work *work = shard->work ? &merge->work[shard->work - 1] : NULL;
        sum.missing += work && work->files > work->told ? work->files - work->told : 0;
        sum.shards_missing += !work;
        sum.shards_cut += work && !shard->end;
    }
    return sum;
}

static void print_json(const struct merge *merge, const struct sum *sum)
{
    json_t *row = json_object(), *faults = json_object();
    for (int i = 0; i < STATUSES; i++)
        json_object_set_new(row, status_name((enum status)i), json_integer((json_int_t)sum->status[i]));
    for (int i = FAULT_NONE + 1; i < FAULTS; i++) {
        if (sum->fault[i] > 0)
            json_object_set_new(faults, fault_name((enum fault)i), json_integer((json_int_t)sum->fault[i]));
    }
    json_object_set_new(row, "errors", faults);
    json_object_update_new(row, json_pack("{s:I,s:I,s:i,s:i,s:i,s:i,s:I,s:I}", "files", (json_int_t)merge->count,
                                          "missing", (json_int_t)sum->missing, "shards", merge->shards,
                                          "shards_missing", sum->shards_missing, "shards_unfinished", sum->shards_cut,
                                          MERGE_UNSTARTED, merge->unstarted, "done_twice", (json_int_t)merge->twice,
                                          "torn_lines", (json_int_t)merge->torn));
    json_dumpf(row, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(row);
}

static void print_text(const struct merge *merge, const struct sum *sum)
{
    printf("%zu files of %d shard%s: %zu done, %zu skipped, %zu failed", merge->count, merge->shards,
           merge->shards == 1 ? "" : "s", sum->status[STATUS_DONE], sum->status[STATUS_SKIPPED],
           sum->status[STATUS_FAILED]);
    if (sum->missing > 0)
        printf(", %zu not reached", sum->missing);
    printf("\n");
    for (int i = FAULT_NONE + 1; i < FAULTS; i++) {
        if (sum->fault[i] > 0)
            printf("  %s: %zu\n", fault_name((enum fault)i), sum->fault[i]);
    }
    for (int i = 0; i < merge->shards; i++) {
        if (!merge->shard[i].work)
            printf("  shard %d/%d has no report\n", i + 1, merge->shards);
        else if (!merge->shard[i].end)
            printf("  shard %d/%d did not finish\n", i + 1, merge->shards);
    }
    if (merge->twice > 0)
        printf("  done by two shards: %zu\n", merge->twice);
    if (merge->unstarted > 0)
        printf("  reports without a start line: %d\n", merge->unstarted);
    if (merge->torn > 0)
        printf("  incomplete lines: %zu\n", merge->torn);
}

// Prints a report of all reports. First come the lines without a known run, then each shard: its runs with their start
// lines, the last run at the end, with its end line. The last line counts the reports without a start line.
static void print_lines(const struct merge *merge, FILE *out)
{
    size_t row = 0;
    for (int shard = 0; shard <= merge->shards; shard++) {
        const struct merge_shard *of = shard > 0 ? &merge->shard[shard - 1] : NULL;
        size_t begun = 0;
        for (; row < merge->count && merge->row[row].shard == shard; row++) {
            if (merge->row[row].work != begun)
                fprintf(out, "%s\n", merge->work[(begun = merge->row[row].work) - 1].start);
            fprintf(out, "%s\n", merge->row[row].line);
        }
        if (of && of->work != begun)
            fprintf(out, "%s\n", merge->work[of->work - 1].start);
        if (of && of->end)
            fprintf(out, "%s\n", of->end);
    }
    if (merge->unstarted > 0)
        fprintf(out, "{\"" MERGE_UNSTARTED "\":%d}\n", merge->unstarted);
}

static bool write_lines(const struct merge *merge, const char *path)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool ok = out != NULL;
    if (out) {
        print_lines(merge, out);
        ok = !ferror(out) && fclose(out) == 0 && file_write_atomic(path, text, size);
    }
    if (!ok)
        log_error("cannot write %s: %s", path, strerror(errno));
    free(text);
    return ok;
}

static int merge_reports(const struct report_options *o, const char *const *paths, int count)
{
    struct merge merge = {0};
    int code = EXIT_OK;
    for (int i = 0; i < count && code == EXIT_OK; i++)
        code = merge_add(&merge, paths[i]) ? EXIT_OK : EXIT_NOTHING;
    if (code == EXIT_OK && merge.unlike) {
        log_error("the reports have different numbers of shards; merge only the reports of one batch");
        code = EXIT_NOTHING;
    }
    if (code == EXIT_OK) {
        merge_sort(&merge);
        const struct sum sum = add_up(&merge);
        if (o->json)
            print_json(&merge, &sum);
        else
            print_text(&merge, &sum);
        if (sum.status[STATUS_FAILED] + sum.missing > 0 || sum.shards_missing + sum.shards_cut + merge.unstarted > 0)
            code = EXIT_FAILED_SOME;
        if (o->output && !write_lines(&merge, o->output))
            code = EXIT_NOTHING;
    }
    merge_free(&merge);
    return code;
}

static int report_run(int argc, char **argv)
{
    struct report_options o = {0};
    struct command_operands operands;
    int code;
    if (!command_parse(&list, argc, argv, &o, INT_MAX, &operands, &code))
        return code;
    if (operands.count < 2 || strcmp(operands.word[0], "merge") != 0) {
        log_error("name merge and at least one report; usage: monocle %s %s", list.command, list.usage);
        return EXIT_USAGE;
    }
    if (o.output && strcmp(o.output, "-") == 0) {
        log_error("--output cannot be standard output (-), which has the summary; name a file");
        return EXIT_USAGE;
    }
    return merge_reports(&o, operands.word + 1, operands.count - 1);
}

extern const struct command report_command;
const struct command report_command = {.list = &list, .run = report_run};
