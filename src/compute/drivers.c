// drivers.c: finds the OpenCL drivers that the loader would load
#include "compute/drivers.h"

#include "base/alloc.h"
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
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

// Names a new directory in `directories`, then makes it. Returns false on failure.
static bool make_directory(char path[DRIVERS_DIRECTORY])
{
    char *entry = directories[0][0] ? directories[1] : directories[0];
    const char *temporary = getenv("TMPDIR");
    uint64_t random;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random) ||
        snprintf(path, DRIVERS_DIRECTORY, "%s/monocle-drivers-%016" PRIx64,
                 temporary && *temporary ? temporary : "/tmp", random) >= DRIVERS_DIRECTORY)
        return false;
    memcpy(entry + 1, path + 1, strlen(path));
    atomic_signal_fence(memory_order_seq_cst);
    entry[0] = path[0]; // last, because a signal handler must not see a part of the path
    atomic_signal_fence(memory_order_seq_cst);
    if (mkdir(path, 0700) == 0)
        return true;
    entry[0] = '\0';
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
