// status.h: the state of a run at one moment, for the overlay and the reports
#pragma once

#include "matte/matte.h"
#include "screen/overlay.h"
#include "source/capture.h"
#include "stream/outputs.h"
#include "stream/panes.h"
#include "tune/live_tuning.h"

struct json_t;
struct stream;

enum { STATUS_MATTES = 4 };

// The pointers are borrowed, and change with the run.
struct status {
    const struct source_info *info;
    struct source_health health;
    uint64_t captured, skipped; // frames from the source; frames that were not shown
    const struct settings *settings;
    const struct stream_state *state;
    const struct meter *meter;
    const char *look;        // with the look of the chain; NULL: none
    bool showcase;           // shows one look after another, with the time of each
    struct choice_list list; // see chooser.h
    const char *note;        // "": none
    bool note_is_error;
    struct pane_facts pane, other;   // PANE_MAIN and PANE_OTHER
    bool building, split;            // panes_building, panes_split
    struct live_tuning_state tuning; // if settings->tune
    int depth;
    struct outputs_facts outputs;
    struct matte_facts matte[STATUS_MATTES]; // of the main thread
    int mattes;
    const struct source_control *adjusted; // the control that the keys change; NULL or name "": none
    const char *screen;                    // window_gl_name; NULL: no window
};

// Reads the state of all parts of the stream; the caller then sets `look`, `showcase`, `list` and `adjusted`. Valid
// until the run changes. It points into itself: do not copy it.
void status_read(const struct stream *stream, struct status *status);
// Describes the tuning: "blur: 12 of 80, 1.08 x". "": the user did not ask for it.
enum { TUNING_WORDS = 300 };
void status_tuning_words(const struct status *status, char text[TUNING_WORDS]);

// Add fields to a JSON object: the source and the shape of its frames; the path, its device and the run's counts; the
// same with the present rates, the recording and the message.
void status_add_source(const struct status *status, struct json_t *object);
void status_add_run(const struct status *status, struct json_t *object);
void status_add_state(const struct status *status, struct json_t *object);
