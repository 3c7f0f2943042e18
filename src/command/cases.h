// cases.h: parses the chains, sizes and pixel formats that a command measures
#pragma once

#include "measure/chosen.h"

// Parse the values of --filter, --sizes and --formats, and add the items. The texts are borrowed. False: logged.
bool cases_take_chains(struct cases *cases, const struct option_texts *texts); // "all": each filter by itself
bool cases_take_sizes(struct cases *cases, const char *text);                  // "640x480,1920x1080"; NULL: none
bool cases_take_formats(struct cases *cases, const char *text);                // "rgba,nv21"; NULL: none

// Calls take(context, item) for each item of a list until it returns false. Returns false if `take` did, if an item is
// too long, or if there are more than CASES_LIST items (the last two are logged).
bool cases_each(const char *option, const char *text, bool (*take)(void *context, const char *item), void *context);
