// properties.h: the settings and figures of a session, by name: one row each for the control socket, the keys, the
// JSON state and the last run. Main thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct json_t;
struct session;
struct wish;

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
    const char *was;  // its name in the version before, which `properties_get` and the JSON state still know
    enum property_type type;
    const char *choices; // "off|small|full|large"
    float min, max;      // of a number that is a member
    size_t member;       // offset in struct wish; 0: `get` returns the value, else the field of report_json has it
    struct json_t *(*get)(struct session *session, const char *rest, char why[PROPERTY_WHY]);
    // Sets it to a text; NULL: it is a member, or cannot be set.
    bool (*set)(struct session *session, const char *rest, const char *value, char why[PROPERTY_WHY]);
    // Follows a change of the member; NULL: a new drawing is enough. False: it is impossible, and the member gets its
    // old value.
    bool (*changed)(struct session *session, char why[PROPERTY_WHY]);
    // Writes the next value for the command cycle; NULL: the next one of the choices.
    bool (*next)(struct session *session, char next[PROPERTY_NAME], char why[PROPERTY_WHY]);
    bool window; // it needs a window to be set
    bool noted;  // the note shows a new value
    bool kept;   // for the next run; it is a member
    const char *help;
};

extern const struct property property_table[]; // ends with a row without a name

// Writes `why` and returns false.
bool property_fail(char why[PROPERTY_WHY], const char *format, ...) __attribute__((format(printf, 2, 3)));
// Finds the text among the choices, such as "cpu|opencl": its index.
bool property_choice(const char *choices, const char *text, int *choice, char why[PROPERTY_WHY]);
bool property_flag(const char *text, bool *flag, char why[PROPERTY_WHY]); // "on", "off", "true", "false", ...

// Returns the value; the caller frees it. NULL on failure: `why` is one line. *report keeps the fields that several
// properties share: NULL at first, freed by the caller when the session may have changed.
struct json_t *properties_get(struct session *session, const char *name, struct json_t **report,
                              char why[PROPERTY_WHY]);
// Sets a property to a text (NULL: it was something else), and ends the showcase. False: `why` is one line, and nothing
// has changed.
bool properties_set(struct session *session, const char *name, const char *value, char why[PROPERTY_WHY]);
// Sets a property to the value after the present one. `values` end with NULL; none: on and
// off, or the choices. From another value, the first one follows.
bool properties_cycle(struct session *session, const char *name, const char *const *values, char why[PROPERTY_WHY]);
struct json_t *properties_list(void); // [{"name": "chain", "type": "text", "writable": true, "help": "..."}, ...]

// Adds the members to the state, under the present and the earlier name. A field that is there stays.
void properties_add(const struct wish *wish, struct json_t *state);
// Writes the kept members as lines for the file of the last run: "overlay = small".
void properties_kept(const struct wish *wish, char text[PROPERTIES_KEPT]);
// Sets a member that is kept. Does nothing if the name or the value is unknown.
void properties_restore(struct wish *wish, const char *name, const char *value);
