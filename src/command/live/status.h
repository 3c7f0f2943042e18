// status.h: the state of a run at one moment, for the overlay and the reports
#pragma once

#include "screen/choice_list.h"
#include "source/capture.h"
#include "stream/lanes.h"
#include "stream/outputs.h"

struct session;

// The pointers are borrowed, and change with the run.
struct status {
    const struct source_info *info;
    struct source_health health;
    uint64_t captured, skipped; // frames from the source; frames that were not shown
    const struct wish *wish;
    const struct meter *meter;
    const char *look;        // of the showcase; NULL: none
    struct choice_list list; // see chooser.h
    const char *note;        // "": none
    bool note_is_error;
    struct lane_facts lane, other; // LANE_MAIN and LANE_OTHER
    bool building, split;          // lanes_building, lanes_split
    struct online_state tuning;    // if wish->tune
    int depth;
    struct outputs_facts outputs;
    const struct source_control *adjusted; // the control that the keys change; name "": none
    const char *screen;                    // window_gl_name; NULL: no window
};

// Reads the state of all parts. Valid until the session changes or the next call.
const struct status *status_read(struct session *session);
// Describes the tuning: "blur: 12 of 80, 1.08 x". "": the user did not ask for it.
enum { TUNING_WORDS = 300 };
void status_tuning_words(const struct status *status, char text[TUNING_WORDS]);
