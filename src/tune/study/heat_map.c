// heat_map.c: an image of the best times by width and height of the work-group
#include "tune/study/heat_map.h"

#include "base/log.h"
#include "image/imagefile.h"
#include "screen/sketch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELL_WIDTH = 96,
    CELL_HEIGHT = 48,
    LEFT = 200,
    TOP = 88,
    RIGHT = 32,
    BOTTOM = 80,
    LETTERS = 18,
    CELLS_SIDE = 64
};

static const struct paint white = {255, 255, 255, 255}, black = {20, 20, 20, 255}, grey = {120, 120, 120, 255},
                          empty = {225, 225, 225, 255}, mark = {220, 0, 0, 255};

// The names of the width and the height, in passes and in Kernel Tuner's kernels.
static const char *const axes[][2] = {{"GROUP_WIDTH", "GROUP_HEIGHT"}, {"block_size_x", "block_size_y"}};

struct grid {
    const struct heat_map *map;
    int param[2]; // indices of the width and the height
    int columns, rows;
    double *ms;         // of each cell; INFINITY: all failed; 0: untried
    double best, worst; // 0: no cell has a time
    int winner;         // index of the winner's cell
};

// Returns the number of a parameter's values, without the last one if no configuration has it.
static int count_values(const struct space *space, int param)
{
    const int values = space->param[param].values;
    for (int i = 0; i < space->count; i++) {
        if (space_tuple(space, i)[param] == values - 1)
            return values;
    }
    return values - 1;
}

static bool find_axes(struct grid *grid, const struct space *space)
{
    for (size_t i = 0; i < sizeof(axes) / sizeof(*axes); i++) {
        grid->param[0] = space_find_param(space, axes[i][0]);
        grid->param[1] = space_find_param(space, axes[i][1]);
        if (grid->param[0] >= 0 && grid->param[1] >= 0) {
            grid->columns = count_values(space, grid->param[0]);
            grid->rows = count_values(space, grid->param[1]);
            return grid->columns <= CELLS_SIDE && grid->rows <= CELLS_SIDE;
        }
    }
    return false;
}

static int cell_of(const struct grid *grid, int configuration)
{
    const uint16_t *tuple = space_tuple(grid->map->space, configuration);
    return tuple[grid->param[1]] * grid->columns + tuple[grid->param[0]];
}

static void fill_cells(struct grid *grid)
{
    for (int i = 0; i < grid->map->space->count; i++) {
        const double ms = grid->map->ms[i];
        double *cell = &grid->ms[cell_of(grid, i)];
        if (ms > 0 && (*cell == 0 || ms < *cell))
            *cell = ms;
    }
    for (int i = 0; i < grid->columns * grid->rows; i++) {
        const double ms = grid->ms[i];
        if (ms == 0 || isinf(ms))
            continue;
        grid->best = grid->best == 0 ? ms : fmin(grid->best, ms);
        grid->worst = fmax(grid->worst, ms);
    }
    grid->winner = cell_of(grid, grid->map->winner);
}

// Returns the colour of a time: from yellow for the best one, over green and blue, to violet for the worst one.
static struct paint colour_of(const struct grid *grid, double ms)
{
    static const uint8_t stops[][3] = {{253, 231, 37}, {94, 201, 98}, {33, 145, 140}, {59, 82, 139}, {68, 1, 84}};
    const double last = sizeof(stops) / sizeof(*stops) - 1;
    const double at = grid->worst > grid->best ? last * log(ms / grid->best) / log(grid->worst / grid->best) : 0;
    const int stop = (int)fmin(at, last - 1);
    uint8_t colour[3];
    for (int c = 0; c < 3; c++)
        colour[c] = (uint8_t)lround(stops[stop][c] + (at - stop) * (stops[stop + 1][c] - stops[stop][c]));
    return (struct paint){colour[0], colour[1], colour[2], 255};
}

static void draw_centred(const struct sketch *sketch, struct rect rect, const char *text, struct paint paint)
{
    const int width = (int)strlen(text) * sketch->font.advance;
    sketch_text(sketch, rect.x + (rect.width - width) / 2, rect.y + (rect.height - sketch->font.line) / 2, text, paint);
}

static void draw_cell(const struct sketch *sketch, const struct grid *grid, int column, int row)
{
    const double ms = grid->ms[row * grid->columns + column];
    const bool timed = ms > 0 && isfinite(ms);
    struct rect rect = {LEFT + column * CELL_WIDTH, TOP + row * CELL_HEIGHT, CELL_WIDTH - 2, CELL_HEIGHT - 2};
    if (row * grid->columns + column == grid->winner) {
        sketch_fill(sketch, rect, mark);
        rect = (struct rect){rect.x + 4, rect.y + 4, rect.width - 8, rect.height - 8};
    }
    const struct paint paint = timed ? colour_of(grid, ms) : empty;
    sketch_fill(sketch, rect, paint);
    char text[24] = "";
    if (timed)
        snprintf(text, sizeof(text), ms < 10 ? "%.4f" : "%.2f", ms);
    else if (ms > 0)
        snprintf(text, sizeof(text), "failed");
    const bool bright = 2 * paint.red + 3 * paint.green + paint.blue > 6 * 128;
    draw_centred(sketch, rect, text, !timed ? grey : bright ? black : white);
}

static void draw_labels(const struct sketch *sketch, const struct grid *grid)
{
    const struct space_param *width = &grid->map->space->param[grid->param[0]];
    const struct space_param *height = &grid->map->space->param[grid->param[1]];
    const int bottom = TOP + grid->rows * CELL_HEIGHT;
    sketch_text(sketch, 16, 16, grid->map->title, black);
    sketch_text(sketch, 16, 16 + 3 * sketch->font.line / 2,
                "best time in ms of each work-group size; red frame: the winner; empty: not tried", grey);
    for (int i = 0; i < grid->columns; i++)
        draw_centred(sketch, (struct rect){LEFT + i * CELL_WIDTH, bottom + 4, CELL_WIDTH, 24}, width->value[i], black);
    for (int i = 0; i < grid->rows; i++)
        draw_centred(sketch, (struct rect){LEFT - 72, TOP + i * CELL_HEIGHT, 64, CELL_HEIGHT}, height->value[i], black);
    draw_centred(sketch, (struct rect){LEFT, bottom + 36, grid->columns * CELL_WIDTH, 24}, width->name, grey);
    draw_centred(sketch, (struct rect){4, TOP, LEFT - 76, grid->rows * CELL_HEIGHT}, height->name, grey);
}

static bool draw(const struct grid *grid, struct claim *claim)
{
    enum { LEAST_WIDTH = 900 };
    const int width = LEFT + grid->columns * CELL_WIDTH + RIGHT;
    const struct image_shape shape = {.width = width > LEAST_WIDTH ? width : LEAST_WIDTH,
                                      .height = TOP + grid->rows * CELL_HEIGHT + BOTTOM};
    struct image image = {0};
    struct sketch sketch = {0};
    if (!image_alloc(&image, &shape)) {
        log_error("cannot write %s: out of memory", claim->path);
        return false;
    }
    for (int y = 0; y < shape.height; y++)
        memset(image_row(&image, 0, y), 255, 4 * (size_t)shape.width);
    bool ok = sketch_init(&sketch, &image, LETTERS);
    for (int i = 0; ok && i < grid->columns * grid->rows; i++)
        draw_cell(&sketch, grid, i % grid->columns, i / grid->columns);
    if (ok)
        draw_labels(&sketch, grid);
    ok = ok && imagefile_write_claimed(claim, &image, NULL);
    sketch_finish(&sketch);
    image_free(&image);
    return ok;
}

bool heat_map_write(const struct heat_map *map, struct claim *claim)
{
    struct grid grid = {.map = map};
    if (!find_axes(&grid, map->space)) {
        log_warn("cannot write %s: the configurations have no width and height of the work-group", claim->path);
        return true;
    }
    grid.ms = calloc((size_t)grid.columns * (size_t)grid.rows, sizeof(*grid.ms));
    if (!grid.ms) {
        log_error("cannot write %s: out of memory", claim->path);
        return false;
    }
    fill_cells(&grid);
    const bool ok = draw(&grid, claim);
    free(grid.ms);
    return ok;
}
