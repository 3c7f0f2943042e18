// key.cl: mixes a pixel with the kept one, except where that has a colour
//
// Arguments: 1 to exchange the parts; the choice of the parameter `by`; the colour; the weights of the channels in its
// hue, and across it; the end of the slope, its length and factor; the part of each channel in the spill; the factor
// for each brightness / 4.

// Returns by how much the pixel has the hue: of a pure green, G - max(R, B).
INLINE int key_hue(pixel p, arguments args)
{
    int along = ARG(args, 5) * p.r + ARG(args, 6) * p.g + ARG(args, 7) * p.b;
    int across = ARG(args, 8) * p.r + ARG(args, 9) * p.g + ARG(args, 10) * p.b;
    return (along - max(across, -across) + 128) >> 8;
}

// Vector rows give `by` as a constant.
INLINE int key_distance(pixel p, int hue, int by, arguments args)
{
    int r = p.r - ARG(args, 2), g = p.g - ARG(args, 3), b = p.b - ARG(args, 4);
    int u = (128 * b - 43 * r - 85 * g + 128) >> 8, v = (128 * r - 107 * g - 21 * b + 128) >> 8;
    int l = (77 * r + 150 * g + 29 * b + 128) >> 8;
    int strength = hue * ARG(args, 17 + (max(p.r, max(p.g, p.b)) >> 2)) >> 16;
    return by == 0 ? clamp(102 - strength, 0, 255) : by == 1 ? root((u * u + v * v + 1) / 2) : max(l, -l);
}

INLINE int key_share(pixel kept, int hue, int by, arguments args)
{
    int left = clamp(ARG(args, 11) - 16 * key_distance(kept, hue, by, args), 0, ARG(args, 12));
    int share = (left * ARG(args, 13) + 32768) >> 16;
    return ARG(args, 0) == 1 ? 255 - share : share;
}

// Removes the light of the colour.
INLINE pixel key_clean(pixel p, int hue, arguments args)
{
    int spill = max(0, hue);
    p.r = max(0, p.r - ((spill * ARG(args, 14) + 128) >> 8));
    p.g = max(0, p.g - ((spill * ARG(args, 15) + 128) >> 8));
    p.b = max(0, p.b - ((spill * ARG(args, 16) + 128) >> 8));
    return p;
}

INLINE pixel filter_key(pixel p, pixel second, int x, int y, arguments args)
{
    int hue = key_hue(second, args);
    return mixed(p, key_clean(second, hue, args), key_share(second, hue, ARG(args, 1), args));
}
