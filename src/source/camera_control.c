// camera_control.c: a camera's controls: brightness, exposure, focus, ... by name
#include "source/camera_control.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { STEPS = 50 }; // across the range of a control that is moved
enum { PLACE_TEXT = 160 };

struct control {
    struct v4l2_queryctrl about;
    char name[SOURCE_WORD]; // "exposure_dynamic_framerate", as v4l2-ctl has it
    int value;
};

// "White Balance, Automatic" is white_balance_automatic.
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

// The next control after *id that has a value of 32 bits and can be used; false where there are no more.
static bool next_control(const struct camera_device *device, uint32_t *id, struct control *control)
{
    for (;;) {
        struct v4l2_queryctrl *about = &control->about;
        *about = (struct v4l2_queryctrl){.id = *id | V4L2_CTRL_FLAG_NEXT_CTRL};
        if (v4l2_ask(device->fd, VIDIOC_QUERYCTRL, about) != 0)
            return false;
        *id = about->id;
        const bool number = about->type == V4L2_CTRL_TYPE_INTEGER || about->type == V4L2_CTRL_TYPE_BOOLEAN ||
                            about->type == V4L2_CTRL_TYPE_MENU || about->type == V4L2_CTRL_TYPE_INTEGER_MENU;
        plain_name((const char *)about->name, control->name);
        struct v4l2_control got = {.id = about->id};
        if (number && !(about->flags & V4L2_CTRL_FLAG_DISABLED) && v4l2_ask(device->fd, VIDIOC_G_CTRL, &got) == 0) {
            control->value = got.value;
            return true;
        }
    }
}

// The name of a menu's item; false where the menu has no such item.
static bool item_name(const struct camera_device *device, const struct control *control, int index,
                      char name[SOURCE_WORD])
{
    struct v4l2_querymenu item = {.id = control->about.id, .index = (uint32_t)index};
    if (v4l2_ask(device->fd, VIDIOC_QUERYMENU, &item) != 0)
        return false;
    if (control->about.type == V4L2_CTRL_TYPE_MENU)
        plain_name((const char *)item.name, name);
    else
        snprintf(name, SOURCE_WORD, "%lld", (long long)item.value);
    return true;
}

static bool is_menu(const struct control *control)
{
    return control->about.type == V4L2_CTRL_TYPE_MENU || control->about.type == V4L2_CTRL_TYPE_INTEGER_MENU;
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

// Sets the control to the value, which the driver may change. NULL, or why not.
static const char *set_value(const struct camera_device *device, struct v4l2_control *set)
{
    if (v4l2_ask(device->fd, VIDIOC_S_CTRL, set) == 0)
        return NULL;
    return errno == EBUSY || errno == EACCES
               ? "an automatic control or another program locks it; switch off the control or close the program"
               : v4l2_advice(errno);
}

// A setting that the camera has a control for.
struct wanted {
    char name[SOURCE_WORD];
    struct v4l2_control set;
    int before;
};

// "settings:3: "; "" for the command line.
static const char *place_of(const struct source_setting *setting, char place[PLACE_TEXT])
{
    place[0] = '\0';
    if (setting->file)
        snprintf(place, PLACE_TEXT, "%.128s:%d: ", setting->file, setting->line);
    return place;
}

// Finds the control and the value of a setting. Returns false, with the reason in `why`, if there is none.
static bool find_wanted(const struct camera_device *device, const struct source_setting *setting, struct wanted *wanted,
                        char why[CAMERA_WHY])
{
    const char *equals = strchr(setting->text, '=');
    const size_t length = equals ? (size_t)(equals - setting->text) : 0;
    char place[PLACE_TEXT];
    struct control control;
    for (uint32_t id = 0; equals && next_control(device, &id, &control);) {
        if (strlen(control.name) != length || strncasecmp(control.name, setting->text, length) != 0)
            continue;
        *wanted = (struct wanted){.set = {.id = id}, .before = control.value};
        memcpy(wanted->name, control.name, sizeof(wanted->name));
        if (parse_value(device, &control, equals + 1, &wanted->set.value))
            return true;
        snprintf(why, CAMERA_WHY, "%scannot set control %s of camera %s to %.60s: its values are %d to %d, now %d",
                 place_of(setting, place), control.name, device->path, equals + 1, control.about.minimum,
                 control.about.maximum, control.value);
        return false;
    }
    snprintf(why, CAMERA_WHY,
             "%scamera %s has no control for \"%.80s\"; write NAME=VALUE; to list the names, run: monocle live "
             "--list-controls",
             place_of(setting, place), device->path, setting->text);
    return false;
}

// Gives controls back the values that they had, the last one first. False where one doesn't take it.
static bool put_back(const struct camera_device *device, const struct wanted *wanted, int count)
{
    bool ok = true;
    while (count-- > 0) {
        struct v4l2_control set = {.id = wanted[count].set.id, .value = wanted[count].before};
        ok = !set_value(device, &set) && ok;
    }
    return ok;
}

bool camera_control_set(const struct camera_device *device, const struct source_setting *settings, int count,
                        char why[CAMERA_WHY])
{
    char place[PLACE_TEXT];
    struct wanted *wanted = calloc((size_t)count + 1, sizeof(*wanted));
    bool ok = wanted != NULL;
    if (!wanted)
        snprintf(why, CAMERA_WHY, "cannot set controls of camera %s: out of memory", device->path);
    for (int i = 0; ok && i < count; i++)
        ok = find_wanted(device, &settings[i], &wanted[i], why);
    for (int i = 0; ok && i < count; i++) {
        const char *reason = set_value(device, &wanted[i].set);
        if (!reason)
            continue;
        const bool back = put_back(device, wanted, i);
        snprintf(why, CAMERA_WHY, "%scannot set control %s of camera %s: %s%s", place_of(&settings[i], place),
                 wanted[i].name, device->path, reason,
                 back ? "" : "; the controls set before it keep their new values");
        ok = false;
    }
    free(wanted);
    return ok;
}

static bool next_settable(const struct camera_device *device, uint32_t *id, struct control *control)
{
    while (next_control(device, id, control))
        if (!(control->about.flags & (V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_WRITE_ONLY)))
            return true;
    return false;
}

// The control with that number, counted on around at the ends; -1 where there is none.
static int find_settable(const struct camera_device *device, int index, struct control *control)
{
    int count = 0;
    for (uint32_t id = 0; next_settable(device, &id, control);)
        count++;
    const int found = count > 0 ? (index % count + count) % count : -1;
    uint32_t id = 0;
    for (int i = 0; i <= found; i++)
        if (!next_settable(device, &id, control))
            return -1;
    return found;
}

// The value so many steps on, as far as they go. Some items of a menu may not exist.
static int value_moved(const struct camera_device *device, const struct control *control, int steps)
{
    const struct v4l2_queryctrl *about = &control->about;
    const int way = steps > 0 ? 1 : -1;
    int value = control->value;
    char name[SOURCE_WORD];
    if (is_menu(control)) {
        for (int i = value + way; steps != 0 && i >= about->minimum && i <= about->maximum; i += way)
            if (item_name(device, control, i, name)) {
                value = i;
                steps -= way;
            }
        return value;
    }
    const int64_t least = about->step > 0 ? about->step : 1, part = ((int64_t)about->maximum - about->minimum) / STEPS;
    const int64_t moved = value + steps * (part > least ? part / least * least : least);
    return (int)(moved < about->minimum ? about->minimum : moved > about->maximum ? about->maximum : moved);
}

bool camera_control_move(const struct camera_device *device, int index, int steps, struct source_control *control,
                         struct v4l2_control *set)
{
    struct control found;
    *control = (struct source_control){0};
    *set = (struct v4l2_control){0};
    control->index = find_settable(device, index, &found);
    if (control->index < 0) {
        snprintf(control->why, sizeof(control->why), "the camera has no controls");
        return false;
    }
    const char *reason = NULL;
    if (steps != 0) {
        struct v4l2_control wanted = {.id = found.about.id, .value = value_moved(device, &found, steps)};
        reason = set_value(device, &wanted);
        if (reason) {
            snprintf(control->why, sizeof(control->why), "%s cannot be changed: %s", found.name, reason);
        } else {
            *set = wanted;
            found.value = wanted.value;
        }
    }
    memcpy(control->name, found.name, sizeof(control->name));
    control->minimum = found.about.minimum;
    control->maximum = found.about.maximum;
    if (found.about.type == V4L2_CTRL_TYPE_BOOLEAN)
        snprintf(control->value, sizeof(control->value), "%s", found.value ? "on" : "off");
    else if (!is_menu(&found) || !item_name(device, &found, found.value, control->value))
        snprintf(control->value, sizeof(control->value), "%d", found.value);
    return !reason;
}

static void print_control(const struct camera_device *device, const struct control *control, FILE *out)
{
    const uint32_t locked = V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_INACTIVE | V4L2_CTRL_FLAG_GRABBED;
    fprintf(out, "%-32s %d (%d to %d, default: %d)%s", control->name, control->value, control->about.minimum,
            control->about.maximum, control->about.default_value,
            control->about.flags & locked ? ", cannot be set now" : "");
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
    const uint32_t locked = V4L2_CTRL_FLAG_READ_ONLY | V4L2_CTRL_FLAG_INACTIVE | V4L2_CTRL_FLAG_GRABBED;
    for (uint32_t id = 0; !reason && next_control(&device, &id, &control);) {
        if (!settings)
            print_control(&device, &control, out);
        else if (!(control.about.flags & (locked | V4L2_CTRL_FLAG_WRITE_ONLY)))
            fprintf(out, "%s=%d\n", control.name, control.value);
    }
    camera_device_close(&device);
    return !reason;
}
