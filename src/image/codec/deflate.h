// deflate.h: a fast deflate encoder (RFC 1951): single bytes and runs of one byte
//
// The filtered rows of a photograph are noise, in which longer repetitions are rare. A compressor that searches for
// them spends most of its time on the search, and its output is larger, because the codes of repetitions lengthen the
// codes of bytes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The output. Bits are written lowest first; up to 7 of them (`count`) wait in `bits` for the next byte.
struct deflate {
    uint8_t *at;
    uint64_t bits;
    int count;
};

// The size of a block: large enough that its code table costs little, small enough that the codes suit its bytes.
enum { DEFLATE_BLOCK = 1 << 17, DEFLATE_SLACK = 8 };

// Encodes a block of about DEFLATE_BLOCK bytes. from[-1] is the stream's previous byte; for the first block it differs
// from from[0]. DEFLATE_SLACK bytes behind the block are readable. Writes at most deflate_room(size) bytes to
// deflate->at. The last block ends the stream at a whole byte.
void deflate_block(struct deflate *deflate, const uint8_t *from, size_t size, bool last);
size_t deflate_room(size_t size);
