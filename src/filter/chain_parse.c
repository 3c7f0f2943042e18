// chain_parse.c: parses chain text into stages (docs/pixels.md section 4)
#include "filter/chain.h"

#include "base/file.h"
#include "base/options.h"
#include "base/text.h"
#include "filter/user_filter.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { NAME_SHOWN = 40, CHAIN_SHOWN = 120 };

// The position of the parser, for messages.
struct parse {
    char *error;
    const struct filter *filter;
    bool given[FILTER_PARAMS];
    int position;          // of the next value without a name
    bool bare_text;        // a filter of the chain has a text without quotes
    const char *whole;     // the chain; NULL: it is a guess itself
    size_t begin;          // of the stage in it
    const char *directory; // of relative names of files; NULL: the working directory
};

__attribute__((format(printf, 2, 3))) static bool fail(struct parse *parse, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(parse->error, CHAIN_ERROR, format, arguments);
    va_end(arguments);
    // Makes one line of plain text, even if the chain has control characters.
    for (char *at = parse->error; *at; at++) {
        if (*at < ' ' || *at > '~')
            *at = '?';
    }
    return false;
}

// Adds advice to the message: the text of a filter may have ended too early. Returns false.
static bool advise_quotes(struct parse *parse)
{
    if (parse->bare_text)
        text_append(parse->error, CHAIN_ERROR, "; a text with , : ; | ! or = needs quotes: -f \"text='12:30'\"");
    return false;
}

static bool is_text(const struct filter *filter)
{
    return filter_param_count(filter) > 0 && filter->params[0].type == PARAM_TEXT && !filter_is_mask(filter);
}

// Removes spaces from both ends, in place.
static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

// Returns the first of these characters outside quotes; NULL: there is none. A value that begins with a quote ends at
// the next one; two quotes in a row are one of the value.
static char *find_outside(const char *text, const char *set)
{
    bool begins = true; // a value may begin here
    for (const char *at = text; *at; at++) {
        if (begins && *at == '\'') {
            do {
                at = strchr(at + 1, '\'');
            } while (at && at[1] == '\'' && *++at);
            if (!at)
                return NULL;
            begins = false;
            continue;
        }
        if (strchr(set, *at))
            return (char *)at;
        begins = strchr(",:=", *at) || (begins && isspace((unsigned char)*at));
    }
    return NULL;
}

static bool has_bare_text(const char *chain)
{
    bool found = false;
    for (const char *at = chain; at && !found; at = find_outside(at, ",")) {
        char name[NAME_SHOWN + 1];
        int end = 0;
        at += strspn(at, ", ");
        if (sscanf(at, "%40[A-Za-z] = %n", name, &end) == 1 && end > 0 && at[end] != '\'') {
            const struct filter *filter = filter_find(name);
            found = filter && is_text(filter);
        }
    }
    return found;
}

// Removes the quotes of a value, in place. False: it has one quote only, or characters follow the second one.
static bool unquote(char *text)
{
    char *to = text;
    if (*text != '\'')
        return true;
    for (char *at = text + 1; *at; at++) {
        if (*at == '\'' && *++at != '\'') {
            *to = '\0';
            return !*at;
        }
        *to++ = *at;
    }
    return false;
}

// Parses a decimal number and sets *end to its end. strtof also accepts "inf", "nan" and hexadecimal.
static bool parse_number(const char *text, float *value, const char **end)
{
    const size_t length = strspn(text, "0123456789+-.eE");
    char *stop;
    *value = strtof(text, &stop);
    *end = stop;
    return stop != text && (size_t)(stop - text) <= length && isfinite(*value);
}

static bool check_count(struct parse *parse, const struct param *row, int count)
{
    int side = 1;
    while (side * side < count)
        side += 2;
    if (row->type == PARAM_MAP)
        return count == 8 || count == 9 ||
               fail(parse, "%s: %s has %d numbers, but must have 8 or 9", parse->filter->name, row->name, count);
    if (row->type == PARAM_POINTS)
        return (count >= 4 && count % 2 == 0) ||
               fail(parse, "%s: %s must have at least two points x/y", parse->filter->name, row->name);
    return side * side == count || fail(parse, "%s: %s has %d numbers, but must have 1, 9, 25, 49 or 81",
                                        parse->filter->name, row->name, count);
}

static bool parse_matrix(struct parse *parse, const struct param *row, const char *text, struct stage *stage)
{
    int count = 0;
    const char *at = text;
    while (*at) {
        if (count == FILTER_MATRIX)
            return fail(parse, "%s: %s has more than %d numbers", parse->filter->name, row->name, FILTER_MATRIX);
        const bool half = row->type == PARAM_POINTS && count % 2 == 0; // of a point
        if (!parse_number(at, &stage->values.matrix[count], &at) ||
            (half ? *at++ != '/' : *at && !isspace((unsigned char)*at)))
            return fail(parse, "%s: %s is '%.40s', but must be numbers or one of %s", parse->filter->name, row->name,
                        text, row->choices);
        count++;
        while (isspace((unsigned char)*at))
            at++;
    }
    stage->values.matrix_count = count;
    return check_count(parse, row, count);
}

// Returns the index of the word in the row's choices, ignoring case; -1: it is not one of them.
static int find_choice(const struct param *row, const char *word)
{
    const size_t length = strlen(word);
    int index = 0;
    for (const char *at = row->choices; at; index++) {
        const size_t span = strcspn(at, "|");
        if (span == length && strncasecmp(at, word, length) == 0)
            return index;
        at = at[span] ? at + span + 1 : NULL;
    }
    return -1;
}

static bool parse_choice(struct parse *parse, const struct param *row, const char *text, float *value)
{
    const int index = find_choice(row, text);
    if (index < 0)
        return fail(parse, "%s: %s is '%.40s', but must be one of %s", parse->filter->name, row->name, text,
                    row->choices);
    *value = (float)index;
    return true;
}

// Adds advice to the message on a number, for sizes as other programs write them. Returns false.
static bool advise_size(struct parse *parse, const struct param *row, const char *text)
{
    struct option_size size;
    if (options_parse_size(text, &size))
        text_append(parse->error, CHAIN_ERROR, "; write %d:%d", size.width, size.height);
    else if (strcmp(parse->filter->name, "scale") == 0 && (strstr(text, "iw") || strstr(text, "ih")))
        text_append(parse->error, CHAIN_ERROR, "; half of the input is scale=factor=0.5");
    else if (strcmp(parse->filter->name, "scale") == 0 && text[0] == '-')
        text_append(parse->error, CHAIN_ERROR, "; without its %s, scale keeps the proportions", row->name);
    else if (strstr(text, "iw") || strstr(text, "ih") || strstr(text, "PI"))
        text_append(parse->error, CHAIN_ERROR, "; monocle has no expressions of iw, ih or PI; write numbers");
    return false;
}

static bool parse_scalar(struct parse *parse, const struct param *row, const char *text, float *value)
{
    const char *end;
    if (!parse_number(text, value, &end) || *end) {
        fail(parse, "%s: %s is '%.40s', but must be a number", parse->filter->name, row->name, text);
        return advise_size(parse, row, text);
    }
    if (row->type == PARAM_INT && *value != floorf(*value))
        return fail(parse, "%s: %s is '%.40s', but must be a whole number", parse->filter->name, row->name, text);
    if (*value < row->min || *value > row->max) {
        fail(parse, "%s: %s is %.40s, but must be between %g and %g", parse->filter->name, row->name, text,
             (double)row->min, (double)row->max);
        return advise_size(parse, row, text);
    }
    return true;
}

static bool parse_file(struct parse *parse, const struct param *row, const char *text, struct stage *stage,
                       float *value)
{
    char *name = stage->values.file;
    *value = strcmp(text, "none") != 0;
    name[0] = '\0';
    if (*value > 0 && !file_path(text, parse->directory, name, FILTER_FILE)) // absolute, because chains are saved
        return fail(parse, "%s: the name of the file %s has more than %d characters with its directory",
                    parse->filter->name, row->name, FILTER_FILE - 1);
    if (*value == 0 || filter_file_varies(&stage->values) || access(name, R_OK) == 0)
        return true;
    char nearest[NAME_MAX + 1];
    const int error = errno;
    const char *at = parse->whole ? strstr(parse->whole, text) : NULL;
    const bool cut = at && at[strlen(text)]; // perhaps the rest belongs to the name
    if (error == ENOENT && options_nearest_file(name, nearest))
        return fail(parse, "%s: cannot read the file '%.120s': %s; did you mean '%.60s'?", parse->filter->name, text,
                    strerror(error), nearest);
    return fail(parse, "%s: cannot read the file '%.120s': %s%s", parse->filter->name, text, strerror(error),
                cut ? "; a name with , : ; | ! or = needs quotes: \"'a,b.png'\"" : "; name another file");
}

static bool parse_text(struct parse *parse, const struct param *row, const char *text, struct stage *stage,
                       float *value)
{
    *value = 1;
    return snprintf(stage->values.file, FILTER_FILE, "%s", text) < FILTER_FILE ||
           fail(parse, "%s: %s has more than %d bytes", parse->filter->name, row->name, FILTER_FILE - 1);
}

static bool parse_value(struct parse *parse, int index, char *text, struct stage *stage)
{
    const struct param *row = &parse->filter->params[index];
    if (parse->given[index])
        return fail(parse, "%s: %s is given twice", parse->filter->name, row->name);
    parse->given[index] = true;
    float *value = &stage->values.value[index];
    if (!unquote(text))
        return fail(parse, "%s: the quotes of %s are wrong; write 'TEXT', and '' for a quote in it",
                    parse->filter->name, row->name);
    if (!*text)
        return fail(parse, "%s: %s has no value", parse->filter->name, row->name);
    switch (row->type) {
    case PARAM_INT:
    case PARAM_REAL:
        return parse_scalar(parse, row, text, value);
    case PARAM_CHOICE:
        return parse_choice(parse, row, text, value);
    case PARAM_COLOR:
        return color_parse(text, value) || fail(parse, "%s: %s is '%.40s', but must be a colour such as red or #ff8000",
                                                parse->filter->name, row->name, text);
    case PARAM_MATRIX:
    case PARAM_MAP:
    case PARAM_POINTS:
        if (find_choice(row, text) >= 0)
            return parse_choice(parse, row, text, value);
        *value = -1;
        return parse_matrix(parse, row, text, stage);
    case PARAM_TEXT:
        return parse_text(parse, row, text, stage, value);
    case PARAM_FILE:
        return parse_file(parse, row, text, stage, value);
    }
    return false;
}

static bool parse_assignment(struct parse *parse, char *text, struct stage *stage)
{
    const int count = filter_param_count(parse->filter);
    char *equals = find_outside(text, "=");
    if (!equals) {
        if (count == 0)
            return fail(parse, "%s has no parameters", parse->filter->name);
        if (parse->position == count)
            return fail(parse, "%s: too many values; the filter has %d parameter%s", parse->filter->name, count,
                        count == 1 ? "" : "s");
        return parse_value(parse, parse->position++, trim(text), stage) ||
               (parse->position > 1 && is_text(parse->filter) && advise_quotes(parse));
    }
    *equals = '\0';
    const char *name = trim(text);
    const char *names[FILTER_PARAMS + 1] = {0};
    for (int i = 0; i < count; i++) {
        names[i] = parse->filter->params[i].name;
        if (strcmp(names[i], name) == 0)
            return parse_value(parse, i, trim(equals + 1), stage);
    }
    const char *nearest = options_nearest(name, names);
    for (int i = 0; i < count && !nearest && !is_text(parse->filter); i++) {
        if (*name && strncmp(names[i], name, strlen(name)) == 0)
            nearest = names[i]; // "w" is "width"
    }
    fail(parse, "%s has no parameter '%.40s'%s%s%s", parse->filter->name, name, text_if(nearest, "; did you mean '"),
         text_or(nearest, ""), text_if(nearest, "'?"));
    return is_text(parse->filter) && !parse->given[0] && advise_quotes(parse); // false
}

static bool parse_chain(struct parse *parse, struct chain *chain, const char *text);

static bool is_chain(const char *text)
{
    struct chain chain;
    char error[CHAIN_ERROR];
    return parse_chain(&(struct parse){.error = error}, &chain, text);
}

// Corrects "blur 2", "contrast:2:10" or "gray blur" to chain text. False: the meaning is not clear.
static bool split_words(const char *name, char text[NAME_SHOWN + 1])
{
    static const char separators[] = " \t:";
    for (int way = 0; way < 2; way++) {
        const char later = way == 0 ? ':' : ',';
        snprintf(text, NAME_SHOWN + 1, "%s", name);
        char *at = strpbrk(text, separators);
        if (!at)
            return false;
        *at = way == 0 ? '=' : ',';
        while ((at = strpbrk(at, separators)))
            *at++ = later;
        if (is_chain(text))
            return true;
    }
    return false;
}

// Corrects "contrast=1,3" to contrast=1.3, or "levels=16,235" to levels=16:235. False: the meaning is not clear.
static bool join_number(const struct parse *parse, char text[CHAIN_SHOWN + 1])
{
    static const char separators[] = ".:";
    if (!parse->whole || parse->begin == 0 || strlen(parse->whole) > CHAIN_SHOWN)
        return false;
    strcpy(text, parse->whole);
    for (const char *way = separators; *way; way++) {
        text[parse->begin - 1] = *way;
        if (is_chain(text))
            return true;
    }
    return false;
}

static bool unknown_filter(struct parse *parse, const char *name)
{
    char text[CHAIN_SHOWN + 1];
    const char *advice = filter_elsewhere(name), *dot = strrchr(name, '.');
    if (dot && strcasecmp(dot, ".cl") == 0)
        return fail(parse, "'%.*s' is a file; name its directory and the filter: --filters DIRECTORY -f NAME",
                    NAME_SHOWN, name);
    if (dot && strcasecmp(dot, ".cube") == 0)
        return fail(parse, "'%.*s' is a file of colours; write lut=%.*s", NAME_SHOWN, name, NAME_SHOWN, name);
    if (!advice && parse->whole && strlen(name) <= NAME_SHOWN && split_words(name, text))
        advice = text;
    const bool number = strchr("+-.0123456789", name[0]) && !parse->bare_text;
    if (!advice && number && join_number(parse, text))
        return fail(parse, "there is no filter '%.*s'; did you mean '%s'?", NAME_SHOWN, name, text);
    if (!advice)
        advice = filter_advice(name);
    char why[USER_ERROR];
    if (user_filters_refused(name, why))
        return fail(parse, "%s", why);
    if (advice)
        return fail(parse, "there is no filter '%.*s'; did you mean '%s'?%s", NAME_SHOWN, name, advice,
                    text_if(strcasecmp(name, "zoom") == 0, " Ctrl+wheel, and the property zoom, zoom the live view"));
    if (number)
        return fail(parse, "there is no filter '%.*s'; separate a filter's values with ':', as in contrast=1:3",
                    NAME_SHOWN, name);
    fail(parse, "there is no filter '%.*s'; 'monocle filters' lists the filters", NAME_SHOWN, name);
    return advise_quotes(parse);
}

static bool parse_stage(struct parse *parse, char *text, struct stage *stage)
{
    char *values = strchr(text, '=');
    if (values)
        *values++ = '\0';
    const char *name = trim(text);
    if (!*name) {
        fail(parse, "a filter's name is missing");
        return advise_quotes(parse);
    }
    *parse = (struct parse){.error = parse->error,
                            .filter = filter_find(name),
                            .bare_text = parse->bare_text,
                            .whole = parse->whole,
                            .directory = parse->directory,
                            .begin = parse->begin};
    if (!parse->filter)
        return unknown_filter(parse, name);
    if (!stage_init(stage, parse->filter))
        return fail(parse, "cannot set up the filter %s", name);
    while (values) {
        char *next = find_outside(values, ":");
        if (next)
            *next++ = '\0';
        if (!parse_assignment(parse, values, stage))
            return false;
        values = next;
    }
    const char *why;
    if (stage_prepare(stage, &why))
        return true;
    if (filter_file_wanted(parse->filter, &stage->values))
        return fail(parse, "%s: cannot use the file '%.90s': %s", name, stage->values.file, why);
    return fail(parse, "%s: %s", name, why);
}

// Rejects "blur;gray", the syntax of other programs.
static bool check_separators(struct parse *parse, const char *text)
{
    static const char wrong[] = ";|!";
    char fixed[CHAIN_SHOWN + 1];
    const char *first = find_outside(text, wrong);
    if (!first)
        return true;
    snprintf(fixed, sizeof(fixed), "%.*s", CHAIN_SHOWN, text);
    for (char *at = fixed; (at = strpbrk(at, wrong));)
        *at = ',';
    if (parse->whole && strlen(text) <= CHAIN_SHOWN && is_chain(fixed))
        return fail(parse, "separate filters with ',', not '%c'; did you mean '%s'?", *first, fixed);
    fail(parse, "separate filters with ',', not '%c'", *first);
    return advise_quotes(parse);
}

static bool parse_chain(struct parse *parse, struct chain *chain, const char *text)
{
    char copy[CHAIN_TEXT];
    *chain = (struct chain){0};
    if (strlen(text) >= sizeof(copy))
        return fail(parse, "the chain is longer than %d characters", CHAIN_TEXT - 1);
    parse->bare_text = has_bare_text(text);
    if (!check_separators(parse, text))
        return false;
    strcpy(copy, text);
    for (char *at = copy; at;) {
        char *next = find_outside(at, ",");
        if (next)
            *next++ = '\0';
        if (chain->count == CHAIN_MAX)
            return fail(parse, "a chain has at most %d filters", CHAIN_MAX);
        parse->begin = (size_t)(at - copy);
        if (!parse_stage(parse, at, &chain->stage[chain->count]))
            return false;
        chain->count++;
        at = next;
    }
    if (!chain_check_masks(chain, parse->error))
        return false;
    if (!chain_print(chain, copy))
        return fail(parse, "the chain with all parameters is longer than %d characters", CHAIN_TEXT - 2);
    return true;
}

bool chain_parse_from(struct chain *chain, const char *text, const char *directory, char error[CHAIN_ERROR])
{
    return parse_chain(&(struct parse){.error = error, .whole = text, .directory = directory}, chain, text);
}

bool chain_parse(struct chain *chain, const char *text, char error[CHAIN_ERROR])
{
    return chain_parse_from(chain, text, NULL, error);
}
