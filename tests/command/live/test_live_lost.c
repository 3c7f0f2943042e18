// test_live_lost.c: if a device is lost, live and lane continue with the cpu path and lose no frame, or report why they
// cannot; with an argument: in a window
#include "base/file.h"
#include "base/gl_handles.h"
#include "command/command.h"
#include "path/opencl_chain.h"
#include "tune/live_tuning.h"

#include "frail.h"
#include "scratch.h"
#include "unit.h"

enum { FRAMES = 12 };

// ---- a tuning, instead of that of tune/live_tuning.c ----

static struct {
    int submitted, failed;
    bool candidate; // the frame in flight runs one
} tuning;

struct live_tuning *live_tuning_open(void)
{
    return (struct live_tuning *)&tuning;
}

bool live_tuning_close(struct live_tuning *live, int patience_ms)
{
    return true;
}

bool live_tuning_submit(struct live_tuning *live, struct path *path, const struct image *frame)
{
    tuning.candidate = ++tuning.submitted % 2 == 0;
    path_try(path, tuning.candidate ? (struct opencl_chain *)&tuning : NULL);
    return false;
}

void live_tuning_collect(struct live_tuning *live, const struct path_result *result) {}

void live_tuning_pace(struct live_tuning *live, double budget_ms, uint64_t skipped) {}

void live_tuning_forget(struct live_tuning *live) {}

bool live_tuning_frame_failed(struct live_tuning *live)
{
    tuning.failed += tuning.candidate;
    return tuning.candidate;
}

void live_tuning_pause(struct live_tuning *live, bool pause) {}

struct live_tuning_state live_tuning_describe(struct live_tuning *live)
{
    return (struct live_tuning_state){.phase = LIVE_TUNING_TUNING};
}

// ---- runs ----

static int run(const char *record, struct scratch *scratch)
{
    char *argv[] = {"live", "pattern:34x22,nv12", "--headless",   "--fast", "--path",      "opencl", "--frames",
                    "12",   "--record",           (char *)record, "--tune", "--overwrite", NULL};
    frail_begin();
    capture_stderr(&scratch->said);
    const int code = live_command.run(sizeof(argv) / sizeof(*argv) - 1, argv);
    captured_stderr(&scratch->said);
    CHECK_NUMBER(frail()->misuses, 0);
    return code;
}

// Frames count from the first path's warm-up.
static void lose(int submit_fails_at, int collect_fails_at, bool no_cpu)
{
    frail()->submit_fails_at = submit_fails_at;
    frail()->collect_fails_at = collect_fails_at;
    frail()->no_cpu = no_cpu;
}

// Runs the live view without a path, in a window or without one. Its table of figures must name the path and the
// reason. `more`: another argument, or NULL.
static void check_default(struct scratch *scratch, bool window, const char *more, const char *path)
{
    char *argv[] = {"live", "pattern:34x22", "--frames", "3", NULL, NULL, NULL};
    int count = 4;
    if (!window)
        argv[count++] = "--headless";
    if (more)
        argv[count++] = (char *)more;
    frail_begin();
    CHECK(freopen(scratch_path(scratch, "table"), "w", stdout));
    CHECK_NUMBER(live_command.run(count, argv), EXIT_OK);
    fflush(stdout);
    char *table = file_read_text(scratch_path(scratch, "table"), 1 << 16);
    CHECK_HAS(table, path);
    free(table);
}

// With CPUs alone, OpenCL is not the default.
static void test_default(struct scratch *scratch)
{
    char kernels[300];
    const char *const options[] = {"--device=0", "--tune", "--path=zerocopy", kernels};
    scratch_write(scratch, "blur.cl", "", 0);
    snprintf(kernels, sizeof(kernels), "--kernels=%s", scratch->dir);
    frail()->gpus = 1;
    check_default(scratch, false, NULL, "path zerocopy (as requested), device frail device");
    frail()->gpus = 0;
    check_default(scratch, false, NULL, "path cpu (OpenCL has only CPUs, and this path is faster), device cpu");
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        check_default(scratch, false, options[i], "path zerocopy (as requested), device frail device");
    // The cpu path needs a compiler for a user's filter.
    char *paths = strdup(getenv("PATH"));
    CHECK(paths && setenv("PATH", scratch->dir, 1) == 0);
    capture_stderr(&scratch->said);
    check_default(scratch, false, "--filter=thermal", "path zerocopy (as requested), device frail device");
    CHECK_HAS(captured_stderr(&scratch->said), "the C compiler cc");
    CHECK(setenv("PATH", paths, 1) == 0);
    free(paths);
}

// A path that fails is not chosen again: this would fail again.
static void test_not_again(struct scratch *scratch)
{
    char *argv[] = {"live", "pattern:34x22", "--headless", "--fast", "--frames", "60", NULL};
    frail()->gpus = 1;
    lose(3, NEVER, false);
    frail_begin();
    CHECK(freopen(scratch_path(scratch, "table"), "w", stdout));
    capture_stderr(&scratch->said);
    CHECK_NUMBER(live_command.run(sizeof(argv) / sizeof(*argv) - 1, argv), EXIT_OK);
    const int lines = captured_lines(&scratch->said);
    CHECK_NUMBER(lines, 1);
    CHECK_HAS(scratch->said.text, "the zerocopy path failed on frail device; continuing on the cpu path");
    frail()->gpus = 0;
}

// In a window, gl is the default if a GPU draws.
static bool hardware;

void __wrap_gl_context_describe(struct gl_context *context, bool es, const char *version, const char *renderer,
                                const char *over);
void __wrap_gl_context_describe(struct gl_context *context, bool es, const char *version, const char *renderer,
                                const char *over)
{
    *context =
        (struct gl_context){.name = "OpenGL", .software = !hardware, .bind = context->bind, .unbind = context->unbind};
}

static void test_window_default(struct scratch *scratch)
{
    check_default(scratch, true, NULL, "path cpu (OpenCL has only CPUs");
    hardware = true;
    check_default(scratch, true, NULL, "path gl (OpenCL has only CPUs, and this path is faster), device OpenGL");
    lose(1, NEVER, false);
    check_default(scratch, true, NULL,
                  "path cpu (as requested), device cpu"); // the cpu path was not chosen for its speed
    lose(NEVER, NEVER, false);
    frail()->gpus = 1;
    check_default(scratch, true, NULL, "path zerocopy (as requested)");
    frail()->gpus = 2;
    frail()->sharing = 1;
    check_default(scratch, true, NULL, "path zerocopy (as requested), device sharing device");
    frail()->sharing = 0;
    frail()->gpus = 0;
    hardware = false;
}

// If a device cannot share textures over GLX, EGL is tried, then GLX is used again if EGL is no better.
static int test_retry(struct scratch *scratch)
{
    char *argv[] = {"live", "pattern:34x22", "--path", "zerocopy", "--frames", "3", NULL};
    lose(NEVER, NEVER, false);
    for (int i = 0; i < 2; i++) {
        frail()->no_egl = i == 1;
        frail_begin();
        CHECK(freopen(scratch_path(scratch, "table"), "w", stdout));
        capture_stderr(&scratch->said);
        const int code = live_command.run(sizeof(argv) / sizeof(*argv) - 1, argv);
        CHECK(captured_lines(&scratch->said) == 0);
        CHECK_NUMBER(code, EXIT_OK);
        fflush(stdout);
        char *table = file_read_text(scratch_path(scratch, "table"), 1 << 16);
        CHECK_HAS(table, "path zerocopy (as requested)");
        free(table);
        CHECK_NUMBER(frail()->opened_over[OVER_GLX], 2);
        CHECK_NUMBER(frail()->opened_over[OVER_EGL], 1);
    }
    test_window_default(scratch);
    scratch_close(scratch);
    return check_end(&unit);
}

static void check_same(const char *one, const char *other)
{
    size_t size = 0, other_size = 0;
    char *data = file_read(one, 1 << 24, &size);
    char *other_data = file_read(other, 1 << 24, &other_size);
    CHECK(data && other_data && size == other_size && memcmp(data, other_data, size) == 0);
    CHECK(size > FRAMES * 34 * 22 * 3);
    free(data);
    free(other_data);
}

// Finds lanes in FRAMES frames. Checks the number of reported frames.
static void check_lane(struct scratch *scratch, int code, int frames)
{
    char *argv[] = {
        "lane", "pattern:160x90,nv12", "--headless", "--fast", "--path", "opencl", "--frames", "12", "--json", NULL};
    frail_begin();
    CHECK(freopen(scratch_path(scratch, "lines"), "w", stdout));
    capture_stderr(&scratch->said);
    const int got = lane_command.run(sizeof(argv) / sizeof(*argv) - 1, argv);
    captured_stderr(&scratch->said);
    fflush(stdout);
    CHECK_NUMBER(got, code);
    CHECK_NUMBER(frail()->misuses, 0);
    char *text = file_read_text(scratch_path(scratch, "lines"), 1 << 20);
    int lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    CHECK_NUMBER(lines, frames);
    free(text);
}

// The lane command, too, continues with the cpu path.
static void test_lane(struct scratch *scratch)
{
    lose(NEVER, NEVER, false);
    check_lane(scratch, EXIT_OK, FRAMES);
    CHECK(captured_lines(&scratch->said) == 0);
    for (int frame = 0; frame < FRAMES; frame++) {
        for (int at_submit = 0; at_submit < 2; at_submit++) {
            lose(at_submit ? frame : NEVER, at_submit ? NEVER : frame, false);
            check_lane(scratch, EXIT_OK, FRAMES);
            CHECK_HAS(scratch->said.text, "continuing on the cpu path");
        }
    }
    lose(NEVER, 5, true);
    check_lane(scratch, EXIT_DEVICE, 5);
    CHECK_HAS(scratch->said.text, "frail device");
}

int main(int argc, char **argv)
{
    struct scratch scratch;
    char whole[512], cut[512];
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    if (check_name(argv[1], (const char *const[]){"recording", "retry", NULL}) == 1)
        return test_retry(&scratch);
    snprintf(whole, sizeof(whole), "%s", scratch_path(&scratch, "whole.y4m"));
    snprintf(cut, sizeof(cut), "%s", scratch_path(&scratch, "cut.y4m"));

    lose(NEVER, NEVER, false);
    CHECK_NUMBER(run(whole, &scratch), EXIT_OK);

    for (int frame = 0; frame <= FRAMES; frame++) { // 0 is the warm-up
        for (int at_submit = 0; at_submit < 2; at_submit++) {
            lose(at_submit ? frame : NEVER, at_submit ? NEVER : frame, false);
            CHECK_NUMBER(run(cut, &scratch), EXIT_OK);
            CHECK_HAS(scratch.said.text, "continuing on the cpu path");
            check_same(whole, cut);
        }
    }

    lose(NEVER, NEVER, false);
    test_default(&scratch);
    test_not_again(&scratch);
    lose(NEVER, 5, true);
    CHECK_NUMBER(run(cut, &scratch), EXIT_DEVICE);
    CHECK_HAS(scratch.said.text, "frail device");

    // The frames of candidates fail. They run again on the same path.
    lose(NEVER, NEVER, false);
    for (int step = 1; step <= 2; step++) {
        frail()->tried_fails = step;
        tuning.failed = 0;
        CHECK_NUMBER(run(cut, &scratch), EXIT_OK);
        CHECK(tuning.failed > 0 && captured_lines(&scratch.said) == 0);
        check_same(whole, cut);
    }
    test_lane(&scratch);
    scratch_close(&scratch);
    return check_end(&unit);
}
