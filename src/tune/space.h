// space.h: a search space: parameters, their values, and the list of the allowed configurations; logs nothing
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_t;

// ---- values ----

enum { VALUE_TEXT_MAX = 256 };

enum value_kind {
    VALUE_NONE, // of a parameter: a configuration does not have it; of an expression: it cannot be computed (`problem`)
    VALUE_INTEGER,
    VALUE_REAL, // finite
    VALUE_TEXT,
};

struct value {
    enum value_kind kind;
    int64_t integer;
    double real;
    const char *text; // `length` bytes, borrowed
    int length;
    const char *problem; // a static text, such as "it divides by zero"
};

struct value value_of_integer(int64_t integer);
struct value value_of_real(double real);      // VALUE_NONE: it is infinite or NaN
struct value value_of_text(const char *text); // borrows the text; one that is printed like a number becomes the number
struct value
value_of_json(const struct json_t *json);       // VALUE_NONE: neither number, boolean nor text, which is borrowed
double value_number(const struct value *value); // of an integer or a real; otherwise NAN
// Returns true if the value is an integer, or a real that is one; *integer is then its value.
bool value_whole(const struct value *value, int64_t *integer);
// Sets *order as strcmp does. False: a number and a text, or a VALUE_NONE.
bool value_compare(const struct value *a, const struct value *b, int *order);
// Writes the value as a kernel needs it: a real number has a point. VALUE_NONE: "-".
void value_print(const struct value *value, char *text, size_t bytes);
struct json_t *value_json(const struct value *value);

// ---- the space ----

enum { SPACE_PARAMS = 24, SPACE_VALUES = 4096, SPACE_TEXT = 1024 };

struct space_param {
    char *name;
    struct value *value; // in order
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
int space_add_value(struct space *space, int param, struct value value);
int space_find_param(const struct space *space, const char *name);              // -1: not found
int space_find_value(const struct space *space, int param, struct value value); // -1: not found
// Sorts a parameter's values by size if none is a text; VALUE_NONE comes last. Call it before the first space_add.
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
