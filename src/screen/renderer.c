// renderer.c: one frame on the screen: the pictures, the divider, the overlay; and reading it back
#include "screen/renderer.h"

#include "base/log.h"
#include "screen/gputimer.h"
#include "screen/overlay_parts.h"
#include "screen/picture.h"
#include "screen/upload.h"

#include <epoxy/gl.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct renderer {
    bool es;
    struct picture picture;
    struct quads quads;
    struct atlas *atlas;
    struct upload upload[2];
    bool told_step; // that pictures are shown smaller than they are
    struct gputimer timer;
};

struct renderer *renderer_open(bool es)
{
    struct renderer *renderer = calloc(1, sizeof(*renderer));
    if (!renderer) {
        log_error("cannot draw: out of memory");
        return NULL;
    }
    renderer->es = es;
    if (!picture_init(&renderer->picture, es) || !quads_init(&renderer->quads, es))
        goto fail;
    renderer->atlas = atlas_open();
    if (!renderer->atlas)
        goto fail;
    gputimer_init(&renderer->timer, es);
    return renderer;
fail:
    renderer_close(renderer);
    return NULL;
}

void renderer_close(struct renderer *renderer)
{
    if (!renderer)
        return;
    gputimer_finish(&renderer->timer);
    for (int i = 0; i < 2; i++)
        upload_finish(&renderer->upload[i]);
    atlas_close(renderer->atlas);
    quads_finish(&renderer->quads);
    picture_finish(&renderer->picture);
    free(renderer);
}

unsigned renderer_upload(struct renderer *renderer, int slot, const struct image *rgba)
{
    struct upload *upload = &renderer->upload[slot];
    if (!upload_picture(upload, rgba))
        return 0;
    if (upload->step > 1 && !renderer->told_step) {
        log_warn("the window shows frames of %dx%d scaled down to 1/%d: GL has no larger textures here; recordings and "
                 "screenshots have the full size",
                 rgba->shape.width, rgba->shape.height, upload->step);
        renderer->told_step = true;
    }
    return upload->texture;
}

// Everything the drawing depends on, since others use the context too: bytes must arrive as they are.
static void set_state(const struct renderer *renderer, const struct window_size *size)
{
    static const GLenum off[] = {GL_BLEND,        GL_CULL_FACE,    GL_DEPTH_TEST,         GL_DITHER,
                                 GL_SCISSOR_TEST, GL_STENCIL_TEST, GL_RASTERIZER_DISCARD, GL_SAMPLE_ALPHA_TO_COVERAGE};
    for (size_t i = 0; i < sizeof(off) / sizeof(*off); i++)
        glDisable(off[i]);
    if (!renderer->es)
        glDisable(GL_FRAMEBUFFER_SRGB);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
    glViewport(0, 0, size->width, size->height);
}

// A light line with a dark one beside it is seen on every picture.
static void add_divider(struct canvas *canvas, const struct scene *scene, const struct window_size *size)
{
    const struct renderer_box box = renderer_picture_box(scene, size);
    const int x = picture_split(scene, &box);
    const int width = canvas_pixels(canvas, 1);
    const struct rect light = {x, (int)box.y, width, (int)box.height};
    const struct rect dark = {x - width, (int)box.y, width, (int)box.height};
    canvas_fill(canvas, dark, (struct paint){0, 0, 0, 255});
    canvas_fill(canvas, light, (struct paint){255, 255, 255, 255});
}

void renderer_draw(struct renderer *renderer, const struct scene *scene, const struct window_size *size)
{
    if (size->width < 1 || size->height < 1)
        return;
    gputimer_begin(&renderer->timer);
    set_state(renderer, size);
    if (!picture_covers(&renderer->picture, scene, size)) {
        glClearColor(0, 0, 0, 1);
        glClear(GL_COLOR_BUFFER_BIT);
    }
    picture_draw(&renderer->picture, scene, size);

    struct canvas canvas = {renderer->atlas, &renderer->quads, size->width, size->height,
                            size->scale > 0 ? size->scale : 1};
    if (scene->texture && scene->right_texture)
        add_divider(&canvas, scene, size);
    if (scene->overlay)
        overlay_draw(&canvas, scene->overlay);
    quads_draw(&renderer->quads, atlas_texture(renderer->atlas), size->width, size->height);
    gputimer_end(&renderer->timer);
}

int64_t renderer_gpu_ns(const struct renderer *renderer)
{
    return renderer->timer.ns;
}

bool renderer_read(struct renderer *renderer, const struct window_size *size, struct image *rgba)
{
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = size->width, .height = size->height};
    const size_t row = (size_t)size->width * 4;
    uint8_t *spare = malloc(row);
    *rgba = (struct image){0};
    if (size->width < 1 || size->height < 1 || !spare || !image_alloc(rgba, &shape)) {
        log_error("cannot read the window's %dx%d pixels: %s", size->width, size->height,
                  size->width < 1 || size->height < 1 ? "the window is empty" : "out of memory");
        free(spare);
        return false;
    }
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glReadBuffer(GL_BACK);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glReadPixels(0, 0, size->width, size->height, GL_RGBA, GL_UNSIGNED_BYTE, rgba->plane[0]);
    // GL's first row is the lowest.
    for (int top = 0, bottom = size->height - 1; top < bottom; top++, bottom--) {
        uint8_t *above = rgba->plane[0] + (size_t)top * row, *below = rgba->plane[0] + (size_t)bottom * row;
        memcpy(spare, above, row);
        memcpy(above, below, row);
        memcpy(below, spare, row);
    }
    for (size_t i = 3; i < row * (size_t)size->height; i += 4)
        rgba->plane[0][i] = 255;
    free(spare);
    return true;
}
