// test_showcase.c: the times of the showcase and of messages, with a clock that the test controls
#include "base/clock.h"
#include "command/live/session.h"

#include "unit.h"

#include <math.h>

static int64_t now_ns = 1000;
static bool building;
static int changes;

int64_t __wrap_clock_now_ns(void);
bool __wrap_panes_building(const struct panes *lanes);
void __wrap_panes_changed(struct panes *lanes, bool reload);

int64_t __wrap_clock_now_ns(void)
{
    return now_ns;
}

bool __wrap_panes_building(const struct panes *lanes)
{
    return building;
}

void __wrap_panes_changed(struct panes *lanes, bool reload)
{
    CHECK(!reload);
    changes++;
}

static void pass(struct session *s, double seconds)
{
    now_ns += (int64_t)(seconds * 1e9);
    showcase_step(s);
}

static const char *showcase_look(const struct session *s)
{
    return s->showcase.on ? s->looks.look[s->showcase.look].name : NULL;
}

static void check_chain(const struct session *s, const char *want)
{
    char text[CHAIN_TEXT];
    chain_print(&s->stream.settings.chain, text);
    CHECK_TEXT(text, want);
}

static void test_showcase(struct session *s)
{
    static const struct look looks[] = {{.name = "one", .chain = "gray"}, {.name = "two", .chain = "invert"}};
    memcpy(s->looks.look, looks, sizeof(looks));
    s->options.showcase = true;
    showcase_open(s);
    CHECK(!showcase_look(s)); // there is no look
    s->looks.count = 2;
    showcase_open(s);
    CHECK(!showcase_look(s)); // there is no window
    s->stream.window = (struct window *)s;
    showcase_open(s);
    CHECK_NUMBER(s->stream.settings.split, SPLIT_ORIGINAL);
    CHECK_TEXT(showcase_look(s), "one");
    check_chain(s, "gray");

    // The divider goes round in 12 s, between 0.1 and 0.9.
    static const double want[] = {0.5, 0.9, 0.5, 0.1, 0.5};
    building = true; // the time of a look begins when it is complete
    for (int i = 0; i < 5; i++) {
        pass(s, i == 0 ? 0.02 : 3);
        CHECK(fabs((double)s->stream.settings.divider - want[i]) < 0.01);
        CHECK_TEXT(showcase_look(s), "one");
    }
    const float divider = s->stream.settings.divider;
    s->redraw = false;
    pass(s, 0.01); // it moves 60 times a second
    CHECK(s->stream.settings.divider == divider && !s->redraw);
    pass(s, 0.01);
    CHECK(s->stream.settings.divider != divider && s->redraw);

    // Each look is shown for 5 s, the first again after the last.
    building = false;
    for (int i = 0; i < 3; i++) {
        pass(s, 4.9);
        CHECK_NUMBER(changes, i);
        pass(s, 0.2);
        CHECK_NUMBER(changes, i + 1);
        CHECK_TEXT(showcase_look(s), i % 2 ? "one" : "two");
        check_chain(s, i % 2 ? "gray" : "invert");
    }

    note_set(&s->stream.note, false, 0, "the hint");
    showcase_end(s);
    bool error;
    CHECK(!showcase_look(s) && s->stream.settings.divider == 0.5f);
    CHECK_TEXT(note_text(&s->stream.note, &error), "");
    note_set(&s->stream.note, false, 0, "another message");
    s->stream.settings.divider = 0.3f;
    showcase_end(s); // it has ended
    pass(s, 20);
    CHECK(changes == 3 && s->stream.settings.divider == 0.3f);
    CHECK_TEXT(note_text(&s->stream.note, &error), "another message");
}

static void test_note(void)
{
    struct note note = {0};
    bool error = true;
    CHECK_TEXT(note_text(&note, &error), "");
    CHECK(!error);
    CHECK_TEXT(note_set(&note, true, NOTE_S, "number %d\n\n", 5), "number 5");
    now_ns += (int64_t)NOTE_S * 1000000000;
    CHECK_TEXT(note_text(&note, &error), "number 5");
    CHECK(error);
    now_ns++;
    CHECK_TEXT(note_text(&note, &error), ""); // it disappears by itself
    CHECK(!error);
    note_set(&note, false, 0, "it stays");
    now_ns *= 1000;
    CHECK_TEXT(note_text(&note, &error), "it stays");
    note_clear(&note, true);
    CHECK_TEXT(note_text(&note, &error), "it stays");
    note_clear(&note, false);
    CHECK_TEXT(note_text(&note, &error), "");
}

int main(void)
{
    struct session *session = calloc(1, sizeof(*session));
    if (!session)
        return 1;
    test_showcase(session);
    test_note();
    free(session);
    return check_end(&unit);
}
