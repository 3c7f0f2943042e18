// names.c: a hash table from names to row indices: open addressing, at most half full
#include "command/batch/names.h"

#include "base/hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1024 };

// Returns the slot of the text, or the free slot where it belongs.
static struct name_slot *find_slot(const struct names *names, const char *text)
{
    size_t at = hash_64(text, strlen(text)) & (names->room - 1);
    while (names->slot[at].text && strcmp(names->slot[at].text, text) != 0)
        at = (at + 1) & (names->room - 1);
    return &names->slot[at];
}

static bool grow(struct names *names)
{
    struct names larger = {.room = names->room ? names->room * 2 : FIRST_ROOM, .count = names->count};
    larger.slot = calloc(larger.room, sizeof(*larger.slot));
    if (!larger.slot)
        return false;
    for (size_t i = 0; i < names->room; i++) {
        if (names->slot[i].text)
            *find_slot(&larger, names->slot[i].text) = names->slot[i];
    }
    free(names->slot);
    *names = larger;
    return true;
}

enum name_result names_add(struct names *names, const char *text, size_t *index)
{
    if (names->count * 2 >= names->room && !grow(names))
        return NAME_NO_MEMORY;
    struct name_slot *slot = find_slot(names, text);
    if (slot->text) {
        *index = slot->index;
        return NAME_KNOWN;
    }
    *slot = (struct name_slot){text, *index};
    names->count++;
    return NAME_NEW;
}

void names_free(struct names *names)
{
    free(names->slot);
    *names = (struct names){0};
}
