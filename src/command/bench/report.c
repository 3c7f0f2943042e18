// report.c: rows as a table for people, as lines of JSON, as comma-separated values
#include "command/bench/bench.h"

#include "command/command.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 32, CELL = 48, CASE_SHOWN = 34 };

json_t *bench_json_text(const char *text)
{
    json_t *value = json_string(text);
    return value ? value : json_string("?");
}

static double number(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

// What people see of a row's member; "-" where there is none.
static void cell_text(const struct bench_column *column, const json_t *row, char cell[CELL])
{
    const json_t *value = json_object_get(row, column->key);
    const char *text = json_string_value(value);
    if (column->kind == COLUMN_SIZE)
        snprintf(cell, CELL, "%.0fx%.0f", number(row, "width"), number(row, "height"));
    else if (!value || json_is_null(value))
        snprintf(cell, CELL, "-");
    else if (text)
        snprintf(cell, CELL, strlen(text) > CASE_SHOWN ? "%.*s.." : "%.*s", CASE_SHOWN, text);
    else
        snprintf(cell, CELL, column->kind == COLUMN_PERCENT ? "%.*f %%" : "%.*f", column->digits,
                 json_number_value(value) * (column->kind == COLUMN_PERCENT ? 100 : 1));
}

// Words begin at the left of a column, numbers end at its right; nothing follows the last one.
static void print_cell(const struct bench_column *column, const char *cell, int width, bool last)
{
    const bool words = column->kind != COLUMN_NUMBER && column->kind != COLUMN_PERCENT;
    printf("%*s%s", words ? (last ? 0 : -width) : width, cell, last ? "\n" : "  ");
}

// Whether all rows have the same words there.
static bool is_common(const json_t *rows, const struct bench_column *column)
{
    size_t i;
    const json_t *row, *first = json_object_get(json_array_get(rows, 0), column->key);
    bool common = column->kind == COLUMN_TEXT && json_array_size(rows) > 1;
    json_array_foreach(rows, i, row) common = common && json_equal(json_object_get(row, column->key), first);
    return common;
}

// Columns of words that are the same in all rows stand above the table.
static void print_table(const json_t *rows, const struct bench_column *columns)
{
    const struct bench_column *shown[COLUMNS_MAX];
    int width[COLUMNS_MAX], count = 0;
    char cell[CELL];
    size_t i;
    const json_t *row;
    for (const struct bench_column *c = columns; c->heading && count < COLUMNS_MAX; c++) {
        if (is_common(rows, c)) {
            cell_text(c, json_array_get(rows, 0), cell);
            printf("%s: %s\n", c->heading, cell);
            continue;
        }
        width[count] = (int)strlen(c->heading);
        json_array_foreach(rows, i, row)
        {
            cell_text(c, row, cell);
            width[count] = (int)strlen(cell) > width[count] ? (int)strlen(cell) : width[count];
        }
        shown[count++] = c;
    }
    printf("\n");
    for (int c = 0; c < count; c++) {
        print_cell(shown[c], shown[c]->heading, width[c], c == count - 1);
    }
    json_array_foreach(rows, i, row)
    {
        for (int c = 0; c < count; c++) {
            cell_text(shown[c], row, cell);
            print_cell(shown[c], cell, width[c], c == count - 1);
        }
    }
}

// Devices that the rows were measured on, each once.
static void print_devices(const json_t *rows)
{
    size_t i, k;
    const json_t *row, *earlier;
    json_array_foreach(rows, i, row)
    {
        bool seen = false;
        json_array_foreach(rows, k, earlier) seen =
            seen || (k < i && json_equal(json_object_get(earlier, "device"), json_object_get(row, "device")));
        if (!seen)
            printf("device of %s: %s\n", json_string_value(json_object_get(row, "path")),
                   json_string_value(json_object_get(row, "device")));
    }
}

static void print_changes(const json_t *rows)
{
    static const struct bench_column columns[] = {
        {COLUMN_WORD, "verdict", "verdict", 0},
        {COLUMN_TEXT, "case", "case", 0},
        {COLUMN_TEXT, "format", "format", 0},
        {COLUMN_SIZE, "width", "size", 0},
        {COLUMN_TEXT, "path", "path", 0},
        {COLUMN_NUMBER, "threads", "threads", 0},
        {COLUMN_NUMBER, "base_ms_median", "base ms", 3},
        {COLUMN_NUMBER, "ms_median", "ms", 3},
        {COLUMN_PERCENT, "change", "change", 1},
        {COLUMN_NUMBER, "p", "p", 4},
        {0},
    };
    printf("\n");
    print_table(rows, columns);
}

static void print_json(const json_t *rows)
{
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        json_dumpf(row, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
        putchar('\n');
    }
}

static bool in_csv(const json_t *value)
{
    return !json_is_array(value) && !json_is_object(value);
}

static void print_csv_text(const char *text)
{
    putchar('"');
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (const char[]){*text, '\0'}, stdout);
    putchar('"');
}

// All rows have the members of the first.
static void print_csv(json_t *rows)
{
    json_t *first = json_array_get(rows, 0), *value;
    const char *key, *comma = "";
    json_object_foreach(first, key, value)
    {
        if (in_csv(value)) {
            printf("%s%s", comma, key);
            comma = ",";
        }
    }
    printf("\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        comma = "";
        json_object_foreach(first, key, value)
        {
            const json_t *own = json_object_get(json_array_get(rows, i), key);
            if (!in_csv(value))
                continue;
            fputs(comma, stdout);
            comma = ",";
            if (json_is_string(own))
                print_csv_text(json_string_value(own));
            else if (own && !json_is_null(own))
                json_dumpf(own, stdout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        }
        printf("\n");
    }
}

int bench_report(const struct bench_wish *wish, json_t *rows, const json_t *base, const struct bench_column *columns)
{
    const struct bench_options *o = wish->options;
    const int slower = base ? bench_compare(rows, base) : 0;
    if (json_array_size(rows) == 0) {
        // nothing was measured; why was logged
    } else if (o->json) {
        print_json(rows);
    } else if (o->csv) {
        print_csv(rows);
    } else {
        print_devices(rows);
        print_table(rows, columns);
        if (base)
            print_changes(rows);
    }
    json_decref(rows);
    return slower > 0 ? EXIT_FAILED_SOME : EXIT_OK;
}
