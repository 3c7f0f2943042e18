// overlap.c: see overlap.h
#include "lane/overlap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1640, HEIGHT = 590, LINE_WIDTH = 30, UNIT = 16 }; // UNIT: of a pixel, in the coordinates of points
enum { WORDS = (WIDTH + 63) / 64 };

struct point {
    int64_t x, y;
};

// The pixels of one line.
struct mask {
    int64_t area;
    uint64_t bits[HEIGHT][WORDS];
};

static int64_t limit(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

// Returns true if the point is at most half a line's width from the segment.
static bool is_near(struct point p, struct point a, struct point b)
{
    const int64_t most = (int64_t)(LINE_WIDTH * UNIT / 2) * (LINE_WIDTH * UNIT / 2);
    const struct point along = {b.x - a.x, b.y - a.y}, from = {p.x - a.x, p.y - a.y};
    const int64_t length = along.x * along.x + along.y * along.y;
    const int64_t at = from.x * along.x + from.y * along.y, off = from.x * along.y - from.y * along.x;
    if (at <= 0)
        return from.x * from.x + from.y * from.y <= most;
    if (at >= length)
        return (p.x - b.x) * (p.x - b.x) + (p.y - b.y) * (p.y - b.y) <= most;
    return off * off <= most * length;
}

static void draw_segment(struct mask *mask, struct point a, struct point b)
{
    const int64_t reach = LINE_WIDTH * UNIT / 2;
    const int64_t x0 = limit(((a.x < b.x ? a.x : b.x) - reach) / UNIT, 0, WIDTH - 1);
    const int64_t x1 = limit(((a.x > b.x ? a.x : b.x) + reach) / UNIT, 0, WIDTH - 1);
    const int64_t y0 = limit(((a.y < b.y ? a.y : b.y) - reach) / UNIT, 0, HEIGHT - 1);
    const int64_t y1 = limit(((a.y > b.y ? a.y : b.y) + reach) / UNIT, 0, HEIGHT - 1);
    for (int64_t y = y0; y <= y1; y++) {
        for (int64_t x = x0; x <= x1; x++) {
            if (is_near((struct point){x * UNIT, y * UNIT}, a, b))
                mask->bits[y][x / 64] |= (uint64_t)1 << (x % 64);
        }
    }
}

static void draw_lane(struct mask *mask, const struct lines_frame *frame, const int *rows, int lane, int width,
                      int height)
{
    const double *x = frame->x + (size_t)lane * (size_t)frame->rows;
    struct point last = {0, 0};
    bool any = false;
    memset(mask, 0, sizeof(*mask));
    for (int i = 0; i < frame->rows; i++) {
        if (x[i] < 0)
            continue;
        // The limits keep the products of is_near below 2^63. Points so far outside draw nothing in the picture.
        const struct point point = {limit((int64_t)(x[i] * WIDTH * UNIT / width + 0.5), 0, 2 * WIDTH * UNIT),
                                    limit((int64_t)rows[i] * HEIGHT * UNIT / height, 0, 2 * HEIGHT * UNIT)};
        draw_segment(mask, any ? last : point, point);
        last = point;
        any = true;
    }
    for (int y = 0; y < HEIGHT; y++) {
        for (int i = 0; i < WORDS; i++)
            mask->area += __builtin_popcountll(mask->bits[y][i]);
    }
}

static bool masks_match(const struct mask *a, const struct mask *b)
{
    int64_t shared = 0;
    for (int y = 0; y < HEIGHT; y++) {
        for (int i = 0; i < WORDS; i++)
            shared += __builtin_popcountll(a->bits[y][i] & b->bits[y][i]);
    }
    return shared > 0 && 2 * shared >= a->area + b->area - shared;
}

// The pairs of lines that match, and the chosen pairs.
struct pairs {
    bool match[LINES_LANES][LINES_LANES]; // truth line, found line
    int chosen[LINES_LANES];              // truth line of a found line; -1: none
    bool tried[LINES_LANES];              // found lines
    int found;
};

// Finds a found line for a truth line. Moves other truth lines to other found lines if that helps.
static bool choose(struct pairs *pairs, int truth)
{
    for (int i = 0; i < pairs->found; i++) {
        if (!pairs->match[truth][i] || pairs->tried[i])
            continue;
        pairs->tried[i] = true;
        if (pairs->chosen[i] < 0 || choose(pairs, pairs->chosen[i])) {
            pairs->chosen[i] = truth;
            return true;
        }
    }
    return false;
}

int overlap_matches(const struct lines_frame *truth, const struct lines_frame *found, int width, int height)
{
    struct mask *masks = calloc((size_t)found->lanes + 1, sizeof(*masks)), *mask = &masks[found->lanes];
    struct pairs pairs = {.found = found->lanes};
    int matches = 0;
    if (!masks)
        return -1;
    for (int f = 0; f < found->lanes; f++) {
        draw_lane(&masks[f], found, truth->y, f, width, height);
        pairs.chosen[f] = -1;
    }
    for (int t = 0; t < truth->lanes; t++) {
        draw_lane(mask, truth, truth->y, t, width, height);
        for (int f = 0; f < found->lanes; f++)
            pairs.match[t][f] = masks_match(mask, &masks[f]);
    }
    for (int t = 0; t < truth->lanes; t++) {
        memset(pairs.tried, 0, sizeof(pairs.tried));
        matches += choose(&pairs, t);
    }
    free(masks);
    return matches;
}
