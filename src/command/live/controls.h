// controls.h: the controls of a camera source: loaded, saved, and changed with keys. Main thread. Zeroed is empty.
#pragma once

#include "base/file.h"
#include "base/options.h"
#include "source/source.h"
#include "stream/state.h"

struct controls {
    struct source_setting *setting; // for source_setup: first the settings of the file, then those of the command line
    int count;
    char *text;                                  // of the file; the settings point into it
    struct source_control adjusted;              // the control that the keys change; name "": none yet
    struct source_control list[SOURCE_CONTROLS]; // of controls_list
    int listed;                                  // their number; 0: they must be read again
    int64_t listed_ns;                           // when they were read
};

// Takes the settings of the file (NULL: none), then the texts. Both are borrowed. False on failure (logged).
bool controls_load(struct controls *controls, const char *file, const struct option_texts *texts);
// Writes the controls of the source, named `source`, to the claimed file, if there is one. False on failure (logged).
bool controls_save(const struct controls *controls, const char *source, const struct source_info *info,
                   struct claim *claim);
void controls_free(struct controls *controls); // after source_close

// Reads the controls that can be set, at most every 100 ms, because a camera may take milliseconds to answer. Returns
// controls->list; *count is their number; 0: the source has none now.
const struct source_control *controls_list(struct controls *controls, struct source *source, int *count);
// Sets a control to a value. False: `why` is one line.
bool controls_set(struct controls *controls, struct source *source, const char *name, const char *value,
                  char why[SOURCE_SET_WHY]);
// Returns why there are no controls.
const char *controls_missing(const struct source *source);
// Moves on by `next` controls, at first to control 0, then changes the control by `steps`. The note shows the result.
void controls_adjust(struct controls *controls, struct source *source, int next, int steps, struct note *note);
