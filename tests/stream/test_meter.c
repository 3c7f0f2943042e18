// test_meter.c: the statistics of the live view: rates, ignored gaps, stages of long sessions
#include "stream/meter.h"

#include "base/clock.h"

#include "unit.h"

#define MS ((int64_t)1000000)

static struct meter meter; // static, because its rings are too large for the stack

static void show(int64_t captured_ms, int64_t shown_ms)
{
    meter_begin(&meter, 1);
    meter_shown(&meter, captured_ms * MS, shown_ms * MS);
}

static void test_rates(void)
{
    meter = (struct meter){.opened_ns = 1000 * MS};
    CHECK_NUMBER(meter_fps(&meter), 0);
    CHECK_NUMBER(meter_fps_low(&meter), 0);
    CHECK_NUMBER(meter_first_frame_ms(&meter), 0);
    show(1030, 1040);
    CHECK_NUMBER(meter_first_frame_ms(&meter), 40);
    CHECK_NUMBER(meter_fps(&meter), 0);
    for (int i = 1; i <= 4; i++)
        show(1030 + 20 * i, 1040 + 20 * i);
    CHECK_NUMBER(meter.frames, 5);
    CHECK_NUMBER(meter_fps(&meter), 50);
    CHECK_NUMBER(meter_fps_low(&meter), 50);
    CHECK_NUMBER(meter_late_ms(&meter.age_ms, 50), 10);
    CHECK_NUMBER(meter_fps_now(&meter), 0); // much time since the last frame

    // The time of a frozen view counts for no frame; all other intervals count.
    meter_pause(&meter);
    show(9000, 9010);
    CHECK_NUMBER(meter_fps_low(&meter), 50);
    show(9100, 9110);
    CHECK_NUMBER(meter_fps_low(&meter), 10);

    // A new path starts with no stages and ages; the frame count continues.
    meter_forget(&meter);
    CHECK_NUMBER(meter.age_ms.count, 0);
    CHECK_NUMBER(meter.frames, 7);
    CHECK_NUMBER(meter_fps_low(&meter), 10);
}

// The rate of the last second. The frames are in the future, so that none is old if the test runs slowly.
static void test_rate_now(void)
{
    meter = (struct meter){0};
    const int64_t first_ms = clock_now_ns() / MS + 1000000, middle_ms = first_ms + 4000;
    show(0, first_ms);
    CHECK_NUMBER(meter_fps_now(&meter), 0);
    for (int i = 1; i <= 200; i++)
        show(0, first_ms + 20 * i);
    CHECK_NUMBER(meter_fps_now(&meter), 50);
    for (int i = 1; i <= 50; i++)
        show(0, middle_ms + 40 * i);
    CHECK_NUMBER(meter_fps_now(&meter), 25);
    CHECK_NUMBER(meter_fps(&meter), 250.0 / 6);
}

static void test_shown_again(void)
{
    meter = (struct meter){0};
    show(0, 10);
    meter_begin(&meter, 1);
    meter_host(&meter, NULL, "draw", 0, 3 * MS);
    meter_shown_again(&meter);
    CHECK_NUMBER(meter.frames, 1);
    CHECK_NUMBER(meter.age_ms.count, 1);
    CHECK_NUMBER(meter.shown_stages, 1);
    CHECK_NUMBER(stats_recent(&meter.stage[meter.shown_stage[0]].ms, 0), 3);
}

// A frame with more stages, and a session with more names, than the tables hold.
static void test_full(void)
{
    meter = (struct meter){0};
    const struct stage_time time = {.name = "pass", .end_ns = MS};
    meter_begin(&meter, 1);
    for (int i = 0; i < METER_STAGES + 10; i++) {
        char prefix[16];
        snprintf(prefix, sizeof(prefix), "%d", i);
        meter_add(&meter, NULL, prefix, &time);
    }
    CHECK_NUMBER(meter.stages, METER_STAGES);

    meter = (struct meter){0};
    for (int i = 0; i < METER_STAGES + 10; i++)
        meter_add(&meter, NULL, NULL, &time);
    CHECK_NUMBER(meter.stages, 1);
    CHECK_NUMBER(meter.frame_stages, METER_STAGES);
    CHECK_NUMBER(meter.shown_stages, 0);

    // The newest name gets a place; those of the frame on the screen keep theirs.
    meter = (struct meter){0};
    for (int i = 0; i < METER_STAGES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d", i);
        meter_begin(&meter, 1);
        meter_host(&meter, NULL, name, 0, i * MS);
        if (i == 0)
            meter_shown(&meter, 0, 1);
    }
    meter_begin(&meter, 1);
    meter_host(&meter, NULL, "new", 0, 7 * MS);
    meter_host(&meter, NULL, "newer", 0, 8 * MS);
    CHECK_TEXT(meter.stage[meter.shown_stage[0]].name, "0");
    const struct meter_stage *new = &meter.stage[meter.frame_stage[0]], *newer = &meter.stage[meter.frame_stage[1]];
    CHECK_TEXT(new->name, "new");
    CHECK_TEXT(newer->name, "newer");
    CHECK_NUMBER(new->ms.count, 1);
    CHECK_NUMBER(stats_recent(&new->ms, 0), 7);
}

int main(void)
{
    test_rates();
    test_rate_now();
    test_shown_again();
    test_full();
    return check_end(&unit);
}
