// stb.h: what is used of stb_image and stb_image_write, compiled in one place
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the picture's head says; `deep` is 16 bits per channel. False where the head is bad.
bool stb_info(const void *data, size_t size, int *width, int *height, bool *deep);

// RGBA pixels, stb_free them. NULL on failure with stb's short reason; *cut_short tells that data ended too early,
// which stb itself often lets pass.
uint8_t *stb_decode(const void *data, size_t size, int *width, int *height, bool *cut_short, const char **why);
void stb_free(void *pixels); // takes NULL

// A PNG file in memory, stb_free it; NULL when memory runs out. At most STB_PNG_MAX bytes of pixels.
uint8_t *stb_encode_png(const uint8_t *rgba, size_t stride, int width, int height, size_t *size);
#define STB_PNG_MAX ((size_t)1 << 29) // stb_image_write counts bytes in doubling ints
