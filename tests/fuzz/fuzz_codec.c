// fuzz_codec.c: image files of every format: valid, truncated and hostile ones; also a libFuzzer target
#include "base/log.h"
#include "check.h"
#include "codec_files.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The output format: JPEG for the pixel formats of JPEG files, sometimes TIFF if the build has it, otherwise PNG.
static enum codec_format format_for(const struct codec_head *head, size_t size)
{
    enum codec_format tiff;
    if (head->shape.format == PIXFMT_RGBA && size % 2 && codec_from_name("tiff", &tiff))
        return tiff;
    return head->shape.format == head->jpeg ? CODEC_JPEG : CODEC_PNG;
}

// Reads a file. If that succeeds, writes it again with its metadata; the result must be readable.
static void try_file(const uint8_t *data, size_t size)
{
    enum { PIXELS_MAX = 1 << 18 }; // a large size in the header of a small file costs time and finds no fault
    struct codec_head head, again;
    struct codec_error error;
    struct image image = {0};
    struct codec_buffer file = {0};
    struct codec *codec = codec_open();
    if (size % 2)
        codec_to_srgb(codec);
    if (codec && codec_head(codec, data, size, PIXELS_MAX, &head, &error) && image_reserve(&image, &head.shape) &&
        codec_decode(codec, data, size, &head, &image, &error)) {
        const struct codec_settings settings = {
            .format = format_for(&head, size),
            .quality = head.quality,
            .compression = (int)(size % 3),
            .opaque = !head.alpha,
            .orientation = (int)(size % 9),
            .turned = size % 4 == 1,
            .metadata = head.metadata,
        };
        if (!codec_encode(codec, &image, &settings, &file, &error) ||
            !codec_head(codec, file.data, file.size, 0, &again, &error) || again.shape.width != head.shape.width)
            abort();
    }
    codec_buffer_free(&file);
    image_free(&image);
    codec_close(codec);
}

// Corrects the checksums of a changed PNG, which would otherwise refuse nearly every change.
static void repair(uint8_t *data, size_t size)
{
    struct codec_buffer chunk = {0};
    for (size_t at = 8; size > 8 && data[0] == 0x89 && at + 12 <= size;) {
        const size_t length =
            (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 | (size_t)data[at + 2] << 8 | data[at + 3];
        if (length > size - at - 12)
            break;
        chunk.size = 0;
        png_add(&chunk, (const char *)data + at + 4, data + at + 8, length);
        memcpy(data + at + 8 + length, chunk.data + 8 + length, 4);
        at += length + 12;
    }
    codec_buffer_free(&chunk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_file(data, size);
    if (size < 8 || data[0] != 0x89)
        return 0;
    uint8_t *repaired = malloc(size); // an exact block, so that the sanitizer reports reads beyond it
    memcpy(repaired, data, size);
    repair(repaired, size);
    try_file(repaired, size);
    free(repaired);
    return 0;
}

#ifndef FUZZER
enum { ROOM = 1 << 15, SEEDS_MAX = 64 };

struct seeds {
    struct codec_buffer file[SEEDS_MAX];
    int count;
};

// With metadata of every kind.
static void add_metadata(struct codec *codec, struct codec_buffer *file)
{
    // An orientation, a maker and EXIF's own directory, at 100; then a thumbnail's, at 50.
    static const uint8_t exif[] =
        "II*\0\x08\0\0\0\x03\0\x0f\x01\x02\0\x06\0\0\0\x5e\0\0\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"
        "\x69\x87\x04\0\x01\0\0\0\x64\0\0\0\x32\0\0\0\x02\0\x01\x02\x04\0\x01\0\0\0\x50\0\0\0"
        "\x02\x02\x04\0\x01\0\0\0\x0e\0\0\0\0\0\0\0......thumb...maker\0\x02\0\0\x90\x07\0\x04\0\0\0"
        "0232\x9a\x82\x05\0\x01\0\0\0\x50\0\0\0\0\0\0";
    static const uint8_t some[] = "a profile of a few bytes";
    static const char xmp[] = "<d xmlns:t='http://ns.adobe.com/tiff/1.0/' t:Orientation='6'><t:ImageWidth><r> 9 </r>"
                              "</t:ImageWidth><t:XResolution>72</t:XResolution></d>"
                              "<d xmlns:c='http://ns.google.com/photos/1.0/camera/' c:MotionPhoto='1'/>";
    struct codec_head head;
    struct codec_error error;
    struct image image = {0};
    if (!codec_head(codec, file->data, file->size, 0, &head, &error) || !image_reserve(&image, &head.shape) ||
        !codec_decode(codec, file->data, file->size, &head, &image, &error))
        abort();
    const struct codec_settings settings = {.format = head.format,
                                            .metadata = {.icc = {some, sizeof(some)},
                                                         .exif = {exif, sizeof(exif)},
                                                         .xmp = {(const uint8_t *)xmp, sizeof(xmp) - 1}}};
    if (!codec_encode(codec, &image, &settings, file, &error))
        abort();
    image_free(&image);
}

// WebP and TIFF, if the build has them.
static void add_written(struct seeds *seeds, struct codec *codec)
{
    static const char *const names[] = {"webp", "tiff"};
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = 20, .height = 9};
    struct image image = {0};
    struct codec_error error;
    if (!image_reserve(&image, &shape))
        abort();
    memset(image.memory, 77, image.memory_bytes);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct codec_settings settings = {0};
        if (!codec_from_name(names[i], &settings.format))
            continue;
        if (!codec_encode(codec, &image, &settings, &seeds->file[seeds->count], &error))
            abort();
        add_metadata(codec, &seeds->file[seeds->count++]);
    }
    image_free(&image);
}

static void make_seeds(struct seeds *seeds)
{
    static const struct jpeg_wish jpegs[] = {{0},
                                             {.across = 2, .down = 1, .restarts = true},
                                             {.across = 1, .down = 1},
                                             {.grey = true},
                                             {.across = 1, .down = 2},
                                             {.progressive = true},
                                             {.arithmetic = true},
                                             {.cmyk = true}};
    static const struct png_wish pngs[] = {{0, 1, 0, 0, 1}, {0, 4, 1, 0, 2}, {2, 8, 0, 1, 1},
                                           {2, 8, 0, 0, 3}, {3, 8, 0, 1, 1}, {3, 2, 1, 0, 1},
                                           {4, 8, 0, 0, 1}, {6, 8, 1, 0, 1}, {2, 16, 0, 1, 1}};
    struct random random = {3};
    struct codec *codec = codec_open();
    for (size_t i = 0; i < sizeof(jpegs) / sizeof(*jpegs); i++)
        jpeg_make(&seeds->file[seeds->count++], 33 + (int)i, 20, &jpegs[i]);
    for (size_t i = 0; i < sizeof(pngs) / sizeof(*pngs); i++)
        png_make(&seeds->file[seeds->count++], 20, 9 + (int)i, &pngs[i], &random);
    jpeg_make(&seeds->file[seeds->count], 20, 9, &jpegs[0]);
    add_metadata(codec, &seeds->file[seeds->count++]);
    png_make(&seeds->file[seeds->count], 20, 9, &pngs[3], &random);
    add_metadata(codec, &seeds->file[seeds->count++]);
    add_written(seeds, codec);
    codec_close(codec);
}

static void read_seed(struct seeds *seeds, const char *path)
{
    struct codec_buffer *file = &seeds->file[seeds->count];
    FILE *stream = fopen(path, "rb");
    if (!stream || seeds->count == SEEDS_MAX || !(file->data = malloc(ROOM))) {
        perror(path);
        exit(1);
    }
    file->size = fread(file->data, 1, ROOM, stream);
    seeds->count++;
    fclose(stream);
}

// Changes bytes, also of the head, removes a part, or truncates the file.
static size_t mutate(uint8_t *data, size_t size, struct random *random)
{
    for (int n = random_range(random, 1, 6); n > 0 && size > 8; n--) {
        const size_t at = random_bits(random) % size, length = 1 + random_bits(random) % 16;
        if (random_bits(random) % 4 != 0) {
            data[at] = (uint8_t)random_bits(random);
        } else if (random_bits(random) % 4 != 0) {
            if (at + length < size) {
                memmove(data + at, data + at + length, size - at - length);
                size -= length;
            }
        } else {
            size = at;
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    enum { ROUNDS = FUZZ_ROUNDS };
    static struct check check = {.name = "codec files"};
    static struct seeds seeds;
    struct random random = {1};
    make_seeds(&seeds);
    for (int i = 1; i < argc; i++)
        read_seed(&seeds, argv[i]);
    for (int i = 0; i < seeds.count; i++)
        LLVMFuzzerTestOneInput(seeds.file[i].data, seeds.file[i].size);
    for (long i = 0; i < ROUNDS; i++) {
        const struct codec_buffer *seed = &seeds.file[random_bits(&random) % (uint32_t)seeds.count];
        uint8_t *data = malloc(seed->size); // an exact block, so that the sanitizer reports reads beyond it
        memcpy(data, seed->data, seed->size);
        const size_t size = mutate(data, seed->size, &random);
        uint8_t *exact = malloc(size ? size : 1);
        memcpy(exact, data, size);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
        free(data);
    }
    for (int i = 0; i < seeds.count; i++)
        codec_buffer_free(&seeds.file[i]);
    printf("%d files tried\n", ROUNDS);
    check_that(&check, true, "none of them brought it down");
    return check_end(&check);
}
#endif
