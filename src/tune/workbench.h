// workbench.h: builds other variants of a path's chain, and compares and times them on a copy of a frame
#pragma once

#include "compute/driver_cache.h"
#include "path/opencl_chain.h"

// What a path runs.
struct workbench_job {
    struct opencl_target target;
    struct chain chain; // held
    bool tiles;
    struct pass_choice choice[PLAN_PASSES];
    int passes;
};

struct workbench {
    struct workbench_job job; // `choice` changes with workbench_use
    struct opencl_chain *current;
    cl_command_queue queue; // its own
    struct opencl_layout layout;
    cl_mem input, output;
    struct image expected, got; // results
};

// Fills a job, whose chain the caller releases (chain_hold). False: the path needs no device, its user has chosen the
// variant, or a filter gets its previous output.
bool workbench_job_of(struct workbench_job *job, const struct path *path);

// Builds the job's chain and runs it on the frame. After a failure, `why` has the reason; the caller closes the
// workbench in any case. The job's chain must stay held and the device must stay open. All functions are for one
// thread; the path may be closed meanwhile.
bool workbench_open(struct workbench *bench, const struct workbench_job *job, const struct image *frame,
                    char why[VERDICT_TEXT]);
void workbench_close(struct workbench *bench); // accepts a zeroed workbench

// Builds the chain with another choice for a pass. The caller closes it. NULL on failure: `why` has the reason.
struct opencl_chain *workbench_build(const struct workbench *bench, int pass, const struct variant_choice *choice,
                                     char why[VERDICT_TEXT]);
// Sets *ms to the time of a pass on a part of the frame, on the device's clock. False on failure.
bool workbench_time(struct workbench *bench, struct opencl_chain *chain, int pass, double *ms);
// Returns true if the chain makes the same result of the frame as the job's chain.
bool workbench_same(struct workbench *bench, struct opencl_chain *chain);
// From now on, a pass has this choice, for which this run has a new result (tuned_add). `chain` runs it.
void workbench_use(struct workbench *bench, struct opencl_chain *chain, int pass);
