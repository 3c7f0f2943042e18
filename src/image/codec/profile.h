// profile.h: converts the pixels of an ICC profile (ICC.1:2022) to sRGB, by lcms2. Without lcms2, no profile converts.
#pragma once

#include "image/codec/codec.h"

// A converter. It keeps the transform of the last profile, because the images of a camera share one. One thread at a
// time may use it.
struct profile;

void profile_close(struct profile *profile); // accepts NULL

enum profile_use {
    PROFILE_UNKNOWN, // there is no lcms2
    PROFILE_SRGB,    // the profile is that of sRGB, within 1 of 255
    PROFILE_CONVERTS,
    PROFILE_WRONG, // damaged, too large, or for other pixels
};
enum profile_pixels { PROFILE_GREY, PROFILE_RGB, PROFILE_INK }; // PROFILE_INK: CMYK, as Adobe stores it: 0 is full ink

// Prepares the profile for pixels of this kind, which are decoded as `format`: grey, rgb24, or rgba (also four inks).
// `deep`: profile_convert_deep will convert them, else profile_convert. Opens *profile if it is NULL.
enum profile_use profile_prepare(struct profile **profile, struct codec_bytes icc, enum profile_pixels pixels,
                                 enum pixfmt format, bool deep);

// Converts pixels of the prepared profile in place. Alpha stays; inks become opaque.
void profile_convert(const struct profile *profile, uint8_t *pixels, int count);
// Converts RGBA pixels of 16 bits; grey ones have three equal channels.
void profile_convert_deep(const struct profile *profile, const uint16_t (*from)[4], uint8_t (*to)[4], int count);

// Replaces the profile by that of the code points (codec_metadata.codes), or by none if they mean sRGB. HDR becomes
// light up to white. The profile is valid until the next call. Returns false for unknown code points.
bool profile_of_codes(struct profile **profile, const uint8_t codes[2], struct codec_bytes *icc);

// Returns a profile of sRGB, whose bytes are the same at each call; none without lcms2.
struct codec_bytes profile_srgb(struct profile *profile);
