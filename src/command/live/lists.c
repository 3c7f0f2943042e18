// lists.c: the lists of filters, looks and actions in the window: rows, keys and mouse, pictures of the looks

#include "base/alloc.h"
#include "base/number.h"
#include "base/thread.h"
#include "command/live/report.h"
#include "command/live/session.h"
#include "command/live/view.h"
#include "path/path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = LOOKS_MAX + KEY_GROUPS, PICTURES_MOST = 64 };

// ---- pictures of the looks ----

// Filters an image with the cpu path; `to` gets an image that the caller frees. False: it is impossible.
static bool filter_image(const struct image *from, const struct chain *chain, struct image *to)
{
    const struct path_setup setup = {.kind = PATH_CPU, .input = from->shape, .chain = chain, .depth = 1, .threads = 1};
    char *error = NULL;
    *to = (struct image){0};
    const bool ok = path_filter(&setup, from, to, &error);
    free(error);
    return ok;
}

// Shrinks the frame to the size of a picture.
static bool shrink(const struct image *frame, struct image *small)
{
    const int width = frame->shape.width, height = frame->shape.height;
    const bool wide = (int64_t)width * CHOICE_HEIGHT >= (int64_t)height * CHOICE_WIDTH;
    const int across = wide ? CHOICE_WIDTH : width * CHOICE_HEIGHT / height;
    const int down = wide ? height * CHOICE_WIDTH / width : CHOICE_HEIGHT;
    struct chain *chain = xalloc(sizeof(*chain)); // too large for the stack
    char text[64], error[CHAIN_ERROR];
    snprintf(text, sizeof(text), "scale=%d:%d:method=area", clamp_int(across, 1, INT_MAX), clamp_int(down, 1, INT_MAX));
    const bool ok = chain_parse(chain, text, error) && filter_image(frame, chain, small);
    free(chain);
    return ok;
}

static void *make_picture(void *context)
{
    struct chooser *chooser = context;
    if (chain_sees_frame(&chooser->look) || !filter_image(&chooser->small, &chooser->look, &chooser->filtered))
        chooser->filtered = (struct image){0};
    chooser->done = true;
    return NULL;
}

// Waits for the thread.
static void join(struct chooser *chooser)
{
    if (chooser->running)
        pthread_join(chooser->thread, NULL);
    chooser->running = false;
    chooser->done = false;
}

static void forget_pictures(struct chooser *chooser)
{
    join(chooser);
    image_free(&chooser->filtered);
    image_free(&chooser->small);
    image_free(&chooser->sheet);
    chooser->made = 0;
    chooser->changes++;
}

// Copies the middle of the image to a picture of the sheet.
static void put_picture(const struct image *from, struct image *sheet, int number)
{
    const int width = from->shape.width < CHOICE_WIDTH ? from->shape.width : CHOICE_WIDTH;
    const int height = from->shape.height < CHOICE_HEIGHT ? from->shape.height : CHOICE_HEIGHT;
    const int from_x = (from->shape.width - width) / 2, from_y = (from->shape.height - height) / 2;
    const int x = (CHOICE_WIDTH - width) / 2, y = number * CHOICE_HEIGHT + (CHOICE_HEIGHT - height) / 2;
    for (int row = 0; row < height; row++)
        memcpy(image_row(sheet, 0, y + row) + 4 * (size_t)x, image_row(from, 0, from_y + row) + 4 * (size_t)from_x,
               4 * (size_t)width);
}

static bool make_sheet(struct session *s, struct chooser *chooser)
{
    const struct image *frame = panes_input(s->stream.panes);
    const int count = s->looks.count < PICTURES_MOST ? s->looks.count : PICTURES_MOST;
    const struct image_shape shape = {.width = CHOICE_WIDTH, .height = count * CHOICE_HEIGHT};
    if (!frame || count == 0 || !shrink(frame, &chooser->small))
        return false;
    if (!image_alloc(&chooser->sheet, &shape)) {
        image_free(&chooser->small);
        return false;
    }
    for (int y = 0; y < shape.height; y++)
        memset(image_row(&chooser->sheet, 0, y), 0, 4 * (size_t)shape.width);
    return true;
}

// A users' filter is compiled, so a thread makes each picture. The picture of a look that cannot be made, or with a
// matte, is the frame.
void lists_step(struct session *s)
{
    struct chooser *chooser = &s->chooser;
    char error[CHAIN_ERROR];
    if (chooser->kind != CHOOSER_LOOKS || (!chooser->sheet.memory && !make_sheet(s, chooser)))
        return;
    if (chooser->running && chooser->done) {
        join(chooser);
        put_picture(chooser->filtered.memory ? &chooser->filtered : &chooser->small, &chooser->sheet, chooser->made++);
        image_free(&chooser->filtered);
        chooser->changes++;
        s->redraw = true;
    }
    const int next = chooser->made;
    if (!chooser->running && next * CHOICE_HEIGHT < chooser->sheet.shape.height && next < s->looks.count) {
        if (!chain_parse(&chooser->look, s->looks.look[next].chain, error))
            chooser->look.count = 0; // it was parsed before, but its file has gone
        chooser->running = thread_start(&chooser->thread, make_picture, chooser, "pictures");
    }
}

// ---- rows ----

// Returns the key row that is number `index` in the list of actions, and its group.
static const struct key_row *list_action(const struct keys *keys, int index, const char **group)
{
    static const enum key_group order[KEY_GROUPS] = {KEYS_LOOKS,  KEYS_FILTERS,  KEYS_VIEW,   KEYS_FILES,
                                                     KEYS_WINDOW, KEYS_PLAYBACK, KEYS_CAMERA, KEYS_PATH};
    for (int i = 0; i < KEY_GROUPS; i++) {
        *group = keys_group_name(order[i]);
        for (int k = 0; k < keys->count; k++) {
            if (keys->row[k].group == order[i] && index-- == 0)
                return &keys->row[k];
        }
    }
    return NULL;
}

// Writes choice number `index` as "label\tdetail", and its group. Returns false after the last one. One that cannot be
// chosen is empty.
static bool list_text(const struct session *s, int index, char text[CHOICE_TEXT], const char **group)
{
    const struct key_row *action;
    const struct filter *filter;
    char key[16];
    text[0] = '\0';
    *group = "";
    switch (s->chooser.kind) {
    case CHOOSER_FILTERS:
        if (!(filter = filter_in_group(index, group)))
            return false;
        snprintf(text, CHOICE_TEXT, "%s\t%s", filter->name, filter->summary);
        return true;
    case CHOOSER_LOOKS:
        if (index < s->looks.count)
            snprintf(text, CHOICE_TEXT, "%s", s->looks.look[index].name);
        return index < s->looks.count;
    case CHOOSER_ACTIONS:
        if (!(action = list_action(&s->options.key_map, index, group)))
            return false;
        keys_key_name(action->key[0], key);
        if (!action->digits)
            snprintf(text, CHOICE_TEXT, "%s\t%s", key, action->help);
        return true;
    default:
        return false;
    }
}

// Writes the choices that contain the typed text, those first that begin with it. Without a typed text, -1 is the
// heading of the choices after it. Returns the number of rows.
static int list_rows(const struct session *s, int row[ROWS_MOST])
{
    const char *typed = s->chooser.typed, *group, *last = "";
    char text[CHOICE_TEXT];
    int rows = 0;
    for (int begins = 1; begins >= 0; begins--)
        for (int i = 0; list_text(s, i, text, &group) && rows < ROWS_MOST - 1; i++) {
            const char *at = text[0] ? strcasestr(text, typed) : NULL;
            if (!at || (at == text) != begins)
                continue;
            if (!*typed && strcmp(group, last) != 0)
                row[rows++] = -1;
            last = group;
            row[rows++] = i;
        }
    return rows;
}

// Returns the number of rows that the window shows.
static int list_room(const struct session *s)
{
    const struct choice_list list = {.large = s->stream.settings.overlay == OVERLAY_LARGE,
                                     .pictured = s->chooser.kind == CHOOSER_LOOKS};
    return s->view ? view_choice_room(s->view, &list) : 1;
}

// Takes the shown look back, unless the chain has changed since.
static void hide_look(struct session *s)
{
    const struct look *shown = s->chooser.shown;
    s->chooser.shown = NULL;
    if (!shown || !look_has(shown, &s->stream.settings.chain) || !edits_undo(&s->edits, &s->stream.settings))
        return;
    panes_changed(s->stream.panes, false);
    note_clear(&s->stream.note, false);
    note_clear(&s->stream.note, true); // of a look that cannot be built
}

static void list_close(struct session *s)
{
    hide_look(s);
    s->chooser.kind = CHOOSER_NONE;
    forget_pictures(&s->chooser);
}

static void show_look(struct session *s, const struct look *look)
{
    hide_look(s);
    events_show_look(s, look->name);
    if (look_has(look, &s->stream.settings.chain))
        s->chooser.shown = look;
}

// `shows`: the picture follows the selection in the list of looks.
static void list_move(struct session *s, int steps, bool shows)
{
    struct chooser *chooser = &s->chooser;
    int row[ROWS_MOST];
    const int rows = list_rows(s, row), room = list_room(s);
    int at = clamp_int(chooser->selected + steps, 0, rows - 1);
    if (rows > 0 && row[at] < 0)
        at += steps < 0 && at > 0 ? -1 : 1;
    const bool heads = at > 0 && rows > 0 && row[at - 1] < 0; // its heading stays visible
    chooser->first = clamp_int(chooser->first, at - room + 1, at - heads);
    chooser->first = clamp_int(chooser->first, 0, rows);
    chooser->selected = at;
    if (shows && rows > 0 && chooser->kind == CHOOSER_LOOKS)
        show_look(s, &s->looks.look[row[at]]);
}

void lists_open(struct session *s, enum chooser_kind kind, const struct window_event *event)
{
    struct chooser *chooser = &s->chooser;
    list_close(s);
    chooser->kind = kind;
    memset(chooser->typed, 0, sizeof(chooser->typed));
    chooser->selected = chooser->first = 0;
    chooser->placed = event != NULL;
    chooser->x = event ? event->x : 0;
    chooser->y = event ? event->y : 0;
    const struct look *look = kind == CHOOSER_LOOKS ? looks_with(&s->looks, &s->stream.settings.chain) : NULL;
    if (look)
        chooser->selected = (int)(look - s->looks.look);
    int row[ROWS_MOST];
    chooser->most = list_rows(s, row);
    list_move(s, 0, false);
    note_clear(&s->stream.note, false); // the hint would hide rows
}

static void list_choose(struct session *s)
{
    char why[PROPERTY_WHY];
    int row[ROWS_MOST];
    const int rows = list_rows(s, row);
    const enum chooser_kind kind = s->chooser.kind;
    const char *group;
    if (s->chooser.selected >= rows || row[s->chooser.selected] < 0) // the list has changed since it was drawn
        return;
    const int index = row[s->chooser.selected];
    list_close(s);
    if (kind == CHOOSER_ACTIONS) { // it reports the change
        events_press(s, list_action(&s->options.key_map, index, &group)->name, -1, why);
        return;
    }
    if (kind == CHOOSER_FILTERS)
        events_add_filter(s, filter_in_group(index, &group));
    else
        events_show_look(s, s->looks.look[index].name);
    report_state(&s->report, "state", session_status(s));
}

// ---- keys and mouse ----

static void list_type(struct session *s, uint32_t key)
{
    struct chooser *chooser = &s->chooser;
    const size_t length = strlen(chooser->typed);
    if (key == WINDOW_KEY_DELETE && length > 0)
        chooser->typed[length - 1] = '\0';
    else if (key > ' ' && key <= '~' && length + 1 < sizeof(chooser->typed))
        chooser->typed[length] = (char)key;
    else
        return;
    chooser->selected = chooser->first = 0;
    list_move(s, 0, true);
}

// Returns how many rows down the key moves the selection; 0: none.
static int list_steps(const struct session *s, uint32_t key)
{
    enum { ALL = 1 << 16 };
    const int page = list_room(s) > 2 ? list_room(s) - 1 : 1;
    switch (key) {
    case WINDOW_KEY_UP:
        return -1;
    case WINDOW_KEY_DOWN:
        return 1;
    case WINDOW_KEY_PAGE_UP:
        return -page;
    case WINDOW_KEY_PAGE_DOWN:
        return page;
    case WINDOW_KEY_HOME:
        return -ALL;
    case WINDOW_KEY_END:
        return ALL;
    default:
        return 0;
    }
}

static void list_press(struct session *s, uint32_t key)
{
    const int steps = list_steps(s, key);
    if (key == WINDOW_KEY_ESCAPE)
        list_close(s);
    else if (key == WINDOW_KEY_ENTER)
        list_choose(s);
    else if (steps != 0)
        list_move(s, steps, true);
    else
        list_type(s, key);
}

static void list_click(struct session *s, const struct window_event *event)
{
    const int row = view_choice(s->view, event->x, event->y);
    if (row >= 0) {
        s->chooser.selected = s->chooser.first + row;
        list_choose(s);
    } else if (row < -1) {
        list_close(s);
    }
}

bool lists_event(struct session *s, const struct window_event *event)
{
    if (s->chooser.kind != CHOOSER_NONE && event->type == WINDOW_CLOSE)
        list_close(s);
    if (s->chooser.kind == CHOOSER_NONE || event->type == WINDOW_RESIZE)
        return false;
    s->redraw = true;
    if (event->type == WINDOW_KEY)
        list_press(s, event->key);
    else if (event->type == WINDOW_WHEEL)
        list_move(s, -event->steps, true);
    else if (event->type == WINDOW_DRAG && event->begins)
        list_click(s, event);
    else if (event->type == WINDOW_RIGHT_CLICK || event->type == WINDOW_DROP)
        list_close(s);
    return event->type != WINDOW_DROP;
}

// ---- what the window shows ----

void lists_fill(const struct session *s, struct choice_list *list)
{
    static const char *const titles[] = {
        [CHOOSER_FILTERS] = "Add a filter", [CHOOSER_LOOKS] = "Looks", [CHOOSER_ACTIONS] = "Actions"};
    const struct chooser *chooser = &s->chooser;
    char text[CHOICE_TEXT];
    const char *group;
    *list = (struct choice_list){.placed = chooser->placed, .x = chooser->x, .y = chooser->y};
    if (chooser->kind == CHOOSER_NONE)
        return;
    int row[ROWS_MOST];
    const int rows = list_rows(s, row), room = list_room(s);
    for (int i = chooser->first; i < rows && list->rows < room; i++, list->rows++) {
        list->heading[list->rows] = row[i] < 0;
        list->picture[list->rows] = chooser->kind == CHOOSER_LOOKS && row[i] < chooser->made ? row[i] : -1;
        list_text(s, row[i] < 0 ? row[i + 1] : row[i], text, &group);
        snprintf(list->row[list->rows], CHOICE_TEXT, "%s", row[i] < 0 ? group : text);
    }
    list->selected = chooser->selected - chooser->first;
    list->above = chooser->first > 0;
    list->below = chooser->first + list->rows < rows;
    list->most = chooser->most;
    list->large = s->stream.settings.overlay == OVERLAY_LARGE;
    list->pictured = chooser->kind == CHOOSER_LOOKS;
    list->sheet = chooser->sheet.memory ? &chooser->sheet : NULL;
    list->sheet_changes = chooser->changes;
    const char *hint = list->pictured ? "  Esc closes" : "  type to find; Esc closes";
    if (chooser->typed[0])
        hint = "";
    if (rows == 0)
        hint = "  nothing has this text";
    snprintf(list->title, sizeof(list->title), "%s: %s_%s", titles[chooser->kind], chooser->typed, hint);
}

void lists_close(struct session *s)
{
    forget_pictures(&s->chooser);
}
