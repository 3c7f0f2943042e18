// fuzz_config.c: hostile files of the live view: configuration, looks, last run, controls; a libFuzzer target, and by
// itself a run over seeds and their mutations
#include "base/log.h"
#include "base/text.h"
#include "command/live/controls.h"
#include "command/live/live_options.h"
#include "command/live/session.h"
#include "command/looks.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_range(bool ok, double value, double least, double most)
{
    if (ok && value != 0 && !(value >= least && value <= most))
        abort();
}

// Each setting has a name.
static void check_controls(const char *path)
{
    struct controls controls = {0};
    const bool ok = controls_load(&controls, path, &(struct option_texts){0});
    for (int i = 0; ok && i < controls.count; i++) {
        const char *equals = strchr(controls.setting[i].text, '=');
        if (!equals || equals == controls.setting[i].text || !equals[1])
            abort();
    }
    controls_free(&controls);
}

// Each look has a name and a chain that parses.
static void check_looks(void)
{
    static struct looks looks;
    char error[CHAIN_ERROR];
    looks_open(&looks, true);
    for (int i = 0; i < looks.count; i++) {
        struct chain chain;
        if (!looks.look[i].name[0] || strlen(looks.look[i].name) > LOOK_NAME ||
            !chain_parse(&chain, looks.look[i].chain, error))
            abort();
    }
    looks_close(&looks);
}

// The settings of a last run are written as they were read.
static void check_last_run(char *text)
{
    struct chain none = {0};
    struct settings settings, again;
    char kept[PROPERTIES_KEPT], kept_again[PROPERTIES_KEPT], *name, *value;
    int line = 0;
    settings_init(&settings, &none, PATH_AUTO);
    again = settings;
    for (char *rest = text; text_next_setting(&rest, &line, &name, &value);)
        properties_restore(live_properties, &settings, name, value ? value : "");
    properties_kept(live_properties, &settings, kept);
    strcpy(kept_again, kept);
    for (char *rest = kept_again; text_next_setting(&rest, &line, &name, &value);)
        properties_restore(live_properties, &again, name, value ? value : "");
    properties_kept(live_properties, &again, kept_again);
    if (strcmp(kept, kept_again) != 0)
        abort();
}

// Writes the bytes to the user's file of looks, in the current directory.
static void check_files(const uint8_t *data, size_t size, char *text)
{
    static char path[PATH_MAX];
    static int file = -1;
    char directory[PATH_MAX - 64];
    if (file < 0) {
        if (!getcwd(directory, sizeof(directory)) || (mkdir("monocle", 0700) != 0 && access("monocle", W_OK) != 0))
            abort();
        setenv("XDG_CONFIG_HOME", directory, 1);
        snprintf(path, sizeof(path), "%s/monocle/looks", directory);
        file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        abort();
    check_controls(path);
    if (size % 32 == 0) // it parses all looks of the program, too
        check_looks();
    check_last_run(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct live_options *options = calloc(1, sizeof(*options));
    char *text = malloc(size + 1); // exact size, so that a sanitizer reports reads beyond it
    if (options && text) {
        log_set_level(LOG_SILENT);
        memcpy(text, data, size);
        text[size] = '\0';
        if (size % 8 == 0) // files are slow
            check_files(data, size, text);
        memcpy(text, data, size);
        const bool ok = options_take_text(&live_command, "config", text, options);
        check_range(ok, options->threads, 1, 256);
        check_range(ok, options->mode.rate, 0.01, 1000);
        for (int i = 0; ok && i < options->controls.count; i++) {
            if (options->controls.text[i] < text || options->controls.text[i] > text + size)
                abort();
        }
    }
    if (options)
        options_file_free(&options->config); // without its text
    free(options);
    free(text);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

static const char *const seeds[] = {
    "# comment\n\noverlay=full\nfullscreen\nfilter = blur=2,gray\nthreads=2\nrate=29.97\nsize=640x480\n",
    "control=brightness=1\ncontrol = contrast=2\r\n  look=ink\nvsync=off\nframes=10\nkeys=path=P,quit=x",
    "soft = blur=3,gamma=1.4\n# x\nlook-1 = gray,lut=a.cube\nlook-1=invert\nsoft=\n-_ = none\nbrightness=1\r\n\n",
    "size = 640x480\nplace = -3,7\noverlay = small\nscope = histogram\nvsync = off\nsplit = path\nchain = blur=2\n",
    "loop\npath=cpu\ndevice=gpu\nmatrix=709\nrange=full\nlog-level=debug\nno-config\n=\n",
};

int main(int argc, char **argv)
{
    return fuzz_texts(&(struct fuzz_texts){seeds, sizeof(seeds) / sizeof(*seeds), "0123456789.-=#\n\r x,aeiou", 3},
                      argc, argv);
}
#endif
