// chosen.c: adds a chain to the chosen ones, and gives a size and a format their shape
#include "measure/chosen.h"

#include "base/log.h"
#include "image/color.h"

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
