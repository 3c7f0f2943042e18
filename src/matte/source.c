// source.c: runs the programs that make mattes, and gives the newest matte of a frame
#include "matte/matte.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/installed_program.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NS_PER_MS = 1000000,
    TURN_MS = 20,
    STALLED_MS = 5000,       // without an answer, the program is ended
    PATIENCE_MS = 15000,     // of a run that waits for each matte
    FIRST_RESTART_MS = 500,  // each later one after twice the time
    LAST_RESTART_MS = 30000, // at most
    SOUND_MS = 10000,        // a program that ran longer starts again soon
    ENDED_MS = 1000 * 3600,  // a killed program ends soon
    LINES_MOST = 5,          // of its standard error, for each start
    FRAMES_GAP = 30,         // a later frame is of another scene
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
    struct program program;
    bool runs;
    int lines, failures;
    int64_t started_ns, start_ns;   // of the program that runs; before this time, no new one starts
    struct frame_key asked, newest; // the frame in flight, and the frame of `raw`
    int64_t asked_ns, newest_ns;    // when they were submitted
    bool in_flight, has, has_frame; // has_frame: `asked` was set
    size_t sent, got;               // bytes of the frame and of the answer
    uint8_t rgb[MATTE_PIXELS * 3], answer[MATTE_PIXELS];
    uint8_t asked_luma[MATTE_PIXELS], luma[MATTE_PIXELS], smooth[MATTE_PIXELS], held[MATTE_PIXELS];
    char told[TEXT]; // the failure that was logged last
};

static _Thread_local struct matte_source *sources; // a program for each thread that filters frames

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
    if (network ? matte_network_path(network, path) && access(path, R_OK) == 0 : find_own(name, path, &unsafe))
        return true;
    if (network)
        snprintf(why, MATTE_WHY, "the network for '%s' is not installed; run: monocle matte --install %s", name, name);
    else if (unsafe)
        snprintf(why, MATTE_WHY, "the program of the matte '%s' %s; %s", name, unsafe, cache_remedy(unsafe));
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

static void start(struct matte_source *source)
{
    char width[12], height[12], name[MATTE_NAME + 1];
    const char *unsafe;
    const bool built_in = matte_network_find(source->name);
    snprintf(name, sizeof(name), "%s", source->name);
    snprintf(width, sizeof(width), "%d", MATTE_WIDTH);
    snprintf(height, sizeof(height), "%d", MATTE_HEIGHT);
    source->program = (struct program){.heard = hear, .context = source};
    source->lines = 0;
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
        source->start_ns = source->started_ns + (int64_t)LAST_RESTART_MS * NS_PER_MS;
}

// Ends the program, and says why once. Its matte is not used any more.
static void fail(struct matte_source *source, const char *why)
{
    char text[TEXT];
    int value;
    const int64_t now = clock_now_ns();
    program_kill(&source->program);
    const enum child_end end = program_end(&source->program, ENDED_MS, &value);
    if (why)
        snprintf(text, sizeof(text), "%s", why);
    else if (end == CHILD_EXITED)
        snprintf(text, sizeof(text), "it exited with status %d%s", value, source->got > 0 ? " inside an answer" : "");
    else
        snprintf(text, sizeof(text), "it %s signal %d", value == SIGKILL ? "was killed by" : "crashed with", value);
    source->failures = (now - source->started_ns) / NS_PER_MS > SOUND_MS ? 0 : source->failures;
    int delay_ms = FIRST_RESTART_MS;
    for (int i = 0; i < source->failures && delay_ms < LAST_RESTART_MS; i++)
        delay_ms *= 2;
    source->failures++;
    source->start_ns = now + (int64_t)(delay_ms < LAST_RESTART_MS ? delay_ms : LAST_RESTART_MS) * NS_PER_MS;
    source->runs = source->in_flight = source->has = false;
    if (strcmp(text, source->told) != 0)
        log_warn("the program of the matte '%s' is started again: %s; meanwhile, the filters apply everywhere",
                 source->name, text);
    memcpy(source->told, text, sizeof(text));
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
        matte_smooth(source->smooth, source->answer);
        matte_hold(source->held, source->answer,
                   hold_ms > 0 && passed_ms < hold_ms ? (int)(255 * passed_ms / hold_ms) : 255);
    } else {
        memcpy(source->smooth, source->answer, MATTE_PIXELS);
        memcpy(source->held, source->answer, MATTE_PIXELS);
    }
    memcpy(source->luma, source->asked_luma, MATTE_PIXELS);
    source->newest = source->asked;
    source->newest_ns = source->asked_ns;
    source->has = true;
    source->in_flight = false;
    source->got = source->sent = 0;
}

// Writes and reads as much as the pipes take and have.
static void pump(struct matte_source *source, int hold_ms)
{
    program_listen(&source->program);
    while (source->in_flight && source->sent < sizeof(source->rgb)) {
        const ssize_t bytes =
            write(source->program.input, source->rgb + source->sent, sizeof(source->rgb) - source->sent);
        if (bytes < 0 && errno != EAGAIN && errno != EINTR)
            break; // it has closed its input: reading says why
        if (bytes <= 0)
            break;
        source->sent += (size_t)bytes;
    }
    char more;
    const size_t wanted = source->in_flight ? MATTE_PIXELS - source->got : 0;
    const ssize_t bytes =
        read(source->program.pipe, wanted ? (void *)(source->answer + source->got) : &more, wanted ? wanted : 1);
    if (bytes == 0)
        fail(source, NULL);
    else if (bytes > 0 && (wanted == 0 || source->sent < sizeof(source->rgb)))
        fail(source, "it wrote more than a matte for each frame");
    else if (bytes > 0 && (source->got += (size_t)bytes) == MATTE_PIXELS)
        take_answer(source, hold_ms);
    else if (source->in_flight && clock_now_ns() - source->asked_ns > (int64_t)STALLED_MS * NS_PER_MS)
        fail(source, "it gave no matte for 5 s");
}

// Exchanges left and right, top and bottom, or both.
static void turn(uint8_t *rgb, bool mirror, bool flip)
{
    for (int y = 0; y < MATTE_HEIGHT && (mirror || flip); y++) {
        for (int x = 0; x < MATTE_WIDTH; x++) {
            const int to = (flip ? MATTE_HEIGHT - 1 - y : y) * MATTE_WIDTH + (mirror ? MATTE_WIDTH - 1 - x : x);
            const int at = y * MATTE_WIDTH + x;
            for (int c = 0; c < 3 && at < to; c++) {
                const uint8_t kept = rgb[3 * at + c];
                rgb[3 * at + c] = rgb[3 * to + c];
                rgb[3 * to + c] = kept;
            }
        }
    }
}

static void send(struct matte_source *source, const struct matte_request *request, const struct frame_key *key)
{
    matte_shrink(request->frame, MATTE_WIDTH, MATTE_HEIGHT, source->rgb);
    turn(source->rgb, request->mirror, request->flip);
    for (int i = 0; i < MATTE_PIXELS; i++) {
        const uint8_t *p = source->rgb + 3 * i;
        source->asked_luma[i] = (uint8_t)((77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8);
    }
    source->asked = *key;
    source->asked_ns = clock_now_ns();
    source->in_flight = true;
    source->sent = source->got = 0;
}

static void wait_for(const struct matte_source *source, int64_t until_ns)
{
    struct pollfd ready[] = {
        {.fd = source->runs ? source->program.pipe : -1, .events = POLLIN},
        {.fd = source->runs && source->in_flight && source->sent < sizeof(source->rgb) ? source->program.input : -1,
         .events = POLLOUT}};
    const int left_ms = clock_ms_until(until_ns);
    poll(ready, 2, left_ms < TURN_MS ? left_ms : TURN_MS);
}

// Sends the frame if the program has answered the last one, and waits for its matte. Returns true if that is there.
static bool advance(struct matte_source *source, const struct matte_request *request, const struct frame_key *key)
{
    const bool patient = request->wait_ms < 0;
    const int64_t now = clock_now_ns();
    const int64_t deadline_ns = now + (int64_t)(patient ? PATIENCE_MS : request->wait_ms) * NS_PER_MS;
    for (;;) {
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
        if (clock_now_ns() >= deadline_ns || (!patient && !(source->runs && key_same(&source->asked, key))))
            return false;
        wait_for(source, deadline_ns);
    }
}

static struct matte_source *find(const char *name)
{
    for (struct matte_source *source = sources; source; source = source->next) {
        if (strcmp(source->name, name) == 0)
            return source;
    }
    struct matte_source *source = xalloc(sizeof(*source));
    snprintf(source->name, sizeof(source->name), "%s", name);
    source->next = sources;
    sources = source;
    return source;
}

bool matte_numbers(const struct matte_request *request, const struct matte_edge *edge, int32_t *numbers)
{
    if (!request->frame)
        return false;
    struct matte_source *source = find(request->name);
    const uint64_t turned = request->mirror + 2 * (uint64_t)request->flip;
    const struct frame_key key = {(request->source ? hash_64(request->source, strlen(request->source)) : 0) + turned,
                                  request->number, request->time_ns, request->frame->plane[0]};
    const bool own = advance(source, request, &key);
    // A matte of another scene, or an old one, shows what the filters are to hide.
    if (!own && (request->wait_ms < 0 || !source->has || !key_follows(&key, &source->newest) ||
                 clock_now_ns() - source->newest_ns > (int64_t)MATTE_OLD_MS * NS_PER_MS))
        return false;
    matte_refine(request->hold_ms > 0 ? source->held : source->smooth, source->luma, edge, numbers);
    return true;
}
