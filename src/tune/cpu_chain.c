// cpu_chain.c: a chain on the cpu path as a search space
#include "tune/passes.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "filter/plan.h"
#include "path/cpu_rows.h"
#include "path/path.h"
#include "path/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURES = 4 };

struct cpu_chain {
    struct subject subject;
    struct chain chain;
    struct image_shape input;
    int threads;
    char name[140];                 // of all passes
    struct image picture[PICTURES]; // random
    int pictures;
};

struct built {
    const struct cpu_chain *of;
    struct path *path;
    int next;    // picture
    uint8_t sum; // of the results' bytes; without it, a compiler may omit the reads
};

static const struct cpu_chain *chain_of(const struct subject *subject)
{
    return (const struct cpu_chain *)subject;
}

// ---- the space ----

static void add_params(struct space *space, const struct cpu_tuning *preset)
{
    for (int p = 0; p < CPU_PARAMS; p++) {
        space_add_param(space, cpu_params[p].name);
        if (preset->value[p] == CPU_UNSET)
            space_add_value(space, p, (struct value){.kind = VALUE_NONE});
        for (int i = 0; preset->value[p] != CPU_UNSET && i < cpu_params[p].values; i++)
            space_add_value(space, p, value_of_integer(cpu_params[p].value[i]));
    }
}

// Adds all combinations of values.
static void add_configurations(struct space *space)
{
    uint16_t tuple[SPACE_PARAMS] = {0};
    for (int at = 0; at >= 0;) {
        space_add(space, tuple);
        for (at = space->params - 1; at >= 0 && ++tuple[at] == space->param[at].values; at--)
            tuple[at] = 0;
    }
    space_sort(space);
}

static void tuning_of(const struct space *space, int configuration, struct cpu_tuning *tuning)
{
    const uint16_t *tuple = space_tuple(space, configuration);
    for (int p = 0; p < CPU_PARAMS; p++) {
        const struct value *value = &space->param[p].value[tuple[p]];
        tuning->value[p] = value->kind == VALUE_NONE ? CPU_UNSET : (int)value->integer;
    }
}

static int configuration_of(const struct space *space, const struct cpu_tuning *tuning)
{
    for (int i = 0; i < space->count; i++) {
        struct cpu_tuning other;
        tuning_of(space, i, &other);
        if (memcmp(&other, tuning, sizeof(other)) == 0)
            return i;
    }
    return -1;
}

static void print(const struct subject *subject, int configuration, char text[SUBJECT_TEXT])
{
    struct cpu_tuning tuning;
    tuning_of(&subject->space, configuration, &tuning);
    cpu_tuning_print(&tuning, text);
}

// ---- running ----

static struct path *open_path(const struct cpu_chain *of, const struct image_shape *input, const char *variant,
                              int threads)
{
    char *error = NULL;
    const struct path_setup setup = {
        .kind = PATH_CPU, .input = *input, .chain = &of->chain, .threads = threads, .variant = variant};
    struct path *path = path_open(&setup, &error);
    free(error);
    return path;
}

static bool run(struct path *path, const struct image *picture, struct path_result *result)
{
    return path_submit(path, picture, NULL) && path_collect(path, result);
}

// ---- validation ----

static const uint8_t guard = 0xA5;

// Runs the picture as often as the path has results, with guard bytes behind each, which the path must not write.
// Returns the status of the last run.
static enum probe_status compare(struct path *path, const struct image *picture, const struct image *want)
{
    enum { RESULTS = 2 }; // depth 1, and the result that stays valid
    struct path_result result;
    for (int i = 0; i < 2 * RESULTS; i++) {
        if (!run(path, picture, &result))
            return PROBE_NOT_RUN;
        if (!rig_same(&result.image, want, 4))
            return PROBE_WRONG;
        const uint8_t *spare = image_row(&result.image, 0, result.height);
        for (int k = 0; i >= RESULTS && k < IMAGE_SPARE_BYTES; k++) {
            if (spare[k] != guard)
                return PROBE_WRONG;
        }
        memset(result.image.plane[0], guard, image_bytes(&result.image.shape) + IMAGE_SPARE_BYTES);
    }
    return PROBE_PASSED;
}

// Compares the bytes of a small picture with those of the generic rows on one thread.
static enum probe_status try_size(const struct cpu_chain *of, const char *variant, int width, int height)
{
    const struct image_shape shape = {of->input.format, width, height, of->input.color, of->input.opaque};
    struct image picture = {0};
    struct path_result want;
    const char *why;
    if (!pixfmt_size_ok(shape.format, width, height, &why))
        return PROBE_PASSED; // the format does not allow this size
    enum probe_status status = PROBE_NOT_RUN;
    struct path *generic = open_path(of, &shape, "generic", 1), *path = open_path(of, &shape, variant, of->threads);
    if (generic && path && image_alloc(&picture, &shape)) {
        image_randomize(&picture, 1);
        if (run(generic, &picture, &want))
            status = compare(path, &picture, &want.image);
    }
    path_close(generic);
    path_close(path);
    image_free(&picture);
    return status;
}

static enum probe_status validate(const struct subject *subject, int configuration, char why[VERDICT_TEXT])
{
    static const int sizes[][2] = {{67, 261}, {130, 34}, {5, 3}};
    enum probe_status status = PROBE_PASSED;
    char variant[SUBJECT_TEXT];
    print(subject, configuration, variant);
    for (size_t i = 0; status == PROBE_PASSED && i < sizeof(sizes) / sizeof(*sizes); i++) {
        status = try_size(chain_of(subject), variant, sizes[i][0], sizes[i][1]);
        if (status != PROBE_PASSED)
            snprintf(why, VERDICT_TEXT, "%s at %dx%d",
                     status == PROBE_WRONG ? "it computes wrong bytes" : "it cannot run", sizes[i][0], sizes[i][1]);
    }
    return status;
}

// ---- time ----

// Makes pictures that together exceed the caches if one of them does.
static bool prepare(struct subject *subject)
{
    struct cpu_chain *of = (struct cpu_chain *)subject;
    static const int camera_px = 4 << 20;
    const int count = of->input.width * of->input.height <= camera_px ? PICTURES / 2 : PICTURES;
    for (; of->pictures < count; of->pictures++) {
        if (!image_alloc(&of->picture[of->pictures], &of->input)) {
            log_error("cannot tune at %dx%d: out of memory", of->input.width, of->input.height);
            return false;
        }
        image_randomize(&of->picture[of->pictures], 1);
    }
    return true;
}

// Reads a byte of each cache line of a result.
static uint8_t read_result(const struct path_result *result)
{
    enum { CACHE_LINE = 64 };
    uint8_t sum = 0;
    for (size_t i = 0; i < image_bytes(&result->image.shape); i += CACHE_LINE)
        sum ^= result->image.plane[0][i];
    return sum;
}

// Runs one frame. False: it fails.
static bool run_next(struct built *build)
{
    struct path_result result;
    if (!run(build->path, &build->of->picture[build->next], &result))
        return false;
    build->sum ^= read_result(&result);
    build->next = (build->next + 1) % build->of->pictures;
    return true;
}

static void release(void *built)
{
    struct built *build = built;
    path_close(build->path);
    free(build);
}

static void *build(struct subject *subject, int configuration, char why[VERDICT_TEXT])
{
    const struct cpu_chain *of = chain_of(subject);
    struct built *build = xalloc(sizeof(*build));
    char variant[SUBJECT_TEXT];
    print(subject, configuration, variant);
    *build = (struct built){of, open_path(of, &of->input, variant, of->threads), 0, 0};
    if (build->path && run_next(build))
        return build;
    release(build);
    snprintf(why, VERDICT_TEXT, "out of memory");
    return NULL;
}

static bool time_build(void *built, double for_ms, double *ms)
{
    int64_t start_ns;
    int runs = 0;
    double spent_ms = 0;
    if (!run_next(built)) // also restores caches and clock rates
        return false;
    for (start_ns = clock_now_ns(); runs < 2 || spent_ms < for_ms; runs++) {
        if (!run_next(built))
            return false;
        spent_ms = clock_ms_since(start_ns);
    }
    *ms = spent_ms / runs;
    return true;
}

// ---- the result ----

static bool store(const struct subject *subject, int configuration, double ms, double default_ms)
{
    const struct cpu_chain *of = chain_of(subject);
    struct cpu_key key;
    char choice[SUBJECT_TEXT], date[TUNED_DATE];
    cpu_key_make(&key, &of->chain, &of->input, of->threads);
    print(subject, configuration, choice);
    tuned_date(date);
    const struct tuned_entry entry = {key.key, choice, "", date, ms, default_ms, ""};
    return tuned_store(&entry);
}

// ---- opening ----

static void close_chain(struct subject *subject)
{
    struct cpu_chain *of = (struct cpu_chain *)subject;
    for (int i = 0; i < of->pictures; i++)
        image_free(&of->picture[i]);
    chain_release(&of->chain);
    free(of);
}

// Writes the names of the passes: "blur+gray".
static void name_chain(struct cpu_chain *of)
{
    struct plan *plan = xmalloc(sizeof(*plan)); // too large for the stack
    plan_make(plan, &of->chain, of->input.width, of->input.height, image_shape_opaque(&of->input));
    for (int i = 0, used = 0; i < plan->count && used < (int)sizeof(of->name); i++)
        used +=
            snprintf(of->name + used, sizeof(of->name) - (size_t)used, "%s%s", i > 0 ? "+" : "", plan->pass[i].name);
    plan_free(plan);
    free(plan);
}

// Sets the configuration in use, where `preset` are the defaults.
static void set_used(struct cpu_chain *of, const struct cpu_tuning *preset)
{
    struct subject *subject = &of->subject;
    struct tuned tuned;
    struct tuned_found found = {.entry = NULL};
    struct cpu_tuning used;
    struct cpu_key key;
    cpu_key_make(&key, &of->chain, &of->input, of->threads);
    tuned_init(&tuned);
    if (cpu_tuned(&tuned, &key, &used, &found)) {
        for (int p = 0; p < CPU_PARAMS; p++) {
            if (used.value[p] == CPU_UNSET || preset->value[p] == CPU_UNSET)
                used.value[p] = preset->value[p];
        }
        subject->used = configuration_of(&subject->space, &used);
        subject->has_used = subject->used >= 0;
        subject->used_exactly = found.match == TUNED_EXACT;
    }
    tuned_finish(&tuned);
}

struct subject *tune_cpu_open(const struct chain *chain, const struct image_shape *input, int threads)
{
    static const struct subject_type type = {
        .prepare = prepare,
        .validate = validate,
        .build = build,
        .time = time_build,
        .release = release,
        .print = print,
        .store = store,
        .close = close_chain,
    };
    struct cpu_chain *of = xalloc(sizeof(*of));
    of->chain = *chain;
    chain_hold(&of->chain); // all paths make the same pixels
    of->input = *input;
    of->threads = threads > 0 ? threads : workers_available();
    name_chain(of);
    struct subject *subject = &of->subject;
    subject->type = &type;
    subject->name = of->name;
    struct cpu_tuning preset;
    const struct path_setup setup = {.kind = PATH_CPU, .input = *input, .chain = &of->chain, .threads = of->threads};
    cpu_tuning_preset(&setup, &preset);
    add_params(&subject->space, &preset);
    add_configurations(&subject->space);
    subject->preset[subject->presets++] = configuration_of(&subject->space, &preset);
    set_used(of, &preset);
    return subject;
}
