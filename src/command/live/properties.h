// properties.h: the values of a session that a client of the control socket can read and set, by name. Main thread.
#pragma once

#include <stdbool.h>

struct session;

enum { PROPERTY_NAME = 128, PROPERTY_WHY = 512 };

// Returns the value; the caller frees it. NULL on failure: `why` is one line. *report keeps the fields that several
// properties share: NULL at first, freed by the caller when the session may have changed.
struct json_t *properties_get(struct session *session, const char *name, struct json_t **report,
                              char why[PROPERTY_WHY]);
// Sets a property to a text, a number or a boolean; numbers and booleans ("on", "off", "true", "false") may be texts.
// False: `why` is one line, and nothing has changed.
bool properties_set(struct session *session, const char *name, const struct json_t *value, char why[PROPERTY_WHY]);
struct json_t *properties_list(void); // [{"name": "chain", "type": "text", "writable": true, "help": "..."}, ...]
