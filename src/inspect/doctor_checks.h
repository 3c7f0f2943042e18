// doctor_checks.h: shared by the checks of `monocle doctor` (doctor.h)
#pragma once

#include "inspect/doctor.h"
#include "inspect/inspect.h"

#include <limits.h>
#include <stdio.h>

enum { GPUS_MAX = 16 };

struct gpu {
    char name[64];       // "NVIDIA GPU 0000:01:00.0", or the board's model
    unsigned vendor;     // of PCI; 0: on a board
    const char *rusticl; // value of RUSTICL_ENABLE for it; NULL: rusticl does not support it
};

struct doctor {
    const char *root;  // all system directories are below it; "": the real ones
    const char *check; // name of the check that runs
    void (*found)(void *context, const struct finding *finding);
    void *context;
    struct gpu gpu[GPUS_MAX];
    int gpus;
    char vendors[PATH_MAX]; // directory of the OpenCL drivers
    const char *isp;        // name of an image signal processor that has video nodes; NULL: none was found
    bool has_drivers;       // there is an OpenCL driver, perhaps a broken one
    struct json_t *devices; // OpenCL devices with their facts; NULL before check_devices
};

// Reports a finding. `fix`: the command that repairs it; NULL: none.
void doctor_report(struct doctor *doctor, enum finding_level level, const char *fix, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Writes the path below the root.
void doctor_path(const struct doctor *doctor, char path[PATH_MAX], const char *below);
bool doctor_has(const struct doctor *doctor, const char *below); // the file exists
// Reads the first line of a file. False: there is no such file.
bool doctor_read(const struct doctor *doctor, const char *below, char *line, size_t size);
// Calls `each` for the entries of a directory that begin with `prefix`, sorted. Returns their number.
int doctor_entries(struct doctor *doctor, const char *below, const char *prefix,
                   void (*each)(struct doctor *doctor, const char *name));
// Returns true if this user may read and write the device node; otherwise reports the group that may. `group`: its
// usual group, "video".
bool doctor_may_use(struct doctor *doctor, const char *below, const char *group);

void hardware_find(struct doctor *doctor);                         // sets doctor->gpu
bool hardware_has(const struct doctor *doctor, const char *model); // the board's model contains the text
// Returns the maker of the GPUs that this driver is for, if the machine has none of them; otherwise NULL.
const char *hardware_lacks(const struct doctor *doctor, const char *library);

void check_drivers(struct doctor *doctor);
void check_devices(struct doctor *doctor);
void check_gpus(struct doctor *doctor); // after check_devices
void check_render_nodes(struct doctor *doctor);
void check_display(struct doctor *doctor);
void check_gl(struct doctor *doctor);
void check_cameras(struct doctor *doctor);
void check_virtual_camera(struct doctor *doctor);
void check_cache(struct doctor *doctor);
void check_results(struct doctor *doctor);
void check_programs(struct doctor *doctor);
