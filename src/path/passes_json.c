// passes_json.c: see passes_json.h
#include "path/passes_json.h"

#include <jansson.h>

json_t *passes_json(const struct path_pass *pass, int passes)
{
    json_t *array = json_array();
    for (int i = 0; i < passes; i++) {
        const struct tuned_found *tuned = &pass[i].tuned;
        json_array_append_new(array,
                              json_pack("{s:s,s:s,s:s,s:s?,s:b}", "pass", pass[i].name, "choice", pass[i].choice,
                                        "from", tuned->entry ? tuned_level_name(tuned->level) : "default", "match",
                                        tuned->entry ? tuned_match_name(tuned->match) : NULL, "stale", tuned->stale));
    }
    return array;
}
