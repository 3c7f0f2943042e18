// user_rows.h: a row of a user's filter on the CPU; src/path/user_rows.c compiles it after the filter
//
// The host defines USER_FILTER, the function that calls the filter; USER_STENCIL and USER_RADIUS for a stencil;
// USER_WARP for a warp; and USER_SECOND for a point filter that gets its previous output or input.
#if defined(USER_STENCIL)

// `in` has the rows within the radius. Alpha comes from the centre row.
INLINE void user_make(const int32_t *restrict args, const uint8_t *const *in, uint8_t *restrict to, int width, int y,
                      int step)
{
    const uint8_t *row[2 * USER_RADIUS + 1];
    for (int i = 0; i < 2 * USER_RADIUS + 1; i++)
        row[i] = in[i];
    for (int i = 0; i < step * width; i++)
        to[i] = (uint8_t)USER_FILTER((view){row + USER_RADIUS, i, step, USER_RADIUS, i / step, y}, args);
    for (int i = 3; step == 4 && i < step * width; i += 4)
        to[i] = row[USER_RADIUS][i];
}

void user_row(const int32_t *args, const uint8_t *const *in, uint8_t *to, int width, int y, int step)
{
    if (step == 4)
        user_make(args, in, to, width, y, 4);
    else
        user_make(args, in, to, width, y, 1);
}

#elif defined(USER_WARP)

// Writes the places of the row's pixels, in 1/256 pixel: u, and `step` numbers after it v. Compilers make vectors of
// the loop if the filter has neither loops nor divisions by values that differ from pixel to pixel.
INLINE void user_places(const int32_t *args, int32_t *restrict u, int32_t *restrict v, int width, int y)
{
    for (int x = 0; x < width; x++) {
        const place at = USER_FILTER(x, y, args);
        u[x] = at.x;
        v[x] = at.y;
    }
}

void user_row(const int32_t *args, const uint8_t *const *in, uint8_t *to, int width, int y, int step)
{
    user_places(args, (int32_t *)to, (int32_t *)to + step, width, y);
}

#else

// in[0] is the row, which may be `to`; in[1] is that of the second picture.
void user_row(const int32_t *args, const uint8_t *const *in, uint8_t *to, int width, int y, int step)
{
    const uint32_t *from = (const uint32_t *)in[0];
    uint32_t *out = (uint32_t *)to;
#ifdef USER_SECOND
    const uint32_t *second = (const uint32_t *)in[1];
#endif
    // Without GCC's pragma ivdep: with it, GCC 12.2 reads a wrong argument for ARG(args, x > 3).
    for (int x = 0; x < width; x++) {
        pixel p = pixel_of(from[x]);
#ifdef USER_SECOND
        p = USER_FILTER(p, pixel_of(second[x]), x, y, args);
#else
        p = USER_FILTER(p, x, y, args);
#endif
        out[x] = word_of(p);
    }
}

#endif
