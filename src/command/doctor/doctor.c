// doctor.c: the command that checks which parts of monocle work on this machine, and how to repair the others
#include "command/doctor/doctor.h"

#include "base/file.h"
#include "base/log.h"
#include "command/command.h"
#include "command/shared.h"
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

static const char *const examples[] = {
    "monocle doctor  check this machine",
    "monocle doctor --json  print the findings as JSON",
    NULL,
};
static const char *const details[] = {
    "Each line is a finding: ok, warning or problem, the name of the check, and the reason. A line 'fix:' below it has "
    "the command that repairs it. Names of packages are those of Debian and Ubuntu.",
    "ok\tit works",
    "warning\tmonocle runs, but slower or without an optional part",
    "problem\tan installed part does not work, or no OpenCL device works",
    "The checks:",
    "drivers\tthe OpenCL drivers load",
    "devices\teach OpenCL device runs a test frame in each sharing mode",
    "gpus\teach GPU has an OpenCL device",
    "render nodes\tthis user may open the GPUs",
    "display, gl\ta window opens over GLX, over EGL and with OpenGL ES; GL works without a window; a GPU draws; the gl "
    "path filters a frame correctly",
    "cameras\tthis user may open them, and they answer",
    "virtual camera\tthe kernel module v4l2loopback is loaded",
    "cache, results\tcompiled kernels and tuning results can be stored safely",
    "programs\tother programs that monocle's messages name are installed",
    "Drivers run in child processes with a limit of 60 s (devices: 180 s), so a driver that crashes or hangs is only a "
    "finding. All commands leave such an OpenCL driver out.",
    "The members of a finding in --json: check, level (ok, warning, problem), text, fix (a command, or null).",
    NULL,
};
static const char *const exits[] = {
    "0\tthere is no problem",
    "1\tthere is a problem, or standard output cannot be written",
    "2\twrong arguments",
    NULL,
};

struct doctor_options {
    bool json;
    const char *root;
};
static const struct option options[] = {
    {"root", .type = OPTION_TEXT, .value = "DIR", .complete = "directory",
     .help = "find /sys, /dev, /etc, /proc and /lib below this directory; default: /",
     .offset = offsetof(struct doctor_options, root)},
    {"json", 'j', OPTION_FLAG, .help = "print one JSON array on standard output",
     .offset = offsetof(struct doctor_options, json)},
    {0},
};
static const struct option_list list = {
    .command = "doctor",
    .usage = "[options]",
    .summary = "check drivers, devices, cameras and permissions; say how to repair them",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
};

// ---- findings ----

void doctor_report(struct doctor *doctor, enum finding_level level, const char *fix, const char *format, ...)
{
    static const char *const levels[] = {"ok", "warning", "problem"};
    char text[1024], shown[sizeof(text)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    doctor->count[level]++;
    json_array_append_new(doctor->findings,
                          json_pack("{s:s,s:s,s:o,s:o}", "check", doctor->check, "level", levels[level], "text",
                                    text_json(text), "fix", fix ? text_json(fix) : json_null()));
    if (doctor->json)
        return;
    log_escape(shown, sizeof(shown), text);
    printf("%s: %s: %s\n", levels[level], doctor->check, shown);
    if (fix) {
        log_escape(shown, sizeof(shown), fix);
        printf("    fix: %s\n", shown);
    }
    fflush(stdout); // the next check may take seconds
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

// ---- the command ----

static int doctor_run(int argc, char **argv)
{
    struct doctor_options o = {.root = ""};
    struct command_operands operands;
    int code;
    if (!command_parse(&list, argc, argv, &o, 0, &operands, &code))
        return code;
    struct stat status;
    if (o.root[0] && (stat(o.root, &status) != 0 || !S_ISDIR(status.st_mode))) {
        log_error("--root: %s is not a directory", o.root);
        return EXIT_USAGE;
    }
    struct doctor doctor = {.root = o.root, .json = o.json, .findings = json_array()};
    doctor_path(&doctor, doctor.vendors, DRIVERS_VENDORS);
    if (o.root[0])
        setenv("OCL_ICD_VENDORS", doctor.vendors, 0);
    hardware_find(&doctor);
    for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
        doctor.check = checks[i].name;
        checks[i].run(&doctor);
    }
    const int problems = doctor.count[FINDING_PROBLEM], warnings = doctor.count[FINDING_WARNING];
    if (o.json)
        print_json(json_incref(doctor.findings), JSON_INDENT(2));
    else
        printf("%d problem%s, %d warning%s\n", problems, problems == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
    json_decref(doctor.findings);
    json_decref(doctor.devices);
    return problems ? EXIT_FAILED_SOME : EXIT_OK;
}

const struct command doctor_command = {.list = &list, .run = doctor_run};
