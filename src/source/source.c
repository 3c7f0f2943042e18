// source.c: the kind of source that a text means; paces the frames and remembers the end
#include "source/source.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "image/codec/codec.h"
#include "source/cameras.h"
#include "source/kind.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

// In the order of the help, and in which they claim a file.
#define KIND_LIST(X)                                                                                                   \
    X(camera) X(pipewire) X(pattern) X(noise) X(raccoon) X(road) X(y4m) X(video) X(still) X(raw) X(list)
#define DECLARE(name) extern const struct source_kind source_##name;
#define ADDRESS(name) &source_##name,
KIND_LIST(DECLARE)

#ifndef HAVE_PIPEWIRE
const struct source_kind source_pipewire = {
    .name = "pipewire",
    .help = {"pipewire[:NAME]\ta camera of the PipeWire daemon; not in this build"},
    .word = true,
    .decodes = true,
    .lacks = "libpipewire-0.3-dev",
};
#endif

static const struct source_kind *const kinds[] = {KIND_LIST(ADDRESS)};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

const char *source_help(int row)
{
    enum { LINES = sizeof(kinds[0]->help) / sizeof(*kinds[0]->help) };
    if (row == 0)
        return "(nothing)\tthe first camera that gives a picture; without one: the photograph raccoon in a window, the "
               "test "
               "pattern without a window";
    for (int i = 0; i < KINDS * LINES; i++) {
        const char *line = kinds[i / LINES]->help[i % LINES];
        if (line && --row == 0)
            return line;
    }
    return NULL;
}

const char *source_word(int index)
{
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i]->word && index-- == 0)
            return kinds[i]->name;
    }
    return NULL;
}

// Returns the kind whose word begins the text: "word" or "word:rest". NULL for any other text.
static const struct source_kind *kind_of_word(const char *text, const char **rest)
{
    for (int i = 0; i < KINDS; i++) {
        const size_t length = strlen(kinds[i]->name);
        if (!kinds[i]->word || strncmp(text, kinds[i]->name, length) != 0)
            continue;
        if (text[length] == '\0' || text[length] == ':') {
            *rest = text[length] == ':' ? text + length + 1 : NULL;
            return kinds[i];
        }
    }
    return NULL;
}

bool source_has_word(const char *text)
{
    return kind_of_word(text, &text) != NULL;
}

// Returns the path of "file://PATH" in `room`, with %20 and the like decoded (RFC 8089); any other text as it is.
static const char *without_scheme(const char *text, char room[PATH_MAX])
{
    static const char scheme[] = "file://", host[] = "localhost/";
    if (!text || strncasecmp(text, scheme, strlen(scheme)) != 0)
        return text;
    text += strlen(scheme);
    if (strncasecmp(text, host, strlen(host)) == 0)
        text += strlen(host) - 1;
    size_t used = 0;
    while (*text && used + 1 < PATH_MAX) {
        const bool coded = text[0] == '%' && isxdigit((uint8_t)text[1]) && isxdigit((uint8_t)text[2]);
        const char digits[] = {coded ? text[1] : '0', coded ? text[2] : '0', '\0'};
        const char byte = (char)strtol(digits, NULL, 16); // a NUL stays coded
        room[used++] = byte ? byte : *text;
        text += byte ? 3 : 1;
    }
    room[used] = '\0';
    return room;
}

const char *source_path(const char *text, char room[PATH_MAX])
{
    const char *rest;
    if (!text)
        return NULL;
    return kind_of_word(text, &rest) ? rest : without_scheme(text, room) + (text[0] == '@');
}

static bool read_head(struct source_target *target, uint8_t head[CODEC_PROBE_BYTES], char why[SOURCE_WHY])
{
    const int fd = open(target->text, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // it may have become a pipe
    const ssize_t got = fd < 0 ? -1 : read(fd, head, CODEC_PROBE_BYTES);
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (got < 0 && error == EACCES) {
        snprintf(why, SOURCE_WHY, "cannot read %.200s: %s; its owner can run: chmod a+r %.200s", target->text,
                 strerror(error), target->text);
        return false;
    }
    if (got <= 0) {
        snprintf(why, SOURCE_WHY, "cannot read %.200s: %s; name another file", target->text,
                 got < 0 ? strerror(error) : "the file is empty");
        return false;
    }
    target->head = head;
    target->head_bytes = (size_t)got;
    return true;
}

// Says why a path cannot be opened: names a missing directory, or points to the list of sources.
static void explain_missing(const char *path, int error, char why[SOURCE_WHY])
{
    const char *slash = strrchr(path, '/');
    const bool camera = strncmp(path, "/dev/v", strlen("/dev/v")) == 0; // video0, v4l
    char directory[PATH_MAX], nearest[NAME_MAX + 1];
    snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) : 0, path);
    if (strstr(path, "://"))
        snprintf(why, SOURCE_WHY, "cannot open %.200s: monocle plays %s and file", path, video_schemes);
    else if (error == ENOENT && directory[0] && !camera && access(directory, F_OK) != 0)
        snprintf(why, SOURCE_WHY, "cannot open %.200s: there is no directory %.200s", path, directory);
    else if (path[0] && !path[strspn(path, "0123456789")])
        snprintf(why, SOURCE_WHY, "there is no file %.40s; a camera is named /dev/video%.40s", path, path);
    else if (error == ENOENT && !camera && options_nearest_file(path, nearest))
        snprintf(why, SOURCE_WHY, "cannot open %.200s: %s; did you mean %s?", path, strerror(error), nearest);
    else
        snprintf(why, SOURCE_WHY, "cannot open %.300s: %s; to list %s", path, strerror(error),
                 camera ? "the cameras, run: monocle cameras" : "the kinds of sources, run: monocle live --help");
}

// Returns the kind that claims `text`: a path, "-" or "@LIST". NULL if no kind claims it: `why` is set.
static const struct source_kind *kind_of_target(const struct source_setup *setup, const char *text,
                                                char why[SOURCE_WHY])
{
    uint8_t head[CODEC_PROBE_BYTES];
    struct source_target target = {.text = text};
    struct stat status;
    if (target.text[0] != '@' && strcmp(target.text, "-") != 0 && !video_is_url(target.text)) {
        if (stat(target.text, &status) != 0) {
            explain_missing(target.text, errno, why);
            return NULL;
        }
        target.type = status.st_mode & S_IFMT;
        target.device = status.st_rdev;
        if (target.type == S_IFREG && !read_head(&target, head, why))
            return NULL;
    }
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i]->claims && kinds[i]->claims(&target, setup))
            return kinds[i];
    }
    snprintf(why, SOURCE_WHY, "cannot open %.300s: it is not a regular file, directory, named pipe or camera",
             target.text);
    return NULL;
}

bool source_check(const struct source_setup *setup, char why[SOURCE_WHY])
{
    char path[PATH_MAX];
    const char *text = without_scheme(setup->text, path);
    return !text || !text[0] || kind_of_word(text, &text) || kind_of_target(setup, text, why);
}

const char *source_lacks(const char *word)
{
    const struct source_kind *kind = kind_of_word(word, &word);
    return kind ? kind->lacks : NULL;
}

struct camera_node *source_cameras(int *count)
{
    struct camera_node *all = NULL;
    *count = 0;
    for (int i = 0; i < KINDS; i++) {
        int more = 0;
        struct camera_node *nodes = kinds[i]->nodes ? kinds[i]->nodes(&more) : NULL;
        for (int k = 0; k < more; k++) {
            all = xgrow(all, (size_t)*count, sizeof(*all));
            all[(*count)++] = nodes[k];
        }
        free(nodes);
    }
    return all;
}

void source_offers(const struct camera_node *node, struct camera_offers *offers)
{
    const char *rest = node->path;
    const struct source_kind *kind = kind_of_word(node->path, &rest);
    (kind ? kind : &source_camera)->offers(rest, offers);
}

// Returns true if the kind has a camera that may be shown without its name.
static bool has_camera(const struct source_kind *kind)
{
    int count = 0;
    bool any = false;
    struct camera_node *nodes = kind->nodes ? kind->nodes(&count) : NULL;
    for (int i = 0; i < count; i++)
        any |= !nodes[i].passed[0];
    free(nodes);
    return any;
}

static struct source *open_kind(const struct source_kind *kind, const struct source_setup *setup, const char *text)
{
    if (setup->compressed && !kind->decodes) {
        log_error("--pixel-format mjpeg is only for cameras, and the source is not a camera; leave it out");
        return NULL;
    }
    if (kind->lacks) {
        log_error("this monocle was built without %s; install the package %s and build monocle again", kind->name,
                  kind->lacks);
        return NULL;
    }
    struct source *source = xalloc(sizeof(*source));
    *source = (struct source){.kind = kind, .state = xalloc(kind->state_bytes), .elapsed_s = -1, .sought = true};
    source->info = (struct source_info){
        .kind = kind->name, .endless = kind->endless, .still = kind->still, .controls = kind->controls != NULL};
    if (!kind->open(source, setup, text)) {
        source_close(source);
        return NULL;
    }
    if (source->info.live) // a camera sets the pace itself
        return source;
    if (setup->rate > 0) {
        source->info.rate = setup->rate;
        source->info.rate_numerator = source->info.rate_denominator = 0;
        source->info.timed = false;
    }
    if (setup->paced) {
        if (source->info.rate <= 0)
            source->info.rate = SOURCE_DEFAULT_RATE;
        source->period_ns = (int64_t)(NS_PER_S / source->info.rate);
        source->info.live = true;
    }
    return source;
}

struct source *source_open(const struct source_setup *setup)
{
    char path[PATH_MAX];
    const char *text = without_scheme(setup->text, path);
    if (text && text[0] != '\0') {
        char reason[SOURCE_WHY];
        const struct source_kind *kind = kind_of_word(text, &text);
        if (kind && !text && access(kind->name, F_OK) == 0)
            log_warn("opening the kind of source '%s'; ./%s opens the file or directory of this name", kind->name,
                     kind->name);
        if (!kind && !(kind = kind_of_target(setup, text, reason)))
            log_error("%s", reason);
        return kind ? open_kind(kind, setup, text) : NULL;
    }
    struct camera_node node;
    char why[CAMERA_WHY];
    if (camera_find(NULL, &node, why) || node.path[0] != '\0') {
        struct source_setup first = *setup;
        first.rivals = node.rivals;
        return open_kind(&source_camera, &first, node.path);
    }
    struct source *source = has_camera(&source_pipewire) ? open_kind(&source_pipewire, setup, NULL) : NULL;
    if (source)
        return source;
    log_warn("%s; showing the %s", why, setup->show ? "photograph" : "test pattern");
    source = open_kind(setup->show ? &source_raccoon : &source_pattern, setup, NULL);
    if (source)
        snprintf(source->info.missing, sizeof(source->info.missing), "%s", why);
    return source;
}

void source_close(struct source *source)
{
    if (!source)
        return;
    if (source->kind->close)
        source->kind->close(source);
    pool_finish(&source->pool);
    free(source->state);
    free(source);
}

const struct source_info *source_info(const struct source *source)
{
    return &source->info;
}

void source_set_owner(struct source *source, struct pages_owner *owner)
{
    source->owner = owner;
}

bool source_holds(const struct source *source, const char *path)
{
    return source->kind->holds && source->kind->holds(source, path);
}

void source_rest(struct source *source, bool rest)
{
    if (source->kind->rest)
        source->kind->rest(source, rest);
}

struct source_health source_health(struct source *source)
{
    struct source_health health = {0};
    if (source->kind->health)
        source->kind->health(source, &health);
    return health;
}

int source_controls(struct source *source, struct source_control control[SOURCE_CONTROLS])
{
    return source->kind->controls ? source->kind->controls(source, control) : 0;
}

bool source_set_control(struct source *source, const char *setting, char why[SOURCE_SET_WHY])
{
    snprintf(why, SOURCE_SET_WHY, "the source is not a camera and has no controls");
    return source->kind->set_control && source->kind->set_control(source, setting, why);
}

bool source_print_controls(const char *text, FILE *out, bool settings)
{
    const char *name = text;
    const struct source_kind *kind = text ? kind_of_word(text, &name) : NULL;
    if (!kind)
        kind = &source_camera;
    if (kind->print_controls)
        return kind->print_controls(name, out, settings);
    log_error("%s is not a camera and has no controls", text);
    return false;
}

// Sleeps until the next frame is due. Returns false if the deadline comes first, or if a signal arrived.
static bool wait_due(struct source *source, int64_t deadline_ns)
{
    if (source->due_ns == 0)
        source->due_ns = clock_now_ns();
    if (clock_now_ns() < source->due_ns)
        clock_sleep_until_ns(source->due_ns < deadline_ns ? source->due_ns : deadline_ns);
    return clock_now_ns() >= source->due_ns;
}

// Keeps the schedule after a short delay. After a long one (a stopped program) it starts anew, without a burst.
static void advance_due(struct source *source)
{
    enum { LATE_NS = 250 * NS_PER_MS };
    const int64_t now = clock_now_ns();
    source->due_ns += source->period_ns;
    if (now - source->due_ns > LATE_NS)
        source->due_ns = now;
}

static double rate_of(const struct source *source)
{
    return source->info.rate > 0 ? source->info.rate : SOURCE_DEFAULT_RATE;
}

// Intervals jitter, so a rate near 5, 10, 15, ... or another whole number is that number.
static double usual_rate(double rate)
{
    const double fives = 5 * round(rate / 5), whole = fabs(rate - fives) < 0.035 * rate ? fives : round(rate);
    return fabs(rate - whole) < 0.035 * rate ? whole : rate;
}

// Sets the rate of a live source that has none, or that only claims one: of the frames in the first 0.5 s, or more if
// they are rare. Those of a source without a rate are from 0.5 to 1 s after the first one: earlier ones may have waited
// in ffmpeg.
static void set_rate(struct source *source, struct frame *frame)
{
    static const int64_t least_ns = NS_PER_S / 2;
    static const double faster = 1.2;  // than a claim that is right
    static const double fastest = 250; // a camera that claims more, and has not half of it, is wrong, not in the dark
    const int64_t time_ns = frame->captured_ns - source->base_ns;
    const double claim = source->info.rate;
    double rate = time_ns > 0 ? (double)(frame->number - source->base_number) * 1e9 / (double)time_ns : 0;
    frame->rate = 0;
    if (!source->info.live || (claim > 0 && !source->info.claimed))
        return;
    if (source->base_ns == 0 || (claim <= 0 && frame->captured_ns - source->first_ns < least_ns)) {
        source->base_ns = frame->captured_ns;
        source->base_number = frame->number;
        rate = 0;
    } else if (source->rate == 0 && time_ns >= least_ns && frame->number - source->base_number >= 4) {
        source->rate = usual_rate(rate);
    }
    const double seen = source->rate > 0 ? source->rate : rate;
    if (claim > 0 && seen <= faster * claim && (claim <= fastest || seen == 0 || 2 * seen >= claim))
        return;
    frame->rate = claim > 0 && source->rate == 0 ? -1 : source->rate;
}

// Sets `follows`, and the time in the source if the kind has not: a device gives only the time of capture.
static void set_video_time(struct source *source, struct frame *frame)
{
    if (source->info.frame_s <= 0)
        frame->video_ns = source->info.live && source->period_ns == 0
                              ? frame->captured_ns - source->first_ns
                              : llround((double)frame->number * 1e9 / rate_of(source));
    frame->follows = !source->sought && frame->number > source->number;
}

// Sets the frame's time in a recording: when it was due, when a camera captured it, or the time since the first frame.
static void set_time(struct source *source, struct frame *frame, int64_t due_ns)
{
    enum { MOST_S = 1000000000 }; // 30 years; the times of a damaged video may jump
    if (source->info.live) {
        frame->elapsed_ns = due_ns > 0 ? due_ns : frame->captured_ns;
        return;
    }
    const int64_t step_ns = frame->video_ns - source->video_ns;
    if (source->elapsed_s < 0)
        source->elapsed_s = 0;
    else
        source->elapsed_s +=
            source->info.timed && !source->sought && step_ns > 0 ? (double)step_ns / 1e9 : 1 / rate_of(source);
    frame->elapsed_ns = llround(fmin(source->elapsed_s, MOST_S) * 1e9);
}

// Takes the kind's next frame; drops the first ones until the source has settled.
static enum source_status next_settled(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    enum source_status status;
    while ((status = source->kind->next(source, frame, deadline_ns)) == SOURCE_FRAME) {
        if (source->first_ns == 0)
            source->first_ns = frame->captured_ns;
        set_rate(source, frame);
        if (source->unsettled == 0)
            break;
        source->unsettled--;
        source->first_ns = 0;
        source_return(source, frame);
    }
    return status;
}

enum source_status source_next(struct source *source, struct frame *frame, int timeout_ms)
{
    if (source->ending != SOURCE_FRAME)
        return source->ending;
    const int64_t deadline = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + timeout_ms * NS_PER_MS;
    if (source->period_ns > 0 && !wait_due(source, deadline))
        return SOURCE_TIMEOUT;
    const int64_t due_ns = source->due_ns;
    const enum source_status status = next_settled(source, frame, deadline);
    if (status != SOURCE_FRAME && status != SOURCE_TIMEOUT)
        source->ending = status;
    if (status == SOURCE_FRAME && source->period_ns > 0)
        advance_due(source);
    if (status != SOURCE_FRAME)
        return status;
    set_video_time(source, frame);
    set_time(source, frame, due_ns);
    source->sought = false;
    source->video_ns = frame->video_ns;
    source->number = frame->number;
    return status;
}

bool source_seek(struct source *source, double seconds)
{
    const struct source_info *info = &source->info;
    if (info->duration_s > 0 && seconds > info->duration_s - info->frame_s)
        seconds = info->duration_s - info->frame_s;
    const double frame = seconds > 0 ? round(seconds / info->frame_s) : 0;
    const bool ok = source->kind->seek(source, frame * info->frame_s);
    source->ending = ok ? SOURCE_FRAME : SOURCE_FAILED;
    source->sought = true;
    source_hurry(source);
    return ok;
}

bool source_slide(const struct source *source, double seconds, struct source_slide *slide)
{
    return source->kind->slide && source->kind->slide(source, seconds, slide);
}

void source_hurry(struct source *source)
{
    source->due_ns = 0;
}

bool source_reshape(struct source *source)
{
    const bool ok = source->kind->reshape(source);
    source->base_ns = 0; // the rate is measured again
    source->rate = 0;
    source->ending = ok ? SOURCE_FRAME : SOURCE_FAILED;
    return ok;
}

void source_return(struct source *source, const struct frame *frame)
{
    if (source->kind->give_back)
        source->kind->give_back(source, frame);
    else
        pool_give(&source->pool, frame->slot);
}
