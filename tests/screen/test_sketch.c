// test_sketch.c: rectangles and letters are drawn at their places, and cut at the edges of the image
#include "screen/canvas.h"

#include "unit.h"

enum { WIDTH = 120, HEIGHT = 60 };
static const struct paint red = {255, 0, 0, 255}, half = {0, 0, 255, 128};

static struct image image;

static void clear(void)
{
    for (int y = 0; y < HEIGHT; y++)
        memset(image_row(&image, 0, y), 255, (size_t)4 * WIDTH);
}

// Returns the number of pixels in the rectangle that are not white.
static int count_drawn(struct rect rect)
{
    int drawn = 0;
    for (int y = rect.y; y < rect.y + rect.height; y++) {
        for (int x = rect.x; x < rect.x + rect.width; x++)
            drawn += memcmp(image_row(&image, 0, y) + 4 * x, "\xff\xff\xff", 3) != 0;
    }
    return drawn;
}

static void test_rectangles(const struct sketch *sketch)
{
    static const struct rect all = {0, 0, WIDTH, HEIGHT};
    clear();
    sketch_fill(sketch, (struct rect){10, 20, 5, 4}, red);
    CHECK_NUMBER(count_drawn(all), 20);
    CHECK_NUMBER(count_drawn((struct rect){10, 20, 5, 4}), 20);
    CHECK(memcmp(image_row(&image, 0, 20) + 40, "\xff\x00\x00\xff", 4) == 0);
    sketch_fill(sketch, (struct rect){10, 20, 1, 1}, half);
    CHECK(memcmp(image_row(&image, 0, 20) + 40, "\x7f\x00\x80\xff", 4) == 0);
    clear();
    sketch_fill(sketch, (struct rect){-10, -10, 12, 12}, red);
    sketch_fill(sketch, (struct rect){WIDTH - 1, HEIGHT - 1, 50, 50}, red);
    CHECK_NUMBER(count_drawn(all), 5);
}

static void test_letters(const struct sketch *sketch)
{
    clear();
    sketch_text(sketch, 20, 10, "I I", red);
    const struct rect first = {20, 10, sketch->font.advance, sketch->font.line};
    const struct rect space = {20 + sketch->font.advance, 10, sketch->font.advance, sketch->font.line};
    const struct rect last = {20 + 2 * sketch->font.advance, 10, sketch->font.advance, sketch->font.line};
    CHECK(count_drawn(first) > 10 && count_drawn(space) == 0);
    CHECK_NUMBER(count_drawn(first), count_drawn(last));
    CHECK_NUMBER(count_drawn((struct rect){0, 0, WIDTH, HEIGHT}), 2 * count_drawn(first));
    sketch_text(sketch, WIDTH - 5, HEIGHT - 5, "M\xffM", red);
    sketch_text(sketch, -5, -5, "MM", red);
}

int main(void)
{
    struct sketch sketch = {0};
    sketch_finish(&sketch);
    if (!image_alloc(&image, &(struct image_shape){.width = WIDTH, .height = HEIGHT}) ||
        !sketch_init(&sketch, &image, 18))
        return 1;
    test_rectangles(&sketch);
    test_letters(&sketch);
    sketch_finish(&sketch);
    image_free(&image);
    return check_end(&unit);
}
