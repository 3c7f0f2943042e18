// cpu_rows.c: passes of the cpu path over a band of rows
#include "path/cpu_rows.h"

#include "base/avx2.h"
#include "filter/rows.h"
#include "image/rgb_rows.h"
#include "path/cpu_ends.h"
#include "path/cpu_input.h"
#include "path/cpu_lines.h"

#include <string.h>

// One pass at work on a band. From `lines` on all of it is for a stencil.
struct maker {
    const struct pass *pass;
    int pixel_bytes; // of its input: 4 in RGBA, 1 in grey
    uint8_t *lines;  // the last few rows of its input, used in turns
    uint8_t *own;    // what the filter keeps from row to row
    int loaded;      // the next row of its input to be brought there
    bool begun;      // it has made a row
    uint8_t *spare;  // room for rows that a filter makes along with the first, where they cannot be made in their place
    uint8_t *ahead[STENCIL_ROWS]; // where the rows are that it made at a time, the first included
    int taken;                    // how many of them have been asked for
};

// Rows first..end-1 of a run's output, and what they are made in.
struct band {
    const struct cpu_run *run;
    int first, end;
    int row;              // the row of output that is being made
    uint8_t *pair;        // two rows of output, where the run has no output picture
    uint8_t *rgba;        // a row in RGBA that will go on as grey
    uint8_t *grey;        // a row that was made in grey and will go on as RGBA
    bool in_place;        // the first stencil reads the picture's own rows
    struct cpu_ends ends; // then: their ends, unless the filter never reads beyond them
    struct maker maker[CHAIN_MAX];
};

// Of a pass's input. A stencil that sees nothing but grey may take it in one byte; alpha is put back behind it.
static int pixel_bytes(const struct pass *pass)
{
    return pass->grey && pass->stencil && pass->stencil->filter->grey_rows ? 1 : 4;
}

// Whether a run's first stencil sees the picture's own rows.
static bool sees_picture(const struct cpu_run *run)
{
    const struct pass *pass = run->passes;
    return pass->stencil && pixel_bytes(pass) == 4 && run->from->shape.format == PIXFMT_RGBA &&
           pass->before_count == 0 && !pass->load_mirror;
}

static int clamp_row(int y, int height)
{
    return y < 0 ? 0 : y >= height ? height - 1 : y;
}

static void make_row(struct band *band, int number, int y, uint8_t *to);

// Brings row `y` of a pass's input to `to`. All but the first pass begin with their stencils.
static void load_row(struct band *band, int number, int y, uint8_t *to)
{
    if (number > 0)
        make_row(band, number - 1, y, to);
    else if (band->maker[0].pixel_bytes == 1)
        cpu_input_load_grey(band->run, y, band->rgba, to);
    else
        cpu_input_load(band->run, y, to);
}

// The first pixel of a line; ahead of it is room for the edge pixels that are repeated.
static uint8_t *line_of(const struct band *band, const struct maker *maker, int place)
{
    const int radius = maker->pass->stencil->arguments.radius;
    return maker->lines + line_bytes(band->run->from->shape.width, radius) * (size_t)place +
           maker->pixel_bytes * radius;
}

// Loads a row with its edge pixels repeated on both sides.
static void load_padded_row(struct band *band, int number, int y, uint8_t *to, int radius)
{
    const size_t bytes = (size_t)band->maker[number].pixel_bytes;
    uint8_t *last = to + bytes * (size_t)(band->run->from->shape.width - 1);
    load_row(band, number, y, to);
    for (int i = 1; i <= radius; i++) {
        memcpy(to - bytes * (size_t)i, to, bytes);
        memcpy(last + bytes * (size_t)i, last, bytes);
    }
}

// Decides whether the run's first stencil reads the picture's own rows. `scratch` has cpu_ends_bytes().
static void begin_in_place(struct band *band, uint8_t *scratch)
{
    const struct cpu_run *run = band->run;
    const struct stage *stencil = run->passes->stencil;
    const int width = run->from->shape.width;
    if (!sees_picture(run))
        return;
    const bool bare = stencil->filter->bare_rows && stencil->filter->bare_rows(&stencil->arguments);
    band->in_place = bare || cpu_ends_fit(stencil, width);
    if (band->in_place && !bare)
        cpu_ends_begin(&band->ends, stencil, width, scratch);
}

static bool has_ends(const struct band *band, int number)
{
    return number == 0 && band->ends.stencil;
}

// Whether a pass reads row `y` of its input in the picture itself. A filter that reads beyond a row's ends, which are
// mended afterwards, must not do so at the picture's first row and last: there is no memory beyond them.
static bool stays_in_place(const struct band *band, int number, int y)
{
    return number == 0 && band->in_place &&
           (!has_ends(band, number) || (y > 0 && y < band->run->from->shape.height - 1));
}

// Makes row `y` of a stencil's input ready to be read: among the lines, unless it is read in the picture itself.
static void take_row(struct band *band, int number, int y)
{
    struct maker *maker = &band->maker[number];
    const struct stage *stencil = maker->pass->stencil;
    const int radius = stencil->arguments.radius, place = y % ring_lines(stencil);
    if (has_ends(band, number))
        cpu_ends_take(&band->ends, cpu_input_row(band->run, y), place);
    if (!stays_in_place(band, number, y))
        load_padded_row(band, number, y, line_of(band, maker, place), radius);
}

static bool run_flips(const struct cpu_run *run)
{
    return run->passes[run->count - 1].store_flip;
}

// Which row of the output row `y` becomes.
static int output_row(const struct cpu_run *run, int y)
{
    return run_flips(run) ? run->from->shape.height - 1 - y : y;
}

static uint8_t *output_at(const struct band *band, int row)
{
    const struct image *to = band->run->to;
    return to->plane[0] ? to->plane[0] + (size_t)row * to->stride[0]
                        : band->pair + line_bytes(to->shape.width, 0) * (size_t)(row % 2);
}

// Where the row of output goes that is made so many rows after this one; at the band's end, the last one.
static uint8_t *output_later(const struct band *band, int further)
{
    const int y = band->row + further;
    return output_at(band, output_row(band->run, y < band->end ? y : band->end - 1));
}

// What a pass that makes row `to` may ask for: of the run's first pass the picture's next rows, where they are RGBA,
// and the run's next rows of output. What other passes read and write is in cache.
static struct next_rows next_rows(const struct band *band, int number, const uint8_t *to)
{
    const int more = band->maker[number].pass->stencil->filter->more_rows, behind = more > 0 ? more + 1 : 2;
    struct next_rows next = {0};
    for (int i = 0; i <= more; i++) {
        const uint8_t *row = number == 0 ? cpu_input_rgba_row(band->run, band->maker[0].loaded + i) : NULL;
        next.in[i] = row ? row : to;
        next.out[i] = number == 0 ? output_later(band, behind + i) : to;
    }
    return next;
}

// Where a filter that makes several rows puts row `y + i`, 1..more_rows: in its place in the output, if that is known.
static uint8_t *ahead_at(const struct band *band, int number, int y, int i)
{
    const struct cpu_run *run = band->run;
    const struct maker *maker = &band->maker[number];
    const bool there = maker->pixel_bytes == 4 && number == run->count - 1 && y + i < band->end && run->to->plane[0];
    return there ? output_at(band, output_row(run, y + i))
                 : maker->spare + line_bytes(run->from->shape.width, 0) * (size_t)(i - 1);
}

// Whether what the run's stencil makes may be written past the caches. It pays where nothing passes through them but
// the picture that it reads.
static bool may_go_past(const struct band *band)
{
    const struct pass *pass = band->run->passes;
    return band->run->past_caches && band->run->count == 1 && band->in_place && pass->after_count == 0 &&
           !pass->store_mirror;
}

// Makes row `y` of a stencil in `to`, and the rows below it that its filter makes at a time.
static void run_stencil(struct band *band, int number, int y, uint8_t *to)
{
    struct maker *maker = &band->maker[number];
    const struct stage *stencil = maker->pass->stencil;
    const int width = band->run->from->shape.width, height = band->run->from->shape.height;
    const int radius = stencil->arguments.radius, lines = ring_lines(stencil);
    const int more = stencil->filter->more_rows;
    if (!maker->begun)
        maker->loaded = clamp_row(y - radius, height);
    for (; maker->loaded <= clamp_row(y + radius + more, height); maker->loaded++)
        take_row(band, number, maker->loaded);
    const uint8_t *pointers[RING_LINES_MAX];
    int places[RING_LINES_MAX];
    for (int i = 0; i < lines; i++) {
        const int row = clamp_row(y - radius - 1 + i, height);
        places[i] = row % lines;
        pointers[i] =
            stays_in_place(band, number, row) ? cpu_input_row(band->run, row) : line_of(band, maker, places[i]);
    }
    struct stencil_rows rows = {
        .in = pointers + 1,
        .out = {to},
        .width = width,
        .pixel_bytes = maker->pixel_bytes,
        .scratch = maker->own,
        .first = !maker->begun,
        .past = may_go_past(band),
        .next = next_rows(band, number, to),
    };
    for (int i = 1; i <= more; i++)
        rows.out[i] = ahead_at(band, number, y, i);
    stencil->filter->stencil_row(&stencil->arguments, &rows);
    if (has_ends(band, number))
        cpu_ends_make(&band->ends, &rows, places);
    memcpy(maker->ahead, rows.out, sizeof maker->ahead);
    maker->taken = 0;
    maker->begun = true;
}

// Row `y` of a stencil. Returns where it is: in `to`, or where it was made along with rows above.
static const uint8_t *stencil_row(struct band *band, int number, int y, uint8_t *to)
{
    struct maker *maker = &band->maker[number];
    if (!maker->begun || maker->taken > maker->pass->stencil->filter->more_rows)
        run_stencil(band, number, y, to);
    return maker->ahead[maker->taken++];
}

// Makes row `y` of a pass's output as the next pass takes it: in RGBA or grey, not flipped yet. Rows are made in order.
static void make_row(struct band *band, int number, int y, uint8_t *to)
{
    const struct maker *maker = &band->maker[number];
    const struct pass *pass = maker->pass;
    const int width = band->run->from->shape.width;
    const bool from_grey = maker->pixel_bytes == 1,
               to_grey = number + 1 < band->run->count && maker[1].pixel_bytes == 1;
    if (!pass->stencil) {
        load_row(band, number, y, to);
        return;
    }
    const bool stays_grey = from_grey && to_grey && pass->after_count == 0 && !pass->store_mirror;
    uint8_t *rgba = to_grey ? band->rgba : to, *wanted = stays_grey ? to : from_grey ? band->grey : rgba;
    const uint8_t *at = stencil_row(band, number, y, wanted);
    if (stays_grey && at != to)
        memcpy(to, at, (size_t)width);
    if (stays_grey)
        return;
    if (from_grey) {
        row_from_grey(at, cpu_input_rgba_row(band->run, y), rgba, width); // alpha; none: opaque
        at = rgba;
    }
    at = cpu_point_filters(pass->after, pass->after_count, at, rgba, width);
    if (pass->store_mirror) {
        rgb_rows()->mirror(at, rgba, width);
        at = rgba;
    }
    if (to_grey)
        row_to_grey(at, to, width);
    else if (at != to)
        memcpy(to, at, 4 * (size_t)width);
}

// Encodes a pair of output rows as soon as both have been made, while they are in cache.
static void encode_row(const struct band *band, int row)
{
    const struct cpu_run *run = band->run;
    const int upper = row & ~1;
    if (!run->encoded || upper >= run->encoded->shape.height)
        return;
    const bool both = upper + 1 < run->encoded->shape.height;
    if (row != (both && !run_flips(run) ? upper + 1 : upper))
        return;
    encode_rows(&run->encoder, run->encoded, 0, upper, run->encoded->shape.width, output_at(band, upper),
                both ? output_at(band, upper + 1) : NULL);
    if (run->feed)
        run->feed->made(run->feed->context, run->encoded, both ? upper + 2 : upper + 1);
}

// The first row of a band. Two rows that are encoded together are never in two bands.
static int band_edge(const struct cpu_run *run, int band)
{
    const int height = run->from->shape.height;
    const int y = (int)((int64_t)height * band / run->bands);
    const bool splits = run->encoded && y > 0 && y < height && output_row(run, y - 1) / 2 == output_row(run, y) / 2;
    return splits ? y - 1 : y;
}

void cpu_run_band(void *context, int number)
{
    const struct cpu_run *run = context;
    const int width = run->from->shape.width;
    uint8_t *scratch = run->scratch + run->scratch_bytes * (size_t)number;
    struct band band = {
        .run = run, .first = band_edge(run, number), .end = band_edge(run, number + 1), .pair = scratch};
    band.rgba = scratch + 2 * line_bytes(width, 0);
    band.grey = scratch + 3 * line_bytes(width, 0);
    scratch += OWN_LINES * line_bytes(width, 0);
    for (int i = 0; i < run->count; i++) {
        struct maker *maker = &band.maker[i];
        maker->pass = &run->passes[i];
        maker->pixel_bytes = pixel_bytes(maker->pass);
        if (!maker->pass->stencil)
            continue;
        const struct stage *stencil = maker->pass->stencil;
        maker->lines = scratch;
        maker->spare = maker->lines + lines_bytes(stencil, width);
        maker->own = maker->spare + spare_bytes(stencil, width);
        scratch = maker->own + own_bytes(stencil, width);
    }
    begin_in_place(&band, scratch);
    const bool past = cpu_input_goes_past(run);
    const int reach = cpu_run_reach(run->passes, run->count);
    for (int y = band.first; y < band.end; y++) {
        band.row = y;
        if (run->feed && !run->feed->need(run->feed->context, run->from, clamp_row(y + reach, run->from->shape.height)))
            break;
        if (past)
            cpu_input_load_past(run, y, band.rgba, output_later(&band, 0));
        else
            make_row(&band, run->count - 1, y, output_later(&band, 0));
        encode_row(&band, output_row(run, y));
    }
    if (run->past_caches)
        avx2_finish_past();
}
