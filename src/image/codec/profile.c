// profile.c: converts the pixels of an ICC profile to sRGB
#include "image/codec/profile.h"

#include "base/alloc.h"
#include "image/codec/codec_kind.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LCMS
#include <lcms2.h>

enum {
    ICC_BYTES_MAX = 16 << 20,
    STEPS = 9, // of a channel, to recognise sRGB
};

struct profile {
    cmsContext context;
    cmsHPROFILE srgb;
    cmsHTRANSFORM transform; // NULL for grey pixels
    uint8_t *grey;           // sRGB of each grey of 8 bits; `deep`: of 16
    // What the last call prepared
    struct codec_buffer icc;
    enum profile_pixels pixels;
    enum pixfmt format;
    bool deep;
    enum profile_use use;
    struct codec_buffer saved; // profile_srgb
};

static void ignore_error(cmsContext context, cmsUInt32Number code, const char *text) {}

static struct profile *profile_open(void)
{
    struct profile *profile = xalloc(sizeof(*profile));
    profile->context = cmsCreateContext(NULL, NULL);
    cmsSetLogErrorHandlerTHR(profile->context, ignore_error);
    profile->srgb = cmsCreate_sRGBProfileTHR(profile->context);
    return profile;
}

static void forget(struct profile *profile)
{
    if (profile->transform)
        cmsDeleteTransform(profile->transform);
    free(profile->grey);
    profile->transform = NULL;
    profile->grey = NULL;
}

// Returns true for a profile of pixels of this kind. Grey pixels may have a profile for RGB: their channels are equal.
// Tags of the type multiProcessElements are refused: their number is not limited.
static bool fits(cmsHPROFILE from, enum profile_pixels pixels)
{
    const cmsColorSpaceSignature space = cmsGetColorSpace(from);
    const cmsProfileClassSignature class = cmsGetDeviceClass(from);
    const bool usual = class == cmsSigInputClass || class == cmsSigDisplayClass || class == cmsSigOutputClass ||
                       class == cmsSigColorSpaceClass;
    for (int i = 0; i < 4; i++) {
        if (cmsIsTag(from, cmsSigDToB0Tag + (cmsTagSignature)i))
            return false;
    }
    if (pixels == PROFILE_INK)
        return usual && space == cmsSigCmykData;
    return usual && (space == cmsSigRgbData || (pixels == PROFILE_GREY && space == cmsSigGrayData));
}

// lcms is exact within 1 for matrices and 8 bits. It approximates all else by a table of 49 points per channel, up to
// 17 of 255 off, unless it has to compute each pixel.
static cmsHTRANSFORM transform_of(const struct profile *profile, cmsHPROFILE from, cmsUInt32Number in,
                                  cmsUInt32Number out)
{
    const bool simple = cmsIsMatrixShaper(from) && !profile->deep && profile->pixels == PROFILE_RGB;
    return cmsCreateTransformTHR(profile->context, from, in, profile->srgb, out, INTENT_PERCEPTUAL,
                                 simple ? 0 : cmsFLAGS_NOOPTIMIZE);
}

// Makes the table of the greys.
static bool prepare_greys(struct profile *profile, cmsHPROFILE from)
{
    const bool rgb = cmsGetColorSpace(from) == cmsSigRgbData;
    const int count = profile->deep ? 1 << 16 : 1 << 8, step = profile->deep ? 1 : 257;
    cmsHTRANSFORM transform = transform_of(profile, from, rgb ? TYPE_RGB_16 : TYPE_GRAY_16, TYPE_RGB_8);
    profile->grey = transform ? malloc((size_t)count) : NULL;
    for (int i = 0; profile->grey && i < count; i++) {
        const uint16_t grey = (uint16_t)(i * step), in[3] = {grey, grey, grey};
        uint8_t out[3];
        cmsDoTransform(transform, in, out, 1);
        profile->grey[i] = out[1];
    }
    if (transform)
        cmsDeleteTransform(transform);
    return profile->grey;
}

static bool prepare_colours(struct profile *profile, cmsHPROFILE from)
{
    cmsUInt32Number in = profile->format == PIXFMT_RGBA ? TYPE_RGBA_8 : TYPE_RGB_8, out = in;
    if (profile->deep)
        in = TYPE_RGBA_16, out = TYPE_RGBA_8;
    if (profile->pixels == PROFILE_INK)
        in = TYPE_CMYK_8_REV;
    profile->transform = transform_of(profile, from, in, out);
    return profile->transform;
}

// Returns true if the conversion changes colours of the whole range by 1 at most.
static bool is_srgb(const struct profile *profile)
{
    enum { COLOURS = STEPS * STEPS * STEPS };
    const int channels = profile->format == PIXFMT_RGB24 ? 3 : 4;
    bool same = profile->pixels != PROFILE_INK;
    for (int i = 0; i < 256 && profile->grey; i++)
        same = same && abs(profile->grey[profile->deep ? i * 257 : i] - i) <= 1;
    for (int i = 0; i < COLOURS && profile->transform && same; i++) {
        const int rgb[] = {i % STEPS * 255 / (STEPS - 1), i / STEPS % STEPS * 255 / (STEPS - 1),
                           i / STEPS / STEPS * 255 / (STEPS - 1)};
        uint16_t deep[1][4] = {{0}};
        uint8_t pixel[1][4] = {{0}};
        for (int c = 0; c < 3; c++) {
            pixel[0][c] = (uint8_t)rgb[c];
            deep[0][c] = (uint16_t)(rgb[c] * 257);
        }
        if (profile->deep)
            cmsDoTransform(profile->transform, deep, pixel, 1);
        else
            cmsDoTransform(profile->transform, pixel, pixel, 1);
        for (int c = 0; c < 3 && c < channels; c++)
            same = same && abs(pixel[0][c] - rgb[c]) <= 1;
    }
    return same;
}

static enum profile_use prepare(struct profile *profile)
{
    const struct codec_buffer *icc = &profile->icc;
    cmsHPROFILE from = cmsOpenProfileFromMemTHR(profile->context, icc->data, (cmsUInt32Number)icc->size);
    const bool ok = from && profile->srgb && fits(from, profile->pixels) &&
                    (profile->pixels == PROFILE_GREY ? prepare_greys : prepare_colours)(profile, from);
    if (from)
        cmsCloseProfile(from);
    if (!ok)
        return PROFILE_WRONG;
    return is_srgb(profile) ? PROFILE_SRGB : PROFILE_CONVERTS;
}
#endif

void profile_close(struct profile *profile)
{
#ifdef HAVE_LCMS
    if (!profile)
        return;
    forget(profile);
    if (profile->srgb)
        cmsCloseProfile(profile->srgb);
    if (profile->context)
        cmsDeleteContext(profile->context);
    codec_buffer_free(&profile->icc);
    codec_buffer_free(&profile->saved);
    free(profile);
#endif
}

enum profile_use profile_prepare(struct profile **opened, struct codec_bytes icc, enum profile_pixels pixels,
                                 enum pixfmt format, bool deep)
{
#ifdef HAVE_LCMS
    struct profile *profile = *opened = *opened ? *opened : profile_open();
    if (icc.size == 0 || icc.size > ICC_BYTES_MAX)
        return PROFILE_WRONG;
    if (profile->icc.size == icc.size && memcmp(profile->icc.data, icc.data, icc.size) == 0 &&
        profile->pixels == pixels && profile->format == format && profile->deep == deep)
        return profile->use;
    forget(profile);
    profile->icc.size = 0;
    if (!codec_buffer_append(&profile->icc, icc.data, icc.size))
        return PROFILE_WRONG;
    profile->pixels = pixels;
    profile->format = format;
    profile->deep = deep;
    return profile->use = prepare(profile);
#else
    return PROFILE_UNKNOWN;
#endif
}

void profile_convert(const struct profile *profile, uint8_t *pixels, int count)
{
#ifdef HAVE_LCMS
    const int channels = profile->format == PIXFMT_RGBA ? 4 : 1;
    if (profile->transform)
        cmsDoTransform(profile->transform, pixels, pixels, (cmsUInt32Number)count);
    for (int i = 0; profile->pixels == PROFILE_INK && i < count; i++)
        pixels[4 * i + 3] = 255;
    for (int i = 0; profile->grey && i < count * channels; i++) {
        if (i % 4 != 3 || channels == 1)
            pixels[i] = profile->grey[pixels[i]];
    }
#endif
}

void profile_convert_deep(const struct profile *profile, const uint16_t (*from)[4], uint8_t (*to)[4], int count)
{
#ifdef HAVE_LCMS
    if (profile->transform)
        cmsDoTransform(profile->transform, from, to, (cmsUInt32Number)count);
    for (int i = 0; i < count; i++) {
        for (int c = 0; profile->grey && c < 3; c++)
            to[i][c] = profile->grey[from[i][c]];
        to[i][3] = (uint8_t)((from[i][3] + 128u) / 257);
    }
#endif
}

struct codec_bytes profile_srgb(struct profile *profile)
{
#ifdef HAVE_LCMS
    enum { DATE_AT = 24, DATE_BYTES = 12 };
    static const uint8_t date[DATE_BYTES] = {7, 234, 0, 1, 0, 1}; // lcms writes today's
    struct codec_buffer *saved = &profile->saved;
    cmsUInt32Number size = 0;
    if (saved->size == 0 && cmsSaveProfileToMem(profile->srgb, NULL, &size) && codec_buffer_room(saved, size) &&
        cmsSaveProfileToMem(profile->srgb, saved->data, &size)) {
        memcpy(saved->data + DATE_AT, date, DATE_BYTES);
        saved->size = size;
    }
    return (struct codec_bytes){saved->size > 0 ? saved->data : NULL, saved->size};
#else
    return (struct codec_bytes){0};
#endif
}
