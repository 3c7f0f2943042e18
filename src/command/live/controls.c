// controls.c: a camera's controls: loads, saves and changes them
#include "command/live/live.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 16, NOTE_S = 3 };

static bool add_setting(struct live *live, const char *text, const char *file, int line)
{
    struct source_setting *more = realloc(live->control, (size_t)(live->controls + 1) * sizeof(*more));
    if (!more) {
        log_error("cannot set the camera's controls: out of memory");
        return false;
    }
    live->control = more;
    live->control[live->controls++] = (struct source_setting){text, file, line};
    return true;
}

// Parses lines of the form "name=value". Skips empty lines and lines that begin with #.
static bool read_settings(struct live *live, const char *path)
{
    live->control_text = file_read_text(path, FILE_BYTES_MAX);
    if (!live->control_text) {
        log_error("cannot read controls from %s: %s", path, strerror(errno));
        return false;
    }
    int number = 1;
    for (char *line = live->control_text, *next; line; line = next, number++) {
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
        if (!add_setting(live, line, path, number))
            return false;
    }
    return true;
}

bool live_load_controls(struct live *live)
{
    const struct live_options *o = &live->options;
    if (o->load_controls && !read_settings(live, o->load_controls))
        return false;
    for (int i = 0; i < o->controls.count; i++) {
        if (!add_setting(live, o->controls.text[i], NULL, 0))
            return false;
    }
    return true;
}

bool live_save_controls(struct live *live)
{
    const char *path = live->options.save_controls;
    if (live->controls > 0 && !live->info->controls)
        log_warn("the source is not a camera; --control and --load-controls are ignored");
    if (!path)
        return true;
    if (!live->info->controls) {
        log_error("cannot save controls to %s: the source is not a camera", path);
        return false;
    }
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool ok = out && source_print_controls(live->options.source, out, true);
    ok = out && fclose(out) == 0 && ok;
    if (ok && !file_write_atomic(path, text, size)) {
        log_error("cannot write %s: %s", path, strerror(errno));
        ok = false;
    }
    free(text);
    return ok;
}

static void adjust(struct live *live, int index, int steps)
{
    struct source_control control;
    const bool ok = source_control(live->source, index, steps, &control);
    if (control.name[0])
        live->adjusted = control;
    if (ok)
        live_note(live, false, NOTE_S, "%s %s", control.name, control.value);
    else
        live_note(live, true, NOTE_S, "%s", control.why);
}

// The first call selects the first control.
void live_choose_control(struct live *live, int step)
{
    adjust(live, live->adjusted.name[0] ? live->adjusted.index + step : 0, 0);
}

void live_move_control(struct live *live, int steps)
{
    adjust(live, live->adjusted.index, steps);
}

void live_free_controls(struct live *live)
{
    free(live->control);
    free(live->control_text);
}
