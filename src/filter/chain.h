// chain.h: filters in a row, as text and as stages (docs/pixels.md section 4)
#pragma once

#include "filter/filter.h"

enum { CHAIN_MAX = 16, CHAIN_TEXT = 4096, CHAIN_ERROR = 256 };

struct stage {
    const struct filter *filter;
    struct filter_values values;
    struct filter_arguments arguments; // kept in step with the values
};

struct chain {
    struct stage stage[CHAIN_MAX];
    int count; // 0 is a chain that changes nothing
};

// Parses chain text. False on failure: `error` gets one line that names the place and the nearest right word.
bool chain_parse(struct chain *chain, const char *text, char error[CHAIN_ERROR]);
// Text that parses to the same chain: parameters at their default are left out, and a name is written only where the
// position alone would not tell: "contrast=brightness=10". "none" for an empty chain; `none` stages are left out.
// False where it does not fit, which no chain that was parsed does.
bool chain_print(const struct chain *chain, char text[CHAIN_TEXT]);

// Whether nothing but grey comes out, of pictures that are `grey` or not.
bool chain_is_grey(const struct chain *chain, bool grey);

bool chain_append(struct chain *chain, const struct filter *filter); // with default values; false when full
void chain_remove(struct chain *chain, int stage);
// Sets one parameter, clamped to its range; a matrix steps through its presets. False (and no change) where refused.
bool chain_set(struct chain *chain, int stage, int param, float value);
// The value as text: "2", "nw", "gaussian", "3x3".
void chain_value_text(const struct stage *stage, int param, char text[64]);
