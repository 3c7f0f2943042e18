// filters_command.c: the command that lists the filters
#include "command/shared.h"

#include "base/log.h"
#include "filter/chain.h"
#include "filter/user_filter.h"

#include <jansson.h>

enum { VALUE_TEXT = 64 };

struct filters_options {
    bool json;
    const char *filter_dir;
};

static const struct option options[] = {
    JSON_OPTION(offsetof(struct filters_options, json), LIST_JSON_HELP),
    FILTERS_OPTION(offsetof(struct filters_options, filter_dir)),
    {0},
};

static const char *const examples[] = {
    "monocle filters  list all filters",
    "monocle filters blur  describe one filter",
    "monocle filters --json  list all filters as JSON",
    NULL,
};
static const char *const details[] = {
    "The option -f of the other commands takes a chain: a list of filters, separated by commas. A filter's parameters "
    "follow '='. Separate parameters with ':', and give them in the listed order or by name: "
    "'blur=radius=3,convolve=edge:bias=128'. A text or file name with , : ; | ! or = needs quotes: "
    "\"text='12:30'\".",
    NULL,
};
static const char *const exits[] = {
    "0\tthe list was printed",
    "1\tstandard output cannot be written",
    "2\twrong arguments, or there is no such filter",
    NULL,
};
static const char *const type_names[] = {
    [PARAM_INT] = "integer",   [PARAM_REAL] = "number", [PARAM_CHOICE] = "choice",
    [PARAM_MATRIX] = "matrix", [PARAM_MAP] = "map",     [PARAM_POINTS] = "points",
    [PARAM_FILE] = "file",     [PARAM_COLOR] = "color", [PARAM_TEXT] = "text",
};

// Writes the default of parameter `index` in the syntax of a chain.
static void default_text(const struct filter *filter, int index, char text[VALUE_TEXT])
{
    struct chain chain = {.count = 0};
    chain_append(&chain, filter);
    chain_value_text(&chain.stage[0], index, text);
}

static void print_filter(const struct filter *filter)
{
    printf("%-10s %s\n", filter->name, filter->summary);
    for (int i = 0; i < filter_param_count(filter); i++) {
        const struct param *p = &filter->params[i];
        char preset[VALUE_TEXT];
        default_text(filter, i, preset);
        printf("           %-11s", p->name);
        if (p->type == PARAM_TEXT)
            printf("text");
        else if (p->choices)
            printf("%s%s", p->choices, param_has_numbers(p) ? "|numbers" : "");
        else if (p->type == PARAM_FILE)
            printf("file");
        else if (p->type == PARAM_COLOR)
            printf("colour");
        else
            printf("%.7g to %.7g", (double)p->min, (double)p->max);
        printf(" (default: %s): %s\n", preset, p->help);
    }
    printf("           -f '%s'\n", filter_usage(filter));
}

static json_t *filter_json(const struct filter *filter)
{
    json_t *params = json_array();
    for (int i = 0; i < filter_param_count(filter); i++) {
        const struct param *p = &filter->params[i];
        char preset[VALUE_TEXT];
        default_text(filter, i, preset);
        json_t *row = json_pack("{s:s,s:s,s:s,s:s}", "name", p->name, "type", type_names[p->type], "help", p->help,
                                "default", preset);
        json_t *choices = p->choices && p->type != PARAM_TEXT ? json_array() : NULL;
        char word[VALUE_TEXT];
        for (int k = 0; choices && options_choice(p->choices, k, word, sizeof(word)); k++)
            json_array_append_new(choices, json_string(word));
        if (choices)
            json_object_set_new(row, "choices", choices);
        if (p->type == PARAM_INT || p->type == PARAM_REAL)
            json_object_update_new(row, json_pack("{s:f,s:f}", "min", (double)p->min, "max", (double)p->max));
        json_array_append_new(params, row);
    }
    return json_pack("{s:s,s:s,s:s,s:s,s:b,s:o}", "name", filter->name, "group", filter_group(filter), "summary",
                     filter->summary, "example", filter_usage(filter), "user", filter->user != NULL, "parameters",
                     params);
}

static const struct filter *find_or_suggest(const char *name)
{
    const struct filter *filter = filter_find(name);
    if (filter)
        return filter;
    const char *advice = filter_advice(name);
    if (advice)
        log_error("there is no filter '%s'; did you mean '%s'?", name, advice);
    else
        log_error("there is no filter '%s'; 'monocle filters' lists the filters", name);
    return NULL;
}

static int filters_run(int argc, char **argv)
{
    struct filters_options o = {0};
    struct command_operands operands;
    char why[USER_ERROR];
    if (!command_parse(&filters_command, argc, argv, &o, 1, &operands))
        return operands.code;
    const struct filter *only = NULL, *filter;
    if (!user_filters_load(o.filter_dir))
        return EXIT_USAGE;
    user_filters_reload(why); // logs the refused files
    if (operands.count == 1 && !(only = find_or_suggest(operands.word[0])))
        return EXIT_USAGE;
    json_t *array = o.json ? json_array() : NULL;
    for (int i = 0; (filter = filter_at(i)); i++) {
        if (only && filter != only)
            continue;
        if (o.json)
            json_array_append_new(array, filter_json(filter));
        else
            print_filter(filter);
    }
    if (o.json)
        print_json(array, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    return EXIT_OK;
}

const struct command filters_command = {
    .name = "filters",
    .usage = "[NAME] [options]",
    .summary = "list the filters and their parameters",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .complete = "filter",
    .run = filters_run,
};
