// pixfmt.c: the table of pixel formats
#include "image/pixfmt.h"

#include "image/image.h"

#include <strings.h>

#define FOURCC(a, b, c, d) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

static const struct pixfmt_info formats[PIXFMT_COUNT] = {
    [PIXFMT_RGBA] = {"rgba", .planes = 1, .plane = {{4, 0, 0}}, .samples = {{0, 0, 4}, {0, 1, 4}, {0, 2, 4}},
                     .loader = "load_rgba.cl"},
    [PIXFMT_RGB24] = {"rgb24", .alias = "rgb", .fourcc = FOURCC('R', 'G', 'B', '3'), .spa = 15, .planes = 1,
                      .plane = {{3, 0, 0}}, .samples = {{0, 0, 3}, {0, 1, 3}, {0, 2, 3}}, .loader = "load_rgb24.cl"},
    [PIXFMT_BGR24] = {"bgr24", .alias = "bgr", .fourcc = FOURCC('B', 'G', 'R', '3'), .spa = 16, .planes = 1,
                      .plane = {{3, 0, 0}}, .samples = {{0, 2, 3}, {0, 1, 3}, {0, 0, 3}}, .loader = "load_rgb24.cl"},
    [PIXFMT_GREY] = {"grey", .alias = "gray", .fourcc = FOURCC('G', 'R', 'E', 'Y'), .spa = 25, .planes = 1,
                     .plane = {{1, 0, 0}}, .yuv = true, .samples = {{0, 0, 1}}, .loader = "load_grey.cl"},
    [PIXFMT_NV12] = {"nv12", .fourcc = FOURCC('N', 'V', '1', '2'), .fourcc_apart = FOURCC('N', 'M', '1', '2'),
                     .spa = 23, .planes = 2, .plane = {{1, 0, 0}, {2, 1, 1}}, .yuv = true,
                     .samples = {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}, .loader = "load_semiplanar.cl"},
    [PIXFMT_NV21] = {"nv21", .fourcc = FOURCC('N', 'V', '2', '1'), .fourcc_apart = FOURCC('N', 'M', '2', '1'),
                     .spa = 24, .planes = 2, .plane = {{1, 0, 0}, {2, 1, 1}}, .yuv = true,
                     .samples = {{0, 0, 1}, {1, 1, 2}, {1, 0, 2}}, .loader = "load_semiplanar.cl"},
    [PIXFMT_YU12] = {"yu12", .alias = "i420", .fourcc = FOURCC('Y', 'U', '1', '2'),
                     .fourcc_apart = FOURCC('Y', 'M', '1', '2'), .spa = 2, .planes = 3,
                     .plane = {{1, 0, 0}, {1, 1, 1}, {1, 1, 1}}, .yuv = true,
                     .samples = {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}, .loader = "load_planar.cl"},
    [PIXFMT_YV12] = {"yv12", .fourcc = FOURCC('Y', 'V', '1', '2'), .fourcc_apart = FOURCC('Y', 'M', '2', '1'), .spa = 3,
                     .planes = 3, .plane = {{1, 0, 0}, {1, 1, 1}, {1, 1, 1}}, .yuv = true,
                     .samples = {{0, 0, 1}, {2, 0, 1}, {1, 0, 1}}, .loader = "load_planar.cl"},
    [PIXFMT_YUYV] = {"yuyv", .alias = "yuy2", .fourcc = FOURCC('Y', 'U', 'Y', 'V'), .spa = 4, .planes = 1,
                     .plane = {{4, 1, 0}}, .yuv = true, .samples = {{0, 0, 2}, {0, 1, 4}, {0, 3, 4}},
                     .even_width = true, .loader = "load_packed422.cl"},
    [PIXFMT_UYVY] = {"uyvy", .fourcc = FOURCC('U', 'Y', 'V', 'Y'), .spa = 5, .planes = 1, .plane = {{4, 1, 0}},
                     .yuv = true, .samples = {{0, 1, 2}, {0, 0, 4}, {0, 2, 4}}, .even_width = true,
                     .loader = "load_packed422.cl"},
    [PIXFMT_NV16] = {"nv16", .fourcc = FOURCC('N', 'V', '1', '6'), .fourcc_apart = FOURCC('N', 'M', '1', '6'),
                     .planes = 2, .plane = {{1, 0, 0}, {2, 1, 0}}, .yuv = true,
                     .samples = {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}}, .loader = "load_semiplanar.cl"},
    [PIXFMT_NV61] = {"nv61", .fourcc = FOURCC('N', 'V', '6', '1'), .fourcc_apart = FOURCC('N', 'M', '6', '1'),
                     .planes = 2, .plane = {{1, 0, 0}, {2, 1, 0}}, .yuv = true,
                     .samples = {{0, 0, 1}, {1, 1, 2}, {1, 0, 2}}, .loader = "load_semiplanar.cl"},
    [PIXFMT_422P] = {"422p", .alias = "yuv422p", .fourcc = FOURCC('4', '2', '2', 'P'),
                     .fourcc_apart = FOURCC('Y', 'M', '1', '6'), .spa = 18, .planes = 3,
                     .plane = {{1, 0, 0}, {1, 1, 0}, {1, 1, 0}}, .yuv = true,
                     .samples = {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}, .loader = "load_planar.cl"},
    [PIXFMT_444P] = {"444p", .alias = "yuv444p", .fourcc_apart = FOURCC('Y', 'M', '2', '4'), .spa = 20, .planes = 3,
                     .plane = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}, .yuv = true,
                     .samples = {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}, .loader = "load_planar.cl"},
};

const struct pixfmt_info *pixfmt_info(enum pixfmt format)
{
    return &formats[format];
}

bool pixfmt_from_name(const char *name, enum pixfmt *format)
{
    for (int i = 0; i < PIXFMT_COUNT; i++) {
        if (strcasecmp(name, formats[i].name) == 0 || (formats[i].alias && strcasecmp(name, formats[i].alias) == 0)) {
            *format = (enum pixfmt)i;
            return true;
        }
    }
    return false;
}

// Returns the groups of 1 << shift pixels that cover `pixels`.
static int groups(int pixels, int shift)
{
    return (pixels + (1 << shift) - 1) >> shift;
}

int pixfmt_bits(enum pixfmt format)
{
    int bits = 0;
    for (int i = 0; i < formats[format].planes; i++) {
        const struct pixfmt_plane *p = &formats[format].plane[i];
        bits += 8 * p->bytes >> (p->shift_x + p->shift_y);
    }
    return bits;
}

size_t pixfmt_row_bytes(enum pixfmt format, int plane, int width)
{
    const struct pixfmt_plane *p = &formats[format].plane[plane];
    return (size_t)groups(width, p->shift_x) * p->bytes;
}

int pixfmt_rows(enum pixfmt format, int plane, int height)
{
    return groups(height, formats[format].plane[plane].shift_y);
}

bool pixfmt_size_ok(enum pixfmt format, int width, int height, const char **why)
{
    if (width < 1 || height < 1) {
        *why = "width and height must be at least 1";
        return false;
    }
    if (width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE) {
        *why = "width and height must be at most 32768";
        return false;
    }
    if (formats[format].even_width && width % 2 != 0) {
        *why = "this pixel format needs an even width";
        return false;
    }
    uint64_t bytes = 0; // size_t may have 32 bits
    for (int i = 0; i < formats[format].planes; i++)
        bytes += (uint64_t)pixfmt_row_bytes(format, i, width) * (uint64_t)pixfmt_rows(format, i, height);
    if (bytes > IMAGE_MAX_BYTES) {
        *why = "an image may take at most 1 GiB";
        return false;
    }
    return true;
}
