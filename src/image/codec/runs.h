// runs.h: a deflate stream (RFC 1951) of single bytes and runs of one byte, made quickly
//
// What is left of a photograph when each row has been filtered is noise: longer repetitions are seldom found in it,
// cost most of the time of any compressor that looks for them, and make its output larger, since their lengths blur the
// frequencies of the bytes. docs/dependencies.md has the figures.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where bits go, lowest first; up to 7 wait in `bits`.
struct runs {
    uint8_t *at;
    uint64_t bits;
    int count;
};

// A block that codes are made for: large enough that they cost little, small enough that they fit.
enum { RUNS_BLOCK = 1 << 17, RUNS_SLACK = 8 };

// Packs a block, of about RUNS_BLOCK bytes where there are so many. The byte before `from` is the one before in the
// stream (at its beginning: another one than the first), and RUNS_SLACK bytes behind the block can be read. At most
// runs_room bytes are written to `at`. The last block ends the stream, at a whole byte.
void runs_block(struct runs *runs, const uint8_t *from, size_t size, bool last);
size_t runs_room(size_t size);
