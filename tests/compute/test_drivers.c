// test_drivers.c: drivers that crash or hang are left out and named; verdicts are kept. The argument is libtesticd.so
#include "compute/device.h"
#include "compute/drivers.h"

#include "base/child.h"
#include "scratch.h"
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>

// The test is its own child, which lists the devices and adds a line to the file in TEST_CHILDREN.
const char child_program[] = "/proc/self/exe";

static struct scratch scratch;
static char vendors[512];
static bool no_child, no_directory;

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
enum child_end __real_child_talk(const char *program, char *const arguments[], int limit_ms, int *value,
                                 bool (*line)(void *context, char *text), void *context);
enum child_end __wrap_child_talk(const char *program, char *const arguments[], int limit_ms, int *value,
                                 bool (*line)(void *context, char *text), void *context);

int __wrap_mkdir(const char *path, mode_t mode)
{
    return no_directory && strstr(path, "monocle-drivers-") ? -1 : __real_mkdir(path, mode);
}

enum child_end __wrap_child_talk(const char *program, char *const arguments[], int limit_ms, int *value,
                                 bool (*line)(void *context, char *text), void *context)
{
    return no_child ? CHILD_NOT_STARTED : __real_child_talk(program, arguments, limit_ms, value, line, context);
}

static int answer(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why;
    device_list(devices, &why);
    FILE *children = fopen(getenv("TEST_CHILDREN"), "a");
    if (children)
        fputs("\n", children), fclose(children);
    return 100;
}

static int count_children(void)
{
    struct stat status;
    const char *path = getenv("TEST_CHILDREN");
    const int count = stat(path, &status) == 0 ? (int)status.st_size : 0;
    unlink(path);
    return count;
}

// Adds a driver, whose library is a copy of libtesticd.so.
static void add_driver(const char *name, const char *icd)
{
    char library[600], file[600], copy[1300];
    snprintf(library, sizeof(library), "%s/lib%s.so", scratch.dir, name);
    snprintf(file, sizeof(file), "%s/%s.icd", vendors, name);
    snprintf(copy, sizeof(copy), "cp '%s' '%s'", icd, library);
    CHECK(system(copy) == 0);
    FILE *out = fopen(file, "w");
    CHECK(out && fprintf(out, "%s\n", library) > 0 && fclose(out) == 0);
}

// Runs the guard as a new process would. Checks the text that it logs, the number of drivers that it leaves, and the
// number of children that answered.
static void guard(const struct driver_guard *setup, const char *says, int left, int children)
{
    struct driver drivers[DRIVERS_MAX];
    setenv("OCL_ICD_VENDORS", vendors, 1);
    unsetenv("MONOCLE_DRIVERS");
    capture_stderr(&scratch.said);
    drivers_guard(setup);
    drivers_guard(setup); // has no effect
    const char *said = captured_stderr(&scratch.said);
    if (says)
        CHECK_HAS(said, says);
    else
        CHECK_TEXT(said, "");
    CHECK_NUMBER(drivers_list("/none", drivers), left);
    CHECK(drivers_guard_left_out() == (left < 2));
    const int asked = count_children();
    CHECK_NUMBER(asked, children);
    char directory[512];
    snprintf(directory, sizeof(directory), "%s", getenv("OCL_ICD_VENDORS"));
    drivers_remove();
    CHECK((access(directory, F_OK) == 0) == (left == 2));
}

static void test_crash(void)
{
    const struct timespec past[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char bad[600];
    snprintf(bad, sizeof(bad), "%s/libbad.so", scratch.dir);
    guard(NULL, NULL, 2, 1);
    setenv("TEST_ICD", "crash", 1);
    setenv("TEST_ICD_ONLY", "libbad", 1);
    guard(NULL, NULL, 2, 0);                       // the verdict of the first run
    CHECK(utimensat(AT_FDCWD, bad, past, 0) == 0); // another version
    static const char says[] = "/libbad.so";
    guard(NULL, says, 1, 1); // the good driver alone
    guard(NULL, "libbad.so: it crashed with signal 11; for a remedy, run: monocle doctor\n", 1, 0);
    setenv("TEST_ICD", "", 1);
    guard(NULL, says, 1, 0); // stored until the next boot
    setenv("TMPDIR", "/proc/none", 1);
    guard(NULL, says, 1, 0); // the file that names the good driver has another place
    no_directory = true;
    guard(NULL, "left out all OpenCL drivers: cannot make a temporary directory; set TMPDIR", 0, 0);
    no_directory = false;
    unsetenv("TMPDIR");
    guard(&(struct driver_guard){.again = true}, NULL, 2, 1);
    guard(NULL, NULL, 2, 0);
}

// Drivers are used without a check if no child starts; the next run checks them.
static void test_unchecked(void)
{
    setenv("RUSTICL_ENABLE", "one", 1); // the verdict depends on it
    no_child = true;
    guard(NULL, NULL, 2, 0);
    no_child = false;
    guard(NULL, NULL, 2, 1);
}

static void test_hang(void)
{
    setenv("TEST_ICD", "hang", 1);
    unsetenv("TEST_ICD_ONLY");
    setenv("RUSTICL_ENABLE", "other", 1); // the verdict depends on it
    guard(&(struct driver_guard){.limit_ms = 60}, "it took longer than 0 s", 0, 0);
    guard(&(struct driver_guard){.limit_ms = 60, .quiet = true}, NULL, 0, 0);
    struct device_info devices[DEVICE_MAX];
    const char *why = "";
    CHECK_NUMBER(device_list(devices, &why), 0); // loads no driver
    CHECK_TEXT(why, "no OpenCL driver works");
}

// Both variables name the drivers, as for loaders that read only one of them. Each driver is listed once.
static void test_both_variables(void)
{
    struct driver drivers[DRIVERS_MAX];
    struct drivers_choice choice;
    char names[1300];
    snprintf(names, sizeof(names), "%s/libbad.so:other.so:other.so", scratch.dir);
    setenv("OCL_ICD_VENDORS", vendors, 1);
    setenv("OCL_ICD_FILENAMES", names, 1);
    CHECK_NUMBER(drivers_list("/none", drivers), 3);
    CHECK_TEXT(drivers[2].library, "other.so");
    CHECK(drivers_use(&choice, &drivers[1], 2));
    snprintf(names, sizeof(names), "%s/libgood.so:other.so", scratch.dir);
    CHECK_TEXT(getenv("OCL_ICD_FILENAMES"), names);
    CHECK_NUMBER(drivers_list("/none", drivers), 2);
    drivers_restore(&choice);
    CHECK_HAS(getenv("OCL_ICD_FILENAMES"), "/libbad.so:other.so:other.so");
    unsetenv("OCL_ICD_FILENAMES");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "inspect") == 0)
        return answer();
    if (argc < 2 || !scratch_open(&scratch))
        return 1;
    snprintf(vendors, sizeof(vendors), "%s", scratch_path(&scratch, "vendors"));
    setenv("XDG_CACHE_HOME", scratch.dir, 1);
    setenv("TEST_CHILDREN", scratch_path(&scratch, "children"), 1);
    CHECK(mkdir(vendors, 0700) == 0);
    add_driver("bad", argv[1]);
    add_driver("good", argv[1]);
    test_both_variables();
    test_crash();
    test_unchecked();
    test_hang();
    scratch_close(&scratch);
    return check_end(&unit);
}
