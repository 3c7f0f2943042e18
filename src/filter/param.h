// param.h: the words of a parameter's choices, and functions that fill stages; only for src/filter
#pragma once

#include "filter/chain.h"

// Returns word `index` of the row's choices; "" if there is none.
void param_choice_name(const struct param *row, int index, char *text, size_t size);
// Returns the index of the word, ignoring case; -1: it is not one of the choices.
int param_choice_find(const struct param *row, const char *word);

bool stage_init(struct stage *stage, const struct filter *filter); // default values
// Computes the arguments from the values. False: the combination is impossible; *why is then a static text.
bool stage_prepare(struct stage *stage, const char **why);
