// pipewire_provider.c: a camera of PipeWire with one still picture, whose memory has the layout that a test wants
//
// provider NAME FORMAT WIDTHxHEIGHT RATE [planes] [pad=BYTES] [no-stride] [start=BYTES] [wild] [short] [jpeg=FILE]
//          [buffers=N] [dump=FILE] [stamp] [dma]
//   planes     a memory for each plane, instead of one for all
//   pad        bytes behind each row; no-stride: the chunk's stride is 0
//   start      offset of the chunk
//   wild       times and sequence numbers are garbage
//   short      the chunk's size is one byte less than the frame's
//   dump       writes the picture without padding to a file
//   stamp      writes the time of each frame to its first 8 bytes
//   dma        the memory is DMA buffers of /dev/udmabuf; without that driver, files that are said to be DMA buffers
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/udmabuf.h>

#include <pipewire/pipewire.h>
#include <spa/param/video/format-utils.h>

enum { PLANES = 3, PARAMETERS = 2048 };

static const struct format {
    const char *name;
    uint32_t spa;
    int planes;
    struct {
        int bytes, across, down; // of a sample group
    } plane[PLANES];
} formats[] = {{"nv12", SPA_VIDEO_FORMAT_NV12, 2, {{1, 1, 1}, {2, 2, 2}}},
               {"yu12", SPA_VIDEO_FORMAT_I420, 3, {{1, 1, 1}, {1, 2, 2}, {1, 2, 2}}},
               {"nv21", SPA_VIDEO_FORMAT_NV21, 2, {{1, 1, 1}, {2, 2, 2}}},
               {"yv12", SPA_VIDEO_FORMAT_YV12, 3, {{1, 1, 1}, {1, 2, 2}, {1, 2, 2}}},
               {"422p", SPA_VIDEO_FORMAT_Y42B, 3, {{1, 1, 1}, {1, 2, 1}, {1, 2, 1}}},
               {"444p", SPA_VIDEO_FORMAT_Y444, 3, {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
               {"yuyv", SPA_VIDEO_FORMAT_YUY2, 1, {{4, 2, 1}}},
               {"uyvy", SPA_VIDEO_FORMAT_UYVY, 1, {{4, 2, 1}}},
               {"rgb24", SPA_VIDEO_FORMAT_RGB, 1, {{3, 1, 1}}},
               {"bgr24", SPA_VIDEO_FORMAT_BGR, 1, {{3, 1, 1}}},
               {"rgbx", SPA_VIDEO_FORMAT_RGBx, 1, {{4, 1, 1}}},
               {"bgrx", SPA_VIDEO_FORMAT_BGRx, 1, {{4, 1, 1}}},
               {"grey", SPA_VIDEO_FORMAT_GRAY8, 1, {{1, 1, 1}}},
               {"p010", SPA_VIDEO_FORMAT_P010_10LE, 1, {{2, 1, 1}}}, // a format that monocle does not read
               {"mjpeg", SPA_VIDEO_FORMAT_UNKNOWN, 1, {{1, 1, 1}}}};

static struct {
    const struct format *format;
    int width, height, rate, pad, start, buffers;
    bool planes, no_stride, wild, cut, stamp, dma;
    uint8_t *jpeg;
    size_t jpeg_bytes;
    struct pw_main_loop *loop;
    struct pw_stream *stream;
    uint64_t sent;
} provider = {.rate = 30, .buffers = 8};

static int row_bytes(int plane)
{
    const struct format *format = provider.format;
    return (provider.width + format->plane[plane].across - 1) / format->plane[plane].across *
           format->plane[plane].bytes;
}

static int rows(int plane)
{
    return (provider.height + provider.format->plane[plane].down - 1) / provider.format->plane[plane].down;
}

static int stride(int plane)
{
    // The padding of chroma is proportional to that of luma, as for V4L2, if there is one memory.
    const int pad = provider.planes || plane == 0
                        ? provider.pad
                        : provider.pad * provider.format->plane[plane].bytes / provider.format->plane[plane].across;
    return row_bytes(plane) + pad;
}

static int plane_bytes(int plane)
{
    return stride(plane) * rows(plane);
}

static uint8_t sample(int plane, int x, int y)
{
    return (uint8_t)(x * 3 + y * 5 + plane * 40 + (x * y >> 3));
}

static void draw(uint8_t *at, int plane, int row_stride)
{
    for (int y = 0; y < rows(plane); y++) {
        memset(at + (size_t)y * (size_t)row_stride, 0xcc, (size_t)row_stride);
        for (int x = 0; x < row_bytes(plane); x++)
            at[(size_t)y * (size_t)row_stride + (size_t)x] = sample(plane, x, y);
    }
}

static void dump(const char *path)
{
    FILE *file = fopen(path, "wb");
    for (int p = 0; p < provider.format->planes; p++)
        for (int y = 0; y < rows(p); y++)
            for (int x = 0; x < row_bytes(p); x++)
                fputc(sample(p, x, y), file);
    fclose(file);
}

static int64_t now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * (int64_t)1000000000 + at.tv_nsec;
}

static void fill(struct spa_buffer *buffer)
{
    size_t used = 0;
    for (int p = 0; p < provider.format->planes; p++) {
        struct spa_data *data = &buffer->datas[provider.planes ? p : 0];
        uint8_t *at = (uint8_t *)data->data + provider.start;
        if (provider.planes)
            used = 0;
        if (provider.jpeg)
            memcpy(at, provider.jpeg, used = provider.jpeg_bytes);
        else if (provider.sent < (uint64_t)provider.buffers * 2 || !provider.stamp)
            draw(at + used, p, stride(p));
        if (!provider.jpeg)
            used += (size_t)plane_bytes(p);
        data->chunk->offset = (uint32_t)provider.start;
        data->chunk->size = (uint32_t)used - provider.cut;
        data->chunk->stride = provider.no_stride || provider.jpeg ? 0 : stride(provider.planes ? p : 0);
        data->chunk->flags = 0;
    }
    if (provider.stamp)
        memcpy((uint8_t *)buffer->datas[0].data + provider.start, &(int64_t){now()}, sizeof(int64_t));
    struct spa_meta_header *header = spa_buffer_find_meta_data(buffer, SPA_META_Header, sizeof(*header));
    if (header) {
        header->pts =
            provider.wild ? (int64_t)(provider.sent % 3 == 0 ? -1 : (1LL << 61) - (int64_t)provider.sent) : now();
        header->seq = provider.wild ? 32557 - provider.sent * 7 : provider.sent;
        header->flags = 0;
    }
    provider.sent++;
}

static void on_timer(void *context, uint64_t expirations)
{
    if (pw_stream_get_state(provider.stream, NULL) != PW_STREAM_STATE_STREAMING)
        return;
    struct pw_buffer *buffer = pw_stream_dequeue_buffer(provider.stream);
    if (!buffer)
        return;
    fill(buffer->buffer);
    pw_stream_queue_buffer(provider.stream, buffer);
    pw_stream_trigger_process(provider.stream);
}

static size_t memory_bytes(void)
{
    size_t size = provider.jpeg_bytes + (size_t)provider.start;
    for (int p = 0; p < provider.format->planes && !provider.jpeg; p++)
        size += (size_t)plane_bytes(p);
    return size;
}

static void on_param(void *context, uint32_t id, const struct spa_pod *param)
{
    uint8_t bytes[PARAMETERS];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(bytes, sizeof(bytes));
    const struct spa_pod *params[2];
    if (id != SPA_PARAM_Format || !param)
        return;
    params[0] = spa_pod_builder_add_object(
        &b, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(provider.buffers, 2, provider.buffers), SPA_PARAM_BUFFERS_blocks,
        SPA_POD_Int(provider.planes ? provider.format->planes : 1), SPA_PARAM_BUFFERS_size,
        SPA_POD_Int((int)memory_bytes()), SPA_PARAM_BUFFERS_stride, SPA_POD_Int(stride(0)), SPA_PARAM_BUFFERS_dataType,
        SPA_POD_CHOICE_FLAGS_Int(1 << (provider.dma ? SPA_DATA_DmaBuf : SPA_DATA_MemFd)));
    params[1] = spa_pod_builder_add_object(&b, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type,
                                           SPA_POD_Id(SPA_META_Header), SPA_PARAM_META_size,
                                           SPA_POD_Int(sizeof(struct spa_meta_header)));
    pw_stream_update_params(provider.stream, params, 2);
}

static void on_buffer(void *context, struct pw_buffer *buffer)
{
    static int driver = -1;
    if (provider.dma && driver < 0)
        driver = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    for (uint32_t i = 0; i < buffer->buffer->n_datas && provider.dma; i++) {
        struct spa_data *data = &buffer->buffer->datas[i];
        const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (memory_bytes() + page - 1) / page * page;
        const int file = memfd_create("pixels", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (ftruncate(file, (off_t)size) != 0 || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
            exit(1);
        struct udmabuf_create create = {.memfd = (uint32_t)file, .flags = UDMABUF_FLAGS_CLOEXEC, .size = size};
        data->fd = driver < 0 ? dup(file) : ioctl(driver, UDMABUF_CREATE, &create);
        data->data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (data->fd < 0 || data->data == MAP_FAILED)
            exit(1);
        data->type = SPA_DATA_DmaBuf;
        data->flags = SPA_DATA_FLAG_READWRITE;
        data->mapoffset = 0;
        data->maxsize = (uint32_t)size;
        close(file);
    }
}

static const struct pw_stream_events events = {
    .version = PW_VERSION_STREAM_EVENTS, .param_changed = on_param, .add_buffer = on_buffer};

static void read_jpeg(const char *path)
{
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    provider.jpeg_bytes = (size_t)ftell(file);
    provider.jpeg = malloc(provider.jpeg_bytes);
    rewind(file);
    if (fread(provider.jpeg, 1, provider.jpeg_bytes, file) != provider.jpeg_bytes)
        exit(1);
    fclose(file);
}

static void read_arguments(int argc, char **argv)
{
    if (argc < 5 || sscanf(argv[3], "%dx%d", &provider.width, &provider.height) != 2)
        exit(2);
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (strcmp(formats[i].name, argv[2]) == 0)
            provider.format = &formats[i];
    provider.rate = atoi(argv[4]);
    for (int i = 5; i < argc; i++) {
        const char *value = strchr(argv[i], '=') ? strchr(argv[i], '=') + 1 : "";
        provider.planes |= strcmp(argv[i], "planes") == 0;
        provider.no_stride |= strcmp(argv[i], "no-stride") == 0;
        provider.wild |= strcmp(argv[i], "wild") == 0;
        provider.cut |= strcmp(argv[i], "short") == 0;
        provider.stamp |= strcmp(argv[i], "stamp") == 0;
        provider.dma |= strcmp(argv[i], "dma") == 0;
        if (strncmp(argv[i], "pad=", 4) == 0)
            provider.pad = atoi(value);
        if (strncmp(argv[i], "start=", 6) == 0)
            provider.start = atoi(value);
        if (strncmp(argv[i], "buffers=", 8) == 0)
            provider.buffers = atoi(value);
        if (strncmp(argv[i], "jpeg=", 5) == 0)
            read_jpeg(value);
        if (strncmp(argv[i], "dump=", 5) == 0)
            dump(value);
    }
}

int main(int argc, char **argv)
{
    uint8_t bytes[PARAMETERS];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(bytes, sizeof(bytes));
    struct spa_pod_frame frame;
    read_arguments(argc, argv);
    pw_init(NULL, NULL);
    provider.loop = pw_main_loop_new(NULL);
    struct pw_loop *loop = pw_main_loop_get_loop(provider.loop);
    provider.stream =
        pw_stream_new_simple(loop, argv[1],
                             pw_properties_new(PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE, "Camera",
                                               PW_KEY_NODE_NAME, argv[1], PW_KEY_NODE_DESCRIPTION, "Provider", NULL),
                             &events, NULL);
    const struct spa_rectangle size = SPA_RECTANGLE((uint32_t)provider.width, (uint32_t)provider.height);
    const struct spa_fraction rate = SPA_FRACTION((uint32_t)provider.rate, 1);
    spa_pod_builder_push_object(&b, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(&b, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
                        SPA_POD_Id(provider.jpeg ? SPA_MEDIA_SUBTYPE_mjpg : SPA_MEDIA_SUBTYPE_raw), 0);
    if (!provider.jpeg)
        spa_pod_builder_add(&b, SPA_FORMAT_VIDEO_format, SPA_POD_Id(provider.format->spa), 0);
    spa_pod_builder_add(&b, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size), SPA_FORMAT_VIDEO_framerate,
                        SPA_POD_Fraction(&rate), 0);
    const struct spa_pod *param = spa_pod_builder_pop(&b, &frame);
    if (pw_stream_connect(provider.stream, PW_DIRECTION_OUTPUT, PW_ID_ANY,
                          PW_STREAM_FLAG_DRIVER |
                              (provider.dma ? PW_STREAM_FLAG_ALLOC_BUFFERS : PW_STREAM_FLAG_MAP_BUFFERS),
                          &param, 1) < 0)
        return 1;
    struct timespec period = {provider.rate == 1, provider.rate > 1 ? 1000000000 / provider.rate : 0};
    pw_loop_update_timer(loop, pw_loop_add_timer(loop, on_timer, NULL), &period, &period, false);
    pw_main_loop_run(provider.loop);
    return 0;
}
