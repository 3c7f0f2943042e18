// worker.h: a thread that processes one file after the other, up to the temporary name of its output; the choice of the
// path that all workers use
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

struct worker *worker_open(const struct worker_setup *setup);
// Starts the thread, which leaves the queue at its end. Returns false on failure (logged).
bool worker_start(struct worker *worker, int number);
// Waits until the thread ends and frees the worker. Returns true if it lost its device and could not replace it.
// Accepts NULL.
bool worker_close(struct worker *worker);

// Decodes a file for a measurement, without a thread. Returns false if that fails. `request` and `settings` (of the
// output) point to memory that stays valid until the next call or worker_close.
bool worker_sample(struct worker *worker, const struct task *task, struct runner_request *request,
                   struct codec_settings *settings);

struct choice {
    enum path_kind kind;
    char why[120]; // why the measurement chose it; "": nothing was measured
};

// Selects the path and opens the fleet if it needs devices. --path, --device and --kernels decide; if they leave it
// open and there are at least 100 files, decodes one file and measures both paths with it. `jobs` workers will run.
// Returns false on failure (logged).
bool choose_path(struct choice *choice, const struct batch_setup *options, struct queue *queue, struct fleet *fleet,
                 int jobs);

// The cost of one image on one path, in milliseconds
struct cost {
    double codec_ms;  // CPU time to read, decode and encode it
    double filter_ms; // CPU time of the rest: the passes, or a device's copies and launches
    double device_ms; // time that a device is busy with it; 0 on the cpu path
    double open_ms;   // time to open a path on a device, memory included; 0 on the cpu path
};

// Estimates the time of a batch, in milliseconds. The jobs share the CPUs, the devices share the images, and a driver
// opens the paths of all jobs one after the other.
double cost_batch_ms(const struct cost *cost, size_t files, int jobs, int devices);
