// inspect_gl.c: opens GL contexts with and without a window, and tries the gl path; runs in a child process (inspect.h)
#include "inspect/inspect.h"

#include "base/json_text.h"
#include "compute/gl_context.h"
#include "path/path.h"
#include "screen/window.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Filters a frame. Returns false on failure, with the reason.
static bool filter(const struct path_setup *setup, const struct image *frame, struct image *rgba, char why[256])
{
    char *error = NULL;
    struct path_result result;
    struct path *path = path_open(setup, &error);
    const bool ok =
        path && path_submit(path, frame, NULL) && path_collect(path, &result) && path_read(path, &result, rgba);
    if (!ok)
        snprintf(why, 256, "%.*s", (int)strcspn(error ? error : "", "\n"), error ? error : "it cannot filter a frame");
    path_close(path);
    free(error);
    return ok;
}

// Compares the gl path with the cpu path. Call it with the context current. Returns false if gl does not work, with the
// reason.
static bool try_path(struct gl_context *context, char why[256])
{
    struct chain chain;
    struct image frame = {0}, want = {0}, got = {0};
    char error[CHAIN_ERROR];
    const struct image_shape rgba = {.format = PIXFMT_RGBA, .width = 64, .height = 32};
    struct path_setup setup = {.kind = PATH_CPU, .input = rgba, .chain = &chain, .gl = context};
    bool ok = chain_parse(&chain, "blur=2,gray,emboss", error) && image_alloc(&frame, &setup.input) &&
              image_alloc(&want, &rgba) && image_alloc(&got, &rgba);
    snprintf(why, 256, "out of memory");
    for (size_t i = 0; ok && i < image_bytes(&setup.input); i++)
        frame.plane[0][i] = (uint8_t)(i * 37 + i / 64);
    ok = ok && filter(&setup, &frame, &want, why);
    setup.kind = PATH_GL;
    ok = ok && filter(&setup, &frame, &got, why);
    if (ok && memcmp(want.plane[0], got.plane[0], image_bytes(&rgba)) != 0) {
        snprintf(why, 256, "it computes wrong pixels");
        ok = false;
    }
    image_free(&frame);
    image_free(&want);
    image_free(&got);
    return ok;
}

static json_t *context_json(const struct gl_context *context, const char *why, bool right, const char *fault)
{
    return json_pack("{s:b,s:b,s:o,s:b,s:o}", "works", (int)(context != NULL), "software",
                     (int)(context && context->software), "text", text_json(context ? context->name : why), "filters",
                     (int)right, "why", text_json(fault));
}

// Writes the context, which is current, or why there is none (context NULL). If the gl path crashes, the first line
// stays valid.
static void write_context(const char *name, struct gl_context *context, const char *why)
{
    char fault[256] = "";
    inspect_write(json_pack("{s:o}", name, context_json(context, why, false, "not tested")));
    if (context) {
        const bool right = try_path(context, fault);
        inspect_write(json_pack("{s:o}", name, context_json(context, why, right, right ? "" : fault)));
    }
}

void inspect_gl(void)
{
    static const struct {
        const char *name;
        struct window_setup setup;
    } kinds[] = {
        {"GLX", {.width = 16, .height = 16, .hidden = true}},
        {"EGL", {.width = 16, .height = 16, .hidden = true, .egl = true}},
        {"ES", {.width = 16, .height = 16, .hidden = true, .es = true}},
    };
    char why[256] = "";
    struct gl_context *context = gl_context_open_current(why);
    write_context("headless", context, why);
    gl_context_close_current(context);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        why[0] = '\0';
        struct window *window = window_open(&kinds[i].setup, why);
        write_context(kinds[i].name, window_gl(window), why);
        window_close(window);
    }
}
