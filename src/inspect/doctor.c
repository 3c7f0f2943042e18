// doctor.c: runs the checks of `monocle doctor`
#include "inspect/doctor_checks.h"

#include "compute/drivers.h"

#include <dirent.h>
#include <grp.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct check {
    const char *name;
    void (*run)(struct doctor *doctor);
} checks[] = {
    {"drivers", check_drivers},   {"devices", check_devices},
    {"gpus", check_gpus},         {"render nodes", check_render_nodes},
    {"display", check_display},   {"gl", check_gl},
    {"cameras", check_cameras},   {"virtual camera", check_virtual_camera},
    {"cache", check_cache},       {"results", check_results},
    {"programs", check_programs},
};

// ---- findings ----

void doctor_report(struct doctor *doctor, enum finding_level level, const char *fix, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    doctor->found(doctor->context, &(struct finding){level, doctor->check, text, fix});
}

// ---- files ----

void doctor_path(const struct doctor *doctor, char path[PATH_MAX], const char *below)
{
    snprintf(path, PATH_MAX, "%s%s", doctor->root, below);
}

bool doctor_has(const struct doctor *doctor, const char *below)
{
    char path[PATH_MAX];
    doctor_path(doctor, path, below);
    return access(path, F_OK) == 0;
}

bool doctor_read(const struct doctor *doctor, const char *below, char *line, size_t size)
{
    char path[PATH_MAX];
    doctor_path(doctor, path, below);
    FILE *file = fopen(path, "r"); // not file_read: files of /sys report a wrong size
    const bool ok = file && fgets(line, (int)size, file);
    if (file)
        fclose(file);
    line[ok ? strcspn(line, "\n") : 0] = '\0';
    return ok;
}

int doctor_entries(struct doctor *doctor, const char *below, const char *prefix,
                   void (*each)(struct doctor *doctor, const char *name))
{
    char path[PATH_MAX];
    struct dirent **entries;
    int count = 0;
    doctor_path(doctor, path, below);
    const int found = scandir(path, &entries, NULL, versionsort);
    for (int i = 0; i < found; i++) {
        if (entries[i]->d_name[0] != '.' && strncmp(entries[i]->d_name, prefix, strlen(prefix)) == 0) {
            count++;
            if (each)
                each(doctor, entries[i]->d_name);
        }
        free(entries[i]);
    }
    if (found >= 0)
        free(entries);
    return count;
}

bool doctor_may_use(struct doctor *doctor, const char *below, const char *group)
{
    char path[PATH_MAX], fix[128];
    struct stat status;
    doctor_path(doctor, path, below);
    if (access(path, R_OK | W_OK) == 0)
        return true;
    const bool found = stat(path, &status) == 0;
    const struct group *owner = found && status.st_gid != 0 ? getgrgid(status.st_gid) : NULL;
    snprintf(fix, sizeof(fix), "sudo usermod -aG %s $USER   # then log in again", owner ? owner->gr_name : group);
    doctor_report(doctor, FINDING_PROBLEM, fix, "no permission to open %s", below);
    return false;
}

// ---- all checks ----

void doctor_run(const char *root, void (*found)(void *context, const struct finding *finding), void *context)
{
    struct doctor doctor = {.root = root, .found = found, .context = context};
    doctor_path(&doctor, doctor.vendors, DRIVERS_VENDORS);
    if (root[0])
        setenv("OCL_ICD_VENDORS", doctor.vendors, 0);
    hardware_find(&doctor);
    for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
        doctor.check = checks[i].name;
        checks[i].run(&doctor);
    }
    json_decref(doctor.devices);
}
