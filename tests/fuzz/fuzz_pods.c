// fuzz_pods.c: hostile descriptions of a PipeWire node's formats; a libFuzzer target, and by itself a run over
// mutations
#include "source/pipewire_nodes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 8 }; // of a pod: the size of its body, and its type

static void check_offer(const struct camera_offer *offer)
{
    if (!memchr(offer->format, 0, sizeof(offer->format)) || offer->width < 0 || offer->width > IMAGE_MAX_SIDE ||
        offer->height < 0 || offer->height > IMAGE_MAX_SIDE || offer->rates < 0 || offer->rates > CAMERA_RATES)
        abort();
    for (int i = 0; i < offer->rates; i++)
        if (!(offer->rate[i] > 0 && offer->rate[i] <= PIPEWIRE_RATE_MOST))
            abort();
}

// libpipewire passes only pods whose size fits the message, so the size of the object is right.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct source_setup setup = {.width = 64, .height = 48};
    struct camera_offers offers = {.count = 0};
    struct pipewire_mode mode = {.found = false};
    const char *why;
    if (size < HEAD)
        return 0;
    uint8_t *pod = malloc(size); // exact size, so that a sanitizer reports reads beyond it
    const uint32_t body = (uint32_t)(size - HEAD);
    if (!pod)
        return 0;
    memcpy(pod, data, size);
    memcpy(pod, &body, sizeof(body));
    pipewire_nodes_read((const struct spa_pod *)pod, &setup, &offers, &mode);
    for (int i = 0; i < offers.count; i++)
        check_offer(&offers.offer[i]);
    if (mode.found && !pixfmt_size_ok(mode.is.format, mode.is.width, mode.is.height, &why))
        abort();
    free(pod);
    return 0;
}

#ifndef FUZZER
#include <stdio.h>

#include <spa/param/video/format-utils.h>

static size_t make_seed(int which, uint8_t *bytes, uint32_t room)
{
    struct spa_pod_builder b = SPA_POD_BUILDER_INIT(bytes, room);
    struct spa_pod_frame object;
    const struct spa_rectangle size[] = {{640, 480}, {1, 1}, {4096, 4096}};
    const struct spa_fraction rate[] = {{30, 1}, {1, 1}, {60, 1}};
    spa_pod_builder_push_object(&b, &object, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(&b, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
                        SPA_POD_Id(which == 3 ? SPA_MEDIA_SUBTYPE_mjpg : SPA_MEDIA_SUBTYPE_raw), 0);
    if (which == 0)
        spa_pod_builder_add(&b, SPA_FORMAT_VIDEO_format, SPA_POD_Id(SPA_VIDEO_FORMAT_NV12), SPA_FORMAT_VIDEO_size,
                            SPA_POD_Rectangle(&size[0]), SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&rate[0]), 0);
    else if (which == 1)
        spa_pod_builder_add(&b, SPA_FORMAT_VIDEO_format,
                            SPA_POD_CHOICE_ENUM_Id(4, SPA_VIDEO_FORMAT_YUY2, SPA_VIDEO_FORMAT_YUY2,
                                                   SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_P010_10LE),
                            SPA_FORMAT_VIDEO_size, SPA_POD_CHOICE_RANGE_Rectangle(&size[0], &size[1], &size[2]),
                            SPA_FORMAT_VIDEO_framerate, SPA_POD_CHOICE_RANGE_Fraction(&rate[0], &rate[1], &rate[2]), 0);
    else
        spa_pod_builder_add(&b, SPA_FORMAT_VIDEO_format, SPA_POD_Id(SPA_VIDEO_FORMAT_RGB), SPA_FORMAT_VIDEO_size,
                            SPA_POD_CHOICE_ENUM_Rectangle(3, &size[0], &size[0], &size[2]), SPA_FORMAT_VIDEO_framerate,
                            SPA_POD_CHOICE_ENUM_Fraction(3, &rate[0], &rate[0], &rate[2]), 0);
    const struct spa_pod *pod = spa_pod_builder_pop(&b, &object);
    return SPA_POD_SIZE(pod);
}

// Tries the seeds, and mutations that change a few 32-bit numbers or cut the end.
int main(void)
{
    enum { SEEDS = 4, ROOM = 1024, ROUNDS = 200000 };
    static const uint32_t numbers[] = {0, 1, 3, 4, 7, 8, 16, 24, 1280, 0x7fffffff, 0x80000000, 0xffffffff};
    enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };
    _Alignas(8) uint8_t seed[SEEDS][ROOM], data[ROOM];
    size_t size[SEEDS];
    srand(1);
    for (int i = 0; i < SEEDS; i++) {
        size[i] = make_seed(i, seed[i], ROOM);
        LLVMFuzzerTestOneInput(seed[i], size[i]);
    }
    for (long i = 0; i < ROUNDS; i++) {
        const int which = rand() % SEEDS;
        memcpy(data, seed[which], size[which]);
        for (int n = 1 + rand() % 4; n > 0; n--) {
            const uint32_t number = rand() % 4 ? numbers[rand() % NUMBERS] : (uint32_t)rand() % 100;
            memcpy(data + (size_t)rand() % (size[which] / 4) * 4, &number, sizeof(number));
        }
        LLVMFuzzerTestOneInput(data, rand() % 4 ? size[which] : HEAD + (size_t)rand() % (size[which] - HEAD));
    }
    printf("%d pods tried\n", ROUNDS);
    return 0;
}
#endif
