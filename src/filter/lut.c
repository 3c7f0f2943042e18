// lut.c: a look-up table of colours from a file: .cube, or a Hald picture (docs/pixels.md section 3)
#include "filter/chain.h"
#include "filter/file_resource.h"
#include "filter/picture.h"
#include "filter/tables.h"

#include "base/file.h"
#include "image/codec/codec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_MOST = 1 << 26, HALD_MOST = 16, VALUE_MOST = 1000 }; // VALUE_MOST: of an entry of a 3D table
enum { CHANNELS = 3, POSITIONS_AT = 1, ENTRIES_AT = POSITIONS_AT + CHANNELS * FILTER_LEVELS };

struct table {
    int size;                             // entries on a side; 0: there is no such table
    size_t count;                         // entries that have been read
    size_t wanted;                        // entries of the table
    double *entries;                      // three numbers each
    double low[CHANNELS], high[CHANNELS]; // domain
};

// A table, or a 1D table whose results are the places in a 3D table.
struct cube {
    char *why;
    int line;
    struct table curve, solid; // 1D, 3D
};

static bool fail(struct cube *cube, const char *what)
{
    snprintf(cube->why, FILTER_WHY, "line %d: %s", cube->line, what);
    return false;
}

// Reads exactly `count` numbers.
static bool numbers(const char *text, int count, double *number)
{
    for (int i = 0; i < count; i++) {
        char *end;
        number[i] = strtod(text, &end);
        if (end == text || !isfinite(number[i]) || fabs(number[i]) > 1e6 || (*end && !strchr(" \t", *end)))
            return false;
        text = end + strspn(end, " \t");
    }
    return !*text;
}

static bool set_size(struct cube *cube, const char *text, bool solid)
{
    struct table *table = solid ? &cube->solid : &cube->curve;
    const int most = solid ? CUBE_SIDE_MAX : CUBE_LINE_MAX;
    double size;
    if (table->size > 0)
        return fail(cube, "a second table of this kind; one 1D and one 3D table are possible");
    if (!numbers(text, 1, &size) || size != floor(size) || size < 2 || size > most)
        return fail(cube,
                    solid ? "the size of a 3D table must be 2 to 128" : "the size of a 1D table must be 2 to 65536");
    if (cube->curve.count + cube->solid.count > 0)
        return fail(cube, "a size after the first entry");
    table->size = (int)size;
    table->wanted = (size_t)size * (solid ? (size_t)size * (size_t)size : 1);
    table->entries = malloc(table->wanted * CHANNELS * sizeof(*table->entries));
    return table->entries || fail(cube, "out of memory");
}

// The domain of the input: of both tables, because a 1D table before a 3D one has its range, too.
static bool set_domain(struct cube *cube, const char *text, bool low)
{
    double *domain = low ? cube->curve.low : cube->curve.high;
    if (!numbers(text, CHANNELS, domain))
        return fail(cube, "the domain must be three numbers");
    memcpy(low ? cube->solid.low : cube->solid.high, domain, sizeof(cube->solid.low));
    return true;
}

// DaVinci Resolve's domain of all channels of one table.
static bool set_range(struct cube *cube, const char *text, struct table *table)
{
    double range[2];
    if (!numbers(text, 2, range))
        return fail(cube, "the input range must be two numbers");
    for (int i = 0; i < CHANNELS; i++) {
        table->low[i] = range[0];
        table->high[i] = range[1];
    }
    return true;
}

static bool is_complete(const struct table *table)
{
    return table->count == table->wanted;
}

// The entries of the 1D table come first.
static bool add_entry(struct cube *cube, const char *text)
{
    struct table *table = is_complete(&cube->curve) ? &cube->solid : &cube->curve;
    if (cube->curve.size + cube->solid.size == 0)
        return fail(cube, "LUT_1D_SIZE or LUT_3D_SIZE must be before this");
    if (is_complete(table))
        return fail(cube, "more entries than the table has");
    return numbers(text, CHANNELS, table->entries + CHANNELS * table->count++) ||
           fail(cube, "an entry must be three numbers from -1000000 to 1000000");
}

static bool take_line(struct cube *cube, const char *text)
{
    const size_t word = strcspn(text, " \t");
    const char *rest = text + word + strspn(text + word, " \t");
    const bool is_number = strspn(text, "+-.0123456789") > 0;
    static const char *const words[] = {
        "TITLE", "LUT_1D_SIZE", "LUT_3D_SIZE", "LUT_1D_INPUT_RANGE", "LUT_3D_INPUT_RANGE", "DOMAIN_MIN", "DOMAIN_MAX"};
    enum { TITLE, SIZE_1D, SIZE_3D, RANGE_1D, RANGE_3D, LOW, HIGH, WORDS };
    int found = 0;
    while (found < WORDS && (strlen(words[found]) != word || strncasecmp(text, words[found], word) != 0))
        found++;
    if (!*text || *text == '#' || found == TITLE)
        return true;
    if (is_number)
        return add_entry(cube, text);
    if (found == SIZE_1D || found == SIZE_3D)
        return set_size(cube, rest, found == SIZE_3D);
    if (found == RANGE_1D || found == RANGE_3D)
        return set_range(cube, rest, found == RANGE_3D ? &cube->solid : &cube->curve);
    if (found == LOW || found == HIGH)
        return set_domain(cube, rest, found == LOW);
    if (word > 12 && strncasecmp(text + word - 12, "_VIDEO_RANGE", 12) == 0) // of DaVinci Resolve
        return fail(cube, "video range is not supported; export the table for full (data) levels");
    return fail(cube, "this is no line of a .cube file");
}

static bool read_lines(struct cube *cube, char *text)
{
    const char end = strchr(text, '\n') ? '\n' : '\r';
    for (char *next = text; next; cube->line++) {
        char *line = next;
        next = strchr(line, end);
        if (next)
            *next++ = '\0';
        size_t length = strlen(line);
        while (length > 0 && strchr(" \t\r", line[length - 1]))
            line[--length] = '\0';
        if (!take_line(cube, line + strspn(line, " \t")))
            return false;
    }
    cube->line--;
    for (int i = 0; i < 2 * CHANNELS; i++) {
        const struct table *table = i < CHANNELS ? &cube->curve : &cube->solid;
        if (table->high[i % CHANNELS] - table->low[i % CHANNELS] < 1e-6)
            return fail(cube, "the end of the domain must be above its begin");
    }
    if (cube->curve.size + cube->solid.size == 0)
        return fail(cube, "the file ends without a table");
    return (is_complete(&cube->curve) && is_complete(&cube->solid)) ||
           fail(cube, "the file ends before the table is complete");
}

// Returns the place of a value between the entries, 0 to size - 1.
static double place_of(const struct table *table, int channel, double value)
{
    const double width = table->high[channel] - table->low[channel];
    return fmin(fmax((value - table->low[channel]) / width, 0), 1) * (table->size - 1);
}

// Returns the 1D table's result for a value.
static double curve_at(const struct table *curve, int channel, double value)
{
    const double place = place_of(curve, channel, value), below = fmin(floor(place), curve->size - 2);
    const double *entry = curve->entries + CHANNELS * (size_t)below + channel;
    return entry[0] + (entry[CHANNELS] - entry[0]) * (place - below);
}

// Fills in the table of each channel.
static void fill_lines(const struct cube *cube, int32_t *to)
{
    struct filter_arguments made;
    double result[FILTER_LEVELS];
    memset(to, 0, FILTER_LEVELS * sizeof(*to));
    for (int k = 0; k < CHANNELS; k++) {
        for (int i = 0; i < FILTER_LEVELS; i++)
            result[i] = 255 * curve_at(&cube->curve, k, i / 255.0);
        tables_fill(&made, 0, result);
        for (int i = 0; i < FILTER_LEVELS; i++)
            to[i] |= made.value[i] & 255 << 8 * k;
    }
}

// Returns a channel of an entry, in 1/1020.
static int32_t level_of(const struct table *solid, size_t entry, int channel)
{
    const double value = solid->entries[CHANNELS * entry + (size_t)channel];
    return (int32_t)floor(1020 * fmin(fmax(value, -VALUE_MOST), VALUE_MOST) + 1e-9 + 0.5);
}

// Returns true if a result may be outside 0..1, so that the kernel must limit it.
static bool is_wide(const struct table *solid)
{
    for (size_t i = 0; i < solid->wanted * CHANNELS; i++) {
        const int32_t level = level_of(solid, i / CHANNELS, i % CHANNELS);
        if (level < 0 || level > 1020)
            return true;
    }
    return false;
}

static void fill_solid(const struct cube *cube, bool wide, int32_t *to)
{
    const struct table *solid = &cube->solid;
    for (int i = 0; i < CHANNELS * FILTER_LEVELS; i++) {
        const int channel = i / FILTER_LEVELS;
        const double level = i % FILTER_LEVELS / 255.0;
        const double value = cube->curve.size > 0 ? curve_at(&cube->curve, channel, level) : level;
        const int place = (int)floor(256 * place_of(solid, channel, value) + 1e-9 + 0.5);
        const int below = place >> 8 < solid->size - 2 ? place >> 8 : solid->size - 2;
        to[POSITIONS_AT + i] = below * 512 + place - 256 * below;
    }
    for (size_t i = 0; i < solid->wanted; i++) {
        int32_t *entry = to + ENTRIES_AT + (wide ? CHANNELS * i : i);
        entry[0] = level_of(solid, i, 0);
        for (int k = 1; k < CHANNELS; k++) {
            if (wide)
                entry[k] = level_of(solid, i, k);
            else
                entry[0] |= level_of(solid, i, k) << 10 * k;
        }
    }
}

// Makes the arguments of complete tables.
static int32_t *make_arguments(struct cube *cube, int *count)
{
    int32_t *made;
    const bool solid = cube->solid.size > 0, wide = is_wide(&cube->solid);
    const int numbers = wide ? CHANNELS : 1; // of an entry
    *count = solid ? ENTRIES_AT + (int)cube->solid.wanted * numbers : 1 + FILTER_LEVELS;
    made = malloc((size_t)*count * sizeof(*made));
    if (!made) {
        fail(cube, "out of memory");
    } else {
        made[0] = wide ? -cube->solid.size : cube->solid.size;
        if (solid)
            fill_solid(cube, wide, made);
        else
            fill_lines(cube, made + 1);
    }
    return made;
}

int32_t *cube_read(const char *text, int *count, char why[FILTER_WHY])
{
    struct cube cube = {.why = why, .line = 1, .curve.high = {1, 1, 1}, .solid.high = {1, 1, 1}};
    char *copy = strdup(text);
    int32_t *made = NULL;
    if (!copy)
        fail(&cube, "out of memory");
    else if (read_lines(&cube, copy))
        made = make_arguments(&cube, count);
    free(cube.curve.entries);
    free(cube.solid.entries);
    free(copy);
    return made;
}

// Makes the arguments of a Hald picture of level l: its l^3 by l^3 pixels are a table with l^2 entries on a side.
static int32_t *read_hald(const struct file_resource *picture, int *count, char why[FILTER_WHY])
{
    struct cube cube = {.why = why, .solid.high = {1, 1, 1}};
    struct table *solid = &cube.solid;
    int level = 2;
    while (level < HALD_MOST && level * level * level < picture->width)
        level++;
    if (picture->width != picture->height || level * level * level != picture->width) {
        snprintf(why, FILTER_WHY, "%dx%d pixels are not a Hald picture; use 8x8, 27x27, 64x64, ... or 4096x4096",
                 picture->width, picture->height);
        return NULL;
    }
    solid->size = level * level;
    solid->wanted = (size_t)picture->count;
    solid->entries = malloc(solid->wanted * CHANNELS * sizeof(*solid->entries));
    if (!solid->entries)
        snprintf(why, FILTER_WHY, "out of memory");
    for (size_t i = 0; solid->entries && i < CHANNELS * solid->wanted; i++)
        solid->entries[i] = (picture->numbers[i / CHANNELS] >> 8 * (i % CHANNELS) & 255) / 255.0;
    int32_t *made = solid->entries ? make_arguments(&cube, count) : NULL;
    free(solid->entries);
    return made;
}

void cube_file(const char *path, struct file_resource *made)
{
    const char *dot = strrchr(path, '.');
    enum codec_format format;
    struct file_resource picture = {.numbers = NULL};
    if (!dot || strcasecmp(dot, ".cube") != 0)
        picture_file(path, &picture);
    if (!picture.numbers && dot && codec_from_name(dot + 1, &format)) {
        memcpy(made->why, picture.why, sizeof(made->why));
        return;
    }
    if (picture.numbers) {
        made->numbers = read_hald(&picture, &made->count, made->why);
        free(picture.numbers);
        return;
    }
    char *text = file_read_text(path, FILE_MOST);
    if (text)
        made->numbers = cube_read(text, &made->count, made->why);
    else
        snprintf(made->why, sizeof(made->why), "%s", file_read_error());
    free(text);
}

// ---- the filter ----

static const struct param params[] = {
    {"file", PARAM_FILE, .max = 1, .step = 1, .help = "a 1D or 3D table in the format .cube, or a Hald picture"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1 + FILTER_LEVELS;
    for (int i = 0; i < FILTER_LEVELS; i++)
        arguments->value[1 + i] = i * 0x010101;
    return true;
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    if (values->resource && values->resource->numbers)
        arguments->count = values->resource->count;
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    const struct file_resource *table = stage->values.resource;
    if (table)
        memcpy(numbers, table->numbers, sizeof(*numbers) * (size_t)table->count);
    return true;
}

extern const struct filter filter_lut;
const struct filter filter_lut = {
    .name = "lut",
    .summary = "change colours by a table from a .cube file or a Hald picture",
    .example = "lut",
    .usage = "lut=film.cube",
    .kind = FILTER_POINT,
    .params = params,
    .reads = cube_file,
    .prepare = prepare,
    .fit = fit,
    .fill = fill,
};
