// pipewire_reader.c: reads a camera of PipeWire, and keeps buffers like a program that hangs
//
// reader SERIAL KEEP FRAMES    keeps the first KEEP buffers; prints "held" when it has them, and the seconds from its
//                              start to the last of FRAMES more frames; never ends while it waits for them
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <pipewire/pipewire.h>
#include <spa/param/video/format-utils.h>

static struct {
    struct pw_main_loop *loop;
    struct pw_stream *stream;
    int keep, frames, seen;
    double begun;
} reader;

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void process(void *context)
{
    struct pw_buffer *buffer;
    while ((buffer = pw_stream_dequeue_buffer(reader.stream))) {
        if (reader.keep > 0) {
            if (--reader.keep == 0 && puts("held") >= 0)
                fflush(stdout);
            continue;
        }
        pw_stream_queue_buffer(reader.stream, buffer);
        if (++reader.seen == reader.frames) {
            printf("%.3f\n", now() - reader.begun);
            pw_main_loop_quit(reader.loop);
        }
    }
}

static const struct pw_stream_events events = {.version = PW_VERSION_STREAM_EVENTS, .process = process};

int main(int argc, char **argv)
{
    uint8_t bytes[1024];
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(bytes, sizeof(bytes));
    if (argc != 4)
        return 2;
    reader.begun = now();
    reader.keep = atoi(argv[2]);
    reader.frames = atoi(argv[3]);
    pw_init(NULL, NULL);
    reader.loop = pw_main_loop_new(NULL);
    reader.stream =
        pw_stream_new_simple(pw_main_loop_get_loop(reader.loop), "reader",
                             pw_properties_new(PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture",
                                               PW_KEY_MEDIA_ROLE, "Camera", PW_KEY_TARGET_OBJECT, argv[1], NULL),
                             &events, NULL);
    const struct spa_pod *param = spa_pod_builder_add_object(
        &b, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
        SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw));
    if (pw_stream_connect(reader.stream, PW_DIRECTION_INPUT, PW_ID_ANY,
                          PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS, &param, 1) < 0)
        return 1;
    pw_main_loop_run(reader.loop);
    return 0;
}
