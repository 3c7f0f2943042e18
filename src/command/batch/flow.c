// flow.c: decodes, filters and encodes an image in groups of rows
#include "command/batch/flow.h"

#include "base/clock.h"

#include <assert.h>

enum { ROWS = 16 }; // rows per call of the encoder: whole MCUs of a JPEG

static_assert((int)CODEC_ROWS_MORE <= (int)PATH_FEED_MORE, "codecs work with the rows that a path keeps");

static bool need(void *context, struct image *picture, int last)
{
    struct flow *flow = context;
    if (flow->encode_failed)
        return false;
    if (last < flow->decoded)
        return true;
    const int64_t start_ns = clock_now_ns();
    flow->decoded = codec_decode_rows(flow->codec, flow->head, picture, last, &flow->decode_error);
    flow->decode_failed = flow->decoded == 0;
    flow->decode_ns += clock_now_ns() - start_ns;
    return !flow->decode_failed;
}

static void made(void *context, const struct image *encoded, int count)
{
    struct flow *flow = context;
    if ((count % ROWS != 0 && count < encoded->shape.height) || flow->encode_failed)
        return;
    const int64_t start_ns = clock_now_ns();
    const bool ok =
        (flow->begun || codec_encode_begin(flow->codec, encoded, flow->settings, flow->buffer, &flow->encode_error)) &&
        codec_encode_rows(flow->codec, encoded, flow->settings, count, &flow->encode_error);
    flow->begun = true;
    flow->encode_failed = !ok;
    flow->encode_ns += clock_now_ns() - start_ns;
}

bool flow_begin(struct flow *flow, struct codec *codec, const struct codec_buffer *file, const struct codec_head *head,
                const struct codec_settings *settings, struct codec_buffer *buffer)
{
    *flow = (struct flow){
        .feed = {.context = flow, .need = need, .made = made},
        .picture.shape = head->shape,
        .codec = codec,
        .head = head,
        .settings = settings,
        .buffer = buffer,
    };
    return codec_decode_begin(codec, file->data, file->size, head, &flow->picture, &flow->decode_error);
}
