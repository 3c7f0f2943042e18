// test_gl_context.c: GL contexts without a window: drawing, objects shared with the builder, missing libraries
#include "builder.h"
#include "compute/gl_context.h"
#include "unit.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>

static const char *missing; // a library that cannot be loaded now; NULL: none
static bool egl_missing;

void *__real_dlopen(const char *file, int flags);
void *__wrap_dlopen(const char *file, int flags);
void *__wrap_dlopen(const char *file, int flags)
{
    return missing && file && strstr(file, missing) ? NULL : __real_dlopen(file, flags);
}

bool __real_epoxy_has_egl(void);
bool __wrap_epoxy_has_egl(void);
bool __wrap_epoxy_has_egl(void)
{
    return !egl_missing && __real_epoxy_has_egl();
}

static void test_missing(void)
{
    char why[256] = "";
    egl_missing = true;
    CHECK(!gl_context_open(false, why));
    CHECK_HAS(why, "libEGL.so.1 is missing");
    egl_missing = false;
    missing = "libGLESv2";
    CHECK(!gl_context_open(true, why));
    CHECK_HAS(why, "libGLESv2.so.2 is missing");
    missing = NULL;
}

static void test_context(bool es)
{
    char why[256] = "";
    struct gl_context *context = gl_context_open(es, why);
    CHECK_TEXT(why, "");
    if (!CHECK(context))
        return;
    printf("%s%s\n", context->name, context->software ? " (software)" : "");
    CHECK_HAS(context->name, es ? "OpenGL ES 3." : " core over EGL: ");
    CHECK(eglGetCurrentContext() == EGL_NO_CONTEXT);
    CHECK(gl_context_bind(context, false));
    CHECK(epoxy_is_desktop_gl() != es);
    const EGLContext first = eglGetCurrentContext();
    check_builder(&unit, context);
    CHECK(eglGetCurrentContext() == first);
    gl_context_unbind(context, false);
    CHECK(eglGetCurrentContext() == EGL_NO_CONTEXT);
    gl_context_close(context);
}

// Closing one of two contexts leaves the other usable.
static void test_two(void)
{
    char why[256];
    struct gl_context *first = gl_context_open(true, why), *second = gl_context_open(true, why);
    gl_context_close(first);
    if (!CHECK(second && gl_context_bind(second, false)))
        return;
    check_builder(&unit, second);
    gl_context_unbind(second, false);
    gl_context_close(second);
}

int main(void)
{
    char why[256];
    struct gl_context *context = gl_context_open(false, why);
    if (!context) {
        printf("skipped: no GL without a window: %s\n", why);
        return CHECK_SKIP;
    }
    gl_context_close(context);
    test_missing();
    test_context(false);
    test_context(true);
    test_two();
    return check_end(&unit);
}
