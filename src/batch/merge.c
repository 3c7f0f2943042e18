// merge.c: combines the reports of several runs and shards
#include "batch/report.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/text.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHARDS_MAX = 1000000,
    LINE_MOST = 1 << 20, // longest line; two names as JSON and in hexadecimal and a message take at most 200 kB
    STRANGE_MOST = 1000, // limit of invalid lines in a row: the file is then not a report
};

// The work of one or more runs of a shard: one job on a set of files. Runs with the same work continue each other.
struct merge_work {
    const char *key;
    char *start;            // start line of the last of these runs, JSON, without newline
    char *end;              // end line of that run; NULL: the run did not finish
    int shard;              // 1 to N
    size_t number;          // in the order of the first start lines
    size_t files, reported; // files to process; files that have a line
};

struct merge_row {
    const char *key; // names of input and output
    char *line;      // the file's line of JSON, without newline
    enum file_status status;
    enum fault fault;
    bool left_out;           // an image that monocle cannot read: none of the run's files
    struct merge_work *work; // of the last run with a line of this file; NULL: no known run
};

// Initialise with zeros.
struct merge {
    struct key_table rows;    // of struct merge_row
    struct key_table works;   // of struct merge_work
    struct merge_work **last; // for each shard, the work of its last run; NULL: the shard has no run
    int shards;               // N; 0: unknown yet
    int unstarted;            // reports without a start line
    size_t torn;              // incomplete lines: not a JSON object, or a file without status
    size_t twice;             // how often two shards did the same file
    bool unlike;              // the reports have different numbers of shards
};

// Returns the exact bytes of a name, in hexadecimal if they are not UTF-8.
static const char *exact(const json_t *row, const char *name, char key[64])
{
    snprintf(key, 64, "%s_hex", name);
    const char *hex = json_string_value(json_object_get(row, key));
    return hex ? hex : json_text(row, name);
}

// Returns the index of the text among `count` names; -1 if it is none of them.
static int find_name(const char *text, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (names[i] && strcmp(text, names[i]) == 0)
            return i;
    }
    return -1;
}

// Replaces the line by a copy of the text.
static void set_line(char **line, const char *text)
{
    free(*line);
    *line = xstrdup(text);
}

// Returns the number of the work's shard; 0 for no known run.
static int shard_of(const struct merge_work *work)
{
    return work ? work->shard : 0;
}

// Adds the line of a file.
static void take_file(struct merge *merge, const json_t *json, const char *line, struct merge_work *work)
{
    char member[64];
    const int status = find_name(json_text(json, "status"), status_names, STATUSES);
    const int fault = find_name(json_text(json, "error"), fault_names, FAULTS);
    if (status < 0) {
        merge->torn++;
        return;
    }
    char *key = xprintf("%s\n%s", exact(json, "input", member), exact(json, "output", member));
    struct merge_row *row = table_row(&merge->rows, key, sizeof(*row));
    free(key);
    const bool done = row->line && row->status == STATUS_DONE, same_shard = shard_of(row->work) == shard_of(work);
    merge->twice += done && status == STATUS_DONE && !same_shard;
    if (done && (status == STATUS_SKIPPED || fault == FAULT_EXISTS)) {
        row->work = same_shard ? work : row->work;
        return;
    }
    row->status = (enum file_status)status;
    row->fault = fault < 0 ? FAULT_NONE : (enum fault)fault;
    row->left_out = status == STATUS_SKIPPED && !json_object_get(json, "output");
    row->work = work;
    set_line(&row->line, line);
}

// Returns the work, and adds it if it is new.
static struct merge_work *find_work(struct merge *merge, int shard, const char *text)
{
    char *key = xprintf("%d %s", shard, text);
    const size_t works = merge->works.count;
    struct merge_work *work = table_row(&merge->works, key, sizeof(*work));
    free(key);
    if (merge->works.count > works) {
        work->shard = shard;
        work->number = works;
    }
    return work;
}

// Handles the start line of a run. *work becomes its work; NULL if the line is invalid.
static void take_start(struct merge *merge, const json_t *start, const char *line, struct merge_work **work)
{
    const json_int_t shard = json_integer_value(json_object_get(start, "shard"));
    const json_int_t shards = json_integer_value(json_object_get(start, "shards"));
    const json_int_t files = json_integer_value(json_object_get(start, "files"));
    *work = NULL;
    if (files < 0 || shards < 1 || shards > SHARDS_MAX || shard < 1 || shard > shards)
        return;
    if (!merge->last) {
        merge->shards = (int)shards;
        merge->last = xcalloc((size_t)shards, sizeof(struct merge_work *));
    }
    merge->unlike = merge->unlike || merge->shards != shards;
    if (shard > merge->shards)
        return;
    *work = find_work(merge, (int)shard, json_text(start, "work"));
    merge->last[shard - 1] = *work;
    (*work)->files = (size_t)files;
    free((*work)->end);
    (*work)->end = NULL;
    set_line(&(*work)->start, line);
}

// The state of reading one report
struct reading {
    struct merge_work *work; // of the current run; NULL before the first run
    bool stray;              // the line of a file preceded the first run
    bool merged;             // the report is a merged one, with its own count of reports without a start line
};

static void take_line(struct merge *merge, const char *line, size_t size, struct reading *reading)
{
    json_t *json = json_loadb(line, size, 0, NULL);
    const json_t *start = json_object_get(json, "start");
    if (!json_is_object(json)) {
        merge->torn++;
    } else if (start) {
        take_start(merge, start, line, &reading->work);
    } else if (json_object_get(json, "end")) {
        if (reading->work)
            set_line(&reading->work->end, line);
    } else if ((start = json_object_get(json, MERGE_UNSTARTED))) {
        const json_int_t count = json_integer_value(start); // an invalid count means 1
        merge->unstarted += count > 0 && count < INT_MAX - merge->unstarted ? (int)count : 1;
        reading->merged = true;
    } else {
        reading->stray = reading->stray || !reading->work;
        take_file(merge, json, line, reading->work);
    }
    json_decref(json);
}

// Handles all lines of an open report. Returns false if the file is not a report: *why then has the reason.
static bool take_lines(struct merge *merge, FILE *file, struct reading *reading, const char **why)
{
    char *line = xmalloc(LINE_MOST + 1);
    size_t size = 0;
    int got = 0, strange = 0;
    while (strange < STRANGE_MOST && (got = file_read_line(file, line, LINE_MOST, &size)) > 0) {
        const size_t torn = merge->torn;
        if (size > 0)
            take_line(merge, line, size, reading);
        strange = size == 0 || merge->torn > torn ? strange + 1 : 0;
    }
    free(line);
    if (got < 0)
        *why = "it has a line of more than 1 MiB";
    else if (strange == STRANGE_MOST)
        *why = "1000 lines in a row are not lines of a report";
    return !*why;
}

// Adds a report. The last line of a file counts, but a file that is done stays done if a later run skips it or finds
// its output. Warns about a report without a start line. Returns false on failure (logged).
static bool merge_add(struct merge *merge, const char *path)
{
    const bool standard = strcmp(path, "-") == 0;
    const char *spoken = standard ? "standard input" : path;
    FILE *file = standard ? stdin : fopen(path, "re");
    struct reading reading = {0};
    const char *why = NULL;
    const bool ok = file && take_lines(merge, file, &reading, &why);
    const bool read = file && !ferror(file);
    if (!read)
        log_error("cannot read the report %s%s: %s", text_if(standard, "on "), spoken,
                  standard && errno == EBADF ? "it is closed" : strerror(errno));
    else if (why)
        log_error("%s is not a report of a batch: %s", spoken, why);
    if (read && ok && !merge->unlike && !reading.merged && (reading.stray || !reading.work)) {
        log_warn("%s does not begin with the start line of a run; is the report complete?", spoken);
        merge->unstarted++;
    }
    if (file && file != stdin)
        fclose(file);
    return read && ok;
}

// Compares by shard, and within a shard by work and key, with the last run's work at the end.
static int compare_rows(const void *a, const void *b, void *context)
{
    const struct merge *merge = context;
    const struct merge_row *one = *(void *const *)a, *other = *(void *const *)b;
    const int shard = shard_of(one->work);
    if (shard != shard_of(other->work))
        return shard - shard_of(other->work);
    if (one->work == other->work)
        return strcmp(one->key, other->key);
    if (one->work == merge->last[shard - 1] || other->work == merge->last[shard - 1])
        return one->work == merge->last[shard - 1] ? 1 : -1;
    return one->work->number < other->work->number ? -1 : 1;
}

// Sorts the rows, which cannot be found by their keys any more. Counts the files of each work that have a line.
static void merge_sort(struct merge *merge)
{
    for (size_t i = 0; i < merge->rows.count; i++) {
        struct merge_row *row = merge->rows.row[i];
        if (row->work && !row->left_out)
            row->work->reported++;
    }
    if (merge->rows.count > 0)
        qsort_r(merge->rows.row, merge->rows.count, sizeof(void *), compare_rows, merge);
}

void merge_close(struct merge *merge)
{
    if (!merge)
        return;
    for (size_t i = 0; i < merge->rows.count; i++)
        free(((struct merge_row *)merge->rows.row[i])->line);
    for (size_t i = 0; i < merge->works.count; i++) {
        struct merge_work *work = merge->works.row[i];
        free(work->start);
        free(work->end);
    }
    table_free(&merge->rows);
    table_free(&merge->works);
    free(merge->last);
    free(merge);
}

struct merge_sum merge_sum(const struct merge *merge)
{
    struct merge_sum sum = {.files = merge->rows.count,
                            .shards = merge->shards,
                            .unstarted = merge->unstarted,
                            .twice = merge->twice,
                            .torn = merge->torn};
    for (size_t i = 0; i < merge->rows.count; i++) {
        const struct merge_row *row = merge->rows.row[i];
        sum.status[row->status]++;
        sum.fault[row->fault]++;
    }
    for (int i = 0; i < merge->shards; i++) {
        const struct merge_work *work = merge->last[i];
        sum.missing += work && work->files > work->reported ? work->files - work->reported : 0;
        sum.shards_missing += !work;
        sum.shards_cut += work && !work->end;
    }
    return sum;
}

json_t *merge_failures(const struct merge *merge, size_t most)
{
    json_t *failures = json_array();
    for (size_t i = 0; i < merge->rows.count && json_array_size(failures) < most; i++) {
        const struct merge_row *row = merge->rows.row[i];
        if (row->status == STATUS_FAILED)
            json_array_append_new(failures, json_loads(row->line, 0, NULL));
    }
    return failures;
}

// Prints a report of all reports. First come the lines without a known run, then each shard: its runs with their start
// lines, the last run at the end, with its end line. The last line counts the reports without a start line.
static void print_lines(const struct merge *merge, FILE *out)
{
    size_t at = 0;
    for (int shard = 0; shard <= merge->shards; shard++) {
        const struct merge_work *last = shard > 0 ? merge->last[shard - 1] : NULL, *begun = NULL;
        for (; at < merge->rows.count; at++) {
            const struct merge_row *row = merge->rows.row[at];
            if (shard_of(row->work) != shard)
                break;
            if (row->work != begun)
                fprintf(out, "%s\n", row->work->start);
            begun = row->work;
            fprintf(out, "%s\n", row->line);
        }
        if (last && last != begun)
            fprintf(out, "%s\n", last->start);
        if (last && last->end)
            fprintf(out, "%s\n", last->end);
    }
    if (merge->unstarted > 0)
        fprintf(out, "{\"" MERGE_UNSTARTED "\":%d}\n", merge->unstarted);
}

bool merge_write(const struct merge *merge, const char *path)
{
    char *text = NULL;
    size_t size;
    FILE *out = xmemstream(&text, &size);
    print_lines(merge, out);
    xmemclose(out);
    const bool ok = file_write_atomic(path, text, size);
    if (!ok)
        log_error("cannot write %s: %s", path, strerror(errno));
    free(text);
    return ok;
}

struct merge *merge_open(const char *const *paths, int count)
{
    struct merge *merge = xalloc(sizeof(*merge));
    bool ok = true;
    for (int i = 0; i < count && ok; i++)
        ok = merge_add(merge, paths[i]);
    if (ok && merge->unlike)
        log_error("the reports have different numbers of shards; merge only the reports of one batch");
    if (!ok || merge->unlike) {
        merge_close(merge);
        return NULL;
    }
    merge_sort(merge);
    return merge;
}

const char *merge_shard_fault(const struct merge *merge, int shard)
{
    const struct merge_work *last = merge->last[shard];
    if (last && last->end)
        return NULL;
    return last ? "did not finish" : "has no report";
}
