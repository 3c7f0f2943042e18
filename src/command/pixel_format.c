// pixel_format.c: the value of --pixel-format
#include "command/pixel_format.h"

#include "base/log.h"
#include "base/options.h"

#include <stdio.h>
#include <string.h>

void pixel_format_list(char text[PIXEL_FORMAT_LIST])
{
    size_t used = 0;
    for (int i = 0; i < PIXFMT_COUNT; i++)
        used += (size_t)snprintf(text + used, PIXEL_FORMAT_LIST - used, "%s, ", pixfmt_info((enum pixfmt)i)->name);
    snprintf(text + used, PIXEL_FORMAT_LIST - used, "and mjpeg (cameras only)");
}

static void refuse(const char *name)
{
    const char *names[PIXFMT_COUNT + 2] = {[PIXFMT_COUNT] = "mjpeg"};
    char list[PIXEL_FORMAT_LIST];
    for (int i = 0; i < PIXFMT_COUNT; i++)
        names[i] = pixfmt_info((enum pixfmt)i)->name;
    const char *near = options_nearest(name, names);
    pixel_format_list(list);
    log_error("there is no pixel format '%s'%s%s%s; the formats are %s", name, near ? "; did you mean '" : "",
              near ? near : "", near ? "'?" : "", list);
}

bool pixel_format_take(const char *name, struct source_setup *setup)
{
    setup->compressed = name && strcmp(name, "mjpeg") == 0;
    setup->has_format = name && pixfmt_from_name(name, &setup->format);
    if (!name || setup->compressed || setup->has_format)
        return true;
    refuse(name);
    return false;
}
