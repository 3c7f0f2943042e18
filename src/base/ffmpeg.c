// ffmpeg.c: the messages of the programs ffmpeg and ffprobe
#include "base/ffmpeg.h"

#include "base/log.h"

#include <errno.h>
#include <string.h>

const char *ffmpeg_fault(const char *line)
{
    static const char *const faults[] = {"[error] ", "[fatal] ", "[panic] "};
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        const char *at = strstr(line, faults[i]);
        if (at)
            return at + strlen(faults[i]);
    }
    return NULL;
}

void ffmpeg_log_not_started(const char *task, const char *name, const char *program, int error)
{
    if (error == ENOENT)
        log_error("cannot %s %s: %s is not installed; run: sudo apt install ffmpeg", task, name, program);
    else
        log_error("cannot %s %s: cannot start %s: %s", task, name, program, strerror(error));
}
