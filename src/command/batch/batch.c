// batch.c: the batch command: finds the files, processes them, prints the summary
#include "command/batch/batch.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/workers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 256 };

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

static bool find_tasks(struct batch *batch, const struct command_operands *operands)
{
    const struct inputs_setup setup = {
        .operand = operands->word,
        .operands = operands->count,
        .recursive = batch->options.recursive,
        .files_from = batch->options.files_from,
        .null = batch->options.null,
        .outputs = batch->naming.directory,
    };
    if (!inputs_gather(&batch->inputs, &setup))
        return false;
    if (batch->inputs.count == 0) {
        log_nothing_found(&batch->inputs, operands->count == 1 ? operands->word[0] : "the named files and directories");
        return false;
    }
    const enum existing_rule rule = batch->rules.existing;
    return tasks_make(&batch->tasks, &batch->inputs, &batch->naming, &batch->shard) &&
           directories_make(&batch->directories, &batch->tasks) &&
           ((rule != EXISTING_OVERWRITE && rule != EXISTING_SKIP_NEWER) ||
            sources_make(&batch->rules.sources, &batch->inputs));
}

static void print_plan(const struct outcome *outcome, bool planned)
{
    const char *input = outcome->task->input->path;
    if (planned)
        printf("%s -> %s%s\n", input, outcome->task->output, outcome->replace ? " (replaced)" : "");
    else if (outcome->status == STATUS_SKIPPED)
        printf("%s skipped: %s\n", input, outcome->why);
}

// Prints the plan, one line per file. Returns the exit code.
static int dry_run(struct batch *batch)
{
    size_t failed = 0;
    for (size_t i = 0; i < batch->tasks.count; i++) {
        struct outcome outcome = {.task = &batch->tasks.row[i]};
        const bool planned = work_plan(&outcome, &batch->rules);
        (batch->options.json ? record_print_plan : print_plan)(&outcome, planned);
        if (outcome.status == STATUS_FAILED) {
            if (outcome.of_directory)
                directories_tell(&batch->directories, outcome.task->directory);
            else
                outcome_tell(&outcome);
            failed++;
        }
    }
    if (batch->inputs.made > 0 && !batch->options.json)
        printf("%zu left out (outputs of earlier runs)\n", batch->inputs.made);
    return failed == 0 ? EXIT_OK : failed < batch->tasks.count ? EXIT_FAILED_SOME : EXIT_NOTHING;
}

bool batch_open_fleet(struct batch *batch)
{
    const struct batch_options *o = &batch->options;
    const char *why = NULL;
    if (fleet_init(&batch->fleet, o->device, o->kernels, &why))
        return true;
    if (why && o->path == BATCH_AUTO && !o->device && !o->kernels) {
        log_info("there is no OpenCL device: %s", why);
        return true;
    }
    if (why)
        log_error("there is no OpenCL device: %s; use -p cpu%s", why, o->kernels ? " without kernel files" : "");
    return false;
}

// Raises the number of jobs to one per device, unless the user limits it.
static void employ_devices(struct batch *batch)
{
    const int devices = path_kind_info(batch->kind)->needs_device ? batch->fleet.count : 0;
    if (batch->run.jobs >= devices || batch->tasks.count <= (size_t)batch->run.jobs)
        return;
    if (batch->options.jobs > 0)
        log_info("--jobs limits the run to %d of %d devices", batch->run.jobs, devices);
    else
        batch->run.jobs = batch->tasks.count < (size_t)devices ? (int)batch->tasks.count : devices;
}

// Sets the number of jobs and the path. Returns false on failure (logged).
static bool choose_runners(struct batch *batch)
{
    const struct batch_options *o = &batch->options;
    const int wanted = o->jobs > 0 ? o->jobs : workers_available();
    const int most = wanted < JOBS_MAX ? wanted : JOBS_MAX;
    batch->run.jobs = batch->tasks.count < (size_t)most ? (int)batch->tasks.count : most;
    if (batch->run.jobs == 0)
        batch->run.jobs = 1;
    batch->threads = most / batch->run.jobs; // with few files, each file gets several threads
    batch->kind = PATH_CPU;
    const bool device = o->device && o->device != getenv("MONOCLE_DEVICE"); // from the command line, not from the
                                                                            // environment
    const bool opencl = o->path == BATCH_OPENCL || (o->path == BATCH_AUTO && (device || o->kernels));
    if ((opencl || (o->path == BATCH_AUTO && o->device)) && !batch_open_fleet(batch))
        return false;
    if (opencl && batch->fleet.count > 0)
        batch->kind = PATH_OPENCL;
    else if (o->path == BATCH_AUTO)
        batch->kind = batch_choose(batch);
    employ_devices(batch);
    batch->run.path = path_kind_name(batch->kind);
    batch->run.path_why = batch->why;
    return batch_fit_limit(batch);
}

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

static int work(struct batch *batch)
{
    struct worker *workers[JOBS_MAX] = {NULL};
    const bool device = path_kind_info(batch->kind)->needs_device;
    bool given_up = false;
    batch->start_ns = clock_now_ns();
    for (int i = 0; i < batch->run.jobs; i++)
        workers[i] = worker_start(batch, i + 1, device ? i % batch->fleet.count : -1);
    const int signal = batch_commit_all(batch); // returns at once if no worker has started (logged)
    for (int i = 0; i < batch->run.jobs; i++)
        given_up = worker_join(workers[i]) || given_up;
    const double seconds = (double)(clock_now_ns() - batch->start_ns) / 1e9;
    totals_print(&batch->totals, &batch->run, seconds, signal, batch->options.json);
    const bool recorded = record_close(batch->record, &batch->totals, seconds, signal);
    batch->record = NULL;
    const int code = sum_up(batch, signal, given_up);
    return EXIT_SETTLED | (code == EXIT_OK && !recorded ? EXIT_FAILED_SOME : code);
}

static int run(struct batch *batch, const struct command_operands *operands)
{
    if (!find_tasks(batch, operands))
        return EXIT_NOTHING;
    if (batch->options.report && !batch_check_report(batch))
        return EXIT_USAGE;
    if (batch->options.dry_run)
        return dry_run(batch);
    directories_clean(&batch->directories);
    if (!choose_runners(batch))
        return EXIT_NOTHING;
    batch->run.filters = batch->filters;
    batch->run.files = batch->tasks.count;
    batch->run.left_out = batch->inputs.made;
    batch->run.shard = batch->shard;
    batch->run.work = tasks_hash(&batch->tasks) + hash_64(batch->job, strlen(batch->job));
    command_hold_signals(); // from here on, a signal lets the run write the end line of its report
    if (batch->options.report && !(batch->record = record_open(batch->options.report, &batch->run)))
        return EXIT_NOTHING;
    return work(batch);
}

static int batch_run(int argc, char **argv)
{
    struct batch *batch = calloc(1, sizeof(*batch));
    struct command_operands operands;
    int code = EXIT_NOTHING;
    if (!batch) {
        log_error("cannot start: out of memory");
        return code;
    }
    if (batch_parse(batch, argc, argv, &operands, &code)) {
        budget_init(&batch->budget, batch->budget.limit);
        queue_init(&batch->queue, &batch->tasks, batch->options.fail_fast);
        code = run(batch, &operands);
        queue_finish(&batch->queue);
        budget_finish(&batch->budget);
        fleet_finish(&batch->fleet);
    }
    sources_free(&batch->rules.sources);
    directories_free(&batch->directories);
    tasks_free(&batch->tasks);
    inputs_free(&batch->inputs);
    naming_finish(&batch->naming);
    free(batch->job);
    free(batch);
    return code;
}

extern const struct command batch_command;
const struct command batch_command = {.list = &batch_list, .run = batch_run};
