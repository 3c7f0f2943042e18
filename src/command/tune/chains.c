// chains.c: tunes the passes of chains on a device
#include "command/tune/chains.h"

#include "base/file.h"
#include "base/log.h"
#include "base/resource.h"
#include "command/cases.h"
#include "command/shared.h"
#include "command/tune/explain.h"
#include "tune/table.h"
#include "tune/tuner.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double split_gain = 0.97; // the plan `split` wins if it takes less than this share of the time of `fused`

// One pass to tune.
struct subject {
    const struct case_chain *chain;
    struct tune_target target;
    bool tiles;       // see tune_passes
    const char *plan; // its name; NULL: the chain has one plan
    int number;
};

struct run {
    const struct tune_chains *of;
    struct cases cases;
    struct device *device;
    const struct subject *subject; // the current one
    const struct tune_pass *pass;
    bool ok;
};

// The results of a plan's passes.
struct plan_times {
    int passes;
    double best_ms; // of the fused pass, or of the two passes that it is divided into
};

// ---- progress ----

static bool progress(void *context, const struct tuner_state *state)
{
    const struct run *run = context;
    const struct tune_chains *of = run->of;
    const int space = tune_pass_space(run->pass)->count;
    const int most = of->budget > 0 && of->budget < space ? of->budget : space;
    char text[200], left[32] = "", best[64] = "none yet";
    if (state->best >= 0)
        snprintf(best, sizeof(best), "%.3f ms", state->trial[state->best].ms);
    double left_s = state->trials > 0 ? state->spent_s / state->trials * (most - state->trials) : 0;
    if (of->seconds > 0)
        left_s = fmin(left_s, fmax(of->seconds - state->spent_s, 0));
    if (state->trials > 0)
        snprintf(left, sizeof(left), ", %.0f s left", left_s);
    snprintf(text, sizeof(text), "%s: %d of %d configurations, %d failed, best %s%s", tune_pass_name(run->pass),
             state->trials, most, state->failed, best, state->comparing ? ", comparing" : left);
    if (status_line_possible())
        status_line_show(text);
    return !command_interrupted();
}

// ---- output ----

static const char *choice_text(const struct tune_pass *pass, int configuration, char text[VARIANT_TEXT])
{
    const struct variant_choice choice = tune_pass_choice(pass, configuration);
    variant_print(&choice, text);
    return text;
}

static json_t *trials_json(const struct tune_pass *pass, const struct tuner_state *state)
{
    char text[VARIANT_TEXT];
    json_t *trials = json_array();
    for (int i = 0; i < state->trials; i++) {
        const struct tuner_trial *trial = &state->trial[i];
        json_t *row = json_pack("{s:s}", "choice", choice_text(pass, trial->configuration, text));
        if (isinf(trial->ms))
            json_object_set_new(row, "failed", text_json(trial->why));
        else
            json_object_set_new(row, "ms", json_real(trial->ms));
        json_array_append_new(trials, row);
    }
    return trials;
}

static json_t *result_json(const struct run *run, const struct tuner_result *result)
{
    const struct subject *subject = run->subject;
    const struct image_shape *shape = &subject->target.input;
    char base[VARIANT_TEXT], best[VARIANT_TEXT];
    choice_text(run->pass, result->base, base);
    choice_text(run->pass, result->best, best);
    json_t *json = json_pack("{s:o,s:s,s:i,s:i,s:o,s:s?,s:s,s:i,s:i,s:i,s:f}", "chain", text_json(subject->chain->text),
                             "format", pixfmt_info(shape->format)->name, "width", shape->width, "height", shape->height,
                             "device", text_json(run->device->info.name), "plan", subject->plan, "pass",
                             tune_pass_name(run->pass), "configurations", tune_pass_space(run->pass)->count, "tried",
                             result->state.trials, "failed", result->state.failed, "seconds", result->state.spent_s);
    json_object_update_new(json,
                           json_pack("{s:s,s:f,s:s,s:f,s:f,s:f,s:o}", "default", base, "default_ms", result->base_ms,
                                     "best", best, "best_ms", result->best_ms, "speedup", result->speedup, "noise",
                                     result->noise, "trials", trials_json(run->pass, &result->state)));
    return json;
}

static void print_head(void)
{
    printf("%-16s %-6s %-10s %-5s %-12s %9s %9s %6s  %9s %6s  %s\n", "chain", "format", "size", "plan", "pass",
           "default", "best ms", "x", "tried", "s", "best");
}

static void print_result(const struct run *run, const struct tuner_result *result)
{
    const struct subject *subject = run->subject;
    const struct image_shape *shape = &subject->target.input;
    char size[24], tried[24], best[VARIANT_TEXT];
    snprintf(size, sizeof(size), "%dx%d", shape->width, shape->height);
    snprintf(tried, sizeof(tried), "%d/%d", result->state.trials, tune_pass_space(run->pass)->count);
    printf("%-16.16s %-6s %-10s %-5s %-12.12s %9.3f %9.3f %6.2f  %9s %6.1f  %s\n", subject->chain->text,
           pixfmt_info(shape->format)->name, size, subject->plan ? subject->plan : "-", tune_pass_name(run->pass),
           result->base_ms, result->best_ms, result->speedup, tried, result->state.spent_s,
           choice_text(run->pass, result->best, best));
}

// Writes the results of a pass to the file of --t4.
static bool write_t4(const struct run *run, const struct tuner_state *state)
{
    static const enum table_state states[] = {
        [PROBE_PASSED - PROBE_ANSWERS] = TABLE_CORRECT,     [PROBE_WRONG - PROBE_ANSWERS] = TABLE_CORRECTNESS,
        [PROBE_NOT_BUILT - PROBE_ANSWERS] = TABLE_COMPILE,  [PROBE_NOT_RUN - PROBE_ANSWERS] = TABLE_RUNTIME,
        [PROBE_NOT_OPENED - PROBE_ANSWERS] = TABLE_RUNTIME, [PROBE_UNKNOWN - PROBE_ANSWERS] = TABLE_RUNTIME,
        [PROBE_LATE - PROBE_ANSWERS] = TABLE_TIMEOUT,
    };
    struct table table = {.space = *tune_pass_space(run->pass)};
    if (!run->of->t4 || state->trials == 0)
        return true;
    if (!(table.result = calloc((size_t)table.space.count, sizeof(*table.result)))) {
        log_error("cannot write %s: out of memory", run->of->t4);
        return false;
    }
    for (int i = 0; i < state->trials; i++) {
        const struct tuner_trial *trial = &state->trial[i];
        table.result[trial->configuration] = (struct table_result){
            .state = states[trial->status - PROBE_ANSWERS],
            .ms = trial->ms,
            .compile_ms = trial->build_ms,
            .check_ms = trial->validate_ms,
            .run_ms = trial->run_ms,
            .runs = isinf(trial->ms) ? 0 : TUNER_RUNS,
        };
    }
    const bool ok = table_write(&table, run->device->info.name, run->of->t4);
    free(table.result);
    return ok;
}

// Prints how the parameters change the time.
static bool explain(const struct tune_pass *pass, const struct tuner_state *state)
{
    const struct space *space = tune_pass_space(pass);
    double *ms = calloc((size_t)space->count, sizeof(*ms));
    for (int i = 0; ms && i < state->trials; i++)
        ms[state->trial[i].configuration] = state->trial[i].ms;
    if (!ms)
        log_error("cannot explain the times: out of memory");
    const bool ok = ms && explain_print(space, ms);
    free(ms);
    return ok;
}

// ---- the run ----

// Tunes a pass, prints and stores the result.
static bool tune(struct run *run, const struct subject *subject, struct plan_times *times)
{
    const struct tune_chains *of = run->of;
    struct tune_pass *pass = tune_pass_open(&subject->target, subject->tiles, subject->number);
    if (!pass)
        return false;
    run->subject = subject;
    run->pass = pass;
    const double pixels = (double)subject->target.input.width * subject->target.input.height;
    const struct tuner_setup setup = {
        .pass = pass,
        .strategy = of->strategy,
        .seed = of->seed,
        .budget = of->budget,
        .seconds = of->seconds,
        .target_ms = of->target_mpix_s > 0 ? pixels / of->target_mpix_s / 1e3 : 0,
        .progress = progress,
        .context = run,
    };
    struct tuner_result result;
    bool ok = tuner_run(&setup, &result);
    if (status_line_possible())
        status_line_show("");
    if (ok) {
        const struct variant_choice choice = tune_pass_choice(pass, result.best);
        times->passes++;
        if (subject->number < (subject->tiles ? 1 : 2)) // the later passes are the same in both plans
            times->best_ms += result.best_ms;
        if (of->json)
            ok = print_json(result_json(run, &result), 0);
        else
            print_result(run, &result);
        if (of->explain)
            ok = explain(pass, &result.state);
        if (!of->kernels || !of->kernels[0])
            ok = tune_pass_store(pass, &choice, result.best_ms, result.base_ms) && ok;
    }
    ok = write_t4(run, &result.state) && ok;
    tuner_finish(&result);
    tune_pass_close(pass);
    return ok && command_flush();
}

// Tunes all passes of one plan of a chain.
static struct plan_times tune_plan(struct run *run, struct subject *subject)
{
    struct plan_times times = {0};
    int passes = tune_passes(&subject->target, subject->tiles);
    if (subject->plan && !subject->tiles)
        passes = 2; // only the first pass of the fused plan is divided
    for (subject->number = 0; subject->number < passes && !command_interrupted(); subject->number++)
        run->ok = tune(run, subject, &times) && run->ok;
    if (times.passes < passes)
        times.passes = 0; // without all passes, the plan has no time
    return times;
}

// Stores that the plan `split` is faster than `fused`: the generic kernel as the choice of each fused pass.
static void store_split(struct run *run, const struct subject *subject, double fused_ms, double split_ms)
{
    const int passes = tune_passes(&subject->target, true);
    struct variant_choice generic;
    variant_parse(&generic, "generic");
    for (int i = 0; i < passes; i++) {
        struct tune_pass *pass = tune_pass_open(&subject->target, true, i);
        if (pass && tune_pass_is_fused(pass) && (!run->of->kernels || !run->of->kernels[0]))
            run->ok = tune_pass_store(pass, &generic, split_ms, fused_ms) && run->ok;
        tune_pass_close(pass);
    }
    log_info("chain %s is faster with the plan 'split': %.3f ms instead of %.3f", subject->chain->text, split_ms,
             fused_ms);
}

static void tune_target(struct run *run, const struct case_chain *chain, const struct image_shape *shape)
{
    struct subject subject = {
        .chain = chain,
        .target = {run->device, &chain->chain, *shape, run->of->to_image},
        .tiles = true,
    };
    const bool both = tune_passes(&subject.target, true) > 0 && tune_passes(&subject.target, false) > 0;
    subject.plan = both ? "fused" : NULL;
    const struct plan_times fused = tune_plan(run, &subject);
    subject.tiles = false;
    subject.plan = both ? "split" : NULL;
    const struct plan_times split = tune_plan(run, &subject);
    if (fused.passes > 0 && split.passes > 0 && split.best_ms < split_gain * fused.best_ms)
        store_split(run, &subject, fused.best_ms, split.best_ms);
}

static bool tune_all(struct run *run)
{
    const struct cases *cases = &run->cases;
    run->ok = true;
    if (!run->of->json)
        print_head();
    for (int c = 0; c < cases->chains; c++) {
        for (int f = 0; f < cases->formats; f++) {
            for (int s = 0; s < cases->sizes; s++) {
                struct image_shape shape;
                cases_shape(&shape, cases->format[f], cases->size[s]); // parse has checked it
                tune_target(run, &cases->chain[c], &shape);
                if (!command_flush())
                    return false; // nobody reads the results
            }
        }
    }
    return run->ok;
}

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
    return chosen >= 0 && (run->device = device_open(&devices[chosen], NULL, run->of->kernels));
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
    if (!of->t4 || file_writable(of->t4, true))
        return true;
    log_error("cannot write %s: %s", of->t4, strerror(errno));
    return false;
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
    if (resource_check_kernels(of->kernels) && parse(run))
        code = !open_device(run) ? EXIT_NOTHING : tune_all(run) ? EXIT_OK : EXIT_FAILED_SOME;
    device_close(run->device);
    free(run);
    return code;
}
