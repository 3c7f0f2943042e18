// tune_command.c: the command that searches for the fastest configurations: options, runs and results
#include "base/alloc.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/options.h"
#include "base/resource.h"
#include "base/text.h"
#include "base/vectors.h"
#include "bench/chosen.h"
#include "command/shared.h"
#include "compute/energy.h"
#include "compute/tuned.h"
#include "filter/user_filter.h"
#include "tune/kernel/user_kernel.h"
#include "tune/passes.h"
#include "tune/search.h"
#include "tune/tuner.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TUNE_AUTO_BUDGET = 80 }; // configurations that the search `auto` tries for each pass if there is no limit

enum { TUNE_PATH_OPENCL, TUNE_PATH_ZEROCOPY, TUNE_PATH_CPU }; // choices of --path

// The options of the command, and what follows from them.
struct tune_options {
    struct case_options cases;    // no sizes: 1920x1080; no formats: rgba
    const char *device, *kernels; // as the user names them
    const char *filter_dir;       // directory of users' filters
    struct option_texts budget;   // texts of the limits
    const char *t4;               // file for the results of the last pass; NULL: none
    const char *replay;           // a T4 file, on which searches are simulated; NULL: none
    int path, threads, objective; // threads: of the cpu path; 0: one per CPU. objective 1: the least energy
    int search;                   // index in SEARCH_CHOICES; -1: not given
    int seed, seeds, log_level;
    bool json, check; // check: of the spec, without a search
    // Not options.
    const char *spec;   // description of a user's kernel, tuned instead of chains; NULL: none
    int configurations; // limit for each pass; 0: none
    double seconds;     // limit for each pass; 0: none
    int idle;           // limit for the configurations after the fastest one; 0: none
};

struct run {
    struct tune_options *of;
    struct claim claim; // of the file of --t4
    struct cases cases;
    struct device *device; // NULL: the cpu path
    int threads;           // of the cpu path; 0: one per CPU
    char device_name[256];
    struct energy *energy; // of the device; NULL: it has no counter
    bool stored;           // a result

    // What is tuned now:
    const struct case_chain *chain; // NULL: a user's kernel
    struct image_shape shape;       // of the chain's input
    const struct subject *subject;
    int budget; // see tuner_setup
};

// Returns the maximum number of configurations of a pass; 0: no limit.
static int budget_of(const struct tune_options *of)
{
    const bool limited = of->configurations > 0 || of->seconds > 0;
    return limited || of->search > 0 ? of->configurations : TUNE_AUTO_BUDGET;
}

// ---- progress ----

static bool progress(void *context, const struct tuner_state *state)
{
    const struct run *run = context;
    const struct tune_options *of = run->of;
    const int space = run->subject->space.count;
    const int most = run->budget > 0 && run->budget < space ? run->budget : space;
    char text[200], left[32] = "", best[64] = "none yet";
    if (state->best >= 0)
        snprintf(best, sizeof(best), "%.3f ms", state->trial[state->best].ms);
    double left_s = state->trials > 0 ? state->spent_s / state->trials * (most - state->trials) : 0;
    if (of->seconds > 0)
        left_s = fmin(left_s, fmax(of->seconds - state->spent_s, 0));
    if (state->trials > 0)
        snprintf(left, sizeof(left), ", %.0f s left", left_s);
    snprintf(text, sizeof(text), "%s: %d of %d configurations, %d failed, best %s%s", run->subject->name, state->trials,
             most, state->failed, best, state->comparing ? ", comparing" : left);
    status_line_show(text);
    const bool idle = of->idle > 0 && state->best >= 0 && state->trials - 1 - state->best >= of->idle;
    return !idle && !process_interrupted();
}

// ---- output ----

static const char *choice_text(const struct subject *subject, int configuration, char text[SUBJECT_TEXT])
{
    subject->type->print(subject, configuration, text);
    return text;
}

// Adds the metrics of a user's kernel, if it has any.
static void add_metrics(json_t *json, const struct run *run, const char *key, int configuration, double ms)
{
    json_t *metrics = NULL;
    if (run->subject->type->metrics)
        metrics = run->subject->type->metrics(run->subject, configuration, ms);
    if (json_object_size(metrics) > 0)
        json_object_set(json, key, metrics);
    json_decref(metrics);
}

static json_t *trials_json(const struct run *run, const struct tuner_state *state)
{
    const struct subject *subject = run->subject;
    char text[SUBJECT_TEXT];
    json_t *trials = json_array();
    for (int i = 0; i < state->trials; i++) {
        const struct tuner_trial *trial = &state->trial[i];
        json_t *row = json_pack("{s:s}", "choice", choice_text(subject, trial->configuration, text));
        if (isinf(trial->ms))
            json_object_set_new(row, "failed", text_json(trial->why));
        else
            json_object_set_new(row, "ms", json_real(trial->ms));
        if (!isinf(trial->ms))
            add_metrics(row, run, "metrics", trial->configuration, trial->ms);
        json_array_append_new(trials, row);
    }
    return trials;
}

// Returns what was tuned: a pass of a chain, or a user's kernel.
static json_t *work_json(const struct run *run)
{
    const struct image_shape *shape = &run->shape;
    if (!run->chain)
        return json_pack("{s:o}", "spec", text_json(run->of->spec));
    return json_pack("{s:o,s:s,s:i,s:i,s:s}", "chain", text_json(run->chain->text), "format",
                     pixfmt_info(shape->format)->name, "width", shape->width, "height", shape->height, "pass",
                     run->subject->name);
}

static json_t *result_json(const struct run *run, const struct tuner_result *result)
{
    char base[SUBJECT_TEXT], used[SUBJECT_TEXT], best[SUBJECT_TEXT];
    choice_text(run->subject, result->base, base);
    choice_text(run->subject, result->used, used);
    choice_text(run->subject, result->best, best);
    json_t *json = work_json(run);
    json_object_update_new(json, json_pack("{s:o,s:i,s:i,s:i,s:f}", "device", text_json(run->device_name),
                                           "configurations", run->subject->space.count, "tried", result->state.trials,
                                           "failed", result->state.failed, "seconds", result->state.spent_s));
    json_object_update_new(json, json_pack("{s:s,s:f,s:s,s:f,s:s,s:f,s:f,s:f,s:o}", "default", base, "default_ms",
                                           result->base_ms, "used", used, "used_ms", result->used_ms, "best", best,
                                           "best_ms", result->best_ms, "speedup", result->speedup, "noise",
                                           result->noise, "trials", trials_json(run, &result->state)));
    add_metrics(json, run, "default_metrics", result->base, result->base_ms);
    add_metrics(json, run, "used_metrics", result->used, result->used_ms);
    add_metrics(json, run, "best_metrics", result->best, result->best_ms);
    if (result->base_mj > 0)
        json_object_update_new(json, json_pack("{s:s,s:f,s:f}", "energy_counter", energy_name(run->energy),
                                               "default_mj", result->base_mj, "best_mj", result->best_mj));
    return json;
}

static void print_head(bool chains)
{
    if (chains)
        printf("%-16s %-6s %-10s ", "chain", "format", "size");
    printf("%-12s %10s %9s %9s %8s  %9s %8s  %s\n", chains ? "pass" : "kernel", "default ms", "used ms", "best ms",
           "speed-up", "tried", "search s", "best");
}

// Returns true if only one configuration of several ran, which says nothing about the others.
static bool ran_alone(const struct run *run, const struct tuner_result *result)
{
    return result->state.trials - result->state.failed == 1 && run->subject->space.count > 1;
}

static void print_result(const struct run *run, const struct tuner_result *result)
{
    const struct image_shape *shape = &run->shape;
    char size[24], tried[24], speedup[16] = "-", best[SUBJECT_TEXT];
    snprintf(size, sizeof(size), "%dx%d", shape->width, shape->height);
    snprintf(tried, sizeof(tried), "%d/%d", result->state.trials, run->subject->space.count);
    if (run->chain)
        printf("%-16.16s %-6s %-10s ", run->chain->text, pixfmt_info(shape->format)->name, size);
    if (result->state.trials - result->state.failed > 1)
        snprintf(speedup, sizeof(speedup), "%.2f", result->speedup);
    printf("%-12.12s %10.3f %9.3f %9.3f %8s  %9s %8.1f  %s\n", run->subject->name, result->base_ms, result->used_ms,
           result->best_ms, speedup, tried, result->state.spent_s, choice_text(run->subject, result->best, best));
    if (ran_alone(run, result))
        printf("  only 1 of %d configurations ran, so nothing is stored: %d failed, %d were not tried%s\n",
               run->subject->space.count, result->state.failed, run->subject->space.count - result->state.trials,
               result->state.failed ? "; --json prints the reasons" : "; raise --budget");
    if (result->base_mj > 0)
        printf("  energy per %s (%s): default %.3f mJ, best %.3f mJ\n", run->chain ? "frame" : "run",
               energy_name(run->energy), result->base_mj, result->best_mj);
}

static void print_metrics(const struct run *run, const struct tuner_result *result)
{
    json_t *base = run->subject->type->metrics(run->subject, result->base, result->base_ms), *value;
    json_t *best = run->subject->type->metrics(run->subject, result->best, result->best_ms);
    const char *name;
    json_object_foreach(base, name, value)
        log_print_line(stdout, "  %s: default %.4g, best %.4g", name, json_number_value(value),
                       json_number_value(json_object_get(best, name)));
    json_decref(base);
    json_decref(best);
}

// Prints one line for each kernel, with its first sizes. JSON has all.
static void print_launches(const json_t *launches)
{
    json_t *row, *other;
    size_t i, k;
    json_array_foreach(launches, i, row)
    {
        const char *kernel = json_text(row, "kernel");
        int count = 0, sizes = 0, global[3], local[3];
        double ms = 0;
        bool first = true;
        json_array_foreach(launches, k, other)
        {
            if (strcmp(json_text(other, "kernel"), kernel) != 0)
                continue;
            first = first && k >= i;
            count += (int)json_integer_value(json_object_get(other, "launches"));
            ms += json_number_value(json_object_get(other, "ms"));
            sizes++;
        }
        json_unpack(row, "{s:[iii],s:[iii]}", "global", global, global + 1, global + 2, "local", local, local + 1,
                    local + 2);
        if (first)
            log_print_line(stdout, "  %-20s %4d x %10.3f ms  global %dx%dx%d, local %dx%dx%d%s", kernel, count,
                           ms / count, global[0], global[1], global[2], local[0], local[1], local[2],
                           text_if(sizes > 1, ", and other sizes"));
    }
}

// ---- the run ----

// Tunes a subject, prints and stores the result (a tune_pass_hook).
static bool tune(void *context, struct subject *subject)
{
    struct run *run = context;
    const struct tune_options *of = run->of;
    run->subject = subject;
    run->budget = budget_of(of);
    const struct tuner_setup setup = {
        .subject = subject,
        .random = of->search == SEARCH_RANDOM,
        .seed = (uint64_t)of->seed,
        .budget = run->budget,
        .seconds = of->seconds,
        .energy = run->energy,
        .by_energy = of->objective == 1,
        .progress = progress,
        .context = run,
    };
    struct tuner_result result;
    bool ok = tuner_run(&setup, &result);
    status_line_show("");
    if (ok) {
        json_t *launches = run->chain ? NULL : user_kernel_launches(subject, result.best);
        if (of->json) {
            json_t *json = result_json(run, &result);
            json_object_set(json, "launches", launches);
            ok = print_json(json, 0);
        } else {
            print_result(run, &result);
            if (subject->type->metrics)
                print_metrics(run, &result);
            print_launches(json_array_size(launches) > 1 ? launches : NULL);
        }
        json_decref(launches);
        const bool kept = subject->has_used && subject->used_exactly && result.best == subject->used;
        const bool by_time =
            of->objective == 0 &&
            (!subject->type->cost || subject->type->cost(subject, result.best, result.best_ms) == result.best_ms);
        // The ratio of the stored times is then the printed speed-up; otherwise that is a ratio of costs.
        const double base_ms = by_time && result.used == result.base ? result.best_ms * result.speedup : result.base_ms;
        if (!kept && !ran_alone(run, &result) && subject->type->store && (!of->kernels || !of->kernels[0])) {
            const bool stored = subject->type->store(subject, result.best, result.best_ms, base_ms);
            run->stored = run->stored || stored;
            ok = ok && stored;
        }
    }
    if (of->t4 && result.state.trials > 0)
        ok = t4_write(subject, &result.state, run->device_name, &run->claim) && ok;
    tuner_finish(&result);
    subject_close(subject);
    return ok && process_flush();
}

// Tunes all passes of a chain, or the cpu path for the chain. `chain` has the same chain as the target.
static bool tune_target(struct run *run, const struct case_chain *chain, const struct tune_target *target)
{
    run->chain = chain;
    run->shape = target->input;
    if (target->device)
        return tune_chain(target, tune, run);
    return tune(run, tune_cpu_open(target->chain, &target->input, run->threads));
}

// Opens the energy counter of the device. False: there is none, but --objective needs it (logged).
static bool open_energy(struct run *run)
{
    char why[ENERGY_WHY];
    run->energy = run->device ? device_energy_open(&run->device->info, why)
                              : energy_open(&(struct energy_device){.cpu = true}, why);
    if (!run->energy && run->of->objective)
        log_error("--objective energy needs an energy counter, but '%s' has none that can be read: %s",
                  run->device_name, why);
    else if (!run->energy)
        log_info("the energy of '%s' is not measured: %s", run->device_name, why);
    return run->energy || !run->of->objective;
}

// Begins to tune the cpu path. False on failure (logged).
static bool use_cpu(struct run *run)
{
    run->threads = run->of->threads;
    processor_model(run->device_name);
    return open_energy(run);
}

// Opens the device that the user names.
static bool open_device(struct run *run)
{
    struct device_info devices[DEVICE_MAX];
    const char *why = "cannot open it";
    const int count = device_list(devices, &why);
    if (count == 0) {
        log_error("cannot tune: there is no OpenCL device: %s", why);
        return false;
    }
    const int chosen = device_choose(devices, count, run->of->device);
    if (chosen < 0)
        return false;
    snprintf(run->device_name, sizeof(run->device_name), "%s", devices[chosen].name);
    run->device = device_open(&devices[chosen], NULL, run->of->kernels);
    return run->device && open_energy(run);
}

// Tunes each chain in each format and size. Returns the exit code.
static int tune_cases(struct run *run)
{
    const struct cases *cases = &run->cases;
    bool ok = true;
    if (!(run->of->path == TUNE_PATH_CPU ? use_cpu(run) : open_device(run)))
        return EXIT_NOTHING;
    if (!run->of->json)
        print_head(true);
    for (int c = 0; c < cases->chains; c++) {
        for (int f = 0; f < cases->formats; f++) {
            for (int s = 0; s < cases->sizes; s++) {
                struct tune_target target = {.device = run->device,
                                             .chain = &cases->chain[c].chain,
                                             .to_image = run->of->path == TUNE_PATH_ZEROCOPY};
                cases_shape(&target.input, cases->format[f], cases->size[s]); // parse has checked it
                ok = tune_target(run, &cases->chain[c], &target) && ok;
                if (!process_flush())
                    return EXIT_FAILED_SOME; // nobody reads the results
            }
        }
    }
    return ok ? EXIT_OK : EXIT_FAILED_SOME;
}

// Returns true if an output would overwrite a file of the description (logged).
static bool overwrites_kernel(const struct tune_options *of, const struct subject *subject)
{
    const bool overwrites = of->t4 && user_kernel_reads(subject, of->t4);
    if (overwrites)
        log_error("%s reads the output %s; name another output", of->spec, of->t4);
    return overwrites;
}

// Checks a configuration of a user's kernel, and prints the result. Returns false if it is wrong. Sets *runs to false
// if it does not run, or if its output is wrong.
static bool check_configuration(const struct run *run, struct subject *subject, const char *which, int configuration,
                                bool *runs)
{
    json_t *json = user_kernel_check(subject, configuration), *fault;
    const char *failed = json_text(json, "failed"), *unchecked = json_text(json, "unchecked");
    const json_t *faults = json_object_get(json, "faults");
    *runs = !failed[0];
    const bool ok = *runs && json_array_size(faults) == 0;
    size_t i;
    json_object_set_new(json, "which", json_string(which));
    if (run->of->json)
        return print_json(json, 0) && ok;
    printf("%s: %s: %s\n", which, json_text(json, "choice"), failed[0] ? failed : "correct");
    print_launches(json_object_get(json, "launches"));
    json_array_foreach((json_t *)faults, i, fault) log_print_line(stdout, "  %s", json_string_value(fault));
    if (unchecked[0])
        printf("  Oclgrind did not check its accesses: %s\n", unchecked);
    else if (ok)
        printf("  no access out of bounds\n");
    json_decref(json);
    return ok;
}

// Checks the stored configuration, and the default if that is another one. Returns the exit code.
static int check_spec(const struct run *run, struct subject *subject)
{
    bool used_runs = false, runs = false, passed = false;
    const bool ok = !subject->has_used || check_configuration(run, subject, "stored", subject->used, &used_runs);
    for (int i = 0; i < subject->presets && !runs && !process_interrupted(); i++) {
        if (subject->has_used && subject->used == subject->preset[i])
            passed = runs = used_runs;
        else
            passed = check_configuration(run, subject, "default", subject->preset[i], &runs);
    }
    subject_close(subject);
    return ok && passed ? EXIT_OK : EXIT_FAILED_SOME;
}

// Tunes a user's kernel. Returns the exit code.
static int tune_spec(struct run *run)
{
    struct tune_options *of = run->of;
    struct user_budget budget;
    if (!open_device(run))
        return EXIT_NOTHING;
    struct subject *subject = user_kernel_open(run->device, of->spec, &budget);
    if (!subject)
        return EXIT_NOTHING;
    const bool safe = !overwrites_kernel(of, subject);
    if (!safe || !subject->type->prepare(subject)) { // a wrong description may make this take forever
        subject_close(subject);
        return safe ? EXIT_NOTHING : EXIT_USAGE;
    }
    process_hold_signals(CALLS_ANY);
    if (of->check)
        return check_spec(run, subject);
    if (of->configurations == 0 && of->seconds <= 0) { // the limits of the description
        of->configurations = budget.configurations;
        of->seconds = budget.seconds;
    }
    if (!of->json)
        print_head(false);
    return tune(run, subject) ? EXIT_OK : EXIT_FAILED_SOME;
}

// Returns false if the file of --t4 cannot be written, would overwrite SPEC, or has a name of another kind (logged).
static bool check_output(const struct tune_options *of, struct claim *claim)
{
    static const char *const others[] = {"cl", "csv", "jpeg", "jpg", "jsonl", "png", "tsv"};
    const char *dot = of->t4 ? strrchr(of->t4, '.') : NULL;
    for (size_t i = 0; dot && i < sizeof(others) / sizeof(*others); i++) {
        if (strcasecmp(dot + 1, others[i]) != 0)
            continue;
        log_error("--t4 %s: the name is of another kind of file; name another file, such as %.*s.json", of->t4,
                  (int)(dot - of->t4), of->t4);
        return false;
    }
    if (of->t4 && !claim_take(claim, of->t4))
        log_error("cannot write %s: %s", of->t4, strerror(errno));
    else if (of->t4 && of->spec && file_same(of->t4, of->spec))
        log_error("the output %s is the description %s; name another output", of->t4, of->spec);
    else
        return true;
    return false;
}

static bool parse(struct run *run)
{
    const struct tune_options *of = run->of;
    struct cases *cases = &run->cases;
    if (!cases_take_chains(cases, &of->cases.filters) || !cases_take_sizes(cases, of->cases.sizes) ||
        !cases_take_formats(cases, of->cases.formats))
        return false;
    if (cases->sizes == 0)
        cases->size[cases->sizes++] = (struct option_size){1920, 1080};
    if (cases->formats == 0)
        cases->format[cases->formats++] = PIXFMT_RGBA;
    for (int i = 0; i < cases->formats * cases->sizes; i++) {
        struct image_shape shape;
        if (!cases_shape(&shape, cases->format[i / cases->sizes], cases->size[i % cases->sizes]))
            return false;
    }
    return check_output(of, &run->claim);
}

static void print_place(void)
{
    char path[PATH_MAX];
    tuned_user_path(path);
    putchar('\n');
    log_print_line(stdout, "stored in %s; 'monocle tuned list' lists the results", path);
}

// Tunes each chain in each format and size, or a user's kernel; prints and stores the results. Returns the exit code.
static int tune_chains_run(struct tune_options *of)
{
    struct run *run = xalloc(sizeof(*run)); // too large for the stack
    int code = EXIT_USAGE;
    run->of = of;
    const bool ok = resource_check_kernels(of->kernels) && parse(run);
    if (ok && !of->spec)
        process_hold_signals(CALLS_ANY); // after a signal, the results so far are kept
    if (ok)
        code = of->spec ? tune_spec(run) : tune_cases(run);
    if (run->stored && !of->json)
        print_place();
    if (process_interrupted() && code != EXIT_USAGE)
        code = EXIT_OK; // the program's exit status is that of the signal
    energy_close(run->energy);
    device_close(run->device);
    free(run);
    return code;
}

// ---- options ----

#define AT(member) offsetof(struct tune_options, member)

static const struct option options[] = {
    CASE_OPTIONS(AT(cases)),
    {"path", 'p', OPTION_CHOICE, "PATH", .choices = "opencl|zerocopy|cpu",
     .help = "tune for this path; opencl: results in memory; zerocopy: results in textures; default: opencl",
     .offset = AT(path)},
    THREADS_OPTION(AT(threads)),
    DEVICE_OPTION(AT(device), "", ""),
    {"budget", 'b', OPTION_TEXTS, "N|SECONDSs|Nidle",
     .help =
         "limits of the search per pass: configurations (80), time (30s), configurations after the fastest (20idle); "
         "default: 80",
     .offset = AT(budget)},
    {"check", 0, OPTION_FLAG,
     .help = "only run the stored configuration and the default of SPEC.json, also in Oclgrind", .offset = AT(check)},
    {"objective", 0, OPTION_CHOICE, .choices = "time|energy",
     .help = "choose the configuration with the least time, or energy, per frame; default: time",
     .offset = AT(objective)},
    {"search", 0, OPTION_CHOICE, "SEARCH", .choices = SEARCH_CHOICES,
     .help = "search to use; default: auto; with --replay: both", .offset = AT(search)},
    {"seed", 0, OPTION_INT, "N", .help = "seed of the search's random numbers; default: 1", .offset = AT(seed),
     .min = 1, .max = INT_MAX},
    {"t4", 0, OPTION_TEXT, "FILE", .help = "write the results of the last pass to a T4 file, which Kernel Tuner reads",
     .offset = AT(t4), .complete = "file"},
    {"replay", 0, OPTION_TEXT, "TABLE",
     .help = "simulate searches on a file of measured results (T4, or of Kernel Tuner or KTT); needs no device",
     .offset = AT(replay), .complete = "file"},
    {"seeds", 0, OPTION_INT, "K", .help = "with --replay: repeat each search with K seeds; default: 50",
     .offset = AT(seeds), .min = 1, .max = 10000},
    JSON_OPTION(AT(json), "print one JSON object per pass, with all tried configurations; or one per replay"),
    FILTERS_OPTION(AT(filter_dir)),
    KERNELS_OPTION(AT(kernels), "; tune then stores no result"),
    LOG_LEVEL_OPTION(AT(log_level)),
    {0},
};

static const char *const examples[] = {
    "monocle tune -f blur=2  tune for 1920x1080, rgba",
    "monocle tune -f gray,blur=5 --formats nv21,yuyv --sizes 1280x720  tune for cameras",
    "monocle tune -f all --budget 30s  tune every filter, 30 seconds for each pass",
    "monocle tune -p cpu -f emboss --sizes 1920x1080,3840x2160  tune the cpu path",
    "monocle tune -p zerocopy -f blur=2  tune for live with the sharing mode gl-shared",
    "monocle tune -f blur=2 --search random  try all configurations",
    "monocle tuned list  list the stored results",
    "monocle tune -f all --json  print the time, or the failure, of each configuration",
    "monocle tune -f blur=2 --t4 table.json  save all measurements",
    "monocle tune matmul.json --budget 60s  tune your own OpenCL kernel, which matmul.json describes",
    "monocle tune matmul.json --check  find its accesses out of bounds with Oclgrind",
    "monocle tune --replay table.json --budget 40  show how close each search gets with 40 configurations",
    NULL,
};

static const char *const details[] = {
    "monocle tune measures configurations (kernel variant and its parameters) of each pass of a chain on a device. It "
    "stores the fastest one. live, batch and bench use the results from their next start. A child process tests each "
    "configuration first, so monocle never uses one that crashes or computes wrong bytes. Ctrl-C ends the search; "
    "monocle then compares and stores the results so far.",
    "The table shows the median times of the default, the current and the best configuration, measured in turns, and "
    "the speed-up: current / best. tried: configurations tried, of all; search s: duration of the search in seconds. "
    "A configuration replaces the current one only if it is faster by more than 2 % and by more than the noise.",
    "With -p cpu, a configuration is for the whole chain, this processor and this number of threads. The parameters "
    "are:",
    "BANDS\tbands of rows per thread",
    "PREFETCH\tdistance of a stencil's prefetched rows, in calls; 0: no prefetch",
    "STREAM\tnon-temporal stores of the result, for chains without a stencil: 0 no, 1 yes",
    "monocle tests these configurations without a child process, because they need no new code. The time of a frame "
    "includes one read of the result, because a result behind non-temporal stores takes longer to read.",
    "If the device has an energy counter (RAPL, NVML, or INA3221 on Jetson), tune also prints the energy per frame of "
    "the default and of the best configuration: the energy of the whole processor, GPU or board while it runs the pass "
    "without pauses. With --objective energy, 12 configurations run in turns: the current one, the default and the "
    "fastest others. The least energy wins, if it is less than the current one's by 2 % and by more than the noise.",
    "The parameters of kernels are:",
    "GROUP_WIDTH\twork-items per work-group in x",
    "GROUP_HEIGHT\twork-items per work-group in y",
    "ITEMS\twork-items per work-group in x, of the variant sums",
    "ROWS\trows of pixels per work-item",
    "TILE\tlocal memory for the input of a stencil: 1 no, 2 yes, 3 yes, with padding between rows",
    "CONSTANT\tconstant memory for the arguments of filters: 1 no, 2 yes",
    "SPEC.json describes OpenCL kernels in the T1 format, which KTT and Kernel Tuner read too: parameters with values "
    "and conditions, kernels, sizes as expressions of the parameters, and arguments. Each parameter is a macro in the "
    "kernels. The paths in KernelFile and DataSource are relative to SPEC.json. A child process compares the output of "
    "each configuration with ReferenceArguments, with ReferenceKernel or, by default, with the output of the "
    "default configuration. ValidationThreshold is the tolerance. GlobalSize is rounded up to a multiple of LocalSize, "
    "so kernels must test bounds. The fastest configuration is stored as the pass kernel:NAME, for this text of "
    "SPEC.json and the kernels. Examples: share/monocle/tune.",
    "KernelSpecification may be a list of kernels. They run in order, or as Launches says. The time is that from the "
    "start of the first kernel to the end of the last one. An element of Arguments may be only a name: the argument "
    "with this name in an earlier kernel.",
    "The members of SPEC.json that monocle uses are:",
    "ConfigurationSpace\tTuningParameters: list of Name, Values (a list, or a text such as \"list(range(1, 9))\" or "
    "\"[1] + [2 ** i for i in range(5, 11)]\") and Default; Conditions: list of Expression, such as \"GROUP * ITEMS <= "
    "512\"",
    "KernelSpecification\tLanguage (OpenCL; CUDA: k.cl is used for k.cu), KernelName, KernelFile (a path or a list), "
    "CompilerOptions, Arguments; GlobalSize and LocalSize: X, Y, Z, numbers or expressions; GlobalSizeType: OpenCL "
    "(GlobalSize counts work-items; default) or CUDA (it counts work-groups); ProblemSize: a number for expressions",
    "Arguments\tin the kernel's order: Name; Type, such as int32, half, float or float4; MemoryType: Vector (default), "
    "Image, Scalar or Local; Size: elements of a Vector or Local, [width, height] of an Image (image2d_t; Normalized: "
    "1 for integers that kernels read as 0 to 1); AccessType: ReadWrite (default), ReadOnly or WriteOnly; Output: 1 in "
    "any argument: only the arguments with 1 are compared",
    "FillType\tof an argument: Constant (FillValue; default: 0), Random (0 to FillValue; default: 1), Generator "
    "(DataSource is an expression of the index i) or BinaryRaw (DataSource is a file)",
    "Launches\tlist of KernelName with GlobalSize and LocalSize (default: those of the kernel), Macros and Arguments "
    "(other values or vectors, such as {\"shift\": \"4 * i\"}), or of Launches, a group. Each one may have: Condition; "
    "Repeat (a number) or While (a condition), where i, j and k are the indices of the repetitions, from the outermost "
    "one; Swap: pairs of vectors that change places after each repetition",
    "ReferenceKernel\tas KernelSpecification, with ValidationThreshold and ValidationMethod: SideBySideComparison "
    "(absolute; default with a threshold), SideBySideRelativeComparison or AbsoluteDifference; default: 0.0001, "
    "relative for real numbers over 1",
    "General\tMetrics: numbers for the table and JSON, expressions of the parameters and `time` in milliseconds, such "
    "as {\"GFLOP/s\": \"2 * ProblemSize ** 3 / time / 10 ** 6\"}; Objective: the metric to optimize (default: time); "
    "Minimize: false if it should be large",
    "--replay needs no device. It reads the time of each configuration from a T4 results file, which --t4 or Kernel "
    "Tuner has written, from a cache of Kernel Tuner, or from KTT's JSON; .gz too. The table shows the optimum's time "
    "divided by the best time found, after a quarter, half and all of the budget. 1 is the optimum. p10: 10 % of the "
    "seeds are at or below this value.",
    "The searches are:",
    "auto\tfills a pool with neighbours and mixtures of the best configurations, and random ones; tries the one with "
    "the largest expected gain by a Gaussian process of the ranks; default budget: 80",
    "random\ttries configurations in random order; default budget: all",
    NULL,
};
static const char *const exits[] = {
    "0\tdone",
    "1\ta pass cannot be tuned, or a result cannot be stored or written",
    "2\twrong arguments",
    "3\tthere is no such device; or SPEC.json cannot be used; or the table of --replay cannot be read "
    "or has no correct result",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM",
    NULL,
};

// Sets the limits of the search.
static bool parse_budget(struct tune_options *o)
{
    for (int i = 0; i < o->budget.count; i++) {
        const char *text = o->budget.text[i];
        char *end;
        const double number = strtod(text, &end);
        const bool seconds = strcmp(end, "s") == 0, idle = strcmp(end, "idle") == 0;
        if (end == text || !(number > 0 && number <= 1e6) ||
            (!seconds && ((*end && !idle) || number != floor(number)))) {
            log_error("--budget is '%s', but must be a number of configurations, such as 80, a time, such as 30s, or "
                      "a number of configurations since the fastest, such as 20idle",
                      text);
            return false;
        }
        if (seconds)
            o->seconds = number;
        else if (idle)
            o->idle = (int)number;
        else
            o->configurations = (int)number;
    }
    return true;
}

enum { REPLAY_BUDGET = 80, REPLAY_SEEDS = 50 };

static int run_replay(const struct tune_options *o)
{
    if (o->cases.filters.count > 0 || o->t4 || o->seconds > 0 || o->idle > 0) {
        log_error("--replay does not use -f, --t4, or a time or 'idle' in --budget; leave them out");
        return EXIT_USAGE;
    }
    const int count = o->configurations > 0 ? o->configurations : REPLAY_BUDGET;
    const int seeds = o->seeds > 0 ? o->seeds : REPLAY_SEEDS;
    return replay_run(&(struct replay){o->replay, o->search, count, seeds, o->json});
}

// Returns false (logged) if an option does not apply to SPEC.json.
static bool fits_spec(const struct tune_options *o)
{
    const struct {
        const char *name;
        bool given;
    } others[] = {
        {"--filter", o->cases.filters.count > 0},
        {"--sizes", o->cases.sizes},
        {"--formats", o->cases.formats},
        {"--path", o->path != 0},
        {"--replay", o->replay},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (!others[i].given)
            continue;
        log_error("%s does not apply to SPEC.json; leave it out", others[i].name);
        return false;
    }
    return true;
}

// Returns false (logged) if an option was given without the option that it belongs to.
static bool fits_others(const struct tune_options *o)
{
    const char *wrong = NULL;
    if (o->threads > 0 && (o->path != TUNE_PATH_CPU || o->replay))
        wrong = "--threads needs -p cpu; add it, or leave --threads out";
    else if (o->seeds > 0 && !o->replay)
        wrong = "--seeds needs --replay; use --seed for one search";
    else if (o->check && !o->spec)
        wrong = "--check needs SPEC.json; add it, or leave --check out";
    if (wrong)
        log_error("%s", wrong);
    return !wrong;
}

static int tune_run(int argc, char **argv)
{
    struct tune_options o = {.seed = 1, .search = -1, .log_level = LOG_WARN};
    struct command_operands operands;
    if (!command_parse(&tune_command, argc, argv, &o, 1, &operands))
        return operands.code;
    log_set_level((enum log_level)o.log_level);
    o.spec = operands.count > 0 ? operands.word[0] : NULL;
    if (!parse_budget(&o) || (operands.count > 0 && !fits_spec(&o)) ||
        (o.path == TUNE_PATH_CPU && !device_options_unused(o.device, o.kernels, "cpu")) || !fits_others(&o))
        return EXIT_USAGE;
    if (!o.replay && o.cases.filters.count == 0 && operands.count == 0) {
        log_error("name a chain to tune, such as -f blur=2; usage: monocle tune %s", tune_command.usage);
        return EXIT_USAGE;
    }
    if (o.replay) {
        process_hold_signals(CALLS_ANY); // after a signal, the results so far are printed
        return run_replay(&o);
    }
    if (!user_filters_load(o.filter_dir))
        return EXIT_USAGE;
    return tune_chains_run(&o);
}

const struct command tune_command = {
    .name = "tune",
    .usage = "-f CHAIN [options] | SPEC.json [options] | --replay TABLE [options]",
    .summary = "find the fastest kernels for a device",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .complete = "file",
    .run = tune_run,
};
