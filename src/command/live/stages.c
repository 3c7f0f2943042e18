// stages.c: --stages: the image after each filter of the chain, with times, as files and a page: a lesson
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "command/live/session.h"
#include "command/page.h"
#include "image/imagefile.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { RUNS = 15, WAIT_MS = 100 };

// Runs the held frame through the filters that the settings show. False on failure (logged), or at a signal.
static bool run_filters(struct session *s)
{
    struct panes *panes = s->stream.panes;
    panes_changed(panes, false);
    while (panes_busy(panes) && !process_interrupted()) {
        panes_update(panes);
        clock_sleep_until_ns(clock_now_ns() + 1000000);
    }
    meter_forget(&s->stream.meter);
    for (int i = 0; i < RUNS && !process_interrupted(); i++) {
        if (!panes_submit_again(panes) || !panes_collect(panes))
            return false;
        meter_shown_again(&s->stream.meter);
    }
    return !process_interrupted();
}

// Returns the passes of the last run with their median times.
static json_t *times_json(const struct meter *meter, double *sum_ms)
{
    json_t *passes = json_array();
    *sum_ms = 0;
    for (int i = 0; i < meter->shown_stages; i++) {
        const struct meter_stage *stage = &meter->stage[meter->shown_stage[i]];
        if (strncmp(stage->name, "pass ", 5) != 0)
            continue;
        const double ms = meter_late_ms(&stage->ms, 50);
        *sum_ms += ms;
        json_array_append_new(passes, json_pack("{s:s,s:f}", "name", stage->name + 5, "ms", ms));
    }
    return passes;
}

// Saves the image after the first `count` filters. Returns its row of the page; NULL on failure (logged), or at a
// signal.
static json_t *stage_run(struct session *s, int count)
{
    const struct chain *chain = &s->stream.settings.chain;
    const struct filter *filter = count > 0 ? chain->stage[count - 1].filter : NULL;
    const char *name = filter ? filter->name : "original";
    char path[PATH_MAX], file[96], text[CHAIN_TEXT] = "";
    double ms;
    s->stream.settings.show = count;
    const struct image *image = run_filters(s) ? stream_picture(&s->stream) : NULL;
    snprintf(file, sizeof(file), "%d-%.64s.png", count, name);
    if (!image || snprintf(path, sizeof(path), "%s/%s", s->options.stages, file) >= (int)sizeof(path) ||
        !imagefile_write_png(path, image, NULL))
        return NULL;
    if (filter)
        chain_print(&(struct chain){.stage = {chain->stage[count - 1]}, .count = 1}, text);
    json_t *passes = times_json(&s->stream.meter, &ms);
    return json_pack("{s:s,s:s,s:s,s:s,s:i,s:i,s:f,s:o}", "filter", name, "text", text, "summary",
                     filter ? filter->summary : "the frame of the source", "file", file, "width", image->shape.width,
                     "height", image->shape.height, "ms", ms, "passes", passes);
}

// Makes the directory, and the claim of its page. False on failure (logged).
static bool make_directory(const char *directory, struct claim *claim)
{
    char path[PATH_MAX];
    if (mkdir(directory, 0777) == 0 && snprintf(path, sizeof(path), "%s/index.html", directory) < (int)sizeof(path) &&
        claim_take(claim, path))
        return true;
    const int error = errno;
    log_error("--stages: cannot make the directory %s: %s%s", directory, strerror(error),
              text_if(error == EEXIST, "; name a new one"));
    errno = error;
    return false;
}

bool stages_run(struct session *s)
{
    struct claim claim;
    char chain[CHAIN_TEXT];
    const int count = s->stream.settings.chain.count;
    if (!make_directory(s->options.stages, &claim)) {
        s->stream.code = errno == EEXIST ? EXIT_USAGE : EXIT_NOTHING;
        return false;
    }
    while (!stream_finished(&s->stream) && stream_step(&s->stream, WAIT_MS) != STREAM_SHOWN)
        ;
    bool ok = s->stream.meter.frames > 0;
    json_t *rows = json_array();
    for (int i = 0; ok && i <= count; i++)
        ok = json_array_append_new(rows, stage_run(s, i)) == 0;
    s->stream.settings.show = -1;
    chain_print(&s->stream.settings.chain, chain);
    const struct status *status = session_status(s);
    json_t *page = json_pack("{s:o,s:o,s:s,s:s,s:i,s:o}", "source", text_json(s->stream.playback.info->name), "chain",
                             text_json(chain), "path", status->pane.words, "device", status->pane.device, "runs", RUNS,
                             "stages", rows);
    ok = ok && page_write(&claim, "assets/stages.html", page);
    json_decref(page);
    if (ok)
        log_print_line(stderr, "monocle: %d images and their times are in %s", count + 1, claim.path);
    return ok;
}
