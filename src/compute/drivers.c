// drivers.c: the installed OpenCL drivers: their list, the guard against drivers that crash, settings of PoCL
#include "compute/drivers.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/child.h"
#include "base/driver_call.h"
#include "base/file.h"
#include "base/log.h"
#include "compute/driver_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 4096, DRIVER_PATH = DRIVERS_DIRECTORY + 8 };
static const char vendors_variable[] = "OCL_ICD_VENDORS", libraries_variable[] = "OCL_ICD_FILENAMES";

// Adds a driver that a file describes: its first line is a library.
static int add_file(const char *path, struct driver *drivers, int count)
{
    if (count == DRIVERS_MAX)
        return count;
    struct driver *driver = &drivers[count];
    size_t size;
    char *text = file_read(path, FILE_MAX_BYTES, &size);
    *driver = (struct driver){.library = ""};
    snprintf(driver->file, sizeof(driver->file), "%s", path);
    if (text)
        snprintf(driver->library, sizeof(driver->library), "%.*s", (int)strcspn(text, " \t\r\n"), text);
    free(text);
    return count + 1;
}

static int is_driver(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".icd") == 0;
}

static int add_directory(const char *path, struct driver *drivers)
{
    struct dirent **entries;
    int count = 0;
    const int found = scandir(path, &entries, is_driver, alphasort);
    for (int i = 0; i < found; i++) {
        char file[PATH_MAX];
        if (snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name) < PATH_MAX)
            count = add_file(file, drivers, count);
        free(entries[i]);
    }
    if (found >= 0)
        free(entries);
    return count;
}

// Adds what OCL_ICD_VENDORS names: a directory; a file here or in `vendors`; or a library.
static int add_chosen(const char *chosen, const char *vendors, struct driver *drivers)
{
    char file[PATH_MAX];
    struct stat status;
    const size_t length = strlen(chosen);
    const bool is_file = length > 4 && strcmp(chosen + length - 4, ".icd") == 0, found = stat(chosen, &status) == 0;
    if (found && S_ISDIR(status.st_mode))
        return add_directory(chosen, drivers);
    if (is_file && !found && !strchr(chosen, '/') &&
        snprintf(file, sizeof(file), "%s/%s", vendors, chosen) < (int)sizeof(file))
        return add_file(file, drivers, 0);
    if (is_file)
        return add_file(chosen, drivers, 0);
    if (!strstr(chosen, ".so"))
        return 0; // probably a directory that does not exist
    *drivers = (struct driver){.library = ""};
    snprintf(drivers->file, sizeof(drivers->file), "%s", vendors_variable);
    snprintf(drivers->library, sizeof(drivers->library), "%s", chosen);
    return 1;
}

static bool is_listed(const struct driver *drivers, int count, const char *library)
{
    for (int i = 0; i < count; i++)
        if (strcmp(drivers[i].library, library) == 0)
            return true;
    return false;
}

int drivers_list(const char *vendors, struct driver drivers[DRIVERS_MAX])
{
    const char *chosen = getenv(vendors_variable), *libraries = getenv(libraries_variable);
    int count = chosen && *chosen ? add_chosen(chosen, vendors, drivers) : add_directory(vendors, drivers);
    for (const char *at = libraries; at && *at && count < DRIVERS_MAX;) {
        struct driver *driver = &drivers[count];
        const size_t bytes = strcspn(at, ":");
        *driver = (struct driver){.library = ""};
        snprintf(driver->file, sizeof(driver->file), "%s", libraries_variable);
        snprintf(driver->library, sizeof(driver->library), "%.*s", (int)bytes, at);
        count += !is_listed(drivers, count, driver->library); // a loader loads it once
        at += bytes + (at[bytes] == ':');
    }
    return count;
}

void driver_repair(const struct driver *driver, char *text, size_t size)
{
    if (strchr(driver->file, '/'))
        snprintf(text, size, "sudo mv %s %s.disabled", driver->file, driver->file);
    else
        snprintf(text, size, "unset %s", driver->file);
}

// ---- temporary directories ----

enum { PLACES = 4 };

// Those that exist: one of drivers_guard, and one of a driver that is being asked. "": none. A signal handler reads
// them.
static char directories[2][DRIVERS_DIRECTORY];

static void driver_path(const char *directory, int number, char path[DRIVER_PATH])
{
    const char name[] = {'/', (char)('0' + number / 10), (char)('0' + number % 10), '.', 'i', 'c', 'd', '\0'};
    const size_t length = strlen(directory);
    memcpy(path, directory, length);
    memcpy(path + length, name, sizeof(name));
}

// Returns place number `index` for temporary directories, the best one first.
static const char *place(int index)
{
    const char *chosen = getenv("TMPDIR");
    const char *const places[PLACES] = {chosen && *chosen ? chosen : "/tmp", "/tmp", "/var/tmp", "/dev/shm"};
    return places[index];
}

// Names a new directory in `directories`, then makes it, in the first place where it can. Returns false on failure.
static bool make_directory(char path[DRIVERS_DIRECTORY])
{
    char *entry = directories[0][0] ? directories[1] : directories[0];
    uint64_t random;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return false;
    for (int i = 0; i < PLACES; i++) {
        if (snprintf(path, DRIVERS_DIRECTORY, "%s/monocle-drivers-%016" PRIx64, place(i), random) >= DRIVERS_DIRECTORY)
            continue;
        memcpy(entry + 1, path + 1, strlen(path));
        atomic_signal_fence(memory_order_seq_cst);
        entry[0] = path[0]; // last, because a signal handler must not see a part of the path
        atomic_signal_fence(memory_order_seq_cst);
        if (mkdir(path, 0700) == 0)
            return true;
        entry[0] = '\0';
        atomic_signal_fence(memory_order_seq_cst);
    }
    return false;
}

static void remove_directory(char *directory)
{
    char path[DRIVER_PATH];
    for (int i = 0; i < DRIVERS_MAX; i++) {
        driver_path(directory, i, path);
        unlink(path);
    }
    rmdir(directory);
    directory[0] = '\0';
}

void drivers_remove(void)
{
    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        if (directories[i][0])
            remove_directory(directories[i]);
}

static bool write_driver(const char *path, const struct driver *driver)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool ok = fd >= 0 && file_write_all(fd, driver->library, strlen(driver->library)) && write(fd, "\n", 1) == 1;
    if (fd >= 0)
        close(fd);
    return ok;
}

// Sets the variable, or removes it if the value is NULL. Frees the value.
static void restore(const char *variable, char *value)
{
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
    free(value);
}

// ocl-icd reads only OCL_ICD_VENDORS, CUDA's own loader only OCL_ICD_FILENAMES.
bool drivers_use(struct drivers_choice *choice, const struct driver *drivers, int count)
{
    const char *vendors = getenv(vendors_variable), *libraries = getenv(libraries_variable);
    *choice = (struct drivers_choice){.path = ""};
    if (!make_directory(choice->path)) {
        choice->path[0] = '\0';
        return false;
    }
    char *names = NULL;
    size_t bytes;
    FILE *list = xmemstream(&names, &bytes);
    for (; choice->count < count; choice->count++) {
        char path[DRIVER_PATH];
        driver_path(choice->path, choice->count, path);
        if (!write_driver(path, &drivers[choice->count]))
            break;
        fprintf(list, "%s%s", choice->count ? ":" : "", drivers[choice->count].library);
    }
    xmemclose(list);
    choice->vendors = vendors ? xstrdup(vendors) : NULL;
    choice->libraries = libraries ? xstrdup(libraries) : NULL;
    setenv(vendors_variable, choice->path, 1);
    restore(libraries_variable, names);
    return choice->count == count;
}

void drivers_restore(struct drivers_choice *choice)
{
    if (!choice->path[0])
        return;
    for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
        if (strcmp(directories[i], choice->path) == 0)
            remove_directory(directories[i]);
    restore(vendors_variable, choice->vendors);
    restore(libraries_variable, choice->libraries);
    *choice = (struct drivers_choice){.path = ""};
}

// ---- the guard ----

enum { LIMIT_MS = 20000, ANSWERED = 100 }; // ANSWERED: exit status of `monocle inspect`
static const char passed[] = "passed";
static const char unchecked[] = "unchecked"; // no child could be started: the drivers are used
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
    xmemclose(out);
    return key;
}

// ---- ask ----

struct driver_question {
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
    const struct driver_question *question = context;
    const int limit_ms = question->guard->limit_ms ? question->guard->limit_ms : LIMIT_MS;
    struct drivers_choice choice = {.path = ""};
    struct status_line status = {0};
    char parent[16];
    int value;
    snprintf(parent, sizeof(parent), "%d", (int)getpid());
    char *const arguments[] = {"monocle", "inspect", parent, "opencl", "", NULL};
    snprintf(verdict, VERDICT_TEXT, "%s", unchecked);
    if (!question->all && !drivers_use(&choice, question->drivers, question->count)) {
        drivers_restore(&choice);
        return VERDICT_UNKNOWN;
    }
    driver_call_begin(); // so that a signal ends the wait
    const enum child_end end = child_talk(child_program, arguments, limit_ms, &value, wait_on, &status);
    driver_call_end();
    status_line_end(&status);
    drivers_restore(&choice);
    if (end == CHILD_NOT_STARTED)
        return VERDICT_UNKNOWN;
    if (end == CHILD_EXITED && value == ANSWERED) {
        snprintf(verdict, VERDICT_TEXT, "%s", passed);
        return VERDICT_LASTS;
    }
    child_explain(end, value, limit_ms / 1000, limit_ms / 1000, verdict);
    return child_was_killed(end, value) ? VERDICT_UNKNOWN : VERDICT_DOUBTFUL;
}

struct guard_finding {
    struct driver_question *question;
    const char *key; // including the boot
    size_t bytes;
};

// The store of lasting verdicts keeps only successes; failures have a store whose key includes the boot.
static enum verdict_hold find_lasting(void *context, char verdict[VERDICT_TEXT])
{
    struct guard_finding *finding = context;
    if (finding->question->guard->again)
        find(finding->question, verdict);
    else
        verdict_get(finding->key, finding->bytes, find, finding->question, verdict);
    return strcmp(verdict, passed) == 0 ? VERDICT_LASTS : VERDICT_UNKNOWN;
}

// Returns true if these drivers list their devices, or cannot be asked; otherwise `why` has the reason.
static bool work(struct driver_question *question, char why[VERDICT_TEXT])
{
    struct guard_finding finding = {.question = question};
    size_t lasting;
    char *key = make_key(question->drivers, question->count, &lasting, &finding.bytes);
    finding.key = key;
    verdict_get(key, lasting, find_lasting, &finding, why);
    free(key);
    return strcmp(why, passed) == 0 || strcmp(why, unchecked) == 0;
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
        struct driver_question one = {.guard = guard, .drivers = &drivers[i], .count = 1};
        if (work(&one, why))
            drivers[kept++] = drivers[i];
        else
            leave_out(guard, &drivers[i], "", why);
    }
    // Two drivers may use different versions of the same library.
    while (kept > 1) {
        struct driver_question rest = {.guard = guard, .drivers = drivers, .count = kept};
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
    struct driver_question all = {.guard = guard, .drivers = drivers, .count = count, .all = true};
    char why[VERDICT_TEXT];
    if (count > 0 && !work(&all, why)) {
        struct drivers_choice choice;
        const int kept = select_working(guard, drivers, count);
        if (!drivers_use(&choice, drivers, kept) && !choice.path[0]) {
            if (!guard->quiet)
                log_warn("left out all OpenCL drivers: cannot make a temporary directory; set TMPDIR to a directory "
                         "that can be written");
            setenv(vendors_variable, "/dev/null/none", 1); // does not exist
            unsetenv(libraries_variable);
        }
        set_state(getenv(vendors_variable));
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

// ---- PoCL ----

enum { OPEN_FILES = 16 };
enum { ROOM_BYTES = 8 << 20 }; // for many kernels and the compiler's temporary files

// Finds PoCL's cache directory (pocl_cache.c of PoCL 3.1 and later). False: the path is too long.
static bool own_place(char path[PATH_MAX])
{
    const char *chosen = getenv("POCL_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (chosen && *chosen)
        return snprintf(path, PATH_MAX, "%s", chosen) < PATH_MAX;
    const char *base = home ? home : "/tmp";
    if (cache && *cache)
        base = cache;
    return snprintf(path, PATH_MAX, "%s%s/pocl/kcache", base, base == home ? "/.cache" : "") < PATH_MAX;
}

// Cuts a path to its part that exists. False with errno set if that cannot be determined.
static bool cut_to_existing(char *path)
{
    struct stat status;
    while (stat(path, &status) != 0) {
        char *slash = strrchr(path, '/');
        if (errno != ENOENT || strcmp(path, ".") == 0)
            return false;
        if (!slash)
            snprintf(path, PATH_MAX, ".");
        else
            slash[slash == path] = '\0';
    }
    return true;
}

// Returns why programs cannot be stored in a directory, which may not exist yet, and run from there; NULL if they can.
static const char *why_unusable(const char *directory)
{
    static const char name[] = "/.monocle-probe"; // no such file exists
    char path[PATH_MAX + sizeof(name)];
    struct statvfs system;
    snprintf(path, PATH_MAX, "%s", directory);
    if (!cut_to_existing(path) || statvfs(path, &system) != 0)
        return strerror(errno);
    if (system.f_flag & ST_NOEXEC)
        return "the file system is mounted noexec";
    if (system.f_blocks > 0 && (uint64_t)system.f_bavail * system.f_frsize < ROOM_BYTES)
        return "the file system is full";
    strcat(path, name);
    return file_writable(path, false) ? NULL : strerror(errno);
}

// Returns why other users could store programs there, which PoCL would run; NULL if they cannot.
static const char *why_unsafe(const char *directory)
{
    char path[PATH_MAX];
    struct stat status;
    snprintf(path, PATH_MAX, "%s", directory);
    return cut_to_existing(path) && stat(path, &status) == 0 ? cache_unsafe(&status) : strerror(errno);
}

// Makes the temporary directory in the first usable place. Sets `path` to "" if no place is usable.
static void make_temporary(char *path, size_t size)
{
    for (int i = 0; i < PLACES; i++)
        if (!why_unusable(place(i)) && snprintf(path, size, "%s/monocle-pocl-XXXXXX", place(i)) < (int)size &&
            mkdtemp(path))
            return;
    path[0] = '\0';
}

void pocl_cache_open(struct pocl_cache *cache)
{
    char own[PATH_MAX];
    const char *why;
    *cache = (struct pocl_cache){.path = ""};
    if (!own_place(own) || (!(why = why_unusable(own)) && !(why = why_unsafe(own))))
        return;
    snprintf(cache->why, sizeof(cache->why), "%.180s: %s", own, why);
    make_temporary(cache->path, sizeof(cache->path));
    if (cache->path[0])
        setenv("POCL_CACHE_DIR", cache->path, 1);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    return remove(path);
}

void pocl_cache_close(struct pocl_cache *cache)
{
    if (!cache->path[0] || rmdir(cache->path) == 0) // empty: PoCL was not used
        return;
    log_warn("PoCL cannot store compiled kernels in %s; it compiles them at every start; set POCL_CACHE_DIR to another "
             "directory",
             cache->why);
    if (nftw(cache->path, remove_entry, OPEN_FILES, FTW_DEPTH | FTW_PHYS) != 0)
        log_warn("cannot remove the temporary directory %s: %s", cache->path, strerror(errno));
    cache->path[0] = '\0';
}
