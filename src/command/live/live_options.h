// live_options.h: the arguments of the `live` command
#pragma once

#include "command/shared.h"
#include "filter/chain.h"
#include "screen/keys.h"
#include "source/source.h"
#include "stream/output_files.h"
#include "stream/playback.h"
#include "stream/settings.h"

enum { OPTION_NOT_GIVEN = 0xff };

struct live_options {
    const char *source;
    struct playlist playlist; // the sources after it; moved to the stream
    const char *filters, *look, *camera, *titles;
    int path; // enum path_kind; -1: not given
    const char *device;
    int threads;
    struct mode_options mode;
    struct option_texts controls;
    const char *load_controls;
    bool list_controls;
    int matrix, range;
    bool loop, fast, headless, showcase, error_window;
    int frames; // 0: not given
    bool json, on_demand;
    struct output_options outputs;
    struct option_texts virtual_camera;
    const char *stages; // directory of --stages; NULL: none
    int matte_wait;     // -1: not given
    int vsync;          // 0: on, 1: off; -1: not given
    const char *keys, *socket;
    const char *kernels, *filter_dir;
    int log_level;
    bool no_config;
    struct option_file config;

    struct settings settings;  // the members that options set; all bytes of the others are OPTION_NOT_GIVEN
    struct source_setup setup; // of the source, without its controls
    struct chain chain;        // of --camera, --look, --filter and --titles
    struct keys key_map;       // of --keys
};

int live_main(int argc, char **argv); // live.c: runs the command
// Parses the arguments. False: the command ends with the exit code *code (an error is logged). The texts belong to
// argv.
bool live_parse(struct live_options *options, int argc, char **argv, int *code);
// Sets the members of the settings that an option has set: each row of the table whose place is in `set`.
void live_set_settings(const struct live_options *options, struct settings *settings);
// Returns true if the environment names an X server or a Wayland compositor.
bool live_has_display(void);
