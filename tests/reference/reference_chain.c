// reference_chain.c: docs/pixels.md section 4: parses and runs chain text
#include "reference_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_FILTERS = 16 };

const struct rule *reference_rule(int index)
{
    const struct rule *const files[] = {filters_rules, tables_rules, lut_rules,
                                        placed_rules,  warps_rules,  several_rules};
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        for (const struct rule *rule = files[i]; rule->name; rule++)
            if (index-- == 0)
                return rule;
    return NULL;
}

int reference_filters(void)
{
    int count = 0;
    while (reference_rule(count))
        count++;
    return count;
}

const char *reference_filter_name(int index)
{
    return reference_rule(index)->name;
}

// Reads one number at the start of `text`: sign, digits with an optional point, exponent. Returns the rest, or
// NULL if there is no number.
static const char *take_number(const char *text, float *number)
{
    const char *p = text;
    int digits = 0;
    p += *p == '-' || *p == '+';
    for (; *p >= '0' && *p <= '9'; p++)
        digits++;
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++)
            digits++;
    if (!digits)
        return NULL;
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '-' || *p == '+';
        if (*p < '0' || *p > '9')
            return NULL;
        while (*p >= '0' && *p <= '9')
            p++;
    }
    *number = strtof(text, NULL); // correctly rounded; the tests run in the C locale
    return isfinite(*number) ? p : NULL;
}

// Returns the count of numbers; 0: the text is something else.
static int parse_numbers(const char *text, struct value *value)
{
    int count = 0;
    while (*text) {
        if (count == MATRIX_NUMBERS || !(text = take_number(text, &value->matrix[count++])))
            return 0;
        if (*text && *text != ' ')
            return 0;
        text += strspn(text, " ");
    }
    return count;
}

static bool parse_matrix(const char *text, struct value *value)
{
    int count = parse_numbers(text, value);
    for (value->side = 1; value->side <= 9; value->side += 2)
        if (value->side * value->side == count)
            return true;
    return false;
}

// Reads "0/0 128/150 255/255". Sets value->count.
static bool parse_points(const char *text, struct value *value)
{
    for (value->count = 0; *text && value->count < MATRIX_NUMBERS - 1; value->count += 2) {
        text = take_number(text, &value->matrix[value->count]);
        if (!text || *text != '/' || !(text = take_number(text + 1, &value->matrix[value->count + 1])))
            return false;
        if (*text && *text != ' ')
            return false;
        text += strspn(text, " ");
    }
    return !*text && value->count >= 4;
}

static bool parse_color(const char *text, int *number)
{
    static const struct {
        const char *name, *digits;
    } names[] = {{"black", "000000"},   {"silver", "c0c0c0"},  {"gray", "808080"},  {"grey", "808080"},
                 {"white", "ffffff"},   {"maroon", "800000"},  {"red", "ff0000"},   {"purple", "800080"},
                 {"fuchsia", "ff00ff"}, {"magenta", "ff00ff"}, {"green", "008000"}, {"lime", "00ff00"},
                 {"olive", "808000"},   {"yellow", "ffff00"},  {"navy", "000080"},  {"blue", "0000ff"},
                 {"teal", "008080"},    {"aqua", "00ffff"},    {"cyan", "00ffff"},  {"orange", "ffa500"}};
    const char *digits = *text == '#' ? text + 1 : "";
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(text, names[i].name))
            digits = names[i].digits;
    char *end;
    *number = (int)strtol(digits, &end, 16);
    return strlen(digits) == 6 && !*end && *digits != '-' && *digits != '+';
}

// Returns `text` without leading and trailing spaces.
static bool parse_value(const struct parameter *parameter, const char *text, struct value *value)
{
    if (parameter->type == WORD || parameter->type == MATRIX || parameter->type == MAP || parameter->type == POINTS)
        for (int i = 0; i < PARAMETER_WORDS && parameter->words[i]; i++)
            if (!strcmp(text, parameter->words[i])) {
                value->number = i;
                return (parameter->type != MATRIX || parse_matrix(parameter->meanings[i], value)) &&
                       (parameter->type != POINTS || parse_points(parameter->meanings[i], value));
            }
    value->text = text;
    if (parameter->type == TEXT || parameter->type == CAPTION)
        return true;
    if (parameter->type == COLOR)
        return parse_color(text, &value->number);
    if (parameter->type == WORD)
        return false;
    if (parameter->type == MATRIX)
        return parse_matrix(text, value);
    if (parameter->type == POINTS)
        return parse_points(text, value);
    if (parameter->type == MAP)
        return (value->count = parse_numbers(text, value)) == 8 || value->count == 9;
    const char *end = take_number(text, &value->real);
    if (!end || *end || value->real < parameter->low || value->real > parameter->high)
        return false;
    value->number = (int)value->real;
    return parameter->type == REAL || (float)value->number == value->real;
}

const struct rule *reference_find(const char *name)
{
    const struct rule *rule = reference_rule(0);
    for (int i = 1; rule && strcmp(name, rule->name); i++)
        rule = reference_rule(i);
    return rule;
}

void reference_run(struct picture *picture, reference_pixel *pixel, const struct values *values)
{
    struct picture from = picture_copy(picture);
    for (int y = 0; y < from.height; y++)
        for (int x = 0; x < from.width; x++)
            pixel(&from, x, y, values, picture->rgba + ((size_t)y * (size_t)from.width + (size_t)x) * 4);
    picture_free(&from);
}

// Blurs the colours, multiplied by alpha, and then alpha itself, as the colours of a second picture.
static void run_weighed(struct picture *picture, reference_pixel *pixel, const struct values *values)
{
    reference_weigh(picture);
    struct picture alpha = picture_copy(picture);
    for (int i = 0; i < alpha.width * alpha.height; i++)
        memset(alpha.rgba + 4 * (size_t)i, alpha.rgba[4 * (size_t)i + 3], 3);
    reference_run(picture, pixel, values);
    reference_run(&alpha, pixel, values);
    for (int i = 0; i < alpha.width * alpha.height; i++)
        picture->rgba[4 * (size_t)i + 3] = alpha.rgba[4 * (size_t)i];
    picture_free(&alpha);
    reference_unweigh(picture);
}

static bool run_rule(struct picture *picture, const struct inputs *inputs, const char *name,
                     const char *const texts[REFERENCE_PARAMS])
{
    const struct rule *rule = reference_find(name);
    if (!rule)
        return false;
    struct values values = {.inputs = inputs};
    for (int i = 0; i < REFERENCE_PARAMS; i++) {
        const struct parameter *parameter = &rule->parameter[i];
        if (parameter->type == NO_VALUE
                ? texts[i] != NULL
                : !parse_value(parameter, texts[i] ? texts[i] : parameter->preset, &values.value[i]))
            return false;
    }
    bool ok = !rule->prepare || rule->prepare(picture, &values);
    if (ok && picture && (!strcmp(name, "blur") || !strcmp(name, "gaussian")))
        run_weighed(picture, rule->pixel, &values);
    else if (ok && picture && rule->pixel)
        reference_run(picture, rule->pixel, &values);
    else if (ok && picture)
        ok = reference_several(picture, name, &values) || reference_warp(picture, name, &values);
    reference_lut_free(values.lut);
    free(values.tiles);
    free(values.second.rgba);
    return ok;
}

bool reference_filter(struct picture *picture, const char *name, const char *const texts[REFERENCE_PARAMS])
{
    const struct inputs inputs = {{picture ? *picture : (struct picture){0}}, 1, 0, 0, false};
    return run_rule(picture, &inputs, name, texts);
}

static char *trim(char *text)
{
    text += strspn(text, " ");
    char *end = text + strlen(text);
    while (end > text && end[-1] == ' ')
        *--end = 0;
    return text;
}

// Returns the first `separator` that is not in quotes. A quote begins a value: it is the first character but spaces, or
// follows one of , : = and spaces.
static char *outside(char *text, char separator)
{
    char before = ',';
    for (; *text; text++) {
        if (*text == '\'' && strchr(",:=", before)) {
            do
                if (!(text = strchr(text + 1, '\'')))
                    return NULL;
            while (text[1] == '\'' && text++);
        } else if (*text == separator) {
            return text;
        }
        if (*text != ' ')
            before = *text;
    }
    return NULL;
}

// Removes the quotes of a value. Returns false if they are wrong.
static bool unquoted(char *value)
{
    if (*value != '\'')
        return true;
    for (char *from = value + 1, *to = value; *from; from++) {
        if (*from == '\'' && *++from != '\'') {
            *to = 0;
            return !*from;
        }
        *to++ = *from;
    }
    return false;
}

// Splits *text at the first `separator`. Returns the part before it, without spaces around, and moves *text behind
// the separator (NULL if there is none).
static char *cut(char **text, char separator)
{
    char *piece = *text, *end = outside(piece, separator);
    *text = end ? end + 1 : NULL;
    if (end)
        *end = 0;
    return trim(piece);
}

static bool moves_pixels(const char *name)
{
    static const char *const names[] = {"mirror", "flip",      "crop",  "scale", "rotate",
                                        "warp",   "undistort", "remap", "pad"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static bool is_mask(const char *name)
{
    return !strcmp(name, "within") || !strcmp(name, "inside") || !strcmp(name, "key") || !strcmp(name, "matte");
}

// The groups of masks. A group is the number of filters before its `keep`.
struct groups {
    int open[16], count;
    bool masked; // the outermost group has a mask
    int newest;  // the number of filters before the newest one that is no mask
};

// Follows the groups up to the next filter, which is no mask.
static void follow_groups(struct groups *groups, const char *name, int before)
{
    if (groups->masked)
        groups->count = 0;
    groups->masked = false;
    if (!strcmp(name, "keep"))
        groups->open[groups->count++] = before;
    else
        groups->newest = before;
}

// Returns the number of filters before the kept picture of a mask.
static int take_group(struct groups *groups, int before, int filters)
{
    if (filters > 0)
        return before > filters ? before - filters : 0;
    if (groups->count == 0)
        return groups->newest;
    const int kept = groups->open[groups->count - 1];
    if (groups->count > 1)
        groups->count--;
    else
        groups->masked = true;
    return kept;
}

static bool run_filter(struct picture *picture, struct inputs *inputs, struct groups *groups, char *text)
{
    const char *texts[REFERENCE_PARAMS] = {NULL}, *name = cut(&text, '=');
    const struct rule *rule = reference_find(name);
    if (!rule)
        return false;
    int next = 0; // positional parameter
    while (text) {
        char *value = cut(&text, ':');
        int index = next;
        if (outside(value, '=')) {
            const char *word = cut(&value, '=');
            for (index = 0; index < REFERENCE_PARAMS; index++)
                if (rule->parameter[index].name && !strcmp(word, rule->parameter[index].name))
                    break;
            value = trim(value);
        } else {
            next++;
        }
        if (index >= REFERENCE_PARAMS || rule->parameter[index].type == NO_VALUE || texts[index] || !unquoted(value) ||
            !*value)
            return false;
        texts[index] = value;
    }
    if (!strcmp(name, "none"))
        return true;
    if (is_mask(name)) {
        int last = 0; // the parameter `filters`
        while (last + 1 < REFERENCE_PARAMS && rule->parameter[last + 1].name)
            last++;
        const int filters = texts[last] ? atoi(texts[last]) : 0;
        inputs->kept = take_group(groups, inputs->count, filters);
        if (inputs->kept < inputs->movers || (inputs->moved && !strcmp(name, "matte")))
            return false;
    } else {
        follow_groups(groups, name, inputs->count);
    }
    if (!strcmp(name, "keep"))
        return true;
    inputs->picture[inputs->count++] = picture ? picture_copy(picture) : picture_new(1, 1);
    if (moves_pixels(name)) {
        inputs->movers = inputs->count;
        inputs->moved = inputs->moved || (strcmp(name, "mirror") != 0 && strcmp(name, "flip") != 0);
    }
    return run_rule(picture, inputs, name, texts);
}

bool reference_chain(struct picture *picture, const char *text)
{
    char *words = strdup(text), *rest = words;
    struct picture result = picture ? picture_copy(picture) : (struct picture){0};
    struct inputs inputs = {.count = 0};
    struct groups groups = {.count = 0};
    bool ok = words != NULL;
    for (int count = 1; ok && rest; count++)
        ok = count <= CHAIN_FILTERS && run_filter(picture ? &result : NULL, &inputs, &groups, cut(&rest, ','));
    while (inputs.count > 0)
        picture_free(&inputs.picture[--inputs.count]);
    free(words);
    if (ok && picture) {
        struct picture old = *picture;
        *picture = result;
        result = old;
    }
    picture_free(&result);
    return ok;
}
