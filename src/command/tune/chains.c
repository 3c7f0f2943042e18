// chains.c: tunes the passes of chains on a device, the cpu path for chains, or a user's kernel
#include "command/tune/chains.h"

#include "base/file.h"
#include "base/log.h"
#include "base/processor.h"
#include "base/resource.h"
#include "bench/chosen.h"
#include "command/shared.h"
#include "compute/energy.h"
#include "compute/tuned_file.h"
#include "tune/captures.h"
#include "tune/cpu_chain.h"
#include "tune/journal.h"
#include "tune/kernel/user_kernel.h"
#include "tune/passes.h"
#include "tune/study/explain.h"
#include "tune/study/heat_map.h"
#include "tune/study/t4.h"
#include "tune/study/trials_csv.h"
#include "tune/tuner.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { OUTPUT_T4, OUTPUT_CSV, OUTPUT_HEAT_MAP, OUTPUTS };

static const double split_gain = 0.97; // the plan `split` wins if it takes less than this share of the time of `fused`

// One pass to tune, or a user's kernel.
struct work {
    const struct case_chain *chain; // NULL: a user's kernel
    struct tune_target target;
    bool tiles;       // see tune_passes
    const char *plan; // its name; NULL: the chain has one plan
    int number;
};

struct run {
    const struct tune_chains *of;
    struct claim claims[OUTPUTS];
    struct cases cases;
    struct device *device; // NULL: the cpu path
    int threads;           // of the cpu path; 0: one per CPU
    char device_name[256];
    struct energy *energy;         // of the device; NULL: it has no counter
    const struct work *work;       // the current one
    const struct subject *subject; // of the work
    int budget;                    // of the subject: see tuner_setup
    struct trials_csv csv;
    char (*log)[JOURNAL_NAME]; // the logs of the finished passes
    int logs;
    bool stored; // a result
    bool ok;
};

// The results of a plan's passes.
struct plan_times {
    int passes;
    double best_ms; // of the fused pass, or of the two passes that it is divided into; with the pause before each one
};

// Returns the maximum number of configurations of a pass; 0: no limit.
static int budget_of(const struct tune_chains *of)
{
    const bool limited = of->budget > 0 || of->seconds > 0 || of->target_mpix_s > 0;
    return limited || strcmp(of->strategy->name, "auto") != 0 ? of->budget : TUNE_AUTO_BUDGET;
}

// ---- progress ----

static bool progress(void *context, const struct tuner_state *state)
{
    const struct run *run = context;
    const struct tune_chains *of = run->of;
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
    return !process_interrupted();
}

// ---- output ----

static const char *choice_text(const struct subject *subject, int configuration, char text[SUBJECT_TEXT])
{
    subject->type->print(subject, configuration, text);
    return text;
}

static json_t *trials_json(const struct subject *subject, const struct tuner_state *state)
{
    char text[SUBJECT_TEXT];
    json_t *trials = json_array();
    for (int i = 0; i < state->trials; i++) {
        const struct tuner_trial *trial = &state->trial[i];
        json_t *row = json_pack("{s:s}", "choice", choice_text(subject, trial->configuration, text));
        if (isinf(trial->ms))
            json_object_set_new(row, "failed", text_json(trial->why));
        else
            json_object_set_new(row, "ms", json_real(trial->ms));
        json_array_append_new(trials, row);
    }
    return trials;
}

// Returns what was tuned: a pass of a chain, or a user's kernel.
static json_t *work_json(const struct run *run)
{
    const struct work *work = run->work;
    const struct image_shape *shape = &work->target.input;
    if (!work->chain)
        return json_pack("{s:o}", "spec", text_json(run->of->spec));
    return json_pack("{s:o,s:s,s:i,s:i,s:s?,s:s}", "chain", text_json(work->chain->text), "format",
                     pixfmt_info(shape->format)->name, "width", shape->width, "height", shape->height, "plan",
                     work->plan, "pass", run->subject->name);
}

static json_t *result_json(const struct run *run, const struct tuner_result *result)
{
    char base[SUBJECT_TEXT], used[SUBJECT_TEXT], best[SUBJECT_TEXT];
    choice_text(run->subject, result->base, base);
    choice_text(run->subject, result->used, used);
    choice_text(run->subject, result->best, best);
    json_t *json = work_json(run);
    json_object_update_new(json, json_pack("{s:o,s:i,s:i,s:i,s:i,s:f}", "device", text_json(run->device_name),
                                           "configurations", run->subject->space.count, "tried", result->state.trials,
                                           "resumed", result->state.resumed, "failed", result->state.failed, "seconds",
                                           result->state.spent_s));
    json_object_update_new(json,
                           json_pack("{s:s,s:f,s:s,s:f,s:s,s:f,s:f,s:f,s:f,s:o}", "default", base, "default_ms",
                                     result->base_ms, "used", used, "used_ms", result->used_ms, "best", best, "best_ms",
                                     result->best_ms, "speedup", result->speedup, "noise", result->noise, "gap_ms",
                                     result->gap_ms, "trials", trials_json(run->subject, &result->state)));
    if (result->base_mj > 0)
        json_object_update_new(json, json_pack("{s:s,s:f,s:f}", "energy_counter", energy_name(run->energy),
                                               "default_mj", result->base_mj, "best_mj", result->best_mj));
    return json;
}

static void print_head(bool chains)
{
    if (chains)
        printf("%-16s %-6s %-10s %-5s ", "chain", "format", "size", "plan");
    printf("%-12s %10s %9s %9s %8s  %9s %8s  %s\n", chains ? "pass" : "kernel", "default ms", "used ms", "best ms",
           "speed-up", "tried", "search s", "best");
}

static void print_result(const struct run *run, const struct tuner_result *result)
{
    const struct work *work = run->work;
    const struct image_shape *shape = &work->target.input;
    char size[24], tried[24], best[SUBJECT_TEXT];
    snprintf(size, sizeof(size), "%dx%d", shape->width, shape->height);
    snprintf(tried, sizeof(tried), "%d/%d", result->state.trials, run->subject->space.count);
    if (work->chain)
        printf("%-16.16s %-6s %-10s %-5s ", work->chain->text, pixfmt_info(shape->format)->name, size,
               work->plan ? work->plan : "-");
    printf("%-12.12s %10.3f %9.3f %9.3f %8.2f  %9s %8.1f  %s\n", run->subject->name, result->base_ms, result->used_ms,
           result->best_ms, result->speedup, tried, result->state.spent_s,
           choice_text(run->subject, result->best, best));
    if (result->base_mj > 0)
        printf("  energy per %s (%s): default %.3f mJ, best %.3f mJ\n", work->chain ? "frame" : "run",
               energy_name(run->energy), result->base_mj, result->best_mj);
}

// Writes the results of a pass to the file of --t4.
static bool write_t4(struct run *run, const struct tuner_state *state)
{
    static const enum t4_state states[] = {
        [PROBE_PASSED - PROBE_ANSWERS] = T4_CORRECT,     [PROBE_WRONG - PROBE_ANSWERS] = T4_CORRECTNESS,
        [PROBE_NOT_BUILT - PROBE_ANSWERS] = T4_COMPILE,  [PROBE_NOT_RUN - PROBE_ANSWERS] = T4_RUNTIME,
        [PROBE_NOT_OPENED - PROBE_ANSWERS] = T4_RUNTIME, [PROBE_UNKNOWN - PROBE_ANSWERS] = T4_RUNTIME,
        [PROBE_LATE - PROBE_ANSWERS] = T4_TIMEOUT,
    };
    struct t4_table table = {.space = run->subject->space};
    if (!run->of->t4 || state->trials == 0)
        return true;
    if (!(table.result = calloc((size_t)table.space.count, sizeof(*table.result)))) {
        log_error("cannot write %s: out of memory", run->of->t4);
        return false;
    }
    for (int i = 0; i < state->trials; i++) {
        const struct tuner_trial *trial = &state->trial[i];
        table.result[trial->configuration] = (struct t4_result){
            .state = states[trial->status - PROBE_ANSWERS],
            .ms = trial->ms,
            .compile_ms = trial->build_ms,
            .check_ms = trial->validate_ms,
            .run_ms = trial->run_ms,
            .runs = isinf(trial->ms) ? 0 : TUNER_RUNS,
        };
    }
    const bool ok = t4_write(&table, run->device_name, &run->claims[OUTPUT_T4]);
    free(table.result);
    return ok;
}

// Adds the results of a pass to the file of --csv.
static bool add_csv(struct run *run, const struct tuner_state *state)
{
    const struct work *work = run->work;
    const struct image_shape *shape = &work->target.input;
    const struct trials_place place = {run->device_name,
                                       work->chain ? work->chain->text : run->of->spec,
                                       work->chain ? pixfmt_info(shape->format)->name : "",
                                       shape->width,
                                       shape->height,
                                       work->plan};
    return !run->of->csv || trials_csv_write(&run->csv, &run->claims[OUTPUT_CSV], &place, run->subject, state);
}

// Prints how the parameters change the time, and draws the times, if the user wants it.
static bool explain(struct run *run, const struct tuner_result *result)
{
    const struct tune_chains *of = run->of;
    const struct space *space = &run->subject->space;
    const struct image_shape *shape = &run->work->target.input;
    char size[32] = "", title[SUBJECT_TEXT + 8];
    if (!of->explain && !of->heat_map)
        return true;
    double *ms = calloc((size_t)space->count, sizeof(*ms));
    for (int i = 0; ms && i < result->state.trials; i++)
        ms[result->state.trial[i].configuration] = result->state.trial[i].ms;
    if (!ms)
        log_error("cannot explain the times: out of memory");
    if (run->work->chain)
        snprintf(size, sizeof(size), ", %s, %dx%d", pixfmt_info(shape->format)->name, shape->width, shape->height);
    snprintf(title, sizeof(title), "%.60s%s, %.100s", run->subject->name, size, run->device_name);
    const struct heat_map map = {space, ms, result->best, title};
    bool ok = ms && (!of->explain || explain_print(space, ms));
    ok = ok && (!of->heat_map || heat_map_write(&map, &run->claims[OUTPUT_HEAT_MAP]));
    free(ms);
    return ok;
}

// ---- the run ----

// Closes the log of a pass. The end of the run removes it.
static void close_log(struct run *run, struct journal *journal)
{
    char(*grown)[JOURNAL_NAME] = realloc(run->log, ((size_t)run->logs + 1) * sizeof(*grown));
    if (grown)
        run->log = grown;
    if (grown && journal)
        journal_name(journal, grown[run->logs++]);
    journal_close(journal);
}

// Tunes a subject, prints and stores the result. Closes the subject.
static bool tune(struct run *run, const struct work *work, struct subject *subject, struct plan_times *times)
{
    const struct tune_chains *of = run->of;
    if (!subject)
        return false;
    run->work = work;
    run->subject = subject;
    run->budget = budget_of(of);
    struct journal *journal = journal_open(subject, of->resume);
    const double pixels = (double)work->target.input.width * work->target.input.height;
    const struct tuner_setup setup = {
        .subject = subject,
        .strategy = of->strategy,
        .seed = of->seed,
        .budget = run->budget,
        .seconds = of->seconds,
        .target_ms = of->target_mpix_s > 0 ? pixels / of->target_mpix_s / 1e3 : 0,
        .journal = journal,
        .energy = run->energy,
        .by_energy = of->by_energy,
        .progress = progress,
        .context = run,
    };
    struct tuner_result result;
    bool ok = tuner_run(&setup, &result);
    status_line_show("");
    if (ok) {
        times->passes++;
        if (work->number < (work->tiles ? 1 : 2)) // the later passes are the same in both plans
            times->best_ms += result.best_ms + result.gap_ms;
        if (of->json)
            ok = print_json(result_json(run, &result), 0);
        else
            print_result(run, &result);
        ok = explain(run, &result) && ok;
        const bool kept = subject->has_used && subject->used_exactly && result.best == subject->used;
        if (!kept && subject->type->store && (!of->kernels || !of->kernels[0])) {
            const bool stored = subject->type->store(subject, result.best, result.best_ms, result.base_ms);
            run->stored = run->stored || stored;
            ok = ok && stored;
        }
    }
    ok = write_t4(run, &result.state) && ok;
    ok = add_csv(run, &result.state) && ok;
    tuner_finish(&result);
    close_log(run, journal);
    subject_close(subject);
    return ok && process_flush();
}

// Tunes all passes of one plan of a chain.
static struct plan_times tune_plan(struct run *run, struct work *work)
{
    struct plan_times times = {0};
    int passes = tune_passes(&work->target, work->tiles);
    if (work->plan && !work->tiles)
        passes = 2; // only the first pass of the fused plan is divided
    for (work->number = 0; work->number < passes && !process_interrupted(); work->number++)
        run->ok = tune(run, work, tune_pass_open(&work->target, work->tiles, work->number), &times) && run->ok;
    if (times.passes < passes)
        times.passes = 0; // without all passes, the plan has no time
    return times;
}

static bool runs_split(const struct work *work)
{
    bool split = false;
    for (int i = 0; i < tune_passes(&work->target, true); i++) {
        struct subject *subject = tune_pass_open(&work->target, true, i);
        split = split || (subject && tune_pass_runs_split(subject));
        subject_close(subject);
    }
    return split;
}

// Stores that the plan `split` is faster than `fused`: the generic kernel as the choice of each fused pass.
static void store_split(struct run *run, const struct work *work, double fused_ms, double split_ms)
{
    const int passes = tune_passes(&work->target, true);
    for (int i = 0; i < passes; i++) {
        struct subject *subject = tune_pass_open(&work->target, true, i);
        if (subject && tune_pass_is_fused(subject) && (!run->of->kernels || !run->of->kernels[0]))
            run->ok = tune_pass_store_split(subject, split_ms, fused_ms) && run->ok;
        subject_close(subject);
    }
    log_info("chain %s is faster with the plan 'split': %.3f ms instead of %.3f", work->chain->text, split_ms,
             fused_ms);
}

// Tunes all passes of a chain, or the cpu path for the chain. `chain` has the same chain as the target.
static void tune_target(struct run *run, const struct case_chain *chain, const struct tune_target *target)
{
    struct work work = {.chain = chain, .target = *target, .tiles = true};
    if (!target->device) {
        struct plan_times times = {0};
        struct subject *subject = tune_cpu_open(target->chain, &target->input, target->frame, run->threads);
        run->ok = tune(run, &work, subject, &times) && run->ok;
        return;
    }
    const bool both = tune_passes(&work.target, true) > 0 && tune_passes(&work.target, false) > 0;
    const bool was_split = both && runs_split(&work);
    work.plan = both ? "fused" : NULL;
    const struct plan_times fused = tune_plan(run, &work);
    work.tiles = false;
    work.plan = both ? "split" : NULL;
    const struct plan_times split = tune_plan(run, &work);
    const bool complete = fused.passes > 0 && split.passes > 0;
    // The plan in use stays, unless the other one is clearly faster.
    if (complete &&
        (was_split ? fused.best_ms >= split_gain * split.best_ms : split.best_ms < split_gain * fused.best_ms))
        store_split(run, &work, fused.best_ms, split.best_ms);
}

static bool tune_all(struct run *run)
{
    const struct cases *cases = &run->cases;
    run->ok = true;
    if (!run->of->json)
        print_head(true);
    for (int c = 0; c < cases->chains; c++) {
        for (int f = 0; f < cases->formats; f++) {
            for (int s = 0; s < cases->sizes; s++) {
                struct tune_target target = {
                    .device = run->device, .chain = &cases->chain[c].chain, .to_image = run->of->to_image};
                cases_shape(&target.input, cases->format[f], cases->size[s]); // parse has checked it
                tune_target(run, &cases->chain[c], &target);
                if (!process_flush())
                    return false; // nobody reads the results
            }
        }
    }
    return run->ok;
}

// Opens the energy counter of the device. False: there is none, but --objective needs it (logged).
static bool open_energy(struct run *run)
{
    char why[ENERGY_WHY];
    energy_close(run->energy);
    run->energy = run->device ? device_energy_open(&run->device->info, why)
                              : energy_open(&(struct energy_device){.cpu = true}, why);
    if (!run->energy && run->of->by_energy)
        log_error("--objective energy needs an energy counter, but '%s' has none that can be read: %s",
                  run->device_name, why);
    else if (!run->energy)
        log_info("the energy of '%s' is not measured: %s", run->device_name, why);
    return run->energy || !run->of->by_energy;
}

// Begins to tune the cpu path. False on failure (logged).
static bool use_cpu(struct run *run, int threads)
{
    device_close(run->device);
    run->device = NULL;
    run->threads = threads;
    processor_model(run->device_name);
    return open_energy(run);
}

// Opens the device that the user names, else that of the capture (NULL: none), unless it is open.
static bool open_device(struct run *run, const struct capture_entry *capture)
{
    const bool named = run->of->device && run->of->device[0];
    int chosen = -1;
    struct device_info devices[DEVICE_MAX];
    const char *why = "cannot open it";
    const int count = device_list(devices, &why);
    if (count == 0) {
        log_error("cannot tune: there is no OpenCL device: %s", why);
        return false;
    }
    for (int i = 0; capture && !named && chosen < 0 && i < count; i++) {
        if (strcmp(devices[i].name, capture->device) == 0)
            chosen = i;
    }
    if (chosen < 0) {
        if ((chosen = device_choose(devices, count, run->of->device)) < 0)
            return false;
        if (capture && !named)
            log_warn("cannot tune chain %s for '%s', on which it ran; tuning it for '%s'", capture->text,
                     capture->device, devices[chosen].name);
    }
    if (run->device && run->device->info.id == devices[chosen].id)
        return true;
    device_close(run->device);
    snprintf(run->device_name, sizeof(run->device_name), "%s", devices[chosen].name);
    run->device = device_open(&devices[chosen], NULL, run->of->kernels);
    return run->device && open_energy(run);
}

// Opens the device of a capture, or the one that the user names.
static bool open_for(struct run *run, const struct capture_entry *entry)
{
    const bool named = run->of->device && run->of->device[0];
    return entry->threads > 0 && !named ? use_cpu(run, entry->threads) : open_device(run, entry);
}

static void tune_capture(struct run *run, const struct capture_entry *entry)
{
    const struct case_chain chain = {entry->text, entry->chain};
    const struct image *frame = &entry->frame;
    tune_target(run, &chain, &(struct tune_target){run->device, &chain.chain, frame->shape, entry->to_image, frame});
}

// Tunes each capture of the directory. Returns the exit code.
static int tune_from(struct run *run)
{
    struct capture_names names;
    struct capture_entry entry;
    int tuned = 0;
    if (!capture_names_open(&names, run->of->from))
        return EXIT_NOTHING;
    run->ok = true;
    bool more = true;
    for (int i = 0; more && i < names.count && !process_interrupted(); i++) {
        if (!capture_read(&entry, &names, i)) {
            run->ok = false;
            continue;
        }
        more = open_for(run, &entry);
        if (more && tuned++ == 0 && !run->of->json)
            print_head(true);
        if (more)
            tune_capture(run, &entry);
        capture_free(&entry);
        more = more && process_flush(); // else nobody reads the results
    }
    capture_names_close(&names);
    return tuned == 0 ? EXIT_NOTHING : run->ok && more ? EXIT_OK : EXIT_FAILED_SOME;
}

// Tunes each chain in each format and size. Returns the exit code.
static int tune_cases(struct run *run)
{
    if (!(run->of->on_cpu ? use_cpu(run, run->of->threads) : open_device(run, NULL)))
        return EXIT_NOTHING;
    return tune_all(run) ? EXIT_OK : EXIT_FAILED_SOME;
}

// Returns true if an output would overwrite a file of the description (logged).
static bool overwrites_kernel(const struct tune_chains *of, const struct subject *subject)
{
    const char *const outputs[OUTPUTS] = {of->t4, of->csv, of->heat_map};
    for (int i = 0; i < OUTPUTS; i++) {
        if (!outputs[i] || !user_kernel_reads(subject, outputs[i]))
            continue;
        log_error("%s reads the output %s; name another output", of->spec, outputs[i]);
        return true;
    }
    return false;
}

// Tunes a user's kernel. Returns the exit code.
static int tune_spec(struct run *run)
{
    const struct tune_chains *of = run->of;
    struct tune_chains limited = *of;
    struct user_budget budget;
    struct plan_times times = {0};
    if (!open_device(run, NULL))
        return EXIT_NOTHING;
    struct subject *subject = user_kernel_open(run->device, limited.spec, &budget);
    if (!subject)
        return EXIT_NOTHING;
    const bool safe = !overwrites_kernel(of, subject);
    if (!safe || !subject->type->prepare(subject)) { // a wrong description may make this take forever
        subject_close(subject);
        return safe ? EXIT_NOTHING : EXIT_USAGE;
    }
    process_hold_signals(CALLS_ANY);
    if (limited.budget == 0 && limited.seconds <= 0) { // the limits of the description
        limited.budget = budget.configurations;
        limited.seconds = budget.seconds;
    }
    if (!limited.json)
        print_head(false);
    run->of = &limited;
    const bool ok = tune(run, &(struct work){.chain = NULL}, subject, &times);
    run->of = of;
    return ok ? EXIT_OK : EXIT_FAILED_SOME;
}

// Returns false if the file's name ends as files of another kind do: a capture, a kernel or another output (logged).
static bool check_name(const char *option, const char *path, const char *suffix)
{
    static const char *const others[] = {"capture", "cl", "csv", "jpeg", "jpg", "json", "jsonl", "png", "tsv"};
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (size_t i = 0; dot && i < sizeof(others) / sizeof(*others); i++) {
        if (strcasecmp(dot + 1, others[i]) != 0 || strcmp(others[i], suffix) == 0)
            continue;
        log_error("%s %s: the name is of another kind of file; name another file, such as %.*s.%s", option, path,
                  (int)(dot - path), path, suffix);
        return false;
    }
    return true;
}

// Returns false if an output cannot be written, or would overwrite SPEC or another output (logged).
static bool check_outputs(const struct tune_chains *of, struct claim claims[OUTPUTS])
{
    if (!check_name("--t4", of->t4, "json") || !check_name("--csv", of->csv, "csv") ||
        !check_name("--heat-map", of->heat_map, "png"))
        return false;
    const char *const files[] = {[OUTPUT_T4] = of->t4, of->csv, of->heat_map, of->spec};
    for (int i = 0; i < OUTPUTS; i++) {
        if (files[i] && !claim_take(&claims[i], files[i])) {
            log_error("cannot write %s: %s", files[i], strerror(errno));
            return false;
        }
        for (int k = i + 1; files[i] && k <= OUTPUTS; k++) {
            if (!files[k] || !file_same(files[i], files[k]))
                continue;
            log_error(k < OUTPUTS ? "the outputs %s and %s are the same file; name another file for one"
                                  : "the output %s is the description %s; name another output",
                      files[i], files[k]);
            return false;
        }
    }
    return true;
}

static bool parse(struct run *run)
{
    const struct tune_chains *of = run->of;
    struct cases *cases = &run->cases;
    if (!cases_take_chains(cases, of->filters) || !cases_take_sizes(cases, of->sizes) ||
        !cases_take_formats(cases, of->formats))
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
    return check_outputs(of, run->claims);
}

static void print_place(void)
{
    char path[PATH_MAX];
    tuned_user_path(path);
    putchar('\n');
    log_print_line(stdout, "stored in %s; 'monocle tuned list' lists the results", path);
}

int tune_chains_run(const struct tune_chains *of)
{
    struct run *run = calloc(1, sizeof(*run)); // too large for the stack
    int code = EXIT_USAGE;
    if (!run) {
        log_error("cannot tune: out of memory");
        return EXIT_NOTHING;
    }
    run->of = of;
    const bool ok = resource_check_kernels(of->kernels) && parse(run);
    if (ok && !of->spec)
        process_hold_signals(CALLS_ANY); // after a signal, the results so far are kept
    if (ok)
        code = of->from ? tune_from(run) : of->spec ? tune_spec(run) : tune_cases(run);
    if (run->stored && !of->json)
        print_place();
    for (int i = 0; i < run->logs && code == EXIT_OK && !process_interrupted(); i++)
        journal_remove(run->log[i]);
    if (run->logs > 0 && process_interrupted())
        log_warn("interrupted; run the same command with --resume to go on");
    if (process_interrupted() && code != EXIT_USAGE)
        code = EXIT_OK; // the program's exit status is that of the signal
    energy_close(run->energy);
    device_close(run->device);
    trials_csv_finish(&run->csv);
    free(run->log);
    free(run);
    return code;
}
