// work.h: one file on its way: read, decoded, and, once its filters have run, encoded and written
#pragma once

#include "command/batch/existing.h"
#include "command/batch/runner.h"

// How outputs shall be; zero is the default.
struct work_rules {
    enum existing_rule existing;
    struct sources sources;
    const char *job; // everything that decides outputs, as text
    const struct chain *chain;
    int quality;          // 0: the input's own
    int subsampling;      // enum work_subsampling
    int compression;      // of PNG; 0: quick
    bool strip;           // metadata
    bool keep_turned;     // pixels as they lie, and the orientation with them
    uint64_t most_pixels; // 0: no limit of the user's
    bool hashes;          // outputs' are wanted
};

enum work_subsampling { SUBSAMPLING_KEEP, SUBSAMPLING_420, SUBSAMPLING_422, SUBSAMPLING_444 };

struct work {
    struct outcome *outcome; // NULL: nothing is on its way
    struct codec_buffer file;
    struct codec_head head;
    struct codec_settings settings;
    struct codec_buffer metadata; // copies of what the settings point to
    struct image decoded, turned;
    struct output_mark mark;
    uint64_t reserved; // of the budget
    struct runner_job job;
};

// Whether the task would be done as things are; sets the outcome as existing_allows does. Nothing is read.
bool work_plan(struct outcome *outcome, const struct work_rules *rules);

// Reads the file and its head. False where that is all: the outcome tells why.
bool work_begin(struct work *work, const struct work_rules *rules, struct codec *codec);
// The memory that the rest will take.
uint64_t work_bytes(const struct work *work);
// Decodes; the job is then ready for a runner. False: as above.
bool work_decode(struct work *work, const struct work_rules *rules, struct codec *codec);
// Encodes what the runner has made and writes it under its temporary name. The outcome tells how it went.
void work_end(struct work *work, const struct work_rules *rules, struct codec *codec, const struct path_result *result,
              struct codec_buffer *buffer);
void work_clear(struct work *work); // ready for another file
size_t work_kept_bytes(const struct work *work);
// Frees what is kept from file to file.
void work_free(struct work *work);
