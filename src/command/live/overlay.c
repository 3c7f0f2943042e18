// overlay.c: fills in the overlay
#include "command/live/live.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SPLIT_WORDS = 2 * PATH_WORDS + 8 };

void live_note(struct live *live, bool error, double seconds, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(live->note.text, sizeof(live->note.text), format, arguments);
    va_end(arguments);
    live->note.error = error;
    live->note.until_ns = seconds > 0 ? clock_now_ns() + (int64_t)(seconds * 1e9) : 0;
    live->redraw = true;
}

bool live_selected(const struct live *live, int *stage, int *param)
{
    const struct chain *chain = &live->wish.chain;
    int left = live->wish.selected;
    for (int i = 0; i < chain->count; i++) {
        const int count = filter_param_count(chain->stage[i].filter);
        if (left < count) {
            *stage = i;
            *param = left;
            return true;
        }
        left -= count;
    }
    return false;
}

// "blur [radius 2] > contrast amount 1.5 brightness 0": every parameter, the selected one in brackets.
static void chain_words(const struct live *live, char *text, size_t size)
{
    const struct chain *chain = &live->wish.chain;
    int at_stage = -1, at_param = -1;
    live_selected(live, &at_stage, &at_param);
    size_t used = (size_t)snprintf(text, size, "%s", chain->count ? "" : "none");
    for (int i = 0; i < chain->count && used < size; i++) {
        const struct stage *stage = &chain->stage[i];
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " > " : "", stage->filter->name);
        for (int p = 0; p < filter_param_count(stage->filter) && used < size; p++) {
            char value[64];
            const bool selected = i == at_stage && p == at_param;
            chain_value_text(stage, p, value);
            used += (size_t)snprintf(text + used, size - used, " %s%s %s%s", selected ? "[" : "",
                                     stage->filter->params[p].name, value, selected ? "]" : "");
        }
    }
}

// Names the panes left and right of the divider; "" while there is no second pane.
static void split_words(const struct live *live, char text[SPLIT_WORDS])
{
    const struct lane *other = &live->lane[LANE_OTHER];
    char left[PATH_WORDS], right[PATH_WORDS];
    live_path_words(&live->lane[LANE_MAIN], left);
    live_path_words(other, right);
    const bool shown = other->path && other->shows == live->wish.split;
    if (shown && live->wish.split == SPLIT_ORIGINAL)
        snprintf(text, SPLIT_WORDS, "original | filtered");
    else if (shown && live->wish.split == SPLIT_PATH)
        snprintf(text, SPLIT_WORDS, "%s | %s", left, right);
    else
        text[0] = '\0';
}

// Names the path and the one being built. The small overlay also names the panes of the split view; the larger ones
// have a line for these.
static void path_headline(const struct live *live, char text[OVERLAY_TEXT])
{
    const struct lane *lane = &live->lane[LANE_MAIN];
    const bool coming = !lane->path || (lane->kind != live->wish.kind && lanes_building(live));
    char path[PATH_WORDS] = "", split[SPLIT_WORDS] = "";
    if (live->wish.overlay == OVERLAY_SMALL)
        split_words(live, split);
    if (lane->path && !(split[0] && live->wish.split == SPLIT_PATH)) // `split` names the path then
        live_path_words(lane, path);
    snprintf(text, OVERLAY_TEXT, "%s%s%s%s%s", path, path[0] && split[0] ? "  " : "", split,
             coming ? "  building " : "", coming ? path_kind_name(live->wish.kind) : "");
}

static void fill_headline(struct live *live, struct overlay *overlay)
{
    const struct meter *meter = &live->meter;
    const uint64_t skipped = live_skipped(live);
    char figures[96] = "", path[OVERLAY_TEXT];
    if (meter->frames > 1) // a single frame has no rate, and its age means nothing
        snprintf(figures, sizeof(figures), "%.1f fps  1%% low %.1f  age %.1f ms  skipped %llu  ", meter_fps_now(meter),
                 meter_fps_low(meter), meter_late_ms(&meter->age_ms, 50), (unsigned long long)skipped);
    path_headline(live, path);
    overlay_line(overlay, OVERLAY_STRONG, "%s%s%s%s", figures, path, live->wish.frozen ? "  FROZEN" : "",
                 live->recorder.writer ? "  REC" : "");
}

// Adds the camera's frame rate, the frames' ages, the selected control and the lost frames.
static void fill_camera(struct live *live, struct overlay *overlay)
{
    const struct source_health health = source_health(live->source);
    const struct stats *age = &live->meter.age_ms;
    if (health.rate > 0)
        overlay_line(overlay, OVERLAY_PLAIN, "camera\t%.1f of %.3g/s, age %.1f ms, p95 %.1f, p99 %.1f", health.rate,
                     live->info->rate, meter_late_ms(age, 50), meter_late_ms(age, 95), meter_late_ms(age, 99));
    const struct source_control *control = &live->adjusted;
    if (control->name[0])
        overlay_line(overlay, OVERLAY_PLAIN, "control\t%s [%s] (%d to %d)", control->name, control->value,
                     control->minimum, control->maximum);
    if (health.damaged + health.lost > 0)
        overlay_line(overlay, OVERLAY_PLAIN, "missed\t%llu damaged, %llu lost in %d outages",
                     (unsigned long long)health.damaged, (unsigned long long)health.lost, health.outages);
    if (health.hint[0])
        overlay_line(overlay, OVERLAY_WARNING, "hint\t%s", health.hint);
}

static void fill_lines(struct live *live, struct overlay *overlay)
{
    const struct lane *lane = &live->lane[LANE_MAIN];
    const struct image_shape *shape = &live->info->shape;
    const struct pixfmt_info *format = pixfmt_info(shape->format);
    char words[OVERLAY_TEXT], path[PATH_WORDS], why[WHY_TEXT], split[SPLIT_WORDS];
    chain_words(live, words, sizeof(words));
    overlay_line(overlay, OVERLAY_PLAIN, "chain\t%s%s", words, lanes_building(live) ? "  (building)" : "");
    if (format->yuv)
        overlay_line(overlay, OVERLAY_PLAIN, "source\t%s  %dx%d %s, matrix %s, %s range", live->info->name,
                     shape->width, shape->height, format->name, color_matrix_name(shape->color.matrix),
                     color_range_name(shape->color.range));
    else
        overlay_line(overlay, OVERLAY_PLAIN, "source\t%s  %dx%d %s", live->info->name, shape->width, shape->height,
                     format->name);
    live_path_words(lane, path);
    if (lane->path)
        overlay_line(overlay, OVERLAY_PLAIN, "path\t%s, in by %s: %s", path, live_input(live), live_why(live, why));
    fill_camera(live, overlay);
    overlay_line(overlay, OVERLAY_PLAIN, "device\t%s", live_device_name(live, lane));
    if (live->window)
        overlay_line(overlay, OVERLAY_DIM, "screen\t%s, vsync %s", window_gl_name(live->window),
                     live->wish.vsync ? "on" : "off");
    split_words(live, split);
    if (split[0])
        overlay_line(overlay, OVERLAY_PLAIN, "split\t%s", split);
    if (live->camera) {
        const struct image_shape *out = camera_output_shape(live->camera);
        const struct camera_output_counts counts = camera_output_counts(live->camera);
        overlay_line(overlay, OVERLAY_PLAIN, "camera\t%s  %dx%d %s, %llu sent, %llu repeated",
                     camera_output_name(live->camera), out->width, out->height, pixfmt_info(out->format)->name,
                     (unsigned long long)counts.sent, (unsigned long long)counts.repeated);
    }
    if (live->recorder.writer)
        overlay_line(overlay, OVERLAY_WARNING, "record\t%s, %llu frames", live->recorder.name,
                     (unsigned long long)live->recorder.frames);
}

static void copy_text(char *to, size_t size, const char *from)
{
    const size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

static void fill_stages(const struct meter *meter, struct overlay *overlay)
{
    overlay->stages = 0;
    for (int i = 0; i < meter->shown_stages && i < OVERLAY_STAGES; i++) {
        const struct meter_stage *from = &meter->stage[meter->shown_stage[i]];
        struct overlay_stage *to = &overlay->stage[overlay->stages++];
        copy_text(to->name, sizeof(to->name), from->name);
        to->ms = meter_late_ms(&from->ms, 50);
        to->p95_ms = meter_late_ms(&from->ms, 95);
        to->device = from->clock == STAGE_DEVICE;
        to->history_count = from->ms.count < OVERLAY_HISTORY ? (int)from->ms.count : OVERLAY_HISTORY;
        for (int h = 0; h < to->history_count; h++)
            to->history[h] = (float)stats_recent(&from->ms, (size_t)(to->history_count - 1 - h));
    }
}

static void fill_message(struct live *live, struct overlay *overlay)
{
    struct note *note = &live->note;
    if (note->until_ns != 0 && clock_now_ns() > note->until_ns)
        note->text[0] = '\0';
    copy_text(overlay->message, sizeof(overlay->message), note->text);
    overlay->message_is_error = note->error;
    // The camera's trouble takes precedence over other messages.
    const struct source_health health = source_health(live->source);
    overlay->message_is_trouble = health.trouble[0] != '\0';
    if (overlay->message_is_trouble) {
        snprintf(overlay->message, sizeof(overlay->message), "%s", health.trouble);
        overlay->message_is_error = true;
    }
}

void live_fill_overlay(struct live *live)
{
    struct overlay *overlay = &live->overlay;
    overlay->size = live->wish.overlay;
    overlay->help = live->wish.help;
    overlay->keys = &live->keys;
    overlay->budget_ms = live->info->rate > 0 ? 1000 / live->info->rate : 0;
    overlay->lines = 0;
    fill_message(live, overlay);
    overlay->stages = 0;
    if (overlay->size == OVERLAY_OFF && !overlay->help)
        return;
    fill_headline(live, overlay);
    fill_lines(live, overlay);
    fill_stages(&live->meter, overlay);
}
