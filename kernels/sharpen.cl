// sharpen.cl: moves a pixel away from its neighbours; argument: the amount, with 8 fraction bits
INLINE int filter_sharpen(view v, arguments args)
{
    int c = tap(v, 0, 0), away = 4 * c - tap(v, 0, -1) - tap(v, 1, 0) - tap(v, 0, 1) - tap(v, -1, 0);
    return sat8(c + ((ARG(args, 0) * away + 128) >> 8));
}
