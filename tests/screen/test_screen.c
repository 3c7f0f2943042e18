// test_screen.c: the framebuffer has the bytes of the images, at the right place and size
#include "screen_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    int width, height;
} sizes[] = {{640, 480}, {1, 1}, {1, 7}, {37, 23}, {641, 479}, {1279, 717}};

static struct scene scene_of(unsigned texture, const struct image *image)
{
    return (struct scene){.texture = texture, .width = image->shape.width, .height = image->shape.height};
}

static void test_one_to_one(struct screen_test *test)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        screen_test_open(test, sizes[i].width, sizes[i].height);
        for (size_t padding = 0; padding <= 12; padding += 12) {
            struct image image = noise_image(sizes[i].width, sizes[i].height, padding, (uint32_t)i);
            const struct scene scene = scene_of(renderer_upload(test->renderer, 0, &image), &image);
            struct image got = screen_test_draw(test, &scene);
            check_that(test->check, got.shape.width == sizes[i].width && got.shape.height == sizes[i].height,
                       "a window for %dx%d is %dx%d", sizes[i].width, sizes[i].height, got.shape.width,
                       got.shape.height);
            check_same(test, &got, 0, 0, &image, padding ? "1:1 from padded rows" : "1:1");
            image_free(&got);
            image_free(&image);
        }
        screen_test_close(test);
    }
}

// Pixels outside the box that are not black.
static int count_not_black(const struct image *image, const struct renderer_box *box)
{
    int count = 0;
    for (int y = 0; y < image->shape.height; y++) {
        for (int x = 0; x < image->shape.width; x++) {
            const bool inside = x >= (int)box->x && x < (int)(box->x + box->width) && y >= (int)box->y &&
                                y < (int)(box->y + box->height);
            const uint8_t *pixel = image->plane[0] + (size_t)y * image->stride[0] + (size_t)x * 4;
            count += !inside && (pixel[0] || pixel[1] || pixel[2]);
        }
    }
    return count;
}

// Every pixel a square of `scale` pixels.
static struct image enlarged(const struct image *image, int scale)
{
    struct image large = noise_image(image->shape.width * scale, image->shape.height * scale, 0, 0);
    for (int y = 0; y < large.shape.height; y++) {
        for (int x = 0; x < large.shape.width; x++)
            memcpy(large.plane[0] + (size_t)y * large.stride[0] + (size_t)x * 4,
                   image->plane[0] + (size_t)(y / scale) * image->stride[0] + (size_t)(x / scale) * 4, 4);
    }
    return large;
}

static void test_boxes(struct screen_test *test)
{
    static const struct {
        int width, height, scale; // 0: not a whole number
        struct renderer_box box;
    } cases[] = {
        {300, 200, 1, {0, 0, 300, 200}}, {100, 200, 1, {100, 0, 100, 200}}, {101, 200, 1, {99, 0, 101, 200}},
        {300, 77, 1, {0, 61, 300, 77}},  {100, 50, 3, {0, 25, 300, 150}},   {10, 40, 5, {125, 0, 50, 200}},
        {900, 600, 0, {0, 0, 300, 200}}, {7, 3, 0, {0, 35, 300, 129}},      {1, 1000, 0, {149, 0, 1, 200}},
    };
    screen_test_open(test, 300, 200);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct image image = noise_image(cases[i].width, cases[i].height, 0, (uint32_t)i);
        const struct scene scene = scene_of(renderer_upload(test->renderer, 1, &image), &image);
        const struct renderer_box box = renderer_picture_box(&scene, &test->size);
        check_that(test->check, memcmp(&box, &cases[i].box, sizeof(box)) == 0, "%dx%d is at %g,%g %gx%g",
                   cases[i].width, cases[i].height, box.x, box.y, box.width, box.height);
        struct image got = screen_test_draw(test, &scene);
        check_that(test->check, count_not_black(&got, &box) == 0, "%dx%d: not black around", cases[i].width,
                   cases[i].height);
        if (cases[i].scale > 0) {
            struct image large = enlarged(&image, cases[i].scale);
            check_same(test, &got, (int)box.x, (int)box.y, &large, "a whole number of pixels per pixel");
            image_free(&large);
        }
        image_free(&got);
        image_free(&image);
    }
    screen_test_close(test);
}

// A zoomed picture shows the part around the wanted place, and leaves no room at its sides.
static void test_zoom(struct screen_test *test)
{
    static const struct {
        float zoom, x, y;
        int left, top; // the first pixel that is shown
    } cases[] = {{2, 0.5f, 0.5f, 75, 50}, {4, 0, 1, 0, 150}, {4, 0.9f, 0.5f, 225, 75}, {1, 0.1f, 0.9f, 0, 0}};
    struct image image = noise_image(300, 200, 0, 5);
    screen_test_open(test, 300, 200);
    struct scene scene = scene_of(renderer_upload(test->renderer, 1, &image), &image);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const int times = (int)cases[i].zoom;
        struct image large = enlarged(&image, times);
        scene.zoom = cases[i].zoom;
        scene.at_x = cases[i].x;
        scene.at_y = cases[i].y;
        struct image got = screen_test_draw(test, &scene), shown = large;
        shown.shape.width = 300;
        shown.shape.height = 200;
        shown.plane[0] += (size_t)(cases[i].top * times) * large.stride[0] + (size_t)(cases[i].left * times) * 4;
        check_same(test, &got, 0, 0, &shown, "the zoomed part");
        image_free(&got);
        image_free(&large);
    }
    image_free(&image);
    screen_test_close(test);
}

static void check_column(struct screen_test *test, const struct image *got, int x, uint8_t value)
{
    int wrong = 0;
    for (int y = 0; y < got->shape.height; y++) {
        const uint8_t *pixel = got->plane[0] + (size_t)y * got->stride[0] + (size_t)x * 4;
        wrong += pixel[0] != value || pixel[1] != value || pixel[2] != value;
    }
    check_that(test->check, wrong == 0, "divider: column %d is not %d in %d rows", x, value, wrong);
}

// Returns columns of a picture, from `x` on.
static struct image part(const struct image *image, int x, int width)
{
    struct image piece = *image;
    piece.shape.width = width;
    piece.plane[0] += (size_t)x * 4;
    return piece;
}

static void test_split(struct screen_test *test)
{
    static const struct {
        float divider;
        int column;
    } cases[] = {{0, 0}, {0.5f, 160}, {0.3f, 97}, {1, 321}, {-3, 0}, {7, 321}};
    screen_test_open(test, 321, 200);
    struct image left = noise_image(321, 200, 0, 1), right = noise_image(321, 200, 0, 2);
    struct scene scene = scene_of(renderer_upload(test->renderer, 0, &left), &left);
    scene.right_texture = renderer_upload(test->renderer, 1, &right);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        scene.divider = cases[i].divider;
        struct image got = screen_test_draw(test, &scene);
        const int split = cases[i].divider == 0.5f ? 161 : cases[i].divider == 0.3f ? 96 : cases[i].column;
        if (split > 1) {
            const struct image want = part(&left, 0, split - 1);
            check_same(test, &got, 0, 0, &want, "left of the divider");
            check_column(test, &got, split - 1, 0);
        }
        if (split < 320) {
            const struct image want = part(&right, split + 1, 321 - split - 1);
            check_same(test, &got, split + 1, 0, &want, "right of the divider");
            check_column(test, &got, split, 255);
        }
        image_free(&got);
    }
    image_free(&left);
    image_free(&right);
    screen_test_close(test);
}

// The image changes every frame, and sometimes its size; no image may show bytes of another image.
static void test_stream(struct screen_test *test)
{
    enum { FRAMES = 120 };
    screen_test_open(test, 160, 120);
    for (int i = 0; i < FRAMES; i++) {
        const int width = i / 40 == 1 ? 80 : 160, height = i / 40 == 1 ? 60 : 120;
        struct image image = noise_image(width, height, 0, (uint32_t)i);
        const struct scene scene = scene_of(renderer_upload(test->renderer, 0, &image), &image);
        struct image got = screen_test_draw(test, &scene);
        struct image want = enlarged(&image, 160 / width);
        check_same(test, &got, 0, 0, &want, "a stream of pictures");
        window_swap(test->window);
        image_free(&want);
        image_free(&got);
        image_free(&image);
    }
    const int64_t gpu_ns = renderer_gpu_ns(test->renderer);
    check_that(test->check, gpu_ns > 0, "draw time %lld ns", (long long)gpu_ns);
    screen_test_close(test);
}

// Red left or above of the middle, blue behind it.
static struct image halves(int width, int height)
{
    struct image image = noise_image(width, height, 0, 0);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const bool first = width > height ? 2 * x < width : 2 * y < height;
            const uint8_t pixel[4] = {first ? 255 : 0, 0, first ? 0 : 255, 255};
            memcpy(image.plane[0] + (size_t)y * image.stride[0] + (size_t)x * 4, pixel, 4);
        }
    }
    return image;
}

// Pictures larger than GL's textures are shown scaled down, from edge to edge.
static void test_oversized(struct screen_test *test)
{
    static const int sides[] = {20000, 32767, 32768};
    screen_test_open(test, 320, 240);
    for (int i = 0; i < 6; i++) {
        const int width = i % 2 ? 700 : sides[i / 2], height = i % 2 ? sides[i / 2] : 700;
        struct image image = halves(width, height);
        const struct scene scene = scene_of(renderer_upload(test->renderer, 0, &image), &image);
        const struct renderer_box box = renderer_picture_box(&scene, &test->size);
        struct image got = screen_test_draw(test, &scene);
        struct image want = halves((int)box.width, (int)box.height);
        // The middle is left out, because the two colours are mixed there.
        const int across = width > height ? want.shape.width / 2 - 2 : want.shape.width;
        const int down = width > height ? want.shape.height : want.shape.height / 2 - 2;
        const int right = want.shape.width - across, below = want.shape.height - down;
        want.shape.width = across;
        want.shape.height = down;
        check_same(test, &got, (int)box.x, (int)box.y, &want, "too large for GL: the first half");
        want.plane[0] += (size_t)below * want.stride[0] + (size_t)right * 4;
        check_same(test, &got, (int)box.x + right, (int)box.y + below, &want, "too large for GL: the second half");
        image_free(&want);
        image_free(&got);
        image_free(&image);
    }
    screen_test_close(test);
}

// Without a picture the window is black, not the last picture.
static void test_nothing(struct screen_test *test)
{
    screen_test_open(test, 64, 48);
    struct image image = noise_image(64, 48, 0, 1);
    const struct scene scene = scene_of(renderer_upload(test->renderer, 0, &image), &image);
    struct image got = screen_test_draw(test, &scene);
    check_same(test, &got, 0, 0, &image, "a picture");
    image_free(&got);
    image_free(&image);
    const struct scene nothing = {0};
    got = screen_test_draw(test, &nothing);
    check_that(test->check, count_not_black(&got, &(struct renderer_box){0}) == 0, "no picture is black");
    image_free(&got);
    screen_test_close(test);
}

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void test_memory(struct screen_test *test)
{
    enum { FRAMES = 3000, SETTLED = 1000, GROWTH_KIB = 1024 };
    screen_test_open(test, 160, 120);
    struct image image = noise_image(160, 120, 0, 1);
    struct overlay overlay = {.size = OVERLAY_FULL};
    long before = 0;
    for (int i = 0; i < FRAMES; i++) {
        if (i == SETTLED)
            before = resident_kib();
        overlay.lines = 0;
        overlay_line(&overlay, OVERLAY_STRONG, "frame %d", i);
        struct scene scene = scene_of(renderer_upload(test->renderer, i % 2, &image), &image);
        scene.overlay = &overlay;
        renderer_draw(test->renderer, &scene, &test->size);
        window_swap(test->window);
    }
    const long growth = resident_kib() - before;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) // their own memory grows
    (void)growth;
#else
    check_that(test->check, growth < GROWTH_KIB, "%d frames took %ld KiB", FRAMES - SETTLED, growth);
#endif
    image_free(&image);
    screen_test_close(test);
}

int main(int argc, char **argv)
{
    struct check check = {.name = "screen"};
    struct screen_test test = {.check = &check};
    screen_test_options(&test, argv);
    test_one_to_one(&test);
    test_boxes(&test);
    test_zoom(&test);
    test_split(&test);
    test_stream(&test);
    test_oversized(&test);
    test_nothing(&test);
    test_memory(&test);
    return check_end(&check);
}
