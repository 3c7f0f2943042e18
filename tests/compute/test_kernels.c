// test_kernels.c: every kernel file compiles with every OpenCL driver of this machine
//
//   test_kernels DIRECTORY   the directory of the .cl files
#include "base/resource.h"
#include "compute/cl.h"
#include "compute/device.h"

#include "unit.h"

static bool ends(const char *text, const char *end)
{
    const size_t length = strlen(text), own = strlen(end);
    return length >= own && strcmp(text + length - own, end) == 0;
}

// Compiles a file after the language and a template's declarations for filters. A filter's own window file needs the
// template itself.
static void compile(const struct device *device, const char *directory, const char *file)
{
    char options[1024], text[1024], log[4096] = "";
    const bool window = ends(file, "_window.cl");
    snprintf(options, sizeof(options), "-cl-std=CL1.2 -DPASS_RADIUS=2 -DROWS=2 -I %s", directory);
    if (window)
        snprintf(text, sizeof(text),
                 "#define PASS_STENCIL filter\n#define PASS_STENCIL_AT 0\n"
                 "#define PASS_WINDOW_FILTER\n#include \"variants/window.cl\"\n");
    else
        snprintf(text, sizeof(text),
                 "typedef struct {\n    int at;\n} view;\nint tap(view v, int dx, int dy);\n"
                 "#define RADIUS(v) PASS_RADIUS\n");
    cl_int result;
    const char *const parts[] = {"#include \"language.cl\"\n#include \"common.cl\"\n", text, "#include \"", file,
                                 "\"\n"};
    cl_program program = clCreateProgramWithSource(device->context, 5, (const char **)parts, NULL, &result);
    // Compiled, not linked: nothing defines the functions that templates provide.
    if (program)
        result = clCompileProgram(program, 1, &device->info.id, options, 0, NULL, NULL, NULL, NULL);
    if (program && result != CL_SUCCESS)
        clGetProgramBuildInfo(program, device->info.id, CL_PROGRAM_BUILD_LOG, sizeof(log) - 1, log, NULL);
    check_that(&unit, result == CL_SUCCESS, "%s on %s: %s\n%s", file, device->info.name, compute_result_name(result),
               log);
    if (program)
        clReleaseProgram(program);
}

int main(int argc, char **argv)
{
    struct device_info devices[DEVICE_MAX];
    const char *why = "";
    if (argc != 2) {
        fprintf(stderr, "usage: test_kernels DIRECTORY\n");
        return 2;
    }
    const int count = device_list(devices, &why);
    if (count == 0) {
        fprintf(stderr, "skipped: no OpenCL device: %s\n", why);
        return CHECK_SKIP;
    }
    for (int i = 0; i < count; i++) {
        struct device *device = device_open(&devices[i], NULL, NULL);
        if (!CHECK(device != NULL))
            continue;
        for (const struct resource *r = resources; r->name; r++) {
            if (strncmp(r->name, "kernels/", 8) == 0 && ends(r->name, ".cl") &&
                strcmp(r->name, "kernels/language.cl") != 0 && strcmp(r->name, "kernels/common.cl") != 0)
                compile(device, argv[1], r->name + 8);
        }
        device_close(device);
    }
    return check_end(&unit);
}
