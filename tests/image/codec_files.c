// codec_files.c: image files of kinds that monocle reads but does not write
#include "codec_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jpeglib.h>

uint8_t *fenced(const void *data, size_t size)
{
    static uint8_t *map;
    static size_t mapped;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    if (map)
        munmap(map, mapped);
    mapped = room + page;
    map = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED || mprotect(map + room, page, PROT_NONE) != 0)
        abort();
    memcpy(map + room - size, data, size);
    return map + room - size;
}

static void add(struct codec_buffer *file, const void *data, size_t size)
{
    file->data = realloc(file->data, file->size + size + 1);
    if (!file->data)
        abort();
    memcpy(file->data + file->size, data, size);
    file->size += size;
    file->room = file->size + 1;
}

int jpeg_model(int plane, int x, int y, int width, int height)
{
    return plane == 0 ? 30 + 190 * x / width : plane == 1 ? 60 + 120 * y / height : 200 - 120 * x / width;
}

static uint8_t clamp(double value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value + 0.5);
}

static void model_row(uint8_t *row, int y, int width, int height, int channels)
{
    for (int x = 0; x < width; x++) {
        const double l = jpeg_model(0, x, y, width, height), u = jpeg_model(1, x, y, width, height) - 128;
        const double v = jpeg_model(2, x, y, width, height) - 128;
        const double values[] = {l + 1.402 * v, l - 0.344136 * u - 0.714136 * v, l + 1.772 * u, 255};
        for (int c = 0; c < channels; c++)
            row[x * channels + c] = channels == 1 ? (uint8_t)l : clamp(values[c]);
    }
}

// The DC coefficient, then every AC coefficient by itself, bit after bit (ITU-T T.81, annex G).
static void make_scans(jpeg_scan_info scans[JPEG_SCANS_MOST], int count)
{
    enum { HIGHEST = 10 }; // bit that libjpeg begins with at most
    scans[0] = (jpeg_scan_info){.comps_in_scan = 1};
    for (int i = 1; i < count; i++) {
        const int coefficient = 1 + (i - 1) / (HIGHEST + 1), bit = HIGHEST - (i - 1) % (HIGHEST + 1);
        scans[i] = (jpeg_scan_info){
            .comps_in_scan = 1, .Ss = coefficient, .Se = coefficient, .Ah = bit == HIGHEST ? 0 : bit + 1, .Al = bit};
    }
}

void jpeg_make(struct codec_buffer *file, int width, int height, const struct jpeg_wish *wish)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    jpeg_scan_info scans[JPEG_SCANS_MOST];
    unsigned char *data = NULL;
    unsigned long size = 0;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &data, &size);
    info.image_width = (JDIMENSION)width;
    info.image_height = (JDIMENSION)height;
    info.input_components = wish->grey ? 1 : wish->cmyk ? 4 : 3;
    info.in_color_space = wish->grey ? JCS_GRAYSCALE : wish->cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, wish->old_quality ? 50 : 95, TRUE);
    if (wish->rgb)
        jpeg_set_colorspace(&info, JCS_RGB);
    if (!wish->grey && !wish->rgb && !wish->cmyk) {
        info.comp_info[0].h_samp_factor = wish->across ? wish->across : 2;
        info.comp_info[0].v_samp_factor = wish->down ? wish->down : 2;
    }
    if (wish->progressive)
        jpeg_simple_progression(&info);
    make_scans(scans, wish->scans);
    if (wish->scans) {
        info.scan_info = scans;
        info.num_scans = wish->scans;
    }
    for (int i = 0; i < 3 && wish->apart; i++)
        scans[i] = (jpeg_scan_info){.comps_in_scan = 1, .component_index = {i}, .Se = DCTSIZE2 - 1};
    if (wish->apart) {
        info.scan_info = scans;
        info.num_scans = 3;
    }
    info.arith_code = wish->arithmetic;
    info.restart_interval = wish->restarts ? 2 : 0;
    jpeg_start_compress(&info, TRUE);
    uint8_t *row = malloc((size_t)(width * 4));
    while (row && info.next_scanline < info.image_height) {
        model_row(row, (int)info.next_scanline, width, height, info.input_components);
        if (wish->flat)
            memset(row, 128, (size_t)width);
        JSAMPROW rows[] = {row};
        jpeg_write_scanlines(&info, rows, 1);
    }
    free(row);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    file->size = 0;
    add(file, data, size);
    free(data);
}

static void put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

// PNG specification, annex D, a bit at a time.
static uint32_t crc(const uint8_t *data, size_t size)
{
    uint32_t sum = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        sum ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    return ~sum;
}

void png_add(struct codec_buffer *file, const char *type, const void *data, size_t size)
{
    const size_t start = file->size;
    uint8_t number[4];
    put_u32(number, (uint32_t)size);
    add(file, number, 4);
    add(file, type, 4);
    add(file, data, size);
    put_u32(number, crc(file->data + start + 4, size + 4));
    add(file, number, 4);
}

// Rows of random bytes, each after the number of a random filter.
static void add_rows(struct codec_buffer *plain, int width, int height, int bits, struct random *random)
{
    const size_t bytes = ((size_t)width * (size_t)bits + 7) / 8;
    const int spread = random_range(random, 0, 1) ? 255 : 3;
    for (int y = 0; width > 0 && y < height; y++) {
        uint8_t *row = malloc(bytes + 1);
        row[0] = (uint8_t)random_range(random, 0, 4);
        for (size_t i = 1; i <= bytes; i++)
            row[i] = (uint8_t)(random_range(random, 0, spread) - spread / 3);
        add(plain, row, bytes + 1);
        free(row);
    }
}

// RFC 1950 and 1951: stored blocks.
static void store(struct codec_buffer *packed, const struct codec_buffer *plain)
{
    uint32_t low = 1, high = 0;
    add(packed, "\x78\x01", 2);
    for (size_t at = 0; at < plain->size;) {
        const size_t left = plain->size - at, size = left < 60000 ? left : 60000;
        const uint8_t head[] = {size == left, (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)~size,
                                (uint8_t)(~size >> 8)};
        add(packed, head, sizeof(head));
        add(packed, plain->data + at, size);
        at += size;
    }
    for (size_t i = 0; i < plain->size; i++) {
        low = (low + plain->data[i]) % 65521;
        high = (high + low) % 65521;
    }
    uint8_t sum[4];
    put_u32(sum, high << 16 | low);
    add(packed, sum, 4);
}

static void add_colours(struct codec_buffer *file, const struct png_wish *wish, struct random *random)
{
    uint8_t bytes[256 * 3];
    const int count = 1 << wish->depth;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)random_bits(random);
    if (wish->colour == 3)
        png_add(file, "PLTE", bytes, (size_t)count * 3);
    if (wish->transparent && wish->colour == 3)
        png_add(file, "tRNS", bytes + 100, (size_t)random_range(random, 1, count));
    const uint8_t key[] = {0, 1, 0, 1, 0, 1}; // 1 occurs seldom
    if (wish->transparent && wish->colour != 3)
        png_add(file, "tRNS", key, wish->colour == 2 ? 6 : 2);
}

void png_begin(struct codec_buffer *file, uint32_t width, uint32_t height, const struct png_wish *wish)
{
    uint8_t head[13] = {[8] = (uint8_t)wish->depth, [9] = (uint8_t)wish->colour, [12] = wish->interlaced};
    put_u32(head, width);
    put_u32(head + 4, height);
    file->size = 0;
    add(file, "\x89PNG\r\n\x1a\n", 8);
    png_add(file, "IHDR", head, sizeof(head));
}

void png_make(struct codec_buffer *file, int width, int height, const struct png_wish *wish, struct random *random)
{
    static const int adam7[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                    {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    static const int channels[] = {1, 0, 3, 1, 2, 0, 4};
    struct codec_buffer plain = {0}, packed = {0};
    const int bits = channels[wish->colour] * wish->depth;
    png_begin(file, (uint32_t)width, (uint32_t)height, wish);
    add_colours(file, wish, random);
    for (int i = 0; i < 7 && wish->interlaced; i++)
        add_rows(&plain, (width - adam7[i][0] + adam7[i][2] - 1) / adam7[i][2],
                 (height - adam7[i][1] + adam7[i][3] - 1) / adam7[i][3], bits, random);
    if (!wish->interlaced)
        add_rows(&plain, width, height, bits, random);
    store(&packed, &plain);
    for (int i = 0; i < wish->pieces; i++) {
        const size_t start = packed.size * (size_t)i / (size_t)wish->pieces;
        png_add(file, "IDAT", packed.data + start, packed.size * (size_t)(i + 1) / (size_t)wish->pieces - start);
    }
    png_add(file, "IEND", "", 0);
    codec_buffer_free(&plain);
    codec_buffer_free(&packed);
}
