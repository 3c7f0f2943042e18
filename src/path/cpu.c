// cpu.c: the path without a device: passes over bands of rows, on threads of the processor
#include "base/alloc.h"
#include "base/log.h"
#include "base/thread.h"
#include "filter/user_filter.h"
#include "path/backend.h"
#include "path/cpu_rows.h"
#include "path/measures.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BANDS_PER_THREAD = 4, // an interrupted thread delays the others by at most one band
    PREFETCH_CALLS = 2,   // with 1, the rows often arrive too late
    BAND_MIN_ROWS = 16,   // with fewer rows, the start of a band takes too long
};

// A chain, ready to run on frames.
struct cpu_build {
    struct plan plan;
    struct cpu_pass pass[PLAN_PASSES]; // of the plan
    int run[PLAN_PASSES];              // the number of passes of each run
    int runs;
    uint8_t *scratch;                  // of all bands, one after the other
    size_t scratch_bytes;              // the most that a run needs
    int bands[PLAN_PASSES];            // of each run
    uint32_t (*counts)[FILTER_LEVELS]; // for each band, the histograms of a run's input
    struct cpu_tuning tuning;
    struct tuned_found tuned;          // the entry that named it; tuned.entry NULL: none did
    int few_rows;                      // rows of a picture that are kept if it arrives by rows; 0: all
    struct image second[PLAN_PASSES];  // of the run's last filter: a picture of the frame before; empty: none
    struct image between[PLAN_PASSES]; // pictures between runs (pass.buffer); empty: unused
};

struct cpu_slot {
    struct image output, encoded;
    uint32_t *values; // of the measures
    uint64_t number;  // of the frame, as in struct frame_time
    int64_t measure_start_ns, measure_end_ns;
    int64_t run_start_ns[PLAN_PASSES], run_end_ns[PLAN_PASSES];
};

struct cpu_path {
    struct path path;
    const char *variant;      // the name of a row variant; NULL: the best ones
    struct tuned *tuned;      // as in path_setup; NULL: not used
    struct cpu_tuning wanted; // of the setup
    struct workers *workers;
    struct image fed;                         // the picture that arrives by rows
    struct cpu_slot slot[PATH_DEPTH_MAX + 1]; // one more than in flight: the collected one stays valid
    int slots, write_slot, read_slot;
    bool larger_than_caches; // a result is larger than the caches
};

static void cpu_build_free(void *of)
{
    struct cpu_build *build = of;
    if (!build)
        return;
    for (int i = 0; i < build->plan.count; i++)
        cpu_pass_finish(&build->pass[i]);
    plan_free(&build->plan);
    free(build->scratch);
    free(build->counts);
    for (int i = 0; i < PLAN_PASSES; i++) {
        image_free(&build->second[i]);
        image_free(&build->between[i]);
    }
    free(build);
}

static int count_bands(int height, int threads, const struct cpu_tuning *tuning)
{
    const int most = height / BAND_MIN_ROWS < 1 ? 1 : height / BAND_MIN_ROWS;
    const int wanted = threads == 1 ? 1 : threads * tuning->value[CPU_BANDS]; // one thread delays no other
    return wanted < most ? wanted : most;
}

// Returns few_rows: not 0 if one run in one band reads the rows from the top to the bottom. An RGBA picture may be read
// in place, so it keeps all rows.
static int count_few_rows(const struct cpu_build *build, enum pixfmt format)
{
    int rows = 64; // the fastest for 1920x1080
    if (build->runs != 1 || build->bands[0] != 1 || format == PIXFMT_RGBA)
        return 0;
    for (int i = 0; i < build->plan.count; i++) {
        const struct pass *pass = &build->plan.pass[i];
        if (pass->load_flip || pass->store_flip || pass->warp)
            return 0;
    }
    // 3: the requested row and a pair of rows.
    while (rows < cpu_run_reach(build->pass, build->plan.count) + PATH_FEED_MORE + 3)
        rows *= 2;
    return rows;
}

// Plans the chain, and chooses the row variants of its passes. False: out of memory.
static bool plan_chain(struct cpu_build *build, const struct image_shape *input, const struct chain *chain,
                       const char *variant)
{
    plan_make(&build->plan, chain, input->width, input->height, image_shape_opaque(input));
    plan_split_warp(&build->plan, input->format == PIXFMT_RGBA);
    plan_pictures(&build->plan, input->format == PIXFMT_RGBA);
    bool turns = false; // a pass moves pixels: alpha is not at the place of the input
    for (int i = 0; i < build->plan.count; i++)
        turns =
            turns || build->plan.pass[i].load_mirror || build->plan.pass[i].store_mirror || build->plan.pass[i].warp;
    plan_mark_grey(&build->plan, image_shape_opaque(input) || !turns, input->format == PIXFMT_GREY);
    bool ok = true;
    for (int i = 0; i < build->plan.count; i++)
        ok = cpu_pass_init(&build->pass[i], &build->plan.pass[i], variant) && ok;
    return ok;
}

// Returns the default values for a planned chain.
static struct cpu_tuning preset(const struct cpu_pass *first, int threads, bool larger_than_caches)
{
    struct cpu_tuning tuning;
    tuning.value[CPU_BANDS] = threads > 1 ? BANDS_PER_THREAD : CPU_UNSET;
    tuning.value[CPU_PREFETCH] = first->stencil && first->step == 4 ? PREFETCH_CALLS : CPU_UNSET;
    tuning.value[CPU_STREAM] = first->stencil || first->pass->warp ? CPU_UNSET : larger_than_caches;
    return tuning;
}

// Sets the values that the setup names, else those of the best entry of the database, else the default ones.
static void choose_tuning(struct cpu_build *build, const struct cpu_path *cpu, const struct chain *chain)
{
    const int threads = workers_count(cpu->workers);
    struct cpu_tuning values = cpu->wanted;
    struct cpu_key key;
    build->tuning = preset(build->pass, threads, cpu->larger_than_caches);
    if (cpu->tuned) {
        cpu_key_make(&key, chain, &cpu->path.input, threads);
        if (cpu_tuned(cpu->tuned, &key, &values, &build->tuned))
            log_info("chain %s on the cpu path uses the tuned %s (%s, %s)", key.chain, build->tuned.entry->choice,
                     tuned_match_name(build->tuned.match), tuned_level_name(build->tuned.level));
    }
    for (int i = 0; i < CPU_PARAMS; i++) {
        if (values.value[i] != CPU_UNSET && build->tuning.value[i] != CPU_UNSET)
            build->tuning.value[i] = values.value[i];
    }
}

// Divides the plan into runs, and the rows of each run into bands.
static void divide(struct cpu_build *build, int threads)
{
    for (int i = 0; i < build->plan.count; i += build->run[build->runs++]) {
        const struct cpu_pass *passes = &build->pass[i];
        const int height = passes->pass->height, bands = count_bands(height, threads, &build->tuning);
        const int count = cpu_run_length(passes, build->plan.count - i, height / bands);
        const size_t bytes = cpu_run_scratch_bytes(passes, count) * (size_t)bands;
        build->scratch_bytes = bytes > build->scratch_bytes ? bytes : build->scratch_bytes;
        plan_place(&build->plan, i, i + count - 1);
        build->run[build->runs] = count;
        build->bands[build->runs] = bands;
    }
}

static bool fail_memory(char **error)
{
    path_fail(error, "out of memory for this chain at this frame size");
    return false;
}

// Prepares the picture after a run, whose last pass is given. Allocates memory only if the picture is larger than the
// earlier ones.
static bool reserve_between(struct cpu_build *build, const struct cpu_pass *last)
{
    const struct image_shape rgba = {.format = PIXFMT_RGBA, .width = last->pass->width, .height = last->pass->height};
    return image_reserve(&build->between[last->pass->buffer], &rgba);
}

// Returns the most histograms that a run needs.
static int most_counts(const struct cpu_build *build)
{
    int most = 1, first = 0;
    for (int i = 0; i < build->runs; first += build->run[i++]) {
        const struct pass *pass = &build->plan.pass[first];
        const int count = pass_measures(pass) ? build->bands[i] * pass_histograms(pass).parts : 0;
        most = count > most ? count : most;
    }
    return most;
}

static struct cpu_build *make_build(const struct cpu_path *cpu, const struct chain *chain, char **error)
{
    const struct image_shape *input = &cpu->path.input;
    struct cpu_build *build = xalloc(sizeof(*build));
    char why[CHAIN_ERROR];
    bool ok = plan_chain(build, input, chain, cpu->variant);
    choose_tuning(build, cpu, chain);
    divide(build, workers_count(cpu->workers));
    build->few_rows = count_few_rows(build, input->format);
    build->scratch = aligned_alloc(IMAGE_ALIGNMENT, build->scratch_bytes);
    build->counts = calloc((size_t)most_counts(build), sizeof(*build->counts));
    ok = ok && build->scratch && build->counts;
    int last = -1;
    for (int i = 0; ok && i < build->runs; i++) {
        last += build->run[i];
        const struct pass *pass = build->pass[last].pass;
        const struct image_shape rgba = {.format = PIXFMT_RGBA, .width = pass->width, .height = pass->height};
        ok = (i == build->runs - 1 || reserve_between(build, &build->pass[last])) &&
             (!pass_remembers(pass) || image_alloc(&build->second[i], &rgba));
    }
    if (!ok)
        fail_memory(error);
    else if (plan_fill(&build->plan, why))
        return build;
    else
        path_fail(error, why);
    cpu_build_free(build);
    return NULL;
}

static void *cpu_build(const struct path *path, const struct chain *chain, char **error)
{
    if (!user_rows_make(chain, error))
        return NULL;
    return make_build((const struct cpu_path *)path, chain, error);
}

// Counts the pixels of a run's input.
struct counting {
    const struct cpu_run *run;
    struct histogram_parts counted;
    uint32_t (*counts)[FILTER_LEVELS]; // of each band
};

static void count_band(void *context, int number)
{
    const struct counting *counting = context;
    const struct cpu_run *run = counting->run;
    const int height = run->from->shape.height, parts = counting->counted.parts;
    const struct histogram_rows rows = {.rgba = run->from,
                                        .height = height,
                                        .first = height * number / run->bands,
                                        .end = height * (number + 1) / run->bands,
                                        .grey = run->passes[0].pass->reads == PASS_GREY,
                                        .scratch = run->scratch + run->scratch_bytes * (size_t)number};
    uint32_t(*counts)[FILTER_LEVELS] = counting->counts + number * parts;
    memset(counts, 0, sizeof(*counts) * (size_t)parts);
    histogram_add(&counting->counted, &rows, counts);
}

// Computes the arguments of a run's first filter from the run's whole input.
static void measure_input(const struct cpu_path *cpu, struct cpu_build *build, const struct cpu_run *run)
{
    struct plan *plan = &build->plan;
    struct stage *stage = &plan->stage[run->passes[0].pass->before[0] - plan->stage];
    struct counting counting = {run, pass_histograms(run->passes[0].pass), build->counts};
    const int parts = counting.counted.parts;
    workers_run(cpu->workers, count_band, &counting, run->bands);
    for (int i = parts; i < parts * run->bands; i++) {
        for (int level = 0; level < FILTER_LEVELS; level++)
            build->counts[i % parts][level] += build->counts[i][level];
    }
    stage->filter->measured->measure(build->counts[0], filter_own_numbers(&stage->arguments));
}

// Returns the second picture of a run's last pass. NULL: it has none.
static const struct image *second_of(const struct cpu_build *build, int run, const struct pass *pass,
                                     const struct image *source)
{
    if (pass->second.kind == PICTURE_SOURCE)
        return source;
    if (pass->second.kind == PICTURE_OUTPUT)
        return &build->between[build->plan.pass[pass->second.pass].buffer];
    return pass_remembers(pass) ? &build->second[run] : NULL;
}

static void run_passes(struct path *path, struct image *from, const struct path_feed *feed)
{
    struct cpu_path *cpu = (struct cpu_path *)path;
    struct cpu_slot *slot = &cpu->slot[cpu->write_slot];
    struct cpu_build *build = path->build;
    const struct cpu_pass *passes = build->pass;
    const struct image *source = from;
    plan_set_frame_time(&build->plan, &path->frame_time);
    for (int i = 0; i < build->runs; i++) {
        const bool last = i == build->runs - 1;
        if (!last)
            reserve_between(build, &passes[build->run[i] - 1]); // has memory already
        struct cpu_run run = {
            .passes = passes,
            .count = build->run[i],
            .from = from,
            .feed = feed,
            .to = last ? &slot->output : &build->between[passes[build->run[i] - 1].pass->buffer],
            .encoder = encoder_init(path->encode.color),
            .coefficients = color_to_rgb(from->shape.color),
            .second = second_of(build, i, passes[build->run[i] - 1].pass, source),
            .scratch = build->scratch,
            .scratch_bytes = cpu_run_scratch_bytes(passes, build->run[i]),
            .bands = build->bands[i],
            .prefetch = build->tuning.value[CPU_PREFETCH],
        };
        if (last && path->encode.width > 0)
            run.encoded = &slot->encoded;
        // A warp reads a part of the rows.
        const struct cpu_pass *next = last ? NULL : passes + build->run[i];
        const struct pass *end = passes[run.count - 1].pass;
        const bool part = next && next->pass->warp && !pass_remembers(end) && !end->kept;
        run.first = part ? next->first : 0;
        run.end = part ? next->end : run.to->shape.height;
        run.streams = build->tuning.value[CPU_STREAM] == 1 && !run.encoded && !run.passes[run.count - 1].stencil &&
                      !run.passes->pass->warp && !run.second;
        slot->run_start_ns[i] = clock_now_ns();
        if (pass_measures(passes->pass))
            measure_input(cpu, build, &run);
        workers_run(cpu->workers, cpu_run_band, &run, build->bands[i]);
        slot->run_end_ns[i] = clock_now_ns();
        from = run.to;
        passes += run.count;
    }
}

static void measure_result(struct cpu_path *cpu, struct cpu_slot *slot)
{
    struct measuring *measuring = &cpu->path.measuring;
    slot->measure_start_ns = clock_now_ns();
    if (measuring->wanted)
        measuring_run(measuring, &slot->output, cpu->workers, slot->values);
    slot->measure_end_ns = clock_now_ns();
}

static bool cpu_submit(struct path *path, const struct image *frame)
{
    struct cpu_path *cpu = (struct cpu_path *)path;
    struct image from = *frame;
    cpu->slot[cpu->write_slot].number = path->frame_time.number;
    run_passes(path, &from, NULL);
    measure_result(cpu, &cpu->slot[cpu->write_slot]);
    cpu->write_slot = (cpu->write_slot + 1) % cpu->slots;
    return true;
}

static void cpu_feed(struct path *path, const struct path_feed *feed)
{
    struct cpu_path *cpu = (struct cpu_path *)path;
    struct cpu_slot *slot = &cpu->slot[cpu->write_slot];
    const struct cpu_build *build = path->build;
    const bool few = build->few_rows > 0;
    const int64_t start_ns = clock_now_ns();
    if (few) {
        run_passes(path, &cpu->fed, feed);
    } else if (feed->need(feed->context, &cpu->fed, path->input.height - 1)) {
        run_passes(path, &cpu->fed, NULL);
        feed->made(feed->context, &slot->encoded, path->encode.height);
    }
    slot->run_start_ns[0] = start_ns;
    slot->run_end_ns[build->runs - 1] = clock_now_ns();
    cpu->write_slot = (cpu->write_slot + 1) % cpu->slots;
}

static bool cpu_collect(struct path *path, struct path_result *result)
{
    struct cpu_path *cpu = (struct cpu_path *)path;
    const struct cpu_slot *slot = &cpu->slot[cpu->read_slot];
    const struct cpu_build *build = path->build;
    cpu->read_slot = (cpu->read_slot + 1) % cpu->slots;
    if (!path->measured_only)
        result->image = slot->output;
    result->image.memory = NULL; // borrowed
    result->number = slot->number;
    const struct pass *passes = build->plan.pass;
    for (int i = 0; i < build->runs; passes += build->run[i++]) {
        const bool encodes = i == build->runs - 1 && path->encode.width > 0;
        char name[160];
        int used = snprintf(name, sizeof(name), "pass %s", passes->name);
        for (int k = 1; k < build->run[i] && used < (int)sizeof(name); k++)
            used += snprintf(name + used, sizeof(name) - (size_t)used, "+%s", passes[k].name);
        if (encodes && used < (int)sizeof(name))
            snprintf(name + used, sizeof(name) - (size_t)used, "+encode");
        path_add_stage(result, name, STAGE_HOST, slot->run_start_ns[i], slot->run_end_ns[i]);
    }
    if (path->measuring.wanted) {
        path_add_stage(result, "measure", STAGE_HOST, slot->measure_start_ns, slot->measure_end_ns);
        measuring_give(&path->measuring, slot->values, &result->measures);
    }
    if (path->encode.width > 0 && !path->fed) {
        result->encoded = slot->encoded;
        result->encoded.memory = NULL; // borrowed
    }
    return true;
}

static_assert((int)PATH_CHOICE >= CPU_TUNING_TEXT && (int)PATH_PASSES >= PLAN_PASSES,
              "room for the passes of any plan");

static int cpu_passes(const struct path *path, struct path_pass passes[PATH_PASSES])
{
    const struct cpu_build *build = path->build;
    const int count = build->tuned.entry ? build->plan.count : 0;
    for (int i = 0; i < count; i++) {
        passes[i] = (struct path_pass){.name = build->plan.pass[i].name, .tuned = &build->tuned};
        cpu_tuning_print(&build->tuning, passes[i].choice);
    }
    return count;
}

static void cpu_close(struct path *path)
{
    struct cpu_path *cpu = (struct cpu_path *)path;
    workers_close(cpu->workers);
    measuring_close(&cpu->path.measuring);
    for (int i = 0; i < cpu->slots; i++) {
        image_free(&cpu->slot[i].output);
        image_free(&cpu->slot[i].encoded);
        free(cpu->slot[i].values);
    }
    image_free(&cpu->fed);
    path_finish(path);
    free(cpu);
}

static const struct backend cpu_backend = {
    .build = cpu_build,
    .build_free = cpu_build_free,
    .submit = cpu_submit,
    .feed = cpu_feed,
    .collect = cpu_collect,
    .passes = cpu_passes,
    .close = cpu_close,
};

// Allocates the picture that arrives by rows and the encoded pictures, with as few rows as possible.
static bool reserve_fed(struct cpu_path *cpu)
{
    const struct image_shape *input = &cpu->path.input;
    const int few = ((const struct cpu_build *)cpu->path.build)->few_rows, rows = few > 0 ? few : IMAGE_MAX_SIDE;
    bool ok = image_reserve_few(&cpu->fed, input, rows);
    for (int i = 0; ok && i < cpu->slots; i++)
        ok = image_reserve_few(&cpu->slot[i].encoded, &cpu->path.encode, rows);
    return ok;
}

// The input passes through the cache, too.
static bool is_larger_than_caches(const struct path_setup *setup)
{
    const struct image_shape rgba = {.format = PIXFMT_RGBA, .width = setup->input.width, .height = setup->input.height};
    const size_t cache_bytes = setup->cache_bytes > 0 ? setup->cache_bytes : pages_cache_bytes();
    return cache_bytes > 0 && image_bytes(&rgba) > cache_bytes / 4 * 3;
}

// Takes the variant that the setup names. Without one, the path uses tuning results; there are none for results in
// YUV. Returns false if the variant has an illegal parameter.
static bool read_variant(struct cpu_path *cpu, const struct path_setup *setup)
{
    const char *rows = setup->variant && strchr(setup->variant, ':') ? setup->variant : "rows";
    if (setup->variant && strcmp(setup->variant, rows) != 0)
        cpu->variant = setup->variant;
    if (!setup->variant && setup->encode.width == 0)
        cpu->tuned = setup->tuned;
    return cpu_tuning_parse(&cpu->wanted, rows);
}

struct path *cpu_open(const struct path_setup *setup, char **error)
{
    struct cpu_path *cpu = xalloc(sizeof(*cpu));
    path_init(&cpu->path, &cpu_backend, setup, "cpu");
    cpu->path.info.input = "host-ptr";
    const struct image_shape rgba = {
        .format = PIXFMT_RGBA, .width = cpu->path.info.width, .height = cpu->path.info.height};
    cpu->larger_than_caches = is_larger_than_caches(setup);
    if (!read_variant(cpu, setup)) {
        path_fail(error, "the cpu path has no parameters with these names and values");
        cpu_close(&cpu->path);
        return NULL;
    }
    measuring_open(&cpu->path.measuring, setup, cpu->path.info.width, cpu->path.info.height, true);
    bool ok = (cpu->workers = workers_open(setup->threads));
    for (int i = 0; ok && i < setup->depth + (setup->fed ? 0 : 1); i++) {
        cpu->slot[i].output.shape = rgba;
        ok = (setup->encoded_only || image_alloc(&cpu->slot[i].output, &rgba)) &&
             (setup->encode.width == 0 || setup->fed || image_reserve(&cpu->slot[i].encoded, &setup->encode));
        cpu->slot[i].values = xcalloc(measuring_values(&cpu->path.measuring), sizeof(uint32_t));
        cpu->slots++;
    }
    if (ok && !(cpu->path.build = cpu_build(&cpu->path, setup->chain, error))) {
        cpu_close(&cpu->path);
        return NULL;
    }
    if (ok && (!setup->fed || reserve_fed(cpu)))
        return &cpu->path;
    path_fail(error, "out of memory for frames of this size");
    cpu_close(&cpu->path);
    return NULL;
}

// Returns true if a row variant fits a stage of the plan, in RGBA rows or in grey rows.
static bool fits_plan(const struct row_variant *row, const struct plan *plan)
{
    for (int i = 0; i < plan->stages; i++) {
        const struct stage *stage = &plan->stage[i];
        const int width = plan->size[i].width;
        if (row_variant_fits(row, stage->filter, &stage->arguments, width, 4) ||
            row_variant_fits(row, stage->filter, &stage->arguments, width, 1))
            return true;
    }
    return false;
}

void cpu_tuning_preset(const struct path_setup *setup, struct cpu_tuning *tuning)
{
    struct cpu_build *build = xalloc(sizeof(*build)); // too large for the stack
    plan_chain(build, &setup->input, setup->chain, NULL);
    *tuning =
        preset(build->pass, setup->threads > 0 ? setup->threads : workers_available(), is_larger_than_caches(setup));
    for (int i = 0; i < build->plan.count; i++)
        cpu_pass_finish(&build->pass[i]);
    plan_free(&build->plan);
    free(build);
}

int cpu_variants(const struct path_setup *setup, const char *names[PATH_VARIANTS])
{
    struct plan *plan = xmalloc(sizeof(*plan)); // too large for the stack
    int count = 0;
    names[count++] = "generic";
    plan_make(plan, setup->chain, setup->input.width, setup->input.height, image_shape_opaque(&setup->input));
    for (const struct row_variant *const *list = row_level()->variants; *list; list++) {
        for (const struct row_variant *row = *list; row->name; row++) {
            bool known = false;
            for (int i = 0; i < count; i++)
                known = known || strcmp(names[i], row->name) == 0;
            if (!known && count < PATH_VARIANTS && fits_plan(row, plan))
                names[count++] = row->name;
        }
    }
    plan_free(plan);
    free(plan);
    return count;
}
