// source.c: runs the programs that make mattes, and gives the newest matte of a frame
#include "matte/matte.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/installed_program.h"
#include "base/log.h"
#include "base/process.h"
#include "base/stats.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TURN_MS = 20,
    MORE_MS = 2,             // time for bytes after an answer
    STARTING_MS = 30000,     // without its first answer, a program is ended,
    STALLED_MS = 5000,       // and without a later one
    FRAME_TRIES = 2,         // a run that waits for each matte starts it again this often for one frame,
    TRIES_MOST = 4,          // and after this many failures without a matte never more
    FIRST_RESTART_MS = 500,  // each later one after twice the time, unless the run waits for each matte
    LAST_RESTART_MS = 30000, // at most
    SOUND_MS = 10000,        // a program that ran longer starts again soon
    ENDED_MS = 1000 * 3600,  // a killed program ends soon
    LINES_MOST = 5,          // of its standard error, for each start
    FRAMES_GAP = 30,         // a later frame is of another scene
    SHOWN = 60,              // frames of the figures
    IDLE_MS = 2000,
    TEXT = 160,
};

// Identifies a frame.
struct frame_key {
    uint64_t source, number;
    int64_t time_ns;
    const void *pixels;
};

struct matte_source {
    struct matte_source *next;
    char name[MATTE_NAME + 1], path[PATH_MAX];
    struct matte_size size;
    size_t pixels; // of a matte
    struct program program;
    bool runs, answered, patient; // answered: since its start; patient: the run waits for each matte
    int lines, starts, failures;
    int fruitless;                  // failures since the last matte
    int64_t started_ns, start_ns;   // of the program that runs; before this time, no new one starts
    int64_t used_ns;                // when its matte was wanted last
    struct frame_key asked, newest; // the frame in flight, and the frame of `seen`
    int64_t asked_ns, newest_ns;    // when they were submitted
    bool in_flight, has, has_frame; // has_frame: `asked` was set
    size_t sent, got;               // bytes of the frame and of the answer
    uint8_t rgb[MATTE_PIXELS * 3], answer[MATTE_PIXELS];
    uint8_t seen[MATTE_PIXELS * 3], smooth[MATTE_PIXELS], held[MATTE_PIXELS]; // seen: the small frame `newest`
    char told[TEXT];                                                          // the failure that was logged last
    struct frame_key shown;
    bool own;      // the shown frame has its own matte
    uint64_t late; // frames that had an older matte, or none
    int64_t answered_ns;
    struct stats program_ms, interval_ms, age_ms, wait_ms;
};

static _Thread_local struct matte_source *sources; // a program for each thread that filters frames
static _Thread_local uint64_t missed;              // see matte_missed

bool matte_name_ok(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t length = strlen(name);
    return length > 0 && length <= MATTE_NAME && name[strspn(name, letters)] == '\0';
}

// Finds the user's program.
static bool find_own(const char *name, char path[PATH_MAX], const char **unsafe)
{
    char file[MATTE_NAME + 16];
    struct stat status;
    snprintf(file, sizeof(file), "mattes/%s", name);
    *unsafe = NULL;
    if (!config_path(file, path) || stat(path, &status) != 0 || !S_ISREG(status.st_mode) || access(path, X_OK) != 0)
        return false;
    *unsafe = cache_unsafe(&status);
    return !*unsafe;
}

bool matte_ready(const char *name, char why[MATTE_WHY])
{
    const struct matte_network *network = matte_network_find(name);
    char path[PATH_MAX];
    const char *unsafe = NULL;
    if (network ? matte_network_ready(network) : find_own(name, path, &unsafe))
        return true;
    if (network)
        snprintf(why, MATTE_WHY, "the network for '%s' is not installed; run: monocle matte --install %s", name, name);
    else if (unsafe)
        snprintf(why, MATTE_WHY, "the program of the matte '%s' %s; %s", name, unsafe, cache_remedy(unsafe));
    else if (path[0] && access(path, F_OK) == 0)
        snprintf(why, MATTE_WHY, "the program of the matte '%s' is not executable; run: chmod +x", name);
    else
        snprintf(why, MATTE_WHY, "there is no program '%s' in ~/.config/monocle/mattes", name);
    return false;
}

// ---- the program ----

static void hear(void *context, const char *line)
{
    struct matte_source *source = context;
    if (source->lines++ < LINES_MOST)
        log_warn("matte %s: %s", source->name, line);
}

// Sets when a program that has failed starts again, and says why it failed, once.
static void plan_restart(struct matte_source *source, const char *why)
{
    const int64_t now = clock_now_ns();
    source->failures = (now - source->started_ns) / NS_PER_MS > SOUND_MS ? 0 : source->failures;
    int delay_ms = FIRST_RESTART_MS;
    for (int i = 0; i < source->failures && delay_ms < LAST_RESTART_MS && !source->patient; i++)
        delay_ms *= 2;
    source->failures++;
    source->fruitless++;
    source->start_ns = now + (delay_ms < LAST_RESTART_MS ? delay_ms : LAST_RESTART_MS) * NS_PER_MS;
    source->runs = source->in_flight = source->has = source->answered = false;
    if (source->patient && source->fruitless == TRIES_MOST)
        log_error("the program of the matte '%s' failed %d times: %s; it is not started again", source->name,
                  TRIES_MOST, why);
    else if (strcmp(why, source->told) != 0)
        log_warn("the program of the matte '%s' is started again: %s; meanwhile, there is no matte", source->name, why);
    snprintf(source->told, sizeof(source->told), "%s", why);
}

static void start(struct matte_source *source)
{
    char width[12], height[12], name[MATTE_NAME + 1];
    const char *unsafe;
    const bool built_in = matte_network_find(source->name);
    snprintf(name, sizeof(name), "%s", source->name);
    snprintf(width, sizeof(width), "%d", source->size.width);
    snprintf(height, sizeof(height), "%d", source->size.height);
    source->program = (struct program){.heard = hear, .context = source};
    source->lines = 0;
    source->starts++;
    source->started_ns = clock_now_ns();
    source->got = source->sent = 0;
    int error = ENOENT;
    if (built_in && child_program)
        error = program_start(&source->program,
                              (const char *const[]){child_program, "matte_program", name, width, height, NULL},
                              PROGRAM_TALKS);
    else if (!built_in && find_own(name, source->path, &unsafe))
        error =
            program_start(&source->program, (const char *const[]){source->path, width, height, NULL}, PROGRAM_TALKS);
    source->runs = error == 0;
    if (error != 0)
        plan_restart(source, error == ENOENT ? "it is missing" : strerror(error));
}

// Kills the program and plans its next start. `why`: its fault, for the message; NULL: the program has exited.
static void fail(struct matte_source *source, const char *why)
{
    char text[TEXT];
    int value;
    program_kill(&source->program);
    const enum child_end end = program_end(&source->program, ENDED_MS, &value);
    if (why)
        snprintf(text, sizeof(text), "%s", why);
    else if (end == CHILD_EXITED)
        snprintf(text, sizeof(text), "it exited with status %d%s", value, source->got > 0 ? " inside an answer" : "");
    else if (value == SIGKILL)
        snprintf(text, sizeof(text), "it was killed by signal %d, or has closed its output", value);
    else
        snprintf(text, sizeof(text), "it crashed with signal %d", value);
    plan_restart(source, text);
}

static bool key_same(const struct frame_key *a, const struct frame_key *b)
{
    return a->source == b->source && a->number == b->number && a->time_ns == b->time_ns && a->pixels == b->pixels;
}

// Returns true if a frame continues the one before.
static bool key_follows(const struct frame_key *a, const struct frame_key *before)
{
    return a->source == before->source && a->number > before->number && a->number <= before->number + FRAMES_GAP;
}

static void take_answer(struct matte_source *source, int hold_ms)
{
    const bool follows = source->has && key_follows(&source->asked, &source->newest);
    const int64_t passed_ms = (source->asked.time_ns - source->newest.time_ns) / NS_PER_MS;
    if (follows) {
        matte_smooth(source->smooth, source->answer, (int)source->pixels);
        matte_hold(source->held, source->answer, (int)source->pixels,
                   hold_ms > 0 && passed_ms < hold_ms ? (int)(255 * passed_ms / hold_ms) : 255);
    } else {
        memcpy(source->smooth, source->answer, source->pixels);
        memcpy(source->held, source->answer, source->pixels);
    }
    memcpy(source->seen, source->rgb, source->pixels * 3);
    source->newest = source->asked;
    source->newest_ns = source->asked_ns;
    const int64_t now = clock_now_ns();
    stats_add(&source->program_ms, (double)(now - source->asked_ns) / NS_PER_MS);
    if (source->answered)
        stats_add(&source->interval_ms, (double)(now - source->answered_ns) / NS_PER_MS);
    source->answered_ns = now;
    source->fruitless = 0;
    source->has = source->answered = true;
    source->in_flight = false;
    source->got = source->sent = 0;
}

// Returns true if bytes follow an answer: what the program wrote before it has moved it, so it is no matte. A run that
// waits for each matte gives them some time.
static bool has_more(const struct matte_source *source)
{
    struct pollfd more = {.fd = source->program.pipe, .events = POLLIN};
    return poll(&more, 1, source->patient ? MORE_MS : 0) > 0 && (more.revents & POLLIN);
}

// Writes and reads as much as the pipes take and have.
static void pump(struct matte_source *source, int hold_ms)
{
    const size_t all = source->pixels * 3;
    program_listen(&source->program);
    while (source->in_flight && source->sent < all) {
        const ssize_t bytes = write(source->program.input, source->rgb + source->sent, all - source->sent);
        if (bytes < 0 && errno != EAGAIN && errno != EINTR)
            break; // it has closed its input: reading says why
        if (bytes <= 0)
            break;
        source->sent += (size_t)bytes;
    }
    char more;
    const size_t wanted = source->in_flight ? source->pixels - source->got : 0;
    const ssize_t bytes =
        read(source->program.pipe, wanted ? (void *)(source->answer + source->got) : &more, wanted ? wanted : 1);
    if (bytes == 0)
        fail(source, NULL);
    else if (bytes > 0 && (wanted == 0 || source->sent < all))
        fail(source, "it wrote more than a matte for each frame");
    else if (bytes > 0 && (source->got += (size_t)bytes) == source->pixels && has_more(source))
        fail(source, "it wrote more than a matte for each frame");
    else if (bytes > 0 && source->got == source->pixels)
        take_answer(source, hold_ms);
    else if (source->in_flight && source->answered && clock_ms_since(source->asked_ns) > STALLED_MS)
        fail(source, "it gave no matte for 5 s");
    else if (source->in_flight && clock_ms_since(source->asked_ns) > STARTING_MS)
        fail(source, "it gave no first matte for 30 s");
}

// Makes the small frame that the request wants.
static void shrink(const struct matte_request *request, uint8_t *rgb)
{
    const int width = request->size.width, height = request->size.height;
    const bool transpose = request->transpose;
    uint8_t *small = xmalloc(3 * (size_t)width * height);
    matte_shrink(request->frame, transpose ? height : width, transpose ? width : height, small);
    for (int i = 0; i < width * height; i++) {
        const int x = request->mirror ? width - 1 - i % width : i % width;
        const int y = request->flip ? height - 1 - i / width : i / width;
        memcpy(rgb + 3 * i, small + 3 * (transpose ? x * height + y : y * width + x), 3);
    }
    free(small);
}

static void send(struct matte_source *source, const struct matte_request *request, const struct frame_key *key)
{
    shrink(request, source->rgb);
    source->asked = *key;
    source->asked_ns = clock_now_ns();
    source->in_flight = true;
    source->sent = source->got = 0;
}

static void wait_for(const struct matte_source *source, int64_t until_ns)
{
    struct pollfd ready[] = {
        {.fd = source->runs ? source->program.pipe : -1, .events = POLLIN},
        {.fd = source->runs ? source->program.errors : -1, .events = POLLIN},
        {.fd = source->runs && source->in_flight && source->sent < source->pixels * 3 ? source->program.input : -1,
         .events = POLLOUT}};
    const int left_ms = clock_ms_until(until_ns);
    poll(ready, 3, left_ms < TURN_MS ? left_ms : TURN_MS);
}

// Sends the frame if the program has answered the last one, and waits for its matte. Returns true if that is there.
static bool advance(struct matte_source *source, const struct matte_request *request, const struct frame_key *key)
{
    const bool patient = source->patient = request->wait_ms < 0;
    const int most = source->fruitless + FRAME_TRIES < TRIES_MOST ? source->fruitless + FRAME_TRIES : TRIES_MOST;
    const int64_t deadline_ns = patient ? INT64_MAX : clock_now_ns() + (int64_t)request->wait_ms * NS_PER_MS;
    for (;;) {
        if (patient && source->fruitless >= most)
            return false;
        if (!source->runs && clock_now_ns() >= source->start_ns)
            start(source);
        if (source->runs)
            pump(source, request->hold_ms);
        if (source->has && key_same(&source->newest, key))
            return true;
        if (source->runs && !source->in_flight) {
            send(source, request, key);
            pump(source, request->hold_ms);
        }
        if (clock_now_ns() >= deadline_ns || process_interrupted() ||
            (!patient && !(source->runs && key_same(&source->asked, key))))
            return false;
        wait_for(source, deadline_ns);
    }
}

static struct matte_source *find(const char *name, struct matte_size size)
{
    for (struct matte_source *source = sources; source; source = source->next) {
        if (strcmp(source->name, name) == 0 && source->size.width == size.width && source->size.height == size.height)
            return source;
    }
    struct matte_source *source = xalloc(sizeof(*source));
    snprintf(source->name, sizeof(source->name), "%s", name);
    source->size = size;
    source->pixels = (size_t)size.width * size.height;
    source->next = sources;
    sources = source;
    return source;
}

// Counts a frame, once.
static void note_shown(struct matte_source *source, const struct frame_key *key, bool own, int64_t begun_ns)
{
    if (source->late + source->wait_ms.count > 0 && key_same(key, &source->shown))
        return;
    source->shown = *key;
    source->own = own;
    source->late += !own;
    missed += !own && source->patient;
    stats_add(&source->wait_ms, (double)(clock_now_ns() - begun_ns) / NS_PER_MS);
    if (own || (source->has && key_follows(key, &source->newest)))
        stats_add(&source->age_ms, (double)(key->time_ns - source->newest.time_ns) / NS_PER_MS);
}

bool matte_numbers(const struct matte_request *request, const struct matte_edge *wanted, int32_t *numbers)
{
    if (!request->frame)
        return false;
    struct matte_source *source = find(request->name, request->size);
    const uint64_t turned = request->mirror + 2 * (uint64_t)request->flip + 4 * (uint64_t)request->transpose;
    const struct frame_key key = {(request->source ? hash_64(request->source, strlen(request->source)) : 0) + turned,
                                  request->number, request->time_ns, request->frame->plane[0]};
    const int64_t begun_ns = clock_now_ns();
    const bool own = advance(source, request, &key);
    note_shown(source, &key, own, begun_ns);
    source->used_ns = clock_now_ns();
    // A matte of another scene, or an old one, shows what the filters are to hide.
    if (!own && (request->wait_ms < 0 || !source->has || !key_follows(&key, &source->newest) ||
                 clock_now_ns() - source->newest_ns > MATTE_OLD_MS * NS_PER_MS))
        return false;
    struct matte_edge edge = *wanted;
    uint8_t *luma = edge.follows ? xmalloc(source->pixels) : NULL;
    edge.follows = luma && request->luma(request->context, source->seen, (int)source->pixels, luma);
    matte_refine(request->hold_ms > 0 ? source->held : source->smooth, luma, source->size, &edge, numbers);
    free(luma);
    return true;
}

uint64_t matte_missed(void)
{
    return missed;
}

void matte_end(int idle_ms)
{
    const int64_t now = clock_now_ns();
    int value;
    for (struct matte_source **at = &sources, *source; (source = *at);) {
        if (now - source->used_ns < idle_ms * NS_PER_MS) {
            at = &source->next;
            continue;
        }
        if (source->runs) {
            program_kill(&source->program);
            program_end(&source->program, ENDED_MS, &value);
        }
        *at = source->next;
        free(source);
    }
}

static const char *state_of(const struct matte_source *source)
{
    if (source->patient && source->fruitless >= TRIES_MOST)
        return "given up";
    if (clock_ms_since(source->used_ns) > IDLE_MS)
        return "idle";
    if (!source->runs)
        return "waiting to restart";
    if (!source->answered)
        return "starting";
    return source->own ? "running" : "late";
}

bool matte_describe(int index, struct matte_facts *facts)
{
    const struct matte_source *source = sources;
    for (; source && index > 0; index--)
        source = source->next;
    if (!source)
        return false;
    const double interval_ms = stats_late(&source->interval_ms, SHOWN, 50);
    *facts = (struct matte_facts){
        .name = source->name,
        .state = state_of(source),
        .rate = source->answered && interval_ms > 0 ? 1000 / interval_ms : 0,
        .program_ms = stats_late(&source->program_ms, SHOWN, 50),
        .age_ms = stats_late(&source->age_ms, SHOWN, 50),
        .wait_ms = stats_late(&source->wait_ms, SHOWN, 50),
        .late = source->late,
        .restarts = source->starts > 1 ? source->starts - 1 : 0,
        .trouble = source->answered ? "" : source->told,
    };
    return true;
}
