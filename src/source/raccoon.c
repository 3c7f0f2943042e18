// raccoon.c: the photograph that monocle contains, as a source of frames that slowly pan and zoom over it
#include "base/log.h"
#include "base/resource.h"
#include "image/imagefile.h"
#include "source/generated.h"

#include <math.h>

enum { ONE = 1 << 16 };                        // places in the photograph are in 1/65536 pixel
static const double pan_s = 31, zoom_s = 23;   // of a round
static const double widest = 1, closest = 0.6; // side of the part that a frame shows, of the largest part

struct raccoon {
    struct generated generated;
    struct image photograph;
    // The part of the photograph that the frame shows
    struct raccoon_part {
        int x, y; // place of the frame's first pixel
        int step; // from pixel to pixel
    } part;
};

// Returns a part with the frame's aspect ratio, inside the photograph.
static struct raccoon_part find_part(const struct image_shape *photograph, const struct image_shape *frame,
                                     double seconds)
{
    const double turn = 2 * acos(-1) * seconds, zoom = (1 - cos(turn / zoom_s)) / 2;
    const double across = (double)(photograph->width - 1) / frame->width;
    const double down = (double)(photograph->height - 1) / frame->height;
    const double step = (across < down ? across : down) * (widest + (closest - widest) * zoom);
    const double room_x = photograph->width - 1 - step * frame->width;
    const double room_y = photograph->height - 1 - step * frame->height;
    return (struct raccoon_part){
        .x = (int)(room_x * (1 + sin(turn / pan_s)) / 2 * ONE),
        .y = (int)(room_y * (1 + cos(turn / pan_s * 2)) / 2 * ONE),
        .step = (int)(step * ONE),
    };
}

// Interpolates linearly between the photograph's pixels.
static void draw_row(const struct source *source, uint64_t number, int y, int x0, int x1, uint8_t *rgba)
{
    const struct raccoon *raccoon = source->state;
    const struct raccoon_part *part = &raccoon->part;
    const int64_t v = part->y + (int64_t)part->step * y;
    const int b = (int)(v / (ONE / 256)) & 255;
    const uint8_t *upper = image_row(&raccoon->photograph, 0, (int)(v / ONE));
    const uint8_t *lower = upper + raccoon->photograph.stride[0];
    int64_t u = part->x + (int64_t)part->step * x0;
    for (int x = x0; x < x1; x++, u += part->step, rgba += 4) {
        const size_t at = (size_t)(u / ONE) * 4;
        const int a = (int)(u / (ONE / 256)) & 255;
        for (size_t c = at; c < at + 3; c++) {
            const int above = upper[c] * (256 - a) + upper[c + 4] * a, below = lower[c] * (256 - a) + lower[c + 4] * a;
            rgba[c - at] = (uint8_t)((above * (256 - b) + below * b + ONE / 2) / ONE);
        }
        rgba[3] = 255;
    }
}

static void draw_raccoon(struct source *source, int slot, uint64_t number)
{
    struct raccoon *raccoon = source->state;
    raccoon->part = find_part(&raccoon->photograph.shape, &source->info.shape, (double)number / source->info.rate);
    generated_draw(source, slot, number, NULL);
}

static bool raccoon_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct raccoon *raccoon = source->state;
    const struct resource *file = resource_find("assets/raccoon.jpg");
    char why[IMAGEFILE_WHY] = "it is not in this program";
    raccoon->generated = (struct generated){.draw = draw_raccoon, .row = draw_row};
    if (!generated_open(source, setup, text, "photograph of a raccoon"))
        return false;
    if (!file || !imagefile_decode(&raccoon->photograph, file->data, file->size, why)) {
        log_error("cannot show the photograph: %s", why);
        return false;
    }
    return true;
}

static void raccoon_close(struct source *source)
{
    struct raccoon *raccoon = source->state;
    image_free(&raccoon->photograph);
    generated_close(source);
}

extern const struct source_kind source_raccoon;
const struct source_kind source_raccoon = {
    .name = "raccoon",
    .help = {"raccoon[:WxH@FPS,FORMAT]\tphotograph, over which the frames pan and zoom"},
    .word = true,
    .endless = true,
    .state_bytes = sizeof(struct raccoon),
    .open = raccoon_open,
    .close = raccoon_close,
    .next = generated_next,
};
