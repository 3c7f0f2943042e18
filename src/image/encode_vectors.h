// encode_vectors.h: rows of RGBA to YUV in vectors, one source for AVX2's and AVX-512's
//
// Whoever includes it has defined what a vector is (`vector`, `vector_load`, `vector_store`), TARGET and INLINE as
// kinds of functions, OP(name) as the instruction of that name, and the functions whose instructions are not the same:
//
//     take_apart      the channels of BLOCK pixels, a byte each
//     side_by_side    lanes of 16 bits, their lower bytes from the first vector, their upper bytes from the second
//     store_parted    the lower bytes of all lanes to one place, the upper ones to another
//     store_in_turns  bytes of two vectors in turns, twice as many
//
// Without OP it is empty.
#ifdef OP

// docs/pixels.md section 5, in every lane, negative as channels are here.
struct weights {
    vector first, green, last, offset;
};

struct numbers {
    vector even, odd; // -128 for the even bytes, 0 for the odd ones; the other way round
    struct weights y, u, v;
};

// Of BLOCK pixels, in lanes of 16 bits: those of even pixels and of odd ones.
struct lanes {
    vector even, odd;
};

// Of BLOCK pixels: luma in bytes, chroma << 6.
struct samples {
    vector luma;
    struct lanes u, v;
};

INLINE vector spread(int value)
{
    return OP(set1_epi16)((int16_t)value);
}

// `more` is 1 << 14 for sums that may be too large by one step, beyond which the last of them is cut off; that bit is
// of no sample. Those of luma never are.
INLINE struct weights find_weights(int first, int green, int last, int middle, int more)
{
    return (struct weights){spread(-first), spread(-green), spread(-last), spread((middle << 6) + 33 + more)};
}

// What a channel is weighed last by must not be negative: sums before that are small enough.
INLINE struct numbers find_numbers(const struct encoder *encoder)
{
    const struct color_reverse *k = &encoder->reverse;
    return (struct numbers){
        .even = spread(0x0080),
        .odd = spread(0x8000),
        .y = find_weights(k->yr, k->yg, k->yb, encoder->luma_offset, 0),
        .u = find_weights(k->ur, k->ug, k->ub, 128, 1 << 14),
        .v = find_weights(k->vb, k->vg, k->vr, 128, 1 << 14),
    };
}

// A channel << 7, negative.
INLINE struct lanes widen(const struct numbers *k, vector bytes)
{
    return (struct lanes){OP(maddubs_epi16)(bytes, k->even), OP(maddubs_epi16)(bytes, k->odd)};
}

INLINE vector weigh_lanes(const struct weights *k, vector first, vector green, vector last)
{
    const vector one = OP(add_epi16)(OP(mulhi_epi16)(first, k->first), k->offset);
    return OP(adds_epi16)(OP(add_epi16)(one, OP(mulhi_epi16)(green, k->green)), OP(mulhi_epi16)(last, k->last));
}

INLINE struct lanes weigh(const struct weights *k, const struct lanes *first, const struct lanes *green,
                          const struct lanes *last)
{
    return (struct lanes){weigh_lanes(k, first->even, green->even, last->even),
                          weigh_lanes(k, first->odd, green->odd, last->odd)};
}

// Samples << 6 as bytes.
INLINE vector join(const struct lanes *sums)
{
    return side_by_side(OP(srli_epi16)(sums->even, 6), OP(slli_epi16)(sums->odd, 2));
}

INLINE struct samples make_samples(const struct numbers *k, enum yuv_layout layout, const uint8_t *rgba)
{
    const struct channels bytes = take_apart(rgba);
    const struct lanes red = widen(k, bytes.red), green = widen(k, bytes.green), blue = widen(k, bytes.blue);
    const struct lanes luma = weigh(&k->y, &red, &green, &blue);
    struct samples samples = {.luma = join(&luma)};
    if (layout != YUV_GREY) {
        samples.u = weigh(&k->u, &red, &green, &blue);
        samples.v = weigh(&k->v, &blue, &green, &red);
    }
    return samples;
}

// Means of pairs in two rows, in the upper bytes of lanes. The six bits below a sample do not count: they are all set
// in three of the four and clear in one, which rounds the sum as (S + 2) >> 2 does, and four times 1 << 14 is nothing.
INLINE vector mean(const struct lanes *upper, const struct lanes *lower)
{
    const vector rest = spread(63);
    return OP(add_epi16)(OP(add_epi16)(upper->even | rest, upper->odd | rest),
                         OP(add_epi16)(lower->even | rest, lower->odd & ~rest));
}

INLINE void make_block(const struct numbers *k, const struct encode_rows *rows, enum yuv_layout layout, bool two, int x)
{
    const struct samples upper = make_samples(k, layout, rows->rgba[0] + 4 * x);
    const struct samples lower = two ? make_samples(k, layout, rows->rgba[1] + 4 * x) : upper;
    if (layout != YUV_PACKED)
        vector_store(rows->y[0] + x, upper.luma);
    if (two)
        vector_store(rows->y[1] + x, lower.luma);
    if (layout == YUV_FULL) {
        vector_store(rows->u + x, join(&upper.u));
        vector_store(rows->v + x, join(&upper.v));
    }
    if (layout == YUV_GREY || layout == YUV_FULL)
        return;
    const bool v_first = layout == YUV_SEMIPLANAR && rows->v < rows->u;
    const vector u = mean(&upper.u, &lower.u), v = mean(&upper.v, &lower.v);
    const vector pairs = v_first ? side_by_side(OP(srli_epi16)(v, 8), u) : side_by_side(OP(srli_epi16)(u, 8), v);
    if (layout == YUV_PLANAR)
        store_parted(rows->u + x / 2, rows->v + x / 2, pairs);
    else if (layout == YUV_SEMIPLANAR)
        vector_store((v_first ? rows->v : rows->u) + x, pairs);
    else if (rows->y[0] < rows->u)
        store_in_turns(rows->y[0] + 2 * x, upper.luma, pairs);
    else
        store_in_turns(rows->u + 2 * x, pairs, upper.luma);
}

INLINE int make_rows(const struct encoder *encoder, const struct encode_rows *rows, enum yuv_layout layout, bool two,
                     int width)
{
    const struct encode_rows kept = *rows; // which no store can change
    const struct numbers numbers = find_numbers(encoder);
    const int even = width / 2 * 2;
    for (int x = 0; x < even; x += BLOCK)
        make_block(&numbers, &kept, layout, two, x + BLOCK <= even ? x : even - BLOCK); // the last may begin early
    return even;
}

// Calls make_rows with constants, so that each layout is compiled apart.
TARGET static int make_any_rows(const struct encoder *encoder, const struct encode_rows *rows, int width)
{
    const bool two = rows->rgba[1] != NULL;
    if (width < BLOCK)
        return 0;
    switch (rows->layout) {
    case YUV_GREY:
        return make_rows(encoder, rows, YUV_GREY, false, width);
    case YUV_FULL:
        return make_rows(encoder, rows, YUV_FULL, false, width);
    case YUV_PLANAR:
        return two ? make_rows(encoder, rows, YUV_PLANAR, true, width)
                   : make_rows(encoder, rows, YUV_PLANAR, false, width);
    case YUV_SEMIPLANAR:
        return two ? make_rows(encoder, rows, YUV_SEMIPLANAR, true, width)
                   : make_rows(encoder, rows, YUV_SEMIPLANAR, false, width);
    default:
        return make_rows(encoder, rows, YUV_PACKED, false, width);
    }
}
#endif
