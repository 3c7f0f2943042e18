// opencl_times.c: a slot's events as stage times
#include "path/opencl_path.h"

static cl_ulong stamp(cl_event event, cl_profiling_info what)
{
    cl_ulong value = 0;
    return clGetEventProfilingInfo(event, what, sizeof(value), &value, NULL) == CL_SUCCESS ? value : 0;
}

// A stage from the start of one event to the end of another. Left out where the driver gave no stamps, or gave those of
// an earlier command, as NVIDIA's does for acquiring and releasing: nothing starts before what it waited for has ended.
static void add_device_stage(struct path_result *result, const char *name, cl_event first, cl_event last,
                             int64_t device_to_host_ns, cl_ulong *ended)
{
    const cl_ulong start = first ? stamp(first, CL_PROFILING_COMMAND_START) : 0;
    const cl_ulong end = last ? stamp(last, CL_PROFILING_COMMAND_END) : 0;
    if (start == 0 || end < start || start < *ended)
        return;
    struct stage_time *stage = path_add_stage(result, name, STAGE_DEVICE);
    stage->start_ns = (int64_t)start + device_to_host_ns;
    stage->end_ns = (int64_t)end + device_to_host_ns;
    *ended = end;
}

// Host time less device time. A frame's first command is queued at or after `enqueued_ns`, by as much as held the
// thread up between: the largest difference of all frames is the nearest, less what two clocks may have drifted apart
// since.
static int64_t device_to_host(struct opencl_path *path, const struct opencl_slot *slot)
{
    const cl_event queued = slot->upload ? slot->upload : slot->first[0];
    const int64_t seen = slot->enqueued_ns - (int64_t)stamp(queued, CL_PROFILING_COMMAND_QUEUED);
    const int64_t drift = (slot->enqueued_ns - path->shifted_ns) / 10000; // 100 ppm
    if (path->shifted_ns == 0 || seen > path->shift_ns - drift)
        path->shift_ns = seen;
    else
        path->shift_ns -= drift;
    path->shifted_ns = slot->enqueued_ns;
    return path->shift_ns;
}

void opencl_slot_times(struct opencl_path *path, const struct opencl_slot *slot, struct path_result *result)
{
    const struct opencl_build *build = path->path.build;
    if (slot->copied) {
        struct stage_time *copy = path_add_stage(result, "copy in", STAGE_HOST);
        copy->start_ns = slot->copy_start_ns;
        copy->end_ns = slot->copy_end_ns;
    }
    const int64_t shift = device_to_host(path, slot);
    cl_ulong ended = 0;
    if (slot->staging || slot->handed_back)
        add_device_stage(result, "upload", slot->upload, slot->upload, shift, &ended);
    if (slot->acquire)
        add_device_stage(result, "acquire", slot->acquire, slot->acquire, shift, &ended);
    for (int i = 0; i < build->plan.count; i++)
        add_device_stage(result, build->pass[i].name, slot->first[i], slot->last[i], shift, &ended);
    if (slot->encoded.last) {
        add_device_stage(result, "encode", slot->encoded.first, slot->encoded.last, shift, &ended);
        cl_ulong encoded = ended; // the way down goes beside the picture's
        add_device_stage(result, "encoded down", slot->encoded.fetch, slot->encoded.fetch, shift, &encoded);
    }
    static const char *const names[] = {
        [OUTPUT_TEXTURE] = "release",
        [OUTPUT_MAPPED] = "map",
        [OUTPUT_READ] = "download",
    };
    if (slot->download)
        add_device_stage(result, names[path->output], slot->download, slot->download, shift, &ended);
}
