// row_choice.c: which code makes the rows of a filter
#include "filter/rows.h"

#include <string.h>

// Returns the first row of a list that fits; NULL if there is none.
static const struct row_variant *find(const struct row_variant *list, const struct filter *filter,
                                      const struct filter_arguments *arguments, int width, int step)
{
    for (; list->name; list++) {
        if (strcmp(list->filter, filter->name) == 0 && (!list->fits || list->fits(arguments, width, step)))
            return list;
    }
    return NULL;
}

const struct row_variant *row_variant_generic(const struct filter *filter)
{
    return find(row_level()->generic, filter, NULL, 0, 0);
}

const struct row_variant *row_variant_choose(const struct filter *filter, const struct filter_arguments *arguments,
                                             int width, int step)
{
    const struct row_variant *found = NULL;
    for (const struct row_variant *const *list = row_level()->variants; *list && !found; list++)
        found = find(*list, filter, arguments, width, step);
    return found ? found : row_variant_generic(filter);
}
