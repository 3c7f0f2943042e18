// test_chain.c: chain text against docs/pixels.md section 4, and the table of filters against section 3
#include "chain_property.h"
#include "check.h"
#include "pictures.h"
#include "reference_rules.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A text, and how the same chain is printed.
struct printed {
    const char *text, *print;
};

static const struct printed accepted[] = {
    {"none", "none"},
    {"none,none", "none"},
    {"gray,none,blur", "gray,blur"},
    {"mirror,keep,gray,within=filters=0,flip", "mirror,keep,gray,within,flip"},
    {" none ", "none"},
    {"blur", "blur"},
    {"blur=2", "blur"},
    {"blur=3", "blur=3"},
    {"blur=radius=3", "blur=3"},
    {"  blur  =  radius  =  3  ", "blur=3"},
    {"blur=15,blur=1", "blur=15,blur=1"},
    {"gray=luma", "gray"},
    {"gray=mode=average", "gray=average"},
    {"threshold=0", "threshold=0"},
    {"threshold=100", "threshold=100"},
    {"gamma=10", "gamma=10"},
    {"gamma=0.1", "gamma=0.1"},
    {"gamma=2.2", "gamma"},
    {"gamma=2.20", "gamma"},
    {"gamma=22e-1", "gamma"},
    {"gamma=0.30000001192092896", "gamma=0.3"},
    {"contrast", "contrast"},
    {"contrast=1.5:0", "contrast"},
    {"text='it''s 12:30'", "text='it''s 12:30'"},
    {"text='at the end '", "text='at the end '"},
    {"text=' at the begin'", "text=' at the begin'"},
    {"text='no need'", "text=no need"},
    {"contrast=2", "contrast=2"},
    {"contrast=2:-255", "contrast=2:-255"},
    {"contrast=1.5:10", "contrast=brightness=10"},
    {"contrast=brightness=10", "contrast=brightness=10"},
    {"contrast=brightness=10:3", "contrast=3:10"},
    {"contrast=amount=0", "contrast=0"},
    {"contrast=brightness=-0", "contrast"},
    {"sharpen=0.25", "sharpen=0.25"},
    {"emboss=nw", "emboss"},
    {"emboss=direction=w", "emboss=w"},
    {"convolve", "convolve"},
    {"convolve=sharpen", "convolve"},
    {"convolve=gaussian", "convolve=gaussian"},
    {"convolve=matrix=edge:div=0", "convolve=edge"},
    {"convolve=bias=128:edge:2", "convolve=edge:2:128"},
    {"convolve=bias=128", "convolve=bias=128"},
    {"convolve=1", "convolve=1"},
    {"convolve=0 -1 0 -1 5 -1 0 -1 0:div=1:bias=0", "convolve=0 -1 0 -1 5 -1 0 -1 0:1"},
    {"convolve=  1  2  1   2 4 2  1 2 1  ", "convolve=1 2 1 2 4 2 1 2 1"},
    {"convolve=1.0 2. 1e0 .5 0.5 -.5 +1 -0.25 1000", "convolve=1 2 1 0.5 0.5 -0.5 1 -0.25 1000"},
    {"mirror,flip,sobel,median,invert,sepia,maxrgb", "mirror,flip,sobel,median,invert,sepia,maxrgb"},
    {"gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray",
     "gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray"},
};

// A refused text and a part of its message: the position, or the correct word.
struct refusal {
    const char *text, *names, *suggests;
};

static const struct refusal refused[] = {
    {"", NULL, NULL},
    {" ", NULL, NULL},
    {",", NULL, NULL},
    {"gray,", NULL, NULL},
    {",gray", NULL, NULL},
    {"gray,,blur", NULL, NULL},
    {"=2", NULL, NULL},
    {"blurr", "blurr", "blur"},
    {"gray,embos", "embos", "emboss"},
    {"convolv=edge", "convolv", "convolve"},
    {"trheshold", "trheshold", "threshold"},
    {"frobnicate", "frobnicate", NULL},
    {"blur=radios=3", "radios", "radius"},
    {"contrast=brightnes=3", "brightnes", "brightness"},
    {"gray=mod=luma", "mod", "mode"},
    {"gray=lumma", "lumma", "luma"},
    {"emboss=nx", "nx", "nw"},
    {"convolve=gausian", "gausian", "gaussian"},
    {"blur=0", "radius", NULL},
    {"blur=16", "radius", "15"},
    {"blur=-1", "radius", NULL},
    {"blur=2.5", "radius", NULL},
    {"blur=99999999999999999999", "radius", NULL},
    {"blur=two", "two", NULL},
    {"blur=2x", "2x", NULL},
    {"blur=", "radius", NULL},
    {"blur=radius=", "radius", NULL},
    {"threshold=256", "level", "255"},
    {"gamma=0.09", "value", NULL},
    {"gamma=10.1", "value", "10"},
    {"gamma=nan", "value", NULL},
    {"gamma=inf", "value", NULL},
    {"gamma=0x1p1", "value", NULL},
    {"gamma=2,2", NULL, NULL},
    {"keep,gray,mirror,within", "mirror", "before keep"},
    {"mirror,within", "mirror", "before the filters"},
    {"crop=3:3,gray,within=filters=2", "crop", "before the filters"},
    {"gamma=1e", "value", NULL},
    {"gamma=1e99", "value", NULL},
    {"contrast=11", "amount", "10"},
    {"contrast=1:256", "brightness", "255"},
    {"sharpen=8.5", "amount", "8"},
    {"blur=2:3", "blur", NULL},
    {"gray=luma:luma", "gray", NULL},
    {"sobel=1", "sobel", NULL},
    {"blur=radius=2:radius=2", "radius", NULL},
    {"blur=2:radius=2", "radius", NULL},
    {"contrast=amount=2:3", "amount", NULL},
    {"contrast=1:2:3", "contrast", NULL},
    {"convolve=1 2", "matrix", "9"},
    {"convolve=1 2 3 4 5 6 7 8 9 10", "matrix", "9"},
    {"convolve=1 2 3 4 5 6 7 8 x", "x", NULL},
    {"convolve=1 2 3 4 5 6 7 8 nan", NULL, NULL},
    {"convolve=1:1000001", "div", NULL},
    {"convolve=1:1:256", "bias", NULL},
    {"convolve=32768:1", "convolve", NULL},
    {"convolve=1e39", NULL, NULL},
    {"convolve=1:1e-30", "convolve", NULL},
    {"gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray", "16", NULL},
    {"gray\xC3\xA9", NULL, "gray"},
    {"\xEF\xBB\xBFgray", NULL, "gray"},
    {"\xFF\xFE\xFD", NULL, NULL},
    {"gr\xC3\xA4y=\xE2\x80\x9C", NULL, NULL},
};

#define QUOTES "; a text with , : ; | ! or = needs quotes: -f \"text='12:30'\""
// A refused text, and the whole message.
static const struct {
    const char *text, *error;
} advice[] = {
    {"blurr", "there is no filter 'blurr'; did you mean 'blur'?"},
    {"lut=nosuch.cube", "lut: cannot read the file 'nosuch.cube': No such file or directory; name another file"},
    {"film.cube", "'film.cube' is a file of colours; write lut=film.cube"},
    {"./k.cl", "'./k.cl' is a file; name its directory and the filter: --filters DIRECTORY -f NAME"},
    {"contrast=1,3", "there is no filter '3'; did you mean 'contrast=1.3'?"},
    {"gray,levels=16,235", "there is no filter '235'; did you mean 'gray,levels=16:235'?"},
    {"gray,3,blurr", "there is no filter '3'; separate a filter's values with ':', as in contrast=1:3"},
    {"crop=iw/2",
     "crop: width is 'iw/2', but must be a number; monocle has no expressions of iw, ih or PI; write numbers"},
    {"scale=w=1600", "scale has no parameter 'w'; did you mean 'width'?"},
    {"scale=640x480", "scale: width is '640x480', but must be a number; write 640:480"},
    {"scale=iw/2:ih/2", "scale: width is 'iw/2', but must be a number; half of the input is scale=factor=0.5"},
    {"scale=640:-1",
     "scale: height is -1, but must be between 0 and 32768; without its height, scale keeps the proportions"},
    {"frobnicate", "there is no filter 'frobnicate'; 'monocle filters' lists the filters"},
    {"grayscale", "there is no filter 'grayscale'; did you mean 'gray'?"},
    {"blur,greyscale", "there is no filter 'greyscale'; did you mean 'gray'?"},
    {"grey", "there is no filter 'grey'; did you mean 'gray'?"},
    {"edge", "there is no filter 'edge'; did you mean 'sobel'?"},
    {"blur background",
     "there is no filter 'blur background'; did you mean 'keep,blur=15,blur=15,matte=person:behind'?"},
    {"Virtual-Background", "there is no filter 'Virtual-Background'; did you mean 'fill=white,matte=person:behind'?"},
    {"edges=2", "there is no filter 'edges'; did you mean 'sobel'?"},
    {"Edge-Detect", "there is no filter 'Edge-Detect'; did you mean 'canny'?"},
    {"gblur=3", "there is no filter 'gblur'; did you mean 'gaussian'?"},
    {"GaussianBlur", "there is no filter 'GaussianBlur'; did you mean 'gaussian'?"},
    {"Gaussian-Blur=3", "there is no filter 'Gaussian-Blur'; did you mean 'gaussian'?"},
    {"yadif", "there is no filter 'yadif'; did you mean 'deinterlace'?"},
    {"zoom=2",
     "there is no filter 'zoom'; did you mean 'scale=factor=2'? Ctrl+wheel, and the property zoom, zoom the live "
     "view"},
    {"laplace", "there is no filter 'laplace'; did you mean 'laplacian'?"},
    {"boxblur", "there is no filter 'boxblur'; did you mean 'blur'?"},
    {"brightness", "there is no filter 'brightness'; did you mean 'contrast=1:20'?"},
    {"negate", "there is no filter 'negate'; did you mean 'invert'?"},
    {"unsharp mask", "there is no filter 'unsharp mask'; did you mean 'unsharp'?"},
    {"curves=0/0", "curves: points must have at least two points x/y"},
    {"curves=0/0 9", "curves: points is '0/0 9', but must be numbers or one of none|contrast|lighter|darker|negative"},
    {"curves=0/0 9/256",
     "curves: the numbers of points must be 0 to 255, and each x at least 1 more than the one before"},
    {"curves=9/0 9/1",
     "curves: the numbers of points must be 0 to 255, and each x at least 1 more than the one before"},
    {"levels=200:100", "levels: black must be below white"},
    {"median_blur", "there is no filter 'median_blur'; did you mean 'median'?"},
    {"filter2D", "there is no filter 'filter2D'; did you mean 'convolve'?"},
    {"region", "there is no filter 'region'; did you mean 'blur=15,inside=25:25:50:50'?"},
    {"crop+overlay", "there is no filter 'crop+overlay'; did you mean 'blur=15,inside=25:25:50:50'?"},
    {"green screen", "there is no filter 'green screen'; did you mean 'fill=white,key=green'?"},
    {"chromakey=0x00ff00", "there is no filter 'chromakey'; did you mean 'fill=white,key=green'?"},
    {"censor", "there is no filter 'censor'; did you mean 'pixelate,inside=25:25:50:50'?"},
    {"key=gray", "key: black, white and greys have no hue; choose by=luma"},
    {"hflip", "there is no filter 'hflip'; did you mean 'mirror'?"},
    {"flop", "there is no filter 'flop'; did you mean 'mirror'?"},
    {"vflip", "there is no filter 'vflip'; did you mean 'flip'?"},
    {"blur 2", "there is no filter 'blur 2'; did you mean 'blur=2'?"},
    {"blur:2", "there is no filter 'blur:2'; did you mean 'blur=2'?"},
    {"contrast 2 10", "there is no filter 'contrast 2 10'; did you mean 'contrast=2:10'?"},
    {"gray blur", "there is no filter 'gray blur'; did you mean 'gray,blur'?"},
    {"blur 99", "there is no filter 'blur 99'; did you mean 'blur'?"},
    {"blur=2;gray", "separate filters with ',', not ';'; did you mean 'blur=2,gray'?"},
    {"blur ! gray | flip", "separate filters with ',', not '!'; did you mean 'blur , gray , flip'?"},
    {"blur=99;gray", "separate filters with ',', not ';'"},
    {"text=%H:%M:at=top", "text: x is '%M', but must be a number" QUOTES},
    {"text=c=b", "text has no parameter 'c'" QUOTES},
    {"Text=noon,zzz", "there is no filter 'zzz'; 'monocle filters' lists the filters" QUOTES},
    {"text='Hi, text=you',zzz", "there is no filter 'zzz'; 'monocle filters' lists the filters"},
    {"text=one,", "a filter's name is missing" QUOTES},
    {"text=one, two", "there is no filter 'two'; 'monocle filters' lists the filters" QUOTES},
    {"text=Hello!,blurr", "separate filters with ',', not '!'" QUOTES},
    {"text='12:30':x", "text: x is 'x', but must be a number"},
    {"text=noon,contrast=1:x", "contrast: brightness is 'x', but must be a number"},
    {"text=noon,gray=5", "gray: mode is '5', but must be one of luma|average|paint"},
};

static void test_advice(struct check *check)
{
    for (size_t i = 0; i < sizeof(advice) / sizeof(*advice); i++) {
        struct chain chain;
        char error[CHAIN_ERROR] = "", problem[PROPERTY_TEXT];
        check_that(check, !chain_parse(&chain, advice[i].text, error) && !strcmp(error, advice[i].error),
                   "\"%s\": \"%s\", not \"%s\"", advice[i].text, error, advice[i].error);
        check_that(check, chain_property(advice[i].text, problem), "\"%s\": %s", advice[i].text, problem);
        const char *quoted = strstr(error, "mean '");
        if (!quoted || strstr(error, "no parameter"))
            continue;
        char text[CHAIN_ERROR];
        snprintf(text, sizeof(text), "%s", quoted + strlen("mean '"));
        text[strcspn(text, "'")] = '\0';
        check_that(check, chain_parse(&chain, text, error), "the advice for \"%s\": %s", advice[i].text, error);
    }
}

// A chain with a stage that has no effect, and a part of the warning; NULL: all stages have one.
static const struct refusal useless[] = {
    {"within", "within: it limits the filters before it, but there is none", "as in blur=8,within"},
    {"inside,gray", "inside: it limits", "blur=8,inside"},
    {"none,keep,none,key", "key: it limits", "none"},
    {"keep,blur", "keep: no mask follows it", "such as inside"},
    {"keep,keep,blur,inside", "keep: no mask follows it", ""},
    {"gray,blur,within=filters=9", "within: filters is 9", "it limits all of them"},
    {"text=12:30,gray", "text: it is '12', with x=30", "write text='12:30'"},
    {"text='12:30'", NULL, NULL},
    {"text=12:size=30", NULL, NULL},
    {"gray,blur,within=filters=2", NULL, NULL},
    {"keep,blur,inside,key", NULL, NULL},
    {"keep,gray,keep,blur,inside,invert,key", NULL, NULL},
};

// Two parts, the number of a mask in the whole chain, and the first stage that it limits: none of another part.
static const struct {
    enum chain_part first_part;
    const char *first, *second; // the second part is the look, or the titles after a look
    int mask, kept;
} masked_parts[] = {
    {PART_CAMERA, "mirror", "inside", 1, 1},
    {PART_CAMERA, "mirror,gray", "blur,inside", 3, 2},
    {PART_CAMERA, "keep,gray", "blur,inside", 3, 2},
    {PART_CAMERA, "gray,gray", "blur,gray,inside=filters=9", 4, 2},
    {PART_LOOK, "keep,gray", "blur,gray,inside", 4, 3},
    {PART_LOOK, "keep,gray,inside", "text,inside", 4, 3},
};

static void test_parts(struct check *check)
{
    char error[CHAIN_ERROR], text[CHAIN_TEXT];
    struct chain chain, part;
    for (size_t i = 0; i < sizeof(masked_parts) / sizeof(*masked_parts); i++) {
        const enum chain_part after = masked_parts[i].first_part == PART_CAMERA ? PART_LOOK : PART_TITLES;
        chain = (struct chain){.count = 0};
        check_that(check,
                   chain_parse(&part, masked_parts[i].second, error) && chain_put_part(&chain, after, &part, error) &&
                       chain_parse(&part, masked_parts[i].first, error) &&
                       chain_put_part(&chain, masked_parts[i].first_part, &part, error),
                   "parts %zu: %s", i, error);
        const int kept = chain_kept(&chain, masked_parts[i].mask);
        check_that(check, kept == masked_parts[i].kept, "parts %zu: a mask limits the stages from %d", i, kept);
    }
    chain = (struct chain){.count = 0};
    check_that(check,
               chain_parse(&part, "gray,inside=filters=2", error) && chain_put_part(&chain, PART_LOOK, &part, error) &&
                   chain_is_useless(&chain, 1, error) && strstr(error, "filters is 2, but fewer"),
               "filters of the part: %s", error);
    check_that(check,
               chain_parse(&part, "blur", error) && chain_put_part(&chain, PART_CAMERA, &part, error) &&
                   chain_is_useless(&chain, 2, error) && strstr(error, "filters is 2, but fewer"),
               "filters of the part, with another one: %s", error);
    chain_parse(&part, "keep,blur,matte", error);
    chain_put_part(&chain, PART_LOOK, &part, error);
    check_that(
        check,
        chain_parse(&part, "rotate=9", error) && !chain_put_part(&chain, PART_CAMERA, &part, error) &&
            strcmp(error, "matte: rotate of camera before it moves pixels; put rotate into chain, after matte") == 0,
        "a mask that needs the frame: %s", error);
    check_that(check, chain_print(&chain, text) && strcmp(text, "blur,keep,blur,matte") == 0, "it stays: %s", text);
    check_that(check, chain_parse(&part, "flip,rotate=-90", error) && chain_put_part(&chain, PART_CAMERA, &part, error),
               "turns before such a mask: %s", error);
    check_that(check,
               !chain_parse_part(&part, PART_TITLES, "txet", NULL, error) && strncmp(error, "titles: there", 13) == 0,
               "the message names the part: %s", error);
}

static void test_useless(struct check *check)
{
    for (size_t i = 0; i < sizeof(useless) / sizeof(*useless); i++) {
        const struct refusal *row = &useless[i];
        struct chain chain;
        char why[CHAIN_ERROR] = "", warning[CHAIN_ERROR] = "";
        check_that(check, chain_parse(&chain, row->text, why), "\"%s\": %s", row->text, why);
        for (int k = 0; k < chain.count; k++) {
            if (chain_is_useless(&chain, k, why))
                snprintf(warning, sizeof(warning), "%s", why);
        }
        check_that(check, row->names ? strstr(warning, row->names) && strstr(warning, row->suggests) : !warning[0],
                   "\"%s\": \"%s\"", row->text, warning);
    }
}

// A chain and the stage whose input is the kept picture of its last stage, a mask, from docs/pixels.md section 2.
static const struct {
    const char *text;
    int kept;
} kept[] = {
    {"gray,within", 0},
    {"gray,blur,within", 1},
    {"gray,none,inside", 0},
    {"gray,inside,key", 0},
    {"gray,blur,none,invert,inside=filters=2", 1},
    {"gray,keep,blur,invert,inside=filters=3", 0},
    {"gray,within=filters=9", 0},
    {"gray,blur,inside,key=filters=2", 1},
    {"gray,keep,blur,invert,within", 1},
    {"keep,gray,inside,key", 0},
    {"keep,gray,inside,none,key", 0},
    {"keep,gray,inside,blur,key", 3},
    {"keep,gray,keep,blur,inside,key", 0},
    {"keep,gray,keep,blur,inside,invert,key", 0},
    {"gray,keep,blur,inside=filters=1,invert,key", 1},
    {"keep,keep,blur,inside=filters=1,key", 1},
    {"keep,gray,keep,blur,keep,invert,inside,inside", 2},
    {"keep,gray,keep,blur,keep,invert,inside,inside,inside", 0},
};

static void test_kept(struct check *check)
{
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        struct chain chain;
        char why[CHAIN_ERROR] = "";
        check_that(check, chain_parse(&chain, kept[i].text, why), "\"%s\": %s", kept[i].text, why);
        const int stage = chain_kept(&chain, chain.count - 1);
        check_that(check, stage == kept[i].kept, "\"%s\": %d, not %d", kept[i].text, stage, kept[i].kept);
    }
}

// Without `color`, a point filter may make colours from grey; other kinds treat the colours alike.
static void test_grey(struct check *check)
{
    const struct filter point = {.kind = FILTER_POINT}, stencil = {.kind = FILTER_STENCIL};
    const struct filter warp = {.kind = FILTER_WARP}, filled = {.kind = FILTER_WARP, .placed = true};
    check_that(check, !filter_leaves_grey(&point, true) && !filter_leaves_grey(&filled, true), "colours are possible");
    check_that(check, filter_leaves_grey(&stencil, true) && filter_leaves_grey(&warp, true), "grey stays grey");
    check_that(check, !filter_leaves_grey(&stencil, false), "colours do not become grey");
}

// Filters that claim to keep grey, or to make it, do: the reference's pixels are grey.
static void test_grey_claims(struct check *check)
{
    const struct filter *filter;
    for (int i = 0; (filter = filter_at(i)); i++) {
        const char *const texts[] = {filter->name, strchr(filter->example, ',') ? filter->name : filter->example};
        const bool any = filter_leaves_grey(filter, false);
        for (int t = 0; t < 2 && filter_leaves_grey(filter, true); t++) {
            struct picture picture = picture_new(16, 16);
            for (int p = 0; p < 4 * 16 * 16; p++)
                picture.rgba[p] = (uint8_t)(p % 4 == 3 ? 255 : any ? p * 37 : p / 4);
            const bool ran = reference_chain(&picture, texts[t]); // false: the example names a file of the user
            int coloured = 0;
            for (int p = 0; ran && p < picture.width * picture.height; p++)
                coloured +=
                    picture.rgba[4 * p] != picture.rgba[4 * p + 1] || picture.rgba[4 * p] != picture.rgba[4 * p + 2];
            check_that(check, !coloured, "\"%s\" colours %d grey pixels; remove .color from src/filter/%s.c", texts[t],
                       coloured, filter->name);
            picture_free(&picture);
        }
    }
}

static void test_accepted(struct check *check)
{
    for (size_t i = 0; i < sizeof(accepted) / sizeof(*accepted); i++) {
        const struct printed *row = &accepted[i];
        struct chain chain, again;
        char error[CHAIN_ERROR] = "", text[CHAIN_TEXT] = "", problem[PROPERTY_TEXT];
        if (!check_that(check, chain_parse(&chain, row->text, error), "\"%s\" is refused: %s", row->text, error))
            continue;
        chain_print(&chain, text);
        check_that(check, !strcmp(text, row->print), "\"%s\" is printed as \"%s\", not \"%s\"", row->text, text,
                   row->print);
        check_that(check, chain_parse(&again, row->print, error) && chains_equal(&chain, &again),
                   "\"%s\" and \"%s\" are not the same chain", row->text, row->print);
        check_that(check, chain_property(row->text, problem), "\"%s\": %s", row->text, problem);
        check_that(check, reference_chain(NULL, row->text), "the reference refuses \"%s\"", row->text);
    }
}

static void test_refused(struct check *check)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        const struct refusal *row = &refused[i];
        struct chain chain;
        char error[CHAIN_ERROR] = "", problem[PROPERTY_TEXT];
        check_that(check, !reference_chain(NULL, row->text), "the reference accepts \"%s\"", row->text);
        if (!check_that(check, !chain_parse(&chain, row->text, error), "\"%s\" is accepted", row->text))
            continue;
        check_that(check, !row->names || strstr(error, row->names), "\"%s\": \"%s\" does not name \"%s\"", row->text,
                   error, row->names);
        check_that(check, !row->suggests || strstr(error, row->suggests), "\"%s\": \"%s\" does not suggest \"%s\"",
                   row->text, error, row->suggests);
        check_that(check, chain_property(row->text, problem), "\"%s\": %s", row->text, problem);
    }
}

// Two quarter turns are a half turn.
static void test_turns(struct check *check)
{
    static const struct {
        const char *text;
        bool turns;
    } rows[] = {{"none", false},       {"rotate=90", true}, {"rotate=90,gray,rotate=90", false},
                {"rotate=180", false}, {"mirror", false},   {"rotate=90,rotate=180,rotate=270,rotate=90", true}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct chain chain;
        char error[CHAIN_ERROR];
        check_that(check, chain_parse(&chain, rows[i].text, error) && chain_turns(&chain) == rows[i].turns, "%s turns",
                   rows[i].text);
    }
}

// Very long texts of every kind, as a user might paste them.
static void test_long(struct check *check)
{
    static const char *const pieces[] = {"a", " ", ",", "=", ":", "gray,", "blur=", "9", "-", "1 ", "\x80", "."};
    size_t size = 1 << 20;
    char *text = malloc(size + 32), problem[PROPERTY_TEXT];
    for (size_t i = 0; text && i < sizeof(pieces) / sizeof(*pieces); i++)
        for (int start = 0; start < 3; start++) {
            size_t at = (size_t)sprintf(text, "%s", start == 0 ? "" : start == 1 ? "blur=" : "convolve=");
            while (at < size)
                at += (size_t)sprintf(text + at, "%s", pieces[i]);
            check_that(check, chain_property(text, problem), "a megabyte of \"%s\": %s", pieces[i], problem);
        }
    free(text);
}

// A random chain text, usually valid.
static size_t random_text(struct random *random, char *text, size_t size)
{
    static const char *const values[] = {"1",  "2",    "0.5", "-1",    "255",      "300", "luma", "average", "se",
                                         "nw", "edge", "1e1", "-2.25", "gaussian", "0",   "15",   "10",      "1 2 3"};
    size_t at = 0;
    int count = random_range(random, 1, 4);
    for (int i = 0; i < count; i++) {
        const struct rule *rule = reference_rule(random_range(random, 0, reference_filters() - 1));
        at += (size_t)snprintf(text + at, size - at, "%s%s", i ? "," : "", rule->name);
        int given = random_range(random, 0, 2);
        for (int k = 0; k < given; k++) {
            const struct parameter *parameter = &rule->parameter[random_bits(random) % REFERENCE_PARAMS];
            bool named = parameter->name && random_bits(random) % 2;
            at += (size_t)snprintf(text + at, size - at, "%s%s%s%s", k ? ":" : "=", named ? parameter->name : "",
                                   named ? "=" : "", values[random_bits(random) % (sizeof(values) / sizeof(*values))]);
        }
    }
    return at;
}

static void test_random(struct check *check)
{
    struct random random = {4};
    int taken = 0;
    for (int i = 0; i < 20000; i++) {
        char text[512], error[CHAIN_ERROR], problem[PROPERTY_TEXT];
        struct chain chain;
        random_text(&random, text, sizeof(text));
        bool parsed = chain_parse(&chain, text, error), expected = reference_chain(NULL, text);
        taken += parsed;
        check_that(check, parsed == expected, "\"%s\" %s, unlike section 4: %s", text,
                   parsed ? "parses" : "does not parse", error);
        check_that(check, chain_property(text, problem), "\"%s\": %s", text, problem);
    }
    check_that(check, taken > 2000 && taken < 18000, "%d of 20000 random texts are chains", taken);
}

static void test_table(struct check *check)
{
    static const enum param_type types[] = {
        [INTEGER] = PARAM_INT,   [REAL] = PARAM_REAL, [WORD] = PARAM_CHOICE, [MATRIX] = PARAM_MATRIX, [MAP] = PARAM_MAP,
        [POINTS] = PARAM_POINTS, [TEXT] = PARAM_FILE, [COLOR] = PARAM_COLOR, [CAPTION] = PARAM_TEXT};
    for (const struct filter *const *filter = filters; *filter; filter++) {
        char error[CHAIN_ERROR] = "";
        struct chain chain;
        check_that(check, reference_find((*filter)->name), "no file of tests/reference has a rule for the filter %s",
                   (*filter)->name);
        check_that(check, filter_find((*filter)->name) == *filter, "%s is not found by its name", (*filter)->name);
        check_that(check, chain_parse(&chain, (*filter)->example, error), "the example of %s: %s", (*filter)->name,
                   error);
    }
    check_that(check, !filter_find("") && !filter_find("nothing"), "a filter is found by a wrong name");
    for (int i = 0; i < reference_filters(); i++) {
        const struct rule *rule = reference_rule(i);
        const struct filter *filter = filter_find(rule->name);
        if (!check_that(check, filter != NULL, "there is no filter %s", rule->name))
            continue;
        for (int p = 0; p < REFERENCE_PARAMS; p++) {
            const struct parameter *expected = &rule->parameter[p];
            if (!check_that(check, (p < filter_param_count(filter)) == (expected->type != NO_VALUE),
                            "%s has %d parameters", rule->name, filter_param_count(filter)) ||
                expected->type == NO_VALUE)
                break;
            const struct param *param = &filter->params[p];
            check_that(check, !strcmp(param->name, expected->name) && param->type == types[expected->type],
                       "%s: parameter %d is not %s", rule->name, p, expected->name);
            if (expected->type == INTEGER || expected->type == REAL)
                check_that(check,
                           param->min == (float)expected->low && param->max == (float)expected->high &&
                               param->preset == strtof(expected->preset, NULL),
                           "%s: %s is %g..%g, %g", rule->name, param->name, param->min, param->max, param->preset);
        }
    }
}

static bool chain_prints(const struct chain *chain, const char *expected)
{
    char text[CHAIN_TEXT];
    chain_print(chain, text);
    return !strcmp(text, expected);
}

static void test_edit(struct check *check)
{
    const char *why;
    struct chain chain = {.count = 0};
    check_that(check, chain_prints(&chain, "none"), "an empty chain is not printed as none");
    check_that(check,
               chain_append(&chain, filter_find("blur")) && chain_append(&chain, filter_find("contrast")) &&
                   chain_append(&chain, filter_find("emboss")),
               "filters cannot be appended");
    check_that(check, chain_prints(&chain, "blur,contrast,emboss"), "the appended filters are missing");
    check_that(check,
               chain_set(&chain, 0, 0, 99, &why) && chain_prints(&chain, "blur=15,contrast,emboss") &&
                   chain.stage[0].arguments.radius == 15,
               "a radius of 99 does not become 15");
    check_that(check, chain_set(&chain, 0, 0, -3, &why) && chain_prints(&chain, "blur=1,contrast,emboss"),
               "a radius of -3 does not become 1");
    check_that(check, chain_set(&chain, 1, 1, 300, &why) && chain.stage[1].values.value[1] == 255,
               "a brightness of 300 does not become 255");
    check_that(check, chain_set(&chain, 1, 0, 0.25f, &why) && chain_prints(&chain, "blur=1,contrast=0.25:255,emboss"),
               "an amount of 0.25 is not set");
    check_that(check, chain_set(&chain, 2, 0, 3, &why) && chain_prints(&chain, "blur=1,contrast=0.25:255,emboss=e"),
               "direction number 3 is not e");
    chain_remove(&chain, 1);
    check_that(check, chain_prints(&chain, "blur=1,emboss=e"), "the second filter is not removed");
    chain_remove(&chain, 0);
    chain_remove(&chain, 0);
    check_that(check, chain.count == 0 && chain_prints(&chain, "none"), "the last filter is not removed");
    for (int i = 0; i < CHAIN_MAX; i++)
        check_that(check, chain_append(&chain, filter_find("gray")), "filter %d cannot be appended", i + 1);
    check_that(check, !chain_append(&chain, filter_find("gray")) && chain.count == CHAIN_MAX, "a 17th filter fits");
}

// The values that a key changes: those of the text, but the computed size instead of a size of 0.
static void test_value(struct check *check)
{
    char error[CHAIN_ERROR];
    struct chain chain;
    check_that(check, chain_parse(&chain, "scale=200,scale", error), "the chain is refused: %s", error);
    check_that(check, chain_value(&chain, 0, 0, 640, 480) == 200 && chain_value(&chain, 0, 1, 640, 480) == 150,
               "scale=200 of 640x480 is not 200x150");
    check_that(check, chain_value(&chain, 1, 0, 640, 480) == 200 && chain_value(&chain, 1, 3, 640, 480) == 200,
               "the second scale does not have the size of the first one's result");
    check_that(check, chain_value(&chain, 1, 3, 480, 640) == 267, "the most of 200x267 is not 267");
    check_that(check, chain_value(&chain, 1, 2, 640, 480) == 1, "the factor is no size, and not 1");
}

static void test_edit_convolve(struct check *check)
{
    struct chain chain;
    const char *why;
    char error[CHAIN_ERROR], text[64] = "";
    check_that(check, chain_parse(&chain, "convolve=30001:1", error), "convolve=30001:1: %s", error);
    check_that(check, !chain_set(&chain, 0, 1, 0.5f, &why) && chain_prints(&chain, "convolve=30001:1"),
               "a div that makes the matrix too large is not refused, or changes something");
    chain_value_text(&chain.stage[0], 0, text);
    check_that(check, !strcmp(text, "1x1"), "a matrix of one number is called %s", text);
    check_that(check, chain_parse(&chain, "convolve=1 2 1 2 4 2 1 2 1,blur,emboss", error), "%s", error);
    chain_value_text(&chain.stage[0], 0, text);
    check_that(check, !strcmp(text, "3x3"), "a 3x3 matrix is called %s", text);
    chain_value_text(&chain.stage[1], 0, text);
    check_that(check, !strcmp(text, "2"), "the radius 2 is called %s", text);
    chain_value_text(&chain.stage[2], 0, text);
    check_that(check, !strcmp(text, "nw"), "the direction nw is called %s", text);
    chain_set(&chain, 1, 0, 10, &why);
    chain_value_text(&chain.stage[1], 0, text);
    check_that(check, !strcmp(text, "10"), "the radius 10 is called %s", text);
    check_that(check,
               chain_parse(&chain, "convolve", error) && chain_set(&chain, 0, 0, 2, &why) &&
                   chain_prints(&chain, "convolve=gaussian") && chain.stage[0].arguments.radius == 2,
               "preset number 2 is not gaussian");
    // After any key, parsing the printed chain gives the same chain.
    struct random random = {5};
    for (int i = 0; i < 3000; i++) {
        struct chain again;
        char printed[CHAIN_TEXT];
        const struct filter *filter = filters[i % reference_filters()];
        chain = (struct chain){.count = 0};
        chain_append(&chain, filter);
        for (int k = 0; k < 4 && filter_param_count(filter); k++) {
            float value = (float)random_range(&random, -40000, 40000) / (float)random_range(&random, 1, 9999);
            chain_set(&chain, 0, random_range(&random, 0, filter_param_count(filter) - 1), k == 3 ? NAN : value, &why);
        }
        chain_print(&chain, printed);
        check_that(check, chain_parse(&again, printed, error) && chains_equal(&chain, &again),
                   "after it was set \"%s\" is another chain: %s", printed, error);
    }
}

int main(void)
{
    struct check check = {.name = "test_chain"};
    // A locale with a decimal comma, if it is installed, changes nothing.
    static const char *const locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
    for (size_t i = 0; i < sizeof(locales) / sizeof(*locales); i++) {
        if (!setlocale(LC_ALL, "C") || (i && !setlocale(LC_ALL, locales[i])))
            continue;
        struct chain chain;
        char error[CHAIN_ERROR] = "";
        check_that(&check, chain_parse(&chain, "gamma=0.5", error) && chain_prints(&chain, "gamma=0.5"),
                   "gamma=0.5 in the locale %s: %s", locales[i], error);
    }
    setlocale(LC_ALL, "C");
    test_table(&check);
    if (check.failed)
        return check_end(&check); // the other tests need every filter
    test_accepted(&check);
    test_refused(&check);
    test_advice(&check);
    test_kept(&check);
    test_useless(&check);
    test_parts(&check);
    test_turns(&check);
    test_long(&check);
    test_random(&check);
    test_edit(&check);
    test_value(&check);
    test_edit_convolve(&check);
    test_grey(&check);
    test_grey_claims(&check);
    return check_end(&check);
}
