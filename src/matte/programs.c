// programs.c: the built-in programs: mattes of people and of faces by networks of MediaPipe
#include "matte/matte.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "matte/network.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEGMENTATION "@mediapipe/selfie_segmentation@0.1.1675465747"
#define SEGMENTATION_HASH "7767b33eaa68990ee06c28bbb89f39a13a47ebb07ff0f1fd4947d9e817bb9bf9"

const struct matte_network matte_networks[] = {
    {"person", "people", SEGMENTATION, SEGMENTATION_HASH, "package/selfie_segmentation_landscape.tflite",
     "4aafe6223bb8dac6fac8ca8ed56852870a33051ef3f6238822d282a109962894", "Apache 2.0", "person.tflite"},
    {"person", "people in images narrower than 5:3", SEGMENTATION, SEGMENTATION_HASH,
     "package/selfie_segmentation.tflite", "8d13b7fae74af625c641226813616a2117bd6bca19eb3b75574621fc08557f27",
     "Apache 2.0", "person-narrow.tflite"},
    {"faces", "faces", "@mediapipe/face_detection@0.4.1657300184",
     "a118cde74923dc4435257fbfbb613464a0f58d115dff6314d4ff96c8aebf6419", "package/face_detection_short_range.tflite",
     "3bc182eb9f33925d9e58b5c8d59308a760f4adea8f282370e428c51212c26633", "Apache 2.0", "faces.tflite"},
    {0},
};

const struct matte_network *matte_network_find(const char *name)
{
    for (const struct matte_network *network = matte_networks; network->name; network++) {
        if (strcmp(network->name, name) == 0)
            return network;
    }
    return NULL;
}

const struct matte_network *matte_network_next(const struct matte_network *network)
{
    return network[1].name && strcmp(network[1].name, network->name) == 0 ? network + 1 : NULL;
}

bool matte_network_path(const struct matte_network *network, char path[PATH_MAX])
{
    char directory[PATH_MAX];
    const char *unsafe;
    const int fd = data_open(directory, false, &unsafe);
    if (fd >= 0)
        close(fd);
    return directory[0] && !unsafe && snprintf(path, PATH_MAX, "%s/mattes/%s", directory, network->file) < PATH_MAX;
}

bool matte_network_ready(const struct matte_network *network)
{
    char path[PATH_MAX];
    return matte_network_path(network, path) && access(path, R_OK) == 0;
}

// Sizes of frames. The networks of people have the first two, in the order of matte_networks; that of faces takes all.
static const struct matte_size wide = {256, 144}, square = {256, 256}, tall = {144, 256};

struct matte_size matte_size(const char *name, int width, int height)
{
    const struct matte_network *first = matte_network_find(name), *narrow = first ? matte_network_next(first) : NULL;
    if (narrow)
        return 3 * width < 5 * height && matte_network_ready(narrow) ? square : wide;
    if (!first || 20 * width >= 29 * height)
        return wide;
    return 20 * height < 29 * width ? square : tall;
}

// A size of pictures, and room for one.
struct picture {
    int width, height;
    uint8_t *rgb, *matte;
};

// The network of people sees the frame at its own size; 0 to 1 are the levels 0 to 255.
static bool fits_person(const struct network *network, const struct picture *picture)
{
    const struct network_tensor *input = network_input(network), *output = network_output(network, 0);
    return input->shape[1] == picture->height && input->shape[2] == picture->width && input->shape[3] == 3 &&
           output->count * 3 == input->count;
}

static void find_person(struct network *network, struct picture *picture)
{
    float *input = network_input(network)->data;
    const float *output = network_output(network, 0)->data;
    const int count = picture->width * picture->height;
    for (int i = 0; i < count * 3; i++)
        input[i] = (float)picture->rgb[i] * (1.0f / 255);
    network_run(network);
    for (int i = 0; i < count; i++)
        picture->matte[i] = (uint8_t)(fminf(fmaxf(output[i], 0), 1) * 255 + 0.5f);
}

// ---- faces ----

// The network of faces has FACES_SIDE x FACES_SIDE pixels of -1 to 1, in which the frame keeps its shape. It looks for
// a face around each place of two grids, several times.
enum { FACES_SIDE = 128, FACES_PLACES = 896, FACES_NUMBERS = 16 };

static bool fits_faces(const struct network *network, const struct picture *picture)
{
    const struct network_tensor *input = network_input(network), *boxes = network_output(network, 0),
                                *scores = network_output(network, 1);
    return input->count == FACES_SIDE * FACES_SIDE * 3 && boxes->count == FACES_PLACES * FACES_NUMBERS && scores &&
           scores->count == FACES_PLACES;
}

// Draws an ellipse around a face, which reaches beyond its box to hair and chin.
static void draw_face(struct picture *picture, float x, float y, float width, float height)
{
    const float rx = width * 0.75f, ry = height * 0.9f;
    y -= height * 0.1f;
    if (!(rx > 0 && ry > 0))
        return;
    for (int row = 0; row < picture->height; row++) {
        const float v = ((float)row + 0.5f - y) / ry, rest = 1 - v * v;
        if (!(rest >= 0))
            continue;
        const float half = rx * sqrtf(rest), w = (float)picture->width;
        const int left = (int)fminf(fmaxf(floorf(x - half), 0), w), right = (int)fminf(fmaxf(ceilf(x + half), 0), w);
        if (right > left)
            memset(picture->matte + (size_t)row * picture->width + left, 255, (size_t)(right - left));
    }
}

static void find_faces(struct network *network, struct picture *picture)
{
    static const struct {
        int side, boxes;
    } grids[] = {{16, 2}, {8, 6}};
    const int longest = picture->width > picture->height ? picture->width : picture->height;
    const int width = (picture->width * FACES_SIDE + longest / 2) / longest;
    const int height = (picture->height * FACES_SIDE + longest / 2) / longest;
    const int left = (FACES_SIDE - width) / 2, top = (FACES_SIDE - height) / 2;
    struct image frame;
    uint8_t small[FACES_SIDE * FACES_SIDE * 3];
    float *input = network_input(network)->data;
    image_wrap(&frame,
               &(struct image_shape){.format = PIXFMT_RGB24, .width = picture->width, .height = picture->height},
               picture->rgb);
    matte_shrink(&frame, width, height, small);
    for (int i = 0; i < FACES_SIDE * FACES_SIDE * 3; i++)
        input[i] = -1;
    for (int y = 0; y < height; y++) {
        for (int i = 0; i < width * 3; i++)
            input[((top + y) * FACES_SIDE + left) * 3 + i] = (float)small[y * width * 3 + i] * (2.0f / 255) - 1;
    }
    network_run(network);
    memset(picture->matte, 0, (size_t)picture->width * picture->height);
    const float *box = network_output(network, 0)->data, *score = network_output(network, 1)->data;
    const float scale_x = (float)picture->width / (float)width, scale_y = (float)picture->height / (float)height;
    for (size_t g = 0; g < sizeof(grids) / sizeof(*grids); g++) {
        for (int i = 0; i < grids[g].side * grids[g].side * grids[g].boxes; i++, box += FACES_NUMBERS, score++) {
            const int at = i / grids[g].boxes, step = FACES_SIDE / grids[g].side;
            if (*score < 0) // a probability below one half
                continue;
            const float x = box[0] + ((float)(at % grids[g].side) + 0.5f) * (float)step - (float)left;
            const float y = box[1] + ((float)(at / grids[g].side) + 0.5f) * (float)step - (float)top;
            draw_face(picture, x * scale_x, y * scale_y, box[2] * scale_x, box[3] * scale_y);
        }
    }
}

// ---- the programs ----

static const struct program_kind {
    bool (*fits)(const struct network *network, const struct picture *picture);
    void (*find)(struct network *network, struct picture *picture);
} kinds[] = {{fits_person, find_person}, {fits_person, find_person}, {fits_faces, find_faces}}; // as matte_networks

// Reads a whole frame. Returns false at the end of the input; *error if it is inside a frame.
static bool read_frame(uint8_t *to, size_t bytes, bool *error)
{
    size_t done = 0;
    while (done < bytes) {
        const ssize_t got = read(STDIN_FILENO, to + done, bytes - done);
        if (got < 0 && errno == EINTR)
            continue;
        *error = got < 0 || (got == 0 && done > 0);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static int serve(const struct program_kind *kind, struct network *network, struct picture *picture)
{
    const size_t count = (size_t)picture->width * picture->height;
    bool error = false;
    picture->rgb = xmalloc(count * 3);
    picture->matte = xmalloc(count);
    while (read_frame(picture->rgb, count * 3, &error)) {
        kind->find(network, picture);
        if (!file_write_all(STDOUT_FILENO, picture->matte, count)) {
            log_error("cannot write a matte: %s", strerror(errno));
            return EXIT_FAILED_SOME;
        }
    }
    if (error)
        log_error("the input ends inside a frame");
    return error ? EXIT_FAILED_SOME : EXIT_OK;
}

int matte_answer(char *const *words)
{
    const struct matte_network *row = matte_network_find(words[MATTE_WORD_NAME]);
    struct picture picture = {atoi(words[MATTE_WORD_WIDTH]), atoi(words[MATTE_WORD_HEIGHT]), NULL, NULL};
    const struct matte_network *narrow = row ? matte_network_next(row) : NULL;
    char path[PATH_MAX] = "", why[NETWORK_WHY] = "there is no such program, or the size is wrong";
    enum { SIDE_MAX = 4096 };
    struct network *network = NULL;
    if (narrow && picture.height == square.height)
        row = narrow;
    if (row && picture.width > 0 && picture.height > 0 && picture.width <= SIDE_MAX && picture.height <= SIDE_MAX &&
        matte_network_path(row, path))
        network = network_open(path, why);
    const struct program_kind *kind = &kinds[row ? row - matte_networks : 0];
    if (network && !kind->fits(network, &picture)) {
        snprintf(why, sizeof(why), "the network does not fit the size %s x %s", words[MATTE_WORD_WIDTH],
                 words[MATTE_WORD_HEIGHT]);
        network_free(network);
        network = NULL;
    }
    if (!network) {
        log_error("matte %s: %s: %s", words[MATTE_WORD_NAME], path, why);
        return EXIT_NOTHING;
    }
    const int code = serve(kind, network, &picture);
    network_free(network);
    return code;
}
