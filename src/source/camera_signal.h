// camera_signal.h: whether a camera's frames arrive: their numbers and rate, the loss of the signal, and its report
#pragma once

#include "source/cameras.h"
#include "source/source.h"

#include <pthread.h>

enum { CAMERA_STAMPS = 32 };

// The capture thread calls all functions but camera_signal_health.
struct camera_signal {
    double rate;          // nominal frames per second; 0: unknown
    int64_t heard_ns;     // time of the latest valid frame, or of the latest start of the stream
    pthread_mutex_t lock; // guards the members up to the blank line, and members of the owner
    struct source_health health;
    int64_t stamp_ns[CAMERA_STAMPS]; // ring of the capture times of the latest frames
    uint64_t stamps;

    int64_t lost_ns; // when the signal was lost; 0: there is a signal
    bool any;        // a frame has arrived
    bool counting;   // `sequence` is the sequence number of the last frame of this stream
    int slow_start;  // how often a stream was given up before its first frame; see camera_signal_patience_ns
    uint32_t sequence;
    uint64_t number;
};

void camera_signal_init(struct camera_signal *signal);
void camera_signal_finish(struct camera_signal *signal);

// Reports why no frames arrive: once in the log, and in the health until they arrive again. `path` and `card` name the
// camera; `more`: another reason, or NULL.
void camera_signal_lose(struct camera_signal *signal, const char *path, const char *card, const char *why,
                        const char *more);
// A valid frame has arrived. Returns true if it ends an outage, which is then logged.
bool camera_signal_arrive(struct camera_signal *signal, const char *path, const char *card);
// Records the capture time of a new frame. Returns the frame's number, which follows the camera's count `sequence`, but
// always grows: some cameras repeat or reset theirs. *due: it is time to look for advice.
uint64_t camera_signal_number(struct camera_signal *signal, uint32_t sequence, int64_t captured_ns, bool *due);
// Longest time between two frames, in nanoseconds; after it, the camera has stalled. The time before the first frame of
// a stream doubles with each stream that gave none, because some cameras need seconds to start.
int64_t camera_signal_patience_ns(const struct camera_signal *signal);
// Gives a stalled stream up, and writes why. `dropped`: why its frames were dropped; NULL: none arrived.
void camera_signal_give_up(struct camera_signal *signal, const char *dropped, char why[CAMERA_WHY]);
// Logs that the frames of a camera have another shape. The names are those of their formats.
void camera_log_shapes(const struct camera_node *node, const struct image_shape *now, const char *name,
                       const struct image_shape *before, const char *name_before);
double camera_signal_rate(const struct camera_signal *signal); // recent one; 0: unknown. The caller holds the lock.
void camera_signal_add_damaged(struct camera_signal *signal, uint64_t frames);         // counts damaged frames
void camera_signal_health(struct camera_signal *signal, struct source_health *health); // as source_health
