// work.c: one file in flight
#include "command/batch/work.h"

#include "base/clock.h"
#include "command/batch/directories.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int64_t add_step(struct outcome *outcome, enum step step, int64_t start_ns)
{
    const int64_t now_ns = clock_now_ns();
    outcome->step_ns[step] += now_ns - start_ns;
    return now_ns;
}

static bool grow(struct codec_buffer *buffer, size_t size)
{
    if (buffer->room >= size)
        return true;
    free(buffer->data);
    *buffer = (struct codec_buffer){.data = malloc(size)};
    buffer->room = buffer->data ? size : 0;
    return buffer->data;
}

// Reads `file_bytes` bytes, the size when the file was opened; fewer if it was truncated since.
static bool read_file(struct work *work)
{
    struct outcome *outcome = work->outcome;
    const size_t size = work->file_bytes;
    if (!grow(&work->file, size))
        return outcome_fail(outcome, FAULT_MEMORY, "out of memory while reading the file");
    work->file.size = 0;
    while (work->file.size < size) {
        const size_t at = work->file.size;
        const ssize_t got = pread(work->fd, work->file.data + at, size - at, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return outcome_fail(outcome, fault_of_reading(errno), "%s", strerror(errno));
        if (got == 0)
            break;
        work->file.size += (size_t)got;
    }
    outcome->input_bytes = work->file.size;
    return true;
}

// Opens the input and decides about its output. Returns false if the task is skipped or failed.
static bool open_file(struct outcome *outcome, const struct work_rules *rules, struct output_mark *mark, int *fd,
                      size_t *size)
{
    const struct task *task = outcome->task;
    struct stat status;
    if (task->fault == FAULT_CLASH)
        return outcome_fail(outcome, FAULT_CLASH,
                            "%s has the same output %s; use a template such as -o 'DIR/{stem}-{n}{ext}'",
                            task->rival->path, task->output);
    if (task->fault == FAULT_UNSUPPORTED)
        return outcome_fail(outcome, FAULT_UNSUPPORTED,
                            "this format needs a build of monocle with %s; convert the file to PNG or JPEG first",
                            format_missing_library(task->input->path));
    if (task->fault != FAULT_NONE)
        return outcome_fail(outcome, task->fault, "%s", strerror(task->input->error));
    *fd = open(task->input->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // O_NONBLOCK: a pipe without a writer opens at
                                                                      // once
    if (*fd < 0 || fstat(*fd, &status) != 0)
        return outcome_fail(outcome, fault_of_reading(errno), "%s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return outcome_fail(outcome, FAULT_READ,
                            S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file");
    *size = (size_t)status.st_size;
    *mark = output_mark_make(rules->job, task->input->relative, &status);
    if (!existing_allows(rules->existing, &rules->sources, &status, mark, outcome))
        return false;
    const int error = task->directory->error;
    return error == 0 || outcome_fail_directory(outcome, error);
}

static void close_file(int fd)
{
    if (fd >= 0)
        close(fd);
}

bool work_plan(struct outcome *outcome, const struct work_rules *rules)
{
    struct output_mark mark;
    size_t size = 0;
    int fd = -1;
    const bool ok = open_file(outcome, rules, &mark, &fd, &size);
    close_file(fd);
    return ok;
}

// Returns the shape that the path must produce: YUV planes for a JPEG, one plane for a grey JPEG or an opaque grey PNG.
// Width 0 means RGBA.
static struct image_shape wanted_shape(const struct work *work, const struct work_rules *rules)
{
    static const enum pixfmt subsamplings[] = {
        [SUBSAMPLING_420] = PIXFMT_YU12, [SUBSAMPLING_422] = PIXFMT_422P, [SUBSAMPLING_444] = PIXFMT_444P};
    const struct codec_head *head = &work->head;
    struct image_shape shape = {.width = work->job.picture->shape.width, .height = work->job.picture->shape.height};
    shape.color = (struct color){COLOR_MATRIX_601, COLOR_RANGE_FULL};
    if (work->settings.grey)
        shape.format = PIXFMT_GREY;
    else if (rules->subsampling || head->jpeg == PIXFMT_GREY) // the chain added colour to a grey image
        shape.format = subsamplings[rules->subsampling ? rules->subsampling : SUBSAMPLING_420];
    else
        shape.format = head->jpeg;
    const bool one_channel = work->settings.format == CODEC_PNG && shape.format == PIXFMT_GREY && !head->alpha;
    if (!codec_info(work->settings.format)->subsampling && !one_channel)
        shape = (struct image_shape){0};
    return shape;
}

static void choose_settings(struct work *work, const struct work_rules *rules)
{
    const struct codec_head *head = &work->head;
    const struct codec_info *format = format_of_file(work->outcome->task->output);
    work->settings = (struct codec_settings){
        .format = format ? format_number(format) : CODEC_PNG,
        .quality = rules->quality ? rules->quality : head->quality,
        .compression = rules->compression,
        .grey = chain_is_grey(rules->chain, head->shape.format == PIXFMT_GREY),
        .opaque = !head->alpha,
        .orientation = rules->keep_turned ? 0 : 1,
    };
    if (!rules->strip)
        work->settings.metadata = head->metadata;
}

bool work_open(struct work *work, const struct work_rules *rules)
{
    struct outcome *outcome = work->outcome;
    const int64_t start_ns = clock_now_ns();
    work->fd = -1;
    bool ok = open_file(outcome, rules, &work->mark, &work->fd, &work->file_bytes);
    if (ok && work->file_bytes > IMAGE_MAX_BYTES)
        ok = outcome_fail(outcome, FAULT_LIMIT, "the file is larger than 1 GiB");
    add_step(outcome, STEP_READ, start_ns);
    return ok;
}

bool work_read(struct work *work, const struct work_rules *rules, struct codec *codec)
{
    struct outcome *outcome = work->outcome;
    struct codec_error error;
    const int64_t start_ns = clock_now_ns();
    const bool ok = read_file(work);
    const int64_t read_ns = add_step(outcome, STEP_READ, start_ns);
    if (!ok)
        return false;
    if (!codec_head(codec, work->file.data, work->file.size, rules->most_pixels, &work->head, &error))
        return outcome_fail(outcome, fault_of_codec(error.fault), "%s", error.why);
    work->job.turn = rules->keep_turned ? (struct codec_turn){0} : codec_turn(work->head.orientation);
    outcome->width = work->job.turn.transpose ? work->head.shape.height : work->head.shape.width;
    outcome->height = work->job.turn.transpose ? work->head.shape.width : work->head.shape.height;
    choose_settings(work, rules);
    add_step(outcome, STEP_DECODE, read_ns);
    return true;
}

void work_close(struct work *work)
{
    close_file(work->fd);
    work->fd = -1;
}

uint64_t work_bytes(const struct work *work)
{
    // 4 bytes per pixel each: two outputs, one intermediate result, and an encoder's memory
    const uint64_t pixels = (uint64_t)work->head.shape.width * (uint64_t)work->head.shape.height;
    const struct codec_metadata *metadata = &work->head.metadata; // counted twice: unpacked, and the copy in
                                                                  // work->metadata
    return work->file.size + image_bytes(&work->head.shape) * (work->job.turn.transpose ? 2 : 1) + 16 * pixels +
           2 * (metadata->icc.size + metadata->exif.size + metadata->xmp.size);
}

static bool fail_decoding(struct work *work, const struct codec_error *error)
{
    return outcome_fail(work->outcome, fault_of_codec(error->fault), "%s", error->why);
}

static bool decode_whole(struct work *work, struct codec *codec)
{
    struct outcome *outcome = work->outcome;
    struct codec_error error;
    if (!image_reserve(&work->decoded, &work->head.shape))
        return outcome_fail(outcome, FAULT_MEMORY, "out of memory for %dx%d pixels", outcome->width, outcome->height);
    if (!codec_decode(codec, work->file.data, work->file.size, &work->head, &work->decoded, &error))
        return fail_decoding(work, &error);
    work->job.picture = &work->decoded;
    work->job.feed = NULL;
    if (work->job.turn.transpose) {
        const struct image_shape shape = image_transposed(&work->head.shape);
        if (!image_reserve(&work->turned, &shape))
            return outcome_fail(outcome, FAULT_MEMORY, "out of memory while rotating the image");
        image_transpose(&work->turned, &work->decoded);
        work->job.picture = &work->turned;
    }
    return true;
}

static bool begin_flow(struct work *work, struct codec *codec, struct codec_buffer *buffer)
{
    struct flow *flow = &work->flow;
    if (!flow_begin(flow, codec, &work->file, &work->head, &work->settings, buffer))
        return fail_decoding(work, &flow->decode_error);
    work->job.picture = &flow->picture;
    work->job.feed = &flow->feed;
    return true;
}

bool work_decode(struct work *work, const struct work_rules *rules, struct codec *codec, struct codec_buffer *buffer)
{
    struct outcome *outcome = work->outcome;
    const int64_t start_ns = clock_now_ns();
    const bool flows = buffer && !work->job.turn.transpose && codec_goes_by_rows(work->head.format) &&
                       codec_goes_by_rows(work->settings.format);
    if (!codec_metadata_keep(&work->settings.metadata, &work->metadata)) // codec_head overwrites them at its next call
        return outcome_fail(outcome, FAULT_MEMORY, "out of memory");
    const bool ok = flows ? begin_flow(work, codec, buffer) : decode_whole(work, codec);
    add_step(outcome, STEP_DECODE, start_ns);
    if (ok)
        work->job.encode = wanted_shape(work, rules);
    return ok;
}

static bool write_output(struct work *work, const struct work_rules *rules, const struct codec_buffer *buffer)
{
    struct outcome *outcome = work->outcome;
    outcome->output_bytes = buffer->size;
    if (rules->hashes)
        hash_128_text(buffer->data, buffer->size, outcome->hash);
    const bool begun = output_begin(&outcome->output, outcome->task->output, outcome->mode, outcome->group);
    if (begun && output_write(&outcome->output, buffer->data, buffer->size, &work->mark))
        return true;
    const int error = errno;
    output_abandon(&outcome->output);
    if (!begun && (error == EACCES || error == EPERM || error == EROFS || error == ENOTDIR))
        return outcome_fail_directory(outcome, error);
    return outcome_fail(outcome, fault_of_writing(error), "cannot write %s: %s", outcome->task->output,
                        strerror(error));
}

// The path has encoded the file already. Moves the decoder's and the encoder's share of the filter time to their steps.
static bool end_flow(struct work *work, struct codec_error *error)
{
    const struct flow *flow = &work->flow;
    struct outcome *outcome = work->outcome;
    outcome->step_ns[STEP_DECODE] += flow->decode_ns;
    outcome->step_ns[STEP_ENCODE] += flow->encode_ns;
    outcome->step_ns[STEP_FILTER] -= flow->decode_ns + flow->encode_ns;
    *error = flow->encode_error;
    return !flow->encode_failed;
}

static bool encode_whole(struct work *work, struct codec *codec, const struct path_result *result,
                         struct codec_buffer *buffer, struct codec_error *error)
{
    const int64_t start_ns = clock_now_ns();
    const struct image *image = work->job.encode.width > 0 ? &result->encoded : &result->image;
    const bool ok = codec_encode(codec, image, &work->settings, buffer, error);
    add_step(work->outcome, STEP_ENCODE, start_ns);
    return ok;
}

void work_end(struct work *work, const struct work_rules *rules, struct codec *codec, const struct path_result *result,
              struct codec_buffer *buffer)
{
    struct outcome *outcome = work->outcome;
    struct codec_error error;
    const bool ok = work->job.feed ? end_flow(work, &error) : encode_whole(work, codec, result, buffer, &error);
    if (work->job.feed && work->flow.decode_failed) {
        outcome->device = NULL; // the filters did not finish
        fail_decoding(work, &work->flow.decode_error);
        return;
    }
    if (!ok) {
        outcome_fail(outcome, fault_of_codec(error.fault), "cannot encode the image: %s", error.why);
        return;
    }
    snprintf(outcome->why, sizeof(outcome->why), "%s", error.why);
    const int64_t start_ns = clock_now_ns();
    write_output(work, rules, buffer);
    add_step(outcome, STEP_WRITE, start_ns);
}

void work_drop_file(struct work *work)
{
    codec_buffer_free(&work->file);
}

void work_clear(struct work *work)
{
    work->outcome = NULL;
    work->reserved = 0;
}

size_t work_kept_bytes(const struct work *work)
{
    return work->file.room + work->metadata.room + work->decoded.memory_bytes + work->turned.memory_bytes;
}

void work_free(struct work *work)
{
    codec_buffer_free(&work->file);
    codec_buffer_free(&work->metadata);
    image_free(&work->decoded);
    image_free(&work->turned);
    *work = (struct work){0};
}
