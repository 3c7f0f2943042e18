// rig.c: runs passes, chains and measures on pictures in a device's memory, for probes, tuning and bench
#include "path/rig.h"

#include "base/alloc.h"
#include "base/log.h"
#include "filter/warp.h"
#include "path/backend.h"
#include "path/opencl_chain.h"
#include "path/opencl_results.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_OUTPUTS = 2 }; // as many as a path with one frame in flight has

struct rig {
    struct opencl_target target;
    cl_mem_flags flags; // of all memory
    cl_command_queue queue;
    struct opencl_layout layout; // of each input
    size_t bytes;                // of each input
    size_t pixel_bytes;          // of the outputs
    int inputs, outputs, last;   // last: output of the latest run
    cl_mem *input;
    struct guarded *output; // without `whole` if there are no guards
    bool guards;
    int width, height; // of each output, at least
};

// ---- pictures ----

// Makes the outputs, or larger ones.
static cl_int make_outputs(struct rig *rig, int width, int height)
{
    cl_int result = CL_SUCCESS;
    if (width <= rig->width && height <= rig->height)
        return result;
    struct opencl_layout layout;
    struct image_shape rgba = {.width = width, .height = height};
    if (rgba.width < rig->width)
        rgba.width = rig->width;
    if (rgba.height < rig->height)
        rgba.height = rig->height;
    rig->width = rig->height = 0;
    const size_t bytes = opencl_layout_make(&layout, &rgba);
    for (int i = 0; result == CL_SUCCESS && i < rig->outputs; i++) {
        guarded_close(&rig->output[i]);
        if (rig->guards && !rig->target.to_image)
            result = guarded_open(&rig->output[i], rig->target.device->context, rig->queue, bytes, GUARDED_ALIGN);
        else
            rig->output[i].buffer = opencl_output_open(&rig->target, rgba.width, rgba.height, rig->flags, &result);
    }
    if (result == CL_SUCCESS)
        rig->width = rgba.width, rig->height = rgba.height;
    return result;
}

// Opens a rig without outputs. NULL on failure: *result is set.
static struct rig *make_rig(const struct opencl_target *target, int inputs, int outputs, cl_mem_flags flags,
                            const struct opencl_layout *layout, size_t bytes, cl_int *result)
{
    struct rig *rig = xalloc(sizeof(*rig));
    *rig = (struct rig){.target = *target, .flags = flags, .layout = *layout, .bytes = bytes, .pixel_bytes = 4};
    rig->input = xcalloc((size_t)inputs, sizeof(*rig->input));
    rig->output = xcalloc((size_t)outputs, sizeof(*rig->output));
    rig->inputs = inputs;
    rig->outputs = outputs;
    rig->queue = device_queue(target->device, true, result);
    for (int i = 0; *result == CL_SUCCESS && i < inputs; i++)
        rig->input[i] = clCreateBuffer(target->device->context, CL_MEM_READ_ONLY | flags, bytes, NULL, result);
    if (*result == CL_SUCCESS)
        return rig;
    rig_close(rig);
    return NULL;
}

struct rig *rig_open(const struct path_setup *setup, int inputs, bool to_image)
{
    const struct opencl_target target = opencl_target_make(setup, to_image);
    const cl_mem_flags flags = setup->device->info.host_unified ? CL_MEM_ALLOC_HOST_PTR : 0; // as the path
    struct opencl_layout layout;
    const size_t bytes = opencl_layout_make(&layout, &setup->input);
    cl_int result;
    struct rig *rig = make_rig(&target, inputs, PATH_OUTPUTS, flags, &layout, bytes, &result);
    if (rig)
        result = make_outputs(rig, setup->input.width, setup->input.height);
    if (compute_ok(result, "store images on the device"))
        return rig;
    rig_close(rig);
    return NULL;
}

void rig_close(struct rig *rig)
{
    if (!rig)
        return;
    if (rig->queue)
        compute_finish(rig->queue);
    for (int i = 0; i < rig->inputs; i++)
        memory_release(rig->input[i]);
    for (int i = 0; i < rig->outputs; i++)
        guarded_close(&rig->output[i]);
    if (rig->queue)
        clReleaseCommandQueue(rig->queue);
    free(rig->input);
    free(rig->output);
    free(rig);
}

static cl_int fill(struct rig *rig, int input, const struct image *picture)
{
    assert(input >= 0 && input < rig->inputs);
    cl_int result;
    uint8_t *to = clEnqueueMapBuffer(rig->queue, rig->input[input], CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                     rig->bytes, 0, NULL, NULL, &result);
    if (result == CL_SUCCESS) {
        opencl_layout_copy(&rig->layout, to, picture, NULL);
        result = clEnqueueUnmapMemObject(rig->queue, rig->input[input], to, 0, NULL, NULL);
    }
    return result == CL_SUCCESS ? compute_finish(rig->queue) : result;
}

bool rig_fill(struct rig *rig, int input, const struct image *picture)
{
    return compute_ok(fill(rig, input, picture), "copy an image to the device");
}

bool rig_read(struct rig *rig, const struct image *to)
{
    return compute_ok(opencl_output_read(&rig->target, rig->queue, rig->output[rig->last].buffer, to, rig->pixel_bytes),
                      "copy an image from the device");
}

bool rig_same(const struct image *got, const struct image *want, size_t pixel_bytes)
{
    const size_t width = (size_t)want->shape.width;
    for (int y = 0; y < want->shape.height; y++) {
        const uint8_t *a = image_row(got, 0, y), *b = image_row(want, 0, y);
        if (pixel_bytes == 4 && memcmp(a, b, 4 * width) != 0)
            return false;
        for (size_t x = 0; pixel_bytes < 4 && x < width; x++)
            if (memcmp(a + pixel_bytes * x, b + 4 * x, pixel_bytes) != 0)
                return false;
    }
    return true;
}

// ---- runs ----

// Enqueues one run of the work. The caller releases the span, even after a failure.
typedef cl_int rig_enqueue(const struct rig *rig, const void *work, cl_mem from, cl_mem to, struct device_span *span);

// The runs of one call.
struct series {
    struct rig *rig;
    rig_enqueue *enqueue;
    const void *work;
    int first; // input
};

static cl_int enqueue(void *context, int run, struct device_span *span)
{
    const struct series *series = context;
    struct rig *rig = series->rig;
    rig->last = (rig->last + 1) % rig->outputs;
    return series->enqueue(rig, series->work, rig->input[(series->first + run) % rig->inputs],
                           rig->output[rig->last].buffer, span);
}

static bool run(struct rig *rig, rig_enqueue *one, const void *work, int first, int runs, struct timing *timing)
{
    return timing_run(rig->queue, runs, enqueue, &(struct series){rig, one, work, first}, timing);
}

// ---- chains ----

// Makes outputs of the chain's size. NULL on failure: it closes the chain.
static struct opencl_chain *take_chain(struct rig *rig, struct opencl_chain *opened, char **error)
{
    if (!opened)
        return NULL;
    cl_int result = make_outputs(rig, opened->rgba.width, opened->rgba.height);
    if (result == CL_SUCCESS) // all runs are the first frame
        result = opencl_chain_set_frame_time(opened, rig->queue, (struct frame_time){0});
    if (opencl_ok(result, "store images on the device", error))
        return opened;
    opencl_chain_close(opened);
    return NULL;
}

struct opencl_chain *rig_chain_open(struct rig *rig, const struct chain *chain, const char *variant, char **error)
{
    const struct path_setup setup = {.device = rig->target.device, .input = rig->target.input, .variant = variant};
    const struct opencl_target target = opencl_target_make(&setup, rig->target.to_image);
    *error = NULL;
    return take_chain(rig, opencl_chain_open(&target, chain, error), error);
}

struct opencl_chain *rig_chain_with(struct rig *rig, const struct chain *chain, bool tiles,
                                    const struct pass_choice *choices, char **error)
{
    *error = NULL;
    return take_chain(rig, opencl_chain_with(&rig->target, chain, tiles, choices, error), error);
}

void rig_chain_close(struct opencl_chain *chain)
{
    opencl_chain_close(chain);
}

static cl_int enqueue_chain(const struct rig *rig, const void *work, cl_mem from, cl_mem to, struct device_span *span)
{
    const struct opencl_chain *chain = work;
    struct device_span passes[PLAN_PASSES] = {0};
    const cl_int result = opencl_chain_run(chain, rig->queue, from, &rig->layout, to, NULL, passes);
    for (int i = 0; i < chain->plan.count; i++)
        span_join(span, &passes[i]);
    return result;
}

bool rig_chain_run(struct rig *rig, const struct opencl_chain *chain, int first, int runs, struct timing *timing)
{
    return run(rig, enqueue_chain, chain, first, runs, timing);
}

cl_int rig_chain_try(struct rig *rig, const struct opencl_chain *chain, int rows, int pass, double *ms)
{
    struct device_span spans[PLAN_PASSES] = {0};
    struct opencl_layout layout = rig->layout;
    layout.height = rows > 0 && rows < layout.height ? rows : layout.height;
    const cl_int result =
        opencl_chain_run(chain, rig->queue, rig->input[0], &layout, rig->output[rig->last].buffer, NULL, spans);
    const cl_int finished = compute_finish(rig->queue);
    *ms = ((double)event_stamp(spans[pass].last, CL_PROFILING_COMMAND_END) -
           (double)event_stamp(spans[pass].first, CL_PROFILING_COMMAND_START)) /
          1e6;
    for (int i = 0; i < PLAN_PASSES; i++)
        span_release(&spans[i]);
    return result == CL_SUCCESS ? finished : result;
}

// ---- measures ----

struct rig_measures {
    struct rig *rig;
    struct opencl_measures measures;
    cl_mem values;
};

struct rig_measures *rig_measures_open(struct rig *rig, const struct measuring *measuring, char **error)
{
    struct rig_measures *m = xalloc(sizeof(*m));
    struct device *device = rig->target.device;
    *error = NULL;
    m->rig = rig;
    if (opencl_measures_open(&m->measures, device, measuring, rig->layout.stride[0] / 4, error)) {
        cl_int result;
        m->values = clCreateBuffer(device->context, CL_MEM_READ_WRITE, m->measures.bytes, NULL, &result);
        if (opencl_ok(result, "store measures on the device", error))
            return m;
    }
    rig_measures_close(m);
    return NULL;
}

void rig_measures_close(struct rig_measures *measures)
{
    if (!measures)
        return;
    opencl_measures_close(&measures->measures);
    memory_release(measures->values);
    free(measures);
}

static cl_int enqueue_measures(const struct rig *rig, const void *work, cl_mem from, cl_mem to,
                               struct device_span *span)
{
    const struct rig_measures *m = work;
    return opencl_measures_run(&m->measures, rig->queue, from, m->values, span);
}

bool rig_measures_run(struct rig_measures *measures, int first, int runs, struct timing *timing)
{
    return run(measures->rig, enqueue_measures, measures, first, runs, timing);
}

bool rig_measures_read(const struct rig_measures *measures, uint32_t *values)
{
    return compute_ok(clEnqueueReadBuffer(measures->rig->queue, measures->values, CL_TRUE, 0, measures->measures.bytes,
                                          values, 0, NULL, NULL),
                      "copy measures from the device");
}

// ---- one pass of a plan: pictures ----

static bool reads_grey(const struct plan *plan, int number)
{
    return number > 0 && plan->pass[number].reads == PASS_GREY;
}

struct image_shape rig_pass_shape(const struct opencl_target *target, const struct plan *plan, int number)
{
    const int width = target->input.width, height = target->input.height;
    if (number == 0)
        return target->input;
    if (reads_grey(plan, number))
        return (struct image_shape){PIXFMT_GREY, width, height, {COLOR_MATRIX_601, COLOR_RANGE_FULL}, false};
    return (struct image_shape){.width = width, .height = height};
}

struct image_shape rig_pass_output(const struct opencl_target *target, const struct plan *plan, int number)
{
    const struct image_shape from = rig_pass_shape(target, plan, number);
    return opencl_pass_output(&plan->pass[number], &(struct opencl_layout){.width = from.width, .height = from.height});
}

void rig_pass_random(const struct image *picture, const struct plan *plan, int number)
{
    const bool grey = number > 0 && plan->pass[number].equal_channels && picture->shape.format == PIXFMT_RGBA;
    uint8_t *bytes = picture->memory;
    image_randomize(picture, 1);
    for (size_t i = 0; grey && i < image_bytes(&picture->shape); i += 4)
        bytes[i + 1] = bytes[i + 2] = bytes[i];
}

static void add_geometry(struct chain *chain, bool mirror, bool flip)
{
    if (mirror)
        chain_append(chain, filter_find("mirror"));
    if (flip)
        chain_append(chain, filter_find("flip"));
}

static void add_stage(struct chain *chain, const struct stage *stage)
{
    if (stage && chain->count < CHAIN_MAX)
        chain->stage[chain->count++] = *stage;
}

// Adds a warp. A part of a warp by taps becomes a warp to the size of its output.
static void add_warp(struct chain *chain, const struct pass *pass)
{
    const char *why;
    add_stage(chain, pass->warp);
    if (pass->map.taps == TAPS_NONE)
        return;
    struct stage *stage = &chain->stage[chain->count - 1];
    warp_scale_to(&stage->values, &pass->map);
    stage->filter = filter_find("scale"); // of any warp by taps
    stage_prepare(stage, &why);
    stage->arguments.weighed = true;
}

// Fills in the pass as a chain of its own.
static void chain_of(const struct pass *pass, struct chain *chain)
{
    chain->count = 0;
    add_geometry(chain, pass->load_mirror, pass->load_flip);
    for (int i = 0; i < pass->before_count; i++) {
        const struct filter_arguments *arguments = &pass->before[i]->arguments;
        const int spans = arguments->kept == KEPT_PIXEL ? arguments->back : i; // a kept picture is the pass's input
        if (filter_is_mask(pass->before[i]->filter) && spans == 0)
            add_stage(chain, &(struct stage){.filter = filter_find("keep")});
        add_stage(chain, pass->before[i]);
        chain->stage[chain->count - 1].arguments.spans = spans;
    }
    add_stage(chain, pass->stencil);
    if (pass->warp)
        add_warp(chain, pass);
    for (int i = pass->warp && pass->warp->filter->placed; i < pass->after_count; i++) // the warp has the first one
        add_stage(chain, pass->after[i]);
    add_geometry(chain, pass->store_mirror, pass->store_flip);
}

bool rig_pass_expect(const struct pass *pass, const struct image *picture, struct image *rgba)
{
    struct chain chain;
    chain_of(pass, &chain);
    const struct path_setup setup = {.kind = PATH_CPU, .input = picture->shape, .chain = &chain, .threads = 1};
    return path_filter(&setup, picture, rgba, NULL);
}

// ---- one pass of a plan: runs ----

struct rig *rig_pass_open(const struct opencl_target *target, const struct plan *plan, int number,
                          const struct image *picture, int pictures, cl_int *result)
{
    struct image_shape shape = rig_pass_shape(target, plan, number);
    const struct image_shape rgba = rig_pass_output(target, plan, number);
    const bool grey = reads_grey(plan, number);
    struct opencl_layout layout;
    if (grey) // has the layout of RGBA, with 1 byte per pixel instead of 4
        shape.format = PIXFMT_RGBA;
    const size_t bytes = opencl_layout_make(&layout, &shape);
    if (grey)
        layout.stride[0] = layout.to_stride;
    struct rig *rig = make_rig(target, pictures, pictures, 0, &layout, bytes, result);
    if (!rig)
        return NULL;
    rig->guards = true;
    rig->pixel_bytes = pass_pixel_bytes[plan->pass[number].writes];
    *result = make_outputs(rig, rgba.width, rgba.height);
    for (int i = 0; *result == CL_SUCCESS && i < pictures; i++)
        *result = fill(rig, i, picture);
    if (*result == CL_SUCCESS)
        return rig;
    rig_close(rig);
    return NULL;
}

bool rig_pass_follow(struct rig *rig, const struct opencl_pass *opened)
{
    return compute_ok(opencl_pass_follow(opened, rig->queue), "write the arguments of a pass");
}

static cl_int enqueue_pass(const struct rig *rig, const void *work, cl_mem from, cl_mem to, struct device_span *span)
{
    return opencl_pass_run(work, rig->queue, &rig->layout, from, from, to, NULL, span);
}

bool rig_pass_run(struct rig *rig, const struct opencl_pass *opened, int first, int runs, struct timing *timing)
{
    return run(rig, enqueue_pass, opened, first, runs, timing);
}

bool rig_pass_intact(const struct rig *rig)
{
    const struct guarded *output = &rig->output[rig->last];
    int64_t outside;
    return compute_ok(guarded_check(output, rig->queue, &outside), "read the bytes beside an output") && outside == 0;
}
