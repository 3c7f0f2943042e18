// reference_several.c: docs/pixels.md section 3: filters that have several steps
#include "reference_rules.h"

#include <string.h>

bool reference_several(struct picture *picture, const char *name, const struct values *values)
{
    if (strcmp(name, "open") && strcmp(name, "close"))
        return false;
    reference_run(picture, strcmp(name, "open") ? pixel_dilate : pixel_erode, values);
    reference_run(picture, strcmp(name, "open") ? pixel_erode : pixel_dilate, values);
    return true;
}
