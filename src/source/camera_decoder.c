// camera_decoder.c: a thread that decodes the newest compressed frame of a camera
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

enum { WAIT_NS = 100000000 }; // longest time until the thread sees a stop while all images are lent
enum { STRANGERS = 3 };       // this many frames of another size are the camera's new size; fewer are damaged headers

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

struct camera_decoder {
    struct codec *codec;
    uint64_t most_pixels;
    struct image other; // a frame of another chroma subsampling or size
    struct pool *pool;  // of the source
    int ready;          // eventfd
    bool running;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; // of `stop` and `inbox`; the lock guards all members below
    bool stop;
    struct compressed inbox; // size 0: empty
    struct frame outbox;     // slot -1: empty
    struct strangers strangers;
    uint64_t damaged;
    bool warned;         // the warning about a dropped frame was logged
    char why[CODEC_WHY]; // why the first frame after the last good one was dropped; "": none was
};

static void publish(struct camera_decoder *decoder, const struct frame *frame)
{
    pthread_mutex_lock(&decoder->lock);
    if (decoder->outbox.slot >= 0)
        pool_give(decoder->pool, decoder->outbox.slot);
    decoder->outbox = *frame;
    decoder->why[0] = '\0';
    pthread_mutex_unlock(&decoder->lock);
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
    if (decoder->why[0] == '\0')
        snprintf(decoder->why, sizeof(decoder->why), "%s", why);
    pthread_mutex_unlock(&decoder->lock);
}

// Returns true if frames of the shape `a` can be converted to the shape `b`: only the chroma subsampling may differ.
static bool same_shape(const struct image_shape *a, const struct image_shape *b)
{
    return a->width == b->width && a->height == b->height && pixfmt_info(a->format)->yuv == pixfmt_info(b->format)->yuv;
}

// Drops the strangers: a frame of the camera's shape or of a third shape follows, so their headers were damaged.
static void dismiss_strangers(struct camera_decoder *decoder)
{
    char why[CODEC_WHY];
    pthread_mutex_lock(&decoder->lock);
    const struct strangers gone = decoder->strangers;
    decoder->strangers.count = 0;
    pthread_mutex_unlock(&decoder->lock);
    if (gone.count == 0)
        return;
    snprintf(why, sizeof(why), "it is %s of %dx%d pixels, unlike the other frames",
             pixfmt_info(gone.shape.format)->name, gone.shape.width, gone.shape.height);
    drop(decoder, gone.count, gone.first, why);
}

static void meet_stranger(struct camera_decoder *decoder, const struct image_shape *shape, uint64_t number)
{
    struct strangers *strangers = &decoder->strangers;
    if (strangers->count > 0 && !same_shape(&strangers->shape, shape))
        dismiss_strangers(decoder);
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

// Decodes the frame into `image` if same_shape() accepts its shape; otherwise decodes it only to check that it is
// complete. *shape is the frame's own shape. Returns false, with the reason in `error`, if the frame is damaged.
static bool unpack(struct camera_decoder *decoder, const struct compressed *work, struct image *image,
                   struct image_shape *shape, struct codec_error *error)
{
    struct codec_head head;
    if (!codec_head_of(decoder->codec, CODEC_JPEG, work->bytes, work->size, decoder->most_pixels, &head, error))
        return false;
    *shape = head.shape;
    const bool like = same_shape(shape, &image->shape);
    if (like && shape->format == image->shape.format)
        return codec_decode(decoder->codec, work->bytes, work->size, &head, image, error);
    if (!image_reserve(&decoder->other, shape)) {
        snprintf(error->why, sizeof(error->why), "out of memory");
        return false;
    }
    const bool ok = codec_decode(decoder->codec, work->bytes, work->size, &head, &decoder->other, error);
    for (int i = 0; ok && like && i < pixfmt_info(image->shape.format)->planes; i++)
        resample_plane(image, &decoder->other, i);
    if (!like) // its memory is rarely needed
        image_free(&decoder->other);
    return ok;
}

static void decode(struct camera_decoder *decoder, const struct compressed *work)
{
    struct codec_error error;
    struct image_shape shape;
    struct frame frame = work->about;
    int slot = -1;
    while ((slot = pool_take(decoder->pool, clock_now_ns() + WAIT_NS)) < 0) {
        pthread_mutex_lock(&decoder->lock);
        const bool give_up = decoder->stop || decoder->inbox.size > 0; // a newer frame has arrived
        pthread_mutex_unlock(&decoder->lock);
        if (give_up)
            return;
    }
    frame.slot = slot;
    frame.image = decoder->pool->image[slot];
    frame.image.memory = NULL;
    frame.decode_ns = clock_now_ns();
    const bool ok = unpack(decoder, work, &frame.image, &shape, &error);
    if (!ok || !same_shape(&shape, &frame.image.shape)) {
        pool_give(decoder->pool, slot);
        if (ok)
            meet_stranger(decoder, &shape, frame.number);
        else
            drop(decoder, 1, frame.number, error.why);
        return;
    }
    dismiss_strangers(decoder);
    frame.ready_ns = clock_now_ns();
    publish(decoder, &frame);
}

static void *run(void *context)
{
    struct camera_decoder *decoder = context;
    struct compressed work = {0};
    pthread_mutex_lock(&decoder->lock);
    while (!decoder->stop) {
        if (decoder->inbox.size == 0) {
            pthread_cond_wait(&decoder->changed, &decoder->lock);
            continue;
        }
        const struct compressed next = decoder->inbox;
        decoder->inbox = (struct compressed){.bytes = work.bytes, .room = work.room};
        work = next;
        pthread_mutex_unlock(&decoder->lock);
        decode(decoder, &work);
        pthread_mutex_lock(&decoder->lock);
    }
    pthread_mutex_unlock(&decoder->lock);
    free(work.bytes);
    return NULL;
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
    decoder->codec = codec_open();
    if (!pool_init(decoder->pool, source, NULL))
        goto fail;
    for (int i = 0; i < SOURCE_LENT; i++) {
        if (decoder->ready < 0 || !image_reserve(&decoder->pool->image[i], shape)) {
            log_error("cannot decode frames of the camera: out of memory");
            goto fail;
        }
        decoder->pool->image[i].reach_bytes = decoder->pool->image[i].memory_bytes;
    }
    decoder->running = thread_start(&decoder->thread, run, decoder, "jpeg");
    if (decoder->running)
        return decoder;
fail:
    camera_decoder_close(decoder);
    return NULL;
}

void camera_decoder_close(struct camera_decoder *decoder)
{
    if (!decoder)
        return;
    if (decoder->running) {
        pthread_mutex_lock(&decoder->lock);
        decoder->stop = true;
        pthread_cond_broadcast(&decoder->changed);
        pthread_mutex_unlock(&decoder->lock);
        pthread_join(decoder->thread, NULL);
    }
    free(decoder->inbox.bytes);
    codec_close(decoder->codec);
    image_free(&decoder->other);
    if (decoder->ready >= 0)
        close(decoder->ready);
    pthread_cond_destroy(&decoder->changed);
    pthread_mutex_destroy(&decoder->lock);
    free(decoder);
}

// Copies the few bytes, so that the driver gets its buffer back at once.
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
        pthread_cond_broadcast(&decoder->changed);
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
    state.changed = decoder->strangers.count >= STRANGERS;
    state.shape = decoder->strangers.shape;
    memcpy(state.why, decoder->why, sizeof(state.why));
    pthread_mutex_unlock(&decoder->lock);
    return state;
}
