// test_batch_flow.c: a file that cannot be decoded to its end is filtered no further than that
#include "codec_files.h"
#include "command/batch/flow.h"
#include "unit.h"

enum { SIDE = 512 };

// A flow's feed, with its calls counted.
struct counted {
    struct flow *flow;
    int needs, mades, late; // late: after the flow has failed
};

static bool need(void *context, struct image *picture, int last)
{
    struct counted *counted = context;
    counted->needs++;
    counted->late += counted->flow->decode_failed || counted->flow->encode_failed;
    return counted->flow->feed.need(counted->flow, picture, last);
}

static void made(void *context, const struct image *encoded, int count)
{
    struct counted *counted = context;
    counted->mades++;
    counted->late += counted->flow->decode_failed || counted->flow->encode_failed;
    counted->flow->feed.made(counted->flow, encoded, count);
}

// Feeds a path with so many percent of the file. Returns the calls.
static struct counted run(struct codec *codec, const struct codec_buffer *whole, int percent, struct flow *flow)
{
    const struct codec_buffer file = {.data = whole->data, .size = whole->size * (size_t)percent / 100};
    const struct codec_settings settings = {.format = CODEC_JPEG, .quality = 90};
    struct counted counted = {.flow = flow};
    struct codec_buffer output = {0};
    struct codec_head head;
    struct codec_error error;
    struct path_result result;
    struct chain chain;
    char why[CHAIN_ERROR];
    bool lost;
    if (!CHECK(codec_head(codec, file.data, file.size, 0, &head, &error)) ||
        !CHECK(flow_begin(flow, codec, &file, &head, &settings, &output)) || !CHECK(chain_parse(&chain, "blur=2", why)))
        return counted;
    const struct path_setup setup = {.kind = PATH_CPU,
                                     .input = head.shape,
                                     .encode = head.shape,
                                     .encoded_only = true,
                                     .fed = true,
                                     .threads = 1,
                                     .chain = &chain};
    struct path *path = path_open(&setup, NULL);
    if (CHECK(path != NULL)) {
        path_feed(path, &(struct path_feed){&counted, need, made});
        CHECK(path_collect(path, &result, &lost));
    }
    path_close(path);
    codec_buffer_free(&output);
    return counted;
}

int main(void)
{
    struct codec *codec = codec_open();
    struct codec_buffer file = {0};
    struct flow flow;
    jpeg_make(&file, SIDE, SIDE, &(struct jpeg_wish){0});
    const struct counted whole = run(codec, &file, 100, &flow);
    CHECK(!flow.decode_failed && !flow.encode_failed && whole.needs == SIDE && whole.late == 0);
    const struct counted cut = run(codec, &file, 50, &flow);
    CHECK(flow.decode_failed && cut.late == 0);
    CHECK(cut.needs > SIDE / 4 && cut.needs < SIDE * 3 / 4 && cut.mades < whole.mades);
    codec_buffer_free(&file);
    codec_close(codec);
    return check_end(&unit);
}
