// deflate.c: a fast deflate encoder: single bytes and runs of one byte
#include "image/codec/deflate.h"

#include <stdlib.h>
#include <string.h>

enum {
    END = 256,
    SYMBOLS = 286,    // bytes, the end, codes of lengths
    LENGTH_BITS = 15, // of the longest code
    LEAST = 3,        // bytes of the shortest run
    MOST = 258,       // of the longest
    WORD = 8,
};

// Code, extra bits and first length of each code of lengths from 257 on (RFC 1951, 3.2.5).
static const struct {
    uint16_t first;
    uint8_t extra;
} lengths[] = {
    {3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1},  {13, 1},
    {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3},  {59, 3},
    {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0},
};

struct run_code {
    uint16_t bits; // lowest first
    uint8_t count;
};

static inline uint64_t word_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

// Returns the number of bytes from `at` on that equal at[-1].
static size_t run_length(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *p = at;
    while (p < end && *p == at[-1])
        p++;
    return (size_t)(p - at);
}

static int length_code(size_t length)
{
    int code = 0;
    while (code + 1 < (int)(sizeof(lengths) / sizeof(*lengths)) && lengths[code + 1].first <= length)
        code++;
    return code;
}

// Returns the longest piece of a run whose rest is not too short for a run.
static size_t run_piece(size_t left)
{
    if (left <= MOST)
        return left;
    return left < MOST + LEAST ? left - LEAST : MOST;
}

static void count_symbols(const uint8_t *from, size_t size, uint32_t counts[SYMBOLS])
{
    uint32_t tables[4][256] = {{0}}; // in one table, equal bytes in a row would wait for each other
    const uint8_t *const end = from + size;
    memset(counts, 0, SYMBOLS * sizeof(*counts));
    while (from < end) {
        const uint64_t word = word_at(from);
        if (end - from >= WORD && word == word_at(from - 1)) {
            size_t left = run_length(from, end);
            from += left;
            for (size_t piece; left > 0; left -= piece) {
                piece = run_piece(left);
                counts[END + 1 + length_code(piece)]++;
            }
            continue;
        }
        const int some = end - from < WORD ? (int)(end - from) : WORD;
        for (int i = 0; i < some; i++)
            tables[i % 4][from[i]]++;
        from += some;
    }
    for (int i = 0; i < 256; i++)
        counts[i] = tables[0][i] + tables[1][i] + tables[2][i] + tables[3][i];
    counts[END] = 1;
}

struct node {
    uint32_t weight;
    int16_t symbol; // -1: a pair
    int16_t parent;
};

static int by_weight(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return x->symbol - y->symbol;
}

// Computes the depths of the leaves of a Huffman tree. The leaves are sorted by weight, and so are the pairs.
static void tree_depths(struct node *nodes, int leaves, uint8_t depths[SYMBOLS])
{
    int leaf = 0, pair = leaves;
    for (int next = leaves; next < 2 * leaves - 1; next++) {
        nodes[next] = (struct node){.symbol = -1};
        for (int i = 0; i < 2; i++) {
            const bool take_leaf = leaf < leaves && (pair >= next || nodes[leaf].weight <= nodes[pair].weight);
            const int child = take_leaf ? leaf++ : pair++;
            nodes[child].parent = (int16_t)next;
            nodes[next].weight += nodes[child].weight;
        }
    }
    uint8_t depth[2 * SYMBOLS] = {0};
    for (int i = 2 * leaves - 3; i >= 0; i--) {
        depth[i] = (uint8_t)(depth[nodes[i].parent] + 1);
        if (i < leaves)
            depths[nodes[i].symbol] = depth[i];
    }
}

// Limits codes to LENGTH_BITS, then lengthens others until the sum of 2^-length is exactly 1, as decoders require. The
// rarest symbols get the longest codes.
static void limit_depths(const struct node *nodes, int leaves, uint8_t depths[SYMBOLS])
{
    int at_length[LENGTH_BITS + 1] = {0};
    uint32_t sum = 0; // in units of 2^-LENGTH_BITS
    for (int i = 0; i < leaves; i++) {
        const int depth = depths[nodes[i].symbol];
        at_length[depth < LENGTH_BITS ? depth : LENGTH_BITS]++;
    }
    for (int i = 1; i <= LENGTH_BITS; i++)
        sum += (uint32_t)at_length[i] << (LENGTH_BITS - i);
    for (; sum > 1u << LENGTH_BITS; sum--) { // one of the longest and the longest shorter one become siblings
        int length = LENGTH_BITS - 1;
        while (at_length[length] == 0)
            length--;
        at_length[LENGTH_BITS]--;
        at_length[length]--;
        at_length[length + 1] += 2;
    }
    for (int i = 0, length = LENGTH_BITS; i < leaves; i++) {
        while (at_length[length] == 0)
            length--;
        depths[nodes[i].symbol] = (uint8_t)length;
        at_length[length]--;
    }
}

static void make_depths(const uint32_t counts[SYMBOLS], uint8_t depths[SYMBOLS])
{
    struct node nodes[2 * SYMBOLS];
    int leaves = 0;
    memset(depths, 0, SYMBOLS);
    for (int i = 0; i < SYMBOLS; i++)
        if (counts[i] > 0)
            nodes[leaves++] = (struct node){.weight = counts[i], .symbol = (int16_t)i};
    qsort(nodes, (size_t)leaves, sizeof(*nodes), by_weight);
    tree_depths(nodes, leaves, depths); // at least two leaves: a byte or a run, and the end
    limit_depths(nodes, leaves, depths);
}

static uint16_t reverse(uint32_t bits, int count)
{
    uint32_t reversed = 0;
    for (int i = 0; i < count; i++)
        reversed |= (bits >> i & 1) << (count - 1 - i);
    return (uint16_t)reversed;
}

// RFC 1951, 3.2.2: codes of one length follow each other in the order of their symbols.
static void make_codes(const uint8_t *depths, int symbols, struct run_code *codes)
{
    uint32_t next = 0;
    for (int length = 1; length <= LENGTH_BITS; length++, next <<= 1)
        for (int i = 0; i < symbols; i++)
            if (depths[i] == length)
                codes[i] = (struct run_code){reverse(next++, length), (uint8_t)length};
}

// At most 57 bits, these included, may wait.
static inline void put(struct deflate *deflate, uint32_t bits, int count)
{
    deflate->bits |= (uint64_t)bits << deflate->count;
    deflate->count += count;
}

static inline void flush(struct deflate *deflate)
{
    memcpy(deflate->at, &deflate->bits, sizeof(deflate->bits));
    deflate->at += deflate->count >> 3;
    deflate->bits >>= deflate->count & ~7;
    deflate->count &= 7;
}

// Writes the lengths of the codes, in a fixed code: 0 to 13 have four bits; 14, 15, 17 and 18 have five. The only code
// of distances is for distance 1.
static void put_head(struct deflate *deflate, const uint8_t depths[SYMBOLS], bool last)
{
    enum { CODES = 19 };
    static const uint8_t order[CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    static const uint8_t own[CODES] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 0, 5, 5};
    struct run_code codes[CODES];
    make_codes(own, CODES, codes);
    put(deflate, last ? 1 : 0, 1);
    put(deflate, 2, 2);
    put(deflate, SYMBOLS - 257, 5);
    put(deflate, 0, 5);
    put(deflate, CODES - 4, 4);
    flush(deflate);
    for (int i = 0; i < CODES; i++) {
        put(deflate, own[order[i]], 3);
        flush(deflate);
    }
    for (int i = 0, zeros; i < SYMBOLS; i += zeros) {
        for (zeros = 0; i + zeros < SYMBOLS && depths[i + zeros] == 0 && zeros < 138; zeros++)
            ;
        int code = depths[i];
        if (zeros >= 3)
            code = zeros >= 11 ? 18 : 17;
        put(deflate, codes[code].bits, codes[code].count);
        if (code == 18)
            put(deflate, (uint32_t)(zeros - 11), 7);
        else if (code == 17)
            put(deflate, (uint32_t)(zeros - 3), 3);
        else
            zeros = 1;
        flush(deflate);
    }
    put(deflate, codes[1].bits, codes[1].count);
    flush(deflate);
}

static void put_run(struct deflate *deflate, const struct run_code codes[SYMBOLS], size_t left)
{
    for (size_t piece; left > 0; left -= piece) {
        piece = run_piece(left);
        const int length = length_code(piece);
        const struct run_code code = codes[END + 1 + length];
        put(deflate, code.bits, code.count);
        put(deflate, (uint32_t)(piece - lengths[length].first), lengths[length].extra);
        put(deflate, 0, 1); // the distance
        flush(deflate);
    }
}

static void put_symbols(struct deflate *deflate, const struct run_code codes[SYMBOLS], const uint8_t *from, size_t size)
{
    const uint8_t *const end = from + size;
    struct deflate local = *deflate; // in registers
    while (from < end) {
        if (end - from >= WORD && word_at(from) == word_at(from - 1)) {
            const size_t length = run_length(from, end);
            put_run(&local, codes, length);
            from += length;
            continue;
        }
        const int some = end - from < WORD ? (int)(end - from) : WORD;
        for (int i = 0; i < some; i++) {
            put(&local, codes[from[i]].bits, codes[from[i]].count);
            if (i % 3 == 2) // 7 and three times 15 bits
                flush(&local);
        }
        flush(&local);
        from += some;
    }
    put(&local, codes[END].bits, codes[END].count);
    flush(&local);
    *deflate = local;
}

size_t deflate_room(size_t size)
{
    return size + size / 4 + 512; // nine bits per byte always suffice; limited codes take a little more
}

void deflate_block(struct deflate *deflate, const uint8_t *from, size_t size, bool last)
{
    uint32_t counts[SYMBOLS];
    uint8_t depths[SYMBOLS];
    struct run_code codes[SYMBOLS];
    count_symbols(from, size, counts);
    make_depths(counts, depths);
    make_codes(depths, SYMBOLS, codes);
    put_head(deflate, depths, last);
    put_symbols(deflate, codes, from, size);
    if (last && deflate->count > 0) {
        deflate->count = 8;
        flush(deflate);
    }
}
