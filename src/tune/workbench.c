// workbench.c: builds other variants of a path's chain, and compares and times them on a copy of a frame
#include "tune/workbench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PART_ROWS = 64, PART_SHARE = 8, TIMED_RUNS = 3 }; // a part of a frame has 64 rows, or an eighth if that is more

bool workbench_job_of(struct workbench_job *job, const struct path *path)
{
    const struct opencl_target *target = path_target(path);
    const struct opencl_chain *chain = path_chain(path);
    bool previous = false; // a candidate would not have the previous output of the path's own chain
    for (int i = 0; target && i < chain->plan.count; i++)
        previous = previous || chain->plan.pass[i].last;
    if (!target || target->wanted.variant || previous)
        return false;
    *job = (struct workbench_job){
        .target = *target, .chain = chain->plan.chain, .tiles = chain->tiles, .passes = chain->plan.count};
    chain_hold(&job->chain);
    for (int i = 0; i < job->passes; i++)
        job->choice[i] = (struct pass_choice){chain->pass[i].choice, chain->pass[i].tuned};
    return true;
}

static bool fail(char why[VERDICT_TEXT], const char *text)
{
    snprintf(why, VERDICT_TEXT, "%.*s", VERDICT_TEXT - 1, text);
    return false;
}

// Copies the frame to the device.
static cl_int open_input(struct workbench *bench, const struct image *frame)
{
    const struct opencl_target *target = &bench->job.target;
    const size_t bytes = opencl_layout_make(&bench->layout, &target->input);
    void *memory = calloc(1, bytes);
    cl_int result = CL_OUT_OF_HOST_MEMORY;
    if (memory) {
        opencl_layout_copy(&bench->layout, memory, frame, NULL);
        bench->input =
            clCreateBuffer(target->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, memory, &result);
    }
    free(memory);
    return result;
}

// Runs the chain on the first rows of the frame. *ms is the time of a pass.
static cl_int run(struct workbench *bench, struct opencl_chain *chain, int rows, int pass, double *ms)
{
    struct device_span spans[PLAN_PASSES] = {0};
    struct opencl_layout layout = bench->layout;
    layout.height = rows;
    cl_int result = opencl_chain_run(chain, bench->queue, bench->input, &layout, bench->output, NULL, spans);
    const cl_int finished = compute_finish(bench->queue);
    *ms = ((double)event_stamp(spans[pass].last, CL_PROFILING_COMMAND_END) -
           (double)event_stamp(spans[pass].first, CL_PROFILING_COMMAND_START)) /
          1e6;
    for (int i = 0; i < PLAN_PASSES; i++)
        span_release(&spans[i]);
    return result == CL_SUCCESS ? finished : result;
}

static cl_int run_and_read(struct workbench *bench, struct opencl_chain *chain, struct image *to)
{
    double ms;
    const cl_int result = run(bench, chain, bench->layout.height, 0, &ms);
    return result != CL_SUCCESS ? result : opencl_output_read(&bench->job.target, bench->queue, bench->output, to, 4);
}

struct opencl_chain *workbench_build(const struct workbench *bench, int pass, const struct variant_choice *choice,
                                     char why[VERDICT_TEXT])
{
    const struct workbench_job *job = &bench->job;
    struct pass_choice choices[PLAN_PASSES];
    char *error = NULL;
    memcpy(choices, job->choice, sizeof(choices));
    choices[pass] = (struct pass_choice){.choice = *choice};
    struct opencl_chain *chain = opencl_chain_with(&job->target, &job->chain, job->tiles, choices, &error);
    if (!chain)
        fail(why, error ? error : "out of memory");
    free(error);
    return chain;
}

bool workbench_open(struct workbench *bench, const struct workbench_job *job, const struct image *frame,
                    char why[VERDICT_TEXT])
{
    struct image_shape rgba = {.width = job->target.input.width, .height = job->target.input.height};
    char error[CHAIN_ERROR];
    chain_output_size(&job->chain, &rgba.width, &rgba.height, error); // the path's result has this size
    cl_int result;
    *bench = (struct workbench){.job = *job};
    if (!image_alloc(&bench->expected, &rgba) || !image_alloc(&bench->got, &rgba))
        return fail(why, "out of memory");
    bench->queue = device_queue(job->target.device, true, &result);
    if (result == CL_SUCCESS)
        result = open_input(bench, frame);
    if (result == CL_SUCCESS)
        bench->output = opencl_output_open(&job->target, rgba.width, rgba.height, 0, &result);
    if (result != CL_SUCCESS)
        return fail(why, compute_result_name(result));
    bench->current = workbench_build(bench, 0, &job->choice[0].choice, why);
    if (!bench->current)
        return false;
    result = run_and_read(bench, bench->current, &bench->expected);
    return result == CL_SUCCESS || fail(why, compute_result_name(result));
}

void workbench_close(struct workbench *bench)
{
    if (bench->queue) {
        compute_finish(bench->queue);
        clReleaseCommandQueue(bench->queue);
    }
    memory_release(bench->input);
    memory_release(bench->output);
    opencl_chain_close(bench->current);
    image_free(&bench->expected);
    image_free(&bench->got);
    *bench = (struct workbench){.queue = NULL};
}

bool workbench_time(struct workbench *bench, struct opencl_chain *chain, int pass, double *ms)
{
    const int height = bench->layout.height, part = height / PART_SHARE / 2 * 2;
    const int rows = height <= PART_ROWS ? height : part > PART_ROWS ? part : PART_ROWS;
    double one;
    *ms = 0;
    for (int i = 0; i <= TIMED_RUNS; i++) { // the first run is not timed
        if (run(bench, chain, rows, pass, &one) != CL_SUCCESS || one <= 0)
            return false;
        if (i > 0 && (*ms == 0 || one < *ms))
            *ms = one;
    }
    return true;
}

bool workbench_same(struct workbench *bench, struct opencl_chain *chain)
{
    return run_and_read(bench, chain, &bench->got) == CL_SUCCESS &&
           memcmp(bench->got.memory, bench->expected.memory, image_bytes(&bench->expected.shape)) == 0;
}

void workbench_use(struct workbench *bench, struct opencl_chain *chain, int pass)
{
    struct workbench_job *job = &bench->job;
    const struct pass_target target = opencl_pass_target(&job->target, &chain->plan, pass);
    const struct variant_pass of = {&chain->plan.pass[pass], &target, &job->target.device->info};
    struct pass_choice found;
    job->choice[pass] = (struct pass_choice){.choice = chain->pass[pass].choice};
    if (pass_tuned(job->target.device, &of, job->target.input.width, job->target.input.height, NULL, NULL, &found))
        job->choice[pass].tuned = found.tuned;
    chain->pass[pass].tuned = job->choice[pass].tuned;
}
