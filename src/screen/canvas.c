// canvas.c: rectangles, panels and letters as quads
#include "screen/canvas.h"

#include <math.h>

int canvas_pixels(const struct canvas *canvas, float units)
{
    const int pixels = (int)lroundf(units * canvas->scale);
    return pixels > 1 ? pixels : 1;
}

static void add(struct canvas *canvas, struct rect rect, struct patch patch, struct paint paint)
{
    quads_add(canvas->quads, (struct quad){
                                 .x = (int16_t)rect.x,
                                 .y = (int16_t)rect.y,
                                 .width = (int16_t)rect.width,
                                 .height = (int16_t)rect.height,
                                 .atlas_x = patch.x,
                                 .atlas_y = patch.y,
                                 .atlas_width = patch.width,
                                 .atlas_height = patch.height,
                                 .tint = {paint.red, paint.green, paint.blue, paint.alpha},
                             });
}

void canvas_fill(struct canvas *canvas, struct rect rect, struct paint paint)
{
    if (rect.width > 0 && rect.height > 0)
        add(canvas, rect, (struct patch){0}, paint); // the atlas is full cover at 0,0
}

void canvas_round(struct canvas *canvas, struct rect rect, int radius, struct paint paint)
{
    const struct patch corner = atlas_corner(canvas->atlas, radius);
    const int r = corner.width;
    if (r == 0 || rect.width < 2 * r || rect.height < 2 * r) {
        canvas_fill(canvas, rect, paint);
        return;
    }
    const int right = rect.x + rect.width - r;
    const int bottom = rect.y + rect.height - r;
    for (int i = 0; i < 4; i++) {
        struct patch turned = corner;
        if (i % 2) {
            turned.x = (int16_t)(turned.x + r);
            turned.width = (int16_t)-r;
        }
        if (i / 2) {
            turned.y = (int16_t)(turned.y + r);
            turned.height = (int16_t)-r;
        }
        add(canvas, (struct rect){i % 2 ? right : rect.x, i / 2 ? bottom : rect.y, r, r}, turned, paint);
    }
    canvas_fill(canvas, (struct rect){rect.x + r, rect.y, rect.width - 2 * r, r}, paint);
    canvas_fill(canvas, (struct rect){rect.x, rect.y + r, rect.width, rect.height - 2 * r}, paint);
    canvas_fill(canvas, (struct rect){rect.x + r, bottom, rect.width - 2 * r, r}, paint);
}

void canvas_text(struct canvas *canvas, const struct letters *letters, int x, int y, struct span text,
                 struct paint paint)
{
    const int base = y + (letters->line + letters->cap_height) / 2;
    for (uint32_t character = span_next(&text); character; character = span_next(&text)) {
        const bool control = character < ' ';
        const struct patch patch = control ? (struct patch){0} : atlas_glyph(canvas->atlas, letters, character);
        if (patch.width > 0)
            add(canvas, (struct rect){x + patch.left, base + patch.top, patch.width, patch.height}, patch, paint);
        x += letters->advance;
    }
}
