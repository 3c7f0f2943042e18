// renderer.c: draws a scene: pictures by a shader, the overlay on top; uploads frames; the window of an error
#include "screen/renderer.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "screen/canvas.h"
#include "screen/window.h"

#include <epoxy/gl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- uploads ----

// Returns the pixels of a side in the texture.
static int shrunk(int side, int step)
{
    return (side + step - 1) / step;
}

// Returns the smallest step at which GL accepts the picture.
static int step_for(int width, int height)
{
    GLint most = 1;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
    return shrunk(width > height ? width : height, most);
}

static bool set_size(struct upload *upload, int width, int height)
{
    if (upload->width == width && upload->height == height)
        return upload->texture != 0;
    if (!upload->texture) {
        glGenTextures(1, &upload->texture);
        glGenBuffers(2, upload->buffer);
    }
    upload->width = width;
    upload->height = height;
    upload->step = step_for(width, height);
    upload->failed = false;
    while (glGetError() != GL_NO_ERROR)
        ; // forgets errors of earlier GL calls elsewhere
    const int across = shrunk(width, upload->step), down = shrunk(height, upload->step);
    for (int i = 0; i < 2; i++) {
        glBindBuffer(GL_PIXEL_UNPACK_BUFFER, upload->buffer[i]);
        glBufferData(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)across * down * 4, NULL, GL_STREAM_DRAW);
    }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    glBindTexture(GL_TEXTURE_2D, upload->texture);
    // Mesa chooses the texture's layout by the format given here. Its windows are BGRA, and it copies BGRA to them
    // fast.
    if (shader_on_cpu())
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, across, down, 0, GL_BGRA, GL_UNSIGNED_BYTE, NULL);
    else
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, across, down, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glBindTexture(GL_TEXTURE_2D, 0);
    const GLenum error = glGetError();
    if (error == GL_NO_ERROR)
        return true;
    log_error("cannot upload a frame of %dx%d to GL: error 0x%04x", width, height, error);
    glDeleteTextures(1, &upload->texture);
    glDeleteBuffers(2, upload->buffer);
    upload->texture = 0;
    return false;
}

// Fills one row of the texture. Each pixel is the middle one of the pixels that it replaces.
static void pick_pixels(uint8_t *to, const uint8_t *from, int width, int step)
{
    for (int x = step / 2, i = 0; i < shrunk(width, step); x += step, i++)
        memcpy(to + 4 * (size_t)i, from + 4 * (size_t)(x < width ? x : width - 1), 4);
}

// Copies the picture, its rows packed, to the bound buffer.
static bool fill_buffer(struct upload *upload, const struct image *rgba)
{
    const int step = upload->step, height = rgba->shape.height;
    const size_t row = (size_t)shrunk(rgba->shape.width, step) * 4;
    const size_t rows = (size_t)shrunk(height, step);
    uint8_t *to = glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, (GLsizeiptr)(row * rows),
                                   GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
    if (!to)
        return false;
    if (step == 1)
        copier_run(&upload->copier, &(struct image){.shape = rgba->shape, .plane = {to}, .stride = {row}}, rgba);
    for (size_t y = 0; step > 1 && y < rows; y++) {
        const int line = (int)y * step + step / 2;
        const uint8_t *from = rgba->plane[0] + (size_t)(line < height ? line : height - 1) * rgba->stride[0];
        pick_pixels(to + y * row, from, rgba->shape.width, step);
    }
    return glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);
}

bool upload_picture(struct upload *upload, const struct image *rgba)
{
    const int width = rgba->shape.width, height = rgba->shape.height;
    if (!set_size(upload, width, height))
        return false;
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, upload->buffer[upload->next]);
    upload->next = !upload->next;
    // In rare cases, the driver loses a buffer's contents. Then this tries a second time.
    const bool filled = fill_buffer(upload, rgba) || fill_buffer(upload, rgba);
    if (filled) {
        glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
        glBindTexture(GL_TEXTURE_2D, upload->texture);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, shrunk(width, upload->step), shrunk(height, upload->step), GL_RGBA,
                        GL_UNSIGNED_BYTE, NULL);
        glBindTexture(GL_TEXTURE_2D, 0);
    } else if (!upload->failed) {
        log_error("cannot upload a frame of %dx%d to GL: GL does not map the buffer", width, height);
        upload->failed = true;
    }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    return filled;
}

bool upload_wait(void)
{
    enum { WAIT_NS = 1000000000 };
    GLsync fence = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if (!fence)
        return false;
    const GLenum result = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, WAIT_NS);
    glDeleteSync(fence);
    return result == GL_ALREADY_SIGNALED || result == GL_CONDITION_SATISFIED;
}

void upload_finish(struct upload *upload)
{
    if (upload->texture) {
        glDeleteTextures(1, &upload->texture);
        glDeleteBuffers(2, upload->buffer);
    }
    copier_finish(&upload->copier);
    *upload = (struct upload){0};
}

// ---- the renderer ----

enum { TIMER_QUERIES = 4 }; // more than frames in flight, so that one is always free again

// Measures GPU time with timer queries, and never waits for their results.
struct timer {
    bool works;
    unsigned query[TIMER_QUERIES]; // ring
    int first, count;              // queries without a result yet
    int64_t ns;                    // newest result; -1 before the first
};

struct renderer {
    bool es;
    unsigned program, array;
    unsigned nearest, linear; // samplers: a shared texture's own parameters stay unchanged
    int box;                  // uniform
    unsigned reader;          // framebuffer that textures are copied from; 0: they are always drawn
    struct canvas canvas;
    struct upload upload[2];
    struct upload sheet;    // the pictures of a list
    unsigned sheet_changes; // choice_list.sheet_changes of the texture
    bool told_step;         // the message about scaled-down pictures was logged
    struct timer timer;
};

// ---- the timer ----

// Desktop GL and EXT_disjoint_timer_query use the same number.
_Static_assert(GL_TIME_ELAPSED == GL_TIME_ELAPSED_EXT, "timer queries differ");

// Takes the results that have arrived. On ES the clock may have jumped, for example when its frequency changed; the
// results since then are worthless.
static void timer_collect(struct timer *timer, bool es)
{
    GLint jumped = GL_FALSE;
    if (es && timer->count > 0)
        glGetIntegerv(GL_GPU_DISJOINT_EXT, &jumped);
    while (timer->count > 0) {
        const unsigned query = timer->query[timer->first];
        GLuint ready = GL_FALSE;
        GLuint64 ns = 0;
        glGetQueryObjectuiv(query, GL_QUERY_RESULT_AVAILABLE, &ready);
        if (!ready)
            return;
        if (es)
            glGetQueryObjectui64vEXT(query, GL_QUERY_RESULT, &ns);
        else
            glGetQueryObjectui64v(query, GL_QUERY_RESULT, &ns);
        if (!jumped)
            timer->ns = (int64_t)ns;
        timer->first = (timer->first + 1) % TIMER_QUERIES;
        timer->count--;
    }
}

// Returns false if this frame is not measured.
static bool timer_begin(struct timer *timer, bool es)
{
    if (!timer->works)
        return false;
    timer_collect(timer, es);
    if (timer->count == TIMER_QUERIES)
        return false;
    glBeginQuery(GL_TIME_ELAPSED, timer->query[(timer->first + timer->count++) % TIMER_QUERIES]);
    return true;
}

// ---- opening and closing ----

// A window with alpha would get the picture's alpha if the picture were copied.
static bool window_has_alpha(void)
{
    GLint bits = 0;
    glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_BACK_LEFT, GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE, &bits);
    return bits > 0;
}

static unsigned make_sampler(GLint filter)
{
    GLuint sampler;
    glGenSamplers(1, &sampler);
    glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, filter);
    glSamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER, filter);
    glSamplerParameteri(sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glSamplerParameteri(sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    return sampler;
}

struct renderer *renderer_open(void)
{
    struct renderer *renderer = xalloc(sizeof(*renderer));
    renderer->es = !epoxy_is_desktop_gl();
    if (!(renderer->program = shader_build("picture")) || !canvas_init(&renderer->canvas)) {
        renderer_close(renderer);
        return NULL;
    }
    renderer->box = glGetUniformLocation(renderer->program, "box");
    glGenVertexArrays(1, &renderer->array); // empty: the shader makes the corners
    renderer->nearest = make_sampler(GL_NEAREST);
    renderer->linear = make_sampler(GL_LINEAR);
    if (shader_on_cpu() && !window_has_alpha())
        glGenFramebuffers(1, &renderer->reader);
    renderer->timer.ns = -1;
    renderer->timer.works = !renderer->es || epoxy_has_gl_extension("GL_EXT_disjoint_timer_query");
    if (renderer->timer.works)
        glGenQueries(TIMER_QUERIES, renderer->timer.query);
    return renderer;
}

void renderer_close(struct renderer *renderer)
{
    if (!renderer)
        return;
    for (int i = 0; i < 2; i++)
        upload_finish(&renderer->upload[i]);
    upload_finish(&renderer->sheet);
    canvas_finish(&renderer->canvas);
    glDeleteQueries(TIMER_QUERIES, renderer->timer.query); // GL ignores names that are 0
    glDeleteVertexArrays(1, &renderer->array);
    glDeleteSamplers(1, &renderer->nearest);
    glDeleteSamplers(1, &renderer->linear);
    glDeleteFramebuffers(1, &renderer->reader);
    glDeleteProgram(renderer->program);
    free(renderer);
}

unsigned renderer_upload(struct renderer *renderer, int slot, const struct image *rgba)
{
    struct upload *upload = &renderer->upload[slot];
    if (!upload_picture(upload, rgba))
        return 0;
    if (upload->step > 1 && !renderer->told_step) {
        log_warn("the window shows frames of %dx%d scaled down to 1/%d, because GL limits the size of textures; "
                 "recordings and screenshots have the full size",
                 rgba->shape.width, rgba->shape.height, upload->step);
        renderer->told_step = true;
    }
    return upload->texture;
}

// ---- drawing ----

// Returns where a side of the zoomed picture begins, if the place `at` of it (0..1) is in the middle
// of the window.
static float zoomed(int window, float side, float at)
{
    const float room = (float)window - side;
    return room >= 0 ? room / 2 : fminf(fmaxf((float)window / 2 - at * side, room), 0);
}

static bool is_whole_number(const struct scene *scene, const struct renderer_box *box)
{
    const int across = (int)box->width, down = (int)box->height;
    return across % scene->width == 0 && down % scene->height == 0 && across / scene->width == down / scene->height;
}

struct renderer_box renderer_picture_box(const struct scene *scene, const struct window_size *size)
{
    const int64_t width = scene->width, height = scene->height;
    if (width < 1 || height < 1 || size->width < 1 || size->height < 1)
        return (struct renderer_box){0};
    if (scene->zoom > 0) {
        const float across = fmaxf(roundf((float)width * scene->zoom), 1);
        const float down = fmaxf(roundf((float)height * scene->zoom), 1);
        struct renderer_box box = {zoomed(size->width, across, scene->at_x), zoomed(size->height, down, scene->at_y),
                                   across, down};
        if (is_whole_number(scene, &box)) { // else its pixels would lie between those of the framebuffer
            box.x = floorf(box.x);
            box.y = floorf(box.y);
        }
        return box;
    }
    int64_t across = size->width, down = size->height;
    if (across * height <= down * width)
        down = (2 * across * height + width) / (2 * width);
    else
        across = (2 * down * width + height) / (2 * height);
    across = across > 1 ? across : 1;
    down = down > 1 ? down : 1;
    return (struct renderer_box){(float)((size->width - across) / 2), (float)((size->height - down) / 2), (float)across,
                                 (float)down};
}

// Returns the column of the framebuffer where the right picture begins.
static int split_column(const struct scene *scene, const struct renderer_box *box)
{
    const float divider = fminf(fmaxf(scene->divider, 0), 1);
    return (int)lroundf(box->x + divider * box->width);
}

// Copies columns of a picture that has the size of its box. Returns false if GL cannot read the texture this way.
static bool copy_part(unsigned texture, const struct window_size *size, const struct renderer_box *box, int left,
                      int right)
{
    const int x = (int)box->x, width = (int)box->width, height = (int)box->height, top = size->height - (int)box->y;
    left = left > x ? left : x;
    right = right < x + width ? right : x + width;
    if (right <= left)
        return true;
    glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    if (glCheckFramebufferStatus(GL_READ_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        return false;
    glBlitFramebuffer(left - x, 0, right - x, height, left, top, right, top - height, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    return true;
}

static bool copy_parts(const struct renderer *renderer, const struct scene *scene, const struct window_size *size,
                       const struct renderer_box *box, int split)
{
    if (!renderer->reader || scene->zoom > 0 || (int)box->width != scene->width || (int)box->height != scene->height)
        return false;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, renderer->reader);
    const bool done = copy_part(scene->texture, size, box, 0, split) &&
                      copy_part(scene->right_texture, size, box, split, size->width);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    return done;
}

// Draws a texture in the columns from `left` to `right` of the framebuffer.
static void draw_part(unsigned texture, const struct window_size *size, int left, int right)
{
    if (right <= left)
        return;
    glScissor(left, 0, right - left, size->height);
    glBindTexture(GL_TEXTURE_2D, texture);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static void draw_pictures(const struct renderer *renderer, const struct scene *scene, const struct window_size *size)
{
    const struct renderer_box box = renderer_picture_box(scene, size);
    if (!scene->texture || box.width < 1)
        return;
    const int split = scene->right_texture ? split_column(scene, &box) : size->width;
    if (copy_parts(renderer, scene, size, &box, split))
        return;
    const float width = (float)size->width, height = (float)size->height;
    glUseProgram(renderer->program);
    glUniform4f(renderer->box, 2 * box.x / width - 1, 1 - 2 * (box.y + box.height) / height,
                2 * (box.x + box.width) / width - 1, 1 - 2 * box.y / height);
    glActiveTexture(GL_TEXTURE0);
    glBindSampler(0, is_whole_number(scene, &box) ? renderer->nearest : renderer->linear);
    glBindVertexArray(renderer->array);
    glEnable(GL_SCISSOR_TEST);
    draw_part(scene->texture, size, 0, split);
    draw_part(scene->right_texture, size, split, size->width);
    glDisable(GL_SCISSOR_TEST);
    glBindVertexArray(0);
    glBindSampler(0, 0);
    glBindTexture(GL_TEXTURE_2D, 0);
}

// Draws the pictures of the list's rows over the list: the whole sheet for each row, clipped to the row's picture.
static void draw_sheet(struct renderer *renderer, const struct choice_list *list, const struct window_size *size)
{
    if (!list->title[0] || !list->sheet)
        return;
    if (renderer->sheet_changes != list->sheet_changes && !upload_picture(&renderer->sheet, list->sheet))
        return;
    renderer->sheet_changes = list->sheet_changes;
    const float width = (float)size->width, height = (float)size->height;
    const int count = list->sheet->shape.height / CHOICE_HEIGHT;
    glUseProgram(renderer->program);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, renderer->sheet.texture);
    glBindSampler(0, renderer->linear);
    glBindVertexArray(renderer->array);
    glDisable(GL_BLEND);
    glEnable(GL_SCISSOR_TEST);
    for (int i = 0; i < list->rows; i++) {
        const struct rect at = choice_list_picture(&renderer->canvas, list, i);
        const float top = (float)(at.y - list->picture[i] * at.height), bottom = top + (float)(count * at.height);
        glUniform4f(renderer->box, 2 * (float)at.x / width - 1, 1 - 2 * bottom / height,
                    2 * (float)(at.x + at.width) / width - 1, 1 - 2 * top / height);
        glScissor(at.x, size->height - at.y - at.height, at.width, at.height);
        if (list->picture[i] >= 0)
            glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }
    glDisable(GL_SCISSOR_TEST);
    glBindVertexArray(0);
    glBindSampler(0, 0);
    glBindTexture(GL_TEXTURE_2D, 0);
}

// Sets all state that drawing depends on, because other code uses the context too. Bytes must arrive unchanged.
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

// A light line beside a dark one is visible on every picture.
static void add_divider(struct canvas *canvas, const struct scene *scene, const struct window_size *size)
{
    const struct renderer_box box = renderer_picture_box(scene, size);
    const int x = split_column(scene, &box);
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
    const bool measured = timer_begin(&renderer->timer, renderer->es);
    set_state(renderer, size);
    // A picture that is copied to all of the window needs no clear. Where the CPU draws, a clear takes as long as the
    // copy.
    if (!renderer->reader || !scene->texture || scene->zoom > 0 || scene->width != size->width ||
        scene->height != size->height) {
        glClearColor(0, 0, 0, 1);
        glClear(GL_COLOR_BUFFER_BIT);
    }
    draw_pictures(renderer, scene, size);

    struct canvas *canvas = &renderer->canvas;
    canvas_begin(canvas, size->width, size->height, size->scale > 0 ? size->scale : 1);
    if (scene->texture && scene->right_texture)
        add_divider(canvas, scene, size);
    if (scene->overlay)
        overlay_draw(canvas, scene->overlay);
    canvas_show(canvas);
    if (scene->overlay)
        draw_sheet(renderer, &scene->overlay->list, size);
    if (measured)
        glEndQuery(GL_TIME_ELAPSED);
}

const struct canvas *renderer_canvas(const struct renderer *renderer)
{
    return &renderer->canvas;
}

int64_t renderer_gpu_ns(const struct renderer *renderer)
{
    return renderer->timer.ns;
}

// ---- the window of an error ----

enum { WIDTH = 720, HEIGHT = 200, POLL_NS = 30000000 };

// Returns false when the user has closed the window.
static bool stays(struct window *window)
{
    struct window_event event;
    while (window_next_event(window, &event)) {
        if (event.type == WINDOW_CLOSE || event.type == WINDOW_KEY)
            return false;
    }
    return !window_lost(window) && !process_interrupted();
}

void error_window_show(const char *text)
{
    char why[256];
    struct overlay overlay = {.message_is_error = true};
    struct window *window =
        window_open(&(struct window_setup){.title = "monocle: error", .width = WIDTH, .height = HEIGHT}, why);
    struct renderer *renderer = window ? renderer_open() : NULL;
    snprintf(overlay.message, sizeof(overlay.message), "%.*s\n\nAny key closes this window.",
             (int)sizeof(overlay.message) - 40, text);
    while (renderer && stays(window)) {
        const struct window_size size = window_size(window);
        renderer_draw(renderer, &(struct scene){.overlay = &overlay}, &size);
        window_swap(window);
        clock_sleep_until_ns(clock_now_ns() + POLL_NS);
    }
    renderer_close(renderer);
    window_close(window);
}
