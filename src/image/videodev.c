// videodev.c: V4L2 helpers for cameras and virtual cameras: ioctl, errors, colours and the layout of buffers
#include "image/videodev.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

int videodev_ask(int fd, unsigned long request, void *argument)
{
    int result;
    do
        result = ioctl(fd, request, argument);
    while (result < 0 && errno == EINTR);
    return result;
}

uint32_t videodev_abilities(const struct v4l2_capability *about)
{
    return about->capabilities & V4L2_CAP_DEVICE_CAPS ? about->device_caps : about->capabilities;
}

static const struct {
    int error;
    const char *advice;
} advices[] = {
    {ENOENT, "No such file or directory; to list the cameras, run: monocle cameras"},
    {EACCES, "Permission denied; add yourself to the group video: sudo usermod -aG video $USER, then log in again"},
    {EPERM, "Operation not permitted; give the container access to the camera: docker run --device=/dev/video0"},
    {EISDIR, "it is a directory; to list the cameras, run: monocle cameras"},
    {EIO, "Input/output error; if it persists, unplug the camera and plug it in again"},
    {EBUSY, "another program is using it; close that program first"},
    {ENOSPC, "the USB bus has too little bandwidth for this mode; try a smaller --size or another USB port"},
    {ENODEV, "the camera was unplugged"},
    {ENXIO, "the camera was unplugged"},
    {ENOMEM, "out of memory; try a smaller --size"},
};

const char *videodev_advice(int error)
{
    for (size_t i = 0; i < sizeof(advices) / sizeof(*advices); i++)
        if (advices[i].error == error)
            return advices[i].advice;
    return strerror(error);
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

struct color videodev_color(const struct v4l2_pix_format *format, bool compressed)
{
    struct color color = {0};
    // Without the magic number, the driver is older than these members.
    const bool extended = format->priv == V4L2_PIX_FMT_PRIV_MAGIC;
    const uint32_t space = compressed ? V4L2_COLORSPACE_JPEG : format->colorspace;
    const bool known = space != V4L2_COLORSPACE_DEFAULT;
    uint32_t encoding = extended ? format->ycbcr_enc : V4L2_YCBCR_ENC_DEFAULT;
    uint32_t range = extended ? format->quantization : V4L2_QUANTIZATION_DEFAULT;
    if (encoding == V4L2_YCBCR_ENC_DEFAULT && known)
        encoding = V4L2_MAP_YCBCR_ENC_DEFAULT(space);
    if (encoding != V4L2_YCBCR_ENC_DEFAULT)
        color.matrix = matrix_of(encoding);
    if (range == V4L2_QUANTIZATION_DEFAULT && format->pixelformat == V4L2_PIX_FMT_GREY)
        range = V4L2_QUANTIZATION_FULL_RANGE; // sensors without colours have no limited range
    if (range == V4L2_QUANTIZATION_DEFAULT && known)
        range = V4L2_MAP_QUANTIZATION_DEFAULT(false, space, encoding);
    if (range != V4L2_QUANTIZATION_DEFAULT)
        color.range = range == V4L2_QUANTIZATION_FULL_RANGE ? COLOR_RANGE_FULL : COLOR_RANGE_LIMITED;
    return color;
}

size_t videodev_lay_out(const struct v4l2_pix_format *format, const struct image_shape *shape, void *memory,
                        struct image *image)
{
    const struct pixfmt_info *info = pixfmt_info(shape->format);
    const size_t row = pixfmt_row_bytes(shape->format, 0, shape->width);
    // Some drivers give the bytes of all planes as bytesperline, although the planes have no padding.
    const bool tight = info->planes > 1 && format->sizeimage > 0 && format->sizeimage == image_bytes(shape);
    const size_t first = format->bytesperline > row && !tight ? format->bytesperline : row;
    size_t offset = 0, bytes = 0;
    if (image)
        *image = (struct image){.shape = *shape};
    for (int i = 0; i < info->planes; i++) {
        const size_t own = pixfmt_row_bytes(shape->format, i, shape->width);
        const size_t scaled = i == 0 ? first : (first * info->plane[i].bytes) >> info->plane[i].shift_x;
        const size_t stride = scaled > own ? scaled : own;
        if (image) {
            image->plane[i] = (uint8_t *)memory + offset;
            image->stride[i] = stride;
        }
        offset += stride * (size_t)pixfmt_rows(shape->format, i, shape->height);
        bytes = offset - stride + own;
    }
    return bytes;
}
