// canvas.h: rectangles, panels and letters, drawn over the picture in one GL call (main thread, current context)
#pragma once

#include "base/text.h"
#include "image/font.h"
#include "image/image.h"

#include <stdbool.h>
#include <stdint.h>

struct canvas {
    int width, height;   // framebuffer, in pixels; positions count from its top left
    float scale;         // content scale
    struct atlas *atlas; // letters and corners in a texture
    struct quad *quad;   // shapes that canvas_show draws
    int quads;
    unsigned program, array, buffer, texture; // GL names
    int framebuffer;                          // uniform
};

// Letters of one size. The canvas stretches the font a little: the width of letters, and the height of small letters,
// become a whole number of pixels. Unhinted outlines then look sharp.
struct letters {
    int x_height;           // pixels; names the size
    int advance;            // from letter to letter
    int cap_height;         // of capitals and digits
    int line;               // from line to line
    float scale_x, scale_y; // font units to pixels
};

struct paint {
    uint8_t red, green, blue, alpha; // not premultiplied
};

struct rect {
    int x, y, width, height;
};

bool canvas_init(struct canvas *canvas);   // false on failure (logged); call canvas_finish in any case
void canvas_finish(struct canvas *canvas); // accepts a zeroed canvas

// Starts a frame of this size. The functions below add shapes to it; beyond 16384 shapes they add nothing.
void canvas_begin(struct canvas *canvas, int width, int height, float scale);
void canvas_fill(struct canvas *canvas, struct rect rect, struct paint paint);
void canvas_round(struct canvas *canvas, struct rect rect, int radius, struct paint paint);
// `x` is the left end and `y` the top of the line. The letters are centred in the line's height.
void canvas_text(struct canvas *canvas, const struct letters *letters, int x, int y, struct span text,
                 struct paint paint);
// The same, cut to `columns` columns with an ellipsis.
void canvas_text_within(struct canvas *canvas, const struct letters *letters, int x, int y, struct span text,
                        int columns, struct paint paint);
// Blends all shapes over the framebuffer, in the order in which they were added.
void canvas_show(struct canvas *canvas);

struct letters canvas_letters(const struct canvas *canvas, int x_height);
int canvas_pixels(const struct canvas *canvas, float units); // units times the content scale; at least 1
int canvas_least(const struct canvas *canvas);               // the smallest readable x-height
// Returns the x-height of ordinary text, which is smaller in a narrow window. `large`: twice as much.
int canvas_x_height(const struct canvas *canvas, bool large);

// Returns the program of shaders/NAME.vert and shaders/NAME.frag for the current context (GL 3.3 core or ES 3.0); the
// caller deletes it. 0 on failure (logged with the compiler's message).
unsigned shader_build(const char *name);

// Returns true if desktop GL draws on the CPU (Mesa's llvmpipe). To copy pixels is then much faster than to draw them.
bool shader_on_cpu(void);

// ---- rectangles and letters, drawn into an RGBA image in memory, without GL ----

struct sketch {
    struct image *image; // RGBA; borrowed
    struct font font;
};

// Letters are `height` pixels from line to line, 8 to 128. False on failure (logged).
bool sketch_init(struct sketch *sketch, struct image *image, int height);
void sketch_finish(struct sketch *sketch); // accepts a zeroed one

// Shapes are cut at the edges of the image. Paint blends over the pixels; their alpha stays.
void sketch_fill(const struct sketch *sketch, struct rect rect, struct paint paint);
// `x` is the left end and `y` the top of the line.
void sketch_text(const struct sketch *sketch, int x, int y, const char *text, struct paint paint);
