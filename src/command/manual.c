// manual.c: the hidden command that prints the man page, generated from the option tables
#include "command/command.h"

#include "command/shared.h"
#include "filter/chain.h"
#include "measure/measure.h"
#include "screen/keys.h"
#include "source/source.h"

#include <stdint.h>
#include <string.h>

enum { TEXT_BYTES = 1024 };

// Prints text up to its end or `most` bytes. Escapes it for roff: backslashes, dashes, and a dot or quote at its start.
static void print_part(const char *text, size_t most)
{
    if (*text == '.' || *text == '\'')
        printf("\\&");
    for (size_t i = 0; i < most && text[i]; i++) {
        if (text[i] == '\\')
            printf("\\e");
        else if (text[i] == '-')
            printf("\\-");
        else
            putchar(text[i]);
    }
}

static void print_text(const char *text)
{
    print_part(text, SIZE_MAX);
}

static void print_bold(const char *text, size_t most)
{
    printf("\\fB");
    print_part(text, most);
    printf("\\fR");
}

static void print_paragraph(const char *text)
{
    printf(".PP\n");
    print_text(text);
    putchar('\n');
}

// Prints a row of a table; `gap` separates the term and its meaning.
static void print_row(const char *row, const char *gap)
{
    const char *end = strstr(row, gap);
    printf(".TP\n");
    print_bold(row, end ? (size_t)(end - row) : SIZE_MAX);
    putchar('\n');
    print_text(end ? end + strspn(end, gap) : "");
    putchar('\n');
}

static void print_rows(const char *const *rows, const char *gap)
{
    for (; rows && *rows; rows++)
        print_row(*rows, gap);
}

static void print_option(const struct option *o)
{
    char text[TEXT_BYTES];
    printf(".TP\n");
    snprintf(text, sizeof(text), "-%c", o->letter);
    if (o->letter) {
        print_bold(text, 2);
        printf(", ");
    }
    snprintf(text, sizeof(text), "--%s", o->name);
    print_bold(text, SIZE_MAX);
    const char *placeholder = o->value ? o->value : o->choices;
    if (placeholder) {
        printf(" \\fI");
        print_text(placeholder);
        printf("\\fR");
    }
    putchar('\n');
    options_describe(o, text, sizeof(text));
    print_text(text);
    putchar('\n');
}

static void print_command(const struct option_list *list)
{
    printf(".SS \"monocle %s%s%s\"\n", list->command, *list->usage ? " " : "", list->usage);
    print_text(list->summary);
    putchar('\n');
    for (const char *const *d = list->details; d && *d; d++)
        strchr(*d, '\t') ? print_row(*d, "\t") : print_paragraph(*d);
    for (const struct option *o = list->options; o->name; o++)
        print_option(o);
    if (list->exits)
        printf(".PP\nExit status:\n");
    print_rows(list->exits, "\t");
    if (list->examples)
        printf(".PP\nExamples:\n");
    print_rows(list->examples, "  ");
}

static void print_sources(void)
{
    printf(".SH SOURCES\n");
    const char *row;
    for (int i = 0; (row = source_help(i)); i++)
        print_row(row, "\t");
    char text[TEXT_BYTES] = "Pixel formats are ";
    pixel_format_list(text + strlen(text));
    print_paragraph(text);
}

static void print_filters(void)
{
    printf(".SH FILTERS\n");
    print_text("A chain is a list of filters, separated by commas. A filter's parameters follow \"=\". Separate "
               "parameters with \":\", and give them in the listed order or by name.\n");
    for (int i = 0; filters[i]; i++) {
        struct chain chain = {.count = 0};
        chain_append(&chain, filters[i]);
        printf(".TP\n");
        print_bold(filters[i]->name, SIZE_MAX);
        putchar('\n');
        print_text(filters[i]->summary);
        for (int p = 0; p < filter_param_count(filters[i]); p++) {
            const struct param *param = &filters[i]->params[p];
            char preset[64], text[TEXT_BYTES];
            chain_value_text(&chain.stage[0], p, preset);
            if (param->choices)
                snprintf(text, sizeof(text), " (%s; default: %s): %s", param->choices, preset, param->help);
            else
                snprintf(text, sizeof(text), " (%.7g to %.7g; default: %s): %s", (double)param->min, (double)param->max,
                         preset, param->help);
            printf("\n.br\n\\fI%s\\fR", param->name);
            print_text(text);
        }
        printf("\n.br\nExample: \\fB\\-f \\(aq");
        print_text(filters[i]->example);
        printf("\\(aq\\fR\n");
    }
}

static void print_measurement(const char *name, const char *text)
{
    printf(".TP\n");
    print_bold(name, SIZE_MAX);
    putchar('\n');
    print_text(text);
    putchar('\n');
}

static void print_measurements(void)
{
    printf(
        ".SH MEASUREMENTS\nThe measurements of\n.BR \"monocle bench\" ,\nand the tests of its measurement device.\n");
    for (int i = 0; measurement_list[i]; i++)
        print_measurement(measurement_list[i]->name, measurement_list[i]->details);
    for (int i = 0; measure_tests[i]; i++)
        print_measurement(measure_tests[i]->name, measure_tests[i]->definition);
}

static void print_keys(void)
{
    struct keys keys;
    keys_default(&keys);
    printf(".SH KEYS\nThese keys work in the window of the live view. The option\n.B \\-\\-keys\nassigns other keys to "
           "the action names in brackets.\n");
    for (int i = 0; i < keys.count; i++) {
        const struct key_row *row = &keys.row[i];
        printf(".TP\n");
        for (int k = 0; k < KEY_CHOICES && row->key[k]; k++) {
            char name[16];
            keys_key_name(row->key[k], name);
            printf("%s", k == 0 ? "" : row->digits ? " to " : ", ");
            print_bold(name, SIZE_MAX);
        }
        printf("\n");
        print_text(row->help);
        printf(" [%s]\n", row->name);
    }
}

static void print_exit_status(void)
{
    static const char *const rows[] = {
        "0\tdone",
        "1\tan error during the run; a write to an output failed",
        "2\twrong arguments",
        "3\tnothing was done: no source, no device, or an output that cannot be created",
        "4\tthe device was lost and no other path works, or the display was lost",
        "129\tended by SIGHUP",
        "130\tinterrupted by SIGINT",
        "143\tended by SIGTERM",
        NULL,
    };
    printf(".SH EXIT STATUS\n");
    print_rows(rows, "\t");
}

static bool has_variable(const struct option_list *list, const char *variable)
{
    for (const struct option *o = list->options; o->name; o++) {
        if (o->environment && strcmp(o->environment, variable) == 0)
            return true;
    }
    return false;
}

// Prints a variable with all commands that use it, at the first of them.
static void print_variable(const struct option *row, int command)
{
    const char *gap = " ";
    for (int i = 0; i < command; i++) {
        if (has_variable(commands[i]->list, row->environment))
            return;
    }
    printf(".TP\n\\fB%s\\fR\nDefault of the option \\fB\\-\\-%s\\fR of", row->environment, row->name);
    for (int i = command; commands[i]; i++) {
        if (has_variable(commands[i]->list, row->environment)) {
            printf("%s\\fBmonocle %s\\fR", gap, commands[i]->list->command);
            gap = ", ";
        }
    }
    printf(".\n");
}

static void print_environment(void)
{
    printf(".SH ENVIRONMENT\n");
    for (int i = 0; commands[i]; i++)
        for (const struct option *o = commands[i]->list->options; o->name; o++)
            if (o->environment)
                print_variable(o, i);
    printf(".TP\n\\fBXDG_CACHE_HOME\\fR\nDirectory of the cache; default: \\fI~/.cache\\fR. monocle stores compiled "
           "kernels in its subdirectory \\fImonocle\\fR. You may delete them at any time. monocle does not use the "
           "directory if another user owns it or can write to it.\n");
    printf(
        ".TP\n\\fBXDG_DATA_HOME\\fR\nDirectory of the user's data; default: \\fI~/.local/share\\fR. monocle stores the "
        "tuning results in its file \\fImonocle/tuned\\fR.\n");
    printf(".TP\n\\fBXDG_STATE_HOME\\fR\nDirectory of the state of programs; default: \\fI~/.local/state\\fR. monocle "
           "live keeps the size and place of its window, the overlay and the last look in the file "
           "\\fImonocle/live\\fR.\n");
    printf(".TP\n\\fBXDG_DATA_DIRS\\fR\nDirectories of the system's data, which may have tuning results too; "
           "default: \\fI/usr/local/share:/usr/share\\fR.\n");
    printf(".TP\n\\fBPOCL_CACHE_DIR\\fR\nDirectory in which PoCL (OpenCL on CPUs) stores compiled kernels; default: "
           "\\fIpocl/kcache\\fR in the cache directory. If it is not writable, or another user owns it or can write to "
           "it, each run uses a temporary directory.\n");
    printf(".TP\n\\fBMONOCLE_VECTORS\\fR\nVector instructions of the cpu path: \\fIplain\\fR, \\fIavx2\\fR or "
           "\\fIavx512\\fR; on 64-bit ARM \\fIplain\\fR or \\fIneon\\fR; default: the widest that the CPU has. The "
           "results are identical.\n");
}

static const char *const examples[] = {"monocle manual | man -l -  read the man page", NULL};
static const struct option_list list = {
    .command = "manual",
    .usage = "",
    .summary = "print the man page as roff",
    .examples = examples,
    .options = no_options,
};

static int manual_run(int argc, char **argv)
{
    struct command_operands operands;
    int code;
    if (!command_parse(&list, argc, argv, NULL, 0, &operands, &code))
        return code;
    printf(
        ".\\\" Generated by monocle manual.\n"
        ".TH MONOCLE 1 \"\" \"monocle %s\" \"User Commands\"\n"
        ".SH NAME\nmonocle \\- apply filters to cameras, videos and images, in real time or in batches\n.SH SYNOPSIS\n",
        MONOCLE_VERSION);
    for (int i = 0; commands[i]; i++)
        printf("%s\\fBmonocle\\fR %s%s%s%s%s\n", i ? ".br\n" : "", i ? "\\fB" : "[\\fB", commands[i]->list->command,
               i ? "\\fR" : "\\fR]", *commands[i]->list->usage ? " " : "", commands[i]->list->usage);
    printf(".SH DESCRIPTION\nmonocle applies a chain of filters to the frames of a camera, a video or a test pattern, "
           "on the CPU or with OpenCL. It shows the result in a window, or writes it to a file, to standard output or "
           "to a virtual camera. It reports the time of every stage.\n"
           ".SH COMMANDS\n");
    for (int i = 0; commands[i]; i++)
        print_command(commands[i]->list);
    print_sources();
    print_filters();
    print_keys();
    print_measurements();
    print_exit_status();
    print_environment();
    return EXIT_OK;
}

const struct command manual_command = {.list = &list, .run = manual_run, .hidden = true};
