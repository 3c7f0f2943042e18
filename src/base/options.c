// options.c: command-line options as tables: parsing, suggestions
#include "base/options.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { CHOICE_WORDS = 32, CHOICE_BYTES = 256, SIZE_MAX_SIDE = 1000000 };
enum { OPTION_ADVICE = 96 };            // bytes of a remedy
enum { WORD_MAX = 48, PREFIX_MIN = 3 }; // of options_nearest

struct parser {
    const struct command *command;
    void *values;
    const char *where;              // for messages: "FILE:LINE: ", or "" for the command line
    struct option_file *file;       // NULL: this is the command line
    int line;                       // of the file
    const char *given[OPTION_ROWS]; // the value of each option; "" for a flag; NULL: not given
};

// ---- suggestions ----

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours each cost 1.
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[3][WORD_MAX + 1]; // row i is row[i % 3]; a swap looks two rows back
    for (size_t j = 0; j <= b_length; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *here = row[i % 3];
        const size_t *above = row[(i + 2) % 3], *above2 = row[(i + 1) % 3];
        here[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const size_t substitute = above[j - 1] + (a[i - 1] != b[j - 1]);
            here[j] = min_size(substitute, min_size(above[j], here[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                here[j] = min_size(here[j], above2[j - 2] + 1);
        }
    }
    return row[a_length % 3][b_length];
}

const char *options_nearest(const char *word, const char *const *words)
{
    const size_t length = strlen(word);
    if (length == 0 || length > WORD_MAX)
        return NULL;
    const char *nearest = NULL;
    size_t least = (length + 2) / 3 + 1; // accepts one mistake in up to 3 letters, two in 6
    for (; *words; words++) {
        const size_t other = strlen(*words);
        if (other > WORD_MAX)
            continue;
        size_t apart = distance(word, length, *words, other);
        if (length >= PREFIX_MIN && strncmp(word, *words, length) == 0)
            apart = min_size(apart, 1); // shortened, not misspelt
        if (strncmp(word, "open", 4) == 0 && strcmp(word + 4, *words) == 0)
            apart = 0; // "opengl" is "gl", not "opencl"
        if (apart < least && apart < min_size(length, other)) {
            least = apart;
            nearest = *words;
        }
    }
    return nearest;
}

bool options_nearest_file(const char *path, char nearest[NAME_MAX + 1])
{
    char directory[PATH_MAX];
    struct dirent **entry = NULL;
    const char *name = file_base(path), *found = NULL;
    file_directory(path, directory);
    const int count = scandir(directory, &entry, NULL, NULL);
    const char **names = xcalloc(count > 0 ? (size_t)count + 1 : 1, sizeof(*names));
    for (int i = 0; i < count; i++)
        names[i] = entry[i]->d_name;
    found = options_nearest(name, names);
    snprintf(nearest, NAME_MAX + 1, "%s", text_or(found, ""));
    for (int i = 0; i < count; i++)
        free(entry[i]);
    free(entry);
    free(names);
    return nearest[0];
}

void options_unknown(char *text, size_t size, const char *what, const char *word, const char *const *names,
                     const char *otherwise)
{
    const char *nearest = options_nearest(word, names);
    if (nearest)
        snprintf(text, size, "there is no %s '%.80s'; did you mean %s?", what, word, nearest);
    else
        snprintf(text, size, "there is no %s '%.80s'; %s", what, word, otherwise);
}

int options_choose(const char *word, const char *what, const char *const *names)
{
    char all[1024] = "";
    for (int i = 0; names[i]; i++) {
        if (strcmp(word, names[i]) == 0)
            return i;
        text_append(all, sizeof(all), "%s%s", text_if(i > 0, ", "), names[i]);
    }
    const char *nearest = options_nearest(word, names);
    if (nearest)
        log_error("there is no %s '%s'; did you mean %s? All names: %s", what, word, nearest, all);
    else
        log_error("there is no %s '%s'; choose from: %s", what, word, all);
    return -1;
}

// ---- values: one function per type; it returns false (logged) if the text is not valid ----

static bool store_text(const struct parser *p, const struct option *o, const char *text, void *member)
{
    const bool named = options_find("file|directory", text_or(o->complete, "")) >= 0 && strcmp(text, "-") != 0;
    if (p->file && named) {
        char **path = &p->file->path[o - p->command->options];
        *path = *path ? *path : xalloc(PATH_MAX);
        file_path(text, p->file->directory, *path, PATH_MAX);
        text = *path;
    }
    *(const char **)member = text;
    return true;
}

// Parses a decimal number, with a point in every locale. strtod alone also accepts "inf", "nan" and hexadecimal.
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

static bool in_range(const struct parser *p, const struct option *o, const char *text, double value)
{
    if (value >= o->min && value <= o->max)
        return true;
    log_error("%s--%s is %s, but must be between %.10g and %.10g", p->where, o->name, text, o->min, o->max);
    return false;
}

static bool store_int(const struct parser *p, const struct option *o, const char *text, void *member)
{
    double value;
    if (!parse_number(text, &value) || text[strcspn(text, ".eE")]) {
        log_error("%s--%s is '%s', but must be a whole number", p->where, o->name, text);
        return false;
    }
    if (!in_range(p, o, text, value))
        return false;
    *(int *)member = (int)value;
    return true;
}

static bool store_number(const struct parser *p, const struct option *o, const char *text, void *member)
{
    double value;
    if (!parse_number(text, &value)) {
        log_error("%s--%s is '%s', but must be a number", p->where, o->name, text);
        return false;
    }
    if (!in_range(p, o, text, value))
        return false;
    *(double *)member = value;
    return true;
}

static bool store_size(const struct parser *p, const struct option *o, const char *text, void *member)
{
    if (options_parse_size(text, member))
        return true;
    log_error("%s--%s is '%s', but must be WIDTHxHEIGHT, such as 640x480, with sides of 1 to %d pixels", p->where,
              o->name, text, SIZE_MAX_SIDE);
    return false;
}

// Splits "a|b|c" into words, which point into `copy`. Returns their number; NULL follows the last one.
static int split(const char *list, char copy[CHOICE_BYTES], const char *words[CHOICE_WORDS + 1])
{
    int count = 0;
    char *rest = NULL;
    snprintf(copy, CHOICE_BYTES, "%s", list ? list : "");
    for (char *w = strtok_r(copy, "|", &rest); w && count < CHOICE_WORDS; w = strtok_r(NULL, "|", &rest))
        words[count++] = w;
    words[count] = NULL;
    return count;
}

int options_find(const char *list, const char *word)
{
    char each[CHOICE_BYTES];
    for (int i = 0; options_choice(list, i, each, sizeof(each)); i++) {
        if (strcmp(each, word) == 0)
            return i;
    }
    return -1;
}

bool options_choice(const char *list, int index, char *word, size_t size)
{
    for (; index > 0 && list; index--)
        list = (list = strchr(list, '|')) ? list + 1 : NULL;
    snprintf(word, size, "%.*s", (int)strcspn(text_or(list, ""), "|"), text_or(list, ""));
    return list;
}

static bool store_choice(const struct parser *p, const struct option *o, const char *text, void *member)
{
    char copy[CHOICE_BYTES], list[CHOICE_BYTES] = "";
    const char *words[CHOICE_WORDS + 1];
    const int found = options_find(o->choices, text);
    if (found >= 0) {
        *(int *)member = found;
        return true;
    }
    const int count = split(o->choices, copy, words);
    for (int i = 0; i < count; i++)
        text_append(list, sizeof(list), "%s%s", text_if(i > 0, ", "), words[i]);
    const char *nearest = options_nearest(text, words);
    if (nearest)
        log_error("%s--%s cannot be '%s'; did you mean '%s'?", p->where, o->name, text, nearest);
    else
        log_error("%s--%s is '%s', but must be one of %s", p->where, o->name, text, list);
    return false;
}

static bool store_texts(const struct parser *p, const struct option *o, const char *text, void *member)
{
    struct option_texts *texts = member;
    if (texts->count == OPTION_TEXTS_MAX) {
        log_error("%s--%s is given more than %d times; give it at most %d times", p->where, o->name, OPTION_TEXTS_MAX,
                  OPTION_TEXTS_MAX);
        return false;
    }
    texts->text[texts->count++] = text;
    return true;
}

static bool (*const store_value[])(const struct parser *p, const struct option *o, const char *text, void *member) = {
    [OPTION_TEXT] = store_text, [OPTION_INT] = store_int,       [OPTION_NUMBER] = store_number,
    [OPTION_SIZE] = store_size, [OPTION_CHOICE] = store_choice, [OPTION_TEXTS] = store_texts,
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

static const struct option *find_name(const struct command *command, const char *name, size_t length)
{
    for (const struct option *o = command->options; o->name; o++) {
        if (strncmp(o->name, name, length) == 0 && !o->name[length])
            return o;
    }
    return NULL;
}

static const struct option *find_letter(const struct command *command, char letter)
{
    for (const struct option *o = command->options; o->name; o++) {
        if (o->letter == letter)
            return o;
    }
    return NULL;
}

// Words of other programs, and the option with its value. A row counts for the commands that have the option.
static const struct {
    const char *words, *option, *value; // `option` "": the command's source, which is an operand
} foreign[] = {
    {"i|input|source|camera|webcam", "", ""},
    {"fps|framerate", "rate", " 30"},
    {"width|height|resolution|video-size|video_size", "size", " 640x480"},
    {"output", "record", " FILE.mp4"},
    {"v|verbose|debug", "log-level", " debug"},
    {"q|quiet", "log-level", " error"},
    {"no-window|no-gui|nogui", "headless", ""},
    {"cpu", "path", " cpu"},
    {"gpu", "device", " gpu"},
    {"vf|filters", "filter", " blur"},
};

// Writes the remedy for an option of another program. Returns false if there is none.
static bool advise_foreign(const struct parser *p, const char *word, char text[OPTION_ADVICE])
{
    const char *complete = p->command->complete;
    for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
        if (options_find(foreign[i].words, word) < 0)
            continue;
        if (!*foreign[i].option && complete && strcmp(complete, "source") == 0)
            snprintf(text, OPTION_ADVICE, "the source needs no option: monocle %s clip.mp4, or /dev/video0",
                     p->command->name);
        else if (find_name(p->command, foreign[i].option, strlen(foreign[i].option)))
            snprintf(text, OPTION_ADVICE, "did you mean --%s%s?", foreign[i].option, foreign[i].value);
        else
            continue;
        return true;
    }
    return false;
}

static enum option_result unknown_option(const struct parser *p, const char *argument, const char *name, size_t length)
{
    char word[64], advice[OPTION_ADVICE];
    snprintf(word, sizeof(word), "%.*s", (int)length, name);
    const char *words[OPTION_ROWS + 3] = {"help", "version"};
    int count = 2;
    for (const struct option *o = p->command->options; o->name && count < OPTION_ROWS + 2; o++)
        words[count++] = o->name;
    const char *nearest = options_nearest(word, words);
    const int shown = (int)(name - argument + (ptrdiff_t)length);
    if (advise_foreign(p, word, advice))
        log_error("%sunknown option %.*s; %s", p->where, shown, argument, advice);
    else if (nearest)
        log_error("%sunknown option %.*s; did you mean %s--%s?", p->where, shown, argument,
                  text_if(strcmp(nearest, "version") == 0, "monocle "), nearest);
    else
        log_error("%sunknown option %.*s; monocle %s --help lists the options", p->where, shown, argument,
                  p->command->name);
    return OPTION_ERROR;
}

// Returns true (logged) if the word is not a choice of this option but of another one: "--path gpu".
static bool is_for_another(const struct parser *p, const struct option *o, const char *text)
{
    if (o->type != OPTION_CHOICE || options_find(o->choices, text) >= 0)
        return false;
    for (const struct option *other = p->command->options; other->name; other++) {
        if (other->type != OPTION_TEXT || options_find(other->choices, text) < 0)
            continue;
        log_error("%s--%s cannot be '%s'; did you mean --%s %s?", p->where, o->name, text, other->name, text);
        return true;
    }
    return false;
}

// Stores the value of an option in the values. `used` false: only checks it.
static bool store(struct parser *p, const struct option *o, const char *text, bool used)
{
    union {
        bool flag;
        const char *text;
        int number;
        double real;
        struct option_size size;
        struct option_texts texts;
    } unused = {0};
    const char **given = &p->given[o - p->command->options];
    if (*given && o->type != OPTION_TEXTS && strcmp(*given, text) != 0) {
        log_error("%s--%s is given twice, as '%s' and as '%s'; give it once", p->where, o->name, *given, text);
        return false;
    }
    *given = text;
    if (used && p->file)
        p->file->line[o - p->command->options] = p->line;
    void *member = used ? (void *)((char *)p->values + o->offset) : &unused;
    if (o->type == OPTION_FLAG) {
        *(bool *)member = true;
        return true;
    }
    if (is_for_another(p, o, text))
        return false;
    return store_value[o->type](p, o, text, member);
}

// Stores the value of an option: `attached` ("--name=value", "-nvalue"), or the next argument, which it consumes.
static bool take_value(struct parser *p, const struct option *o, const char *attached, char **argv, int argc, int *at)
{
    if (attached)
        return store(p, o, attached, true);
    const char *words = o->choices ? o->choices : "VALUE";
    const char *placeholder = o->value ? o->value : words;
    if (*at + 1 >= argc) {
        log_error("--%s needs a value; write --%s %s", o->name, o->name, placeholder);
        return false;
    }
    const char *next = argv[*at + 1];
    if (next[0] == '-' && next[1] == '-' && find_name(p->command, next + 2, strlen(next + 2))) {
        log_error("--%s needs a value, but the option %s follows; if '%s' is the value, write --%s=%s", o->name, next,
                  next, o->name, next);
        return false;
    }
    ++*at;
    return store(p, o, next, true);
}

static enum option_result parse_long(struct parser *p, char **argv, int argc, int *at)
{
    const char *argument = argv[*at], *name = argument + 2;
    const size_t length = strcspn(name, "=");
    const char *attached = name[length] ? name + length + 1 : NULL;
    const bool help = length == strlen("help") && strncmp(name, "help", length) == 0;
    const struct option *o = find_name(p->command, name, length);
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
    return store(p, o, "", true) ? OPTION_OK : OPTION_ERROR;
}

// Parses "-n value", "-nvalue", "-ab". A long name after one dash is a common mistake.
static enum option_result parse_letters(struct parser *p, char **argv, int argc, int *at)
{
    const char *argument = argv[*at];
    char advice[OPTION_ADVICE];
    if (argument[2]
            ? find_name(p->command, argument + 1, strlen(argument + 1)) || advise_foreign(p, argument + 1, advice)
            : !find_letter(p->command, argument[1]) && advise_foreign(p, argument + 1, advice))
        return unknown_option(p, argument, argument + 1, strlen(argument + 1));
    for (const char *letter = argument + 1; *letter; letter++) {
        const struct option *o = find_letter(p->command, *letter);
        if (!o && *letter == 'h')
            return OPTION_HELP;
        if (!o) {
            log_error("unknown option -%c%s%s; monocle %s --help lists the options", *letter,
                      text_if(argument[2], " in "), text_if(argument[2], argument), p->command->name);
            return OPTION_ERROR;
        }
        if (o->type != OPTION_FLAG && letter[1] == '=') {
            log_error("-%c takes its value without '='; write -%c '%s' or --%s='%s'", *letter, *letter, letter + 2,
                      o->name, letter + 2);
            return OPTION_ERROR;
        }
        if (o->type != OPTION_FLAG) {
            const char *joined = letter[1] ? letter + 1 : NULL;
            return take_value(p, o, joined, argv, argc, at) ? OPTION_OK : OPTION_ERROR;
        }
        if (!store(p, o, "", true))
            return OPTION_ERROR;
    }
    return OPTION_OK;
}

// Returns true (logged) if another given option contradicts this one.
static bool contradicts(const struct parser *p, const struct option *o)
{
    for (const struct option *other = p->command->options; other->name; other++) {
        if (p->given[other - p->command->options] && !o->joins && options_find(o->excludes, other->name) >= 0) {
            log_error("%s--%s and --%s contradict each other; leave out one of them", p->where, o->name, other->name);
            return true;
        }
    }
    return false;
}

static bool agree(const struct parser *p)
{
    for (const struct option *o = p->command->options; o->name; o++) {
        if (p->given[o - p->command->options] && contradicts(p, o))
            return false;
    }
    return true;
}

static struct option_file *file_of(const struct command *command, void *values)
{
    return command->file ? (struct option_file *)((char *)values + command->file_offset) : NULL;
}

static void take_environment(const struct parser *p)
{
    struct option_file *file = file_of(p->command, p->values);
    for (const struct option *o = p->command->options; o->name; o++) {
        if (p->given[o - p->command->options])
            continue;
        const char *text = o->environment ? getenv(o->environment) : NULL;
        if (!text || !*text)
            continue;
        store_text(p, o, text, (char *)p->values + o->offset);
        if (file)
            file->line[o - p->command->options] = 0;
    }
}

// ---- the file ----

static const char no_config[] = "no-config"; // the option that turns the file off

// Returns true if the command line has the option, or one that contradicts it.
static bool is_decided(const struct parser *line, const struct option *o)
{
    for (const struct option *other = line->command->options; other->name; other++) {
        if (line->given[other - line->command->options] &&
            (other == o || options_find(o->excludes, other->name) >= 0 || options_find(other->excludes, o->name) >= 0))
            return true;
    }
    return false;
}

static const char separators[] = " \t:"; // which users write instead of '='

// Logs how the setting "--NAME VALUE", "-n VALUE" or "--NAME=VALUE" is written; `value` NULL: it has no '='.
static void log_dashes(const struct parser *p, const char *name, const char *value)
{
    const char *plain = name + strspn(name, "-");
    int length = (int)strcspn(plain, separators);
    const struct option *o = length == 1 ? find_letter(p->command, *plain) : NULL;
    const char *rest = value ? value : plain + length + strspn(plain + length, separators);
    if (o) {
        plain = o->name;
        length = (int)strlen(plain);
    }
    log_error("%soptions have no '-' here; write %.*s%s%s", p->where, length, plain, text_if(*rest, "="), rest);
}

// Logs what is wrong with the name of a setting; `value` NULL: it has none.
static void log_unknown_setting(const struct parser *p, const char *name, const char *value)
{
    const char *words[OPTION_ROWS + 1] = {NULL};
    char start[WORD_MAX + 1];
    const size_t word = strcspn(name, separators);
    snprintf(start, sizeof(start), "%s", name);
    for (int i = 0; p->command->options[i].name; i++)
        words[i] = p->command->options[i].name;
    const char *nearest = options_nearest(start, words);
    if (name[0] == '-')
        log_dashes(p, name, value);
    else if (!value && name[word] && find_name(p->command, name, word))
        log_error("%sthere is no '='; write %.*s=%s", p->where, (int)word, name,
                  name + word + strspn(name + word, separators));
    else if (nearest)
        log_error("%sunknown option '%s'; did you mean '%s'?", p->where, start, nearest);
    else
        log_error("%sunknown option '%s'; monocle %s --help lists the options", p->where, start, p->command->name);
}

// Returns false if a value has quotes around it or a comment behind it (logged).
static bool check_value(const struct parser *p, const char *name, const char *value)
{
    const size_t length = strlen(value);
    const char *comment = strstr(value, " # ");
    if (length > 1 && strchr("\"'", value[0]) && value[length - 1] == value[0]) {
        log_error("%sdo not quote the value; write %s=%.*s", p->where, name, (int)length - 2, value + 1);
        return false;
    }
    if (comment)
        log_error("%swrite the comment on its own line, and here %s=%.*s", p->where, name, (int)(comment - value),
                  value);
    return !comment;
}

// Takes one setting of the file; `value` NULL: it has none. The command line `line` takes precedence; the value must be
// right even then.
static bool take_setting(struct parser *p, const struct parser *line, const char *name, const char *value)
{
    const struct option *o = find_name(p->command, name, strlen(name));
    if (!o) {
        log_unknown_setting(p, name, value);
        return false;
    }
    if (value && !check_value(p, name, value))
        return false;
    if (o->type == OPTION_FLAG && value) {
        log_error("%s%s takes no value; leave out '=%s'", p->where, name, value);
        return false;
    }
    if (o->type != OPTION_FLAG && (!value || !*value)) {
        log_error("%s%s needs a value; write %s=%s", p->where, name, name, o->value ? o->value : o->choices);
        return false;
    }
    if (strcmp(name, no_config) == 0) {
        log_error("%s%s has an effect only on the command line; remove this line", p->where, name);
        return false;
    }
    return store(p, o, value ? value : "", !is_decided(line, o));
}

static bool take_text(const struct parser *line, const char *file, char *text)
{
    char where[PATH_MAX + 32];
    struct parser p = {
        .command = line->command, .values = line->values, .where = where, .file = file_of(line->command, line->values)};
    char *name, *value;
    file_directory(file, p.file->directory);
    while (text_next_setting(&text, &p.line, &name, &value)) {
        snprintf(where, sizeof(where), "%s:%d: ", file, p.line);
        if (!take_setting(&p, line, name, value))
            return false;
    }
    snprintf(where, sizeof(where), "%s: ", file);
    return agree(&p);
}

void options_file_free(struct option_file *file)
{
    for (int i = 0; i < OPTION_ROWS; i++)
        free(file->path[i]);
    free(file->text);
}

static int line_of(const struct command *command, const struct option_file *file, const char *name)
{
    const struct option *o = find_name(command, name, strlen(name));
    return o ? file->line[o - command->options] : 0;
}

const char *options_directory(const struct command *command, const struct option_file *file, const char *name)
{
    return line_of(command, file, name) > 0 ? file->directory : NULL;
}

void options_place(const struct command *command, const struct option_file *file, const char *name,
                   char place[OPTION_PLACE])
{
    char path[PATH_MAX];
    const int line = line_of(command, file, name);
    place[0] = '\0';
    if (line > 0 && config_path(command->file, path))
        snprintf(place, OPTION_PLACE, "%s:%d: ", path, line);
}

bool options_take_text(const struct command *command, const char *file, char *text, void *values)
{
    return take_text(&(struct parser){.command = command, .values = values, .where = ""}, file, text);
}

// Takes the options of the command's file, unless the command line turns this off.
static bool take_file(const struct parser *line)
{
    enum { FILE_MOST = 1 << 20 };
    const struct command *command = line->command;
    const struct option *off = command->file ? find_name(command, no_config, strlen(no_config)) : NULL;
    char path[PATH_MAX];
    if (!command->file || (off && line->given[off - command->options]))
        return true;
    const char *unsafe;
    char *text = config_read(command->file, FILE_MOST, path, &unsafe);
    file_of(command, line->values)->text = text;
    if (text)
        return take_text(line, path, text);
    if (errno == ENOENT || errno == ENOTDIR)
        return true;
    char why[CONFIG_WHY];
    config_explain(path, unsafe, FILE_MOST, why);
    log_warn("the options in %s are not used: %s", path, why);
    return true;
}

// Returns true for an operand such as "-4".
static bool is_negative(const struct command *command, const char *argument)
{
    return argument[1] >= '0' && argument[1] <= '9' && !find_letter(command, argument[1]);
}

enum option_result options_parse(const struct command *command, int argc, char **argv, void *values,
                                 const char **operands, int *operand_count)
{
    struct parser p = {.command = command, .values = values, .where = ""};
    for (const struct option *o = command->options; o->name; o++)
        assert(o - command->options < OPTION_ROWS);
    bool only_operands = false;
    *operand_count = 0;
    for (int at = 1; at < argc; at++) {
        const char *argument = argv[at];
        if (only_operands || argument[0] != '-' || !argument[1] || is_negative(command, argument)) {
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
    if (!agree(&p) || !take_file(&p))
        return OPTION_ERROR;
    take_environment(&p);
    return OPTION_OK;
}

// ---- the help ----

enum { COLUMNS_MOST = 96, COLUMNS_LEAST = 60, LEFT_MAX = 30, RIGHT_LEAST = 36, LINE_BYTES = 512 };

// Returns the length of the lines: the terminal's width, limited to COLUMNS_LEAST..COLUMNS_MOST.
static int columns_of(FILE *out)
{
    struct winsize size;
    const bool narrow = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_col < COLUMNS_MOST;
    if (!narrow)
        return COLUMNS_MOST;
    return size.ws_col < COLUMNS_LEAST ? COLUMNS_LEAST : size.ws_col;
}

static const struct option help_row = {.name = "help", .letter = 'h', .type = OPTION_FLAG, .help = "show this help"};

// Formats "  -p, --path cpu|opencl".
static void print_left(const struct option *o, char text[LINE_BYTES])
{
    const char *placeholder = o->value ? o->value : o->choices;
    const char letter[] = {'-', o->letter, ',', ' ', '\0'};
    snprintf(text, LINE_BYTES, "  %s--%s%s%s", o->letter ? letter : "    ", o->name, text_if(placeholder, " "),
             text_or(placeholder, ""));
}

void options_describe(const struct option *o, char *text, size_t size)
{
    char range[160] = "", environment[80] = "";
    if (o->type == OPTION_CHOICE && o->value)
        snprintf(range, sizeof(range), " (%s)", o->choices);
    else if (o->max >= INT_MAX)
        snprintf(range, sizeof(range), " (at least %.10g)", o->min);
    else if (o->max > 0)
        snprintf(range, sizeof(range), " (%.10g to %.10g)", o->min, o->max);
    if (o->environment)
        snprintf(environment, sizeof(environment), " [%s]", o->environment);
    const char *preset = strstr(o->help, "; default:"); // the range is printed before it
    const int length = preset ? (int)(preset - o->help) : (int)strlen(o->help);
    snprintf(text, size, "%.*s%s%s%s", length, o->help, range, o->help + length, environment);
}

void options_print_text(FILE *out, const char *text, int column, int indent, int columns)
{
    const char *space = "";
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (*space && column + 1 + length > columns) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            space = "";
        }
        fprintf(out, "%s%.*s", space, length, text);
        column += (int)strlen(space) + length;
        space = " ";
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

void options_print_row(FILE *out, const char *left, const char *right, int width)
{
    const int length = (int)strlen(left);
    if (length + 2 > width)
        fprintf(out, "%s\n%*s", left, width, "");
    else
        fprintf(out, "%-*s", width, left);
    options_print_text(out, right, width, width, columns_of(out));
}

// Returns true if the help prints the row: all, or only the names of `often`, such as "filter|record".
static bool is_printed(const struct option *row, const char *often)
{
    return !often || options_find(often, row->name) >= 0;
}

// `often`: as is_printed; NULL: all, and --help is the last row.
static void print_options(const struct option *options, const char *often, FILE *out)
{
    char left[LINE_BYTES], right[LINE_BYTES];
    size_t width = 0;
    for (const struct option *o = options; o; o = o->name ? o + 1 : NULL) {
        print_left(o->name ? o : &help_row, left);
        if (is_printed(o->name ? o : &help_row, often) && strlen(left) > width && strlen(left) <= LEFT_MAX)
            width = strlen(left);
    }
    for (const struct option *o = options; o; o = o->name ? o + 1 : NULL) {
        const struct option *row = o->name ? o : &help_row;
        if (!is_printed(row, often))
            continue;
        print_left(row, left);
        options_describe(row, right, sizeof(right));
        options_print_row(out, left, right, (int)width + 2);
    }
}

// Prints rows of a command and its meaning in two columns.
static void print_examples(const char *const *examples, FILE *out)
{
    int width = 0;
    for (const char *const *e = examples; *e; e++) {
        const char *gap = strstr(*e, "  ");
        if (gap && gap - *e > width && gap - *e < columns_of(out) - RIGHT_LEAST)
            width = (int)(gap - *e);
    }
    for (const char *const *e = examples; *e; e++) {
        char left[LINE_BYTES];
        const char *gap = strstr(*e, "  ");
        snprintf(left, sizeof(left), "  %.*s", gap ? (int)(gap - *e) : LINE_BYTES - 3, *e);
        if (gap)
            options_print_row(out, left, gap + strspn(gap, " "), width + 4);
        else
            fprintf(out, "%s\n", left);
    }
}

// Prints an empty line before each paragraph and each table.
static void print_details(const char *const *details, FILE *out)
{
    bool in_table = false;
    int width = 0;
    for (const char *const *d = details; *d; d++) {
        const char *tab = strchr(*d, '\t');
        width = tab && tab - *d > width ? (int)(tab - *d) : width;
    }
    for (const char *const *d = details; *d; d++) {
        const char *tab = strchr(*d, '\t');
        if (!tab || !in_table)
            fputc('\n', out);
        in_table = tab != NULL;
        if (tab) {
            char left[LINE_BYTES];
            snprintf(left, sizeof(left), "  %.*s", (int)(tab - *d), *d);
            options_print_row(out, left, tab + 1, width + 4);
        } else {
            options_print_text(out, *d, 0, 0, columns_of(out));
        }
    }
}

void options_print_help(const struct command *command, FILE *out)
{
    const int indent = fprintf(out, "Usage: monocle %s%s", command->name, *command->usage ? " " : "");
    options_print_text(out, command->usage, indent, indent, columns_of(out));
    fputc('\n', out);
    options_print_text(out, command->summary, 0, 0, columns_of(out));
    if (command->often) {
        fprintf(out, "\nOften used:\n");
        print_options(command->options, command->often, out);
    }
    if (command->examples && command->examples[0]) {
        fprintf(out, "\nExamples:\n");
        print_examples(command->examples, out);
    }
    if (command->details)
        print_details(command->details, out);
    fprintf(out, "\nOptions:\n");
    print_options(command->options, NULL, out);
    if (command->print_more)
        command->print_more(out);
    if (command->exits) {
        fprintf(out, "\nExit status:");
        print_details(command->exits, out);
    }
}
