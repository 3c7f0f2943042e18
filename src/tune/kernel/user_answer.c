// user_answer.c: the child that runs a user's kernels: validates configurations (build, run, compare) and times them
#include "base/alloc.h"
#include "base/child.h"
#include "base/log.h"
#include "tune/kernel/user_kernel.h"
#include "tune/kernel/user_rig.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPU_S = INT_MAX }; // the parent limits each request; a child answers many

struct kernel_task {
    struct spec spec;
    struct device *device;
    struct user_data data;
    struct user_rig rig;
    bool opened;             // the device and the rig
    struct user_build build; // that is validated
    bool reference;          // writes the references
    struct user_reply reply; // to the current request
    char why[SPEC_WHY];
};

static struct device *find_device(const char *wanted)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    char text[200];
    const int count = device_list(devices, &why);
    for (int i = 0; i < count; i++) {
        user_kernel_print_device(&devices[i], text);
        if (strcmp(text, wanted) == 0 || !wanted[0])
            return device_open(&devices[i], NULL, NULL);
    }
    return NULL;
}

static bool open_task(struct kernel_task *task, char *const *words)
{
    log_set_level(LOG_SILENT);
    if (!spec_load(&task->spec, words[KERNEL_WORD_SPEC]) || strcmp(task->spec.hash, words[KERNEL_WORD_HASH]) != 0) {
        snprintf(task->why, sizeof(task->why), "the description or a kernel file has changed");
        return false;
    }
    snprintf(task->why, sizeof(task->why), "its test cannot open the device or the arguments");
    return user_data_open(&task->data, &task->spec, STDIN_FILENO) &&
           (task->device = find_device(words[KERNEL_WORD_DEVICE])) &&
           user_rig_open(&task->rig, task->device, &task->spec, &task->data) == CL_SUCCESS;
}

static enum probe_status fail(struct kernel_task *task, enum probe_status status, cl_int result)
{
    snprintf(task->why, sizeof(task->why), "%s", compute_result_name(result));
    return status;
}

// Compares a vector with the elements that its reference has at the same places: of images, in the same rows.
static bool same(struct kernel_task *task, int i, const char *got)
{
    const struct spec_argument *argument = &task->spec.argument[i];
    const size_t rows = task->data.sizes->rows[i], from_row = task->data.sizes->reference[i] / rows;
    const size_t row = argument->bytes / argument->region[1];
    char *want = xalloc(argument->bytes);
    memcpy(want, got, argument->bytes);
    for (size_t y = 0; y < rows && y < argument->region[1]; y++)
        memcpy(want + y * row, task->data.map + task->data.reference[i] + y * from_row,
               row < from_row ? row : from_row);
    const bool ok = spec_same(argument, got, want, task->why);
    free(want);
    return ok;
}

// Compares a vector argument after the run, or keeps it as the reference.
static enum probe_status check(struct kernel_task *task, int i, char *got)
{
    const struct spec_argument *argument = &task->spec.argument[i];
    struct user_sizes *const sizes = task->data.sizes;
    bool intact = true;
    cl_int result = user_rig_check(&task->rig, i, &intact, task->why);
    if (result == CL_SUCCESS)
        result = user_rig_read(&task->rig, i, task->build.run.vector[i], got);
    if (result != CL_SUCCESS)
        return fail(task, PROBE_NOT_RUN, result);
    if (!intact)
        return PROBE_WRONG;
    if (argument->access == SPEC_READ_ONLY && memcmp(got, task->rig.content[i], argument->bytes) != 0) {
        snprintf(task->why, sizeof(task->why), "it writes to '%.30s', which is ReadOnly", argument->name);
        return PROBE_WRONG;
    }
    if (!argument->output)
        return PROBE_PASSED;
    if (!task->reference)
        return same(task, i, got) ? PROBE_PASSED : PROBE_WRONG;
    if (argument->has_reference)
        return PROBE_PASSED;
    user_data_write(&task->data, task->data.map + task->data.reference[i], got, argument->bytes);
    user_data_write(&task->data, &sizes->reference[i], &argument->bytes, sizeof(argument->bytes));
    user_data_write(&task->data, &sizes->rows[i], &argument->region[1], sizeof(sizes->rows[i]));
    return PROBE_PASSED;
}

static enum probe_status try_build(struct kernel_task *task, const uint16_t *tuple)
{
    enum probe_status status = PROBE_PASSED;
    double ms;
    cl_int result = user_build_open(&task->build, &task->rig, task->reference, tuple, task->why);
    if (result == CL_SUCCESS && (result = user_rig_reset(&task->rig)) != CL_SUCCESS)
        return fail(task, PROBE_NOT_OPENED, result);
    if (result != CL_SUCCESS)
        return result == CL_BUILD_PROGRAM_FAILURE ? PROBE_NOT_BUILT : PROBE_NOT_RUN;
    // The second run fails if the output depends on data that the first one has left. Oclgrind is slow.
    for (int i = 0; i < (task->reference || task->rig.oclgrind ? 1 : 2); i++) {
        if ((result = user_build_time(&task->build, 1, &ms)) != CL_SUCCESS)
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

// ---- the builds that are timed ----

// A configuration that was built.
struct timed {
    struct timed *next;
    int configuration;
    struct user_build build;
};

static struct timed **find_timed(struct timed **first, int configuration)
{
    while (*first && (*first)->configuration != configuration)
        first = &(*first)->next;
    return first;
}

static cl_int build_timed(struct kernel_task *task, struct timed **first, const struct user_request *request,
                          char why[SPEC_WHY])
{
    struct timed *timed = xalloc(sizeof(*timed));
    double ms;
    cl_int result = user_build_open(&timed->build, &task->rig, false, request->tuple, why);
    if (result == CL_SUCCESS && (result = user_build_time(&timed->build, 1, &ms)) != CL_SUCCESS)
        snprintf(why, SPEC_WHY, "its first run fails: %s", compute_result_name(result));
    if (result != CL_SUCCESS) {
        user_build_close(&timed->build);
        free(timed);
        return result;
    }
    timed->configuration = request->configuration;
    timed->next = *first;
    *first = timed;
    return result;
}

static void release_timed(struct timed **timed)
{
    struct timed *next = (*timed)->next;
    user_build_close(&(*timed)->build);
    free(*timed);
    *timed = next;
}

static cl_int time_timed(const struct timed *timed, const struct user_request *request, double *ms)
{
    if (request->runs > 0)
        return user_build_time(&timed->build, request->runs, ms);
    cl_int result = user_build_time(&timed->build, 1, ms); // also restores caches and clock rates
    const double runs = request->for_ms / fmax(*ms, 1e-3);
    if (result == CL_SUCCESS)
        result = user_build_time(&timed->build, (int)fmin(fmax(runs, 2), TIMING_RUNS), ms);
    return result;
}

static cl_int time_launches(const struct kernel_task *task, const struct user_build *build)
{
    double *launch_ms = task->data.sizes->launch_ms, ms[SPEC_LAUNCHES] = {0};
    const cl_int result = user_build_launches(build, ms);
    user_data_write(&task->data, launch_ms, ms, sizeof(ms));
    return result;
}

// ---- accesses out of bounds, in pages without access ----

static const struct kernel_task *running; // for the handler of signals

// Replies and ends the process, if an argument's bounds are the reason. Otherwise the same fault ends it again.
static void on_fault(int number, siginfo_t *info, void *context)
{
    const char *what = "reads or writes";
    struct user_reply reply = {.status = PROBE_WRONG, .ended = true};
#ifdef __x86_64__
    what = ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2 ? "writes" : "reads";
#endif
    if (user_rig_fault(&running->rig, info->si_addr, what, reply.why) && child_reply(&reply, sizeof(reply)))
        _exit(EXIT_FAILURE);
    signal(number, SIG_DFL);
}

static void catch_faults(const struct kernel_task *task)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    running = task;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

// ---- requests ----

// Does what a request wants. A configuration may be built more than once.
static enum probe_status answer(struct kernel_task *task, struct timed **first, const struct user_request *request)
{
    struct timed **timed = find_timed(first, request->configuration);
    cl_int result = CL_INVALID_PROGRAM;
    task->why[0] = '\0';
    if (request->action <= USER_VALIDATE) {
        task->reference = request->action == USER_REFERENCE;
        const enum probe_status status = try_build(task, request->tuple);
        user_build_close(&task->build);
        return status;
    }
    if (request->action == USER_BUILD)
        result = build_timed(task, first, request, task->why);
    else if (*timed && request->action == USER_TIME)
        result = time_timed(*timed, request, &task->reply.ms);
    else if (*timed && request->action == USER_LAUNCHES)
        result = time_launches(task, &(*timed)->build);
    else if (*timed)
        release_timed(timed), result = CL_SUCCESS;
    if (result != CL_SUCCESS && !task->why[0])
        fail(task, PROBE_NOT_RUN, result);
    return result == CL_SUCCESS ? PROBE_PASSED : PROBE_NOT_RUN;
}

static bool send_reply(struct kernel_task *task, enum probe_status status)
{
    struct user_reply *reply = &task->reply;
    reply->status = status;
    // A kernel that fails may have written anywhere.
    reply->ended = status != PROBE_PASSED && status != PROBE_NOT_BUILT;
    snprintf(reply->why, sizeof(reply->why), "%.*s", VERDICT_TEXT - 1, status == PROBE_PASSED ? "" : task->why);
    return child_reply(reply, sizeof(*reply)) && !reply->ended;
}

// Does not free its memory: the process ends after this call.
int user_kernel_answer(char *const *words)
{
    struct user_request request;
    struct timed *first = NULL;
    child_begin(atoi(words[KERNEL_WORD_PARENT]), PROBE_DATA_BYTES, CPU_S);
    struct kernel_task *task = xalloc(sizeof(*task));
    while (child_receive(&request, sizeof(request))) {
        if (!task->opened && (task->opened = open_task(task, words)))
            catch_faults(task); // after the driver's own handlers
        if (!send_reply(task, task->opened ? answer(task, &first, &request) : PROBE_UNKNOWN))
            break;
    }
    return EXIT_SUCCESS;
}
