// probe_answer.c: the child's part of a probe: builds a variant, runs it and compares
#include "base/child.h"
#include "base/hash.h"
#include "path/opencl_path.h"
#include "path/probe.h"
#include "path/probe_words.h"

#include <stdlib.h>
#include <string.h>

// One pass of a chain, as the parent would run it.
struct task {
    struct chain chain;
    struct variant_choice choice;
    enum pixfmt format;    // of the chain's input
    bool to_image;         // the chain's output
    int number;            // of the pass
    struct opencl_path cl; // the part of a path that one pass needs
    struct plan plan;
    const struct pass *pass;
    struct image_shape from; // the input of the pass; a grey picture between passes counts as RGBA here
    struct opencl_pass built;
};

// ---- the result of the cpu path ----

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

// The pass as a chain of its own.
static void chain_of(const struct pass *pass, struct chain *chain)
{
    chain->count = 0;
    add_geometry(chain, pass->load_mirror, pass->load_flip);
    for (int i = 0; i < pass->before_count; i++)
        add_stage(chain, pass->before[i]);
    add_stage(chain, pass->stencil);
    for (int i = 0; i < pass->after_count; i++)
        add_stage(chain, pass->after[i]);
    add_geometry(chain, pass->store_mirror, pass->store_flip);
}

static bool expect(const struct pass *pass, const struct image *picture, struct image *rgba)
{
    struct chain chain;
    struct path_result result;
    bool lost;
    chain_of(pass, &chain);
    const struct path_setup setup = {.kind = PATH_CPU, .input = picture->shape, .chain = &chain, .threads = 1};
    struct path *path = path_open(&setup, NULL);
    const bool ok = path && path_submit(path, picture, 0, &lost) && path_collect(path, &result, &lost) &&
                    path_read(path, &result, rgba);
    path_close(path);
    return ok;
}

// ---- the result of the device ----

static bool reads_grey(const struct task *task)
{
    return task->number > 0 && task->pass->reads == PASS_GREY;
}

static bool writes_image(const struct task *task)
{
    return task->to_image && task->number == task->plan.count - 1;
}

// Reads the output. A grey one has one byte per pixel.
static cl_int read_output(const struct task *task, cl_mem output, const struct image *got, size_t pixel_bytes)
{
    const cl_command_queue queue = task->cl.compute_queue;
    const size_t origin[3] = {0}, size[3] = {(size_t)got->shape.width, (size_t)got->shape.height, 1};
    const size_t region[3] = {pixel_bytes * size[0], size[1], 1};
    if (writes_image(task))
        return clEnqueueReadImage(queue, output, CL_TRUE, origin, size, got->stride[0], 0, got->plane[0], 0, NULL,
                                  NULL);
    return clEnqueueReadBufferRect(queue, output, CL_TRUE, origin, origin, region,
                                   pixel_bytes * (size_t)task->cl.input_layout.to_stride, 0, got->stride[0], 0,
                                   got->plane[0], 0, NULL, NULL);
}

static cl_int run(struct task *task, const struct image *picture, struct image *got)
{
    struct opencl_path *cl = &task->cl;
    struct opencl_layout layout = cl->input_layout;
    uint8_t *host = calloc(1, cl->input_bytes);
    cl_mem input = NULL, output = NULL;
    cl_event first = NULL, last = NULL;
    cl_int result = host ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (reads_grey(task))
        layout.stride[0] = layout.to_stride;
    if (result == CL_SUCCESS) {
        opencl_layout_copy(&layout, host, picture);
        input = clCreateBuffer(cl->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, cl->input_bytes, host,
                               &result);
    }
    if (result == CL_SUCCESS)
        output = opencl_output_make(cl, 0, &result);
    if (result == CL_SUCCESS)
        result = opencl_pass_run(cl, &task->built, task->pass, cl->compute_queue, &layout, input, output, NULL, &first,
                                 &last);
    if (result == CL_SUCCESS)
        result = read_output(task, output, got, pass_pixel_bytes[task->pass->writes]);
    opencl_release_event(&first);
    opencl_release_event(&last);
    if (input)
        clReleaseMemObject(input);
    if (output)
        clReleaseMemObject(output);
    free(host);
    return result;
}

static bool same(const struct image *got, const struct image *want, size_t pixel_bytes)
{
    for (int y = 0; y < want->shape.height; y++) {
        const uint8_t *a = image_row(got, 0, y), *b = image_row(want, 0, y);
        for (size_t x = 0; x < (size_t)want->shape.width; x++)
            if (memcmp(a + pixel_bytes * x, b + 4 * x, pixel_bytes) != 0)
                return false;
    }
    return true;
}

// ---- one picture ----

// Fills a picture with random bytes. `grey`: the three colours of each RGBA pixel are equal.
static void fill(const struct image *picture, bool grey)
{
    uint32_t state = 1;
    uint8_t *bytes = picture->memory;
    for (size_t i = 0; i < image_bytes(&picture->shape); i++) {
        state = state * 1664525 + 1013904223; // Numerical Recipes
        bytes[i] = (uint8_t)(state >> 24);
        if (grey && (i % 4 == 1 || i % 4 == 2))
            bytes[i] = bytes[i - 1];
    }
}

// Sets the shape of the pass's input. Returns false if its format does not allow this size.
static bool set_size(struct task *task, int width, int height)
{
    const char *why;
    struct opencl_path *cl = &task->cl;
    const struct color unknown = {0};
    task->from = (struct image_shape){
        .format = task->number == 0 ? task->format : PIXFMT_RGBA,
        .width = width,
        .height = height,
        .color = color_resolve(unknown, unknown, task->format == PIXFMT_GREY, width, height),
    };
    const struct path_setup setup = {.device = cl->device, .input = task->from};
    opencl_choose(cl, &setup, writes_image(task) ? OUTPUT_TEXTURE : OUTPUT_READ);
    return pixfmt_size_ok(task->from.format, width, height, &why);
}

static enum probe_answer try_picture(struct task *task)
{
    const struct image_shape rgba = {.width = task->from.width, .height = task->from.height};
    struct image_shape shape = task->from;
    if (reads_grey(task)) {
        shape.format = PIXFMT_GREY;
        shape.color = (struct color){.matrix = COLOR_MATRIX_601, .range = COLOR_RANGE_FULL};
    }
    struct image picture = {0}, got = {0}, want = {0};
    enum probe_answer answer = PROBE_NOT_RUN;
    if (image_alloc(&picture, &shape) && image_alloc(&got, &rgba) && image_alloc(&want, &rgba)) {
        fill(&picture, task->number > 0 && task->pass->alike && shape.format == PIXFMT_RGBA);
        if (expect(task->pass, &picture, &want) && run(task, &picture, &got) == CL_SUCCESS)
            answer = same(&got, &want, pass_pixel_bytes[task->pass->writes]) ? PROBE_PASSED : PROBE_WRONG;
    }
    image_free(&picture);
    image_free(&got);
    image_free(&want);
    return answer;
}

static enum probe_answer try_pictures(struct task *task)
{
    // Less than a work-group, one pixel, several work-groups, and rows that end inside a block.
    static const int sizes[][2] = {{16, 16}, {1, 1}, {67, 35}, {333, 77}, {334, 78}};
    char *error = NULL;
    set_size(task, sizes[0][0], sizes[0][1]);
    if (!opencl_pass_make(&task->cl, task->pass, &task->from, writes_image(task), &task->choice, &task->built, &error))
        return PROBE_NOT_BUILT;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        if (!set_size(task, sizes[i][0], sizes[i][1]))
            continue;
        const enum probe_answer answer = try_picture(task);
        if (answer != PROBE_PASSED)
            return answer;
    }
    return PROBE_PASSED;
}

// ---- the device ----

// Returns true if the pass's program has this key on the device, which need not be open.
static bool has_key(struct task *task, const char *wanted)
{
    char hash[HASH_TEXT] = "", *key = NULL, *error = NULL;
    size_t bytes;
    const struct opencl_path *cl = &task->cl;
    char *text = opencl_pass_text(cl, task->pass, &task->from, writes_image(task), &task->choice, &error);
    if (text)
        key = probe_key(cl->device, &task->choice, text, opencl_pass_options(cl, &task->choice), &bytes);
    if (key)
        hash_128_text(key, bytes, hash);
    free(text);
    free(key);
    free(error);
    return strcmp(hash, wanted) == 0;
}

// Plans the chain with and without tiles. Returns false if neither plan has the program.
static bool find_pass(struct task *task, const char *wanted)
{
    const int number = task->number;
    for (int tiles = 0; tiles < 2; tiles++) {
        task->number = 0; // for the chain's own input
        set_size(task, 16, 16);
        opencl_plan_make(&task->plan, &task->cl, &task->chain, tiles == 1);
        task->number = number;
        if (number >= task->plan.count)
            continue;
        task->pass = &task->plan.pass[number];
        set_size(task, 16, 16);
        if (has_key(task, wanted))
            return true;
    }
    return false;
}

static struct device *find_device(struct task *task, char *const *words)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    const int count = device_list(devices, &why);
    char *kernels = words[WORD_KERNELS][0] ? words[WORD_KERNELS] : NULL;
    for (int i = 0; i < count; i++) {
        struct device closed = {.info = devices[i], .kernel_dir = kernels};
        task->cl.device = &closed;
        const bool found = find_pass(task, words[WORD_KEY]);
        task->cl.device = NULL;
        if (found)
            return device_open(&devices[i], NULL, kernels);
    }
    return NULL;
}

static bool parse(struct task *task, char *const *words)
{
    char error[CHAIN_ERROR];
    task->to_image = strcmp(words[WORD_OUTPUT], "image") == 0;
    task->number = atoi(words[WORD_PASS]);
    return pixfmt_from_name(words[WORD_FORMAT], &task->format) && chain_parse(&task->chain, words[WORD_CHAIN], error) &&
           variant_parse(&task->choice, words[WORD_VARIANT]);
}

// Does not free its memory: the process ends after this call.
int probe_answer(char *const *words)
{
    child_begin(atoi(words[WORD_PARENT]), PROBE_DATA_BYTES, PROBE_CPU_S);
    struct task *task = calloc(1, sizeof(*task));
    if (!task || !parse(task, words) || !(task->cl.device = find_device(task, words)))
        return PROBE_UNKNOWN;
    cl_int result;
    task->cl.compute_queue = clCreateCommandQueue(task->cl.device->context, task->cl.device->info.id, 0, &result);
    return result == CL_SUCCESS ? (int)try_pictures(task) : PROBE_NOT_RUN;
}
