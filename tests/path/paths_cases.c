// paths_cases.c: every format, every filter with extreme values, and random chains
#include "path/variants.h"
#include "paths_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(*(array))))

// Each filter with its default, its extremes, and values that take another branch.
const char *const path_filters[] = {
    "none",
    "gray",
    "gray=average",
    "maxrgb",
    "invert",
    "threshold",
    "threshold=0",
    "threshold=255",
    "gamma",
    "gamma=0.1",
    "gamma=10",
    "contrast",
    "contrast=0",
    "contrast=10:-255",
    "contrast=10:255",
    "contrast=0.7:0.5",
    "sepia",
    "levels=20:220:1.5:10:240",
    "levels=254:255:0.1:255:0",
    "levels=30:200:channel=green",
    "autolevels",
    "autolevels=0",
    "autolevels=20",
    "equalize",
    "clahe",
    "clahe=0:1",
    "clahe=40:3",
    "clahe=0.01:16",
    "clahe=100:7",
    "grayworld",
    "curves=contrast",
    "curves=0/255 100/20.5 101/255 200/0",
    "curves=10/0 60.5/200 250/100:blue",
    "exposure",
    "exposure=-5",
    "posterize",
    "posterize=64",
    "temperature=2000:100",
    "temperature=12000:-100",
    "saturation",
    "saturation=0",
    "saturation=4",
    "hue",
    "hue=-180",
    "hue=33",
    "vibrance",
    "vibrance=-1",
    "vibrance=2",
    "lut",
    "lut=" LUT_DATA "/solid.cube",
    "lut=" LUT_DATA "/domain.cube",
    "lut=" LUT_DATA "/line.cube",
    "lut=" LUT_DATA "/hald.png",
    "lut=" LUT_DATA "/both.cube",
    "blur",
    "blur=1",
    "blur=3",
    "blur=7",
    "blur=15",
    "convolve",
    "convolve=edge",
    "convolve=gaussian",
    "convolve=laplacian:bias=128",
    "convolve=1",
    "convolve=-1:1:255",
    "convolve=32767:1:-255",
    "convolve=0 0 0 0 0 0 0 0 1",
    "convolve=1 0 0 0 0 0 0 0 0:-1:255",
    "convolve=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 "
    "39 40 41 42 43 44 45 46 47 48 -1000",
    "convolve=1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 "
    "1 "
    "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1:1:-255",
    "convolve=0.001 -0.002 0.003 1e-9 0 1e9 -1e9 7 3:1000000",
    "emboss",
    "emboss=n",
    "emboss=ne",
    "emboss=e",
    "emboss=se",
    "emboss=s",
    "emboss=sw",
    "emboss=w",
    "sobel",
    "prewitt",
    "scharr",
    "roberts",
    "laplacian",
    "deinterlace",
    "unsharp",
    "unsharp=1:-1",
    "unsharp=4:5:3",
    "unsharp=3:0.5:255",
    "gaussian",
    "gaussian=0.1",
    "gaussian=4.3",
    "gaussian=1,blur=5,keep,invert,blur=2,gaussian=3,within=" GOLDEN_DATA "/none.png,gray,blur=1,mirror,scale=60:30",
    "erode",
    "erode=4",
    "erode=13",
    "dilate",
    "dilate=9",
    "erode=2:disc",
    "dilate=9:disc",
    "open=2",
    "open=3:disc",
    "close",
    "bilateral",
    "bilateral=7:20:255",
    "bilateral=3:0.1:1",
    "nlmeans=0.1:1:3",
    "nlmeans=30:4:5",
    "nlmeans=10:7:7",
    "canny",
    "canny=0:0",
    "canny=5:300",
    "canny=1020:1020",
    "sharpen",
    "sharpen=0",
    "sharpen=0.1",
    "sharpen=8",
    "median",
    "median=3",
    "median=5",
    "otsu",
    "ridge",
    "ridge=1",
    "ridge=2",
    "ridge=3",
    "ridge=8",
    "ridge=20",
    "ridge=21",
    "vignette",
    "vignette=1:0.9",
    "vignette=-1:0.3",
    "mirror,vignette=0.7,flip,blur=1,vignette,mirror",
    "text",
    "text='a:b, c|d ''e''':size=30",
    "text=frame {frame}:3:-2:20:#ff8000:bottom-right:0",
    "mirror,text=ABCDEFGHIJKLMNOPQRSTUVWXYZ:at=center:size=100:box=1,blur=1",
    "overlay",
    "overlay=" GOLDEN_DATA "/none.png",
    "overlay=" GOLDEN_DATA "/none.png:-20:30:0.4",
    "overlay=" GOLDEN_DATA "/none.png:3:-50:at=bottom-right:scale=40",
    "blur=1,mirror,overlay=" GOLDEN_DATA "/none.png:at=center:scale=120:y=-7,sepia,flip",
    "overlay=" GOLDEN_DATA "/none.png:at=left,overlay=" GOLDEN_DATA "/format-nv12.png:at=top:scale=1",
    "blend",
    "blend=" GOLDEN_DATA "/none.png",
    "blend=" GOLDEN_DATA "/none.png:add:0.7",
    "blend=" GOLDEN_DATA "/none.png:multiply:fit=tile",
    "blend=" GOLDEN_DATA "/format-nv12.png:screen",
    "mirror,blend=" GOLDEN_DATA "/none.png:overlay,flip",
    "blend=" GOLDEN_DATA "/none.png:difference:0.3:tile,blur=1,blend=" GOLDEN_DATA "/none.png:lighten",
    "blend=" GOLDEN_DATA "/format-rgba.png:darken",
    "blend=" GOLDEN_DATA "/format-rgba.png:subtract",
    "mask",
    "mask=" GOLDEN_DATA "/none.png",
    "mirror,mask=" GOLDEN_DATA "/format-rgba.png:black:tile,blur=2,flip,sobel",
    "gray,mask=" GOLDEN_DATA "/none.png:fit=tile,median",
    "blur=2,within=" GOLDEN_DATA "/none.png",
    "within=" GOLDEN_DATA "/format-rgba.png",
    "sobel,sepia,none,invert,none,within=" GOLDEN_DATA "/format-rgba.png:filters=2",
    "mirror,sepia,blur=3,sobel,within=" GOLDEN_DATA "/format-rgba.png:black:tile:filters=9,emboss,flip",
    "sepia,mirror,sobel,within=" GOLDEN_DATA "/none.png:black:tile:filters=3",
    "mirror,within=" GOLDEN_DATA "/none.png",
    "invert,within=" GOLDEN_DATA "/format-rgba.png:grow=9",
    "invert,within=" GOLDEN_DATA "/none.png:black:cover:-25:100",
    "blur=2,within=" GOLDEN_DATA "/none.png:fit=tile:grow=-3:feather=12.5,sobel",
    "keep,invert,scale=30:20,within=" GOLDEN_DATA "/none.png",
    "keep",
    "keep,within=" GOLDEN_DATA "/none.png",
    "gray,keep,key=#808080:0.6,sobel",
    "keep,gaussian=4,blur=2,within=" GOLDEN_DATA "/none.png,gray,sobel",
    "keep,denoise,within=" GOLDEN_DATA "/none.png,keep,blur=3,motion=4,within=" GOLDEN_DATA "/none.png,emboss",
    "keep,open=2,within=" GOLDEN_DATA "/none.png,keep,canny,inside=10:10:50:70,gray,key=#404040:0.6",
    "blur=2,gray,within=" GOLDEN_DATA "/none.png:filters=2,invert,within=" GOLDEN_DATA "/none.png:black:filters=4",
    "keep,gray,sobel,within=" GOLDEN_DATA "/none.png:filters=1,invert,inside=filters=2,within=" GOLDEN_DATA "/none.png",
    "gray,within=" GOLDEN_DATA "/none.png,within=" GOLDEN_DATA "/format-rgba.png:black",
    "blur=1,keep,gray,none,invert,within=" GOLDEN_DATA "/none.png,within=" GOLDEN_DATA "/format-rgba.png",
    "keep,sobel,keep,sepia,within=" GOLDEN_DATA "/none.png,blur=2,within=" GOLDEN_DATA "/format-rgba.png:fit=tile",
    "keep,gray,keep,blur=2,within=" GOLDEN_DATA "/none.png,within=" GOLDEN_DATA
    "/format-rgba.png,invert,within=" GOLDEN_DATA "/none.png:black",
    "mirror,keep,gaussian=3,keep,pixelate=7,invert,within=" GOLDEN_DATA "/none.png,within=" GOLDEN_DATA
    "/format-rgba.png,keep,otsu,within=" GOLDEN_DATA "/none.png,flip",
    "colorkey=gray,keep,invert,blur=5,within=" GOLDEN_DATA "/none.png:filters=1,within=" GOLDEN_DATA
    "/format-rgba.png:black,sepia,within=" GOLDEN_DATA "/format-rgba.png",
    "mirror,pixelate=5,within=" GOLDEN_DATA "/none.png:black,gaussian=2,colorkey=gray,within=" GOLDEN_DATA
    "/format-rgba.png:fit=tile:filters=3,median",
    "crop=5:3,open=2,autolevels,within=" GOLDEN_DATA "/none.png:filters=2,invert,within,scale=factor=0.5",
    "invert,inside",
    "keep,blur=2,gray,matte",
    "keep,pixelate=7,blur=2,matte",
    "mirror,keep,gray,blur=5,gaussian=1,invert,blur=1,matte,scale=60:30,sobel",
    "mirror,sobel,matte=none:behind:3:2.5:plain:500:1,invert",
    "blur=3,inside=10.5:-20:33.3:200:box:out:7.5",
    "fill=red,inside=20:10:60:80:ellipse",
    "mirror,sobel,inside=-100:3:200:0.1:ellipse:out:100,invert,inside=100:100:0.1:0.1:ellipse:feather=50,flip",
    "sepia,pixelate=5,inside=30:30:20:60:ellipse:in:12:2,gray,inside=0:0:100:100",
    "invert,key",
    "fill=blue,key=#90b850:0.3:0.2",
    "blur=2,key=orange:0:0:spill=0.5:where=out",
    "mirror,keep,fill=white,key=#406080:0.1:0.4:chroma,key=purple:1:0,sobel",
    "emboss,sepia,key=gray:0.2:0.3:luma:1:out:2,flip",
    "gray,key=blue:0.5:0.1:by=chroma:where=out",
    "fill",
    "colorkey=gray,fill=#1080f0,sobel",
    "mirror,fill=orange,within=" GOLDEN_DATA "/format-rgba.png,blur=1",
    "colorkey",
    "colorkey=#808080:0.2:0.5",
    "colorkey=gray:0:0",
    "colorkey=black:1:0",
    "colorkey=#30a040:0.1:0.3:chroma",
    "colorkey=magenta:0.4:0:by=chroma",
    "colorkey=#405060:0.1:0.4:luma",
    "blur=1,colorkey=#707070:0.1:0.3,blur=2,mirror,sobel",
    "gray,colorkey=gray:0.2,sobel,median",
    "blur=1,gray,colorkey=gray:0.2,sobel,rotate=90,emboss",
    "grain",
    "grain=100",
    "flip,grain=60,mirror",
    "pixelate",
    "pixelate=2",
    "pixelate=256",
    "blur=1,pixelate=9,sepia,mirror",
    "pad",
    "pad=100:90",
    "pad=200:80:3:32768:#123456",
    "pad=ratio=1",
    "pad=ratio=10:color=orange,mirror,pad=ratio=3.3",
    "blur=1,mirror,pad=150:70:0:0:white,invert,vignette",
    "mirror",
    "flip",
    "crop",
    "crop=5:3",
    "crop=20:10:0:0",
    "crop=40:9:3",
    "scale=1:1",
    "scale=16:17",
    "scale=200",
    "scale=0:33",
    "scale=factor=0.37",
    "scale=factor=1.5",
    "scale=most=40",
    "scale=most=1",
    "scale=most=32768",
    "scale=factor=0.3:method=area",
    "scale=200:20:method=lanczos",
    "scale=200:20:method=area",
    "scale=0:33:method=nearest",
    "scale=31:90:method=bilinear",
    "scale=factor=3:method=area",
    "rotate",
    "rotate=-90",
    "rotate=180",
    "rotate=270",
    "rotate=30",
    "rotate=-200.5",
    "warp",
    "warp=road",
    "warp=road:50:40",
    "warp=10 5 90 0 100 60 2 50",
    "warp=100 0 0 0 0 40 100 40:33:31",
    "warp=1 0.2 3 0.1 1.1 2 0.001 -0.002 1:70:50",
    "warp=-1 0 20 0 -1 20 0.02 0.01 -1",
    "warp=1e-6 0 0 0 1e6 0 0 0 1",
    "remap",
    "remap=" LUT_DATA "/../places/lens.pgm",
    "remap=" LUT_DATA "/../places/text.pgm:fill=orange",
    "remap=" LUT_DATA "/../places/bytes.pgm:#123456",
    "mirror,blur=1,remap=" LUT_DATA "/../places/lens.pgm,flip,invert,sobel",
    "undistort",
    "undistort=60 50 47 31 -0.3 0.1 0.01 -0.02 0.05",
    "undistort=60 50 47 31 -0.3 0.1 0.01 -0.02:zoom=0.5",
    "undistort=40 40 48 32 -0.02 0.01 -0.001 0.0002:fisheye:0.3",
    "undistort=1 1 -1000000 1000000 1e6 1e6 1e6 1e6 1e6",
    "undistort=1 1 32 32 -1e6 1e6 1e6 1e6:fisheye",
    NULL,
};

// Geometry in every place, stencils in a row, points alone, everything at once.
const char *const path_chains[] = {
    "mirror,flip",
    "mirror,mirror",
    "flip,blur",
    "blur,flip",
    "mirror,convolve=1 0 0 0 0 0 0 0 0",
    "convolve=1 0 0 0 0 0 0 0 0,mirror",
    "convolve=1 2 0 0 0 0 0 0 0,flip,convolve=0 0 0 0 0 3 0 4 0,mirror,emboss",
    "gray,mirror,sobel,flip,invert",
    "blur,gray,flip,emboss,mirror,blur=7",
    "gray,median,sepia,convolve=edge,gray,sharpen",
    "blur=2,gray,emboss",
    "threshold=70,sharpen,sobel,invert,mirror,median",
    "emboss,mirror,gamma=0.5,flip,emboss=s",
    "deinterlace,flip,gray,deinterlace,invert",
    "blur,sobel",
    "median,median",
    "dilate,erode=3,mirror,gaussian,flip",
    "gray,gaussian,erode,unsharp",
    "invert,canny=10:100,mirror,canny,canny,median=2",
    "gray,open=3,mirror,close=2:disc,otsu,open=2:disc,invert",
    "open,close,open,close,open,close,open,close,open,close,open,close,open,close,open,close",
    "erode=1,erode=1,erode=1,erode=1,erode=1,erode=1,erode=1,erode=1,erode=1,erode=1,erode=1,erode=1,erode=1,erode=1,"
    "erode=1,gaussian=0.5",
    "blur=15,blur=15",
    "gaussian_is_no_filter",
    "convolve=gaussian,convolve=laplacian:bias=128,sharpen=2",
    "gray,invert,gamma,contrast,threshold",
    "maxrgb,sepia,none,invert,gray=average",
    "contrast=3,blur=1,sepia,sobel,threshold=20",
    "invert,median,gamma=3,emboss=ne,mirror",
    "none,none,none,none,none",
    "sharpen=8,sharpen=8,sharpen=8",
    "blur=1,flip,flip,blur=1",
    "gray,ridge=15,threshold=40",
    "gray=paint,ridge=4",
    "gray,ridge=5,otsu",
    "otsu,otsu,mirror",
    "threshold=60,equalize,otsu,autolevels",
    "levels=0:255:1:100:150,autolevels=5,gamma,blur,equalize,sobel,equalize",
    "levels=0:255:1:7:7,equalize,autolevels",
    "gray,clahe=3:4,mirror,clahe,temperature=3000,grayworld,flip,blur=1,grayworld,clahe=0:2",
    "levels=0:255:1:0:0:red,grayworld,gray,grayworld,sobel,clahe=2:13",
    "mirror,otsu,invert,blur=2,otsu,flip",
    "blur=3,flip,otsu,gamma=2,gamma=3,sepia,sobel,otsu,emboss,blur=9",
    "blur=2,ridge=4,mirror,blur=3,ridge=21,flip,ridge=2",
    "crop=50:40,blur,scale=60:30,mirror,sobel",
    "rotate,mirror,rotate,flip,rotate,rotate",
    "gray,scale=40:50,emboss,invert",
    "gray,rotate=45,blur=9,crop=30:30,median",
    "mirror,crop=30:20:1:2,sepia,flip",
    "blur=3,warp=road,gray,sharpen,flip,scale=factor=2,gamma=2",
    "scale=10:10,scale=100:90,invert,blur=15",
    "flip,rotate=90,convolve=edge,crop=1:1,blur",
    "threshold=90,convolve=9 8 7 6 5 4 3 2 1 0 -1 -2 -3 -4 -5 -6 -7 -8 -9 1 1 1 1 1 1:3:7,maxrgb,flip,blur=4",
    "invert,blur=1,invert,gray,mirror,median,sepia,flip,sharpen,contrast=1.1,sobel,maxrgb,emboss,gamma=1.3,"
    "convolve=edge:bias=90,blur=2",
    NULL,
};

// The sizes are those of two programs of a CPU device: only sides, and sides and inside.
void paths_formats(struct path_test *test)
{
    for (int format = 0; format < PIXFMT_COUNT; format++) {
        path_case(test, format, (const int[]){2, 1}, "none");
        path_case(test, format, (const int[]){130, 67}, "none");
    }
}

static bool has_stencil(const char *text)
{
    struct chain chain;
    char error[CHAIN_ERROR];
    bool has = false;
    for (int i = 0; chain_parse(&chain, text, error) && i < chain.count; i++)
        has = has || chain.stage[i].filter->kind == FILTER_STENCIL || chain.stage[i].filter->kind == FILTER_SEVERAL;
    return has;
}

// One format, so that all values of a filter run in one program. The formula does not know the format.
void paths_filters(struct path_test *test)
{
    static const int size[2] = {130, 67}, wide[2] = {2070, 37};                // more than a strip of sums.cl
    const bool window = test->variant && strcmp(test->variant, "window") == 0; // has its own code for these filters
    const bool local = test->variant && strcmp(test->variant, "local") == 0;
    for (int i = 0; path_filters[i]; i++) {
        const char *text = path_filters[i];
        if (test->chains ? !strchr(text, ',') : test->kind == PATH_OPENCL && i % 3 != 0 && strchr(text, ','))
            continue;
        if (window
                ? strncmp(text, "blur", 4) == 0 || strncmp(text, "convolve", 8) == 0 || strncmp(text, "emboss", 6) == 0
                : !local || has_stencil(text))
            path_case(test, PIXFMT_RGBA, size, text);
        // Alpha does not weigh; a matte weighs.
        if (!strchr(text, ',') ? strncmp(text, "blur", 4) == 0 || strncmp(text, "gaussian", 8) == 0
                               : strstr(text, "matte") != NULL)
            path_case(test, CASE_OPAQUE, size, text);
    }
    if (test->chains)
        return;
    for (int i = 0; filters[i] && !test->variant; i++)
        path_case(test, PIXFMT_RGBA, size, filters[i]->example);
    path_case(test, PIXFMT_RGBA, wide, "blur=3");
    path_case(test, PIXFMT_RGBA, wide, "blur=7");
    path_case(test, CASE_OPAQUE, wide, "blur=7");
    path_case(test, PIXFMT_RGBA, wide, "clahe=3");
    path_case(test, PIXFMT_RGBA, (const int[]){3, 70}, "open=20:disc");
}

static const char *pick(struct random *random, const char *const *words, int count)
{
    return words[random_bits(random) % (uint32_t)count];
}

// A number of one of the kinds people write.
static double random_number(struct random *random, int kind)
{
    switch (kind) {
    case 0:
        return random_range(random, -3, 9);
    case 1:
        return random_range(random, -9999, 9999) / 1000.0;
    case 2:
        return random_bits(random) % 4 ? 0 : random_range(random, -300, 300);
    default:
        return random_range(random, -1000000, 1000000) * (random_bits(random) % 2 ? 1e-5 : 10);
    }
}

static int random_convolve(struct random *random, char *text, size_t size)
{
    static const char *const presets[] = {"sharpen", "edge", "gaussian", "laplacian"};
    static const int sides[] = {1, 3, 3, 3, 5, 5, 7, 9};
    int at = snprintf(text, size, "convolve="), side = sides[random_bits(random) % COUNT(sides)];
    int kind = (int)(random_bits(random) % 4);
    if (random_bits(random) % 5 == 0)
        at += snprintf(text + at, size - (size_t)at, "%s", pick(random, presets, COUNT(presets)));
    else
        for (int i = 0; i < side * side; i++)
            at += snprintf(text + at, size - (size_t)at, "%s%.6g", i ? " " : "", random_number(random, kind));
    if (random_bits(random) % 2)
        at +=
            snprintf(text + at, size - (size_t)at, ":div=%.6g", random_number(random, (int)(random_bits(random) % 4)));
    if (random_bits(random) % 2)
        at += snprintf(text + at, size - (size_t)at, ":bias=%.5g", random_range(random, -2550, 2550) / 10.0);
    return at;
}

// Writes one word of a list such as "luma|average". Returns its length.
static int random_choice(struct random *random, const char *choices, char *text, size_t size)
{
    int count = 1;
    for (const char *at = choices; *at; at++)
        count += *at == '|';
    for (int skip = random_range(random, 0, count - 1); skip > 0; skip--)
        choices = strchr(choices, '|') + 1;
    return snprintf(text, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

// Writes the file of the filter's first case in path_filters that begins with one. Returns its length; 0: none does.
static int case_file(const char *name, char *text, size_t size)
{
    const size_t length = strlen(name);
    for (int i = 0; path_filters[i]; i++) {
        const char *file = path_filters[i] + length + 1;
        if (!strncmp(path_filters[i], name, length) && path_filters[i][length] == '=' && *file == '/')
            return snprintf(text, size, "%.*s", (int)strcspn(file, ":,"), file);
    }
    return 0;
}

static int random_warp(struct random *random, const char *name, char *text, size_t size)
{
    enum { POINTS = 8 };
    static const int corners[POINTS] = {5, 5, 100, 5, 100, 60, 5, 60};
    if (!strcmp(name, "crop"))
        return snprintf(text, size, "crop=%d:%d:%d:%d", random_range(random, 0, 90), random_range(random, 0, 60),
                        random_range(random, -1, 60), random_range(random, -1, 40));
    if (!strcmp(name, "pad"))
        return snprintf(text, size, "pad=%d:%d:%d:%d:#%06x", random_range(random, 0, 150), random_range(random, 0, 150),
                        random_range(random, -1, 60), random_range(random, -1, 60), random_range(random, 0, COLOR_MAX));
    if (!strcmp(name, "remap")) {
        int at = snprintf(text, size, "remap=");
        at += case_file(name, text + at, size - (size_t)at);
        return at + snprintf(text + at, size - (size_t)at, ":#%06x", random_range(random, 0, COLOR_MAX));
    }
    if (!strcmp(name, "pixelate"))
        return snprintf(text, size, "pixelate=%d", random_range(random, 2, 40));
    if (!strcmp(name, "rotate"))
        return snprintf(text, size, "rotate=%g",
                        random_bits(random) % 2 ? 90 * random_range(random, -4, 4)
                                                : random_range(random, -3600, 3600) / 10.0);
    if (!strcmp(name, "scale") && random_bits(random) % 3 == 0)
        return snprintf(text, size, "scale=most=%d", random_range(random, 1, 150));
    if (!strcmp(name, "scale") && random_bits(random) % 2)
        return snprintf(text, size, "scale=factor=%g", random_range(random, 2, 160) / 100.0);
    if (!strcmp(name, "scale"))
        return snprintf(text, size, "scale=%d:%d:method=%s", random_range(random, 0, 150), random_range(random, 1, 150),
                        pick(random, (const char *const[]){"auto", "area", "lanczos", "bilinear", "nearest"}, 5));
    if (!strcmp(name, "undistort")) {
        const bool fisheye = random_bits(random) % 2;
        int at = snprintf(text, size, "undistort=%d %d %d %d", random_range(random, 20, 200),
                          random_range(random, 20, 200), random_range(random, 0, 100), random_range(random, 0, 60));
        for (int i = 0; i < (fisheye ? 4 : 5); i++)
            at += snprintf(text + at, size - (size_t)at, " %g", random_range(random, -400, 400) / 1000.0);
        return at + snprintf(text + at, size - (size_t)at, ":%s:%g", fisheye ? "fisheye" : "radial",
                             random_range(random, 3, 20) / 10.0);
    }
    int at = snprintf(text, size, "warp=");
    for (int i = 0; i < POINTS; i++)
        at += snprintf(text + at, size - (size_t)at, "%s%d", i ? " " : "", corners[i] + random_range(random, -25, 25));
    return at +
           snprintf(text + at, size - (size_t)at, ":%d:%d", random_range(random, 0, 90), random_range(random, 0, 90));
}

// Writes one filter with random parameters; small numbers are more frequent. Returns the length.
static int random_filter(struct random *random, char *text, size_t size)
{
    const struct filter *filter = filter_find(reference_filter_name(random_range(random, 0, reference_filters() - 1)));
    if (!strcmp(filter->name, "convolve"))
        return random_convolve(random, text, size);
    if (filter->kind == FILTER_WARP)
        return random_warp(random, filter->name, text, size);
    if (!strcmp(filter->name, "canny"))
        return snprintf(text, size, "canny=%d:%d", random_range(random, 0, 100), random_range(random, 100, 500));
    if (!strcmp(filter->name, "nlmeans")) // the reference is slow
        return snprintf(text, size, "nlmeans=%d:%d:%d", random_range(random, 1, 30), random_range(random, 1, 5),
                        random_range(random, 3, 7));
    int at = snprintf(text, size, "%s", filter->name);
    for (int i = 0; i < filter_param_count(filter); i++) {
        const struct param *row = &filter->params[i];
        const float most = row->max > 30 && filter->kind != FILTER_POINT ? 7 : row->max; // the reference is slow
        const float max = random_bits(random) % 3 ? row->min + (most - row->min) / 4 : most;
        const double value = row->min + (max - row->min) * random_range(random, 0, 10000) / 10000.0;
        at += snprintf(text + at, size - (size_t)at, i ? ":" : "=");
        if (row->type == PARAM_CHOICE || row->type == PARAM_POINTS)
            at += random_choice(random, row->choices, text + at, size - (size_t)at);
        else if (row->type == PARAM_COLOR)
            at += snprintf(text + at, size - (size_t)at, "#%06x", random_range(random, 0, COLOR_MAX));
        else if (row->type == PARAM_TEXT)
            at += filter_is_mask(filter)
                      ? snprintf(text + at, size - (size_t)at, "none")
                      : snprintf(text + at, size - (size_t)at, "'Text, %d'", random_range(random, 0, 99));
        else if (row->type == PARAM_FILE)
            at += case_file(filter->name, text + at, size - (size_t)at);
        else
            at += snprintf(text + at, size - (size_t)at, "%.5g", row->type == PARAM_INT ? round(value) : value);
    }
    return at;
}

static void random_chain(struct random *random, char *text, size_t size)
{
    int at = 0, count = random_range(random, 1, 5);
    for (int i = 0; i < count; i++) {
        at += snprintf(text + at, size - (size_t)at, "%s", i ? "," : "");
        at += random_filter(random, text + at, size - (size_t)at);
    }
}

// Writes the variant with random legal values of its parameters. If a pass or the device does not allow the values, the
// generic kernel runs.
static void random_values(struct random *random, const char *variant, char text[VARIANT_TEXT])
{
    struct variant_choice choice;
    variant_parse(&choice, variant);
    for (int i = 0; choice.variant->param[i].name; i++) {
        const int *values = choice.variant->param[i].values;
        int count = 0;
        while (count < VARIANT_VALUES && values[count] != 0)
            count++;
        choice.value[i] = values[random_bits(random) % (uint32_t)count];
    }
    variant_print(&choice, text);
}

void paths_random(struct path_test *test, long rounds)
{
    const char *variant = test->variant;
    char file[1024];
    for (int i = 0; filters[i]; i++)
        for (int k = 0; k < filter_param_count(filters[i]); k++)
            check_that(&test->check,
                       filters[i]->params[k].type != PARAM_FILE || case_file(filters[i]->name, file, 1024),
                       "no case of path_filters begins with %s=/FILE", filters[i]->name);
    for (long i = 0; i < rounds; i++) {
        char text[8192], values[VARIANT_TEXT];
        if (variant) {
            random_values(&test->random, variant, values);
            test->variant = values;
        }
        random_chain(&test->random, text, sizeof(text));
        enum pixfmt format = random_bits(&test->random) % CASE_FORMATS;
        int size[2] = {random_range(&test->random, 1, 150), random_range(&test->random, 1, 90)};
        if (random_bits(&test->random) % 4 == 0) // as narrow as a stencil, or narrower
            size[random_bits(&test->random) % 2] = random_range(&test->random, 1, 12);
        size[0] += format != CASE_OPAQUE && !reference_size_ok(format, size[0], size[1]);
        path_case(test, format, size, text);
    }
    test->variant = variant;
}
