// camera_decoder.c: threads that decode the newest compressed frames of a camera
#include "source/camera_decoder.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { WAIT_NS = 100000000 }; // longest time until a thread sees a stop while all images are lent
enum { STRANGERS = 3 };       // this many frames of another size are the camera's new size; fewer are damaged headers
// After this time without a whole frame, cut ones are shown. It is shorter than the patience of camera_link.c.
static const int64_t cut_ns = 1500000000;

struct compressed {
    uint8_t *bytes;
    size_t size, room;
    struct frame about;
};

// The latest complete frames, if all of them have one shape that is not the camera's
struct strangers {
    struct image_shape shape;
    uint64_t first; // number of the first one
    int count;
};

struct decoder_thread {
    struct camera_decoder *decoder;
    struct codec *codec;
    struct compressed work;
    struct image other; // a frame of another chroma subsampling or size
    pthread_t thread;
};

struct camera_decoder {
    uint64_t most_pixels;
    struct pool *pool; // of the source
    int ready;         // eventfd
    struct decoder_thread worker[DECODERS_MOST];
    int workers; // running threads
    pthread_mutex_t lock;
    pthread_cond_t changed; // of `stop` and `inbox`; the lock guards all members below
    bool stop;
    struct compressed inbox; // size 0: empty
    struct frame outbox;     // slot -1: empty
    uint64_t next_number;    // least number of a frame that may follow the published ones
    struct strangers strangers;
    uint64_t damaged;
    int64_t failing_ns;  // when the first damaged frame after the last whole one was seen; 0: none was
    bool cut;            // the last published frame is cut
    bool warned, marked; // the warnings about a dropped frame, and about cut frames, were logged
    char why[CODEC_WHY]; // why the first frame after the last good one was dropped; "": none was
};

// Publishes a frame, unless a newer one was faster. `rows`: number of its rows that are not repeated.
static void publish(struct camera_decoder *decoder, const struct frame *frame, int rows)
{
    const bool cut = rows < frame->image.shape.height;
    pthread_mutex_lock(&decoder->lock);
    const bool late = frame->number < decoder->next_number, mark = cut && !decoder->marked;
    const int back = late ? frame->slot : decoder->outbox.slot;
    decoder->marked |= cut;
    if (!cut)
        decoder->failing_ns = 0;
    if (!late) {
        decoder->outbox = *frame;
        decoder->next_number = frame->number + 1;
        decoder->cut = cut;
        decoder->why[0] = '\0';
    }
    pthread_mutex_unlock(&decoder->lock);
    if (back >= 0)
        pool_give(decoder->pool, back);
    if (mark)
        log_warn("the camera's frames arrive cut; monocle shows their upper %d of %d rows", rows,
                 frame->image.shape.height);
    eventfd_write(decoder->ready, 1);
}

// Logs the reason, then counts the dropped frames, which begin with `number`: who sees the count finds the reason.
static void drop(struct camera_decoder *decoder, int frames, uint64_t number, const char *why)
{
    pthread_mutex_lock(&decoder->lock);
    const bool first = !decoder->warned;
    decoder->warned = true;
    pthread_mutex_unlock(&decoder->lock);
    log_message(first ? LOG_WARN : LOG_DEBUG,
                "dropped frame %llu of the camera: %s; further damaged frames are dropped without a warning",
                (unsigned long long)number, why);
    pthread_mutex_lock(&decoder->lock);
    decoder->damaged += (uint64_t)frames;
    if (decoder->why[0] == '\0' && number >= decoder->next_number)
        snprintf(decoder->why, sizeof(decoder->why), "%s", why);
    if (decoder->failing_ns == 0)
        decoder->failing_ns = clock_now_ns();
    pthread_mutex_unlock(&decoder->lock);
}

// Returns true if frames of the shape `a` can be converted to the shape `b`: only the chroma subsampling may differ.
static bool same_shape(const struct image_shape *a, const struct image_shape *b)
{
    return a->width == b->width && a->height == b->height && pixfmt_info(a->format)->yuv == pixfmt_info(b->format)->yuv;
}

// Drops the strangers, if frame `number`, of the camera's shape or of a third shape, follows: their headers were
// damaged.
static void dismiss_strangers(struct camera_decoder *decoder, uint64_t number)
{
    char why[CODEC_WHY];
    pthread_mutex_lock(&decoder->lock);
    const struct strangers gone = decoder->strangers;
    const bool any = gone.count > 0 && gone.first < number;
    if (any)
        decoder->strangers.count = 0;
    pthread_mutex_unlock(&decoder->lock);
    if (!any)
        return;
    snprintf(why, sizeof(why), "it is %s of %dx%d pixels, unlike the other frames",
             pixfmt_info(gone.shape.format)->name, gone.shape.width, gone.shape.height);
    drop(decoder, gone.count, gone.first, why);
}

static void meet_stranger(struct camera_decoder *decoder, const struct image_shape *shape, uint64_t number)
{
    struct strangers *strangers = &decoder->strangers;
    pthread_mutex_lock(&decoder->lock);
    const bool third = strangers->count > 0 && !same_shape(&strangers->shape, shape);
    pthread_mutex_unlock(&decoder->lock);
    if (third)
        dismiss_strangers(decoder, number);
    pthread_mutex_lock(&decoder->lock);
    if (strangers->count++ == 0)
        strangers->first = number;
    strangers->shape = *shape;
    pthread_mutex_unlock(&decoder->lock);
    eventfd_write(decoder->ready, 1);
}

// Copies one plane at another resolution: each sample is the nearest one, or 128 if `from` has no such plane.
static void resample_plane(struct image *to, const struct image *from, int plane)
{
    const struct pixfmt_plane *t = &pixfmt_info(to->shape.format)->plane[plane];
    const struct pixfmt_plane *f = &pixfmt_info(from->shape.format)->plane[plane];
    const int rows = pixfmt_rows(to->shape.format, plane, to->shape.height);
    const int columns = (int)pixfmt_row_bytes(to->shape.format, plane, to->shape.width);
    for (int y = 0; y < rows; y++) {
        uint8_t *row = to->plane[plane] + (size_t)y * to->stride[plane];
        const uint8_t *source = from->plane[plane];
        if (source)
            source += (size_t)((y << t->shift_y) >> f->shift_y) * from->stride[plane];
        for (int x = 0; x < columns; x++)
            row[x] = source ? source[(x << t->shift_x) >> f->shift_x] : 128;
    }
}

// Decodes the rows of a frame until the data end or are damaged. Returns their number; `error` says why some are
// missing.
static int decode_rows(struct decoder_thread *worker, const struct codec_head *head, struct image *image,
                       struct codec_error *error)
{
    int rows = 0, more;
    if (!codec_decode_begin(worker->codec, worker->work.bytes, worker->work.size, head, image, error))
        return 0;
    while (rows < image->shape.height && (more = codec_decode_rows(worker->codec, head, image, rows, error)) > 0)
        rows = more;
    return rows;
}

// Repeats the last of `rows` rows, at least two, down to the end of the image.
static void repeat_row(struct image *image, int rows)
{
    const struct pixfmt_info *info = pixfmt_info(image->shape.format);
    for (int p = 0; p < info->planes; p++) {
        const size_t bytes = pixfmt_row_bytes(image->shape.format, p, image->shape.width);
        const int first = rows >> info->plane[p].shift_y,
                  end = pixfmt_rows(image->shape.format, p, image->shape.height);
        for (int y = first; y < end; y++)
            memcpy(image_row(image, p, y), image_row(image, p, first - 1), bytes);
    }
}

// Decodes the worker's frame into `image` if same_shape() accepts its shape; otherwise decodes it only to check that it
// is complete. *shape is the frame's own shape. Returns the number of rows; 0, with the reason in `error`, if the frame
// is damaged. `cut`: a frame with half of its rows or more, and at least two, is not; the last one is then repeated.
static int unpack(struct decoder_thread *worker, struct image *image, bool cut, struct image_shape *shape,
                  struct codec_error *error)
{
    struct codec_head head;
    if (!codec_head_of(worker->codec, CODEC_JPEG, worker->work.bytes, worker->work.size, worker->decoder->most_pixels,
                       &head, error))
        return 0;
    *shape = head.shape;
    const bool like = same_shape(shape, &image->shape), same = like && shape->format == image->shape.format;
    struct image *to = same ? image : &worker->other;
    if (!same && !image_reserve(to, shape)) {
        snprintf(error->why, sizeof(error->why), "out of memory");
        return 0;
    }
    int rows = decode_rows(worker, &head, to, error);
    if (cut && like && rows >= 2 && rows >= shape->height / 2 && rows < shape->height)
        repeat_row(to, rows);
    else if (rows < shape->height)
        rows = 0;
    for (int i = 0; rows > 0 && like && !same && i < pixfmt_info(image->shape.format)->planes; i++)
        resample_plane(image, to, i);
    if (!like) // its memory is rarely needed
        image_free(&worker->other);
    return rows;
}

// Returns a free slot; -1 if the decoder stops, or if a newer frame arrives first.
static int await_slot(struct camera_decoder *decoder)
{
    int slot = -1;
    bool give_up = false;
    while (!give_up && (slot = pool_take(decoder->pool, clock_now_ns() + WAIT_NS)) < 0) {
        pthread_mutex_lock(&decoder->lock);
        give_up = decoder->stop || decoder->inbox.size > 0;
        pthread_mutex_unlock(&decoder->lock);
    }
    return slot;
}

static void decode(struct decoder_thread *worker)
{
    struct camera_decoder *decoder = worker->decoder;
    struct codec_error error;
    struct image_shape shape;
    struct frame frame = worker->work.about;
    frame.slot = await_slot(decoder);
    if (frame.slot < 0)
        return;
    frame.image = decoder->pool->image[frame.slot];
    frame.image.memory = NULL;
    frame.decode_ns = clock_now_ns();
    pthread_mutex_lock(&decoder->lock);
    const bool cut = decoder->failing_ns > 0 && frame.decode_ns - decoder->failing_ns >= cut_ns;
    pthread_mutex_unlock(&decoder->lock);
    const int rows = unpack(worker, &frame.image, cut, &shape, &error);
    if (rows == 0 || !same_shape(&shape, &frame.image.shape)) {
        pool_give(decoder->pool, frame.slot);
        if (rows > 0)
            meet_stranger(decoder, &shape, frame.number);
        else
            drop(decoder, 1, frame.number, error.why);
        return;
    }
    dismiss_strangers(decoder, frame.number);
    frame.ready_ns = clock_now_ns();
    publish(decoder, &frame, rows);
}

static void *run(void *context)
{
    struct decoder_thread *worker = context;
    struct camera_decoder *decoder = worker->decoder;
    pthread_mutex_lock(&decoder->lock);
    while (!decoder->stop) {
        if (decoder->inbox.size == 0) {
            pthread_cond_wait(&decoder->changed, &decoder->lock);
            continue;
        }
        const struct compressed next = decoder->inbox;
        decoder->inbox = (struct compressed){.bytes = worker->work.bytes, .room = worker->work.room};
        worker->work = next;
        pthread_mutex_unlock(&decoder->lock);
        decode(worker);
        pthread_mutex_lock(&decoder->lock);
    }
    pthread_mutex_unlock(&decoder->lock);
    return NULL;
}

// Returns false on failure (logged).
static bool start_workers(struct camera_decoder *decoder, int workers)
{
    while (decoder->workers < workers) {
        struct decoder_thread *worker = &decoder->worker[decoder->workers];
        worker->decoder = decoder;
        worker->codec = codec_open();
        if (!thread_start(&worker->thread, run, worker, "jpeg"))
            return false;
        decoder->workers++;
    }
    return true;
}

struct camera_decoder *camera_decoder_open(struct source *source, const struct image_shape *shape, uint64_t most_pixels)
{
    struct camera_decoder *decoder = xalloc(sizeof(*decoder));
    decoder->outbox.slot = -1;
    decoder->pool = &source->pool;
    decoder->most_pixels = most_pixels;
    pthread_mutex_init(&decoder->lock, NULL);
    thread_condition_init(&decoder->changed);
    decoder->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!pool_init(decoder->pool, source, NULL))
        goto fail;
    const int cpus = workers_available(), workers = cpus < DECODERS_MOST ? cpus : DECODERS_MOST;
    decoder->pool->slots = SOURCE_LENT + workers - 1;
    for (int i = 0; i < decoder->pool->slots; i++) {
        if (decoder->ready < 0 || !image_reserve(&decoder->pool->image[i], shape)) {
            log_error("cannot decode frames of the camera: out of memory");
            goto fail;
        }
        decoder->pool->image[i].reach_bytes = decoder->pool->image[i].memory_bytes;
    }
    if (start_workers(decoder, workers))
        return decoder;
fail:
    camera_decoder_close(decoder);
    return NULL;
}

void camera_decoder_close(struct camera_decoder *decoder)
{
    if (!decoder)
        return;
    pthread_mutex_lock(&decoder->lock);
    decoder->stop = true;
    pthread_cond_broadcast(&decoder->changed);
    pthread_mutex_unlock(&decoder->lock);
    for (int i = 0; i < decoder->workers; i++)
        pthread_join(decoder->worker[i].thread, NULL);
    for (int i = 0; i < DECODERS_MOST; i++) {
        struct decoder_thread *worker = &decoder->worker[i];
        codec_close(worker->codec);
        image_free(&worker->other);
        free(worker->work.bytes);
    }
    free(decoder->inbox.bytes);
    if (decoder->ready >= 0)
        close(decoder->ready);
    pthread_cond_destroy(&decoder->changed);
    pthread_mutex_destroy(&decoder->lock);
    free(decoder);
}

// Copies the few bytes, so that the driver gets its buffer back at once.
struct codec_bytes camera_decoder_find(const uint8_t *data, size_t size)
{
    static const uint8_t start[] = {0xff, 0xd8, 0xff};
    const uint8_t *end = data + size, *at = memmem(data, size, start, sizeof(start));
    if (!at)
        at = data;
    while (end - at > 4 && memcmp(at + 2, start, sizeof(start)) == 0)
        at += 2;
    return (struct codec_bytes){at, (size_t)(end - at)};
}

void camera_decoder_put(struct camera_decoder *decoder, const void *data, size_t size, const struct frame *about)
{
    struct compressed *inbox = &decoder->inbox;
    pthread_mutex_lock(&decoder->lock);
    if (inbox->room < size) {
        uint8_t *larger = realloc(inbox->bytes, size);
        if (larger) {
            inbox->bytes = larger;
            inbox->room = size;
        }
    }
    if (inbox->room >= size) {
        memcpy(inbox->bytes, data, size);
        inbox->size = size;
        inbox->about = *about;
        pthread_cond_signal(&decoder->changed);
    }
    pthread_mutex_unlock(&decoder->lock);
}

int camera_decoder_fd(const struct camera_decoder *decoder)
{
    return decoder->ready;
}

bool camera_decoder_take(struct camera_decoder *decoder, struct frame *frame)
{
    eventfd_t count;
    pthread_mutex_lock(&decoder->lock);
    eventfd_read(decoder->ready, &count);
    *frame = decoder->outbox;
    decoder->outbox.slot = -1;
    pthread_mutex_unlock(&decoder->lock);
    return frame->slot >= 0;
}

struct camera_decoder_state camera_decoder_state(struct camera_decoder *decoder)
{
    struct camera_decoder_state state = {0};
    if (!decoder)
        return state;
    pthread_mutex_lock(&decoder->lock);
    state.damaged = decoder->damaged;
    state.cut = decoder->cut;
    state.changed = decoder->strangers.count >= STRANGERS;
    state.shape = decoder->strangers.shape;
    memcpy(state.why, decoder->why, sizeof(state.why));
    pthread_mutex_unlock(&decoder->lock);
    return state;
}
