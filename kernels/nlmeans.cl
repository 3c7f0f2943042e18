// nlmeans.cl: mean of the pixels whose surroundings are alike
//
// Arguments: the radius of a patch, the shift of the difference of two patches, then the weights of the 256 shifted
// differences.

// Returns the sum of the squares of the differences of two patches, around the pixel and around (x, y).
INLINE int nlmeans_difference(view v, int x, int y, int half_side)
{
    int sum = 0;
    for (int dy = -half_side; dy <= half_side; dy++) {
        for (int dx = -half_side; dx <= half_side; dx++) {
            int d = tap(v, dx, dy) - tap(v, x + dx, y + dy);
            sum += d * d;
        }
    }
    return sum;
}

INLINE int filter_nlmeans(view v, arguments args)
{
    int half_side = ARG(args, 0), reach = RADIUS(v) - half_side, weights = 255, sum = 255 * tap(v, 0, 0);
    for (int y = -reach; y <= reach; y++) {
        for (int x = -reach; x <= reach; x++) {
            int level = min(nlmeans_difference(v, x, y, half_side) >> ARG(args, 1), 255);
            int weight = x == 0 && y == 0 ? 0 : ARG(args, 2 + level);
            weights += weight;
            sum += weight * tap(v, x, y);
        }
    }
    return (sum + weights / 2) / weights;
}
