// picture.c: draws the scene's pictures into their box
#include "screen/picture.h"

#include "screen/shader.h"

#include <epoxy/gl.h>

#include <math.h>

// Copying would give a window with alpha the picture's.
static bool window_has_alpha(void)
{
    GLint bits = 0;
    glGetFramebufferAttachmentParameteriv(GL_FRAMEBUFFER, GL_BACK_LEFT, GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE, &bits);
    return bits > 0;
}

bool picture_init(struct picture *picture, bool es)
{
    *picture = (struct picture){0};
    picture->program = shader_build("picture", es);
    if (!picture->program)
        return false;
    picture->box = glGetUniformLocation(picture->program, "box");
    glGenVertexArrays(1, &picture->array); // empty: the shader makes the corners
    glGenSamplers(1, &picture->nearest);
    glGenSamplers(1, &picture->linear);
    const GLuint samplers[] = {picture->nearest, picture->linear};
    for (int i = 0; i < 2; i++) {
        const GLint filter = i == 0 ? GL_NEAREST : GL_LINEAR;
        glSamplerParameteri(samplers[i], GL_TEXTURE_MIN_FILTER, filter);
        glSamplerParameteri(samplers[i], GL_TEXTURE_MAG_FILTER, filter);
        glSamplerParameteri(samplers[i], GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
        glSamplerParameteri(samplers[i], GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    }
    if (shader_on_cpu() && !window_has_alpha())
        glGenFramebuffers(1, &picture->reader);
    return true;
}

void picture_finish(struct picture *picture)
{
    if (picture->array) {
        glDeleteVertexArrays(1, &picture->array);
        glDeleteSamplers(1, &picture->nearest);
        glDeleteSamplers(1, &picture->linear);
    }
    if (picture->reader)
        glDeleteFramebuffers(1, &picture->reader);
    if (picture->program)
        glDeleteProgram(picture->program);
    *picture = (struct picture){0};
}

struct renderer_box renderer_picture_box(const struct scene *scene, const struct window_size *size)
{
    const int64_t width = scene->width, height = scene->height;
    if (width < 1 || height < 1 || size->width < 1 || size->height < 1)
        return (struct renderer_box){0};
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

int picture_split(const struct scene *scene, const struct renderer_box *box)
{
    const float divider = fminf(fmaxf(scene->divider, 0), 1);
    return (int)lroundf(box->x + divider * box->width);
}

static bool is_whole_number(const struct scene *scene, const struct renderer_box *box)
{
    const int across = (int)box->width, down = (int)box->height;
    return across % scene->width == 0 && down % scene->height == 0 && across / scene->width == down / scene->height;
}

// The same columns copied, where the picture has the size of its box. False where its texture can't be read so.
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

bool picture_covers(const struct picture *picture, const struct scene *scene, const struct window_size *size)
{
    return picture->reader && scene->texture && scene->width == size->width && scene->height == size->height;
}

static bool copy_parts(const struct picture *picture, const struct scene *scene, const struct window_size *size,
                       const struct renderer_box *box, int split)
{
    if (!picture->reader || (int)box->width != scene->width || (int)box->height != scene->height)
        return false;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, picture->reader);
    const bool done = copy_part(scene->texture, size, box, 0, split) &&
                      copy_part(scene->right_texture, size, box, split, size->width);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    return done;
}

// One texture in the columns from `left` to `right` of the framebuffer.
static void draw_part(unsigned texture, const struct window_size *size, int left, int right)
{
    if (right <= left)
        return;
    glScissor(left, 0, right - left, size->height);
    glBindTexture(GL_TEXTURE_2D, texture);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

void picture_draw(const struct picture *picture, const struct scene *scene, const struct window_size *size)
{
    const struct renderer_box box = renderer_picture_box(scene, size);
    if (!scene->texture || box.width < 1)
        return;
    const int split = scene->right_texture ? picture_split(scene, &box) : size->width;
    if (copy_parts(picture, scene, size, &box, split))
        return;
    const float width = (float)size->width, height = (float)size->height;
    glUseProgram(picture->program);
    glUniform4f(picture->box, 2 * box.x / width - 1, 1 - 2 * (box.y + box.height) / height,
                2 * (box.x + box.width) / width - 1, 1 - 2 * box.y / height);
    glActiveTexture(GL_TEXTURE0);
    glBindSampler(0, is_whole_number(scene, &box) ? picture->nearest : picture->linear);
    glBindVertexArray(picture->array);
    glEnable(GL_SCISSOR_TEST);
    draw_part(scene->texture, size, 0, split);
    draw_part(scene->right_texture, size, split, size->width);
    glDisable(GL_SCISSOR_TEST);
    glBindVertexArray(0);
    glBindSampler(0, 0);
    glBindTexture(GL_TEXTURE_2D, 0);
}
