// mouse.c: carries out events of the mouse
#include "command/live/mouse.h"

#include "base/log.h"
#include "command/live/events.h"
#include "command/live/session.h"

#include <stdlib.h>

enum { STEPS_MOST = 20 }; // of one turn of the wheel

// Moves the divider, or the zoomed picture if the drag did not begin at the divider.
static void drag(struct session *s, const struct path_result *result, const struct window_event *event)
{
    struct mouse *mouse = &s->mouse;
    const bool divider = lanes_split(s->stream.lanes) && view_at_divider(s->view, result, &s->stream.wish, event->x);
    if (event->begins)
        mouse->pans = s->stream.wish.zoom > 1 && !divider;
    if (!mouse->pans)
        view_drag(s->view, result, &s->stream.wish, event->x);
    else if (!event->begins)
        view_pan(s->view, result, &s->stream.wish, event->x - mouse->x, event->y - mouse->y);
    mouse->x = event->x;
    mouse->y = event->y;
}

// Changes the selected parameter, or zooms with the Ctrl key.
static void turn(struct session *s, const struct path_result *result, const struct window_event *event)
{
    char why[PROPERTY_WHY];
    const int steps = abs(event->steps) < STEPS_MOST ? abs(event->steps) : STEPS_MOST;
    if (event->control && result) {
        view_zoom(s->view, result, &s->stream.wish, event->steps > 0 ? steps : -steps, event->x, event->y);
        note_set(&s->stream.note, false, NOTE_S, "zoom %.0f %%", s->stream.wish.zoom * 100);
        return;
    }
    for (int i = 0; i < steps && !event->control; i++)
        events_run(s, event->steps > 0 ? "change 1" : "change -1", why);
}

void mouse_handle(struct session *s, const struct window_event *event)
{
    const struct path_result *result = lanes_result(s->stream.lanes, LANE_MAIN);
    char why[PROPERTY_WHY]; // also a SOURCE_WHY
    switch (event->type) {
    case WINDOW_DRAG:
        showcase_end(s);
        if (result)
            drag(s, result, event);
        break;
    case WINDOW_WHEEL:
        showcase_end(s);
        turn(s, result, event);
        break;
    case WINDOW_DOUBLE_CLICK:
        events_run(s, "cycle fullscreen", why);
        break;
    case WINDOW_RIGHT_CLICK:
        events_run(s, "cycle help", why);
        break;
    case WINDOW_DROP:
        showcase_end(s);
        if (!source_change_request(&s->stream, window_dropped(s->stream.window), why))
            log_error("%s", why);
        break;
    default:
        break;
    }
}
