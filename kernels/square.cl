// square.cl: the square of a stencil written out as straight-line code, which compilers vectorise where a loop stops
// them
#ifndef SQUARE_CL
#define SQUARE_CL

#ifndef PASS_RADIUS
#define PASS_RADIUS 1
#endif

#define SQUARE_JOIN(a, b) a##b
#define SQUARE_NAME(a, b) SQUARE_JOIN(a, b)

#define SQUARE_ROW_1(TAP, dy) TAP(-1, dy) TAP(0, dy) TAP(1, dy)
#define SQUARE_ROW_2(TAP, dy) TAP(-2, dy) SQUARE_ROW_1(TAP, dy) TAP(2, dy)
#define SQUARE_ROW_3(TAP, dy) TAP(-3, dy) SQUARE_ROW_2(TAP, dy) TAP(3, dy)
#define SQUARE_ROW_4(TAP, dy) TAP(-4, dy) SQUARE_ROW_3(TAP, dy) TAP(4, dy)
#define SQUARE_ROW_5(TAP, dy) TAP(-5, dy) SQUARE_ROW_4(TAP, dy) TAP(5, dy)
#define SQUARE_ROW_6(TAP, dy) TAP(-6, dy) SQUARE_ROW_5(TAP, dy) TAP(6, dy)
#define SQUARE_ROW_7(TAP, dy) TAP(-7, dy) SQUARE_ROW_6(TAP, dy) TAP(7, dy)

#define SQUARE_ROWS_1(ROW, TAP) ROW(TAP, -1) ROW(TAP, 0) ROW(TAP, 1)
#define SQUARE_ROWS_2(ROW, TAP) ROW(TAP, -2) SQUARE_ROWS_1(ROW, TAP) ROW(TAP, 2)
#define SQUARE_ROWS_3(ROW, TAP) ROW(TAP, -3) SQUARE_ROWS_2(ROW, TAP) ROW(TAP, 3)
#define SQUARE_ROWS_4(ROW, TAP) ROW(TAP, -4) SQUARE_ROWS_3(ROW, TAP) ROW(TAP, 4)

// One row of it.
#define FOR_SQUARE_ROW(TAP, dy) SQUARE_NAME(SQUARE_ROW_, PASS_RADIUS)(TAP, dy)

// FOR_SQUARE(TAP) is TAP(dx, dy) for every place of the square, in no order. Above radius 4 straight-line code would be
// larger than an instruction cache likes.
#if PASS_RADIUS == 0
#define FOR_SQUARE(TAP) TAP(0, 0)
#elif PASS_RADIUS <= 4
#define FOR_SQUARE(TAP) SQUARE_NAME(SQUARE_ROWS_, PASS_RADIUS)(SQUARE_NAME(SQUARE_ROW_, PASS_RADIUS), TAP)
#endif

#endif
