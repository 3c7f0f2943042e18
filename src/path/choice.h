// choice.h: which kind of path runs: the first one, the next one, and -p auto, the one with the shortest frames. No
// clock and no path.
#pragma once

#include "path/path.h"

enum { CHOICE_SKIPPED = 4, CHOICE_TIMED = 8, CHOICE_WHY = 96 }; // the first two: frames on each candidate

// What paths can use on this machine, with the user's device and chain.
struct path_offer {
    bool device; // there is an OpenCL device
    bool gpu;    // it is not a CPU
    bool shares; // it writes textures of the window's GL context
    bool gl;     // there is a GL context
    bool gl_gpu; // a GPU draws in it
    bool cpu;    // the cpu path can run the chain
};
// Returns the kind to begin with if the user names none: zerocopy on a GPU with OpenCL; else gl, if a GPU draws or the
// cpu path cannot run the chain; else cpu.
enum path_kind path_first(const struct path_offer *offer);
// Returns the offered kind after `kind`: `kind` itself if there is no other.
enum path_kind path_next(const struct path_offer *offer, enum path_kind kind);
// Writes the kinds to time: `used`, which runs the first frames, then the others. Returns their number; 1 without a
// GPU.
int path_candidates(const struct path_offer *offer, enum path_kind used, enum path_kind kinds[PATH_KINDS]);

// What the time of a frame depends on.
struct path_work {
    struct chain chain;
    int width, height; // of the frames
    unsigned measures;
    int device;
};
enum path_change { WORK_SAME, WORK_LITTLE, WORK_MUCH };
// WORK_MUCH: other filters, another device, or 1.25 times more or fewer pixels. WORK_LITTLE: any other change.
enum path_change path_work_compare(const struct path_work *before, const struct path_work *now);

struct path_candidate {
    enum path_kind kind;
    double ms; // median time of a frame; 0: not timed
};

// Returns the index of the fastest candidate, or 0, the one in use, unless another takes less than `gain` of its time.
int path_fastest(const struct path_candidate *candidates, int count, double gain);

struct path_choice {
    struct path_candidate candidate[PATH_KINDS]; // the one in use; then the others
    int count, at;                               // candidate[at] is being timed; at == count: none
    bool all;                                    // the others are timed, too
    struct path_work work;
    double frame_ms[CHOICE_TIMED];
    int frames;           // that ran on candidate[at]
    char why[CHOICE_WHY]; // "auto: gl 0.21 ms, cpu 0.32, zerocopy 0.57", the chosen one first; "": none was chosen yet
};

// Begins to time all kinds; the first one is in use. One kind is not timed. `why` stays until the choice.
void path_choice_begin(struct path_choice *choice, const enum path_kind *kinds, int count,
                       const struct path_work *work);
// Times the kind in use again, for other work. If its time has changed by a factor of 1.5, the others follow.
void path_choice_check(struct path_choice *choice, const struct path_work *work);
bool path_choice_times(const struct path_choice *choice);          // true: a candidate is being timed
enum path_kind path_choice_kind(const struct path_choice *choice); // the kind for the next frames
// Adds the time of a frame on that kind. After the last candidate, chooses: another kind replaces the one in use if it
// takes less than 0.9 of its time.
void path_choice_add(struct path_choice *choice, double ms);
void path_choice_refuse(struct path_choice *choice); // that kind cannot be built, and the one before is in use
