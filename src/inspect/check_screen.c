// check_screen.c: checks the display and GL
#include "inspect/doctor_checks.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

void check_display(struct doctor *doctor)
{
    const char *x11 = variable("DISPLAY"), *wayland = variable("WAYLAND_DISPLAY");
    if (!x11 && !wayland)
        doctor_report(doctor, FINDING_WARNING, "export DISPLAY=:0   # on the machine's own screen; over ssh: ssh -X",
                      "there is no display: DISPLAY and WAYLAND_DISPLAY are not set; without one, use --headless");
    else if (!x11)
        doctor_report(doctor, FINDING_WARNING, "sudo apt install xwayland   # then log in again",
                      "Wayland at %s has no X server: monocle with GLFW before 3.4 needs XWayland", wayland);
    else
        doctor_report(doctor, FINDING_OK, NULL, "DISPLAY is %s%s%s", x11, wayland ? ", WAYLAND_DISPLAY is " : "",
                      wayland ? wayland : "");
}

// Reports one kind of context. Returns true if it works.
static bool check_kind(struct doctor *doctor, json_t *found, const char *kind, const char *prefix)
{
    json_t *context = json_object_get(found, kind);
    const char *text = json_string_value(json_object_get(context, "text"));
    const bool software = json_is_true(json_object_get(context, "software"));
    if (!text || !json_is_true(json_object_get(context, "works")))
        return false;
    if (software && doctor->gpus > 0)
        doctor_report(
            doctor, FINDING_WARNING,
            "sudo apt install libgl1-mesa-dri   # NVIDIA: nvidia-driver; Xvfb, VNC and ssh -X always use the CPU",
            "%s%s: the CPU draws, but there is a GPU", prefix, text);
    else
        doctor_report(doctor, FINDING_OK, NULL, "%s%s%s", prefix, text, software ? " (the CPU draws)" : "");
    if (!json_is_true(json_object_get(context, "filters")))
        doctor_report(doctor, FINDING_WARNING, "sudo apt install libgl1-mesa-dri   # or a newer GL driver",
                      "%sthe gl path does not work with %s: %s", prefix, text,
                      json_string_value(json_object_get(context, "why")));
    return true;
}

static void check_windows(struct doctor *doctor, json_t *found, bool broken)
{
    static const char *const kinds[] = {"GLX", "EGL", "ES"};
    int works = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        works += check_kind(doctor, found, kinds[i], "");
    const char *text = json_string_value(json_object_get(json_object_get(found, "GLX"), "text"));
    if (works > 0 || broken)
        return;
    if (text && strstr(text, "cannot open the display"))
        doctor_report(doctor, FINDING_PROBLEM,
                      "xhost +si:localuser:$(id -un)   # in a terminal of the session that owns the display", "%s",
                      text);
    else
        doctor_report(doctor, FINDING_PROBLEM, "sudo apt install libgl1-mesa-dri libegl1 libgles2",
                      "no window can be opened: %s", text ? text : "?");
}

void check_gl(struct doctor *doctor)
{
    char why[INSPECT_WHY];
    json_t *found = inspect(INSPECT_GL, "", why);
    if (variable("DISPLAY") || variable("WAYLAND_DISPLAY")) // otherwise, check_display has reported it
        check_windows(doctor, found, why[0] != '\0');
    const char *text = json_string_value(json_object_get(json_object_get(found, "headless"), "text"));
    if (!check_kind(doctor, found, "headless", "without a window: ") && !why[0])
        doctor_report(doctor, FINDING_WARNING, "sudo apt install libgl1-mesa-dri libegl1 libgles2",
                      "no GL without a window: %s", text ? text : "?");
    if (why[0])
        doctor_report(doctor, FINDING_PROBLEM, NULL, "the GL driver is broken: %s", why);
    json_decref(found);
}
