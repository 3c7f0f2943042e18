// lines.cl: what filters build on that make whole lines, in vectors of the language (pass_lines.cl)
//
// Such a filter has a type, lines_state, which it keeps from row to row, and three functions, for pixels as words:
//   lines_begin(state, args)                          ahead of the first row; the stencil's arguments
//   lines_take(state, row, in, out, first, end)       columns `first` to `end` - 1 of a row that comes into reach, and
//                                                     of the one that leaves it, all 0 where there is none
//   lines_make(state, row, in, out, centre, first, end, line)
//                                                     the same of columns `first` + 2 LINE_REACH to `end` - 1 +
//                                                     2 LINE_REACH; and with these pixels `first` to `end` - 1 of the
//                                                     row in the middle, the first one to where `line` begins
// `row` counts the rows that come, from 0. Pixel i lies in column i + LINE_REACH, and its square begins with column
// i + LINE_LEFT; those that are needed have been taken. `first` is a multiple of LINE_STEP, and a step may begin before
// the end and go beyond it.
#ifndef LINES_CL
#define LINES_CL
#include "pixel.cl"
#include "square.cl"
#include "vectors.cl"

#ifndef PASS_LINES_WIDTH
#define PASS_LINES_WIDTH 64
#endif

enum {
    LINE_STEP = 16,
    LINE_REACH = (PASS_RADIUS + LINE_STEP - 1) / LINE_STEP * LINE_STEP, // columns ahead of pixels, in whole steps
    LINE_LEFT = LINE_REACH - PASS_RADIUS,
    LINE_ROOM = PASS_LINES_WIDTH + 2 * LINE_REACH,
};

// The three rows in reach of a filter that keeps nothing of columns, as they come; their square's first column.
typedef struct {
    const uint *row[3];
} three_rows;

INLINE void three_rows_take(three_rows *rows, const uint *in, int first)
{
    if (first > 0)
        return;
    rows->row[0] = rows->row[1];
    rows->row[1] = rows->row[2];
    rows->row[2] = in + LINE_LEFT;
}

#endif
