// shared.c: options that several commands have
#include "command/shared.h"

#include "base/log.h"
#include "base/text.h"
#include "filter/chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct option list_options[] = {
    JSON_OPTION(offsetof(struct list_options, json), LIST_JSON_HELP),
    {0},
};

bool device_options_unused(const char *device, const char *kernels, const char *path)
{
    if (device && device != getenv("MONOCLE_DEVICE"))
        log_error("-d selects an OpenCL device, but -p %s does not use one; remove -d or -p %s", path, path);
    else if (kernels && kernels != getenv("MONOCLE_KERNELS"))
        log_error("--kernels selects OpenCL kernels, but -p %s does not use them; remove --kernels or -p %s", path,
                  path);
    else
        return true;
    return false;
}

bool loop_option_fits(bool loop, const char *source)
{
    if (!loop || !source || strcmp(source, "-") != 0)
        return true;
    log_error("--loop cannot repeat standard input; name a file");
    return false;
}

static const char mjpeg[] = "mjpeg";

const char *pixel_format_name(int index)
{
    if (index < PIXFMT_COUNT)
        return pixfmt_info((enum pixfmt)index)->name;
    return index == PIXFMT_COUNT ? mjpeg : NULL;
}

void pixel_format_list(char text[PIXEL_FORMAT_LIST])
{
    text[0] = '\0';
    for (int i = 0; i < PIXFMT_COUNT; i++)
        text_append(text, PIXEL_FORMAT_LIST, "%s, ", pixel_format_name(i));
    text_append(text, PIXEL_FORMAT_LIST, "and %s (cameras only)", mjpeg);
}

bool mode_options_take(const struct mode_options *o, struct source_setup *setup)
{
    const char *name = o->pixel_format;
    setup->width = o->size.width;
    setup->height = o->size.height;
    setup->rate = o->rate;
    setup->compressed = name && strcmp(name, mjpeg) == 0;
    setup->has_format = name && pixfmt_from_name(name, &setup->format);
    if (!name || setup->compressed || setup->has_format)
        return true;
    const char *names[PIXFMT_COUNT + 2] = {NULL};
    char list[PIXEL_FORMAT_LIST];
    for (int i = 0; i <= PIXFMT_COUNT; i++)
        names[i] = pixel_format_name(i);
    const char *near = options_nearest(name, names);
    pixel_format_list(list);
    log_error("there is no pixel format '%s'%s%s%s; the formats are %s", name, text_if(near, "; did you mean '"),
              text_or(near, ""), text_if(near, "'?"), list);
    return false;
}

// Parses first, because access is slow for thousands of files on a network.
static bool is_chain(const char *word, const char *text)
{
    struct chain chain;
    char error[CHAIN_ERROR];
    return chain_parse(&chain, text, error) && access(word, F_OK) != 0;
}

bool chain_operands_none(const struct command_operands *operands, const char *chain)
{
    static const char *const joints[] = {",", "="};
    for (int i = 0; i < operands->count; i++) {
        const char *word = operands->word[i];
        if (source_has_word(word) || strstr(word, "://"))
            continue;
        for (int k = 0; k < 2; k++) {
            char text[CHAIN_TEXT];
            const char *before = text_or(chain, ""), *joint = text_if(chain, joints[k]);
            if (snprintf(text, sizeof(text), "%s%s%s", before, joint, word) >= CHAIN_TEXT || !is_chain(word, text))
                continue;
            log_error("there is no file '%s'; did you mean -f '%s'?", word, text);
            return false;
        }
    }
    return true;
}
