// report.c: the report of a batch
#include "batch/report.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static bool refuse(const char *path, const char *why)
{
    log_error("cannot write the report to %s: it %s; name another file", path, why);
    return false;
}

// Returns true if both paths lead to the same file. If the report does not exist yet, reads the directories only if the
// names are equal.
static bool is_same(const char *report, bool exists, const char *path)
{
    if (!exists && strcmp(basename(report), basename(path)) != 0)
        return false;
    return strcmp(report, path) == 0 || file_same(report, path); // the directory may not exist yet
}

// An existing file must be empty or a report. Merged ones may lack a start line.
static bool check_content(const char *path)
{
    static const char *const begins[] = {"{\"start\":", "{\"input\":", "{\"" MERGE_UNSTARTED "\":"};
    char has[32] = "";
    FILE *file = fopen(path, "re");
    const size_t size = file ? fread(has, 1, sizeof(has) - 1, file) : 0;
    const bool read = file && !ferror(file);
    bool fits = size == 0;
    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        fits = fits || strncmp(has, begins[i], strlen(begins[i])) == 0;
    if (!read)
        log_error("cannot read the existing report %s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    return read && (fits || refuse(path, "exists and is not a report"));
}

bool batch_report_check(const char *path, const char *files_from, const struct inputs *inputs,
                        const struct naming *naming)
{
    struct stat status;
    if (strcmp(path, "-") == 0)
        return refuse(path, "is standard output, which has the summary");
    const bool exists = stat(path, &status) == 0;
    if (!exists && lstat(path, &status) == 0)
        return refuse(path, "is a dangling symbolic link");
    if (exists && !S_ISREG(status.st_mode))
        return refuse(path, "is not a regular file");
    const bool standard = files_from && strcmp(files_from, "-") == 0;
    if (standard ? file_is_open(path, STDIN_FILENO) : files_from && is_same(path, exists, files_from))
        return refuse(path, "is also the list of --files-from");
    for (size_t i = 0; i < inputs->count; i++) {
        if (is_same(path, exists, inputs->row[i].path))
            return refuse(path, "is also an input");
    }
    for (size_t i = 0; i < inputs->count; i++) { // of all shards, because another machine may be processing them
        const struct input *input = &inputs->row[i];
        char *output = input->fault == FAULT_NONE ? naming_output(naming, input->relative, i + 1) : NULL;
        const bool same = output && is_same(path, exists, output);
        free(output);
        if (same)
            return refuse(path, "is also an output");
    }
    return !exists || check_content(path);
}

// Adds a text to the JSON object, unless it is NULL or "". If a file's name is not UTF-8, NAME_hex has all bytes in
// hexadecimal.
static void set_text(json_t *row, const char *name, const char *text)
{
    json_t *value = text && *text ? text_json(text) : NULL;
    if (!value)
        return;
    const bool exact = strcmp(json_string_value(value), text) == 0;
    json_object_set_new(row, name, value); // if it fails, the value is freed
    if (exact)
        return;
    const size_t size = strlen(text);
    char *hex = xalloc(2 * size + 1), key[64];
    for (size_t i = 0; i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)text[i]);
    snprintf(key, sizeof(key), "%s_hex", name);
    json_object_set_new(row, key, json_string(hex));
    free(hex);
}

static json_t *steps_json(const int64_t step_ns[STEPS])
{
    json_t *steps = json_object();
    for (int i = 0; i < STEPS; i++) {
        if (step_ns[i] > 0)
            json_object_set_new(steps, step_names[i], json_real((double)(step_ns[i] / 1000) / 1000));
    }
    return steps;
}

static json_t *task_json(const struct outcome *outcome, const char *status)
{
    json_t *row = json_object();
    set_text(row, "input", outcome->task->input->path);
    set_text(row, "output", outcome->task->output);
    set_text(row, "status", status);
    set_text(row, "error", fault_names[outcome->fault]);
    set_text(row, "why", outcome->why);
    return row;
}

static json_t *outcome_json(const struct outcome *outcome)
{
    json_t *row = task_json(outcome, status_names[outcome->status]);
    if (outcome->status == STATUS_SKIPPED)
        return row;
    if (outcome->width > 0)
        json_object_update_new(row, json_pack("{s:i,s:i}", "width", outcome->width, "height", outcome->height));
    json_object_set_new(row, "ms", steps_json(outcome->step_ns));
    set_text(row, "device", outcome->device);
    if (outcome->device && outcome->device_number >= 0)
        json_object_set_new(row, "device_number", json_integer(outcome->device_number));
    if (outcome->passes)
        json_object_set(row, "passes", outcome->passes);
    if (outcome->input_bytes > 0)
        json_object_set_new(row, "input_bytes", json_integer((json_int_t)outcome->input_bytes));
    if (outcome->status == STATUS_DONE) {
        json_object_set_new(row, "output_bytes", json_integer((json_int_t)outcome->output_bytes));
        set_text(row, "xxh128", outcome->hash);
    }
    return row;
}

static json_t *run_json(const struct batch_run *run)
{
    json_t *row = json_object();
    set_text(row, "filters", run->filters);
    set_text(row, "path", run->path);
    set_text(row, "path_why", run->path_why);
    json_object_update_new(row, json_pack("{s:i,s:i,s:i,s:i}", "files", (int)run->files, "jobs", run->jobs, "shard",
                                          run->shard.index == 0 ? run->shard.count : run->shard.index, "shards",
                                          run->shard.count));
    return row;
}

json_t *batch_report_counts(const size_t status[STATUSES], const size_t fault[FAULTS])
{
    json_t *row = json_object(), *faults = json_object();
    for (int i = 0; i < STATUSES; i++)
        json_object_set_new(row, status_names[i], json_integer((json_int_t)status[i]));
    for (int i = FAULT_NONE + 1; i < FAULTS; i++) {
        if (fault[i] > 0)
            json_object_set_new(faults, fault_names[i], json_integer((json_int_t)fault[i]));
    }
    json_object_set_new(row, "errors", faults);
    return row;
}

static json_t *totals_json(const struct totals *totals, double seconds, int signal)
{
    json_t *row = batch_report_counts(totals->status, totals->fault);
    json_t *rate = seconds > 0 ? json_real((double)totals->status[STATUS_DONE] / seconds) : NULL;
    json_object_update_new(
        row, json_pack("{s:f,s:o*,s:f,s:I,s:I,s:o,s:i}", "seconds", seconds, "per_second", rate, "megapixels",
                       (double)totals->pixels / 1e6, "input_bytes", (json_int_t)totals->input_bytes, "output_bytes",
                       (json_int_t)totals->output_bytes, "ms", steps_json(totals->step_ns), "signal", signal));
    return row;
}

static bool fail(struct batch_report *report, const char *why)
{
    if (!report->failed)
        log_error("cannot write the report %s: %s; %s", report->path, why,
                  report->begun ? "the images are not affected"
                                : "no file is processed; name another file with --report");
    report->failed = true;
    return false;
}

// Adds a line. Takes over the row. Returns false on failure (logged).
static bool add_row(struct batch_report *report, json_t *row)
{
    const bool ok =
        json_dumpf(row, report->file, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0 && putc('\n', report->file) != EOF;
    const char *why = strerror(errno);
    json_decref(row);
    return ok || fail(report, why);
}

// Opens and locks the file, because the lines of two runs must not mix. Returns NULL on failure; errno is EWOULDBLOCK
// if another run has the lock. Without lock support, the file is not locked.
static FILE *open_locked(const char *path)
{
    FILE *file = fopen(path, "a+e");
    char last = '\n';
    if (!file)
        return NULL;
    if (flock(fileno(file), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        fclose(file);
        errno = EWOULDBLOCK;
        return NULL;
    }
    // A killed run may have left an incomplete line. Ends it, so that the start line begins a new one.
    const off_t end = lseek(fileno(file), 0, SEEK_END);
    if (end > 0 && pread(fileno(file), &last, 1, end - 1) == 1 && last != '\n')
        putc('\n', file);
    return file;
}

bool batch_report_open(struct batch_report *report, const char *path, const struct batch_run *run)
{
    char work[17];
    *report = (struct batch_report){.path = path, .file = open_locked(path)};
    if (!report->file)
        return fail(report, errno == EWOULDBLOCK ? "another run is writing to it" : strerror(errno));
    json_t *start = run_json(run);
    snprintf(work, sizeof(work), "%016llx", (unsigned long long)run->work);
    set_text(start, "work", work);
    report->begun = add_row(report, json_pack("{s:o}", "start", start)) && batch_report_flush(report);
    if (!report->begun)
        fclose(report->file);
    return report->begun;
}

void batch_report_add(struct batch_report *report, const struct outcome *outcome)
{
    if (report->begun && !report->failed)
        add_row(report, outcome_json(outcome));
}

json_t *batch_report_plan(const struct outcome *outcome, bool planned)
{
    json_t *row = task_json(outcome, planned ? "planned" : status_names[outcome->status]);
    if (planned && outcome->replace)
        json_object_set_new(row, "replaces", json_true());
    return row;
}

bool batch_report_flush(struct batch_report *report)
{
    if (report->file && !report->failed && fflush(report->file) != 0)
        fail(report, strerror(errno));
    return !report->failed;
}

bool batch_report_close(struct batch_report *report, const struct totals *totals, double seconds, int signal)
{
    if (!report->begun)
        return true;
    if (!report->failed && add_row(report, json_pack("{s:o}", "end", totals_json(totals, seconds, signal))))
        batch_report_flush(report);
    if (!file_sync(fileno(report->file)))
        fail(report, strerror(errno));
    if (fclose(report->file) != 0)
        fail(report, strerror(errno));
    return !report->failed;
}

void totals_add(struct totals *totals, const struct outcome *outcome)
{
    totals->status[outcome->status]++;
    totals->fault[outcome->fault]++;
    totals->waiting += outcome->status == STATUS_SKIPPED && outcome->fault == FAULT_MISSING;
    for (int i = 0; i < STEPS; i++)
        totals->step_ns[i] += outcome->step_ns[i];
    if (outcome->status != STATUS_DONE)
        return;
    totals->pixels += (uint64_t)outcome->width * (uint64_t)outcome->height;
    totals->input_bytes += outcome->input_bytes;
    totals->output_bytes += outcome->output_bytes;
    totals->on_cpu += outcome->on_cpu;
}

size_t totals_left(const struct totals *totals, const struct batch_run *run)
{
    const size_t *status = totals->status;
    return run->files - status[STATUS_DONE] - status[STATUS_SKIPPED] - status[STATUS_FAILED];
}

json_t *batch_report_summary(const struct totals *totals, const struct batch_run *run, double seconds, int signal)
{
    json_t *row = run_json(run);
    json_object_set_new(row, "left_out", json_integer((json_int_t)run->left_out));
    json_object_set_new(row, "not_reached", json_integer((json_int_t)totals_left(totals, run)));
    json_object_update_new(row, totals_json(totals, seconds, signal));
    return row;
}
