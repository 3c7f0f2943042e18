// paths_swap.c: the chain changes while frames run; a change that fails has no effect
#include "base/log.h"
#include "compute/device.h"
#include "paths_test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct image_shape shape = {PIXFMT_NV21, 94, 61, {COLOR_MATRIX_709, COLOR_RANGE_LIMITED}, false};

static struct path *open_chain(struct path_test *test, struct device *device, const char *text, char **error)
{
    struct chain chain;
    char why[CHAIN_ERROR] = "";
    if (!check_that(&test->check, chain_parse(&chain, text, why), "\"%s\": %s", text, why))
        return NULL;
    struct path_setup setup = path_case_setup(test, &shape, &chain);
    setup.device = device;
    return path_open(&setup, error);
}

struct change {
    struct path *path;
    const char *text;
    bool prepared;
    char *error;
};

static void *change_prepare(void *context)
{
    struct change *change = context;
    struct chain chain;
    char why[CHAIN_ERROR];
    change->prepared = chain_parse(&chain, change->text, why) && path_prepare(change->path, &chain, &change->error);
    return NULL;
}

// Prepares on another thread while frames run through the old chain, then swaps.
static void change_while_running(struct path_test *test, struct path *path, const char *old, const char *new)
{
    struct change change = {.path = path, .text = new};
    pthread_t thread;
    if (!check_that(&test->check, !pthread_create(&thread, NULL, change_prepare, &change), "no thread"))
        return;
    for (int i = 0; i < 5; i++)
        path_frame_run(test, path, &shape, old);
    pthread_join(thread, NULL);
    check_that(&test->check, change.prepared, "%s: \"%s\" cannot be prepared: %s", path_kind_name(test->kind), new,
               change.error ? change.error : "");
    free(change.error);
    path_frame_run(test, path, &shape, old);
    path_swap(path);
    path_frame_run(test, path, &shape, new);
    path_frame_run(test, path, &shape, new);
}

static void test_changes(struct path_test *test)
{
    static const char *const texts[] = {"none",   "blur,gray", "flip", "convolve=gaussian,emboss,mirror,sobel",
                                        "invert", "none"};
    char *error = NULL;
    struct path *path = open_chain(test, test->device, texts[0], &error);
    if (check_that(&test->check, path != NULL, "path_open: %s", error ? error : "")) {
        path_frame_run(test, path, &shape, texts[0]);
        for (size_t i = 1; i < sizeof(texts) / sizeof(*texts); i++)
            change_while_running(test, path, texts[i - 1], texts[i]);
        // The last prepared chain counts; one that is prepared and never used is freed.
        struct change first = {.path = path, .text = "gray"}, second = {.path = path, .text = "blur=1"};
        change_prepare(&first);
        change_prepare(&second);
        path_frame_run(test, path, &shape, "none");
        path_swap(path);
        path_frame_run(test, path, &shape, "blur=1");
        change_prepare(&first);
    }
    path_close(path);
    free(error);
}

#define BROKEN_LINE "this is not OpenCL"

// A directory with a kernel file that does not compile.
static bool broken_kernels(char directory[64], char file[96])
{
    strcpy(directory, "/tmp/monocle-test-XXXXXX");
    if (!mkdtemp(directory))
        return false;
    snprintf(file, 96, "%s/gray.cl", directory);
    FILE *out = fopen(file, "w");
    if (!out)
        return false;
    fputs(BROKEN_LINE "\n", out);
    return !fclose(out);
}

static void test_broken(struct path_test *test)
{
    char directory[64], file[96] = "", *error = NULL;
    struct device *device = NULL;
    struct path *path = NULL;
    if (!check_that(&test->check, broken_kernels(directory, file), "cannot write to /tmp"))
        return;
    test->kernels = directory;
    if (test->device)
        device = device_open(&test->device->info, NULL, directory);
    if (!check_that(&test->check, device != NULL || test->gl, "device_open with a kernel directory failed"))
        goto end;
    path = open_chain(test, device, "blur", &error);
    if (!check_that(&test->check, path != NULL, "blur cannot be opened beside a broken gray: %s", error ? error : ""))
        goto end;
    struct change bad = {.path = path, .text = "blur,gray"}, good = {.path = path, .text = "invert"};
    path_frame_run(test, path, &shape, "blur");
    change_prepare(&bad);
    // rusticl ignores #line, but quotes the line.
    check_that(&test->check,
               !bad.prepared && bad.error && (strstr(bad.error, "gray.cl") || strstr(bad.error, BROKEN_LINE)),
               "a broken kernel is prepared, or the error does not name it: %s", bad.error ? bad.error : "(none)");
    free(bad.error);
    path_frame_run(test, path, &shape, "blur");
    path_swap(path);
    path_frame_run(test, path, &shape, "blur");
    change_prepare(&good);
    check_that(&test->check, good.prepared, "after a failed one, invert cannot be prepared: %s",
               good.error ? good.error : "");
    path_swap(path);
    path_frame_run(test, path, &shape, "invert");
    free(good.error);
    if (test->kind == PATH_OPENCL || test->kind == PATH_GL) {
        free(error);
        error = NULL;
        struct path *none = open_chain(test, device, "gray", &error);
        check_that(&test->check, !none && error && error[0], "a path with a broken kernel opens, or does not say why");
        path_close(none);
    }
end:
    test->kernels = NULL;
    path_close(path);
    device_close(device);
    free(error);
    unlink(file);
    rmdir(directory);
}

// GL cannot have a texture of every size of frames.
static void test_large(struct path_test *test)
{
    const struct image_shape wide = {PIXFMT_RGBA, IMAGE_MAX_SIDE, 1, {0}, false};
    const struct chain chain = {.count = 0};
    struct path_setup setup = path_case_setup(test, &wide, &chain);
    char *error = NULL;
    struct path *path = path_open(&setup, &error);
    check_that(&test->check, path || (error && strstr(error, "pixels on a side")), "a frame of %d pixels: %s",
               wide.width, error ? error : "no error");
    path_close(path);
    free(error);
}

void paths_swap(struct path_test *test)
{
    if (test->gl)
        test_large(test);
    test_changes(test);
    if ((test->device || test->gl) && !test->stranger) // its frames would be in memory of another device
        test_broken(test);
}
