// motion.cl: difference from the previous input; arguments: 1 if there is one, else 0; the factor of the difference
INLINE int motion_channel(int c, int previous, int gain)
{
    return min(255, max(c - previous, previous - c) * gain);
}

INLINE pixel filter_motion(pixel p, pixel second, int x, int y, arguments args)
{
    int gain = ARG(args, 0) * ARG(args, 1);
    p.r = motion_channel(p.r, second.r, gain);
    p.g = motion_channel(p.g, second.g, gain);
    p.b = motion_channel(p.b, second.b, gain);
    return p;
}
