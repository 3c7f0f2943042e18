// report.c: prints JSON lines or a table on standard output
#include "command/live/report.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/text.h"
#include "command/live/session.h"

#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { LAST_WAIT_MS = 500 }; // longest wait for a stalled reader before the last line is dropped

// Prints the object as one line and frees it. Drops the line if `hurried` is set and the reader accepts nothing for
// `wait_ms`. On any thread. main logs a broken standard output at the end.
static void print_line(struct report *report, json_t *object, int wait_ms)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    flockfile(stdout);
    if (report->hurried && poll(&out, 1, wait_ms) == 0)
        report->unsaid++;
    else if (!report->broken)
        report->broken = !print_json(json_incref(object), JSON_COMPACT | JSON_REAL_PRECISION(9)) || !process_flush();
    funlockfile(stdout);
    json_decref(object);
}

static json_t *event(const char *name)
{
    json_t *object = json_object();
    json_object_set_new(object, "event", json_string(name));
    return object;
}

static void report_error(void *context, const char *message)
{
    json_t *object = event("error");
    json_object_set_new(object, "message", text_json(message));
    print_line(context, object, 0);
}

void report_open(struct report *report, bool json, FILE *table)
{
    report->json = json;
    report->table = table;
    if (json)
        log_set_error_hook(report_error, report);
}

void report_close(struct report *report)
{
    log_set_error_hook(NULL, NULL);
    if (report->unsaid > 0)
        log_warn("the reader of standard output stalled; %u lines were dropped", report->unsaid);
}

bool report_broken(const struct report *report)
{
    return report->broken;
}

// Adds the filters that have a place beside the chain.
static void add_parts(const struct status *s, json_t *object)
{
    for (enum chain_part part = PART_CAMERA; part <= PART_TITLES; part += PART_TITLES - PART_CAMERA) {
        char text[CHAIN_TEXT];
        chain_print_part(&s->settings->chain, part, text);
        json_object_set_new(object, chain_part_name(part), text_json(text));
    }
}

static void add_run(const struct status *s, json_t *object)
{
    status_add_run(s, object);
    add_parts(s, object);
}

void report_start(struct report *report, const struct status *s)
{
    report->hurried = s->screen != NULL;
    if (!report->json)
        return;
    json_t *object = event("start");
    json_object_set_new(object, "version", json_string(MONOCLE_VERSION));
    status_add_source(s, object);
    json_object_set_new(object, "depth", json_integer(s->depth));
    json_object_set_new(object, "screen", s->screen ? text_json(s->screen) : json_null());
    json_object_set_new(object, "building", json_boolean(s->building));
    json_object_set_new(object, "setup_ms", json_thousandths((double)(clock_now_ns() - s->meter->opened_ns) / 1e6));
    add_run(s, object);
    print_line(report, object, 0);
}

void report_reshaped(struct report *report, const struct status *s)
{
    if (!report->json)
        return;
    json_t *object = event("reshaped");
    status_add_source(s, object);
    add_run(s, object);
    print_line(report, object, 0);
}

// The levels of the shown histogram, for red, green and blue; null: none is shown.
static json_t *json_levels(const struct path_result *result)
{
    struct path_levels levels;
    if (!result || !result->measures.histogram)
        return json_null();
    path_levels(result->measures.histogram, &levels);
    return json_pack("{s:[f,f,f],s:[i,i,i],s:[i,i,i]}", "mean", levels.mean[0], levels.mean[1], levels.mean[2], "least",
                     levels.least[0], levels.least[1], levels.least[2], "most", levels.most[0], levels.most[1],
                     levels.most[2]);
}

static void add_settings(const struct status *s, json_t *object)
{
    const struct settings *settings = s->settings;
    const struct source_control *control = s->adjusted;
    int stage, param;
    char selected[80] = "", shown[SHOWN_TEXT], angle[16];
    struct chain camera;
    chain_get_part(&settings->chain, PART_CAMERA, &camera);
    const struct orientation is = settings_orientation(&camera);
    snprintf(angle, sizeof(angle), "%d", is.angle); // the type of the property is a choice
    if (settings_selected(settings, &stage, &param)) {
        const struct filter *filter = settings->chain.stage[stage].filter;
        const char *name = param < 0 ? "" : filter->params[param].name;
        snprintf(selected, sizeof(selected), "%d:%s%s%s", stage, filter->name, text_if(param >= 0, "."), name);
    }
    json_object_set_new(object, "selected", json_string(selected));
    const bool inside = settings_shown(settings, shown);
    json_object_set_new(object, "show", inside ? json_integer(settings->show) : json_string("all"));
    json_object_set_new(object, "shown", inside ? text_json(shown) : json_null());
    json_object_set_new(
        object, "control",
        control->name[0] ? json_pack("{s:o,s:o}", "name", text_json(control->name), "value", text_json(control->value))
                         : json_null());
    json_object_set_new(object, "zoom_at",
                        json_pack("[o,o]", json_thousandths(settings->zoom_x), json_thousandths(settings->zoom_y)));
    if (s->state->split_failed)
        json_object_set_new(object, "split", json_string("off"));
    properties_add(live_properties, settings, object);
    json_object_update_new(object, json_pack("{s:b,s:b,s:s}", "mirror", is.mirror, "flip", is.flip, "rotate", angle));
    json_object_set_new(object, "levels", json_levels(s->pane.result));
}

static void add_state(const struct status *s, json_t *object)
{
    status_add_state(s, object);
    add_parts(s, object);
    add_settings(s, object);
}

void report_state(struct report *report, const char *name, const struct status *s)
{
    if (!report->json)
        return;
    json_t *object = event(name);
    add_state(s, object);
    print_line(report, object, 0);
}

json_t *report_json(const struct status *s)
{
    json_t *object = json_object();
    status_add_source(s, object);
    add_state(s, object);
    return object;
}

static json_t *json_stats(const struct stats *stats)
{
    json_t *object = json_object();
    json_object_set_new(object, "median_ms", json_thousandths(stats_percentile(stats, 50)));
    json_object_set_new(object, "p95_ms", json_thousandths(stats_percentile(stats, 95)));
    json_object_set_new(object, "p99_ms", json_thousandths(stats_percentile(stats, 99)));
    return object;
}

static void print_json_summary(struct report *report, const struct status *s)
{
    const struct meter *meter = s->meter;
    json_t *object = event("summary");
    add_run(s, object);
    json_object_set_new(object, "fps", json_thousandths(meter_fps(meter)));
    json_object_set_new(object, "low_fps", json_thousandths(meter_fps_low(meter)));
    json_object_set_new(object, "time_to_first_frame_ms", json_thousandths(meter_first_frame_ms(meter)));
    json_object_set_new(object, "age", json_stats(&meter->age_ms));
    json_t *stages = json_object();
    for (int i = 0; i < meter->stages; i++) {
        json_t *stage = json_stats(&meter->stage[i].ms);
        json_object_set_new(stage, "clock", json_string(meter->stage[i].clock == STAGE_DEVICE ? "device" : "host"));
        json_object_set_new(stages, meter->stage[i].name, stage);
    }
    json_object_set_new(object, "stages", stages);
    print_line(report, object, LAST_WAIT_MS);
}

static void print_camera(const struct status *s, FILE *out)
{
    const struct source_health *health = &s->health;
    if (health->rate > 0)
        fprintf(out, "the camera delivered %.1f of %.3g frames per second\n", health->rate, s->info->rate);
    if (health->damaged + health->lost > 0 || health->outages > 0)
        fprintf(out, "%llu damaged frames dropped, %llu frames lost in %d outages\n",
                (unsigned long long)health->damaged, (unsigned long long)health->lost, health->outages);
    if (health->hint[0])
        log_print_line(out, "hint: %s", health->hint);
}

// Prints the rate from 10 frames on, and the 1 % low from 100 frames on.
static void print_frames(const struct report *report, const struct status *s)
{
    FILE *out = report->table;
    enum { FPS_LEAST = 10, LOW_LEAST = 100 };
    const struct meter *meter = s->meter;
    const uint64_t skipped = s->skipped;
    fprintf(out, "%llu frame%s", (unsigned long long)meter->frames, meter->frames == 1 ? "" : "s");
    if (meter->frames > 1 || skipped > 0)
        fprintf(out, ", %llu skipped", (unsigned long long)skipped);
    if (meter->frames >= FPS_LEAST)
        fprintf(out, ", %.1f fps", meter_fps(meter));
    if (meter->frames >= LOW_LEAST)
        fprintf(out, ", 1%% low %.1f fps", meter_fps_low(meter));
    if (meter->frames > 0)
        fprintf(out, ", first frame after %.0f ms", meter_first_frame_ms(meter));
    fputc('\n', out);
}

static void print_table(const struct report *report, const struct status *s)
{
    const struct meter *meter = s->meter;
    FILE *out = report->table;
    char chain[CHAIN_TEXT];
    chain_print(s->pane.chain, chain);
    log_print_line(out, "%s through %s", s->info->name, chain);
    log_print_line(out, "path %s (%s), device %s", s->pane.words, s->pane.why, s->pane.device);
    char tuning[TUNING_WORDS];
    status_tuning_words(s, tuning);
    if (tuning[0])
        log_print_line(out, "tuning: %s", tuning);
    if (s->outputs.camera)
        log_print_line(out, "virtual camera %s: %llu frames sent, %llu repeated", s->outputs.camera,
                       (unsigned long long)s->outputs.at.sent, (unsigned long long)s->outputs.at.repeated);
    print_frames(report, s);
    print_camera(s, out);
    meter_print(meter, out);
}

void report_summary(struct report *report, const struct status *s)
{
    if (report->json)
        print_json_summary(report, s);
    else
        print_table(report, s);
}
