// keys.h: the hotkeys, as one table for the commands and the help
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { KEY_CHOICES = 6 };

// Groups of actions, in the order of the table. The actions of the first three change the picture.
enum key_group {
    KEYS_LOOKS,
    KEYS_FILTERS,
    KEYS_VIEW,
    KEYS_PLAYBACK,
    KEYS_CAMERA,
    KEYS_FILES,
    KEYS_PATH,
    KEYS_WINDOW,
    KEY_GROUPS
};

// KEY_NONE: a row of text. KEY_CYCLE changes a property; each other action has a function in live/events.c.
enum key_action {
    KEY_NONE,
    KEY_CYCLE,
    KEY_LOOK,
    KEY_SAVE_LOOK,
    KEY_LIST_LOOKS,
    KEY_SELECT,
    KEY_CHANGE,
    KEY_ADD,
    KEY_REPLACE,
    KEY_MOVE,
    KEY_REMOVE,
    KEY_UNDO,
    KEY_SEEK,
    KEY_STEP,
    KEY_SELECT_CONTROL,
    KEY_CHANGE_CONTROL,
    KEY_SCREENSHOT,
    KEY_RECORD,
    KEY_BACK,
    KEY_QUIT
};

struct key_command {
    enum key_action action;
    int number;           // of the action: steps, the digit of a look, 1 for a variant of the action; 0: none
    const char *property; // KEY_CYCLE: the property whose next value is set
    const char *value[3]; // KEY_CYCLE: its values in turn, ended by NULL; none: all choices
};

struct key_row {
    const char *name; // of the action, for remapping: "path"
    struct key_command command;
    uint32_t key[KEY_CHOICES]; // keys of window_event; 0: none
    enum key_group group;
    bool heading; // a row of text: the heading of a group
    bool digits;  // the keys are the range from key[0] to key[1], and the digit is the command's number
    bool repeats; // repeats while the key is held down
    const char *help;
};

enum { KEY_ROWS = 64 };

struct keys {
    struct key_row row[KEY_ROWS];
    int count;
};

void keys_default(struct keys *keys);
// Applies "path=P,quit=x,quit=F10": names as in the table; keys as one character or a name (tab, escape, space, left,
// F1). The first key for an action replaces the action's keys, and the next ones are added. The digits cannot be
// changed. If a name or key is unknown, or a key would have two actions, this returns false, writes one line to `error`
// and changes nothing.
bool keys_remap(struct keys *keys, const char *text, char error[256]);
// Returns the row of a window_event's key; NULL: none. If no row has the key, '=' counts as '+', '_' as '-', and a
// capital letter as its small letter.
const struct key_row *keys_find(const struct keys *keys, uint32_t key, bool repeat);
// Returns the row of the action with this name. NULL: there is none, and `error` is one line.
const struct key_row *keys_named(const struct keys *keys, const char *name, char error[256]);
const char *keys_group_name(enum key_group group); // "Looks"
// Makes the rows of the list in the window: a heading before each group; opposite actions are one row.
void keys_list(const struct keys *keys, struct keys *list);
void keys_key_name(uint32_t key, char text[16]); // writes "Tab", "q" or "Space"
void keys_print(const struct keys *keys, FILE *out);
