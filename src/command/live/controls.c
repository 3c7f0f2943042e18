// controls.c: a camera's controls
#include "command/live/controls.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 16 };
static const int64_t list_ns = 100000000;

// Parses lines of the form "name=value". Skips empty lines and lines that begin with #. False: a line is wrong
// (logged).
static bool parse_settings(struct controls *c, const char *path)
{
    int number = 1;
    for (char *line = c->text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        line[strcspn(line, "\r")] = '\0';
        if (!line[0] || line[0] == '#')
            continue;
        const char *equals = strchr(line, '=');
        if (!equals || equals == line || !equals[1]) {
            log_error("%s:%d: '%s' is not of the form NAME=VALUE; no control was set", path, number, line);
            return false;
        }
        c->setting[c->count++] = (struct source_setting){line, path, number};
    }
    return true;
}

bool controls_load(struct controls *c, const char *file, const struct option_texts *texts)
{
    size_t most = (size_t)texts->count + 1;
    if (file && !(c->text = file_read_text(file, FILE_BYTES_MAX))) {
        log_error("cannot read controls from %s: %s", file, strerror(errno));
        return false;
    }
    for (const char *at = c->text; at && (at = strchr(at, '\n')); at++)
        most++;
    c->setting = xcalloc(most, sizeof(*c->setting));
    if (c->text && !parse_settings(c, file))
        return false;
    for (int i = 0; i < texts->count; i++)
        c->setting[c->count++] = (struct source_setting){.text = texts->text[i]};
    return true;
}

bool controls_save(const struct controls *c, const char *source, const struct source_info *info, struct claim *claim)
{
    if (c->count > 0 && !info->controls)
        log_warn("the source is not a camera; --control and --load-controls are ignored");
    if (!claim->path[0])
        return true;
    if (!info->controls) {
        log_error("cannot save controls to %s: the source is not a camera", claim->path);
        return false;
    }
    char *text = NULL;
    size_t size = 0;
    FILE *out = xmemstream(&text, &size);
    bool ok = source_print_controls(source, out, true);
    xmemclose(out);
    if (ok && !claim_write(claim, text, size)) {
        log_error("cannot write %s: %s", claim->path, strerror(errno));
        ok = false;
    }
    free(text);
    return ok;
}

void controls_free(struct controls *c)
{
    free(c->setting);
    free(c->text);
}

const struct source_control *controls_list(struct controls *c, struct source *source, int *count)
{
    const int64_t now_ns = clock_now_ns();
    if (c->listed == 0 || now_ns - c->listed_ns > list_ns) {
        c->listed = source_controls(source, c->list);
        c->listed_ns = clock_now_ns();
    }
    *count = c->listed;
    return c->list;
}

bool controls_set(struct controls *c, struct source *source, const char *name, const char *value,
                  char why[SOURCE_SET_WHY])
{
    char setting[2 * SOURCE_WORD];
    snprintf(setting, sizeof(setting), "%s=%s", name, value);
    c->listed = 0;
    if (!source_set_control(source, setting, why))
        return false;
    int count;
    const struct source_control *list = controls_list(c, source, &count);
    for (int i = 0; i < count; i++) {
        if (strcmp(list[i].name, c->adjusted.name) == 0)
            c->adjusted = list[i]; // the overlay shows it
    }
    return true;
}

const char *controls_missing(const struct source *source)
{
    return source_info(source)->controls ? "the camera has no controls, or does not answer now"
                                         : "the source is not a camera and has no controls";
}

// Writes the value after `steps` of 1/50 of the range, or after as many items of a menu.
static void find_value(const struct source_control *control, int steps, char value[SOURCE_WORD])
{
    enum { STEPS = 50 };
    const char *choices = control->type == SOURCE_SWITCH ? "off|on" : control->choices;
    const int64_t least = control->step > 0 ? control->step : 1;
    const int64_t part = ((int64_t)control->maximum - control->minimum) / STEPS / least * least;
    int64_t number = atoi(control->value) + steps * (part > 0 ? part : least);
    if (control->type == SOURCE_NUMBER) {
        number = number > control->minimum ? number : control->minimum;
        number = number < control->maximum ? number : control->maximum;
        snprintf(value, SOURCE_WORD, "%d", (int)number);
    } else if (!options_choice(choices, options_find(choices, control->value) + steps, value, SOURCE_WORD)) {
        snprintf(value, SOURCE_WORD, "%s", control->value);
    }
}

void controls_adjust(struct controls *c, struct source *source, int next, int steps, struct note *note)
{
    char why[SOURCE_SET_WHY] = "", value[SOURCE_WORD];
    int count;
    const struct source_control *list = controls_list(c, source, &count);
    if (count == 0 && c->adjusted.name[0] && controls_set(c, source, c->adjusted.name, c->adjusted.value, why))
        list = controls_list(c, source, &count); // the camera has just returned
    if (count == 0) {
        note_set(note, true, NOTE_S, "%s", why[0] ? why : controls_missing(source));
        return;
    }
    const int index = c->adjusted.name[0] ? c->adjusted.index + next : 0;
    c->adjusted = list[(index % count + count) % count];
    find_value(&c->adjusted, steps, value);
    if (steps == 0 || controls_set(c, source, c->adjusted.name, value, why))
        note_set(note, false, NOTE_S, "%s %s", c->adjusted.name, c->adjusted.value);
    else
        note_set(note, true, NOTE_S, "%s", why);
}
