// device.c: lists, chooses and opens OpenCL devices
#include "compute/device.h"

#include "base/alloc.h"
#include "base/driver_call.h"
#include "base/gl_handles.h"
#include "base/log.h"
#include "base/text.h"
#include "compute/cl.h"
#include "compute/driver_cache.h"
#include "compute/drivers.h"
#include "compute/memory.h"
#include "compute/program.h"
#include "compute/texture.h"
#include "compute/timing.h"
#include "compute/tuned.h"

#include <CL/cl_gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { PLATFORM_MAX = 16 };

// ---- list ----

// Copies a driver's text as a terminal can show it, without spaces at its ends.
static void take_text(char *whole, char *text, size_t size)
{
    char *start = whole + strspn(whole, " ");
    size_t length = strlen(start);
    while (length > 0 && start[length - 1] == ' ')
        length--;
    start[length] = '\0';
    log_escape(text, size, start);
}

static void get_text(cl_device_id id, cl_device_info what, char *text, size_t size)
{
    char whole[1024] = "";
    if (clGetDeviceInfo(id, what, sizeof(whole) - 1, whole, NULL) != CL_SUCCESS)
        whole[0] = '\0';
    take_text(whole, text, size);
}

static cl_ulong get_number(cl_device_id id, cl_device_info what)
{
    cl_ulong value = 0; // large enough for every property; little-endian, so smaller ones are correct too
    return clGetDeviceInfo(id, what, sizeof(value), &value, NULL) == CL_SUCCESS ? value : 0;
}

static void get_platform_name(cl_platform_id platform, char name[64])
{
    char whole[1024] = "";
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(whole) - 1, whole, NULL) != CL_SUCCESS)
        whole[0] = '\0';
    take_text(whole, name, 64);
}

static void describe(cl_platform_id platform, cl_device_id id, struct device_info *info)
{
    char extensions[16384] = "";
    *info = (struct device_info){.platform = platform, .id = id};
    if (clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, sizeof(extensions) - 1, extensions, NULL) != CL_SUCCESS)
        extensions[0] = '\0';
    get_text(id, CL_DEVICE_NAME, info->name, sizeof(info->name));
    get_text(id, CL_DEVICE_VENDOR, info->vendor, sizeof(info->vendor));
    get_text(id, CL_DRIVER_VERSION, info->driver, sizeof(info->driver));
    get_text(id, CL_DEVICE_VERSION, info->version, sizeof(info->version));
    get_platform_name(platform, info->platform_name);
    info->type = (cl_device_type)get_number(id, CL_DEVICE_TYPE);
    info->compute_units = (int)get_number(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->clock_mhz = (int)get_number(id, CL_DEVICE_MAX_CLOCK_FREQUENCY);
    info->max_work_group = (size_t)get_number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info->memory_bytes = (size_t)get_number(id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->local_bytes = (size_t)get_number(id, CL_DEVICE_LOCAL_MEM_SIZE);
    info->constant_bytes = (size_t)get_number(id, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
    info->images = get_number(id, CL_DEVICE_IMAGE_SUPPORT) != 0;
    info->host_unified = (info->type & CL_DEVICE_TYPE_CPU) || get_number(id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
    info->half = compute_lists(extensions, "cl_khr_fp16");
    info->gl_event = compute_lists(extensions, "cl_khr_gl_event");
    if (compute_lists(extensions, "cl_nv_device_attribute_query"))
        info->nv_arch = (int)(10 * get_number(id, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV) +
                              get_number(id, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV));
}

static int add_devices(cl_platform_id platform, cl_device_type type, struct device_info *devices, int count)
{
    cl_device_id ids[DEVICE_MAX];
    cl_uint found = 0;
    if (clGetDeviceIDs(platform, type, DEVICE_MAX, ids, &found) != CL_SUCCESS)
        return count;
    for (cl_uint i = 0; i < found && i < DEVICE_MAX && count < DEVICE_MAX; i++) {
        if (get_number(ids[i], CL_DEVICE_AVAILABLE) && get_number(ids[i], CL_DEVICE_COMPILER_AVAILABLE))
            describe(platform, ids[i], &devices[count++]);
    }
    return count;
}

// Returns why none of these platforms has a device.
static const char *why_none(const cl_platform_id *platforms, cl_uint count)
{
    for (cl_uint i = 0; i < count && i < PLATFORM_MAX; i++) {
        char name[64];
        get_platform_name(platforms[i], name);
        if (strcmp(name, "rusticl") == 0)
            return getenv("RUSTICL_ENABLE")
                       ? "rusticl finds no device for the drivers in RUSTICL_ENABLE"
                       : "rusticl has no device, because RUSTICL_ENABLE is not set; set it to the GPU's driver "
                         "(radeonsi, iris, v3d), or to llvmpipe for the CPU";
        if (strcmp(name, "Portable Computing Language") != 0)
            continue;
        return getenv("POCL_DEVICES") ? "PoCL has no device named in POCL_DEVICES; unset it, or set it to 'cpu' "
                                        "('pthread' for old versions)"
                                      : "PoCL has no device, usually because it cannot write its cache; set "
                                        "POCL_CACHE_DIR to a writable directory";
    }
    return "the installed OpenCL platforms have no usable device";
}

// Returns why drivers would end the process because a resource limit is too low, or NULL. PoCL's linker needs 16 open
// files; its compiler needs 700 MB of address space, 500 MB of them for data, and 150 kB of stack.
static const char *why_too_little(void)
{
    static const struct {
        int resource;
        rlim_t least;
        const char *why;
    } needs[] = {
        {RLIMIT_NOFILE, 64, "the limit of open files is too low for OpenCL drivers; set ulimit -n to 64 or more"},
        {RLIMIT_AS, 1 << 30,
         "the limit of virtual memory is too low for OpenCL drivers; set ulimit -v to 1048576 (1 GiB) or more"},
        {RLIMIT_DATA, 1 << 30,
         "the limit of data memory is too low for OpenCL drivers; set ulimit -d to 1048576 (1 GiB) or more"},
        {RLIMIT_STACK, 1 << 20,
         "the limit of the stack is too low for OpenCL drivers; set ulimit -s to 1024 (1 MiB) or more"},
    };
    struct rlimit limit;
    for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
        if (getrlimit(needs[i].resource, &limit) == 0 && limit.rlim_cur < needs[i].least)
            return needs[i].why;
    return NULL;
}

// Calls clGetPlatformIDs and restores OCL_ICD_FILENAMES: ocl-icd 2.3 truncates the variable at its first colon, and a
// child process would find only one driver.
static cl_int get_platforms(cl_platform_id *platforms, cl_uint *found)
{
    static const char variable[] = "OCL_ICD_FILENAMES";
    drivers_guard(NULL);
    const char *value = getenv(variable);
    char *copy = value ? xstrdup(value) : NULL;
    driver_call_begin();
    const cl_int result = clGetPlatformIDs(PLATFORM_MAX, platforms, found);
    driver_call_end();
    if (copy)
        setenv(variable, copy, 1);
    free(copy);
    return result;
}

int device_list(struct device_info devices[DEVICE_MAX], const char **why)
{
    _Static_assert(DEVICE_CPU == CL_DEVICE_TYPE_CPU && DEVICE_GPU == CL_DEVICE_TYPE_GPU &&
                       DEVICE_ACCELERATOR == CL_DEVICE_TYPE_ACCELERATOR,
                   "device.h has the values of OpenCL");
    static const cl_device_type order[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU};
    cl_platform_id platforms[PLATFORM_MAX];
    cl_uint found = 0;
    if ((*why = why_too_little()))
        return 0;
    const cl_int result = get_platforms(platforms, &found);
    if (result != CL_SUCCESS || found == 0) {
        *why = drivers_guard_left_out()
                   ? "no OpenCL driver works"
                   : "no OpenCL platform is installed; install a driver (Debian: pocl-opencl-icd for the CPU)";
        return 0;
    }
    int count = 0;
    for (size_t t = 0; t < sizeof(order) / sizeof(*order); t++) {
        for (cl_uint p = 0; p < found && p < PLATFORM_MAX; p++)
            count = add_devices(platforms[p], order[t], devices, count);
    }
    *why = count ? "" : why_none(platforms, found);
    if (count > 0)
        cache_entry_check(); // here, because a run lists devices once, but builds programs for several
    return count;
}

void device_drivers_start(void)
{
    cl_platform_id platforms[PLATFORM_MAX];
    cl_uint found = 0, count;
    if (why_too_little() || get_platforms(platforms, &found) != CL_SUCCESS)
        return;
    for (cl_uint p = 0; p < found && p < PLATFORM_MAX; p++)
        clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 0, NULL, &count);
}

// ---- choose ----

const char *device_type_name(const struct device_info *info)
{
    if (info->type & CL_DEVICE_TYPE_GPU)
        return "gpu";
    return info->type & CL_DEVICE_TYPE_CPU ? "cpu" : "accelerator";
}

int device_find(const struct device_info *devices, int count, const char *text)
{
    if (count > 0 && (!text || !*text))
        return 0;
    char *end;
    const long number = text ? strtol(text, &end, 10) : -1;
    if (text && *text && *end == '\0' && number < DEVICE_MAX) // a larger one may be part of a name, such as "3090"
        return number >= 0 && number < count ? (int)number : -1;
    for (int i = 0; text && i < count; i++) {
        if (strcmp(text, device_type_name(&devices[i])) == 0)
            return i;
    }
    for (int i = 0; text && i < count; i++) {
        if (strcasestr(devices[i].name, text) || strcasestr(devices[i].platform_name, text))
            return i;
    }
    return -1;
}

int device_choose(const struct device_info *devices, int count, const char *text)
{
    const int found = device_find(devices, count, text);
    if (found >= 0)
        return found;
    char list[1024] = "";
    for (int i = 0; i < count; i++)
        text_append(list, sizeof(list), "%s%d '%s'", text_if(i > 0, ", "), i, devices[i].name);
    const char *usual = getenv("MONOCLE_DEVICE"); // the user may have forgotten it
    log_error("no OpenCL device matches '%s'%s; devices: %s (see 'monocle devices')", text_or(text, ""),
              text_if(text && usual && strcmp(text, usual) == 0, " (from MONOCLE_DEVICE)"), count ? list : "none");
    return -1;
}

// ---- open ----

cl_command_queue device_queue(const struct device *device, bool timed, int *result)
{
    return clCreateCommandQueue(device->context, device->info.id, timed ? CL_QUEUE_PROFILING_ENABLE : 0, result);
}

// Sets the reason why the device does not share. Returns false.
static bool no_sharing(struct device *device, const char *why, cl_int result)
{
    snprintf(device->sharing_why, sizeof(device->sharing_why), "the driver %s: %s (%d)", why,
             compute_result_name(result), (int)result);
    return false;
}

enum { TRIAL_SIDE = 4 };

// Writes a shared texture from OpenCL and compares the pixels that GL then reads.
static bool write_texture(struct device *device, cl_command_queue queue, struct shared_texture *shared)
{
    const size_t origin[3] = {0}, region[3] = {TRIAL_SIDE, TRIAL_SIDE, 1};
    unsigned char sent[TRIAL_SIDE * TRIAL_SIDE * 4], seen[sizeof(sent)] = {0};
    for (size_t i = 0; i < sizeof(sent); i++)
        sent[i] = (unsigned char)(37 * i + 11);
    cl_int result = shared_texture_open(shared, device->context, TRIAL_SIDE, TRIAL_SIDE);
    if (result != CL_SUCCESS)
        return no_sharing(device, "cannot share a GL texture", result);
    result = shared_texture_acquire(shared, queue, NULL, NULL);
    if (result != CL_SUCCESS)
        return no_sharing(device, "cannot acquire a GL texture", result);
    result = clEnqueueWriteImage(queue, shared->image, CL_TRUE, origin, region, 0, 0, sent, 0, NULL, NULL);
    if (result != CL_SUCCESS)
        return no_sharing(device, "cannot write a GL texture", result);
    result = shared_texture_release(shared, queue, NULL);
    if (result == CL_SUCCESS)
        result = compute_finish(queue);
    if (result != CL_SUCCESS)
        return no_sharing(device, "cannot release a GL texture", result);
    const bool same = shared_texture_read(shared, TRIAL_SIDE, TRIAL_SIDE, 0, seen) && !memcmp(sent, seen, sizeof(sent));
    if (same)
        snprintf(device->sharing_why, sizeof(device->sharing_why), "'%.100s' writes the window's textures directly",
                 device->info.name);
    else
        snprintf(device->sharing_why, sizeof(device->sharing_why),
                 "a shared GL texture does not contain the pixels that OpenCL wrote");
    return same;
}

static cl_context create_context(const struct device *device, const cl_context_properties *properties, cl_int *result)
{
    driver_call_begin();
    const cl_context context = clCreateContext(properties, 1, &device->info.id, NULL, NULL, result);
    driver_call_end();
    return context;
}

// Opens a context that shares with GL. Some drivers accept the properties but then reject every texture, so this tests
// one. Returns false with device->sharing_why set.
static bool open_shared(struct device *device, const struct gl_handles *gl)
{
    const bool glx = gl->glx_context != NULL;
    const void *context = glx ? gl->glx_context : gl->egl_context;
    const void *display = glx ? gl->glx_display : gl->egl_display;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)device->info.platform,
                                                CL_GL_CONTEXT_KHR,
                                                (cl_context_properties)context,
                                                glx ? CL_GLX_DISPLAY_KHR : CL_EGL_DISPLAY_KHR,
                                                (cl_context_properties)display,
                                                0};
    cl_int result;
    device->context = create_context(device, properties, &result);
    if (!device->context)
        return no_sharing(device, glx ? "rejects a context shared with GLX" : "rejects a context shared with EGL",
                          result);
    struct shared_texture shared = {0};
    cl_command_queue queue = device_queue(device, false, &result);
    const bool works = queue ? write_texture(device, queue, &shared)
                             : no_sharing(device, "cannot create a command queue with GL sharing", result);
    shared_texture_close(&shared);
    if (queue)
        clReleaseCommandQueue(queue);
    if (!works)
        clReleaseContext(device->context);
    return works;
}

static bool open_alone(struct device *device)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->info.platform, 0};
    char doing[200];
    cl_int result;
    device->context = create_context(device, properties, &result);
    snprintf(doing, sizeof(doing), "open the OpenCL device '%s'", device->info.name);
    return compute_ok(result, doing);
}

// A device with the members that its header does not know.
struct opened {
    struct device device;
    struct programs programs;
    struct verdicts verdicts;
    struct tuned tuned;
};

struct device *device_open(const struct device_info *info, const struct gl_handles *gl, const char *kernel_dir)
{
    struct opened *opened = xalloc(sizeof(*opened));
    struct device *device = &opened->device;
    device->programs = &opened->programs;
    device->verdicts = &opened->verdicts;
    device->tuned = &opened->tuned;
    device->info = *info;
    device->takes_turns = device_needs_turns(info);
    pthread_mutex_init(&device->turn, NULL);
    snprintf(device->sharing_why, sizeof(device->sharing_why), "no GL context to share with");
    programs_init(device->programs);
    verdicts_init(device->verdicts);
    tuned_init(device->tuned);
    device->kernel_dir = kernel_dir ? xstrdup(kernel_dir) : NULL;
    device->shares_gl = gl && (gl->glx_context || gl->egl_context) && open_shared(device, gl);
    if (!device->shares_gl && !open_alone(device))
        goto fail;
    if (!info->host_unified)
        device->pages = lender_open(device->context, info->id);
    return device;
fail:
    device_close(device);
    return NULL;
}

void device_close(struct device *device)
{
    if (!device)
        return;
    lender_close(device->pages);
    programs_finish(device->programs);
    if (device->context)
        clReleaseContext(device->context);
    tuned_finish(device->tuned);
    verdicts_finish(device->verdicts);
    event_release(&device->last_turn);
    pthread_mutex_destroy(&device->turn);
    free(device->kernel_dir);
    free(device);
}

bool device_needs_turns(const struct device_info *info)
{
    return strcmp(info->platform_name, "Portable Computing Language") == 0 && atoi(info->driver) < 6;
}

int device_turn_begin(struct device *device, cl_command_queue queue)
{
    if (!device->takes_turns)
        return CL_SUCCESS;
    pthread_mutex_lock(&device->turn);
    return device->last_turn ? clEnqueueBarrierWithWaitList(queue, 1, &device->last_turn, NULL) : CL_SUCCESS;
}

int device_turn_end(struct device *device, cl_command_queue queue)
{
    if (!device->takes_turns)
        return CL_SUCCESS;
    event_release(&device->last_turn);
    cl_int result = clEnqueueMarkerWithWaitList(queue, 0, NULL, &device->last_turn);
    if (result == CL_SUCCESS)
        result = clFlush(queue);
    pthread_mutex_unlock(&device->turn);
    return result;
}
