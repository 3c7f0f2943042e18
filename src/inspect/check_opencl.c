// check_opencl.c: checks the OpenCL drivers and devices
#include "base/alloc.h"
#include "inspect/doctor_checks.h"

#include "compute/driver_guard.h"
#include "compute/drivers.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

// Returns the value of RUSTICL_ENABLE for this machine.
static const char *rusticl_name(const struct doctor *doctor)
{
    for (int i = 0; i < doctor->gpus; i++)
        if (doctor->gpu[i].rusticl)
            return doctor->gpu[i].rusticl;
    return "llvmpipe";
}

static void report_none(struct doctor *doctor, const struct driver *driver, json_t *found)
{
    char fix[128];
    const char *why = json_string_value(json_object_get(found, "why")), *enabled = getenv("RUSTICL_ENABLE");
    if (strcasestr(driver->library, "rusticl")) {
        snprintf(fix, sizeof(fix), "export RUSTICL_ENABLE=%s", rusticl_name(doctor));
        doctor_report(doctor, FINDING_WARNING, fix, "%s loads, but lists no device: RUSTICL_ENABLE %s%s",
                      driver->library, enabled ? "is " : "is not set", enabled ? enabled : "");
    } else if (hardware_lacks(doctor, driver->library))
        doctor_report(doctor, FINDING_OK, NULL, "%s loads, but lists no device: there is no GPU of %s", driver->library,
                      hardware_lacks(doctor, driver->library));
    else
        doctor_report(doctor, FINDING_WARNING, NULL, "%s loads, but lists no device: %s", driver->library,
                      why ? why : "?");
}

static void check_driver(struct doctor *doctor, const struct driver *driver)
{
    char why[INSPECT_WHY], fix[3 * PATH_MAX];
    struct drivers_choice alone;
    if (!drivers_use(&alone, driver, 1)) {
        drivers_restore(&alone);
        doctor_report(doctor, FINDING_WARNING, NULL, "%s cannot be tested: no temporary directory can be made",
                      driver->library);
        return;
    }
    json_t *found = inspect(INSPECT_DRIVER, driver->library, why);
    drivers_restore(&alone);
    const char *error = json_string_value(json_object_get(found, "error"));
    const size_t count = json_array_size(json_object_get(found, "devices"));
    if (why[0]) {
        driver_repair(driver, fix, sizeof(fix));
        doctor_report(doctor, FINDING_PROBLEM, fix, "%s, which %s names, is broken: %s", driver->library, driver->file,
                      why);
    } else if (!error || error[0]) {
        snprintf(fix, sizeof(fix),
                 "sudo apt install --reinstall $(dpkg -S %s | cut -d: -f1)   # or, if no package owns it: sudo rm %s",
                 driver->file, driver->file);
        doctor_report(doctor, FINDING_PROBLEM, fix, "the library that %s names does not load: %s", driver->file,
                      error ? error : "?");
    } else if (count == 0)
        report_none(doctor, driver, found);
    else
        doctor_report(doctor, FINDING_OK, NULL, "%s loads and lists %zu device%s", driver->library, count,
                      count == 1 ? "" : "s");
    json_decref(found);
}

void check_drivers(struct doctor *doctor)
{
    struct driver *drivers = xcalloc(DRIVERS_MAX, sizeof(*drivers));
    const int count = drivers_list(doctor->vendors, drivers);
    doctor->has_drivers = count > 0;
    for (int i = 0; i < count; i++) {
        char fix[PATH_MAX + 16];
        snprintf(fix, sizeof(fix), "sudo rm %s", drivers[i].file);
        if (drivers[i].library[0])
            check_driver(doctor, &drivers[i]);
        else
            doctor_report(doctor, FINDING_PROBLEM, fix, "%s names no library, or cannot be read", drivers[i].file);
    }
    if (count == 0)
        doctor_report(doctor, FINDING_PROBLEM, "sudo apt install pocl-opencl-icd   # for the CPU; for a GPU, see below",
                      "no OpenCL driver is installed; only the cpu path works");
    free(drivers);
}

// Writes the sharing modes that work: "mapped, opencl".
static void list_modes(json_t *device, char *text, size_t size)
{
    static const char *const modes[] = {"gl-shared", "mapped", "opencl"};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        const size_t used = strlen(text);
        if (json_is_true(json_object_get(json_object_get(device, modes[i]), "works")))
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", modes[i]);
    }
}

static void check_device(struct doctor *doctor, json_t *device)
{
    char number[16], why[INSPECT_WHY], modes[64];
    const char *name = json_string_value(json_object_get(device, "name"));
    snprintf(number, sizeof(number), "%d", (int)json_integer_value(json_object_get(device, "number")));
    json_t *found = inspect(INSPECT_DEVICE, number, why);
    json_object_update(device, found);
    json_decref(found);
    json_t *opencl = json_object_get(device, "opencl"), *shared = json_object_get(device, "gl-shared");
    const char *failed = json_string_value(json_object_get(opencl, "why"));
    const char *unshared = json_string_value(json_object_get(shared, "why"));
    list_modes(device, modes, sizeof(modes));
    if (why[0])
        doctor_report(doctor, FINDING_PROBLEM, NULL, "%s '%s' is broken: %s; works before that: %s", number, name, why,
                      modes[0] ? modes : "nothing");
    else if (!json_is_true(json_object_get(opencl, "works")))
        doctor_report(doctor, FINDING_PROBLEM, NULL, "%s '%s' cannot filter: %s", number, name, failed ? failed : "?");
    else if (json_is_true(json_object_get(shared, "works")))
        doctor_report(doctor, FINDING_OK, NULL, "%s '%s' works: %s", number, name, modes);
    else
        doctor_report(doctor, FINDING_OK, NULL, "%s '%s' works: %s; gl-shared: %s", number, name, modes,
                      unshared ? unshared : "not tested");
}

void check_devices(struct doctor *doctor)
{
    char broken[INSPECT_WHY];
    drivers_guard(&(struct driver_guard){.vendors = doctor->vendors, .quiet = true, .again = true}); // check_drivers
    json_t *found = inspect(INSPECT_OPENCL, "", broken);
    const char *why = broken[0] ? broken : json_string_value(json_object_get(found, "why"));
    size_t i;
    json_t *device;
    doctor->devices = json_incref(json_object_get(found, "devices"));
    json_array_foreach(doctor->devices, i, device) check_device(doctor, device);
    if (json_array_size(doctor->devices) == 0 && doctor->has_drivers)
        doctor_report(doctor, FINDING_PROBLEM, NULL, "there is no OpenCL device: %s; only the cpu path works",
                      why ? why : "?");
    json_decref(found);
}
