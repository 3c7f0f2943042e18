// flow.h: a picture that is decoded, filtered and encoded some rows at a time, while these are in cache
#pragma once

#include "image/codec/codec.h"
#include "path/path.h"

struct flow {
    struct path_feed feed; // for the path
    struct image picture;  // its shape alone
    struct codec *codec;
    const struct codec_head *head;
    const struct codec_settings *settings;
    struct codec_buffer *buffer; // of the file being made
    int decoded;                 // rows that are there
    bool begun;                  // the file
    bool decode_failed, encode_failed;
    struct codec_error decode_error, encode_error; // why, and what the file will lack
    int64_t decode_ns, encode_ns;
};

// Begins to decode; what is given must stay until the path has been fed. False, and why in decode_error, where the file
// cannot be decoded.
bool flow_begin(struct flow *flow, struct codec *codec, const struct codec_buffer *file, const struct codec_head *head,
                const struct codec_settings *settings, struct codec_buffer *buffer);
