// key_table.c: a table of rows that are found by a text: open addressing, at most half full
#include "batch/key_table.h"

#include "base/hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1024 };

static const char *key_of(const void *row)
{
    return *(const char *const *)row;
}

// Returns the slot of the key, or the free slot where it belongs.
static size_t *find_slot(const struct key_table *table, const char *key)
{
    size_t at = hash_64(key, strlen(key)) & (table->room - 1);
    while (table->slot[at] && strcmp(key_of(table->row[table->slot[at] - 1]), key) != 0)
        at = (at + 1) & (table->room - 1);
    return &table->slot[at];
}

static bool grow(struct key_table *table)
{
    const size_t room = table->room ? table->room * 2 : FIRST_ROOM;
    void **rows = realloc(table->row, room / 2 * sizeof(*rows));
    table->row = rows ? rows : table->row;
    size_t *slots = rows ? calloc(room, sizeof(*slots)) : NULL;
    if (!slots)
        return false;
    free(table->slot);
    table->slot = slots;
    table->room = room;
    for (size_t i = 0; i < table->count; i++)
        *find_slot(table, key_of(table->row[i])) = i + 1;
    return true;
}

void *table_row(struct key_table *table, const char *key, size_t row_bytes)
{
    if (table->count * 2 >= table->room && !grow(table))
        return NULL;
    size_t *slot = find_slot(table, key);
    if (*slot)
        return table->row[*slot - 1];
    const size_t size = strlen(key) + 1;
    void *row = calloc(1, row_bytes + size);
    if (!row)
        return NULL;
    *(const char **)row = memcpy((char *)row + row_bytes, key, size);
    table->row[table->count] = row;
    *slot = ++table->count;
    return row;
}

void *table_find(const struct key_table *table, const char *key)
{
    const size_t at = table->room ? *find_slot(table, key) : 0;
    return at ? table->row[at - 1] : NULL;
}

void table_free(struct key_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->row[i]);
    free(table->row);
    free(table->slot);
    *table = (struct key_table){0};
}
