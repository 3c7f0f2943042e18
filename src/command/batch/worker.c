// worker.c: a thread that processes one file after the other, up to the temporary name of its output
#include "command/batch/batch.h"

#include "base/log.h"
#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct worker {
    struct batch *batch;
    pthread_t thread;
    struct codec *codec;
    struct runner_setup setup;
    struct runner runner;
    struct work work[RUNNER_FLIGHTS]; // a ring; the images in the runner begin at `oldest`
    int oldest, flights;
    struct codec_buffer buffer; // the encoded file
};

// Returns the memory, in bytes, that a thread may keep from file to file. It frees the memory of larger images.
static uint64_t share_bytes(const struct batch *batch)
{
    return batch->budget.limit / (uint64_t)(8 * batch->run.jobs);
}

static void hand_in(struct worker *worker, struct work *work)
{
    struct batch *batch = worker->batch;
    struct outcome *outcome = work->outcome;
    if (work->reserved > 0)
        budget_give(&batch->budget, work->reserved);
    work_clear(work);
    if (work_kept_bytes(work) > share_bytes(batch))
        work_free(work);
    queue_hand_in(&batch->queue, outcome);
}

static int64_t stages_ns(const struct path_result *result)
{
    return result->stages > 0 ? result->stage[result->stages - 1].end_ns - result->stage[0].start_ns : 0;
}

static void finish_oldest(struct worker *worker)
{
    struct work *work = &worker->work[worker->oldest];
    struct outcome *outcome = work->outcome;
    struct path_result result;
    char *why;
    if (runner_collect(&worker->runner, &result, &why)) {
        const struct fleet_member *device = runner_done_by(&worker->runner);
        outcome->device = device ? device->info.name : "cpu";
        outcome->device_number = device ? device->number : -1;
        outcome->step_ns[STEP_FILTER] = stages_ns(&result);
        work_end(work, &worker->batch->rules, worker->codec, &result, &worker->buffer);
    } else {
        for (char *at = why; at && (at = strchr(at, '\n'));) // a compiler's message may have several lines
            *at = ' ';
        outcome_fail(outcome, FAULT_DEVICE, "the filters failed%s%.200s", why ? ": " : "", why ? why : "");
    }
    free(why);
    worker->oldest = (worker->oldest + 1) % RUNNER_FLIGHTS;
    worker->flights--;
    hand_in(worker, work);
}

// Takes `bytes` from the budget. If too few are left, it first finishes the files in flight: a thread that waits must
// hold no bytes.
static void reserve(struct worker *worker, struct work *work, uint64_t bytes)
{
    while (!budget_take(&worker->batch->budget, bytes, worker->flights == 0))
        finish_oldest(worker);
    work->reserved = bytes;
}

// Takes memory for the file. The memory for the image is known only after its header is read.
static bool reserve_file(struct worker *worker, struct work *work)
{
    if (work->file_bytes > worker->batch->budget.limit)
        return outcome_fail(work->outcome, FAULT_LIMIT, "the file has %zu MiB, more than --memory allows",
                            work->file_bytes >> 20);
    reserve(worker, work, work->file_bytes);
    return true;
}

// Takes memory for the image too. If the thread must wait, it first frees the file and its memory, because two threads
// that hold files could wait for each other. Then it reads the file again.
static bool reserve_picture(struct worker *worker, struct work *work)
{
    struct budget *budget = &worker->batch->budget;
    const uint64_t bytes = work_bytes(work);
    if (bytes > budget->limit)
        return outcome_fail(work->outcome, FAULT_LIMIT, "%dx%d pixels need %llu MiB, more than --memory allows",
                            work->outcome->width, work->outcome->height, (unsigned long long)(bytes >> 20));
    if (bytes <= work->reserved) // the file was truncated
        return true;
    if (budget_take(budget, bytes - work->reserved, false)) {
        work->reserved = bytes;
        return true;
    }
    budget_give(budget, work->reserved);
    work->reserved = 0;
    work_drop_file(work);
    reserve(worker, work, bytes);
    if (!work_read(work, &worker->batch->rules, worker->codec))
        return false;
    return work_bytes(work) <= bytes || outcome_fail(work->outcome, FAULT_READ, "the file changed while it was read");
}

static bool begin(struct worker *worker, struct work *work, const struct task *task)
{
    const struct work_rules *rules = &worker->batch->rules;
    work->outcome->task = task;
    work->outcome->output.fd = -1;
    const bool ok = work_open(work, rules) && reserve_file(worker, work) && work_read(work, rules, worker->codec) &&
                    reserve_picture(worker, work);
    work_close(work);
    return ok && work_decode(work, rules, worker->codec, runner_feeds(&worker->runner) ? &worker->buffer : NULL);
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct batch *batch = worker->batch;
    const struct task *task;
    // Each worker opens its device, so that several devices open at the same time.
    const bool open = runner_open(&worker->runner, &worker->setup);
    while (open && !worker->runner.given_up && (task = queue_take(&batch->queue))) {
        struct work *work = &worker->work[(worker->oldest + worker->flights) % RUNNER_FLIGHTS];
        work->outcome = calloc(1, sizeof(*work->outcome));
        if (!work->outcome) {
            log_error("cannot continue: out of memory");
            queue_stop(&batch->queue);
            break;
        }
        if (!begin(worker, work, task)) {
            hand_in(worker, work);
            continue;
        }
        runner_submit(&worker->runner, &work->job);
        worker->flights++;
        while (worker->flights > runner_lag(&worker->runner))
            finish_oldest(worker);
    }
    while (worker->flights > 0)
        finish_oldest(worker);
    queue_leave(&batch->queue);
    return NULL;
}

static void worker_free(struct worker *worker)
{
    runner_close(&worker->runner);
    codec_close(worker->codec);
    for (int i = 0; i < RUNNER_FLIGHTS; i++)
        work_free(&worker->work[i]);
    codec_buffer_free(&worker->buffer);
    free(worker);
}

struct worker *worker_start(struct batch *batch, int number, int member)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    char name[16];
    if (!worker) {
        log_error("cannot start: out of memory");
        return NULL;
    }
    worker->batch = batch;
    worker->setup = (struct runner_setup){&batch->chain, &batch->fleet, member, batch->threads, share_bytes(batch)};
    snprintf(name, sizeof(name), "batch %d", number);
    bool ok = (worker->codec = codec_open()) != NULL;
    if (ok) {
        queue_enter(&batch->queue);
        ok = thread_start(&worker->thread, worker_main, worker, name);
        if (!ok)
            queue_leave(&batch->queue);
    }
    if (ok)
        return worker;
    worker_free(worker);
    return NULL;
}

bool worker_join(struct worker *worker)
{
    if (!worker)
        return false;
    pthread_join(worker->thread, NULL);
    const bool given_up = worker->runner.given_up;
    worker_free(worker);
    return given_up;
}
