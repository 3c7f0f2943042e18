// layer.c: a camera /dev/video77 that exists only in the functions of the C library, as libcamerify and pw-v4l2 make
// theirs: a library for LD_PRELOAD. Luma is 16 + 2 * column, without colours. Frames wait in an event descriptor
#undef _FILE_OFFSET_BITS // open and open64 are then two functions
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 64, HEIGHT = 48, BYTES = WIDTH * HEIGHT * 2, SPACE = 1 << 16, BUFFERS = 4, FILES = 1024 };

static const char node[] = "/dev/video77";
static char is_camera[FILES];
static uint8_t *memory[BUFFERS];
static unsigned queued[BUFFERS], first, last, sequence;

static int open_file(const char *path, int flags, mode_t mode)
{
    const int fd = strcmp(path, node) == 0 ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)
                                           : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd >= 0 && fd < FILES)
        is_camera[fd] = strcmp(path, node) == 0;
    return fd;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_file(path, flags, mode);
}

int close(int fd)
{
    if (fd >= 0 && fd < FILES)
        is_camera[fd] = 0;
    return (int)syscall(SYS_close, fd);
}

int dup(int fd)
{
    const int copy = (int)syscall(SYS_dup, fd);
    if (copy >= 0 && copy < FILES && fd < FILES)
        is_camera[copy] = is_camera[fd];
    return copy;
}

int access(const char *path, int mode)
{
    return strcmp(path, node) == 0 ? 0 : (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

static void *map(void *at, size_t length, int protection, int flags, int fd, off64_t offset)
{
    if (fd < 0 || fd >= FILES || !is_camera[fd])
        return (void *)syscall(SYS_mmap, at, length, protection, flags, fd, offset);
    void *made = (void *)syscall(SYS_mmap, NULL, length, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    if (made != MAP_FAILED)
        memory[offset / SPACE] = made;
    return made;
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    return map(at, length, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset)
{
    return map(at, length, protection, flags, fd, offset);
}

// ---- the camera ----

static int refuse(int error)
{
    errno = error;
    return -1;
}

static int set_format(struct v4l2_format *format)
{
    format->fmt.pix = (struct v4l2_pix_format){.width = WIDTH,
                                               .height = HEIGHT,
                                               .pixelformat = V4L2_PIX_FMT_YUYV,
                                               .field = V4L2_FIELD_NONE,
                                               .bytesperline = 2 * WIDTH,
                                               .sizeimage = BYTES,
                                               .colorspace = V4L2_COLORSPACE_SMPTE170M};
    return 0;
}

static void describe(struct v4l2_buffer *buffer)
{
    buffer->length = BYTES;
    buffer->m.offset = buffer->index * SPACE;
    buffer->flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
}

static int queue(const struct v4l2_buffer *buffer, int fd)
{
    const uint64_t one = 1;
    queued[last++ % BUFFERS] = buffer->index;
    return write(fd, &one, sizeof(one)) == sizeof(one) ? 0 : -1;
}

static int dequeue(struct v4l2_buffer *buffer, int fd)
{
    uint64_t ready;
    struct timespec now;
    if (first == last)
        return refuse(EAGAIN);
    buffer->index = queued[first++ % BUFFERS];
    if (first == last)
        (void)!read(fd, &ready, sizeof(ready));
    describe(buffer);
    for (int i = 0; i < BYTES; i++)
        memory[buffer->index][i] = (uint8_t)(i % 2 ? 128 : 16 + i % (2 * WIDTH));
    clock_gettime(CLOCK_MONOTONIC, &now);
    buffer->bytesused = BYTES;
    buffer->timestamp = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    buffer->sequence = sequence++;
    return 0;
}

static int list(unsigned long request, void *argument)
{
    struct v4l2_fmtdesc *offer = argument;
    struct v4l2_frmsizeenum *size = argument;
    struct v4l2_frmivalenum *interval = argument;
    if (request == VIDIOC_ENUM_FMT && offer->index == 0) {
        offer->pixelformat = V4L2_PIX_FMT_YUYV;
        return 0;
    }
    if (request == VIDIOC_ENUM_FRAMESIZES && size->index == 0) {
        size->type = V4L2_FRMSIZE_TYPE_DISCRETE;
        size->discrete = (struct v4l2_frmsize_discrete){WIDTH, HEIGHT};
        return 0;
    }
    if (request == VIDIOC_ENUM_FRAMEINTERVALS && interval->index == 0) {
        interval->type = V4L2_FRMIVAL_TYPE_DISCRETE;
        interval->discrete = (struct v4l2_fract){1, 30};
        return 0;
    }
    return refuse(EINVAL);
}

static int answer(int fd, unsigned long request, void *argument)
{
    struct v4l2_requestbuffers *wanted = argument;
    switch (request) {
    case VIDIOC_QUERYCAP:
        *(struct v4l2_capability *)argument =
            (struct v4l2_capability){.driver = "layer",
                                     .card = "layered",
                                     .bus_info = "layer 1",
                                     .capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING};
        return 0;
    case VIDIOC_G_FMT:
    case VIDIOC_S_FMT:
        return set_format(argument);
    case VIDIOC_REQBUFS:
        if (wanted->memory != V4L2_MEMORY_MMAP)
            return refuse(EINVAL);
        wanted->count = wanted->count < BUFFERS ? wanted->count : BUFFERS;
        return 0;
    case VIDIOC_QUERYBUF:
        describe(argument);
        return 0;
    case VIDIOC_QBUF:
        return queue(argument, fd);
    case VIDIOC_DQBUF:
        return dequeue(argument, fd);
    case VIDIOC_STREAMON:
        return 0;
    case VIDIOC_STREAMOFF:
        first = last;
        return 0;
    default:
        return list(request, argument);
    }
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (fd >= 0 && fd < FILES && is_camera[fd])
        return answer(fd, request, argument);
    return (int)syscall(SYS_ioctl, fd, request, argument);
}
