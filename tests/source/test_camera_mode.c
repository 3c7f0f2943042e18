// test_camera_mode.c: the choice of a camera's format; a driver's colour and padding
#include "check.h"

#include "source/camera_mode.h"

#include <stddef.h>
#include <string.h>

static struct check check = {.name = "camera mode"};

// The kernel's rules: Documentation/userspace-api/media/v4l/colorspaces-defs.rst.
static void test_color(void)
{
    static const struct {
        uint32_t space, encoding, range;
        enum color_matrix matrix;
        enum color_range said;
    } rules[] = {
        {V4L2_COLORSPACE_DEFAULT, 0, 0, COLOR_MATRIX_DEFAULT, COLOR_RANGE_DEFAULT},
        {V4L2_COLORSPACE_SMPTE170M, 0, 0, COLOR_MATRIX_601, COLOR_RANGE_LIMITED},
        {V4L2_COLORSPACE_REC709, 0, 0, COLOR_MATRIX_709, COLOR_RANGE_LIMITED},
        {V4L2_COLORSPACE_SRGB, 0, 0, COLOR_MATRIX_601, COLOR_RANGE_LIMITED},
        {V4L2_COLORSPACE_JPEG, 0, 0, COLOR_MATRIX_601, COLOR_RANGE_FULL},
        {V4L2_COLORSPACE_BT2020, 0, 0, COLOR_MATRIX_2020, COLOR_RANGE_LIMITED},
        {V4L2_COLORSPACE_DCI_P3, 0, 0, COLOR_MATRIX_709, COLOR_RANGE_LIMITED},
        {V4L2_COLORSPACE_SMPTE240M, 0, 0, COLOR_MATRIX_709, COLOR_RANGE_LIMITED},
        {V4L2_COLORSPACE_SRGB, V4L2_YCBCR_ENC_709, V4L2_QUANTIZATION_FULL_RANGE, COLOR_MATRIX_709, COLOR_RANGE_FULL},
        {V4L2_COLORSPACE_JPEG, V4L2_YCBCR_ENC_BT2020, V4L2_QUANTIZATION_LIM_RANGE, COLOR_MATRIX_2020,
         COLOR_RANGE_LIMITED},
        {V4L2_COLORSPACE_DEFAULT, V4L2_YCBCR_ENC_709, 0, COLOR_MATRIX_709, COLOR_RANGE_DEFAULT},
        {V4L2_COLORSPACE_DEFAULT, 0, V4L2_QUANTIZATION_FULL_RANGE, COLOR_MATRIX_DEFAULT, COLOR_RANGE_FULL},
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
        struct v4l2_pix_format format = {.colorspace = rules[i].space,
                                         .priv = V4L2_PIX_FMT_PRIV_MAGIC,
                                         .ycbcr_enc = rules[i].encoding,
                                         .quantization = rules[i].range};
        const struct color color = videodev_color(&format, false);
        check_that(&check, color.matrix == rules[i].matrix && color.range == rules[i].said, "rule %zu: %s %s", i,
                   color_matrix_name(color.matrix), color_range_name(color.range));
    }
    // A sensor without colours has full range, unless the driver says otherwise.
    for (uint32_t range = 0; range < 3; range++) {
        const struct v4l2_pix_format grey = {.pixelformat = V4L2_PIX_FMT_GREY,
                                             .colorspace = V4L2_COLORSPACE_SRGB,
                                             .priv = V4L2_PIX_FMT_PRIV_MAGIC,
                                             .quantization = range};
        const bool limited = range == V4L2_QUANTIZATION_LIM_RANGE;
        check_that(&check, videodev_color(&grey, false).range == (limited ? COLOR_RANGE_LIMITED : COLOR_RANGE_FULL),
                   "grey, quantization %u", range);
    }
    // An old driver does not set new members.
    const struct v4l2_pix_format old = {.colorspace = V4L2_COLORSPACE_REC709, .ycbcr_enc = 77, .quantization = 1};
    const struct color color = videodev_color(&old, false);
    check_that(&check, color.matrix == COLOR_MATRIX_709 && color.range == COLOR_RANGE_LIMITED, "an old driver");
}

// Rows padded by the driver: chroma planes are padded in proportion.
static void test_padding(void)
{
    static const struct {
        enum pixfmt format;
        uint32_t line; // bytesperline of the driver; 640x480 pixels
        size_t stride[3], offset[3], bytes;
        uint32_t size; // sizeimage; 0: unknown
    } cases[] = {
        {PIXFMT_YUYV, 0, {1280}, {0}, 1280 * 480, 0},
        {PIXFMT_YUYV, 1344, {1344}, {0}, 1344 * 479 + 1280, 0},
        {PIXFMT_NV12, 640, {640, 640}, {0, 640 * 480}, 640 * 720, 0},
        {PIXFMT_NV21, 704, {704, 704}, {0, 704 * 480}, 704 * 719 + 640, 0},
        {PIXFMT_NV16, 704, {704, 704}, {0, 704 * 480}, 704 * 959 + 640, 0},
        {PIXFMT_YU12, 704, {704, 352, 352}, {0, 704 * 480, 704 * 600}, 704 * 600 + 352 * 239 + 320, 0},
        {PIXFMT_YV12, 640, {640, 320, 320}, {0, 640 * 480, 640 * 600}, 640 * 720, 0},
        {PIXFMT_YU12, 960, {640, 320, 320}, {0, 640 * 480, 640 * 600}, 640 * 720, 640 * 720}, // of all planes
        {PIXFMT_YU12, 704, {704, 352, 352}, {0, 704 * 480, 704 * 600}, 704 * 600 + 352 * 239 + 320, 704 * 720},
        {PIXFMT_RGB24, 2048, {2048}, {0}, 2048 * 479 + 1920, 0},
        {PIXFMT_GREY, 100, {640}, {0}, 640 * 480, 0}, // invalid: less than a row
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        static uint8_t memory[1 << 21];
        const struct v4l2_pix_format format = {.bytesperline = cases[i].line, .sizeimage = cases[i].size};
        const struct image_shape shape = {.format = cases[i].format, .width = 640, .height = 480};
        struct image image;
        videodev_lay_out(&format, &shape, memory, &image);
        bool ok = videodev_lay_out(&format, &shape, NULL, NULL) == cases[i].bytes && !image.memory;
        for (int p = 0; p < pixfmt_info(cases[i].format)->planes; p++)
            ok &= image.stride[p] == cases[i].stride[p] && image.plane[p] == memory + cases[i].offset[p];
        check_that(&check, ok, "case %zu: %s with lines of %u bytes", i, pixfmt_info(cases[i].format)->name,
                   cases[i].line);
    }
}

static void test_rate(void)
{
    check_that(&check, camera_mode_rate((struct v4l2_fract){1, 30}) == 30, "1/30 s is 30 a second");
    check_that(&check, camera_mode_rate((struct v4l2_fract){0, 0}) == 0, "an unknown interval is no rate");
}

static void test_most_pixels(void)
{
    const struct camera_mode full_hd = {.compressed = true, .width = 1920, .height = 1080};
    const struct camera_mode small = {.compressed = true, .width = 1, .height = 17};
    check_that(&check, camera_mode_most_pixels(&full_hd) == 1920 * 1088, "1080 rows may be coded as 1088");
    check_that(&check, camera_mode_most_pixels(&small) == 16 * 32, "both sides count in whole blocks");
}

// The driver of the test: every format that it offers has a size of 640x480 at 30 frames per second, and another one of
// 1280x480 if that has a rate.
static const uint32_t *offers;
static uint32_t width = 640, large_rate;

int __wrap_videodev_ask(int fd, unsigned long request, void *argument);
int __wrap_videodev_ask(int fd, unsigned long request, void *argument)
{
    struct v4l2_fmtdesc *format = argument;
    struct v4l2_frmsizeenum *size = argument;
    struct v4l2_frmivalenum *rate = argument;
    if (request == VIDIOC_ENUM_FMT) {
        format->pixelformat = offers[format->index];
        return format->pixelformat ? 0 : -1;
    }
    if (request == VIDIOC_ENUM_FRAMESIZES && size->index <= (large_rate > 0)) {
        size->type = V4L2_FRMSIZE_TYPE_DISCRETE;
        size->discrete.width = size->index == 0 ? width : 1280;
        size->discrete.height = 480;
        return 0;
    }
    if (request == VIDIOC_ENUM_FRAMEINTERVALS && rate->index == 0) {
        rate->type = V4L2_FRMIVAL_TYPE_DISCRETE;
        rate->discrete = (struct v4l2_fract){1, rate->width == 1280 ? large_rate : 30};
        return 0;
    }
    return -1;
}

// If only the format differs, the order is: colour before grey, raw before compressed, fewer bytes, planes in one
// buffer.
static void test_preference(void)
{
    static const struct {
        uint32_t offers[4], best;
        const char *list;
    } cases[] = {
        {{V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_NV12}, V4L2_PIX_FMT_NV12, "nv12 yuyv"},
        {{V4L2_PIX_FMT_YVU420, V4L2_PIX_FMT_YUV420, V4L2_PIX_FMT_NV21}, V4L2_PIX_FMT_NV21, "nv21 yu12 yv12"},
        {{V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_NV12M}, V4L2_PIX_FMT_NV12M, "yuyv nv12"},
        {{V4L2_PIX_FMT_NV12M, V4L2_PIX_FMT_YVU420}, V4L2_PIX_FMT_YVU420, "yv12 nv12"},
        {{V4L2_PIX_FMT_YUV422P, V4L2_PIX_FMT_UYVY, V4L2_PIX_FMT_YUYV}, V4L2_PIX_FMT_YUYV, "yuyv uyvy 422p"},
        {{V4L2_PIX_FMT_BGR24, V4L2_PIX_FMT_RGB24}, V4L2_PIX_FMT_RGB24, "rgb24 bgr24"},
        {{V4L2_PIX_FMT_RGB24, V4L2_PIX_FMT_YUV444M}, V4L2_PIX_FMT_RGB24, "rgb24 444p"},
        {{V4L2_PIX_FMT_GREY, V4L2_PIX_FMT_BGR24}, V4L2_PIX_FMT_BGR24, "bgr24 grey"},
        {{V4L2_PIX_FMT_GREY, V4L2_PIX_FMT_JPEG, V4L2_PIX_FMT_MJPEG}, V4L2_PIX_FMT_MJPEG, "grey mjpeg"},
        {{V4L2_PIX_FMT_MJPEG, V4L2_PIX_FMT_BGR24}, V4L2_PIX_FMT_BGR24, "bgr24 mjpeg"},
        {{V4L2_PIX_FMT_Y10, V4L2_PIX_FMT_GREY}, V4L2_PIX_FMT_GREY, "grey"},
        {{V4L2_PIX_FMT_Y10}, 0, ""},
    };
    const struct camera_device device = {.path = "/dev/video0"};
    const struct source_setup setup = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct camera_mode mode = {0};
        char list[128], why[CAMERA_WHY];
        offers = cases[i].offers;
        camera_mode_list(&device, list);
        check_that(&check, strcmp(list, cases[i].list) == 0, "case %zu: the formats are \"%s\"", i, list);
        const bool found = camera_mode_choose(&device, &setup, &mode, why);
        check_that(&check, found == (cases[i].best != 0) && mode.fourcc == cases[i].best, "case %zu: %.4s is chosen", i,
                   (const char *)&mode.fourcc);
    }
}

// A larger size may have 24 or 25 frames per second, unless the user wants 30.
static void test_rates(void)
{
    static const uint32_t yuyv[] = {V4L2_PIX_FMT_YUYV, 0};
    static const struct {
        uint32_t large_rate;
        double wanted;
        int width;
    } cases[] = {{30, 0, 1280}, {25, 0, 1280}, {24, 0, 1280}, {20, 0, 640}, {25, 30, 640}, {29, 30, 1280}};
    const struct camera_device device = {.path = "/dev/video0"};
    offers = yuyv;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct source_setup setup = {.rate = cases[i].wanted};
        struct camera_mode mode = {0};
        char why[CAMERA_WHY];
        large_rate = cases[i].large_rate;
        const bool found = camera_mode_choose(&device, &setup, &mode, why);
        check_that(&check, found && mode.width == cases[i].width, "case %zu: %d columns are chosen", i, mode.width);
    }
    large_rate = 0;
}

// A message names what the camera offers.
static void test_unreadable(void)
{
    static const uint32_t h264[] = {V4L2_PIX_FMT_H264, V4L2_PIX_FMT_HEVC, 0}, yuyv[] = {V4L2_PIX_FMT_YUYV, 0};
    static const struct {
        const uint32_t *offers;
        uint32_t width;
        const char *driver, *says;
    } rows[] = {
        {h264, 640, "uvcvideo", "offers only the format H264 HEVC, which neither"},
        {yuyv, 641, "uvcvideo", "offers yuyv only in sizes that monocle does not read, such as 641x480: "},
        {h264 + 2, 640, "uvcvideo", "offers no pixel format, which neither"},
        {h264 + 2, 640, "v4l2 loopback", "no program writes to it"},
    };
    const struct source_setup setup = {0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct camera_device device = {.path = "/dev/video0"};
        struct camera_mode mode;
        char why[CAMERA_WHY];
        snprintf(device.driver, sizeof(device.driver), "%s", rows[i].driver);
        offers = rows[i].offers;
        width = rows[i].width;
        const bool found = camera_mode_choose(&device, &setup, &mode, why);
        check_that(&check, !found && strstr(why, rows[i].says), "row %zu: %s", i, why);
    }
    width = 640;
}

int main(void)
{
    test_unreadable();
    test_preference();
    test_rates();
    test_color();
    test_padding();
    test_rate();
    test_most_pixels();
    return check_end(&check);
}
