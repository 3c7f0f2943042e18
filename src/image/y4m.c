// y4m.c: the headers of YUV4MPEG2 streams
#include "image/y4m.h"

#include <limits.h>
#include <string.h>

static const char stream_magic[] = "YUV4MPEG2";
static const char frame_magic[] = "FRAME";

// One tag: its letter and the text behind it, not NUL-terminated.
struct tag {
    char letter;
    const char *text;
    size_t size;
};

static const struct chroma {
    const char *name;
    enum pixfmt format;
} chromas[] = {
    // Variants of 4:2:0 differ in where chroma samples lie; the pixel contract replicates chroma, so they are one.
    {"420", PIXFMT_YU12}, {"420jpeg", PIXFMT_YU12}, {"420mpeg2", PIXFMT_YU12}, {"420paldv", PIXFMT_YU12},
    {"422", PIXFMT_422P}, {"444", PIXFMT_444P},     {"mono", PIXFMT_GREY},
};

static bool text_is(const struct tag *tag, const char *word)
{
    return tag->size == strlen(word) && memcmp(tag->text, word, tag->size) == 0;
}

// A whole decimal number that fits an int. False on anything else, signs included.
static bool parse_int(const char *text, size_t size, int *value)
{
    long long number = 0;
    if (size == 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (text[i] - '0');
        if (number > INT_MAX)
            return false;
    }
    *value = (int)number;
    return true;
}

static bool parse_width(const struct tag *tag, struct y4m_header *header, const char **why)
{
    *why = "its width (W) is not a number";
    return parse_int(tag->text, tag->size, &header->shape.width);
}

static bool parse_height(const struct tag *tag, struct y4m_header *header, const char **why)
{
    *why = "its height (H) is not a number";
    return parse_int(tag->text, tag->size, &header->shape.height);
}

static bool parse_rate(const struct tag *tag, struct y4m_header *header, const char **why)
{
    *why = "its frame rate (F) is not a ratio of two numbers";
    const char *colon = memchr(tag->text, ':', tag->size);
    int numerator, denominator;
    if (!colon || !parse_int(tag->text, (size_t)(colon - tag->text), &numerator) ||
        !parse_int(colon + 1, tag->size - (size_t)(colon + 1 - tag->text), &denominator))
        return false;
    if (numerator == 0) { // "0:0" is the format's word for an unknown rate
        denominator = 1;
    } else if (denominator == 0) {
        *why = "the denominator of its frame rate (F) is 0";
        return false;
    }
    header->rate_numerator = numerator;
    header->rate_denominator = denominator;
    return true;
}

static bool parse_interlacing(const struct tag *tag, struct y4m_header *header, const char **why)
{
    *why = "its interlacing (I) is not p, t, b, m or ?";
    if (tag->size != 1 || !strchr("ptbm?", tag->text[0]))
        return false;
    header->interlaced = strchr("tbm", tag->text[0]) != NULL;
    return true;
}

static bool parse_chroma(const struct tag *tag, struct y4m_header *header, const char **why)
{
    for (size_t i = 0; i < sizeof(chromas) / sizeof(*chromas); i++) {
        if (text_is(tag, chromas[i].name)) {
            header->shape.format = chromas[i].format;
            return true;
        }
    }
    const bool deep = (tag->size > 3 && tag->text[3] == 'p' && tag->text[tag->size - 1] <= '9') ||
                      (tag->size > 4 && memcmp(tag->text, "mono", 4) == 0);
    *why = deep ? "its samples have more than 8 bits; convert it first, for example with ffmpeg -pix_fmt yuv420p"
           : text_is(tag, "444alpha")
               ? "its chroma subsampling (C) is 444alpha; convert it first, for example with ffmpeg -pix_fmt yuv444p"
               : "its chroma subsampling (C) is not 420, 420jpeg, 420mpeg2, 420paldv, 422, 444 or mono; convert it "
                 "first, for example with ffmpeg -pix_fmt yuv420p";
    return false;
}

static bool parse_extension(const struct tag *tag, struct y4m_header *header, const char **why)
{
    if (text_is(tag, "COLORRANGE=FULL"))
        header->shape.color.range = COLOR_RANGE_FULL;
    else if (text_is(tag, "COLORRANGE=LIMITED"))
        header->shape.color.range = COLOR_RANGE_LIMITED;
    return true;
}

static bool parse_ignored(const struct tag *tag, struct y4m_header *header, const char **why)
{
    return true;
}

static const struct {
    char letter;
    bool (*parse)(const struct tag *tag, struct y4m_header *header, const char **why);
} tags[] = {
    {'W', parse_width},  {'H', parse_height},    {'F', parse_rate},    {'I', parse_interlacing},
    {'C', parse_chroma}, {'X', parse_extension}, {'A', parse_ignored},
};

static bool parse_tag(const struct tag *tag, struct y4m_header *header, const char **why)
{
    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
        if (tags[i].letter == tag->letter)
            return tags[i].parse(tag, header, why);
    *why = "its header has an unknown tag: not W, H, F, I, A, C or X";
    return false;
}

// Whether the line is `magic` alone or followed by a space.
static bool begins_with(const char *line, size_t size, const char *magic)
{
    const size_t length = strlen(magic);
    return size >= length && memcmp(line, magic, length) == 0 && (size == length || line[length] == ' ');
}

bool y4m_parse_header(const char *line, size_t size, struct y4m_header *header, const char **why)
{
    *header = (struct y4m_header){.shape = {.format = PIXFMT_YU12}, .rate_numerator = 0, .rate_denominator = 1};
    if (!begins_with(line, size, stream_magic)) {
        *why = "it does not begin with YUV4MPEG2; convert it first, for example with ffmpeg -f yuv4mpegpipe";
        return false;
    }
    const char *const end = line + size;
    for (const char *at = line + strlen(stream_magic); at < end;) {
        if (*at == ' ') {
            at++;
            continue;
        }
        const char *space = memchr(at, ' ', (size_t)(end - at));
        const char *next = space ? space : end;
        const struct tag tag = {.letter = *at, .text = at + 1, .size = (size_t)(next - at - 1)};
        if (!parse_tag(&tag, header, why))
            return false;
        at = next;
    }
    if (header->shape.width == 0 || header->shape.height == 0) {
        *why = "its header has no width (W) or no height (H), or one of them is 0";
        return false;
    }
    return pixfmt_size_ok(header->shape.format, header->shape.width, header->shape.height, why);
}

bool y4m_parse_frame(const char *line, size_t size)
{
    return begins_with(line, size, frame_magic);
}
