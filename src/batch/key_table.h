// key_table.h: a table of rows that are found by a text
#pragma once

#include <stddef.h>

// Initialise with zeros.
struct key_table {
    void **row; // in the order in which they were added; a row stays where it is
    size_t count;
    size_t *slot; // number of a row, from 1; 0: free
    size_t room;  // number of slots, a power of two
};

// Returns the row of the key. If there is none, adds a row of zeros with a copy of the key. Each row is a struct of
// `row_bytes` whose first member is `const char *`: the key. Returns NULL if out of memory.
void *table_row(struct key_table *table, const char *key, size_t row_bytes);
void *table_find(const struct key_table *table, const char *key); // the row of the key; NULL: there is none
void table_free(struct key_table *table);                         // frees the rows too; leaves the table empty
