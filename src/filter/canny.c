// canny.c: thin edges: J. Canny, "A computational approach to edge detection" (IEEE PAMI 8, 1986)
#include "filter/filter.h"

enum { CANNY_LOW, CANNY_HIGH };
enum { LINKS = 4 }; // passes that link weak edges, each by up to two steps

static const struct param params[] = {
    {"low", PARAM_INT, .max = 1020, .preset = 40, .step = 10, .help = "gradient of weak edges, which link strong ones"},
    {"high", PARAM_INT, .max = 1020, .preset = 100, .step = 10, .help = "gradient of strong edges; at least `low`"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    *why = "low must not be above high";
    return values->value[CANNY_LOW] <= values->value[CANNY_HIGH];
}

static bool prepare_edges(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->value[0] = (int)values->value[CANNY_LOW];
    arguments->value[1] = (int)values->value[CANNY_HIGH];
    arguments->count = 2;
    arguments->loops = true;
    return true;
}

static bool prepare_links(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->value[0] = (int)values->value[0];
    arguments->count = 1;
    arguments->loops = true;
    return true;
}

extern const struct filter filter_canny, filter_canny_edges, filter_canny_links, filter_gray, filter_gaussian;
const struct filter filter_canny_edges = {
    .name = "canny_edges", .kind = FILTER_STENCIL, .radius = 2, .prepare = prepare_edges};
const struct filter filter_canny_links = {
    .name = "canny_links", .kind = FILTER_STENCIL, .radius = 2, .prepare = prepare_links};

static int steps(const struct filter_values *values, struct filter_step steps[FILTER_STEPS])
{
    steps[0] = (struct filter_step){.filter = &filter_gray};
    steps[1] = (struct filter_step){&filter_gaussian, {1.4f}};
    steps[2] = (struct filter_step){&filter_canny_edges, {values->value[CANNY_LOW], values->value[CANNY_HIGH]}};
    for (int i = 0; i < LINKS; i++)
        steps[3 + i] = (struct filter_step){&filter_canny_links, {i == LINKS - 1}};
    return 3 + LINKS;
}

const struct filter filter_canny = {
    .name = "canny",
    .summary = "thin edges, linked by weaker ones",
    .example = "canny=40:100",
    .kind = FILTER_SEVERAL,
    .color = FILTER_MAKES_GREY,
    .params = params,
    .prepare = prepare,
    .steps = steps,
};
