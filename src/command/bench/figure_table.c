// figure_table.c: the figures of a test as a table: names of rows and columns, figures with their spread, notes
#include "command/bench/bench_command.h"

#include "base/alloc.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/options.h"
#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2, TEXT = 2 * FIGURE_PARAMETERS };

// The different names of the rows or of the columns, in the order of the figures.
struct side {
    char key[FIGURE_PARAMETERS]; // the names of the parameters: "type size"
    char (*name)[FIGURE_PARAMETERS];
    int count, width;
};

// Figures that have the same parameters.
struct figure_table {
    const struct figure **figure;
    int *row, *column; // of each figure
    int count;
    struct side rows, columns;
    int *value_width, *spread_width; // of each column
};

// ---- text ----

static int width_of(const char *text)
{
    return span_columns(span_of(text));
}

static void print_left(const char *text, int width)
{
    const int used = width_of(text);
    printf("%s%*s", text, used < width ? width - used : 0, "");
}

static void print_right(const char *text, int width)
{
    const int used = width_of(text);
    printf("%*s%s", used < width ? width - used : 0, "", text);
}

static void value_text(const struct figure *f, char text[FIGURE_TEXT])
{
    const double value = f->value;
    int digits = 3;
    for (double limit = 1; digits > 0 && value >= limit; limit *= 10)
        digits--;
    if (f->status != FIGURE_OK)
        snprintf(text, FIGURE_TEXT, "%s", f->status == FIGURE_FAILED ? "failed" : "-");
    else if (value >= 0.01 && value < 1e9)
        snprintf(text, FIGURE_TEXT, "%.*f", digits, value);
    else
        snprintf(text, FIGURE_TEXT, "%.2g", value);
}

static void spread_text(const struct figure *f, char text[FIGURE_TEXT])
{
    const double percent = 100 * f->spread;
    text[0] = '\0';
    if (f->status != FIGURE_OK || isnan(percent))
        return;
    if (percent < 1e4)
        snprintf(text, FIGURE_TEXT, "±%.*f%%", percent < 0.95 ? 1 : 0, percent);
    else
        snprintf(text, FIGURE_TEXT, "±%.0g%%", percent);
}

// Writes "17.7 ±12%", or "-" for a skipped and "failed" for a failed figure.
static void figure_text(const struct figure *figure, char text[FIGURE_TEXT])
{
    char spread[FIGURE_TEXT];
    value_text(figure, text);
    spread_text(figure, spread);
    if (spread[0])
        text_append(text, FIGURE_TEXT, " %s", spread);
}

// ---- rows and columns ----

// Appends a value, without the middle of a long one, such as the text of a chain. Characters stay whole.
static int append_value(const char *value, int length, char text[FIGURE_PARAMETERS], int used)
{
    enum { LONG = 34, HEAD = 20, TAIL = 12 };
    int head = length, tail = length;
    if (length > LONG) {
        head = HEAD;
        tail = length - TAIL;
    }
    for (; head < tail && (value[head] & 0xc0) == 0x80; head++)
        ;
    for (; tail < length && (value[tail] & 0xc0) == 0x80; tail++)
        ;
    const int bytes = snprintf(text + used, (size_t)(FIGURE_PARAMETERS - used), "%s%.*s%s%.*s", text_if(used, " "),
                               head, value, text_if(head < tail, ".."), length - tail, value + tail);
    return used + bytes < FIGURE_PARAMETERS ? used + bytes : FIGURE_PARAMETERS - 1;
}

// Copies the names of `length` bytes of parameters ("type size") or their values ("float 640x480").
static void copy_words(const char *words, int length, bool values, char text[FIGURE_PARAMETERS])
{
    text[0] = '\0';
    for (int at = 0, used = 0; at < length; at += (int)strcspn(words + at, " ") + 1) {
        const int word = (int)strcspn(words + at, " "), key = (int)strcspn(words + at, "= ");
        if (!values)
            used = append_value(words + at, key, text, used);
        else if (word > key)
            used = append_value(words + at + key + 1, word - key - 1, text, used);
    }
}

// Splits the parameters into those of the row and the last one, of the column.
static void split(const struct figure *figure, bool values, char row[FIGURE_PARAMETERS], char column[FIGURE_PARAMETERS])
{
    const char *all = figure->parameters, *space = strrchr(all, ' ');
    const int length = space ? (int)(space - all) : 0;
    copy_words(all, length, values, row);
    const char *last = space ? space + 1 : all;
    copy_words(last, (int)strlen(last), values, column);
}

static bool has_keys(const struct figure_table *table, const struct figure *figure)
{
    char row[FIGURE_PARAMETERS], column[FIGURE_PARAMETERS];
    split(figure, false, row, column);
    return strcmp(row, table->rows.key) == 0 && strcmp(column, table->columns.key) == 0;
}

static int add_name(struct side *side, const char *name)
{
    int at = 0;
    while (at < side->count && strcmp(side->name[at], name) != 0)
        at++;
    if (at < side->count)
        return at;
    memcpy(side->name[at], name, FIGURE_PARAMETERS);
    side->width = width_of(name) > side->width ? width_of(name) : side->width;
    return side->count++;
}

static void add_figure(struct figure_table *table, const struct figure *figure)
{
    char row[FIGURE_PARAMETERS], column[FIGURE_PARAMETERS];
    split(figure, true, row, column);
    table->row[table->count] = add_name(&table->rows, row);
    table->column[table->count] = add_name(&table->columns, column);
    table->figure[table->count++] = figure;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

// Sets the widths of the columns.
static void measure(struct figure_table *table)
{
    memset(table->value_width, 0, (size_t)table->count * sizeof(int));
    memset(table->spread_width, 0, (size_t)table->count * sizeof(int));
    for (int i = 0; i < table->count; i++) {
        const int c = table->column[i];
        char value[FIGURE_TEXT], spread[FIGURE_TEXT];
        value_text(table->figure[i], value);
        spread_text(table->figure[i], spread);
        table->value_width[c] = larger(table->value_width[c], width_of(value));
        table->spread_width[c] = larger(table->spread_width[c], width_of(spread));
    }
}

static int cell_width(const struct figure_table *table, int column)
{
    const int spread = table->spread_width[column];
    return larger(width_of(table->columns.name[column]), table->value_width[column] + (spread > 0) + spread);
}

static int row_width(const struct figure_table *table)
{
    return larger(table->rows.width, width_of(table->rows.key));
}

// Returns the number of columns that fit in a line, at least 1.
static int columns_in_line(const struct figure_table *table)
{
    const int room = FIGURE_LINE - GAP - row_width(table);
    int sum = 0, widest = 0;
    for (int c = 0; c < table->columns.count; c++) {
        sum += GAP + cell_width(table, c);
        widest = larger(widest, GAP + cell_width(table, c));
    }
    return sum <= room ? table->columns.count : larger(room / widest, 1);
}

// Exchanges rows and columns if the rows have no names, or if the columns are too many for a line.
static void turn(struct figure_table *table)
{
    measure(table);
    const bool many = table->columns.count > columns_in_line(table) && table->rows.count < table->columns.count;
    if (table->rows.key[0] && !many)
        return;
    const struct side side = table->rows;
    int *const row = table->row;
    table->rows = table->columns;
    table->columns = side;
    table->row = table->column;
    table->column = row;
    measure(table);
}

// ---- lines ----

static const struct figure *find_cell(const struct figure_table *table, int row, int column)
{
    for (int i = 0; i < table->count; i++)
        if (table->row[i] == row && table->column[i] == column)
            return table->figure[i];
    return NULL;
}

static void print_cell(const struct figure_table *table, const struct figure *figure, int column, bool last)
{
    const int spread = table->spread_width[column];
    char text[FIGURE_TEXT] = "";
    if (figure)
        value_text(figure, text);
    print_right(text, GAP + cell_width(table, column) - (spread > 0) - spread);
    if (figure)
        spread_text(figure, text);
    if (text[0] || (!last && spread > 0))
        printf(" ");
    print_left(text, last ? 0 : spread);
}

static void print_columns(const struct figure_table *table, int first, int end)
{
    const int rows = row_width(table);
    if (table->columns.key[0])
        printf("%*s%s\n", 2 * GAP + rows, "", table->columns.key);
    printf("%*s", GAP, "");
    print_left(table->rows.key, table->columns.key[0] ? rows : 0);
    for (int c = first; c < end && table->columns.key[0]; c++)
        print_right(table->columns.name[c], GAP + cell_width(table, c));
    printf("\n");
    for (int r = 0; r < table->rows.count; r++) {
        printf("%*s", GAP, "");
        print_left(table->rows.name[r], rows);
        for (int c = first; c < end; c++)
            print_cell(table, find_cell(table, r, c), c, c == end - 1);
        printf("\n");
    }
}

// ---- notes ----

static bool same_note(const struct figure *a, const struct figure *b)
{
    return a->status == b->status && strcmp(a->note, b->note) == 0;
}

// Returns true if all figures of the row and column have the note; -1: of all rows, of all columns.
static bool is_noted(const struct figure_table *table, int row, int column, const struct figure *like)
{
    bool all = true;
    for (int i = 0; i < table->count; i++)
        all = all && (same_note(table->figure[i], like) || (row >= 0 && table->row[i] != row) ||
                      (column >= 0 && table->column[i] != column));
    return all;
}

// A column's name alone does not name a figure of a table with one row.
static bool is_noted_column(const struct figure_table *table, int column, const struct figure *like)
{
    return table->rows.count > 1 && is_noted(table, -1, column, like);
}

static void append(FILE *out, const char **comma, const char *row, const char *column)
{
    fprintf(out, "%s%s%s%s", *comma, row, row[0] && column[0] ? " " : "", column);
    *comma = ", ";
}

// Writes the names of the figures that have this note: of whole columns, of whole rows, and of other figures.
static void list_noted(const struct figure_table *table, const struct figure *like, FILE *out)
{
    const char *comma = "";
    if (is_noted(table, -1, -1, like)) {
        fputs(table->figure[0]->parameters[0] ? "all" : like->test, out);
        return;
    }
    for (int c = 0; c < table->columns.count; c++)
        if (is_noted_column(table, c, like))
            append(out, &comma, "", table->columns.name[c]);
    for (int r = 0; r < table->rows.count; r++) {
        const bool whole = is_noted(table, r, -1, like);
        if (whole)
            append(out, &comma, table->rows.name[r], "");
        for (int i = 0; i < table->count && !whole; i++)
            if (table->row[i] == r && same_note(table->figure[i], like) &&
                !is_noted_column(table, table->column[i], like))
                append(out, &comma, table->rows.name[r], table->columns.name[table->column[i]]);
    }
}

// Prints each note once, after the names of its figures.
static void print_notes(const struct figure_table *table)
{
    for (int i = 0; i < table->count; i++) {
        const struct figure *f = table->figure[i];
        char *text = NULL;
        size_t size = 0;
        bool printed = false;
        for (int before = 0; before < i; before++)
            printed = printed || same_note(table->figure[before], f);
        if (!f->note[0] || printed)
            continue;
        FILE *out = xmemstream(&text, &size);
        list_noted(table, f, out);
        fprintf(out, f->status == FIGURE_OK ? ": " : " %s: ", figure_status_name(f->status));
        fprintf(out, "%s", f->note);
        xmemclose(out);
        printf("%*s", GAP, "");
        options_print_text(stdout, text, GAP, 2 * GAP, FIGURE_LINE);
        free(text);
    }
}

// ---- parameters that all figures share ----

// Returns the length of word `index` of the parameters; *word begins there. 0: there are fewer.
static int word_at(const char *parameters, int index, const char **word)
{
    for (*word = parameters; index > 0 && **word; index--) {
        *word += strcspn(*word, " ");
        *word += strspn(*word, " ");
    }
    return (int)strcspn(*word, " ");
}

// Removes the words that are equal in all marked figures, except the last word, which names the column. Prints them.
static void print_shared(struct figure *figures, int count, const bool *marked)
{
    const char *word, *other;
    char text[TEXT] = "", left[FIGURE_PARAMETERS];
    bool shared[FIGURE_PARAMETERS / 2] = {false};
    int length, marks = 0;
    for (int i = 0; i < count; i++)
        marks += marked[i];
    for (int w = 0; marks > 1 && (length = word_at(figures[0].parameters, w, &word)) > 0 && word[length]; w++) {
        shared[w] = true;
        for (int i = 0; i < count; i++)
            shared[w] = shared[w] && (!marked[i] || (word_at(figures[i].parameters, w, &other) == length &&
                                                     strncmp(word, other, (size_t)length) == 0));
        const int key = (int)strcspn(word, "=");
        if (shared[w])
            text_append(text, sizeof(text), "%s%.*s %.*s", text_if(text[0], "; "), key, word,
                        length - key > 0 ? length - key - 1 : 0, word + key + 1);
    }
    for (int i = 0; i < count && text[0]; i++) {
        left[0] = '\0';
        for (int w = 0; marked[i] && (length = word_at(figures[i].parameters, w, &word)) > 0; w++)
            if (!shared[w])
                text_append(left, sizeof(left), "%s%.*s", text_if(left[0], " "), length, word);
        if (marked[i])
            strcpy(figures[i].parameters, left);
    }
    if (text[0]) {
        printf("%*s", GAP, "");
        options_print_text(stdout, text, GAP, 2 * GAP, FIGURE_LINE);
    }
}

// ---- the table ----

// Prints the figures that have the parameters of the first; `shown` marks them. Shared parameters are removed from
// them.
static void print_alike(struct figure *figures, int count, bool *shown)
{
    struct figure_table table = {0};
    const size_t room = (size_t)count;
    int *const places = xcalloc(4 * room, sizeof(*places));
    table.figure = xcalloc(room, sizeof(*table.figure));
    table.rows.name = xcalloc(room, sizeof(*table.rows.name));
    table.columns.name = xcalloc(room, sizeof(*table.columns.name));
    table.row = places;
    table.column = places + room;
    table.value_width = places + 2 * room;
    table.spread_width = places + 3 * room;
    split(figures, false, table.rows.key, table.columns.key);
    bool *const mine = xcalloc(room, sizeof(*mine));
    for (int i = 0; i < count; i++) {
        mine[i] = !shown[i] && has_keys(&table, &figures[i]);
        shown[i] = shown[i] || mine[i];
    }
    print_shared(figures, count, mine);
    split(figures, false, table.rows.key, table.columns.key);
    for (int i = 0; i < count; i++)
        if (mine[i])
            add_figure(&table, &figures[i]);
    free(mine);
    turn(&table);
    const int fit = columns_in_line(&table), blocks = (table.columns.count + fit - 1) / fit;
    for (int b = 0; figures->parameters[0] && b < blocks; b++)
        print_columns(&table, table.columns.count * b / blocks, table.columns.count * (b + 1) / blocks);
    print_notes(&table);
    free(table.columns.name);
    free(table.rows.name);
    free(table.figure);
    free(places);
}

void figure_parameter(const char *parameters, const char *name, char value[FIGURE_PARAMETERS])
{
    const size_t length = strlen(name);
    const char *at = parameters;
    value[0] = '\0';
    while (*at && !(strncmp(at, name, length) == 0 && at[length] == '=')) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    if (*at)
        snprintf(value, FIGURE_PARAMETERS, "%.*s", (int)strcspn(at + length + 1, " "), at + length + 1);
}

// Copies the figures of the test. Sets their number.
static struct figure *copy_figures(const struct bench_result *result, const char *test, int *count)
{
    struct figure *copy = xcalloc((size_t)result->figures, sizeof(*copy));
    *count = 0;
    for (int i = 0; i < result->figures; i++) {
        if (strcmp(result->figure[i].figure.test, test) == 0)
            copy[(*count)++] = result->figure[i].figure;
    }
    return copy;
}

void figure_table_print(const struct bench_test *test, const struct bench_result *result)
{
    char name[FIGURE_TEST + TEXT], definition[1024];
    const bool paths = strcmp(test->name, "paths") == 0;
    int count;
    struct figure *clean = paths ? conclusion_rows(result, &count) : copy_figures(result, test->name, &count);
    if (count == 0 || strncmp(test->name, "paths.", 6) == 0) { // conclusion_rows has them
        free(clean);
        return;
    }
    for (int i = 0; i < count; i++) {
        const struct figure raw = clean[i];
        log_escape(clean[i].test, sizeof(raw.test), raw.test);
        log_escape(clean[i].parameters, sizeof(raw.parameters), raw.parameters);
        log_escape(clean[i].note, sizeof(raw.note), raw.note);
    }
    bool *shown = xcalloc((size_t)count, sizeof(*shown));
    log_escape(name, sizeof(name), test->name);
    printf("\n%s, ", name);
    log_escape(name, sizeof(name), test->unit);
    log_escape(definition, sizeof(definition), test->definition);
    printf("%s%s:\n%*s", name, figure_less_is_better(test->unit) ? " (less is better)" : "", GAP, "");
    options_print_text(stdout, definition, GAP, GAP, FIGURE_LINE);
    if (paths)
        printf("%*scopies: copy_in, upload, share, download and texture; --json has each\n", GAP, "");
    for (int i = 0; i < count; i++) {
        if (!shown[i])
            print_alike(clean + i, count - i, shown + i);
    }
    free(shown);
    free(clean);
}

// ---- verdicts ----

// Prints "slower   latency, part=running: 3.1 ±2% -> 4.5 ±3% µs (+45%)". The texts may come from a file.
static void print_figure(enum result_verdict verdict, const struct result_figure *item, const json_t *tests)
{
    char line[512], value[FIGURE_TEXT], earlier[FIGURE_TEXT];
    const struct figure *now = &item->figure, before = {.value = item->base_value, .spread = item->base_spread};
    const bool base = !isnan(item->base_value);
    figure_text(now, value);
    figure_text(&before, earlier);
    snprintf(line, sizeof(line), "%-8s %s, %s: %s%s%s %s", result_verdict_name(verdict), now->test, now->parameters,
             text_if(base, earlier), text_if(base, " -> "), value,
             json_text(json_object_get(tests, now->test), "unit"));
    if (!isnan(item->change))
        text_append(line, sizeof(line), " (%+.1f%%)", 100 * item->change);
    log_print_line(stdout, "  %s", line);
}

void figure_table_verdicts(const struct bench_result *result)
{
    const json_t *tests = json_object_get(result->head, "tests");
    const json_t *device = json_object_get(json_object_get(result->head, "base"), "device");
    int count[VERDICTS] = {[VERDICT_MISSING] = result->missings};
    const char *driver = json_text(device, "driver"); // "": the processor
    log_print_line(stdout, "compared with %s%s%s", json_text(device, "name"), driver[0] ? ", driver " : "", driver);
    for (int v = VERDICT_NONE + 1; v < VERDICTS; v++) {
        const enum result_verdict verdict = (enum result_verdict)v;
        for (int i = 0; i < result->figures; i++) {
            if (result->figure[i].verdict != verdict)
                continue;
            count[v]++;
            if (verdict != VERDICT_SAME)
                print_figure(verdict, &result->figure[i], tests);
        }
    }
    for (int i = 0; i < result->missings; i++)
        print_figure(VERDICT_MISSING, &result->missing[i], tests);
    for (int v = VERDICT_NONE + 1; v < VERDICTS; v++)
        printf("%s%d %s", v > VERDICT_NONE + 1 ? ", " : "", count[v], result_verdict_name((enum result_verdict)v));
    printf("\n\n");
}
