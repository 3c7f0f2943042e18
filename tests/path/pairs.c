// pairs.c: makes a covering array of pairs, greedily
#include "pairs.h"

#include <stdlib.h>
#include <string.h>

// covered[pair_index]: a row has this pair. The values of all factors are numbered one after the other.
struct table {
    int first[PAIRS_FACTORS]; // number of the first value of each factor
    int count;
    bool *covered;
};

static bool *pair(const struct table *table, int f, int value, int g, int other)
{
    return table->covered + (size_t)(table->first[f] + value) * (size_t)table->count + table->first[g] + other;
}

static void table_open(struct table *table, const struct pairs *pairs)
{
    table->count = 0;
    for (int f = 0; f < pairs->factors; f++) {
        table->first[f] = table->count;
        table->count += pairs->values[f];
    }
    table->covered = calloc((size_t)table->count * (size_t)table->count, sizeof(*table->covered));
    if (!table->covered)
        abort();
}

static void mark(struct table *table, const struct pairs *pairs, const int *row)
{
    for (int f = 0; f < pairs->factors; f++)
        for (int g = 0; g < pairs->factors; g++)
            *pair(table, f, row[f], g, row[g]) = true;
}

// Returns how many new pairs value `value` of factor `f` makes with the chosen values of a row (-1: not chosen).
static int gain(const struct table *table, const struct pairs *pairs, const int *row, int f, int value)
{
    int count = 0;
    for (int g = 0; g < pairs->factors; g++)
        count += g != f && row[g] >= 0 && !*pair(table, f, value, g, row[g]);
    return count;
}

// Chooses the value of factor `f` that makes the most new pairs; of equal ones a random one.
static int choose(const struct table *table, const struct pairs *pairs, const int *row, int f, struct random *random)
{
    const int values = pairs->values[f], start = random_range(random, 0, values - 1);
    int best = start, most = -1;
    for (int i = 0; i < values; i++) {
        const int value = (start + i) % values, gained = gain(table, pairs, row, f, value);
        if (gained > most) {
            most = gained;
            best = value;
        }
    }
    return best;
}

// Puts the first pair that no row has into an empty row. Returns false if there is none.
static bool begin(const struct table *table, const struct pairs *pairs, int *row)
{
    for (int f = 0; f < pairs->factors; f++)
        for (int g = 0; g < f; g++)
            for (int value = 0; value < pairs->values[f]; value++)
                for (int other = 0; other < pairs->values[g]; other++)
                    if (!*pair(table, f, value, g, other)) {
                        row[f] = value;
                        row[g] = other;
                        return true;
                    }
    return false;
}

void pairs_make(struct pairs *pairs, struct random *random)
{
    struct table table;
    table_open(&table, pairs);
    pairs->count = 0;
    pairs->rows = NULL;
    for (;;) {
        int row[PAIRS_FACTORS];
        memset(row, -1, sizeof(row));
        if (!begin(&table, pairs, row))
            break;
        for (int i = 0, f = random_range(random, 0, pairs->factors - 1); i < pairs->factors; i++) {
            if (row[f] < 0)
                row[f] = choose(&table, pairs, row, f, random);
            f = (f + 1) % pairs->factors;
        }
        mark(&table, pairs, row);
        pairs->rows = realloc(pairs->rows, sizeof(*pairs->rows) * (size_t)(pairs->count + 1));
        if (!pairs->rows)
            abort();
        memcpy(pairs->rows[pairs->count++], row, sizeof(row));
    }
    free(table.covered);
}

long pairs_missing(const struct pairs *pairs, int count)
{
    struct table table;
    long missing = 0;
    table_open(&table, pairs);
    for (int i = 0; i < count; i++)
        mark(&table, pairs, pairs->rows[i]);
    for (int f = 0; f < pairs->factors; f++)
        for (int g = 0; g < f; g++)
            for (int value = 0; value < pairs->values[f]; value++)
                for (int other = 0; other < pairs->values[g]; other++)
                    missing += !*pair(&table, f, value, g, other);
    free(table.covered);
    return missing;
}

void pairs_free(struct pairs *pairs)
{
    free(pairs->rows);
    *pairs = (struct pairs){0};
}
