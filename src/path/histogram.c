// histogram.c: histograms of pictures in the host's memory
#include "path/histogram.h"

#include "filter/rows.h"

#include <string.h>

// Neighbouring pixels are often equal. With a single counter, each addition would wait for the one before.
enum { COPIES = 4 };
// Spans of a tile's rows or columns: one inside the picture, and one for each row or column beyond it. A tile has at
// most COUNTED_TILES rows or columns beyond the picture.
enum { SPANS = 1 + COUNTED_TILES };
enum { LUMA = -1 };

struct places {
    int first, end;
};

static void count_row(const uint8_t *at, int shift, int width, uint32_t copies[COPIES][FILTER_LEVELS])
{
    int x = 0;
    for (; x + COPIES <= width; x += COPIES) {
        uint64_t pairs[COPIES / 2]; // of pixels: fewer loads are faster
        memcpy(pairs, at + 4 * (size_t)x, sizeof(pairs));
        for (int i = 0; i < COPIES / 2; i++) {
            copies[2 * i][pairs[i] >> shift & 255]++;
            copies[2 * i + 1][pairs[i] >> (32 + shift) & 255]++;
        }
    }
    for (; x < width; x++)
        copies[0][at[4 * (size_t)x + (size_t)shift / 8]]++;
}

static void count_pixels(const struct histogram_rows *rows, struct places down, struct places across, int channel,
                         uint32_t counts[FILTER_LEVELS])
{
    const int width = across.end - across.first;
    const struct filter_arguments arguments = {0}; // the mode luma
    const struct row_variant *luma = row_variant_choose(filter_find("gray"), &arguments, width, 4, NULL);
    uint32_t copies[COPIES][FILTER_LEVELS] = {0};
    for (int y = down.first; y < down.end; y++) {
        const uint8_t *at = image_row(rows->rgba, 0, y - rows->top) + 4 * (size_t)across.first;
        if (channel == LUMA && !rows->grey) {
            luma->point(&arguments, at, rows->scratch, width, false);
            at = rows->scratch;
        }
        count_row(at, channel == LUMA || rows->grey ? 0 : 8 * channel, width, copies);
    }
    for (int i = 0; i < FILTER_LEVELS; i++)
        counts[i] += copies[0][i] + copies[1][i] + copies[2][i] + copies[3][i];
}

// Writes the rows or columns of the picture that a tile counts. The tile has `count` of them from `first` on; the
// picture has `all`. Leaves out the rows or columns that are not `within`. Returns the number of spans.
static int find_spans(int first, int count, int all, struct places within, struct places spans[SPANS])
{
    const int end = first + count, last = end < all ? end : all;
    int found = 0;
    spans[0] = (struct places){first > within.first ? first : within.first, last < within.end ? last : within.end};
    found += spans[0].first < spans[0].end;
    for (int at = first > all ? first : all; at < end; at++) {
        const int place = counted_mirrored(at, all);
        if (place >= within.first && place < within.end)
            spans[found++] = (struct places){place, place + 1};
    }
    return found;
}

void histogram_add(const struct counted *counted, const struct histogram_rows *rows, uint32_t (*counts)[FILTER_LEVELS])
{
    const int width = rows->rgba->shape.width;
    for (int part = 0; part < counted->parts; part++) {
        const int tile = counted->colors ? 0 : part, channel = counted->colors ? part : LUMA;
        struct places across[SPANS], down[SPANS];
        const int columns = find_spans(tile % counted->tiles * counted->width, counted->width, width,
                                       (struct places){0, width}, across);
        const int lines = find_spans(tile / counted->tiles * counted->height, counted->height, rows->height,
                                     (struct places){rows->first, rows->end}, down);
        for (int i = 0; i < lines * columns; i++)
            count_pixels(rows, down[i / columns], across[i % columns], channel, counts[part]);
    }
}
