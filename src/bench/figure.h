// figure.h: a measured value, and its line of JSON
#pragma once

#include <stdbool.h>

struct json_t;  // of jansson
struct samples; // of base/stats.h

enum figure_status {
    FIGURE_OK,
    FIGURE_SKIPPED, // the device does not support it
    FIGURE_FAILED,
};

enum { FIGURE_TEST = 32, FIGURE_PARAMETERS = 256, FIGURE_NOTE = 200, FIGURE_CASE = 120 };

struct figure {
    char test[FIGURE_TEST]; // the row's name, such as "compute"
    // Words "type=float width=4"; no two figures of a test have the same. Within a word, U+00A0 stands for a space.
    char parameters[FIGURE_PARAMETERS];
    enum figure_status status;
    double value;    // the median of the rounds, in the unit of the test
    double spread;   // half the interquartile range, divided by the median; NAN: unknown, after one round
    double by_event; // the value by the device's clock, where `value` is by the host's; 0: none
    int rounds;
    const struct samples *samples; // the values of the rounds; NULL: not kept, and never read from JSON
    bool checked;                  // the result was compared with the host's
    char note[FIGURE_NOTE];        // the reason if the status is not FIGURE_OK; else a remark or ""
};

const char *figure_status_name(enum figure_status status); // "ok"
bool figure_less_is_better(const char *unit);              // a unit of time or energy, not of speed

// Returns the text of a chain as the value of a parameter. A long text ends with a hash of its end.
const char *figure_case(const char *chain, char text[FIGURE_CASE]);

struct json_t *figure_spread_json(double spread); // null if it is unknown
// Returns the figure as an object, which the caller frees. NULL: no memory.
struct json_t *figure_json(const struct figure *figure);
// Reads such an object. Returns false if it is not one.
bool figure_read(const struct json_t *object, struct figure *figure);
