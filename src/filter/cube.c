// cube.c: reads files .cube (docs/pixels.md section 3, lut)
#include "filter/cube.h"

#include "base/file.h"
#include "filter/tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 1 << 26 };
enum { CHANNELS = 3, POSITIONS_AT = 1, ENTRIES_AT = POSITIONS_AT + CHANNELS * FILTER_LEVELS };

struct cube {
    char *why;
    int line;
    int size;                             // entries on a side; 0: not known yet
    bool solid;                           // 3D, not 1D
    size_t count;                         // entries that have been read
    size_t wanted;                        // entries of the table
    double *entries;                      // three numbers each
    double low[CHANNELS], high[CHANNELS]; // domain
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
    const int most = solid ? CUBE_SIDE_MAX : CUBE_LINE_MAX;
    double size;
    if (cube->size > 0)
        return fail(cube, "a second table; one 1D or 3D table is possible");
    if (!numbers(text, 1, &size) || size != floor(size) || size < 2 || size > most)
        return fail(cube,
                    solid ? "the size of a 3D table must be 2 to 128" : "the size of a 1D table must be 2 to 65536");
    cube->size = (int)size;
    cube->solid = solid;
    cube->wanted = (size_t)size * (solid ? (size_t)size * (size_t)size : 1);
    cube->entries = malloc(cube->wanted * CHANNELS * sizeof(*cube->entries));
    return cube->entries || fail(cube, "out of memory");
}

static bool set_domain(struct cube *cube, const char *text, double domain[CHANNELS])
{
    return numbers(text, CHANNELS, domain) || fail(cube, "the domain must be three numbers");
}

// DaVinci Resolve's domain of all channels.
static bool set_range(struct cube *cube, const char *text)
{
    double range[2];
    if (!numbers(text, 2, range))
        return fail(cube, "the input range must be two numbers");
    for (int i = 0; i < CHANNELS; i++) {
        cube->low[i] = range[0];
        cube->high[i] = range[1];
    }
    return true;
}

static bool add_entry(struct cube *cube, const char *text)
{
    if (cube->size == 0)
        return fail(cube, "LUT_1D_SIZE or LUT_3D_SIZE must be before this");
    if (cube->count == cube->wanted)
        return fail(cube, "more entries than the table has");
    return numbers(text, CHANNELS, cube->entries + CHANNELS * cube->count++) ||
           fail(cube, "an entry must be three numbers");
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
    while (found < WORDS && (strlen(words[found]) != word || strncmp(text, words[found], word) != 0))
        found++;
    if (!*text || *text == '#' || found == TITLE)
        return true;
    if (is_number)
        return add_entry(cube, text);
    if (found == SIZE_1D || found == SIZE_3D)
        return set_size(cube, rest, found == SIZE_3D);
    if (found == RANGE_1D || found == RANGE_3D)
        return set_range(cube, rest);
    if (found == LOW || found == HIGH)
        return set_domain(cube, rest, found == LOW ? cube->low : cube->high);
    return fail(cube, "this is no line of a .cube file");
}

static bool read_lines(struct cube *cube, char *text)
{
    for (char *next = text; next; cube->line++) {
        char *line = next;
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        size_t length = strlen(line);
        while (length > 0 && strchr(" \t\r", line[length - 1]))
            line[--length] = '\0';
        if (!take_line(cube, line + strspn(line, " \t")))
            return false;
    }
    cube->line--;
    for (int i = 0; i < CHANNELS; i++) {
        if (cube->high[i] - cube->low[i] < 1e-6)
            return fail(cube, "the end of the domain must be above its begin");
    }
    if (cube->size == 0)
        return fail(cube, "the file ends without a table");
    return cube->count == cube->wanted || fail(cube, "the file ends before the table is complete");
}

// Returns the place of a level between the entries, 0 to size - 1.
static double place_of(const struct cube *cube, int channel, int level)
{
    const double width = cube->high[channel] - cube->low[channel];
    return fmin(fmax((level / 255.0 - cube->low[channel]) / width, 0), 1) * (cube->size - 1);
}

// Fills in the table of each channel.
static void fill_lines(const struct cube *cube, int32_t *to)
{
    struct filter_arguments made;
    double result[FILTER_LEVELS];
    memset(to, 0, FILTER_LEVELS * sizeof(*to));
    for (int k = 0; k < CHANNELS; k++) {
        for (int i = 0; i < FILTER_LEVELS; i++) {
            const double place = place_of(cube, k, i), below = fmin(floor(place), cube->size - 2);
            const double *entry = cube->entries + CHANNELS * (size_t)below + k;
            result[i] = 255 * (entry[0] + (entry[CHANNELS] - entry[0]) * (place - below));
        }
        tables_fill(&made, 0, result);
        for (int i = 0; i < FILTER_LEVELS; i++)
            to[i] |= made.value[i] & 255 << 8 * k;
    }
}

static void fill_solid(const struct cube *cube, int32_t *to)
{
    for (int i = 0; i < CHANNELS * FILTER_LEVELS; i++) {
        const int place = (int)floor(256 * place_of(cube, i / FILTER_LEVELS, i % FILTER_LEVELS) + 1e-9 + 0.5);
        const int below = place >> 8 < cube->size - 2 ? place >> 8 : cube->size - 2;
        to[POSITIONS_AT + i] = below * 512 + place - 256 * below;
    }
    for (size_t i = 0; i < cube->wanted; i++) {
        to[ENTRIES_AT + i] = 0;
        for (int k = 0; k < CHANNELS; k++) {
            const double value = fmin(fmax(cube->entries[CHANNELS * i + (size_t)k], 0), 1);
            to[ENTRIES_AT + i] |= (int32_t)floor(1020 * value + 1e-9 + 0.5) << 10 * k;
        }
    }
}

int32_t *cube_read(const char *text, int *count, char why[FILTER_WHY])
{
    struct cube cube = {.why = why, .line = 1, .high = {1, 1, 1}};
    char *copy = strdup(text);
    int32_t *made = NULL;
    if (!copy)
        fail(&cube, "out of memory");
    else if (read_lines(&cube, copy)) {
        *count = cube.solid ? ENTRIES_AT + (int)cube.wanted : 1 + FILTER_LEVELS;
        made = malloc((size_t)*count * sizeof(*made));
        if (!made)
            fail(&cube, "out of memory");
    }
    if (made) {
        made[0] = cube.solid ? cube.size : 0;
        if (cube.solid)
            fill_solid(&cube, made);
        else
            fill_lines(&cube, made + 1);
    }
    free(cube.entries);
    free(copy);
    return made;
}

void cube_file(const char *path, struct file_resource *made)
{
    char *text = file_read_text(path, FILE_MOST);
    if (text)
        made->numbers = cube_read(text, &made->count, made->why);
    else
        snprintf(made->why, sizeof(made->why), "cannot read the file: %s", strerror(errno));
    free(text);
}
