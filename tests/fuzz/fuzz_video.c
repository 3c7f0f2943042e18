// fuzz_video.c: hostile answers of ffprobe; a libFuzzer target, and by itself a run over seeds and their mutations
#include "source/video_info.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// An accepted video has a possible size, a rate and a name for ffmpeg; a refused one has a reason in one line.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), why[VIDEO_WHY] = ""; // exact size, so that a sanitizer reports reads beyond it
    const char *size_why;
    struct video_info info;
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    if (video_info_parse(text, size, &info, why)) {
        const struct image_shape *shape = &info.shape;
        if (!pixfmt_size_ok(shape->format, shape->width, shape->height, &size_why) || info.rate_numerator <= 0 ||
            info.rate_denominator <= 0 || !(info.seconds >= 0) || !info.format)
            abort();
        video_info_pair(&info, text, size);
        if (info.rate_numerator <= 0 || info.rate_denominator <= 0)
            abort();
        if (video_info_convert(&info, PIXFMT_YV12))
            abort();
    } else if (!why[0]) {
        abort();
    }
    free(text);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

static const char *const seeds[] = {
    ("{\"streams\":[{\"codec_name\":\"vp9\",\"width\":320,\"height\":180,\"pix_fmt\":\"yuvj420p\",\"r_frame_rate\":"
     "\"30000/1001\","
     "\"avg_frame_rate\":\"25/1\",\"color_range\":\"tv\",\"color_space\":\"bt709\",\"field_order\":\"tt\","
     "\"duration\":\"2.0\",\"tags\":{\"rotate\":\"90\"},\"side_data_list\":[{\"rotation\":-90}]}],"
     "\"format\":{\"format_name\":\"mov\",\"duration\":\"2.000000\"}}"),
    ("{\"streams\":[{\"codec_name\":\"ffv1\",\"width\":32768,\"height\":32768,\"pix_fmt\":\"gray\",\"r_frame_rate\":"
     "\"90000/1\","
     "\"avg_frame_rate\":\"0/0\"}],\"format\":{}}"),
    ("{\"streams\":[{\"width\":32,\"height\":32,\"codec_name\":\"h264\",\"r_frame_rate\":\"25/1\"}],\"frames\":["
     "{\"best_effort_timestamp_time\":\"0\",\"interlaced_frame\":1},"
     "{\"best_effort_timestamp_time\":\"0.08\",\"interlaced_frame\":1}]}"),
    "{\"streams\":[],\"format\":{\"format_name\":\"tty\"}}",
};

int main(int argc, char **argv)
{
    return fuzz_texts(&(struct fuzz_texts){seeds, sizeof(seeds) / sizeof(*seeds), "0123456789.-/{}[]\":,exynanif", 8},
                      argc, argv);
}
#endif
