// fuzz_captures.c: hostile captures; a libFuzzer target, and by itself a run over seeds and their mutations
#include "tune/captures.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A capture that is read, printed and read again is the same.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct capture_entry entry, again;
    char why[CAPTURE_WHY];
    size_t printed, reprinted;
    char *exact = malloc(size ? size : 1); // so that a sanitizer sees a byte too many
    if (size)
        memcpy(exact, data, size);
    const bool ok = capture_parse(&entry, exact, size, why);
    free(exact);
    if (!ok)
        return 0;
    char *text = capture_print(&entry, &printed);
    if (!capture_parse(&again, text, printed, why))
        abort();
    char *other = capture_print(&again, &reprinted);
    if (printed != reprinted || memcmp(text, other, printed) != 0)
        abort();
    free(other);
    free(text);
    capture_free(&again);
    capture_free(&entry);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

#define HEAD(chain, format, size, color, output)                                                                       \
    "{\"monocle_capture\":1,\"chain\":\"" chain "\",\"format\":\"" format "\"," size "," color ",\"output\":\"" output \
    "\",\"device\":\"D\",\"threads\":2}\n"

static const char *const seeds[] = {
    HEAD("invert", "grey", "\"width\":2,\"height\":2", "\"matrix\":\"601\",\"range\":\"full\"", "buffer") "abcd",
    HEAD("gray,blur=2", "nv21", "\"width\":2,\"height\":2", "\"matrix\":\"709\",\"range\":\"limited\"",
         "image") "abcdef",
    HEAD("none", "rgba", "\"width\":1,\"height\":1", "\"matrix\":\"2020\",\"range\":\"full\"", "image") "abcd",
};

int main(int argc, char **argv)
{
    return fuzz_texts(&(struct fuzz_texts){seeds, sizeof(seeds) / sizeof(*seeds), "0123456789.-\n\"{}[]:,\\u", 3}, argc,
                      argv);
}
#endif
