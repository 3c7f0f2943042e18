// names.h: which row of a list has a name: a hash table from texts to indices
#pragma once

#include <stddef.h>

// Zeroed is empty.
struct names {
    struct name_slot {
        const char *text; // borrowed; NULL: free
        size_t index;
    } * slot;
    size_t room, count; // room is a power of two
};

enum name_result { NAME_NEW, NAME_KNOWN, NAME_NO_MEMORY };

// Adds a name; where it is known already, *index becomes that of the earlier one. The text must outlive the table.
enum name_result names_add(struct names *names, const char *text, size_t *index);
void names_free(struct names *names); // leaves it empty
