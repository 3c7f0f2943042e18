// misled.c: makes every device seem to be a GPU, so that variants fit, and its driver misbehave in the children that
// probe variants or measure a device, or in the program itself; linked into the program with --wrap
// - TEST_DRIVER: the driver's version
// - TEST_MISBEHAVE: in a child, begin (it crashes at once), crash, leave, hang, loop, refuse or be killed (kill) when
// it builds a program; have no
//   kernel (lose), as with a damaged cache; print when it lists devices or runs a kernel; wrong, stray (it writes
//   after its output) or fail when it runs a kernel. endless: a kernel with more than 200 kB of output never returns.
//   unstarted: no probe starts. In the program, compile or stall: a build compiles as long as TEST_WHEN exists. stall
//   also holds back kernels, as PoCL does during a part of its compilation. stuck: a build
//   never returns.
// - TEST_ONLY: only children with this text in an argument or in the current request misbehave
// - TEST_WHEN: the driver misbehaves only while this file exists
// - TEST_LIMIT_MS: time limit of a child; its processor time is then not limited
// - TEST_STUCK_MS: time limit of a driver call after a signal
// - TEST_MEMORY: size of a device's memory, in bytes
// - TEST_GROUP: the limit of work-items in a work-group, except for kernels that name the shape of theirs
// - TEST_ENERGY: directory with sys/class, where the energy counters are (compute/energy.h)
// - TEST_CONFIGURATIONS: number of configurations that a search tries
// - TEST_CHILDREN: file that gets a line with the process id of each child, again for each request after its first, and
//   of a program that starts such a build
#include "base/child.h"
#include "base/driver_call.h"
#include "compute/cl.h"
#include "compute/device.h"
#include "compute/energy.h"
#include "tune/search.h"
#include "tune/tuner.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_bool in_child;

static struct {
    pthread_mutex_t lock;
    atomic_bool awaited; // the driver compiles
    cl_event event;      // NULL: kernels need not wait
} compiled = {.lock = PTHREAD_MUTEX_INITIALIZER};

// The latest sub-buffer, the output of a probe.
static struct {
    cl_mem parent;
    size_t end;
} output;

static bool is_wanted(const char *how)
{
    const char *wanted = getenv("TEST_MISBEHAVE"), *when = getenv("TEST_WHEN");
    return wanted && strcmp(wanted, how) == 0 && (!when || access(when, F_OK) == 0);
}

static struct {
    char text[1024];
    size_t bytes;
} request; // the current one

// Returns true if an argument of this process or the request contains the text of TEST_ONLY, or if there is no such
// text.
static bool is_meant(void)
{
    const char *only = getenv("TEST_ONLY");
    char arguments[4096] = "";
    FILE *file = only ? fopen("/proc/self/cmdline", "r") : NULL;
    if (!file)
        return true;
    const size_t bytes = fread(arguments, 1, sizeof(arguments) - 1, file);
    fclose(file);
    return memmem(arguments, bytes, only, strlen(only)) || memmem(request.text, request.bytes, only, strlen(only));
}

static bool misbehaves(const char *how)
{
    return in_child && is_wanted(how) && is_meant();
}

static bool compiles_on(void)
{
    return !in_child && (is_wanted("compile") || is_wanted("stall"));
}

static void note_process(void)
{
    const char *path = getenv("TEST_CHILDREN");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
}

enum child_end __real_child_talk(const char *program, char *const arguments[], int limit_ms, int *value,
                                 bool (*line)(void *context, char *text), void *context);
enum child_end __wrap_child_talk(const char *program, char *const arguments[], int limit_ms, int *value,
                                 bool (*line)(void *context, char *text), void *context);
struct child *__real_child_open(const char *program, char *const arguments[], int input);
struct child *__wrap_child_open(const char *program, char *const arguments[], int input);
bool __real_child_ask(struct child *child, const void *request, size_t bytes, void *reply, size_t most,
                      const struct child_wait *wait, enum child_end *end, int *value);
bool __wrap_child_ask(struct child *child, const void *request, size_t bytes, void *reply, size_t most,
                      const struct child_wait *wait, enum child_end *end, int *value);
bool __real_child_receive(void *to, size_t bytes);
bool __wrap_child_receive(void *to, size_t bytes);
void __real_child_begin(int parent, size_t bytes, int seconds);
void __wrap_child_begin(int parent, size_t bytes, int seconds);
void __real_child_limit(int seconds);
void __wrap_child_limit(int seconds);
bool __real_driver_call_stuck(bool main_thread, int ms);
bool __wrap_driver_call_stuck(bool main_thread, int ms);
int __real_device_list(struct device_info devices[DEVICE_MAX], const char **why);
int __wrap_device_list(struct device_info devices[DEVICE_MAX], const char **why);
cl_int __real_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *done)(cl_program program, void *data), void *data);
cl_int __wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *done)(cl_program program, void *data), void *data);
cl_int __real_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint events, const cl_event *after,
                                     cl_event *event);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint events, const cl_event *after,
                                     cl_event *event);

int __real_search_next(struct search *search);
int __wrap_search_next(struct search *search);
cl_kernel __real_clCreateKernel(cl_program program, const char *name, cl_int *result);
cl_kernel __wrap_clCreateKernel(cl_program program, const char *name, cl_int *result);
cl_mem __real_clCreateSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void *region,
                                cl_int *result);
cl_mem __wrap_clCreateSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void *region,
                                cl_int *result);
cl_int __real_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                       size_t bytes, void *value, size_t *needed);
cl_int __wrap_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                       size_t bytes, void *value, size_t *needed);

struct energy *__real_energy_open(const struct energy_device *device, char why[ENERGY_WHY]);
struct energy *__wrap_energy_open(const struct energy_device *device, char why[ENERGY_WHY]);
struct energy *__real_device_energy_open(const struct device_info *info, char why[ENERGY_WHY]);
struct energy *__wrap_device_energy_open(const struct device_info *info, char why[ENERGY_WHY]);

struct energy *__wrap_energy_open(const struct energy_device *device, char why[ENERGY_WHY])
{
    const struct energy_device moved = {.cpu = device->cpu, .root = getenv("TEST_ENERGY")};
    return __real_energy_open(moved.root ? &moved : device, why);
}

struct energy *__wrap_device_energy_open(const struct device_info *info, char why[ENERGY_WHY])
{
    return getenv("TEST_ENERGY") ? __wrap_energy_open(&(struct energy_device){0}, why)
                                 : __real_device_energy_open(info, why);
}

// The limit of TEST_LIMIT_MS, or else this one.
static int limit_or(int limit_ms)
{
    const char *limit = getenv("TEST_LIMIT_MS");
    return limit && *limit ? atoi(limit) : limit_ms;
}

enum child_end __wrap_child_talk(const char *program, char *const arguments[], int limit_ms, int *value,
                                 bool (*line)(void *context, char *text), void *context)
{
    return __real_child_talk(program, arguments, limit_or(limit_ms), value, line, context);
}

struct child *__wrap_child_open(const char *program, char *const arguments[], int input)
{
    if (!is_wanted("unstarted"))
        return __real_child_open(program, arguments, input);
    errno = EAGAIN;
    return NULL;
}

bool __wrap_child_ask(struct child *child, const void *question, size_t bytes, void *reply, size_t most,
                      const struct child_wait *wait, enum child_end *end, int *value)
{
    const struct child_wait limited = {limit_or(wait->limit_ms), wait->signal_ms};
    return __real_child_ask(child, question, bytes, reply, most, &limited, end, value);
}

bool __wrap_child_receive(void *to, size_t bytes)
{
    const bool again = request.bytes > 0;
    const bool received = __real_child_receive(to, bytes);
    request.bytes = bytes < sizeof(request.text) ? bytes : sizeof(request.text);
    memcpy(request.text, to, request.bytes);
    if (received && again)
        note_process();
    return received;
}

void __wrap_child_begin(int parent, size_t bytes, int seconds)
{
    __real_child_begin(parent, bytes, limit_or(0) > 0 ? 1000 : seconds);
    in_child = true;
    note_process();
    if (misbehaves("begin"))
        signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
}

void __wrap_child_limit(int seconds)
{
    __real_child_limit(limit_or(0) > 0 ? 1000 : seconds);
}

bool __wrap_driver_call_stuck(bool main_thread, int ms)
{
    const char *limit = getenv("TEST_STUCK_MS");
    return __real_driver_call_stuck(main_thread, limit ? atoi(limit) : ms);
}

// Prints a line that is not complete.
static void print_text(void)
{
    static const char text[] = "the driver's log: ";
    for (int fd = STDOUT_FILENO; misbehaves("print") && fd <= STDERR_FILENO; fd++)
        if (write(fd, text, strlen(text)) < 0)
            abort();
}

int __wrap_device_list(struct device_info devices[DEVICE_MAX], const char **why)
{
    print_text();
    const int count = __real_device_list(devices, why);
    const char *driver = getenv("TEST_DRIVER"), *memory = getenv("TEST_MEMORY");
    for (int i = 0; i < count; i++) {
        if (memory)
            devices[i].memory_bytes = strtoull(memory, NULL, 10);
        devices[i].type = CL_DEVICE_TYPE_GPU;
        if (driver)
            snprintf(devices[i].driver, sizeof(devices[i].driver), "%s", driver);
    }
    return count;
}

// No cache has this program.
static void compile_once(cl_context context, const cl_device_id *device)
{
    static atomic_uint rounds;
    char text[128];
    const char *source = text;
    size_t bytes;
    snprintf(text, sizeof(text), "kernel void k(global int *p) { p[get_global_id(0)] ^= %d + %u * p[0]; }",
             (int)getpid(), ++rounds);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    __real_clBuildProgram(program, 1, device, "", NULL, NULL);
    clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL); // PoCL compiles the kernel for it
    clReleaseProgram(program);
}

static void set_compiled(cl_event event)
{
    pthread_mutex_lock(&compiled.lock);
    compiled.event = event;
    pthread_mutex_unlock(&compiled.lock);
}

// exit() would free the driver's data while its compiler uses them.
static void check_exit(void)
{
    if (compiled.awaited)
        fprintf(stderr, "monocle: exit() was called while the driver compiled\n");
}

// The real driver also runs, because its threads matter at the end of the process.
static void compile_on(cl_program program, const cl_device_id *device)
{
    cl_context context;
    cl_int result;
    if (!compiles_on() || clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(context), &context, NULL) != CL_SUCCESS)
        return;
    cl_event event = is_wanted("stall") ? clCreateUserEvent(context, &result) : NULL;
    set_compiled(event);
    atexit(check_exit);
    compiled.awaited = true;
    for (note_process(); compiles_on();)
        compile_once(context, device);
    compiled.awaited = false;
    set_compiled(NULL);
    if (event) {
        clSetUserEventStatus(event, CL_COMPLETE);
        clReleaseEvent(event);
    }
}

cl_int __wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *done)(cl_program program, void *data), void *data)
{
    compile_on(program, devices);
    if (!in_child && is_wanted("stuck"))
        note_process();
    while (!in_child && is_wanted("stuck"))
        pause();
    if (misbehaves("crash"))
        signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
    if (misbehaves("kill"))
        raise(SIGKILL);
    if (misbehaves("leave"))
        _exit(0);
    while (misbehaves("hang"))
        pause();
    while (misbehaves("loop"))
        ;
    if (misbehaves("refuse"))
        return CL_BUILD_PROGRAM_FAILURE;
    return __real_clBuildProgram(program, count, devices, options, done, data);
}

int __wrap_search_next(struct search *search)
{
    static atomic_int asked;
    const char *most = getenv("TEST_CONFIGURATIONS");
    return most && ++asked > atoi(most) ? -1 : __real_search_next(search);
}

cl_kernel __wrap_clCreateKernel(cl_program program, const char *name, cl_int *result)
{
    if (!misbehaves("lose"))
        return __real_clCreateKernel(program, name, result);
    *result = CL_INVALID_KERNEL_NAME;
    return NULL;
}

cl_int __wrap_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                       size_t bytes, void *value, size_t *needed)
{
    const char *most = getenv("TEST_GROUP");
    size_t shape[3] = {0};
    const cl_int result = __real_clGetKernelWorkGroupInfo(kernel, device, what, bytes, value, needed);
    __real_clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(shape), shape, NULL);
    if (most && what == CL_KERNEL_WORK_GROUP_SIZE && shape[0] == 0)
        *(size_t *)value = (size_t)atoi(most);
    return result;
}

cl_mem __wrap_clCreateSubBuffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void *region,
                                cl_int *result)
{
    const cl_buffer_region *of = region;
    output.parent = parent;
    output.end = of->origin + of->size;
    return __real_clCreateSubBuffer(parent, flags, type, region, result);
}

cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint events, const cl_event *after,
                                     cl_event *event)
{
    const cl_uchar value = 1;
    print_text();
    if (misbehaves("stray"))
        clEnqueueFillBuffer(queue, output.parent, &value, 1, output.end, 1, 0, NULL, NULL);
    if (misbehaves("fail"))
        return CL_OUT_OF_RESOURCES;
    while (misbehaves("endless") && output.end > 200000)
        pause();
    pthread_mutex_lock(&compiled.lock);
    if (compiled.event)
        clEnqueueBarrierWithWaitList(queue, 1, &compiled.event, NULL);
    pthread_mutex_unlock(&compiled.lock);
    // Runs only the first work-group: small pictures are correct.
    return __real_clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, misbehaves("wrong") ? local : size, local,
                                         events, after, event);
}
