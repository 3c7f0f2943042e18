// replay.c: simulates searches on a table of measured results, and prints how close they come to the optimum
#include "tune/study/replay.h"

#include "base/json_text.h"
#include "base/log.h"
#include "base/process.h"
#include "base/stats.h"
#include "tune/search.h"
#include "tune/study/explain.h"
#include "tune/study/t4.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARKS = 3 };

// After a quarter, half and all of the budget: the optimum's time divided by the best time found, one value per seed.
struct nearness {
    struct samples at[MARKS];
};

static int mark_at(const struct replay *replay, int mark)
{
    const int at = replay->budget >> (MARKS - 1 - mark);
    return at > 0 ? at : 1;
}

static bool play(const struct replay *replay, const struct t4_table *table, const struct strategy *strategy,
                 uint64_t seed, struct nearness *nearness)
{
    const double optimum = table->result[t4_best(table)].ms;
    struct search *search = search_open(strategy, &table->space, replay->budget, seed, NULL, 0);
    if (!search)
        return false;
    for (int tried = 1, mark = 0; mark < MARKS; tried++) {
        const int next = search_next(search);
        if (next >= 0)
            search_tell(search, next, table->result[next].ms);
        for (; mark < MARKS && tried == mark_at(replay, mark); mark++) {
            double best;
            samples_add(&nearness->at[mark], search_best(search, &best) < 0 ? 0 : optimum / best);
        }
    }
    search_close(search);
    return true;
}

// ---- output ----

static void print_head(const struct replay *replay, const struct t4_table *table, int failed)
{
    char best[SPACE_TEXT], shown[SPACE_TEXT];
    const int optimum = t4_best(table);
    space_print(&table->space, optimum, best);
    log_escape(shown, sizeof(shown), best);
    printf("%d configurations of %d parameters, of which %d failed\n", table->space.count, table->space.params, failed);
    printf("optimum: %.6g ms with %s\n\n", table->result[optimum].ms, shown);
    printf("optimum / best time found, over %d seeds:\n", replay->seeds);
    printf("%-8s", "after");
    for (int m = 0; m < MARKS; m++)
        printf("  %23d", mark_at(replay, m));
    printf("\n%-8s", "search");
    for (int m = 0; m < MARKS; m++)
        printf("  %7s %7s %7s", "p10", "median", "p90");
    printf("\n");
}

static void print_row(const struct strategy *strategy, const struct nearness *nearness)
{
    printf("%-8s", strategy->name);
    for (int m = 0; m < MARKS; m++) {
        printf("  %7.3f %7.3f %7.3f", samples_percentile(&nearness->at[m], 10),
               samples_percentile(&nearness->at[m], 50), samples_percentile(&nearness->at[m], 90));
    }
    printf("\n");
}

static json_t *head_json(const struct replay *replay, const struct t4_table *table, int failed)
{
    char best[SPACE_TEXT];
    const int optimum = t4_best(table);
    space_print(&table->space, optimum, best);
    return json_pack("{s:o,s:i,s:i,s:i,s:f,s:o,s:i,s:i,s:[]}", "table", text_json(replay->table), "configurations",
                     table->space.count, "parameters", table->space.params, "failed", failed, "optimum_ms",
                     table->result[optimum].ms, "optimum", text_json(best), "budget", replay->budget, "seeds",
                     replay->seeds, "searches");
}

static json_t *row_json(const struct replay *replay, const struct strategy *strategy, const struct nearness *nearness)
{
    json_t *marks = json_array();
    for (int m = 0; m < MARKS; m++) {
        const struct samples *at = &nearness->at[m];
        json_array_append_new(marks, json_pack("{s:i,s:f,s:f,s:f}", "configurations", mark_at(replay, m), "p10",
                                               samples_percentile(at, 10), "median", samples_percentile(at, 50), "p90",
                                               samples_percentile(at, 90)));
    }
    return json_pack("{s:s,s:o}", "search", strategy->name, "after", marks);
}

// ---- the run ----

static bool play_all(const struct replay *replay, const struct t4_table *table, json_t *json)
{
    const struct strategy *const *chosen = replay->strategies;
    bool ok = true;
    for (int i = 0; ok && chosen[i] && !process_interrupted(); i++) {
        struct nearness nearness = {0};
        for (int seed = 1; ok && seed <= replay->seeds && !process_interrupted(); seed++)
            ok = play(replay, table, chosen[i], (uint64_t)seed, &nearness);
        if (!ok)
            log_error("cannot replay %s: out of memory", replay->table);
        else if (json)
            json_array_append_new(json_object_get(json, "searches"), row_json(replay, chosen[i], &nearness));
        else
            print_row(chosen[i], &nearness);
        for (int m = 0; m < MARKS; m++)
            samples_free(&nearness.at[m]);
        ok = ok && (json || process_flush());
    }
    return ok;
}

static bool explain(const struct t4_table *table)
{
    double *ms = calloc((size_t)table->space.count, sizeof(*ms));
    for (int c = 0; ms && c < table->space.count; c++)
        ms[c] = table->result[c].ms;
    if (!ms)
        log_error("cannot explain the times: out of memory");
    const bool ok = ms && explain_print(&table->space, ms);
    free(ms);
    return ok;
}

static int replay_table(const struct replay *replay, const struct t4_table *table)
{
    int failed = 0;
    for (int c = 0; c < table->space.count; c++)
        failed += table->result[c].state != T4_CORRECT;
    if (failed == table->space.count) {
        log_error("cannot replay %s: no result is correct; give a table with at least one time", replay->table);
        return EXIT_NOTHING;
    }
    json_t *json = replay->json ? head_json(replay, table, failed) : NULL;
    if (!json)
        print_head(replay, table, failed);
    bool ok = play_all(replay, table, json);
    if (ok && replay->explain)
        ok = explain(table);
    if (ok && json)
        print_json(json_incref(json), JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(json);
    return ok ? EXIT_OK : EXIT_FAILED_SOME;
}

int replay_run(const struct replay *replay)
{
    struct t4_table table;
    if (!t4_read(&table, replay->table))
        return EXIT_NOTHING;
    const int code = replay_table(replay, &table);
    t4_finish(&table);
    return code;
}
