// worker.h: a thread that processes one file after the other, up to the temporary name of its output; the choice of the
// path that all workers use
#pragma once

#include "batch/batch.h"
#include "batch/tasks.h"
#include "compute/device.h"
#include "compute/gl_context.h"
#include "image/codec/codec.h"
#include "path/path.h"

#include <pthread.h>

// ---- the runner ----

enum { FLEET_OPENINGS = 4 }; // attempts to open one device; after that many losses, it is not opened again

struct fleet_member {
    struct device_info info;
    int number;           // its number in the list of `monocle devices`
    pthread_mutex_t lock; // guards the members below
    // The last one is in use. Lost devices stay open until the end, because another thread may still use them.
    struct device *device[FLEET_OPENINGS];
    int openings;
};

// The OpenCL devices of a batch
struct fleet {
    struct fleet_member member[DEVICE_MAX];
    int count;
    const char *kernel_dir;
};

// Selects the devices that `text` names (as device_choose does), and opens none yet. "all" selects every GPU; on a
// machine without a GPU, every accelerator; without accelerators, every CPU device. Returns false on failure (logged).
// If the machine has no device, it logs nothing and *why is a static text. A fleet with devices stays as it is.
bool fleet_init(struct fleet *fleet, const char *text, const char *kernel_dir, const char **why);
void fleet_finish(struct fleet *fleet); // accepts a zeroed fleet; no thread may use a device any more

enum {
    RUNNER_FLIGHTS = 2,
    RUNNER_SLOTS = 8, // paths that stay open, for the landscape and portrait images of a few cameras
};

struct runner_setup {
    const struct chain *chain; // at most CHAIN_MAX filters; 2 fewer if images are rotated
    struct fleet *fleet;
    int member;          // number of the fleet's member; -1: the cpu path or the gl path
    bool gl;             // the gl path
    int threads;         // threads of a cpu path
    struct tuned *tuned; // tuning results for a cpu path; NULL: none
    uint64_t keep_bytes; // memory of a device that idle paths may keep; 0: close idle paths
};

// An image for a runner
struct runner_request {
    const struct image *picture;  // must stay valid until the image is collected
    const char *name;             // of the file, for the filter `text`; valid likewise
    const char *relative;         // its name below the named directory, for files of filters; valid likewise
    const struct path_feed *feed; // only on the cpu path: callbacks for rows; NULL: whole images
    struct codec_turn turn;       // mirror and flip run before the chain; the caller has transposed already
    struct image_shape encode;    // format of the result, as path_setup.encode; width 0: RGBA
};

// A path for images of one shape
struct runner_slot {
    struct path *path; // NULL: none
    struct image_shape input, encode;
    struct codec_turn turn;
    bool fed;
    char *relative;      // the image whose own files the filters have; NULL: they have none
    uint64_t bytes;      // estimated memory of the path
    unsigned long asked; // value of runner.asked at its last use
};

struct runner {
    struct runner_setup setup;
    struct device *device; // NULL: the cpu path or the gl path
    struct gl_context *gl; // NULL: not the gl path
    struct runner_slot slot[RUNNER_SLOTS];
    unsigned long asked; // counts the uses of paths
    struct {
        struct runner_request request;
        struct runner_slot *slot;       // its path, if it is submitted
        bool no_matte;                  // a filter got no matte
    } flight[RUNNER_FLIGHTS];           // the oldest first
    int flights, submitted;             // images in flight; the first `submitted` of them are on their paths
    const struct fleet_member *done_by; // device of the last collected image; NULL: the cpu path
    const struct path *done_path;       // of the last collected image; valid until the next submit
    bool given_up;                      // a lost device cannot be opened again, and no cpu path may replace it
};

// Returns false on failure (logged). Call it and all other functions on one thread.
bool runner_open(struct runner *runner, const struct runner_setup *setup);
void runner_close(struct runner *runner); // accepts a zeroed runner; runner_submit may follow, except with gl

// Number of images that may stay in flight while the caller prepares the next one. It is 0 on the cpu path, which only
// works within runner_collect.
int runner_lag(const struct runner *runner);
// Copies the request; the cpu path begins it within runner_collect. At most RUNNER_FLIGHTS images may be in flight.
void runner_submit(struct runner *runner, const struct runner_request *request);
// Waits for the oldest image. `result` points to memory that stays valid until the next submit or collect. Returns
// false if the image cannot be processed; *why is then the reason, or NULL. The caller frees *why in either case.
bool runner_collect(struct runner *runner, struct path_result *result, char **why);

// ---- workers ----

// The pointers must stay valid until worker_close.
struct worker_setup {
    const struct batch_setup *options;
    struct queue *queue;
    struct runner_setup runner; // each file in flight, too, may keep `keep_bytes` for the next file
};

struct worker;

struct worker *worker_open(const struct worker_setup *setup);
// Starts the thread, which leaves the queue at its end. Returns false on failure (logged).
bool worker_start(struct worker *worker, int number);
// Waits until the thread ends and frees the worker. Returns true if it lost its device and could not replace it.
// Accepts NULL.
bool worker_close(struct worker *worker);

// Decodes a file for a measurement, without a thread. Returns false if that fails. `request` and `settings` (of the
// output) point to memory that stays valid until the next call or worker_close.
bool worker_sample(struct worker *worker, const struct task *task, struct runner_request *request,
                   struct codec_settings *settings);

struct choice {
    enum path_kind kind;
    char why[120]; // why the measurement chose it; "": nothing was measured
};

// Selects the path and opens the fleet if it needs devices. --path, --device and --kernels decide; if they leave it
// open and there are at least 100 files, decodes one file and measures both paths with it. `jobs` workers will run.
// Returns false on failure (logged).
bool choose_path(struct choice *choice, const struct batch_setup *options, struct queue *queue, struct fleet *fleet,
                 int jobs);

// The cost of one image on one path, in milliseconds
struct cost {
    double codec_ms;  // CPU time to read, decode and encode it
    double filter_ms; // CPU time of the rest: the passes, or a device's copies and launches
    double device_ms; // time that a device is busy with it; 0 on the cpu path
    double open_ms;   // time to open a path on a device, memory included; 0 on the cpu path
};

// Estimates the time of a batch, in milliseconds. The jobs share the CPUs, the devices share the images, and a driver
// opens the paths of all jobs one after the other.
double cost_batch_ms(const struct cost *cost, size_t files, int jobs, int devices);

// ---- the queue ----

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t handed_in, room, memory_given;
    const struct tasks *tasks;
    size_t next;    // index of the next task
    bool fail_fast; // stop at the first failure; a full disk always stops the queue
    bool stopped;
    int workers; // workers that have not left
    struct outcome *first, *last;
    int waiting, waiting_most; // outcomes in the list, and their limit
    uint64_t memory_bytes, memory_used;
};

// `memory_bytes` limits the memory of all images in flight.
void queue_init(struct queue *queue, const struct tasks *tasks, bool fail_fast, uint64_t memory_bytes);
void queue_finish(struct queue *queue);
// Sets the number of workers, before they start. Reduces *jobs and the limit of waiting outcomes if the process may
// open few files. `device`: the workers use devices. Returns false if the limit of open files is too low for one job
// (logged).
bool queue_admit(struct queue *queue, int *jobs, bool device);

// For workers. Returns NULL if there is no more task.
const struct task *queue_take(struct queue *queue);
// Takes over the outcome. Waits while the list is full, which limits the outputs that are not on the disk yet.
void queue_hand_in(struct queue *queue, struct outcome *outcome);
void queue_leave(struct queue *queue); // also for a worker that cannot start
// Takes `bytes`, which must not exceed `memory_bytes`. If fewer are left, it waits for them (`waiting`) or returns
// false. A thread that waits must hold no bytes, because two such threads could wait for each other.
bool queue_take_memory(struct queue *queue, uint64_t bytes, bool waiting);
void queue_give_memory(struct queue *queue, uint64_t bytes);

// For the main thread. Waits until half the limit of outcomes has arrived, all workers have left, or the deadline has
// passed. Returns all waiting outcomes, oldest first; the caller frees them. *over is set if all workers have left:
// these outcomes are the last.
struct outcome *queue_collect(struct queue *queue, int64_t deadline_ns, bool *over);
void queue_stop(struct queue *queue); // queue_take then returns NULL
