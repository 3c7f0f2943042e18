// paths_test.c: runs one case on a path and compares it with the reference
#include "paths_test.h"
#include "compute/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A frame, and the owner of its memory; NULL: malloc.
struct lent_frame {
    struct test_frame frame;
    struct pages_owner *owner;
};

static void place_name(const struct path_test *test, const struct image_shape *shape, const char *chain, char *text,
                       size_t size)
{
    snprintf(text, size, "%s %s %dx%d %s %s \"%s\"", path_kind_name(test->kind), reference_format_name(shape->format),
             shape->width, shape->height, color_matrix_name(shape->color.matrix), color_range_name(shape->color.range),
             chain);
    if (shape->opaque)
        strncat(text, " opaque", size - strlen(text) - 1);
}

// Returns true if the pixels equal `expected`. Otherwise prints the first different pixel and their number.
static bool pixels_equal(struct path_test *test, const char *place, const struct picture *expected,
                         const uint8_t *pixels, size_t stride)
{
    long wrong = 0;
    int first_x = 0, first_y = 0;
    for (int y = expected->height - 1; y >= 0; y--)
        for (int x = expected->width - 1; x >= 0; x--)
            if (memcmp(pixels + (size_t)y * stride + 4 * (size_t)x, picture_pixel(expected, x, y), 4)) {
                first_x = x, first_y = y;
                wrong++;
            }
    const uint8_t *e = picture_pixel(expected, first_x, first_y);
    const uint8_t *g = pixels + (size_t)first_y * stride + 4 * (size_t)first_x;
    return check_that(&test->check, !wrong, "%s: pixel (%d, %d): expected %d %d %d %d, got %d %d %d %d; %ld differ",
                      place, first_x, first_y, e[0], e[1], e[2], e[3], g[0], g[1], g[2], g[3], wrong);
}

// path_read writes every pixel of the picture, and no byte beside it.
static bool read_equal(struct path_test *test, const char *place, struct path *path, const struct path_result *result,
                       const struct picture *expected)
{
    struct image_shape shape = {PIXFMT_RGBA, expected->width, expected->height, {0}, false};
    struct test_frame frame;
    frame_fill(&frame, &shape, LAYOUT_PADDED, SHAPE_NOISE, &test->random);
    uint8_t *before = malloc(frame.size[0]);
    memcpy(before, frame.memory[0], frame.size[0]);
    struct image to = frame.image;
    bool ok = check_that(&test->check, path_read(path, result, &to), "%s: path_read failed", place) &&
              pixels_equal(test, place, expected, frame.image.plane[0], frame.image.stride[0]);
    size_t start = (size_t)(frame.image.plane[0] - frame.memory[0]), stride = frame.image.stride[0], touched = 0;
    for (size_t byte = 0; byte < frame.size[0]; byte++) {
        bool pixel = byte >= start && (byte - start) % stride < 4 * (size_t)shape.width;
        touched += !pixel && frame.memory[0][byte] != before[byte];
    }
    ok = check_that(&test->check, !touched, "%s: path_read wrote %zu bytes of padding", place, touched) && ok;
    free(before);
    frame_free(&frame);
    return ok;
}

static bool result_sound(struct path_test *test, const char *place, const struct path_result *result,
                         const struct picture *shape)
{
    bool ok = check_that(&test->check, result->width == shape->width && result->height == shape->height,
                         "%s: the result is %dx%d, not %dx%d", place, result->width, result->height, shape->width,
                         shape->height);
    ok = check_that(&test->check, result->stages > 0 && result->stages <= PATH_STAGES, "%s: %d stages", place,
                    result->stages) &&
         ok;
    for (int i = 0; ok && i < result->stages; i++) {
        const struct stage_time *stage = &result->stage[i];
        ok = check_that(&test->check,
                        memchr(stage->name, 0, sizeof(stage->name)) && stage->name[0] &&
                            stage->end_ns >= stage->start_ns,
                        "%s: stage %d takes %lld ns", place, i, (long long)(stage->end_ns - stage->start_ns));
    }
    if (test->encoded_only || test->measured_only)
        return ok && check_that(&test->check, !result->image.plane[0] && !result->texture, "%s: pixels", place);
    return ok && check_that(&test->check,
                            result->image.plane[0] && result->image.shape.format == PIXFMT_RGBA &&
                                result->image.stride[0] >= 4 * (size_t)shape->width,
                            "%s: the result is not an RGBA image", place);
}

// Compares the YUV result, if it was requested; otherwise there must be none.
static bool encoded_equal(struct path_test *test, const char *place, const struct path_result *result,
                          const struct picture *expected)
{
    const struct image_shape *shape = &test->encode;
    if (shape->width == 0)
        return check_that(&test->check, !result->encoded.plane[0], "%s: encoded without being asked", place);
    if (!check_that(&test->check, result->encoded.plane[0] && image_shape_equal(&result->encoded.shape, shape),
                    "%s: not encoded as asked", place))
        return false;
    struct image tight;
    image_alloc(&tight, shape);
    image_copy(&tight, &result->encoded);
    uint8_t *bytes = malloc(image_bytes(shape));
    const size_t size = reference_output(expected, shape, bytes);
    size_t wrong = 0;
    while (wrong < size && bytes[wrong] == tight.plane[0][wrong])
        wrong++;
    const bool ok = check_that(&test->check, wrong == size, "%s: encoded as %s %dx%d: byte %zu is wrong", place,
                               reference_format_name(shape->format), shape->width, shape->height, wrong);
    free(bytes);
    image_free(&tight);
    return ok;
}

// Compares the measures that were requested; there must be no others.
static bool measures_equal(struct path_test *test, const char *place, const struct path_result *result,
                           const struct picture *expected)
{
    const struct path_measures *measures = &result->measures;
    const unsigned given = (measures->histogram ? MEASURE_HISTOGRAM : 0u) | (measures->columns ? MEASURE_COLUMNS : 0u) |
                           (measures->rows ? MEASURE_ROWS : 0u);
    if (!check_that(&test->check, given == test->measures, "%s: measures %u, not %u", place, given, test->measures))
        return false;
    long wrong = 0;
    uint32_t counts[3][256] = {{0}};
    if (measures->histogram)
        reference_counts(expected, counts);
    for (int i = 0; measures->histogram && i < 3 * 256; i++)
        wrong += measures->histogram[i / 256][i % 256] != counts[i / 256][i % 256];
    bool ok = check_that(&test->check, !wrong, "%s: %ld counts of the histogram are wrong", place, wrong);
    wrong = 0;
    for (int i = 0; measures->columns && i < test->strips * expected->width; i++)
        wrong +=
            measures->columns[i] != reference_column(expected, i % expected->width, i / expected->width, test->strips);
    ok = check_that(&test->check, !wrong, "%s: %ld columns of %d strips are wrong", place, wrong, test->strips) && ok;
    wrong = 0;
    for (int y = 0; measures->rows && y < expected->height; y++)
        wrong += measures->rows[y] != reference_row(expected, y);
    return check_that(&test->check, !wrong, "%s: %ld sums of rows are wrong", place, wrong) && ok;
}

// A device that shares the host's memory reads frames in place if it can, a discrete device copies them from its pinned
// memory; other frames are copied by the host.
static const char *way_in(const struct path_test *test, const struct lent_frame *lent)
{
    if (test->kind == PATH_CPU)
        return "host-ptr";
    if (test->kind == PATH_GL || lent->frame.image.reach_bytes == 0)
        return "copy";
    if (test->device->info.host_unified)
        return "host-ptr";
    return lent->owner && lent->owner == test->device->pages ? "pinned" : "copy";
}

// Collects the oldest frame and compares it.
static bool frame_collect(struct path_test *test, const char *place, struct path *path, const struct lent_frame *lent,
                          const char *chain)
{
    const struct image *image = &lent->frame.image;
    struct path_result result;
    memset(&result, 0xEE, sizeof(result));
    if (!check_that(&test->check, path_collect(path, &result), "%s: path_collect failed", place))
        return false;
    const bool copied = strcmp(result.stage[0].name, "copy in") == 0;
    if (!check_that(&test->check, copied == (strcmp(way_in(test, lent), "copy") == 0),
                    "%s: a frame that arrives by %s %s", place, way_in(test, lent),
                    copied ? "is copied" : "has no time of its copy"))
        return false;
    struct picture expected = reference_frame(image);
    bool ok = check_that(&test->check, reference_chain(&expected, chain), "%s: the reference refuses it", place) &&
              result_sound(test, place, &result, &expected) &&
              (test->encoded_only || test->measured_only ||
               (pixels_equal(test, place, &expected, result.image.plane[0], result.image.stride[0]) &&
                read_equal(test, place, path, &result, &expected))) &&
              encoded_equal(test, place, &result, &expected) && measures_equal(test, place, &result, &expected);
    picture_free(&expected);
    return ok;
}

static bool came_in_right(struct path_test *test, const char *place, const struct path *path,
                          const struct lent_frame *lent)
{
    const char *right = way_in(test, lent);
    return check_that(&test->check, strcmp(path_info(path)->input, right) == 0, "%s: the frame arrived by %s, not %s",
                      place, path_info(path)->input, right);
}

static void let_go(struct lent_frame *lent)
{
    if (lent->owner) {
        pages_give(lent->owner, lent->frame.memory[0]);
        lent->frame.memory[0] = NULL;
    }
    lent->owner = NULL;
    frame_free(&lent->frame);
}

static void move(struct lent_frame *lent, struct pages_owner *owner)
{
    struct image *image = &lent->frame.image, moved;
    image->memory = lent->frame.memory[0];
    image->memory_bytes = lent->frame.size[0];
    if (!image_duplicate(&moved, image, owner))
        abort();
    image_free(image);
    *image = moved;
    lent->frame.memory[0] = moved.memory;
    lent->owner = owner;
}

// Allocates a frame's memory, of a random kind; with a second device, the first frame lies in the device's memory.
static void renew(struct path_test *test, struct lent_frame *lent, const struct image_shape *shape, enum shape content,
                  bool first)
{
    const enum layout layout = random_bits(&test->random) % LAYOUT_COUNT;
    first = first && test->stranger;
    let_go(lent);
    frame_fill(&lent->frame, shape, first ? LAYOUT_REACH : layout, content, &test->random);
    if (first)
        move(lent, test->device->pages);
    else if (test->stranger && layout != LAYOUT_PADDED)
        move(lent, random_bits(&test->random) % 2 ? test->device->pages : test->stranger->pages);
}

// Keeps `depth` frames in flight, in `depth` buffers in turn. A buffer is overwritten, as by a camera, or freed and
// allocated again.
static bool frames_run(struct path_test *test, const char *place, struct path *path, const struct image_shape *shape,
                       const char *chain, int depth, int frames)
{
    struct lent_frame slot[PATH_DEPTH_MAX] = {0};
    uint64_t hash[PATH_DEPTH_MAX] = {0};
    bool ok = true;
    for (int submitted = 0, collected = 0; ok && collected < frames;) {
        while (ok && submitted < frames && submitted - collected < depth) {
            struct lent_frame *lent = &slot[submitted % depth];
            struct test_frame *frame = &lent->frame;
            enum shape content = random_bits(&test->random) % SHAPE_COUNT;
            if (frame->memory[0] && random_bits(&test->random) % 2)
                frame_paint(frame, content, &test->random);
            else
                renew(test, lent, shape, content, submitted == 0);
            hash[submitted % depth] = frame_hash(frame);
            ok = check_that(&test->check, path_submit(path, &frame->image, &(struct frame_time){0}),
                            "%s: path_submit failed", place) &&
                 came_in_right(test, place, path, lent);
            submitted++;
        }
        ok = ok &&
             check_that(&test->check, path_info(path)->in_flight == submitted - collected,
                        "%s: %d frames in flight, not %d", place, path_info(path)->in_flight, submitted - collected) &&
             frame_collect(test, place, path, &slot[collected % depth], chain) &&
             check_that(&test->check, frame_hash(&slot[collected % depth].frame) == hash[collected % depth],
                        "%s: the frame was written to", place);
        collected++;
    }
    while (!ok && path_info(path)->in_flight > 0 && path_collect(path, &(struct path_result){0}))
        ;
    for (int i = 0; i < depth; i++)
        let_go(&slot[i]);
    return ok;
}

struct path_setup path_case_setup(struct path_test *test, const struct image_shape *shape, const struct chain *chain)
{
    int width = shape->width, height = shape->height;
    char error[CHAIN_ERROR] = "";
    check_that(&test->check, chain_output_size(chain, &width, &height, error), "%s", error);
    enum pixfmt formats[PIXFMT_COUNT];
    int count = 0;
    for (int i = 0; i < PIXFMT_COUNT && !test->streams; i++)
        if (pixfmt_info((enum pixfmt)i)->yuv)
            formats[count++] = (enum pixfmt)i;
    // A format or none, 3 matrices, 2 ranges, 4 sizes; every third without RGBA.
    const enum result result = test->result;
    const bool yuv = count > 0 && (result == RESULT_PIXELS_YUV || result == RESULT_YUV || result == RESULT_ALL);
    const int which = result == RESULT_TURN ? (int)(test->cases % (count + 1))
                      : yuv                 ? (int)(test->cases % count)
                                            : count;
    const int turn = (int)(test->cases / (count + 1) % 72);
    test->encode = (struct image_shape){0};
    test->encoded_only = result == RESULT_TURN ? which < count && turn % 3 == 0 : result == RESULT_YUV;
    if (which < count)
        test->encode = (struct image_shape){formats[which],
                                            width - turn / 6 % 2,
                                            height - turn / 12 % 2,
                                            {COLOR_MATRIX_601 + turn % 3, COLOR_RANGE_LIMITED + turn / 3 % 2},
                                            false};
    if (which < count && !reference_size_ok(formats[which], test->encode.width, 1))
        test->encode.width &= ~1;
    if (test->encode.width < 1 || test->encode.height < 1) {
        test->encode = (struct image_shape){0};
        test->encoded_only = false;
    }
    // Every third case has measures: each set of them, 1 to 12 strips.
    const bool measured =
        result == RESULT_TURN ? !test->encoded_only && test->cases % 3 == 0 : result >= RESULT_PIXELS_MEASURES;
    test->measures = measured ? 1 + (unsigned)(test->cases / 3 % 7) : 0;
    test->strips = 1 + (int)(test->cases / 3 % 12);
    test->measured_only = result == RESULT_TURN ? test->measures && test->encode.width == 0 && test->cases / 7 % 2
                                                : result == RESULT_MEASURES;
    return (struct path_setup){.kind = test->kind,
                               .device = test->device,
                               .input = *shape,
                               .encode = test->encode,
                               .encoded_only = test->encoded_only,
                               .measures = test->measures,
                               .strips = test->strips,
                               .measured_only = test->measured_only,
                               .chain = chain,
                               .cache_bytes = test->streams ? 1 : 0,
                               .variant = test->variant,
                               .gl = test->gl,
                               .kernels = test->kernels};
}

bool path_frame_run(struct path_test *test, struct path *path, const struct image_shape *shape, const char *chain)
{
    char place[1024];
    place_name(test, shape, chain, place, sizeof(place));
    return frames_run(test, place, path, shape, chain, 1, 1);
}

static bool path_is_right(struct path_test *test, const char *place, const struct path *path, int depth)
{
    // Without a GL context there is no GL sharing. The next mode is mapped memory, if the device shares the host's.
    const bool unified = test->device && test->device->info.host_unified;
    const char *const modes[PATH_KINDS] = {"cpu", "opencl", "gl", unified ? "mapped" : "opencl"};
    const struct path_info *info = path_info(path);
    return check_that(&test->check, !strcmp(info->sharing, modes[test->kind]), "%s: its sharing mode is %s: %s", place,
                      info->sharing, info->why) &&
           check_that(&test->check, info->why[0], "%s: it does not say why", place) &&
           check_that(&test->check, info->depth == depth, "%s: depth %d, not %d", place, info->depth, depth) &&
           check_that(&test->check, info->in_flight == 0, "%s: a frame in flight at the start", place);
}

bool path_case_run(struct path_test *test, const struct path_case *setup)
{
    char place[1024], error[CHAIN_ERROR] = "", *why = NULL;
    const bool opaque = setup->format == CASE_OPAQUE;
    struct image_shape shape = {opaque ? PIXFMT_RGBA : setup->format, setup->width, setup->height, setup->color,
                                opaque};
    if (!reference_size_ok(shape.format, shape.width, shape.height))
        return true;
    int turn = (int)(test->cases++ % 1000);
    if (!shape.color.matrix)
        shape.color = (struct color){COLOR_MATRIX_601 + turn % 3, COLOR_RANGE_LIMITED + turn / 3 % 2};
    place_name(test, &shape, setup->chain, place, sizeof(place));
    struct chain chain;
    bool parsed = chain_parse(&chain, setup->chain, error);
    if (!check_that(&test->check, parsed == reference_chain(NULL, setup->chain), "%s: chain_parse %s", place,
                    parsed ? "accepts it" : error))
        return false;
    if (!parsed)
        return true;
    struct path_setup path_setup = path_case_setup(test, &shape, &chain);
    path_setup.depth = setup->depth ? setup->depth : 1 + turn % 3;
    path_setup.threads = setup->threads ? setup->threads : 1 + turn / 2 % 5;
    struct path *path = path_open(&path_setup, &why);
    bool ok = check_that(&test->check, path != NULL, "%s: path_open failed: %s", place, why ? why : "") &&
              path_is_right(test, place, path, path_setup.depth) &&
              frames_run(test, place, path, &shape, setup->chain, path_setup.depth,
                         setup->frames ? setup->frames : 1 + turn % 4);
    path_close(path);
    free(why);
    return ok;
}

bool path_case(struct path_test *test, enum pixfmt format, const int size[2], const char *chain)
{
    return path_case_run(test,
                         &(struct path_case){.format = format, .width = size[0], .height = size[1], .chain = chain});
}
