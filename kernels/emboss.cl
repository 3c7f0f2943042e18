// emboss.cl: relief
//
// Arguments: the weights of the 3x3 square row by row: -1, 0 or 1. Opposite weights have opposite signs.
INLINE int filter_emboss(view v, arguments args)
{
    int sum = 128;
    sum += ARG(args, 5) * (tap(v, 1, 0) - tap(v, -1, 0));
    sum += ARG(args, 6) * (tap(v, -1, 1) - tap(v, 1, -1));
    sum += ARG(args, 7) * (tap(v, 0, 1) - tap(v, 0, -1));
    sum += ARG(args, 8) * (tap(v, 1, 1) - tap(v, -1, -1));
    return sat8(sum);
}
