// showcase.c: shows the looks one after another beside the original, until the user does something
#include "command/live/showcase.h"

#include "base/clock.h"
#include "command/live/session.h"

#include <math.h>

enum { LOOK_S = 5, SWEEP_S = 12 }; // how long a look is shown; round of the divider
static const int64_t divider_step_ns = 1000000000 / 60;
static const double divider_room = 0.4; // it moves from 0.1 to 0.9

static void show_look(struct session *s, int look)
{
    char error[CHAIN_ERROR];
    s->showcase.look = look;
    s->showcase.look_ns = clock_now_ns();
    chain_parse(&s->stream.settings.chain, s->looks.look[look].chain, error); // it was parsed before
    settings_select_first(&s->stream.settings);
    last_run_chain(s);
}

void showcase_open(struct session *s)
{
    const struct live_options *o = &s->options;
    if (!s->stream.window || s->looks.count == 0 ||
        !(o->showcase || (!o->filters && !o->look && s->stream.info->missing[0])))
        return;
    s->showcase.on = true;
    s->last.resumed = false;
    s->showcase.from_ns = clock_now_ns();
    s->stream.settings.split = SPLIT_ORIGINAL;
    show_look(s, 0);
}

void showcase_step(struct session *s)
{
    struct showcase *showcase = &s->showcase;
    const int64_t now = clock_now_ns();
    if (!showcase->on)
        return;
    if (now - showcase->divider_ns > divider_step_ns) {
        const double turn = 2 * acos(-1) * (double)(now - showcase->from_ns) / (SWEEP_S * 1e9);
        s->stream.settings.divider = (float)(0.5 + divider_room * sin(turn));
        showcase->divider_ns = now;
        s->redraw = true;
    }
    if (panes_building(s->stream.panes)) {
        showcase->look_ns = now;
    } else if (now - showcase->look_ns > LOOK_S * INT64_C(1000000000)) {
        show_look(s, (showcase->look + 1) % s->looks.count);
        panes_changed(s->stream.panes, false);
    }
}

void showcase_end(struct session *s)
{
    if (!s->showcase.on)
        return;
    s->showcase.on = false;
    s->stream.settings.divider = 0.5f;
    note_clear(&s->stream.note, false); // the hint
}

const char *showcase_look(const struct session *s)
{
    return s->showcase.on ? s->looks.look[s->showcase.look].name : NULL;
}
