// fuzz_lines.c: hostile files of lane lines; a libFuzzer target, and by itself a run over seeds and their mutations
#include "base/log.h"
#include "lane/score.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_share(double share)
{
    if (!(share >= 0 && share <= 1))
        abort();
}

// Every frame that is read can be scored with itself, and has full marks.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = size > 0 ? fmemopen((void *)data, size, "r") : NULL;
    struct lines lines = {0};
    log_set_level(LOG_SILENT);
    const bool ok = file && lines_read(&lines, file, "fuzz");
    for (size_t i = 0; ok && i < lines.count; i++) {
        const struct lines_frame *frame = &lines.frame[i];
        struct score_frame score;
        if (!frame->y)
            continue;
        score_frame(frame, frame, 1280, 720, &score);
        if (score.truth != score.found)
            abort();
        check_share(score.accuracy);
        check_share(score.false_positives);
        check_share(score.false_negatives);
        if (score.accuracy < 1 || score.matches > score.truth)
            abort();
    }
    lines_free(&lines);
    if (file)
        fclose(file);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

static const char *const seeds[] = {
    ("{\"raw_file\":\"a\",\"h_samples\":[240,250,260],\"lanes\":[[-2,632.5,640],[10,20,-2]]}\n"
     "{\"raw_file\":\"b\",\"h_samples\":[240,250,260],\"lanes\":[]}\n"),
    "{\"lanes\":[[1,2],[3,4],[5,6],[7,8],[9,1]],\"h_samples\":[700,710],\"run_time\":9}\n\n{\"event\":\"end\"}\n",
    "{\"lanes\":[[1e5,99999],[0,0]],\"h_samples\":[0,100000]}",
};

int main(int argc, char **argv)
{
    return fuzz_texts(&(struct fuzz_texts){seeds, sizeof(seeds) / sizeof(*seeds), "0123456789.-e\n\"{}[]:,\\u", 3},
                      argc, argv);
}
#endif
