// number.h: arithmetic that many files need
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

// Returns `value`, or the nearest number from `least` to `most`. There is none if `least` is greater: returns `least`.
static inline int clamp_int(int value, int least, int most)
{
    const int small = value > most ? most : value;
    return small < least ? least : small;
}

// Return the unsigned number in 1 to 4 bytes, of which the first is the highest (big) or the lowest (little).
static inline uint32_t number_big(const uint8_t *at, int bytes)
{
    uint32_t number = 0;
    for (int i = 0; i < bytes; i++)
        number = number << 8 | at[i];
    return number;
}

static inline uint32_t number_little(const uint8_t *at, int bytes)
{
    uint32_t number = 0;
    for (int i = bytes - 1; i >= 0; i--)
        number = number << 8 | at[i];
    return number;
}

// Write a number in the same way.
static inline void number_put_big(uint8_t *at, int bytes, size_t number)
{
    for (int i = bytes - 1; i >= 0; i--, number >>= 8)
        at[i] = (uint8_t)number;
}

static inline void number_put_little(uint8_t *at, int bytes, size_t number)
{
    for (int i = 0; i < bytes; i++, number >>= 8)
        at[i] = (uint8_t)number;
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
