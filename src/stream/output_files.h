// output_files.h: chooses names of output files; checks the files that options name before a run, opens and completes
// them. Main thread.
#pragma once

#include "base/file.h"
#include "base/process.h"
#include "filter/chain.h"
#include "source/source.h"

struct meter;
struct outputs;

// ---- names ----

enum { OUTPUT_NAME = 4096 };

// Returns true if the file's suffix names a format of recordings. Devices, pipes and standard output need none. False
// is logged.
bool output_check_recording(const char *path);
// Returns true if the path is a regular file, or can become one: no standard output, device or pipe.
bool output_is_file(const char *path);

// Creates the first "monocle-NNNN.SUFFIX" that does not exist yet. Returns its descriptor; -1 is logged.
int output_new_name(char name[OUTPUT_NAME], const char *suffix);
// Creates "NAME-2.SUFFIX" or the first free number; `first` is NAME.SUFFIX. Returns its descriptor; -1 is logged.
int output_name_after(char name[OUTPUT_NAME], const char *first);
// Creates an empty file for a picture of this chain: "STEM-FILTER-FILTER.png" in the current directory, or
// "STEM-LOOK.png" if the chain has a name, `look`. STEM is that of the image file `like`; if `like` is "" or NULL,
// "monocle-NNNN.png". If it exists, takes the next free number. False on failure (logged).
bool output_claim_new(struct claim *claim, const char *like, const struct chain *chain, const char *look);
// Writes the absolute name of a file for messages, with "~" for the home directory; the name itself if there is no such
// file.
void output_place(const char *name, char text[OUTPUT_NAME]);
// Writes the last frame of a run as monocle-last.png in the current directory; `name` becomes the absolute path.
// Replaces an existing file only if it is a regular file that the source, named `text`, does not read. Otherwise writes
// the file of output_claim_new. `like`: as of imagefile_write_png.
bool output_save_last(const struct image *picture, const struct source *source, const char *text, const char *like,
                      char name[OUTPUT_NAME]);
// Returns true if output_save_last can write; tries it. False is logged.
bool output_last_possible(void);

// ---- the files of a run ----

// NULL: no such output.
struct output_options {
    const char *record, *screenshot, *truth, *trace, *save_controls;
    int record_quality; // 0: not given
    int settle;         // number of a camera's first frames to leave out; -1: not given
    bool overwrite;     // the files of `record`, `screenshot` and `trace`
    bool on_stdout;     // an output is written to standard output; set by output_files_check
};

// What the outputs must not overwrite; NULL: none.
struct output_inputs {
    const char *source;        // as source_setup.text
    const struct chain *chain; // its filters may read files; NULL: none
    const char *kernels;       // a directory
    const char *option, *file; // another input, and its option
};

enum output_kind { OUTPUT_RECORD, OUTPUT_SCREENSHOT, OUTPUT_TRUTH, OUTPUT_TRACE, OUTPUT_CONTROLS, OUTPUT_KINDS };

struct output_files {
    const struct output_options *options; // borrowed
    struct claim claim[OUTPUT_KINDS];
    struct growing trace;
};

// Checks the paths as the user wrote them: formats, standard output, and outputs that cannot go together. Changes
// `record` from /dev/stdout to "-". `json`: the command prints JSON. False: they are wrong (logged).
bool output_files_check(struct output_options *options, bool json);
// Returns how many of a camera's first frames this run leaves out: default: 2 with a recording or a screenshot, else 0.
int output_files_settle(const struct output_options *options);
// Checks that no output is an input or another output, then that each can be written, and claims its name. Returns
// EXIT_OK, EXIT_USAGE or EXIT_NOTHING (logged).
enum exit_code output_files_claim(struct output_files *files, const struct output_options *options,
                                  const struct output_inputs *inputs);
// Returns true if the open source reads none of the outputs. False is logged.
bool output_files_spare(const struct output_options *options, const struct source *source);
// Returns true if a screenshot can be written to `path` during the run: its suffix names no format other than PNG, and
// it is neither an input, nor what the source reads, nor another output of the run, nor a pipe, which could block.
// False is logged. `in`: only `source` and `chain` are read.
bool output_files_allow_screenshot(const struct output_files *files, const struct outputs *outputs,
                                   const struct output_inputs *in, const struct source *source, const char *path);

// Creates the files that grow during the run: the trace, of the meter, and the recording. Before it, call
// process_hold_signals: a signal must not leave a file incomplete. False on failure (logged).
bool output_files_open(struct output_files *files, struct outputs *outputs, struct meter *meter);
// Writes the screenshot at the end of the run. `picture` NULL: there is none, because of `missing`. `like`: as of
// imagefile_write_png. False on failure (logged).
bool output_files_save(struct output_files *files, const struct image *picture, const char *like, const char *missing);
// Call after the capture has stopped. Returns false if the meter's trace is incomplete (logged).
bool output_files_close_trace(struct output_files *files, struct meter *meter);
