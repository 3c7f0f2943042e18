// convolve.cl: weighted sum of a square, in fixed point
//
// Arguments: shift, offset, 1 if all weights fit 8 bits (else 0), then the weights row by row.
INLINE int filter_convolve(view v, arguments args)
{
    int sum = ARG(args, 1), i = 3;
    UNROLL
    for (int dy = -RADIUS(v); dy <= RADIUS(v); dy++) {
        UNROLL
        for (int dx = -RADIUS(v); dx <= RADIUS(v); dx++, i++)
            sum += ARG(args, i) * tap(v, dx, dy);
    }
    return sat8(sum >> ARG(args, 0));
}
