// backend.c: the common part of all paths: state, stage times, failures; passes as JSON
#include "path/backend.h"

#include "base/alloc.h"
#include "base/log.h"
#include "compute/tuned.h"
#include "filter/user_code.h"

#include <assert.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

void path_fail(char **error, const char *text)
{
    char *shown = xstrdup(text);
    user_code_show(shown);
    if (error) {
        *error = shown;
        return;
    }
    log_message(LOG_ERROR + LOG_LINES, "%s", shown);
    free(shown);
}

void path_init(struct path *path, const struct backend *backend, const struct path_setup *setup, const char *sharing)
{
    *path = (struct path){
        .backend = backend,
        .info = {.kind = setup->kind,
                 .sharing = sharing,
                 .depth = setup->depth,
                 .width = setup->input.width,
                 .height = setup->input.height,
                 .input = ""},
        .input = setup->input,
        .encode = setup->encode,
        .encoded_only = setup->encoded_only,
        .measured_only = setup->measured_only,
        .fed = setup->fed,
    };
    char why[CHAIN_ERROR];
    chain_output_size(setup->chain, &path->info.width, &path->info.height, why); // path_open has checked it
    pthread_mutex_init(&path->lock, NULL);
}

void path_finish(struct path *path)
{
    path->backend->build_free(path->build);
    path->backend->build_free(path->pending);
    pthread_mutex_destroy(&path->lock);
}

static_assert(PLAN_PASSES + 7 <= PATH_STAGES, "room for all passes, four stages before them and three after them");

void path_add_stage(struct path_result *result, const char *name, enum stage_clock clock, int64_t start_ns,
                    int64_t end_ns)
{
    struct stage_time *stage = &result->stage[result->stages++];
    *stage = (struct stage_time){.clock = clock, .start_ns = start_ns, .end_ns = end_ns};
    snprintf(stage->name, sizeof(stage->name), "%s", name);
}

json_t *passes_json(const struct path_pass *pass, int passes)
{
    json_t *array = json_array();
    for (int i = 0; i < passes; i++) {
        const struct tuned_found *tuned = pass[i].tuned;
        const char *from = tuned ? tuned_level_name(tuned->level) : "default";
        const char *match = tuned ? tuned_match_name(tuned->match) : NULL;
        json_array_append_new(array, json_pack("{s:s,s:s,s:s,s:s?,s:b}", "pass", pass[i].name, "choice", pass[i].choice,
                                               "from", from, "match", match, "stale", tuned && tuned->stale));
    }
    return array;
}

bool path_filter(const struct path_setup *setup, const struct image *picture, struct image *rgba, char **error)
{
    struct path_result result;
    struct path *path = path_open(setup, error);
    const bool ok = path && path_submit(path, picture, NULL) && path_collect(path, &result) &&
                    (rgba->memory || image_alloc(rgba, &result.image.shape)) && path_read(path, &result, rgba);
    path_close(path);
    return ok;
}
