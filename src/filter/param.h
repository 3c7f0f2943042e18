// param.h: the words of a parameter's choices, and stages in the making (for the filter layer itself)
#pragma once

#include "filter/chain.h"

// Word `index` of the row's choices; "" when there is none.
void param_choice_name(const struct param *row, int index, char *text, size_t size);
// The index of the word, any case; -1 when it is none of the choices.
int param_choice_find(const struct param *row, const char *word);

bool stage_init(struct stage *stage, const struct filter *filter); // default values
// Works out the arguments from the values. False: impossible together, *why is static.
bool stage_prepare(struct stage *stage, const char **why);
