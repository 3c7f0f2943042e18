// options.c: command-line arguments into an options struct, by the rows of a table
#include "base/options.h"

#include "base/log.h"

#include <assert.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_ROWS = 64, CHOICE_WORDS = 32, CHOICE_BYTES = 256, SIZE_MAX_SIDE = 1000000 };

struct parser {
    const struct option_list *list;
    void *values;
    const char *given[OPTION_ROWS]; // the value each option got on the command line; "" for a flag
};

// ---- values: one function per type, which logs and returns false where the text will not do ----

static bool store_flag(const struct option *o, const char *from, const char *text, void *member)
{
    static const char *const yes[] = {"1", "yes", "true", "on", NULL};
    static const char *const no[] = {"0", "no", "false", "off", NULL};
    for (int i = 0; yes[i]; i++) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *(bool *)member = strcmp(text, yes[i]) == 0;
            return true;
        }
    }
    log_error("%s is '%s', but must be yes or no", from, text);
    return false;
}

static bool store_text(const struct option *o, const char *from, const char *text, void *member)
{
    *(const char **)member = text;
    return true;
}

// Decimal, with a point whatever the locale. strtod alone would also take "inf", "nan" and hexadecimal.
static bool parse_number(const char *text, double *value)
{
    if (!*text || text[strspn(text, "0123456789+-.eE")])
        return false;
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", NULL);
    if (!c_locale)
        return false;
    char *end;
    *value = strtod_l(text, &end, c_locale);
    freelocale(c_locale);
    return *end == '\0' && *value >= -1e300 && *value <= 1e300;
}

static bool in_range(const struct option *o, const char *from, const char *text, double value)
{
    if ((o->min == 0 && o->max == 0) || (value >= o->min && value <= o->max))
        return true;
    log_error("%s is %s, but must be between %.10g and %.10g", from, text, o->min, o->max);
    return false;
}

static bool store_int(const struct option *o, const char *from, const char *text, void *member)
{
    double value;
    if (!parse_number(text, &value) || text[strcspn(text, ".eE")]) {
        log_error("%s is '%s', but must be a whole number", from, text);
        return false;
    }
    if (!in_range(o, from, text, value))
        return false;
    if (value < INT_MIN || value > INT_MAX) {
        log_error("%s is %s, but must be between %d and %d", from, text, INT_MIN, INT_MAX);
        return false;
    }
    *(int *)member = (int)value;
    return true;
}

static bool store_number(const struct option *o, const char *from, const char *text, void *member)
{
    double value;
    if (!parse_number(text, &value)) {
        log_error("%s is '%s', but must be a number", from, text);
        return false;
    }
    if (!in_range(o, from, text, value))
        return false;
    *(double *)member = value;
    return true;
}

static bool store_size(const struct option *o, const char *from, const char *text, void *member)
{
    if (options_parse_size(text, member))
        return true;
    log_error("%s is '%s', but must be WIDTHxHEIGHT, such as 640x480, with sides of 1 to %d pixels", from, text,
              SIZE_MAX_SIDE);
    return false;
}

static bool store_choice(const struct option *o, const char *from, const char *text, void *member)
{
    char copy[CHOICE_BYTES], list[CHOICE_BYTES] = "";
    const char *words[CHOICE_WORDS + 1] = {NULL};
    int count = 0;
    snprintf(copy, sizeof(copy), "%s", o->choices);
    char *rest = NULL;
    for (char *w = strtok_r(copy, "|", &rest); w && count < CHOICE_WORDS; w = strtok_r(NULL, "|", &rest)) {
        if (strcmp(w, text) == 0) {
            *(int *)member = count;
            return true;
        }
        const size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s%s", count ? ", " : "", w);
        words[count++] = w;
    }
    const char *nearest = options_nearest(text, words);
    if (nearest)
        log_error("%s cannot be '%s'; did you mean '%s'?", from, text, nearest);
    else
        log_error("%s is '%s', but must be one of %s", from, text, list);
    return false;
}

static bool store_texts(const struct option *o, const char *from, const char *text, void *member)
{
    struct option_texts *texts = member;
    if (texts->count == OPTION_TEXTS_MAX) {
        log_error("%s is given more than %d times; give it at most %d times", from, OPTION_TEXTS_MAX, OPTION_TEXTS_MAX);
        return false;
    }
    texts->text[texts->count++] = text;
    return true;
}

static bool (*const store_value[])(const struct option *o, const char *from, const char *text, void *member) = {
    [OPTION_FLAG] = store_flag,     [OPTION_TEXT] = store_text, [OPTION_INT] = store_int,
    [OPTION_NUMBER] = store_number, [OPTION_SIZE] = store_size, [OPTION_CHOICE] = store_choice,
    [OPTION_TEXTS] = store_texts,
};

bool options_parse_size(const char *text, struct option_size *size)
{
    int side[2];
    for (int i = 0; i < 2; i++) {
        if (*text < '0' || *text > '9')
            return false;
        char *end;
        const long value = strtol(text, &end, 10);
        if (value < 1 || value > SIZE_MAX_SIDE || *end != (i == 0 ? 'x' : '\0'))
            return false;
        side[i] = (int)value;
        text = end + 1;
    }
    *size = (struct option_size){side[0], side[1]};
    return true;
}

// ---- the command line ----

static int count_rows(const struct option *options)
{
    int count = 0;
    while (options[count].name)
        count++;
    return count;
}

static const struct option *find_name(const struct option_list *list, const char *name, size_t length)
{
    for (const struct option *o = list->options; o->name; o++) {
        if (strncmp(o->name, name, length) == 0 && !o->name[length])
            return o;
    }
    return NULL;
}

static const struct option *find_letter(const struct option_list *list, char letter)
{
    for (const struct option *o = list->options; o->name; o++) {
        if (o->letter == letter)
            return o;
    }
    return NULL;
}

static enum option_result unknown_option(const struct parser *p, const char *argument, const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)length, name);
    const char *words[OPTION_ROWS + 2] = {"help"};
    int count = 1;
    for (const struct option *o = p->list->options; o->name && count <= OPTION_ROWS; o++)
        words[count++] = o->name;
    const char *nearest = options_nearest(word, words);
    const int shown = (int)(name - argument + (ptrdiff_t)length);
    if (nearest)
        log_error("unknown option %.*s; did you mean --%s?", shown, argument, nearest);
    else
        log_error("unknown option %.*s; monocle %s --help lists the options", shown, argument, p->list->command);
    return OPTION_ERROR;
}

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    while (words && *words) {
        const size_t other = strcspn(words, "|");
        if (other == length && strncmp(words, word, length) == 0)
            return true;
        words += other + (words[other] == '|');
    }
    return false;
}

// A word that is no choice of this option but one that another knows: "--path gpu". True where it is so (logged).
static bool is_for_another(const struct parser *p, const struct option *o, const char *text)
{
    if (o->type != OPTION_CHOICE || has_word(o->choices, text))
        return false;
    for (const struct option *other = p->list->options; other->name; other++) {
        if (other->type != OPTION_TEXT || !has_word(other->choices, text))
            continue;
        log_error("--%s cannot be '%s'; did you mean --%s %s?", o->name, text, other->name, text);
        return true;
    }
    return false;
}

static bool store(struct parser *p, const struct option *o, const char *text)
{
    const char **given = &p->given[o - p->list->options];
    if (*given && o->type != OPTION_TEXTS && strcmp(*given, text) != 0) {
        log_error("--%s is given twice, as '%s' and as '%s'; give it once", o->name, *given, text);
        return false;
    }
    *given = text;
    void *member = (char *)p->values + o->offset;
    if (o->type == OPTION_FLAG) {
        *(bool *)member = true;
        return true;
    }
    if (is_for_another(p, o, text))
        return false;
    char from[64];
    snprintf(from, sizeof(from), "--%s", o->name);
    return store_value[o->type](o, from, text, member);
}

// The value of an option is `attached` ("--name=value", "-nvalue") or the next argument, which is then consumed.
static bool take_value(struct parser *p, const struct option *o, const char *attached, char **argv, int argc, int *at)
{
    if (attached)
        return store(p, o, attached);
    const char *placeholder = o->value ? o->value : o->choices ? o->choices : "VALUE";
    if (*at + 1 >= argc) {
        log_error("--%s needs a value; write --%s %s", o->name, o->name, placeholder);
        return false;
    }
    const char *next = argv[*at + 1];
    if (next[0] == '-' && next[1] == '-' && find_name(p->list, next + 2, strlen(next + 2))) {
        log_error("--%s needs a value, but the option %s follows; if '%s' is the value, write --%s=%s", o->name, next,
                  next, o->name, next);
        return false;
    }
    ++*at;
    return store(p, o, next);
}

static enum option_result parse_long(struct parser *p, char **argv, int argc, int *at)
{
    const char *argument = argv[*at], *name = argument + 2;
    const size_t length = strcspn(name, "=");
    const char *attached = name[length] ? name + length + 1 : NULL;
    const bool help = length == strlen("help") && strncmp(name, "help", length) == 0;
    const struct option *o = find_name(p->list, name, length);
    if (!o && !help)
        return unknown_option(p, argument, name, length);
    if (o && o->type != OPTION_FLAG)
        return take_value(p, o, attached, argv, argc, at) ? OPTION_OK : OPTION_ERROR;
    if (attached) {
        log_error("%.*s takes no value; leave out '=%s'", (int)length + 2, argument, attached);
        return OPTION_ERROR;
    }
    if (help)
        return OPTION_HELP;
    return store(p, o, "") ? OPTION_OK : OPTION_ERROR;
}

// "-n value", "-nvalue", "-ab"; a whole long name behind one dash is the usual slip of the finger.
static enum option_result parse_letters(struct parser *p, char **argv, int argc, int *at)
{
    const char *argument = argv[*at];
    if (argument[2] && find_name(p->list, argument + 1, strlen(argument + 1)))
        return unknown_option(p, argument, argument + 1, strlen(argument + 1));
    for (const char *letter = argument + 1; *letter; letter++) {
        const struct option *o = find_letter(p->list, *letter);
        if (!o && *letter == 'h')
            return OPTION_HELP;
        if (!o) {
            log_error("unknown option -%c%s%s; monocle %s --help lists the options", *letter, argument[2] ? " in " : "",
                      argument[2] ? argument : "", p->list->command);
            return OPTION_ERROR;
        }
        if (o->type != OPTION_FLAG && letter[1] == '=') {
            log_error("-%c takes its value without '='; write -%c '%s' or --%s='%s'", *letter, *letter, letter + 2,
                      o->name, letter + 2);
            return OPTION_ERROR;
        }
        if (o->type != OPTION_FLAG)
            return take_value(p, o, letter[1] ? letter + 1 : NULL, argv, argc, at) ? OPTION_OK : OPTION_ERROR;
        if (!store(p, o, ""))
            return OPTION_ERROR;
    }
    return OPTION_OK;
}

// Whether a given option contradicts another given one.
static bool contradicts(const struct parser *p, const struct option *o)
{
    for (const char *word = o->excludes; word && *word;) {
        const size_t length = strcspn(word, "|");
        const struct option *other = find_name(p->list, word, length);
        if (other && p->given[other - p->list->options]) {
            log_error("--%s and --%s contradict each other; leave out one of them", o->name, other->name);
            return true;
        }
        word += length + (word[length] == '|');
    }
    return false;
}

static bool finish(const struct parser *p)
{
    for (const struct option *o = p->list->options; o->name; o++) {
        if (p->given[o - p->list->options]) {
            if (contradicts(p, o))
                return false;
            continue;
        }
        const char *text = o->environment ? getenv(o->environment) : NULL;
        if (text && *text && !store_value[o->type](o, o->environment, text, (char *)p->values + o->offset))
            return false;
    }
    return true;
}

enum option_result options_parse(const struct option_list *list, int argc, char **argv, void *values,
                                 const char **operands, int *operand_count)
{
    struct parser p = {.list = list, .values = values};
    const int rows = count_rows(list->options);
    assert(rows <= OPTION_ROWS);
    (void)rows;
    bool only_operands = false;
    *operand_count = 0;
    for (int at = 1; at < argc; at++) {
        const char *argument = argv[at];
        if (only_operands || argument[0] != '-' || !argument[1]) {
            operands[(*operand_count)++] = argument;
            continue;
        }
        if (strcmp(argument, "--") == 0) {
            only_operands = true;
            continue;
        }
        const enum option_result result =
            argument[1] == '-' ? parse_long(&p, argv, argc, &at) : parse_letters(&p, argv, argc, &at);
        if (result != OPTION_OK)
            return result;
    }
    return finish(&p) ? OPTION_OK : OPTION_ERROR;
}
