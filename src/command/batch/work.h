// work.h: one file in flight: read and decode it; after the filters, encode and write it
#pragma once

#include "command/batch/existing.h"
#include "command/batch/flow.h"
#include "command/batch/runner.h"

// The rules for all outputs; zeros are the defaults.
struct work_rules {
    enum existing_rule existing;
    struct sources sources;
    const char *job; // text of everything that decides the outputs
    const struct chain *chain;
    int quality; // 0: the quality of the input
    // enum work_subsampling
    int subsampling;
    int compression;      // of PNG and TIFF; 0: fastest
    bool strip;           // remove the metadata
    bool keep_turned;     // keep the pixels and the orientation as stored
    uint64_t most_pixels; // limit that the user sets; 0: none
    bool hashes;          // compute the hashes of the outputs
};

enum work_subsampling { SUBSAMPLING_KEEP, SUBSAMPLING_420, SUBSAMPLING_422, SUBSAMPLING_444 };

struct work {
    struct outcome *outcome; // NULL: no file is in flight
    int fd;                  // open from work_open to work_close
    size_t file_bytes;
    struct codec_buffer file;
    struct codec_head head;
    struct codec_settings settings;
    struct codec_buffer metadata; // copies of the metadata in `settings`
    struct image decoded, turned;
    struct flow flow; // used if the job has a feed
    struct output_mark mark;
    uint64_t reserved; // bytes taken from the budget
    struct runner_job job;
};

// Returns true if the task would be processed now; otherwise the outcome is skipped or failed. Opens the input, but
// does not read it.
bool work_plan(struct outcome *outcome, const struct work_rules *rules);

// Opens the input and checks whether to process it. Returns false if not; the outcome has the reason. Call work_close
// in either case.
bool work_open(struct work *work, const struct work_rules *rules);
// Reads the file, which needs `file_bytes` of memory, and parses its header. May be called again. Returns false on
// failure; the outcome has the reason.
bool work_read(struct work *work, const struct work_rules *rules, struct codec *codec);
void work_close(struct work *work);
// Memory that the whole task needs, in bytes, including the file
uint64_t work_bytes(const struct work *work);
// Decodes the image and completes `job`. If `buffer` is not NULL and both codecs work by rows, it only begins to
// decode: the runner then decodes and encodes into `buffer`. Pass NULL for a runner that cannot be fed. Returns false
// on failure; the outcome has the reason.
bool work_decode(struct work *work, const struct work_rules *rules, struct codec *codec, struct codec_buffer *buffer);
// Encodes the runner's result and writes it to a file with a temporary name. Sets the outcome.
void work_end(struct work *work, const struct work_rules *rules, struct codec *codec, const struct path_result *result,
              struct codec_buffer *buffer);
void work_drop_file(struct work *work); // frees the file's bytes; work_read reads them again
void work_clear(struct work *work);     // makes it ready for another file and keeps its memory
size_t work_kept_bytes(const struct work *work);
// Frees the memory that is kept from file to file.
void work_free(struct work *work);
