// test_variants.c: the table of variants: text, choice, constraints, and launches that cover an image
//
//   test_variants NAME...   the variants that test_paths runs by name; it also runs the variants for CPU devices
#include "compute/tuned.h"
#include "filter/filter.h"
#include "path/variants.h"

#include "unit.h"

static const struct device_info gpu = {.type = DEVICE_GPU,
                                       .max_work_group = 1024,
                                       .local_bytes = 48 << 10,
                                       .constant_bytes = 64 << 10,
                                       .compute_units = 10};
// Local memory for a tile of 34 rows of 66 groups of 16 bytes.
static const struct device_info narrow_gpu = {
    .type = DEVICE_GPU, .max_work_group = 1024, .local_bytes = 34 * 66 * 16, .constant_bytes = 1 << 9};
static const struct device_info small_gpu = {.type = DEVICE_GPU, .max_work_group = 64, .local_bytes = 1 << 10};
static const struct device_info cpu = {.type = DEVICE_CPU, .max_work_group = 4096, .local_bytes = 512 << 10};
static const struct variant_choice any;

static const char *name_of(struct variant_choice choice)
{
    return choice.variant->name;
}

static struct variant_choice choose(const char *text, const struct device_info *device, const char *wanted,
                                    bool (*trusted)(void *context, const struct variant_choice *choice))
{
    static struct plan plan;
    struct chain chain;
    struct variant_choice parsed = any;
    char error[CHAIN_ERROR];
    const struct pass_target target = {.format = PIXFMT_RGBA};
    CHECK(chain_parse(&chain, text, error) && (!wanted || variant_parse(&parsed, wanted)));
    plan_make(&plan, &chain, 64, 48, true);
    const struct variant_pass of = {&plan.pass[0], &target, device};
    return variant_choose(&of, &parsed, trusted, NULL);
}

static bool refuse(void *context, const struct variant_choice *choice)
{
    return false;
}

static void test_choice(void)
{
    static const struct {
        const char *chain;
        const struct device_info *device;
        const char *wanted, *chosen;
    } rows[] = {
        {"gray", &gpu, NULL, "window"},
        {"blur=4", &gpu, NULL, "window"},
        {"blur=5", &gpu, NULL, "sums"},
        {"gaussian=3", &gpu, NULL, "local"},
        {"erode", &gpu, NULL, "local"},
        {"bilateral=7", &gpu, NULL, "local"},
        {"erode=60:disc", &gpu, NULL, "generic"}, // too little local memory
        {"gaussian=3", &cpu, NULL, "generic"},
        {"bilateral", &gpu, "local:CONSTANT=2", "local"},
        {"bilateral", &narrow_gpu, "local:CONSTANT=2", "generic"}, // too little constant memory
        {"canny", &gpu, "local:CONSTANT=3", "local"},
        {"erode=3:disc", &gpu, "local:GROUP_WIDTH=256:GROUP_HEIGHT=16", "generic"}, // more work-items than allowed
        {"blur=4", &small_gpu, NULL, "generic"},
        {"blur=5", &small_gpu, NULL, "generic"},
        {"gray", &cpu, NULL, "inside"},
        {"blur=2", &cpu, NULL, "inside"},
        {"blur=15", &cpu, NULL, "sums"},
        {"blur=2", &cpu, "window", "window"},
        {"blur=2", &cpu, "generic", "generic"},
        {"blur=2", &gpu, "inside", "inside"},
        {"blur=2", &gpu, "sums", "generic"},
        {"blur=5", &gpu, "window", "generic"},
        {"blur=2", &gpu, "window:ROWS=8:GROUP_WIDTH=128:GROUP_HEIGHT=8", "window"},
        {"blur=2", &gpu, "window:ROWS=8:GROUP_WIDTH=128:GROUP_HEIGHT=8:TILE=2", "generic"}, // too little local memory
        {"blur=1", &gpu, "window:ROWS=8:GROUP_WIDTH=64:GROUP_HEIGHT=4:TILE=3", "window"},
        {"blur=1", &narrow_gpu, "window:ROWS=8:GROUP_WIDTH=64:GROUP_HEIGHT=4:TILE=2", "window"},
        {"blur=1", &narrow_gpu, "window:ROWS=8:GROUP_WIDTH=64:GROUP_HEIGHT=4:TILE=3", "generic"}, // padding
        {"gamma", &gpu, "window:CONSTANT=2", "window"},
        {"gamma", &narrow_gpu, "window:CONSTANT=2", "generic"},      // too little constant memory
        {"blur=2", &gpu, "window:CONSTANT=2", "generic"},            // no arguments
        {"gray", &gpu, "window:TILE=2", "generic"},                  // a tile needs a stencil
        {"blur=2", &gpu, "window:ROWS=1:GROUP_HEIGHT=1", "generic"}, // an odd number of rows
        {"gray", &gpu, "window:ROWS=3", "generic"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct variant_choice choice = choose(rows[i].chain, rows[i].device, rows[i].wanted, NULL);
        check_that(&unit, strcmp(name_of(choice), rows[i].chosen) == 0, "%s, wanted %s: %s is chosen, not %s",
                   rows[i].chain, rows[i].wanted ? rows[i].wanted : "any", name_of(choice), rows[i].chosen);
    }
    CHECK_TEXT(name_of(choose("blur=2", &gpu, NULL, refuse)), "generic");
    CHECK_TEXT(name_of(choose("blur=2", &cpu, "window", refuse)), "generic");
}

static void test_text(void)
{
    static const char *const wrong[] = {"",
                                        "wind",
                                        "windows",
                                        "window:",
                                        "window:ROWS",
                                        "window:ROWS=5",
                                        "window:ROW=4",
                                        "generic:ROWS=4",
                                        "window:ROWS=8junk",
                                        "window:ROWS= 8",
                                        "window:ROWS=4294967304",
                                        "window:ROWS=8:"};
    struct variant_choice choice;
    char text[VARIANT_TEXT];
    CHECK(variant_parse(&choice, "window:ROWS=8:GROUP_HEIGHT=2"));
    variant_print(&choice, text);
    CHECK_TEXT(text, "window:ROWS=8:GROUP_HEIGHT=2");
    choice = choose("blur=2", &gpu, text, NULL);
    variant_print(&choice, text);
    CHECK_TEXT(text, "window:ROWS=8:GROUP_WIDTH=32:GROUP_HEIGHT=2:TILE=1:CONSTANT=1"); // the rest by default
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        check_that(&unit, !variant_parse(&choice, wrong[i]), "'%s' is parsed", wrong[i]);
}

// The table of variants has the choices of the entries that ship with the program.
static void test_shipped(void)
{
    struct tuned_list list = {0};
    struct variant_choice choice;
    tuned_level_read(TUNED_SHIPPED, &list);
    CHECK(list.count > 0);
    for (size_t i = 0; i < list.count; i++)
        check_that(&unit, variant_parse(&choice, list.entry[i]->choice), "there is no '%s'", list.entry[i]->choice);
    tuned_list_free(&list);
}

// Checks that launches have whole work-groups of at most `most` work-items. Several launches share the pixels, and
// those of kernel 0 stay inside the columns that have all neighbours.
static void check_launches(const struct variant_choice *choice, const struct variant_pass *of, size_t width,
                           size_t height, size_t most)
{
    struct variant_launch launches[VARIANT_LAUNCHES];
    char text[VARIANT_TEXT];
    variant_print(choice, text);
    const int count = choice->variant->launches(of, choice->value, width, height, most, launches);
    const size_t radius = of->pass->stencil ? (size_t)of->pass->stencil->arguments.radius : 0;
    size_t pixels = 0;
    CHECK(count <= VARIANT_LAUNCHES);
    for (int i = 0; i < count; i++) {
        const struct variant_launch *l = &launches[i];
        for (int k = 0; k < 2; k++)
            check_that(&unit, l->local[k] > 0 && l->size[k] > 0 && l->size[k] % l->local[k] == 0,
                       "%s, %zux%zu: %zu work-items in groups of %zu", text, width, height, l->size[k], l->local[k]);
        check_that(&unit, l->local[0] * l->local[1] <= most || strcmp(choice->variant->name, "sums") == 0,
                   "%s: a group of %zux%zu", text, l->local[0], l->local[1]);
        const size_t right = l->offset[0] + l->size[0], rows = l->kernel == 0 ? (size_t)choice->value[1] : 1;
        const size_t bottom = l->offset[1] + l->size[1] * rows;
        if (count > 1 && l->kernel == 0)
            check_that(&unit, l->offset[0] >= radius && right + radius <= width && bottom <= height,
                       "%s, %zux%zu: columns to %zu, rows to %zu", text, width, height, right, bottom);
        pixels +=
            ((right < width ? right : width) - l->offset[0]) * ((bottom < height ? bottom : height) - l->offset[1]);
    }
    if (count > 1)
        check_that(&unit, pixels == width * height, "%s, %zux%zu: %zu pixels", text, width, height, pixels);
}

static void test_launches(const struct variant *variant, const struct variant_pass *of)
{
    static const size_t sizes[][2] = {{1, 1}, {2, 9}, {8, 3}, {31, 31}, {256, 7}, {1927, 1083}};
    const struct variant_choice preset = variant_preset(variant, of);
    if (!variant->fits(of))
        return;
    for (int i = 0; variant->param[i].name; i++)
        for (int k = 0; k < VARIANT_VALUES && variant->param[i].values[k] != 0; k++) {
            struct variant_choice choice = preset;
            choice.value[i] = variant->param[i].values[k];
            for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes) && variant_fits(&choice, of); s++)
                for (size_t most = 1; most <= 1024; most *= 4)
                    check_launches(&choice, of, sizes[s][0], sizes[s][1], most);
        }
}

static void test_filters(void)
{
    static struct plan plan;
    const struct pass_target target = {.format = PIXFMT_NV21};
    char error[CHAIN_ERROR];
    for (int i = 0; filters[i]; i++) {
        struct chain chain;
        CHECK(chain_parse(&chain, filters[i]->example, error));
        plan_make(&plan, &chain, 64, 48, true);
        const struct device_info *const devices[] = {&gpu, &cpu};
        for (int d = 0; d < 2; d++)
            for (int v = 0; variants[v]; v++)
                test_launches(variants[v], &(struct variant_pass){&plan.pass[0], &target, devices[d]});
    }
}

int main(int argc, char **argv)
{
    for (int i = 0; variants[i]; i++) {
        bool tested = variants[i]->devices & DEVICE_CPU && variants[i + 1];
        for (int k = 1; k < argc; k++)
            tested = tested || strcmp(argv[k], variants[i]->name) == 0;
        check_that(&unit, tested, "no test of paths runs variant %s", variants[i]->name);
    }
    test_choice();
    test_text();
    test_shipped();
    test_filters();
    return check_end(&unit);
}
