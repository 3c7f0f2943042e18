// device.h: OpenCL devices: listed, chosen, opened
#pragma once

#include "compute/memory.h"
#include "compute/verdicts.h"

#include <stdbool.h>
#include <stddef.h>

// What a device says of itself. Strings are cut to fit.
struct device_info {
    cl_platform_id platform;
    cl_device_id id;
    char name[128], vendor[64], driver[64], version[64], platform_name[64];
    cl_device_type type;
    int compute_units;
    size_t max_work_group;
    size_t memory_bytes, local_bytes;
    bool images;       // image support at all
    bool host_unified; // device memory is host memory
    bool gl_event;     // cl_khr_gl_event is listed
    bool dmabuf;       // so is cl_khr_external_memory_dma_buf
    int nv_arch;       // NVIDIA's compute capability, 90 for 9.0; 0: of another make
};

enum { DEVICE_MAX = 32 };

// Lists devices of all platforms in a stable order: GPUs, accelerators, CPUs; returns how many. 0 where there is no
// platform or device, with *why a static text. Warns if compiled programs cannot be cached safely.
int device_list(struct device_info devices[DEVICE_MAX], const char **why);

// The device `text` means: its number in the list, a type (gpu, cpu, accelerator) or a part of its name, any case.
// NULL or "" is the first. -1 when none fits (logged with the list).
int device_choose(const struct device_info *devices, int count, const char *text);

const char *device_type_name(const struct device_info *info); // "gpu"

// The native handles of the current GL context, for sharing. All NULL: no sharing.
struct device_gl {
    void *glx_context, *glx_display; // GLXContext and Display *
    void *egl_context, *egl_display; // EGLContext and EGLDisplay
};

// An open device: context, and whether it shares with GL.
struct device {
    struct device_info info;
    cl_context context;
    bool shares_gl;           // a trial wrote a texture
    char sharing_why[160];    // one sentence: why it shares or not
    char *kernel_dir;         // overrides embedded kernels; NULL for none
    struct verdicts verdicts; // of probes on this device
    struct dmabuf_calls dmabuf;
    // Memory that the device copies from by itself (memory.h). NULL: the device reads frames in the host's memory and
    // imports none, or has no queue for copies.
    struct pages_owner *pages;
};

// Opens a context. With the handles of the current GL context, it shares with GL if a trial works (GL thread). NULL on
// failure (logged).
struct device *device_open(const struct device_info *info, const struct device_gl *gl, const char *kernel_dir);
void device_close(struct device *device); // takes NULL; all memory of its `pages` must have been given back

// Opens a queue of the device. `timed`: its events have times. NULL on failure, with *result set.
cl_command_queue device_queue(const struct device *device, bool timed, cl_int *result);
