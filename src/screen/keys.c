// keys.c: the table of hotkeys, the search for the action of a key, and --keys
#include "screen/keys.h"

#include "base/options.h"
#include "base/text.h"
#include "screen/window.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define RUN(name, count)                                                                                               \
    {                                                                                                                  \
        .action = KEY_##name, .number = (count)                                                                        \
    }
#define CYCLE(name, ...)                                                                                               \
    {                                                                                                                  \
        .action = KEY_CYCLE, .property = (name), .value = { __VA_ARGS__ }                                              \
    }

#define HELD(text) .repeats = true, .help = (text)

static const struct key_row default_rows[] = {
    {"look", RUN(LOOK, 0), {'0', '9'}, KEYS_LOOKS, .digits = true, .help = "select a look; 0: no filter"},
    {"save-look", RUN(SAVE_LOOK, 0), {'w'}, KEYS_LOOKS, .help = "save the chain as a look"},
    {"looks", RUN(LIST_LOOKS, 0), {'l'}, KEYS_LOOKS, .help = "choose a look from a list"},
    {"previous", RUN(SELECT, -1), {'['}, KEYS_FILTERS, HELD("select the previous parameter")},
    {"next", RUN(SELECT, 1), {']'}, KEYS_FILTERS, HELD("select the next parameter")},
    {"up", RUN(CHANGE, 1), {'+'}, KEYS_FILTERS, HELD("increase the selected parameter")},
    {"down", RUN(CHANGE, -1), {'-'}, KEYS_FILTERS, HELD("decrease the selected parameter")},
    {"add", RUN(ADD, 0), {'a'}, KEYS_FILTERS, .help = "add a filter from a list"},
    {"filter-next", RUN(REPLACE, 1), {'n'}, KEYS_FILTERS, HELD("replace the selected filter by the next one")},
    {"filter-back", RUN(REPLACE, -1), {'b'}, KEYS_FILTERS, HELD("replace the selected filter by the previous one")},
    {"move-left", RUN(MOVE, -1), {'{'}, KEYS_FILTERS, HELD("move the selected filter to the left")},
    {"move-right", RUN(MOVE, 1), {'}'}, KEYS_FILTERS, HELD("move the selected filter to the right")},
    {"remove", RUN(REMOVE, 0), {WINDOW_KEY_DELETE}, KEYS_FILTERS, .help = "remove the selected filter"},
    {"undo", RUN(UNDO, 0), {'u'}, KEYS_FILTERS, HELD("undo the last change of the chain")},
    {"split",
     CYCLE("split", "original", "off"),
     {WINDOW_KEY_TAB},
     KEYS_VIEW,
     .help = "original beside the result, on or off"},
    {"split-paths", CYCLE("split", "path", "off"), {'k'}, KEYS_VIEW, .help = "next path beside this one, on or off"},
    {"mirror", CYCLE("mirror"), {'m'}, KEYS_VIEW, .help = "mirror the image"},
    {"flip", CYCLE("flip"), {'M'}, KEYS_VIEW, .help = "turn the image upside down"},
    {"rotate", CYCLE("rotate"), {'R'}, KEYS_VIEW, .help = "rotate the image clockwise"},
    {"zoom", CYCLE("zoom", "1", "0"), {'z'}, KEYS_VIEW, .help = "image pixels as screen pixels, or fit"},
    {"zoom-output", CYCLE("zoom_output"), {'Z'}, KEYS_VIEW, .help = "zoom also the outputs, on or off"},
    {"inside", CYCLE("show"), {'i'}, KEYS_VIEW, .help = "image after the next filter"},
    {"scope", CYCLE("scope"), {'c'}, KEYS_VIEW, .help = "scope: histogram, columns, rows, off"},
    {"freeze", CYCLE("paused"), {' '}, KEYS_PLAYBACK, .help = "pause or resume the view"},
    {"rewind", RUN(SEEK, -1), {WINDOW_KEY_LEFT}, KEYS_PLAYBACK, HELD("go back 5 s, or one image")},
    {"forward", RUN(SEEK, 1), {WINDOW_KEY_RIGHT}, KEYS_PLAYBACK, HELD("go forward 5 s, or one image")},
    {"step-back", RUN(STEP, -1), {WINDOW_KEY_DOWN}, KEYS_PLAYBACK, HELD("go back one frame of a video, and pause")},
    {"step", RUN(STEP, 1), {WINDOW_KEY_UP}, KEYS_PLAYBACK, HELD("go forward one frame of a video, and pause")},
    {"camera-back",
     RUN(SELECT_CONTROL, -1),
     {','},
     KEYS_CAMERA,
     HELD("select the camera's previous control: brightness, ...")},
    {"camera-next", RUN(SELECT_CONTROL, 1), {'.'}, KEYS_CAMERA, HELD("select the camera's next control")},
    {"camera-up", RUN(CHANGE_CONTROL, 1), {'>'}, KEYS_CAMERA, HELD("increase the selected control")},
    {"camera-down", RUN(CHANGE_CONTROL, -1), {'<'}, KEYS_CAMERA, HELD("decrease the selected control")},
    {"screenshot", RUN(SCREENSHOT, 0), {'s'}, KEYS_FILES, .help = "save a screenshot"},
    {"save-both", RUN(SCREENSHOT, 1), {'S'}, KEYS_FILES, .help = "save original and result side by side"},
    {"record", RUN(RECORD, 0), {'r'}, KEYS_FILES, .help = "start or stop recording"},
    {"animation", RUN(RECORD, 1), {'g'}, KEYS_FILES, .help = "start or stop a GIF of at most 10 s"},
    {"path", CYCLE("path"), {'p'}, KEYS_PATH, .help = "use the next path"},
    {"device", CYCLE("device"), {'d'}, KEYS_PATH, .help = "use the next device"},
    {"tune", CYCLE("tune"), {'t'}, KEYS_PATH, .help = "start or pause the tuning of kernels"},
    {"vsync", CYCLE("vsync"), {'v'}, KEYS_PATH, .help = "vertical sync on or off"},
    {"fullscreen", CYCLE("fullscreen"), {'f', WINDOW_KEY_F1 + 10}, KEYS_WINDOW, .help = "full screen on or off"},
    {"overlay", CYCLE("overlay"), {'o'}, KEYS_WINDOW, .help = "overlay: small, full, large, off"},
    {"help", CYCLE("help"), {'h', WINDOW_KEY_F1, '?'}, KEYS_WINDOW, .help = "show or hide this list"},
    {"back", RUN(BACK, 0), {WINDOW_KEY_ESCAPE}, KEYS_WINDOW, .help = "leave list, zoom or full screen; quit"},
    {"quit", RUN(QUIT, 0), {'q'}, KEYS_WINDOW, .help = "quit"},
};

// Actions whose opposite is in the next row of the table. The list in the window shows both as one row.
static const struct {
    const char *first;
    const char *help;
} pairs[] = {
    {"previous", "select a parameter"},
    {"up", "change the selected parameter"},
    {"filter-next", "replace the selected filter"},
    {"move-left", "move the selected filter"},
    {"camera-back", "select a control of the camera"},
    {"camera-up", "change the selected control"},
    {"rewind", "5 s or one image back or forward"},
    {"step-back", "one frame back or forward"},
};

enum { PAIRS = sizeof(pairs) / sizeof(*pairs) };
enum { DEFAULT_ROWS = sizeof(default_rows) / sizeof(*default_rows) };
_Static_assert(sizeof(default_rows) <= sizeof(((struct keys *)0)->row), "struct keys is too small for the table");

static const struct {
    uint32_t key;
    const char *name;
} key_names[] = {
    {WINDOW_KEY_ESCAPE, "Esc"},     {WINDOW_KEY_ESCAPE, "Escape"},
    {WINDOW_KEY_TAB, "Tab"},        {' ', "Space"},
    {WINDOW_KEY_LEFT, "Left"},      {WINDOW_KEY_RIGHT, "Right"},
    {WINDOW_KEY_UP, "Up"},          {WINDOW_KEY_DOWN, "Down"},
    {WINDOW_KEY_HOME, "Home"},      {WINDOW_KEY_END, "End"},
    {WINDOW_KEY_PAGE_UP, "PageUp"}, {WINDOW_KEY_PAGE_DOWN, "PageDown"},
    {WINDOW_KEY_DELETE, "Delete"},  {WINDOW_KEY_ENTER, "Enter"},
};

enum { KEY_NAMES = sizeof(key_names) / sizeof(*key_names) };

void keys_default(struct keys *keys)
{
    *keys = (struct keys){.count = DEFAULT_ROWS};
    memcpy(keys->row, default_rows, sizeof(default_rows));
}

static bool row_has(const struct key_row *row, uint32_t key)
{
    if (row->digits)
        return key >= row->key[0] && key <= row->key[1];
    for (int i = 0; i < KEY_CHOICES; i++) {
        if (row->key[i] && row->key[i] == key)
            return true;
    }
    return false;
}

static const struct key_row *find_row(const struct keys *keys, uint32_t key)
{
    for (int i = 0; i < keys->count; i++) {
        if (row_has(&keys->row[i], key))
            return &keys->row[i];
    }
    return NULL;
}

// Returns the other character on the same key cap, for a key that no row has.
static uint32_t key_meant(uint32_t key)
{
    if (key == '=')
        return '+';
    if (key == '_')
        return '-';
    if (key >= 'A' && key <= 'Z')
        return key - 'A' + 'a';
    return key;
}

const struct key_row *keys_find(const struct keys *keys, uint32_t key, bool repeat)
{
    const struct key_row *row = find_row(keys, key);
    if (!row)
        row = find_row(keys, key_meant(key));
    return row && repeat && !row->repeats ? NULL : row;
}

static uint32_t key_from_text(const char *text)
{
    for (int i = 0; i < KEY_NAMES; i++) {
        if (strcasecmp(key_names[i].name, text) == 0)
            return key_names[i].key;
    }
    for (uint32_t key = WINDOW_KEY_F1; key <= WINDOW_KEY_F12; key++) {
        char name[16];
        keys_key_name(key, name);
        if (strcasecmp(name, text) == 0)
            return key;
    }
    // Any other name must be one visible character.
    struct span span = span_of(text);
    const uint32_t code = span_next(&span);
    return span.length == 0 && code > ' ' && code != 0x7f && code != 0xfffd ? code : 0;
}

static void describe_unknown(const struct keys *keys, const char *name, char error[256])
{
    const char *names[KEY_ROWS + 1] = {NULL};
    for (int i = 0, count = 0; i < keys->count; i++) {
        if (!keys->row[i].digits)
            names[count++] = keys->row[i].name;
    }
    options_unknown(error, 256, "action", name, names, "'monocle live --help' lists the actions");
}

const struct key_row *keys_named(const struct keys *keys, const char *name, char error[256])
{
    for (int i = 0; i < keys->count; i++) {
        if (strcasecmp(keys->row[i].name, name) == 0)
            return &keys->row[i];
    }
    describe_unknown(keys, name, error);
    return NULL;
}

// Adds a key to the row. False: it has KEY_CHOICES keys.
static bool row_add(struct key_row *row, uint32_t key)
{
    for (int i = 0; i < KEY_CHOICES; i++) {
        if (row->key[i] == 0 || row->key[i] == key) {
            row->key[i] = key;
            return true;
        }
    }
    return false;
}

// Returns the text for this action and the one in the next row; NULL: the action has no opposite.
static const char *pair_help(const char *name)
{
    for (int i = 0; i < PAIRS; i++) {
        if (strcmp(pairs[i].first, name) == 0)
            return pairs[i].help;
    }
    return NULL;
}

// Applies one "name=key". `given` has the rows that were given a key before.
static bool remap_one(struct keys *keys, char *item, bool given[KEY_ROWS], char error[256])
{
    char *equals = strchr(item, '=');
    if (!equals || equals == item) {
        snprintf(error, 256, "'%s' is not of the form action=key", item);
        return false;
    }
    *equals = '\0';
    const char *text = equals + 1;
    const struct key_row *named = keys_named(keys, item, error);
    if (!named)
        return false;
    const ptrdiff_t index = named - keys->row;
    struct key_row *row = &keys->row[index];
    if (row->digits) {
        snprintf(error, 256, "the keys of '%s' cannot be changed: the digits select the looks", item);
        return false;
    }
    const uint32_t key = key_from_text(text);
    if (!key) {
        snprintf(error, 256, "'%s' is not a key; use one character or a key's name (tab, escape, space, F1)", text);
        return false;
    }
    if (!given[index])
        memset(row->key, 0, sizeof(row->key));
    given[index] = true;
    if (!row_add(row, key)) {
        snprintf(error, 256, "the action '%s' has more than %d keys", row->name, KEY_CHOICES);
        return false;
    }
    return true;
}

static bool check_unique(const struct keys *keys, char error[256])
{
    for (int i = 0; i < keys->count; i++) {
        for (int k = 0; k < KEY_CHOICES; k++) {
            const struct key_row *row = &keys->row[i];
            const struct key_row *first = row->key[k] ? find_row(keys, row->key[k]) : row;
            if (first != row) {
                char name[16];
                keys_key_name(row->key[k], name);
                snprintf(error, 256, "the key '%s' has two actions, %s and %s", name, first->name, row->name);
                return false;
            }
        }
    }
    return true;
}

const char *keys_group_name(enum key_group group)
{
    static const char *const titles[KEY_GROUPS] = {
        [KEYS_LOOKS] = "Looks",   [KEYS_FILTERS] = "Filters",
        [KEYS_VIEW] = "View",     [KEYS_PLAYBACK] = "Playback",
        [KEYS_CAMERA] = "Camera", [KEYS_FILES] = "Files",
        [KEYS_PATH] = "Speed",    [KEYS_WINDOW] = "Window and program",
    };
    return titles[group];
}

void keys_list(const struct keys *keys, struct keys *list)
{
    list->count = 0;
    for (int i = 0; i < keys->count; i++) {
        if (i == 0 || keys->row[i].group != keys->row[i - 1].group)
            list->row[list->count++] = (struct key_row){.help = keys_group_name(keys->row[i].group), .heading = true};
        struct key_row *row = &list->row[list->count++];
        *row = keys->row[i];
        const char *help = pair_help(row->name);
        if (!help)
            continue;
        const struct key_row *opposite = &keys->row[++i];
        row->help = help;
        for (int k = 0; k < KEY_CHOICES && opposite->key[k]; k++)
            row_add(row, opposite->key[k]);
    }
}

bool keys_remap(struct keys *keys, const char *text, char error[256])
{
    struct keys changed = *keys;
    bool given[KEY_ROWS] = {false};
    while (*text) {
        // A comma directly after the '=' is a key.
        const size_t head = strcspn(text, "=,");
        size_t length = head;
        if (text[head] == '=')
            length += text[head + 1] == ',' ? 2 : 1 + strcspn(text + head + 1, ",");
        char item[128]; // a longer one is wrong in any case
        snprintf(item, sizeof(item), "%.*s", (int)length, text);
        if (!remap_one(&changed, item, given, error))
            return false;
        text += length;
        if (*text == ',')
            text++;
        else if (*text) {
            snprintf(error, 256, "expected a comma at '%.100s'", text);
            return false;
        }
    }
    if (!check_unique(&changed, error))
        return false;
    *keys = changed;
    return true;
}

static void put_utf8(uint32_t code, char text[16])
{
    if (code < 0x80) {
        snprintf(text, 16, "%c", (char)code);
        return;
    }
    int bytes = 4;
    if (code < 0x10000)
        bytes = code < 0x800 ? 2 : 3;
    for (int i = bytes - 1; i > 0; i--) {
        text[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    text[0] = (char)((0xf00 >> bytes & 0xff) | code);
    text[bytes] = '\0';
}

void keys_key_name(uint32_t key, char text[16])
{
    text[0] = '\0';
    for (int i = 0; i < KEY_NAMES && !text[0]; i++) {
        if (key_names[i].key == key)
            snprintf(text, 16, "%s", key_names[i].name);
    }
    if (text[0])
        return;
    if (key >= WINDOW_KEY_F1 && key <= WINDOW_KEY_F12)
        snprintf(text, 16, "F%u", key - WINDOW_KEY_F1 + 1);
    else if (key > 0 && key < WINDOW_KEY_ESCAPE)
        put_utf8(key, text);
}

void keys_print(const struct keys *keys, FILE *out)
{
    for (int i = 0; i < keys->count; i++) {
        const struct key_row *row = &keys->row[i];
        char list[64] = "";
        for (int k = 0; k < KEY_CHOICES && row->key[k]; k++) {
            char name[16];
            keys_key_name(row->key[k], name);
            text_append(list, sizeof(list), "%s%s", text_if(k > 0, row->digits ? "-" : " "), name);
        }
        fprintf(out, "  %-10s %-11s %s\n", list, row->name, row->help);
    }
}
