// ffmpeg.h: the messages of the programs ffmpeg and ffprobe, which program.h starts
#pragma once

// Returns the message of a line of a log with levels ("[h264 @ 0x55d0] [error] message"), or NULL if it is no error.
const char *ffmpeg_fault(const char *line);
// Logs that a program did not start. `task` is a verb, such as "play"; `name` is the video; `error` is the result of
// program_start.
void ffmpeg_log_not_started(const char *task, const char *name, const char *program, int error);
