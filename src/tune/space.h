// space.h: a search space: parameters, their values, and the list of the allowed configurations; logs nothing
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPACE_PARAMS = 24, SPACE_VALUES = 4096, SPACE_TEXT = 1024 };
#define SPACE_ABSENT "-" // the value of a parameter that a configuration does not have

struct space_param {
    char *name;
    char **value; // texts of the values, in order
    int values;
};

// After space_sort, configuration `c` is the tuple space_tuple(space, c): for each parameter, the index of its value.
struct space {
    struct space_param param[SPACE_PARAMS];
    int params;
    uint16_t *tuple;
    int count;
};

void space_finish(struct space *space); // leaves an empty space

// These two copy the text and return the index; that of a value which is there already. -1: there are SPACE_PARAMS
// parameters or SPACE_VALUES values already.
int space_add_param(struct space *space, const char *name);
int space_add_value(struct space *space, int param, const char *text);
int space_find_param(const struct space *space, const char *name);            // -1: not found
int space_find_value(const struct space *space, int param, const char *text); // -1: not found
// Sorts a parameter's values by size if all are numbers; SPACE_ABSENT comes last. Call it before the first space_add.
void space_sort_values(struct space *space, int param);

// Adds a configuration; `tuple` has `params` indices.
void space_add(struct space *space, const uint16_t *tuple);
// Sorts the configurations and removes duplicates. Call it before the functions below.
void space_sort(struct space *space);

static inline const uint16_t *space_tuple(const struct space *space, int configuration)
{
    return space->tuple + (size_t)configuration * (size_t)space->params;
}

int space_find(const struct space *space, const uint16_t *tuple); // returns the configuration; -1: not allowed
// Writes "ROWS=8,GROUP_WIDTH=32"; a text that is too long is cut.
void space_print(const struct space *space, int configuration, char text[SPACE_TEXT]);
// The same for the first `params` parameters of a tuple.
void space_print_tuple(const struct space *space, const uint16_t *tuple, int params, char text[SPACE_TEXT]);

// Writes at most `most` configurations that differ from this one in exactly one parameter. Returns their number.
int space_neighbours(const struct space *space, int configuration, int *out, int most);
