// test_pass_tuned.c: names of passes in the database of tunings; paths use tuned variants and give the same bytes
#include "base/resource.h"
#include "path/opencl_chain.h"
#include "path/pass_tuned.h"
#include "pictures.h"
#include "scratch.h"

#include "unit.h"

#include <sys/stat.h>

static const struct image_shape shape = {PIXFMT_RGBA, 301, 43, {COLOR_MATRIX_709, COLOR_RANGE_FULL}, true};
static struct scratch scratch;

// Checks the names of the passes of a chain, separated by spaces.
static void check_names(enum pixfmt format, bool to_image, bool tiles, const char *text, const char *want)
{
    const struct opencl_target target = {.input = {format, 640, 480, {0}, true}, .to_image = to_image};
    struct chain chain;
    struct plan plan;
    char error[CHAIN_ERROR], names[2048] = "";
    CHECK(chain_parse(&chain, text, error));
    opencl_plan(&plan, &target, &chain, tiles);
    for (int i = 0; i < plan.count; i++) {
        const struct pass_target pass_target = opencl_pass_target(&target, &plan, i);
        char name[PASS_KEY];
        pass_key_print(&plan.pass[i], &pass_target, name);
        strcat(strcat(names, i > 0 ? " " : ""), name);
    }
    CHECK_TEXT(names, want);
}

static void test_names(void)
{
    check_names(PIXFMT_RGBA, false, true, "blur=2", "rgba>blur2>buffer");
    check_names(PIXFMT_NV12, true, true, "none", "nv12>>image");
    check_names(PIXFMT_NV12, false, true, "sepia,blur=2,invert", "nv12>sepia+blur2+invert>buffer");
    check_names(PIXFMT_NV12, false, false, "sepia,blur=2,invert", "nv12>sepia>buffer rgba>blur2+invert>buffer");
    check_names(PIXFMT_NV12, false, true, "blur=2,blur=3", "nv12>blur2>buffer rgba>blur3>buffer");
    check_names(PIXFMT_NV12, false, true, "gray,blur=2,sobel",
                "nv12>gray+blur2:grey>channel channel>sobel1:grey>buffer");
    check_names(PIXFMT_RGBA, false, true, "mirror,flip,blur=2", "rgba:mirror:flip>blur2>buffer");
    check_names(PIXFMT_RGBA, true, true, "blur=2,flip", "rgba>blur2>image:flip");
    check_names(PIXFMT_NV12, false, true, "colorkey,blur=2", "nv12>colorkey+premultiply+blur2+unpremultiply>buffer");
}

// A long chain fills the name; nothing is written beyond it.
static void test_long_name(void)
{
    static struct stage stages[CHAIN_MAX];
    static struct filter filter = {.name = "a-filter-with-a-name-of-forty-characters"};
    const struct pass_target target = {.format = PIXFMT_RGBA};
    struct pass pass = {.before_count = CHAIN_MAX};
    struct {
        char name[PASS_KEY];
        char after[8];
    } text = {.after = "canary"};
    for (int i = 0; i < CHAIN_MAX; i++) {
        stages[i].filter = &filter;
        pass.before[i] = &stages[i];
    }
    pass_key_print(&pass, &target, text.name);
    CHECK_NUMBER(strlen(text.name), CHAIN_MAX * 41 + 12 < PASS_KEY ? CHAIN_MAX * 41 + 11 : PASS_KEY - 1);
    CHECK_TEXT(text.after, "canary");
}

// Writes the chain of a pass whose key is INPUT>FILTERS>OUTPUT. A stencil's radius is a parameter, or its default.
static void chain_of_key(const char *key, char text[CHAIN_TEXT])
{
    const char *names = strchr(key, '>') + 1;
    const int length = (int)strcspn(names, ">");
    int radius;
    snprintf(text, CHAIN_TEXT, length > 0 ? "%.*s" : "none", length, names);
    if (sscanf(text, "blur%d", &radius) == 1)
        snprintf(text, CHAIN_TEXT, "blur=%d", radius);
    else if (strcmp(text, "convolve2") == 0)
        snprintf(text, CHAIN_TEXT, "convolve=gaussian");
    else
        text[strcspn(text, "123456789")] = '\0';
}

// Checks that the variant of an entry exists, that its parameters have legal values, and that it fits the pass.
static void check_entry(const struct tuned_entry *entry)
{
    const bool cpu = strcmp(entry->key.type, "cpu") == 0;
    const struct device_info device = {.type = cpu ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU,
                                       .max_work_group = 1024,
                                       .local_bytes = 48 << 10,
                                       .constant_bytes = 64 << 10};
    struct opencl_target target = {.input = {PIXFMT_RGBA, 640, 480, {0}, true}};
    struct variant_choice choice;
    struct chain chain;
    struct plan plan;
    char text[CHAIN_TEXT], error[CHAIN_ERROR], format[32] = "", key[PASS_KEY], printed[VARIANT_TEXT];
    chain_of_key(entry->key.pass, text);
    snprintf(format, sizeof(format), "%.*s", (int)strcspn(entry->key.pass, ">"), entry->key.pass);
    if (!check_that(&unit, pixfmt_from_name(format, &target.input.format) && chain_parse(&chain, text, error),
                    "%s: the test does not know this pass", entry->key.pass) ||
        !check_that(&unit, variant_parse(&choice, entry->choice), "%s: there is no variant %s", entry->key.pass,
                    entry->choice))
        return;
    opencl_plan(&plan, &target, &chain, true);
    const struct pass_target pass_target = opencl_pass_target(&target, &plan, 0);
    pass_key_print(&plan.pass[0], &pass_target, key);
    CHECK_TEXT(key, entry->key.pass);
    variant_print(&choice, printed);
    CHECK_TEXT(printed, entry->choice);
    check_that(&unit, variant_accept(&choice, &(struct variant_pass){&plan.pass[0], &pass_target, &device}, NULL, NULL),
               "%s: the variant %s does not fit", entry->key.pass, entry->choice);
}

static void test_shipped(void)
{
    struct tuned_list list = {0};
    struct tuned_damage damage;
    char why[TUNED_TEXT_WHY];
    const struct resource *shipped = resource_find("assets/tuned.tsv");
    CHECK(shipped && tuned_parse((const char *)shipped->data, shipped->size, &list, &damage, why));
    CHECK_NUMBER(damage.lines, 0);
    CHECK(list.count > 0);
    for (size_t i = 0; i < list.count; i++)
        check_entry(list.entry[i]);
    tuned_list_free(&list);
}

// Writes the user's file with an entry for each choice, the best last.
static void write_entries(const struct device_info *device, const char *const *choices, const char *source)
{
    const char *path = scratch_path(&scratch, "monocle/tuned");
    FILE *out = fopen(path, "w");
    struct plan plan;
    struct chain chain;
    struct pass_key key;
    char error[CHAIN_ERROR];
    const struct pass_target target = {.format = shape.format};
    CHECK(out && chain_parse(&chain, "blur=3", error));
    plan_make(&plan, &chain, 64, 48, true);
    pass_key_make(&key, &(struct variant_pass){&plan.pass[0], &target, device}, shape.width, shape.height);
    tuned_print_head(out);
    for (; *choices; choices++) {
        const struct tuned_entry entry = {
            .key = key.key, .choice = *choices, .source = source, .date = "", .launches = ""};
        tuned_entry_print(&entry, out);
    }
    CHECK(fclose(out) == 0 && chmod(path, 0600) == 0);
}

// Checks the variant that a path uses, and that it gives the bytes of the reference. `want` NULL: no tuned one.
static void check_path(const struct device_info *info, const char *wanted, const char *want)
{
    char error[CHAIN_ERROR], used[VARIANT_TEXT] = "";
    struct random random = {3};
    struct chain chain;
    struct test_frame frame;
    struct path_result result;
    struct device *device = device_open(info, NULL, NULL);
    CHECK(chain_parse(&chain, "blur=3", error));
    const struct path_setup setup = {
        .kind = PATH_OPENCL, .device = device, .input = shape, .chain = &chain, .depth = 1, .variant = wanted};
    const struct opencl_target target = opencl_target_make(&setup, false);
    struct opencl_chain *opened = opencl_chain_open(&target, &chain, NULL);
    CHECK(opened != NULL);
    if (opened) {
        variant_print(&opened->pass[0].choice, used);
        CHECK((opened->pass[0].tuned.entry != NULL) == (want != NULL));
    }
    if (opened && want) {
        CHECK_TEXT(used, want);
        CHECK(opened->pass[0].tuned.match == TUNED_EXACT && opened->pass[0].tuned.level == TUNED_USER);
    }
    opencl_chain_close(opened);
    frame_fill(&frame, &shape, LAYOUT_TIGHT, SHAPE_NOISE, &random);
    struct path *path = path_open(&setup, NULL);
    const bool made = path && path_submit(path, &frame.image, NULL) && path_collect(path, &result);
    CHECK(made);
    if (made) {
        struct picture expected = reference_frame(&frame.image);
        reference_chain(&expected, "blur=3");
        for (int y = 0; y < expected.height; y++)
            check_that(&unit,
                       memcmp(result.image.plane[0] + (size_t)y * result.image.stride[0],
                              picture_pixel(&expected, 0, y), 4 * (size_t)expected.width) == 0,
                       "%s: row %d is wrong", used, y);
        picture_free(&expected);
    }
    path_close(path);
    frame_free(&frame);
    device_close(device);
}

// The hash of the kernel text of a choice for the pass.
static void hash_of(const struct device_info *device, const char *text, const char *kernel_dir, char hash[HASH_TEXT])
{
    struct plan plan;
    struct chain chain;
    struct variant_choice choice;
    char error[CHAIN_ERROR];
    const struct pass_target target = {.format = shape.format};
    const struct variant_pass of = {&plan.pass[0], &target, device};
    CHECK(chain_parse(&chain, "blur=3", error) && variant_parse(&choice, text));
    plan_make(&plan, &chain, 64, 48, true);
    CHECK(variant_accept(&choice, &of, NULL, NULL) && pass_source(&of, &choice, kernel_dir, hash));
}

// A comment in a kernel file does not change the hash. Another program does.
static void test_source(const struct device_info *device)
{
    static const char *const texts[] = {"// blur\nint a;\n", "/* mean of\n a square */\n\n\nint  a;", "int b;\n"};
    char hash[3][HASH_TEXT];
    for (int i = 0; i < 3; i++) {
        FILE *out = fopen(scratch_path(&scratch, "blur.cl"), "w");
        CHECK(out && fputs(texts[i], out) >= 0 && fclose(out) == 0);
        hash_of(device, "generic", scratch.dir, hash[i]);
    }
    CHECK_TEXT(hash[1], hash[0]);
    CHECK(strcmp(hash[2], hash[0]) != 0);
}

static bool refuse(void *context, const struct variant_choice *choice)
{
    return false;
}

// An entry whose variant fails its probe is passed over.
static void test_untrusted(const struct device_info *info)
{
    static const char *const choices[] = {"generic:GROUP_WIDTH=64:GROUP_HEIGHT=2", "inside:GROUP_WIDTH=64:ROWS=3",
                                          NULL};
    struct device *device = device_open(info, NULL, NULL);
    struct chain chain;
    struct plan plan;
    struct pass_choice found;
    char error[CHAIN_ERROR], text[VARIANT_TEXT];
    const struct pass_target target = {.format = shape.format};
    CHECK(device && chain_parse(&chain, "blur=3", error));
    plan_make(&plan, &chain, 64, 48, true);
    const struct variant_pass of = {&plan.pass[0], &target, info};
    write_entries(info, choices, "");
    for (int i = 0; device && i < 2; i++) {
        CHECK(pass_tuned(device, &of, shape.width, shape.height, i == 0 ? refuse : NULL, NULL, &found));
        variant_print(&found.choice, text);
        CHECK_TEXT(text, choices[i]);
    }
    device_close(device);
}

// Thousands of entries that cannot be used do not slow the start: only the best ones are tried.
static void test_many(const struct device_info *device)
{
    enum { FEW = 40, MANY = 60 };
    const char *choices[1 + MANY + 1] = {"generic:GROUP_WIDTH=64:GROUP_HEIGHT=2"};
    for (int i = 1; i <= FEW; i++)
        choices[i] = "no variant";
    write_entries(device, choices, "");
    check_path(device, NULL, choices[0]);
    for (int i = FEW; i <= MANY; i++)
        choices[i] = "no variant";
    write_entries(device, choices, "");
    check_path(device, NULL, NULL);
}

static void test_paths(const struct device_info *device)
{
    static const char *const good[] = {"generic:GROUP_WIDTH=64", NULL};
    static const char *const bad[] = {"generic:GROUP_WIDTH=64:GROUP_HEIGHT=2",
                                      "sums",                         // does not fit a small radius
                                      "window:ROWS=1:GROUP_HEIGHT=1", // an odd number of rows
                                      "generic:GROUP_WIDTH=5",
                                      "no variant",
                                      NULL}; // no such value, no such variant
    char hash[HASH_TEXT];
    write_entries(device, good + 1, "");
    check_path(device, NULL, NULL);
    write_entries(device, bad, "");
    check_path(device, NULL, "generic:GROUP_WIDTH=64:GROUP_HEIGHT=2");
    write_entries(device, bad + 1, "");
    check_path(device, NULL, NULL);
    write_entries(device, good, "00000000000000000000000000000000"); // of another kernel text
    check_path(device, NULL, NULL);
    hash_of(device, good[0], NULL, hash);
    write_entries(device, good, hash);
    const char *const filled = device->type & CL_DEVICE_TYPE_CPU ? "generic:GROUP_WIDTH=64:GROUP_HEIGHT=1"
                                                                 : "generic:GROUP_WIDTH=64:GROUP_HEIGHT=4";
    check_path(device, NULL, filled);
    check_path(device, "generic:GROUP_WIDTH=128", NULL); // the setup's variant takes precedence
}

int main(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why_none = NULL;
    test_names();
    test_long_name();
    test_shipped();
    if (!scratch_open(&scratch))
        return 1;
    setenv("XDG_DATA_HOME", scratch.dir, 1);
    CHECK(mkdir(scratch_path(&scratch, "monocle"), 0700) == 0);
    if (device_list(devices, &why_none) > 0) {
        test_paths(&devices[0]);
        test_many(&devices[0]);
        test_untrusted(&devices[0]);
        test_source(&devices[0]);
    } else {
        printf("no device, so no path is tested: %s\n", why_none);
    }
    scratch_close(&scratch);
    return check_end(&unit);
}
