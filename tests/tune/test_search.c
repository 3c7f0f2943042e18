// test_search.c: spaces; both searches: each configuration once, same seed, requests ahead, failures
#include "tune/search.h"

#include "unit.h"

#include <math.h>

enum { WIDTHS = 8, HEIGHTS = 6, ROWS = 3, TILES = 2, MOST = WIDTHS * HEIGHTS * ROWS * TILES };

// Makes a space of four parameters, with a limit of the work-group's
// size.
static void make_space(struct space *space)
{
    static const struct {
        const char *name;
        int values;
    } params[] = {{"ROWS", ROWS}, {"WIDTH", WIDTHS}, {"HEIGHT", HEIGHTS}, {"TILE", TILES}};
    *space = (struct space){0};
    for (int p = 0; p < 4; p++) {
        CHECK(space_add_param(space, params[p].name) == p);
        for (int v = 0; v < params[p].values; v++)
            CHECK(space_add_value(space, p, value_of_integer(1 << v)) == v);
    }
    for (int i = 2 * MOST; i-- > 0;) { // each twice, and backwards
        const int c = i % MOST;
        const uint16_t tuple[] = {(uint16_t)(c % ROWS), (uint16_t)(c / ROWS % WIDTHS),
                                  (uint16_t)(c / ROWS / WIDTHS % HEIGHTS), (uint16_t)(c / ROWS / WIDTHS / HEIGHTS)};
        if (tuple[1] + tuple[2] <= 9)
            space_add(space, tuple);
    }
    space_sort(space);
}

// The fastest one has ROWS=4, WIDTH=32, HEIGHT=4, TILE=2; some fail.
static double time_of(const struct space *space, int configuration)
{
    const uint16_t *v = space_tuple(space, configuration);
    if (v[3] == 1 && v[0] + v[1] + v[2] > 11)
        return INFINITY;
    return 1 + 0.3 * abs(v[0] - 2) + 0.2 * abs(v[1] - 5) + 0.25 * abs(v[2] - 2) + (v[3] ? 0 : 0.4 + 0.1 * v[0]);
}

static void test_space(void)
{
    struct space space;
    make_space(&space);
    CHECK_NUMBER(space.count, (WIDTHS * HEIGHTS - 6) * ROWS * TILES);
    for (int c = 0; c < space.count; c++)
        CHECK_NUMBER(space_find(&space, space_tuple(&space, c)), c);
    const uint16_t not_allowed[] = {0, 7, 5, 0}, corner[] = {0, 7, 2, 0};
    CHECK_NUMBER(space_find(&space, not_allowed), -1);
    const int at = space_find(&space, corner);
    char text[SPACE_TEXT];
    space_print(&space, at, text);
    CHECK_TEXT(text, "ROWS=1,WIDTH=128,HEIGHT=4,TILE=1");
    int near[64];
    const int any = space_neighbours(&space, at, near, 64);
    CHECK_NUMBER(any, 2 + 7 + 2 + 1); // HEIGHT: only 1 and 2 are allowed
    CHECK_NUMBER(space_neighbours(&space, at, near, 5), 5);
    CHECK_NUMBER(space_find_param(&space, "HEIGHT"), 2);
    CHECK_NUMBER(space_find_param(&space, "height"), -1);
    CHECK_NUMBER(space_find_value(&space, 1, value_of_real(16)), 4);
    space_finish(&space);
    CHECK_NUMBER(space.count, 0);
}

static const char *printed(struct value value)
{
    static char text[VALUE_TEXT_MAX];
    value_print(&value, text, sizeof(text));
    return text;
}

// A text is a number only if the number is printed in the same way.
static void test_texts(void)
{
    static const struct {
        const char *text;
        enum value_kind kind;
    } texts[] = {{"16", VALUE_INTEGER},
                 {"-3", VALUE_INTEGER},
                 {"0.5", VALUE_REAL},
                 {"2.0", VALUE_REAL},
                 {"007", VALUE_TEXT},
                 {"1.50", VALUE_TEXT},
                 {"", VALUE_TEXT},
                 {"-", VALUE_TEXT},
                 {"nan", VALUE_TEXT},
                 {"float4", VALUE_TEXT},
                 {"99999999999999999999", VALUE_TEXT}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        CHECK_NUMBER(value_of_text(texts[i].text).kind, texts[i].kind);
        CHECK_TEXT(printed(value_of_text(texts[i].text)), texts[i].text);
    }
    CHECK_TEXT(printed(value_of_real(1.0 / 3)), "0.33333333333333331");
    CHECK_TEXT(printed(value_of_real(3)), "3.0");
    CHECK(value_of_real(INFINITY).kind == VALUE_NONE);
}

// A neighbour may be some values away. Values are sorted as numbers, or not at all.
static void test_values(void)
{
    struct space space;
    const struct value numbers[] = {
        value_of_integer(16), {.kind = VALUE_NONE}, value_of_integer(2), value_of_real(0.5), value_of_integer(100)};
    const char *const words[] = {"none", "all", "1"};
    space = (struct space){0};
    space_add_param(&space, "number");
    space_add_param(&space, "word");
    for (int i = 0; i < 5; i++)
        space_add_value(&space, 0, numbers[i]);
    for (int i = 0; i < 3; i++)
        space_add_value(&space, 1, value_of_text(words[i]));
    CHECK_NUMBER(space_find_value(&space, 0, value_of_real(2)), 2);
    space_sort_values(&space, 0);
    space_sort_values(&space, 1);
    CHECK_TEXT(printed(space.param[0].value[0]), "0.5");
    CHECK_TEXT(printed(space.param[0].value[3]), "100");
    CHECK_TEXT(printed(space.param[0].value[4]), "-");
    CHECK_TEXT(printed(space.param[1].value[0]), "none");
    const uint16_t tuples[][2] = {{3, 0}, {0, 0}, {0, 2}};
    for (int i = 0; i < 3; i++)
        space_add(&space, tuples[i]);
    space_sort(&space);
    int near[8];
    CHECK_NUMBER(space_neighbours(&space, space_find(&space, tuples[1]), near, 8), 2);
    for (int p = 2; p < SPACE_PARAMS; p++)
        CHECK(space_add_param(&space, "more") == p);
    CHECK(space_add_param(&space, "too many") == -1);
    space_finish(&space);
}

// Runs a search that requests `ahead` configurations before the first result. Writes them in order. Returns their
// number.
static int run(bool random, const struct space *space, int budget, uint64_t seed, int ahead, int *asked)
{
    bool seen[MOST] = {false};
    int count = 0, told = 0;
    double best = INFINITY, ms = INFINITY;
    struct search *search = search_open(space, random, seed, NULL, 0);
    CHECK(search && search_best(search, NULL) == -1);
    while (search && count < budget) {
        const int next = search_next(search);
        if (next < 0)
            break;
        if (!check_that(&unit, next < space->count && !seen[next], "random %d: %d is out of range, or twice", random,
                        next))
            break;
        seen[next] = true;
        asked[count++] = next;
        for (; told < count && count - told >= ahead; told++) {
            best = fmin(best, time_of(space, asked[told]));
            search_tell(search, asked[told], time_of(space, asked[told]));
        }
    }
    CHECK(isinf(best) ? search_best(search, &ms) == -1 : search_best(search, &ms) >= 0 && ms == best);
    search_close(search);
    return count;
}

static void test_search(bool random)
{
    struct space space;
    int first[MOST], again[MOST];
    make_space(&space);
    const int count = run(random, &space, MOST, 1, 1, first);
    check_that(&unit, count == space.count, "random %d: %d of %d configurations", random, count, space.count);
    CHECK(run(random, &space, MOST, 1, 7, again) == space.count);
    CHECK(run(random, &space, 60, 5, 1, first) == 60);
    CHECK(run(random, &space, 60, 5, 1, again) == 60);
    check_that(&unit, memcmp(first, again, 60 * sizeof(int)) == 0, "random %d: differs for the same seed", random);
    CHECK(run(random, &space, 60, 6, 1, again) == 60);
    check_that(&unit, memcmp(first, again, 60 * sizeof(int)) != 0, "random %d: is the same for another seed", random);
    space_finish(&space);
}

// `auto` finds a configuration near the optimum sooner than `random` (median after 60 of 252: about 1.2 times the
// optimum).
static void test_finds(void)
{
    struct space space;
    double sum = 0;
    int asked[MOST];
    make_space(&space);
    for (uint64_t seed = 1; seed <= 10; seed++) {
        double best = INFINITY;
        for (int i = 0, count = run(false, &space, 60, seed, 1, asked); i < count; i++)
            best = fmin(best, time_of(&space, asked[i]));
        sum += best / 10;
    }
    check_that(&unit, sum < 1.1, "the mean of the best times is %g", sum);
    space_finish(&space);
}

// `auto` learns what two parameters do together from configurations that differ in the others. The ten parameters are
// five pairs. Each pair adds 1 ms, except at one of its nine combinations of values. A model of a single distance over
// all parameters reaches a mean of 3.2 ms after 40 configurations, a product without constants 2.9 ms.
static void test_pairs(void)
{
    enum { PARAMS = 10, VALUES = 3, CONFIGURATIONS = 59049, SEEDS = 10 };
    struct space space;
    uint16_t tuple[PARAMS];
    double best, sum = 0;
    space = (struct space){0};
    for (int p = 0; p < PARAMS; p++) {
        space_add_param(&space, (char[]){(char)('A' + p), '\0'});
        for (int v = 0; v < VALUES; v++)
            space_add_value(&space, p, value_of_integer(v));
    }
    for (int c = 0; c < CONFIGURATIONS; c++) {
        for (int p = 0, rest = c; p < PARAMS; p++, rest /= VALUES)
            tuple[p] = (uint16_t)(rest % VALUES);
        space_add(&space, tuple);
    }
    space_sort(&space);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct search *search = search_open(&space, false, seed, NULL, 0);
        for (int i = 0; i < 40; i++) {
            const int next = search_next(search);
            const uint16_t *v = space_tuple(&space, next);
            double ms = 1;
            for (int p = 0; p < PARAMS; p += 2)
                ms += v[p] != p / 2 % VALUES || v[p + 1] != (p / 2 + 1) % VALUES;
            search_tell(search, next, ms);
        }
        search_best(search, &best);
        sum += best / SEEDS;
        search_close(search);
    }
    check_that(&unit, sum < 2.8, "the mean of the best times is %g", sum);
    space_finish(&space);
}

// The configurations in `first` are tried first, in order and once.
static void test_first(bool random)
{
    struct space space;
    make_space(&space);
    const int first[] = {17, 200, 17, 4};
    struct search *search = search_open(&space, random, 3, first, 4);
    CHECK(search_next(search) == 17);
    search_tell(search, 17, time_of(&space, 17));
    CHECK(search_next(search) == 200);
    CHECK(search_next(search) == 4);
    const int next = search_next(search);
    CHECK(next >= 0 && next != 17 && next != 200 && next != 4);
    search_close(search);
    search_close(NULL);
    space_finish(&space);
}

// Spaces where all configurations fail, with one configuration, and with none.
static void test_extremes(bool random)
{
    struct space space;
    make_space(&space);
    struct search *search = search_open(&space, random, 3, NULL, 0);
    int count = 0;
    for (int next; (next = search_next(search)) >= 0; count++)
        search_tell(search, next, INFINITY);
    CHECK_NUMBER(count, space.count);
    CHECK_NUMBER(search_best(search, NULL), -1);
    search_close(search);
    for (space.count = 1; space.count >= 0; space.count--) {
        search = search_open(&space, random, 3, NULL, 0);
        CHECK(search_next(search) == space.count - 1);
        if (space.count == 1)
            search_tell(search, 0, 2.5);
        CHECK(search_next(search) == -1);
        CHECK_NUMBER(search_best(search, NULL), space.count - 1);
        search_close(search);
    }
    space_finish(&space);
}

int main(void)
{
    test_space();
    test_texts();
    test_values();
    for (int random = 0; random <= 1; random++) {
        test_search(random);
        test_first(random);
        test_extremes(random);
    }
    test_finds();
    test_pairs();
    return check_end(&unit);
}
