// cases.h: the chains, sizes and pixel formats that a command measures
#pragma once

#include "base/options.h"
#include "filter/chain.h"
#include "image/image.h"

enum { CASES_LIST = 16, CASES_CHAINS = OPTION_TEXTS_MAX };

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

// Parse the values of --filter, --sizes and --formats, and add the items. The texts are borrowed. False: logged.
bool cases_take_chains(struct cases *cases, const struct option_texts *texts); // "all": each filter by itself
bool cases_take_sizes(struct cases *cases, const char *text);                  // "640x480,1920x1080"; NULL: none
bool cases_take_formats(struct cases *cases, const char *text);                // "rgba,nv21"; NULL: none

bool cases_add_chain(struct cases *cases, const char *text); // false: logged

// Calls take(context, item) for each item of a list until it returns false. Returns false if `take` did, if an item is
// too long, or if there are more than CASES_LIST items (the last two are logged).
bool cases_each(const char *option, const char *text, bool (*take)(void *context, const char *item), void *context);

// Sets a shape with the usual colours of the format. False: the format cannot have this size (logged).
bool cases_shape(struct image_shape *shape, enum pixfmt format, struct option_size size);
