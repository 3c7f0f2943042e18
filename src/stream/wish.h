// wish.h: the user's settings. The keys change them; the panes and the view follow. Main thread.
#pragma once

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
#define OVERLAY_CHOICES "off|small|full|large" // of enum overlay_size

enum { ZOOM_MOST = 64 };

struct wish {
    struct chain chain;
    int selected; // number of the selected place, counted through the chain: a parameter, or a stage without one
    enum path_kind kind;
    bool automatic;             // the stream chooses the kind: PATH_AUTO
    enum path_kind chosen_kind; // the kind that monocle chose
    const char *chosen_why;     // the reason; NULL: it chose none
    int device;                 // index in struct devices; -1: none
    bool gl;                    // there is a GL context
    enum split split;
    float divider;              // between the panes, 0 to 1 across the picture
    float zoom, zoom_x, zoom_y; // see struct scene
    bool paused, vsync, fullscreen, help, tune;
    enum overlay_size overlay;
    enum scope scope;
    int recording_format; // of the key `r`: index in RECORDING_FORMATS
};

// Returns true if the option `path` names one kind: it is neither PATH_AUTO nor -1, for no option.
static inline bool path_named(int path)
{
    return path >= 0 && path != PATH_AUTO;
}
// `chain` NULL: no filter. `path`: as path_named.
void wish_init(struct wish *wish, const struct chain *chain, int path);
// Finds the selected stage and parameter; *param is -1 if the stage has none. False: the chain is empty.
bool wish_selected(const struct wish *wish, int *stage, int *param);
unsigned wish_measures(const struct wish *wish); // path_setup.measures for the scope
void wish_select(struct wish *wish, int stage);  // selects the stage's first parameter
void wish_select_first(struct wish *wish);       // selects the chain's first parameter
int wish_places(const struct wish *wish);        // number of places that can be selected
bool wish_mirrored(const struct wish *wish);     // true: the last filter is a mirror
// After an edited filter of the user does not compile: puts the version that runs back into the chain, so that the user
// can still change the chain and the path. The next save of the file replaces it.
void wish_restore_filters(struct wish *wish, const struct chain *runs);
// Returns the path kind after the wish's. Skips kinds that need a device or a GL context if there is none.
enum path_kind wish_next_kind(const struct wish *wish);
