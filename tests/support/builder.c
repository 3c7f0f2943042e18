// builder.c: checks the builder of a GL context
#include "builder.h"

#include <epoxy/gl.h>

#include <pthread.h>
#include <stdint.h>
#include <string.h>

struct built {
    struct check *check;
    struct gl_context *context;
    GLuint texture, program;
};

static void add_shader(const struct built *built, GLenum type, const char *text)
{
    const char *const version = epoxy_is_desktop_gl() ? "#version 330 core\n" : "#version 300 es\n";
    const char *const texts[] = {version, text};
    GLint compiled = 0;
    const GLuint shader = glCreateShader(type);
    glShaderSource(shader, 2, texts, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
    check_that(built->check, compiled, "a shader compiles");
    glAttachShader(built->program, shader);
    glDeleteShader(shader);
}

// Makes a program that draws the first pixel of a texture everywhere, and a texture of one pixel.
static void *build(void *pointer)
{
    struct built *built = pointer;
    if (!check_that(built->check, built->context->bind(built->context, true), "the builder binds"))
        return NULL;
    built->program = glCreateProgram();
    add_shader(built, GL_VERTEX_SHADER,
               "void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }");
    add_shader(built, GL_FRAGMENT_SHADER,
               "uniform highp sampler2D from; out highp vec4 color;\n"
               "void main() { color = texelFetch(from, ivec2(0), 0); }");
    glLinkProgram(built->program);
    glGenTextures(1, &built->texture);
    glBindTexture(GL_TEXTURE_2D, built->texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, (uint8_t[]){1, 2, 3, 4});
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glFinish();
    built->context->unbind(built->context, true);
    return NULL;
}

static void draw(const struct built *built, const char *where)
{
    uint8_t pixel[4] = {0};
    GLuint target, framebuffer, array;
    GLint before[4];
    glGetIntegerv(GL_VIEWPORT, before);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glGenTextures(1, &target);
    glBindTexture(GL_TEXTURE_2D, target);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
    glViewport(0, 0, 1, 1);
    glBindTexture(GL_TEXTURE_2D, built->texture);
    glUseProgram(built->program);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    const GLenum error = glGetError();
    check_that(built->check, error == GL_NO_ERROR && memcmp(pixel, (uint8_t[]){1, 2, 3, 4}, 4) == 0,
               "built on %s thread: drew %d %d %d %d, GL error 0x%x", where, pixel[0], pixel[1], pixel[2], pixel[3],
               error);
    glUseProgram(0);
    glBindVertexArray(0);
    glBindTexture(GL_TEXTURE_2D, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glViewport(before[0], before[1], before[2], before[3]);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteVertexArrays(1, &array);
    glDeleteTextures(2, (GLuint[]){target, built->texture});
    glDeleteProgram(built->program);
}

void check_builder(struct check *check, struct gl_context *context)
{
    struct built built = {.check = check, .context = context};
    pthread_t thread;
    const bool started = pthread_create(&thread, NULL, build, &built) == 0;
    if (started)
        pthread_join(thread, NULL);
    if (!check_that(check, started, "a thread starts"))
        return;
    draw(&built, "another");
    build(&built);
    draw(&built, "this");
}
