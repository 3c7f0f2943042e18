// test_otsu.c: the level of Otsu's method against the reference, for histograms of pictures of any size
#include "check.h"
#include "filter/filter.h"
#include "pictures.h"

// Fills a histogram of about 2^29 pixels or fewer. Few levels, equal counts and mirrored counts give equal variances.
static void fill(struct random *random, uint32_t histogram[FILTER_LEVELS])
{
    const int kind = random_range(random, 0, 3), levels = random_range(random, 1, kind == 0 ? 4 : 256);
    const uint32_t most = (1u << 28 >> random_range(random, 0, 29)) / (uint32_t)levels;
    for (int i = 0; i < FILTER_LEVELS; i++)
        histogram[i] = 0;
    for (int i = 0; i < levels; i++) {
        const int at = random_range(random, 0, 255);
        histogram[at] = kind == 1 ? most : random_bits(random) % (most + 1);
        if (kind == 2 && histogram[255 - at] == 0)
            histogram[255 - at] = histogram[at];
    }
    histogram[random_range(random, 0, 255)] |= 1;
}

int main(void)
{
    enum { ROUNDS = 3000 };
    struct check check = {.name = "test_otsu"};
    struct random random = {.state = 1};
    const struct filter *otsu = filter_find("otsu");
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t histogram[FILTER_LEVELS];
        uint64_t wide[FILTER_LEVELS], pixels = 0;
        int32_t level = -1;
        fill(&random, histogram);
        for (int i = 0; i < FILTER_LEVELS; i++)
            pixels += wide[i] = histogram[i];
        otsu->measured->measure(histogram, &level);
        const int expected = reference_otsu(wide) + 1;
        check_that(&check, level == expected, "round %d, %llu pixels: level %d, expected %d", round,
                   (unsigned long long)pixels, level, expected);
    }
    return check_end(&check);
}
