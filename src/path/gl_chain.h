// gl_chain.h: a chain as textures and shaders
#pragma once

#include "base/gl_handles.h"
#include "path/gl_program.h"
#include "path/pass_text.h"

// What a chain is compiled for.
struct gl_target {
    struct gl_context *context;
    struct image_shape input;
    bool es;
    const char *kernel_dir; // NULL: none
};

struct gl_chain {
    const struct gl_target *target; // borrowed
    struct plan plan;
    struct gl_step step[GL_STEPS];
    int steps;
    struct gl_program *program[GL_STEPS];
    int32_t few[GL_STEPS][GL_FEW_NUMBERS]; // the arguments
    unsigned numbers[GL_STEPS];            // or their textures; 0: they are few
    struct pass_follower follower[GL_STEPS][CHAIN_MAX];
    int followers[GL_STEPS];
    uint8_t *strip;                    // memory for STRIP_ROWS rows of a picture that is read back; NULL: none
    uint32_t (*counts)[FILTER_LEVELS]; // of its parts
    // A step's pictures of the frame before: two textures, which are read and written in turn.
    unsigned second[GL_STEPS][2];
    int turn;                   // the number of the texture that is read next
    unsigned between[GL_STEPS]; // the output of each step but the last; some steps share a texture
};

// Makes an empty texture, which texelFetch can read. Returns 0 if GL refuses it.
unsigned gl_texture_open(unsigned format, unsigned layout, unsigned type, int width, int height);

// Builds the users' filters of the chain in a child process. Returns false if the driver's compiler crashes or exceeds
// a limit there; *error is then as in path_open. Needs no context.
bool gl_chain_builds(const struct gl_target *target, const struct chain *chain, char **error);

// The next two need the builder context (compute/gl_context.h).
//
// Plans and compiles a chain. Draws one pixel with each new program, because drivers finish compiling at the first
// draw. NULL on failure: *error as in path_open.
struct gl_chain *gl_chain_open(const struct gl_target *target, const struct chain *chain, char **error);
void gl_chain_close(struct gl_chain *chain); // accepts NULL

// Sets all of the context's state that drawing depends on, because other code uses the context too.
void gl_chain_begin(bool es);
// Draws all steps for a frame from the textures of a frame's planes, through a framebuffer of this context and a
// vertex array, to the texture `to`. Calls `passed` after each pass.
void gl_chain_draw(struct gl_chain *chain, struct frame_time frame_time, const unsigned planes[PIXFMT_PLANES],
                   unsigned framebuffer, unsigned array, unsigned to, void (*passed)(void *context), void *context);
// Leaves the context as other code expects it.
void gl_chain_end(void);
