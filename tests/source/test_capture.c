// test_capture.c: the capture thread and its mailbox: the newest frame wins, every frame is counted and returned
#include "check.h"

#include "base/clock.h"
#include "source/capture.h"
#include "source/kind.h"

#include <pthread.h>

enum { FRAMES_MAX = 1000 };

static struct check check = {.name = "capture"};

// A source of numbers, which records the lent frames.
struct fake {
    pthread_mutex_t lock;
    uint64_t next;
    uint64_t last;   // number of frames; then `ending`
    uint64_t gap_at; // before this frame three are lost; 0 for no gap
    enum source_status ending;
    int64_t delay_ns;         // from frame to frame
    int out[FRAMES_MAX + 10]; // by number: 1 while lent, 2 once returned
    int lent, most;
    bool wrong; // a frame was returned that was not lent
};

static void sleep_ns(int64_t ns)
{
    clock_sleep_until_ns(clock_now_ns() + ns);
}

static enum source_status fake_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct fake *fake = source->state;
    if (fake->delay_ns > 0)
        sleep_ns(fake->delay_ns);
    pthread_mutex_lock(&fake->lock);
    enum source_status status = fake->ending;
    if (fake->next < fake->last) {
        if (fake->gap_at != 0 && fake->next == fake->gap_at)
            fake->next += 3;
        *frame = (struct frame){.number = fake->next, .follows = fake->next > 0};
        fake->next++;
        fake->out[frame->number] = 1;
        fake->lent++;
        fake->most = fake->lent > fake->most ? fake->lent : fake->most;
        status = SOURCE_FRAME;
    }
    pthread_mutex_unlock(&fake->lock);
    return status;
}

static void fake_return(struct source *source, const struct frame *frame)
{
    struct fake *fake = source->state;
    pthread_mutex_lock(&fake->lock);
    fake->wrong |= fake->out[frame->number] != 1;
    fake->out[frame->number] = 2;
    fake->lent--;
    pthread_mutex_unlock(&fake->lock);
}

// The same number of frames again, then the end.
static bool fake_reshape(struct source *source)
{
    struct fake *fake = source->state;
    fake->last *= 2;
    fake->ending = SOURCE_END;
    return true;
}

static bool fake_seek(struct source *source, double seconds)
{
    struct fake *fake = source->state;
    pthread_mutex_lock(&fake->lock);
    fake->next = (uint64_t)seconds;
    pthread_mutex_unlock(&fake->lock);
    return true;
}

static const struct source_kind fake_kind = {
    .name = "fake", .next = fake_next, .give_back = fake_return, .reshape = fake_reshape, .seek = fake_seek};

static struct source source_of(struct fake *fake, bool live)
{
    pthread_mutex_init(&fake->lock, NULL);
    return (struct source){.kind = &fake_kind, .state = fake, .info = {.live = live}};
}

static void all_returned(struct fake *fake, const char *test)
{
    check_that(&check, fake->lent == 0 && !fake->wrong, "%s: every frame went back once (%d are out)", test,
               fake->lent);
    pthread_mutex_destroy(&fake->lock);
}

// A source that is not live, or has pictures: every frame, in order, and the end after the last.
static void test_complete(bool pictures)
{
    static struct fake fake;
    fake = (struct fake){.last = 300, .ending = SOURCE_END};
    struct source source = source_of(&fake, pictures);
    source.info.pictures = pictures;
    struct capture *capture = capture_start(&source, NULL);
    struct frame frame;
    uint64_t expected = 0;
    enum source_status status;
    while ((status = capture_take(capture, &frame, 1000)) == SOURCE_FRAME) {
        check_that(&check, frame.number == expected, "frame %llu arrives in order", (unsigned long long)expected);
        expected = frame.number + 1;
        if (expected % 100 == 0)
            sleep_ns(5000000); // a slow reader loses no frame
        source_return(&source, &frame);
    }
    const struct capture_counts counts = capture_counts(capture);
    check_that(&check, status == SOURCE_END && expected == 300, "all frames arrive, then the end");
    check_that(&check, capture_take(capture, &frame, 0) == SOURCE_END, "the end stays");
    check_that(&check, counts.captured == 300 && counts.skipped == 0 && counts.dropped == 0, "no frame was skipped");
    check_that(&check, fake.most <= 2, "at most one frame waits while one is used (%d)", fake.most);
    capture_stop(capture, CAPTURE_STOP_MS);
    all_returned(&fake, "complete");
}

// Waits until the source has made that many frames, or all of them.
static void wait_made(struct fake *fake, uint64_t count)
{
    for (bool made = false; !made;) {
        sleep_ns(500000);
        pthread_mutex_lock(&fake->lock);
        made = fake->next >= count || fake->next == fake->last;
        pthread_mutex_unlock(&fake->lock);
    }
}

// A live source and a slow taker: always the newest, older ones skipped and counted.
static void test_newest(void)
{
    static struct fake fake = {.last = 200, .ending = SOURCE_END, .delay_ns = 500000};
    struct source source = source_of(&fake, true);
    struct capture *capture = capture_start(&source, NULL);
    struct frame frame;
    uint64_t taken = 0, last = 0;
    while (capture_take(capture, &frame, 60000) == SOURCE_FRAME) {
        check_that(&check, taken == 0 || frame.number > last, "frames only go forward");
        last = frame.number;
        taken++;
        wait_made(&fake, last + 10);
        source_return(&source, &frame);
    }
    const struct capture_counts counts = capture_counts(capture);
    check_that(&check, last == 199, "the last frame is not lost");
    check_that(&check, counts.captured == 200 && counts.skipped == 200 - taken && taken <= 200 / 7,
               "of 200 frames %llu were taken, %llu skipped", (unsigned long long)taken,
               (unsigned long long)counts.skipped);
    check_that(&check, fake.most <= 3, "at most three frames are out (%d)", fake.most);
    capture_stop(capture, CAPTURE_STOP_MS);
    all_returned(&fake, "newest");
}

// capture_take gives the newest frame that the source has made.
static void test_fresh(void)
{
    static struct fake fake = {.last = FRAMES_MAX, .ending = SOURCE_END, .delay_ns = 2000000};
    struct source source = source_of(&fake, true);
    struct capture *capture = capture_start(&source, NULL);
    struct frame frame;
    wait_made(&fake, 30);
    pthread_mutex_lock(&fake.lock);
    const uint64_t made = fake.next;
    pthread_mutex_unlock(&fake.lock);
    check_that(&check, capture_take(capture, &frame, 1000) == SOURCE_FRAME && frame.number + 2 >= made,
               "after a pause the frame is %llu of %llu made", (unsigned long long)frame.number,
               (unsigned long long)made);
    source_return(&source, &frame);
    sleep_ns(10000000);
    capture_stop(capture, CAPTURE_STOP_MS); // with a frame in the mailbox
    all_returned(&fake, "fresh");
}

static void test_gap_and_failure(void)
{
    static struct fake fake = {.next = 5, .last = 20, .gap_at = 10, .ending = SOURCE_FAILED};
    struct source source = source_of(&fake, false);
    struct capture *capture = capture_start(&source, NULL);
    struct frame frame;
    enum source_status status;
    while ((status = capture_take(capture, &frame, 1000)) == SOURCE_FRAME)
        source_return(&source, &frame);
    const struct capture_counts counts = capture_counts(capture);
    check_that(&check, status == SOURCE_FAILED, "a failure is passed on");
    check_that(&check, counts.dropped == 3 && counts.captured == 12, "a gap of three is counted (%llu)",
               (unsigned long long)counts.dropped);
    capture_stop(capture, CAPTURE_STOP_MS);
    all_returned(&fake, "gap");
}

static void test_timeout(void)
{
    static struct fake fake = {.last = 0, .ending = SOURCE_TIMEOUT, .delay_ns = 1000000};
    struct source source = source_of(&fake, true);
    struct capture *capture = capture_start(&source, NULL);
    struct frame frame;
    const int64_t begin = clock_now_ns();
    const enum source_status status = capture_take(capture, &frame, 30);
    const int64_t took = clock_now_ns() - begin;
    check_that(&check, status == SOURCE_TIMEOUT && took >= 30000000, "a take ends at its time-out (%.1f ms)",
               (double)took / 1e6);
    capture_stop(capture, CAPTURE_STOP_MS);
    capture_stop(NULL, CAPTURE_STOP_MS);
    all_returned(&fake, "timeout");
}

// Frames that are kept for a while and returned by another thread than the one that took them.
static void *return_later(void *context)
{
    struct frame *frames = context;
    sleep_ns(3000000);
    for (int i = 0; i < 2; i++)
        source_return((struct source *)frames[i].image.memory, &frames[i]);
    return NULL;
}

static void test_other_thread(void)
{
    static struct fake fake = {.last = FRAMES_MAX, .ending = SOURCE_END, .delay_ns = 200000};
    struct source source = source_of(&fake, true);
    struct capture *capture = capture_start(&source, NULL);
    for (int round = 0; round < 10; round++) {
        struct frame frames[2];
        pthread_t thread;
        for (int i = 0; i < 2; i++) {
            check_that(&check, capture_take(capture, &frames[i], 1000) == SOURCE_FRAME, "a frame arrives");
            frames[i].image.memory = &source; // only for return_later
        }
        pthread_create(&thread, NULL, return_later, frames);
        pthread_join(thread, NULL);
    }
    capture_stop(capture, CAPTURE_STOP_MS);
    all_returned(&fake, "other thread");
}

// A new shape is reported after the last frame of the old one, when all frames are returned; then frames arrive again.
static void test_reshaped(void)
{
    static struct fake fake = {.last = 3, .ending = SOURCE_RESHAPED};
    struct source source = source_of(&fake, false);
    struct capture *capture = capture_start(&source, NULL);
    struct frame frame;
    enum source_status status;
    for (int i = 0; i < 2; i++) {
        uint64_t frames = 0;
        while ((status = capture_take(capture, &frame, 1000)) == SOURCE_FRAME) {
            frames++;
            source_return(&source, &frame);
        }
        check_that(&check, frames == 3 && status == (i == 0 ? SOURCE_RESHAPED : SOURCE_END), "shape %d: %llu frames", i,
                   (unsigned long long)frames);
        check_that(&check, fake.lent == 0, "none is out meanwhile");
        if (status == SOURCE_RESHAPED && source_reshape(&source))
            capture_resume(capture);
    }
    check_that(&check, capture_counts(capture).captured == 6, "they are counted on");
    capture_stop(capture, CAPTURE_STOP_MS);
    fake = (struct fake){.last = 1, .ending = SOURCE_RESHAPED};
    source = source_of(&fake, true);
    capture = capture_start(&source, NULL);
    while (capture_take(capture, &frame, 1000) == SOURCE_FRAME)
        source_return(&source, &frame);
    check_that(&check, capture_stop(capture, CAPTURE_STOP_MS), "it can be stopped while it waits");
    all_returned(&fake, "reshaped");
}

// If the driver hangs, capture_stop returns; a later call completes the stop.
static void test_hanging(void)
{
    static struct fake fake = {.last = 1, .ending = SOURCE_END, .delay_ns = 6000000000};
    struct source source = source_of(&fake, true);
    struct capture *capture = capture_start(&source, NULL);
    sleep_ns(100000000); // it has begun to wait
    check_that(&check, !capture_stop(capture, CAPTURE_STOP_MS), "a source that hangs is left alone");
    sleep_ns(fake.delay_ns / 2);
    check_that(&check, capture_stop(capture, CAPTURE_STOP_MS), "until it lets go");
    all_returned(&fake, "hanging");
}

// A frame from before a seek never arrives, even if the source was making it. A pause gives single frames.
static void test_seek(void)
{
    static struct fake fake = {.last = 300, .ending = SOURCE_END, .delay_ns = 20000000};
    struct source source = source_of(&fake, true);
    struct frame frame;
    source.info.frame_s = 1;
    struct capture *capture = capture_start(&source, NULL);
    for (int i = 1; i < 4; i++) {
        sleep_ns(70000000);
        check_that(&check, capture_seek(capture, 100 * i % 300), "seek %d", i);
        check_that(&check, capture_take(capture, &frame, 60000) == SOURCE_FRAME, "a frame after seek %d", i);
        check_that(&check, frame.number == 100u * (unsigned)i % 300, "seek %d gives frame %d", i, (int)frame.number);
        source_return(&source, &frame);
    }
    capture_pause(capture, true);
    while (capture_take(capture, &frame, 200) == SOURCE_FRAME) // the frame that the source was making
        source_return(&source, &frame);
    const uint64_t next = fake.next;
    for (uint64_t i = 0; i < 3; i++) {
        check_that(&check, capture_take(capture, &frame, 100) == SOURCE_TIMEOUT, "no frame during a pause");
        capture_step(capture);
        check_that(&check, capture_take(capture, &frame, 60000) == SOURCE_FRAME && frame.number == next + i, "a step");
        source_return(&source, &frame);
    }
    check_that(&check, capture_seek(capture, 299) && capture_take(capture, &frame, 60000) == SOURCE_FRAME, "the last");
    source_return(&source, &frame);
    capture_pause(capture, false);
    check_that(&check, capture_take(capture, &frame, 60000) == SOURCE_END, "the end");
    check_that(&check,
               capture_seek(capture, 298) && capture_take(capture, &frame, 60000) == SOURCE_FRAME &&
                   frame.number == 298,
               "a seek after the end");
    source_return(&source, &frame);
    capture_stop(capture, CAPTURE_STOP_MS);
    check_that(&check, !fake.wrong && fake.lent == 0, "all frames were returned");
}

int main(void)
{
    test_complete(false);
    test_complete(true);
    test_newest();
    test_fresh();
    test_gap_and_failure();
    test_timeout();
    test_other_thread();
    test_reshaped();
    test_seek();
    test_hanging();
    return check_end(&check);
}
