// fuzz_profile.c: hostile ICC profiles, of a matrix, a table and a grey curve; also a libFuzzer target
#include "check.h"
#include "codec_files.h"
#include "image/codec/codec_kind.h"
#include "image/codec/profile.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Converts a few pixels of each kind.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { COUNT = 5 };
    static const struct {
        enum profile_pixels pixels;
        enum pixfmt format;
        bool deep;
    } kinds[] = {{PROFILE_RGB, PIXFMT_RGBA, false},
                 {PROFILE_RGB, PIXFMT_RGB24, true},
                 {PROFILE_INK, PIXFMT_RGBA, false},
                 {PROFILE_GREY, PIXFMT_GREY, false}};
    struct profile *profile = NULL;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        uint8_t *pixels = malloc(4 * COUNT);
        uint16_t deep[COUNT][4] = {{1, 500, 65535, 9}};
        memset(pixels, 99, 4 * COUNT);
        if (profile_prepare(&profile, (struct codec_bytes){data, size}, kinds[i].pixels, kinds[i].format,
                            kinds[i].deep) == PROFILE_CONVERTS) {
            if (kinds[i].deep)
                profile_convert_deep(profile, (const uint16_t(*)[4])deep, (uint8_t(*)[4])pixels, COUNT);
            else
                profile_convert(profile, pixels, COUNT);
        }
        free(pixels);
    }
    profile_close(profile);
    return 0;
}

#ifndef FUZZER
enum { SEEDS = 3 };

static void put_u32(struct codec_buffer *to, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
    codec_buffer_append(to, bytes, 4);
}

// Makes a profile with one tag from the head of another one.
static void make_seed(struct codec_buffer *to, struct codec_bytes like, const char *space, const char *tag,
                      const void *data, size_t size)
{
    enum { HEAD = 128, SPACE_AT = 16, VALUES_AT = HEAD + 16 };
    codec_buffer_append(to, like.data, HEAD);
    memcpy(to->data + SPACE_AT, space, 4);
    put_u32(to, 1);
    codec_buffer_append(to, tag, 4);
    put_u32(to, VALUES_AT);
    put_u32(to, (uint32_t)size);
    codec_buffer_append(to, data, size);
}

static void make_seeds(struct codec_buffer seeds[SEEDS])
{
    enum { TABLE = 48 + 6 * 256 + 8 * 3 };
    static uint8_t table[TABLE] = {'m', 'f', 't', '1', 0, 0, 0, 0, 3, 3, 2, 0, 0, 1};
    static const uint8_t curve[] = {'c', 'u', 'r', 'v', 0, 0, 0, 0, 0, 0, 0, 1, 2, 0};
    struct profile *profile = NULL;
    profile_prepare(&profile, (struct codec_bytes){curve, sizeof(curve)}, PROFILE_RGB, PIXFMT_RGBA, false);
    const struct codec_bytes srgb = profile_srgb(profile);
    for (int i = 0; i < 6 * 256 + 24; i++)
        table[48 + i] = (uint8_t)(i * 7);
    codec_buffer_append(&seeds[0], srgb.data, srgb.size);
    make_seed(&seeds[1], srgb, "RGB ", "A2B0", table, sizeof(table));
    make_seed(&seeds[2], srgb, "GRAY", "kTRC", curve, sizeof(curve));
    profile_close(profile);
}

int main(void)
{
    enum { ROUNDS = 1500 };
    static struct check check = {.name = "profiles"};
    struct codec_buffer seeds[SEEDS] = {{0}};
    struct random random = {5};
    struct profile *none = NULL;
    if (profile_prepare(&none, (struct codec_bytes){(const uint8_t *)"", 1}, PROFILE_RGB, PIXFMT_RGBA, false) ==
        PROFILE_UNKNOWN) {
        printf("skipped: this build has no lcms2\n");
        return 77;
    }
    profile_close(none);
    make_seeds(seeds);
    for (int i = 0; i < ROUNDS; i++) {
        const struct codec_buffer *seed = &seeds[i % SEEDS];
        const size_t size = i % 7 ? seed->size : random_bits(&random) % seed->size;
        uint8_t *data = malloc(size ? size : 1); // an exact block, so that the sanitizer reports reads beyond it
        memcpy(data, seed->data, size);
        for (int n = i < SEEDS ? 0 : random_range(&random, 1, 5); n > 0 && size > 0; n--) // mostly heads and tags
            data[random_bits(&random) % (n % 2 && size > 300 ? 300 : size)] = (uint8_t)random_bits(&random);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    for (int i = 0; i < SEEDS; i++)
        codec_buffer_free(&seeds[i]);
    check_that(&check, true, "none of them brought it down");
    return check_end(&check);
}
#endif
