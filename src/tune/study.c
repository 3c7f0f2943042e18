// study.c: files of results of tuners (T4 and others), and searches replayed on them
#include "tune/tuner.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/process.h"
#include "base/stats.h"
#include "tune/search.h"

#include <errno.h>
#include <jansson.h>
#include <libdeflate.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TABLE_BYTES = 1 << 30, RESULTS_MAX = 1000000, PROBLEM = 512 };

static const char *const state_names[] = {
    [T4_UNTRIED] = "",        [T4_CORRECT] = "correct",         [T4_COMPILE] = "compile",
    [T4_RUNTIME] = "runtime", [T4_CORRECTNESS] = "correctness", [T4_CONSTRAINTS] = "constraints",
    [T4_TIMEOUT] = "timeout",
};
enum { STATES = sizeof(state_names) / sizeof(*state_names) };

static const struct {
    const char *name;
    double ms;
} units[] = {
    {"ms", 1},    {"milliseconds", 1},    {"miliseconds", 1}, // Kernel Tuner's converter writes the last one
    {"us", 1e-3}, {"microseconds", 1e-3}, {"ns", 1e-6},       {"nanoseconds", 1e-6}, {"s", 1e3}, {"seconds", 1e3},
};

// The state while a file is read.
struct reader {
    struct t4_table *table;
    const json_t *results;
    double default_unit; // in ms; 0: the file names an unknown unit
    size_t at;           // index of the result; SIZE_MAX: none
    char problem[PROBLEM];
};

static bool refuse(struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Writes the problem. Always returns false.
static bool refuse(struct reader *reader, const char *format, ...)
{
    va_list arguments;
    int used = 0;
    if (reader->at != SIZE_MAX)
        used = snprintf(reader->problem, PROBLEM, "results[%zu]: ", reader->at);
    va_start(arguments, format);
    vsnprintf(reader->problem + used, PROBLEM - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

// Returns a unit in milliseconds; 0: it is unknown.
static double unit_ms(const char *name)
{
    for (size_t i = 0; name && i < sizeof(units) / sizeof(*units); i++) {
        if (strcasecmp(units[i].name, name) == 0)
            return units[i].ms;
    }
    return 0;
}

// ---- reading ----

// Returns the value of a parameter in a configuration; VALUE_NONE: refused.
static struct value value_in(struct reader *reader, const json_t *configuration, const char *name)
{
    const struct value value = value_of_json(json_object_get(configuration, name));
    if (value.kind == VALUE_NONE)
        refuse(reader, "parameter '%s' is not a number, text, true or false", name);
    else if (value.length < VALUE_TEXT_MAX)
        return value;
    else
        refuse(reader, "the value of parameter '%s' has over %d bytes", name, VALUE_TEXT_MAX - 1);
    return (struct value){.kind = VALUE_NONE};
}

// Returns the configuration of result `at`. NULL: refused, because its parameters are not the space's. A space without
// parameters accepts any.
static json_t *configuration_at(struct reader *reader)
{
    const struct space *space = &reader->table->space;
    json_t *configuration = json_object_get(json_array_get(reader->results, reader->at), "configuration");
    if (!json_is_object(configuration)) {
        refuse(reader, "there is no object 'configuration'");
        return NULL;
    }
    for (int p = 0; p < space->params; p++) {
        if (json_object_get(configuration, space->param[p].name))
            continue;
        refuse(reader, "parameter '%s' is missing", space->param[p].name);
        return NULL;
    }
    if (space->params == 0 || json_object_size(configuration) == (size_t)space->params)
        return configuration;
    refuse(reader, "it has parameters that results[0] does not have");
    return NULL;
}

static bool add_params(struct reader *reader)
{
    struct space *space = &reader->table->space;
    const char *name;
    json_t *value, *configuration = configuration_at(reader);
    if (!configuration)
        return false;
    const size_t params = json_object_size(configuration);
    if (params == 0 || params > SPACE_PARAMS)
        return refuse(reader, "it has %zu parameters; the limit is 1 to %d", params, SPACE_PARAMS);
    json_object_foreach(configuration, name, value) space_add_param(space, name);
    return true;
}

static bool add_values(struct reader *reader)
{
    struct space *space = &reader->table->space;
    json_t *configuration = configuration_at(reader);
    for (int p = 0; configuration && p < space->params; p++) {
        const char *name = space->param[p].name;
        const struct value value = value_in(reader, configuration, name);
        if (value.kind == VALUE_NONE)
            return false;
        if (space_add_value(space, p, value) < 0)
            return refuse(reader, "parameter '%s' has over %d values", name, SPACE_VALUES);
    }
    return configuration;
}

// Writes the tuple of result `at`.
static void read_tuple(struct reader *reader, uint16_t tuple[SPACE_PARAMS])
{
    struct space *space = &reader->table->space;
    json_t *configuration = configuration_at(reader);
    for (int p = 0; p < space->params; p++)
        tuple[p] = (uint16_t)space_find_value(space, p, value_in(reader, configuration, space->param[p].name));
}

// Reads the results' configurations. The order of values decides which tuples are neighbours, so the values come first.
static bool read_space(struct reader *reader)
{
    struct space *space = &reader->table->space;
    const size_t count = json_array_size(reader->results);
    uint16_t tuple[SPACE_PARAMS];
    reader->at = 0;
    if (!add_params(reader))
        return false;
    for (; reader->at < count; reader->at++) {
        if (!add_values(reader))
            return false;
    }
    for (int p = 0; p < space->params; p++)
        space_sort_values(space, p);
    for (reader->at = 0; reader->at < count; reader->at++) {
        read_tuple(reader, tuple);
        space_add(space, tuple);
    }
    space_sort(space);
    return true;
}

// Returns the measurement of the objective; NULL: refused.
static const json_t *find_measurement(struct reader *reader, const json_t *row)
{
    const json_t *objective = json_array_get(json_object_get(row, "objectives"), 0), *measurement;
    const char *name = json_is_string(objective) ? json_string_value(objective) : "time";
    size_t i;
    json_array_foreach(json_object_get(row, "measurements"), i, measurement)
    {
        const char *found = json_string_value(json_object_get(measurement, "name"));
        if (found && strcmp(found, name) == 0)
            return measurement;
    }
    refuse(reader, "it is correct, but has no measurement '%s'", name);
    return NULL;
}

static bool read_time(struct reader *reader, const json_t *row, double *ms)
{
    const json_t *measurement = find_measurement(reader, row);
    if (!measurement)
        return false;
    const json_t *value = json_object_get(measurement, "value");
    const char *name = json_string_value(json_object_get(measurement, "name"));
    const char *unit = json_string_value(json_object_get(measurement, "unit"));
    const bool has_unit = unit && *unit;
    double factor = strncmp(name, "time", 4) == 0 ? reader->default_unit : 0;
    if (has_unit)
        factor = unit_ms(unit);
    if (factor == 0)
        return refuse(reader, "measurement '%s' has the unit '%s', which is not a unit of time", name,
                      has_unit ? unit : "");
    if (!json_is_number(value) || !(json_number_value(value) > 0))
        return refuse(reader, "it is correct, but measurement '%s' is not a number over 0", name);
    *ms = json_number_value(value) * factor;
    return true;
}

static bool read_result(struct reader *reader)
{
    struct t4_table *table = reader->table;
    const json_t *row = json_array_get(reader->results, reader->at);
    const char *invalidity = json_string_value(json_object_get(row, "invalidity"));
    uint16_t tuple[SPACE_PARAMS];
    int state = T4_CORRECT;
    read_tuple(reader, tuple);
    struct t4_result *result = &table->result[space_find(&table->space, tuple)];
    if (result->state != T4_UNTRIED)
        return refuse(reader, "an earlier result has the same configuration");
    while (invalidity && state < STATES && strcmp(invalidity, state_names[state]) != 0)
        state++;
    if (!invalidity || state == STATES)
        return refuse(reader, "'invalidity' is not correct, compile, runtime, correctness, constraints or timeout");
    *result = (struct t4_result){.state = (enum t4_state)state, .ms = INFINITY};
    return state != T4_CORRECT || read_time(reader, row, &result->ms);
}

static bool read_json(struct reader *reader, const json_t *json)
{
    struct t4_table *table = reader->table;
    reader->at = SIZE_MAX;
    reader->results = json_object_get(json, "results");
    const size_t count = json_array_size(reader->results);
    if (!json_is_array(reader->results) || count == 0)
        return refuse(reader, "there is no array 'results', or it is empty");
    if (count > RESULTS_MAX)
        return refuse(reader, "there are %zu results; the limit is %d", count, RESULTS_MAX);
    const json_t *unit = json_object_get(json_object_get(json, "metadata"), "timeunit");
    reader->default_unit = json_is_string(unit) ? unit_ms(json_string_value(unit)) : 1;
    if (!read_space(reader))
        return false;
    table->result = xcalloc(count, sizeof(*table->result));
    for (reader->at = 0; reader->at < count; reader->at++) {
        if (!read_result(reader))
            return false;
    }
    return true;
}

// ---- files of other tuners ----

// Adds a T4 row. `failure`: what the tuner says of a failed configuration; NULL: it has a time.
static void add_row(json_t *rows, json_t *configuration, const char *failure, json_t *time, const char *unit)
{
    static const struct {
        const char *part; // of Kernel Tuner's or KTT's word
        enum t4_state state;
    } words[] = {
        {"Compilation", T4_COMPILE},
        {"Validation", T4_CORRECTNESS},
        {"Invalid", T4_CONSTRAINTS},
        {"Limits", T4_CONSTRAINTS},
    };
    enum t4_state state = failure ? T4_RUNTIME : T4_CORRECT;
    for (size_t i = 0; failure && i < sizeof(words) / sizeof(*words); i++)
        state = strstr(failure, words[i].part) ? words[i].state : state;
    json_array_append_new(rows,
                          json_pack("{s:o,s:s,s:[{s:s,s:O?,s:s?}]}", "configuration", configuration, "invalidity",
                                    state_names[state], "measurements", "name", "time", "value", time, "unit", unit));
}

static json_t *rows_of_kernel_tuner(const json_t *json)
{
    json_t *rows = json_array(), *keys = json_object_get(json, "tune_params_keys"), *entry, *key;
    const char *name;
    size_t i;
    json_object_foreach(json_object_get(json, "cache"), name, entry)
    {
        json_t *configuration = json_object(), *time = json_object_get(entry, "time");
        const bool timed = json_is_number(time) && json_number_value(time) < 1e20; // the time of a failure in old files
        const char *failure = json_is_string(time) ? json_string_value(time) : "";
        json_array_foreach(keys, i, key)
        {
            const char *param = json_is_string(key) ? json_string_value(key) : "";
            json_object_set(configuration, param, json_object_get(entry, param));
        }
        add_row(rows, configuration, timed ? NULL : failure, time, "ms");
    }
    return rows;
}

static json_t *rows_of_ktt(const json_t *json)
{
    const char *unit = json_string_value(json_object_get(json_object_get(json, "Metadata"), "TimeUnit"));
    json_t *rows = json_array(), *result, *pair;
    size_t i, k;
    json_array_foreach(json_object_get(json, "Results"), i, result)
    {
        json_t *configuration = json_object(), *status = json_object_get(result, "Status");
        const char *failure = json_is_string(status) ? json_string_value(status) : "";
        json_array_foreach(json_object_get(result, "Configuration"), k, pair)
        {
            const json_t *name = json_object_get(pair, "Name");
            json_object_set(configuration, json_is_string(name) ? json_string_value(name) : "",
                            json_object_get(pair, "Value"));
        }
        add_row(rows, configuration, strcmp(failure, "Ok") == 0 ? NULL : failure,
                json_object_get(result, "TotalDuration"), unit);
    }
    return rows;
}

// Replaces the JSON of another tuner by that of T4; accepts NULL.
static json_t *as_t4(json_t *json)
{
    json_t *rows = NULL;
    if (json_object_get(json, "cache"))
        rows = rows_of_kernel_tuner(json);
    else if (json_object_get(json, "Results"))
        rows = rows_of_ktt(json);
    if (!rows)
        return json;
    json_decref(json);
    return json_pack("{s:o}", "results", rows);
}

// Reads a text, which may be packed (gzip). NULL with errno set on failure. The caller frees.
static char *read_packed(const char *path)
{
    size_t size;
    uint32_t bytes = 0; // of the text: the file's last word, little-endian
    char *packed = file_read(path, TABLE_BYTES, &size), *text = NULL;
    if (!packed || size < sizeof(bytes) || memcmp(packed, "\x1f\x8b", 2) != 0) {
        free(packed);
        return packed ? file_read_text(path, TABLE_BYTES) : NULL;
    }
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    memcpy(&bytes, packed + size - sizeof(bytes), sizeof(bytes));
    if (inflater && bytes <= TABLE_BYTES && (text = calloc((size_t)bytes + 1, 1)) &&
        libdeflate_gzip_decompress(inflater, packed, size, text, bytes, NULL) != LIBDEFLATE_SUCCESS) {
        free(text);
        text = NULL;
        errno = EILSEQ;
    }
    libdeflate_free_decompressor(inflater);
    free(packed);
    return text;
}

bool t4_read(struct t4_table *table, const char *path)
{
    json_error_t error;
    struct reader reader = {.table = table};
    *table = (struct t4_table){.result = NULL};
    char *text = read_packed(path);
    if (!text) {
        log_error("cannot read %s: %s; give a file of results", path,
                  errno == EILSEQ ? "it is damaged" : file_read_error());
        return false;
    }
    json_t *json = as_t4(json_loads(text, JSON_REJECT_DUPLICATES, &error));
    free(text);
    if (!json)
        snprintf(reader.problem, PROBLEM, "line %d: %s", error.line, error.text);
    const bool ok = json && read_json(&reader, json);
    json_decref(json);
    if (ok)
        return true;
    log_error("cannot use %s: %s; give a T4 results file, a cache of Kernel Tuner, or KTT's JSON", path,
              reader.problem);
    t4_finish(table);
    return false;
}

// ---- writing ----

static json_t *trial_json(const struct subject *subject, const struct tuner_trial *trial)
{
    static const enum t4_state states[] = {
        [PROBE_PASSED - PROBE_ANSWERS] = T4_CORRECT,     [PROBE_WRONG - PROBE_ANSWERS] = T4_CORRECTNESS,
        [PROBE_NOT_BUILT - PROBE_ANSWERS] = T4_COMPILE,  [PROBE_NOT_RUN - PROBE_ANSWERS] = T4_RUNTIME,
        [PROBE_NOT_OPENED - PROBE_ANSWERS] = T4_RUNTIME, [PROBE_UNKNOWN - PROBE_ANSWERS] = T4_RUNTIME,
        [PROBE_LATE - PROBE_ANSWERS] = T4_TIMEOUT,
    };
    const struct space *space = &subject->space;
    const uint16_t *tuple = space_tuple(space, trial->configuration);
    const char *name;
    const enum t4_state state = states[trial->status - PROBE_ANSWERS];
    json_t *values = json_object(), *runs = json_array(), *metrics = NULL, *metric;
    for (int p = 0; p < space->params; p++)
        json_object_set_new(values, space->param[p].name, value_json(&space->param[p].value[tuple[p]]));
    for (int i = 0; i < trial->runs && !isinf(trial->ms); i++)
        json_array_append_new(runs, json_real(trial->run_ms[i]));
    json_t *times =
        json_pack("{s:f,s:f,s:f,s:f,s:f,s:o}", "compilation", trial->build_ms, "benchmark", 0.0, "framework", 0.0,
                  "search_algorithm", 0.0, "validation", trial->validate_ms, "runtimes", runs);
    json_t *time = state == T4_CORRECT ? json_real(trial->ms) : json_string(state_names[state]);
    json_t *measurements = json_pack("[{s:s,s:o,s:s}]", "name", "time", "value", time, "unit", "ms");
    if (state == T4_CORRECT && subject->type->metrics)
        metrics = subject->type->metrics(subject, trial->configuration, trial->ms);
    json_object_foreach(metrics, name, metric)
    {
        if (json_is_number(metric))
            json_array_append_new(measurements, json_pack("{s:s,s:O,s:s}", "name", name, "value", metric, "unit", ""));
    }
    json_decref(metrics);
    return json_pack("{s:o,s:o,s:s,s:i,s:o,s:[s]}", "configuration", values, "times", times, "invalidity",
                     state_names[state], "correctness", state == T4_CORRECT, "measurements", measurements, "objectives",
                     "time");
}

bool t4_write(const struct subject *subject, const struct tuner_state *state, const char *device, struct claim *claim)
{
    json_t *results = json_array();
    for (int i = 0; i < state->trials; i++)
        json_array_append_new(results, trial_json(subject, &state->trial[i]));
    json_t *json = json_pack("{s:o,s:s,s:{s:s,s:s,s:o,s:s,s:s}}", "results", results, "schema_version", "1.0.0",
                             "metadata", "timeunit", "milliseconds", "compute_api", "OpenCL", "device",
                             text_json(device), "autotuner", "monocle", "autotuner_version", MONOCLE_VERSION);
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(json);
    if (!text)
        errno = ENOMEM;
    const bool ok = text && claim_write(claim, text, strlen(text));
    if (!ok)
        log_error("cannot write %s: %s", claim->path, strerror(errno));
    free(text);
    return ok;
}

void t4_finish(struct t4_table *table)
{
    space_finish(&table->space);
    free(table->result);
    table->result = NULL;
}

int t4_best(const struct t4_table *table)
{
    int best = -1;
    for (int c = 0; c < table->space.count; c++) {
        if (table->result[c].state == T4_CORRECT && (best < 0 || table->result[c].ms < table->result[best].ms))
            best = c;
    }
    return best;
}

// ---- replay ----

enum { MARKS = 3 };

static const char *const searches[] = {[SEARCH_AUTO] = "auto", [SEARCH_RANDOM] = "random"};
enum { SEARCHES = sizeof(searches) / sizeof(*searches) };

// After a quarter, half and all of the budget: the optimum's time divided by the best time found, one value per seed.
struct nearness {
    struct samples at[MARKS];
};

static int mark_at(const struct replay *replay, int mark)
{
    const int at = replay->budget >> (MARKS - 1 - mark);
    return at > 0 ? at : 1;
}

static void play(const struct replay *replay, const struct t4_table *table, bool random, uint64_t seed,
                 struct nearness *nearness)
{
    const double optimum = table->result[t4_best(table)].ms;
    struct search *search = search_open(&table->space, random, seed, NULL, 0);
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

static void print_row(const char *search, const struct nearness *nearness)
{
    printf("%-8s", search);
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

static json_t *row_json(const struct replay *replay, const char *search, const struct nearness *nearness)
{
    json_t *marks = json_array();
    for (int m = 0; m < MARKS; m++) {
        const struct samples *at = &nearness->at[m];
        json_array_append_new(marks, json_pack("{s:i,s:f,s:f,s:f}", "configurations", mark_at(replay, m), "p10",
                                               samples_percentile(at, 10), "median", samples_percentile(at, 50), "p90",
                                               samples_percentile(at, 90)));
    }
    return json_pack("{s:s,s:o}", "search", search, "after", marks);
}

// ---- the run ----

static bool play_all(const struct replay *replay, const struct t4_table *table, json_t *json)
{
    bool ok = true;
    for (int i = 0; ok && i < SEARCHES && !process_interrupted(); i++) {
        struct nearness nearness = {0};
        if (replay->search >= 0 && replay->search != i)
            continue;
        for (int seed = 1; seed <= replay->seeds && !process_interrupted(); seed++)
            play(replay, table, i == SEARCH_RANDOM, (uint64_t)seed, &nearness);
        if (json)
            json_array_append_new(json_object_get(json, "searches"), row_json(replay, searches[i], &nearness));
        else
            print_row(searches[i], &nearness);
        for (int m = 0; m < MARKS; m++)
            samples_free(&nearness.at[m]);
        ok = json || process_flush();
    }
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
    const bool ok = play_all(replay, table, json);
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
