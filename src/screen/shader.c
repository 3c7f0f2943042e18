// shader.c: GL programs from the embedded shader files
#include "screen/shader.h"

#include "base/gl_handles.h"
#include "base/log.h"
#include "base/resource.h"

#include <epoxy/gl.h>

#include <stdio.h>
#include <string.h>

// Ends with #line, so that a compiler's messages have the file's line numbers.
static const char *prelude(void)
{
    return epoxy_is_desktop_gl() ? "#version 330 core\n#line 1\n"
                                 : "#version 300 es\nprecision highp float;\nprecision highp sampler2D;\n#line 1\n";
}

static unsigned compile(const char *name, const char *suffix, GLenum kind)
{
    char file[64], message[1024] = "";
    snprintf(file, sizeof(file), "shaders/%s.%s", name, suffix);
    const struct resource *text = resource_find(file);
    if (!text) {
        log_error("the shader %s is not in the program", file);
        return 0;
    }
    const GLchar *const parts[] = {prelude(), (const GLchar *)text->data};
    const GLint lengths[] = {-1, (GLint)text->size};
    const unsigned shader = glCreateShader(kind);
    glShaderSource(shader, 2, parts, lengths);
    glCompileShader(shader);
    GLint ok = GL_FALSE;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (ok)
        return shader;
    glGetShaderInfoLog(shader, sizeof(message), NULL, message);
    log_message(LOG_ERROR + LOG_LINES, "cannot compile the shader %s: %s", file, message);
    glDeleteShader(shader);
    return 0;
}

unsigned shader_build(const char *name)
{
    char why[1024] = "";
    const unsigned vertex = compile(name, "vert", GL_VERTEX_SHADER);
    const unsigned fragment = compile(name, "frag", GL_FRAGMENT_SHADER);
    const unsigned program = gl_link(vertex, fragment, why, sizeof(why));
    if (!program && vertex && fragment)
        log_message(LOG_ERROR + LOG_LINES, "cannot link the shader %s: %s", name, why);
    return program;
}

bool shader_on_cpu(void)
{
    const char *renderer = (const char *)glGetString(GL_RENDERER);
    return epoxy_is_desktop_gl() && renderer &&
           (strncmp(renderer, "llvmpipe", 8) == 0 || strncmp(renderer, "softpipe", 8) == 0);
}
