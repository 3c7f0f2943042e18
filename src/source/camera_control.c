// camera_control.c: the controls of a camera (brightness, exposure, focus, ...) by name
#include "source/camera_control.h"

#include "base/alloc.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LOCKED = V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_INACTIVE | V4L2_CTRL_FLAG_GRABBED };

struct control {
    struct v4l2_queryctrl about;
    char name[SOURCE_WORD]; // "exposure_dynamic_framerate", as in v4l2-ctl
    int value;
};

// "White Balance, Automatic" becomes white_balance_automatic.
static void plain_name(const char *from, char name[SOURCE_WORD])
{
    size_t length = 0;
    for (; *from && length < SOURCE_WORD - 1; from++) {
        const bool letter = (*from >= 'a' && *from <= 'z') || (*from >= '0' && *from <= '9');
        const bool capital = *from >= 'A' && *from <= 'Z';
        if (letter || capital)
            name[length++] = (char)(capital ? *from - 'A' + 'a' : *from);
        else if (length > 0 && name[length - 1] != '_')
            name[length++] = '_';
    }
    while (length > 0 && name[length - 1] == '_')
        length--;
    name[length] = '\0';
}

static bool is_menu(const struct control *control)
{
    return control->about.type == V4L2_CTRL_TYPE_MENU || control->about.type == V4L2_CTRL_TYPE_INTEGER_MENU;
}

// A place in the list of controls
struct place {
    uint32_t id; // of the control before it; 0: none
    int count;   // of all controls before it
};

// Finds the next control that has a value of 32 bits and can be used. Returns false if there are no more, or if the
// driver ignores the id. A list has at most CAMERA_ITEMS controls, a menu as many items.
static bool next_control(const struct camera_device *device, struct place *at, struct control *control)
{
    while (at->count++ < CAMERA_ITEMS) {
        struct v4l2_queryctrl *about = &control->about;
        *about = (struct v4l2_queryctrl){.id = at->id | V4L2_CTRL_FLAG_NEXT_CTRL};
        if (camera_device_ask(device, VIDIOC_QUERYCTRL, about) != 0 || about->id <= at->id)
            return false;
        at->id = about->id;
        if (is_menu(control) && (int64_t)about->maximum - about->minimum >= CAMERA_ITEMS)
            about->maximum = about->minimum + CAMERA_ITEMS - 1;
        const bool number = about->type == V4L2_CTRL_TYPE_INTEGER || about->type == V4L2_CTRL_TYPE_BOOLEAN ||
                            about->type == V4L2_CTRL_TYPE_MENU || about->type == V4L2_CTRL_TYPE_INTEGER_MENU;
        plain_name((const char *)about->name, control->name);
        struct v4l2_control got = {.id = about->id};
        if (number && !(about->flags & V4L2_CTRL_FLAG_DISABLED) &&
            camera_device_ask(device, VIDIOC_G_CTRL, &got) == 0) {
            control->value = got.value;
            return true;
        }
    }
    return false;
}

// Writes the name of a menu's item. Returns false if the menu has no such item.
static bool item_name(const struct camera_device *device, const struct control *control, int index,
                      char name[SOURCE_WORD])
{
    struct v4l2_querymenu item = {.id = control->about.id, .index = (uint32_t)index};
    if (camera_device_ask(device, VIDIOC_QUERYMENU, &item) != 0)
        return false;
    if (control->about.type == V4L2_CTRL_TYPE_MENU)
        plain_name((const char *)item.name, name);
    else
        snprintf(name, SOURCE_WORD, "%lld", (long long)item.value);
    return true;
}

static bool parse_value(const struct camera_device *device, const struct control *control, const char *text, int *value)
{
    const bool yes = strcasecmp(text, "true") == 0 || strcasecmp(text, "on") == 0;
    const bool no = strcasecmp(text, "false") == 0 || strcasecmp(text, "off") == 0;
    for (int i = control->about.minimum; is_menu(control) && i <= control->about.maximum; i++) {
        char name[SOURCE_WORD];
        if (item_name(device, control, i, name) && strcasecmp(name, text) == 0) {
            *value = i;
            return true;
        }
    }
    if (control->about.type == V4L2_CTRL_TYPE_BOOLEAN && (yes || no)) {
        *value = yes;
        return true;
    }
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    *value = (int)number;
    return end != text && *end == '\0' && errno == 0 && number >= control->about.minimum &&
           number <= control->about.maximum;
}

// Sets the control to *value, which the driver may change. Returns NULL, or the reason of a failure.
static const char *set_value(const struct camera_device *device, uint32_t id, int *value)
{
    struct v4l2_control set = {.id = id, .value = *value};
    const bool ok = camera_device_ask(device, VIDIOC_S_CTRL, &set) == 0;
    *value = set.value;
    if (ok)
        return NULL;
    if (errno == EBUSY || errno == EACCES)
        return "an automatic control or another program locks it; switch off the control or close the program";
    return videodev_advice(errno);
}

// Finds the control and the value of a setting "name=value". Returns false, with the reason in `why`, if there is none.
static bool find_setting(const struct camera_device *device, const char *text, struct control *control, int *value,
                         char why[CAMERA_WHY])
{
    const char *equals = strchr(text, '=');
    const size_t length = equals ? (size_t)(equals - text) : 0;
    for (struct place at = {0}; equals && next_control(device, &at, control);) {
        if (strlen(control->name) != length || strncasecmp(control->name, text, length) != 0)
            continue;
        if (parse_value(device, control, equals + 1, value))
            return true;
        snprintf(why, CAMERA_WHY, "cannot set control %s of camera %s to %.60s: its range is %d to %d, its value is %d",
                 control->name, device->path, equals + 1, control->about.minimum, control->about.maximum,
                 control->value);
        return false;
    }
    snprintf(why, CAMERA_WHY,
             "camera %s has no control for \"%.80s\"; write NAME=VALUE; to list the names, run: monocle live "
             "--list-controls",
             device->path, text);
    return false;
}

// Sets all controls. After a failure it restores those that it has set, the last one first, and returns the index of
// the control that failed, with the reason in `why`; otherwise `count`.
static int set_all(const struct camera_device *device, const struct control *control, int *value, int count,
                   char why[CAMERA_WHY])
{
    const char *reason = NULL;
    int failed = 0;
    while (failed < count && !(reason = set_value(device, control[failed].about.id, &value[failed])))
        failed++;
    if (failed == count)
        return count;
    bool restored = true;
    for (int i = failed - 1; i >= 0; i--) {
        int before = control[i].value;
        restored &= !set_value(device, control[i].about.id, &before);
    }
    snprintf(why, CAMERA_WHY, "cannot set control %s of camera %s: %s%s", control[failed].name, device->path, reason,
             restored ? "" : "; the controls set before it keep their new values");
    return failed;
}

bool camera_control_set(const struct camera_device *device, const struct source_setting *settings, int count,
                        char why[CAMERA_WHY])
{
    char reason[CAMERA_WHY] = "";
    struct control *control = xcalloc((size_t)count, sizeof(*control));
    int *value = xcalloc((size_t)count, sizeof(*value));
    int good = 0;
    while (good < count && find_setting(device, settings[good].text, &control[good], &value[good], reason))
        good++;
    if (good == count)
        good = set_all(device, control, value, count, reason);
    free(control);
    free(value);
    if (reason[0] == '\0')
        return true;
    if (settings && settings[good].file)
        snprintf(why, CAMERA_WHY, "%.128s:%d: %.300s", settings[good].file, settings[good].line, reason);
    else
        memcpy(why, reason, sizeof(reason));
    return false;
}

static bool next_settable(const struct camera_device *device, struct place *at, struct control *control)
{
    while (next_control(device, at, control))
        if (!(control->about.flags & (V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_WRITE_ONLY)))
            return true;
    return false;
}

// Writes the items of a menu, "disabled|50_hz".
static void list_items(const struct camera_device *device, const struct control *found, char choices[SOURCE_CHOICES])
{
    size_t used = 0;
    for (int i = found->about.minimum; i <= found->about.maximum; i++) {
        char name[SOURCE_WORD];
        if (!item_name(device, found, i, name))
            continue;
        if (used + strlen(name) + 2 > SOURCE_CHOICES)
            return;
        used += (size_t)snprintf(choices + used, SOURCE_CHOICES - used, "%s%s", used ? "|" : "", name);
    }
}

// Sets all members of *control but `index`.
static void describe(const struct camera_device *device, const struct control *found, struct source_control *control)
{
    const struct v4l2_queryctrl *about = &found->about;
    memcpy(control->name, found->name, sizeof(control->name));
    control->type = is_menu(found) ? SOURCE_MENU : SOURCE_NUMBER;
    if (about->type == V4L2_CTRL_TYPE_BOOLEAN)
        control->type = SOURCE_SWITCH;
    control->minimum = about->minimum;
    control->maximum = about->maximum;
    control->step = about->step;
    control->preset = about->default_value;
    control->locked = about->flags & LOCKED;
    if (control->type == SOURCE_MENU)
        list_items(device, found, control->choices);
    if (control->type == SOURCE_SWITCH)
        snprintf(control->value, sizeof(control->value), "%s", found->value ? "on" : "off");
    else if (control->type != SOURCE_MENU || !item_name(device, found, found->value, control->value))
        snprintf(control->value, sizeof(control->value), "%d", found->value);
}

int camera_control_list(const struct camera_device *device, struct source_control control[SOURCE_CONTROLS])
{
    struct control found;
    int count = 0;
    for (struct place at = {0}; count < SOURCE_CONTROLS && next_settable(device, &at, &found); count++) {
        control[count] = (struct source_control){.index = count};
        describe(device, &found, &control[count]);
    }
    return count;
}

bool camera_control_assign(const struct camera_device *device, const char *setting, struct v4l2_control *set,
                           char why[SOURCE_SET_WHY])
{
    struct control control;
    int value;
    *set = (struct v4l2_control){0};
    if (!find_setting(device, setting, &control, &value, why) || set_all(device, &control, &value, 1, why) == 0)
        return false;
    *set = (struct v4l2_control){.id = control.about.id, .value = value};
    return true;
}

static void print_control(const struct camera_device *device, const struct control *control, FILE *out)
{
    fprintf(out, "%-32s %d (%d to %d, default: %d)%s", control->name, control->value, control->about.minimum,
            control->about.maximum, control->about.default_value,
            control->about.flags & LOCKED ? ", cannot be set now" : "");
    for (int i = control->about.minimum; is_menu(control) && i <= control->about.maximum; i++) {
        char name[SOURCE_WORD];
        if (item_name(device, control, i, name))
            fprintf(out, "%s%d %s", i == control->about.minimum ? ": " : ", ", i, name);
    }
    fputc('\n', out);
}

bool camera_control_print(const char *text, FILE *out, bool settings)
{
    char why[CAMERA_WHY];
    struct camera_node node;
    struct camera_device device;
    if (!camera_find(text, &node, why)) {
        log_error("%s", why);
        return false;
    }
    const char *reason = camera_device_open(&device, node.path);
    if (reason)
        log_error("cannot open camera %s: %s", node.path, reason);
    struct control control;
    for (struct place at = {0}; !reason && next_control(&device, &at, &control);) {
        if (!settings)
            print_control(&device, &control, out);
        else if (!(control.about.flags & (LOCKED | V4L2_CTRL_FLAG_WRITE_ONLY)))
            fprintf(out, "%s=%d\n", control.name, control.value);
    }
    camera_device_close(&device);
    return !reason;
}
