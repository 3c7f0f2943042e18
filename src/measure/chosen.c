// chosen.c: takes the chains, sizes and pixel formats to measure from texts
#include "measure/chosen.h"

#include "base/log.h"
#include "image/color.h"

#include <stdio.h>
#include <string.h>

enum { ITEM_BYTES = 64 };

bool cases_add_chain(struct cases *cases, const char *text)
{
    char error[CHAIN_ERROR];
    if (cases->chains == CASES_CHAINS) {
        log_error("--filter: there are more than %d chains; measure them in several runs", CASES_CHAINS);
        return false;
    }
    struct case_chain *added = &cases->chain[cases->chains++];
    added->text = text;
    if (chain_parse(&added->chain, text, error))
        return true;
    log_error("--filter: %s", error);
    return false;
}

bool cases_shape(struct image_shape *shape, enum pixfmt format, struct option_size size)
{
    const struct color unknown = {0};
    const char *why;
    *shape = (struct image_shape){.format = format, .width = size.width, .height = size.height};
    if (!pixfmt_size_ok(format, size.width, size.height, &why)) {
        log_error("cannot measure %dx%d: %s", size.width, size.height, why);
        return false;
    }
    shape->color = color_resolve(unknown, unknown, format == PIXFMT_GREY, size.width, size.height);
    return true;
}

bool cases_each(const char *option, const char *text, bool (*take)(void *context, const char *item), void *context)
{
    int items = 0;
    for (const char *at = text; at; items++) {
        const size_t length = strcspn(at, ",");
        char item[ITEM_BYTES];
        if (items == CASES_LIST || length >= sizeof(item)) {
            log_error("--%s: '%s' is too long; give at most %d items", option, text, CASES_LIST);
            return false;
        }
        snprintf(item, sizeof(item), "%.*s", (int)length, at);
        if (!take(context, item))
            return false;
        at = at[length] ? at + length + 1 : NULL;
    }
    return true;
}

static bool take_size(void *context, const char *item)
{
    struct cases *cases = context;
    if (options_parse_size(item, &cases->size[cases->sizes++]))
        return true;
    log_error("--sizes is '%s', but must be WIDTHxHEIGHT, such as 1920x1080", item);
    return false;
}

bool cases_take_sizes(struct cases *cases, const char *text)
{
    return cases_each("sizes", text, take_size, cases);
}

static bool take_format(void *context, const char *item)
{
    struct cases *cases = context;
    const char *names[PIXFMT_COUNT + 1] = {NULL};
    if (pixfmt_from_name(item, &cases->format[cases->formats++])) // upper or lower case, also alternative names
        return true;
    for (int i = 0; i < PIXFMT_COUNT; i++)
        names[i] = pixfmt_info((enum pixfmt)i)->name;
    options_choose(item, "pixel format", names);
    return false;
}

bool cases_take_formats(struct cases *cases, const char *text)
{
    return cases_each("formats", text, take_format, cases);
}

bool cases_take_chains(struct cases *cases, const struct option_texts *texts)
{
    for (int i = 0; i < texts->count; i++) {
        if (strcmp(texts->text[i], "all") != 0) {
            if (!cases_add_chain(cases, texts->text[i]))
                return false;
            continue;
        }
        for (int k = 0; filters[k]; k++) {
            if (!cases_add_chain(cases, filters[k]->name))
                return false;
        }
    }
    return true;
}
