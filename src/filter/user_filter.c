// user_filter.c: users' filters: reads their files, declares them, and keeps a list
#include "filter/user_filter.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/file.h"
#include "base/log.h"
#include "base/options.h"
#include "base/resource.h"
#include "base/text.h"
#include "filter/chain.h"
#include "filter/picture.h"
#include "filter/user_code.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { ARGUMENT_MAX = 1 << 30, CHOICES_MAX = 32 };

// The position of the parser, for messages.
struct reading {
    struct user_filter *user;
    char *error;
    int line;
    int params;
    bool kind, summary, ranged[USER_PARAMS], preset[USER_PARAMS], typed[USER_PARAMS];
    int param_line[USER_PARAMS];
};

__attribute__((format(printf, 2, 3))) static bool fail(struct reading *at, const char *format, ...)
{
    const int used = snprintf(at->error, USER_ERROR, "%s.cl:%d: ", at->user->name, at->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(at->error + used, (size_t)(USER_ERROR - used), format, arguments);
    va_end(arguments);
    return false;
}

// ---- the whole text ----

// A file that is no text should say so. Only comments may have other bytes than ASCII (user_code.c).
static bool check_bytes(struct reading *at, const char *text, size_t size)
{
    at->line = 1;
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte == '\n')
            at->line++;
        else if (byte != '\t' && byte != '\r' && (byte < ' ' || byte == 127))
            return fail(at, "the byte 0x%02x is not plain ASCII text", byte);
    }
    return true;
}

// Replaces the text by one that is safe to run.
static bool make_safe(struct reading *at)
{
    char why[USER_WHY];
    char *safe =
        user_code_make(at->user->name, at->user->filter.kind == FILTER_STENCIL, at->user->text, &at->line, why);
    if (!safe)
        return fail(at, "%s", why);
    free(at->user->text);
    at->user->text = safe;
    return true;
}

// ---- the filter's function ----

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Returns the first place of a word in the text; NULL: it is not there.
static const char *find_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        if ((at == text || !is_word(at[-1])) && !is_word(at[length]))
            return at;
    }
    return NULL;
}

// Appends the next word of the text to `types`, without "user_", and a space. Returns the text after it.
static const char *add_type(const char *text, char types[USER_LINE])
{
    size_t length = 0;
    text += strspn(text, " \t\r\n");
    if (strncmp(text, "user_", 5) == 0)
        text += 5;
    while (is_word(text[length]))
        length++;
    text_append(types, USER_LINE, "%.*s ", (int)length, text);
    return text + length;
}

// Writes the types of the parameters and of the result of a function, whose name stands at `name`.
static void read_types(const char *text, const char *name, char types[USER_LINE])
{
    const char *result = name;
    types[0] = '\0';
    for (const char *at = strchr(name, '('); at && *at != ')' && *at; at += strcspn(at, ",)"))
        at = add_type(at + 1, types);
    while (result > text && !is_word(result[-1]))
        result--;
    while (result > text && is_word(result[-1]))
        result--;
    add_type(result, types);
}

// How a filter's function is declared: without a second picture by its kind, otherwise by its second picture.
static const struct form {
    const char *result, *params;
} kind_forms[] = {[FILTER_POINT] = {"pixel", "pixel p, int x, int y, arguments args"},
                  [FILTER_STENCIL] = {"int", "view v, arguments args"},
                  [FILTER_WARP] = {"place", "place p, arguments args"}},
  second_forms[] = {[SECOND_PREVIOUS] = {"pixel", "pixel p, pixel previous, int x, int y, arguments args"},
                    [SECOND_INPUT] = {"pixel", "pixel p, pixel previous, int x, int y, arguments args"},
                    [SECOND_PICTURE] = {"pixel", "pixel p, pixel picture, int x, int y, arguments args"}};

// Checks that the filter's function has the types of its kind.
static bool check_function(struct reading *at)
{
    const struct user_filter *user = at->user;
    const struct form *form =
        user->filter.second == SECOND_NONE ? &kind_forms[user->filter.kind] : &second_forms[user->filter.second];
    char function[USER_NAME + 8], wanted[USER_LINE], types[USER_LINE], found[USER_LINE];
    snprintf(function, sizeof(function), "filter_%s", user->name);
    snprintf(wanted, sizeof(wanted), "INLINE %s %s(%s)", form->result, function, form->params);
    const char *name = find_word(user->text, function);
    at->line = 1;
    if (!name)
        return fail(at, "the file has no function %s; write: %s", function, wanted);
    for (const char *byte = user->text; byte < name; byte++)
        at->line += *byte == '\n';
    read_types(wanted, find_word(wanted, function), types);
    read_types(user->text, name, found);
    return strcmp(types, found) == 0 || fail(at, "the function's types do not fit its kind; write: %s", wanted);
}

// ---- declarations ----

static bool take_text(struct reading *at, const char *word, const char *value, char *to)
{
    if (!*value || strlen(value) >= USER_LINE)
        return fail(at, "%s needs a text of 1 to %d characters", word, USER_LINE - 1);
    strcpy(to, value);
    return true;
}

static bool take_summary(struct reading *at, const char *value)
{
    at->summary = true;
    return take_text(at, "SUMMARY", value, at->user->summary);
}

static bool take_kind(struct reading *at, const char *value)
{
    at->kind = true;
    if (strcmp(value, "point") == 0)
        at->user->filter.kind = FILTER_POINT;
    else if (strcmp(value, "stencil") == 0)
        at->user->filter.kind = FILTER_STENCIL;
    else if (strcmp(value, "warp") == 0)
        at->user->filter.kind = FILTER_WARP;
    else
        return fail(at, "KIND is '%.40s', but must be point, stencil or warp", value);
    return true;
}

// Parses decimal numbers and nothing else.
static bool numbers(const char *text, float *value, int count)
{
    for (int i = 0; i < count; i++) {
        char *end;
        while (isspace((unsigned char)*text))
            text++;
        const size_t length = strspn(text, "0123456789+-.eE"); // strtof also accepts "inf" and hexadecimal
        value[i] = strtof(text, &end);
        if (end == text || (size_t)(end - text) != length || !isfinite(value[i]))
            return false;
        text = end;
    }
    while (isspace((unsigned char)*text))
        text++;
    return !*text;
}

static bool take_previous(struct reading *at, const char *value)
{
    const bool input = strcmp(value, "input") == 0;
    at->user->filter.second = input ? SECOND_INPUT : SECOND_PREVIOUS;
    return input || !*value || fail(at, "PREVIOUS is '%.40s', but must be 'input' or nothing", value);
}

static bool take_radius(struct reading *at, const char *value)
{
    float radius;
    if (!numbers(value, &radius, 1) || radius != floorf(radius) || radius < 1 || radius > FILTER_RADIUS_MAX)
        return fail(at, "RADIUS is '%.40s', but must be 1 to %d", value, FILTER_RADIUS_MAX);
    at->user->filter.radius = (int)radius;
    return true;
}

static bool is_name(const char *name)
{
    const size_t length = strlen(name);
    return length > 0 && length < USER_NAME && islower((unsigned char)name[0]) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

static bool take_param(struct reading *at, const char *value)
{
    if (!is_name(value))
        return fail(at, "PARAM is '%.40s', but must be a name of a-z, 0-9 and _ with at most %d characters", value,
                    USER_NAME - 1);
    for (int i = 0; i < at->params; i++) {
        if (strcmp(at->user->more[i].name, value) == 0)
            return fail(at, "there are two parameters '%s'", value);
    }
    if (at->params == USER_PARAMS)
        return fail(at, "a filter has at most %d parameters", USER_PARAMS);
    struct user_param *more = &at->user->more[at->params];
    strcpy(more->name, value);
    strcpy(more->help, value);
    at->param_line[at->params] = at->line;
    at->user->param[at->params++] = (struct param){.name = more->name, .type = PARAM_REAL, .help = more->help};
    return true;
}

static bool take_desc(struct reading *at, const char *value)
{
    return take_text(at, "DESC", value, at->user->more[at->params - 1].help);
}

static bool take_type(struct reading *at, const char *value)
{
    static const struct {
        const char *name;
        enum param_type type;
    } types[] = {{"int", PARAM_INT}, {"float", PARAM_REAL}, {"choice", PARAM_CHOICE}, {"file", PARAM_FILE}};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (strcmp(value, types[i].name) == 0) {
            at->user->param[at->params - 1].type = types[i].type;
            return at->typed[at->params - 1] = true;
        }
    }
    return fail(at, "TYPE is '%.40s', but must be int, float, choice or file", value);
}

static bool take_range(struct reading *at, const char *value)
{
    float range[2];
    if (!numbers(value, range, 2) || !(range[0] < range[1]))
        return fail(at, "RANGE is '%.40s', but must be two numbers, the lower one first", value);
    at->user->param[at->params - 1].min = range[0];
    at->user->param[at->params - 1].max = range[1];
    return at->ranged[at->params - 1] = true;
}

static bool take_default(struct reading *at, const char *value)
{
    struct param *row = &at->user->param[at->params - 1];
    const char *choices = at->user->more[at->params - 1].choices;
    const int index = *choices ? options_find(choices, value) : -1; // CHOICES comes first
    at->preset[at->params - 1] = true;
    if (index >= 0)
        row->preset = (float)index;
    return index >= 0 || numbers(value, &row->preset, 1) ||
           fail(at, "DEFAULT is '%.40s', but must be a number or a choice", value);
}

static bool take_step(struct reading *at, const char *value)
{
    float *step = &at->user->param[at->params - 1].step;
    return (numbers(value, step, 1) && *step > 0) || fail(at, "STEP is '%.40s', but must be above 0", value);
}

static bool take_scale(struct reading *at, const char *value)
{
    float *scale = &at->user->more[at->params - 1].scale;
    return (numbers(value, scale, 1) && *scale > 0) || fail(at, "SCALE is '%.40s', but must be above 0", value);
}

static bool take_choices(struct reading *at, const char *value)
{
    struct user_param *more = &at->user->more[at->params - 1];
    struct param *row = &at->user->param[at->params - 1];
    int count = 0;
    for (const char *word = value; count < CHOICES_MAX; count++) {
        const size_t span = strcspn(word, "|");
        if (span == 0 || span > 40 || strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-") != span ||
            !isalpha((unsigned char)word[0]))
            break;
        if (!word[span]) {
            row->choices = more->choices;
            row->max = (float)count;
            return (count > 0 && take_text(at, "CHOICES", value, more->choices)) ||
                   fail(at, "CHOICES needs at least two words");
        }
        word += span + 1;
    }
    return fail(at, "CHOICES is '%.40s', but must be 2 to %d words such as low|high", value, CHOICES_MAX);
}

static const struct {
    const char *word;
    bool param; // it belongs to the last PARAM
    bool (*take)(struct reading *at, const char *value);
} declarations[] = {
    {"SUMMARY", false, take_summary}, {"KIND", false, take_kind},      {"RADIUS", false, take_radius},
    {"PARAM", false, take_param},     {"DESC", true, take_desc},       {"TYPE", true, take_type},
    {"RANGE", true, take_range},      {"STEP", true, take_step},       {"DEFAULT", true, take_default},
    {"SCALE", true, take_scale},      {"CHOICES", true, take_choices}, {"PREVIOUS", false, take_previous},
};

// Takes "WORD value", which follows "//!".
static bool take_declaration(struct reading *at, const char *text, size_t length)
{
    char copy[2 * USER_LINE];
    if (length >= sizeof(copy))
        return fail(at, "the declaration is too long");
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] > 127)
            return fail(at, "a declaration must be plain ASCII text; comments may have other letters");
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    while (length > 0 && isspace((unsigned char)copy[length - 1]))
        copy[--length] = '\0';
    char *word = copy + strspn(copy, " \t"), *value = word + strcspn(word, " \t");
    if (*value)
        *value++ = '\0';
    value += strspn(value, " \t");
    enum { COUNT = sizeof(declarations) / sizeof(*declarations) };
    const char *words[COUNT + 1] = {NULL};
    for (int i = 0; i < COUNT; i++) {
        words[i] = declarations[i].word;
        if (strcmp(declarations[i].word, word) != 0)
            continue;
        if (declarations[i].param && at->params == 0)
            return fail(at, "%s needs a PARAM before it", word);
        return declarations[i].take(at, value);
    }
    const char *nearest = options_nearest(word, words);
    return fail(at, "there is no declaration '%.20s'%s%s%s", word, text_if(nearest, "; did you mean '"),
                text_or(nearest, ""), text_if(nearest, "'?"));
}

// Reads the comment lines at the head of the file.
static bool read_head(struct reading *at, const char *text)
{
    at->line = 1;
    for (const char *line = text; *line; at->line++) {
        const size_t length = strcspn(line, "\n");
        const size_t blank = strspn(line, " \t\r");
        if (strncmp(line, "//", 2) != 0 && blank < length)
            break;
        if (strncmp(line, "//!", 3) == 0 && !take_declaration(at, line + 3, length - 3))
            return false;
        line += length + (line[length] == '\n');
    }
    return true;
}

// ---- rules between declarations ----

// A file is the second picture.
static bool check_file(struct reading *at, int index)
{
    struct param *row = &at->user->param[index];
    struct user_param *more = &at->user->more[index];
    if (at->ranged[index] || row->choices || at->preset[index] || row->step > 0 || more->scale > 0)
        return fail(at, "the parameter %s has TYPE file, so it can have only DESC", more->name);
    if (at->user->filter.second != SECOND_NONE)
        return fail(at, "a filter has only one second picture: PREVIOUS or one parameter with TYPE file");
    if (at->user->filter.kind != FILTER_POINT)
        return fail(at, "only a filter with KIND point has a parameter with TYPE file");
    at->user->filter.second = SECOND_PICTURE;
    row->max = row->step = more->scale = 1;
    return true;
}

static bool check_param(struct reading *at, int index)
{
    struct param *row = &at->user->param[index];
    struct user_param *more = &at->user->more[index];
    at->line = at->param_line[index];
    if (row->type == PARAM_FILE)
        return check_file(at, index);
    if (row->choices && !at->typed[index])
        row->type = PARAM_CHOICE;
    if ((row->type == PARAM_CHOICE) != (row->choices != NULL))
        return fail(at, "the parameter %s has TYPE choice or CHOICES, but needs both", more->name);
    if (row->type != PARAM_CHOICE && !at->ranged[index])
        return fail(at, "the parameter %s has no RANGE", more->name);
    if (row->type == PARAM_CHOICE && (at->ranged[index] || more->scale > 0))
        return fail(at, "the parameter %s has CHOICES, so it can have neither RANGE nor SCALE", more->name);
    if (!at->preset[index])
        row->preset = row->min;
    if (!(row->preset >= row->min && row->preset <= row->max) ||
        (row->type != PARAM_REAL && row->preset != floorf(row->preset)))
        return fail(at, "the DEFAULT of the parameter %s is not one of its values", more->name);
    if (more->scale <= 0)
        more->scale = row->type == PARAM_REAL ? 256 : 1;
    if (row->step <= 0)
        row->step = row->type == PARAM_REAL ? (row->max - row->min) / 20 : 1;
    if (fabsf(row->min) * more->scale > ARGUMENT_MAX || fabsf(row->max) * more->scale > ARGUMENT_MAX)
        return fail(at, "RANGE times SCALE of the parameter %s exceeds %d", more->name, ARGUMENT_MAX);
    return true;
}

static bool check_whole(struct reading *at)
{
    struct filter *filter = &at->user->filter;
    at->line = 1;
    if (!at->summary)
        return fail(at, "the file has no line '//!SUMMARY text'");
    if (!at->kind)
        return fail(at, "the file has no line '//!KIND point', '//!KIND stencil' or '//!KIND warp'");
    if ((filter->kind == FILTER_STENCIL) != (filter->radius > 0))
        return fail(at, filter->radius > 0 ? "only a stencil has a RADIUS" : "a stencil needs a RADIUS");
    if (filter_has_second(filter) && filter->kind != FILTER_POINT)
        return fail(at, "only a filter with KIND point has PREVIOUS");
    for (int i = 0; i < at->params; i++) {
        if (!check_param(at, i))
            return false;
    }
    return true;
}

// The size of a warp's output. Its function replaces the map.
static void keep_size(const struct filter_values *values, int width, int height, struct filter_map *map)
{
    map->width = width;
    map->height = height;
}

static const struct filter_warping keeps_size = {.map = keep_size};

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    arguments->value[FACT_WIDTH] = size->width;
    arguments->value[FACT_HEIGHT] = size->height;
}

static int follow(const struct stage *stage, const struct stage_size *size, const struct frame_time *frame_time,
                  int32_t *arguments)
{
    arguments[FACT_PREVIOUS] = frame_time->previous;
    arguments[FACT_FRAME] = frame_time_argument(frame_time->number);
    arguments[FACT_TIME] = frame_time_argument((uint64_t)frame_time->time_ns / 1000000);
    return FACT_TIME + 1;
}

// The picture follows the arguments of the parameters.
static void fit_picture(const struct filter_values *values, const struct stage_size *size,
                        struct filter_arguments *arguments)
{
    fit(values, size, arguments);
    arguments->count = FACTS + USER_PARAMS + size->width * size->height;
}

static bool fill_picture(const struct stage *stage, const struct stage_size *size, int32_t *numbers,
                         char why[FILTER_WHY])
{
    return !stage->values.resource ||
           picture_cover(stage->values.resource, size->width, size->height, numbers + FACTS + USER_PARAMS, why);
}

struct user_filter *user_filter_make(const char *name, char *text, size_t size, char error[USER_ERROR])
{
    if (!is_name(name) || strstr(name, "__")) {
        snprintf(error, USER_ERROR, "the name of a filter's file must be a-z, 0-9 and single _, then .cl");
        free(text);
        return NULL;
    }
    struct user_filter *user = xalloc(sizeof(*user));
    strcpy(user->name, name);
    user->text = text;
    pthread_mutex_init(&user->lock, NULL);
    user->filter = (struct filter){.name = user->name,
                                   .summary = user->summary,
                                   .example = user->name,
                                   .params = user->param,
                                   .fit = fit,
                                   .follow = follow,
                                   .user = user};
    struct reading at = {.user = user, .error = error};
    if (check_bytes(&at, text, size) && read_head(&at, text) && check_whole(&at) && make_safe(&at) &&
        check_function(&at)) {
        if (user->filter.kind == FILTER_WARP)
            user->filter.warp = &keeps_size;
        if (user->filter.second == SECOND_PICTURE) {
            user->filter.reads = picture_file;
            user->filter.fit = fit_picture;
            user->filter.fill = fill_picture;
        }
        if (user->filter.kind != FILTER_POINT) // it treats each channel alike, so grey stays grey
            user->filter.color = FILTER_KEEPS_GREY;
        return user;
    }
    user_filter_free(user);
    return NULL;
}

void user_filter_free(struct user_filter *user)
{
    if (!user)
        return;
    pthread_mutex_destroy(&user->lock);
    free(user->why);
    free(user->text);
    free(user);
}

void user_filter_prepare(const struct user_filter *user, const struct filter_values *values,
                         struct filter_arguments *arguments)
{
    int32_t last = 0;
    arguments->count = FACTS + USER_PARAMS;
    for (int i = 0, declared = 1; i < USER_PARAMS; i++) { // ARG beyond the parameters is the last one
        declared = declared && user->param[i].name;
        if (declared)
            last = (int32_t)floor((double)values->value[i] * (double)user->more[i].scale + 0.5);
        arguments->value[FACTS + i] = last;
    }
}

// ---- the users' filters that are loaded ----

struct registry {
    struct user_filter *filter[USER_FILTERS]; // by name
    int count;
    const char *named;      // directory of user_filters_load; borrowed
    char error[USER_ERROR]; // the first refused file of a filter that was loaded before; "": none
};
static struct registry registry;

const struct filter *user_filters_at(int index)
{
    return index < registry.count ? &registry.filter[index]->filter : NULL;
}

const char *user_filters_named(void)
{
    return registry.named ? registry.named : "";
}

// Returns the place of a name in the list; *found: it is in the list.
static int find(const struct registry *r, const char *name, bool *found)
{
    int at = 0;
    while (at < r->count && strcmp(r->filter[at]->name, name) < 0)
        at++;
    *found = at < r->count && strcmp(r->filter[at]->name, name) == 0;
    return at;
}

static void insert(struct registry *r, int at, struct user_filter *user)
{
    memmove(&r->filter[at + 1], &r->filter[at], (size_t)(r->count - at) * sizeof(r->filter[0]));
    r->filter[at] = user;
    r->count++;
}

static bool is_own(const char *name)
{
    for (int i = 0; filters[i]; i++) {
        if (strcasecmp(filters[i]->name, name) == 0)
            return true;
    }
    return false;
}

// Reads a file. NULL on failure: `error` gets the reason.
static char *read_file(int directory, const char *path, const char *file, size_t *size, char error[USER_ERROR])
{
    const char *unsafe;
    char *text = trusted_read(directory, file, USER_TEXT_MAX, size, &unsafe);
    if (text)
        return text;
    if (unsafe)
        snprintf(error, USER_ERROR, "cannot use the filter %.200s/%.100s: it %s; %s", path, file, unsafe,
                 cache_remedy(unsafe));
    else
        snprintf(error, USER_ERROR, "cannot read the filter %.200s/%.100s: %s", path, file,
                 errno == EFBIG ? "it is larger than 256 KiB" : file_read_error());
    return NULL;
}

// Takes a file of a directory into the list, where it replaces a file of the same name in an earlier directory. False
// on failure: `error` gets one line.
static bool take_file(struct registry *r, int directory, const char *path, const char *file, char error[USER_ERROR])
{
    char name[NAME_MAX + 1], why[USER_ERROR];
    size_t size;
    bool found;
    snprintf(name, sizeof(name), "%.*s", (int)(strlen(file) - strlen(".cl")), file);
    const int at = find(r, name, &found);
    char *text = read_file(directory, path, file, &size, error);
    if (!text)
        return false;
    if (is_own(name) || (!found && r->count == USER_FILTERS)) {
        snprintf(error, USER_ERROR, "cannot use the filter %.200s/%.100s: %s", path, file,
                 is_own(name) ? "monocle has a filter of this name; rename the file" : "there are too many filters");
        free(text);
        return false;
    }
    struct user_filter *user = user_filter_make(name, text, size, why);
    if (!user) {
        snprintf(error, USER_ERROR, "cannot use the filter %.150s/%.100s: %.200s", path, file, why);
        return false;
    }
    if (!found) {
        insert(r, at, user);
        return true;
    }
    user_filter_free(r->filter[at]); // no chain uses it yet
    r->filter[at] = user;
    return true;
}

// Takes the examples, which are in the binary.
static void take_examples(struct registry *r)
{
    static const char prefix[] = "assets/filters/";
    const size_t start = sizeof(prefix) - 1;
    for (const struct resource *file = resources; file->name; file++) {
        char name[NAME_MAX + 1], why[USER_ERROR];
        bool found;
        if (strncmp(file->name, prefix, start) != 0)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(strlen(file->name + start) - strlen(".cl")), file->name + start);
        const int at = find(r, name, &found);
        if (found)
            continue; // loaded before, so chains may use it
        char *text = xstrndup((const char *)file->data, file->size);
        struct user_filter *user = user_filter_make(name, text, file->size, why);
        if (user)
            insert(r, at, user);
        else
            log_error("cannot use the example %s: %s", name, why);
    }
}

static int is_kernel(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 3 && strcmp(entry->d_name + length - 3, ".cl") == 0;
}

static bool was_loaded(const char *file)
{
    char name[NAME_MAX + 1];
    bool found;
    snprintf(name, sizeof(name), "%.*s", (int)(strlen(file) - strlen(".cl")), file);
    find(&registry, name, &found);
    return found;
}

// Takes the files of a directory in the order of their names. Logs the failures: those of the first load, whose filters
// may not be used, only at the level info.
static void take_directory(struct registry *r, int directory, const char *path)
{
    struct dirent **entries;
    char place[32]; // musl has no scandirat
    snprintf(place, sizeof(place), "/proc/self/fd/%d", directory);
    const int count = scandir(place, &entries, is_kernel, alphasort);
    for (int i = 0; i < count; i++) {
        char why[USER_ERROR];
        if (!take_file(r, directory, path, entries[i]->d_name, why)) {
            const bool edited = r != &registry && was_loaded(entries[i]->d_name);
            log_message(edited ? LOG_ERROR : r == &registry ? LOG_INFO : LOG_WARN, "%s", why);
            if (edited && !r->error[0])
                strcpy(r->error, why);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

// Takes the files of all directories. Only `named` must exist. Returns false if it cannot be used (logged).
static bool take_directories(struct registry *r)
{
    char path[PATH_MAX];
    bool ok = true;
    for (int i = 0; user_filters_directory(i, path); i++) {
        const char *unsafe;
        const bool named = r->named && strcmp(path, r->named) == 0;
        const int directory = trusted_open(path, &unsafe);
        if (directory >= 0) {
            take_directory(r, directory, path);
            close(directory);
        } else if (unsafe) {
            log_message(named ? LOG_ERROR : LOG_WARN, "cannot use the filters in %s: it %s; %s", path, unsafe,
                        cache_remedy(unsafe));
        } else if (named) {
            log_error("cannot use the filters in %s: %s; correct --filters or MONOCLE_FILTERS", path, strerror(errno));
        }
        ok = ok && (directory >= 0 || !named);
    }
    return ok;
}

bool user_filters_directory(int index, char path[PATH_MAX])
{
    char data[PATH_MAX];
    size_t at = 0;
    while (data_system_next(data, &at)) {
        if (snprintf(path, PATH_MAX, "%s/filters", data) < PATH_MAX && index-- == 0)
            return true;
    }
    if (config_path("filters", path) && index-- == 0)
        return true;
    return registry.named && index == 0 && snprintf(path, PATH_MAX, "%s", registry.named) < PATH_MAX;
}

bool user_filters_refused(const char *name, char why[USER_ERROR])
{
    struct registry fresh = {0};
    char path[PATH_MAX], file[NAME_MAX + 1];
    const char *unsafe;
    bool refused = false;
    if (strchr(name, '/') || snprintf(file, sizeof(file), "%s.cl", name) >= (int)sizeof(file))
        return false;
    for (int i = 0; user_filters_directory(i, path); i++) {
        const int directory = trusted_open(path, &unsafe);
        if (directory >= 0 && faccessat(directory, file, F_OK, 0) == 0)
            refused = !take_file(&fresh, directory, path, file, why);
        if (directory >= 0)
            close(directory);
    }
    if (fresh.count > 0)
        user_filter_free(fresh.filter[0]);
    return refused;
}

bool user_filters_load(const char *directory)
{
    registry.named = directory && directory[0] ? directory : NULL;
    take_examples(&registry);
    return take_directories(&registry);
}

// Takes a filter that was loaded again into the list. An equal one stays, because chains use it. Frees `user` if it is
// equal, or if the list is full. Returns true if it replaced another one.
static bool renew(struct user_filter *user)
{
    bool found;
    const int at = find(&registry, user->name, &found);
    if (found && strcmp(registry.filter[at]->text, user->text) != 0) {
        user->older = registry.filter[at];
        registry.filter[at] = user;
        return true;
    }
    if (!found && registry.count < USER_FILTERS)
        insert(&registry, at, user);
    else
        user_filter_free(user);
    return false;
}

bool user_filters_reload(char error[USER_ERROR])
{
    struct registry fresh = {.named = registry.named};
    bool changed = false;
    take_directories(&fresh);
    for (int i = 0; i < fresh.count; i++)
        changed = renew(fresh.filter[i]) || changed;
    strcpy(error, fresh.error);
    return changed;
}
