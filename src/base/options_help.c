// options_help.c: the help of a command, from its table of options
#include "base/options.h"

#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>

enum { COLUMNS_MOST = 96, COLUMNS_LEAST = 60, LEFT_MAX = 30, RIGHT_LEAST = 36, LINE_BYTES = 512 };

// Returns the length of the lines: the terminal's width, limited to COLUMNS_LEAST..COLUMNS_MOST.
static int columns_of(FILE *out)
{
    struct winsize size;
    const bool narrow = ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_col < COLUMNS_MOST;
    return !narrow ? COLUMNS_MOST : size.ws_col < COLUMNS_LEAST ? COLUMNS_LEAST : size.ws_col;
}

static const struct option help_row = {.name = "help", .letter = 'h', .type = OPTION_FLAG, .help = "show this help"};

// Formats "  -p, --path cpu|opencl".
static void print_left(const struct option *o, char text[LINE_BYTES])
{
    const char *placeholder = o->value ? o->value : o->choices;
    const char letter[] = {'-', o->letter, ',', ' ', '\0'};
    snprintf(text, LINE_BYTES, "  %s--%s%s%s", o->letter ? letter : "    ", o->name, placeholder ? " " : "",
             placeholder ? placeholder : "");
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

// Prints rows "command  what it does" in two columns.
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

void options_print_help(const struct option_list *list, FILE *out)
{
    const int indent = fprintf(out, "Usage: monocle %s%s", list->command, *list->usage ? " " : "");
    options_print_text(out, list->usage, indent, indent, columns_of(out));
    fputc('\n', out);
    options_print_text(out, list->summary, 0, 0, columns_of(out));
    if (list->often) {
        fprintf(out, "\nOften used:\n");
        print_options(list->options, list->often, out);
    }
    if (list->examples && list->examples[0]) {
        fprintf(out, "\nExamples:\n");
        print_examples(list->examples, out);
    }
    if (list->details)
        print_details(list->details, out);
    fprintf(out, "\nOptions:\n");
    print_options(list->options, NULL, out);
    if (list->print_more)
        list->print_more(out);
    if (list->exits) {
        fprintf(out, "\nExit status:");
        print_details(list->exits, out);
    }
}
