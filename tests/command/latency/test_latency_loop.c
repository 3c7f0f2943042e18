// test_latency_loop.c: flashes on a simulated screen, which a simulated camera sees after a known delay, are measured
// exactly. The test controls the clock.
#include "command/latency/latency.h"

#include "base/clock.h"
#include "base/file.h"

#include "unit.h"

#include <fcntl.h>
#include <poll.h>

enum { WIDTH = 64, HEIGHT = 48, SWAPS = 4096 };
static const int64_t period_ns = 16 * NS_PER_MS, swap_ns = 3 * NS_PER_MS;

// The screen shows its left half dark or light, the camera sees it after the delay, and moving things beside it.
static struct {
    int64_t now_ns, due_ns, delay_ns;
    int64_t end_ns;    // the source ends; 0: never
    int64_t silent_ns; // the camera delivers no frames from then on; 0: it never stops
    int64_t quit_ns;   // the user presses q; 0: never
    int sees;          // number of flashes that the camera sees, besides those from which the finder learns
    int flashes;
    bool light; // of the next draw
    struct {
        int64_t at_ns;
        bool light;
    } swap[SWAPS];
    int swaps;
    uint64_t number; // of the next frame
    struct image picture;
} world;

int64_t __wrap_clock_now_ns(void);
bool __wrap_window_next_event(struct window *window, struct window_event *event);
bool __wrap_window_lost(const struct window *window);
struct window_size __wrap_window_size(const struct window *window);
void __wrap_window_swap(struct window *window);
unsigned __wrap_renderer_upload(struct renderer *renderer, int slot, const struct image *rgba);
void __wrap_renderer_draw(struct renderer *renderer, const struct scene *scene, const struct window_size *size);
enum stream_turn __wrap_stream_step(struct stream *stream, int wait_ms);
const struct path_result *__wrap_panes_result(const struct panes *lanes, int which);

int64_t __wrap_clock_now_ns(void)
{
    return world.now_ns;
}

bool __wrap_window_next_event(struct window *window, struct window_event *event)
{
    *event = (struct window_event){.type = WINDOW_KEY, .key = 'q'};
    const bool quits = world.quit_ns > 0 && world.now_ns >= world.quit_ns;
    world.quit_ns = quits ? 0 : world.quit_ns;
    return quits;
}

bool __wrap_window_lost(const struct window *window)
{
    return false;
}

struct window_size __wrap_window_size(const struct window *window)
{
    return (struct window_size){WIDTH, HEIGHT, 1};
}

unsigned __wrap_renderer_upload(struct renderer *renderer, int slot, const struct image *rgba)
{
    return slot == 1 && rgba->plane[0][0] ? 2 : 1;
}

void __wrap_renderer_draw(struct renderer *renderer, const struct scene *scene, const struct window_size *size)
{
    CHECK(scene->divider == 0.5f && scene->right_texture > 0);
    world.light = scene->texture == 2;
}

void __wrap_window_swap(struct window *window)
{
    world.now_ns += swap_ns;
    const bool before = world.swaps > 0 && world.swap[world.swaps - 1].light;
    if (world.light == before)
        return;
    if (world.swaps == SWAPS)
        abort();
    world.swap[world.swaps].at_ns = world.now_ns;
    world.swap[world.swaps++].light = world.light;
    world.flashes += world.light;
}

static bool seen_light(int64_t at_ns)
{
    int i = world.swaps - 1;
    while (i >= 0 && world.swap[i].at_ns > at_ns)
        i--;
    return i >= 0 && world.swap[i].light && i / 2 < world.sees;
}

static void draw_picture(bool light)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int moving = (int)((world.number * 37 + (uint64_t)(x * y)) % 60);
            uint8_t *pixel = world.picture.plane[0] + (size_t)y * world.picture.stride[0] + 4 * (size_t)x;
            memset(pixel, x < WIDTH / 2 ? (light ? 200 : 20) : moving, 3);
        }
}

enum stream_turn __wrap_stream_step(struct stream *stream, int wait_ms)
{
    const bool silent = world.silent_ns > 0 && world.now_ns >= world.silent_ns;
    stream->playback.ended = world.end_ns > 0 && world.now_ns >= world.end_ns;
    if (stream->playback.ended)
        return STREAM_IDLE;
    if (silent || world.due_ns > world.now_ns + wait_ms * (int64_t)NS_PER_MS) {
        world.now_ns += wait_ms * (int64_t)NS_PER_MS;
        return STREAM_IDLE;
    }
    world.now_ns = world.now_ns > world.due_ns ? world.now_ns : world.due_ns;
    draw_picture(seen_light(world.now_ns - world.delay_ns));
    const struct frame frame = {.image = world.picture, .number = world.number++, .captured_ns = world.now_ns};
    world.due_ns = world.now_ns + period_ns;
    latency_client.show(stream->setup.context, &frame, false);
    return STREAM_SHOWN;
}

const struct path_result *__wrap_panes_result(const struct panes *lanes, int which)
{
    static const struct path_result result = {.texture = 3};
    return &result;
}

// Measures 8 flashes in the world, whose other members are set. Returns the result.
static bool measure_world(struct latency *l, int delay_ms, bool json)
{
    static const struct source_info info = {.shape = {.width = WIDTH, .height = HEIGHT}};
    const struct image picture = world.picture;
    const struct image flash = l->flash;
    memset(l, 0, sizeof(*l)); // a temporary of its size would fill the stack
    l->options.flashes = 8;
    l->options.json = json;
    l->flash = flash;
    l->stream.playback.info = &info;
    l->stream.setup.context = l;
    world.now_ns = 1000000000;
    world.due_ns = world.delay_ns = delay_ms * (int64_t)NS_PER_MS;
    world.swaps = world.flashes = 0;
    world.light = false;
    world.picture = picture;
    const bool measured = latency_measure(l);
    world.end_ns = world.silent_ns = world.quit_ns = 0;
    world.sees = 1000;
    return measured;
}

static bool measure(struct latency *l, int delay_ms, bool json, struct captured *said)
{
    capture_stderr(said);
    const bool measured = measure_world(l, delay_ms, json);
    captured_stderr(said);
    return measured;
}

static void test_delays(struct latency *l, struct captured *said)
{
    static const int delays_ms[] = {0, 1, 47, 200, 1100};
    for (size_t i = 0; i < sizeof(delays_ms) / sizeof(*delays_ms); i++) {
        CHECK(measure(l, delays_ms[i], false, said));
        CHECK_NUMBER(l->stream.code, EXIT_OK);
        CHECK_NUMBER(l->samples, 8);
        CHECK_NUMBER(l->missed, 0);
        CHECK(abs(l->finder.cells - FINDER_CELLS / 2) <= FINDER_ROWS);
        int64_t least_ns = INT64_MAX, most_ns = 0;
        for (int k = 0; k < l->samples; k++) {
            const int64_t late_ns = l->sample[k].captured_ns - world.delay_ns;
            CHECK(late_ns >= 0 && late_ns <= period_ns + swap_ns);
            CHECK_NUMBER(l->sample[k].shown_ns - l->sample[k].captured_ns, swap_ns);
            least_ns = late_ns < least_ns ? late_ns : least_ns;
            most_ns = late_ns > most_ns ? late_ns : most_ns;
        }
        CHECK(most_ns - least_ns > NS_PER_MS); // the flashes are out of step with the frames
    }
}

static void test_faults(struct latency *l, struct captured *said)
{
    enum { LEARNT = 3, S = 1000000000 };
    world.sees = 0;
    CHECK(!measure(l, 20, false, said));
    CHECK_NUMBER(l->stream.code, EXIT_NOTHING);
    CHECK_HAS(said->text, "the camera does not see the flash");
    CHECK_HAS(said->text, "point it at the window");

    world.sees = LEARNT;
    CHECK(!measure(l, 20, false, said));
    CHECK_NUMBER(l->stream.code, EXIT_NOTHING);
    CHECK_HAS(said->text, "lost the flash before the first measurement");

    world.sees = LEARNT + 2;
    CHECK(measure(l, 20, false, said));
    CHECK_NUMBER(l->stream.code, EXIT_FAILED_SOME);
    CHECK_NUMBER(l->samples, 2);
    CHECK_HAS(said->text, "lost the flash after 2 flashes; the results cover only these");

    world.silent_ns = 2 * (int64_t)S;
    CHECK(!measure(l, 20, false, said));
    CHECK_NUMBER(l->stream.code, EXIT_NOTHING);
    CHECK_HAS(said->text, "the camera delivers too few frames");

    world.end_ns = 15 * (int64_t)S; // after some flashes
    CHECK(measure(l, 20, false, said) && l->samples < 8);
    CHECK_NUMBER(l->stream.code, EXIT_FAILED_SOME);
    CHECK_HAS(said->text, "the source ended");

    world.quit_ns = 15 * (int64_t)S;
    CHECK(measure(l, 20, false, said) && l->samples > 0 && l->samples < 8);
    CHECK_NUMBER(l->stream.code, EXIT_OK);
    CHECK_NUMBER(l->missed, 0);
    CHECK(captured_lines(said) == 0);
}

// Reads a terminal up to a NUL. The kernel passes on what was written a little later.
static void read_terminal(int terminal, char *text, size_t room)
{
    size_t used = 0;
    ssize_t got = 1;
    while (used < room - 1 && got > 0 && (used == 0 || text[used - 1])) {
        struct pollfd readable = {.fd = terminal, .events = POLLIN};
        got = poll(&readable, 1, 60000) == 1 ? read(terminal, text + used, room - 1 - used) : 0;
        used += got > 0 ? (size_t)got : 0;
    }
    text[used] = '\0';
}

// Runs for 13 s with a terminal as standard error. Returns its text.
static const char *terminal_text(struct latency *l, bool json)
{
    static char text[65536];
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK), saved = dup(STDERR_FILENO);
    const bool opens = terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0;
    const int slave = opens ? open(ptsname(terminal), O_RDWR | O_NOCTTY) : -1;
    world.quit_ns = 13000000000;
    dup2(slave, STDERR_FILENO);
    measure_world(l, 20, json);
    dup2(saved, STDERR_FILENO);
    if (write(slave, "", 1) == 1)
        read_terminal(terminal, text, sizeof(text));
    close(slave), close(saved), close(terminal);
    CHECK(opens); // after standard error is back
    return text;
}

// On a terminal, a status line shows the progress, except with --json.
static void test_progress(struct latency *l)
{
    setenv("TERM", "xterm", 1);
    CHECK_TEXT(terminal_text(l, true), "");
    const char *text = terminal_text(l, false);
    CHECK_HAS(text, "looking for the flash: round 2 of 3");
    CHECK_HAS(text, "1 of 8 flashes, 0 missed");
}

static void test_reports(struct latency *l, struct captured *said)
{
    char directory[64], path[80];
    unit_directory(directory);
    snprintf(path, sizeof(path), "%s/out", directory);
    CHECK(freopen(path, "w", stdout));
    CHECK(measure(l, 40, false, said));
    latency_report(l);
    CHECK(measure(l, 40, true, said));
    latency_report(l);
    fflush(stdout);
    char *text = file_read_text(path, 1 << 16);
    CHECK_HAS(text, "8 flashes, 0 missed");
    CHECK_HAS(text, "glass to glass");
    CHECK_HAS(text, "#");
    CHECK_HAS(text, "\"from_capture_ms\":3.0");
    CHECK_HAS(text, "\"flashes\":8,\"missed\":0");
    CHECK_HAS(text, "\"from_capture\":{\"min_ms\":3.0,\"median_ms\":3.0,\"p95_ms\":3.0,\"max_ms\":3.0}");
    free(text);
    CHECK(unlink(path) == 0 && rmdir(directory) == 0);
}

int main(void)
{
    static struct latency latency;
    static struct captured said;
    const struct image_shape shape = {.width = WIDTH, .height = HEIGHT};
    if (!image_alloc(&world.picture, &shape) || !image_alloc(&latency.flash, &shape))
        return 1;
    world.sees = 1000;
    test_delays(&latency, &said);
    test_faults(&latency, &said);
    test_progress(&latency);
    test_reports(&latency, &said);
    image_free(&latency.flash);
    image_free(&world.picture);
    return check_end(&unit);
}
