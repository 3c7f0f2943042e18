// kind.h: what a codec is to those who implement one (codec.h is for those who use it)
#pragma once

#include "image/codec/codec.h"

struct codec_kind {
    struct codec_info info;
    size_t state_bytes;                                 // what it keeps from file to file, zero at first; 0: nothing
    bool (*open)(void *state);                          // NULL where zero is a start; may fail for want of memory
    void (*close)(void *state);                         // also of a state whose open failed; NULL as open
    bool (*looks_so)(const uint8_t *data, size_t size); // by the first bytes
    // As codec_head, codec_decode and codec_encode, which have dealt with limits and defaults. A head allocates nothing
    // that grows with the picture. `encode` is NULL where files are only read; the buffer is empty.
    bool (*head)(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error);
    bool (*decode)(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error);
    bool (*encode)(void *state, const struct image *image, const struct codec_settings *settings,
                   struct codec_buffer *buffer, struct codec_error *error);
    // As codec_decode_begin and so on; all or none.
    bool (*decode_begin)(void *state, const uint8_t *data, size_t size, const struct image *image,
                         struct codec_error *error);
    int (*decode_rows)(void *state, struct image *image, int last, struct codec_error *error);
    bool (*encode_begin)(void *state, const struct image *image, const struct codec_settings *settings,
                         struct codec_buffer *buffer, struct codec_error *error);
    bool (*encode_rows)(void *state, const struct image *image, int count, struct codec_error *error);
};

#define CODEC_DECLARE(format, row) extern const struct codec_kind row;
CODEC_LIST(CODEC_DECLARE)

// Fills in the error; returns false.
bool codec_refuse(struct codec_error *error, enum codec_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Returns true if a file of `size` bytes can hold pixels that take at least `least` bytes, packed as well as its format
// allows. Otherwise the file is refused as cut short. A head calls this, so that a tiny file cannot make the program
// take gigabytes.
bool codec_can_hold(size_t size, uint64_t least, struct codec_error *error);
enum {
    CODEC_DEFLATE_MOST = 1032, // bytes that one byte of deflated data stands for (258 for two bits)
    // The same for LZW codes: one of c bits stands for at most 2^c bytes; the longest have 12 bits (GIF89a, appendix F;
    // TIFF 6.0, section 13).
    CODEC_LZW_MOST = 4096 * 8 / 12 + 1,
};
// Returns true if the image has the format and size of the file whose pixels are decoded now. Otherwise the file is
// refused: it is another one than its head was read from.
bool codec_fits(const struct image *image, const struct image_shape *shape, struct codec_error *error);
// Adds what the file will lack, in words such as "its colour profile is damaged and is left out". Not a fault.
void codec_leave_out(struct codec_error *error, const char *what);
// Makes room for that many bytes in all, keeping what there is. False where there is no memory.
bool codec_buffer_room(struct codec_buffer *buffer, size_t room);
