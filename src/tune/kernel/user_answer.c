// user_answer.c: the children of a user's kernel: validate a configuration (build, run, compare), or time all of them
#include "base/alloc.h"
#include "base/child.h"
#include "base/log.h"
#include "tune/kernel/user_kernel.h"
#include "tune/kernel/user_rig.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CPU_S = 36000 }; // the parent's limit is stricter

struct kernel_task {
    struct spec spec;
    struct device *device;
    struct user_data data;
    struct user_rig rig;
    struct user_build build;
    uint16_t tuple[SPACE_PARAMS];
    bool reference; // writes the references
    bool times;     // answers requests
    int note;       // descriptor for the reason of a failure
    char why[SPEC_WHY];
};

static bool parse_tuple(struct kernel_task *task, const char *text)
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

static bool open_task(struct kernel_task *task, char *const *words)
{
    log_set_level(LOG_SILENT);
    if (!spec_load(&task->spec, words[KERNEL_WORD_SPEC]) || strcmp(task->spec.hash, words[KERNEL_WORD_HASH]) != 0) {
        snprintf(task->why, sizeof(task->why), "the description or a kernel file has changed");
        return false;
    }
    task->reference = strcmp(words[KERNEL_WORD_HOW], "reference") == 0;
    snprintf(task->why, sizeof(task->why), "its test cannot open the device or the arguments");
    return (task->times || parse_tuple(task, words[KERNEL_WORD_TUPLE])) &&
           user_data_open(&task->data, &task->spec, atoi(words[KERNEL_WORD_PARENT]), atoi(words[KERNEL_WORD_DATA])) &&
           (task->device = find_device(words[KERNEL_WORD_DEVICE]));
}

static enum probe_status fail(struct kernel_task *task, enum probe_status status, cl_int result)
{
    snprintf(task->why, sizeof(task->why), "%s", compute_result_name(result));
    return status;
}

static cl_int run(struct kernel_task *task)
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
static enum probe_status check(struct kernel_task *task, int i, char *got)
{
    const struct spec_argument *argument = &task->spec.argument[i];
    char *input = task->data.map + task->data.input[i], *reference = task->data.map + task->data.reference[i];
    bool intact = true;
    cl_int result = user_rig_check(&task->rig, i, &intact, task->why);
    if (result == CL_SUCCESS)
        result = user_rig_read(&task->rig, i, got);
    if (result != CL_SUCCESS)
        return fail(task, PROBE_NOT_RUN, result);
    if (!intact)
        return PROBE_WRONG;
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

// ---- accesses out of bounds, in pages without access ----

static const struct kernel_task *running; // for the handler of signals

// Ends the process with the reason, if an argument's bounds are the reason. Otherwise the same fault ends it again.
static void on_fault(int number, siginfo_t *info, void *context)
{
    const char *what = "reads or writes";
    char why[VERDICT_TEXT];
#ifdef __x86_64__
    what = ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2 ? "writes" : "reads";
#endif
    if (user_rig_fault(&running->rig, info->si_addr, what, why) && write(running->note, why, strlen(why)) > 0)
        _exit(PROBE_WRONG);
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

static enum probe_status try_task(struct kernel_task *task)
{
    enum probe_status status = PROBE_PASSED;
    cl_int result = user_rig_open(&task->rig, task->device, &task->spec, &task->data);
    if (result != CL_SUCCESS)
        return fail(task, PROBE_NOT_OPENED, result);
    result = user_build_open(&task->build, &task->rig, task->reference, task->tuple, task->why);
    if (result != CL_SUCCESS)
        return result == CL_BUILD_PROGRAM_FAILURE ? PROBE_NOT_BUILT : PROBE_NOT_RUN;
    catch_faults(task); // after the driver's own handlers
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

// ---- the child that times ----

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

static cl_int build_timed(const struct kernel_task *task, struct timed **first,
                          const struct user_timer_request *request, char why[SPEC_WHY])
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

static cl_int time_timed(const struct timed *timed, double for_ms, double *ms)
{
    cl_int result = user_build_time(&timed->build, 1, ms); // also restores caches and clock rates
    const double runs = for_ms / fmax(*ms, 1e-3);
    if (result == CL_SUCCESS)
        result = user_build_time(&timed->build, (int)fmin(fmax(runs, 2), TIMING_RUNS), ms);
    return result;
}

// Does what a request wants. A configuration may be built more than once.
static void answer(const struct kernel_task *task, struct timed **first, const struct user_timer_request *request,
                   struct user_timer_reply *reply)
{
    char why[SPEC_WHY] = "";
    struct timed **timed = find_timed(first, request->configuration);
    cl_int result = CL_INVALID_PROGRAM;
    if (request->action == TIMER_BUILD)
        result = build_timed(task, first, request, why);
    else if (*timed && request->action == TIMER_TIME)
        result = time_timed(*timed, request->for_ms, &reply->ms);
    else if (*timed && request->action == TIMER_RUN)
        result = user_build_time(&(*timed)->build, request->runs, &reply->ms);
    else if (*timed)
        release_timed(timed), result = CL_SUCCESS;
    reply->ok = result == CL_SUCCESS;
    reply->why[0] = '\0';
    if (!reply->ok)
        snprintf(reply->why, sizeof(reply->why), "%.*s", VERDICT_TEXT - 1, why[0] ? why : compute_result_name(result));
}

// Opens a pipe of the parent.
static int open_pipe(const char *parent, int fd, int flags)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", atoi(parent), fd);
    return open(path, flags | O_CLOEXEC);
}

// Answers requests until the parent ends.
static enum probe_status answer_requests(struct kernel_task *task, char *const *words)
{
    const char *comma = strchr(words[KERNEL_WORD_NOTE], ',');
    const int requests = open_pipe(words[KERNEL_WORD_PARENT], atoi(words[KERNEL_WORD_NOTE]), O_RDONLY);
    const int replies = open_pipe(words[KERNEL_WORD_PARENT], comma ? atoi(comma + 1) : -1, O_WRONLY);
    struct user_timer_reply reply = {.ok = true, .process = (int)getpid()};
    struct user_timer_request request;
    struct timed *first = NULL;
    bool opened = false;
    if (requests < 0 || replies < 0 || write(replies, &reply, sizeof(reply)) != (ssize_t)sizeof(reply))
        return PROBE_UNKNOWN;
    while (read(requests, &request, sizeof(request)) == (ssize_t)sizeof(request)) {
        reply.ok = opened;
        if (!opened && open_task(task, words)) {
            const cl_int result = user_rig_open(&task->rig, task->device, &task->spec, &task->data);
            opened = result == CL_SUCCESS;
            if (!opened)
                fail(task, PROBE_NOT_OPENED, result);
        }
        if (opened)
            answer(task, &first, &request, &reply);
        else
            snprintf(reply.why, sizeof(reply.why), "%.*s", VERDICT_TEXT - 1, task->why);
        if (write(replies, &reply, sizeof(reply)) != (ssize_t)sizeof(reply))
            break;
    }
    return PROBE_PASSED;
}

// Does not free its memory: the process ends after this call.
int user_kernel_answer(char *const *words)
{
    char path[64];
    child_begin(atoi(words[KERNEL_WORD_PARENT]), PROBE_DATA_BYTES, CPU_S);
    struct kernel_task *task = xalloc(sizeof(*task));
    task->times = strcmp(words[KERNEL_WORD_HOW], "time") == 0;
    if (task->times)
        return (int)answer_requests(task, words);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", atoi(words[KERNEL_WORD_PARENT]), atoi(words[KERNEL_WORD_NOTE]));
    task->note = open(path, O_WRONLY | O_CLOEXEC);
    const enum probe_status status = open_task(task, words) ? try_task(task) : PROBE_UNKNOWN;
    if (status != PROBE_PASSED && task->note >= 0 && write(task->note, task->why, strlen(task->why)) < 0)
        return (int)PROBE_UNKNOWN;
    return (int)status;
}
