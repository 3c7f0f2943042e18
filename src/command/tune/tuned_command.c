// tuned_command.c: the command that lists, exports, imports and removes the tuning results
#include "base/alloc.h"
#include "compute/tuned.h"

#include "base/file.h"
#include "base/log.h"
#include "command/shared.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tuned_options {
    bool json, header;
    const char *device, *pass;
};

#define AT(member) offsetof(struct tuned_options, member)

static const struct option options[] = {
    {"device", 'd', OPTION_TEXT, "DEVICE", .offset = AT(device),
     .help = "only entries whose device has this type or a name that contains DEVICE; default: all",
     .choices = "gpu|cpu|accelerator"},
    {"pass", 0, OPTION_TEXT, "PASS", .help = "only entries whose pass contains PASS; default: all", .offset = AT(pass)},
    {"header", 0, OPTION_FLAG, .offset = AT(header),
     .help = "with export: write the entries of your own kernels as macros of a C header"},
    JSON_OPTION(AT(json), "print entries as a JSON array, and counts as a JSON object"),
    {0},
};
static const char *const examples[] = {
    "monocle tuned  list the entries",
    "monocle tuned --json --pass blur2  print all fields of the entries whose pass contains blur2",
    "monocle tuned export -d H200 h200.tsv  write the entries of a device to a file",
    "monocle tuned export --header -d H200 tuned.h  write the parameters of your own kernels for a C program",
    "monocle tuned import h200.tsv  use the entries of another machine",
    "monocle tuned clear --pass blur  remove your entries whose pass contains blur",
    NULL,
};
static const char *const details[] = {
    "An entry is the fastest configuration of a pass on a device that `monocle tune` found. The actions are:",
    "list\tprint one line per entry (default)",
    "export FILE\twrite your entries and the system's to FILE, or to standard output (-)",
    "export --header FILE\twrite macros for your kernels. For kernel:matmul: KERNEL_MATMUL_TILE, the value of TILE; "
    "KERNEL_MATMUL_OPTIONS, for the compiler of OpenCL; KERNEL_MATMUL_LAUNCHES, the rows of an array: kernel, times, "
    "global and local size. Of several entries of a kernel, the latest counts",
    "import FILE\tadd the entries of FILE, or of standard input (-), to yours; an entry replaces yours only if it is "
    "newer",
    "clear\tremove your entries",
    "ratio: the default's time divided by the entry's (speed_up in --json)",
    "Entries have levels; a later level takes precedence:",
    "shipped\tpart of the program",
    "system\tmonocle/tuned in a directory of XDG_DATA_DIRS (default: /usr/local/share and /usr/share)",
    "user\tmonocle/tuned in XDG_DATA_HOME (default: ~/.local/share)",
    "The files are text with one line per entry; you may edit them. monocle uses a file only if no other user but root "
    "can write it.",
    NULL,
};
static const char *const exits[] = {
    "0\tdone",
    "1\tlines of the imported file are damaged, or standard output cannot be written",
    "2\twrong arguments",
    "3\tthere is no such entry, or a file cannot be read or written",
    NULL,
};
// ---- entries ----

struct row {
    const struct tuned_entry *entry;
    enum tuned_level level;
};

struct table {
    struct tuned_list list[TUNED_LEVELS];
    struct row *row;
    size_t count;
};

static bool is_wanted(void *context, const struct tuned_entry *entry)
{
    const struct tuned_options *o = context;
    return (!o->device || strcasestr(entry->key.device, o->device) || strcasecmp(entry->key.type, o->device) == 0) &&
           (!o->pass || strcasestr(entry->key.pass, o->pass));
}

// Sorts by device, pass, size and level.
static int compare_rows(const void *a, const void *b)
{
    const struct row *one = a, *other = b;
    const struct tuned_key *first = &one->entry->key, *second = &other->entry->key;
    int order = strcmp(first->device, second->device);
    order = order ? order : strcmp(first->pass, second->pass);
    order = order ? order : tuned_size_log2(first->size) - tuned_size_log2(second->size);
    order = order ? order : (int)one->level - (int)other->level;
    return order ? order : tuned_key_compare(first, second);
}

static void table_close(struct table *table)
{
    for (int i = 0; i < TUNED_LEVELS; i++)
        tuned_list_free(&table->list[i]);
    free(table->row);
}

// Reads all levels and keeps the rows that the options select. False if there is none (logged).
static bool table_open(struct table *table, struct tuned_options *o)
{
    size_t all = 0, total = 0;
    *table = (struct table){.count = 0};
    for (int i = 0; i < TUNED_RUN; i++) {
        tuned_level_read((enum tuned_level)i, &table->list[i]);
        total += table->list[i].count;
    }
    table->row = xcalloc(total, sizeof(*table->row));
    for (int i = 0; i < TUNED_RUN; i++) {
        for (size_t k = 0; k < table->list[i].count; k++)
            table->row[all++] = (struct row){table->list[i].entry[k], (enum tuned_level)i};
    }
    qsort(table->row, all, sizeof(*table->row), compare_rows);
    for (size_t i = 0; i < all; i++) {
        if (is_wanted(o, table->row[i].entry))
            table->row[table->count++] = table->row[i];
    }
    if (table->count == 0)
        log_error(all > 0 ? "no entry has this device and pass; 'monocle tuned' lists all entries"
                          : "there are no entries yet; 'monocle tune' measures them");
    return table->count > 0;
}

// ---- printing ----

static double speed_up(const struct tuned_entry *entry)
{
    return entry->ms > 0 ? entry->default_ms / entry->ms : 0;
}

static json_t *time_json(double value)
{
    return value > 0 ? json_real(value) : json_null();
}

static json_t *row_json(const struct row *row)
{
    const struct tuned_entry *entry = row->entry;
    json_t *json = json_pack("{s:s}", "level", tuned_level_name(row->level));
    for (int i = 0; i < TUNED_FIELDS; i++) {
        char number[TUNED_FIELD];
        const char *text = tuned_field_text(entry, i, number);
        if (text != number)
            json_object_set_new(json, tuned_field_name(i), text_json(text));
    }
    json_object_update_new(json, json_pack("{s:i,s:o,s:o,s:o}", "compute_units", entry->key.compute_units, "ms",
                                           time_json(entry->ms), "default_ms", time_json(entry->default_ms), "speed_up",
                                           time_json(speed_up(entry))));
    return json;
}

enum { JSON_FLAGS = JSON_INDENT(2) | JSON_REAL_PRECISION(6) };

enum { COLUMNS = 7, CELL = 32 };

// Sets `cell` to the texts of a row of the list. `room` holds the texts of numbers.
static void fill_cells(const struct row *row, const char *cell[COLUMNS], char room[COLUMNS][CELL])
{
    const struct tuned_entry *entry = row->entry;
    snprintf(room[0], CELL, speed_up(entry) > 0 ? "%.2f" : "-", speed_up(entry));
    snprintf(room[1], CELL, "%.10s", entry->date[0] ? entry->date : "-"); // the day
    const char *const texts[COLUMNS] = {entry->key.device,
                                        entry->key.pass,
                                        entry->key.size,
                                        entry->choice,
                                        room[0],
                                        tuned_level_name(row->level),
                                        room[1]};
    memcpy(cell, texts, sizeof(texts));
}

static void print_cells(const char *const cell[COLUMNS], const int width[COLUMNS])
{
    for (int c = 0; c < COLUMNS - 1; c++)
        printf("%-*s  ", width[c], cell[c]);
    puts(cell[COLUMNS - 1]);
}

static void print_table(const struct table *table)
{
    static const char *const titles[COLUMNS] = {"device", "pass", "size", "choice", "ratio", "level", "date"};
    int width[COLUMNS];
    const char *cell[COLUMNS];
    char room[COLUMNS][CELL];
    for (int c = 0; c < COLUMNS; c++)
        width[c] = (int)strlen(titles[c]);
    for (size_t i = 0; i < table->count; i++) {
        fill_cells(&table->row[i], cell, room);
        for (int c = 0; c < COLUMNS; c++)
            width[c] = (int)strlen(cell[c]) > width[c] ? (int)strlen(cell[c]) : width[c];
    }
    print_cells(titles, width);
    for (size_t i = 0; i < table->count; i++) {
        fill_cells(&table->row[i], cell, room);
        print_cells(cell, width);
    }
}

static void print_rows_json(const struct table *table)
{
    json_t *array = json_array();
    for (size_t i = 0; i < table->count; i++)
        json_array_append_new(array, row_json(&table->row[i]));
    print_json(array, JSON_FLAGS);
}

// ---- the actions ----

static int run_list(struct tuned_options *o, const char *operand)
{
    struct table table;
    const bool some = table_open(&table, o);
    if (o->json)
        print_rows_json(&table);
    else if (some)
        print_table(&table);
    table_close(&table);
    return some ? EXIT_OK : EXIT_NOTHING;
}

// ---- a C header ----

static const char kernel_prefix[] = "kernel:"; // of the passes that are users' kernels

// Writes "#define KERNEL_NAME_MEMBER" in capitals, with _ for all other characters than letters and digits.
static void print_macro(FILE *out, const char *kernel, const char *member, size_t length)
{
    char *name = xprintf("KERNEL_%s_%.*s", kernel, (int)length, member);
    for (char *at = name; *at; at++)
        *at = (char)(isalnum((unsigned char)*at) && (unsigned char)*at < 0x80 ? toupper((unsigned char)*at) : '_');
    fprintf(out, "#define %s", name);
    free(name);
}

// Returns the length of "NAME=VALUE" at the beginning of a choice. A value may contain commas.
static size_t setting_length(const char *text)
{
    size_t length = strcspn(text, ",");
    while (text[length]) {
        const char *next = text + length + 1;
        size_t name = 0;
        while (isalnum((unsigned char)next[name]) || next[name] == '_')
            name++;
        if (name > 0 && !isdigit((unsigned char)next[0]) && next[name] == '=')
            break;
        length += 1 + strcspn(next, ",");
    }
    return length;
}

// Writes the macros of an entry.
static void print_macros(const struct tuned_entry *entry, FILE *out)
{
    const char *kernel = entry->key.pass + strlen(kernel_prefix);
    const bool plain = !strpbrk(entry->choice, " \t\"\\'"); // such values would need quotes
    fprintf(out, "\n// %s on %s: %.4g ms, default %.4g ms, %s.\n", kernel, entry->key.device, entry->ms,
            entry->default_ms, entry->date);
    for (const char *at = entry->choice; *at; at += *at == ',') {
        const size_t length = setting_length(at), name = strcspn(at, "=");
        print_macro(out, kernel, at, name);
        if (name < length)
            fprintf(out, " %.*s", (int)(length - name - 1), at + name + 1);
        fputc('\n', out);
        at += length;
    }
    if (entry->launches[0]) {
        print_macro(out, kernel, "LAUNCHES", strlen("LAUNCHES"));
        fprintf(out, " %s\n", entry->launches);
    }
    if (!plain)
        return;
    print_macro(out, kernel, "OPTIONS", strlen("OPTIONS"));
    fputs(" \"", out);
    for (const char *at = entry->choice; *at; at += *at == ',') {
        const size_t length = setting_length(at);
        fprintf(out, "%s-D%.*s", at > entry->choice ? " " : "", (int)length, at);
        at += length;
    }
    fputs("\"\n", out);
}

// Writes the macros of each kernel's latest entry. Returns the number of kernels.
static size_t print_header(struct tuned_options *o, const struct tuned_list *entries, FILE *out)
{
    size_t count = 0;
    fputs("// Written by monocle tuned export --header.\n#pragma once\n", out);
    for (size_t i = 0; i < entries->count; i++) {
        const struct tuned_entry *entry = entries->entry[i];
        bool latest = is_wanted(o, entry) && strncmp(entry->key.pass, kernel_prefix, strlen(kernel_prefix)) == 0;
        for (size_t k = 0; latest && k < entries->count; k++) {
            const struct tuned_entry *other = entries->entry[k];
            const int order = strcmp(other->date, entry->date);
            latest = !is_wanted(o, other) || strcmp(other->key.pass, entry->key.pass) != 0 || order < 0 ||
                     (order == 0 && k <= i);
        }
        if (latest)
            print_macros(entry, out);
        count += latest;
    }
    return count;
}

// Returns the number of entries.
static size_t print_entries(struct tuned_options *o, const struct tuned_list *entries, FILE *out)
{
    size_t count = 0;
    tuned_print_head(out);
    for (size_t i = 0; i < entries->count; i++) {
        if (!is_wanted(o, entries->entry[i]))
            continue;
        tuned_entry_print(entries->entry[i], out);
        count++;
    }
    return count;
}

// Writes the system's entries, then the user's, because the last line with a key counts.
static int run_export(struct tuned_options *o, const char *path)
{
    char *text = NULL;
    size_t size;
    FILE *out = xmemstream(&text, &size);
    struct tuned_list entries = {0};
    tuned_level_read(TUNED_SYSTEM, &entries);
    tuned_level_read(TUNED_USER, &entries);
    const size_t count = (o->header ? print_header : print_entries)(o, &entries, out);
    tuned_list_free(&entries);
    xmemclose(out);
    int code = EXIT_OK;
    if (count == 0) {
        log_error("there is nothing to export: no entry of yours or of the system %s this device and pass",
                  o->header ? "is of a kernel of yours and has" : "has");
        code = EXIT_NOTHING;
    } else if (strcmp(path, "-") == 0) {
        fwrite(text, 1, size, stdout); // main reports an error
    } else if (!file_write_atomic(path, text, size)) {
        log_error("cannot write %s: %s", path, strerror(errno));
        code = EXIT_NOTHING;
    }
    free(text);
    return code;
}

// Reads the entries of a file that the options select. False on failure (logged).
static bool read_import(struct tuned_options *o, const char *path, struct tuned_list *wanted,
                        struct tuned_damage *damage)
{
    size_t size, kept = 0;
    char why[TUNED_TEXT_WHY];
    char *text = strcmp(path, "-") == 0 ? file_read_all(STDIN_FILENO, TUNED_FILE_BYTES, &size)
                                        : file_read(path, TUNED_FILE_BYTES, &size);
    if (!text) {
        log_error("cannot read %s: %s", path, file_read_error());
        return false;
    }
    const bool ok = tuned_parse(text, size, wanted, damage, why);
    free(text);
    if (!ok)
        log_error("cannot import %s: %s", path, why);
    tuned_damage_log(damage, path);
    for (size_t i = 0; i < wanted->count; i++) {
        if (is_wanted(o, wanted->entry[i]))
            wanted->entry[kept++] = wanted->entry[i];
        else
            free(wanted->entry[i]);
    }
    wanted->count = kept;
    return ok;
}

static int run_import(struct tuned_options *o, const char *path)
{
    struct tuned_list wanted = {0};
    struct tuned_damage damage;
    struct tuned_counts counts;
    char place[PATH_MAX];
    const bool ok = read_import(o, path, &wanted, &damage) && tuned_merge(&wanted, true, &counts);
    tuned_list_free(&wanted);
    tuned_user_path(place);
    if (!ok)
        return EXIT_NOTHING;
    if (o->json)
        print_json(json_pack("{s:I,s:I,s:I,s:I}", "new", (json_int_t)counts.added, "replaced",
                             (json_int_t)counts.replaced, "skipped", (json_int_t)counts.skipped, "damaged_lines",
                             (json_int_t)damage.lines),
                   JSON_FLAGS);
    else
        log_print_line(stdout, "%s: %zu new, %zu replaced, %zu skipped (not newer than yours), %zu damaged lines",
                       place, counts.added, counts.replaced, counts.skipped, damage.lines);
    return damage.lines > 0 ? EXIT_FAILED_SOME : EXIT_OK;
}

static int run_clear(struct tuned_options *o, const char *operand)
{
    size_t removed, left = 0;
    struct tuned_list others = {0};
    char place[PATH_MAX];
    if (!tuned_remove(is_wanted, o, &removed))
        return EXIT_NOTHING;
    tuned_level_read(TUNED_SHIPPED, &others);
    tuned_level_read(TUNED_SYSTEM, &others);
    for (size_t i = 0; i < others.count; i++)
        left += is_wanted(o, others.entry[i]);
    tuned_list_free(&others);
    tuned_user_path(place);
    if (o->json)
        print_json(json_pack("{s:I,s:I}", "removed", (json_int_t)removed, "left", (json_int_t)left), JSON_FLAGS);
    else
        log_print_line(stdout, "%s: %zu entries removed; %zu shipped and system entries stay", place, removed, left);
    return EXIT_OK;
}

static const struct tuned_action {
    const char *name, *operand; // operand: its argument, for messages; NULL: it has none
    int (*run)(struct tuned_options *o, const char *operand);
} actions[] = {
    {"list", NULL, run_list},
    {"export", "a file", run_export},
    {"import", "a file", run_import},
    {"clear", NULL, run_clear},
};

static int run(int argc, char **argv)
{
    struct tuned_options o = {0};
    struct command_operands operands;
    if (!command_parse(&tuned_command, argc, argv, &o, 2, &operands))
        return operands.code;
    const char *name = operands.count > 0 ? operands.word[0] : "list";
    const struct tuned_action *action = NULL;
    for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
        action = strcmp(actions[i].name, name) == 0 ? &actions[i] : action;
    if (!action) {
        log_error("unknown action '%s'; usage: monocle %s %s", name, tuned_command.name, tuned_command.usage);
        return EXIT_USAGE;
    }
    if (!action->operand && !command_limit_operands(&tuned_command, &operands, 1))
        return EXIT_USAGE;
    if (action->operand && operands.count < 2) {
        log_error("name %s; usage: monocle %s %s", action->operand, tuned_command.name, tuned_command.usage);
        return EXIT_USAGE;
    }
    if (o.json && action->run == run_export) {
        log_error("export writes no JSON; remove --json, or use 'monocle tuned list --json'");
        return EXIT_USAGE;
    }
    if (o.header && action->run != run_export) {
        log_error("--header applies only to export; leave it out");
        return EXIT_USAGE;
    }
    return action->run(&o, operands.count > 1 ? operands.word[1] : NULL);
}

const struct command tuned_command = {
    .name = "tuned",
    .usage = "[list | export FILE | import FILE | clear] [options]",
    .summary = "list, export, import and remove the tuning results",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .actions = "list|export|import|clear",
    .complete = "file",
    .run = run,
};
