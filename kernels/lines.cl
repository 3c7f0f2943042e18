// lines.cl: what filters build on that make whole lines, in vectors of the language (pass_lines.cl)
//
// Such a filter has a type, lines_state, which it keeps from row to row, and three functions, for pixels as words:
//   lines_begin(state, args)             ahead of the first row; the stencil's arguments
//   lines_take(state, rows, first, end)  columns `first` to `end` - 1 of a row that comes into reach, and of the one
//                                        that leaves it, all 0 where there is none
//   lines_make(state, rows, first, end)  the same of columns `first` + 2 LINE_REACH to `end` - 1 + 2 LINE_REACH; and
//                                        with these pixels `first` to `end` - 1 of the rows in the middle
// Pixel i lies in column i + LINE_REACH, and its square begins with column i + LINE_LEFT; those that are needed have
// been taken. `first` is a multiple of LINE_STEP, and a step may begin before the end and go beyond it. A filter that
// makes more than one row at a time says so in LINES_TOGETHER; as many come at a time then.
#ifndef LINES_CL
#define LINES_CL
#include "pixel.cl"
#include "square.cl"
#include "vectors.cl"

#ifndef PASS_LINES_WIDTH
#define PASS_LINES_WIDTH 64
#endif
#ifndef LINES_TOGETHER
#define LINES_TOGETHER 1
#endif

enum {
    LINE_STEP = 16,
    LINE_REACH = (PASS_RADIUS + LINE_STEP - 1) / LINE_STEP * LINE_STEP, // columns ahead of pixels, in whole steps
    LINE_LEFT = LINE_REACH - PASS_RADIUS,
    LINE_ROOM = PASS_LINES_WIDTH + 2 * LINE_REACH,
    LINES_NEW = 1 + 2 * PASS_RADIUS,
    LINES_RING = LINES_NEW + LINES_TOGETHER,
};

// The rows that are worked on. row[0] has left reach; row[LINES_NEW] and those behind it come into it.
typedef struct {
    uint *row[LINES_RING];
    uint *to[LINES_TOGETHER]; // where pixel `first` of each row goes
} lines_rows;

// The pixels in the middle of whose surroundings row i is made.
INLINE const uint *lines_centre(const lines_rows *rows, int i)
{
    return rows->row[1 + i + PASS_RADIUS] + LINE_REACH;
}

#endif
