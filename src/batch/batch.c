// batch.c: a batch on the main thread: finds the files, starts the workers, commits their outputs, reports
//
// Outputs are synced in groups. Their writeback began when the worker wrote them. The first fsync of a group waits for
// one commit of the file system's journal; the others then find their data on the disk. Measured on ext4 with 300
// files: 43 ms in groups, 1600 ms with one commit per file.
#include "batch/batch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/thread.h"
#include "batch/inputs.h"
#include "batch/names.h"
#include "batch/worker.h"
#include "compute/tuned.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    JOBS_MAX = 256,
    WARNINGS_MOST = 64,  // kinds of warnings that are counted
    WAKE_NS = 100000000, // longest delay before a signal is noticed
};

struct batch {
    const struct batch_setup *setup; // `held`
    struct batch_setup held;         // its chain is held: all images get the same one
    const struct batch_hooks *hooks;
    struct inputs inputs;
    struct tasks tasks;
    struct queue queue;
    struct fleet *fleet;
    struct tuned tuned; // tuning results for cpu paths
    struct choice choice;
    int jobs, threads; // number of workers; threads of one cpu path
    int64_t start_ns;
    struct totals totals;
    struct batch_report report;
    struct earlier *earlier;
    struct warning {
        char *text;      // what several files lack
        char *first;     // the first of their names, in the order of their bytes
        size_t count;    // number of the files; 0: it was logged with another warning
        uint64_t hashes; // sum of the hashes of the names
    } warning[WARNINGS_MOST];
    int warnings;
};

// ---- the files

static void log_nothing_found(const struct inputs *inputs, const char *where)
{
    if (inputs->made > 0)
        log_error("there are no images in %s except %zu made by earlier runs; name a file to filter it again", where,
                  inputs->made);
    else if (inputs->directories > 0)
        log_error("there are no images in %s, only directories; add --recursive (-r) to search them", where);
    else
        log_error("there are no images in %s", where);
}

static bool find_tasks(struct batch *batch, const char *const *operand, int operands)
{
    const struct batch_setup *o = batch->setup;
    const struct inputs_setup setup = {
        .operand = operand,
        .operands = operands,
        .recursive = o->recursive,
        .files_from = o->files_from,
        .null = o->null,
        .outputs = o->naming.directory,
    };
    if (!inputs_gather(&batch->inputs, &setup))
        return false;
    if (batch->inputs.foreigns > 0)
        log_warn("%zu image%s left out: monocle cannot read camera raw, JPEG XR, JPEG 2000, OpenEXR and HDR files; "
                 "convert camera raw with darktable-cli or dcraw first, others with ImageMagick",
                 batch->inputs.foreigns, batch->inputs.foreigns == 1 ? " is" : "s are");
    if (batch->inputs.count > 0 || o->watch) {
        tasks_make(&batch->tasks, &batch->inputs, &o->naming, &o->chain, &o->shard, o->existing, o->job,
                   batch->earlier);
        batch->tasks.waits = o->watch;
        return true;
    }
    log_nothing_found(&batch->inputs, operands == 1 ? operand[0] : "the named files and directories");
    return false;
}

// Reports the plan of each file. Returns the exit code.
static int dry_run(struct batch *batch)
{
    const struct batch_hooks *hooks = batch->hooks;
    size_t failed = 0;
    for (size_t i = 0; i < batch->tasks.count; i++) {
        struct outcome outcome = {.task = &batch->tasks.row[i]};
        struct task_file file;
        const bool planned = task_open(&batch->tasks, &outcome, &file);
        if (file.fd >= 0)
            close(file.fd);
        hooks->file(hooks->context, &outcome, planned);
        if (outcome.status == STATUS_FAILED) {
            tasks_log(&batch->tasks, &outcome);
            failed++;
        }
    }
    hooks->plan_end(hooks->context, batch->inputs.made);
    if (failed == 0)
        return EXIT_OK;
    return failed < batch->tasks.count ? EXIT_FAILED_SOME : EXIT_NOTHING;
}

// ---- the workers

// Raises the number of jobs to one per device, unless the user limits it.
static void employ_devices(struct batch *batch)
{
    const size_t files = batch->tasks.count;
    if (batch->jobs >= batch->fleet->count || files <= (size_t)batch->jobs)
        return;
    if (batch->setup->jobs > 0)
        log_info("--jobs limits the run to %d of %d devices", batch->jobs, batch->fleet->count);
    else
        batch->jobs = files < (size_t)batch->fleet->count ? (int)files : batch->fleet->count;
}

// Sets the number of jobs and the path. Returns false on failure (logged).
static bool choose_jobs(struct batch *batch)
{
    const size_t files = batch->tasks.count > 0 ? batch->tasks.count : 1;
    const int wanted = batch->setup->jobs > 0 ? batch->setup->jobs : workers_available();
    const int most = wanted < JOBS_MAX ? wanted : JOBS_MAX;
    batch->jobs = files < (size_t)most ? (int)files : most;
    batch->threads = most / batch->jobs; // with few files, each file gets several threads
    if (!choose_path(&batch->choice, batch->setup, &batch->queue, batch->fleet, batch->jobs))
        return false;
    if (batch->choice.kind == PATH_OPENCL)
        employ_devices(batch);
    return queue_admit(&batch->queue, &batch->jobs, batch->choice.kind != PATH_CPU);
}

static void start_workers(struct batch *batch, struct worker *workers[JOBS_MAX])
{
    const struct batch_setup *o = batch->setup;
    const uint64_t keep_bytes = o->memory_bytes / (uint64_t)(8 * batch->jobs);
    for (int i = 0; i < batch->jobs; i++) {
        const int member = batch->choice.kind == PATH_OPENCL ? i % batch->fleet->count : -1;
        const struct worker_setup setup = {o,
                                           &batch->queue,
                                           {&o->chain, batch->fleet, member, batch->choice.kind == PATH_GL,
                                            batch->threads, &batch->tuned, keep_bytes}};
        workers[i] = worker_open(&setup);
        if (!worker_start(workers[i], i + 1))
            queue_leave(&batch->queue);
    }
}

// ---- the outputs

// Renames the output. If another run of the same job has written it meanwhile, the task counts as skipped.
static void commit_one(struct outcome *outcome)
{
    const struct output_mark mark = outcome->output.mark;
    if (output_commit(&outcome->output, outcome->replace))
        return;
    const int error = errno;
    if (error == EEXIST && output_is_made(outcome->task->output, &mark))
        outcome_skip(outcome, "another run wrote the output first");
    else
        task_fail_writing(outcome, error);
}

static void sync_group(struct outcome *group)
{
    for (struct outcome *o = group; o; o = o->next) {
        const int64_t start_ns = clock_now_ns();
        if (o->status == STATUS_DONE && !output_sync(&o->output)) {
            task_fail_writing(o, errno);
            output_abandon(&o->output);
        }
        if (o->status == STATUS_DONE)
            o->step_ns[STEP_WRITE] += clock_now_ns() - start_ns;
    }
}

static void sync_directories(const struct outcome *group)
{
    const struct directory *synced = NULL;
    for (const struct outcome *o = group; o; o = o->next) {
        if (o->status != STATUS_DONE || o->task->directory == synced)
            continue;
        if (!output_sync_directory(o->task->output))
            log_warn("cannot sync the directory of %s: %s", o->task->output, strerror(errno));
        synced = o->task->directory;
    }
}

static void commit_group(struct outcome *group, bool sync)
{
    if (sync)
        sync_group(group);
    for (struct outcome *o = group; o; o = o->next) {
        if (o->status == STATUS_DONE)
            commit_one(o);
    }
    if (sync)
        sync_directories(group);
}

// Counts each warning of a file that is done. Returns false if there are too many kinds.
static bool count_warnings(struct batch *batch, const struct outcome *o)
{
    static const char between[] = "; ";
    for (const char *at = o->why, *end; *at; at = *end ? end + strlen(between) : end) {
        end = strstr(at, between) ? strstr(at, between) : at + strlen(at);
        const size_t length = (size_t)(end - at);
        int i = 0;
        while (i < batch->warnings &&
               (strlen(batch->warning[i].text) != length || memcmp(batch->warning[i].text, at, length) != 0))
            i++;
        if (i == WARNINGS_MOST)
            return false;
        if (i == batch->warnings)
            batch->warning[batch->warnings++] =
                (struct warning){.text = xprintf("%.*s", (int)length, at), .first = xstrdup(o->task->input->path)};
        struct warning *warning = &batch->warning[i];
        if (strcmp(o->task->input->path, warning->first) < 0) {
            free(warning->first);
            warning->first = xstrdup(o->task->input->path);
        }
        warning->count++;
        warning->hashes += hash_64(o->task->input->path, strlen(o->task->input->path));
    }
    return true;
}

// Logs a line for each kind of warning. Kinds of the same files share a line.
static void log_warnings(struct batch *batch)
{
    for (int i = 0; i < batch->warnings; i++) {
        struct warning *warning = &batch->warning[i];
        char name[PATH_MAX], text[FAULT_WHY], others[32] = "";
        size_t used = 0;
        for (int k = i; k < batch->warnings; k++) {
            struct warning *same = &batch->warning[k];
            if (same->count == 0 || same->count != warning->count || same->hashes != warning->hashes)
                continue;
            if (used < sizeof(text))
                used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used > 0 ? "; " : "", same->text);
            same->count = k == i ? same->count : 0;
        }
        if (warning->count == 0)
            continue;
        if (warning->count > 1)
            snprintf(others, sizeof(others), " and %zu more", warning->count - 1);
        log_escape(name, sizeof(name), warning->first);
        log_warn("%s%s: %s", name, others, text);
    }
    for (int i = 0; i < batch->warnings; i++) {
        free(batch->warning[i].text);
        free(batch->warning[i].first);
    }
    batch->warnings = 0;
}

static void record_one(struct batch *batch, const struct outcome *o)
{
    totals_add(&batch->totals, o);
    if (o->status == STATUS_DONE && count_warnings(batch, o))
        ;
    else if (o->fault != FAULT_FULL || batch->totals.fault[FAULT_FULL] == 1) // once, although all files in flight fail
        tasks_log(&batch->tasks, o);
    if (o->fault == FAULT_FULL || (o->status == STATUS_FAILED && batch->setup->fail_fast))
        queue_stop(&batch->queue);
    if (o->status == STATUS_SKIPPED && o->fault == FAULT_MISSING)
        earlier_wait(batch->earlier, o->task, o->why);
    if (batch->setup->watch && o->status != STATUS_FAILED)
        earlier_add(batch->earlier, o->task);
    if (batch->setup->watch && o->status == STATUS_DONE)
        batch->hooks->file(batch->hooks->context, o, true);
    batch_report_add(&batch->report, o);
}

static void record_group(struct batch *batch, struct outcome *group)
{
    for (struct outcome *o = group; o; o = group) {
        group = o->next;
        // A signal ends compilers: a file that fails then counts as not reached, and the next run filters it.
        if (o->fault != FAULT_DEVICE || !process_interrupted())
            record_one(batch, o);
        json_decref(o->passes);
        free(o);
    }
    batch_report_flush(&batch->report);
}

// Runs until all workers have finished. Returns the signal that ended the run early, or 0.
static int commit_all(struct batch *batch)
{
    int signal = 0;
    for (bool over = false; !over;) {
        struct outcome *group = queue_collect(&batch->queue, clock_now_ns() + WAKE_NS, &over);
        commit_group(group, !batch->setup->no_sync);
        record_group(batch, group);
        batch->hooks->progress(batch->hooks->context, &batch->totals, batch->tasks.count, batch->start_ns);
        if (!signal && process_interrupted()) {
            signal = process_interrupted();
            queue_stop(&batch->queue);
            if (!over)
                log_warn("interrupted; writing the files that are filtered");
        }
    }
    return signal;
}

// ---- the run

// Returns the exit code of a finished run. A signal that arrived after the last file does not count.
static int sum_up(const struct batch *batch, int signal, bool given_up)
{
    const size_t *status = batch->totals.status;
    const size_t worked = status[STATUS_DONE] + status[STATUS_SKIPPED];
    const size_t left = batch->tasks.count - worked - status[STATUS_FAILED];
    if (signal && left > 0)
        return 128 + signal;
    if (given_up)
        return EXIT_DEVICE;
    if (left == 0 && status[STATUS_FAILED] == 0)
        return EXIT_OK;
    return worked > 0 ? EXIT_FAILED_SOME : EXIT_NOTHING;
}

// Adds the images that were left out to the report of the first shard.
static void report_foreign(struct batch *batch)
{
    for (size_t i = 0; batch->setup->shard.index == 0 && i < batch->inputs.foreigns; i++) {
        const struct input input = {.path = batch->inputs.foreign[i]};
        const struct task task = {.input = &input};
        struct outcome outcome = {.task = &task};
        outcome_skip(&outcome, codec_foreign_name(name_extension(input.path) + 1));
        batch_report_add(&batch->report, &outcome);
    }
}

static int filter_tasks(struct batch *batch, const struct batch_run *run)
{
    struct worker *workers[JOBS_MAX] = {NULL};
    bool given_up = false;
    batch->start_ns = clock_now_ns();
    start_workers(batch, workers);
    const int signal = commit_all(batch); // returns at once if no worker has started (logged)
    for (int i = 0; i < batch->jobs; i++)
        given_up = worker_close(workers[i]) || given_up;
    const double seconds = (double)(clock_now_ns() - batch->start_ns) / 1e9;
    log_warnings(batch);
    batch->hooks->end(batch->hooks->context, &batch->totals, run, seconds, signal);
    const bool reported = batch_report_close(&batch->report, &batch->totals, seconds, signal);
    const int code = sum_up(batch, signal, given_up);
    return EXIT_SETTLED | (code == EXIT_OK && !reported ? EXIT_FAILED_SOME : code);
}

// Returns false if the directory of outputs is watched: they would be arriving images (logged).
static bool is_elsewhere(const struct earlier *earlier, const char *outputs)
{
    for (int i = 0; i < earlier->watches; i++) {
        if (!file_same(earlier->watched[i], outputs))
            continue;
        log_error("--watch cannot write to %s, which it watches; name another directory with --output", outputs);
        return false;
    }
    return true;
}

static int run(struct batch *batch, const char *const *operand, int operands)
{
    const struct batch_setup *o = batch->setup;
    if (!find_tasks(batch, operand, operands))
        return EXIT_NOTHING;
    for (size_t i = 0; i < batch->tasks.directories.count; i++) {
        const struct directory *directory = batch->tasks.directories.row[i];
        if (!is_elsewhere(batch->earlier, *directory->path ? directory->path : "."))
            return EXIT_USAGE;
    }
    if (batch->tasks.count == 0 && o->watch)
        return EXIT_OK;
    if (o->report && !batch_report_check(o->report, o->files_from, &batch->inputs, &o->naming))
        return EXIT_USAGE;
    if (o->dry_run)
        return dry_run(batch);
    tasks_clean(&batch->tasks);
    if (!choose_jobs(batch))
        return EXIT_NOTHING;
    const struct batch_run run = {
        .filters = o->chain_text,
        .path = path_kind_name(batch->choice.kind),
        .path_why = batch->choice.why,
        .files = batch->tasks.count,
        .left_out = batch->inputs.made,
        .shard = o->shard,
        .jobs = batch->jobs,
        .work = tasks_hash(&batch->tasks) + hash_64(o->job, strlen(o->job)),
    };
    process_hold_signals(CALLS_ANY); // from here on, a signal lets the run write the end line of its report
    if (o->report && !batch_report_open(&batch->report, o->report, &run))
        return EXIT_NOTHING;
    report_foreign(batch);
    return filter_tasks(batch, &run);
}

// Filters these files and directories; `earlier`: as tasks_make. Leaves the devices open. Returns the exit code.
static int filter_files(const struct batch_setup *setup, const struct batch_hooks *hooks, const char *const *operand,
                        int operands, struct earlier *earlier, struct fleet *fleet)
{
    struct batch *batch = xalloc(sizeof(*batch));
    batch->held = *setup;
    batch->setup = &batch->held;
    chain_hold(&batch->held.chain);
    batch->hooks = hooks;
    batch->earlier = earlier;
    batch->fleet = fleet;
    queue_init(&batch->queue, &batch->tasks, setup->fail_fast, setup->memory_bytes);
    tuned_init(&batch->tuned);
    const int code = run(batch, operand, operands);
    queue_finish(&batch->queue);
    tuned_finish(&batch->tuned);
    tasks_free(&batch->tasks);
    inputs_free(&batch->inputs);
    chain_release(&batch->held.chain);
    free(batch);
    return code;
}

// Waits for files that arrive, and for inputs whose filters' files have arrived. Returns as watch_wait.
static bool wait_for_files(struct watch *watch, struct earlier *earlier, bool *failed)
{
    enum { LATE_MS = 500 };
    const char *input;
    do {
        if (!watch_wait(watch, earlier->waiting > 0 ? LATE_MS : -1, failed))
            return false;
        while ((input = earlier_ready(earlier)))
            watch_add(watch, input);
    } while (watch->names == 0);
    return true;
}

// Filters the files in the directories, and then the files that arrive, until a signal. Files that fail do not end the
// run. Returns the exit code.
static int filter_arrivals(const struct batch_setup *setup, const struct batch_hooks *hooks, struct watch *watch,
                           const char *const *operand, int operands, struct earlier *earlier, struct fleet *fleet)
{
    bool ended_by_fault, some_failed = false;
    int code = filter_files(setup, hooks, operand, operands, earlier, fleet);
    do {
        const int plain = code & ~EXIT_SETTLED;
        const bool impossible = plain == code && code != EXIT_OK; // for every file: it has filtered none
        if (impossible || plain >= EXIT_DEVICE)
            return code;
        some_failed = some_failed || plain != EXIT_OK;
        hooks->waiting(hooks->context);
        if (!wait_for_files(watch, earlier, &ended_by_fault))
            break;
        code = filter_files(setup, hooks, (const char *const *)watch->name, watch->names, earlier, fleet);
    } while (true);
    return EXIT_SETTLED | (some_failed || ended_by_fault ? EXIT_FAILED_SOME : EXIT_OK);
}

static int watch_directories(const struct batch_setup *setup, const struct batch_hooks *hooks,
                             const char *const *operand, int operands, struct earlier *earlier, struct fleet *fleet)
{
    struct watch watch;
    int code = EXIT_NOTHING;
    earlier->watched = operand;
    earlier->watches = operands;
    if (!setup->naming.directory)
        log_error("--watch cannot write all images to one file; name a directory or a template with --output");
    if (!setup->naming.directory || !is_elsewhere(earlier, setup->naming.directory))
        return EXIT_USAGE;
    process_hold_signals(CALLS_ANY);
    if (watch_open(&watch, operand, operands))
        code = filter_arrivals(setup, hooks, &watch, operand, operands, earlier, fleet);
    watch_close(&watch);
    return code;
}

int batch_run(const struct batch_setup *setup, const struct batch_hooks *hooks, const char *const *operand,
              int operands)
{
    struct earlier earlier = {0};
    struct fleet fleet = {0};
    const int code =
        (setup->watch ? watch_directories : filter_files)(setup, hooks, operand, operands, &earlier, &fleet);
    fleet_finish(&fleet);
    earlier_free(&earlier);
    return code;
}
