// camera_mode.c: which of a camera's formats, sizes and rates to use, and what its colours mean
#include "source/camera_mode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_RATE = 30, DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720 };

// In order of preference where all else is equal: fewer bytes first, colour before grey.
static const enum pixfmt preferred[] = {PIXFMT_NV12, PIXFMT_NV21,  PIXFMT_YU12,  PIXFMT_YV12, PIXFMT_YUYV,
                                        PIXFMT_UYVY, PIXFMT_RGB24, PIXFMT_BGR24, PIXFMT_GREY};
enum { FORMATS = sizeof(preferred) / sizeof(*preferred) };

// The search: what is asked, and the best found so far.
struct search {
    const struct camera_device *device;
    const struct source_setup *setup;
    struct camera_mode best;
    bool found;
};

double camera_mode_rate(struct v4l2_fract interval)
{
    return interval.numerator == 0 ? 0 : (double)interval.denominator / interval.numerator;
}

// How well a mode fits; compared member by member, larger is better.
struct fitness {
    double colored, size, speed, area, nearness;
};

static struct fitness rate_mode(const struct source_setup *setup, const struct camera_mode *mode)
{
    const double rate = camera_mode_rate(mode->interval), wanted = setup->rate > 0 ? setup->rate : DEFAULT_RATE;
    // Without a wish some slowness is accepted for a larger picture: 24 or 25 are as good as 30.
    const double enough = setup->rate > 0 ? 0.95 * wanted : 0.8 * wanted;
    const double area = (double)mode->width * mode->height;
    const bool any_size = setup->width == 0;
    return (struct fitness){
        .colored = mode->format != PIXFMT_GREY || setup->has_format,
        .size = any_size ? 0 : -(abs(mode->width - setup->width) + abs(mode->height - setup->height)),
        .speed = rate == 0 || rate >= enough ? 1 : rate / wanted,
        .area = !any_size                                ? 0
                : area <= DEFAULT_WIDTH * DEFAULT_HEIGHT ? area
                                                         : -area,
        .nearness = rate == 0 ? 0 : -fabs(rate - wanted),
    };
}

static bool fits_better(const struct fitness *a, const struct fitness *b)
{
    const double pairs[][2] = {
        {a->colored, b->colored}, {a->size, b->size},         {a->speed, b->speed},
        {a->area, b->area},       {a->nearness, b->nearness},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (pairs[i][0] != pairs[i][1])
            return pairs[i][0] > pairs[i][1];
    return false; // the format met first is the preferred one
}

static void consider(struct search *search, const struct camera_mode *mode)
{
    const char *why;
    if (!pixfmt_size_ok(mode->format, mode->width, mode->height, &why))
        return;
    const struct fitness new = rate_mode(search->setup, mode), old = rate_mode(search->setup, &search->best);
    if (search->found && !fits_better(&new, &old))
        return;
    search->best = *mode;
    search->found = true;
}

// The interval within a range that is nearest to the wanted rate.
static struct v4l2_fract nearest_interval(const struct source_setup *setup, const struct v4l2_frmival_stepwise *range)
{
    enum { PRECISION = 1000 };
    const double wanted = setup->rate > 0 ? setup->rate : DEFAULT_RATE;
    if (wanted >= camera_mode_rate(range->min))
        return range->min;
    if (wanted <= camera_mode_rate(range->max))
        return range->max;
    return (struct v4l2_fract){PRECISION, (uint32_t)lround(wanted * PRECISION)};
}

static void consider_size(struct search *search, enum pixfmt format, int width, int height)
{
    struct camera_mode mode = {.format = format, .width = width, .height = height};
    struct v4l2_frmivalenum rate = {
        .pixel_format = pixfmt_info(format)->fourcc, .width = (uint32_t)width, .height = (uint32_t)height};
    for (; camera_device_ask(search->device, VIDIOC_ENUM_FRAMEINTERVALS, &rate) == 0; rate.index++) {
        const bool discrete = rate.type == V4L2_FRMIVAL_TYPE_DISCRETE;
        mode.interval = discrete ? rate.discrete : nearest_interval(search->setup, &rate.stepwise);
        consider(search, &mode);
        if (!discrete)
            return;
    }
    if (rate.index == 0) // the camera doesn't say
        consider(search, &mode);
}

// What is nearest to `wanted` among low, low + step, ... high.
static int step_to(int64_t wanted, int64_t low, int64_t high, int64_t step)
{
    const int64_t clamped = wanted < low ? low : wanted > high ? high : wanted;
    return (int)(step > 1 ? low + (clamped - low) / step * step : clamped);
}

static void consider_format(struct search *search, enum pixfmt format)
{
    const int width = search->setup->width > 0 ? search->setup->width : DEFAULT_WIDTH;
    const int height = search->setup->width > 0 ? search->setup->height : DEFAULT_HEIGHT;
    struct v4l2_frmsizeenum size = {.pixel_format = pixfmt_info(format)->fourcc};
    for (; camera_device_ask(search->device, VIDIOC_ENUM_FRAMESIZES, &size) == 0; size.index++) {
        if (size.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
            consider_size(search, format, (int)size.discrete.width, (int)size.discrete.height);
            continue;
        }
        const struct v4l2_frmsize_stepwise *range = &size.stepwise;
        consider_size(search, format, step_to(width, range->min_width, range->max_width, range->step_width),
                      step_to(height, range->min_height, range->max_height, range->step_height));
        return;
    }
    if (size.index == 0) // the camera doesn't say; it will take what is nearest
        consider_size(search, format, width, height);
}

// Marks which formats the camera offers.
static void find_offered(const struct camera_device *device, bool offered[PIXFMT_COUNT])
{
    memset(offered, 0, PIXFMT_COUNT * sizeof(*offered));
    struct v4l2_fmtdesc offer = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    for (; camera_device_ask(device, VIDIOC_ENUM_FMT, &offer) == 0; offer.index++) {
        enum pixfmt format;
        if (pixfmt_from_fourcc(offer.pixelformat, &format))
            offered[format] = true;
    }
}

bool camera_mode_choose(const struct camera_device *device, const struct source_setup *setup, struct camera_mode *mode)
{
    bool offered[PIXFMT_COUNT];
    struct search search = {.device = device, .setup = setup};
    find_offered(device, offered);
    for (int i = 0; i < FORMATS; i++)
        if (offered[preferred[i]] && (!setup->has_format || setup->format == preferred[i]))
            consider_format(&search, preferred[i]);
    *mode = search.best;
    return search.found;
}

void camera_mode_list(const struct camera_device *device, char text[128])
{
    bool offered[PIXFMT_COUNT];
    find_offered(device, offered);
    text[0] = '\0';
    for (int i = 0; i < FORMATS; i++) {
        if (offered[preferred[i]]) {
            strcat(text, text[0] ? " " : "");
            strcat(text, pixfmt_info(preferred[i])->name);
        }
    }
}

static enum color_matrix matrix_of(uint32_t encoding)
{
    switch (encoding) {
    case V4L2_YCBCR_ENC_709:
    case V4L2_YCBCR_ENC_XV709:
    case V4L2_YCBCR_ENC_SMPTE240M: // 0.212, 0.087: nearest to 709
        return COLOR_MATRIX_709;
    case V4L2_YCBCR_ENC_BT2020:
    case V4L2_YCBCR_ENC_BT2020_CONST_LUM:
        return COLOR_MATRIX_2020;
    default:
        return COLOR_MATRIX_601;
    }
}

struct color camera_mode_color(const struct v4l2_pix_format *format)
{
    struct color color = {0};
    // Without the magic the driver predates these members.
    const bool extended = format->priv == V4L2_PIX_FMT_PRIV_MAGIC;
    const bool known = format->colorspace != V4L2_COLORSPACE_DEFAULT;
    uint32_t encoding = extended ? format->ycbcr_enc : V4L2_YCBCR_ENC_DEFAULT;
    uint32_t range = extended ? format->quantization : V4L2_QUANTIZATION_DEFAULT;
    if (encoding == V4L2_YCBCR_ENC_DEFAULT && known)
        encoding = V4L2_MAP_YCBCR_ENC_DEFAULT(format->colorspace);
    if (encoding != V4L2_YCBCR_ENC_DEFAULT)
        color.matrix = matrix_of(encoding);
    if (range == V4L2_QUANTIZATION_DEFAULT && known)
        range = V4L2_MAP_QUANTIZATION_DEFAULT(false, format->colorspace, encoding);
    if (range != V4L2_QUANTIZATION_DEFAULT)
        color.range = range == V4L2_QUANTIZATION_FULL_RANGE ? COLOR_RANGE_FULL : COLOR_RANGE_LIMITED;
    return color;
}

// Where the planes of a picture lie in a buffer.
struct layout {
    size_t offset[PIXFMT_PLANES], stride[PIXFMT_PLANES];
    size_t bytes; // to the end of the last row's pixels
};

static struct layout layout_of(const struct v4l2_pix_format *format, const struct image_shape *shape)
{
    const struct pixfmt_info *info = pixfmt_info(shape->format);
    const size_t row = pixfmt_row_bytes(shape->format, 0, shape->width);
    const size_t stride = format->bytesperline > row ? format->bytesperline : row;
    struct layout layout = {0};
    size_t offset = 0;
    for (int i = 0; i < info->planes; i++) {
        const size_t own = pixfmt_row_bytes(shape->format, i, shape->width);
        const size_t scaled = i == 0 ? stride : (stride * info->plane[i].bytes) >> info->plane[i].shift_x;
        layout.offset[i] = offset;
        layout.stride[i] = scaled > own ? scaled : own;
        offset += layout.stride[i] * (size_t)pixfmt_rows(shape->format, i, shape->height);
        layout.bytes = offset - layout.stride[i] + own;
    }
    return layout;
}

void camera_mode_lay_out(const struct v4l2_pix_format *format, const struct image_shape *shape, void *memory,
                         struct image *image)
{
    const struct layout layout = layout_of(format, shape);
    *image = (struct image){.shape = *shape};
    for (int i = 0; i < pixfmt_info(shape->format)->planes; i++) {
        image->plane[i] = (uint8_t *)memory + layout.offset[i];
        image->stride[i] = layout.stride[i];
    }
}

size_t camera_mode_bytes(const struct v4l2_pix_format *format, const struct image_shape *shape)
{
    return layout_of(format, shape).bytes;
}
