// color_names.c: reads and prints colours
#include "filter/color_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// HTML 4.01, 6.5: colors. The first of two names of the same colour is printed.
static const struct {
    const char *name;
    int value;
} colors[] = {{"black", 0},          {"white", 0xffffff},   {"gray", 0x808080},   {"grey", 0x808080},
              {"silver", 0xc0c0c0},  {"red", 0xff0000},     {"maroon", 0x800000}, {"yellow", 0xffff00},
              {"olive", 0x808000},   {"lime", 0x00ff00},    {"green", 0x008000},  {"aqua", 0x00ffff},
              {"cyan", 0x00ffff},    {"teal", 0x008080},    {"blue", 0x0000ff},   {"navy", 0x000080},
              {"fuchsia", 0xff00ff}, {"magenta", 0xff00ff}, {"purple", 0x800080}, {"orange", 0xffa500}};

enum { COLORS = sizeof(colors) / sizeof(*colors), DIGITS = 6 };

bool color_parse(const char *text, float *value)
{
    for (int i = 0; i < COLORS; i++) {
        if (strcasecmp(text, colors[i].name) == 0) {
            *value = (float)colors[i].value;
            return true;
        }
    }
    if (text[0] != '#' || strlen(text) != 1 + DIGITS || strspn(text + 1, "0123456789abcdefABCDEF") != DIGITS)
        return false;
    *value = (float)strtol(text + 1, NULL, 16);
    return true;
}

void color_print(float value, char text[COLOR_TEXT])
{
    for (int i = 0; i < COLORS; i++) {
        if (colors[i].value == (int)value) {
            snprintf(text, COLOR_TEXT, "%s", colors[i].name);
            return;
        }
    }
    snprintf(text, COLOR_TEXT, "#%06x", (unsigned)value);
}
