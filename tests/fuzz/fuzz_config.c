// fuzz_config.c: hostile configuration files of the live view; a libFuzzer target, and by itself a run over seeds and
// their mutations
#include "base/log.h"
#include "command/live/live_options.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_range(bool ok, double value, double least, double most)
{
    if (ok && value != 0 && !(value >= least && value <= most))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct live_options *options = calloc(1, sizeof(*options));
    char *text = malloc(size + 1); // exact size, so that a sanitizer reports reads beyond it
    if (options && text) {
        if (size)
            memcpy(text, data, size);
        text[size] = '\0';
        log_set_level(LOG_SILENT);
        const bool ok = options_take_text(&live_list, "config", text, options);
        check_range(ok, options->threads, 1, 256);
        check_range(ok, options->mode.rate, 0.01, 1000);
        for (int i = 0; ok && i < options->controls.count; i++) {
            if (options->controls.text[i] < text || options->controls.text[i] > text + size)
                abort();
        }
    }
    free(options);
    free(text);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

static const char *const seeds[] = {
    "# comment\n\noverlay=full\nfullscreen\nfilter = blur=2,gray\nthreads=2\nrate=29.97\nsize=640x480\n",
    "control=brightness=1\ncontrol = contrast=2\r\n  look=ink\nvsync=off\nframes=10\nkeys=path=P,quit=x",
    "loop\npath=cpu\ndevice=gpu\nmatrix=709\nrange=full\nlog-level=debug\nno-config\n=\n",
};

int main(int argc, char **argv)
{
    return fuzz_texts(&(struct fuzz_texts){seeds, sizeof(seeds) / sizeof(*seeds), "0123456789.-=#\n\r x,aeiou", 3},
                      argc, argv);
}
#endif
