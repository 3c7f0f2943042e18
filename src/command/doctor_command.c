// doctor_command.c: the `doctor` command: prints what works on this machine, and how to repair the rest
#include "base/json_text.h"
#include "base/log.h"
#include "base/text.h"
#include "command/shared.h"
#include "inspect/inspect.h"

#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>

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
    JSON_OPTION(offsetof(struct doctor_options, json), LIST_JSON_HELP),
    {0},
};
struct findings {
    json_t *rows; // with --json, printed at the end; else NULL
    int count[FINDING_LEVELS];
};

static void add_finding(void *context, const struct finding *finding)
{
    static const char *const levels[] = {"ok", "warning", "problem"};
    struct findings *findings = context;
    findings->count[finding->level]++;
    if (findings->rows) {
        json_array_append_new(findings->rows, json_pack("{s:s,s:s,s:o,s:o}", "check", finding->check, "level",
                                                        levels[finding->level], "text", text_json(finding->text), "fix",
                                                        finding->fix ? text_json(finding->fix) : json_null()));
        return;
    }
    log_print_line(stdout, "%s: %s: %s", levels[finding->level], finding->check, finding->text);
    if (finding->fix)
        log_print_line(stdout, "    fix: %s", finding->fix);
    fflush(stdout); // the next check may take seconds
}

static int run(int argc, char **argv)
{
    struct doctor_options o = {.root = ""};
    struct command_operands operands;
    struct stat status;
    if (!command_parse(&doctor_command, argc, argv, &o, 0, &operands))
        return operands.code;
    if (o.root[0] && (stat(o.root, &status) != 0 || !S_ISDIR(status.st_mode))) {
        log_error("--root: %s is not a directory", o.root);
        return EXIT_USAGE;
    }
    struct findings findings = {.rows = o.json ? json_array() : NULL};
    doctor_run(o.root, add_finding, &findings);
    const int problems = findings.count[FINDING_PROBLEM], warnings = findings.count[FINDING_WARNING];
    if (o.json)
        print_json(findings.rows, JSON_INDENT(2));
    else
        printf("%d problem%s, %d warning%s\n", problems, text_if(problems != 1, "s"), warnings,
               text_if(warnings != 1, "s"));
    return problems ? EXIT_FAILED_SOME : EXIT_OK;
}

const struct command doctor_command = {
    .name = "doctor",
    .usage = "[options]",
    .summary = "check drivers, devices, cameras, permissions; say how to repair them",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .run = run,
};
