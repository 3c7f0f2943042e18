// number.h: arithmetic that many files need
#pragma once

#include <math.h>
#include <stdint.h>

// Returns `value`, or the nearest number from `least` to `most`. There is none if `least` is greater: returns `least`.
static inline int clamp_int(int value, int least, int most)
{
    const int small = value > most ? most : value;
    return small < least ? least : small;
}

// Returns the number of a half-precision float.
static inline double number_of_half(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    if (exponent == 31)
        size = fraction ? (double)NAN : (double)INFINITY;
    return half >> 15 ? -size : size;
}
