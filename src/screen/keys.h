// keys.h: the hotkeys, as one table for the actions and the help
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum action {
    ACTION_NONE,
    ACTION_LOOK, // a digit: the key is the look's number
    ACTION_SAVE_LOOK,
    ACTION_PATH,
    ACTION_DEVICE,
    ACTION_SPLIT,       // original | filtered
    ACTION_SPLIT_PATHS, // path | path
    ACTION_STAGE_NEXT,  // select the next parameter of the chain
    ACTION_STAGE_PREVIOUS,
    ACTION_VALUE_UP,
    ACTION_VALUE_DOWN,
    ACTION_ADD, // adds a filter after the selected one
    ACTION_FILTER_NEXT,
    ACTION_FILTER_PREVIOUS,
    ACTION_MOVE_LEFT,
    ACTION_MOVE_RIGHT,
    ACTION_REMOVE,
    ACTION_UNDO,
    ACTION_CONTROL_NEXT, // of the camera
    ACTION_CONTROL_PREVIOUS,
    ACTION_CONTROL_UP,
    ACTION_CONTROL_DOWN,
    ACTION_TUNE,
    ACTION_FREEZE,
    ACTION_SEEK_BACK,
    ACTION_SEEK_FORWARD,
    ACTION_STEP_BACK, // one frame
    ACTION_STEP_FORWARD,
    ACTION_FULLSCREEN,
    ACTION_MIRROR,
    ACTION_VSYNC,
    ACTION_OVERLAY,
    ACTION_SCOPE,
    ACTION_SCREENSHOT,
    ACTION_SCREENSHOT_BOTH,
    ACTION_RECORD,
    ACTION_ANIMATION,
    ACTION_HELP,
    ACTION_BACK, // closes the help, else ends the zoom, else leaves full screen, else quits
    ACTION_QUIT,
    ACTION_COUNT
};

enum { KEY_CHOICES = 6 };

struct key_row {
    enum action action;
    const char *name;          // for remapping: "path"
    uint32_t key[KEY_CHOICES]; // keys of window_event; 0: none. ACTION_LOOK: first and last key of a range
    bool repeats;              // repeats while the key is held down
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
// Returns the action of a window_event's key. If no row has the key, '=' counts as '+', '_' as '-', and a capital
// letter as its small letter.
enum action keys_find(const struct keys *keys, uint32_t key, bool repeat);
// Returns the action with this name. ACTION_NONE: there is none, and `error` is one line.
enum action keys_action(const struct keys *keys, const char *name, char error[256]);
// Makes the rows of the list in the window: opposite actions are one row.
void keys_list(const struct keys *keys, struct keys *list);
void keys_key_name(uint32_t key, char text[16]); // writes "Tab", "q" or "Space"
void keys_print(const struct keys *keys, FILE *out);
