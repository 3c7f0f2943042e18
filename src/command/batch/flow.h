// flow.h: decodes, filters and encodes an image in groups of rows, which stay in the cache
#pragma once

#include "image/codec/codec.h"
#include "path/path.h"

struct flow {
    struct path_feed feed; // callbacks for the path
    struct image picture;  // has only a shape; the path owns the pixels
    struct codec *codec;
    const struct codec_head *head;
    const struct codec_settings *settings;
    struct codec_buffer *buffer; // receives the encoded file
    int decoded;                 // number of rows decoded so far
    bool begun;                  // encoding has begun
    bool decode_failed, encode_failed;
    struct codec_error decode_error, encode_error; // encode_error also has the metadata that were left out
    int64_t decode_ns, encode_ns;
};

// Begins to decode. All arguments must stay valid until path_feed has returned. Returns false if the file cannot be
// decoded; decode_error then has the reason.
bool flow_begin(struct flow *flow, struct codec *codec, const struct codec_buffer *file, const struct codec_head *head,
                const struct codec_settings *settings, struct codec_buffer *buffer);
