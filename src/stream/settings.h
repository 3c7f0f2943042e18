// settings.h: the settings: what the user wants, and changes of the chain by hand, with undo. Options, keys,
// pointer, socket and last run write them. The stream follows; it writes only `paused` at an end or a seek, `zoom`
// after a change of the source, and edited files and users' filters in the chain. state.h has what runs. Main thread.
#pragma once

#include "base/options.h"
#include "filter/chain.h"
#include "path/path.h"
#include "screen/overlay.h"

// What the view shows beside the filtered frame: nothing, the unfiltered frame, or the same chain on the next path.
enum split { SPLIT_OFF, SPLIT_ORIGINAL, SPLIT_PATH };
#define SPLIT_CHOICES "off|original|path"

// The graph of measures of the result. Only its measure is computed.
enum scope { SCOPE_OFF, SCOPE_HISTOGRAM, SCOPE_COLUMNS, SCOPE_ROWS, SCOPES };
#define SCOPE_CHOICES "off|histogram|columns|rows"
enum { RECORDING_Y4M, RECORDING_MKV };
#define RECORDING_FORMATS "y4m|mkv|mp4|webm"
enum { FIT_LETTERBOX, FIT_FILL }; // black bars, or cut at two sides
#define OUTPUT_FITS "letterbox|fill"
#define OVERLAY_CHOICES "off|small|full|large" // of enum overlay_size

enum { ZOOM_MOST = 64 };

struct settings {
    struct chain chain;
    int selected; // number of the selected place, counted through the chain: a parameter, or a stage without one
    int path;     // an enum path_kind, or PATH_AUTO
    enum split split;
    float divider;              // between the panes, 0 to 1 across the picture
    float zoom, zoom_x, zoom_y; // see struct scene
    float zoom_side;            // share of the picture's sides that the window shows, while `zoom` is not 0
    bool zoom_output;           // the zoom is that of the picture before the titles, not of the window
    int show; // number of the chain's filters that run, the first ones: the image inside the chain; -1: all
    bool paused, vsync, fullscreen, help, tune;
    enum overlay_size overlay;
    enum scope scope;
    int recording_format;      // of the key `r`: index in RECORDING_FORMATS
    struct option_size output; // the size of results; 0: that of the chain's results
    float matte_wait;          // ms that a live frame waits for its matte; -1: until the next frame is due
    int output_fit;            // index in OUTPUT_FITS
};

// Returns true if the option `path` names one kind: it is neither PATH_AUTO nor -1, for no option.
static inline bool path_named(int path)
{
    return path >= 0 && path != PATH_AUTO;
}
// `chain` NULL: no filter. `path`: as path_named.
void settings_init(struct settings *settings, const struct chain *chain, int path);
// Finds the selected stage and parameter; *param is -1 if the stage has none. False: the chain is empty.
bool settings_selected(const struct settings *settings, int *stage, int *param);
unsigned settings_measures(const struct settings *settings); // path_setup.measures for the scope
void settings_select(struct settings *settings, int stage);  // selects the stage's first parameter
int settings_places(const struct settings *settings);        // number of places that can be selected
// The sum of the mirrors, flips and rotations by right angles of a camera's part.
struct orientation {
    bool mirror, flip;
    int angle; // 0, 90, 180 or 270
    bool back; // a smaller angle turns the image clockwise, because a mirror or flip follows the rotation
};
struct orientation settings_orientation(const struct chain *camera);
// Changes the last filters of a camera's part. The same orientation as before restores their order. False: it is full.
bool settings_orient(struct chain *camera, const struct orientation *to);
// As chain_put_part, and selects the first parameter if the selected one was of this part, or for a new look.
bool settings_put_part(struct settings *settings, enum chain_part which, const struct chain *part,
                       char error[CHAIN_ERROR]);
// Removes the filters from a copy of the settings' chain that `show` leaves out.
void settings_cut(const struct settings *settings, struct chain *chain);
// Writes the place of the shown image: "2 of 5: blur=3", or "0 of 5: the original". False: the whole chain is shown.
enum { SHOWN_TEXT = 128 };
bool settings_shown(const struct settings *settings, char text[SHOWN_TEXT]);
// Adds the filters of `zoom_output` to a copy of the settings' chain. False: it has no room for them; it stays as it
// was.
bool settings_enlarge(const struct settings *settings, struct chain *chain, const struct image_shape *input);
// Sets the size of the chain's results for this input. If the chain is impossible: the size of the input.
void settings_size(const struct chain *chain, const struct image_shape *input, int *width, int *height);
// Adds the filters that bring the chain's results to this size, if possible before the titles. False: the chain has no
// room for them; it stays as it was.
bool settings_fit(struct chain *chain, const struct image_shape *input, int width, int height, int fit);
// After an edited filter of the user does not compile: puts the version that runs back into the chain, so that the user
// can still change the chain and the path. The next save of the file replaces it.
void settings_restore_filters(struct settings *settings, const struct chain *runs);

// ---- changes of the chain by hand ----

enum { EDITS = 32 };

// Only settings.c and its test use the members.
struct edits {
    struct {
        struct chain chain;
        int selected;
    } before[EDITS]; // the chains before the last changes, oldest first
    int count;
    int run; // EDIT_VALUE or EDIT_FILTER: the last change; 0: another one
};

// A run of changes of one kind to one parameter is undone at once.
enum edit_run { EDIT_ALONE, EDIT_VALUE, EDIT_FILTER };
// Keeps the chain for undo. Call before each change.
void edits_keep(struct edits *edits, const struct settings *settings, enum edit_run run);
bool edits_undo(struct edits *edits, struct settings *settings); // false: there is nothing to undo

// These change the chain at the selected stage and select the changed stage. False: they change nothing, because the
// chain is full or empty, or the stage is at the end.
// Adds a filter; NULL: the first one. `overlay` and `text` go to the titles, others to the look: after the stage if
// that is of the same part, else at the part's end.
bool edits_add(struct edits *edits, struct settings *settings, const struct filter *filter);
// Puts `stage` in place of the stage if that has the same filter, else adds it.
bool edits_put(struct edits *edits, struct settings *settings, const struct stage *stage);
bool edits_remove(struct edits *edits, struct settings *settings);
bool edits_move(struct edits *edits, struct settings *settings, int step); // -1: left, 1: right, inside its part
// Replaces the stage by the next filter that the masks after it can limit.
bool edits_filter(struct edits *edits, struct settings *settings, int step);
