// chain_property.h: properties of chain_parse that hold for any text
#pragma once

#include "filter/chain.h"

enum { PROPERTY_TEXT = 512 };

// Whether both have the same filters with the same values and arguments; `none` stages count for nothing.
bool chains_equal(const struct chain *a, const struct chain *b);

// Parses `text` and, where it is a chain, prints it and parses that again. False where something that must hold does
// not, with what in `problem`.
bool chain_property(const char *text, char problem[PROPERTY_TEXT]);
