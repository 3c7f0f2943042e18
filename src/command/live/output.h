// output.h: the pictures and recordings a user asks for
#pragma once

#include "image/image.h"
#include "image/y4m.h"
#include "source/source.h"

enum { OUTPUT_NAME = 4096 };

struct recorder {
    struct y4m_writer *writer; // NULL: not recording
    char name[OUTPUT_NAME];
    char first[OUTPUT_NAME]; // the first file's name, if the recording was continued in others
    bool created;            // the file did not exist before
    uint64_t frames;
    uint64_t left_out; // dropped while the reader had stalled
};

// Makes the first "monocle-NNNN.SUFFIX" that does not exist yet, empty. False on failure (logged).
bool output_new_name(char name[OUTPUT_NAME], const char *suffix);
// Writes the picture as PNG under the first free name of that kind. False on failure (logged): no file is left then.
bool output_save_new(const struct image *picture, char name[OUTPUT_NAME]);
// Whether a new file can be made in the current directory. False is logged.
bool output_new_possible(void);
// Whether an output would overwrite what the run reads: the source by its `text` on the command line or, where that is
// open already, any file it reads; settings (NULL: none); or a kernel in the directory (NULL: none). True is logged,
// but for the source.
bool output_is_source(const char *path, const char *text, const struct source *source);
bool output_is_settings(const char *path, const char *settings);
bool output_is_kernel(const char *path, const char *directory);
// Whether no two outputs are one file, however they are spelled. NULL outputs are none. False is logged.
bool outputs_distinct(const char *const *outputs, int count);

// Whether a path means standard output, by its name or because that goes to the same file. False for NULL.
bool output_is_stdout(const char *path);
// Whether an output can be written there; `what` says whose it is ("--record"), `atomic` that it is written by
// file_write_atomic. False is logged.
bool output_writable(const char *what, const char *path, bool atomic);

// `path` NULL: the next free name. False on failure (logged).
bool recorder_open(struct recorder *recorder, const char *path, const struct source_info *info);
// Ends the recording and begins another of frames as the source has them now, beside it: "NAME-2.y4m", or the first
// number that is free. False where either fails, or the recording is no file (logged).
bool recorder_continue(struct recorder *recorder, const struct source_info *info);
// A reader that has stalled is waited for, or (`wait` false) pictures are left out meanwhile. False when the recording
// cannot go on (logged by the writer).
bool recorder_add(struct recorder *recorder, const struct image *rgba, bool wait);
// Returns whether every frame that was not dropped is safely written; a warning counts the dropped ones. Removes a film
// without frames if recorder_open created its file (logged).
bool recorder_close(struct recorder *recorder);
