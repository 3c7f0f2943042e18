// inspect.c: queries of drivers: the parent, the child, and GL contexts
#include "inspect/inspect.h"

#include "base/child.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/text.h"
#include "compute/drivers.h"
#include "compute/gl_context.h"
#include "path/path.h"
#include "screen/window.h"
#include "source/cameras.h"

#include <dlfcn.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- GL contexts, in the child ----

// Filters a frame. Returns false on failure, with the reason.
static bool filter(const struct path_setup *setup, const struct image *frame, struct image *rgba, char why[256])
{
    char *error = NULL;
    const bool ok = path_filter(setup, frame, rgba, &error);
    if (!ok)
        snprintf(why, 256, "%.*s", (int)strcspn(text_or(error, ""), "\n"), text_or(error, "it cannot filter a frame"));
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
    snprintf(why, 256, "the test frames cannot be allocated");
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

// Writes the GL contexts, by name: without a window ("headless"), and of windows ("GLX", "EGL", "ES").
static void inspect_gl(void)
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

// In seconds. A device compiles kernels, which takes minutes on a slow board or in an emulator.
enum { LIMIT_S = 60, DEVICE_LIMIT_S = 180 };
// The exit status of a complete answer. 0 or 1: the driver ended the process.
enum { DONE = 100 };
#define DATA_LEAST ((size_t)16 << 30)

// ---- the parent ----

static int limit_of(const char *what)
{
    return strcmp(what, INSPECT_DEVICE) == 0 ? DEVICE_LIMIT_S : LIMIT_S;
}

struct answers {
    json_t *all;
    const char *what, *argument;
    struct status_line status;
};

// Adds a line, which is a JSON object; NULL: the child is still at work.
static bool merge(void *context, char *text)
{
    struct answers *answers = context;
    json_t *part = text ? json_loads(text, 0, NULL) : NULL;
    if (json_is_object(part))
        json_object_update(answers->all, part);
    json_decref(part);
    if (!text)
        status_line_tick(&answers->status, "testing %s %s", answers->what, answers->argument);
    return true;
}

json_t *inspect(const char *what, const char *argument, char why[INSPECT_WHY])
{
    char parent[16];
    int value;
    snprintf(parent, sizeof(parent), "%d", (int)getpid());
    char *const arguments[] = {"monocle", "inspect", parent, (char *)what, (char *)argument, NULL};
    struct answers answers = {.all = json_object(), .what = what, .argument = argument};
    const enum child_end end = child_talk(child_program, arguments, limit_of(what) * 1000, &value, merge, &answers);
    status_line_end(&answers.status);
    why[0] = '\0';
    if (end != CHILD_EXITED || value != DONE)
        child_explain(end, value, limit_of(what), limit_of(what), why);
    return answers.all;
}

// ---- the child ----

void inspect_write(json_t *object)
{
    char *line = json_dumps(object, JSON_COMPACT);
    if (line)
        child_write(line);
    free(line);
    json_decref(object);
}

static void load_driver(const char *library)
{
    inspect_write(json_pack("{s:o}", "error", dlopen(library, RTLD_NOW) ? json_string("") : text_json(dlerror())));
    inspect_write(inspect_device_list());
}

static void open_cameras(void)
{
    int count;
    struct camera_node *nodes = camera_nodes(&count);
    for (int i = 0; i < count; i++) {
        const struct camera_node *node = &nodes[i];
        inspect_write(json_pack("{s:{s:o,s:o,s:b,s:o,s:o}}", node->path, "name", text_json(node->card), "driver",
                                text_json(node->driver), "opened", (int)node->opened, "why",
                                text_json(node->why ? node->why : ""), "passed", text_json(node->passed)));
    }
    free(nodes);
}

static void answer(const char *what, const char *argument)
{
    if (strcmp(what, INSPECT_OPENCL) == 0)
        inspect_write(inspect_device_list());
    else if (strcmp(what, INSPECT_DRIVER) == 0)
        load_driver(argument);
    else if (strcmp(what, INSPECT_DEVICE) == 0)
        inspect_device(atoi(argument));
    else if (strcmp(what, INSPECT_GL) == 0)
        inspect_gl();
    else
        open_cameras();
}

int inspect_answer(char *const *argv)
{
    child_begin(atoi(argv[1]), child_memory(DATA_LEAST), limit_of(argv[2]));
    drivers_guard_skip();
    answer(argv[2], argv[3]);
    return DONE;
}
