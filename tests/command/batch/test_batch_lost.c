// test_batch_lost.c: if a device is lost, a batch loses no file: it opens the device again or uses the cpu path
#include "base/file.h"
#include "command/command.h"
#include "compute/gl_context.h"
#include "image/imagefile.h"

#include "frail.h"
#include "scratch.h"
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

enum { FILES = 12 };

static int run(struct scratch *scratch, const char *path, const char *jobs)
{
    char in[512], out[512];
    snprintf(in, sizeof(in), "%s", scratch_path(scratch, "in"));
    snprintf(out, sizeof(out), "%s", scratch_path(scratch, "out"));
    char *argv[] = {"batch",  "-p",         (char *)path, "-f", "none", "--overwrite",
                    "--jobs", (char *)jobs, "-o",         out,  in,     NULL};
    frail_begin();
    capture_stderr(&scratch->said);
    const int code = batch_command.run(sizeof(argv) / sizeof(*argv) - 1, argv);
    captured_stderr(&scratch->said);
    CHECK_NUMBER(frail()->misuses, 0);
    return code & ~EXIT_SETTLED;
}

static void lose(int submit_fails_at, int collect_fails_at, bool stays_lost, bool no_cpu)
{
    frail()->submit_fails_at = submit_fails_at;
    frail()->collect_fails_at = collect_fails_at;
    frail()->stays_lost = stays_lost;
    frail()->no_cpu = no_cpu;
}

// All images differ in size. Outputs must equal the inputs, and are removed.
static void check_outputs(struct scratch *scratch)
{
    for (int i = 0; i < FILES; i++) {
        char name[64];
        struct image in = {0}, out = {0};
        snprintf(name, sizeof(name), "in/%d.png", i);
        CHECK(imagefile_read(&in, scratch_path(scratch, name)));
        snprintf(name, sizeof(name), "out/%d.png", i);
        const bool read = imagefile_read(&out, scratch_path(scratch, name));
        CHECK(read && image_shape_equal(&in.shape, &out.shape) &&
              memcmp(in.plane[0], out.plane[0], image_bytes(&in.shape)) == 0);
        unlink(scratch_path(scratch, name));
        image_free(&in);
        image_free(&out);
    }
}

// "all" devices are all GPUs, without the CPU device; they open at the same time.
static void all_gpus(struct scratch *scratch)
{
    frail()->gpus = 2;
    frail()->meet = true;
    setenv("MONOCLE_DEVICE", "all", 1);
    CHECK_NUMBER(run(scratch, "opencl", "5"), EXIT_OK);
    check_outputs(scratch);
    CHECK_NUMBER(frail()->opening, 2);
    CHECK_NUMBER(frail()->opened_cpu, 0);
    frail()->meet = false;
    frail()->gpus = 0;
    CHECK_NUMBER(run(scratch, "opencl", "2"), EXIT_OK);
    CHECK_NUMBER(frail()->opened_cpu, 1);
    unsetenv("MONOCLE_DEVICE");
}

// After a failure of GL, the cpu path continues. The frail paths do not draw, so any GL context will do.
static void gl_fails(struct scratch *scratch)
{
    char why[256];
    struct gl_context *gl = gl_context_open(false, why);
    gl_context_close(gl);
    for (int at = 0; gl && at < 4; at++) {
        lose(at & 1 ? at : NEVER, at & 1 ? NEVER : at, false, false);
        CHECK_NUMBER(run(scratch, "gl", at & 2 ? "3" : "1"), EXIT_OK);
        CHECK_HAS(scratch->said.text, "the gl path failed; continuing on the cpu path");
        check_outputs(scratch);
    }
    lose(NEVER, 5, false, true);
    if (gl)
        CHECK_NUMBER(run(scratch, "gl", "1"), EXIT_FAILED_SOME);
}

static void make_inputs(struct scratch *scratch)
{
    if (mkdir(scratch_path(scratch, "in"), 0777) != 0)
        abort();
    for (int i = 0; i < FILES; i++) {
        const struct image_shape shape = {.width = 20 + i / 4, .height = 10};
        struct image image;
        char name[64];
        if (!image_alloc(&image, &shape))
            abort();
        for (size_t k = 0; k < image_bytes(&shape); k++)
            image.plane[0][k] = k % 4 == 3 ? 255 : (uint8_t)(k * 7 + (size_t)i);
        snprintf(name, sizeof(name), "in/%d.png", i);
        CHECK(imagefile_write_png(scratch_path(scratch, name), &image, NULL));
        image_free(&image);
    }
}

// After a signal before the first file, the report is complete.
static void interrupt(struct scratch *scratch)
{
    char out[512], report[512], in[512];
    size_t size = 0;
    snprintf(in, sizeof(in), "%s", scratch_path(scratch, "in"));
    snprintf(out, sizeof(out), "%s", scratch_path(scratch, "out"));
    snprintf(report, sizeof(report), "%s", scratch_path(scratch, "report.jsonl"));
    char *argv[] = {"batch", "-p", "cpu", "-f", "none", "--jobs", "1", "--report", report, "-o", out, in, NULL};
    frail()->report = report;
    frail()->signal = SIGINT;
    capture_stderr(&scratch->said);
    const int code = batch_command.run(sizeof(argv) / sizeof(*argv) - 1, argv);
    captured_stderr(&scratch->said);
    frail()->signal = 0;
    char *text = file_read(report, 1 << 20, &size);
    const int files = code & ~EXIT_SETTLED;
    CHECK(files == EXIT_OK || files == 128 + SIGINT); // one thread may finish before the program reacts to the signal
    CHECK(!frail()->held_late);
    CHECK(text && strstr(text, "{\"end\":") && strstr(text, "\"signal\":2"));
    free(text);
}

// A file whose filters a signal has ended has not failed: it is left for the next run.
static void interrupt_filters(struct scratch *scratch)
{
    char out[512], in[512];
    snprintf(in, sizeof(in), "%s", scratch_path(scratch, "in/0.png"));
    snprintf(out, sizeof(out), "%s", scratch_path(scratch, "out"));
    char *argv[] = {"batch", "-p", "opencl", "-f", "none", "--overwrite", "-o", out, in, NULL};
    lose(NEVER, 0, true, true);
    frail_begin();
    frail()->signal = SIGINT;
    capture_stderr(&scratch->said);
    const int code = batch_command.run(sizeof(argv) / sizeof(*argv) - 1, argv);
    captured_stderr(&scratch->said);
    frail()->signal = 0;
    CHECK_NUMBER(code & ~EXIT_SETTLED, 128 + SIGINT);
    CHECK(!strstr(scratch->said.text, "the filters failed"));
}

// Returns the number of outputs, and removes them.
static int outputs(struct scratch *scratch)
{
    int made = 0;
    for (int i = 0; i < FILES; i++) {
        char name[64];
        snprintf(name, sizeof(name), "out/%d.png", i);
        made += unlink(scratch_path(scratch, name)) == 0;
    }
    return made;
}

// Copies an image into the watched directory after each output, and then ends the run. Returns NULL on failure.
static void *arrive(void *argument)
{
    struct scratch *scratch = argument;
    size_t size = 0;
    bool ok = true;
    char name[512], path[512];
    snprintf(path, sizeof(path), "%s", scratch_path(scratch, "in/0.png"));
    char *data = file_read(path, 1 << 20, &size);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "%s/arrived/%d.png", scratch->dir, i);
        ok = file_write_atomic(name, data, size) && ok;
        snprintf(name, sizeof(name), "%s/out/%d.png", scratch->dir, i);
        for (int ms = 0; access(name, F_OK) != 0 && ms < 10000; ms++)
            usleep(1000);
        usleep(200000); // the group of this file ends
    }
    free(data);
    frail()->signal = SIGTERM;
    snprintf(name, sizeof(name), "%s/arrived/last", scratch->dir);
    ok = file_write_atomic(name, "", 0) && ok; // wakes the run
    return ok ? scratch : NULL;
}

// --watch keeps its device open for files that arrive, and continues on the cpu path after its loss.
static void watch(struct scratch *scratch, bool loses)
{
    char out[512], in[512];
    pthread_t thread;
    snprintf(in, sizeof(in), "%s", scratch_path(scratch, "arrived"));
    snprintf(out, sizeof(out), "%s", scratch_path(scratch, "out"));
    char *argv[] = {"batch", "-p", "opencl", "-f", "none", "--watch", "-o", out, in, NULL};
    CHECK(mkdir(in, 0777) == 0 || loses);
    lose(NEVER, loses ? 1 : NEVER, loses, false);
    frail_begin();
    CHECK(pthread_create(&thread, NULL, arrive, scratch) == 0);
    capture_stderr(&scratch->said);
    const int code = batch_command.run(sizeof(argv) / sizeof(*argv) - 1, argv);
    captured_stderr(&scratch->said);
    void *arrived = NULL;
    CHECK(pthread_join(thread, &arrived) == 0 && arrived);
    frail()->signal = 0;
    CHECK(loses == (strstr(scratch->said.text, "continuing on the cpu path") != NULL));
    CHECK_NUMBER(code & ~EXIT_SETTLED, EXIT_OK);
    CHECK_NUMBER(outputs(scratch), 3);
    CHECK_NUMBER(frail()->opened_over[OVER_NOTHING], loses ? 2 : 1);
}

// The cpu path ignores the user's kernels, so it does not replace the device.
static void own_kernels(struct scratch *scratch)
{
    char path[512], directory[512];
    snprintf(directory, sizeof(directory), "%s", scratch_path(scratch, "kernels"));
    snprintf(path, sizeof(path), "%s", scratch_path(scratch, "kernels/blur.cl"));
    CHECK(mkdir(directory, 0777) == 0 && file_write_atomic(path, "", 0));
    setenv("MONOCLE_KERNELS", directory, 1);
    lose(NEVER, 5, false, false);
    CHECK_NUMBER(run(scratch, "opencl", "1"), EXIT_OK);
    check_outputs(scratch);
    lose(NEVER, 5, true, false);
    CHECK_NUMBER(run(scratch, "opencl", "1"), EXIT_DEVICE);
    CHECK_NUMBER(outputs(scratch), 5);
    CHECK_HAS(scratch->said.text, "was lost and cannot be opened again");
    unsetenv("MONOCLE_KERNELS");
}

int main(void)
{
    static const char *const jobs[] = {"1", "3"};
    struct scratch scratch;
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    make_inputs(&scratch);
    lose(NEVER, NEVER, false, false);
    CHECK_NUMBER(run(&scratch, "opencl", "1"), EXIT_OK);
    check_outputs(&scratch);
    for (int at = 0; at < FILES; at++) {
        for (int way = 0; way < 8; way++) {
            const bool stays_lost = way & 1, at_submit = way & 2;
            lose(at_submit ? at : NEVER, at_submit ? NEVER : at, stays_lost, false);
            CHECK_NUMBER(run(&scratch, "opencl", jobs[way >> 2]), EXIT_OK);
            CHECK_HAS(scratch.said.text, stays_lost ? "continuing on the cpu path" : "was lost and opened again");
            check_outputs(&scratch);
        }
    }
    lose(NEVER, 5, true, true);
    CHECK_NUMBER(run(&scratch, "opencl", "1"), EXIT_FAILED_SOME); // the file failed, not the cpu path
    CHECK_NUMBER(outputs(&scratch), FILES - 1);
    lose(NEVER, NEVER, false, false);
    all_gpus(&scratch);
    gl_fails(&scratch);
    lose(NEVER, NEVER, false, false);
    interrupt(&scratch);
    interrupt_filters(&scratch);
    lose(NEVER, NEVER, false, false);
    own_kernels(&scratch);
    watch(&scratch, false);
    watch(&scratch, true);
    scratch_close(&scratch);
    return check_end(&unit);
}
