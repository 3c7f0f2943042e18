// work.h: one file on its way: read, decoded, and, once its filters have run, encoded and written
#pragma once

#include "command/batch/existing.h"
#include "command/batch/flow.h"
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
    int fd;                  // from work_open to work_close
    size_t file_bytes;
    struct codec_buffer file;
    struct codec_head head;
    struct codec_settings settings;
    struct codec_buffer metadata; // copies of what the settings point to
    struct image decoded, turned;
    struct flow flow; // where the job has a feed
    struct output_mark mark;
    uint64_t reserved; // of the budget
    struct runner_job job;
};

// Whether the task would be done as things are; sets the outcome as existing_allows does. Nothing is read.
bool work_plan(struct outcome *outcome, const struct work_rules *rules);

// Opens the file and looks at what its output meets. False where that is all: the outcome tells why. To be followed by
// work_close in either case.
bool work_open(struct work *work, const struct work_rules *rules);
// Reads the file, which takes `file_bytes` of memory, and its head; may be done again. False: as above.
bool work_read(struct work *work, const struct work_rules *rules, struct codec *codec);
void work_close(struct work *work);
// The memory that all will take, the file's included.
uint64_t work_bytes(const struct work *work);
// Decodes, or begins to, where the runner can be fed and the codecs go by rows: into the buffer then, which is NULL for
// a runner that cannot. The job is ready for the runner. False: as above.
bool work_decode(struct work *work, const struct work_rules *rules, struct codec *codec, struct codec_buffer *buffer);
// Encodes what the runner has made and writes it under its temporary name. The outcome tells how it went.
void work_end(struct work *work, const struct work_rules *rules, struct codec *codec, const struct path_result *result,
              struct codec_buffer *buffer);
void work_drop_file(struct work *work); // until it is read again
void work_clear(struct work *work);     // ready for another file
size_t work_kept_bytes(const struct work *work);
// Frees what is kept from file to file.
void work_free(struct work *work);
