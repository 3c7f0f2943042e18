// cameras.c: finds the cameras, the camera that a name means, and the modes of each
#include "source/cameras.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "source/camera_stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_MS = 2000, TRIAL_MS = 3000, LATE_MS = 300, REST_MS = 200, WAIT_MS = 100 };

const char camera_no_answer[] = "its driver does not answer; unplug the camera and plug it in again";
static const char by_id[] = "/dev/v4l/by-id";

// Finds the node's id: a link to it that udev names by maker, model and serial number.
static void find_id(struct camera_node *node)
{
    struct stat of_node, of_link;
    DIR *directory = opendir(by_id);
    if (!directory || stat(node->path, &of_node) != 0)
        goto done;
    const struct dirent *entry;
    while ((entry = readdir(directory))) {
        char link[sizeof(by_id) + sizeof(entry->d_name) + 1];
        snprintf(link, sizeof(link), "%s/%s", by_id, entry->d_name);
        if (entry->d_name[0] != '.' && stat(link, &of_link) == 0 && of_link.st_rdev == of_node.st_rdev &&
            S_ISCHR(of_link.st_mode)) {
            snprintf(node->id, sizeof(node->id), "%.*s", CAMERA_ID - 1, entry->d_name);
            break;
        }
    }
done:
    if (directory)
        closedir(directory);
}

// Finds the node's number among the nodes of its device.
static void find_index(struct camera_node *node)
{
    char path[64], text[16] = "";
    const char *slash = strrchr(node->path, '/');
    snprintf(path, sizeof(path), "/sys/class/video4linux/%s/index", slash ? slash + 1 : "");
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool one = strcmp(node->driver, "libcamera") != 0; // all nodes of its layer are the same camera
    node->index = one && fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 ? atoi(text) : -1;
    if (fd >= 0)
        close(fd);
}

static void add_rate(struct camera_offer *offer, struct v4l2_fract interval)
{
    if (offer->rates < CAMERA_RATES)
        offer->rate[offer->rates++] = camera_mode_rate(interval);
}

static void list_rates(const struct camera_device *device, uint32_t fourcc, struct camera_offer *offer)
{
    struct v4l2_frmivalenum rate = {
        .pixel_format = fourcc, .width = (uint32_t)offer->width, .height = (uint32_t)offer->height};
    for (; camera_device_ask(device, VIDIOC_ENUM_FRAMEINTERVALS, &rate) == 0; rate.index++) {
        if (rate.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
            add_rate(offer, rate.discrete);
            continue;
        }
        add_rate(offer, rate.stepwise.min);
        add_rate(offer, rate.stepwise.max);
        return;
    }
}

static void add_offer(const struct camera_device *device, uint32_t fourcc, const struct v4l2_frmsizeenum *size,
                      struct camera_offers *offers)
{
    if (offers->count == CAMERA_MODES)
        return;
    struct camera_mode mode;
    struct camera_offer *offer = &offers->offer[offers->count++];
    *offer = (struct camera_offer){.usable = camera_mode_known(fourcc, &mode)};
    if (offer->usable)
        snprintf(offer->format, sizeof(offer->format), "%s", camera_mode_name(&mode));
    else
        camera_mode_code(fourcc, offer->format);
    const bool discrete = size->type == V4L2_FRMSIZE_TYPE_DISCRETE;
    offer->width = (int)(discrete ? size->discrete.width : size->stepwise.max_width);
    offer->height = (int)(discrete ? size->discrete.height : size->stepwise.max_height);
    offer->width_least = discrete ? offer->width : (int)size->stepwise.min_width;
    offer->height_least = discrete ? offer->height : (int)size->stepwise.min_height;
    list_rates(device, fourcc, offer);
}

// For a driver that lists no sizes: adds the present size.
static void add_present(const struct camera_device *device, uint32_t fourcc, struct camera_offers *offers)
{
    struct v4l2_format present = {.type = device->type};
    struct v4l2_frmsizeenum size = {.type = V4L2_FRMSIZE_TYPE_DISCRETE};
    if (camera_device_ask(device, VIDIOC_G_FMT, &present) == 0) {
        size.discrete.width = present.fmt.pix.width; // both APIs' structures begin with these members
        size.discrete.height = present.fmt.pix.height;
    }
    add_offer(device, fourcc, &size, offers);
}

static void list_offers(const struct camera_device *device, struct camera_offers *offers)
{
    struct v4l2_fmtdesc format = {.type = device->type};
    for (; offers->count < CAMERA_MODES && camera_device_ask(device, VIDIOC_ENUM_FMT, &format) == 0; format.index++) {
        struct v4l2_frmsizeenum size = {.pixel_format = format.pixelformat};
        for (; camera_device_ask(device, VIDIOC_ENUM_FRAMESIZES, &size) == 0; size.index++) {
            add_offer(device, format.pixelformat, &size, offers);
            if (size.type != V4L2_FRMSIZE_TYPE_DISCRETE)
                break;
        }
        if (size.type == 0)
            add_present(device, format.pixelformat, offers);
    }
}

void camera_offers(const char *path, struct camera_offers *offers)
{
    struct camera_device device;
    offers->count = 0;
    if (!camera_device_open(&device, path))
        list_offers(&device, offers);
    camera_device_close(&device);
}

// Opens the node and describes it.
static void look_at(struct camera_node *node)
{
    struct camera_device device;
    node->why = camera_device_open(&device, node->path);
    node->opened = device.fd >= 0;
    memcpy(node->card, device.card, sizeof(node->card));
    memcpy(node->driver, device.driver, sizeof(node->driver));
    memcpy(node->bus, device.bus, sizeof(node->bus));
    if (!node->why)
        camera_mode_describe(&device, node);
    camera_device_close(&device);
    find_id(node);
    find_index(node);
}

static bool wait_frame(const struct camera_stream *stream, int64_t deadline_ns, const atomic_bool *enough,
                       char why[CAMERA_WHY])
{
    struct pollfd ready = {.fd = stream->device.fd, .events = POLLIN};
    while (clock_now_ns() < deadline_ns && !*enough) {
        if (poll(&ready, 1, WAIT_MS) > 0 && ready.revents & POLLIN)
            return true;
        if (ready.revents) // poll returns at once until the error is gone
            clock_sleep_until_ns(clock_now_ns() + WAIT_MS * NS_PER_MS);
        ready.revents = 0;
    }
    snprintf(why, CAMERA_WHY, "no frame arrived for 3 s");
    return false;
}

bool camera_error_is_outside(int error)
{
    return error == EBUSY || error == EACCES || error == EPERM || error == ENOSPC || error == ENOMEM;
}

// Starts the camera and waits for a frame until the deadline, or until *enough is true. Returns true also after an
// error that is outside the camera: opening it later reports the reason. Otherwise, `why` has the reason.
static bool gives_picture(const char *path, int64_t deadline_ns, const atomic_bool *enough, char why[CAMERA_WHY])
{
    const struct source_setup small = {.width = 640, .height = 480}; // many cameras may be on trial
    struct camera_stream stream;
    struct camera_mode mode;
    camera_stream_init(&stream);
    errno = 0;
    bool gives = camera_stream_open(&stream, path, why) && camera_mode_choose(&stream.device, &small, &mode, why) &&
                 camera_stream_set(&stream, &mode, 0, why) && camera_stream_start(&stream, why);
    if (gives)
        gives = wait_frame(&stream, deadline_ns, enough, why);
    else
        gives = camera_error_is_outside(errno);
    camera_stream_finish(&stream);
    return gives;
}

// ---- a call that may block ----

// By number of the node: a thread works on it. So a driver that does not answer blocks at most one thread.
static atomic_bool *busy_at(const char *path)
{
    static atomic_bool busy[CAMERA_NODES + 1]; // the last one: files that have no number
    int number = -1;
    char end;
    const bool any = sscanf(path, "/dev/video%d%c", &number, &end) == 1 && number >= 0 && number < CAMERA_NODES;
    return &busy[any ? number : CAMERA_NODES];
}

// libcamera's layer for V4L2 opens files without a lock: with a layer, there is one thread.
static bool has_layer(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "v4l2");
}

// The last user frees it.
struct attempt {
    atomic_int users; // the caller and the thread
    atomic_bool over; // the work has ended, or the caller does not wait for it any more; who sets it, decides
    int ended;        // eventfd
    void (*work)(void *context);
    void (*late)(void *context);
    void *context;
    atomic_bool *busy;
};

static void leave_attempt(struct attempt *attempt)
{
    if (atomic_fetch_sub(&attempt->users, 1) > 1)
        return;
    close(attempt->ended);
    free(attempt);
}

static void *run_attempt(void *context)
{
    struct attempt *attempt = context;
    attempt->work(attempt->context);
    if (atomic_exchange(&attempt->over, true))
        attempt->late(attempt->context);
    *attempt->busy = false;
    eventfd_write(attempt->ended, 1);
    leave_attempt(attempt);
    return NULL;
}

bool camera_try(const char *path, void (*work)(void *context), void (*late)(void *context), void *context,
                int64_t deadline_ns)
{
    enum { TURN_MS = 10 };
    atomic_bool *busy = busy_at(path);
    pthread_t thread;
    while (atomic_exchange(busy, true)) {
        if (clock_now_ns() >= deadline_ns) {
            late(context);
            return false;
        }
        clock_sleep_until_ns(clock_now_ns() + TURN_MS * NS_PER_MS);
    }
    struct attempt *attempt = xalloc(sizeof(*attempt));
    *attempt = (struct attempt){.users = 2, .work = work, .late = late, .context = context, .busy = busy};
    attempt->ended = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (!has_layer() && thread_start(&thread, run_attempt, attempt, "camera"))
        pthread_detach(thread);
    else
        run_attempt(attempt);
    struct pollfd ended = {.fd = attempt->ended, .events = POLLIN};
    while (poll(&ended, 1, clock_ms_until(deadline_ns)) <= 0 && clock_now_ns() < deadline_ns)
        ; // a signal
    const bool ok = atomic_exchange(&attempt->over, true);
    leave_attempt(attempt);
    return ok;
}

// ---- scan of all nodes ----

// A scan of nodes. Each node has a thread, because a driver may block in any call. The last user frees the scan.
struct scan {
    atomic_int users;   // the caller, and the threads
    atomic_bool enough; // the threads may stop
    bool trial;         // starts the cameras; otherwise it describes the nodes
    int64_t began_ns, deadline_ns;
    int ready; // eventfd: a thread is done
    int count;
    struct scan_job {
        struct scan *scan;
        struct camera_node node; // the thread's, from its start to `done`
        bool gives;              // it gives a picture
        int64_t started_ns;      // 0: not yet
        atomic_bool done;
    } job[CAMERA_NODES];
};

static struct scan *open_scan(bool trial, int64_t deadline_ns)
{
    struct scan *scan = calloc(1, sizeof(*scan));
    if (!scan)
        return NULL;
    scan->users = 1;
    scan->trial = trial;
    scan->began_ns = clock_now_ns();
    scan->deadline_ns = deadline_ns;
    scan->ready = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return scan;
}

static void leave_scan(struct scan *scan)
{
    if (atomic_fetch_sub(&scan->users, 1) > 1)
        return;
    close(scan->ready);
    free(scan);
}

static void *run_job(void *context)
{
    struct scan_job *job = context;
    struct scan *scan = job->scan;
    struct camera_node *node = &job->node;
    char why[CAMERA_WHY];
    if (!scan->trial)
        look_at(node);
    else if (!(job->gives = gives_picture(node->path, scan->deadline_ns, &scan->enough, why)) && !node->passed[0])
        memcpy(node->passed, why, sizeof(why));
    *busy_at(node->path) = false;
    job->done = true;
    eventfd_write(scan->ready, 1);
    leave_scan(scan);
    return NULL;
}

static void start_job(struct scan_job *job)
{
    pthread_t thread;
    if (job->started_ns > 0 || job->done || atomic_exchange(busy_at(job->node.path), true))
        return;
    job->started_ns = clock_now_ns();
    job->scan->users++;
    if (!has_layer() && thread_start(&thread, run_job, job, "camera"))
        pthread_detach(thread);
    else
        run_job(job);
}

// Returns true if another thread works on the node, and does not end.
static bool is_stuck(const struct scan_job *job)
{
    return job->started_ns == 0 && !job->done && *busy_at(job->node.path) &&
           clock_now_ns() >= job->scan->began_ns + LATE_MS * NS_PER_MS;
}

// Returns true if all jobs are done or stuck, or all before the first node that gives a picture.
static bool is_over(const struct scan *scan)
{
    for (int i = 0; i < scan->count; i++) {
        if (!scan->job[i].done && !is_stuck(&scan->job[i]))
            return false;
        if (scan->job[i].gives && !scan->enough)
            return true;
    }
    return true;
}

// Returns true if the node before may still be opening. Two USB cameras on a bus that sleeps must not wake it at the
// same time: Linux 6.1 then loses them. Each driver that does not answer halves the wait for the next one, so that all
// nodes are tried within a second.
static bool must_wait(const struct scan *scan, int i)
{
    int64_t opening_ns = 1000 * NS_PER_MS;
    const struct scan_job *before = &scan->job[i > 0 ? i - 1 : 0];
    for (int k = 0; k < i; k++)
        opening_ns /= scan->job[k].done ? 1 : 2;
    return !scan->trial && i > 0 && !before->done && clock_now_ns() < before->started_ns + opening_ns;
}

// Starts the jobs. Waits until the scan is over, or until the deadline.
static void wait_for(struct scan *scan, int64_t deadline_ns)
{
    enum { TURN_MS = 10 };
    while (!is_over(scan) && clock_now_ns() < deadline_ns) {
        for (int i = 0; i < scan->count && !scan->enough && !must_wait(scan, i); i++)
            start_job(&scan->job[i]);
        eventfd_t jobs;
        if (poll(&(struct pollfd){.fd = scan->ready, .events = POLLIN}, 1, TURN_MS) > 0)
            eventfd_read(scan->ready, &jobs);
    }
}

static bool is_listed(const struct camera_node *nodes, int count, const struct camera_node *node)
{
    for (int i = 0; i < count; i++)
        if (strcmp(node->driver, "libcamera") == 0 && strcmp(nodes[i].driver, node->driver) == 0 &&
            strcmp(nodes[i].bus, node->bus) == 0)
            return true;
    return false;
}

struct camera_node *camera_nodes(int *count)
{
    const int64_t deadline_ns = clock_now_ns() + LOOK_MS * NS_PER_MS;
    struct scan *scan = open_scan(false, deadline_ns);
    *count = 0;
    if (!scan)
        return NULL;
    for (int i = 0; i < CAMERA_NODES; i++) {
        struct scan_job *job = &scan->job[scan->count];
        *job = (struct scan_job){.scan = scan};
        snprintf(job->node.path, sizeof(job->node.path), "/dev/video%d", i);
        scan->count += access(job->node.path, F_OK) == 0;
    }
    wait_for(scan, deadline_ns);
    struct camera_node *nodes = scan->count > 0 ? calloc((size_t)scan->count, sizeof(*nodes)) : NULL;
    for (int i = 0; nodes && i < scan->count; i++) {
        const struct scan_job *job = &scan->job[i];
        struct camera_node *node = &nodes[*count];
        *node = job->done ? job->node : (struct camera_node){.why = camera_no_answer};
        memcpy(node->path, job->node.path, sizeof(node->path));
        *count += !is_listed(nodes, *count, node);
    }
    leave_scan(scan);
    return nodes;
}

int camera_fits_name(const struct camera_node *node, const char *text)
{
    const char *const names[] = {node->id, node->bus, node->card};
    int best = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcasecmp(names[i], text) == 0)
            return 2;
        if (strcasestr(names[i], text))
            best = 1;
    }
    return best;
}

static bool same_model(const struct camera_node *a, const struct camera_node *b)
{
    return strcmp(a->card, b->card) == 0 && strcmp(a->driver, b->driver) == 0;
}

void camera_find_twins(const struct camera_node *known, struct camera_twins *twins)
{
    int count;
    struct camera_node *nodes = camera_nodes(&count);
    twins->count = 0;
    for (int i = 0; i < count; i++) {
        const struct camera_node *at = &nodes[i];
        const bool own = strcmp(at->path, known->path) == 0 || strcmp(at->bus, known->bus) == 0;
        if (!at->why && !own && same_model(at, known))
            memcpy(twins->bus[twins->count++], at->bus, sizeof(at->bus));
    }
    free(nodes);
}

static int fit_known(const struct camera_node *node, const struct camera_node *known, const struct camera_twins *twins)
{
    for (int i = 0; i < twins->count; i++)
        if (strcmp(node->bus, twins->bus[i]) == 0)
            return 0;
    const bool same_bus = strcmp(known->bus, node->bus) == 0;
    if (known->id[0] && strcmp(known->id, node->id) == 0)
        return same_bus ? 4 : 2;
    if (!same_model(known, node) || (known->id[0] && node->id[0]))
        return 0;
    // A device may have several nodes, for colour and for infrared.
    const bool placed = known->index >= 0 && node->index >= 0;
    if (placed ? known->index != node->index : strcmp(known->codes, node->codes) != 0)
        return 0;
    return same_bus ? 3 : 1;
}

static void look(void *context)
{
    look_at(context);
}

static bool find_path(const char *text, struct camera_node *node, char why[CAMERA_WHY])
{
    char path[256];
    const bool number = text[strspn(text, "0123456789")] == '\0';
    snprintf(path, sizeof(path), "%s%s", number ? "/dev/video" : "", text);
    char *real = realpath(path, NULL); // the text may be a link in /dev/v4l
    snprintf(node->path, sizeof(node->path), "%.*s", CAMERA_NODE - 1, real ? real : path);
    free(real);
    struct camera_node *seen = xalloc(sizeof(*seen));
    *seen = *node;
    if (camera_try(seen->path, look, free, seen, clock_now_ns() + LOOK_MS * NS_PER_MS)) {
        *node = *seen;
        free(seen);
    } else {
        node->why = camera_no_answer;
    }
    if (node->why)
        snprintf(why, CAMERA_WHY, "cannot open camera %s: %s", path, node->why);
    return !node->why;
}

// Nodes with a lower rank are tried first.
static int rank_of(const struct camera_node *node)
{
    return 8 * (node->isp != NULL) + 4 * !node->readable + 2 * !node->color + node->converted;
}

static bool is_skipped(const struct camera_skip *skip, const struct camera_node *node)
{
    for (int i = 0; i < skip->count; i++)
        if (strcmp(skip->path[i], node->path) == 0)
            return true;
    return false;
}

// Adds the nodes to the scan, by rank, until the first one that needs no trial: a USB camera gives pictures, and its
// start takes a second.
static void choose_candidates(struct scan *scan, const struct camera_skip *skip, const struct camera_node *nodes,
                              int count)
{
    enum { RANKS = 16 };
    for (int rank = 0; rank < RANKS; rank++)
        for (int i = 0; i < count; i++) {
            const struct camera_node *at = &nodes[i];
            if (at->why || rank_of(at) != rank || is_skipped(skip, at))
                continue;
            struct scan_job *job = &scan->job[scan->count++];
            job->scan = scan;
            job->node = *at;
            job->gives = at->readable && strcmp(at->driver, "uvcvideo") == 0;
            job->done = job->gives || !at->readable;
            if (job->gives)
                return;
        }
}

static const char *reason_of(const struct scan_job *job)
{
    return job->done ? job->node.passed : camera_no_answer;
}

static void explain_none(const struct scan *scan, char why[CAMERA_WHY])
{
    const struct scan_job *first = &scan->job[0];
    char others[40] = "";
    if (scan->count == 0) {
        snprintf(why, CAMERA_WHY,
                 "there is no camera: no /dev/video* captures video; plug in a camera and start monocle again");
        return;
    }
    if (scan->count > 1)
        snprintf(others, sizeof(others), " and %d other nodes", scan->count - 1);
    snprintf(why, CAMERA_WHY, "no camera gives a picture: %s (%s)%s: %.340s", first->node.path, first->node.card,
             others, reason_of(first));
}

// Returns the first candidate that gives a picture; NULL if none does. All are tried at once.
static const struct scan_job *try_all(struct scan *scan)
{
    const struct scan_job *found = NULL;
    wait_for(scan, scan->deadline_ns + LATE_MS * NS_PER_MS);
    for (int i = 0; i < scan->count && !found; i++) {
        struct scan_job *job = &scan->job[i];
        if (job->done && job->gives)
            found = job;
        else
            log_info("skipped %s (%s): %s", job->node.path, job->node.card, reason_of(job));
    }
    scan->enough = true; // the other trials end
    wait_for(scan, clock_now_ns() + REST_MS * NS_PER_MS);
    return found;
}

// Copies the first node that cannot be opened. Returns false, with the reason in `why`, if there is none.
static bool find_closed(const struct camera_node *nodes, int count, struct camera_node *node, char why[CAMERA_WHY])
{
    *node = (struct camera_node){0};
    for (int i = 0; i < count; i++) {
        const struct camera_node *at = &nodes[i];
        if (at->why)
            log_info("skipped %s (%s): %s", at->path, at->card, at->why);
        if (!at->opened && !node->why)
            *node = *at;
    }
    if (node->why)
        snprintf(why, CAMERA_WHY, "cannot open camera %s: %s", node->path, node->why);
    return node->why != NULL;
}

// Returns true if another node may give a picture.
static bool has_rivals(const struct scan_job *found, const struct camera_skip *skip, const struct camera_node *nodes,
                       int count)
{
    for (int i = 0; i < count; i++)
        if (!nodes[i].why && nodes[i].readable && !nodes[i].isp && !is_skipped(skip, &nodes[i]) &&
            strcmp(nodes[i].path, found->node.path) != 0)
            return true;
    return false;
}

bool camera_find_next(const struct camera_skip *skip, struct camera_node *node, char why[CAMERA_WHY])
{
    struct scan *scan = open_scan(true, clock_now_ns() + TRIAL_MS * NS_PER_MS);
    int count;
    struct camera_node *nodes = camera_nodes(&count);
    const struct scan_job *found = NULL;
    snprintf(why, CAMERA_WHY, "cannot look for cameras: out of memory");
    if (scan) {
        choose_candidates(scan, skip, nodes, count);
        found = try_all(scan);
    }
    if (found) {
        *node = found->node;
        node->rivals = found->started_ns == 0 && has_rivals(found, skip, nodes, count);
    } else if (!find_closed(nodes, count, node, why) && scan) {
        explain_none(scan, why);
        node->why = scan->count > 0 ? "no camera gives a picture" : NULL;
    }
    if (scan)
        leave_scan(scan);
    free(nodes);
    return found != NULL;
}

static bool find_named(const char *text, struct camera_node *node, char why[CAMERA_WHY])
{
    int best = 0, count;
    struct camera_node *nodes = camera_nodes(&count);
    for (int i = 0; i < count; i++) {
        const struct camera_node *at = &nodes[i];
        const int fit = at->why ? 0 : camera_fits_name(at, text);
        if (best > 0 && fit == best)
            log_info("%s (%s) also matches; using the first match, %s", at->path, at->card, node->path);
        if (fit > best) {
            *node = *at;
            best = fit;
        }
    }
    if (best == 0 && !find_closed(nodes, count, node, why))
        snprintf(why, CAMERA_WHY, "there is no camera named %.100s; to list the cameras, run: monocle cameras", text);
    free(nodes);
    return best > 0;
}

bool camera_find(const char *text, struct camera_node *node, char why[CAMERA_WHY])
{
    *node = (struct camera_node){0};
    if (!text || text[0] == '\0')
        return camera_find_next(&(struct camera_skip){.count = 0}, node, why);
    if (text[0] == '/' || text[0] == '.' || text[strspn(text, "0123456789")] == '\0')
        return find_path(text, node, why);
    return find_named(text, node, why);
}

bool camera_find_again(const struct camera_node *known, const struct camera_twins *twins, struct camera_node *node,
                       char why[CAMERA_WHY])
{
    int best = 0, count;
    struct camera_node *nodes = camera_nodes(&count);
    snprintf(why, CAMERA_WHY, "the camera was removed");
    for (int i = 0; i < count; i++) {
        const struct camera_node *at = &nodes[i];
        const int fit = at->why ? 0 : fit_known(at, known, twins);
        if (at->why && strcmp(at->path, known->path) == 0)
            snprintf(why, CAMERA_WHY, "%s", at->why);
        if (fit > best) {
            *node = *at;
            best = fit;
        }
    }
    free(nodes);
    return best > 0;
}
