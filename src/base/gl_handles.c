// gl_handles.c: describes and tests a GL context
#include "base/gl_handles.h"

#include "base/text.h"

#include <epoxy/gl.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void gl_context_describe(struct gl_context *context, bool es, const char *version, const char *renderer,
                         const char *over)
{
    static const char *const names[] = {"llvmpipe", "softpipe", "swrast", "Software Rasterizer", "SwiftShader"};
    // On ES, the text begins with "OpenGL ES"; after the number, it is the driver's.
    static const char es_prefix[] = "OpenGL ES ";
    if (!version)
        version = "?";
    else if (es && strncmp(version, es_prefix, sizeof(es_prefix) - 1) == 0)
        version += sizeof(es_prefix) - 1;
    if (!renderer)
        renderer = "?";
    snprintf(context->name, sizeof(context->name), "OpenGL %s%.*s%s over %s: %s", text_if(es, "ES "),
             (int)strcspn(version, " "), version, text_if(!es, " core"), over, renderer);
    context->software = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        context->software = context->software || strstr(renderer, names[i]);
}

static pthread_mutex_t software = PTHREAD_MUTEX_INITIALIZER;

void gl_software_lock(const struct gl_context *context)
{
    if (context->software)
        pthread_mutex_lock(&software);
}

void gl_software_unlock(const struct gl_context *context)
{
    if (context->software)
        pthread_mutex_unlock(&software);
}

unsigned gl_link(unsigned vertex, unsigned fragment, char *why, size_t size)
{
    unsigned program = 0;
    GLint ok = GL_FALSE;
    snprintf(why, size, "the GL driver makes no program");
    if (vertex && fragment) {
        program = glCreateProgram();
        glAttachShader(program, vertex);
        glAttachShader(program, fragment);
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &ok);
    }
    if (program && !ok) {
        glGetProgramInfoLog(program, (GLsizei)size, NULL, why);
        glDeleteProgram(program);
        program = 0;
    }
    glDeleteShader(vertex); // GL ignores 0, and a linked program keeps its shaders
    glDeleteShader(fragment);
    return program;
}

static GLuint compile(GLenum type, const char *text)
{
    const GLuint shader = glCreateShader(type);
    const char *const parts[] = {epoxy_is_desktop_gl() ? "#version 330 core\n" : "#version 300 es\n", text};
    glShaderSource(shader, 2, parts, NULL);
    glCompileShader(shader);
    return shader;
}

// Returns 0 if it does not link.
static GLuint open_program(void)
{
    static const char vertex[] =
        "void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }";
    static const char fragment[] = "out highp vec4 color; void main() { color = vec4(1, 0, 1, 0); }";
    char why[1];
    return gl_link(compile(GL_VERTEX_SHADER, vertex), compile(GL_FRAGMENT_SHADER, fragment), why, sizeof(why));
}

bool gl_context_draws(void)
{
    uint8_t pixel[4] = {0};
    GLuint texture, framebuffer, array;
    while (glGetError() != GL_NO_ERROR)
        ; // an error of other code
    const GLuint program = open_program();
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
    glViewport(0, 0, 1, 1);
    glUseProgram(program);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    glUseProgram(0);
    glBindVertexArray(0);
    glBindTexture(GL_TEXTURE_2D, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer);
    glDeleteVertexArrays(1, &array);
    glDeleteTextures(1, &texture);
    glDeleteProgram(program);
    return glGetError() == GL_NO_ERROR && memcmp(pixel, (uint8_t[]){255, 0, 255, 0}, 4) == 0;
}

void gl_context_finish(struct gl_context *context)
{
    if (context->kept)
        context->kept_free(context->kept);
    context->kept = NULL;
    // If the context still used a program of the builder, Mesa 22.3 might hang when it closes the context.
    gl_context_draws();
}
