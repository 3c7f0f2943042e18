// number.h: arithmetic that many files need
#pragma once

// Returns `value`, or the nearest number from `least` to `most`.
static inline int clamp_int(int value, int least, int most)
{
    if (value < least)
        return least;
    return value > most ? most : value;
}
