// test_gl.c: faults of GL, compilers' messages and the use of programs in the gl path
#include "compute/device.h"
#include "compute/gl_context.h"
#include "path/pass_text.h"
#include "path/path.h"
#include "unit.h"

#include <epoxy/gl.h>
#include <stdlib.h>

static const struct image_shape shape = {.format = PIXFMT_RGBA, .width = 8, .height = 4};
static int compiled;
static PFNGLCOMPILESHADERPROC compile;

static void count_shader(GLuint shader)
{
    compiled++;
    compile(shader);
}

static void *map_nothing(GLenum target, GLintptr offset, GLsizeiptr length, GLbitfield access)
{
    return NULL;
}

static GLenum fail_wait(GLsync sync, GLbitfield flags, GLuint64 timeout)
{
    return GL_WAIT_FAILED;
}

static GLenum never_ends(GLsync sync, GLbitfield flags, GLuint64 timeout)
{
    return GL_TIMEOUT_EXPIRED;
}

static struct path *open_chain(struct gl_context *gl, const char *text)
{
    struct chain chain;
    char error[CHAIN_ERROR];
    if (!CHECK(chain_parse(&chain, text, error)))
        return NULL;
    struct path *path =
        path_open(&(struct path_setup){.kind = PATH_GL, .input = shape, .chain = &chain, .gl = gl}, NULL);
    CHECK(path != NULL);
    return path;
}

static bool run_frame(struct path *path, bool *submitted)
{
    struct path_result result;
    struct image frame;
    if (!CHECK(image_alloc(&frame, &shape)))
        return false;
    memset(frame.memory, 9, image_bytes(&shape));
    *submitted = path_submit(path, &frame, NULL);
    const bool ok = *submitted && path_collect(path, &result);
    image_free(&frame);
    return ok;
}

// A fault of GL is a lost device, so the caller continues on another path.
static void test_faults(struct gl_context *gl)
{
    const PFNGLMAPBUFFERRANGEPROC map = epoxy_glMapBufferRange;
    const PFNGLCLIENTWAITSYNCPROC wait = epoxy_glClientWaitSync;
    bool submitted = false;
    struct path *path = open_chain(gl, "blur=2");
    if (!path)
        return;
    CHECK(run_frame(path, &submitted) && !path_info(path)->lost);
    epoxy_glMapBufferRange = map_nothing;
    CHECK(!run_frame(path, &submitted) && !submitted && path_info(path)->lost);
    epoxy_glMapBufferRange = map;
    CHECK(run_frame(path, &submitted) && !path_info(path)->lost);
    epoxy_glClientWaitSync = fail_wait;
    CHECK(!run_frame(path, &submitted) && submitted && path_info(path)->lost);
    epoxy_glClientWaitSync = never_ends;
    CHECK(!run_frame(path, &submitted) && submitted && path_info(path)->lost);
    epoxy_glClientWaitSync = wait;
    CHECK(run_frame(path, &submitted) && !path_info(path)->lost && path_info(path)->in_flight == 0);
    path_close(path);
}

// A path runs on after another path of the same context was closed (see src/path/gl_program.c).
static void test_close(struct gl_context *gl)
{
    bool submitted = false;
    struct path *path = open_chain(gl, "gray"), *other = open_chain(gl, "blur=2");
    if (path && other) {
        CHECK(run_frame(path, &submitted));
        CHECK(run_frame(other, &submitted));
        CHECK(run_frame(path, &submitted));
        path_close(other);
        glFlush(); // Mesa now frees what the builder has deleted
        CHECK(run_frame(path, &submitted) && !path_info(path)->lost);
    }
    path_close(path);
}

static int compiled_for(struct path *path, const char *text)
{
    struct chain chain;
    char error[CHAIN_ERROR];
    compiled = 0;
    CHECK(chain_parse(&chain, text, error) && path_prepare(path, &chain, NULL));
    path_swap(path);
    return compiled;
}

// Only other filters and another radius need a compiler. A second path of the context needs none.
static void test_programs(struct gl_context *gl)
{
    struct path *path = open_chain(gl, "sharpen=1");
    compile = epoxy_glCompileShader;
    epoxy_glCompileShader = count_shader;
    if (path) {
        CHECK(compiled_for(path, "sharpen=2") == 0);
        CHECK(compiled_for(path, "contrast=2") > 0);
        CHECK(compiled_for(path, "contrast=3:5") == 0);
        CHECK(compiled_for(path, "blur=4") > 0);
        CHECK(compiled_for(path, "blur=3") > 0);
        CHECK(compiled_for(path, "sharpen=3") == 0);
        path_close(path);
        compiled = 0;
        CHECK((path = open_chain(gl, "blur=4")) && compiled == 0);
    }
    epoxy_glCompileShader = compile;
    path_close(path);
}

// Drivers write places in several forms.
static void test_messages(void)
{
    static const char shader[] = "#version 330 core\n//#line 7 \"language.glsl\"\na\nb\n"
                                 "//#line 1 \"gray.cl\"\nc\nd\n//#line 40 \"language.glsl\"\ne\n";
    static const char *const rows[][2] = {
        {"0:6(5): error: syntax error\n", "gray.cl:1(5): error: syntax error\n"},          // Mesa
        {"0(7) : error C0000: syntax error\n", "gray.cl:2 : error C0000: syntax error\n"}, // NVIDIA
        {"ERROR: 0:7: 'p' : undeclared", "gray.cl:2: 'p' : undeclared\n"},                 // ANGLE, Adreno
        {"0:4: a\n0:9: b", "language.glsl:8: a\nlanguage.glsl:40: b\n"},
        {"0:1: no part", "0:1: no part\n"},
        {"99999999999999999999:1 x", "99999999999999999999:1 x\n"},
        {"1:", "1:\n"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *text = gl_explain(shader, rows[i][0]);
        CHECK_TEXT(text, rows[i][1]);
        free(text);
    }
}

// Without GL sharing, zerocopy uses OpenCL and measures nothing: gl is a path of its own.
static void test_no_sharing(struct gl_context *gl)
{
    struct device_info devices[DEVICE_MAX];
    struct path_setup setup = {.kind = PATH_ZEROCOPY, .input = shape, .gl = gl, .textures = true};
    struct chain chain;
    const char *none;
    char error[CHAIN_ERROR];
    bool submitted;
    if (device_list(devices, &none) == 0 || !CHECK(chain_parse(&chain, "emboss", error)))
        return;
    setup.chain = &chain;
    setup.device = device_open(&devices[0], NULL, NULL);
    gl->software = false; // as if a GPU drew
    struct path *path = CHECK(setup.device) ? path_open(&setup, NULL) : NULL;
    if (CHECK(path)) {
        CHECK_TEXT(path_info(path)->sharing, setup.device->info.host_unified ? "mapped" : "opencl");
        CHECK(strncmp(path_info(path)->why, "no GL sharing: ", 15) == 0);
        CHECK(run_frame(path, &submitted));
    }
    path_close(path);
    gl->software = true;
    device_close(setup.device);
}

int main(void)
{
    char why[256];
    test_messages();
    struct gl_context *gl = gl_context_open(false, why);
    if (!gl) {
        fprintf(stderr, "skipped: no GL context: %s\n", why);
        return check_end(&unit) ? 1 : CHECK_SKIP;
    }
    if (CHECK(gl_context_bind(gl, false))) {
        test_faults(gl);
        test_close(gl);
        test_programs(gl);
        test_no_sharing(gl);
        gl_context_unbind(gl, false);
    }
    gl_context_close(gl);
    return check_end(&unit);
}
