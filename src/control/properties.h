// properties.h: the settings and figures of a run, by name: one row each for the control socket, the keys, the JSON
// state and the last run. Main thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct controlled;
struct json_t;
struct stream;
struct settings;

enum { PROPERTY_NAME = 128, PROPERTY_WHY = 512, PROPERTIES_KEPT = 512 };

enum property_type {
    PROPERTY_TEXT,
    PROPERTY_NUMBER, // of a member: float
    PROPERTY_FLAG,   // of a member: bool
    PROPERTY_CHOICE, // of a member: an enum, the index in `choices`
    PROPERTY_LIST,
    PROPERTY_OBJECT,
    PROPERTY_VALUE, // a text, a number or a flag
};

struct property {
    const char *name; // also the field of the JSON state; "param/": the rest of the name is an argument
    enum property_type type;
    const char *choices; // "off|small|full|large"
    float min, max;      // of a number that is a member
    size_t member;       // offset in struct settings; 0: `get` returns the value, else the field of `state` has it
    // `name`: of the property; of "param/": the rest of the name.
    struct json_t *(*get)(const struct controlled *run, const char *name, char why[PROPERTY_WHY]);
    // Sets it to a text; NULL: it is a member, or cannot be set.
    bool (*set)(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY]);
    // Follows a change of the member; NULL: a new drawing is enough. False: it is impossible, and the member gets its
    // old value.
    bool (*changed)(const struct controlled *run, char why[PROPERTY_WHY]);
    // Writes the next value for the command cycle; NULL: the next one of the choices.
    bool (*next)(const struct controlled *run, char next[PROPERTY_NAME], char why[PROPERTY_WHY]);
    bool window;          // it needs a window to be set
    bool noted;           // the note shows a new value
    bool kept;            // the value is saved for the next run; only for a member
    const char *complete; // of a text, for completion: as option.complete; NULL: nothing
    const char *help;
};

extern const struct property stream_properties[]; // of every run; ends with a row without a name

// A run that properties control. All of it is borrowed.
struct controlled {
    struct stream *stream;
    const struct property *own;             // rows of its command, before those of stream_properties; ends as they do
    void *context;                          // of the functions below and for its own rows
    struct json_t *(*state)(void *context); // returns the values of the rows without `get` and `member`
    bool (*stale)(void *context);           // the window is out of date, or a screenshot is being saved; NULL: never
    void (*changing)(void *context);        // called before a property is set; NULL: not needed
    void (*changed)(void *context);         // called after a request that changed the run; NULL: not needed
    // Carries out the key's action; digit -1: none was given. NULL: the run has no keys.
    bool (*press)(void *context, const char *action, long long digit, char why[PROPERTY_WHY]);
};

// Writes `why` and returns false.
bool property_fail(char why[PROPERTY_WHY], const char *format, ...) __attribute__((format(printf, 2, 3)));
bool property_flag(const char *text, bool *flag, char why[PROPERTY_WHY]); // "on", "off", "true", "false", ...

// Returns the value; the caller frees it. NULL on failure: `why` is one line. *report caches the state for further
// calls: NULL at first; the caller frees it before the run can change.
struct json_t *properties_get(const struct controlled *run, const char *name, struct json_t **report,
                              char why[PROPERTY_WHY]);
// Sets a property to a text (NULL: the request had a value of another type). False: `why` is one line, and nothing has
// changed.
bool properties_set(const struct controlled *run, const char *name, const char *value, char why[PROPERTY_WHY]);
// Sets a property to the value after the present one in `values`, which end with NULL; without values: in its choices,
// or on and off. If `values` lack the present value, takes the first of them.
bool properties_cycle(const struct controlled *run, const char *name, const char *const *values,
                      char why[PROPERTY_WHY]);
// [{"name": "chain", "type": "text", "writable": true, "help": "..."}, ...]
struct json_t *properties_list(const struct controlled *run);

// The next three are for the members of `rows`.
// Adds them to the state. A field that is there stays.
void properties_add(const struct property *rows, const struct settings *settings, struct json_t *state);
// Writes the kept members as lines for the file of the last run: "overlay = small".
void properties_kept(const struct property *rows, const struct settings *settings, char text[PROPERTIES_KEPT]);
// Sets a member that is kept. Does nothing if the name or the value is unknown.
void properties_restore(const struct property *rows, struct settings *settings, const char *name, const char *value);
