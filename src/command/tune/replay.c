// replay.c: simulates searches on a table of measured results, and prints how close they come to the optimum
#include "command/tune/replay.h"

#include "base/log.h"
#include "base/stats.h"
#include "command/command.h"
#include "command/shared.h"
#include "command/tune/explain.h"
#include "tune/search.h"
#include "tune/table.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRATEGIES_MAX = 16, MARKS = 3 };

// After a quarter, half and all of the budget: the optimum's time divided by the best time found, one value per seed.
struct outcome {
    struct samples nearness[MARKS];
};

static int mark_at(const struct replay *replay, int mark)
{
    const int at = replay->budget >> (MARKS - 1 - mark);
    return at > 0 ? at : 1;
}

static bool play(const struct replay *replay, const struct table *table, const struct strategy *strategy, uint64_t seed,
                 struct outcome *outcome)
{
    const double optimum = table->result[table_best(table)].ms;
    struct search *search = search_open(strategy, &table->space, replay->budget, seed, NULL, 0);
    bool ok = search != NULL;
    for (int tried = 1, mark = 0; ok && mark < MARKS; tried++) {
        const int next = search_next(search);
        if (next >= 0)
            search_tell(search, next, table->result[next].ms);
        for (; ok && mark < MARKS && tried == mark_at(replay, mark); mark++) {
            double best;
            ok = samples_add(&outcome->nearness[mark], search_best(search, &best) < 0 ? 0 : optimum / best);
        }
    }
    search_close(search);
    return ok;
}

// ---- output ----

static void print_head(const struct replay *replay, const struct table *table, int failed)
{
    char best[SPACE_TEXT], shown[SPACE_TEXT];
    const int optimum = table_best(table);
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

static void print_row(const struct strategy *strategy, const struct outcome *outcome)
{
    printf("%-8s", strategy->name);
    for (int m = 0; m < MARKS; m++) {
        printf("  %7.3f %7.3f %7.3f", samples_percentile(&outcome->nearness[m], 10),
               samples_percentile(&outcome->nearness[m], 50), samples_percentile(&outcome->nearness[m], 90));
    }
    printf("\n");
}

static json_t *head_json(const struct replay *replay, const struct table *table, int failed)
{
    char best[SPACE_TEXT];
    const int optimum = table_best(table);
    space_print(&table->space, optimum, best);
    return json_pack("{s:o,s:i,s:i,s:i,s:f,s:o,s:i,s:i,s:[]}", "table", text_json(replay->table), "configurations",
                     table->space.count, "parameters", table->space.params, "failed", failed, "optimum_ms",
                     table->result[optimum].ms, "optimum", text_json(best), "budget", replay->budget, "seeds",
                     replay->seeds, "searches");
}

static json_t *row_json(const struct replay *replay, const struct strategy *strategy, const struct outcome *outcome)
{
    json_t *marks = json_array();
    for (int m = 0; m < MARKS; m++) {
        const struct samples *nearness = &outcome->nearness[m];
        json_array_append_new(marks,
                              json_pack("{s:i,s:f,s:f,s:f}", "configurations", mark_at(replay, m), "p10",
                                        samples_percentile(nearness, 10), "median", samples_percentile(nearness, 50),
                                        "p90", samples_percentile(nearness, 90)));
    }
    return json_pack("{s:s,s:o}", "search", strategy->name, "after", marks);
}

// ---- the run ----

static bool play_all(const struct replay *replay, const struct table *table, const struct strategy *const *chosen,
                     json_t *json)
{
    bool ok = true;
    for (int i = 0; ok && chosen[i] && !process_interrupted(); i++) {
        struct outcome outcome = {0};
        for (int seed = 1; ok && seed <= replay->seeds && !process_interrupted(); seed++)
            ok = play(replay, table, chosen[i], (uint64_t)seed, &outcome);
        if (!ok)
            log_error("cannot replay %s: out of memory", replay->table);
        else if (json)
            json_array_append_new(json_object_get(json, "searches"), row_json(replay, chosen[i], &outcome));
        else
            print_row(chosen[i], &outcome);
        for (int m = 0; m < MARKS; m++)
            samples_free(&outcome.nearness[m]);
        ok = ok && (json || process_flush());
    }
    return ok;
}

static bool explain(const struct table *table)
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

static int replay_table(const struct replay *replay, const struct table *table, const struct strategy *const *chosen)
{
    int failed = 0;
    for (int c = 0; c < table->space.count; c++)
        failed += table->result[c].state != TABLE_CORRECT;
    if (failed == table->space.count) {
        log_error("cannot replay %s: no result is correct; give a table with at least one time", replay->table);
        return EXIT_NOTHING;
    }
    json_t *json = replay->json ? head_json(replay, table, failed) : NULL;
    if (!json)
        print_head(replay, table, failed);
    bool ok = play_all(replay, table, chosen, json);
    if (ok && replay->explain)
        ok = explain(table);
    if (ok && json)
        print_json(json_incref(json), JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(json);
    return ok ? EXIT_OK : EXIT_FAILED_SOME;
}

// Writes the named strategies, or all. Returns false (logged) if there is no strategy of a name.
static bool choose(const struct option_texts *search, const struct strategy *chosen[STRATEGIES_MAX])
{
    enum { ALL };
    const char *names[STRATEGIES_MAX + 2] = {[ALL] = "all"};
    bool wanted[STRATEGIES_MAX + 1] = {[ALL] = search->count == 0};
    for (int i = 0; strategies[i]; i++)
        names[i + 1] = strategies[i]->name;
    for (int i = 0; i < search->count; i++) {
        const int at = find_word(search->text[i], "search", names);
        if (at < 0)
            return false;
        wanted[at] = true;
    }
    for (int i = 0, count = 0; strategies[i]; i++) {
        if (wanted[ALL] || wanted[i + 1])
            chosen[count++] = strategies[i];
    }
    return true;
}

int replay_run(const struct replay *replay)
{
    const struct strategy *chosen[STRATEGIES_MAX] = {NULL};
    struct table table;
    if (!choose(replay->search, chosen))
        return EXIT_USAGE;
    if (!table_read(&table, replay->table))
        return EXIT_NOTHING;
    const int code = replay_table(replay, &table, chosen);
    table_finish(&table);
    return code;
}
