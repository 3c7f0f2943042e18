// report.c: prints JSON lines or a table on standard output
#include "command/live/live.h"

#include "base/clock.h"
#include "base/log.h"

#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LAST_WAIT_MS = 500 }; // longest wait for a stalled reader before the last line is dropped

static const char *const split_names[SPLITS] = {"off", "original", "path"};
static const char *const overlay_names[OVERLAY_SIZES] = {"off", "small", "full", "large"};

uint64_t live_skipped(const struct live *live)
{
    const struct capture_counts counts = live->capture ? capture_counts(live->capture) : (struct capture_counts){0};
    return counts.skipped + counts.dropped;
}

void live_path_words(const struct lane *lane, char text[PATH_WORDS])
{
    const char *kind = path_kind_name(lane->kind), *rung = lane->path ? path_rung(lane->path) : kind;
    const bool same = strcmp(kind, rung) == 0;
    snprintf(text, PATH_WORDS, "%s%s%s", kind, same ? "" : "/", same ? "" : rung);
}

const char *live_input(const struct live *live)
{
    const struct lane *lane = &live->lane[LANE_MAIN];
    const char *input = lane->path ? path_input(lane->path) : "";
    return strcmp(input, "host-ptr") == 0 && source_health(live->source).userptr ? "userptr" : input;
}

const char *live_why(const struct live *live, char text[WHY_TEXT])
{
    const struct lane *lane = &live->lane[LANE_MAIN];
    if (lane->kind == live->wish.kind || !lanes_building(live))
        return lane->path ? path_why(lane->path) : "";
    snprintf(text, WHY_TEXT, "until the %s path is built", path_kind_name(live->wish.kind));
    return text;
}

const char *live_device_name(const struct live *live, const struct lane *lane)
{
    const bool on_cpu = !lane->device || (lane->path && strcmp(path_rung(lane->path), "cpu") == 0);
    return on_cpu ? "cpu" : lane->device->info.name;
}

// Replaces all non-ASCII bytes by '?' if the text is not UTF-8, which JSON requires. File names may have any bytes.
static json_t *json_text(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    char ascii[OUTPUT_NAME];
    snprintf(ascii, sizeof(ascii), "%s", text);
    for (char *c = ascii; *c; c++) {
        if (*c & 0x80)
            *c = '?';
    }
    return json_string(ascii);
}

static json_t *json_ms(double ms)
{
    return json_real(round(ms * 1000) / 1000);
}

// Returns false if a line must be dropped: the view has a window and the reader takes nothing for `wait_ms`.
static bool reader_takes(const struct live *live, int wait_ms)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return !live->hurried || poll(&out, 1, wait_ms) != 0;
}

// Prints the object as one line and frees it. On any thread. main logs a broken standard output at the end.
static void print_line(struct live *live, json_t *object, int wait_ms)
{
    flockfile(stdout);
    if (!reader_takes(live, wait_ms))
        live->unsaid++;
    else if (!live->mute)
        live->mute = json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9)) != 0 || putchar('\n') == EOF ||
                     !command_flush();
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
    json_object_set_new(object, "message", json_text(message));
    print_line(context, object, 0);
}

void report_open(struct live *live)
{
    if (live->options.json)
        log_set_error_hook(report_error, live);
}

void report_close(struct live *live)
{
    log_set_error_hook(NULL, NULL);
    if (live->unsaid > 0)
        log_warn("the reader of standard output stalled; %u lines were dropped", live->unsaid);
}

static json_t *json_camera(const struct live *live)
{
    if (!live->camera)
        return json_null();
    const struct image_shape *shape = camera_output_shape(live->camera);
    const struct camera_output_counts counts = camera_output_counts(live->camera);
    json_t *object = json_object();
    json_object_set_new(object, "name", json_text(camera_output_name(live->camera)));
    json_object_set_new(object, "pixel_format", json_string(pixfmt_info(shape->format)->name));
    json_object_set_new(object, "width", json_integer(shape->width));
    json_object_set_new(object, "height", json_integer(shape->height));
    json_object_set_new(object, "matrix", json_string(color_matrix_name(shape->color.matrix)));
    json_object_set_new(object, "sent", json_integer((json_int_t)counts.sent));
    json_object_set_new(object, "skipped", json_integer((json_int_t)counts.skipped));
    json_object_set_new(object, "repeated", json_integer((json_int_t)counts.repeated));
    return object;
}

// Adds the path, its device and the run's counts.
static void add_run(const struct live *live, json_t *object)
{
    const struct lane *lane = &live->lane[LANE_MAIN];
    const struct capture_counts counts = live->capture ? capture_counts(live->capture) : (struct capture_counts){0};
    char chain[CHAIN_TEXT], why[WHY_TEXT];
    chain_print(&lane->chain, chain);
    json_object_set_new(object, "frames", json_integer((json_int_t)live->meter.frames));
    json_object_set_new(object, "skipped", json_integer((json_int_t)live_skipped(live)));
    json_object_set_new(object, "captured", json_integer((json_int_t)counts.captured));
    const struct source_health health = source_health(live->source);
    json_object_set_new(object, "damaged", json_integer((json_int_t)health.damaged));
    json_object_set_new(object, "lost", json_integer((json_int_t)health.lost));
    json_object_set_new(object, "outages", json_integer(health.outages));
    json_object_set_new(object, "delivered", json_ms(health.rate));
    json_object_set_new(object, "trouble", json_text(health.trouble));
    json_object_set_new(object, "path", json_string(path_kind_name(lane->kind)));
    json_object_set_new(object, "rung", json_string(lane->path ? path_rung(lane->path) : ""));
    json_object_set_new(object, "in", json_string(live_input(live)));
    json_object_set_new(object, "why", json_text(live_why(live, why)));
    json_object_set_new(object, "device", json_text(live_device_name(live, lane)));
    json_object_set_new(object, "chain", json_text(chain));
    json_object_set_new(object, "virtual_camera", json_camera(live));
}

// Adds the source and the shape of its frames.
static void add_source(const struct live *live, json_t *object)
{
    const struct image_shape *shape = &live->info->shape;
    json_object_set_new(object, "source", json_text(live->info->name));
    json_object_set_new(object, "kind", json_string(live->info->kind));
    json_object_set_new(object, "width", json_integer(shape->width));
    json_object_set_new(object, "height", json_integer(shape->height));
    json_object_set_new(object, "pixel_format", json_string(pixfmt_info(shape->format)->name));
    json_object_set_new(object, "matrix", json_string(color_matrix_name(shape->color.matrix)));
    json_object_set_new(object, "range", json_string(color_range_name(shape->color.range)));
    json_object_set_new(object, "rate", json_ms(live->info->rate));
}

void report_start(struct live *live)
{
    if (!live->options.json)
        return;
    json_t *object = event("start");
    json_object_set_new(object, "version", json_string(MONOCLE_VERSION));
    add_source(live, object);
    json_object_set_new(object, "depth", json_integer(live->depth));
    json_object_set_new(object, "screen", live->window ? json_text(window_gl_name(live->window)) : json_null());
    json_object_set_new(object, "building", json_boolean(lanes_building(live)));
    json_object_set_new(object, "setup_ms", json_ms((double)(clock_now_ns() - live->meter.opened_ns) / 1e6));
    add_run(live, object);
    print_line(live, object, 0);
}

void report_reshaped(struct live *live)
{
    if (!live->options.json)
        return;
    json_t *object = event("reshaped");
    add_source(live, object);
    add_run(live, object);
    print_line(live, object, 0);
}

static void add_wish(const struct live *live, json_t *object)
{
    const struct wish *wish = &live->wish;
    const struct source_control *control = &live->adjusted;
    int stage, param;
    char selected[80] = "";
    if (live_selected(live, &stage, &param)) {
        const struct filter *filter = wish->chain.stage[stage].filter;
        snprintf(selected, sizeof(selected), "%d:%s.%s", stage, filter->name, filter->params[param].name);
    }
    json_object_set_new(object, "building", json_boolean(lanes_building(live)));
    json_object_set_new(object, "selected", json_string(selected));
    json_object_set_new(
        object, "control",
        control->name[0] ? json_pack("{s:o,s:o}", "name", json_text(control->name), "value", json_text(control->value))
                         : json_null());
    json_object_set_new(object, "split", json_string(split_names[wish->split]));
    json_object_set_new(object, "divider", json_ms(wish->divider));
    json_object_set_new(object, "frozen", json_boolean(wish->frozen));
    json_object_set_new(object, "mirror", json_boolean(live_mirrored(&wish->chain)));
    json_object_set_new(object, "overlay", json_string(overlay_names[wish->overlay]));
    json_object_set_new(object, "help", json_boolean(wish->help));
    json_object_set_new(object, "vsync", json_boolean(wish->vsync));
    json_object_set_new(object, "fullscreen", json_boolean(wish->fullscreen));
    json_object_set_new(object, "recording", live->recorder.writer ? json_text(live->recorder.name) : json_null());
    json_object_set_new(object, "message", json_text(live->note.text));
    json_object_set_new(object, "message_is_error", json_boolean(live->note.text[0] && live->note.error));
}

void report_state(struct live *live, const char *name)
{
    if (!live->options.json)
        return;
    const struct meter *meter = &live->meter;
    json_t *object = event(name);
    json_object_set_new(object, "fps", json_ms(meter_fps_now(meter)));
    json_object_set_new(object, "low_fps", json_ms(meter_fps_low(meter)));
    json_object_set_new(object, "age_ms", json_ms(meter_late_ms(&meter->age_ms, 50)));
    add_run(live, object);
    add_wish(live, object);
    print_line(live, object, 0);
}

static json_t *json_stats(const struct stats *stats)
{
    json_t *object = json_object();
    json_object_set_new(object, "median_ms", json_ms(stats_percentile(stats, 50)));
    json_object_set_new(object, "p95_ms", json_ms(stats_percentile(stats, 95)));
    json_object_set_new(object, "p99_ms", json_ms(stats_percentile(stats, 99)));
    return object;
}

static void print_json_summary(struct live *live)
{
    const struct meter *meter = &live->meter;
    json_t *object = event("summary");
    add_run(live, object);
    json_object_set_new(object, "fps", json_ms(meter_fps(meter)));
    json_object_set_new(object, "low_fps", json_ms(meter_fps_low(meter)));
    json_object_set_new(object, "time_to_first_frame_ms", json_ms(meter_first_frame_ms(meter)));
    json_object_set_new(object, "age", json_stats(&meter->age_ms));
    json_t *stages = json_object();
    for (int i = 0; i < meter->stages; i++) {
        json_t *stage = json_stats(&meter->stage[i].ms);
        json_object_set_new(stage, "clock", json_string(meter->stage[i].clock == STAGE_DEVICE ? "device" : "host"));
        json_object_set_new(stages, meter->stage[i].name, stage);
    }
    json_object_set_new(object, "stages", stages);
    print_line(live, object, LAST_WAIT_MS);
}

static void print_row(FILE *out, int width, const char *name, const struct stats *stats, const char *clock)
{
    fprintf(out, "%-*s %9.3f %9.3f %9.3f  %s\n", width, name, stats_percentile(stats, 50), stats_percentile(stats, 95),
            stats_percentile(stats, 99), clock);
}

static void print_camera(struct live *live, FILE *out)
{
    const struct source_health health = source_health(live->source);
    if (health.rate > 0)
        fprintf(out, "the camera delivered %.1f of %.3g frames per second\n", health.rate, live->info->rate);
    if (health.damaged + health.lost > 0 || health.outages > 0)
        fprintf(out, "%llu damaged frames dropped, %llu frames lost in %d outages\n",
                (unsigned long long)health.damaged, (unsigned long long)health.lost, health.outages);
    if (health.hint[0])
        fprintf(out, "hint: %s\n", health.hint);
}

// Prints the rate from 10 frames on, and the 1 % low from 100 frames on.
static void print_frames(const struct live *live, FILE *out)
{
    enum { FPS_LEAST = 10, LOW_LEAST = 100 };
    const struct meter *meter = &live->meter;
    const uint64_t skipped = live_skipped(live);
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

static void print_table(struct live *live, FILE *out)
{
    const struct meter *meter = &live->meter;
    const struct lane *lane = &live->lane[LANE_MAIN];
    char chain[CHAIN_TEXT], name[4 * sizeof(live->info->name)], path[PATH_WORDS], why[WHY_TEXT];
    chain_print(&lane->chain, chain);
    log_escape(name, sizeof(name), live->info->name);
    fprintf(out, "%s through %s\n", name, chain);
    live_path_words(lane, path);
    fprintf(out, "path %s (%s), device %s\n", path, live_why(live, why), live_device_name(live, lane));
    if (live->camera) {
        const struct camera_output_counts counts = camera_output_counts(live->camera);
        fprintf(out, "virtual camera %s: %llu frames sent, %llu repeated\n", camera_output_name(live->camera),
                (unsigned long long)counts.sent, (unsigned long long)counts.repeated);
    }
    print_frames(live, out);
    print_camera(live, out);
    if (meter->frames == 0)
        return;
    fputc('\n', out);
    int width = (int)strlen("age when shown");
    for (int i = 0; i < meter->stages; i++) {
        const int length = (int)strlen(meter->stage[i].name);
        width = length > width ? length : width;
    }
    fprintf(out, "%-*s %9s %9s %9s  clock\n", width, "stage (ms)", "median", "p95", "p99");
    for (int i = 0; i < meter->stages; i++)
        print_row(out, width, meter->stage[i].name, &meter->stage[i].ms,
                  meter->stage[i].clock == STAGE_DEVICE ? "device" : "host");
    if (meter->age_ms.count > 0)
        print_row(out, width, "age when shown", &meter->age_ms, "host");
}

void report_summary(struct live *live)
{
    if (live->options.json) {
        print_json_summary(live);
        return;
    }
    if (live->meter.frames == 0 && live->code >= EXIT_NOTHING)
        return; // an error was logged
    print_table(live, live->options.stdout_taken ? stderr : stdout);
}
