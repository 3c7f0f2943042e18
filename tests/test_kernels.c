// test_kernels.c: every kernel file compiles alone with every OpenCL driver of this machine
//
//   test_kernels DIRECTORY   the directory of the .cl files
#include "base/resource.h"
#include "compute/device.h"

#include "unit.h"

static void compile(const struct device *device, const char *directory, const char *file)
{
    char options[1024], why[RESOURCE_WHY], log[4096] = "";
    snprintf(options, sizeof(options), "-cl-std=CL1.2 -I %s", directory);
    char *text = resource_kernel(file, directory, why);
    if (!CHECK(text != NULL))
        return;
    cl_int result;
    cl_program program = clCreateProgramWithSource(device->context, 1, (const char **)&text, NULL, &result);
    // Compiled, not linked: a filter only declares what the pass it becomes part of defines.
    if (program)
        result = clCompileProgram(program, 1, &device->info.id, options, 0, NULL, NULL, NULL, NULL);
    if (program && result != CL_SUCCESS)
        clGetProgramBuildInfo(program, device->info.id, CL_PROGRAM_BUILD_LOG, sizeof(log) - 1, log, NULL);
    check_that(&unit, result == CL_SUCCESS, "%s on %s: %s\n%s", file, device->info.name, compute_result_name(result),
               log);
    if (program)
        clReleaseProgram(program);
    free(text);
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
            if (strncmp(r->name, "kernels/", 8) == 0)
                compile(device, argv[1], r->name + 8);
        }
        device_close(device);
    }
    return check_end(&unit);
}
