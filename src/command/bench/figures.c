// figures.c: runs measurements or reads saved results, and prints their figures or the page of --report
#include "command/bench/bench_command.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include "bench/results.h"
#include "command/page.h"
#include "command/shared.h"
#include "compute/energy.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the run ----

enum { CHOSEN_MAX = 64 };

struct figures {
    const struct bench *bench;
    struct chosen *chosen; // of a measurement
    struct claim report;   // of --report
    struct device_info device[DEVICE_MAX];
    const struct bench_test *test[CHOSEN_MAX]; // the chosen ones
    int devices, tests;
    int only;                     // index of the chosen device; -1: all
    int running;                  // index of the test that runs
    struct bench_result result;   // of the device that runs
    struct bench_results results; // of the devices so far
    bool any, failed;             // figures
};

// ---- options ----

// Fills in the tests that the words name, or all. Returns false if a word names none (logged).
static bool choose_tests(struct figures *figures)
{
    const struct bench *bench = figures->bench;
    bool used[CHOSEN_MAX] = {false};
    for (int w = 0; w < bench->words; w++) {
        const char *names[CHOSEN_MAX + 1] = {NULL};
        bool found = false;
        for (int i = 0; bench_tests[i]; i++) {
            names[i] = bench_tests[i]->name;
            if (bench_is_named(bench_tests[i], bench->word[w]))
                used[i] = found = true;
        }
        if (!found) {
            options_choose(bench->word[w], "test", names);
            return false;
        }
    }
    for (int i = 0; bench_tests[i]; i++) {
        if (bench->words == 0 || used[i])
            figures->test[figures->tests++] = bench_tests[i];
    }
    return true;
}

static bool choose_devices(struct figures *figures)
{
    const char *named = figures->bench->options->device, *why = "";
    figures->devices = device_list(figures->device, &why);
    figures->only = -1;
    if (figures->devices == 0)
        log_error("there is no OpenCL device: %s", why);
    if (figures->devices == 0 || (named && strcmp(named, "all") == 0))
        return figures->devices > 0;
    figures->only = device_choose(figures->device, figures->devices, named);
    return figures->only >= 0;
}

// ---- JSON and CSV ----

static json_t *device_json(const struct device_info *info, int number)
{
    json_t *device =
        json_pack("{s:i,s:o,s:s,s:o,s:o,s:o,s:o}", "number", number, "name", text_json(info->name), "type",
                  device_type_name(info), "vendor", text_json(info->vendor), "platform", text_json(info->platform_name),
                  "version", text_json(info->version), "driver", text_json(info->driver));
    json_object_update_new(device,
                           json_pack("{s:i,s:i,s:I,s:I,s:b}", "compute_units", info->compute_units, "clock_mhz",
                                     info->clock_mhz, "memory_bytes", (json_int_t)info->memory_bytes, "local_bytes",
                                     (json_int_t)info->local_bytes, "host_unified", (int)info->host_unified));
    return device;
}

// Returns an empty object if the device has no sensor.
static json_t *sensors_json(const struct sensors *sensors)
{
    json_t *object = json_object();
    if (sensors->clock_mhz > 0)
        json_object_set_new(object, "clock_mhz", json_integer(sensors->clock_mhz));
    if (sensors->temperature_c > 0)
        json_object_set_new(object, "temperature_c", json_integer(sensors->temperature_c));
    return object;
}

// Adds a test to those of a result. Its figures follow from others if it is `derived`.
static void add_test(json_t *tests, const struct bench_test *test, bool derived)
{
    json_t *json = json_pack("{s:s,s:s}", "unit", test->unit, "definition", test->definition);
    if (derived)
        json_object_set_new(json, "derived", json_true());
    json_object_set_new(tests, test->name, json);
}

// NAN: prints an empty field.
static void print_number(double value)
{
    printf(",");
    json_t *number = isnan(value) ? NULL : json_real(value);
    if (number)
        json_dumpf(number, stdout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)); // does not depend on the locale
    json_decref(number);
}

static void print_text(const char *text)
{
    printf(",");
    csv_print(stdout, text);
}

// Copies the name of parameter `index` of all figures. False: there are fewer.
static bool parameter_name(const struct bench_result *result, int index, char name[FIGURE_PARAMETERS])
{
    char seen[4 * FIGURE_PARAMETERS] = " ", word[FIGURE_PARAMETERS];
    for (int i = 0; i < result->figures; i++) {
        for (const char *at = result->figure[i].figure.parameters; *at; at += strspn(at, " ")) {
            snprintf(word, sizeof(word), " %.*s ", (int)strcspn(at, "= "), at);
            at += strcspn(at, " ");
            if (strstr(seen, word) || strlen(seen) + strlen(word) > sizeof(seen))
                continue;
            strcat(seen, word + 1);
            word[strlen(word) - 1] = '\0';
            strcpy(name, word + 1);
            if (index-- == 0)
                return true;
        }
    }
    return false;
}

// Prints a field for each parameter of all figures of `columns`: its value in these parameters; NULL: its name.
static void print_parameters(const struct bench_result *columns, const char *parameters)
{
    char name[FIGURE_PARAMETERS], value[FIGURE_PARAMETERS];
    for (int i = 0; parameter_name(columns, i, name); i++) {
        figure_parameter(text_or(parameters, ""), name, value);
        print_text(parameters ? value : name);
    }
}

// The columns of the parameters are those of `columns`.
static void print_csv(const struct bench_result *result, const struct bench_result *columns)
{
    const json_t *device = json_object_get(result->head, "device"), *tests = json_object_get(result->head, "tests");
    for (int i = 0; i < result->figures; i++) {
        const struct result_figure *item = &result->figure[i];
        const struct figure *f = &item->figure;
        const bool ok = f->status == FIGURE_OK;
        if (json_object_get(device, "number"))
            printf("%d", (int)json_integer_value(json_object_get(device, "number")));
        print_text(json_text(device, "name"));
        print_text(f->test);
        print_text(f->parameters);
        print_text(figure_status_name(f->status));
        print_number(ok ? f->value : NAN);
        print_number(ok && f->by_event > 0 ? f->by_event : NAN);
        print_text(json_text(json_object_get(tests, f->test), "unit"));
        print_number(ok ? f->spread : NAN);
        printf(",%d,%s", f->rounds, f->checked ? "yes" : "no");
        print_text(f->note);
        print_text(result_verdict_name(item->verdict));
        print_number(item->base_value);
        print_number(item->base_spread);
        print_number(item->change);
        print_number(item->p);
        print_parameters(columns, f->parameters);
        printf("\n");
    }
}

// ---- the run ----

static void take(void *context, const struct figure *figure)
{
    struct figures *figures = context;
    result_add(&figures->result, figure);
    figures->any = true;
    figures->failed = figures->failed || figure->status == FIGURE_FAILED;
}

static bool progress(void *context, const char *text)
{
    const struct figures *figures = context;
    char line[160];
    if (text) {
        snprintf(line, sizeof(line), "test %d of %d, %s", figures->running + 1, figures->tests, text);
        status_line_show(figures->tests > 0 ? line : text);
    }
    return !process_interrupted();
}

// Prints a sensor's values, if both are known: a device that becomes hot lowers its clock.
static void print_sensor(const json_t *device, const char *key, const char *label, const char *unit)
{
    const json_int_t start = json_integer_value(json_object_get(json_object_get(device, "start"), key));
    const json_int_t end = json_integer_value(json_object_get(json_object_get(device, "end"), key));
    if (start > 0 && end > 0)
        printf("%s at start and end: %lld, %lld %s\n", label, (long long)start, (long long)end, unit);
}

// Compares the figures of a device with the base, prints them unless a table has them, and keeps them for the page.
static void finish_device(struct figures *figures)
{
    const struct bench_options *o = figures->bench->options;
    struct bench_result *result = &figures->result;
    const json_t *device = json_object_get(result->head, "device");
    if (figures->bench->base && results_compare(result, figures->bench->base) > 0)
        figures->failed = true;
    if (o->json)
        print_json(result_json(result), JSON_COMPACT | JSON_REAL_PRECISION(6));
    else if (o->csv) {
        const bool first = figures->results.count == 0;
        const struct bench_result *columns = first ? result : &figures->results.result[0];
        if (first) {
            printf("device,name,test,parameters,status,value,by_event,unit,spread,rounds,checked,note,verdict,"
                   "base_value,base_spread,change,p");
            print_parameters(columns, NULL);
            printf("\n");
        }
        print_csv(result, columns);
    } else {
        const json_t *load = json_object_get(device, "load");
        printf("\n");
        if (load)
            printf("load at the start: %.2f\n", json_number_value(load));
        print_sensor(device, "clock_mhz", "clock", "MHz");
        print_sensor(device, "temperature_c", "temperature", "°C");
        if (figures->bench->base)
            figure_table_verdicts(result);
    }
    struct bench_results *all = &figures->results;
    all->result = xgrow(all->result, (size_t)all->count, sizeof(*all->result));
    all->result[all->count++] = *result;
    *result = (struct bench_result){0};
}

// NULL: nothing. The text may come from a file.
static void print_line(const char *text)
{
    char shown[512];
    if (!text)
        return;
    log_escape(shown, sizeof(shown), text);
    options_print_text(stdout, shown, 0, 2, FIGURE_LINE);
}

static void print_heading(const json_t *device)
{
    const char *name = "", *platform = NULL, *driver = "", *processor = NULL, *gl = NULL;
    int units = 0, clock_mhz = 0;
    char line[512], clock[32] = "";
    json_unpack((json_t *)device, "{s:s,s?s,s?s,s?i,s?i,s?s,s?s}", "name", &name, "platform", &platform, "driver",
                &driver, "compute_units", &units, "clock_mhz", &clock_mhz, "processor", &processor, "gl", &gl);
    if (clock_mhz > 0) // some drivers do not report it
        snprintf(clock, sizeof(clock), ", at most %d MHz", clock_mhz);
    snprintf(line, sizeof(line), "%s (%s, driver %s, compute units: %d%s)", name, platform ? platform : "", driver,
             units, clock);
    print_line(platform || !processor ? line : NULL);
    print_line(processor);
    print_line(gl);
    printf("figures: median of the rounds ± half the interquartile range, in %% of the median\n");
}

static void print_figures(const struct bench_test *test, const struct bench_result *result)
{
    figure_table_print(test, result);
    process_flush();
}

// Shows the result, which is complete, and keeps it.
static void show_result(struct figures *figures)
{
    const struct bench_options *o = figures->bench->options;
    const struct bench_result *result = &figures->result;
    const char *name;
    json_t *test;
    figures->any = figures->any || result->figures > 0;
    for (int i = 0; i < result->figures; i++)
        figures->failed = figures->failed || result->figure[i].figure.status == FIGURE_FAILED;
    if (!o->json && !o->csv) {
        print_heading(json_object_get(result->head, "device"));
        conclusion_print(result);
    }
    json_object_foreach(json_object_get(result->head, "tests"), name, test)
    {
        const struct bench_test row = {
            .name = name, .unit = json_text(test, "unit"), .definition = json_text(test, "definition")};
        if (!o->json && !o->csv)
            print_figures(&row, result);
    }
    finish_device(figures);
}

static void measure_device(struct figures *figures, int number)
{
    const struct bench_options *o = figures->bench->options;
    const bool table = !o->json && !o->csv;
    double usual_s = 0;
    struct sensors start, end;
    json_t *device = device_json(&figures->device[number], number), *tests = json_object();
    figures->result = result_begin(device, tests);
    for (int i = 0; i < figures->tests; i++)
        usual_s += figures->test[i]->seconds;
    if (table)
        print_heading(device);
    device_sensors_read(&figures->device[number], &start);
    for (int i = 0; i < figures->tests && !process_interrupted(); i++) {
        const int before = figures->result.figures;
        const struct bench_test *test = figures->test[i];
        const struct bench_test_setup setup = {
            .test = test,
            .device = number,
            .kernels = o->kernels,
            .seconds = o->seconds * test->seconds / usual_s,
            .rounds = o->rounds,
            .listener = {take, progress, figures},
        };
        figures->running = i;
        bench_test_run(&setup);
        status_line_show("");
        if (figures->result.figures == before)
            continue; // interrupted
        add_test(tests, test, false);
        if (table)
            print_figures(test, &figures->result);
    }
    device_sensors_read(&figures->device[number], &end);
    json_object_set_new(device, "start", sensors_json(&start));
    json_object_set_new(device, "load", json_real(figures->bench->load));
    json_object_set_new(device, "end", sensors_json(&end));
    if (table)
        conclusion_print(&figures->result);
    finish_device(figures);
}

// ---- measurements ----

static json_t *place_json(const struct bench *bench, const struct bench_machine *place)
{
    json_t *device = place->number >= 0 ? device_json(&place->device, place->number)
                                        : json_pack("{s:o}", "name", text_json(place->processor));
    json_object_set_new(device, "processor", text_json(place->processor));
    json_object_set_new(device, "processors", json_integer(workers_available()));
    if (place->gl[0])
        json_object_set_new(device, "gl", text_json(place->gl));
    json_object_set_new(device, "load", json_real(bench->load));
    return device;
}

// Returns the exit code.
static int measure_chosen(struct figures *figures)
{
    const struct bench *bench = figures->bench;
    const struct bench_options *o = bench->options;
    const struct bench_chosen_setup setup = {
        .measurement = bench->measurement,
        .chosen = figures->chosen,
        .device = o->device,
        .insist = o->paths || (o->device && *o->device),
        .kernels = o->kernels,
        .seconds = o->seconds,
        .rounds = o->rounds,
        .listener = {take, progress, figures},
    };
    struct bench_machine place;
    json_t *tests = json_object();
    figures->result = result_begin(json_object(), tests);
    const enum bench_outcome end = bench_chosen_run(&setup, &place);
    status_line_show("");
    if (end != BENCH_ENDED)
        return end == BENCH_CASES ? EXIT_USAGE : EXIT_NOTHING;
    for (int i = 0; i < MEASUREMENT_TESTS && bench->measurement->test[i].name; i++) {
        for (int k = 0; k < figures->result.figures; k++) {
            if (strcmp(figures->result.figure[k].figure.test, bench->measurement->test[i].name) == 0)
                add_test(tests, &bench->measurement->test[i], i > 0);
        }
    }
    json_object_set_new(figures->result.head, "device", place_json(bench, &place));
    show_result(figures);
    return EXIT_OK;
}

// ---- results of earlier runs ----

static bool is_file(const char *word)
{
    const size_t length = strlen(word);
    return length > 5 && strcmp(word + length - 5, ".json") == 0;
}

// Returns false if operands are neither tests of a device nor files, if only some of them are files, or if options for
// a measurement are beside files (logged).
static bool check_operands(const struct bench *bench, bool *files)
{
    *files = bench->words > 0 && is_file(bench->word[0]);
    if (bench->words > 0 && !*files && bench->measurement) {
        log_error("unexpected argument '%s'; 'bench %s' takes only files of saved results, which end in .json",
                  bench->word[0], bench->measurement->name);
        return false;
    }
    for (int w = 0; w < bench->words; w++) {
        if (is_file(bench->word[w]) == *files)
            continue;
        log_error("the operands are names of tests and a file of results; give only one of these");
        return false;
    }
    const struct bench_options *o = bench->options;
    const bool named = o->device && o->device != getenv("MONOCLE_DEVICE");
    if (*files && (named || o->rounds > 0 || o->seconds > 0)) {
        log_error("-d, --rounds and --time have no effect on the saved results in %s; remove them", bench->word[0]);
        return false;
    }
    return true;
}

// Returns false if the page cannot be written or would replace results (logged).
static bool check_report(struct figures *figures)
{
    const struct bench *bench = figures->bench;
    const char *path = bench->options->report;
    bool input = path && bench->options->compare && file_same(path, bench->options->compare);
    for (int w = 0; path && w < bench->words; w++)
        input = input || (is_file(bench->word[w]) && file_same(path, bench->word[w]));
    if (input)
        log_error("--report would replace the results in %s; name another file", path);
    else if (path && !claim_take(&figures->report, path))
        log_error("--report: cannot write %s: %s", path, strerror(errno));
    else
        return true;
    return false;
}

// Returns false if a file cannot be read (logged).
static bool show_files(struct figures *figures)
{
    for (int w = 0; w < figures->bench->words; w++) {
        struct bench_results results;
        if (!results_read(&results, figures->bench->word[w]))
            return false;
        for (int i = 0; i < results.count; i++) {
            figures->result = results.result[i];
            results.result[i] = (struct bench_result){0};
            show_result(figures);
        }
        results_free(&results);
    }
    return true;
}

// ---- the command ----

static bool measure_devices(struct figures *figures)
{
    if (!choose_devices(figures))
        return false;
    for (int i = 0; i < figures->devices && !process_interrupted(); i++) {
        if (figures->only < 0 || figures->only == i)
            measure_device(figures, i);
    }
    return true;
}

static bool write_report(struct figures *figures)
{
    const struct bench_results *base = figures->bench->base;
    json_t *results = json_array();
    for (int i = 0; base && i < base->count; i++) {
        json_t *result = result_json(&base->result[i]);
        json_object_set_new(result, "label", json_string("base"));
        json_array_append_new(results, result);
    }
    for (int i = 0; i < figures->results.count; i++) {
        json_t *result = result_json(&figures->results.result[i]);
        conclusion_add(&figures->results.result[i], result);
        json_array_append_new(results, result);
    }
    const bool ok = page_write(&figures->report, "assets/report.html", results);
    json_decref(results);
    return ok;
}

int figures_run(const struct bench *bench, struct chosen *chosen)
{
    struct figures *figures = xalloc(sizeof(*figures)); // too large for the stack
    int code = EXIT_USAGE;
    bool files = false;
    figures->bench = bench;
    figures->chosen = chosen;
    if (check_operands(bench, &files) && check_report(figures) &&
        (files || bench->measurement || choose_tests(figures))) {
        if (!files && bench->measurement)
            code = measure_chosen(figures);
        else if (files)
            code = show_files(figures) ? EXIT_OK : EXIT_NOTHING;
        else
            code = measure_devices(figures) ? EXIT_OK : EXIT_NOTHING;
        code = code == EXIT_OK && figures->failed ? EXIT_FAILED_SOME : code;
        // A run that is interrupted at once replaces no page.
        const bool stopped = process_interrupted() && !figures->any;
        const bool shown = code == EXIT_OK || code == EXIT_FAILED_SOME;
        if (shown && bench->options->report && !stopped && !write_report(figures))
            code = EXIT_FAILED_SOME;
    }
    result_free(&figures->result);
    results_free(&figures->results);
    free(figures);
    return code;
}
