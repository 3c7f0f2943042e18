// zerocopy.c: the path `zerocopy`, which tries its sharing modes in order and may time two of them
#include "path/backend.h"

#include "base/log.h"
#include "compute/gl_context.h"
#include "path/variants.h"

#include <epoxy/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The places of the output, best first. The gl path is one of the modes.
enum mode { MODE_TEXTURE, MODE_GL, MODE_MAPPED, MODE_READ, MODES };

enum { WARM_FRAMES = 2, TIMED_FRAMES = 5 };

static struct path *open_mode(const struct path_setup *setup, enum mode mode, char **error)
{
    static const enum opencl_output outputs[] = {
        [MODE_TEXTURE] = OUTPUT_TEXTURE, [MODE_MAPPED] = OUTPUT_MAPPED, [MODE_READ] = OUTPUT_READ};
    return mode == MODE_GL ? gl_open(setup, error) : opencl_open(setup, outputs[mode], error);
}

// ---- gl or OpenCL: a measurement ----

struct race {
    const struct path_setup *setup;
    enum mode opencl;        // MODE_MAPPED or MODE_READ
    double gl_ms, opencl_ms; // of one frame, from memory to a texture; 0: it does not run
};

// Runs a frame through the path, to a texture.
static bool run_frame(struct path *path, const struct image *frame)
{
    struct path_result result;
    if (!path_submit(path, frame, 0) || !path_collect(path, &result))
        return false;
    if (!result.texture) { // as the window does with a picture in memory
        glPixelStorei(GL_UNPACK_ROW_LENGTH, result.image.stride[0] / 4);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, result.width, result.height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                     result.image.plane[0]);
        glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    }
    glFinish();
    return true;
}

static double time_mode(const struct path_setup *setup, enum mode mode, const struct image *frame)
{
    char *error = NULL;
    GLuint texture;
    int64_t start_ns = 0;
    int done = 0;
    struct path *path = open_mode(setup, mode, &error);
    free(error);
    if (!path)
        return 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    for (; done < WARM_FRAMES + TIMED_FRAMES; done++) {
        start_ns = done == WARM_FRAMES ? clock_now_ns() : start_ns;
        if (!run_frame(path, frame))
            break;
        glBindTexture(GL_TEXTURE_2D, texture);
    }
    const int64_t end_ns = clock_now_ns();
    glDeleteTextures(1, &texture);
    path_close(path);
    return done == WARM_FRAMES + TIMED_FRAMES ? (double)(end_ns - start_ns) / TIMED_FRAMES / 1e6 : 0;
}

// Returns true if both contexts draw with the same renderer, which the name ends with.
static bool same_renderer(const struct gl_context *a, const struct gl_context *b)
{
    const char *first = strstr(a->name, ": "), *second = strstr(b->name, ": ");
    return first && second && strcmp(first, second) == 0;
}

// Times both modes in a GL context of its own, which a thread of its own binds: the caller's stays as it is. A context
// of another GPU says nothing about the caller's.
static void *run_race(void *context)
{
    struct race *race = context;
    struct path_setup setup = *race->setup;
    struct image frame = {0};
    char why[256];
    setup.gl = gl_context_open(false, why);
    if (setup.gl && same_renderer(setup.gl, race->setup->gl) && image_alloc(&frame, &setup.input) &&
        gl_context_bind(setup.gl, false)) {
        race->gl_ms = time_mode(&setup, MODE_GL, &frame);
        race->opencl_ms = time_mode(&setup, race->opencl, &frame);
        gl_context_unbind(setup.gl, false);
    }
    image_free(&frame);
    gl_context_close(setup.gl);
    return NULL;
}

// As verdict_find: "gl takes 1.2 ms per frame, mapped 3.4 ms", the faster one first; "" if they cannot be compared.
static enum verdict_hold find_faster(void *context, char verdict[VERDICT_TEXT])
{
    struct race *race = context;
    const char *opencl = race->opencl == MODE_MAPPED ? "mapped" : "opencl";
    pthread_t thread;
    verdict[0] = '\0';
    if (pthread_create(&thread, NULL, run_race, race) != 0)
        return VERDICT_UNKNOWN;
    pthread_join(thread, NULL);
    if (race->gl_ms <= 0 || race->opencl_ms <= 0)
        return VERDICT_UNKNOWN;
    const char *format = "%s takes %.1f ms per frame, %s %.1f ms";
    if (race->gl_ms <= race->opencl_ms)
        snprintf(verdict, VERDICT_TEXT, format, "gl", race->gl_ms, opencl, race->opencl_ms);
    else
        snprintf(verdict, VERDICT_TEXT, format, opencl, race->opencl_ms, "gl", race->gl_ms);
    return VERDICT_UNKNOWN; // other work may have disturbed it, so the next run measures again
}

// Returns true if OpenCL and a copy to a texture are faster than the gl path. Once per run and GL context.
static bool opencl_is_faster(const struct path_setup *setup, enum mode opencl, char verdict[VERDICT_TEXT])
{
    char key[GL_NAME + 32];
    struct race race = {.setup = setup, .opencl = opencl};
    const int bytes = snprintf(key, sizeof(key), "gl or opencl: %s", setup->gl->name);
    if (verdicts_get(&setup->device->verdicts, key, (size_t)bytes, find_faster, &race, verdict) && verdict[0])
        log_info("without GL sharing, %s", verdict);
    return verdict[0] && strncmp(verdict, "gl ", 3) != 0;
}

// ---- the path ----

// Sets the modes that the setup allows. Returns why the path shares no texture, or why it does.
static const char *find_modes(const struct path_setup *setup, bool possible[MODES])
{
    const struct device *device = setup->device;
    const bool shares = setup->textures && device->shares_gl;
    // On NVIDIA 580, conversion to YUV from a shared image gave wrong bytes, so a result that is converted stays in a
    // buffer.
    const bool encodes = setup->encode.width > 0;
    possible[MODE_TEXTURE] = shares && !encodes && !setup->measures;
    // The gl path converts to YUV on the host, and takes no variants.
    possible[MODE_GL] = setup->textures && setup->gl && !setup->gl->software && !encodes && !setup->variant;
    possible[MODE_MAPPED] = device->info.host_unified;
    possible[MODE_READ] = true;
    if (shares && encodes)
        return "the virtual camera needs results in a buffer";
    if (shares && setup->measures)
        return "measures need results in a buffer";
    return setup->textures ? device->sharing_why : "no window";
}

// path->info.why says why the modes before it failed. A kernel that does not compile fails in every mode, so *error is
// that of the last mode.
struct path *zerocopy_open(const struct path_setup *setup, char **error)
{
    bool possible[MODES];
    char timed[VERDICT_TEXT] = "";
    const char *why = find_modes(setup, possible);
    struct path *path = NULL;
    for (enum mode mode = MODE_TEXTURE; !path && mode < MODES; mode++) {
        if (!possible[mode])
            continue;
        if (mode == MODE_GL && opencl_is_faster(setup, possible[MODE_MAPPED] ? MODE_MAPPED : MODE_READ, timed))
            continue;
        if (error) {
            free(*error);
            *error = NULL;
        }
        path = open_mode(setup, mode, error);
        if (path)
            snprintf(path->info.why, sizeof(path->info.why), "%s%s%s%s",
                     mode == MODE_TEXTURE ? "" : "no GL sharing: ", why, timed[0] ? "; " : "", timed);
        else if (mode == MODE_TEXTURE)
            why = "cannot create shared textures";
    }
    return path;
}
