// cpu_rows.c: passes of the cpu path over a band of rows
#include "path/cpu_rows.h"

#include "base/number.h"
#include "base/text.h"
#include "base/vectors.h"
#include "filter/user_filter.h"
#include "filter/warp.h"
#include "image/rgb_rows.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A stencil reads beyond its band, so two bands both make some rows of the pass before it. At most one row in this many
// is made twice.
enum { REPEATED_SHARE = 8 };
// The first stencil reads the rows of an RGBA picture in place, if they have at least IN_PLACE_WIDTH pixels. It makes
// END_WIDTH pixels, at least the radius, at both ends of each row from copies of the ends, which have the edge pixels
// repeated.
enum { END_WIDTH = 16, IN_PLACE_WIDTH = 4 * END_WIDTH };
enum { MOVE_MOST = 1 << 15 }; // pixels, so that the kernel's places are exact
enum { OWN_LINES = 6, LINES_MAX = 2 * FILTER_REACH_MAX + 1 + STENCIL_ROWS };

// The stencil of one pass at work on a band.
struct band_pass {
    uint8_t *lines; // the last rows of its input, or both ends of each, used in turn
    int line_width; // pixels of each, without edge pixels repeated
    uint8_t *spare; // rows that are made together with the first, if they have no other place
    uint8_t *own;   // scratch memory of the row variant
    int loaded;     // the next input row to load
    bool begun;
    uint8_t *made[STENCIL_ROWS]; // where the latest rows are
    int taken;                   // the number of these that have been used
};

// A band: rows first to end - 1 of a run's output, and the memory to compute them in.
struct band {
    const struct cpu_run *run;
    int end;
    int y; // the output row that is being made
    int width;
    uint8_t *pair;    // two output rows, if the run has no output picture or streams to it
    uint8_t *rgba;    // an RGBA row that becomes grey
    uint8_t *grey;    // a grey row that becomes RGBA
    uint8_t *input;   // the input of a pass's last filter, for the next frame
    uint8_t *centre;  // the input of a grey stencil, for masks
    uint8_t *kept;    // rows that masks keep
    bool in_place;    // the first stencil reads the picture in place
    uint8_t *own_too; // scratch memory of the row variant for the pixels between the ends; or a warp's places
    struct band_pass pass[PLAN_PASSES];
};

static size_t align(size_t bytes)
{
    return (bytes + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
}

// Returns the bytes of an RGBA row with `radius` edge pixels repeated on both sides.
static size_t line_bytes(int width, int radius)
{
    return align(4 * ((size_t)width + 2 * (size_t)radius));
}

static int pass_radius(const struct cpu_pass *cpu)
{
    return cpu->pass->stencil->arguments.radius;
}

// Returns the number of rows above and below that a stencil reads.
static int pass_rows(const struct cpu_pass *cpu)
{
    return cpu->pass->stencil->arguments.rows;
}

static const struct row_variant *choose(const struct stage *stage, int width, int step, const char *wanted)
{
    static const struct row_variant user = {.name = "user", .rows = 1}; // run_user makes its rows
    if (stage->filter->user)
        return &user;
    return row_variant_choose(stage->filter, &stage->arguments, width, step, wanted);
}

// Finds the rows of its input that a warp reads: each place is between those of the grid's nodes. A pixel that repeats
// an edge may also read the row beside it.
static void find_warp_rows(struct cpu_pass *cpu)
{
    const int count = warp_count(&cpu->pass->map), height = cpu->pass->from_height;
    int least = INT_MAX, most = INT_MIN;
    for (int i = WARP_GRID_AT + 1; i < count; i += 2) {
        least = cpu->warp[i] < least ? cpu->warp[i] : least;
        most = cpu->warp[i] > most ? cpu->warp[i] : most;
    }
    cpu->first = clamp_int(least >> 8, 0, height - 2);
    cpu->end = clamp_int((most >> 8) + 1, 0, height - 1) + 1;
    if (cpu->end < 2 && height > 1)
        cpu->end = 2;
}

// Finds a warp that moves pixels by whole numbers, which need no interpolation.
static void find_move(struct cpu_pass *cpu)
{
    const struct filter_map *map = &cpu->pass->map;
    const double *m = map->matrix;
    const double shape[] = {1, 0, m[2], 0, 1, m[5], 0, 0, 1};
    cpu->moves = map->taps == TAPS_NONE && !cpu->pass->warp->filter->warp->places && map->lens.model == LENS_NONE &&
                 memcmp(m, shape, sizeof(shape)) == 0 && m[2] == floor(m[2]) && m[5] == floor(m[5]) &&
                 fabs(m[2]) <= MOVE_MOST && fabs(m[5]) <= MOVE_MOST;
    cpu->right = cpu->moves ? (int)-m[2] : 0;
    cpu->down = cpu->moves ? (int)-m[5] : 0;
}

// Returns false if memory is short.
static bool make_warp(struct cpu_pass *cpu)
{
    if (!cpu->pass->warp)
        return true;
    cpu->end = cpu->pass->from_height;
    if (cpu->pass->warp->filter->user) { // it may read any row
        cpu->scratch_bytes = 2 * line_bytes(cpu->pass->width, 0);
        return true;
    }
    cpu->warp = malloc(sizeof(*cpu->warp) * (size_t)pass_warp_count(cpu->pass));
    if (!cpu->warp)
        return false;
    pass_warp_fill(cpu->pass, cpu->warp);
    if (cpu->pass->map.taps == TAPS_NONE)
        find_warp_rows(cpu);
    find_move(cpu);
    return true;
}

void cpu_pass_finish(struct cpu_pass *cpu)
{
    free(cpu->warp);
}

// Returns the list number of the filter whose input a mask keeps. -1: it keeps none.
static int kept_from(const struct stage *const *stages, int number)
{
    const struct filter_arguments *arguments = &stages[number]->arguments;
    const bool keeps = filter_is_mask(stages[number]->filter) && arguments->kept == KEPT_PIXEL;
    return keeps ? number - arguments->back : -1;
}

// Returns the number of rows for them: a filter's list number is that of its row.
static int count_kept(const struct pass *pass)
{
    int rows = 0;
    for (int i = 0; i < pass->before_count; i++)
        rows = kept_from(pass->before, i) >= rows ? kept_from(pass->before, i) + 1 : rows;
    for (int i = 0; i < pass->after_count; i++)
        rows = kept_from(pass->after, i) >= rows ? kept_from(pass->after, i) + 1 : rows;
    return rows;
}

bool cpu_pass_init(struct cpu_pass *cpu, const struct pass *pass, const char *variant)
{
    const int width = pass->width;
    *cpu = (struct cpu_pass){.pass = pass};
    for (int i = 0; i < pass->before_count; i++)
        cpu->before[i] = choose(pass->before[i], width, 4, variant);
    for (int i = 0; i < pass->after_count; i++)
        cpu->after[i] = choose(pass->after[i], width, 4, variant);
    cpu->kept = count_kept(pass);
    if (!pass->stencil)
        return make_warp(cpu);
    cpu->step = 4;
    cpu->stencil = choose(pass->stencil, width, 4, variant);
    const struct row_variant *grey = choose(pass->stencil, width, 1, variant);
    const struct row_variant *generic = row_variant_generic(pass->stencil->filter);
    if (pass->grey && (grey != generic || cpu->stencil == generic)) { // some variants make RGBA rows only
        cpu->step = 1;
        cpu->stencil = grey;
    }
    if (cpu->stencil->scratch_bytes)
        cpu->scratch_bytes = align(cpu->stencil->scratch_bytes(&pass->stencil->arguments, width, cpu->step));
    cpu->lines = 2 * pass_rows(cpu) + 1 + cpu->stencil->rows; // with the row above, which running sums subtract
    return true;
}

int cpu_run_length(const struct cpu_pass *passes, int count, int band_rows)
{
    int length = 1, reach = 0;
    for (; length < count; length++) {
        const struct pass *pass = passes[length].pass;
        if (!pass->stencil || pass->before_count > 0 || pass->load_mirror) // only the first pass of a run may be so
            break;
        reach += 2 * pass_rows(&passes[length]);
        const struct pass *before = passes[length - 1].pass;
        if (before->kept || before->second.kind != PICTURE_NONE || before->store_flip || pass->load_flip ||
            reach * REPEATED_SHARE > band_rows)
            break;
    }
    return length;
}

static int most_kept(const struct cpu_pass *passes, int count)
{
    int most = 0;
    for (int i = 0; i < count; i++)
        most = passes[i].kept > most ? passes[i].kept : most;
    return most;
}

size_t cpu_run_scratch_bytes(const struct cpu_pass *passes, int count)
{
    const int width = passes[0].pass->width;
    size_t bytes = (size_t)(OWN_LINES + most_kept(passes, count)) * line_bytes(width, 0) + passes[0].scratch_bytes;
    for (int i = 0; i < count; i++) {
        if (passes[i].stencil)
            bytes += line_bytes(width, pass_radius(&passes[i])) * (size_t)passes[i].lines +
                     line_bytes(width, 0) * (size_t)(passes[i].stencil->rows - 1) + passes[i].scratch_bytes;
    }
    return bytes;
}

int cpu_run_reach(const struct cpu_pass *passes, int count)
{
    int reach = 0;
    for (int i = 0; i < count; i++)
        reach += passes[i].stencil ? pass_rows(&passes[i]) + passes[i].stencil->rows - 1 : 0;
    return reach;
}

// Returns the first pixel of a line of a pass's input. The repeated edge pixels come before it.
static uint8_t *line_of(const struct band *band, int number, int row)
{
    const struct cpu_pass *cpu = &band->run->passes[number];
    const struct band_pass *band_pass = &band->pass[number];
    return band_pass->lines + line_bytes(band_pass->line_width, pass_radius(cpu)) * (size_t)(row % cpu->lines) +
           cpu->step * pass_radius(cpu);
}

// Makes a row of a user's filter from the rows `in`.
static void run_user(const struct stage *stage, const uint8_t *const *in, uint8_t *to, int width, int y, int step)
{
    stage->filter->user->row(filter_numbers(&stage->arguments) + FACTS, in, to, width, y, step);
}

// Runs a filter with a second picture, which the pass's picture of the frame before replaces.
static void run_second(const struct band *band, const struct row_variant *row, const struct stage *stage,
                       const uint8_t *from, const uint8_t *second, uint8_t *to, int y)
{
    const bool keeps_input = stage->filter->second == SECOND_INPUT;
    if (keeps_input)
        from = memcpy(band->input, from, 4 * (size_t)band->width);
    if (stage->filter->user)
        run_user(stage, (const uint8_t *const[]){from, second}, to, band->width, y, 4);
    else
        row->second(&stage->arguments, from, second, to, band->width, y);
    if (filter_gets_previous(stage->filter))
        memcpy(image_row(band->run->second, 0, y), keeps_input ? from : to, 4 * (size_t)band->width);
}

// Returns the kept row of a mask; NULL: it is that of the pass's second picture.
static const uint8_t *kept_row(const struct stage *const *stages, int number, const uint8_t *const *kept,
                               const uint8_t *centre)
{
    if (kept_from(stages, number) >= 0)
        return kept[kept_from(stages, number)];
    return filter_is_mask(stages[number]->filter) && stages[number]->arguments.kept == KEPT_CENTRE ? centre : NULL;
}

// Runs point filters over row `y`: the first from `from` to `to`, the others in `to`. `centre`: the stencil's input.
// Returns the result: `to`, or `from` if there are no filters.
static const uint8_t *run_points(const struct band *band, const struct row_variant *const *rows,
                                 const struct stage *const *stages, int count, const uint8_t *from,
                                 const uint8_t *centre, uint8_t *to, int y)
{
    const int width = band->width;
    const uint8_t *kept[CHAIN_MAX] = {NULL};
    for (int i = 0; i < count; i++, from = to) {
        bool keeps = false;
        for (int k = i; k < count; k++)
            keeps = keeps || kept_from(stages, k) == i;
        if (keeps)
            kept[i] =
                from != to ? from : memcpy(band->kept + line_bytes(width, 0) * (size_t)i, from, 4 * (size_t)width);
        const struct filter *filter = stages[i]->filter;
        if (filter_has_second(filter)) {
            const uint8_t *row = kept_row(stages, i, kept, centre);
            run_second(band, rows[i], stages[i], from, row ? row : image_row(band->run->second, 0, y), to, y);
        } else if (filter->user) {
            run_user(stages[i], &from, to, width, y, 4);
        } else if (rows[i]->placed) {
            rows[i]->placed(&stages[i]->arguments, from, to, width, y);
        } else {
            rows[i]->point(&stages[i]->arguments, from, to, width, false);
        }
    }
    return from;
}

static const uint8_t *turn(bool mirror, const uint8_t *from, uint8_t *to, int width)
{
    if (!mirror)
        return from;
    rgb_rows()->mirror(from, to, width);
    return to;
}

// Returns the number of rows of each pass's output.
static int run_height(const struct cpu_run *run)
{
    return run->passes[0].pass->height;
}

// Returns the row of the picture that is row `y` of the input.
static int input_row(const struct cpu_run *run, int y)
{
    return run->passes[0].pass->load_flip ? run->from->shape.height - 1 - y : y;
}

// Returns the address of row `y` of an RGBA input.
static const uint8_t *picture_row(const struct cpu_run *run, int y)
{
    return run->from->plane[0] + (size_t)input_row(run, y) * run->from->stride[0];
}

// Each function below returns the address of row `y`: `to`, or another one if that avoids a copy.

// Makes the row that the first pass's stencil reads or, without a stencil, the row of its output; applies only the
// first `points` filters.
static const uint8_t *load_row(const struct band *band, int y, int points, uint8_t *to)
{
    const struct cpu_run *run = band->run;
    const struct cpu_pass *cpu = run->passes;
    const enum row_use use = cpu->stencil || run->count > 1 || run->streams ? ROW_CACHED : ROW_KEPT;
    const uint8_t *at = to;
    if (run->from->shape.format == PIXFMT_RGBA)
        at = picture_row(run, y);
    else
        convert_row_to_rgba(run->from, &run->coefficients, 0, input_row(run, y), band->width, to, use);
    at = turn(cpu->pass->load_mirror, at, to, band->width);
    return run_points(band, cpu->before, cpu->pass->before, points, at, NULL, to, y);
}

static const uint8_t *stencil_row_of(struct band *band, int number, int y, uint8_t *to);

// Makes row `y` of a move. Pixels from outside have the value of the nearest edge pixel.
static void run_move(const struct cpu_pass *cpu, const struct image *from, int y, uint8_t *to)
{
    const int width = cpu->pass->width, across = from->shape.width;
    const uint8_t *row = image_row(from, 0, clamp_int(y - cpu->down, 0, from->shape.height - 1));
    const int first = clamp_int(cpu->right, 0, width), end = clamp_int(cpu->right + across, 0, width);
    for (int x = 0; x < first; x++)
        memcpy(to + 4 * (size_t)x, row, 4);
    if (end > first)
        memcpy(to + 4 * (size_t)first, row + 4 * (size_t)(first - cpu->right), 4 * (size_t)(end - first));
    for (int x = end; x < width; x++)
        memcpy(to + 4 * (size_t)x, row + 4 * (size_t)(across - 1), 4);
}

// Makes row `y` of the warp of the first pass.
static void run_warp(const struct band *band, int y, uint8_t *to)
{
    const struct cpu_run *run = band->run;
    const struct image *from = run->from;
    const struct warp_source source = {from->plane[0], from->stride[0], from->shape.width, from->shape.height};
    const struct pass *pass = run->passes[0].pass;
    if (run->passes[0].moves) {
        run_move(&run->passes[0], from, y, to);
        return;
    }
    if (!pass->warp->filter->user) {
        (pass->map.taps == TAPS_NONE ? row_level()->warp : row_level()->taps)(run->passes[0].warp, &source, y, to);
        return;
    }
    const int step = (int)(line_bytes(pass->width, 0) / 4);
    const int32_t *u = (const int32_t *)(const void *)band->own_too;
    run_user(pass->warp, NULL, band->own_too, pass->width, y, step);
    row_level()->warp_at(u, u + step, pass->width, &source, to);
}

// Returns the RGBA row of a grey row. Its alpha is that of the input: rows of a warp are grey only if that is 255.
static const uint8_t *color_row(const struct band *band, const uint8_t *grey, int y, uint8_t *to)
{
    const bool has_alpha = band->run->from->shape.format == PIXFMT_RGBA && !band->run->passes[0].pass->warp;
    row_level()->from_grey(grey, has_alpha ? picture_row(band->run, y) : NULL, to, band->width);
    return to;
}

// Returns row `y` of the stencil's input, if a mask of the pass keeps it; else NULL.
static const uint8_t *centre_row(const struct band *band, int number, int y)
{
    const struct cpu_pass *cpu = &band->run->passes[number];
    bool wanted = false;
    for (int i = 0; cpu->stencil && i < cpu->pass->after_count; i++)
        wanted = wanted ||
                 (filter_is_mask(cpu->pass->after[i]->filter) && cpu->pass->after[i]->arguments.kept == KEPT_CENTRE);
    if (!wanted)
        return NULL;
    if (number == 0 && band->in_place)
        return picture_row(band->run, y);
    const uint8_t *line = line_of(band, number, y);
    return cpu->step == 1 ? color_row(band, line, y, band->centre) : line;
}

// Makes row `y` of a pass's output.
static const uint8_t *pass_row(struct band *band, int number, int y, uint8_t *to)
{
    const struct cpu_pass *cpu = &band->run->passes[number];
    if (!cpu->stencil && !cpu->pass->warp)
        return load_row(band, y, cpu->pass->before_count, to);
    const uint8_t *at = to;
    if (cpu->pass->warp)
        run_warp(band, y, to);
    else
        at = stencil_row_of(band, number, y, cpu->step == 1 ? band->grey : to);
    if (cpu->step == 1)
        at = color_row(band, at, y, to);
    const uint8_t *centre = centre_row(band, number, y);
    at = run_points(band, cpu->after, cpu->pass->after, cpu->pass->after_count, at, centre, to, y);
    return turn(cpu->pass->store_mirror, at, to, band->width);
}

// Returns true if a pass's output is its stencil's output, in grey rows.
static bool stays_bytes(const struct cpu_pass *cpu)
{
    return cpu->step == 1 && cpu->pass->after_count == 0 && !cpu->pass->store_mirror;
}

// Repeats the edge pixels of a row on both sides.
static void repeat_edges(uint8_t *row, int width, int step, int radius)
{
    uint8_t *last = row + step * (width - 1);
    for (int i = 1; i <= radius; i++) {
        memcpy(row - step * i, row, (size_t)step);
        memcpy(last + step * i, last, (size_t)step);
    }
}

// Loads a row of a stencil's input into its line.
static void load_line(struct band *band, int number, int y)
{
    const struct cpu_pass *cpu = &band->run->passes[number];
    uint8_t *line = line_of(band, number, y);
    const bool stays_grey = number > 0 && cpu->step == 1 && stays_bytes(&cpu[-1]);
    uint8_t *to = cpu->step == 1 && !stays_grey ? band->rgba : line;
    const uint8_t *at;
    if (number == 0)
        at = load_row(band, y, cpu->pass->before_count, to);
    else if (stays_grey)
        at = stencil_row_of(band, number - 1, y, to);
    else
        at = pass_row(band, number - 1, y, to);
    if (cpu->step == 1 && !stays_grey)
        row_level()->to_grey(at, line, band->width);
    else if (at != line)
        memcpy(line, at, (size_t)(cpu->step * band->width));
    repeat_edges(line, band->width, cpu->step, pass_radius(cpu));
}

// Loads both ends of a row of the picture into a line of the first stencil, each with `radius` pixels more than it
// makes.
static void load_ends(const struct band *band, int y)
{
    const uint8_t *row = picture_row(band->run, y);
    uint8_t *line = line_of(band, 0, y);
    const int width = band->pass[0].line_width;
    const size_t half = 4 * (size_t)width / 2;
    memcpy(line, row, half);
    memcpy(line + half, row + 4 * (size_t)band->width - half, half);
    repeat_edges(line, width, 4, pass_radius(band->run->passes));
}

// Returns the row of the picture that output row `y` becomes.
static int output_row(const struct cpu_run *run, int y)
{
    return run->passes[run->count - 1].pass->store_flip ? run_height(run) - 1 - y : y;
}

// Returns the address at which output row `y` is made.
static uint8_t *output_at(const struct band *band, int y)
{
    const struct image *to = band->run->to;
    const int row = output_row(band->run, y);
    return to->plane[0] ? to->plane[0] + (size_t)row * to->stride[0]
                        : band->pair + line_bytes(to->shape.width, 0) * (size_t)(row % 2);
}

// Makes rows of the first stencil of the picture in place. rows->in are lines with the ends of the picture's rows.
static void make_in_place(struct band *band, int y, const struct stencil_rows *rows)
{
    const struct cpu_run *run = band->run;
    const struct cpu_pass *cpu = run->passes;
    const int height = run_height(run), reach = pass_rows(cpu);
    const size_t bytes = 4 * END_WIDTH;
    struct stencil_rows ends = *rows, middle = *rows;
    uint8_t made[STENCIL_ROWS][4 * 2 * (END_WIDTH + END_WIDTH)], *ends_out[STENCIL_ROWS], *out[STENCIL_ROWS];
    const uint8_t *in[LINES_MAX];
    for (int i = 0; i < cpu->stencil->rows; i++) {
        ends_out[i] = made[i];
        out[i] = rows->out[i] + bytes;
        middle.prefetch[i].in += 2 * bytes; // the ends prefetch the bytes before
        middle.prefetch[i].out += 2 * bytes;
    }
    for (int i = 0; i < cpu->lines; i++)
        in[i] = picture_row(run, clamp_int(y - reach - 1 + i, 0, height - 1)) + bytes;
    ends.out = ends_out;
    middle.in = in + 1;
    middle.out = out;
    middle.width = band->width - 2 * END_WIDTH;
    middle.scratch = band->own_too;
    cpu->stencil->stencil(&cpu->pass->stencil->arguments, &ends);
    cpu->stencil->stencil(&cpu->pass->stencil->arguments, &middle);
    for (int i = 0; i < cpu->stencil->rows; i++) {
        memcpy(rows->out[i], made[i], bytes);
        memcpy(out[i] + 4 * (size_t)middle.width, made[i] + 4 * (size_t)ends.width - bytes, bytes);
    }
}

// Makes row `y` of a stencil in `to`, and the rows below that its variant makes in the same call.
static void run_stencil(struct band *band, int number, int y, uint8_t *to)
{
    const struct cpu_run *run = band->run;
    const struct cpu_pass *cpu = &run->passes[number];
    struct band_pass *band_pass = &band->pass[number];
    const int height = run_height(run), reach = pass_rows(cpu), more = cpu->stencil->rows - 1;
    const bool in_place = number == 0 && band->in_place;
    if (!band_pass->begun)
        band_pass->loaded = clamp_int(y - reach, 0, height - 1);
    for (; band_pass->loaded <= clamp_int(y + reach + more, 0, height - 1); band_pass->loaded++) {
        if (in_place)
            load_ends(band, band_pass->loaded);
        else
            load_line(band, number, band_pass->loaded);
    }
    const uint8_t *in[LINES_MAX];
    for (int i = 0; i < cpu->lines; i++)
        in[i] = line_of(band, number, clamp_int(y - reach - 1 + i, 0, height - 1));
    const bool is_output = run->to->plane[0] && number == run->count - 1 && cpu->step == 4;
    band_pass->made[0] = to;
    for (int i = 1; i <= more; i++)
        band_pass->made[i] = is_output && y + i < band->end
                                 ? output_at(band, y + i)
                                 : band_pass->spare + line_bytes(band->width, 0) * (size_t)(i - 1);
    struct stencil_rows rows = {.in = in + 1,
                                .out = band_pass->made,
                                .width = band_pass->line_width,
                                .step = cpu->step,
                                .scratch = band_pass->own,
                                .first = !band_pass->begun};
    const int calls = run->prefetch * (more + 1);
    const int writer = run->passes[run->count - 1].step == 4 ? run->count - 1 : 0; // grey rows are shorter
    const bool writes = calls > 0 && number == writer && cpu->step == 4 && run->to->plane[0];
    for (int i = 0; i <= more; i++) {
        const int in_row = clamp_int(band_pass->loaded + calls - more - 1 + i, 0, height - 1);
        rows.prefetch[i].in = calls > 0 && in_place ? picture_row(run, in_row) : to;
        rows.prefetch[i].out = writes ? output_at(band, clamp_int(band->y + calls + i, 0, band->end - 1)) : to;
    }
    if (cpu->pass->stencil->filter->user)
        run_user(cpu->pass->stencil, rows.in, to, band->width, y, cpu->step);
    else if (in_place)
        make_in_place(band, y, &rows);
    else
        cpu->stencil->stencil(&cpu->pass->stencil->arguments, &rows);
    band_pass->taken = 0;
    band_pass->begun = true;
}

// Returns row `y` of a stencil. Rows are requested in order.
static const uint8_t *stencil_row_of(struct band *band, int number, int y, uint8_t *to)
{
    struct band_pass *band_pass = &band->pass[number];
    if (!band_pass->begun || band_pass->taken == band->run->passes[number].stencil->rows)
        run_stencil(band, number, y, to);
    return band_pass->made[band_pass->taken++];
}

// Makes output row `y` of a run without a stencil. Its last step writes with non-temporal stores.
static void stream_row(const struct band *band, int y)
{
    const struct cpu_run *run = band->run;
    const struct cpu_pass *cpu = run->passes;
    const int last = cpu->pass->before_count - 1;
    uint8_t *to = output_at(band, y);
    if (last >= 0 && filter_is_placed(cpu->pass->before[last]->filter))
        load_row(band, y, last + 1, to);
    else if (last >= 0)
        cpu->before[last]->point(&cpu->pass->before[last]->arguments, load_row(band, y, last, band->rgba), to,
                                 band->width, true);
    else if (pixfmt_info(run->from->shape.format)->yuv && !cpu->pass->load_mirror)
        convert_row_to_rgba(run->from, &run->coefficients, 0, input_row(run, y), band->width, to, ROW_STREAMED);
    else
        row_level()->stream(load_row(band, y, 0, band->rgba), to, 4 * (size_t)band->width);
}

// Makes output row `y`.
static void finish_row(struct band *band, int y)
{
    uint8_t *to = output_at(band, y);
    const uint8_t *at = pass_row(band, band->run->count - 1, y, to);
    if (at != to)
        memcpy(to, at, 4 * (size_t)band->width);
}

// Converts a pair of output rows as soon as both have been made, while they are in cache.
static void encode_row(const struct band *band, int y)
{
    const struct cpu_run *run = band->run;
    const bool flips = run->passes[run->count - 1].pass->store_flip;
    const int row = output_row(run, y), upper = row & ~1;
    if (!run->encoded || upper >= run->encoded->shape.height)
        return;
    const bool both = upper + 1 < run->encoded->shape.height;
    if (row != (both && !flips ? upper + 1 : upper))
        return;
    encode_rows(&run->encoder, run->encoded, 0, upper, run->encoded->shape.width,
                output_at(band, output_row(run, upper)), both ? output_at(band, output_row(run, upper + 1)) : NULL);
    if (run->feed)
        run->feed->made(run->feed->context, run->encoded, both ? upper + 2 : upper + 1);
}

// Returns the first row of a band. Two rows that are converted together are never in two bands.
static int band_edge(const struct cpu_run *run, int band)
{
    const int height = run_height(run);
    const bool flips = run->passes[run->count - 1].pass->store_flip;
    const int first = flips ? height - run->end : run->first;
    const int y = first + (int)((int64_t)(run->end - run->first) * band / run->bands);
    const bool splits = run->encoded && y > 0 && y < height && output_row(run, y - 1) / 2 == output_row(run, y) / 2;
    return splits ? y - 1 : y;
}

// Returns true if the first stencil can read the picture in place.
static bool reads_picture(const struct cpu_run *run)
{
    const struct pass *pass = run->passes[0].pass;
    return pass->stencil && pass->stencil->arguments.radius <= END_WIDTH && run->passes[0].step == 4 &&
           !pass->stencil->filter->user && run->from->shape.format == PIXFMT_RGBA && pass->before_count == 0 &&
           !pass->load_mirror && run->from->shape.width >= IN_PLACE_WIDTH;
}

static void band_init(struct band *band, const struct cpu_run *run, int number)
{
    const int width = run->passes[0].pass->width;
    uint8_t *scratch = run->scratch + run->scratch_bytes * (size_t)number;
    *band = (struct band){.run = run, .end = band_edge(run, number + 1), .width = width, .pair = scratch};
    band->in_place = reads_picture(run);
    band->kept = scratch + OWN_LINES * line_bytes(width, 0);
    band->own_too = band->kept + (size_t)most_kept(run->passes, run->count) * line_bytes(width, 0);
    band->rgba = scratch + 2 * line_bytes(width, 0);
    band->grey = scratch + 3 * line_bytes(width, 0);
    band->input = scratch + 4 * line_bytes(width, 0);
    band->centre = scratch + 5 * line_bytes(width, 0);
    scratch = band->own_too + run->passes[0].scratch_bytes;
    for (int i = 0; i < run->count; i++) {
        const struct cpu_pass *cpu = &run->passes[i];
        struct band_pass *band_pass = &band->pass[i];
        if (!cpu->stencil)
            continue;
        band_pass->lines = scratch;
        band_pass->line_width = i == 0 && band->in_place ? 2 * (END_WIDTH + pass_radius(cpu)) : width;
        band_pass->spare = band_pass->lines + line_bytes(width, pass_radius(cpu)) * (size_t)cpu->lines;
        band_pass->own = band_pass->spare + line_bytes(width, 0) * (size_t)(cpu->stencil->rows - 1);
        scratch = band_pass->own + cpu->scratch_bytes;
    }
}

void cpu_run_band(void *context, int number)
{
    const struct cpu_run *run = context;
    const int reach = cpu_run_reach(run->passes, run->count);
    struct band band;
    band_init(&band, run, number);
    for (int y = band_edge(run, number); y < band.end; y++) {
        if (run->feed &&
            !run->feed->need(run->feed->context, run->from, clamp_int(y + reach, 0, run->from->shape.height - 1)))
            break;
        band.y = y;
        if (run->streams)
            stream_row(&band, y);
        else
            finish_row(&band, y);
        encode_row(&band, y);
    }
    if (run->streams)
        __sync_synchronize(); // also orders non-temporal stores
}

// ---- parameters that change the speed of the cpu path, never its bytes, and their tuning results ----

// BANDS: bands per thread. With more bands, an interrupted thread delays the others less; with fewer bands, fewer rows
// are made twice.
// PREFETCH: stencils prefetch the rows of the input and output of this many calls ahead; 0: none.
// STREAM: 1: a chain without a stencil writes its result with non-temporal stores.
const struct cpu_param_info cpu_params[CPU_PARAMS] = {
    [CPU_BANDS] = {"BANDS", 5, {1, 2, 4, 8, 16}},
    [CPU_PREFETCH] = {"PREFETCH", 4, {0, 1, 2, 4}},
    [CPU_STREAM] = {"STREAM", 2, {0, 1}},
};

// ---- text ----

static const char head[] = "rows";

static int find_param(const char *name, size_t length)
{
    for (int i = 0; i < CPU_PARAMS; i++) {
        if (strlen(cpu_params[i].name) == length && memcmp(cpu_params[i].name, name, length) == 0)
            return i;
    }
    return -1;
}

static bool is_legal(const struct cpu_param_info *param, int value)
{
    for (int i = 0; i < param->values; i++) {
        if (param->value[i] == value)
            return true;
    }
    return false;
}

bool cpu_tuning_parse(struct cpu_tuning *tuning, const char *text)
{
    enum { DIGITS = 4 };
    for (int i = 0; i < CPU_PARAMS; i++)
        tuning->value[i] = CPU_UNSET;
    if (strncmp(text, head, strlen(head)) != 0)
        return false;
    for (text += strlen(head); *text == ':';) {
        const char *name = text + 1;
        const size_t length = strcspn(name, "=");
        const int param = find_param(name, length);
        if (param < 0 || name[length] != '=')
            return false;
        const char *number = name + length + 1;
        const size_t digits = strspn(number, "0123456789");
        if (digits < 1 || digits > DIGITS || !is_legal(&cpu_params[param], atoi(number)))
            return false;
        tuning->value[param] = atoi(number);
        text = number + digits;
    }
    return *text == '\0';
}

void cpu_tuning_print(const struct cpu_tuning *tuning, char text[CPU_TUNING_TEXT])
{
    int used = snprintf(text, CPU_TUNING_TEXT, "%s", head);
    for (int i = 0; i < CPU_PARAMS; i++) {
        if (tuning->value[i] != CPU_UNSET)
            used +=
                snprintf(text + used, (size_t)(CPU_TUNING_TEXT - used), ":%s=%d", cpu_params[i].name, tuning->value[i]);
    }
}

// ---- the database ----

static void print_chain(char text[CPU_KEY], const struct chain *chain, enum pixfmt format)
{
    text[0] = '\0';
    text_append(text, CPU_KEY, "cpu:%s>", pixfmt_info(format)->name);
    for (int i = 0; i < chain->count; i++) {
        const struct stage *stage = &chain->stage[i];
        text_append(text, CPU_KEY, "%s%s", i > 0 ? "+" : "", stage->filter->name);
        if (stage->arguments.radius > 0)
            text_append(text, CPU_KEY, "%d", stage->arguments.radius);
    }
    text_append(text, CPU_KEY, ">rgba");
}

void cpu_key_make(struct cpu_key *key, const struct chain *chain, const struct image_shape *input, int threads)
{
    print_chain(key->chain, chain, input->format);
    tuned_size(input->width, input->height, key->size);
    processor_model(key->model);
    processor_vendor(key->vendor);
    key->key = (struct tuned_key){
        .pass = key->chain,
        .size = key->size,
        .device = key->model,
        .vendor = key->vendor,
        .type = "cpu",
        .architecture = vectors_name(vectors_level()),
        .driver = "",
        .compute_units = threads,
    };
}

bool cpu_tuned(struct tuned *tuned, const struct cpu_key *key, struct cpu_tuning *tuning, struct tuned_found *found)
{
    enum { TRIED = 50 }; // entries; more of them would make the start slow
    struct tuned_found next = {0};
    for (int i = 0; i < TRIED && tuned_next(tuned, &key->key, &next); i++) {
        if (!cpu_tuning_parse(tuning, next.entry->choice))
            continue;
        *found = next;
        return true;
    }
    return false;
}
