// output_check.h: checks the output files of a run before it starts. Main thread.
#pragma once

#include "base/claim.h"
#include "command/command.h"
#include "command/live/options.h"
#include "source/source.h"

// Checks the paths as the user wrote them: formats, standard output, and outputs that cannot go together. Changes
// --record /dev/stdout to "-" and sets options->stdout_taken. False: they are wrong (logged).
bool outputs_check_names(struct live_options *options);
// Checks that no output is an input or another output, then that each can be written, and claims its name. Returns
// EXIT_OK, EXIT_USAGE or EXIT_NOTHING (logged).
enum output_kind { OUTPUT_RECORD, OUTPUT_SCREENSHOT, OUTPUT_TRUTH, OUTPUT_TRACE, OUTPUT_CONTROLS, OUTPUTS };
enum exit_code outputs_check_files(const struct live_options *options, struct claim claims[OUTPUTS]);
// Returns true if the open source reads none of the outputs. False is logged.
bool outputs_spare_source(const struct live_options *options, const struct source *source);
// Returns true if a screenshot can be written to `path` during the run: its suffix names no format other than PNG, and
// it is neither the source, whose text is `text`, nor another output of the run, nor a pipe, which could block.
// `recording`: the file of the recording; NULL: none. False is logged.
bool output_check_screenshot(const struct live_options *options, const struct source *source, const char *text,
                             const char *recording, const char *path);
