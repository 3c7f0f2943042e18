// chooser.c: the lists in the window from which the user chooses a filter, a look or an action
#include "command/live/chooser.h"

#include "command/live/events.h"
#include "command/live/session.h"

#include <stdio.h>
#include <string.h>

// Returns the key row that is number `index` in the list of actions: by groups, those first that a mouse needs.
static const struct key_row *action_row(const struct keys *keys, int index)
{
    static const enum key_group order[KEY_GROUPS] = {KEYS_WINDOW,  KEYS_FILES, KEYS_VIEW,   KEYS_LOOKS,
                                                     KEYS_FILTERS, KEYS_FILM,  KEYS_CAMERA, KEYS_PATH};
    for (int group = 0; group < KEY_GROUPS; group++)
        for (int i = 0; i < keys->count; i++) {
            if (keys->row[i].group == order[group] && index-- == 0)
                return &keys->row[i];
        }
    return NULL;
}

// Writes row number `index` as "label\tdetail". Returns false after the last one. A row that cannot be chosen is empty.
static bool row_text(const struct session *s, int index, char text[CHOICE_TEXT])
{
    const struct key_row *action;
    const struct filter *filter;
    char key[16];
    text[0] = '\0';
    switch (s->chooser.kind) {
    case CHOOSER_FILTERS:
        if (!(filter = filter_at(index)))
            return false;
        if (strcmp(filter->name, "none") != 0)
            snprintf(text, CHOICE_TEXT, "%s\t%s", filter->name, filter->summary);
        return true;
    case CHOOSER_LOOKS:
        if (index < s->looks.count)
            snprintf(text, CHOICE_TEXT, "%s\t%s", s->looks.look[index].name, s->looks.look[index].chain);
        return index < s->looks.count;
    case CHOOSER_ACTIONS:
        if (!(action = action_row(&s->options.key_map, index)))
            return false;
        keys_key_name(action->key[0], key);
        if (!action->digits)
            snprintf(text, CHOICE_TEXT, "%s\t%s", key, action->help);
        return true;
    default:
        return false;
    }
}

// Returns the index of a row, by its place among the rows that contain the typed text; -1: there is none. Rows that
// begin with it come first.
static int find_row(const struct session *s, int place, char text[CHOICE_TEXT])
{
    const char *typed = s->chooser.typed;
    for (int begins = 1; begins >= 0; begins--)
        for (int i = 0; row_text(s, i, text); i++) {
            const char *at = text[0] ? strcasestr(text, typed) : NULL;
            if (at && (at == text) == begins && place-- == 0)
                return i;
        }
    return -1;
}

static void move(struct session *s, int steps)
{
    struct chooser *chooser = &s->chooser;
    char text[CHOICE_TEXT];
    chooser->selected += steps;
    int rows = 0;
    while (rows <= chooser->selected && find_row(s, rows, text) >= 0)
        rows++;
    if (chooser->selected > rows - 1)
        chooser->selected = rows - 1;
    if (chooser->selected < 0)
        chooser->selected = 0;
    if (chooser->first > chooser->selected)
        chooser->first = chooser->selected;
    if (chooser->first < chooser->selected - CHOICE_ROWS + 1)
        chooser->first = chooser->selected - CHOICE_ROWS + 1;
}

static void choose(struct session *s)
{
    char text[CHOICE_TEXT], why[PROPERTY_WHY];
    const int index = find_row(s, s->chooser.selected, text);
    const enum chooser_kind kind = s->chooser.kind;
    if (index < 0)
        return;
    s->chooser.kind = CHOOSER_NONE;
    if (kind == CHOOSER_ACTIONS) { // it reports the change
        events_press(s, action_row(&s->options.key_map, index)->name, -1, why);
        return;
    }
    if (kind == CHOOSER_FILTERS)
        events_add_filter(s, filter_at(index));
    else
        events_show_look(s, &s->looks.look[index]);
    report_state(&s->report, "state", session_status(s));
}

static void type(struct session *s, uint32_t key)
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
}

// Returns how many rows down the key moves the selection; 0: none.
static int steps_of(uint32_t key)
{
    enum { ALL = 1 << 16 };
    switch (key) {
    case WINDOW_KEY_UP:
        return -1;
    case WINDOW_KEY_DOWN:
        return 1;
    case WINDOW_KEY_PAGE_UP:
        return 1 - CHOICE_ROWS;
    case WINDOW_KEY_PAGE_DOWN:
        return CHOICE_ROWS - 1;
    case WINDOW_KEY_HOME:
        return -ALL;
    case WINDOW_KEY_END:
        return ALL;
    default:
        return 0;
    }
}

static void press(struct session *s, uint32_t key)
{
    if (key == WINDOW_KEY_ESCAPE)
        s->chooser.kind = CHOOSER_NONE;
    else if (key == WINDOW_KEY_ENTER)
        choose(s);
    else if (steps_of(key) != 0)
        move(s, steps_of(key));
    else
        type(s, key);
}

static void click(struct session *s, const struct window_event *event)
{
    const int row = view_choice(s->view, event->x, event->y);
    if (row >= 0) {
        move(s, s->chooser.first + row - s->chooser.selected);
        choose(s);
    } else if (row < -1) {
        s->chooser.kind = CHOOSER_NONE;
    }
}

bool chooser_event(struct session *s, const struct window_event *event)
{
    if (s->chooser.kind == CHOOSER_NONE || event->type == WINDOW_RESIZE || event->type == WINDOW_CLOSE)
        return false;
    s->redraw = true;
    if (event->type == WINDOW_KEY)
        press(s, event->key);
    else if (event->type == WINDOW_WHEEL)
        move(s, -event->steps);
    else if (event->type == WINDOW_DRAG && event->begins)
        click(s, event);
    else if (event->type == WINDOW_RIGHT_CLICK || event->type == WINDOW_DROP)
        s->chooser.kind = CHOOSER_NONE;
    return event->type != WINDOW_DROP;
}

void chooser_open(struct session *s, enum chooser_kind kind, const struct window_event *event)
{
    s->chooser = (struct chooser){.kind = kind};
    if (event)
        s->chooser = (struct chooser){.kind = kind, .placed = true, .x = event->x, .y = event->y};
    note_clear(&s->stream.note, false); // the hint would hide rows
}

void chooser_fill(const struct session *s, struct choice_list *list)
{
    static const char *const titles[] = {
        [CHOOSER_FILTERS] = "Add a filter", [CHOOSER_LOOKS] = "Looks", [CHOOSER_ACTIONS] = "Actions"};
    const struct chooser *chooser = &s->chooser;
    char text[CHOICE_TEXT];
    *list = (struct choice_list){.placed = chooser->placed, .x = chooser->x, .y = chooser->y};
    if (chooser->kind == CHOOSER_NONE)
        return;
    while (list->rows < CHOICE_ROWS && find_row(s, chooser->first + list->rows, list->row[list->rows]) >= 0)
        list->rows++;
    list->selected = chooser->selected - chooser->first;
    list->above = chooser->first > 0;
    list->below = find_row(s, chooser->first + list->rows, text) >= 0;
    snprintf(list->title, sizeof(list->title), "%s: %s_%s", titles[chooser->kind], chooser->typed,
             list->rows == 0             ? "  nothing has this text"
             : chooser->typed[0] == '\0' ? "  type to find; Esc closes"
                                         : "");
}
