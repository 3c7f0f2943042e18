// profile.c: converts the pixels of an ICC profile, or of code points of ITU-T H.273, to sRGB
#include "image/codec/profile.h"

#include "base/alloc.h"
#include "image/codec/codec_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_LCMS
#include <lcms2.h>

enum {
    ICC_BYTES_MAX = 16 << 20,
    STEPS = 9, // of a channel, to recognise sRGB
    VALUES = UINT16_MAX + 1,
};

// Curves and a matrix from RGB of 16 bits to sRGB: 20 ns a pixel, of which lcms takes 200.
struct shaper {
    float light[3][VALUES]; // of a channel's value, 0 to 1
    float matrix[3][3];     // linear sRGB of each channel's light
    uint8_t srgb[VALUES];   // of a channel's linear value
};

struct profile {
    cmsContext context;
    cmsHPROFILE srgb;
    cmsHTRANSFORM transform; // NULL for grey pixels
    uint8_t *grey;           // sRGB of each grey of 8 bits; `deep`: of 16
    struct shaper *shaper;   // instead of `transform`; NULL: none
    // What the last call prepared
    struct codec_buffer icc;
    enum profile_pixels pixels;
    enum pixfmt format;
    bool deep;
    enum profile_use use;
    struct codec_buffer saved; // profile_srgb
    struct codec_buffer coded; // profile_of_codes
};

// ITU-T H.273, table 2
#define D65                                                                                                            \
    {                                                                                                                  \
        0.3127, 0.329, 1                                                                                               \
    }
static const struct primaries {
    int code;
    cmsCIExyY white;
    cmsCIExyYTRIPLE rgb;
} known_primaries[] = {
    {1, D65, {{0.64, 0.33, 1}, {0.3, 0.6, 1}, {0.15, 0.06, 1}}},        // BT.709, sRGB
    {2, D65, {{0.64, 0.33, 1}, {0.3, 0.6, 1}, {0.15, 0.06, 1}}},        // unspecified
    {5, D65, {{0.64, 0.33, 1}, {0.29, 0.6, 1}, {0.15, 0.06, 1}}},       // BT.601, 625 lines
    {6, D65, {{0.63, 0.34, 1}, {0.31, 0.595, 1}, {0.155, 0.07, 1}}},    // BT.601, 525 lines
    {9, D65, {{0.708, 0.292, 1}, {0.17, 0.797, 1}, {0.131, 0.046, 1}}}, // BT.2020
    {12, D65, {{0.68, 0.32, 1}, {0.265, 0.69, 1}, {0.15, 0.06, 1}}},    // P3
};

// BT.2408: light of diffuse white in HDR images
static const double white_nits = 203, white_hlg = 0.26496;

// SMPTE ST 2084
static double pq_light(double value)
{
    const double c1 = 3424.0 / 4096, c2 = 2413.0 / 128, c3 = 2392.0 / 128;
    const double power = pow(value, 32.0 / 2523);
    return 10000 / white_nits * pow(fmax(power - c1, 0) / (c2 - c3 * power), 8192.0 / 1305);
}

// BT.2100, with the system gamma of 1000 cd/m2 for each channel
static double hlg_light(double value)
{
    const double a = 0.17883277, b = 0.28466892, c = 0.55991073;
    return pow((value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12) / white_hlg, 1.2);
}

// ITU-T H.273, table 3. Viewers read the curve of BT.709 as that of sRGB, because cameras mean that.
static const struct transfer {
    int code;
    double gamma; // 0: that of sRGB
    double (*light)(double value);
} transfers[] = {{1, 0, NULL},  {2, 0, NULL},  {4, 2.2, NULL}, {5, 2.8, NULL},    {6, 0, NULL},      {8, 1, NULL},
                 {13, 0, NULL}, {14, 0, NULL}, {15, 0, NULL},  {16, 0, pq_light}, {18, 0, hlg_light}};

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
    free(profile->shaper);
    profile->transform = NULL;
    profile->grey = NULL;
    profile->shaper = NULL;
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

// Returns a profile of these primaries, which the caller closes.
static cmsHPROFILE rgb_profile(cmsContext context, const struct primaries *primaries, cmsToneCurve *curve)
{
    cmsToneCurve *const curves[] = {curve, curve, curve};
    cmsHPROFILE made = curve ? cmsCreateRGBProfileTHR(context, &primaries->white, &primaries->rgb, curves) : NULL;
    cmsFreeToneCurve(curve);
    return made;
}

// Makes the tables of a matrix profile, unless one of its curves does not go from 0 to 1: lcms then moves the black
// point.
static void prepare_shaper(struct profile *profile, cmsHPROFILE from)
{
    static const cmsTagSignature tags[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    static const float lights[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    cmsHPROFILE linear = rgb_profile(profile->context, &known_primaries[0], cmsBuildGamma(profile->context, 1));
    cmsHTRANSFORM matrix = cmsCreateTransformTHR(profile->context, from, TYPE_RGB_FLT, linear, TYPE_RGB_FLT,
                                                 INTENT_PERCEPTUAL, cmsFLAGS_NOOPTIMIZE);
    cmsToneCurve *inverse = cmsReverseToneCurve(cmsReadTag(profile->srgb, cmsSigGreenTRCTag));
    struct shaper *shaper = matrix && inverse ? malloc(sizeof(*shaper)) : NULL;
    bool ok = shaper;
    for (int c = 0; ok && c < 3; c++) {
        const cmsToneCurve *curve = cmsReadTag(from, tags[c]);
        for (int i = 0; curve && i < VALUES; i++)
            shaper->light[c][i] = cmsEvalToneCurveFloat(curve, (float)i / UINT16_MAX);
        ok = curve && fabsf(shaper->light[c][0]) + fabsf(shaper->light[c][UINT16_MAX] - 1) < 1e-4f;
    }
    for (int i = 0; ok && i < VALUES; i++)
        shaper->srgb[i] = (uint8_t)(cmsEvalToneCurveFloat(inverse, (float)i / UINT16_MAX) * 255 + 0.5f);
    if (ok)
        cmsDoTransform(matrix, lights, shaper->matrix, 3);
    else
        free(shaper);
    profile->shaper = ok ? shaper : NULL;
    cmsFreeToneCurve(inverse);
    if (matrix)
        cmsDeleteTransform(matrix);
    if (linear)
        cmsCloseProfile(linear);
}

static void convert_shaped(const struct shaper *shaper, const uint16_t (*from)[4], uint8_t (*to)[4], int count)
{
    const float(*m)[3] = shaper->matrix;
    for (int i = 0; i < count; i++) {
        const float red = shaper->light[0][from[i][0]], green = shaper->light[1][from[i][1]],
                    blue = shaper->light[2][from[i][2]];
        for (int c = 0; c < 3; c++) {
            const float linear = m[0][c] * red + m[1][c] * green + m[2][c] * blue;
            to[i][c] = shaper->srgb[linear > 0 ? (int)(fminf(linear, 1) * UINT16_MAX + 0.5f) : 0];
        }
    }
}

static bool prepare_colours(struct profile *profile, cmsHPROFILE from)
{
    cmsUInt32Number in = profile->format == PIXFMT_RGBA ? TYPE_RGBA_8 : TYPE_RGB_8, out = in;
    if (profile->deep)
        in = TYPE_RGBA_16, out = TYPE_RGBA_8;
    if (profile->pixels == PROFILE_INK)
        in = TYPE_CMYK_8_REV;
    if (profile->deep && cmsIsMatrixShaper(from) && !cmsIsTag(from, cmsSigAToB0Tag))
        prepare_shaper(profile, from);
    if (!profile->shaper)
        profile->transform = transform_of(profile, from, in, out);
    return profile->shaper || profile->transform;
}

// Returns true if the conversion changes colours of the whole range by 1 at most.
static bool is_srgb(const struct profile *profile)
{
    enum { COLOURS = STEPS * STEPS * STEPS };
    bool same = profile->pixels != PROFILE_INK;
    for (int i = 0; i < 256 && profile->grey; i++)
        same = same && abs(profile->grey[profile->deep ? i * 257 : i] - i) <= 1;
    for (int i = 0; i < COLOURS && !profile->grey && same; i++) {
        const int rgb[] = {i % STEPS * 255 / (STEPS - 1), i / STEPS % STEPS * 255 / (STEPS - 1),
                           i / STEPS / STEPS * 255 / (STEPS - 1)};
        uint16_t deep[1][4] = {{0}};
        uint8_t pixel[1][4] = {{0}};
        for (int c = 0; c < 3; c++) {
            pixel[0][c] = (uint8_t)rgb[c];
            deep[0][c] = (uint16_t)(rgb[c] * 257);
        }
        if (profile->deep)
            profile_convert_deep(profile, (const uint16_t(*)[4])deep, pixel, 1);
        else
            profile_convert(profile, pixel[0], 1);
        for (int c = 0; c < 3; c++)
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
    codec_buffer_free(&profile->coded);
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
    if (profile->shaper)
        convert_shaped(profile->shaper, from, to, count);
    for (int i = 0; i < count; i++) {
        for (int c = 0; profile->grey && c < 3; c++)
            to[i][c] = profile->grey[from[i][c]];
        to[i][3] = (uint8_t)((from[i][3] + 128u) / 257);
    }
#endif
}

#ifdef HAVE_LCMS
// Returns the profile's file in `saved`, which stays valid; none without memory.
static struct codec_bytes save(cmsHPROFILE profile, struct codec_buffer *saved)
{
    enum { DATE_AT = 24, DATE_BYTES = 12 };
    static const uint8_t date[DATE_BYTES] = {7, 234, 0, 1, 0, 1}; // lcms writes today's
    cmsUInt32Number size = 0;
    saved->size = 0;
    if (profile && cmsSaveProfileToMem(profile, NULL, &size) && codec_buffer_room(saved, size) &&
        cmsSaveProfileToMem(profile, saved->data, &size)) {
        memcpy(saved->data + DATE_AT, date, DATE_BYTES);
        saved->size = size;
    }
    return (struct codec_bytes){saved->size > 0 ? saved->data : NULL, saved->size};
}

static cmsToneCurve *curve_of(cmsContext context, const struct transfer *transfer)
{
    enum { POINTS = 4096 };
    static const double srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    uint16_t table[POINTS];
    for (int i = 0; transfer->light && i < POINTS; i++)
        table[i] = (uint16_t)lround(fmin(transfer->light((double)i / (POINTS - 1)), 1) * UINT16_MAX);
    if (transfer->light)
        return cmsBuildTabulatedToneCurve16(context, POINTS, table);
    return transfer->gamma > 0 ? cmsBuildGamma(context, transfer->gamma)
                               : cmsBuildParametricToneCurve(context, 4, srgb);
}
#endif

struct codec_bytes profile_srgb(struct profile *profile)
{
#ifdef HAVE_LCMS
    const struct codec_buffer *saved = &profile->saved;
    return saved->size > 0 ? (struct codec_bytes){saved->data, saved->size} : save(profile->srgb, &profile->saved);
#else
    return (struct codec_bytes){0};
#endif
}

bool profile_of_codes(struct profile **opened, const uint8_t codes[2], struct codec_bytes *icc)
{
#ifdef HAVE_LCMS
    const struct primaries *primaries = NULL;
    const struct transfer *transfer = NULL;
    for (size_t i = 0; i < sizeof(known_primaries) / sizeof(*known_primaries); i++)
        primaries = known_primaries[i].code == codes[0] ? &known_primaries[i] : primaries;
    for (size_t i = 0; i < sizeof(transfers) / sizeof(*transfers); i++)
        transfer = transfers[i].code == codes[1] ? &transfers[i] : transfer;
    if (!primaries || !transfer)
        return false;
    *icc = (struct codec_bytes){0};
    if (primaries->code <= 2 && transfer->gamma == 0 && !transfer->light)
        return true;
    struct profile *profile = *opened = *opened ? *opened : profile_open();
    cmsHPROFILE made = rgb_profile(profile->context, primaries, curve_of(profile->context, transfer));
    *icc = save(made, &profile->coded);
    if (made)
        cmsCloseProfile(made);
#endif
    return true;
}
