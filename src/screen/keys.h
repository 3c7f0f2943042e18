// keys.h: the hotkeys: one table that finds the action and prints the help
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum action {
    ACTION_NONE,
    ACTION_FILTER, // a digit: the key itself says which
    ACTION_PATH,
    ACTION_DEVICE,
    ACTION_SPLIT,      // off, original | filtered, path | path
    ACTION_STAGE_NEXT, // select the next parameter of the chain
    ACTION_STAGE_PREVIOUS,
    ACTION_VALUE_UP,
    ACTION_VALUE_DOWN,
    ACTION_CONTROL_NEXT, // of the camera
    ACTION_CONTROL_PREVIOUS,
    ACTION_CONTROL_UP,
    ACTION_CONTROL_DOWN,
    ACTION_FREEZE,
    ACTION_FULLSCREEN,
    ACTION_MIRROR,
    ACTION_VSYNC,
    ACTION_OVERLAY,
    ACTION_SCREENSHOT,
    ACTION_RECORD,
    ACTION_HELP,
    ACTION_BACK, // out of the help, then out of full screen, then out of the program
    ACTION_QUIT,
    ACTION_COUNT
};

enum { KEY_CHOICES = 3 };

struct key_row {
    enum action action;
    const char *name;          // for remapping: "path"
    uint32_t key[KEY_CHOICES]; // window_event keys; 0 for none. ACTION_FILTER: the first and the last of a range
    bool repeats;              // a key held down goes on acting
    const char *help;
};

enum { KEY_ROWS = 28 };

struct keys {
    struct key_row row[KEY_ROWS];
    int count;
};

void keys_default(struct keys *keys);
// "path=P,quit=x,quit=F10": names as in the table, keys as one character or a name (tab, escape, space, left, F1).
// The first key given for an action replaces its keys, further ones join it. False where a name or key is unknown or
// one key would mean two actions: `error` gets one line and nothing is changed. The digits stay the filters'.
bool keys_remap(struct keys *keys, const char *text, char error[256]);
// What the key of a window_event does. Where no row has it, '=' counts as '+', '_' as '-', a capital as its small
// letter.
enum action keys_find(const struct keys *keys, uint32_t key, bool repeat);
void keys_key_name(uint32_t key, char text[16]); // "Tab", "q", "Space"
void keys_print(const struct keys *keys, FILE *out);
