// view.c: draws the panes and the overlay, and fills in the overlay
#include "command/live/view.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/gl_handles.h"
#include "base/text.h"
#include "compute/tuned.h"
#include "screen/renderer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPLIT_WORDS = 2 * PATH_WORDS + 8 };

struct view {
    struct window *window; // borrowed
    struct renderer *renderer;
    struct overlay overlay;
    unsigned texture[PANES]; // of each pane's last result; 0: none
    int width, height;       // of a main picture that stays until the next result; 0: its texture ends with its path
};

// ---- overlay ----

// `none`: words for no filter. "contrast 1.5 0 > blur [radius 2] > gray": every value, the selected parameter or stage
// in brackets, and the names of the selected stage's parameters; " | " between the camera's part, look and titles.
static void chain_words(const struct settings *settings, const char *none, char *text, size_t size)
{
    const struct chain *chain = &settings->chain;
    int at_stage = -1, at_param = -1;
    settings_selected(settings, &at_stage, &at_param);
    snprintf(text, size, "%s", chain->count ? "" : none);
    for (int i = 0; i < chain->count; i++) {
        const struct stage *stage = &chain->stage[i];
        const bool here = i == at_stage, whole = here && at_param < 0;
        const bool other = i > 0 && stage->part != stage[-1].part;
        text_append(text, size, "%s%s%s%s", other ? " | " : text_if(i > 0, " > "), text_if(whole, "["),
                    stage->filter->name, text_if(whole, "]"));
        for (int p = 0; p < filter_param_count(stage->filter); p++) {
            char value[64];
            const bool selected = here && p == at_param;
            chain_value_text(stage, p, value);
            text_append(text, size, " %s%s%s%s%s", text_if(selected, "["), text_if(here, stage->filter->params[p].name),
                        text_if(here, " "), value, text_if(selected, "]"));
        }
    }
}

// Adds the chain, and the selected filter while the chain is being built. The small overlay shows it, too.
static void fill_chain(const struct status *s, struct overlay *overlay)
{
    char words[OVERLAY_TEXT], shown[SHOWN_TEXT];
    int stage = 0, param;
    const bool small = overlay->size == OVERLAY_SMALL;
    const bool chosen = s->building && settings_selected(s->settings, &stage, &param);
    const char *name = chosen ? s->settings->chain.stage[stage].filter->name : "";
    chain_words(s->settings, small ? "no filter" : "none", words, sizeof(words));
    char ms[24] = "";
    if (s->showcase)
        snprintf(ms, sizeof(ms), "  %.1f ms", meter_passes_ms(s->meter));
    if (s->look)
        overlay_line(overlay, OVERLAY_STRONG, "%s%s%s", text_if(!small, "look\t"), s->look, ms);
    overlay_line(overlay, OVERLAY_STRONG, "%s%s%s%s%s%s", text_if(!small, "chain\t"), words,
                 text_if(s->building, "  building"), text_if(chosen, " "), name, text_if(s->building, " ..."));
    if (settings_shown(s->settings, shown))
        overlay_line(overlay, OVERLAY_WARNING, "%safter %s", text_if(!small, "shown\t"), shown);
}

// Names the panes left and right of the divider; "" while there is no second pane.
static void split_words(const struct status *s, char text[SPLIT_WORDS])
{
    text[0] = '\0';
    if (s->split && s->settings->split == SPLIT_ORIGINAL)
        snprintf(text, SPLIT_WORDS, "original | filtered");
    else if (s->split)
        snprintf(text, SPLIT_WORDS, "%s | %s", s->pane.words, s->other.words);
}

// Adds the rates and the path, and the path being built; of still images, which have no rates, the size, and only in
// the larger overlays the path. The small overlay also names the panes of the split view; the larger ones have a line
// for these.
static void fill_headline(const struct status *s, struct overlay *overlay)
{
    const struct meter *meter = s->meter;
    const char *wanted = path_kind_name(s->state->kind);
    const bool coming = !s->pane.open || (s->building && strcmp(s->pane.kind, wanted) != 0);
    const bool still = s->info->still || s->info->slides;
    char figures[96] = "", split[SPLIT_WORDS] = "", record[32] = "";
    if (still)
        snprintf(figures, sizeof(figures), "%dx%d  ", s->info->shape.width, s->info->shape.height);
    else if (meter->interval_ms.count > 0)
        snprintf(figures, sizeof(figures), "%.1f fps  1%% low %.1f  age %.1f ms  skipped %llu  ", meter_fps_now(meter),
                 meter_fps_low(meter), meter_late_ms(&meter->age_ms, 50), (unsigned long long)s->skipped);
    if (overlay->size == OVERLAY_SMALL)
        split_words(s, split);
    const bool named = split[0] && s->settings->split == SPLIT_PATH; // `split` names the path
    const bool shown = s->pane.open && !named && !(still && overlay->size == OVERLAY_SMALL);
    const char *path = shown ? s->pane.words : "";
    if (s->outputs.recording)
        snprintf(record, sizeof(record), "  REC %d:%02d", s->outputs.recorded_s / 60, s->outputs.recorded_s % 60);
    overlay_line(
        overlay, OVERLAY_STRONG, "%s%s%s%s%s%s%s%s%s%s", figures, path, text_if(path[0] && split[0], "  "), split,
        text_if(coming, "  building "), text_if(coming, wanted), text_if(s->settings->paused, "  PAUSED"), record,
        text_if(s->outputs.camera, "  CAMERA"),
        text_if(s->outputs.camera && s->outputs.at.watched >= 0, s->outputs.at.watched ? " watched" : " unwatched"));
}

// Adds the variant of each pass, and where it comes from: "blur window:ROWS=8 (user, same device, other size)".
static void fill_passes(const struct pane_facts *pane, struct overlay *overlay)
{
    char text[OVERLAY_TEXT] = "";
    for (int i = 0; i < pane->passes; i++) {
        const struct path_pass *pass = &pane->pass[i];
        const struct tuned_found *tuned = pass->tuned;
        char from[80] = "default";
        if (tuned)
            snprintf(from, sizeof(from), "%s, %s", tuned_level_name(tuned->level), tuned_match_name(tuned->match));
        text_append(text, sizeof(text), "%s%s %s (%s)", text_if(i > 0, ", "), pass->name, pass->choice, from);
    }
    if (pane->passes > 0)
        overlay_line(overlay, OVERLAY_PLAIN, "kernels\t%s", text);
}

// Adds the camera's frame rate, the frames' ages, the selected control and the lost frames.
static void fill_camera(const struct status *s, struct overlay *overlay)
{
    const struct source_health *health = &s->health;
    const struct stats *age = &s->meter->age_ms;
    if (health->rate > 0)
        overlay_line(overlay, OVERLAY_PLAIN, "camera\t%.1f of %.3g/s, age %.1f ms, p95 %.1f, p99 %.1f", health->rate,
                     s->info->rate, meter_late_ms(age, 50), meter_late_ms(age, 95), meter_late_ms(age, 99));
    const struct source_control *control = s->adjusted;
    if (control->name[0])
        overlay_line(overlay, OVERLAY_PLAIN, "control\t%s [%s] (%d to %d)", control->name, control->value,
                     control->minimum, control->maximum);
    if (health->damaged + health->lost > 0)
        overlay_line(overlay, OVERLAY_PLAIN, "missed\t%llu damaged, %llu lost in %d outages",
                     (unsigned long long)health->damaged, (unsigned long long)health->lost, health->outages);
    if (health->hint[0])
        overlay_line(overlay, OVERLAY_WARNING, "hint\t%s", health->hint);
}

// Adds the programs of mattes. The small overlay shows their troubles.
static void fill_mattes(const struct status *s, struct overlay *overlay)
{
    for (const struct matte_facts *m = s->matte; m < s->matte + s->mattes; m++)
        overlay_line(overlay, m->trouble[0] ? OVERLAY_WARNING : OVERLAY_PLAIN,
                     "matte\t%s %s, %.1f/s, %.1f ms, age %.1f ms, wait %.1f ms, %llu late, %d restarts%s%s", m->name,
                     m->state, m->rate, m->program_ms, m->age_ms, m->wait_ms, (unsigned long long)m->late, m->restarts,
                     text_if(m->trouble[0], ": "), m->trouble);
}

// Adds the virtual camera and the recording.
static void fill_outputs(const struct status *s, struct overlay *overlay)
{
    const struct outputs_facts *to = &s->outputs;
    const struct image_shape *shape = &to->camera_shape;
    if (to->camera)
        overlay_line(overlay, OVERLAY_PLAIN, "virtual\t%s  %dx%d %s, %llu sent, %llu repeated", to->camera,
                     shape->width, shape->height, pixfmt_info(shape->format)->name, (unsigned long long)to->at.sent,
                     (unsigned long long)to->at.repeated);
    if (to->recording)
        overlay_line(overlay, OVERLAY_WARNING, "record\t%s, %llu frames", to->recording,
                     (unsigned long long)to->recorded);
}

static void fill_lines(const struct status *s, struct overlay *overlay)
{
    const struct image_shape *shape = &s->info->shape;
    const struct pixfmt_info *format = pixfmt_info(shape->format);
    char color[64] = "", split[SPLIT_WORDS], tuning[TUNING_WORDS];
    fill_chain(s, overlay);
    if (format->yuv)
        snprintf(color, sizeof(color), ", matrix %s, %s range", color_matrix_name(shape->color.matrix),
                 color_range_name(shape->color.range));
    overlay_line(overlay, OVERLAY_PLAIN, "source\t%s  %dx%d %s%s", s->info->name, shape->width, shape->height,
                 format->name, color);
    if (s->pane.open) {
        overlay_line(overlay, OVERLAY_PLAIN, "path\t%s", s->pane.words);
        overlay_line(overlay, OVERLAY_PLAIN, "why\t%s", s->pane.why);
        overlay_line(overlay, OVERLAY_PLAIN, "input\t%s", s->pane.input);
    }
    fill_camera(s, overlay);
    overlay_line(overlay, OVERLAY_PLAIN, "device\t%s", s->pane.device);
    fill_passes(&s->pane, overlay);
    status_tuning_words(s, tuning);
    if (tuning[0])
        overlay_line(overlay, OVERLAY_PLAIN, "tuning\t%s", tuning);
    fill_mattes(s, overlay);
    overlay_line(overlay, OVERLAY_DIM, "screen\t%s, vsync %s", s->screen, s->settings->vsync ? "on" : "off");
    split_words(s, split);
    if (split[0])
        overlay_line(overlay, OVERLAY_PLAIN, "split\t%s", split);
    fill_outputs(s, overlay);
}

static void fill_stages(const struct meter *meter, struct overlay *overlay)
{
    overlay->stages = 0;
    for (int i = 0; i < meter->shown_stages && i < OVERLAY_STAGES; i++) {
        const struct meter_stage *from = &meter->stage[meter->shown_stage[i]];
        struct overlay_stage *to = &overlay->stage[overlay->stages++];
        snprintf(to->name, sizeof(to->name), "%.*s", (int)sizeof(to->name) - 1, from->name);
        to->ms = meter_late_ms(&from->ms, 50);
        to->p95_ms = meter_late_ms(&from->ms, 95);
        to->device = from->clock == STAGE_DEVICE;
        to->history_count = from->ms.count < OVERLAY_HISTORY ? (int)from->ms.count : OVERLAY_HISTORY;
        for (int h = 0; h < to->history_count; h++)
            to->history[h] = (float)stats_recent(&from->ms, (size_t)(to->history_count - 1 - h));
    }
}

// The camera's trouble takes precedence over the note.
static void fill_message(const struct status *s, struct overlay *overlay)
{
    const bool trouble = s->health.trouble[0] != '\0';
    overlay->message_is_trouble = trouble;
    overlay->message_is_error = trouble || s->note_is_error;
    snprintf(overlay->message, sizeof(overlay->message), "%.*s", (int)sizeof(overlay->message) - 1,
             trouble ? s->health.trouble : s->note);
}

// Fills a curve with the means of sums, each over `pixels` pixels of up to 255.
static void fill_sums(struct overlay_scope *scope, const uint32_t *sums, int count, int pixels)
{
    scope->curves = 1;
    scope->points = count < SCOPE_POINTS ? count : SCOPE_POINTS;
    for (int i = 0; i < scope->points; i++) {
        const int first = count * i / scope->points, end = count * (i + 1) / scope->points;
        double sum = 0;
        for (int k = first; k < end; k++)
            sum += sums[k];
        scope->curve[0][i] = (float)(sum / (255.0 * pixels * (end - first)));
    }
}

// The square root keeps rare values visible.
static void fill_histogram(struct overlay_scope *scope, const uint32_t histogram[MEASURE_CHANNELS][FILTER_LEVELS])
{
    struct path_levels levels;
    uint32_t most = 1;
    path_levels(histogram, &levels);
    snprintf(scope->name, sizeof(scope->name), "mean %.0f %.0f %.0f", levels.mean[0], levels.mean[1], levels.mean[2]);
    scope->curves = MEASURE_CHANNELS;
    scope->points = FILTER_LEVELS;
    for (int i = 0; i < MEASURE_CHANNELS * FILTER_LEVELS; i++) {
        const uint32_t count = histogram[i / FILTER_LEVELS][i % FILTER_LEVELS];
        most = count > most ? count : most;
    }
    for (int i = 0; i < MEASURE_CHANNELS * FILTER_LEVELS; i++)
        scope->curve[i / FILTER_LEVELS][i % FILTER_LEVELS] =
            sqrtf((float)histogram[i / FILTER_LEVELS][i % FILTER_LEVELS] / (float)most);
}

// A path without the wanted measure may run until another one is built.
static void fill_scope(const struct status *s, struct overlay_scope *scope)
{
    const struct path_result *result = s->pane.result;
    scope->curves = 0;
    if (!result || s->settings->scope == SCOPE_OFF)
        return;
    if (result->measures.histogram)
        fill_histogram(scope, result->measures.histogram);
    else if (result->measures.columns)
        fill_sums(scope, result->measures.columns, result->width, result->height);
    else if (result->measures.rows)
        fill_sums(scope, result->measures.rows, result->height, result->width);
    if (scope->curves == 1)
        snprintf(scope->name, sizeof(scope->name), "%s of green", result->measures.rows ? "row sums" : "column sums");
}

// Writes the overlay's lines, stages and message.
static void fill_overlay(struct overlay *overlay, const struct status *s)
{
    overlay->size = s->settings->overlay;
    overlay->help = s->settings->help;
    overlay->budget_ms = s->info->rate > 0 ? 1000 / s->info->rate : 0;
    overlay->lines = 0;
    overlay->stages = 0;
    fill_message(s, overlay);
    fill_scope(s, &overlay->scope);
    overlay->list = s->list;
    if (overlay->size == OVERLAY_OFF && !overlay->help)
        return;
    fill_headline(s, overlay);
    fill_lines(s, overlay);
    fill_stages(s->meter, overlay);
}

// ---- view ----

struct view *view_open(struct window *window, const struct keys *keys)
{
    struct view *view = xalloc(sizeof(*view));
    view->window = window;
    view->overlay.keys = keys;
    view->renderer = renderer_open();
    if (view->renderer)
        return view;
    view_close(view);
    return NULL;
}

void view_close(struct view *view)
{
    if (!view)
        return;
    renderer_close(view->renderer);
    free(view);
}

bool view_upload(struct view *view, const struct panes *panes, struct meter *meter)
{
    bool ok = true;
    view->width = 0;
    for (int i = 0; i < PANES; i++) {
        const struct path_result *result = panes_result(panes, i);
        view->texture[i] = result ? result->texture : 0;
        if (!result || view->texture[i])
            continue;
        const int64_t start = clock_now_ns();
        gl_software_lock(window_gl(view->window));
        view->texture[i] = renderer_upload(view->renderer, i, &result->image);
        if (i == PANE_MAIN) {
            view->width = result->width;
            view->height = result->height;
        }
        if (panes_timed(panes))
            upload_wait();
        gl_software_unlock(window_gl(view->window));
        ok = ok && view->texture[i];
        meter_host(meter, "main", i == PANE_MAIN ? "texture upload" : "texture upload 2", start, clock_now_ns());
    }
    return ok;
}

void view_keep(struct view *view, struct panes *panes)
{
    const struct path_result *result = panes_result(panes, PANE_MAIN);
    const struct image *picture = result && result->texture ? panes_picture(panes) : NULL;
    if (!picture)
        return;
    gl_software_lock(window_gl(view->window));
    view->texture[PANE_MAIN] = renderer_upload(view->renderer, PANE_MAIN, picture);
    gl_software_unlock(window_gl(view->window));
    view->width = picture->shape.width;
    view->height = picture->shape.height;
}

static struct scene compose(const struct view *view, const struct status *status)
{
    const struct overlay *overlay = &view->overlay;
    const struct settings *settings = status->settings;
    // Before the first path is open, the window shows only the message.
    const bool silent = overlay->size == OVERLAY_OFF && !overlay->help && !overlay->message_is_trouble &&
                        !overlay->list.title[0] && status->pane.open && overlay->scope.curves == 0;
    struct scene scene = {
        .width = status->info->shape.width,
        .height = status->info->shape.height,
        .divider = settings->divider,
        .zoom = settings->zoom_output ? 0 : settings->zoom,
        .at_x = settings->zoom_x,
        .at_y = settings->zoom_y,
        .overlay = silent ? NULL : overlay,
    };
    if (status->pane.result || view->width > 0)
        scene.texture = view->texture[PANE_MAIN];
    if (status->pane.result) {
        scene.width = status->pane.result->width;
        scene.height = status->pane.result->height;
    } else if (view->width > 0) {
        scene.width = view->width;
        scene.height = view->height;
    }
    const unsigned other = status->other.result ? view->texture[PANE_OTHER] : 0;
    if (!status->split || !other)
        return scene;
    if (settings->split == SPLIT_PATH) {
        scene.right_texture = other;
    } else { // the original is on the left
        scene.right_texture = scene.texture;
        scene.texture = other;
    }
    return scene;
}

int64_t view_draw(struct view *view, const struct status *status, struct meter *meter)
{
    fill_overlay(&view->overlay, status);
    const struct scene scene = compose(view, status);
    const struct window_size size = window_size(view->window);
    const int64_t start_ns = clock_now_ns();
    gl_software_lock(window_gl(view->window));
    renderer_draw(view->renderer, &scene, &size);
    const int64_t drawn_ns = clock_now_ns();
    window_swap(view->window);
    gl_software_unlock(window_gl(view->window));
    const int64_t shown_ns = clock_now_ns();
    if (!meter)
        return shown_ns;
    meter_host(meter, "main", "draw", start_ns, drawn_ns);
    const int64_t gpu_ns = renderer_gpu_ns(view->renderer);
    if (gpu_ns >= 0) {
        const struct stage_time gpu = {.name = "draw on gpu", .clock = STAGE_DEVICE, .end_ns = gpu_ns};
        meter_add(meter, NULL, NULL, &gpu);
    }
    meter_host(meter, "main", "swap", drawn_ns, shown_ns);
    return shown_ns;
}

// Finds the picture's box in the window. False: no picture is visible.
static bool find_box(const struct path_result *result, const struct settings *settings, const struct window_size *size,
                     struct renderer_box *box)
{
    const struct scene scene = {.width = result->width,
                                .height = result->height,
                                .zoom = settings->zoom,
                                .at_x = settings->zoom_x,
                                .at_y = settings->zoom_y};
    *box = renderer_picture_box(&scene, size);
    return box->width > 0;
}

int view_choice(const struct view *view, float x, float y)
{
    return choice_list_row(renderer_canvas(view->renderer), &view->overlay.list, x, y);
}

int view_choice_room(const struct view *view, const struct choice_list *list)
{
    return choice_list_room(renderer_canvas(view->renderer), list);
}

float view_scale(const struct view *view, const struct path_result *result, const struct settings *settings)
{
    const struct window_size size = window_size(view->window);
    struct renderer_box box;
    return find_box(result, settings, &size, &box) ? box.width / (float)result->width : 1;
}

bool view_place(const struct view *view, const struct path_result *result, const struct settings *settings, float x,
                float y, struct view_place *place)
{
    enum { REACH_PX = 12 };
    const struct window_size size = window_size(view->window);
    struct renderer_box box;
    if (!find_box(result, settings, &size, &box))
        return false;
    place->at[0] = (x * (float)size.width - box.x) / box.width;
    place->at[1] = (y * (float)size.height - box.y) / box.height;
    place->reach[0] = REACH_PX * size.scale / box.width;
    place->reach[1] = REACH_PX * size.scale / box.height;
    return true;
}

// Moves the picture's point (x, y), 0 to 1, to the place (to_x, to_y) of the window, as far as the picture's sides
// allow.
static void move_to(const struct view *view, const struct path_result *result, struct settings *settings, float x,
                    float y, float to_x, float to_y)
{
    const struct window_size size = window_size(view->window);
    const float width = (float)size.width, height = (float)size.height;
    struct renderer_box box;
    if (!find_box(result, settings, &size, &box))
        return;
    settings->zoom_x = x + (0.5f - to_x) * width / box.width;
    settings->zoom_y = y + (0.5f - to_y) * height / box.height;
    find_box(result, settings, &size, &box);
    settings->zoom_x = (width / 2 - box.x) / box.width;
    settings->zoom_y = (height / 2 - box.y) / box.height;
}

void view_pan(const struct view *view, const struct path_result *result, struct settings *settings, float dx, float dy)
{
    move_to(view, result, settings, settings->zoom_x, settings->zoom_y, 0.5f + dx, 0.5f + dy);
}

void view_zoom(const struct view *view, const struct path_result *result, struct settings *settings, int steps, float x,
               float y)
{
    static const float step = 1.25f, most = 16; // of the image that fits the window
    struct view_place at;
    if (!view_place(view, result, settings, x, y, &at))
        return;
    const float fit = view_scale(view, result, &(struct settings){0});
    const float zoom = view_scale(view, result, settings) * powf(step, (float)steps);
    settings->zoom = zoom < 1.01f * fit ? 0 : fminf(zoom, most * fit);
    move_to(view, result, settings, at.at[0], at.at[1], x, y);
}
