// outline.cl: edges as lines of ink on white paper
//!SUMMARY draw the edges in ink on white paper; "gray,outline" has black ink only
//!KIND stencil
//!RADIUS 1
//!PARAM strength
//!DESC darkness of the lines
//!TYPE float
//!RANGE 0.25 8
//!DEFAULT 2
//!STEP 0.25
//!PARAM threshold
//!DESC the weakest edge that gets a line
//!TYPE int
//!RANGE 0 255
//!DEFAULT 30
//!STEP 5

INLINE int filter_outline(view v, arguments args)
{
    int across = tap(v, 1, -1) + 2 * tap(v, 1, 0) + tap(v, 1, 1) - tap(v, -1, -1) - 2 * tap(v, -1, 0) - tap(v, -1, 1);
    int down = tap(v, -1, 1) + 2 * tap(v, 0, 1) + tap(v, 1, 1) - tap(v, -1, -1) - 2 * tap(v, 0, -1) - tap(v, 1, -1);
    int edge = max(across, -across) + max(down, -down);
    return 255 - min(255, max(0, edge - ARG(args, 1)) * ARG(args, 0) >> 8);
}
