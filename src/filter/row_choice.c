// row_choice.c: chooses the row function of a filter
#include "filter/rows.h"

#include <string.h>

bool row_variant_fits(const struct row_variant *row, const struct filter *filter,
                      const struct filter_arguments *arguments, int width, int step)
{
    const bool same = row->tables ? filter->table : strcmp(row->filter, filter->name) == 0;
    return same && (!row->fits || row->fits(arguments, width, step));
}

const struct row_variant *row_variant_generic(const struct filter *filter)
{
    for (const struct row_variant *row = row_level()->generic; row->name; row++) {
        if (row_variant_fits(row, filter, NULL, 0, 0))
            return row;
    }
    return NULL;
}

const struct row_variant *row_variant_choose(const struct filter *filter, const struct filter_arguments *arguments,
                                             int width, int step, const char *wanted)
{
    for (const struct row_variant *const *list = row_level()->variants; *list; list++) {
        for (const struct row_variant *row = *list; row->name; row++) {
            if ((!wanted || strcmp(row->name, wanted) == 0) && row_variant_fits(row, filter, arguments, width, step))
                return row;
        }
    }
    return row_variant_generic(filter);
}
