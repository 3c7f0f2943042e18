// random.h: pseudo-random numbers that are the same for the same seed on all machines
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t random_next(uint64_t *state); // splitmix64; any state may be the first one
double random_unit(uint64_t *state);   // 0 <= x < 1
void random_fill(void *memory, size_t bytes, uint32_t seed);
