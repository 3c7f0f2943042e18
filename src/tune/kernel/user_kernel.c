// user_kernel.c: a user's kernel as a subject of the tuner
#include "tune/kernel/user_kernel.h"

#include "base/alloc.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/driver_call.h"
#include "base/file.h"
#include "base/installed_program.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/thread.h"
#include "path/pass_tuned.h"
#include "tune/kernel/user_rig.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LIMIT_S = 30, LIMIT_REFERENCES = 10, REFERENCE_LIMIT_S = 600, SIGNAL_MS = 5000, LOG_BYTES = 16 << 20 };
static const size_t data_bytes_max = (size_t)4 << 30;

struct user_kernel {
    struct subject subject;
    struct device *device;
    struct spec spec; // its space is the subject's
    char name[64];
    struct user_data data;
    bool ready;
    int limit_ms;                // of a validation
    struct child_pool *children; // that validate
    struct child *timer;         // NULL: not started, or it has ended
    int timers;                  // number of children that were started to time
};

// A build of a configuration, in the child that times it.
struct built {
    struct user_kernel *user;
    int configuration, timer; // timer: number of the child that has the build
};

static const struct user_kernel *kernel_of(const struct subject *subject)
{
    return (const struct user_kernel *)subject; // its first member
}

// ---- the child ----

void user_kernel_print_device(const struct device_info *info, char text[200])
{
    cl_device_id all[DEVICE_MAX];
    cl_uint count = 0, at = 0; // of equal GPUs, the place differs
    clGetDeviceIDs(info->platform, CL_DEVICE_TYPE_ALL, DEVICE_MAX, all, &count);
    while (at < count && at < DEVICE_MAX && all[at] != info->id)
        at++;
    snprintf(text, 200, "%.64s: %.128s %u", info->platform_name, info->name, at);
}

// Starts a child. `oclgrind`: the program that it runs in, which has one device and writes to the file `log`; NULL:
// none.
static struct child *start_child(const struct user_kernel *user, const char *oclgrind, const char *log)
{
    enum { OWN = 3, FIRST = OWN + 1 }; // arguments of Oclgrind; the first one of the child's
    char parent[16], device[200] = "", program[PATH_MAX] = "monocle";
    snprintf(parent, sizeof(parent), "%d", (int)getpid());
    if (!oclgrind)
        user_kernel_print_device(&user->device->info, device);
    else if (!realpath(child_program, program))
        return NULL;
    const char *const arguments[FIRST + KERNEL_WORDS + 1] = {
        "oclgrind",
        "--log",
        log,
        program,
        [FIRST + KERNEL_WORD_COMMAND] = "probe",
        [FIRST + KERNEL_WORD_KIND] = "spec",
        [FIRST + KERNEL_WORD_PARENT] = parent,
        [FIRST + KERNEL_WORD_SPEC] = user->spec.path,
        [FIRST + KERNEL_WORD_HASH] = user->spec.hash,
        [FIRST + KERNEL_WORD_DEVICE] = device,
    };
    char *const *from = (char *const *)arguments + (oclgrind ? 0 : OWN);
    struct child *child = child_open(oclgrind ? oclgrind : child_program, from, user->data.fd);
    if (!child)
        log_error("cannot run kernels: %s", strerror(errno));
    return child;
}

// Sends a request, and closes the child if it ends.
static void ask_child(struct child **child, const struct user_request *request, int limit_ms, struct user_reply *reply)
{
    enum child_end end;
    int value;
    const struct child_wait wait = {limit_ms, limit_ms < SIGNAL_MS ? limit_ms : SIGNAL_MS};
    const bool replied = child_ask(*child, request, sizeof(*request), reply, sizeof(*reply), &wait, &end, &value);
    // A kernel that writes out of bounds may have changed the reply.
    reply->why[VERDICT_TEXT - 1] = '\0';
    if (!replied || reply->status < PROBE_ANSWERS || reply->status > PROBE_UNKNOWN) {
        *reply = (struct user_reply){.status = PROBE_NOT_RUN, .ended = true, .why = "its process has ended"};
        if (!replied && end == CHILD_LATE)
            reply->status = PROBE_LATE;
        if (!replied && driver_call_interrupted())
            snprintf(reply->why, VERDICT_TEXT, "a signal came before it ended");
        else if (!replied)
            child_explain(end, value, limit_ms / 1000, limit_ms / 1000, reply->why);
    }
    if (reply->ended) {
        child_close(*child);
        *child = NULL;
    }
}

// Returns a request with the values of a configuration.
static struct user_request make_request(const struct user_kernel *user, enum user_action action, int configuration)
{
    struct user_request request = {action, .configuration = configuration};
    memcpy(request.tuple, space_tuple(&user->subject.space, configuration),
           sizeof(*request.tuple) * (size_t)user->subject.space.params);
    return request;
}

// Runs a configuration in a child that waits, or in a new one.
static enum probe_status ask(const struct user_kernel *user, int configuration, enum user_action action, int limit_ms,
                             char why[VERDICT_TEXT])
{
    const struct user_request request = make_request(user, action, configuration);
    struct user_reply reply;
    struct child *child = child_pool_take(user->children);
    if (!child)
        child = start_child(user, NULL, NULL);
    snprintf(why, VERDICT_TEXT, "its process cannot be started");
    if (!child)
        return PROBE_NOT_RUN;
    ask_child(&child, &request, limit_ms, &reply);
    child_pool_give(user->children, child);
    memcpy(why, reply.why, VERDICT_TEXT);
    return reply.status;
}

// Returns true if the device allows the work-groups of all launches.
static bool fits_device(const struct user_kernel *user, int configuration, char why[VERDICT_TEXT])
{
    const size_t most = user->device->info.max_work_group;
    struct spec_run run;
    char reason[SPEC_WHY];
    bool ok = spec_run_open(&run, &user->spec, false, space_tuple(&user->subject.space, configuration), reason);
    if (!ok)
        snprintf(why, VERDICT_TEXT, "%.*s", VERDICT_TEXT - 1, reason);
    for (int i = 0; ok && i < run.launches; i++) {
        const size_t *local = run.launch[i].local;
        const double items = (double)local[0] * (double)local[1] * (double)local[2];
        ok = items <= (double)most;
        if (!ok)
            snprintf(why, VERDICT_TEXT, "a work-group of %.0f work-items; the device allows %zu", items, most);
    }
    spec_run_close(&run);
    return ok;
}

static enum probe_status validate(const struct subject *subject, int configuration, char why[VERDICT_TEXT])
{
    const struct user_kernel *user = kernel_of(subject);
    if (!fits_device(user, configuration, why))
        return PROBE_NOT_RUN;
    if (!child_program)
        return PROBE_PASSED;
    return ask(user, configuration, USER_VALIDATE, user->limit_ms, why);
}

// ---- the inputs and references ----

static bool check_sizes(const struct user_kernel *user)
{
    const struct spec *spec = &user->spec;
    const size_t quarter = user->device->info.memory_bytes / 4;
    const size_t most = quarter < data_bytes_max ? quarter : data_bytes_max;
    cl_ulong largest = 0;
    size_t total = 0;
    clGetDeviceInfo(user->device->info.id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(largest), &largest, NULL);
    for (int i = 0; i < spec->arguments; i++) {
        const struct spec_argument *argument = &spec->argument[i];
        if (argument->memory != SPEC_VECTOR)
            continue;
        total += argument->bytes * (argument->output ? 2 : 1);
        if (argument->bytes < largest && total <= most)
            continue;
        log_error("cannot use %s: argument '%s' has %.0f MiB; on '%s', a buffer may have %.0f MiB, and all inputs and "
                  "references together %.0f MiB",
                  spec->path, argument->name, (double)argument->bytes / 0x1p20, user->device->info.name,
                  (double)largest / 0x1p20, (double)most / 0x1p20);
        return false;
    }
    return true;
}

static bool fill(struct user_kernel *user)
{
    struct spec *spec = &user->spec;
    struct user_data *data = &user->data;
    if (!user_data_open(data, spec, -1)) {
        log_error("cannot store the arguments of %s (%.0f MiB): %s", spec->path, (double)data->bytes / 0x1p20,
                  strerror(errno));
        return false;
    }
    // Children that wait have buffers on the device.
    child_pool_limit(user->children, user->device->info.memory_bytes / 8 / (data->bytes + 1));
    for (int i = 0; i < spec->arguments; i++) {
        const struct spec_argument *argument = &spec->argument[i];
        if (argument->memory == SPEC_VECTOR && !spec_fill(spec, argument, &argument->in, data->map + data->input[i]))
            return false;
        data->sizes->reference[i] = argument->bytes;
        data->sizes->rows[i] = argument->region[1];
        if (argument->has_reference && !spec_fill(spec, argument, &argument->reference, data->map + data->reference[i]))
            return false;
    }
    return true;
}

// Computes the references in a child: with the reference kernels, or else with the first default that runs.
static bool make_references(struct user_kernel *user)
{
    const struct spec *spec = &user->spec;
    const struct subject *subject = &user->subject;
    enum probe_status status = PROBE_NOT_RUN;
    char why[VERDICT_TEXT] = "";
    bool needed = false;
    for (int i = 0; i < spec->arguments; i++)
        needed = needed || (spec->argument[i].output && !spec->argument[i].has_reference);
    if (!needed || !child_program)
        return true;
    if (spec->references == 0)
        log_warn("%s has no ReferenceKernel: all configurations are compared with the default one", spec->path);
    const int64_t start_ns = clock_now_ns();
    for (int i = 0; status != PROBE_PASSED && i < (spec->references > 0 ? 1 : subject->presets); i++)
        status = ask(user, subject->preset[i], USER_REFERENCE, REFERENCE_LIMIT_S * 1000, why);
    // Validations that run at the same time share the device.
    const int cpus = workers_available(), jobs = cpus < CHILD_POOL_MAX ? cpus : CHILD_POOL_MAX;
    user->limit_ms += LIMIT_REFERENCES * jobs * (int)((clock_now_ns() - start_ns) / 1000000);
    if (status != PROBE_PASSED)
        log_error("cannot compute the reference of %s: %s", spec->path, why);
    return status == PROBE_PASSED;
}

static bool prepare(struct subject *subject)
{
    struct user_kernel *user = (struct user_kernel *)subject;
    user->ready = user->ready || (check_sizes(user) && fill(user) && make_references(user));
    return user->ready;
}

// ---- time ----

// Sends a request to the child that times; starts the child if there is none. False: `reply` has the reason.
static bool ask_timer(struct user_kernel *user, const struct user_request *request, int runs, struct user_reply *reply)
{
    const int limit_ms = user->limit_ms < INT_MAX / (runs + 1) ? user->limit_ms * (runs + 1) : INT_MAX;
    *reply = (struct user_reply){.status = PROBE_NOT_RUN, .why = "its process cannot be started"};
    if (!child_program)
        return false;
    if (!user->timer) {
        user->timer = start_child(user, NULL, NULL);
        user->timers++;
    }
    if (!user->timer)
        return false;
    ask_child(&user->timer, request, limit_ms, reply);
    return reply->status == PROBE_PASSED;
}

// Builds the configuration in the child, unless the child has it.
static bool build_there(struct built *built, struct user_reply *reply)
{
    struct user_kernel *user = built->user;
    if (user->timer && user->timers == built->timer)
        return true;
    const struct user_request request = make_request(user, USER_BUILD, built->configuration);
    if (!ask_timer(user, &request, 2, reply))
        return false;
    built->timer = user->timers;
    return true;
}

static void release(void *of)
{
    struct built *built = of;
    struct user_reply reply;
    const struct user_request request = {USER_RELEASE, .configuration = built->configuration};
    if (built->user->timer && built->user->timers == built->timer)
        ask_timer(built->user, &request, 1, &reply);
    free(built);
}

static void *build(struct subject *subject, int configuration, char why[VERDICT_TEXT])
{
    struct built *built = xalloc(sizeof(*built));
    struct user_reply reply = {0};
    *built = (struct built){(struct user_kernel *)subject, configuration, 0};
    if (build_there(built, &reply))
        return built;
    memcpy(why, reply.why, VERDICT_TEXT);
    free(built);
    return NULL;
}

// Sends a request about a build to the child. False on failure (logged).
static bool use_build(struct built *built, const struct user_request *request, int runs, struct user_reply *reply)
{
    if (build_there(built, reply) && ask_timer(built->user, request, runs, reply))
        return true;
    log_error("cannot run a measurement on the device: %s", reply->why);
    return false;
}

static bool time_build(void *of, double for_ms, double *ms)
{
    struct built *built = of;
    struct user_reply reply;
    const struct user_request request = {USER_TIME, .configuration = built->configuration, .for_ms = for_ms};
    if (!use_build(built, &request, 3, &reply))
        return false;
    *ms = reply.ms;
    if (!(*ms > 0))
        log_error("the device does not report the times of its kernels");
    return *ms > 0;
}

static bool run_build(void *of, int runs)
{
    struct built *built = of;
    struct user_reply reply;
    const struct user_request request = {USER_TIME, .configuration = built->configuration, .runs = runs};
    return use_build(built, &request, runs, &reply);
}

static void print(const struct subject *subject, int configuration, char text[SUBJECT_TEXT])
{
    char all[SPACE_TEXT];
    space_print(&subject->space, configuration, all);
    log_escape(text, SUBJECT_TEXT, all); // the values are texts of the description
}

// ---- the launches ----

static bool same_launch(const struct spec_launch *a, const struct spec_launch *b)
{
    return a->kernel == b->kernel && memcmp(a->global, b->global, sizeof(a->global)) == 0 &&
           memcmp(a->local, b->local, sizeof(a->local)) == 0;
}

static json_t *size_json(const size_t size[3])
{
    return json_pack("[I,I,I]", (json_int_t)size[0], (json_int_t)size[1], (json_int_t)size[2]);
}

// Describes a run. Launches of the same kernel and sizes are one row.
static json_t *launches_json(const struct spec_run *run, const double *launch_ms)
{
    json_t *rows = json_array();
    for (int i = 0; i < run->launches; i++) {
        const struct spec_launch *launch = &run->launch[i];
        double ms = 0;
        int count = 0, before = 0;
        for (int k = 0; k < run->launches; k++) {
            const bool same = same_launch(launch, &run->launch[k]);
            before += same && k < i;
            count += same;
            ms += same ? launch_ms[k] : 0;
        }
        if (before == 0)
            json_array_append_new(rows, json_pack("{s:o,s:i,s:o,s:o,s:f}", "kernel", text_json(launch->kernel->name),
                                                  "launches", count, "global", size_json(launch->global), "local",
                                                  size_json(launch->local), "ms", isfinite(ms) ? ms : 0));
    }
    return rows;
}

json_t *user_kernel_launches(struct subject *subject, int configuration)
{
    struct user_kernel *user = (struct user_kernel *)subject;
    const struct user_request request = {USER_LAUNCHES, .configuration = configuration};
    char why[SPEC_WHY];
    json_t *rows = NULL;
    struct user_reply reply;
    struct spec_run run = {.launches = 0};
    struct built *built = build(subject, configuration, why);
    if (built && spec_run_open(&run, &user->spec, false, space_tuple(&subject->space, configuration), why) &&
        use_build(built, &request, 5, &reply))
        rows = launches_json(&run, user->data.sizes->launch_ms);
    spec_run_close(&run);
    if (built)
        release(built);
    return rows;
}

// ---- accesses out of bounds, which Oclgrind finds ----

// Returns the faults in Oclgrind's log, each one once: "k.cl:12: kernel k: Invalid write of size 4 at global memory
// address".
static json_t *read_faults(char *log)
{
    json_t *faults = json_array();
    char what[128] = "", kernel[64] = "", fault[400];
    for (char *line; (line = strsep(&log, "\n"));) {
        const char *place = strstr(line, "At line "), *of = place ? strstr(place, " of ") : NULL;
        bool found = !of && !strstr(line, "Debugging information");
        json_t *other;
        size_t i;
        const char *address = strstr(line, " 0x");
        if (isalpha((unsigned char)line[0]))
            snprintf(what, sizeof(what), "%.*s", address ? (int)(address - line) : (int)strlen(line), line);
        sscanf(line, " Kernel: %63s", kernel);
        if (of)
            snprintf(fault, sizeof(fault), "%.*s:%d: kernel %s: %s", (int)strcspn(of + 4, ":\n"), of + 4,
                     atoi(place + 8), kernel, what);
        else
            snprintf(fault, sizeof(fault), "kernel %s: %s", kernel, what);
        json_array_foreach(faults, i, other) found = found || strcmp(json_string_value(other), fault) == 0;
        if (!found)
            json_array_append_new(faults, text_json(fault));
    }
    return faults;
}

// Runs a configuration in Oclgrind. NULL: it cannot run there (`why`).
static json_t *find_faults(const struct user_kernel *user, int configuration, char why[VERDICT_TEXT])
{
    const struct user_request request = make_request(user, USER_VALIDATE, configuration);
    struct user_reply reply = {.status = PROBE_NOT_RUN, .why = "Oclgrind cannot be started"};
    char program[PATH_MAX], path[64];
    size_t bytes;
    if (!program_find("oclgrind", program, sizeof(program))) {
        snprintf(why, VERDICT_TEXT, "Oclgrind is not installed (package oclgrind)");
        return NULL;
    }
    const int log = memfd_create("monocle-oclgrind", MFD_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), log);
    struct child *child = NULL;
    if (log < 0 || access(path, W_OK) != 0)
        snprintf(reply.why, VERDICT_TEXT, "its log cannot be written: %s", strerror(errno));
    else if ((child = start_child(user, program, path)))
        ask_child(&child, &request, REFERENCE_LIMIT_S * 1000, &reply);
    child_close(child);
    char *text = file_take(log, LOG_BYTES, &bytes);
    json_t *faults = text ? read_faults(text) : NULL;
    free(text);
    if (faults && (json_array_size(faults) > 0 || reply.status == PROBE_PASSED || reply.status == PROBE_WRONG))
        return faults;
    if (!text && log >= 0)
        snprintf(reply.why, VERDICT_TEXT, "its log cannot be read: %s", strerror(errno));
    json_decref(faults);
    memcpy(why, reply.why, VERDICT_TEXT);
    return NULL;
}

json_t *user_kernel_check(struct subject *subject, int configuration)
{
    char choice[SUBJECT_TEXT], why[VERDICT_TEXT] = "";
    print(subject, configuration, choice);
    json_t *json = json_pack("{s:s}", "choice", choice);
    if (validate(subject, configuration, why) == PROBE_PASSED)
        json_object_set_new(json, "launches", user_kernel_launches(subject, configuration));
    else
        json_object_set_new(json, "failed", text_json(why));
    json_t *faults = find_faults(kernel_of(subject), configuration, why);
    if (faults)
        json_object_set_new(json, "faults", faults);
    else
        json_object_set_new(json, "unchecked", text_json(why));
    return json;
}

// ---- the objective ----

// A metric that should be large is inverted.
static double cost(const struct subject *subject, int configuration, double ms)
{
    const struct spec *spec = &kernel_of(subject)->spec;
    if (spec->metrics.objective < 0)
        return ms;
    const double value = spec_metric(spec, spec->metrics.objective, space_tuple(&subject->space, configuration), ms);
    if (!(value > 0))
        return INFINITY;
    return spec->metrics.maximize ? 1 / value : value;
}

static json_t *metrics(const struct subject *subject, int configuration, double ms)
{
    const struct spec *spec = &kernel_of(subject)->spec;
    json_t *json = json_object();
    for (int i = 0; i < spec->metrics.count; i++) {
        const double value = spec_metric(spec, i, space_tuple(&subject->space, configuration), ms);
        json_object_set_new(json, spec->metrics.list[i].name, isfinite(value) ? json_real(value) : json_null());
    }
    return json;
}

// ---- the database ----

static void make_key(const struct user_kernel *user, struct pass_key *key)
{
    int64_t side[2] = {1, 1};
    for (int i = 0; i < 2 && i < user->spec.problems; i++) {
        if (!value_whole(&user->spec.problem[i], &side[i]) || side[i] < 1 || side[i] > INT_MAX)
            side[i] = 1;
    }
    snprintf(key->pass, sizeof(key->pass), "kernel:%s", user->name);
    tuned_size((int)side[0], (int)side[1], key->size);
    pass_key_device(key, &user->device->info);
}

// Returns the configuration that space_print writes in this way; -1: none.
static int parse_configuration(const struct space *space, const char *text)
{
    char printed[SPACE_TEXT];
    for (int c = 0; c < space->count; c++) {
        space_print(space, c, printed);
        if (strcmp(printed, text) == 0)
            return c;
    }
    return -1;
}

// Sets the configuration in use: of an entry for this description and these kernels.
static void set_used(struct user_kernel *user)
{
    struct subject *subject = &user->subject;
    struct tuned_found next = {0};
    struct pass_key key;
    make_key(user, &key);
    while (!subject->has_used && tuned_next(user->device->tuned, &key.key, &next)) {
        if (strcmp(next.entry->source, user->spec.hash) != 0)
            continue;
        subject->used = parse_configuration(&subject->space, next.entry->choice);
        subject->has_used = subject->used >= 0;
        subject->used_exactly = next.match == TUNED_EXACT;
    }
}

// Returns the member `launches` of an entry. Equal launches that follow each other are one row.
static char *print_launches(const struct user_kernel *user, int configuration)
{
    char why[SPEC_WHY], *text = NULL;
    size_t bytes;
    struct spec_run run;
    FILE *out = xmemstream(&text, &bytes);
    const bool ok = spec_run_open(&run, &user->spec, false, space_tuple(&user->subject.space, configuration), why);
    for (int i = 0, next; i < run.launches; i = next) {
        const struct spec_launch *launch = &run.launch[i];
        for (next = i + 1; next < run.launches && same_launch(launch, &run.launch[next]);)
            next++;
        fprintf(out, "%s{\"%s\", %d, {%zu, %zu, %zu}, {%zu, %zu, %zu}}", i > 0 ? ", " : "", launch->kernel->name,
                next - i, launch->global[0], launch->global[1], launch->global[2], launch->local[0], launch->local[1],
                launch->local[2]);
    }
    spec_run_close(&run);
    xmemclose(out);
    if (!ok || bytes > TUNED_LAUNCHES)
        text[0] = '\0';
    return text;
}

static bool store(const struct subject *subject, int configuration, double ms, double default_ms)
{
    const struct user_kernel *user = kernel_of(subject);
    struct pass_key key;
    char choice[SPACE_TEXT], date[TUNED_DATE];
    make_key(user, &key);
    space_print(&subject->space, configuration, choice);
    tuned_date(date);
    char *launches = print_launches(user, configuration);
    const bool ok =
        tuned_store(&(struct tuned_entry){key.key, choice, user->spec.hash, date, ms, default_ms, launches});
    free(launches);
    return ok;
}

// ---- the subject ----

static void close_kernel(struct subject *subject)
{
    struct user_kernel *user = (struct user_kernel *)subject;
    child_close(user->timer);
    child_pool_close(user->children);
    user_data_close(&user->data);
    user->spec.space = (struct space){0}; // the caller has freed it
    spec_finish(&user->spec);
    free(user);
}

// Adds the first configuration with the description's defaults, or else configurations from all parts of the space.
static bool add_presets(struct subject *subject, const struct spec *spec)
{
    enum { SPREAD = 4 };
    const struct space *space = &subject->space;
    const int spread = space->count < SPREAD ? space->count : SPREAD;
    bool any = false, found;
    for (int p = 0; p < space->params; p++)
        any = any || spec->preset[p] >= 0;
    for (int c = 0; any && subject->presets == 0 && c < space->count; c++) {
        found = true;
        for (int p = 0; p < space->params; p++)
            found = found && (spec->preset[p] < 0 || spec->preset[p] == space_tuple(space, c)[p]);
        if (found)
            subject->preset[subject->presets++] = c;
    }
    for (int i = 0; !any && i < spread; i++)
        subject->preset[subject->presets++] = (int)((int64_t)i * space->count / spread);
    if (subject->presets == 0)
        log_error("cannot use %s: its conditions do not allow the defaults of its parameters", spec->path);
    return subject->presets > 0;
}

// Sets the name: the file's name without ".json".
static void set_name(struct user_kernel *user)
{
    const char *name = file_base(user->spec.path), *dot = strrchr(name, '.');
    char text[NAME_MAX + 1];
    snprintf(text, sizeof(text), "%.*s", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
    log_escape(user->name, sizeof(user->name), text); // people and JSON need UTF-8 without control characters
    user->subject.name = user->name;
}

static bool is_file(const struct spec *spec, const char *name, const char *path)
{
    char *file = spec_file(spec, name);
    const bool same = file_same(file, path);
    free(file);
    return same;
}

bool user_kernel_reads(const struct subject *subject, const char *path)
{
    const struct spec *spec = &kernel_of(subject)->spec;
    bool found = false;
    for (int i = 0; i < spec->kernels + spec->references; i++) {
        const struct spec_kernel *of = i < spec->kernels ? &spec->kernel[i] : &spec->reference[i - spec->kernels];
        for (int k = 0; k < of->files; k++)
            found = found || is_file(spec, of->file[k], path);
    }
    for (int i = 0; i < 2 * spec->arguments; i++) {
        const struct spec_argument *argument = &spec->argument[i / 2];
        const struct spec_content *content = i % 2 ? &argument->reference : &argument->in;
        found = found || (content->fill == SPEC_FILE && is_file(spec, content->source, path));
    }
    return found;
}

struct subject *user_kernel_open(struct device *device, const char *path, struct user_budget *budget)
{
    static const struct subject_type type = {prepare, validate,     build,     time_build, release, print,
                                             store,   close_kernel, run_build, cost,       metrics};
    struct user_kernel *user = xalloc(sizeof(*user));
    char why[SPEC_WHY];
    struct spec *spec = &user->spec;
    user->subject.type = &type;
    user->device = device;
    user->data.fd = -1;
    user->limit_ms = LIMIT_S * 1000;
    user->children = child_pool_open();
    bool ok = spec_load(spec, path);
    if (ok && !spec_enumerate(spec, why)) {
        log_error("cannot use %s: %s", path, why);
        ok = false;
    }
    user->subject.space = spec->space;
    if (!ok || !add_presets(&user->subject, spec)) {
        subject_close(&user->subject);
        return NULL;
    }
    if (spec->ignored[0])
        log_warn("%s: these members have no effect: %s", path, spec->ignored);
    set_name(user);
    set_used(user);
    budget->configurations = spec->budget;
    if (spec->fraction > 0 && spec->budget == 0)
        budget->configurations = (int)ceil(spec->fraction * spec->space.count);
    budget->seconds = spec->seconds;
    return &user->subject;
}
