// doctor.h: checks which parts of monocle work on this machine, and how to repair the others
#pragma once

enum finding_level {
    FINDING_OK,
    FINDING_WARNING, // monocle runs, but slower or without an optional part
    FINDING_PROBLEM, // an installed part does not work, or no OpenCL device works
    FINDING_LEVELS
};

struct finding {
    enum finding_level level;
    const char *check, *text; // name of the check; one line
    const char *fix;          // the command that repairs it; NULL: none
};

// Runs all checks, which takes seconds to minutes, and calls `found` for each finding. Drivers run in child processes.
// `root`: all system directories are below it; "": the real ones. Main thread.
void doctor_run(const char *root, void (*found)(void *context, const struct finding *finding), void *context);
