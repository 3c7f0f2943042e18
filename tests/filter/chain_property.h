// chain_property.h: properties of chain_parse that hold for any text
#pragma once

#include "filter/chain.h"

enum { PROPERTY_TEXT = 512 };

// Returns true if both have the same filters with the same values and arguments. Ignores stages `none`.
bool chains_equal(const struct chain *a, const struct chain *b);

// Parses `text`; if it is a chain, prints it and parses the result. Returns false if a property does not hold, with its
// description in `problem`.
bool chain_property(const char *text, char problem[PROPERTY_TEXT]);
