// report.c: rows as a table, as lines of JSON or as comma-separated values; rows compared with an earlier run's
#include "command/bench/bench.h"

#include "base/log.h"
#include "base/stats.h"
#include "base/workers.h"
#include "command/shared.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 32, CELL = 48, CASE_SHOWN = 34 };

json_t *bench_samples_json(const struct samples *samples)
{
    json_t *array = json_array();
    for (int i = 0; i < samples->count; i++)
        json_array_append_new(array, json_real(samples->value[i]));
    return array;
}

// ---- comparison with an earlier run ----

// The medians of two runs of the same program differ by up to this much, because addresses and other programs differ.
// The rank test sees only the rounds of each run, so it cannot know this.
static const double noise = 0.03;
static const double p_limit = 0.001;
enum { ROUNDS_LEAST = 8 }; // with fewer in both runs, p never falls below p_limit (samples_same)

// Two rows belong to the same case if these values are equal.
static const char *const identity[] = {"case",    "format",    "width",  "height",  "path",
                                       "threads", "in_flight", "device", "variant", NULL};

json_t *bench_base_read(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        log_error("--compare: cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    json_t *rows = json_array(), *value;
    json_error_t error;
    // One object per line, or one array of all objects.
    while ((value = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error))) {
        if (json_is_array(value))
            json_array_extend(rows, value);
        else
            json_array_append(rows, value);
        json_decref(value);
    }
    const bool ended = feof(file);
    fclose(file);
    if (ended && json_array_size(rows) > 0)
        return rows;
    log_error("--compare: %s has no results of 'monocle bench --json'", path);
    json_decref(rows);
    return NULL;
}

static bool same_case(const json_t *a, const json_t *b)
{
    for (int i = 0; identity[i]; i++) {
        const json_t *x = json_object_get(a, identity[i]), *y = json_object_get(b, identity[i]);
        if (x != y && !json_equal(x, y))
            return false;
    }
    return true;
}

static const json_t *find(const json_t *base, const json_t *row)
{
    size_t i;
    const json_t *candidate;
    json_array_foreach(base, i, candidate)
    {
        if (same_case(candidate, row))
            return candidate;
    }
    return NULL;
}

static struct samples samples_of(const json_t *row)
{
    struct samples samples = {0};
    size_t i;
    const json_t *value;
    json_array_foreach(json_object_get(row, "samples_ms"), i, value) samples_add(&samples, json_number_value(value));
    return samples;
}

// Returns by how much `key` grew: 0.1 for 10 %; 0 if it is missing.
static double growth(const json_t *row, const json_t *base, const char *key)
{
    const double before = json_number_value(json_object_get(base, key));
    const double now = json_number_value(json_object_get(row, key));
    return before > 0 && now > 0 ? now / before - 1 : 0;
}

static const char *judge(double change, double copy_change, double p)
{
    if (fabs(change) <= noise)
        return "same";
    if (p >= p_limit)
        return "unclear";
    return change > noise + fmax(copy_change, 0)    ? "slower"
           : change < -noise + fmin(copy_change, 0) ? "faster"
                                                    : "same";
}

// Adds to each row its values in the base and the verdict. Returns how many rows became slower.
static int compare(json_t *rows, const json_t *base)
{
    int slower = 0, least = ROUNDS_LEAST;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const json_t *earlier = find(base, row);
        const char *verdict = "new";
        double p = 1, change = 0;
        if (earlier) {
            struct samples now = samples_of(row), before = samples_of(earlier);
            p = samples_same(&now, &before);
            change = growth(row, earlier, "ms_median");
            verdict = judge(change, growth(row, earlier, "copy_ms_median"), p);
            const int rounds = now.count < before.count ? now.count : before.count;
            if (rounds < least && strcmp(verdict, "unclear") == 0)
                least = rounds;
            samples_free(&now);
            samples_free(&before);
        }
        slower += strcmp(verdict, "slower") == 0;
        json_object_set_new(row, "verdict", json_string(verdict));
        json_object_set(row, "base_ms_median", earlier ? json_object_get(earlier, "ms_median") : json_null());
        json_object_set_new(row, "change", earlier ? json_real(change) : json_null());
        json_object_set_new(row, "p", earlier ? json_real(p) : json_null());
    }
    if (least < ROUNDS_LEAST)
        log_warn("%d rounds are too few for a verdict; use --rounds %d or more in both runs", least, ROUNDS_LEAST);
    return slower;
}

// ---- output ----

static double number(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

// Formats a row's member for the table: "-" if it is missing.
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

// Aligns words to the left of a column and numbers to its right. The last column has no padding.
static void print_cell(const struct bench_column *column, const char *cell, int width, bool last)
{
    const bool words = column->kind != COLUMN_NUMBER && column->kind != COLUMN_PERCENT;
    printf("%*s%s", words ? (last ? 0 : -width) : width, cell, last ? "\n" : "  ");
}

// Returns true if all rows have the same text in this column.
static bool is_common(const json_t *rows, const struct bench_column *column)
{
    size_t i;
    const json_t *row, *first = json_object_get(json_array_get(rows, 0), column->key);
    bool common = column->kind == COLUMN_TEXT && json_array_size(rows) > 1;
    json_array_foreach(rows, i, row) common = common && json_equal(json_object_get(row, column->key), first);
    return common;
}

// Prints text that all rows share above the table.
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

// Prints each device that rows were measured on once.
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

// Prints the values of a row or, without a row, the keys. All rows have the members of the first. Leaves out arrays.
static void print_csv_line(json_t *first, const json_t *row)
{
    const char *key, *comma = "";
    json_t *value;
    json_object_foreach(first, key, value)
    {
        const json_t *own = json_object_get(row, key);
        if (json_is_array(value))
            continue;
        printf("%s%s", comma, row ? "" : key);
        comma = ",";
        if (json_is_string(own))
            csv_print(stdout, json_string_value(own));
        else if (own && !json_is_null(own))
            json_dumpf(own, stdout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    }
    printf("\n");
}

int bench_report(const struct bench *bench, json_t *rows, const struct bench_column *columns, bool ok)
{
    const struct bench_options *o = bench->options;
    const int slower = bench->base ? compare(rows, bench->base) : 0;
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
        json_object_update_new(row, json_pack("{s:f,s:i}", "load", bench->load, "processors", workers_available()));
    if (o->csv && json_array_size(rows) > 0)
        print_csv_line(json_array_get(rows, 0), NULL);
    json_array_foreach(rows, i, row)
    {
        if (o->json)
            print_json(json_incref(row), JSON_COMPACT | JSON_REAL_PRECISION(6));
        else if (o->csv)
            print_csv_line(json_array_get(rows, 0), row);
    }
    if (json_array_size(rows) > 0 && !o->json && !o->csv) {
        print_devices(rows);
        printf("load at the start: %.2f, on %d processors\n", bench->load, workers_available());
        print_table(rows, columns);
        if (bench->base)
            print_changes(rows);
    }
    json_decref(rows);
    return slower > 0 || !ok ? EXIT_FAILED_SOME : EXIT_OK;
}
