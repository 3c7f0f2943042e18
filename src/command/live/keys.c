// keys.c: carries out keys and pointer events
#include "command/live/live.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

enum { NOTE_S = 3, DIGITS = 9 };

static int filter_count(void)
{
    int count = 0;
    while (filters[count])
        count++;
    return count;
}

// Inserts lines with each digit's filter into the list of keys.
void live_name_digits(struct live *live)
{
    int line = 0;
    size_t used = 0;
    for (int i = 0; filters[i] && i < 2 * DIGITS; i++) {
        char word[40];
        const int length =
            snprintf(word, sizeof(word), "%s%d %s", i == DIGITS ? "again: " : "", i % DIGITS + 1, filters[i]->name);
        if (used > 0 && (used + 2 + (size_t)length > DIGIT_COLUMNS || i == DIGITS)) {
            used = 0;
            line++;
        }
        if (line == DIGIT_LINES || live->keys.count == KEY_ROWS)
            return;
        char *text = live->digits[line];
        if (used == 0) {
            struct key_row *row = live->keys.row;
            memmove(&row[line + 2], &row[line + 1], (size_t)(live->keys.count - line - 1) * sizeof(*row));
            row[line + 1] = (struct key_row){.help = text};
            live->keys.count++;
        }
        used += (size_t)snprintf(text + used, sizeof(live->digits[line]) - used, "%s%s", used ? "  " : "", word);
    }
}

bool live_mirrored(const struct chain *chain)
{
    return chain->count > 0 && chain->stage[chain->count - 1].filter->mirror;
}

// Digits 1-9 select the first nine filters; the same digit again selects the filter nine rows later. A mirror at the
// end of the chain stays: it is a setting of the view. 0 removes all filters.
static void pick_filter(struct live *live, int digit)
{
    struct chain *chain = &live->wish.chain;
    const bool mirrored = live_mirrored(chain);
    const struct filter *present = chain->count > 0 ? chain->stage[0].filter : NULL;
    chain->count = 0;
    live->wish.selected = 0;
    if (digit > 0) {
        int index = digit - 1;
        if (filters[index] == present && index + DIGITS < filter_count())
            index += DIGITS;
        chain_append(chain, filters[index]);
        if (mirrored && !filters[index]->mirror)
            chain_append(chain, filter_find("mirror"));
        live_note(live, false, NOTE_S, "%s: %s", filters[index]->name, filters[index]->summary);
    }
    lanes_changed(live, false);
}

static void next_path(struct live *live, int number)
{
    const enum path_kind next = live_next_kind(live, live->wish.kind);
    if (next == live->wish.kind) {
        live_note(live, false, NOTE_S, "there is no OpenCL device, so only the cpu path works");
        return;
    }
    if (path_kind_info(next)->needs_device && !live_open_device(live, live->wish.device)) {
        live_note(live, true, NOTE_S, "cannot open the device; see standard error");
        return;
    }
    live->wish.kind = next;
    live_note(live, false, NOTE_S, "path %s", path_kind_name(next));
    lanes_changed(live, false);
}

static void next_device(struct live *live, int number)
{
    if (live->devices < 2) {
        live_note(live, false, NOTE_S, "%s",
                  live->devices == 1 ? "there is only one OpenCL device" : "there is no OpenCL device");
        return;
    }
    const int next = (live->wish.device + 1) % live->devices;
    if (!live_open_device(live, next)) {
        live_note(live, true, NOTE_S, "cannot open %s; see standard error", live->device_info[next].name);
        return;
    }
    live->wish.device = next;
    live_note(live, false, NOTE_S, "device %s%s", live->device_info[next].name,
              path_kind_info(live->wish.kind)->needs_device ? "" : " (this path does not use it)");
    lanes_changed(live, false);
}

static void next_split(struct live *live, int number)
{
    struct wish *wish = &live->wish;
    wish->split = (enum split)((wish->split + 1) % SPLITS);
    if (wish->split == SPLIT_PATH) {
        const enum path_kind other = live_next_kind(live, wish->kind);
        if (other == wish->kind || (path_kind_info(other)->needs_device && !live_open_device(live, wish->device)))
            wish->split = SPLIT_OFF;
    }
    lanes_changed(live, false);
}

static void note_value(struct live *live)
{
    int stage, param;
    char value[64];
    if (!live_selected(live, &stage, &param)) {
        live_note(live, false, NOTE_S, "the chain has no parameter");
        return;
    }
    const struct stage *s = &live->wish.chain.stage[stage];
    chain_value_text(s, param, value);
    live_note(live, false, NOTE_S, "%s: %s %s", s->filter->name, s->filter->params[param].name, value);
}

static void select_param(struct live *live, int step)
{
    const struct chain *chain = &live->wish.chain;
    int count = 0;
    for (int i = 0; i < chain->count; i++)
        count += filter_param_count(chain->stage[i].filter);
    if (count > 0)
        live->wish.selected = (live->wish.selected + step + count) % count;
    note_value(live);
}

static void change_value(struct live *live, int steps)
{
    int stage, param;
    if (live_selected(live, &stage, &param)) {
        const struct stage *s = &live->wish.chain.stage[stage];
        const float value = s->values.value[param] + (float)steps * s->filter->params[param].step;
        if (chain_set(&live->wish.chain, stage, param, value))
            lanes_changed(live, false);
    }
    note_value(live);
}

static void toggle_freeze(struct live *live, int number)
{
    live->wish.frozen = !live->wish.frozen;
    meter_pause(&live->meter);
}

static void toggle_fullscreen(struct live *live, int number)
{
    live->wish.fullscreen = !live->wish.fullscreen;
    window_set_fullscreen(live->window, live->wish.fullscreen);
}

static void toggle_mirror(struct live *live, int number)
{
    struct chain *chain = &live->wish.chain;
    if (live_mirrored(chain))
        chain_remove(chain, chain->count - 1);
    else if (!chain_append(chain, filter_find("mirror")))
        live_note(live, true, NOTE_S, "cannot add a mirror: a chain has at most %d filters", CHAIN_MAX);
    lanes_changed(live, false);
}

static void toggle_vsync(struct live *live, int number)
{
    live->wish.vsync = !live->wish.vsync;
    window_set_vsync(live->window, live->wish.vsync);
    live_note(live, false, NOTE_S, "vsync %s", live->wish.vsync ? "on" : "off");
}

static void next_overlay(struct live *live, int number)
{
    live->wish.overlay = (enum overlay_size)((live->wish.overlay + 1) % OVERLAY_SIZES);
}

void live_save_picture(struct live *live)
{
    char name[OUTPUT_NAME];
    const struct image *picture = lane_picture(live);
    live->save_due = false;
    if (picture && output_save_new(picture, name))
        live_note(live, false, NOTE_S, "saved %s", name);
    else
        live_note(live, true, NOTE_S, "cannot save a screenshot; see standard error");
}

// Saves the current frame. If there is none yet, the loop saves the first one.
static void save_picture(struct live *live, int number)
{
    if (live->lane[LANE_MAIN].has_result)
        live_save_picture(live);
    else
        live->save_due = true;
}

static void toggle_recording(struct live *live, int number)
{
    struct recorder *recorder = &live->recorder;
    if (recorder->writer) {
        const bool ok = recorder_close(recorder);
        if (ok && recorder->frames == 0)
            live_note(live, true, NOTE_S, "nothing recorded to %s: %s", recorder->name,
                      live->wish.frozen ? "the view is frozen" : "no frame arrived");
        else
            live_note(live, !ok, NOTE_S, "recorded %llu frames to %s%s", (unsigned long long)recorder->frames,
                      recorder->name, ok ? "" : ", which is incomplete; see standard error");
        if (!ok)
            live->code = EXIT_FAILED_SOME;
        return;
    }
    if (live_is_still(live))
        live_note(live, false, NOTE_S, "a still image cannot be recorded; save a screenshot instead");
    else if (!recorder_open(recorder, NULL, live->info))
        live_note(live, true, NOTE_S, "cannot start a recording; see standard error");
}

static void toggle_help(struct live *live, int number)
{
    live->wish.help = !live->wish.help;
    if (!live->note.error)
        live->note.text[0] = '\0'; // the message may be the hint to press h, and it would hide a part of the help
}

static void quit(struct live *live, int number)
{
    live->quit = true;
}

static void go_back(struct live *live, int number)
{
    if (live->wish.help)
        toggle_help(live, number);
    else if (live->wish.fullscreen)
        toggle_fullscreen(live, number);
    else
        quit(live, number);
}

static const struct {
    void (*run)(struct live *live, int number);
    int number; // argument of `run`; pick_filter gets the key's digit instead
} actions[ACTION_COUNT] = {
    [ACTION_FILTER] = {.run = pick_filter},
    [ACTION_PATH] = {.run = next_path},
    [ACTION_DEVICE] = {.run = next_device},
    [ACTION_SPLIT] = {.run = next_split},
    [ACTION_STAGE_NEXT] = {select_param, 1},
    [ACTION_STAGE_PREVIOUS] = {select_param, -1},
    [ACTION_VALUE_UP] = {change_value, 1},
    [ACTION_VALUE_DOWN] = {change_value, -1},
    [ACTION_CONTROL_NEXT] = {live_choose_control, 1},
    [ACTION_CONTROL_PREVIOUS] = {live_choose_control, -1},
    [ACTION_CONTROL_UP] = {live_move_control, 1},
    [ACTION_CONTROL_DOWN] = {live_move_control, -1},
    [ACTION_FREEZE] = {.run = toggle_freeze},
    [ACTION_FULLSCREEN] = {.run = toggle_fullscreen},
    [ACTION_MIRROR] = {.run = toggle_mirror},
    [ACTION_VSYNC] = {.run = toggle_vsync},
    [ACTION_OVERLAY] = {.run = next_overlay},
    [ACTION_SCREENSHOT] = {.run = save_picture},
    [ACTION_RECORD] = {.run = toggle_recording},
    [ACTION_HELP] = {.run = toggle_help},
    [ACTION_BACK] = {.run = go_back},
    [ACTION_QUIT] = {.run = quit},
};

static void move_divider(struct live *live, const struct window_event *event)
{
    const struct window_size size = window_size(live->window);
    const struct scene scene = {.width = live->info->shape.width, .height = live->info->shape.height};
    const struct renderer_box box = renderer_picture_box(&scene, &size);
    if (box.width <= 0)
        return;
    const float across = (event->x * (float)size.width - box.x) / box.width;
    live->wish.divider = across < 0 ? 0 : across > 1 ? 1 : across;
}

// Returns the action of the key, and the key in *key. If the layout's letter has no action, uses the letter of a US
// layout at the same position, for keyboards without Latin letters.
static enum action action_of(const struct live *live, const struct window_event *event, uint32_t *key)
{
    *key = event->key;
    const enum action action = keys_find(&live->keys, *key, event->repeat);
    if (action != ACTION_NONE || event->us == 0)
        return action;
    *key = event->us;
    return keys_find(&live->keys, *key, event->repeat);
}

static void handle_event(struct live *live, const struct window_event *event)
{
    live->redraw = true;
    switch (event->type) {
    case WINDOW_KEY: {
        uint32_t key;
        const enum action action = action_of(live, event, &key);
        if (!actions[action].run) {
            live->redraw = false;
            return;
        }
        actions[action].run(live, action == ACTION_FILTER ? (int)key - '0' : actions[action].number);
        report_state(live, "state");
        return;
    }
    case WINDOW_DRAG:
        move_divider(live, event);
        return;
    case WINDOW_RESIZE:
        return;
    case WINDOW_CLOSE:
        live->quit = true;
        return;
    }
}

static void check_display(struct live *live)
{
    if (!window_lost(live->window))
        return;
    live->quit = true;
    live->code = EXIT_DEVICE;
}

void live_handle_quit(struct live *live)
{
    struct window_event event;
    while (window_next_event(live->window, &event)) {
        uint32_t key;
        const enum action action = event.type == WINDOW_KEY ? action_of(live, &event, &key) : ACTION_NONE;
        if (event.type == WINDOW_CLOSE || action == ACTION_QUIT)
            live->quit = true;
        else if (action == ACTION_BACK)
            go_back(live, 0);
        live->redraw = true;
    }
    check_display(live);
}

void live_handle_events(struct live *live)
{
    struct window_event event;
    while (!live->quit && window_next_event(live->window, &event))
        handle_event(live, &event);
    check_display(live);
}
