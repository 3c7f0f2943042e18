// driver_guard.c: asks the OpenCL drivers for their devices in a child process, and keeps the verdict
#include "compute/driver_guard.h"

#include "base/alloc.h"
#include "base/child.h"
#include "base/driver_call.h"
#include "base/log.h"
#include "compute/drivers.h"
#include "compute/kept.h"
#include "compute/verdicts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT_MS = 20000, ANSWERED = 100 }; // ANSWERED: exit status of `monocle inspect`
static const char passed[] = "passed";
// The environment is the state of this file, because children inherit it: "PID:DIRECTORY" of the process that has asked
// the drivers. DIRECTORY: temporary files that name the drivers; "": all drivers are used.
static const char state[] = "MONOCLE_DRIVERS";

// ---- what a verdict depends on ----

static void print_file(FILE *out, const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0)
        fprintf(out, "%s %lld %lld.%09ld\n", path, (long long)status.st_size, (long long)status.st_mtim.tv_sec,
                status.st_mtim.tv_nsec);
}

// The dynamic linker finds a library without a directory in LD_LIBRARY_PATH or in its cache.
static void print_library(FILE *out, const char *library)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    if (strchr(library, '/'))
        print_file(out, library);
    while (!strchr(library, '/') && path && *path) {
        char file[PATH_MAX];
        const size_t bytes = strcspn(path, ":");
        if (snprintf(file, sizeof(file), "%.*s/%s", (int)bytes, path, library) < PATH_MAX)
            print_file(out, file);
        path += bytes + (path[bytes] == ':');
    }
}

// Returns the key of these drivers, which the caller frees. Its first *lasting bytes do not depend on the boot.
static char *make_key(const struct driver *drivers, int count, size_t *lasting, size_t *bytes)
{
    static const char *const variables[] = {"LD_LIBRARY_PATH", "LD_PRELOAD", "RUSTICL_ENABLE", "POCL_DEVICES"};
    char *key = NULL, boot[64] = "";
    FILE *out = xmemstream(&key, bytes);
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        fprintf(out, "%s=%s\n", variables[i], getenv(variables[i]) ? getenv(variables[i]) : "");
    print_file(out, "/etc/ld.so.cache"); // the linker's cache is written whenever a package with libraries changes
    for (int i = 0; i < count; i++) {
        fprintf(out, "%s\n%s\n", drivers[i].file, drivers[i].library);
        print_library(out, drivers[i].library);
    }
    *lasting = (size_t)ftell(out);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file && fgets(boot, sizeof(boot), file))
        fprintf(out, "boot %s", boot);
    if (file)
        fclose(file);
    fclose(out);
    return key;
}

// ---- ask ----

struct question {
    const struct driver_guard *guard;
    const struct driver *drivers;
    int count;
    bool all; // these are all drivers, so the environment need not change
};

static bool wait_on(void *context, char *text)
{
    status_line_tick(context, "waiting for the OpenCL drivers");
    return true;
}

static enum verdict_hold find(void *context, char verdict[VERDICT_TEXT])
{
    const struct question *question = context;
    const int limit_ms = question->guard->limit_ms ? question->guard->limit_ms : LIMIT_MS;
    struct drivers_choice choice = {.path = ""};
    struct status_line status = {0};
    char parent[16];
    int value;
    snprintf(parent, sizeof(parent), "%d", (int)getpid());
    char *const arguments[] = {"monocle", "inspect", parent, "opencl", "", NULL};
    snprintf(verdict, VERDICT_TEXT, "%s", passed);
    if (!question->all && !drivers_use(&choice, question->drivers, question->count)) {
        drivers_restore(&choice);
        return VERDICT_UNKNOWN;
    }
    driver_call_begin(); // so that a signal ends the wait
    const enum child_end end = child_talk(child_program, arguments, limit_ms, &value, wait_on, &status);
    driver_call_end();
    status_line_end(&status);
    drivers_restore(&choice);
    // If no child can be started, the drivers are used without a check.
    if (end == CHILD_NOT_STARTED || (end == CHILD_EXITED && value == ANSWERED))
        return end == CHILD_EXITED ? VERDICT_LASTS : VERDICT_UNKNOWN;
    child_explain(end, value, limit_ms / 1000, limit_ms / 1000, verdict);
    return child_was_killed(end, value) ? VERDICT_UNKNOWN : VERDICT_DOUBTFUL;
}

struct guard_finding {
    struct question *question;
    struct verdicts failures;
    const char *key; // including the boot
    size_t bytes;
    char *why;
};

// The store of lasting verdicts keeps only successes; failures have a store whose key includes the boot.
static enum verdict_hold find_lasting(void *context, char verdict[VERDICT_TEXT])
{
    struct guard_finding *finding = context;
    enum verdict_hold hold = VERDICT_LASTS;
    if (finding->question->guard->again)
        hold = find(finding->question, verdict);
    else
        verdicts_get(&finding->failures, finding->key, finding->bytes, find, finding->question, verdict);
    return strcmp(verdict, passed) == 0 ? hold : VERDICT_UNKNOWN;
}

// Returns true if these drivers list their devices; otherwise `why` has the reason.
static bool work(struct question *question, char why[VERDICT_TEXT])
{
    struct guard_finding finding = {.question = question};
    struct verdicts successes;
    size_t lasting;
    char *key = make_key(question->drivers, question->count, &lasting, &finding.bytes);
    if (!key)
        return true;
    finding.key = key;
    verdicts_init(&successes);
    verdicts_init(&finding.failures);
    verdicts_get(&successes, key, lasting, find_lasting, &finding, why);
    verdicts_finish(&finding.failures);
    verdicts_finish(&successes);
    free(key);
    return strcmp(why, passed) == 0;
}

static void leave_out(const struct driver_guard *guard, const struct driver *driver, const char *together,
                      const char *why)
{
    if (!guard->quiet)
        log_warn("left out the OpenCL driver %s: %s%s; for a remedy, run: monocle doctor",
                 driver->library[0] ? driver->library : driver->file, together, why);
}

// Moves the drivers that work to the front. Returns their number.
static int select_working(const struct driver_guard *guard, struct driver *drivers, int count)
{
    char why[VERDICT_TEXT];
    int kept = 0;
    for (int i = 0; i < count; i++) {
        struct question one = {.guard = guard, .drivers = &drivers[i], .count = 1};
        if (work(&one, why))
            drivers[kept++] = drivers[i];
        else
            leave_out(guard, &drivers[i], "", why);
    }
    // Two drivers may use different versions of the same library.
    while (kept > 1) {
        struct question rest = {.guard = guard, .drivers = drivers, .count = kept};
        if (work(&rest, why))
            break;
        leave_out(guard, &drivers[--kept], "beside the other drivers, ", why);
    }
    return kept;
}

static void set_state(const char *directory)
{
    char text[PATH_MAX];
    snprintf(text, sizeof(text), "%d:%s", (int)getpid(), directory);
    setenv(state, text, 1);
}

void drivers_guard(const struct driver_guard *guard)
{
    static const struct driver_guard usual = {0};
    if (!child_program || getenv(state))
        return;
    guard = guard ? guard : &usual;
    set_state(""); // for the children, too
    struct driver *drivers = xcalloc(DRIVERS_MAX, sizeof(*drivers));
    const int count = drivers_list(guard->vendors ? guard->vendors : DRIVERS_VENDORS, drivers);
    struct question all = {.guard = guard, .drivers = drivers, .count = count, .all = true};
    char why[VERDICT_TEXT];
    if (count > 0 && !work(&all, why)) {
        struct drivers_choice choice;
        const int kept = select_working(guard, drivers, count);
        if (drivers_use(&choice, drivers, kept))
            set_state(choice.path);
        free(choice.vendors);
        free(choice.libraries);
    }
    free(drivers);
}

void drivers_guard_skip(void)
{
    if (!getenv(state))
        set_state("");
}

static const char *directory_of(const char *text)
{
    return text && strchr(text, ':') ? strchr(text, ':') + 1 : "";
}

bool drivers_guard_left_out(void)
{
    return directory_of(getenv(state))[0] != '\0';
}
