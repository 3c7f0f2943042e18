// laplacian.cl: absolute difference from the four neighbours
INLINE int filter_laplacian(view v, arguments args)
{
    int away = 4 * tap(v, 0, 0) - tap(v, 0, -1) - tap(v, 1, 0) - tap(v, 0, 1) - tap(v, -1, 0);
    return min(255, max(away, -away));
}
