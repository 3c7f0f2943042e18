// lettering.c: the filter `text`: a text on the image
#include "filter/caption.h"
#include "filter/chain.h"
#include "filter/overlay_place.h"
#include "filter/picture.h"

#include "base/hash.h"
#include "base/text.h"
#include "image/font.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_TEXT, TEXT_X, TEXT_Y, TEXT_SIZE, TEXT_COLOR, TEXT_AT, TEXT_BOX };
enum { ARGUMENT_X, ARGUMENT_Y, ARGUMENT_WIDTH, ARGUMENT_HEIGHT, ARGUMENT_PIXELS };
enum { LINE_LEAST = 8, LINE_MOST = 4096, HASH_NUMBERS = 2 };
#define DEFAULT_TEXT "{time}"

static const struct param params[] = {
    {"text", PARAM_TEXT, .max = 1, .step = 1, .choices = DEFAULT_TEXT,
     .help = "the text; may have {frame}, {time} (of the frame), {source}, {host} and strftime's %H:%M:%S"},
    {"x", PARAM_INT, .min = -PLACE_MOST, .max = PLACE_MOST, .step = 8,
     .help = "pixels from the edge that `at` names, or to the right of the middle"},
    {"y", PARAM_INT, .min = -PLACE_MOST, .max = PLACE_MOST, .step = 8,
     .help = "pixels from the edge that `at` names, or down from the middle"},
    {"size", PARAM_REAL, .min = 1, .max = 100, .preset = 5, .step = 1,
     .help = "height of the line in percent of the image's"},
    {"color", PARAM_COLOR, .max = COLOR_MAX, .preset = COLOR_MAX, .step = COLOR_STEP, .help = "colour of the letters"},
    {"at", PARAM_CHOICE, .max = PLACE_LAST, .step = 1, .choices = PLACE_CHOICES, .help = "position of the text"},
    {"box", PARAM_REAL, .max = 1, .preset = 0.4f, .step = 0.1f, .help = "opacity of the black background of the text"},
    {0},
};

static const char *text_of(const struct filter_values *values)
{
    return values->value[TEXT_TEXT] > 0 ? values->file : DEFAULT_TEXT;
}

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    *why = caption_check(text_of(values));
    arguments->count = ARGUMENT_PIXELS + HASH_NUMBERS;
    return !*why;
}

// ---- the picture of the text ----

static int line_of(const struct filter_values *values, const struct stage_size *size)
{
    const double line = floor(size->height * (double)values->value[TEXT_SIZE] / 100 + 0.5);
    return (int)fmin(fmax(line, LINE_LEAST), LINE_MOST);
}

static int room_at_sides(int line)
{
    return line / 3;
}

static int room_above(int line)
{
    return line / 8;
}

// There is room for a picture as wide as the image. A hash of the text follows.
static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    const int line = line_of(values, size);
    arguments->count = ARGUMENT_PIXELS + size->width * (line + 2 * room_above(line)) + HASH_NUMBERS;
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    return true; // `follow` draws
}

// Draws a letter over the pixels of the picture, whose colours are multiplied by alpha.
static void draw_letter(int32_t *numbers, const struct font_letter *letter, int x, int base, int color)
{
    const int width = numbers[ARGUMENT_WIDTH], height = numbers[ARGUMENT_HEIGHT];
    const int channel[] = {color >> 16, color >> 8 & 255, color & 255, 255};
    for (int row = 0; row < letter->height; row++) {
        for (int column = 0; column < letter->width; column++) {
            const int u = x + letter->left + column, v = base + letter->top + row;
            if (u < 0 || v < 0 || u >= width || v >= height)
                continue;
            uint8_t *pixel = (uint8_t *)(numbers + ARGUMENT_PIXELS + v * width + u);
            const int share = letter->coverage[row * letter->width + column];
            for (int i = 0; i < 4; i++)
                pixel[i] = (uint8_t)((channel[i] * share + pixel[i] * (255 - share) + 127) / 255);
        }
    }
}

static bool draw(const struct stage *stage, const struct stage_size *size, const char *text, int32_t *numbers)
{
    const float *value = stage->values.value;
    const int line = line_of(&stage->values, size), above = room_above(line), sides = room_at_sides(line);
    struct font font;
    struct span span = span_of(text);
    if (!font_open(&font, line)) {
        font_close(&font);
        return false;
    }
    const int64_t wanted = span.length > 0 ? (int64_t)span_columns(span) * font.advance + 2 * sides : 0;
    const int width = wanted < size->width ? (int)wanted : size->width, height = line + 2 * above;
    numbers[ARGUMENT_X] = place_column((int)value[TEXT_AT], (int)value[TEXT_X], width, size->width);
    numbers[ARGUMENT_Y] = place_row((int)value[TEXT_AT], (int)value[TEXT_Y], height, size->height);
    numbers[ARGUMENT_WIDTH] = width;
    numbers[ARGUMENT_HEIGHT] = height;
    const uint32_t box = (uint32_t)floor(255 * (double)value[TEXT_BOX] + 0.5) << 24;
    for (int i = 0; i < width * height; i++)
        memcpy(&numbers[ARGUMENT_PIXELS + i], &box, sizeof(box));
    int x = sides;
    for (uint32_t letter = span_next(&span); letter && x < width; letter = span_next(&span), x += font.advance) {
        const struct font_letter drawn = font_letter(&font, caption_letter(&font, letter));
        draw_letter(numbers, &drawn, x, above + font.base, (int)value[TEXT_COLOR]);
    }
    font_close(&font);
    return true;
}

static int follow(const struct stage *stage, const struct stage_size *size, const struct moment *moment,
                  int32_t *numbers)
{
    char text[CAPTION_MOST];
    caption_expand(text_of(&stage->values), moment, text);
    const uint64_t hash = hash_64(text, strlen(text)) | 1; // 0: nothing is drawn yet
    int32_t *kept = numbers + stage->arguments.count - HASH_NUMBERS;
    if (memcmp(kept, &hash, sizeof(hash)) == 0 || !draw(stage, size, text, numbers))
        return 0;
    memcpy(kept, &hash, sizeof(hash));
    return ARGUMENT_PIXELS + numbers[ARGUMENT_WIDTH] * numbers[ARGUMENT_HEIGHT];
}

extern const struct filter filter_text;
const struct filter filter_text = {
    .name = "text",
    .summary = "write a text: the time, the frame, the source",
    .example = "text='a raccoon':size=12:at=bottom",
    LAYS_PICTURE,
    .follow = follow,
};
