// advice.c: suggests a filter for an unknown name
#include "filter/filter.h"

#include "base/options.h"

#include <ctype.h>
#include <stddef.h>

// Names in FFmpeg, ImageMagick, OpenCV and image editors, and chain text with the same effect.
static const struct {
    const char *name, *text;
} elsewhere[] = {
    {"grayscale", "gray"},
    {"greyscale", "gray"},
    {"grey", "gray"},
    {"monochrome", "gray"},
    {"bw", "gray"},
    {"desaturate", "gray"},
    {"edge", "sobel"},
    {"edges", "sobel"},
    {"edgedetect", "canny"},
    {"laplace", "laplacian"},
    {"gauss", "gaussian"},
    {"gaussianblur", "gaussian"},
    {"gblur", "gaussian"},
    {"avgblur", "blur"},
    {"box", "blur"},
    {"boxblur", "blur"},
    {"smooth", "blur"},
    {"hqdn3d", "denoise"},
    {"bilateralfilter", "bilateral"},
    {"despeckle", "median"},
    {"medianblur", "median"},
    {"unsharpmask", "unsharp"},
    {"opening", "open"},
    {"closing", "close"},
    {"erosion", "erode"},
    {"dilation", "dilate"},
    {"bitwisenot", "invert"},
    {"negate", "invert"},
    {"negative", "invert"},
    {"binarize", "threshold"},
    {"brighten", "contrast=1:20"},
    {"brightness", "contrast=1:20"},
    {"darken", "contrast=1:-20"},
    {"brightnesscontrast", "contrast"},
    {"eq", "contrast"},
    {"lut1d", "lut"},
    {"lut3d", "lut"},
    {"haldclut", "lut"},
    {"colorlevels", "levels"},
    {"normalize", "autolevels"},
    {"contraststretch", "autolevels"},
    {"autocontrast", "autolevels"},
    {"histeq", "equalize"},
    {"adapthisteq", "clahe"},
    {"equalizehist", "equalize"},
    {"colortemperature", "temperature"},
    {"whitebalance", "grayworld"},
    {"autowhitebalance", "grayworld"},
    {"greyworld", "grayworld"},
    {"convolution", "convolve"},
    {"filter2d", "convolve"},
    {"kernel", "convolve"},
    {"relief", "emboss"},
    {"fliplr", "mirror"},
    {"flop", "mirror"},
    {"hflip", "mirror"},
    {"transpose", "rotate"},
    {"alphamerge", "mask"},
    {"segment", "matte"},
    {"maskedmerge", "within"},
    {"tblend", "motion"},
    {"region", "blur=15,inside=25:25:50:50"},
    {"rectangle", "blur=15,inside=25:25:50:50"},
    {"crop+overlay", "blur=15,inside=25:25:50:50"},
    {"roi", "blur=15,inside=25:25:50:50"},
    {"ellipse", "blur=15,inside=shape=ellipse"},
    {"censor", "pixelate,inside=25:25:50:50"},
    {"vignetteblur", "gaussian=6,inside=25:10:50:80:ellipse:out:20"},
    {"tiltshift", "gaussian=6,inside=0:35:100:30:box:out:20"},
    {"blurbackground", "keep,blur=15,blur=15,matte=person:behind"},
    {"backgroundblur", "keep,blur=15,blur=15,matte=person:behind"},
    {"background", "fill=white,matte=person:behind"},
    {"virtualbackground", "fill=white,matte=person:behind"},
    {"removebackground", "fill=white,matte=person:behind"},
    {"hidefaces", "keep,pixelate=64,blur=9,matte=faces:grow=3"},
    {"blurfaces", "keep,pixelate=64,blur=9,matte=faces:grow=3"},
    {"faces", "keep,pixelate=64,blur=9,matte=faces:grow=3"},
    {"person", "keep,blur=15,blur=15,matte=person:behind"},
    {"chromakey", "fill=white,key=green"},
    {"greenscreen", "fill=white,key=green"},
    {"bluescreen", "fill=white,key=blue"},
    {"solidcolor", "fill"},
    {"lumakey", "colorkey=black:by=luma"},
    {"pixelize", "pixelate"},
    {"mosaic", "pixelate,inside=25:25:50:50"},
    {"border", "pad"},
    {"letterbox", "pad=ratio=1.7778"},
    {"noise", "grain"},
    {"drawtext", "text"},
    {"watermark", "overlay"},
    {"logo", "overlay"},
    {"vignetting", "vignette"},
    {"turn", "rotate"},
    {"resize", "scale"},
    {"zoom", "scale=factor=2"},
    {"perspective", "warp"},
    {"warpperspective", "warp"},
    {"birdseye", "warp=road"},
    {"lens", "undistort"},
    {"lenscorrection", "undistort"},
    {"fisheye", "undistort=model=fisheye"},
    {"flipud", "flip"},
    {"vflip", "flip"},
    {"sepiatone", "sepia"},
    {"yadif", "deinterlace"},
    {"bwdif", "deinterlace"},
    {"null", "none"},
};

enum { ELSEWHERE = sizeof(elsewhere) / sizeof(*elsewhere), NAMES_MAX = 256 };

// Returns true if a word equals the name, ignoring case, spaces, '-' and '_': "Gaussian-Blur".
static bool same_name(const char *word, const char *name)
{
    for (; *word; word++) {
        if (*word == ' ' || *word == '-' || *word == '_')
            continue;
        if (tolower((unsigned char)*word) != *name)
            return false;
        name++;
    }
    return !*name;
}

const char *filter_elsewhere(const char *word)
{
    for (int i = 0; i < ELSEWHERE; i++) {
        if (same_name(word, elsewhere[i].name))
            return elsewhere[i].text;
    }
    return NULL;
}

const char *filter_advice(const char *word)
{
    const char *known = filter_elsewhere(word);
    if (known)
        return known;
    const char *names[NAMES_MAX + 1] = {NULL};
    const struct filter *filter;
    for (int i = 0; i < NAMES_MAX && (filter = filter_at(i)); i++)
        names[i] = filter->name;
    return options_nearest(word, names);
}
