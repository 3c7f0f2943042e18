// chosen.h: what the user chose to measure: chains, sizes, pixel formats, measures, paths, numbers of threads
#pragma once

#include "base/options.h"
#include "filter/chain.h"
#include "image/image.h"
#include "path/path.h"

enum { CASES_LIST = 16, CASES_CHAINS = 2 * OPTION_TEXTS_MAX }; // "all" adds more than 64

struct case_chain {
    const char *text; // as the user wrote it
    struct chain chain;
};

// A list that the user did not give is empty.
struct cases {
    struct case_chain chain[CASES_CHAINS];
    struct option_size size[CASES_LIST];
    enum pixfmt format[CASES_LIST];
    int chains, sizes, formats;
};

// Sets a shape with the usual colours of the format. False: the format cannot have this size (logged).
bool cases_shape(struct image_shape *shape, enum pixfmt format, struct option_size size);

bool cases_add_chain(struct cases *cases, const char *text); // borrows the text; false: logged
// Parse the values of --filter, --sizes and --formats, and add the items. Borrow the texts. False: an item is wrong
// (logged).
bool cases_take_chains(struct cases *cases, const struct option_texts *texts); // "all": each filter by itself
bool cases_take_sizes(struct cases *cases, const char *text);                  // "640x480,1920x1080"; NULL: none
bool cases_take_formats(struct cases *cases, const char *text);                // "rgba,nv21"; NULL: none

// Calls take(context, item) for each item of a list until it returns false. Returns false if `take` did, if an item is
// too long, or if there are more than CASES_LIST items (the last two are logged).
bool cases_each(const char *option, const char *text, bool (*take)(void *context, const char *item), void *context);

// A measure of RGBA pictures.
struct picture_measure {
    const char *name;
    unsigned measures; // of enum path_measure
    bool levels;       // and the mean and the extremes, which the host computes
};
enum { PICTURE_MEASURES = 4 };
extern const struct picture_measure picture_measures[PICTURE_MEASURES];

// A measurement fills in the lists that are empty.
struct chosen {
    struct cases cases;
    const struct picture_measure *measure[CASES_LIST];
    enum path_kind path[CASES_LIST];
    int thread[CASES_LIST]; // of the cpu path
    int measures, paths, threads;
    int pictures; // as in pool_open
};

// chosen_thread_counts returns the number of thread counts that a path is measured with, and chosen_threads one of
// them. For a device it is the number of host threads that compute on it, 0 for a GPU.
struct bench_session;
int chosen_thread_counts(const struct bench_session *session, enum path_kind path);
int chosen_threads(const struct bench_session *session, enum path_kind path, int index);
