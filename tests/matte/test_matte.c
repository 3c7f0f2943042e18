// test_matte.c: small frames, the steps of a matte, and programs that misbehave; the test gives the time
#include "base/clock.h"
#include "image/convert.h"
#include "matte/matte.h"

#include "unit.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

static char directory[64], self[PATH_MAX];
static int64_t now_ns = 1000000000, tick_ns; // each look at the clock takes tick_ns

int64_t __wrap_clock_now_ns(void);
int64_t __wrap_clock_now_ns(void)
{
    return now_ns += tick_ns;
}

static void pass_ms(int ms)
{
    now_ns += (int64_t)ms * 1000000;
}

// ---- the programs: this one, with a kind ----

static bool read_frame(uint8_t *frame, size_t bytes)
{
    size_t done = 0;
    for (ssize_t got; done < bytes && (got = read(STDIN_FILENO, frame + done, bytes - done)) > 0;)
        done += (size_t)got;
    return done == bytes;
}

static void answer(const uint8_t *matte, size_t bytes)
{
    for (ssize_t done; bytes > 0 && (done = write(STDOUT_FILENO, matte, bytes)) > 0; matte += done)
        bytes -= (size_t)done;
}

enum { WIDTH = 256, HEIGHT = 144, PIXELS = WIDTH * HEIGHT, FRAME = PIXELS * 3 };

// Answers with the red of each pixel, or misbehaves.
static int misbehave(const char *kind, int width, int height)
{
    static uint8_t frame[FRAME], matte[2 * PIXELS];
    const bool is = width == WIDTH && height == HEIGHT && getpgrp() == getpid();
    alarm(60); // also of a child that outlives it
    if (strcmp(kind, "absent") == 0 || !is)
        return 7;
    if (strcmp(kind, "early") == 0)
        answer(matte, 10);
    if (strcmp(kind, "closed") == 0)
        close(STDIN_FILENO), pause();
    if (strcmp(kind, "mute") == 0)
        close(STDOUT_FILENO), pause();
    if (strcmp(kind, "deaf") == 0)
        pause();
    if (strcmp(kind, "stubborn") == 0)
        signal(SIGTERM, SIG_IGN), pause();
    char go[PATH_MAX];
    snprintf(go, sizeof(go), "%s/go", getenv("XDG_CONFIG_HOME"));
    while (strcmp(kind, "heavy") == 0 && access(go, F_OK) != 0)
        usleep(1000);
    for (int n = 0; read_frame(frame, FRAME); n++) {
        for (int i = 0; i < PIXELS; i++)
            matte[i] = frame[3 * i];
        if (strcmp(kind, "crash") == 0)
            signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
        if (strcmp(kind, "killed") == 0)
            raise(SIGKILL);
        if (strcmp(kind, "leaves") == 0)
            return 3;
        if (strcmp(kind, "done") == 0 && n == 1)
            return 0;
        if (strcmp(kind, "stalls") == 0 || (strcmp(kind, "heavy") == 0 && n == 2))
            pause();
        if (strcmp(kind, "chatty") == 0)
            for (int i = 0; i < 10000; i++) // more than a pipe holds
                fprintf(stderr, "line %d\n", i);
        if (strcmp(kind, "floods") == 0 && n == 0 && fork() == 0)
            while (write(STDERR_FILENO, frame, 4096) > 0)
                ;
        if (strcmp(kind, "child") == 0 && fork() == 0 && alarm(60) == 0)
            pause();
        if (strcmp(kind, "child") == 0)
            return 4;
        if (strcmp(kind, "nurse") == 0 && n == 0 && fork() == 0 && alarm(60) == 0)
            pause();
        if (strcmp(kind, "short") == 0)
            answer(matte, PIXELS - 1), _exit(5);
        int done = 0;
        while (strcmp(kind, "slow") == 0 && done < 1000)
            answer(matte + done++, 1);
        answer(matte + done, (strcmp(kind, "long") == 0 ? PIXELS + 1 : PIXELS) - (size_t)done);
    }
    return 0;
}

static void add_program(const char *kind)
{
    char path[PATH_MAX + 100];
    snprintf(path, sizeof(path), "%s/monocle/mattes/%s", directory, kind);
    FILE *file = fopen(path, "w");
    fprintf(file, "#!/bin/sh\nexec '%s' --program %s \"$@\"\n", self, kind);
    fclose(file);
    chmod(path, 0755);
}

// ---- frames ----

static uint8_t pixels[64 * 36 * 3];
static struct image frame;
static int32_t numbers[2 * MATTE_PIXELS];

static struct matte_request request_of(const char *name, uint64_t number)
{
    image_wrap(&frame, &(struct image_shape){.format = PIXFMT_RGB24, .width = 64, .height = 36}, pixels);
    return (struct matte_request){.name = name,
                                  .size = {WIDTH, HEIGHT},
                                  .frame = &frame,
                                  .source = "test",
                                  .number = number,
                                  .time_ns = (int64_t)number * 33000000,
                                  .wait_ms = 1000};
}

// Asks for the matte of a frame of one colour, and returns the matte of its first pixel; -1: none.
static int ask(const char *name, uint64_t number, uint8_t red, int wait_ms)
{
    memset(pixels, red, sizeof(pixels));
    struct matte_request request = request_of(name, number);
    request.wait_ms = wait_ms;
    return matte_numbers(&request, &(struct matte_edge){0, 0, false}, numbers) ? numbers[1] >> 8 : -1;
}

static void check_good(void)
{
    add_program("good");
    tick_ns = 1000;
    CHECK_NUMBER(ask("good", 0, 200, 60000), 200);
    CHECK_NUMBER(ask("good", 0, 200, 60000), 200);   // the same frame again
    CHECK_NUMBER(ask("good", 1, 160, 60000), 187);   // smoothed: 200 - 40 * 80 / 256, rounded up
    CHECK_NUMBER(ask("good", 100, 100, 60000), 100); // another scene
    CHECK_NUMBER(ask("good", 0, 50, 60000), 50);
    struct matte_request request = request_of("good", 1);
    request.mirror = true;
    pixels[0] = pixels[1] = pixels[2] = 250;
    CHECK(matte_numbers(&request, &(struct matte_edge){0, 0, false}, numbers));
    CHECK_NUMBER(numbers[1] >> 8, 50);
    CHECK_NUMBER(numbers[2 * (WIDTH - 1) + 1] >> 8, 250);
    request = request_of("good", 2);
    request.frame = NULL; // it arrives by rows
    CHECK(!matte_numbers(&request, &(struct matte_edge){0, 0, false}, numbers));
}

static struct matte_facts facts_of(const char *name)
{
    struct matte_facts facts = {.name = ""};
    for (int i = 0; strcmp(facts.name, name) != 0 && matte_describe(i, &facts); i++)
        ;
    CHECK_TEXT(facts.name, name);
    return facts;
}

// No matte from a program that misbehaves is used; the failure is logged once; it starts again after longer pauses.
// `why` NULL: its mattes are right.
static void check_bad(const char *kind, const char *why, int right)
{
    struct captured captured;
    add_program(kind);
    tick_ns = why && strstr(why, "30 s") ? 500000000 : 1000; // 30 s pass at once; else the programs have real time
    capture_stderr(&captured);
    int mattes = 0, number = 0;
    for (int round = 0; round < 3; round++, pass_ms(31000)) {
        for (int i = 0; i < 3; i++)
            mattes += ask(kind, (uint64_t)number++, 200, 60000) >= 0;
    }
    const char *said = captured_stderr(&captured);
    const bool early = strcmp(kind, "early") == 0; // it may write too much before its first answer counts
    check_that(&unit, mattes == right || (early && mattes < 3), "%s: %d mattes", kind, mattes);
    const struct matte_facts facts = facts_of(kind);
    check_that(&unit, facts.late == (uint64_t)(9 - mattes), "%s: %d late", kind, (int)facts.late);
    if (!why) {
        check_that(&unit, strcmp(facts.state, "idle") == 0 && !facts.trouble[0] && facts.restarts == 0, "%s: %s, %s",
                   kind, facts.state, facts.trouble);
        check_that(&unit, !strstr(said, "started again"), "%s: '%s'", kind, said);
        return;
    }
    const char *first = strstr(said, why);
    check_that(&unit, facts.restarts >= 2 && (right > 0 || strstr(facts.trouble, why)), "%s: %s, %d restarts", kind,
               facts.trouble, facts.restarts);
    check_that(&unit, first != NULL, "%s: '%s' lacks '%s'", kind, said, why);
    check_that(&unit, first && !strstr(first + 1, why), "%s: said twice: '%s'", kind, said);
}

static void check_facts(void)
{
    struct matte_facts facts;
    matte_end(0);
    CHECK(!matte_describe(0, &facts));
    add_program("stalls");
    tick_ns = 1000;
    CHECK_NUMBER(ask("good", 0, 200, 60000), 200);
    CHECK_NUMBER(ask("stalls", 0, 200, 0), -1);
    facts = facts_of("good");
    CHECK_TEXT(facts.state, "running");
    CHECK(facts.late == 0 && facts.restarts == 0 && facts.age_ms == 0 && facts.rate == 0 && facts.program_ms > 0);
    CHECK_TEXT(facts_of("stalls").state, "starting");
    pass_ms(500);
    CHECK_NUMBER(ask("good", 1, 200, 60000), 200);
    CHECK_NUMBER(ask("good", 1, 200, 60000), 200); // the same frame counts once
    facts = facts_of("good");
    CHECK(facts.rate > 1.8 && facts.rate <= 2 && facts.age_ms == 0);
    ask("good", 2, 200, 0); // sent, and not waited for: the matte before, or none if the machine is slow
    CHECK_NUMBER(facts_of("good").late, 1);
    CHECK_TEXT(facts_of("good").state, "late");
    CHECK_NUMBER(ask("good", 2, 200, 60000), 200); // the same frame counts once
    CHECK_NUMBER(facts_of("good").late, 1);
    pass_ms(3000);
    CHECK_TEXT(facts_of("good").state, "idle");
    CHECK_NUMBER(ask("good", 10, 200, 60000), 200); // it is used again, and the other one is not
    matte_end(3000);
    CHECK_NUMBER(matte_describe(0, &facts) + matte_describe(1, &facts), 1);
    CHECK_TEXT(facts_of("good").name, "good");
}

// A program has 30 s for its first matte, and 5 s for each later one.
static void check_times(void)
{
    struct captured captured;
    char go[100];
    add_program("heavy");
    tick_ns = 1000;
    CHECK_NUMBER(ask("heavy", 0, 200, 0), -1);
    pass_ms(29000);
    CHECK_NUMBER(ask("heavy", 1, 200, 0), -1);
    CHECK_TEXT(facts_of("heavy").state, "starting");
    snprintf(go, sizeof(go), "%s/go", directory);
    fclose(fopen(go, "w"));
    for (int i = 0; i < 3000 && ask("heavy", 2, 200, 1000) < 0; i++) // the first matte is old
        usleep(10000);
    CHECK_NUMBER(ask("heavy", 2, 200, 1000), 200);
    CHECK_NUMBER(facts_of("heavy").restarts, 0);
    ask("heavy", 3, 200, 0);
    pass_ms(5000);
    capture_stderr(&captured);
    CHECK_NUMBER(ask("heavy", 4, 200, 0), -1);
    CHECK_HAS(captured_stderr(&captured), "it gave no matte for 5 s");
    CHECK_TEXT(facts_of("heavy").state, "waiting to restart");
    CHECK_TEXT(facts_of("heavy").trouble, "it gave no matte for 5 s");
}

// A run that waits for each matte tries a program twice for a frame, and four times at most.
static void check_given_up(void)
{
    struct captured captured;
    tick_ns = 5000000;
    capture_stderr(&captured);
    const uint64_t before = matte_missed();
    for (uint64_t n = 0; n < 5; n++)
        CHECK_NUMBER(ask("absent", n, 200, -1), -1);
    CHECK_NUMBER((int)(matte_missed() - before), 5);
    CHECK_HAS(captured_stderr(&captured), "the program of the matte 'absent' failed 4 times: it exited with status 7");
    CHECK_NUMBER(facts_of("absent").restarts, 3);
    CHECK_TEXT(facts_of("absent").state, "given up");
}

// Returns true if a process runs a program of this kind.
static bool runs(const char *kind)
{
    char command[100];
    snprintf(command, sizeof(command), "pgrep -f -- '[-]-program %s' > /dev/null", kind);
    return system(command) == 0;
}

// The end of a program is the end of its children.
static void check_group(void)
{
    add_program("nurse");
    tick_ns = 1000;
    CHECK_NUMBER(ask("nurse", 0, 200, 60000), 200);
    CHECK(runs("nurse"));
    matte_end(0);
    for (int i = 0; i < 50 && runs("nurse"); i++)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    CHECK(!runs("nurse"));
}

// ---- steps, by their rules ----

static int rule_smooth(int q, int p)
{
    const int d = abs(p - q), more = d > 24 ? 3 * (d - 24) : 0, weight = more > 224 ? 256 : 32 + more,
              step = (d * weight + 255) / 256;
    return p < q ? q - step : q + step;
}

static void check_smooth(void)
{
    static uint8_t old[MATTE_PIXELS], raw[MATTE_PIXELS], held[MATTE_PIXELS];
    int wrong = 0;
    for (int q = 0; q < 256; q += 5) {
        for (int i = 0; i < MATTE_PIXELS; i++) {
            old[i] = held[i] = (uint8_t)q;
            raw[i] = (uint8_t)i;
        }
        matte_smooth(old, raw, MATTE_PIXELS);
        matte_hold(held, raw, MATTE_PIXELS, 17);
        for (int i = 0; i < 256; i++) {
            const int low = q > 17 ? q - 17 : 0;
            wrong += old[i] != rule_smooth(q, i) || held[i] != (i > low ? i : low);
        }
    }
    CHECK_NUMBER(wrong, 0);
    for (int i = 0; i < 100; i++)
        matte_smooth(old, raw, MATTE_PIXELS);
    CHECK(memcmp(old, raw, sizeof(old)) == 0); // it arrives
}

static struct matte_size size; // of the mattes

struct square {
    int left, right, top, bottom, count;
};

static struct square square_at(int i, int radius)
{
    const int x = i % size.width, y = i / size.width;
    struct square s = {x - radius, x + radius, y - radius, y + radius, 0};
    s.left = s.left < 0 ? 0 : s.left;
    s.top = s.top < 0 ? 0 : s.top;
    s.right = s.right >= size.width ? size.width - 1 : s.right;
    s.bottom = s.bottom >= size.height ? size.height - 1 : s.bottom;
    s.count = (s.right - s.left + 1) * (s.bottom - s.top + 1);
    return s;
}

static int64_t sum_square(struct square s, const int32_t *a, const int32_t *b)
{
    int64_t sum = 0;
    for (int y = s.top; y <= s.bottom; y++) {
        for (int x = s.left; x <= s.right; x++)
            sum += (int64_t)a[y * size.width + x] * (b ? b[y * size.width + x] : 1);
    }
    return sum;
}

static void rule_refine(const uint8_t *matte, const uint8_t *luma, struct matte_edge edge, int32_t *to)
{
    static int32_t p[MATTE_PIXELS], q[MATTE_PIXELS], l[MATTE_PIXELS], a[MATTE_PIXELS], b[MATTE_PIXELS];
    const int count = size.width * size.height;
    for (int i = 0; i < count; i++) {
        const struct square s = square_at(i, edge.grow);
        int most = 0;
        for (int y = s.top; y <= s.bottom; y++) {
            for (int x = s.left; x <= s.right; x++)
                most = matte[y * size.width + x] > most ? matte[y * size.width + x] : most;
        }
        q[i] = most;
        l[i] = luma[i];
    }
    for (int i = 0; i < count; i++) {
        const struct square s = square_at(i, edge.feather);
        p[i] = (int32_t)(sum_square(s, q, NULL) / s.count);
    }
    for (int i = 0; i < count; i++) {
        const struct square s = square_at(i, 4);
        const int64_t n = s.count, sp = sum_square(s, p, NULL), sl = sum_square(s, l, NULL);
        int64_t slope = 256 * (n * sum_square(s, p, l) - sp * sl) / (n * sum_square(s, l, l) - sl * sl + 400 * n * n);
        slope = slope > 4096 ? 4096 : slope < -4096 ? -4096 : slope;
        a[i] = (int32_t)slope;
        b[i] = (int32_t)((256 * sp - slope * sl) / n);
    }
    for (int i = 0; i < count; i++) {
        const struct square s = square_at(i, 4);
        const int32_t mean = (int32_t)(sum_square(s, a, NULL) / s.count);
        to[2 * i] = edge.follows ? mean : 0;
        to[2 * i + 1] =
            edge.follows ? mean * l[i] + 2 * (int32_t)(sum_square(s, b, NULL) / s.count) - 32768 : 256 * p[i];
    }
}

static void check_refine(void)
{
    static uint8_t matte[MATTE_PIXELS], luma[MATTE_PIXELS];
    static int32_t want[2 * MATTE_PIXELS];
    static const struct {
        struct matte_edge edge;
        struct matte_size size;
    } cases[] = {{{0, 0, false}, {256, 144}}, {{0, 0, true}, {256, 144}}, {{3, 0, false}, {256, 256}},
                 {{0, 5, true}, {144, 256}},  {{8, 2, true}, {256, 256}}, {{9, 9, true}, {5, 3}}};
    unsigned state = 1;
    for (int i = 0; i < MATTE_PIXELS; i++) {
        state = state * 1664525 + 1013904223;
        const int x = i % 256 - 100, y = i / 256 - 70;
        luma[i] = (uint8_t)(x * x + y * y < 1600 ? 180 + state % 50 : state >> 24);
        matte[i] = (uint8_t)(x * x + y * y < 1700 ? 255 : i % 97 == 0 ? state >> 16 : 0);
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        size = cases[i].size;
        matte_refine(matte, luma, size, &cases[i].edge, numbers);
        rule_refine(matte, luma, cases[i].edge, want);
        check_that(&unit, memcmp(numbers, want, 8 * (size_t)size.width * size.height) == 0, "case %zu differs", i);
    }
}

static void check_shrink(void)
{
    static const int sizes[][2] = {{640, 362}, {256, 144}, {30, 20}, {1, 1}, {257, 1000}, {2, 2000}};
    static uint8_t got[PIXELS * 3];
    for (int format = 0; format < PIXFMT_COUNT; format++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            const char *why;
            const int w = sizes[i][0], h = sizes[i][1];
            struct image_shape shape = {.format = (enum pixfmt)format, .width = w, .height = h};
            struct image image = {0}, rgba = {0};
            if (!pixfmt_size_ok(shape.format, w, h, &why))
                continue;
            shape.color = (struct color){COLOR_MATRIX_601, COLOR_RANGE_FULL};
            image_alloc(&image, &shape);
            for (size_t k = 0; k < image_bytes(&shape); k++)
                image.plane[0][k] = (uint8_t)(k * 7919 >> 3);
            shape.format = PIXFMT_RGBA;
            image_alloc(&rgba, &shape);
            convert_to_rgba(&rgba, &image);
            matte_shrink(&image, WIDTH, HEIGHT, got);
            int wrong = 0;
            for (int k = 0; k < PIXELS; k++) {
                const int x = k % WIDTH, y = k / WIDTH, left = x * w / WIDTH, top = y * h / HEIGHT;
                const int right = (x + 1) * w / WIDTH, rows = (y + 1) * h / HEIGHT - top;
                const int used = rows < 1 ? 1 : rows < 4 ? rows : 4, columns = right > left ? right - left : 1;
                for (int c = 0; c < 3; c++) {
                    int sum = 0;
                    for (int n = 0; n < used * columns; n++)
                        sum += image_row(&rgba, 0, top + n / columns * rows / used)[(left + n % columns) * 4 + c];
                    wrong += got[3 * k + c] != (sum + used * columns / 2) / (used * columns);
                }
            }
            check_that(&unit, wrong == 0, "format %d, %d x %d: %d bytes are wrong", format, w, h, wrong);
            image_free(&image);
            image_free(&rgba);
        }
    }
}

static void check_names(void)
{
    char why[MATTE_WHY];
    CHECK(matte_name_ok("a-B_9") && !matte_name_ok("") && !matte_name_ok("../x") && !matte_name_ok("a b"));
    CHECK(!matte_name_ok("123456789012345678901234567890123"));
    CHECK(!matte_ready("person", why));
    CHECK_TEXT(why, "the network for 'person' is not installed; run: monocle matte --install person");
    CHECK(!matte_ready("nobody", why));
    CHECK_TEXT(why, "there is no program 'nobody' in ~/.config/monocle/mattes");
    add_program("shared");
    CHECK(matte_ready("shared", why));
    char path[PATH_MAX + 100];
    snprintf(path, sizeof(path), "%s/monocle/mattes/shared", directory);
    chmod(path, 0777);
    CHECK(!matte_ready("shared", why));
    CHECK_HAS(why, "can be written by");
}

static void check_sizes(void)
{
    static const struct {
        const char *name;
        int width, height;
        struct matte_size one, both; // of the program's frames, with one or both networks of people
    } cases[] = {{"person", 1666, 1000, {256, 144}, {256, 256}}, {"person", 1667, 1000, {256, 144}, {256, 144}},
                 {"person", 1, 65536, {256, 144}, {256, 256}},   {"person", 65536, 1, {256, 144}, {256, 144}},
                 {"faces", 1450, 1000, {256, 144}, {256, 144}},  {"faces", 1449, 1000, {256, 256}, {256, 256}},
                 {"faces", 1000, 1449, {256, 256}, {256, 256}},  {"faces", 1000, 1450, {144, 256}, {144, 256}},
                 {"good", 100, 145, {256, 144}, {256, 144}}};
    char path[PATH_MAX];
    for (int both = 0; both < 2; both++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
            const struct matte_size got = matte_size(cases[i].name, cases[i].width, cases[i].height);
            const struct matte_size want = both ? cases[i].both : cases[i].one;
            check_that(&unit, got.width == want.width && got.height == want.height, "size %zu: %d x %d", i, got.width,
                       got.height);
        }
        snprintf(path, sizeof(path), "%s/monocle/mattes/person-narrow.tflite", directory);
        fclose(fopen(path, "w"));
    }
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--program") == 0)
        _exit(misbehave(argv[2], atoi(argv[3]), atoi(argv[4]))); // a search for leaks would outlive a killed program
    static const struct {
        const char *kind, *why;
        int right; // of 9 mattes
    } bad[] = {
        {"absent", "it exited with status 7", 0},
        {"early", "it wrote more than a matte for each frame", 3},
        {"closed", "it gave no first matte for 30 s", 0},
        {"mute", "closed its output", 0},
        {"deaf", "it gave no first matte for 30 s", 0},
        {"stubborn", "it gave no first matte for 30 s", 0},
        {"crash", "it crashed with signal 11", 0},
        {"killed", "it was killed by signal 9, or has closed its output", 0},
        {"leaves", "it exited with status 3", 0},
        {"done", "it exited with status 0", 3},
        {"stalls", "it gave no first matte for 30 s", 0},
        {"child", "it gave no first matte for 30 s", 0},
        {"short", "it exited with status 5 inside an answer", 0},
        {"long", "it wrote more than a matte for each frame", 0},
        {"chatty", NULL, 9},
        {"floods", NULL, 9},
        {"slow", NULL, 9},
    };
    signal(SIGPIPE, SIG_IGN);
    unit_directory(directory);
    CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    setenv("XDG_CONFIG_HOME", directory, 1);
    setenv("XDG_DATA_HOME", directory, 1);
    char command[200];
    snprintf(command, sizeof(command), "mkdir -p -m 700 '%s/monocle/mattes'", directory);
    CHECK(system(command) == 0);
    check_smooth();
    check_refine();
    check_shrink();
    check_names();
    check_sizes();
    check_good();
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        check_bad(bad[i].kind, bad[i].why, bad[i].right);
    check_facts();
    check_times();
    check_given_up();
    check_group();
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    CHECK(system(command) == 0);
    return check_end(&unit);
}
