// program.h: OpenCL programs from text, with compiled ones kept on disk
#pragma once

#include "compute/device.h"

// Builds `text` for the device, with NV_ARCH defined as struct device_info has it. Compiled binaries are kept in the
// cache directory under a key made of text, options, device and driver; an entry that is damaged, foreign or refused by
// the driver is rebuilt and replaced. Safe on any thread. NULL on failure: `*error` is then the compiler's log, which
// the caller frees, and nothing is logged.
cl_program program_build(struct device *device, const char *text, const char *options, char **error);

// Returns everything that a built program depends on: the device, its driver, the options and the text. The caller
// frees it. NULL if there is no memory.
char *program_key(const struct device *device, const char *text, const char *options, size_t *bytes);

// Logs a warning if the cache directory is unsafe: programs are then built without it.
void program_check_cache(void);

// NVIDIA's compiler ignores #line and counts the lines of the whole text: "<kernel>:51:15". Replaces each such place by
// the file and line that the text's #line directives give it: "sharpen.cl:5:15". The caller frees the result. NULL if
// there is no memory.
char *build_log_places(const char *log, const char *text);
