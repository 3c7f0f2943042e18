// choose.h: selects the path that runs the filters of a batch
#pragma once

#include "batch/worker.h"

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
