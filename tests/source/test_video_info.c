// test_video_info.c: how ffprobe's answers are read: format, rotation, rate, colour, duration
#include "check.h"
#include "source/video_info.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct check check = {.name = "video info"};

// Parses the answer for a stream with these members.
static bool parse(const char *stream, struct video_info *info, char why[VIDEO_WHY])
{
    char text[1024];
    snprintf(text, sizeof(text), "{\"streams\": [{\"codec_name\": \"vp9\", %s}], \"format\": {\"duration\": \"2.5\"}}",
             stream);
    return video_info_parse(text, strlen(text), info, why);
}

static const struct row {
    const char *stream;
    int width, height;
    enum pixfmt format;
    const char *name;
    double rate;
    struct color color;
} rows[] = {
    {"\"width\": 32, \"height\": 18, \"pix_fmt\": \"yuv420p\", \"r_frame_rate\": \"25/1\", \"avg_frame_rate\": "
     "\"25/1\"",
     32,
     18,
     PIXFMT_YU12,
     "yuv420p",
     25,
     {.matrix = COLOR_MATRIX_601}},
    {"\"width\": 33, \"height\": 17, \"pix_fmt\": \"yuvj444p\", \"r_frame_rate\": \"30000/1001\"",
     33,
     17,
     PIXFMT_444P,
     "yuvj444p",
     30000.0 / 1001,
     {COLOR_MATRIX_601, COLOR_RANGE_FULL}},
    // the default matrix is that of the stored size
    {"\"width\": 640, \"height\": 360, \"pix_fmt\": \"yuv420p\", \"r_frame_rate\": \"25/1\", "
     "\"sample_aspect_ratio\": \"2:1\"",
     1280,
     360,
     PIXFMT_YU12,
     "yuv420p",
     25,
     {.matrix = COLOR_MATRIX_601}},
    // on its side; the rate of the time base; 10 bits
    {"\"width\": 32, \"height\": 18, \"pix_fmt\": \"yuv420p10le\", \"r_frame_rate\": \"90000/1\", \"avg_frame_rate\": "
     "\"30000/1001\", \"side_data_list\": [{\"side_data_type\": \"Display Matrix\", \"rotation\": -90}], "
     "\"color_space\": "
     "\"bt2020nc\", \"color_range\": \"tv\"",
     18,
     32,
     PIXFMT_YU12,
     "yuv420p",
     30000.0 / 1001,
     {COLOR_MATRIX_2020, COLOR_RANGE_LIMITED}},
    {"\"width\": 32, \"height\": 18, \"pix_fmt\": \"bgra\", \"tags\": {\"rotate\": \"270\"}, \"avg_frame_rate\": "
     "\"0/0\", \"r_frame_rate\": \"90000/1\"",
     18,
     32,
     PIXFMT_RGBA,
     "rgba",
     30,
     {0}},
    {"\"width\": 32, \"height\": 18, \"pix_fmt\": \"yuva420p\", \"tags\": {\"rotate\": \"180\"}, \"avg_frame_rate\": "
     "\"50/1\", \"r_frame_rate\": \"50/1\", \"color_space\": \"smpte170m\"",
     32,
     18,
     PIXFMT_YU12,
     "yuv420p",
     50,
     {.matrix = COLOR_MATRIX_601}},
    {"\"width\": 32, \"height\": 18, \"pix_fmt\": \"ya8\", \"r_frame_rate\": \"1/0\"",
     32,
     18,
     PIXFMT_GREY,
     "gray",
     30,
     {0}},
    {"\"width\": 32, \"height\": 18, \"pix_fmt\": \"gbrp\", \"r_frame_rate\": \"5/1\"",
     32,
     18,
     PIXFMT_RGBA,
     "rgba",
     5,
     {0}},
    {"\"width\": 32, \"height\": 18, \"pix_fmt\": \"yuv411p\", \"r_frame_rate\": \"120/1\", \"avg_frame_rate\": "
     "\"120/1\"",
     32,
     18,
     PIXFMT_422P,
     "yuv422p",
     120,
     {.matrix = COLOR_MATRIX_601}},
    // pixels that are not square; the last difference is too small
    {"\"width\": 720, \"height\": 576, \"pix_fmt\": \"yuv420p\", \"r_frame_rate\": \"25/1\", \"sample_aspect_ratio\": "
     "\"64:45\"",
     1024,
     576,
     PIXFMT_YU12,
     "yuv420p",
     25,
     {.matrix = COLOR_MATRIX_601}},
    {"\"width\": 720, \"height\": 480, \"pix_fmt\": \"yuv420p\", \"r_frame_rate\": \"25/1\", \"sample_aspect_ratio\": "
     "\"8:9\", \"tags\": {\"rotate\": \"90\"}",
     540,
     720,
     PIXFMT_YU12,
     "yuv420p",
     25,
     {.matrix = COLOR_MATRIX_601}},
    {"\"width\": 404, \"height\": 720, \"pix_fmt\": \"yuv420p\", \"r_frame_rate\": \"25/1\", \"sample_aspect_ratio\": "
     "\"405:404\"",
     404,
     720,
     PIXFMT_YU12,
     "yuv420p",
     25,
     {.matrix = COLOR_MATRIX_709}},
    // H.264 with a picture for each field; a GIF of pictures that last 30, 70 and 1000 ms
    {"\"width\": 32, \"height\": 18, \"codec_name\": \"h264\", \"r_frame_rate\": \"50/1\", \"avg_frame_rate\": "
     "\"25/1\"",
     32,
     18,
     PIXFMT_YU12,
     "yuv420p",
     25,
     {.matrix = COLOR_MATRIX_601}},
    {"\"width\": 32, \"height\": 18, \"codec_name\": \"gif\", \"pix_fmt\": \"bgra\", \"r_frame_rate\": \"100/1\", "
     "\"avg_frame_rate\": \"113/12\"",
     32,
     18,
     PIXFMT_RGBA,
     "rgba",
     30,
     {0}},
};

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct row *row = &rows[i];
        struct video_info info;
        char why[VIDEO_WHY] = "";
        if (!check_that(&check, parse(row->stream, &info, why), "row %zu is refused: %s", i, why))
            continue;
        const struct image_shape *shape = &info.shape;
        check_that(&check, shape->width == row->width && shape->height == row->height, "row %zu: %dx%d", i,
                   shape->width, shape->height);
        check_that(&check, shape->format == row->format && strcmp(info.format, row->name) == 0, "row %zu: %s", i,
                   info.format);
        check_that(&check, fabs((double)info.rate_numerator / info.rate_denominator - row->rate) < 1e-9,
                   "row %zu: rate %d/%d", i, info.rate_numerator, info.rate_denominator);
        check_that(&check, shape->color.matrix == row->color.matrix && shape->color.range == row->color.range,
                   "row %zu: matrix %d, range %d", i, (int)shape->color.matrix, (int)shape->color.range);
        check_that(&check, fabs(info.seconds - 2.5) < 1e-9, "row %zu: %g s", i, info.seconds);
    }
}

// Sixteen samples of H.264 whose frames have these times: two samples for each frame halve the rate.
static void test_pairs(void)
{
    static const struct {
        const char *order, *rate;
        int interlaced;
        const char *times[4];
        double want;
    } pairs[] = {
        {"tt", "50/1", 1, {"0", "0.04", "0.08", "0.12"}, 25},
        {"unknown", "25/1", 1, {"0", "0.08", "0.16", "0.24"}, 12.5},
        {"unknown", "50/1", 0, {"0", "0.04", "0.08", "0.12"}, 50},
        {"tt", "50/1", 1, {"0", "0.04", "0.06", "0.1"}, 50}, // a frame that is missing
        {"tt", "50/1", 1, {"0"}, 50},
        {"progressive", "50/1", 1, {"0", "0.04", "0.08", "0.12"}, 50},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        char stream[256], frames[512] = "{\"frames\":[", why[VIDEO_WHY];
        struct video_info info;
        snprintf(stream, sizeof(stream),
                 "\"width\": 32, \"height\": 18, \"codec_name\": \"h264\", \"r_frame_rate\": \"%s\", "
                 "\"avg_frame_rate\": \"%s\", \"field_order\": \"%s\"",
                 pairs[i].rate, pairs[i].rate, pairs[i].order);
        for (int k = 0; k < 4 && pairs[i].times[k]; k++)
            snprintf(frames + strlen(frames), sizeof(frames) - strlen(frames),
                     "%s{\"best_effort_timestamp_time\":\"%s\",\"interlaced_frame\":%d}", k ? "," : "",
                     pairs[i].times[k], pairs[i].interlaced);
        strcat(frames, "]}");
        check_that(&check, parse(stream, &info, why), "pair %zu: %s", i, why);
        if (info.paired)
            video_info_pair(&info, frames, strlen(frames));
        check_that(&check, fabs((double)info.rate_numerator / info.rate_denominator - pairs[i].want) < 1e-9,
                   "pair %zu: rate %d/%d", i, info.rate_numerator, info.rate_denominator);
    }
}

// The duration of the stream precedes that of the file. Some files have an endless one.
static void test_durations(void)
{
    static const struct {
        const char *duration;
        double seconds;
    } durations[] = {{"1.5", 1.5}, {"N/A", 2.5}, {"-1", 2.5}, {"nan", 2.5}, {"inf", 0}, {"9223372036854", 0}};
    for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++) {
        struct video_info info;
        char stream[128], why[VIDEO_WHY];
        snprintf(stream, sizeof(stream), "\"width\": 32, \"height\": 18, \"duration\": \"%s\"", durations[i].duration);
        check_that(&check, parse(stream, &info, why) && fabs(info.seconds - durations[i].seconds) < 1e-9, "%s: %g s",
                   durations[i].duration, info.seconds);
    }
    static const char tagged[] = "\"width\": 32, \"height\": 18, \"tags\": {\"DURATION\": \"01:02:03.500000000\"}";
    struct video_info info;
    char why[VIDEO_WHY];
    check_that(&check, parse(tagged, &info, why) && fabs(info.seconds - 3723.5) < 1e-9, "a tag: %g s", info.seconds);
}

static void test_refusals(void)
{
    static const char *const streams[] = {
        "\"codec_type\": \"audio\"",         "\"width\": 0, \"height\": 18",
        "\"width\": 99999, \"height\": 18",  "\"width\": 32768, \"height\": 32768, \"pix_fmt\": \"yuv444p\"",
        "\"width\": \"32\", \"height\": 18",
    };
    struct video_info info;
    for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++) {
        char why[VIDEO_WHY] = "";
        check_that(&check, !parse(streams[i], &info, why) && why[0], "%s is accepted", streams[i]);
    }
    static const struct {
        const char *stream, *why;
    } codecs[] = {
        {"\"codec_name\": \"unknown\", \"codec_tag_string\": \"vvc1\", \"width\": 32, \"height\": 18",
         "the installed ffmpeg does not know its codec vvc1"},
        {"\"codec_name\": null, \"codec_tag_string\": \"[0][0][0][0]\", \"width\": 32, \"height\": 18",
         "the installed ffmpeg does not know its codec"},
        {"\"width\": 32, \"height\": 18, \"pix_fmt\": \"yuv420p\", \"color_space\": \"ycgco-re\"",
         "monocle cannot convert its colour matrix ycgco-re"},
        {"\"width\": 32, \"height\": 18, \"color_space\": \"chroma-derived-nc\", \"color_primaries\": \"unknown\"",
         "monocle cannot convert its colour matrix chroma-derived-nc without primaries"},
        {"\"width\": 32, \"height\": 18, \"color_space\": \"ictcp\"", "monocle cannot convert its colour matrix ictcp"},
        {"\"width\": 32, \"height\": 18, \"color_space\": \"bt2020c\"",
         "monocle cannot convert its colour matrix bt2020c"},
        {"\"width\": 32, \"height\": 18, \"tags\": {\"enc_key_id\": \"AQID\"}", "it is encrypted"},
    };
    for (size_t i = 0; i < sizeof(codecs) / sizeof(*codecs); i++) {
        char reason[VIDEO_WHY] = "";
        check_that(&check, !parse(codecs[i].stream, &info, reason) && strcmp(reason, codecs[i].why) == 0, "codec: %s",
                   reason);
    }
    char why[VIDEO_WHY] = "";
    check_that(&check, !video_info_parse("{\"stre", 6, &info, why) && strstr(why, "not JSON"), "half an answer: %s",
               why);
}

// Bare streams have no times, and JPEGs in parts have no end.
static void test_untimed(void)
{
    static const struct {
        const char *format, *duration;
        bool untimed;
    } formats[] = {{"mpjpeg", "2.5", true},  {"mjpeg", "", true},      {"h264", "0", true},
                   {"h264", "2.5", false},   {"mjpeg", "2.5", false},  {"matroska,webm", "", false},
                   {"mpegts", "0.0", false}, {"mov,mp4", "2.5", false}};
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        struct video_info info;
        char text[512], why[VIDEO_WHY] = "";
        snprintf(text, sizeof(text),
                 "{\"streams\": [{\"codec_name\": \"vp9\", \"width\": 32, \"height\": 18, \"pix_fmt\": \"yuv420p\", "
                 "\"r_frame_rate\": \"25/1\"}], \"format\": {\"format_name\": \"%s\", \"duration\": \"%s\"}}",
                 formats[i].format, formats[i].duration);
        const bool ok = video_info_parse(text, strlen(text), &info, why);
        check_that(&check, ok && info.untimed == formats[i].untimed, "%s of %s s: %d %s", formats[i].format,
                   formats[i].duration, ok && info.untimed, why);
    }
}

static void test_convert(void)
{
    struct video_info info;
    char why[VIDEO_WHY];
    parse("\"width\": 32, \"height\": 18, \"pix_fmt\": \"yuvj420p\"", &info, why);
    check_that(&check, video_info_convert(&info, PIXFMT_YU12) && strcmp(info.format, "yuvj420p") == 0,
               "the format that it has becomes %s", info.format);
    check_that(&check, video_info_convert(&info, PIXFMT_NV12) && strcmp(info.format, "nv12") == 0, "nv12 becomes %s",
               info.format);
    check_that(&check, !video_info_convert(&info, PIXFMT_YV12), "ffmpeg has no yv12");
}

int main(void)
{
    test_rows();
    test_pairs();
    test_durations();
    test_refusals();
    test_untimed();
    test_convert();
    return check_end(&check);
}
