// test_paths.c: every path gives the bytes of docs/pixels.md
//
//   test_paths cpu|opencl|gl|zerocopy [--seed N] [--rounds N] [--device TEXT] [--variant NAME] [--discrete]
//              [--kernels DIRECTORY]      kernel files that replace the embedded ones
//              [--es]                     gl: OpenGL ES
//              [--chains]                 opencl: all chains with known parameters, which compile for long
//              [--vectors none|few|all]   cpu: without or with only the cases that depend on vector instructions
//   test_paths cpu|opencl|gl|zerocopy --exact [--variant NAME]           every formula at each of its values
//   test_paths cpu|opencl|gl|zerocopy --case FORMAT WIDTHxHEIGHT CHAIN      runs one case, as a failure names it
#include "compute/device.h"
#include "compute/gl_context.h"
#include "paths_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    uint64_t seed;
    long rounds; // -1: the default of the path
    const char *device, *kernels;
    const char *format, *size, *chain;
    bool exact, es;
    enum { PART_WHOLE, PART_PATH, PART_VECTORS, PART_VECTORS_ALL } part;
    bool discrete; // the device is treated as one with dedicated memory
};

static bool arguments_read(struct arguments *arguments, struct path_test *test, int argc, char **argv)
{
    *arguments = (struct arguments){.seed = 1, .rounds = -1};
    int kind = 0;
    while (argc > 1 && kind < PATH_KINDS && strcmp(argv[1], path_kind_name(kind)))
        kind++;
    if (argc < 2 || kind == PATH_KINDS)
        return false;
    test->kind = kind;
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--seed") && i + 1 < argc) {
            arguments->seed = strtoull(argv[++i], NULL, 10);
        } else if (!strcmp(argv[i], "--rounds") && i + 1 < argc) {
            arguments->rounds = atol(argv[++i]);
        } else if (!strcmp(argv[i], "--device") && i + 1 < argc) {
            arguments->device = argv[++i];
        } else if (!strcmp(argv[i], "--kernels") && i + 1 < argc) {
            arguments->kernels = argv[++i];
        } else if (!strcmp(argv[i], "--variant") && i + 1 < argc) {
            test->variant = argv[++i];
        } else if (!strcmp(argv[i], "--discrete")) {
            arguments->discrete = true;
        } else if (!strcmp(argv[i], "--chains")) {
            test->chains = true;
        } else if (!strcmp(argv[i], "--es")) {
            arguments->es = true;
        } else if (!strcmp(argv[i], "--vectors") && i + 1 < argc) {
            const char *part = argv[++i];
            arguments->part = !strcmp(part, "none")  ? PART_PATH
                              : !strcmp(part, "all") ? PART_VECTORS_ALL
                                                     : PART_VECTORS;
        } else if (!strcmp(argv[i], "--exact")) {
            arguments->exact = true;
        } else if (!strcmp(argv[i], "--case") && i + 3 < argc) {
            arguments->format = argv[++i];
            arguments->size = argv[++i];
            arguments->chain = argv[++i];
        } else {
            return false;
        }
    }
    return true;
}

// The device to test; NULL with the reason printed.
static struct device *device_get(const struct arguments *arguments)
{
    struct device_info devices[DEVICE_MAX];
    const char *why = NULL;
    int count = device_list(devices, &why);
    if (count < 1) {
        fprintf(stderr, "test_paths: skipped: %s\n", why ? why : "no OpenCL device");
        return NULL;
    }
    int chosen = device_choose(devices, count, arguments->device);
    if (chosen >= 0 && arguments->discrete)
        devices[chosen].host_unified = false;
    struct device *device = chosen < 0 ? NULL : device_open(&devices[chosen], NULL, arguments->kernels);
    if (device)
        fprintf(stderr, "test_paths: device %s, driver %s\n", device->info.name, device->info.driver);
    return device;
}

// Opens a GL context and binds it to this thread; NULL with the reason printed.
static struct gl_context *context_get(const struct arguments *arguments)
{
    char why[256];
    struct gl_context *context = gl_context_open(arguments->es, why);
    if (!context)
        fprintf(stderr, "test_paths: skipped: no GL context: %s\n", why);
    else
        fprintf(stderr, "test_paths: %s\n", context->name);
    if (context && !gl_context_bind(context, false))
        abort();
    return context;
}

static bool run_case(struct path_test *test, const struct arguments *arguments)
{
    struct path_case one = {.chain = arguments->chain, .frames = 4};
    while (one.format < PIXFMT_COUNT && strcmp(arguments->format, reference_format_name(one.format)))
        one.format++;
    if (one.format == PIXFMT_COUNT && strcmp(arguments->format, "opaque") != 0) {
        fprintf(stderr, "test_paths: no pixel format has the name %s; there are:", arguments->format);
        for (enum pixfmt format = 0; format < PIXFMT_COUNT; format++)
            fprintf(stderr, " %s", reference_format_name(format));
        fputc('\n', stderr);
        return false;
    }
    if (sscanf(arguments->size, "%dx%d", &one.width, &one.height) != 2)
        return false;
    bool ok = true;
    for (int turn = 0; turn < 18 && ok; turn++)
        ok = path_case_run(test, &one);
    return true;
}

static void run_fixed(struct path_test *test, const struct arguments *arguments)
{
    if (test->kind == PATH_CPU && arguments->part != PART_PATH)
        paths_vectors(test, arguments->part == PART_VECTORS_ALL);
    if (arguments->part == PART_VECTORS || arguments->part == PART_VECTORS_ALL)
        return;
    if (test->chains) {
        paths_filters(test);
        return;
    }
    paths_swap(test);
    if (test->kind == PATH_CPU) {
        paths_array(test);
        paths_chains(test);
        paths_streaming_stores(test);
        paths_exact(test, false);
        return;
    }
    if (!test->variant)
        paths_formats(test);
    if (test->kind == PATH_ZEROCOPY || arguments->discrete) // the programs of opencl; frames arrive in another way
        return;
    paths_array(test);
    if (!test->variant || strcmp(test->variant, "generic") != 0)
        paths_filters(test);
    if (!test->variant)
        paths_exact(test, false);
}

int main(int argc, char **argv)
{
    struct path_test test = {.check.name = "test_paths"};
    struct arguments arguments;
    if (!arguments_read(&arguments, &test, argc, argv)) {
        fprintf(
            stderr,
            "usage: test_paths cpu|opencl|gl|zerocopy [--seed N] [--rounds N] [--device TEXT] [--variant NAME] "
            "[--discrete] [--kernels DIRECTORY] [--es] [--chains] [--vectors none|few|all] [--exact] [--case FORMAT "
            "WIDTHxHEIGHT CHAIN]\n");
        return 2;
    }
    if (path_kind_info(test.kind)->needs_device && !(test.device = device_get(&arguments)))
        return arguments.device ? 1 : CHECK_SKIP;
    if (test.kind == PATH_GL && !(test.gl = context_get(&arguments)))
        return CHECK_SKIP;
    if (arguments.discrete && !(test.stranger = device_get(&arguments)))
        return 1;
    test.kernels = arguments.kernels;
    test.random.state = arguments.seed;
    bool ok = true;
    if (arguments.chain) {
        ok = run_case(&test, &arguments);
    } else if (arguments.exact) {
        paths_exact(&test, true);
    } else {
        if (arguments.seed == 1) // the fixed part does not change with the seed
            run_fixed(&test, &arguments);
        paths_random(&test, arguments.rounds >= 0 ? arguments.rounds : test.kind == PATH_CPU ? 100 : 4);
    }
    device_close(test.device);
    device_close(test.stranger);
    if (test.gl)
        gl_context_unbind(test.gl, false);
    gl_context_close(test.gl);
    fprintf(stderr, "test_paths: %s: %ld cases from seed %llu\n", path_kind_name(test.kind), test.cases,
            (unsigned long long)arguments.seed);
    return ok ? check_end(&test.check) : 2;
}
