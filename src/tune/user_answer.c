// user_answer.c: the child's part of a validation: builds a configuration of a user's kernel, runs it and compares
#include "base/child.h"
#include "base/log.h"
#include "tune/user_kernel.h"
#include "tune/user_rig.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPU_S = 36000 }; // the parent's limit is stricter

struct task {
    struct spec spec;
    struct device *device;
    struct user_data data;
    struct user_rig rig;
    struct user_build build;
    uint16_t tuple[SPACE_PARAMS];
    bool reference; // writes the references
    char why[SPEC_WHY];
};

static bool parse_tuple(struct task *task, const char *text)
{
    for (int p = 0; p < task->spec.space.params; p++) {
        char *end;
        const long value = strtol(text, &end, 10);
        if (end == text || value < 0 || value >= task->spec.space.param[p].values)
            return false;
        task->tuple[p] = (uint16_t)value;
        text = end;
    }
    return true;
}

static struct device *find_device(const char *wanted)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    char text[200];
    const int count = device_list(devices, &why);
    for (int i = 0; i < count; i++) {
        user_kernel_print_device(&devices[i], text);
        if (strcmp(text, wanted) == 0)
            return device_open(&devices[i], NULL, NULL);
    }
    return NULL;
}

static bool open_task(struct task *task, char *const *words)
{
    log_set_level(LOG_SILENT);
    if (!spec_load(&task->spec, words[USER_WORD_SPEC]) || strcmp(task->spec.hash, words[USER_WORD_HASH]) != 0) {
        snprintf(task->why, sizeof(task->why), "the description or a kernel file has changed");
        return false;
    }
    task->reference = words[USER_WORD_REFERENCE][0];
    snprintf(task->why, sizeof(task->why), "its test cannot open the device or the arguments");
    return parse_tuple(task, words[USER_WORD_TUPLE]) &&
           user_data_open(&task->data, &task->spec, atoi(words[USER_WORD_PARENT]), atoi(words[USER_WORD_DATA])) &&
           (task->device = find_device(words[USER_WORD_DEVICE]));
}

static enum probe_status fail(struct task *task, enum probe_status status, cl_int result)
{
    snprintf(task->why, sizeof(task->why), "%s", compute_result_name(result));
    return status;
}

static cl_int run(struct task *task)
{
    cl_event event[SPEC_KERNELS] = {NULL};
    cl_int result = user_build_enqueue(&task->build, event), status = CL_COMPLETE;
    const cl_int finished = compute_finish(task->rig.queue);
    result = result == CL_SUCCESS ? finished : result;
    for (int i = 0; result == CL_SUCCESS && i < task->build.kernels; i++) {
        clGetEventInfo(event[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
        result = status < 0 ? status : CL_SUCCESS;
    }
    return result;
}

// Compares a vector argument after the run, or keeps it as the reference.
static enum probe_status check(struct task *task, int i, char *got)
{
    const struct spec_argument *argument = &task->spec.argument[i];
    char *input = task->data.map + task->data.input[i], *reference = task->data.map + task->data.reference[i];
    bool intact = true;
    cl_int result = user_rig_check(&task->rig, i, &intact);
    if (result == CL_SUCCESS)
        result = user_rig_read(&task->rig, i, got);
    if (result != CL_SUCCESS)
        return fail(task, PROBE_NOT_RUN, result);
    if (!intact) {
        snprintf(task->why, sizeof(task->why), "it writes before or after '%.30s'", argument->name);
        return PROBE_WRONG;
    }
    if (argument->access == SPEC_READ_ONLY && memcmp(got, input, argument->bytes) != 0) {
        snprintf(task->why, sizeof(task->why), "it writes to '%.30s', which is ReadOnly", argument->name);
        return PROBE_WRONG;
    }
    if (!argument->output)
        return PROBE_PASSED;
    if (!task->reference)
        return spec_same(argument, got, reference, task->why) ? PROBE_PASSED : PROBE_WRONG;
    if (!argument->has_reference)
        memcpy(reference, got, argument->bytes);
    return PROBE_PASSED;
}

static enum probe_status try_task(struct task *task)
{
    enum probe_status status = PROBE_PASSED;
    cl_int result = user_rig_open(&task->rig, task->device, &task->spec, &task->data);
    if (result != CL_SUCCESS)
        return fail(task, PROBE_NOT_OPENED, result);
    result = user_build_open(&task->build, &task->rig, task->reference, task->tuple, task->why);
    if (result != CL_SUCCESS)
        return result == CL_BUILD_PROGRAM_FAILURE ? PROBE_NOT_BUILT : PROBE_NOT_RUN;
    // The second run fails if the output depends on data that the first one has left.
    for (int i = 0; i < (task->reference ? 1 : 2); i++) {
        if ((result = run(task)) != CL_SUCCESS)
            return fail(task, PROBE_NOT_RUN, result);
    }
    for (int i = 0; status == PROBE_PASSED && i < task->spec.arguments; i++) {
        if (task->spec.argument[i].memory != SPEC_VECTOR)
            continue;
        char *got = malloc(task->spec.argument[i].bytes);
        status = got ? check(task, i, got) : fail(task, PROBE_NOT_OPENED, CL_OUT_OF_HOST_MEMORY);
        free(got);
    }
    return status;
}

// Does not free its memory: the process ends after this call.
int user_kernel_answer(char *const *words)
{
    char path[64];
    child_begin(atoi(words[USER_WORD_PARENT]), PROBE_DATA_BYTES, CPU_S);
    struct task *task = calloc(1, sizeof(*task));
    if (!task)
        return PROBE_UNKNOWN;
    const enum probe_status status = open_task(task, words) ? try_task(task) : PROBE_UNKNOWN;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", atoi(words[USER_WORD_PARENT]), atoi(words[USER_WORD_NOTE]));
    const int fd = status == PROBE_PASSED ? -1 : open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, task->why, strlen(task->why)) < 0)
        return (int)PROBE_UNKNOWN;
    return (int)status;
}
