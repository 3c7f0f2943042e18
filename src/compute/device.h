// device.h: lists, chooses and opens OpenCL devices
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gl_handles;
struct pages_owner;
struct programs;
struct tuned;
struct verdicts;

// Handles of OpenCL, as its headers declare them (compute/cl.h has these), so that few files include those.
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_event *cl_event;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_mem *cl_mem;

// The values of CL_DEVICE_TYPE_CPU, ...
enum { DEVICE_CPU = 1 << 1, DEVICE_GPU = 1 << 2, DEVICE_ACCELERATOR = 1 << 3 };

// The properties of a device. Strings are cut to fit.
struct device_info {
    cl_platform_id platform;
    cl_device_id id;
    char name[128], vendor[64], driver[64], version[128], platform_name[64];
    uint64_t type; // DEVICE_GPU, ...
    int compute_units, clock_mhz;
    size_t max_work_group;
    size_t memory_bytes, local_bytes, constant_bytes;
    bool images;       // it supports images
    bool half;         // cl_khr_fp16 is listed
    bool host_unified; // device memory is host memory
    bool gl_event;     // cl_khr_gl_event is listed
    int nv_arch;       // NVIDIA's compute capability, 90 for 9.0; 0: not NVIDIA
};

enum { DEVICE_MAX = 32 };

// Lists the devices of all platforms in a stable order: GPUs, accelerators, CPUs. Returns their number. If it is 0,
// *why is a static text: no platform, no device, or a resource limit that is too low for drivers. Logs a warning if
// compiled programs cannot be cached safely, and one for each driver that is left out because it crashes or hangs
// (drivers.h). On the main thread.
int device_list(struct device_info devices[DEVICE_MAX], const char **why);

// Makes the OpenCL drivers find their devices. Call it before a window opens: ROCm may find none once a GL context
// exists.
void device_drivers_start(void);

// Returns the index of the device that `text` means: its number in the list, its type ("gpu", "cpu", "accelerator"), or
// a part of its name or its platform's name, ignoring case. A number below DEVICE_MAX is never a part of a name. NULL
// or "" means the first. -1 if none matches.
int device_find(const struct device_info *devices, int count, const char *text);
// The same, but logs the failure with the list.
int device_choose(const struct device_info *devices, int count, const char *text);

const char *device_type_name(const struct device_info *info); // "gpu"

// An open device: context, and whether it shares with GL.
struct device {
    struct device_info info;
    cl_context context;
    bool shares_gl;            // a test wrote a GL texture
    char sharing_why[160];     // one sentence: why it shares or does not
    char *kernel_dir;          // overrides embedded kernels; NULL for none
    struct programs *programs; // built for this device (program.h)
    struct verdicts *verdicts; // of probes on this device (driver_cache.h)
    struct tuned *tuned;       // tuning results, of all devices (tuned.h)
    atomic_bool stores_bytes;  // byte_stores_work has succeeded
    atomic_bool computes_wide; // it has passed the test of integers of 64 bits in path/opencl_chain.c
    // Owner of memory that the device copies from without the host (memory.h). NULL: the device reads frames in the
    // host's memory, or the owner cannot be opened.
    struct pages_owner *pages;
    bool takes_turns; // see device_turn_begin
    pthread_mutex_t turn;
    cl_event last_turn; // the end of the last turn; guarded by `turn`
};

// Returns true if two queues must not run kernels at the same time. PoCL before 6.0 then ends the process: if they run
// one kernel for different numbers of work-items, it counts a use of the wrong entry in its table of loaded kernels
// (https://github.com/pocl/pocl/commit/c9ac4c0c3).
bool device_needs_turns(const struct device_info *info);
// Call before and after a thread enqueues kernels that other threads may run, too. If the device needs turns, the
// queue's later commands wait for the turns before. Both return a result of OpenCL.
int device_turn_begin(struct device *device, cl_command_queue queue);
int device_turn_end(struct device *device, cl_command_queue queue);

// Opens a device. If `gl` has the handles of the current GL context (NULL or all NULL: none), the device shares with GL
// if a test works; call on the GL thread. NULL on failure (logged).
struct device *device_open(const struct device_info *info, const struct gl_handles *gl, const char *kernel_dir);
void device_close(struct device *device); // accepts NULL; all memory of its `pages` must have been given back

// Opens a command queue of the device. `timed`: with profiling. NULL on failure, with *result set.
cl_command_queue device_queue(const struct device *device, bool timed, int *result);

// Stores bytes in a small buffer and reads them back; kernels of grey pictures and YUV need that. OpenCL 1.2 guarantees
// it, but layers over other interfaces may lack it. A device passes once; a CPU always passes. On any thread. False:
// *error is one line or the compiler's log, which the caller frees.
bool byte_stores_work(struct device *device, char **error);
