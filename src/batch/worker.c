// worker.c: the life of a file: open, read, decode, filter, encode, write under a temporary name
#include "batch/worker.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "base/text.h"
#include "base/thread.h"
#include "path/path.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 16 }; // rows per call of the encoder: whole MCUs of a JPEG

static_assert((int)CODEC_ROWS_MORE <= (int)PATH_FEED_MORE, "codecs work with the rows that a path keeps");

// An image that goes through decoder, filters and encoder in groups of rows, which stay in the cache
struct fed_rows {
    struct path_feed feed;
    struct image picture; // has only a shape; the path owns the pixels
    int decoded;          // number of rows decoded so far; 0 after a failure
    bool begun;           // encoding has begun
    int64_t decode_ns, encode_ns;
};

// One file in flight
struct file_work {
    struct worker *worker;
    struct outcome *outcome; // until it is handed in
    struct task_file input;
    uint64_t reserved; // bytes taken from the queue's memory
    struct codec_buffer file;
    struct codec_head head;
    int width, height; // of the result
    struct codec_settings settings;
    struct codec_buffer metadata; // copies of the metadata in `settings`
    struct image decoded, turned;
    struct fed_rows rows; // used if the request has a feed
    struct runner_request request;
    struct codec_error encoded; // why encoding failed, or which metadata were left out
};

struct worker {
    struct worker_setup setup;
    pthread_t thread;
    bool started;
    struct codec *codec;
    struct runner runner;
    struct file_work work[RUNNER_FLIGHTS]; // a ring; the images in the runner begin at `oldest`
    int oldest, flights;
    struct codec_buffer buffer; // the encoded file
};

static void finish_oldest(struct worker *worker);

static int64_t add_step(struct file_work *work, enum step step, int64_t start_ns)
{
    const int64_t now_ns = clock_now_ns();
    work->outcome->step_ns[step] += now_ns - start_ns;
    return now_ns;
}

// After a signal, gives up a file that is not filtered yet. It counts as not reached (batch.c).
static bool give_up(struct file_work *work)
{
    const bool interrupted = process_interrupted() != 0;
    if (interrupted)
        outcome_fail(work->outcome, FAULT_DEVICE, "interrupted");
    return interrupted;
}

static bool fail_codec(struct file_work *work, const char *what, const struct codec_error *error)
{
    return !give_up(work) && outcome_fail(work->outcome, fault_of_codec(error->fault), "%s%s", what, error->why);
}

// ---- open and read

// Takes `bytes` of memory. If too few are left, it first finishes the files in flight: a thread that waits must hold no
// bytes.
static void reserve(struct file_work *work, uint64_t bytes)
{
    struct worker *worker = work->worker;
    while (!queue_take_memory(worker->setup.queue, bytes, worker->flights == 0))
        finish_oldest(worker);
    work->reserved = bytes;
}

static void release(struct file_work *work)
{
    if (work->reserved > 0)
        queue_give_memory(work->worker->setup.queue, work->reserved);
    work->reserved = 0;
}

// Opens the input and takes memory for the file. The memory for the image is known only after its header is read.
static bool open_file(struct file_work *work)
{
    const struct queue *queue = work->worker->setup.queue;
    const int64_t start_ns = clock_now_ns();
    const bool ok = task_open(queue->tasks, work->outcome, &work->input);
    add_step(work, STEP_READ, start_ns);
    if (!ok)
        return false;
    if (work->input.bytes > IMAGE_MAX_BYTES)
        return outcome_fail(work->outcome, FAULT_LIMIT, "the file is larger than 1 GiB");
    if (work->input.bytes > queue->memory_bytes)
        return outcome_fail(work->outcome, FAULT_LIMIT, "the file has %zu MiB, more than --memory allows",
                            work->input.bytes >> 20);
    reserve(work, work->input.bytes);
    return true;
}

// Reads as many bytes as the file had when it was opened; fewer if it was truncated since.
static bool read_bytes(struct file_work *work)
{
    struct codec_buffer *file = &work->file;
    const size_t size = work->input.bytes;
    if (file->room < size) {
        free(file->data);
        *file = (struct codec_buffer){.data = malloc(size)};
        file->room = file->data ? size : 0;
    }
    if (file->room < size)
        return outcome_fail(work->outcome, FAULT_MEMORY, "out of memory while reading the file");
    file->size = 0;
    while (file->size < size) {
        const ssize_t got = pread(work->input.fd, file->data + file->size, size - file->size, (off_t)file->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return outcome_fail(work->outcome, fault_of_reading(errno), "%s", strerror(errno));
        if (got == 0)
            break;
        file->size += (size_t)got;
    }
    work->outcome->input_bytes = file->size;
    return true;
}

// Returns the settings of the output.
static struct codec_settings settings_of(const struct file_work *work)
{
    const struct batch_setup *o = work->worker->setup.options;
    const struct batch_encoding *encoding = &o->encoding;
    const struct codec_head *head = &work->head;
    struct codec_settings settings = {
        .format = CODEC_PNG,
        .quality = encoding->quality ? encoding->quality : head->quality,
        .compression = encoding->compression,
        .grey = chain_is_grey(&o->chain, head->shape.format == PIXFMT_GREY),
        .opaque = !head->alpha && !chain_changes_alpha(&o->chain),
        .orientation = !encoding->keep_orientation || head->upright,
        .no_place = encoding->metadata == METADATA_NO_LOCATION,
        .turned = work->request.turn.transpose != chain_turns(&o->chain),
        .remarks = head->remarks,
    };
    name_format(work->outcome->task->output, &settings.format);
    if (chain_changes_alpha(&o->chain) && codec_info(settings.format)->subsampling)
        settings.remarks |= CODEC_CLEAR;
    if (encoding->metadata != METADATA_STRIP) {
        settings.metadata = head->metadata;
    } else if (head->metadata.colours == CODEC_COLOURS_OWN) { // without their profile, the colours would be others
        settings.metadata.icc = head->metadata.icc;
    } else {
        settings.metadata.colours = CODEC_COLOURS_SRGB;
    }
    return settings;
}

// Reads the file and parses its header. May be called again.
static bool read_file(struct file_work *work)
{
    const struct batch_setup *o = work->worker->setup.options;
    struct outcome *outcome = work->outcome;
    struct codec_error error;
    char why[CHAIN_ERROR];
    const int64_t start_ns = clock_now_ns();
    const bool ok = read_bytes(work);
    const int64_t read_ns = add_step(work, STEP_READ, start_ns);
    if (!ok)
        return false;
    if (!codec_name_ok(outcome->task->input->path, work->file.data, work->file.size, &error) ||
        !codec_head(work->worker->codec, work->file.data, work->file.size, (uint64_t)o->megapixels * 1000000,
                    &work->head, &error))
        return fail_codec(work, "", &error);
    work->request.name = outcome->task->input->path;
    work->request.relative = outcome->task->input->relative;
    work->request.turn = o->encoding.keep_orientation ? (struct codec_turn){0} : codec_turn(work->head.orientation);
    outcome->width = work->request.turn.transpose ? work->head.shape.height : work->head.shape.width;
    outcome->height = work->request.turn.transpose ? work->head.shape.width : work->head.shape.height;
    work->settings = settings_of(work);
    add_step(work, STEP_DECODE, read_ns);
    work->width = outcome->width;
    work->height = outcome->height;
    return chain_output_size(&o->chain, &work->width, &work->height, why) ||
           outcome_fail(outcome, FAULT_LIMIT, "%s", why);
}

// Returns the memory that the file needs in all, in bytes.
static uint64_t needed_bytes(const struct file_work *work)
{
    // 4 bytes per pixel each: two outputs, one intermediate result, and an encoder's memory
    const uint64_t input = (uint64_t)work->head.shape.width * (uint64_t)work->head.shape.height;
    const uint64_t output = (uint64_t)work->width * (uint64_t)work->height, pixels = input > output ? input : output;
    return work->file.size + image_bytes(&work->head.shape) * (work->request.turn.transpose ? 2 : 1) + 16 * pixels +
           2 * codec_metadata_bytes(&work->head.metadata); // unpacked, and the copy
}

// Takes memory for the image too. If the thread must wait, it first frees the file and its memory, because two threads
// that hold files could wait for each other. Then it reads the file again.
static bool reserve_picture(struct file_work *work)
{
    struct queue *queue = work->worker->setup.queue;
    const uint64_t bytes = needed_bytes(work);
    if (bytes > queue->memory_bytes)
        return outcome_fail(work->outcome, FAULT_LIMIT, "%dx%d pixels need %llu MiB, more than --memory allows",
                            work->outcome->width, work->outcome->height, (unsigned long long)(bytes >> 20));
    if (bytes <= work->reserved) // the file was truncated
        return true;
    if (queue_take_memory(queue, bytes - work->reserved, false)) {
        work->reserved = bytes;
        return true;
    }
    release(work);
    codec_buffer_free(&work->file);
    reserve(work, bytes);
    if (!read_file(work))
        return false;
    return needed_bytes(work) <= bytes || outcome_fail(work->outcome, FAULT_READ, "the file changed while it was read");
}

// ---- decode

// Decodes the image, and rotates it by 90 degrees if needed. The path does the rest of a rotation.
static bool decode_whole(struct file_work *work)
{
    struct codec_error error;
    work->request.picture = &work->decoded;
    work->request.feed = NULL;
    if (!image_reserve(&work->decoded, &work->head.shape))
        return outcome_fail(work->outcome, FAULT_MEMORY, "out of memory for %dx%d pixels", work->outcome->width,
                            work->outcome->height);
    if (!codec_decode(work->worker->codec, work->file.data, work->file.size, &work->head, &work->decoded, &error))
        return fail_codec(work, "", &error);
    if (work->head.alpha && codec_info(work->settings.format)->subsampling && !image_is_opaque(&work->decoded))
        work->settings.remarks |= CODEC_CLEAR;
    if (!work->request.turn.transpose)
        return true;
    const struct image_shape shape = image_transposed(&work->head.shape);
    if (!image_reserve(&work->turned, &shape))
        return outcome_fail(work->outcome, FAULT_MEMORY, "out of memory while rotating the image");
    image_transpose(&work->turned, &work->decoded);
    work->request.picture = &work->turned;
    return true;
}

// The path calls this when it needs the rows up to `last`.
static bool need_rows(void *context, struct image *picture, int last)
{
    struct file_work *work = context;
    struct fed_rows *rows = &work->rows;
    struct codec_error error;
    if (work->outcome->status == STATUS_FAILED || give_up(work))
        return false;
    if (last < rows->decoded)
        return true;
    const int64_t start_ns = clock_now_ns();
    rows->decoded = codec_decode_rows(work->worker->codec, &work->head, picture, last, &error);
    rows->decode_ns += clock_now_ns() - start_ns;
    return rows->decoded > 0 || fail_codec(work, "", &error);
}

// The path calls this when it has made `count` rows.
static void made_rows(void *context, const struct image *image, int count)
{
    struct file_work *work = context;
    struct fed_rows *rows = &work->rows;
    struct codec *codec = work->worker->codec;
    if ((count % ROWS != 0 && count < image->shape.height) || work->outcome->status == STATUS_FAILED)
        return;
    const int64_t start_ns = clock_now_ns();
    const bool ok =
        (rows->begun || codec_encode_begin(codec, image, &work->settings, &work->worker->buffer, &work->encoded)) &&
        codec_encode_rows(codec, image, &work->settings, count, &work->encoded);
    rows->begun = true;
    rows->encode_ns += clock_now_ns() - start_ns;
    if (!ok)
        fail_codec(work, "cannot encode the image: ", &work->encoded);
}

// Begins to decode by rows. The runner decodes and encodes the rows.
static bool begin_rows(struct file_work *work)
{
    struct codec_error error;
    work->rows = (struct fed_rows){.feed = {.context = work, .need = need_rows, .made = made_rows},
                                   .picture.shape = work->head.shape};
    work->request.picture = &work->rows.picture;
    work->request.feed = &work->rows.feed;
    return codec_decode_begin(work->worker->codec, work->file.data, work->file.size, &work->head, &work->rows.picture,
                              &error) ||
           fail_codec(work, "", &error);
}

// Returns the shape that the path must produce: YUV planes for a JPEG, one plane for a grey JPEG or an opaque grey PNG.
// Width 0 means RGBA.
static struct image_shape wanted_shape(const struct file_work *work)
{
    static const enum pixfmt subsamplings[] = {
        [SUBSAMPLING_420] = PIXFMT_YU12, [SUBSAMPLING_422] = PIXFMT_422P, [SUBSAMPLING_444] = PIXFMT_444P};
    const int subsampling = work->worker->setup.options->encoding.subsampling;
    const struct codec_head *head = &work->head;
    struct image_shape shape = {.width = work->width, .height = work->height};
    shape.color = (struct color){COLOR_MATRIX_601, COLOR_RANGE_FULL};
    if (work->settings.grey)
        shape.format = PIXFMT_GREY;
    else if (subsampling || head->jpeg == PIXFMT_GREY) // the chain added colour to a grey image
        shape.format = subsamplings[subsampling ? subsampling : SUBSAMPLING_420];
    else
        shape.format = head->jpeg;
    const bool one_channel = work->settings.format == CODEC_PNG && shape.format == PIXFMT_GREY && work->settings.opaque;
    if (!codec_info(work->settings.format)->subsampling && !one_channel)
        shape = (struct image_shape){0};
    return shape;
}

// Completes the request. Decodes the whole image, or only begins if the image may go by rows.
static bool decode(struct file_work *work, bool by_rows)
{
    const int64_t start_ns = clock_now_ns();
    if (!codec_metadata_keep(&work->settings.metadata, &work->metadata)) // codec_head overwrites them at its next call
        return outcome_fail(work->outcome, FAULT_MEMORY, "out of memory");
    work->request.encode = wanted_shape(work);
    by_rows = by_rows && !work->request.turn.transpose && !chain_sees_frame(&work->worker->setup.options->chain) &&
              codec_goes_by_rows(work->head.format) && codec_goes_by_rows(work->settings.format);
    const bool ok = by_rows ? begin_rows(work) : decode_whole(work);
    add_step(work, STEP_DECODE, start_ns);
    return ok;
}

// Does all that precedes the filters. Returns false if there is nothing to filter; the outcome has the reason.
static bool load(struct file_work *work, const struct task *task, bool by_rows)
{
    work->outcome->task = task;
    work->outcome->output.fd = -1;
    const bool ok = open_file(work) && read_file(work) && reserve_picture(work);
    if (work->input.fd >= 0)
        close(work->input.fd);
    return ok && !give_up(work) && decode(work, by_rows) && !give_up(work);
}

// ---- filter, encode, write

// Waits until the runner has filtered the oldest image, which must be this one. On the cpu path, which works here, a
// JPEG by rows is also decoded and encoded.
static bool collect(struct file_work *work, struct path_result *result)
{
    struct runner *runner = &work->worker->runner;
    struct outcome *outcome = work->outcome;
    char *why;
    const bool ok = runner_collect(runner, result, &why);
    if (!ok) {
        for (char *at = why; at && (at = strchr(at, '\n'));) // a compiler's message may have several lines
            *at = ' ';
        outcome_fail(outcome, FAULT_DEVICE, "the filters failed%s%.200s", text_if(why, ": "), text_or(why, ""));
    } else if (!work->request.feed || work->rows.decoded > 0) {
        const struct fleet_member *device = runner->done_by;
        outcome->device = device ? device->info.name : "cpu";
        outcome->device_number = device ? device->number : -1;
        outcome->on_cpu = path_info(runner->done_path)->kind == PATH_CPU;
        struct path_pass pass[PATH_PASSES];
        const int passes = work->worker->setup.options->report ? path_passes(runner->done_path, pass) : 0;
        outcome->passes = passes > 0 ? passes_json(pass, passes) : NULL;
    }
    if (ok && result->stages > 0)
        outcome->step_ns[STEP_FILTER] = result->stage[result->stages - 1].end_ns - result->stage[0].start_ns;
    free(why);
    return ok;
}

static bool encode(struct file_work *work, const struct path_result *result)
{
    struct outcome *outcome = work->outcome;
    struct codec_error *error = &work->encoded;
    if (work->request.feed) { // the filters' time includes the codec's time
        outcome->step_ns[STEP_DECODE] += work->rows.decode_ns;
        outcome->step_ns[STEP_ENCODE] += work->rows.encode_ns;
        outcome->step_ns[STEP_FILTER] -= work->rows.decode_ns + work->rows.encode_ns;
    } else {
        const int64_t start_ns = clock_now_ns();
        const struct image *image = work->request.encode.width > 0 ? &result->encoded : &result->image;
        if (!codec_encode(work->worker->codec, image, &work->settings, &work->worker->buffer, error))
            fail_codec(work, "cannot encode the image: ", error);
        add_step(work, STEP_ENCODE, start_ns);
    }
    if (outcome->status != STATUS_FAILED)
        snprintf(outcome->why, sizeof(outcome->why), "%s", error->why); // names the metadata that were left out
    return outcome->status != STATUS_FAILED;
}

static void write_output(struct file_work *work)
{
    const int64_t start_ns = clock_now_ns();
    struct outcome *outcome = work->outcome;
    const struct codec_buffer *buffer = &work->worker->buffer;
    outcome->output_bytes = buffer->size;
    if (work->worker->setup.options->report)
        hash_128_text(buffer->data, buffer->size, outcome->hash);
    const bool begun = output_begin(&outcome->output, outcome->task->output, outcome->mode, outcome->group);
    if (!begun || !output_write(&outcome->output, buffer->data, buffer->size, &work->input.mark)) {
        const int error = errno;
        const bool directory = error == EACCES || error == EPERM || error == EROFS || error == ENOTDIR;
        output_abandon(&outcome->output);
        (!begun && directory ? task_fail_directory : task_fail_writing)(outcome, error);
    }
    add_step(work, STEP_WRITE, start_ns);
}

static void work_free(struct file_work *work)
{
    codec_buffer_free(&work->file);
    codec_buffer_free(&work->metadata);
    image_free(&work->decoded);
    image_free(&work->turned);
}

// Frees the memory of large images.
static void hand_in(struct file_work *work)
{
    const struct worker_setup *setup = &work->worker->setup;
    release(work);
    if (work->file.room + work->metadata.room + work->decoded.memory_bytes + work->turned.memory_bytes >
        setup->runner.keep_bytes)
        work_free(work);
    queue_hand_in(setup->queue, work->outcome);
}

static void finish_oldest(struct worker *worker)
{
    struct file_work *work = &worker->work[worker->oldest];
    struct path_result result;
    if (collect(work, &result) && encode(work, &result))
        write_output(work);
    worker->oldest = (worker->oldest + 1) % RUNNER_FLIGHTS;
    worker->flights--;
    hand_in(work);
}

// ---- the thread

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct queue *queue = worker->setup.queue;
    const struct task *task;
    // Each worker opens its device, so that several devices open at the same time.
    const bool open = runner_open(&worker->runner, &worker->setup.runner);
    while (open && !worker->runner.given_up && (task = queue_take(queue))) {
        struct file_work *work = &worker->work[(worker->oldest + worker->flights) % RUNNER_FLIGHTS];
        work->outcome = xalloc(sizeof(*work->outcome));
        if (!load(work, task, runner_lag(&worker->runner) == 0)) {
            hand_in(work);
            continue;
        }
        runner_submit(&worker->runner, &work->request);
        worker->flights++;
        while (worker->flights > runner_lag(&worker->runner))
            finish_oldest(worker);
    }
    while (worker->flights > 0)
        finish_oldest(worker);
    runner_close(&worker->runner); // on this thread, where its GL context is current
    queue_leave(queue);
    return NULL;
}

struct worker *worker_open(const struct worker_setup *setup)
{
    struct worker *worker = xalloc(sizeof(*worker));
    worker->setup = *setup;
    for (int i = 0; i < RUNNER_FLIGHTS; i++)
        worker->work[i].worker = worker;
    worker->codec = codec_open();
    if (!setup->options->encoding.keep_color)
        codec_to_srgb(worker->codec);
    return worker;
}

bool worker_start(struct worker *worker, int number)
{
    char name[16];
    snprintf(name, sizeof(name), "batch %d", number);
    worker->started = thread_start(&worker->thread, worker_main, worker, name);
    return worker->started;
}

bool worker_close(struct worker *worker)
{
    if (!worker)
        return false;
    if (worker->started)
        pthread_join(worker->thread, NULL);
    const bool given_up = worker->runner.given_up;
    codec_close(worker->codec);
    for (int i = 0; i < RUNNER_FLIGHTS; i++)
        work_free(&worker->work[i]);
    codec_buffer_free(&worker->buffer);
    free(worker);
    return given_up;
}

bool worker_sample(struct worker *worker, const struct task *task, struct runner_request *request,
                   struct codec_settings *settings)
{
    struct file_work *work = &worker->work[0];
    struct outcome outcome = {0};
    work->outcome = &outcome;
    const bool ok = load(work, task, false);
    release(work);
    work->outcome = NULL;
    *request = work->request;
    *settings = work->settings;
    return ok;
}
