// test_tables.c: every row of the tables is complete: commands, options, examples, filters
#include "command/command.h"
#include "command/live/session.h"
#include "filter/chain.h"
#include "filter/filter_list.h"
#include "filter/plan.h"
#include "filter/rows.h"
#include "path/path.h"

#include "unit.h"

enum { WORDS_MAX = 32, VALUES_BYTES = 1 << 17, HELP_MAX = 120 };

_Static_assert(sizeof(struct live_options) < VALUES_BYTES, "room for the options of every command");

// Splits as a shell would, up to a pipe: spaces, and single quotes that hold words together. Changes the text.
static int split(char *text, char *words[WORDS_MAX])
{
    int count = 0;
    for (char *at = text; *at && *at != '|' && count < WORDS_MAX;) {
        const bool quoted = *at == '\'';
        char *end = strchr(at + quoted, quoted ? '\'' : ' ');
        words[count++] = at + quoted;
        if (!end)
            break;
        at = end + 1;
        if (quoted && *at == ' ')
            at++;
        *end = '\0';
    }
    return count;
}

static bool is_word_of(const char *const *words, const char *word)
{
    for (; *words; words++) {
        if (strcmp(*words, word) == 0)
            return true;
    }
    return false;
}

static void check_option(const char *command, const struct option *options, const struct option *o)
{
    static const char *const completes[] = {"file", "directory", "filter", "look", "device", "pixel-format", NULL};
    static const char name_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    check_that(&unit, o->name[strspn(o->name, name_letters)] == '\0', "%s --%s: letters", command, o->name);
    check_that(&unit, o->help && strlen(o->help) > 5 && strlen(o->help) < HELP_MAX, "%s --%s: help", command, o->name);
    const char *stop = o->help ? strrchr(o->help, '.') : NULL;
    check_that(&unit, !stop || stop[1] || stop[-1] == '.', "%s --%s: a full stop", command, o->name);
    if (o->type == OPTION_CHOICE)
        check_that(&unit, o->choices && strchr(o->choices, '|'), "%s --%s: choices", command, o->name);
    else if (o->type == OPTION_FLAG)
        check_that(&unit, !o->value && !o->choices, "%s --%s: a flag with a value", command, o->name);
    else
        check_that(&unit, o->value && *o->value, "%s --%s: placeholder", command, o->name);
    const bool number = o->type == OPTION_INT || o->type == OPTION_NUMBER;
    check_that(&unit, number ? o->min < o->max && o->max > 0 : o->max == 0, "%s --%s: range", command, o->name);
    check_that(&unit, !o->environment || o->type == OPTION_TEXT, "%s --%s: a variable", command, o->name);
    check_that(&unit, !o->complete || is_word_of(completes, o->complete), "%s --%s: complete", command, o->name);
    check_that(&unit, strcmp(o->name, "help") != 0 && o->letter != 'h', "%s --%s: taken by --help", command, o->name);
    for (const struct option *other = options; other < o; other++) {
        check_that(&unit, strcmp(other->name, o->name) != 0, "%s --%s: twice", command, o->name);
        check_that(&unit, !o->letter || other->letter != o->letter, "%s -%c: twice", command, o->letter);
        check_that(&unit, other->offset != o->offset, "%s --%s, --%s: one member", command, o->name, other->name);
    }
}

// Every name in `excludes` is an option.
static void check_excludes(const struct command *command, const struct option *o)
{
    char copy[256], *rest = NULL;
    snprintf(copy, sizeof(copy), "%s", o->excludes ? o->excludes : "");
    for (char *word = strtok_r(copy, "|", &rest); word; word = strtok_r(NULL, "|", &rest)) {
        bool found = false;
        for (const struct option *other = command->options; other->name; other++)
            found = found || strcmp(other->name, word) == 0;
        check_that(&unit, found, "%s --%s excludes --%s, which does not exist", command->name, o->name, word);
    }
}

// An example is a command line that the command takes.
static void check_example(const char *example)
{
    static char values[VALUES_BYTES];
    char copy[256], *words[WORDS_MAX];
    const char *operands[WORDS_MAX];
    int operand_count;
    const char *gap = strstr(example, "  ");
    snprintf(copy, sizeof(copy), "%.*s", gap ? (int)(gap - example) : 255, example);
    const int count = split(copy, words);
    const bool begins = count >= 2 && strcmp(words[0], "monocle") == 0;
    check_that(&unit, begins, "'%s' does not begin with monocle COMMAND", example);
    const struct command *command = begins ? command_find(words[1]) : NULL;
    if (!check_that(&unit, command != NULL, "'%s' has no command", example))
        return;
    memset(values, 0, sizeof(values)); // defaults, for option_texts
    const enum option_result result = options_parse(command, count - 1, words + 1, values, operands, &operand_count);
    check_that(&unit, result == OPTION_OK, "'%s' is not taken", example);
}

static void check_command(const struct command *command)
{
    char word[64];
    static const char *const completes[] = {"source", "file", "filter", "command", "measurement", "control", NULL};
    check_that(&unit, command->summary && *command->summary, "%s: summary", command->name);
    check_that(&unit, command->examples && command->examples[0], "%s: examples", command->name);
    check_that(&unit, !command->complete || is_word_of(completes, command->complete), "%s: complete", command->name);
    for (const char *const *e = command->exits; e && *e; e++)
        check_that(&unit, strchr(*e, '\t') != NULL, "%s: exit status '%s' has no tab", command->name, *e);
    for (const struct option *o = command->options; o->name; o++) {
        check_option(command->name, command->options, o);
        check_excludes(command, o);
    }
    for (int i = 0; options_choice(command->often ? command->often : "", i, word, sizeof(word)) && word[0]; i++) {
        const struct option *o = command->options;
        while (o->name && strcmp(o->name, word) != 0)
            o++;
        check_that(&unit, o->name, "%s: the often used --%s is no option", command->name, word);
    }
    for (const char *const *e = command->examples; e && *e; e++)
        check_example(*e);
    for (const char *const *e = command->exits; e && *e; e++)
        check_that(&unit, strchr(*e, '\t') != NULL, "%s: '%s' is not a code, a tab and a meaning", command->name, *e);
}

// An option of the live view that sets a property has the same choices, and contradicts --headless if the property
// needs a window. Returns true if there is one with choices.
static bool check_property(const struct property *p)
{
    bool found = false;
    const struct option *headless = command_find("live")->options;
    while (strcmp(headless->name, "headless") != 0)
        headless++;
    check_that(&unit, p->help && strlen(p->help) > 5, "%s: help", p->name);
    check_that(&unit, (p->type == PROPERTY_CHOICE) == (p->choices != NULL), "%s: choices", p->name);
    check_that(&unit, !p->kept || p->member, "%s: only a member is kept", p->name);
    for (const struct option *o = command_find("live")->options; o->name; o++) {
        if (strcmp(o->name, p->name) != 0)
            continue;
        check_that(&unit, !p->window || options_find(headless->excludes, p->name) >= 0,
                   "--headless does not exclude --%s, which needs a window", p->name);
        if (!p->choices)
            continue;
        check_that(&unit, o->choices && strcmp(o->choices, p->choices) == 0, "%s: choices of the option", p->name);
        found = true;
    }
    return found;
}

// An option that stores into the settings, but not a size, has the type of the property with that member.
static void check_setting(const struct option *o)
{
    const size_t at = o->offset - offsetof(struct live_options, settings);
    const struct property *p = live_properties;
    if (o->offset < offsetof(struct live_options, settings) || at >= sizeof(struct settings) || o->type == OPTION_SIZE)
        return;
    while (p->name && p->member != at)
        p++;
    check_that(&unit, p->name != NULL, "--%s: no property has its member", o->name);
    check_that(&unit,
               (o->type == OPTION_FLAG && p->type == PROPERTY_FLAG) ||
                   (o->type == OPTION_CHOICE && p->type == PROPERTY_CHOICE),
               "--%s: the type of the property", o->name);
}

static const struct property *find_property(const char *name)
{
    for (const struct property *p = live_properties; p->name; p++) {
        if (strcmp(p->name, name) == 0)
            return p;
    }
    const struct property *p = stream_properties;
    while (p->name && strcmp(p->name, name) != 0)
        p++;
    return p->name ? p : NULL;
}

// A key that cycles a property names one that can be set, and its choices.
static void check_key(const struct key_row *row)
{
    const struct key_command *command = &row->command;
    if (command->action != KEY_CYCLE)
        return;
    const struct property *p = find_property(command->property);
    if (!check_that(&unit, p && (p->set || p->member), "key %s: cycles no property %s", row->name, command->property))
        return;
    for (int i = 0; p->choices && i < 3 && command->value[i]; i++)
        check_that(&unit, options_find(p->choices, command->value[i]) >= 0, "key %s: %s is no choice of %s", row->name,
                   command->value[i], p->name);
}

static bool is_grey(const uint8_t *pixel)
{
    return pixel[0] == pixel[1] && pixel[1] == pixel[2];
}

// The filter's `color` matches the effect of its row on grey pixels and on coloured pixels.
static void check_color(const struct filter *filter, const struct chain *chain)
{
    enum { PIXELS = FILTER_LEVELS };
    static struct plan plan;
    char why[CHAIN_ERROR];
    plan_make(&plan, chain, PIXELS, 1, true);
    CHECK(plan_fill(&plan, why));
    const struct filter_arguments *arguments = &plan.stage[plan.stages - 1].arguments;
    const struct row_variant *row = row_variant_generic(filter);
    uint8_t grey[4 * PIXELS], coloured[4 * PIXELS];
    bool keeps = true, makes = true;
    for (int i = 0; i < PIXELS; i++) {
        memset(grey + 4 * i, i, 4);
        for (int c = 0; c < 4; c++)
            coloured[4 * i + c] = (uint8_t)(i * (2 * c + 1) + 50 * c);
    }
    if (row->placed) {
        row->placed(arguments, grey, grey, PIXELS, 0);
        row->placed(arguments, coloured, coloured, PIXELS, 0);
    } else {
        row->point(arguments, grey, grey, PIXELS, false);
        row->point(arguments, coloured, coloured, PIXELS, false);
    }
    plan_free(&plan);
    for (int i = 0; i < PIXELS; i++) {
        keeps = keeps && is_grey(grey + 4 * i);
        makes = makes && is_grey(grey + 4 * i) && is_grey(coloured + 4 * i);
    }
    check_that(&unit, keeps || filter->color == FILTER_COLORS, "%s: color: grey does not stay grey", filter->name);
    check_that(&unit, makes == (filter->color == FILTER_MAKES_GREY), "%s: color: its pixels %s grey", filter->name,
               makes ? "are" : "are not");
}

static void check_filter(const struct filter *filter)
{
    char error[CHAIN_ERROR] = "";
    struct chain chain;
    check_that(&unit, filter->summary && *filter->summary, "%s: summary", filter->name);
    const bool parsed = filter->example && chain_parse(&chain, filter->example, error);
    if (!check_that(&unit, parsed, "%s: example: %s", filter->name, error))
        return;
    const struct filter_arguments *arguments = &chain.stage[chain.count - 1].arguments;
    check_that(&unit, (filter->kind == FILTER_STENCIL) == (arguments->radius > 0), "%s: prepare sets radius %d",
               filter->name, arguments->radius);
    if (filter->kind == FILTER_POINT && filter->second == SECOND_NONE && row_variant_generic(filter))
        check_color(filter, &chain);
    check_that(&unit, filter_find(filter->name) == filter, "%s is not found, or twice", filter->name);
    const char *group = NULL;
    int index = 0, found = 0;
    for (const struct filter *at; (at = filter_in_group(index, &group)); index++)
        found += at == filter && strcmp(group, "your filters") != 0;
    check_that(&unit, found == (strcmp(filter->name, "none") != 0), "%s is in %d groups", filter->name, found);
    for (int i = 0; i < filter_param_count(filter); i++) {
        const struct param *p = &filter->params[i];
        check_that(&unit, p->help && *p->help, "%s: %s: help", filter->name, p->name);
        check_that(&unit, (p->min < p->max || p->type == PARAM_MAP) && p->step > 0, "%s: %s: range and step",
                   filter->name, p->name);
        check_that(&unit, p->preset >= p->min && p->preset <= p->max, "%s: %s: default", filter->name, p->name);
        const bool words = p->type == PARAM_CHOICE || p->type == PARAM_TEXT || param_has_numbers(p);
        check_that(&unit, (p->choices != NULL) == words, "%s: %s: choices", filter->name, p->name);
    }
}

// Every path has a row, and PATH_CHOICES has their names in order.
static void check_paths(void)
{
    char choices[128] = "";
    for (int i = 0; i < PATH_KINDS; i++) {
        const struct path_kind_info *info = path_kind_info((enum path_kind)i);
        const size_t used = strlen(choices);
        if (check_that(&unit, info->name != NULL, "path %d has no row", i))
            snprintf(choices + used, sizeof(choices) - used, "%s%s", i > 0 ? "|" : "", info->name);
    }
    CHECK_TEXT(choices, PATH_CHOICES);
}

// A filter and its files have the same name.
#define CHECK_NAME(it)                                                                                                 \
    extern const struct filter filter_##it;                                                                            \
    CHECK_TEXT(filter_##it.name, #it);

// The file of the last run sets the properties that it keeps, and no others.
static void check_kept(void)
{
    struct settings settings, fresh;
    settings_init(&fresh, NULL, -1);
    settings = fresh;
    properties_restore(live_properties, &settings, "divider", "0.25");
    properties_restore(live_properties, &settings, "paused", "on");
    CHECK_NUMBER(settings.divider, fresh.divider);
    CHECK_NUMBER(settings.paused, fresh.paused);
    CHECK(settings.overlay != OVERLAY_FULL);
    properties_restore(live_properties, &settings, "overlay", "full");
    CHECK_NUMBER(settings.overlay, OVERLAY_FULL);
}

int main(void)
{
    check_paths();
    check_kept();
    FILTER_LIST(CHECK_NAME)
    for (int i = 0; commands[i]; i++) {
        CHECK(command_find(commands[i]->name) == commands[i]);
        if (!commands[i]->hidden)
            check_command(commands[i]);
    }
    CHECK(!commands[0]->hidden);
    for (int i = 0; filters[i]; i++)
        check_filter(filters[i]);
    int options = 0;
    for (const struct property *p = live_properties; p->name; p++)
        options += check_property(p);
    for (const struct property *p = stream_properties; p->name; p++)
        options += check_property(p);
    CHECK(options >= 2); // path, overlay
    for (const struct option *o = live_command.options; o->name; o++)
        check_setting(o);
    struct keys keys;
    keys_default(&keys);
    for (int i = 0; i < keys.count; i++)
        check_key(&keys.row[i]);
    return check_end(&unit);
}
