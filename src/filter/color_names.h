// color_names.h: colours as values of parameters (PARAM_COLOR)
#pragma once

#include <stdbool.h>

enum { COLOR_TEXT = 16 };

// Reads a name of HTML's basic colours, orange, or #rrggbb. False: it is neither.
bool color_parse(const char *text, float *value);
void color_print(float value, char text[COLOR_TEXT]);
