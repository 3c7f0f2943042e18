// completion.c: the hidden command that prints shell completion scripts, and answers them from the option tables
//
// A script calls `monocle completion words WORD...` with the words of the command line, the unfinished one last. The
// answer has one candidate per line: "WORD\tDESCRIPTION" (the description may be empty). A line ":files" or
// ":directories" asks the shell for names of files; ":nospace" means that more may follow the word.
#include "command/shared.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/resource.h"
#include "command/bench/bench_command.h"
#include "command/live/session.h"
#include "command/looks.h"
#include "filter/user_filter.h"
#include "screen/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERANDS_MOST = 64 };

// The unfinished word, whose first `kept` bytes stay: "--path=", "blur=2,"
struct typed {
    const char *word;
    size_t kept;
};

static void offer(const struct typed *typed, const char *word, const char *about)
{
    printf("%.*s%s\t%s\n", (int)typed->kept, typed->word, word, about);
}

static void offer_options(const struct typed *typed, const struct command *command, bool first)
{
    char name[64];
    for (const struct option *o = command->options; o->name; o++) {
        snprintf(name, sizeof(name), "--%s", o->name);
        offer(typed, name, o->help);
        snprintf(name, sizeof(name), "-%c", o->letter);
        if (o->letter)
            offer(typed, name, o->help);
    }
    offer(typed, "--help", "show this help");
    offer(typed, "-h", "show this help");
    if (first)
        offer(typed, "--version", "print the version");
}

static void offer_looks(const struct typed *typed)
{
    struct looks *looks = xalloc(sizeof(*looks));
    looks_open(looks, false);
    for (int i = 0; i < looks->count; i++)
        offer(typed, looks->look[i].name, looks->look[i].chain);
    looks_close(looks);
    free(looks);
}

// Offers the words for an operand or a value, by the `complete` of its row, which may be NULL.
static void offer_kind(const struct typed *typed, const char *kind)
{
    if (!kind)
        return;
    const bool source = strcmp(kind, "source") == 0;
    for (int i = 0; source && source_word(i); i++)
        offer(typed, source_word(i), "");
    for (int i = 0; strcmp(kind, "pixel-format") == 0 && pixel_format_name(i); i++)
        offer(typed, pixel_format_name(i), "");
    const struct filter *filter;
    if (strcmp(kind, "filter") == 0)
        user_filters_load(getenv("MONOCLE_FILTERS"));
    for (int i = 0; strcmp(kind, "filter") == 0 && (filter = filter_at(i)); i++)
        offer(typed, filter->name, filter->summary);
    if (strcmp(kind, "look") == 0)
        offer_looks(typed);
    for (int i = 0; strcmp(kind, "measurement") == 0 && bench_word(i); i++)
        offer(typed, bench_word(i), "");
    for (int i = 0; strcmp(kind, "command") == 0 && commands[i]; i++) {
        if (!commands[i]->hidden)
            offer(typed, commands[i]->name, commands[i]->summary);
    }
    if (source || strcmp(kind, "file") == 0)
        printf(":files\n");
    else if (strcmp(kind, "directory") == 0)
        printf(":directories\n");
}

// Offers the words of "a|b|c"; NULL: none.
static void offer_choices(const struct typed *typed, const char *choices)
{
    char word[64];
    for (int i = 0; options_choice(choices, i, word, sizeof(word)); i++)
        offer(typed, word, "");
}

// Offers the values and names of a filter's parameters; `values`: the text after "FILTER=".
static void offer_parameters(struct typed typed, const struct filter *filter, const char *values)
{
    const char *last = values, *colon;
    int position = 0;
    char name[64];
    for (; (colon = strchr(last, ':')); last = colon + 1)
        position++;
    const char *equals = strchr(last, '=');
    for (int i = 0; i < filter_param_count(filter); i++) {
        const struct param *p = &filter->params[i];
        snprintf(name, sizeof(name), "%s=", p->name);
        const bool named = equals && strncmp(last, name, strlen(name)) == 0;
        typed.kept = (size_t)((named ? equals + 1 : last) - typed.word);
        if ((named || (!equals && i == position)) && p->type != PARAM_TEXT)
            offer_choices(&typed, p->choices);
        if (!equals && i >= position)
            offer(&typed, name, p->help);
    }
}

// Offers values of an option or a property, by its row. A value of kind "filter" is a chain: completes its last filter.
static void offer_values(struct typed typed, const char *choices, const char *kind)
{
    offer_choices(&typed, choices);
    if (kind && strcmp(kind, "filter") == 0) {
        const char *comma = strrchr(typed.word + typed.kept, ',');
        typed.kept = comma ? (size_t)(comma - typed.word) + 1 : typed.kept;
        printf(":nospace\n");
        const char *begin = typed.word + typed.kept, *equals = strchr(begin, '=');
        char name[64];
        snprintf(name, sizeof(name), "%.*s", equals ? (int)(equals - begin) : 0, begin);
        if (equals) {
            user_filters_load(getenv("MONOCLE_FILTERS"));
            const struct filter *filter = filter_find(name);
            if (filter)
                offer_parameters(typed, filter, equals + 1);
            return;
        }
    }
    offer_kind(&typed, kind);
}

// Offers the tests of a device, and their groups.
static void offer_tests(const struct typed *typed)
{
    const char *before = "";
    for (int i = 0; bench_tests[i]; before = bench_tests[i++]->name) {
        const char *name = bench_tests[i]->name, *dot = strchr(name, '.');
        char group[64];
        snprintf(group, sizeof(group), "%.*s", dot ? (int)(dot - name) : 0, name);
        if (dot && strncmp(before, name, (size_t)(dot + 1 - name)) != 0)
            offer(typed, group, "all tests of this group");
        offer(typed, name, bench_tests[i]->definition);
    }
}

// Offers properties, or (`of` not NULL) values of the property with this name.
static void offer_properties(const struct typed *typed, const struct property *row, bool settable, const char *of)
{
    for (; row->name; row++) {
        const bool can = !settable || row->set || row->member;
        if (of && can && strcmp(of, row->name) == 0)
            offer_values(*typed, row->type == PROPERTY_FLAG ? "on|off" : row->choices, row->complete);
        if (of || !can)
            continue;
        const bool open = row->name[strlen(row->name) - 1] == '/'; // the name of a parameter follows
        if (open && typed->word[0] && strncmp(row->name, typed->word, strlen(typed->word)) == 0)
            printf(":nospace\n");
        offer(typed, row->name, row->help);
    }
}

static void offer_keys(const struct typed *typed)
{
    struct keys keys;
    keys_default(&keys);
    for (int i = 0; i < keys.count; i++)
        offer(typed, keys.row[i].name, keys.row[i].help);
}

// Offers arguments of `monocle ctl`: socket, command, and what this command has.
static void offer_control(const struct typed *typed, const char *const *before, int count)
{
    const char *verb = count > 1 ? before[1] : "";
    const bool sets = strcmp(verb, "set") == 0 || strcmp(verb, "cycle") == 0;
    const bool names = strcmp(verb, "get") == 0 || strcmp(verb, "observe") == 0;
    const char *of = sets && count > 2 ? before[2] : NULL;
    for (int i = 0; count == 1 && ctl_word(i); i++)
        offer(typed, ctl_word(i), "");
    if (count == 2 && strcmp(verb, "key") == 0)
        offer_keys(typed);
    if ((sets && count >= 2) || (names && (count == 2 || verb[0] == 'o'))) {
        offer_properties(typed, live_properties, sets, of);
        offer_properties(typed, stream_properties, sets, of);
    }
    if (count == 0 || (count == 2 && strncmp(verb, "screenshot", 10) == 0))
        printf(":files\n");
}

// Offers words for an operand; `before` are the operands before it.
static void offer_operand(const struct typed *typed, const char *kind, const char *const *before, int count)
{
    if (kind && strcmp(kind, "control") == 0)
        offer_control(typed, before, count);
    else if (kind && strcmp(kind, "measurement") == 0 && count > 0 && strcmp(before[0], "device") == 0)
        offer_tests(typed);
    else
        offer_kind(typed, kind && strcmp(kind, "measurement") == 0 && count > 0 ? "file" : kind);
}

// Returns the option with a value that the word names; NULL if there is none. *value becomes the offset of the value in
// the word, as in "--path=cpu" and "-pcpu"; 0: the value is the next word.
static const struct option *find_option(const struct command *command, const char *word, size_t *value)
{
    if (word[0] != '-' || !word[1])
        return NULL;
    const bool is_long = word[1] == '-';
    const size_t size = is_long ? strcspn(word, "=") : 2;
    for (const struct option *o = command->options; o->name; o++) {
        const bool same = is_long ? strlen(o->name) == size - 2 && strncmp(o->name, word + 2, size - 2) == 0
                                  : o->letter && o->letter == word[1];
        *value = word[size] ? size + is_long : 0;
        if (same && o->type != OPTION_FLAG)
            return o;
    }
    return NULL;
}

// Finds the words that are no options and no values of options. Returns their number.
static int find_operands(const struct command *command, int count, char *const *words,
                         const char *operand[OPERANDS_MOST])
{
    int found = 0;
    for (int i = 0; i < count && found < OPERANDS_MOST; i++) {
        size_t value;
        const bool dashed = words[i][0] == '-' && words[i][1];
        if (!dashed)
            operand[found++] = words[i];
        else if (find_option(command, words[i], &value) && value == 0)
            i++;
    }
    return found;
}

// Answers a script. The last of the words is unfinished.
static void offer_words(int count, char *const *words)
{
    const struct command *named = count > 1 ? command_find(words[0]) : NULL;
    const int first = named && !named->hidden;
    const struct command *command = first ? named : commands[0];
    struct typed typed = {.word = words[count - 1]};
    const struct option *before = count - 2 >= first ? find_option(command, words[count - 2], &typed.kept) : NULL;
    if (before && typed.kept == 0) { // its value is the next word
        offer_values(typed, before->choices, before->complete);
        return;
    }
    const struct option *own = find_option(command, typed.word, &typed.kept);
    if (own && typed.kept > 0) {
        offer_values(typed, own->choices, own->complete);
        return;
    }
    typed.kept = 0;
    if (typed.word[0] == '-') {
        offer_options(&typed, command, count == 1);
        return;
    }
    if (count == 1)
        offer_kind(&typed, "command");
    const char *operand[OPERANDS_MOST];
    const int operands = find_operands(command, count - 1 - first, words + first, operand);
    bool acts = !command->actions;
    for (int i = 0; !acts && i < operands; i++)
        acts = options_find(command->actions, operand[i]) >= 0;
    if (acts)
        offer_operand(&typed, command->complete, operand, operands);
    else
        offer_choices(&typed, command->actions);
}

static int completion_run(int argc, char **argv)
{
    struct command_operands operands;
    if (argc > 2 && strcmp(argv[1], "words") == 0) {
        offer_words(argc - 2, argv + 2);
        return EXIT_OK;
    }
    if (!command_parse(&completion_command, argc, argv, NULL, 1, &operands))
        return operands.code;
    if (operands.count == 1 && options_find("bash|zsh|fish", operands.word[0]) >= 0) {
        char name[64];
        snprintf(name, sizeof(name), "assets/completion/%s", operands.word[0]);
        fputs((const char *)resource_find(name)->data, stdout);
        return EXIT_OK;
    }
    log_error("name a shell; usage: monocle completion bash|zsh|fish");
    return EXIT_USAGE;
}

const struct command completion_command = {
    .name = "completion",
    .usage = "bash|zsh|fish",
    .summary = "print the completion script of a shell",
    .options = no_options,
    .run = completion_run,
    .hidden = true,
};
