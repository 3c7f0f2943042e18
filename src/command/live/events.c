// events.c: carries out keys, choices from lists, pointer events and the requests of the control socket

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "command/live/controls.h"
#include "command/live/report.h"
#include "command/live/session.h"
#include "command/live/view.h"
#include "control/control.h"
#include "sink/screenshot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DIGITS = 9, DECIMALS = 10000 };
enum { STEPS_MOST = 20 }; // of one turn of the wheel
#define FULL "a chain has at most %d filters"
#define CANNOT_SAVE "cannot save a screenshot; see standard error"

// Inserts lines with each digit's look into the list of keys.
static void name_digits(struct session *s)
{
    int line = 0;
    size_t used = 0;
    for (int i = 0; i < s->looks.count && i < 2 * DIGITS; i++) {
        char word[40];
        const int length = snprintf(word, sizeof(word), "%s%d %s", i == DIGITS ? "again: " : "", i % DIGITS + 1,
                                    s->looks.look[i].name);
        if (used > 0 && (used + 2 + (size_t)length > DIGIT_COLUMNS || i == DIGITS)) {
            used = 0;
            line++;
        }
        if (line == DIGIT_LINES || s->keys.count == KEY_ROWS)
            return;
        char *text = s->digits[line];
        if (used == 0) {
            struct key_row *row = s->keys.row;
            memmove(&row[line + 3], &row[line + 2], (size_t)(s->keys.count - line - 2) * sizeof(*row));
            row[line + 2] = (struct key_row){.help = text}; // after the heading and the digits
            s->keys.count++;
        }
        used += (size_t)snprintf(text + used, sizeof(s->digits[line]) - used, "%s%s", used ? "  " : "", word);
    }
}

// Appends lines about the mouse to the list of keys.
static void name_mouse(struct session *s)
{
    static const char lines[][DIGIT_COLUMNS + 2] = {"wheel: parameter; Ctrl+wheel: zoom",
                                                    "drag: divider, zoomed picture",
                                                    "drag: region of the filter inside",
                                                    "double click: full screen",
                                                    "right click: menu",
                                                    "drop: show files, apply a .cube"};
    s->keys.row[s->keys.count++] = (struct key_row){.help = "Mouse", .heading = true};
    for (int i = 0; i < (int)(sizeof(lines) / sizeof(*lines)) && s->keys.count < KEY_ROWS; i++)
        s->keys.row[s->keys.count++] = (struct key_row){.help = lines[i]};
}

void events_open(struct session *s)
{
    keys_list(&s->options.key_map, &s->keys);
    name_digits(s);
    name_mouse(s);
}

void events_show_look(struct session *s, const char *name)
{
    char why[PROPERTY_WHY];
    if (!properties_set(&s->controlled, "look", name, why))
        note_set(&s->stream.note, true, NOTE_S, "%s", why);
}

// Digits 1-9 select the first nine looks; the same digit again selects the look nine places later. 0 removes all
// filters.
static void pick_look(struct session *s, int digit)
{
    int index = digit - 1;
    if (index >= s->looks.count) {
        note_set(&s->stream.note, false, NOTE_S, "there is no look %d", digit);
        return;
    }
    for (int i = index; i >= 0 && digit == s->digit && i + DIGITS < s->looks.count; i += DIGITS) {
        if (look_has(&s->looks.look[i], &s->stream.settings.chain))
            index = i + DIGITS;
    }
    s->digit = digit;
    events_show_look(s, index >= 0 ? s->looks.look[index].name : "none");
}

// Writes the first key of the action.
static void key_words(const struct keys *keys, const char *action, char text[16])
{
    char error[256];
    keys_key_name(keys_named(keys, action, error)->key[0], text);
}

static void save_look(struct session *s, int number)
{
    char name[LOOK_NAME + 1], why[CHAIN_ERROR], text[CHAIN_TEXT], key[16];
    const struct look *same = looks_with(&s->looks, &s->stream.settings.chain);
    if (chain_print_part(&s->stream.settings.chain, PART_LOOK, text) && strcmp(text, "none") == 0) {
        note_set(&s->stream.note, false, NOTE_S, "there is no filter to save");
        return;
    }
    if (same) {
        note_set(&s->stream.note, false, NOTE_S, "not saved: the look %s has this chain", same->name);
        return;
    }
    if (!looks_save(&s->looks, &s->stream.settings.chain, name, why)) {
        log_error("%s", note_set(&s->stream.note, true, NOTE_S, "%s", why));
        return;
    }
    key_words(&s->options.key_map, "looks", key);
    note_set(&s->stream.note, false, NOTE_S, "saved as %s; %s lists all looks", name, key);
}

static void note_value(struct session *s)
{
    int stage, param;
    char value[64];
    if (!settings_selected(&s->stream.settings, &stage, &param)) {
        char add[16];
        key_words(&s->options.key_map, "add", add);
        note_set(&s->stream.note, false, NOTE_S, "the chain is empty; %s adds a filter", add);
        return;
    }
    const struct stage *at = &s->stream.settings.chain.stage[stage];
    if (param < 0) {
        note_set(&s->stream.note, false, NOTE_S, "%s: %s", at->filter->name, at->filter->summary);
        return;
    }
    chain_value_text(at, param, value);
    note_set(&s->stream.note, false, NOTE_S, "%s: %s %s", at->filter->name, at->filter->params[param].name, value);
}

static void select_param(struct session *s, int step)
{
    const int count = settings_places(&s->stream.settings);
    if (count > 0)
        s->stream.settings.selected = (s->stream.settings.selected + step + count) % count;
    note_value(s);
}

// Notes that the selected filter has no parameter.
static void note_none(struct session *s, const struct filter *filter)
{
    const struct chain *chain = &s->stream.settings.chain;
    char next[16];
    bool any = false;
    for (int i = 0; i < chain->count; i++)
        any = any || filter_param_count(chain->stage[i].filter) > 0;
    key_words(&s->options.key_map, "next", next);
    if (any)
        note_set(&s->stream.note, false, NOTE_S, "%s has no parameter; %s selects the next filter", filter->name, next);
    else
        note_set(&s->stream.note, false, NOTE_S, "no filter of the chain has a parameter");
}

// Notes that a key cannot change the value further.
static void note_limit(struct session *s, const struct stage *at, int param, bool up)
{
    const struct param *row = &at->filter->params[param];
    const bool named = row->type == PARAM_FILE || row->type == PARAM_TEXT;
    const char *limit = up ? "maximum" : "minimum";
    char value[64];
    if (row->choices || named)
        limit = up ? "last" : "first";
    chain_value_text(at, param, value);
    if (named && !at->values.file[0])
        note_set(&s->stream.note, false, NOTE_S, "%s: no %s; name one in the chain, as in -f %s=%s=%s",
                 at->filter->name, row->name, at->filter->name, row->name, row->type == PARAM_FILE ? "FILE" : "TEXT");
    else
        note_set(&s->stream.note, false, NOTE_S, "%s: %s %s, the %s", at->filter->name, row->name, value, limit);
}

static void change_value(struct session *s, int steps)
{
    int stage, param;
    if (!settings_selected(&s->stream.settings, &stage, &param)) {
        note_value(s);
        return;
    }
    const struct stage *at = &s->stream.settings.chain.stage[stage];
    if (param < 0) {
        note_none(s, at->filter);
        return;
    }
    const struct image_shape *input = &s->stream.playback.info->shape;
    float value = chain_value(&s->stream.settings.chain, stage, param, input->width, input->height) +
                  (float)steps * at->filter->params[param].step;
    value = roundf(value * DECIMALS) / DECIMALS; // else sums of 0.1 become 2.3999999
    struct chain chain = s->stream.settings.chain;
    const char *why;
    char error[CHAIN_ERROR];
    if (!chain_set(&chain, stage, param, value, &why)) {
        note_set(&s->stream.note, false, NOTE_S, "%s: %s", at->filter->name, why);
        return;
    }
    if (!chain_check_masks(&chain, error)) {
        note_set(&s->stream.note, false, NOTE_S, "%s", error);
        return;
    }
    const float next = chain.stage[stage].values.value[param];
    if (next == at->values.value[param] || (next == 0 && param_is_size(at->filter, param))) {
        note_limit(s, at, param, steps > 0);
        return;
    }
    edits_keep(&s->edits, &s->stream.settings, EDIT_VALUE);
    s->stream.settings.chain = chain;
    panes_changed(s->stream.panes, false);
    note_value(s);
}

// Follows a change of the chain by hand, and takes it back if a mask would limit a filter that moves pixels. `done`
// false: it was impossible.
static void note_edit(struct session *s, bool done)
{
    char error[CHAIN_ERROR];
    const bool fits = chain_check_masks(&s->stream.settings.chain, error);
    if (!fits)
        edits_undo(&s->edits, &s->stream.settings);
    if (done)
        panes_changed(s->stream.panes, false);
    note_value(s);
    if (!fits)
        note_set(&s->stream.note, false, NOTE_S, "%s", error);
}

void events_add_filter(struct session *s, const struct filter *filter)
{
    const bool done = edits_add(&s->edits, &s->stream.settings, filter);
    note_edit(s, done);
    if (!done)
        note_set(&s->stream.note, false, NOTE_S, FULL, CHAIN_MAX);
}

// Applies a dropped file .cube.
static void drop_table(struct session *s, const char *path)
{
    struct chain chain;
    char text[CHAIN_TEXT] = "lut=", error[CHAIN_ERROR] = "the file's name is too long";
    const size_t used = strlen(text);
    if (!chain_quote(path, text + used, sizeof(text) - used) || !chain_parse(&chain, text, error))
        log_error("%s", note_set(&s->stream.note, true, NOTE_S, "%s", error));
    else if (edits_put(&s->edits, &s->stream.settings, &chain.stage[0]))
        note_edit(s, true);
    else
        note_set(&s->stream.note, false, NOTE_S, FULL, CHAIN_MAX);
}

// Handles dropped files: a single .cube file is a table for the filter `lut`; others are sources.
static void drop_files(struct session *s)
{
    const char *dropped = window_dropped(s->stream.window), *dot = strrchr(dropped, '.');
    char why[SOURCE_WHY];
    if (dot && strcasecmp(dot, ".cube") == 0 && strchr(dropped, '\n'))
        log_error("%s", note_set(&s->stream.note, true, NOTE_S, "drop one .cube file, not several"));
    else if (dot && strcasecmp(dot, ".cube") == 0)
        drop_table(s, dropped);
    else if (!source_change_request(&s->stream.change, dropped, why))
        log_error("%s", why);
}

static void add_stage(struct session *s, int number)
{
    if (s->stream.window)
        lists_open(s, CHOOSER_FILTERS, NULL);
    else
        events_add_filter(s, NULL);
}

static void list_looks(struct session *s, int number)
{
    lists_open(s, CHOOSER_LOOKS, NULL);
}

static void remove_stage(struct session *s, int number)
{
    note_edit(s, edits_remove(&s->edits, &s->stream.settings));
}

static void move_stage(struct session *s, int step)
{
    note_edit(s, edits_move(&s->edits, &s->stream.settings, step));
}

static void change_filter(struct session *s, int step)
{
    note_edit(s, edits_filter(&s->edits, &s->stream.settings, step));
}

static void undo(struct session *s, int number)
{
    const bool done = edits_undo(&s->edits, &s->stream.settings);
    note_edit(s, done);
    if (!done)
        note_set(&s->stream.note, false, NOTE_S, "there is no change to undo");
}

static void select_control(struct session *s, int step)
{
    controls_adjust(&s->controls, s->stream.playback.source, step, 0, &s->stream.note);
}

static void change_control(struct session *s, int steps)
{
    controls_adjust(&s->controls, s->stream.playback.source, 0, steps, &s->stream.note);
}

// Reports the new position, or why the source cannot seek.
static void note_position(struct session *s, bool ok, const char *why)
{
    if (ok)
        playback_note(&s->stream.playback);
    else
        note_set(&s->stream.note, true, NOTE_S, "%s", why);
}

static void seek(struct session *s, int sign)
{
    char why[PLAYBACK_WHY];
    note_position(s, playback_skip(&s->stream.playback, sign, why), why);
}

static void step(struct session *s, int frames)
{
    char why[PLAYBACK_WHY];
    note_position(s, playback_step(&s->stream.playback, frames, why), why);
}

// Closes the running screenshot with this index.
static void picture_saved(struct session *s, int index)
{
    char name[OUTPUT_NAME], place[OUTPUT_NAME];
    struct screenshot **running = s->save.running;
    const bool ok = screenshot_close(running[index], name, NULL);
    s->save.count--;
    memmove(running + index, running + index + 1, (size_t)(s->save.count - index) * sizeof(*running));
    output_place(name, place);
    if (ok)
        note_set(&s->stream.note, false, NOTE_S, "saved %s", place);
    else
        note_set(&s->stream.note, true, NOTE_S, CANNOT_SAVE);
    s->redraw = true;
    report_state(&s->report, "state", session_status(s));
}

void events_save_picture(struct session *s)
{
    char place[OUTPUT_NAME];
    s->save.due = false;
    events_picture_saved(s, false);
    if (s->save.count == sizeof(s->save.running) / sizeof(*s->save.running))
        picture_saved(s, 0); // waits for the oldest one
    struct screenshot *screenshot = stream_save(&s->stream, s->save.both, NULL);
    if (!screenshot) {
        note_set(&s->stream.note, true, NOTE_S, CANNOT_SAVE);
        return;
    }
    s->save.running[s->save.count++] = screenshot;
    output_place(screenshot_name(screenshot), place);
    note_set(&s->stream.note, false, 0, "saving %s", place);
}

void events_picture_saved(struct session *s, bool wait)
{
    for (int i = 0; i < s->save.count;) {
        if (wait || screenshot_done(s->save.running[i]))
            picture_saved(s, i);
        else
            i++;
    }
}

// Saves the current frame. If there is none yet, the loop saves the first one.
static void save_picture(struct session *s, int both)
{
    s->save.both = both;
    if (panes_result(s->stream.panes, PANE_MAIN))
        events_save_picture(s);
    else
        s->save.due = true;
}

static void toggle_recording(struct session *s, int animation)
{
    char suffix[16] = ".";
    options_choice(RECORDING_FORMATS, s->stream.settings.recording_format, suffix + 1, sizeof(suffix) - 1);
    outputs_toggle_recording(&s->stream.outputs, suffix, animation, s->stream.playback.still);
}

static void quit(struct session *s, int number)
{
    s->stream.quit = true;
}

// Lets the outputs show the same part of the picture as the window, if they are zoomed.
static void follow_zoom(struct session *s)
{
    const struct path_result *result = panes_result(s->stream.panes, PANE_MAIN);
    struct settings *settings = &s->stream.settings;
    settings->zoom_side = 1;
    if (result && settings->zoom > 0)
        settings->zoom_side = fminf(1, view_scale(s->view, result, &(struct settings){0}) / settings->zoom);
    panes_changed(s->stream.panes, false);
}

void events_note_zoom(struct session *s)
{
    const struct path_result *result = panes_result(s->stream.panes, PANE_MAIN);
    const float scale = result ? view_scale(s->view, result, &s->stream.settings) : s->stream.settings.zoom;
    follow_zoom(s);
    note_set(&s->stream.note, false, NOTE_S, "zoom %.3g %%%s", (double)scale * 100,
             s->stream.settings.zoom > 0 ? "" : ", fits the window");
}

// Ends the view; while it records, or while a program may read a virtual camera, only the second time.
static void leave(struct session *s)
{
    enum { LEAVE_S = 5 };
    const struct outputs_facts facts = outputs_describe(&s->stream.outputs);
    const int64_t now_ns = clock_now_ns();
    const bool read = facts.camera && facts.at.watched != 0;
    if ((!facts.recording && !read) || (s->left_ns > 0 && now_ns - s->left_ns < LEAVE_S * NS_PER_S))
        s->stream.quit = true;
    else
        note_set(&s->stream.note, false, LEAVE_S, "%s runs: the same key again quits",
                 facts.recording ? "the recording" : "the virtual camera");
    s->left_ns = now_ns;
}

static void go_back(struct session *s, int number)
{
    char why[PROPERTY_WHY];
    if (lists_event(s, &(struct window_event){.type = WINDOW_KEY, .key = WINDOW_KEY_ESCAPE}))
        return; // it has closed a list, which a program opened
    if (s->stream.settings.help)
        properties_set(&s->controlled, "help", "off", why);
    else if (s->stream.settings.zoom > 0)
        properties_set(&s->controlled, "zoom", "0", why);
    else if (s->stream.settings.fullscreen)
        properties_set(&s->controlled, "fullscreen", "off", why);
    else
        leave(s);
}

static bool carry_out(struct session *s, const struct key_command *command, char why[PROPERTY_WHY])
{
    static void (*const run[])(struct session * s, int number) = {
        [KEY_LOOK] = pick_look,
        [KEY_SAVE_LOOK] = save_look,
        [KEY_LIST_LOOKS] = list_looks,
        [KEY_SELECT] = select_param,
        [KEY_CHANGE] = change_value,
        [KEY_ADD] = add_stage,
        [KEY_REPLACE] = change_filter,
        [KEY_MOVE] = move_stage,
        [KEY_REMOVE] = remove_stage,
        [KEY_UNDO] = undo,
        [KEY_SELECT_CONTROL] = select_control,
        [KEY_CHANGE_CONTROL] = change_control,
        [KEY_SEEK] = seek,
        [KEY_STEP] = step,
        [KEY_SCREENSHOT] = save_picture,
        [KEY_RECORD] = toggle_recording,
        [KEY_BACK] = go_back,
        [KEY_QUIT] = quit,
    };
    if (command->action == KEY_CYCLE)
        return properties_cycle(&s->controlled, command->property, command->value, why);
    run[command->action](s, command->number);
    return true;
}

// Carries out the command of a key, redraws and reports the state. False: it is impossible; `why` is one line, which
// the note shows.
static bool run_command(struct session *s, const struct key_command *command, char why[PROPERTY_WHY])
{
    s->redraw = true;
    showcase_end(s);
    const bool ok = carry_out(s, command, why);
    if (!ok)
        note_set(&s->stream.note, true, NOTE_S, "%s", why);
    report_state(&s->report, "state", session_status(s));
    return ok;
}

// A slide show waits while the user works on an image.
static void hold_slide(struct session *s)
{
    if (s->stream.playback.info->slides && !s->stream.settings.paused)
        playback_pause(&s->stream.playback, true);
}

static bool press(struct session *s, const struct key_row *row, int digit, char why[PROPERTY_WHY])
{
    struct key_command command = row->command;
    if (row->digits)
        command.number = digit;
    if (row->group <= KEYS_VIEW)
        hold_slide(s);
    return run_command(s, &command, why);
}

bool events_press(struct session *s, const char *action, long long digit, char why[PROPERTY_WHY])
{
    const struct key_row *row = keys_named(&s->options.key_map, action, why);
    if (!row)
        return false;
    if (row->digits != (digit >= 0))
        return property_fail(why, "the action look has one argument, the digit; the other actions have none");
    if (digit > 9)
        return property_fail(why, "the digit is not one of 0 to 9");
    return press(s, row, (int)digit, why);
}

// Returns the row of the key, and the key in *key. If the layout's letter has none, uses the letter of a US layout at
// the same position, for keyboards without Latin letters.
static const struct key_row *row_of(const struct session *s, const struct window_event *event, uint32_t *key)
{
    *key = event->key;
    const struct key_row *row = keys_find(&s->options.key_map, *key, event->repeat);
    if (row || event->us == 0)
        return row;
    *key = event->us;
    return keys_find(&s->options.key_map, *key, event->repeat);
}

static void handle_key(struct session *s, const struct window_event *event, bool quit_only)
{
    uint32_t key;
    char why[PROPERTY_WHY];
    const struct key_row *row = row_of(s, event, &key);
    showcase_end(s);
    if (!row)
        return;
    if (!quit_only)
        press(s, row, (int)key - '0', why);
    else if (row->command.action == KEY_QUIT || row->command.action == KEY_BACK)
        carry_out(s, &row->command, why);
}

// ---- mouse ----

// Returns the stage `inside` whose region a drag changes: the selected stage, or the last one unless the picture is
// zoomed. -1: there is none.
static int region_stage(const struct session *s)
{
    const struct settings *settings = &s->stream.settings;
    int stage, param;
    if (settings_selected(settings, &stage, &param) && settings->chain.stage[stage].filter == &filter_inside)
        return stage;
    for (stage = settings->zoom > 0 ? -1 : settings->chain.count - 1; stage >= 0; stage--) {
        if (settings->chain.stage[stage].filter == &filter_inside)
            break;
    }
    return stage;
}

// Replaces a place in the chain's result by the one in the input of a stage, in %. False: a filter after the stage
// moves pixels in another way than mirror, flip and scale.
static bool region_place(const struct chain *chain, int stage, float at[2])
{
    for (int i = stage + 1; i < chain->count; i++) {
        const struct filter *filter = chain->stage[i].filter;
        at[0] = filter->mirror ? 1 - at[0] : at[0];
        at[1] = filter->flip ? 1 - at[1] : at[1];
        if (filter_moves(filter) && filter->kind == FILTER_WARP && strcmp(filter->name, "scale") != 0)
            return false;
    }
    for (int i = 0; i < 2; i++)
        at[i] = 100 * fminf(fmaxf(at[i], 0), 1);
    return true;
}

// Begins a drag of the region at a place: of one of its corners, of the whole region, or of the first corner of a new
// one.
static void region_begin(struct session *s, int stage, const float at[2], const float reach[2])
{
    const float *value = s->stream.settings.chain.stage[stage].values.value;
    bool corner = true, within = true;
    for (int i = 0; i < 2; i++) {
        const float begin = value[INSIDE_X + i], end = begin + value[INSIDE_WIDTH + i];
        const bool first = fabsf(at[i] - begin) < fabsf(at[i] - end);
        corner = corner && fabsf(at[i] - (first ? begin : end)) <= 100 * reach[i];
        within = within && at[i] > begin && at[i] < end;
        s->mouse.fixed[i] = first ? end : begin;
    }
    s->mouse.changed = false;
    s->mouse.drags = within && !corner ? DRAG_REGION : DRAG_CORNER;
    for (int i = 0; i < 2 && !corner; i++)
        s->mouse.fixed[i] = within ? at[i] - value[INSIDE_X + i] : at[i];
}

static void region_drag(struct session *s, int stage, const float at[2])
{
    struct settings *settings = &s->stream.settings;
    struct chain chain = settings->chain;
    const char *why;
    for (int i = 0; i < 2; i++) {
        float length = chain.stage[stage].values.value[INSIDE_WIDTH + i], begin = at[i] - s->mouse.fixed[i];
        if (s->mouse.drags == DRAG_CORNER) {
            length = fabsf(begin);
            begin = fminf(at[i], s->mouse.fixed[i]);
        } else {
            begin = fminf(fmaxf(begin, fminf(0, 100 - length)), fmaxf(0, 100 - length));
        }
        chain_set(&chain, stage, INSIDE_WIDTH + i, roundf(10 * length) / 10, &why);
        chain_set(&chain, stage, INSIDE_X + i, roundf(10 * begin) / 10, &why);
    }
    if (!s->mouse.changed)
        edits_keep(&s->edits, settings, EDIT_ALONE);
    s->mouse.changed = true;
    settings->chain = chain;
    settings_select(settings, stage);
    settings->selected += INSIDE_FEATHER; // the wheel changes it
    panes_changed(s->stream.panes, false);
    report_state(&s->report, "state", session_status(s));
}

// Moves the divider, a region, or the zoomed picture.
static void drag(struct session *s, const struct path_result *result, const struct window_event *event)
{
    struct settings *settings = &s->stream.settings;
    struct view_place place;
    if (!view_place(s->view, result, settings, event->x, event->y, &place))
        return;
    float at[2] = {place.at[0], place.at[1]};
    struct view_place shown = place; // in the picture that the window shows
    if (settings->zoom_output)
        view_place(s->view, result, &(struct settings){0}, event->x, event->y, &shown);
    const bool divider = panes_split(s->stream.panes) && fabsf(shown.at[0] - settings->divider) <= shown.reach[0];
    const int stage = region_stage(s);
    const bool known = stage >= 0 && region_place(&settings->chain, stage, at);
    if (event->begins) {
        s->mouse.drags = settings->zoom > 0 && !divider ? DRAG_PICTURE : DRAG_DIVIDER;
        if (known && !divider)
            region_begin(s, stage, at, place.reach);
    } else if (s->mouse.drags == DRAG_PICTURE) {
        view_pan(s->view, result, settings, event->x - s->mouse.x, event->y - s->mouse.y);
        follow_zoom(s);
    } else if (s->mouse.drags != DRAG_DIVIDER && known) {
        region_drag(s, stage, at);
    }
    if (s->mouse.drags == DRAG_DIVIDER)
        settings->divider = fminf(fmaxf(shown.at[0], 0), 1);
    s->mouse.x = event->x;
    s->mouse.y = event->y;
}

// Changes the selected parameter, of `inside` its feather, or zooms with the Ctrl key.
static void turn_wheel(struct session *s, const struct path_result *result, const struct window_event *event)
{
    char why[PROPERTY_WHY];
    const int steps = abs(event->steps) < STEPS_MOST ? abs(event->steps) : STEPS_MOST;
    hold_slide(s);
    if (event->control && result) {
        view_zoom(s->view, result, &s->stream.settings, event->steps > 0 ? steps : -steps, event->x, event->y);
        events_note_zoom(s);
        return;
    }
    int stage, param;
    if (!event->control && settings_selected(&s->stream.settings, &stage, &param) &&
        s->stream.settings.chain.stage[stage].filter == &filter_inside)
        s->stream.settings.selected += INSIDE_FEATHER - param;
    for (int i = 0; i < steps && !event->control; i++)
        run_command(s, &(struct key_command){.action = KEY_CHANGE, .number = event->steps > 0 ? 1 : -1}, why);
}

static void handle_mouse(struct session *s, const struct window_event *event)
{
    const struct path_result *result = panes_result(s->stream.panes, PANE_MAIN);
    char why[PROPERTY_WHY];
    switch (event->type) {
    case WINDOW_DRAG:
        showcase_end(s);
        if (result)
            drag(s, result, event);
        break;
    case WINDOW_WHEEL:
        showcase_end(s);
        turn_wheel(s, result, event);
        break;
    case WINDOW_DOUBLE_CLICK:
        run_command(s, &(struct key_command){.action = KEY_CYCLE, .property = "fullscreen"}, why);
        break;
    case WINDOW_RIGHT_CLICK:
        showcase_end(s);
        lists_open(s, CHOOSER_ACTIONS, event);
        break;
    case WINDOW_DROP:
        showcase_end(s);
        drop_files(s);
        break;
    default:
        break;
    }
}

void events_handle(struct session *s, bool quit_only)
{
    struct window_event event;
    while (s->stream.window && !s->stream.quit && window_next_event(s->stream.window, &event)) {
        s->redraw = s->redraw || event.type != WINDOW_KEY;
        if (!quit_only && lists_event(s, &event))
            continue;
        if (event.type == WINDOW_KEY)
            handle_key(s, &event, quit_only);
        else if (event.type == WINDOW_CLOSE)
            s->stream.quit = true;
        else if (!quit_only)
            handle_mouse(s, &event);
    }
    if (window_lost(s->stream.window)) {
        s->stream.quit = true;
        s->stream.code = EXIT_DEVICE;
    } else if (!quit_only) {
        control_serve(s->control);
    }
}

void events_hint(struct session *s, double seconds)
{
    char split[16], help[16], end[16];
    key_words(&s->options.key_map, "split", split);
    key_words(&s->options.key_map, "help", help);
    key_words(&s->options.key_map, "quit", end);
    const bool resumed = s->last.resumed; // else nothing explains why the picture is filtered
    const struct look *look = resumed ? looks_with(&s->looks, &s->stream.settings.chain) : NULL;
    const char *missing = s->stream.playback.info->missing, *last = "";
    if (s->last.lost[0]) {
        note_set(&s->stream.note, true, seconds, "the filters of the last run are left out: %s", s->last.lost);
        return;
    }
    if (resumed)
        last = look ? " of the last run, 0 removes it\n" : "filters of the last run, 0 removes them\n";
    note_set(&s->stream.note, false, seconds, "%s%s%s%s1-9\u00a0looks, %s\u00a0compare, %s\u00a0help, %s\u00a0quit",
             missing, text_if(missing[0], ", or drop a file here\n"), look ? look->name : "", last, split, help, end);
}
