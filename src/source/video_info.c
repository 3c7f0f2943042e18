// video_info.c: what ffprobe says about a video, and how ffmpeg must deliver its frames
#include "source/video_info.h"

#include "base/json_text.h"
#include "base/text.h"
#include "source/kind.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Pixel formats that ffmpeg delivers without a conversion. The first row of a format is its plain name.
static const struct layout {
    const char *name;
    enum pixfmt format;
    bool full; // the name implies full range
} layouts[] = {
    {"yuv420p", PIXFMT_YU12, false}, {"yuvj420p", PIXFMT_YU12, true}, {"yuv422p", PIXFMT_422P, false},
    {"yuvj422p", PIXFMT_422P, true}, {"yuv444p", PIXFMT_444P, false}, {"yuvj444p", PIXFMT_444P, true},
    {"nv12", PIXFMT_NV12, false},    {"nv21", PIXFMT_NV21, false},    {"nv16", PIXFMT_NV16, false},
    {"gray", PIXFMT_GREY, false},    {"rgb24", PIXFMT_RGB24, false},  {"bgr24", PIXFMT_BGR24, false},
    {"rgba", PIXFMT_RGBA, false},
};

// The nearest format for the other names, which contain one of these words.
static const struct {
    const char *word, *name;
} nearest[] = {
    {"gray", "gray"},   {"mono", "gray"},    {"ya", "gray"},      {"yuva444", "yuv444p"}, {"rgb", "rgba"},
    {"bgr", "rgba"},    {"gbr", "rgba"},     {"pal8", "rgba"},    {"xyz", "rgba"},        {"444", "yuv444p"},
    {"440", "yuv444p"}, {"p410", "yuv444p"}, {"vuy", "yuv444p"},  {"p416", "yuv444p"},    {"422", "yuv422p"},
    {"411", "yuv422p"}, {"p210", "yuv422p"}, {"p216", "yuv422p"},
};

static const struct layout *layout_named(const char *name)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
        if (strcmp(layouts[i].name, name) == 0)
            return &layouts[i];
    }
    return NULL;
}

static const struct layout *layout_for(const char *name)
{
    const struct layout *layout = layout_named(name);
    for (size_t i = 0; !layout && i < sizeof(nearest) / sizeof(*nearest); i++) {
        const bool alpha = strcmp(nearest[i].word, "ya") == 0; // "ya8", but not "yuva420p"
        if (alpha ? strncmp(name, "ya", 2) == 0 : strstr(name, nearest[i].word) != NULL)
            layout = layout_named(nearest[i].name);
    }
    return layout ? layout : layout_named("yuv420p");
}

// Reads a ratio "30000/1001". Returns its value; 0: there is none.
static double read_ratio(const char *text, int *numerator, int *denominator)
{
    char rest;
    if (sscanf(text, "%9d/%9d%c", numerator, denominator, &rest) != 2 || *numerator <= 0 || *denominator <= 0)
        return 0;
    return (double)*numerator / *denominator;
}

// Most videos have a constant rate, and r_frame_rate is its exact ratio. With a variable rate, r_frame_rate is a rate
// that fits all intervals. If it is too high, this takes the average rate; but if that is below LEAST, DEFAULT, so that
// the frames of fast parts are kept. In H.264 with a picture for each field, r_frame_rate is the rate of the fields,
// twice the average rate of the frames. If each field is a sample of the file, both are the rate of the fields.
static void take_rate(const json_t *stream, struct video_info *info)
{
    enum { USUAL = 61, LEAST = 24, DEFAULT = 30, MOST = 1000 };
    int numerator, denominator;
    const double exact = read_ratio(json_text(stream, "r_frame_rate"), &info->rate_numerator, &info->rate_denominator);
    const double mean = read_ratio(json_text(stream, "avg_frame_rate"), &numerator, &denominator);
    const bool h264 = strcmp(json_text(stream, "codec_name"), "h264") == 0;
    const bool fields = h264 && fabs(exact - 2 * mean) < 0.01 * exact;
    info->paired = h264 && !fields && strcmp(json_text(stream, "field_order"), "progressive") != 0;
    if (exact > 0 && exact <= fmax(USUAL, mean * 1.05) && !fields)
        return;
    const bool known = mean >= (fields ? 0 : LEAST) && mean <= MOST;
    info->rate_numerator = known ? numerator : DEFAULT;
    info->rate_denominator = known ? denominator : 1;
}

// Matrices of ffmpeg; `converted`: monocle does not have it, but zscale does.
static const struct matrix {
    const char *name;
    enum color_matrix matrix;
    bool converted;
} matrices[] = {
    {"", COLOR_MATRIX_DEFAULT, false},
    {"unknown", COLOR_MATRIX_DEFAULT, false},
    {"reserved", COLOR_MATRIX_DEFAULT, false},
    {"bt709", COLOR_MATRIX_709, false},
    {"smpte170m", COLOR_MATRIX_601, false},
    {"bt470bg", COLOR_MATRIX_601, false},
    {"bt2020nc", COLOR_MATRIX_2020, false},
    {"fcc", COLOR_MATRIX_709, true},
    {"smpte240m", COLOR_MATRIX_709, true},
    {"ycgco", COLOR_MATRIX_709, true},
    {"chroma-derived-nc", COLOR_MATRIX_709, true},
    {"ictcp", COLOR_MATRIX_709, true},
};

// Returns ffmpeg's name of the transfer function if it is one of HDR videos (ITU-R BT.2100), else NULL.
static const char *hdr_transfer(const json_t *stream, const struct layout *layout)
{
    static const char *const names[] = {"smpte2084", "arib-std-b67"};
    const char *transfer = json_text(stream, "color_transfer");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && pixfmt_info(layout->format)->planes > 1; i++) {
        if (strcmp(transfer, names[i]) == 0)
            return names[i];
    }
    return NULL;
}

static bool known_primaries(const json_t *stream)
{
    const char *primaries = json_text(stream, "color_primaries");
    return primaries[0] && strcmp(primaries, "unknown") != 0 && strcmp(primaries, "reserved") != 0;
}

// Sets the colour of `shape`, the transfer function and the matrix. Returns false if there is no conversion: sets
// `why`.
static bool read_color(const json_t *stream, const struct layout *layout, struct video_info *info, char why[VIDEO_WHY])
{
    const char *space = json_text(stream, "color_space"), *range = json_text(stream, "color_range");
    const bool yuv = pixfmt_info(layout->format)->planes > 1, derived = strcmp(space, "chroma-derived-nc") == 0;
    const struct matrix *end = matrices + sizeof(matrices) / sizeof(*matrices), *row = yuv ? matrices : end;
    struct color *color = &info->shape.color;
    while (row < end && strcmp(space, row->name) != 0)
        row++;
    if (layout->full || strcmp(range, "pc") == 0)
        color->range = COLOR_RANGE_FULL;
    else if (strcmp(range, "tv") == 0)
        color->range = COLOR_RANGE_LIMITED;
    info->full = color->range == COLOR_RANGE_FULL;
    info->transfer = hdr_transfer(stream, layout);
    if (!yuv)
        return true;
    if (row == end || (strcmp(space, "ictcp") == 0 && !info->transfer) || (derived && !known_primaries(stream))) {
        snprintf(why, VIDEO_WHY, "monocle cannot convert its colour matrix %.32s%s", space,
                 derived ? " without primaries" : "");
        return false;
    }
    info->matrix = row->converted ? row->name : NULL;
    color->matrix = row->matrix;
    color->matrix = color_resolve(*color, (struct color){0}, false, info->width, info->height).matrix;
    if (info->transfer)
        *color = (struct color){COLOR_MATRIX_709, COLOR_RANGE_LIMITED};
    else if (info->matrix)
        color->range = COLOR_RANGE_FULL; // finer
    return true;
}

// Returns true if the video is stored on its side. ffmpeg rotates it upright.
static bool is_sideways(const json_t *stream)
{
    double degrees = atof(json_text(json_object_get(stream, "tags"), "rotate"));
    size_t index;
    json_t *data;
    json_array_foreach(json_object_get(stream, "side_data_list"), index, data)
    {
        const json_t *rotation = json_object_get(data, "rotation");
        if (json_is_number(rotation))
            degrees = json_number_value(rotation);
    }
    return fabs(fabs(remainder(degrees, 180)) - 90) < 1; // as ffmpeg, which turns other angles within the frame
}

static double read_seconds(const json_t *stream, const json_t *format)
{
    int hours, minutes;
    double seconds = atof(json_text(stream, "duration")), rest;               // the sound may be longer
    const char *tag = json_text(json_object_get(stream, "tags"), "DURATION"); // of Matroska
    if (!(seconds > 0) && sscanf(tag, "%9d:%9d:%lf", &hours, &minutes, &rest) == 3)
        seconds = 3600.0 * hours + 60.0 * minutes + rest;
    if (!(seconds > 0))
        seconds = atof(json_text(format, "duration"));
    return seconds > 0 && seconds < 1e9 ? seconds : 0;
}

static bool is_sized(const json_t *stream)
{
    const json_int_t width = json_integer_value(json_object_get(stream, "width"));
    const json_int_t height = json_integer_value(json_object_get(stream, "height"));
    return width > 0 && height > 0 && width <= IMAGE_MAX_SIDE && height <= IMAGE_MAX_SIDE;
}

// A file of such a format has a length, and thus a duration; JPEGs in parts (multipart/x-mixed-replace) never end.
static bool is_untimed(const char *format, double seconds)
{
    static const char *const bare[] = {"mjpeg", "mjpeg_2000", "h264", "hevc", "m4v", "mpegvideo", "obu", "image2pipe"};
    bool untimed = false;
    for (size_t i = 0; i < sizeof(bare) / sizeof(*bare); i++)
        untimed = untimed || strcmp(format, bare[i]) == 0;
    return strcmp(format, "mpjpeg") == 0 || (untimed && seconds <= 0);
}

// Returns true if ffmpeg can decode the stream; else says why not.
static bool check_codec(const json_t *stream, char why[VIDEO_WHY])
{
    const char *codec = json_text(stream, "codec_name"), *tag = json_text(stream, "codec_tag_string");
    if (tag[0] == '[') // "[0][0][0][0]": none
        tag = "";
    const bool known = codec[0] && strcmp(codec, "unknown") != 0;
    const bool encrypted = json_text(json_object_get(stream, "tags"), "enc_key_id")[0] != '\0'; // of Matroska
    if (encrypted)
        snprintf(why, VIDEO_WHY, "it is encrypted");
    else if (!known)
        snprintf(why, VIDEO_WHY, "the installed ffmpeg does not know its codec%s%.16s", text_if(tag[0], " "), tag);
    return known && !encrypted;
}

static bool read_stream(const json_t *root, struct video_info *info, char why[VIDEO_WHY])
{
    const json_t *stream = json_array_get(json_object_get(root, "streams"), 0);
    const json_t *format = json_object_get(root, "format");
    const char *size_why;
    if (strcmp(json_text(format, "format_name"), "tty") == 0) { // ffmpeg would draw any text file
        snprintf(why, VIDEO_WHY, "it is a text file; name a video, or @FILE for a list of images");
        return false;
    }
    if (!stream) {
        snprintf(why, VIDEO_WHY, "it contains no video");
        return false;
    }
    if (!check_codec(stream, why))
        return false;
    if (!is_sized(stream)) {
        snprintf(why, VIDEO_WHY, "ffmpeg finds no frame in it, or one that is larger than %dx%d", IMAGE_MAX_SIDE,
                 IMAGE_MAX_SIDE);
        return false;
    }
    const char *pixels = json_text(stream, "pix_fmt");
    const struct layout *layout = layout_for(pixels);
    *info = (struct video_info){.format = layout->name};
    info->width = (int)json_integer_value(json_object_get(stream, "width"));
    info->height = (int)json_integer_value(json_object_get(stream, "height"));
    int across = 1, down = 1, width = info->width, height = info->height;
    if (sscanf(json_text(stream, "sample_aspect_ratio"), "%9d:%9d", &across, &down) == 2)
        source_square(&width, &height, across, down);
    const bool turned = is_sideways(stream);
    info->shape.format = layout->format;
    info->shape.opaque = !strchr(pixels, 'a') || strncmp(pixels, "gray", 4) == 0; // alpha: "bgra", "gbrap", "pal8"
    if (!read_color(stream, layout, info, why))
        return false;
    info->shape.width = turned ? height : width;
    info->shape.height = turned ? width : height;
    const char *fields = json_text(stream, "field_order");
    info->interlaced = fields[0] && strcmp(fields, "progressive") != 0 && strcmp(fields, "unknown") != 0;
    info->seconds = read_seconds(stream, format);
    info->untimed = is_untimed(json_text(format, "format_name"), info->seconds);
    info->segmented = strcmp(json_text(format, "format_name"), "hls") == 0;
    info->endless = info->seconds <= 0 && (info->segmented || atof(json_text(format, "size")) <= 0);
    take_rate(stream, info);
    if (pixfmt_size_ok(info->shape.format, info->shape.width, info->shape.height, &size_why))
        return true;
    snprintf(why, VIDEO_WHY, "%s", size_why);
    return false;
}

bool video_info_parse(const char *json, size_t size, struct video_info *info, char why[VIDEO_WHY])
{
    json_error_t error;
    json_t *root = json_loadb(json, size, 0, &error);
    bool ok = false;
    if (root)
        ok = read_stream(root, info, why);
    else
        snprintf(why, VIDEO_WHY, "ffprobe's answer is not JSON: %s", error.text);
    json_decref(root);
    return ok;
}

void video_info_pair(struct video_info *info, const char *json, size_t size)
{
    json_error_t error;
    json_t *root = json_loadb(json, size, 0, &error), *frame;
    const double rate = (double)info->rate_numerator / info->rate_denominator;
    double last_s = 0, least = HUGE_VAL; // the shortest time of a frame, in samples
    bool interlaced = true;
    size_t index;
    json_array_foreach(json_object_get(root, "frames"), index, frame)
    {
        const double now_s = atof(json_text(frame, "best_effort_timestamp_time"));
        interlaced = interlaced && json_integer_value(json_object_get(frame, "interlaced_frame")) == 1;
        if (index > 0)
            least = fmin(least, (now_s - last_s) * rate);
        last_s = now_s;
    }
    json_decref(root);
    if (!interlaced || !(fabs(least - 2) < 0.1))
        return;
    info->interlaced = true;
    if (info->rate_numerator % 2 == 0)
        info->rate_numerator /= 2;
    else if (info->rate_denominator <= INT_MAX / 2)
        info->rate_denominator *= 2;
}

bool video_info_convert(struct video_info *info, enum pixfmt format)
{
    const char *why;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
        if (layouts[i].format != format)
            continue;
        if (info->shape.format != format)
            info->format = layouts[i].name;
        info->shape.format = format;
        return pixfmt_size_ok(format, info->shape.width, info->shape.height, &why);
    }
    return false;
}
