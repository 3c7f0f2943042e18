// camera_mode.c: selects a camera's format, size and rate
#include "source/camera_mode.h"

#include "base/log.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_RATE = 30, DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720 };

// The formats that cameras may send; the earlier one wins between modes that are otherwise equal.
enum { FORMATS = 2 * PIXFMT_COUNT + 2 };

static struct camera_mode mode_of(int index)
{
    static const uint32_t compressed[] = {V4L2_PIX_FMT_MJPEG, V4L2_PIX_FMT_JPEG};
    if (index >= 2 * PIXFMT_COUNT)
        return (struct camera_mode){.fourcc = compressed[index - 2 * PIXFMT_COUNT], .compressed = true};
    const enum pixfmt format = (enum pixfmt)(index % PIXFMT_COUNT);
    const struct pixfmt_info *info = pixfmt_info(format);
    return (struct camera_mode){.fourcc = index < PIXFMT_COUNT ? info->fourcc : info->fourcc_apart, .format = format};
}

// The best modes found so far
struct mode_search {
    const struct camera_device *device;
    const struct source_setup *setup;
    struct camera_mode best[FORMATS]; // of each format; fourcc 0: none
    struct camera_mode unfit;         // a mode with a size that monocle does not read; fourcc 0: none
    const char *unfit_why;
};

bool camera_mode_known(uint32_t fourcc, struct camera_mode *mode)
{
    for (int i = 0; i < FORMATS; i++) {
        *mode = mode_of(i);
        if (mode->fourcc == fourcc && fourcc != 0)
            return true;
    }
    return false;
}

struct image_shape camera_mode_shape(const struct camera_mode *mode)
{
    return (struct image_shape){
        .format = mode->compressed ? PIXFMT_422P : mode->format, .width = mode->width, .height = mode->height};
}

uint64_t camera_mode_most_pixels(const struct camera_mode *mode)
{
    enum { BLOCK = 16 };
    const uint64_t across = ((uint64_t)mode->width + BLOCK - 1) / BLOCK;
    const uint64_t down = ((uint64_t)mode->height + BLOCK - 1) / BLOCK;
    return across * down * BLOCK * BLOCK;
}

const char *camera_mode_name(const struct camera_mode *mode)
{
    return mode->compressed ? "mjpeg" : pixfmt_info(mode->format)->name;
}

double camera_mode_rate(struct v4l2_fract interval)
{
    return interval.numerator == 0 ? 0 : (double)interval.denominator / interval.numerator;
}

// How well a mode fits, the most important criterion first; larger is better.
enum { CRITERIA = 7 };
struct fitness {
    double is[CRITERIA];
};

static struct fitness rate_mode(const struct source_setup *setup, const struct camera_mode *mode)
{
    const double rate = camera_mode_rate(mode->interval), wanted = setup->rate > 0 ? setup->rate : DEFAULT_RATE;
    // Unless the user wants a rate, 24 or 25 are as good as 30, so that a larger size counts more.
    const double enough = setup->rate > 0 ? 0.95 * wanted : 0.8 * wanted;
    const double fast = rate == 0 || rate >= enough ? 1 : rate / wanted;
    const double rate_error = rate == 0 ? 0 : fabs(rate - wanted);
    const int bits = mode->compressed ? 0 : pixfmt_bits(mode->format);
    const bool colours = mode->compressed || mode->format != PIXFMT_GREY || setup->has_format;
    double size_error = 0, large = 0;
    if (setup->width > 0) {
        size_error = abs(mode->width - setup->width) + abs(mode->height - setup->height);
    } else {
        const double area = (double)mode->width * mode->height;
        large = area <= DEFAULT_WIDTH * DEFAULT_HEIGHT ? area : -area;
    }
    return (struct fitness){{colours, -size_error, fast, large, !mode->compressed, -rate_error, -bits}};
}

bool camera_mode_better(const struct source_setup *setup, const struct camera_mode *a, const struct camera_mode *b)
{
    const struct fitness new = rate_mode(setup, a), old = rate_mode(setup, b);
    for (int i = 0; i < CRITERIA; i++)
        if (new.is[i] != old.is[i])
            return new.is[i] > old.is[i];
    return false; // the earlier format is the preferred one
}

static void consider(struct mode_search *search, int index, const struct camera_mode *mode)
{
    const char *why;
    struct camera_mode *best = &search->best[index];
    if (!mode->compressed && !pixfmt_size_ok(mode->format, mode->width, mode->height, &why)) {
        search->unfit = *mode;
        search->unfit_why = why;
        return;
    }
    if (best->fourcc == 0 || camera_mode_better(search->setup, mode, best))
        *best = *mode;
}

// Returns the interval within a range that is nearest to the wanted rate.
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

static void consider_size(struct mode_search *search, int index, int width, int height)
{
    struct camera_mode mode = mode_of(index);
    mode.width = width;
    mode.height = height;
    struct v4l2_frmivalenum rate = {.pixel_format = mode.fourcc, .width = (uint32_t)width, .height = (uint32_t)height};
    for (; camera_device_ask(search->device, VIDIOC_ENUM_FRAMEINTERVALS, &rate) == 0; rate.index++) {
        const bool discrete = rate.type == V4L2_FRMIVAL_TYPE_DISCRETE;
        mode.interval = discrete ? rate.discrete : nearest_interval(search->setup, &rate.stepwise);
        consider(search, index, &mode);
        if (!discrete)
            return;
    }
    if (rate.index == 0) // the driver lists no rates
        consider(search, index, &mode);
}

// Returns the value nearest to `wanted` among low, low + step, ... high.
static int step_to(int64_t wanted, int64_t low, int64_t high, int64_t step)
{
    if (wanted <= low)
        return (int)low;
    const int64_t clamped = wanted > high ? high : wanted;
    return (int)(step > 1 ? low + (clamped - low) / step * step : clamped);
}

static void consider_format(struct mode_search *search, int index)
{
    const int width = search->setup->width > 0 ? search->setup->width : DEFAULT_WIDTH;
    const int height = search->setup->width > 0 ? search->setup->height : DEFAULT_HEIGHT;
    struct v4l2_frmsizeenum size = {.pixel_format = mode_of(index).fourcc};
    for (; camera_device_ask(search->device, VIDIOC_ENUM_FRAMESIZES, &size) == 0; size.index++) {
        if (size.type == V4L2_FRMSIZE_TYPE_DISCRETE) {
            consider_size(search, index, (int)size.discrete.width, (int)size.discrete.height);
            continue;
        }
        const struct v4l2_frmsize_stepwise *range = &size.stepwise;
        consider_size(search, index, step_to(width, range->min_width, range->max_width, range->step_width),
                      step_to(height, range->min_height, range->max_height, range->step_height));
        return;
    }
    if (size.index == 0) // the driver lists no sizes; it will choose the nearest one
        consider_size(search, index, width, height);
}

// Marks which formats the camera offers.
static void find_offered(const struct camera_device *device, bool offered[FORMATS])
{
    memset(offered, 0, FORMATS * sizeof(*offered));
    struct v4l2_fmtdesc offer = {.type = device->type};
    for (; camera_device_ask(device, VIDIOC_ENUM_FMT, &offer) == 0; offer.index++)
        for (int i = 0; i < FORMATS; i++)
            if (offer.pixelformat != 0 && mode_of(i).fourcc == offer.pixelformat)
                offered[i] = true;
}

// libv4l2 converts to RGB and to YUV, but does not report the range of its YUV.
static bool is_wanted(const struct camera_device *device, const struct source_setup *setup,
                      const struct camera_mode *mode)
{
    if (setup->compressed && !device->converts)
        return mode->compressed;
    if (device->converts && !setup->has_format)
        return !mode->compressed && mode->format == PIXFMT_RGB24;
    return !setup->has_format || (!mode->compressed && mode->format == setup->format);
}

static void log_mode(const struct mode_search *search, const struct camera_mode *mode, bool chosen)
{
    log_info("camera %s %s %dx%d %s at %.3g fps%s", search->device->path, chosen ? "uses" : "also offers", mode->width,
             mode->height, camera_mode_name(mode), camera_mode_rate(mode->interval),
             text_if(mode->interval.numerator == 0, " (the driver reports no frame rate)"));
}

void camera_mode_code(uint32_t fourcc, char text[8])
{
    for (int i = 0; i < 4; i++) {
        const char c = (char)(fourcc >> 8 * i & 127);
        text[i] = (char)(c >= ' ' && c < 127 ? c : '?');
    }
    text[4] = '\0';
    for (int i = 3; i > 0 && text[i] == ' '; i--)
        text[i] = '\0';
}

// Luma only, or depth: Y10, Y12, Z16 ...
static bool is_grey(uint32_t fourcc)
{
    const char c = (char)(fourcc & 127), d = (char)(fourcc >> 8 & 127);
    return fourcc == V4L2_PIX_FMT_GREY || ((c == 'Y' || c == 'Z') && (d == '0' || d == '1'));
}

// Lists the formats of the camera, as "H264 HEVC". Returns the first one; 0: there is none.
static uint32_t list_codes(const struct camera_device *device, char text[CAMERA_CODES])
{
    struct v4l2_fmtdesc offer = {.type = device->type};
    uint32_t first = 0;
    size_t used = 0;
    text[0] = '\0';
    for (; camera_device_ask(device, VIDIOC_ENUM_FMT, &offer) == 0; offer.index++) {
        char code[8];
        camera_mode_code(offer.pixelformat, code);
        if (first == 0)
            first = offer.pixelformat;
        if (used + sizeof(code) < CAMERA_CODES)
            used += (size_t)snprintf(text + used, CAMERA_CODES - used, "%s%s", used ? " " : "", code);
    }
    return first;
}

static void explain_isp(const struct camera_isp *isp, char why[CAMERA_WHY])
{
    snprintf(why, CAMERA_WHY, "the image processor %s is not set up; it needs %s", isp->name, isp->needs);
}

// Says why monocle reads none of the camera's formats, and which program does.
static void explain_unreadable(const struct camera_device *device, const char *codes, uint32_t first,
                               char why[CAMERA_WHY])
{
    static const struct {
        uint32_t fourcc;
        const char *format; // ffmpeg's name
    } readers[] = {{V4L2_PIX_FMT_H264, "h264"},
                   {V4L2_PIX_FMT_HEVC, "hevc"},
                   {V4L2_PIX_FMT_Y10, "rawvideo -pixel_format gray10le"},
                   {V4L2_PIX_FMT_Y12, "rawvideo -pixel_format gray12le"},
                   {V4L2_PIX_FMT_Z16, "rawvideo -pixel_format gray16le"}};
    const struct camera_isp *isp = camera_isp(device->driver, device->card);
    const char *idle = camera_device_idle(device->driver), *format = NULL;
    char size[40] = "";
    struct v4l2_format present = {.type = device->type};
    for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++)
        if (readers[i].fourcc == first)
            format = readers[i].format;
    if (format && strchr(format, ' ') && camera_device_ask(device, VIDIOC_G_FMT, &present) == 0)
        snprintf(size, sizeof(size), " -video_size %ux%u", present.fmt.pix.width, present.fmt.pix.height);
    if (isp)
        explain_isp(isp, why);
    else if (idle && !codes[0])
        snprintf(why, CAMERA_WHY, "%s", idle);
    else if (format)
        snprintf(
            why, CAMERA_WHY,
            "it offers only the format %s, which neither monocle nor libv4l2 reads; ffmpeg reads it: v4l2-ctl -d %s "
            "--stream-mmap --stream-to=- | ffmpeg -f %s%s -i - -pix_fmt yuv420p -f yuv4mpegpipe - | monocle live -",
            codes, device->path, format, size);
    else
        snprintf(why, CAMERA_WHY,
                 "it offers %s%s, which neither monocle nor libv4l2 reads; ffmpeg may read it: ffmpeg -f v4l2 -i %s "
                 "-pix_fmt yuv420p -f yuv4mpegpipe - | monocle live -",
                 codes[0] ? "only the format " : "no pixel format", codes, device->path);
}

void camera_mode_describe(struct camera_device *device, struct camera_node *node)
{
    char offered[128];
    const uint32_t first = list_codes(device, node->codes);
    node->isp = camera_isp(device->driver, device->card);
    camera_mode_list(device, offered);
    node->readable = offered[0] != '\0';
    node->color = node->readable ? strcmp(offered, "grey") != 0 : !is_grey(first);
    node->converted = !node->readable && camera_device_convert(device);
    node->readable |= node->converted;
    if (!node->readable)
        explain_unreadable(device, node->codes, first, node->passed);
    else if (node->isp && node->isp->idle)
        explain_isp(node->isp, node->passed);
}

static void explain_no_mode(const struct mode_search *search, char why[CAMERA_WHY])
{
    const struct camera_device *device = search->device;
    const struct source_setup *setup = search->setup;
    char offered[128], codes[CAMERA_CODES], reason[CAMERA_WHY];
    camera_mode_list(device, offered);
    const struct camera_mode *unfit = &search->unfit;
    if (unfit->fourcc)
        snprintf(
            why, CAMERA_WHY,
            "camera %.64s (%s) offers %s only in sizes that monocle does not read, such as %dx%d: %s; choose another "
            "format with --pixel-format, or let ffmpeg convert its frames: ffmpeg -f v4l2 -i %.64s -vf "
            "'crop=trunc(iw/2)*2' -f yuv4mpegpipe - | monocle live -",
            device->path, device->card, camera_mode_name(unfit), unfit->width, unfit->height, search->unfit_why,
            device->path);
    else if (offered[0] != '\0')
        snprintf(why, CAMERA_WHY,
                 "camera %s (%s) does not offer the pixel format %s; choose one of these with --pixel-format: %s",
                 device->path, device->card, setup->compressed ? "mjpeg" : pixfmt_info(setup->format)->name, offered);
    else {
        const uint32_t first = list_codes(device, codes);
        explain_unreadable(device, codes, first, reason);
        snprintf(why, CAMERA_WHY, "cannot use camera %.64s (%s): %.380s", device->path, device->card, reason);
    }
}

bool camera_mode_choose(const struct camera_device *device, const struct source_setup *setup, struct camera_mode *mode,
                        char why[CAMERA_WHY])
{
    bool offered[FORMATS];
    struct mode_search search = {.device = device, .setup = setup};
    const struct camera_mode *best = NULL;
    find_offered(device, offered);
    for (int i = 0; i < FORMATS; i++) {
        const struct camera_mode any = mode_of(i), *new = &search.best[i];
        if (!offered[i] || !is_wanted(device, setup, &any))
            continue;
        consider_format(&search, i);
        if (new->fourcc != 0 && (!best || camera_mode_better(setup, new, best)))
            best = new;
    }
    if (!best) {
        explain_no_mode(&search, why);
        return false;
    }
    for (int i = 0; i < FORMATS; i++)
        if (search.best[i].fourcc != 0)
            log_mode(&search, &search.best[i], &search.best[i] == best);
    *mode = *best;
    return true;
}

void camera_mode_list(const struct camera_device *device, char text[128])
{
    bool offered[FORMATS];
    find_offered(device, offered);
    text[0] = '\0';
    for (int i = 0; i < FORMATS; i++) {
        const struct camera_mode mode = mode_of(i);
        const char *name = camera_mode_name(&mode);
        if (!offered[i] || strstr(text, name))
            continue;
        strcat(text, text[0] ? " " : "");
        strcat(text, name);
    }
}
