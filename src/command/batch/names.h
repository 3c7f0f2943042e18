// names.h: a hash table from names to row indices
#pragma once

#include <stddef.h>

// Initialise with zeros.
struct names {
    struct name_slot {
        const char *text; // borrowed; NULL: free
        size_t index;
    } * slot;
    size_t room, count; // room is a power of two
};

enum name_result { NAME_NEW, NAME_KNOWN, NAME_NO_MEMORY };

// Adds a name with *index. If the table has the name already, *index becomes the stored index. The table borrows the
// text, which must outlive it.
enum name_result names_add(struct names *names, const char *text, size_t *index);
void names_free(struct names *names); // leaves the table empty
