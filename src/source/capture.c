// capture.c: a thread that takes frames from a source; a mailbox holds the newest frame
#include "source/capture.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { WAIT_MS = 100 }; // the thread sees a stop after this time

struct capture {
    struct source *source;
    struct trace *trace;
    bool live;
    int event; // eventfd of capture_event; -1: none
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; // of any member below; the lock guards them
    bool stop, done;
    bool full; // `newest` is in the mailbox
    struct frame newest;
    enum source_status ending; // SOURCE_FRAME while more frames may arrive
    struct capture_counts counts;
    bool paused, wanted; // while paused, the thread takes a frame only if it is wanted
    bool seeking;        // the thread must seek to `seek_s`; older frames are dropped
    double seek_s;
    uint64_t next_number; // number that the source's next frame should have
};

// Sets or clears the event. The lock is held.
static void mark(const struct capture *capture, bool ready)
{
    uint64_t count = 1;
    const ssize_t done =
        ready ? write(capture->event, &count, sizeof(count)) : read(capture->event, &count, sizeof(count));
    (void)done; // fails if the event is clear already, or does not exist
}

// Puts a frame in the mailbox, and returns an unread older one to the source.
static void publish(struct capture *capture, const struct frame *frame)
{
    struct frame unread;
    pthread_mutex_lock(&capture->lock);
    if (capture->seeking) {
        pthread_mutex_unlock(&capture->lock);
        source_return(capture->source, frame);
        return;
    }
    const bool skipped = capture->full;
    if (skipped)
        unread = capture->newest;
    capture->newest = *frame;
    capture->newest.follows = frame->follows && !(skipped && !unread.follows);
    capture->full = true;
    capture->wanted = false;
    capture->counts.captured++;
    capture->counts.skipped += skipped;
    if (frame->follows && capture->counts.captured > 1 && frame->number > capture->next_number)
        capture->counts.dropped += frame->number - capture->next_number;
    capture->next_number = frame->number + 1;
    mark(capture, true);
    pthread_cond_broadcast(&capture->changed);
    pthread_mutex_unlock(&capture->lock);
    if (skipped)
        source_return(capture->source, &unread);
}

// Returns true if the thread must not take the next frame now. The lock is held.
static bool must_wait(const struct capture *capture)
{
    if (capture->full)
        return !capture->live || capture->paused;
    return capture->paused && !capture->wanted;
}

// Waits until the mailbox is empty if no frame may be skipped, and during a pause. Returns false when the thread must
// stop.
static bool wait_turn(struct capture *capture)
{
    pthread_mutex_lock(&capture->lock);
    while (!capture->stop && !capture->seeking && must_wait(capture))
        pthread_cond_wait(&capture->changed, &capture->lock);
    const bool go_on = !capture->stop;
    pthread_mutex_unlock(&capture->lock);
    return go_on;
}

// Publishes how the frames ended, and waits for capture_resume or capture_seek. Returns false if no more frames can
// follow.
static bool wait_resumed(struct capture *capture, enum source_status status)
{
    const bool seeks = source_info(capture->source)->frame_s > 0;
    pthread_mutex_lock(&capture->lock);
    if (!capture->seeking || status == SOURCE_FAILED) {
        capture->ending = status;
        mark(capture, true);
        pthread_cond_broadcast(&capture->changed);
    }
    while (!capture->stop && (capture->ending == SOURCE_RESHAPED || (seeks && capture->ending == SOURCE_END)))
        pthread_cond_wait(&capture->changed, &capture->lock);
    const bool go_on = capture->ending == SOURCE_FRAME;
    pthread_mutex_unlock(&capture->lock);
    return go_on;
}

static void trace_frame(struct trace *trace, const struct frame *frame)
{
    const int64_t arrived_ns = frame->decode_ns ? frame->decode_ns : frame->ready_ns;
    trace_span(trace, "capture", "capture", frame->captured_ns, arrived_ns, frame->number);
    if (frame->decode_ns)
        trace_span(trace, "jpeg", "decode", frame->decode_ns, frame->ready_ns, frame->number);
}

// Carries out a capture_seek or a capture_step. Returns false on failure.
static bool obey(struct capture *capture)
{
    pthread_mutex_lock(&capture->lock);
    const bool due = capture->seeking;
    const double seconds = capture->seek_s;
    capture->seeking = false;
    const bool hurry = capture->paused && capture->wanted;
    pthread_mutex_unlock(&capture->lock);
    if (hurry)
        source_hurry(capture->source);
    return !due || source_seek(capture->source, seconds);
}

static void *capture_run(void *context)
{
    struct capture *capture = context;
    while (wait_turn(capture)) {
        struct frame frame;
        const enum source_status status = obey(capture) ? source_next(capture->source, &frame, WAIT_MS) : SOURCE_FAILED;
        if (status == SOURCE_FRAME) {
            trace_frame(capture->trace, &frame);
            publish(capture, &frame);
        } else if (status != SOURCE_TIMEOUT && !wait_resumed(capture, status)) {
            break;
        }
    }
    pthread_mutex_lock(&capture->lock);
    capture->done = true;
    pthread_cond_broadcast(&capture->changed);
    pthread_mutex_unlock(&capture->lock);
    return NULL;
}

struct capture *capture_start(struct source *source, struct trace *trace)
{
    struct capture *capture = xalloc(sizeof(*capture));
    capture->source = source;
    capture->trace = trace;
    capture->live = source_info(source)->live && !source_info(source)->pictures;
    capture->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&capture->lock, NULL);
    thread_condition_init(&capture->changed);
    if (thread_start(&capture->thread, capture_run, capture, "capture"))
        return capture;
    close(capture->event);
    pthread_cond_destroy(&capture->changed);
    pthread_mutex_destroy(&capture->lock);
    free(capture);
    return NULL;
}

bool capture_stop(struct capture *capture, int wait_ms)
{
    if (!capture)
        return true;
    const int64_t deadline_ns = clock_now_ns() + wait_ms * NS_PER_MS;
    pthread_mutex_lock(&capture->lock);
    capture->stop = true;
    pthread_cond_broadcast(&capture->changed);
    while (!capture->done && thread_wait(&capture->changed, &capture->lock, deadline_ns))
        ;
    const bool done = capture->done;
    pthread_mutex_unlock(&capture->lock);
    if (!done)
        return false;
    pthread_join(capture->thread, NULL);
    if (capture->full)
        source_return(capture->source, &capture->newest);
    close(capture->event);
    pthread_cond_destroy(&capture->changed);
    pthread_mutex_destroy(&capture->lock);
    free(capture);
    return true;
}

void capture_pause(struct capture *capture, bool paused)
{
    pthread_mutex_lock(&capture->lock);
    capture->paused = paused;
    capture->wanted = false;
    pthread_cond_broadcast(&capture->changed);
    pthread_mutex_unlock(&capture->lock);
}

void capture_step(struct capture *capture)
{
    pthread_mutex_lock(&capture->lock);
    capture->wanted = !capture->full;
    pthread_cond_broadcast(&capture->changed);
    pthread_mutex_unlock(&capture->lock);
}

bool capture_seek(struct capture *capture, double seconds)
{
    pthread_mutex_lock(&capture->lock);
    const bool ok = capture->ending == SOURCE_FRAME || capture->ending == SOURCE_END, old = ok && capture->full;
    const struct frame unread = capture->newest;
    if (ok) {
        capture->seeking = capture->wanted = true;
        capture->seek_s = seconds;
        capture->full = false;
        capture->ending = SOURCE_FRAME;
        mark(capture, false);
        pthread_cond_broadcast(&capture->changed);
    }
    pthread_mutex_unlock(&capture->lock);
    if (old)
        source_return(capture->source, &unread);
    return ok;
}

enum source_status capture_take(struct capture *capture, struct frame *frame, int timeout_ms)
{
    const int64_t deadline_ns = clock_now_ns() + timeout_ms * NS_PER_MS;
    pthread_mutex_lock(&capture->lock);
    while (!capture->full && capture->ending == SOURCE_FRAME)
        if (!thread_wait(&capture->changed, &capture->lock, deadline_ns))
            break;
    enum source_status status = SOURCE_TIMEOUT;
    if (capture->full) {
        *frame = capture->newest;
        capture->full = false;
        if (capture->ending == SOURCE_FRAME)
            mark(capture, false);
        status = SOURCE_FRAME;
        pthread_cond_broadcast(&capture->changed);
    } else if (capture->ending != SOURCE_FRAME) {
        status = capture->ending;
    }
    pthread_mutex_unlock(&capture->lock);
    return status;
}

void capture_resume(struct capture *capture)
{
    pthread_mutex_lock(&capture->lock);
    capture->ending = SOURCE_FRAME;
    if (!capture->full)
        mark(capture, false);
    pthread_cond_broadcast(&capture->changed);
    pthread_mutex_unlock(&capture->lock);
}

int capture_event(const struct capture *capture)
{
    return capture->event;
}

struct capture_counts capture_counts(const struct capture *capture)
{
    struct capture *locked = (struct capture *)capture; // for its lock
    pthread_mutex_lock(&locked->lock);
    const struct capture_counts counts = capture->counts;
    pthread_mutex_unlock(&locked->lock);
    return counts;
}
