// test_held.c: what a path was sized for is what it runs, although a filter's file changes before each reading
//
// This program replaces stat, which is the begin of each reading of a file: every call first puts the other version of
// the file in place, with another size.
#include "compute/device.h"
#include "compute/gl_context.h"
#include "filter/user_filter.h"
#include "path/path.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 40, HEIGHT = 30, ROUNDS = 2 };

static struct {
    const char *name; // of the file that changes; NULL: none
    int version;
} changing;

static void put_version(const char *name, int version)
{
    char from[32];
    snprintf(from, sizeof(from), "%d-%s", version, name);
    CHECK(unlink(name) == 0 && link(from, name) == 0);
}

int stat(const char *restrict path, struct stat *restrict status)
{
    const char *name = changing.name ? strrchr(path, '/') : NULL;
    if (name && strcmp(name + 1, changing.name) == 0)
        put_version(changing.name, changing.version ^= 1);
    return fstatat(AT_FDCWD, path, status, 0);
}

static void write_file(const char *name, int version, const char *head, int bytes)
{
    char path[32];
    snprintf(path, sizeof(path), "%d-%s", version, name);
    FILE *file = fopen(path, "wb");
    CHECK(file && fputs(head, file) >= 0);
    for (int i = 0; file && i < bytes; i++)
        fputc((i * 7 + version * 31) % 29, file);
    CHECK(file && fclose(file) == 0);
}

// Makes two versions of each kind of file: places, an uncompressed picture (TGA), a table.
static void make_files(void)
{
    static const char solid[] = "LUT_3D_SIZE 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n.5 1 .5\n";
    static const int sizes[2][2] = {{64, 48}, {9, 6}};
    for (int i = 0; i < 2; i++) {
        char head[64];
        const int width = sizes[i][0], height = sizes[i][1];
        snprintf(head, sizeof(head), "P5 %d %d 255\n", width, height);
        write_file("map.pgm", i, head, width * height);
        write_file("table.cube", i, i ? solid : "LUT_1D_SIZE 2\n1 0 1\n0 1 0\n", 0);
        char path[32];
        snprintf(path, sizeof(path), "%d-picture.tga", i);
        FILE *file = fopen(path, "wb");
        const unsigned char tga[18] = {[2] = 2, [12] = (unsigned char)width, [14] = (unsigned char)height, [16] = 24};
        CHECK(file && fwrite(tga, sizeof(tga), 1, file) == 1);
        for (int k = 0; file && k < 3 * width * height; k++)
            fputc((k * 5 + 99 * i) & 255, file);
        CHECK(file && fclose(file) == 0);
    }
    CHECK(link("0-map.pgm", "map.pgm") == 0 && link("0-picture.tga", "picture.tga") == 0 &&
          link("0-table.cube", "table.cube") == 0 && mkdir("filters", 0755) == 0);
    FILE *file = fopen("filters/mix.cl", "w");
    CHECK(file &&
          fputs("//!SUMMARY a test\n//!KIND point\n//!PARAM image\n//!TYPE file\n"
                "INLINE pixel filter_mix(pixel p, pixel picture, int x, int y, arguments args)\n"
                "{\n    p.r = picture.g;\n    return p;\n}\n",
                file) >= 0 &&
          fclose(file) == 0 && user_filters_load("filters"));
}

static void fill_frame(struct image *frame)
{
    CHECK(image_alloc(frame, &(struct image_shape){.width = WIDTH, .height = HEIGHT}));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < 4 * WIDTH; x++)
            image_row(frame, 0, y)[x] = (uint8_t)(13 * x + 7 * y);
}

// Runs a frame. The caller frees the result. False: the path is refused.
static bool run(struct path *path, const struct image *frame, struct image *got)
{
    struct path_result result;
    if (!CHECK(path && path_submit(path, frame, 0) && path_collect(path, &result)))
        return false;
    return CHECK(image_alloc(got, &(struct image_shape){.width = result.width, .height = result.height}) &&
                 path_read(path, &result, got));
}

static bool same(const struct image *a, const struct image *b)
{
    bool same = a->shape.width == b->shape.width && a->shape.height == b->shape.height;
    for (int y = 0; same && y < a->shape.height; y++)
        same = memcmp(image_row(a, 0, y), image_row(b, 0, y), 4 * (size_t)a->shape.width) == 0;
    return same;
}

struct setting {
    enum path_kind kind;
    struct device *device;
    struct gl_context *gl;
};

// Returns the result that a path makes of one version alone.
static void expect(const char *text, const char *name, int version, const struct image *frame, struct image *got)
{
    char error[CHAIN_ERROR] = "";
    struct chain chain;
    put_version(name, version);
    CHECK(chain_parse(&chain, text, error));
    CHECK_TEXT(error, "");
    struct path *path = path_open(&(struct path_setup){.kind = PATH_CPU, .input = frame->shape, .chain = &chain}, NULL);
    run(path, frame, got);
    path_close(path);
}

// Opens the path and builds the chain again and again, while the file changes. Each result is of one version.
static void check_chain(const struct setting *setting, const char *text, const char *name)
{
    char error[CHAIN_ERROR];
    struct chain chain;
    struct image frame = {0}, expected[2] = {{.memory = NULL}}, got = {0};
    fill_frame(&frame);
    for (int i = 0; i < 2; i++)
        expect(text, name, i, &frame, &expected[i]);
    CHECK(!same(&expected[0], &expected[1]));
    changing.name = name;
    for (int i = 0; i < ROUNDS; i++) {
        changing.version ^= i & 1; // any phase
        if (!CHECK(chain_parse(&chain, text, error)))
            break;
        struct path *path = path_open(&(struct path_setup){.kind = setting->kind,
                                                           .device = setting->device,
                                                           .gl = setting->gl,
                                                           .input = frame.shape,
                                                           .chain = &chain},
                                      NULL);
        for (int k = 0; k < ROUNDS && run(path, &frame, &got); k++) {
            CHECK(same(&got, &expected[0]) || same(&got, &expected[1]));
            image_free(&got);
            char *why = NULL;
            if (path_prepare(path, &chain, &why)) // the other version may have another size
                path_swap(path);
            free(why);
        }
        path_close(path);
    }
    changing.name = NULL;
    image_free(&frame);
    image_free(&expected[0]);
    image_free(&expected[1]);
}

int main(void)
{
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"remap=map.pgm", "map.pgm"},           {"gray,remap=map.pgm,blur=2", "map.pgm"},
        {"overlay=picture.tga", "picture.tga"}, {"blend=picture.tga:fit=tile", "picture.tga"},
        {"mask=picture.tga", "picture.tga"},    {"blur=3,within=picture.tga", "picture.tga"},
        {"lut=table.cube", "table.cube"},       {"mix=picture.tga", "picture.tga"},
    };
    struct device_info devices[DEVICE_MAX];
    const char *why = NULL;
    char text[256];
    make_files();
    struct gl_context *gl = gl_context_open(false, text);
    struct device *device = device_list(devices, &why) > 0 ? device_open(&devices[0], NULL, NULL) : NULL;
    const struct setting settings[] = {
        {.kind = PATH_CPU}, {.kind = PATH_OPENCL, .device = device}, {.kind = PATH_GL, .gl = gl}};
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
        if ((settings[i].kind == PATH_OPENCL && !device) || (settings[i].kind == PATH_GL && !gl))
            continue;
        if (settings[i].kind == PATH_GL && !CHECK(gl_context_bind(gl, false)))
            continue;
        for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k += settings[i].kind == PATH_CPU ? 1 : 2)
            check_chain(&settings[i], cases[k].text, cases[k].name);
        if (settings[i].kind == PATH_GL)
            gl_context_unbind(gl, false);
    }
    gl_context_close(gl);
    device_close(device);
    return check_end(&unit);
}
