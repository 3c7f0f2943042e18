// last_run.c: keeps the window's size and place, the overlay and the chain for the next run
#include "command/live/last_run.h"

#include "base/cache.h"
#include "base/log.h"
#include "base/text.h"
#include "command/live/property_table.h"
#include "command/live/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MOST = 1 << 16, PLACE_MOST = 1 << 20 };
static const char file_name[] = "live";

// ---- the file ----

static bool is_place(int at)
{
    return at > -PLACE_MOST && at < PLACE_MOST; // abs(INT_MIN) is undefined
}

// Takes a line of the file. Other versions of monocle may have written it, so it may be unknown or wrong.
static void take_line(struct last_run *last, struct settings *settings, const char *name, const char *value)
{
    struct option_size size;
    int x, y;
    if (strcmp(name, "size") == 0 && options_parse_size(value, &size)) {
        last->area.width = size.width;
        last->area.height = size.height;
    } else if (strcmp(name, "place") == 0 && sscanf(value, "%d,%d", &x, &y) == 2 && is_place(x) && is_place(y)) {
        last->area.x = x;
        last->area.y = y;
        last->area.placed = true;
    } else if (strcmp(name, "chain") == 0 && strlen(value) < CHAIN_TEXT) {
        strcpy(last->chain, value);
    } else {
        properties_restore(live_properties, settings, name, value);
    }
}

// Reads the file. Returns false if it must not be used (logged).
static bool read_file(struct last_run *last, struct settings *settings)
{
    char path[PATH_MAX], *name, *value;
    const char *unsafe;
    size_t size;
    int line = 0;
    const int directory = state_open(path, false, &unsafe);
    if (unsafe)
        log_warn("the state of the last run is not used: the directory %s %s", path, unsafe);
    if (directory < 0)
        return !unsafe;
    char *text = cache_read(directory, file_name, FILE_MOST, &size);
    const bool safe = text || errno != EPERM;
    close(directory);
    if (!safe)
        log_warn("the state of the last run in %s/%s is not used: it is not a file that only you can write; remove it, "
                 "or run: chmod go-w %s/%s",
                 path, file_name, path, file_name);
    for (char *rest = text; rest && text_next_setting(&rest, &line, &name, &value);)
        take_line(last, settings, name, value ? value : "");
    free(text);
    return safe;
}

static void write_file(const struct last_run *last)
{
    char path[PATH_MAX], text[CHAIN_TEXT + 1024] = "";
    const char *unsafe;
    int used = 0;
    if (last->area.width > 0)
        used += snprintf(text, sizeof(text), "size = %dx%d\n", last->area.width, last->area.height);
    if (last->area.placed)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "place = %d,%d\n", last->area.x, last->area.y);
    used += snprintf(text + used, sizeof(text) - (size_t)used, "%s", last->settings);
    if (last->chain[0])
        used += snprintf(text + used, sizeof(text) - (size_t)used, "chain = %s\n", last->chain);
    const int directory = state_open(path, true, &unsafe);
    if (directory < 0 || !cache_write(directory, file_name, text, (size_t)used))
        log_info("cannot keep the state of the window in %s/%s: %s", path[0] ? path : "$XDG_STATE_HOME/monocle",
                 file_name, unsafe ? unsafe : strerror(errno));
    if (directory >= 0)
        close(directory);
}

// ---- the run ----

void last_run_open(struct session *s)
{
    struct last_run *last = &s->last;
    const struct live_options *o = &s->options;
    const bool outputs = o->frames || o->outputs.record || o->outputs.screenshot || o->capture;
    char error[CHAIN_ERROR];
    *last = (struct last_run){0};
    last->kept = live_has_display() && !o->headless && !o->no_config && read_file(last, &s->stream.settings);
    if (!last->kept)
        return;
    properties_kept(live_properties, &s->stream.settings, last->settings);
    live_set_settings(o, &s->stream.settings);
    properties_kept(live_properties, &s->stream.settings, last->first_settings);
    struct chain chain;
    if (!o->filters && !o->look && !o->showcase && !outputs && chain_parse(&chain, last->chain, error) &&
        strcmp(last->chain, "none") != 0) {
        s->stream.settings.chain = chain;
        settings_select_first(&s->stream.settings);
        last->resumed = true;
    }
    last_run_chain(s);
}

const struct window_area *last_run_area(const struct session *s)
{
    return &s->last.area;
}

void last_run_opened(struct session *s)
{
    s->last.first = window_area(s->stream.window);
}

void last_run_chain(struct session *s)
{
    chain_print(&s->stream.settings.chain, s->last.first_chain);
}

void last_run_close(struct session *s)
{
    struct last_run *last = &s->last;
    char settings[PROPERTIES_KEPT], chain[CHAIN_TEXT];
    if (!last->kept || !s->stream.window)
        return;
    const struct window_area area = window_area(s->stream.window), *first = &last->first;
    const bool sized = area.width != first->width || area.height != first->height;
    const bool moved = area.placed && (area.x != first->x || area.y != first->y);
    properties_kept(live_properties, &s->stream.settings, settings);
    const bool set = strcmp(settings, last->first_settings) != 0;
    const bool chosen = chain_print(&s->stream.settings.chain, chain) && strcmp(chain, last->first_chain) != 0 &&
                        !strpbrk(chain, "\n\r");
    if (sized) {
        last->area.width = area.width;
        last->area.height = area.height;
    }
    if (moved) {
        last->area.x = area.x;
        last->area.y = area.y;
        last->area.placed = true;
    }
    if (set)
        strcpy(last->settings, settings);
    if (chosen)
        strcpy(last->chain, chain);
    if (sized || moved || set || chosen)
        write_file(last);
    last->kept = false;
}
