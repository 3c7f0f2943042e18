// test_effects.c: medians by value, and shares of parameters in times that are products of known factors
#include "tune/study/explain.h"

#include "unit.h"

#include <math.h>

enum { AS = 3, BS = 4, COUNT = AS * BS };

// All combinations of two parameters.
static void make_space(struct space *space)
{
    char text[8];
    space_init(space);
    for (int p = 0; p < 2; p++) {
        CHECK(space_add_param(space, p == 0 ? "A" : "B") == p);
        for (int v = 0; v < (p == 0 ? AS : BS); v++) {
            snprintf(text, sizeof(text), "%d", v);
            CHECK(space_add_value(space, p, text) == v);
        }
    }
    for (int c = 0; c < COUNT; c++)
        CHECK(space_add(space, (const uint16_t[]){(uint16_t)(c / BS), (uint16_t)(c % BS)}));
    space_sort(space);
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

// log(time) is 2a + b: the variances are 4 * 2/3 and 15/12, so a explains 32/47 of it.
static void test_product(void)
{
    struct space space;
    double ms[COUNT];
    make_space(&space);
    for (int c = 0; c < COUNT; c++)
        ms[c] = exp(2 * (c / BS) + c % BS);
    CHECK(near(effect_share(&space, ms, 0, -1), 32.0 / 47));
    CHECK(near(effect_share(&space, ms, 1, -1), 15.0 / 47));
    CHECK(near(effect_share(&space, ms, 0, 1), 1));
    space_finish(&space);
}

// The time depends on whether both are even or both odd: neither explains anything by itself.
static void test_pair(void)
{
    struct space space;
    double ms[COUNT];
    make_space(&space);
    for (int c = 0; c < COUNT; c++)
        ms[c] = (c / BS + c % BS) % 2 == 0 ? 1 : 2;
    CHECK(near(effect_share(&space, ms, 0, -1), 0));
    CHECK(near(effect_share(&space, ms, 0, 1), 1));
    for (int c = 0; c < COUNT; c++)
        ms[c] = 3;
    CHECK(isnan(effect_share(&space, ms, 0, 1)));
    space_finish(&space);
}

static void test_values(void)
{
    struct space space;
    struct effect_group group;
    double ms[COUNT] = {4, 1, INFINITY, 3, 5, 6, 7, 9, 0, INFINITY, 0, INFINITY}; // of A = 0, 1, 2
    make_space(&space);
    CHECK(effect_of_value(&space, ms, 0, 0, &group));
    CHECK(group.count == 3 && near(group.median_ms, 3) && near(group.best_ms, 1));
    CHECK(effect_of_value(&space, ms, 0, 1, &group));
    CHECK(group.count == 4 && near(group.median_ms, 6.5) && near(group.best_ms, 5));
    CHECK(effect_of_value(&space, ms, 0, 2, &group));
    CHECK(group.count == 0);
    CHECK(effect_of_value(&space, ms, 1, 0, &group));
    CHECK(group.count == 2 && near(group.median_ms, 4.5) && near(group.best_ms, 4));
    space_finish(&space);
}

int main(void)
{
    test_product();
    test_pair();
    test_values();
    return check_end(&unit);
}
