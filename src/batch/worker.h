// worker.h: a thread that processes one file after the other, up to the temporary name of its output
#pragma once

#include "batch/batch.h"
#include "batch/queue.h"
#include "batch/runner.h"

// The pointers must stay valid until worker_close.
struct worker_setup {
    const struct batch_setup *options;
    struct queue *queue;
    struct runner_setup runner; // each file in flight, too, may keep `keep_bytes` for the next file
};

struct worker;

struct worker *worker_open(const struct worker_setup *setup); // returns NULL if out of memory (logged)
// Starts the thread, which leaves the queue at its end. Returns false on failure (logged).
bool worker_start(struct worker *worker, int number);
// Waits until the thread ends and frees the worker. Returns true if it lost its device and could not replace it.
// Accepts NULL.
bool worker_close(struct worker *worker);

// Decodes a file for a measurement, without a thread. Returns false if that fails. `job` and `settings` (of the output)
// point to memory that stays valid until the next call or worker_close.
bool worker_sample(struct worker *worker, const struct task *task, struct runner_job *job,
                   struct codec_settings *settings);
