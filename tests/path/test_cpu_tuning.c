// test_cpu_tuning.c: the cpu path gives the same bytes with all its parameters, and uses tuning results
#include "path/cpu_rows.h"
#include "path/path.h"
#include "pictures.h"
#include "scratch.h"

#include "unit.h"

#include <sys/stat.h>

enum { THREADS = 3 };
static struct scratch scratch;
static struct tuned tuned;

static struct path *open_path(const char *text, const struct image_shape *shape, int threads, const char *variant)
{
    struct chain chain;
    char error[CHAIN_ERROR], *why = NULL;
    CHECK(chain_parse(&chain, text, error));
    const struct path_setup setup = {
        .kind = PATH_CPU, .input = *shape, .chain = &chain, .threads = threads, .variant = variant, .tuned = &tuned};
    struct path *path = path_open(&setup, &why);
    free(why);
    return path;
}

// Runs a frame and compares it with the picture.
static void check_frame(struct path *path, const struct test_frame *frame, const struct picture *want, const char *what)
{
    struct path_result result;
    bool same = true;
    const bool made = path && path_submit(path, &frame->image, NULL) && path_collect(path, &result);
    for (int y = 0; made && y < want->height; y++)
        same = same && memcmp(result.image.plane[0] + (size_t)y * result.image.stride[0], picture_pixel(want, 0, y),
                              4 * (size_t)want->width) == 0;
    check_that(&unit, made && same, "%s: the frame %s", what, made ? "is wrong" : "fails");
}

// ---- text ----

static void test_text(void)
{
    static const char *const good[] = {"rows", "rows:BANDS=16", "rows:BANDS=1:PREFETCH=0:STREAM=1"};
    static const char *const bad[] = {"",
                                      "row",
                                      "rows:",
                                      "rowsBANDS=1",
                                      "rows:BANDS",
                                      "rows:BANDS=",
                                      "rows:BANDS=5",
                                      "rows:BANDS=-1",
                                      "rows:BANDS=99999999999",
                                      "rows:BANDS=1:",
                                      "rows:BANDS=1x",
                                      "rows:BAND=1",
                                      "rows:BANDS:PREFETCH=1",
                                      "rows:=1",
                                      "generic"};
    struct cpu_tuning tuning;
    char text[CPU_TUNING_TEXT];
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        CHECK(cpu_tuning_parse(&tuning, good[i]));
        cpu_tuning_print(&tuning, text);
        CHECK_TEXT(text, good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        check_that(&unit, !cpu_tuning_parse(&tuning, bad[i]), "\"%s\" is accepted", bad[i]);
    CHECK(!open_path("blur=2", &(struct image_shape){PIXFMT_RGBA, 64, 48, {0}, false}, 1, "rows:BANDS=5"));
}

static void test_preset(void)
{
    static const struct {
        const char *chain;
        enum pixfmt format;
        int width, height, threads;
        const char *want;
    } cases[] = {
        {"blur=2", PIXFMT_RGBA, 640, 480, 4, "rows:BANDS=4:PREFETCH=2"},
        {"blur=2", PIXFMT_RGBA, 640, 480, 1, "rows:PREFETCH=2"},
        {"gray", PIXFMT_NV21, 640, 480, 2, "rows:BANDS=4:STREAM=0"},
        {"gray", PIXFMT_NV21, 8192, 8192, 1, "rows:STREAM=1"},
        {"sobel", PIXFMT_GREY, 640, 480, 1, "rows"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct chain chain;
        struct cpu_tuning preset;
        char error[CHAIN_ERROR], text[CPU_TUNING_TEXT];
        CHECK(chain_parse(&chain, cases[i].chain, error));
        const struct path_setup setup = {.kind = PATH_CPU,
                                         .input = {cases[i].format, cases[i].width, cases[i].height, {0}, false},
                                         .chain = &chain,
                                         .threads = cases[i].threads,
                                         .cache_bytes = 32 << 20};
        cpu_tuning_preset(&setup, &preset);
        cpu_tuning_print(&preset, text);
        CHECK_TEXT(text, cases[i].want);
        CHECK(cpu_tuning_parse(&preset, text)); // the default values are legal
    }
}

// ---- bytes ----

// All combinations of values give the bytes of the reference.
static void check_chain(const char *text, const struct image_shape *shape)
{
    const struct cpu_param_info *p = cpu_params;
    struct random random = {7};
    struct test_frame frame;
    frame_fill(&frame, shape, LAYOUT_PADDED, SHAPE_NOISE, &random);
    struct picture want = reference_frame(&frame.image);
    CHECK(reference_chain(&want, text));
    const int count = p[CPU_BANDS].values * p[CPU_PREFETCH].values * p[CPU_STREAM].values;
    for (int i = 0; i < count; i++) {
        struct cpu_tuning tuning;
        char variant[CPU_TUNING_TEXT], what[160];
        for (int k = 0, rest = i; k < CPU_PARAMS; rest /= p[k++].values)
            tuning.value[k] = p[k].value[rest % p[k].values];
        cpu_tuning_print(&tuning, variant);
        snprintf(what, sizeof(what), "%s %dx%d %s", text, shape->width, shape->height, variant);
        struct path *path = open_path(text, shape, THREADS, variant);
        check_frame(path, &frame, &want, what);
        path_close(path);
    }
    picture_free(&want);
    frame_free(&frame);
}

static void test_bytes(void)
{
    static const struct color color = {COLOR_MATRIX_709, COLOR_RANGE_LIMITED};
    static const char *const chains[] = {"emboss", "median,flip,blur=3", "invert", "mirror", "none"};
    for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++) {
        check_chain(chains[i], &(struct image_shape){PIXFMT_RGBA, 71, 275, color, false});
        check_chain(chains[i], &(struct image_shape){PIXFMT_NV21, 66, 130, color, false});
        check_chain(chains[i], &(struct image_shape){PIXFMT_RGBA, 3, 2, color, false});
    }
}

// ---- the database ----

static const struct image_shape small = {PIXFMT_RGBA, 301, 243, {COLOR_MATRIX_709, COLOR_RANGE_FULL}, false};

// Writes the user's file with an entry for blur=2 on `threads` threads with each choice, the best last.
static void write_entries(const char *const *choices, int threads)
{
    const char *path = scratch_path(&scratch, "monocle/tuned");
    FILE *out = fopen(path, "w");
    struct chain chain;
    struct cpu_key key;
    char error[CHAIN_ERROR];
    CHECK(out && chain_parse(&chain, "blur=2,gray", error));
    cpu_key_make(&key, &chain, &small, threads);
    CHECK_TEXT(key.key.pass, "cpu:rgba>blur2+gray>rgba");
    CHECK(key.key.device[0]);
    tuned_print_head(out);
    for (; *choices; choices++) {
        const struct tuned_entry entry = {.key = key.key, .choice = *choices, .source = "", .date = "", .launches = ""};
        tuned_entry_print(&entry, out);
    }
    CHECK(fclose(out) == 0 && chmod(path, 0600) == 0);
    tuned_finish(&tuned);
    tuned_init(&tuned); // forgets the entries that it has read
}

// Checks the parameters that a path uses, and its bytes. `want` NULL: the default ones.
static void check_path(const char *text, const char *variant, int threads, const char *want, enum tuned_match match)
{
    struct random random = {3};
    struct test_frame frame;
    struct path_pass pass[PATH_PASSES];
    struct path *path = open_path(text, &small, threads, variant);
    const int passes = path ? path_passes(path, pass) : 0;
    CHECK(path != NULL);
    CHECK_NUMBER(passes, want ? 1 : 0);
    if (passes > 0 && want) {
        CHECK_TEXT(pass[0].choice, want);
        CHECK(pass[0].tuned && pass[0].tuned->match == match && pass[0].tuned->level == TUNED_USER);
    }
    frame_fill(&frame, &small, LAYOUT_TIGHT, SHAPE_NOISE, &random);
    struct picture expected = reference_frame(&frame.image);
    CHECK(reference_chain(&expected, text));
    check_frame(path, &frame, &expected, text);
    picture_free(&expected);
    frame_free(&frame);
    path_close(path);
}

static void test_entries(void)
{
    static const char *const choices[] = {"rows:BANDS=2:PREFETCH=4", "window:ROWS=8", "rows:BANDS=5", "rows:STREAM=2",
                                          NULL}; // all but the first are illegal
    static const char *const used = "rows:BANDS=2:PREFETCH=4";
    write_entries(choices, THREADS);
    check_path("blur=2,gray", NULL, THREADS, used, TUNED_EXACT);
    check_path("blur=2,gray", NULL, THREADS + 1, used, TUNED_ARCHITECTURE);
    check_path("blur=2,gray", NULL, 1, "rows:PREFETCH=4", TUNED_ARCHITECTURE); // one thread has one band
    check_path("blur=2,gray", "rows", THREADS, NULL, TUNED_NONE);              // the setup takes precedence
    check_path("blur=2,gray", "generic", THREADS, NULL, TUNED_NONE);
    check_path("blur=3,gray", NULL, THREADS, NULL, TUNED_NONE);
    write_entries(choices + 1, THREADS);
    check_path("blur=2,gray", NULL, THREADS, NULL, TUNED_NONE);
}

int main(void)
{
    tuned_init(&tuned);
    test_text();
    test_preset();
    test_bytes();
    if (!scratch_open(&scratch))
        return 1;
    setenv("XDG_DATA_HOME", scratch.dir, 1);
    CHECK(mkdir(scratch_path(&scratch, "monocle"), 0700) == 0);
    test_entries();
    tuned_finish(&tuned);
    scratch_close(&scratch);
    return check_end(&unit);
}
