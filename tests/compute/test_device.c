// test_device.c: devices are listed and chosen as fake drivers describe them
#include "compute/cl.h"
#include "compute/device.h"

#include "unit.h"

#include <errno.h>
#include <sys/resource.h>

// A device of a driver; members without a value are 0.
struct made_up {
    const char *name, *extensions, *version;
    cl_device_type type;
    cl_bool missing, unified;
};

enum { PLATFORMS = 2, DEVICES = 3, MANY = 20 };

// Longer than 64 bytes, as PoCL's.
#define LONG_VERSION "OpenCL 3.0 PoCL HSTR: cpu-x86_64-pc-linux-gnu-skylake-avx512, of a test"

static struct made_up drivers[PLATFORMS][MANY] = {
    {{"First CPU", "", LONG_VERSION, CL_DEVICE_TYPE_CPU, false, false},
     {"  Slow GPU  ", "cl_khr_gl_event", "OpenCL 3.0 x", CL_DEVICE_TYPE_GPU, false, true},
     {"Lost GPU", "", "OpenCL 3.0 x", CL_DEVICE_TYPE_GPU, true, false}},
    {{"Fast GPU", "cl_khr_gl_event2 cl_khr_gl_event", "OpenCL 3.0 x", CL_DEVICE_TYPE_GPU, false, false},
     {"Old\x1b GPU\xc2\x8e", "xcl_khr_gl_event", "OpenCL 1.2 x", CL_DEVICE_TYPE_GPU, false, false},
     {"Board", "cl_khr_gl_events", "OpenCL 3.0 x", CL_DEVICE_TYPE_ACCELERATOR, false, false}},
};
static int devices_each = DEVICES;
static const char *platform_name; // NULL: "Platform 1"

static int asked; // platforms asked for all their devices

cl_int __wrap_clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *found);
cl_int __wrap_clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *value, size_t *size);
cl_int __wrap_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *ids,
                             cl_uint *found);
cl_int __wrap_clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void *value, size_t *size);

cl_int __wrap_clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *found)
{
    for (cl_uint i = 0; i < PLATFORMS && i < room; i++)
        platforms[i] = (cl_platform_id)drivers[i];
    *found = PLATFORMS;
    char *names = getenv("OCL_ICD_FILENAMES"); // as ocl-icd reads it
    if (names)
        strtok(names, ":");
    return CL_SUCCESS;
}

cl_int __wrap_clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *value, size_t *size)
{
    if (platform_name)
        snprintf(value, room, "%s", platform_name);
    else
        snprintf(value, room, "Platform %d", (struct made_up *)platform == drivers[1]);
    return CL_SUCCESS;
}

cl_int __wrap_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *ids,
                             cl_uint *found)
{
    struct made_up *device = (struct made_up *)platform;
    asked += type == CL_DEVICE_TYPE_ALL;
    *found = 0;
    for (int i = 0; i < devices_each; i++) {
        if (device[i].type == type && (*found)++ < room)
            ids[*found - 1] = (cl_device_id)&device[i];
    }
    return *found > 0 ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

cl_int __wrap_clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void *value, size_t *size)
{
    const struct made_up *device = (struct made_up *)id;
    switch (what) {
    case CL_DEVICE_NAME:
        snprintf(value, room, "%s", device->name);
        return CL_SUCCESS;
    case CL_DEVICE_EXTENSIONS:
        snprintf(value, room, "%s", device->extensions);
        return CL_SUCCESS;
    case CL_DEVICE_VERSION:
        snprintf(value, room, "%s", device->version);
        return CL_SUCCESS;
    case CL_DEVICE_TYPE:
        memcpy(value, &device->type, sizeof(device->type));
        return CL_SUCCESS;
    case CL_DEVICE_AVAILABLE:
        *(cl_bool *)value = !device->missing;
        return CL_SUCCESS;
    case CL_DEVICE_COMPILER_AVAILABLE:
        *(cl_bool *)value = true;
        return CL_SUCCESS;
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        *(cl_bool *)value = device->unified;
        return CL_SUCCESS;
    default:
        return CL_INVALID_VALUE;
    }
}

static void test_list(void)
{
    static const struct {
        const char *name;
        bool unified, gl_event;
    } want[] = {
        {"Slow GPU", true, true}, {"Fast GPU", false, true},  {"Old\\x1b GPU\\xc2\\x8e", false, false},
        {"Board", false, false},  {"First CPU", true, false},
    };
    enum { WANTED = sizeof(want) / sizeof(*want) };
    struct device_info devices[DEVICE_MAX];
    const char *why;
    const int count = device_list(devices, &why);
    CHECK_NUMBER(count, WANTED);
    for (int i = 0; i < count && i < WANTED; i++) {
        CHECK_TEXT(devices[i].name, want[i].name);
        check_that(&unit, devices[i].host_unified == want[i].unified && devices[i].gl_event == want[i].gl_event,
                   "%s: unified %d, gl_event %d", want[i].name, devices[i].host_unified, devices[i].gl_event);
    }
    CHECK_TEXT(devices[WANTED - 1].version, LONG_VERSION);
}

static void test_choice(void)
{
    static const struct {
        const char *text;
        int want;
    } rows[] = {{NULL, 0},  {"", 0},    {"0", 0},           {"4", 4},        {"5", -1},         {"-1", -1},
                {"gpu", 0}, {"cpu", 4}, {"accelerator", 3}, {"fast gpu", 1}, {"platform 1", 1}, {"4x", -1}};
    struct device_info devices[DEVICE_MAX];
    struct captured said;
    const char *why;
    const int count = device_list(devices, &why);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        capture_stderr(&said);
        const int got = device_choose(devices, count, rows[i].text);
        captured_stderr(&said);
        check_that(&unit, got == rows[i].want, "'%s' is device %d", rows[i].text ? rows[i].text : "NULL", got);
        CHECK((got < 0) == (strstr(said.text, "no OpenCL device matches") != NULL));
    }
    CHECK_HAS(said.text, "devices: 0 'Slow GPU', 1 'Fast GPU'");
}

// Two platforms of 20 devices each are more than the list holds.
static void test_many(void)
{
    struct device_info devices[DEVICE_MAX + 1] = {0};
    const char *why;
    for (int i = 0; i < PLATFORMS * MANY; i++)
        drivers[i / MANY][i % MANY] =
            (struct made_up){.name = "GPU", .extensions = "", .version = "", .type = CL_DEVICE_TYPE_GPU};
    devices_each = MANY;
    CHECK_NUMBER(device_list(devices, &why), DEVICE_MAX);
    CHECK_TEXT(devices[DEVICE_MAX].name, "");
}

// If the limit of open files is too low for drivers, no driver is called.
static void test_limit(void)
{
    struct device_info devices[DEVICE_MAX];
    struct rlimit limit;
    const char *why;
    if (!CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0))
        return;
    for (rlim_t files = 63; files <= 64; files++) {
        const struct rlimit low = {files, limit.rlim_max};
        CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
        CHECK((device_list(devices, &why) > 0) == (files == 64));
        CHECK((strstr(why, "ulimit -n") != NULL) == (files == 63));
        asked = 0;
        device_drivers_start();
        CHECK_NUMBER(asked, files == 64 ? PLATFORMS : 0);
    }
    setrlimit(RLIMIT_NOFILE, &limit);
}

// The reason names the variable with which a driver lists devices.
static void test_none(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    devices_each = 0;
    platform_name = "rusticl";
    unsetenv("RUSTICL_ENABLE");
    CHECK(device_list(devices, &why) == 0 && strstr(why, "RUSTICL_ENABLE is not set"));
    setenv("RUSTICL_ENABLE", "iris", 1);
    CHECK(device_list(devices, &why) == 0 && strstr(why, "drivers in RUSTICL_ENABLE"));
    unsetenv("RUSTICL_ENABLE");
    devices_each = DEVICES;
    platform_name = NULL;
}

// device_list keeps the environment, so that child processes find the same drivers.
static void test_environment(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    setenv("OCL_ICD_FILENAMES", "one.so:two.so", 1);
    device_list(devices, &why);
    CHECK(strcmp(getenv("OCL_ICD_FILENAMES"), "one.so:two.so") == 0);
    unsetenv("OCL_ICD_FILENAMES");
}

static int barriers; // that wait for the event of a marker
static int marker;

cl_int __wrap_clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *to);
cl_int __wrap_clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *to);
cl_int __wrap_clReleaseEvent(cl_event event);
cl_int __wrap_clFlush(cl_command_queue queue);

cl_int __wrap_clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *to)
{
    barriers += count == 1 && events[0] == (cl_event)&marker;
    return CL_SUCCESS;
}

cl_int __wrap_clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *events, cl_event *to)
{
    *to = (cl_event)&marker;
    return CL_SUCCESS;
}

cl_int __wrap_clReleaseEvent(cl_event event)
{
    CHECK(event == (cl_event)&marker);
    return CL_SUCCESS;
}

cl_int __wrap_clFlush(cl_command_queue queue)
{
    return CL_SUCCESS;
}

// The commands of a turn wait for the turn before, on a device that needs this.
static void test_turns(void)
{
    static const struct {
        const char *platform, *driver;
        bool needs;
    } rows[] = {{"Portable Computing Language", "3.1+debian", true},
                {"Portable Computing Language", "5.0", true},
                {"Portable Computing Language", "6.0", false},
                {"Portable Computing Language", "10.1", false},
                {"NVIDIA CUDA", "535.216.01", false},
                {"rusticl", "3.1", false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct device_info info = {.platform = NULL};
        snprintf(info.platform_name, sizeof(info.platform_name), "%s", rows[i].platform);
        snprintf(info.driver, sizeof(info.driver), "%s", rows[i].driver);
        CHECK_NUMBER(device_needs_turns(&info), rows[i].needs);
        struct device device = {.takes_turns = rows[i].needs};
        pthread_mutex_init(&device.turn, NULL);
        barriers = 0;
        for (int turn = 0; turn < 2; turn++) {
            CHECK(device_turn_begin(&device, NULL) == CL_SUCCESS);
            const int busy = pthread_mutex_trylock(&device.turn);
            CHECK_NUMBER(busy, rows[i].needs ? EBUSY : 0);
            if (!rows[i].needs)
                pthread_mutex_unlock(&device.turn);
            CHECK_NUMBER(barriers, turn == 1 && rows[i].needs); // behind the first turn
            CHECK(device_turn_end(&device, NULL) == CL_SUCCESS);
        }
        CHECK(pthread_mutex_trylock(&device.turn) == 0 && pthread_mutex_unlock(&device.turn) == 0);
        pthread_mutex_destroy(&device.turn);
    }
}

int main(void)
{
    test_turns();
    test_list();
    test_none();
    test_environment();
    test_choice();
    test_limit();
    test_many();
    return check_end(&unit);
}
