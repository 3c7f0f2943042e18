// pictures.c: deterministic test input: random numbers, images of all shapes, frames with odd strides
#include "pictures.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

uint32_t random_bits(struct random *random)
{
    uint64_t z = random->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

int random_range(struct random *random, int low, int high)
{
    return low + (int)(random_bits(random) % (uint32_t)(high - low + 1));
}

const char *shape_name(enum shape shape)
{
    static const char *const names[SHAPE_COUNT] = {"flat", "noise", "edges", "gradient", "extremes", "dots"};
    return names[shape];
}

// Bytes after which the meaning of a plane's bytes repeats.
static int group_bytes(enum pixfmt format, int plane)
{
    switch (format) {
    case PIXFMT_RGBA:
    case PIXFMT_YUYV:
    case PIXFMT_UYVY:
        return 4;
    case PIXFMT_RGB24:
    case PIXFMT_BGR24:
        return 3;
    case PIXFMT_NV12:
    case PIXFMT_NV21:
    case PIXFMT_NV16:
    case PIXFMT_NV61:
        return plane ? 2 : 1;
    default:
        return 1;
    }
}

// The paint of one plane: a value for each byte of a group, so that channels differ.
struct paint {
    enum shape shape;
    int group, step, slope_x, slope_y;
    uint8_t light[4], dark[4];
};

static uint8_t paint_byte(const struct paint *paint, int byte, int row, struct random *random)
{
    int x = byte / paint->group, channel = byte % paint->group;
    int light = paint->light[channel], dark = paint->dark[channel];
    switch (paint->shape) {
    case SHAPE_NOISE:
        return (uint8_t)random_bits(random);
    case SHAPE_EDGES:
        return (uint8_t)((x / paint->step + row / (paint->step + 1) + (x + row) / 11) % 2 ? light : dark);
    case SHAPE_GRADIENT:
        return (uint8_t)(light + (x * paint->slope_x + row * paint->slope_y) / 4);
    case SHAPE_EXTREMES:
        return random_bits(random) % 2 ? 255 : 0;
    case SHAPE_DOTS:
        return (uint8_t)(random_bits(random) % 23 ? dark : 255 - dark);
    default:
        return (uint8_t)light;
    }
}

static void plane_fill(struct image *image, int plane, int row_bytes, int rows, enum shape shape, struct random *random)
{
    struct paint paint = {
        .shape = shape,
        .group = group_bytes(image->shape.format, plane),
        .step = random_range(random, 1, 9),
        .slope_x = random_range(random, -20, 20),
        .slope_y = random_range(random, -20, 20),
    };
    for (int i = 0; i < 4; i++) {
        paint.light[i] = (uint8_t)random_bits(random);
        paint.dark[i] = (uint8_t)(random_bits(random) % 4 ? random_bits(random) : 0);
    }
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < row_bytes; x++)
            image->plane[plane][(size_t)y * image->stride[plane] + (size_t)x] = paint_byte(&paint, x, y, random);
}

// Allocates whole pages, or exactly that size.
static uint8_t *memory_new(size_t size, bool pages)
{
    size_t whole = (size + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    uint8_t *memory = pages ? aligned_alloc(PAGE_BYTES, whole) : malloc(size);
    if (!memory)
        abort();
    return memory;
}

static void place_tight(struct test_frame *frame, const struct reference_plane *plane, int planes, bool pages)
{
    for (int i = 0; i < planes; i++)
        frame->size[0] += (size_t)plane[i].row_bytes * (size_t)plane[i].rows;
    uint8_t *memory = frame->memory[0] = memory_new(frame->size[0], pages);
    for (int i = 0; i < planes; i++) {
        frame->image.plane[i] = memory;
        frame->image.stride[i] = (size_t)plane[i].row_bytes;
        memory += (size_t)plane[i].row_bytes * (size_t)plane[i].rows;
    }
}

static void place_padded(struct test_frame *frame, const struct reference_plane *plane, int planes,
                         struct random *random)
{
    for (int i = 0; i < planes; i++) {
        size_t row_bytes = (size_t)plane[i].row_bytes, rows = (size_t)plane[i].rows;
        size_t stride = row_bytes + (size_t)random_range(random, 0, 70), start = random_bits(random) % 4;
        frame->size[i] = start + stride * (rows - 1) + row_bytes;
        frame->memory[i] = memory_new(frame->size[i], false);
        for (size_t byte = 0; byte < frame->size[i]; byte++)
            frame->memory[i][byte] = (uint8_t)random_bits(random);
        frame->image.plane[i] = frame->memory[i] + start;
        frame->image.stride[i] = stride;
    }
}

static void place_reach(struct test_frame *frame, const struct reference_plane *plane, int planes,
                        struct random *random)
{
    enum { STEP = 16 };
    size_t start[PIXFMT_PLANES], bytes = 0;
    for (int i = 0; i < planes; i++) {
        start[i] = bytes;
        frame->image.stride[i] =
            ((size_t)plane[i].row_bytes + STEP - 1 + (size_t)random_range(random, 0, 70)) / STEP * STEP;
        bytes += frame->image.stride[i] * (size_t)plane[i].rows;
    }
    frame->size[0] = frame->image.reach_bytes = bytes + STEP;
    frame->memory[0] = memory_new(frame->size[0], true);
    for (size_t byte = 0; byte < frame->size[0]; byte++)
        frame->memory[0][byte] = (uint8_t)random_bits(random);
    for (int i = 0; i < planes; i++)
        frame->image.plane[i] = frame->memory[0] + start[i];
}

void frame_fill(struct test_frame *frame, const struct image_shape *shape, enum layout layout, enum shape content,
                struct random *random)
{
    *frame = (struct test_frame){.image.shape = *shape};
    struct reference_plane plane[PIXFMT_PLANES];
    int planes = reference_planes(shape->format, shape->width, shape->height, plane);
    if (layout == LAYOUT_PADDED)
        place_padded(frame, plane, planes, random);
    else if (layout == LAYOUT_REACH)
        place_reach(frame, plane, planes, random);
    else
        place_tight(frame, plane, planes, layout == LAYOUT_PAGES);
    frame_paint(frame, content, random);
}

void frame_paint(struct test_frame *frame, enum shape content, struct random *random)
{
    const struct image_shape *shape = &frame->image.shape;
    struct reference_plane plane[PIXFMT_PLANES];
    int planes = reference_planes(shape->format, shape->width, shape->height, plane);
    for (int i = 0; i < planes; i++)
        plane_fill(&frame->image, i, plane[i].row_bytes, plane[i].rows, content, random);
    for (int i = 0; shape->opaque && i < shape->width * shape->height; i++)
        image_row(&frame->image, 0, i / shape->width)[4 * (i % shape->width) + 3] = 255;
}

void frame_free(struct test_frame *frame)
{
    for (int i = 0; i < PIXFMT_PLANES; i++)
        free(frame->memory[i]);
    *frame = (struct test_frame){0};
}

uint64_t frame_hash(const struct test_frame *frame)
{
    uint64_t hash = 0xCBF29CE484222325u; // FNV-1a
    for (int i = 0; i < PIXFMT_PLANES; i++)
        for (size_t byte = 0; frame->memory[i] && byte < frame->size[i]; byte++)
            hash = (hash ^ frame->memory[i][byte]) * 0x100000001B3u;
    return hash;
}

bool same_images(const struct image *a, const struct image *b)
{
    const struct image_shape *shape = &a->shape;
    struct reference_plane plane[PIXFMT_PLANES];
    if (shape->format != b->shape.format || shape->width != b->shape.width || shape->height != b->shape.height ||
        memcmp(&shape->color, &b->shape.color, sizeof(shape->color)) != 0 || shape->opaque != b->shape.opaque)
        return false;
    const int planes = reference_planes(shape->format, shape->width, shape->height, plane);
    for (int i = 0; i < planes; i++)
        for (int y = 0; y < plane[i].rows; y++)
            if (memcmp(a->plane[i] + (size_t)y * a->stride[i], b->plane[i] + (size_t)y * b->stride[i],
                       (size_t)plane[i].row_bytes) != 0)
                return false;
    return true;
}

// Six fields of 32x32: ramps, colour bars, noise, a disc, dots, stripes.
static void golden_pixel(int x, int y, struct random *random, uint8_t *p)
{
    int field = x / 32 + 3 * (y / 32), u = x % 32, v = y % 32, bar = u / 4;
    bool disc = (u - 16) * (u - 16) + (v - 16) * (v - 16) < 144, stripe = (u + v) / 3 % 2;
    uint32_t noise = random_bits(random);
    uint8_t fields[6][3] = {
        {(uint8_t)(8 * u), (uint8_t)(8 * v), (uint8_t)(4 * (u + v))},
        {bar & 1 ? 235 : 20, bar & 2 ? 225 : 30, bar & 4 ? 245 : 10},
        {(uint8_t)noise, (uint8_t)(noise >> 8), (uint8_t)(noise >> 16)},
        {disc ? 250 : 40, disc ? 120 : 60, disc ? 10 : 200},
        {u % 8 == 3 && v % 8 == 3 ? 255 : 0, u % 8 == 3 && v % 8 == 3 ? 255 : 0, u % 8 == 6 && v % 8 == 2 ? 255 : 0},
        {stripe ? 200 : 100, stripe ? 100 : 200, (uint8_t)(u % 2 ? 0 : 255)},
    };
    memcpy(p, fields[field], 3);
    p[3] = (uint8_t)(x < 80 ? 255 : 255 - 15 * (x - 80));
}

struct picture picture_golden(void)
{
    struct picture picture = picture_new(96, 64);
    struct random random = {1};
    for (int y = 0; y < picture.height; y++)
        for (int x = 0; x < picture.width; x++)
            golden_pixel(x, y, &random, picture.rgba + 4 * (y * picture.width + x));
    return picture;
}
