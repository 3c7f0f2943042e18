// pipeline.c: the chain that makes the table of column sums of a frame, and the pictures of its stages
#include "lane/pipeline.h"

#include "base/alloc.h"
#include "base/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Writes the chain to the end of a stage. The warp has the points that become the corners, in the picture without
// distortion.
static bool print_chain(const struct lane_pipeline *pipeline, enum lane_stage stage, char text[CHAIN_TEXT])
{
    const int right = lane_view.columns - 1, bottom = lane_view.rows - 1;
    const int corner[4][2] = {{0, 0}, {right, 0}, {right, bottom}, {0, bottom}};
    const struct lane_lens *lens = &pipeline->map.lens;
    const bool marks = pipeline->marks && stage >= LANE_RIDGE;
    int used = 0;
    if (marks) // without a matte, the picture is black
        used = snprintf(text, CHAIN_TEXT, "fill=white,keep,fill=black,matte=%s:behind:edge=plain,", pipeline->marks);
    if (lane_lens_bends(lens))
        used += snprintf(text + used, CHAIN_TEXT - (size_t)used, "undistort=%s,", lens->text);
    used += snprintf(text + used, CHAIN_TEXT - (size_t)used, "warp=");
    for (int i = 0; i < 4; i++) {
        double at[2];
        if (!lane_map_apply(pipeline->map.warp, corner[i][0], corner[i][1], at))
            return false;
        used += snprintf(text + used, CHAIN_TEXT - (size_t)used, "%s%.3f %.3f", i > 0 ? " " : "", at[0], at[1]);
    }
    used += snprintf(text + used, CHAIN_TEXT - (size_t)used, ":%d:%d", lane_view.columns, lane_view.rows);
    // A ridge is a little wider than a line; a program may draw wider ones. White marks without a ridge move the lines.
    if (stage >= LANE_RIDGE)
        snprintf(text + used, CHAIN_TEXT - (size_t)used, ",gray=paint,ridge=%d", marks ? 6 : 4);
    return true;
}

static bool make_chain(const struct lane_pipeline *pipeline, enum lane_stage stage, struct chain *chain)
{
    char text[CHAIN_TEXT], error[CHAIN_ERROR] = "";
    if (print_chain(pipeline, stage, text) && chain_parse(chain, text, error))
        return true;
    log_error("cannot find lanes: %s", error[0] ? error : lane_road_behind);
    return false;
}

bool lane_pipeline_chain(const struct lane_pipeline *pipeline, struct chain *chain)
{
    return make_chain(pipeline, LANE_RIDGE, chain);
}

void lane_pipeline_close(struct lane_pipeline *pipeline)
{
    for (int i = 0; i < LANE_STAGES; i++) {
        path_close(pipeline->shown[i]);
        pipeline->shown[i] = NULL;
    }
}

struct lane_table lane_pipeline_table(const struct lane_pipeline *pipeline, const uint32_t *sums)
{
    return (struct lane_table){.sums = sums,
                               .columns = lane_view.columns,
                               .full = (uint32_t)(255 * lane_view.rows / LANE_STRIPS),
                               .across = lane_view.across,
                               .near = lane_view.near,
                               .far = lane_view.far,
                               .settings = &pipeline->settings};
}

// Opens a path that runs the chain to the end of a stage.
static struct path *open_stage(const struct lane_pipeline *pipeline, struct path_setup setup, enum lane_stage stage)
{
    struct chain *chain = xalloc(sizeof(*chain)); // too large for the stack
    struct path *path = NULL;
    setup.chain = chain;
    setup.depth = 1;
    if (make_chain(pipeline, stage, chain))
        path = path_open(&setup, NULL);
    free(chain);
    return path;
}

const struct image *lane_pipeline_stage(struct lane_pipeline *pipeline, const struct image *frame,
                                        enum lane_stage stage)
{
    struct path **path = &pipeline->shown[stage];
    struct path_result *result = &pipeline->picture[stage];
    if (!*path && !(*path = open_stage(pipeline, pipeline->setup, stage)))
        return NULL;
    return path_submit(*path, frame, &pipeline->frame_time) && path_collect(*path, result) ? &result->image : NULL;
}

bool lane_pipeline_sums(const struct lane_pipeline *pipeline, const struct image *frame, uint32_t *sums)
{
    const struct path_setup setup = {.kind = PATH_CPU,
                                     .input = frame->shape,
                                     .measures = MEASURE_COLUMNS,
                                     .strips = LANE_STRIPS,
                                     .measured_only = true,
                                     .threads = pipeline->setup.threads};
    struct path *path = open_stage(pipeline, setup, LANE_RIDGE);
    struct path_result result;
    const bool ok = path && path_submit(path, frame, &pipeline->frame_time) && path_collect(path, &result);
    if (ok)
        memcpy(sums, result.measures.columns, LANE_STRIPS * (size_t)lane_view.columns * sizeof(*sums));
    path_close(path);
    return ok;
}

// ---- the aim: estimates the camera's pitch and yaw from the lane lines ----

enum {
    REFINES = 3,         // of a search's result
    FIRST_FRAMES = 90,   // are searched until the pitch is confirmed
    AT_ONCE = 2,         // pitches tried in a frame; the first frame tries all
    BLIND_FRAMES = 30,   // without lines start another search
    WIDTH_FRAMES = 30,   // in a row with one width of the lane give the height
    LATER_FRAMES = 300,  // in a row with another width change it again
    SETTLED_FRAMES = 90, //
    LONGEST_MEAN = 600,  // frames
};

static const double degree = 3.14159265358979323846 / 180;
static const double step = 1;          // degrees between the pitches of a search
static const double likely = 10;       // degrees: standard deviation of the pitch from the calibration
static const double least_score = 0.2; // of support times lanes; a search with less finds nothing
static const double weak_score = 0.1;  // enough for a pitch that wins two searches in a row
static const double clearly = 1.2;     // a better pitch must have this share of the present one's score
static const double fade = 0.8;        // of the scores, from search to search
static const double pitch_slack = 0.15, yaw_slack = 0.5; // degrees: smaller differences do not change the map
static const double aside_slack = 3;                     // degrees: a smaller heading does not turn the camera
static const double width_slack = 0.03;                  // share of the width: the same for the height
static const double other_width = 0.08;                  // share of the mean: another lane, or one that widens
static const double narrow_lane = 3, wide_lane = 3.75;   // metres: usual widths
static const double widest_lane = 5.2;                   // metres: a wider one is two, whose line is hidden

// The lines of one frame at one pitch.
struct aim_trial {
    struct lane_pipeline pipeline;
    struct lane_shape shape;
    bool turned; // the camera may look aside: search more headings
    uint32_t sums[LANE_STRIPS * LANE_COLUMNS_MAX];
};

// Makes the trial's lines with its camera. *possible: the camera sees the road. Returns false on failure (logged).
static bool try_camera(struct aim_trial *trial, const struct image *frame, bool *possible)
{
    char why[LANE_ERROR];
    struct lane_pipeline *pipeline = &trial->pipeline;
    trial->shape.lines = 0;
    *possible = lane_map_init(&pipeline->map, &pipeline->camera, frame->shape.width, frame->shape.height, why);
    if (!*possible)
        return true;
    if (!lane_pipeline_sums(pipeline, frame, trial->sums))
        return false;
    struct lane_table table = lane_pipeline_table(pipeline, trial->sums);
    table.turned = trial->turned;
    lane_find(&trial->shape, &table, NULL, false, NULL);
    return true;
}

// The pitch at which the lines are parallel without LANE_SPREAD.
static double true_pitch(const struct lane_camera *camera, const struct lane_shape *shape)
{
    return camera->pitch + atan(camera->height * shape->term[LANE_SPREAD]) / degree;
}

// A line is straight at any pitch. Only a second one tells if they are parallel. Texture gives lines, but no lanes.
static double score_of(const struct lane_shape *shape)
{
    double score = 0, most = 0;
    for (int i = 0; i < shape->lines; i++) {
        score += shape->line[i].support;
        most = fmax(most, shape->line[i].support);
    }
    return (score - most) * shape->lanes;
}

static bool use_camera(struct lane_pipeline *pipeline, const struct lane_camera *camera,
                       const struct image_shape *shape)
{
    char why[LANE_ERROR];
    struct lane_map map;
    if (!lane_map_init(&map, camera, shape->width, shape->height, why))
        return false;
    lane_pipeline_close(pipeline); // its stages have the map
    pipeline->camera = *camera;
    pipeline->map = map;
    pipeline->changes++;
    return true;
}

// Row of the picture where lines that lead straight ahead meet.
static double horizon(const struct lane_map *map)
{
    return map->picture[4] / map->picture[7];
}

// Tries the next `count` pitches of the search under way. Returns false on failure (logged).
static bool try_pitches(struct lane_aim *aim, struct aim_trial *trial, const struct image *frame, int count)
{
    for (; count > 0 && aim->next < LANE_AIMS; count--) {
        bool possible;
        const double off = (aim->next - LANE_AIMS / 2) * step;
        trial->pipeline.camera.pitch = aim->given + off;
        if (!try_camera(trial, frame, &possible))
            return false;
        aim->tried[aim->next++] = (struct lane_aim_trial){
            .score = score_of(&trial->shape) * exp(-off * off / (2 * likely * likely)),
            .pitch = true_pitch(&trial->pipeline.camera, &trial->shape),
            .heading = trial->turned * trial->shape.term[LANE_HEADING],
            .horizon = possible ? horizon(&trial->pipeline.map) : (double)INFINITY,
        };
    }
    return true;
}

// Ends a search: adds its scores to those of earlier ones. Returns the pitch that is better than the present one, or
// NULL. The present pitch is the trial whose horizon is nearest to the row `present`. A weak pitch, and one at which
// the camera looks aside, must win twice.
static const struct lane_aim_trial *best_trial(struct lane_aim *aim, bool turned, double present)
{
    int top = 0, now = 0;
    for (int i = 0; i < LANE_AIMS; i++) {
        aim->score[i] = fade * aim->score[i] + aim->tried[i].score;
        top = aim->score[i] > aim->score[top] ? i : top;
        now = fabs(aim->tried[i].horizon - present) < fabs(aim->tried[now].horizon - present) ? i : now;
    }
    const bool twice = aim->seen > 1 && abs(top - aim->winner) <= 1;
    const double won = aim->tried[top].score;
    aim->winner = won > weak_score ? top : -LANE_AIMS;
    aim->next = 0;
    if (abs(top - now) <= 1 && aim->blind == 0 && won > weak_score)
        aim->confirmed = aim->seen > 1;
    const bool enough = twice ? won > weak_score : won > least_score && !turned;
    const bool aside = turned && aim->blind > 0 && fabs(atan(aim->tried[top].heading)) > aside_slack * degree;
    const bool better = aside || aim->score[top] > clearly * aim->score[now];
    return enough && better ? &aim->tried[top] : NULL;
}

// Warns, once, that the lines meet `up` pixels above the horizon of the calibration.
static void warn_misfit(struct lane_aim *aim, double up, double pitch)
{
    if (aim->named)
        log_warn("the lines meet %.0f pixels %s the horizon of %s: pitch about %.1f", fabs(up),
                 up < 0 ? "below" : "above", aim->named, pitch);
    aim->named = NULL;
}

// Moves the camera to the pitch of `best`, and its yaw by the heading. Returns false on failure (logged).
static bool use_trial(struct lane_aim *aim, struct lane_pipeline *pipeline, struct aim_trial *trial,
                      const struct image *frame, const struct lane_aim_trial *best, struct lane_tracker *tracker)
{
    struct lane_camera *camera = &trial->pipeline.camera;
    const double before = horizon(&pipeline->map), turned = -atan(best->heading) / degree;
    bool possible = true;
    trial->turned = false;
    camera->yaw += turned;
    camera->pitch = best->pitch;
    for (int i = 0; i <= REFINES && possible; i++) {
        if (!try_camera(trial, frame, &possible))
            return false;
        if (i < REFINES)
            camera->pitch = true_pitch(camera, &trial->shape);
    }
    const double up = before - horizon(&trial->pipeline.map);
    const bool moved = fabs(up) > tan(step / 2 * degree) * trial->pipeline.map.picture[0] || turned != 0;
    if (!possible || !moved)
        return true;
    warn_misfit(aim, up, camera->pitch);
    if (!use_camera(pipeline, camera, &frame->shape))
        return true;
    aim->frames = aim->widths = 0;
    aim->pitch = camera->pitch;
    aim->yaw = camera->yaw;
    aim->found = true;
    *tracker = (struct lane_tracker){.known = false};
    return true;
}

// Continues the search of the pitch, and uses its result. Returns false on failure (logged).
static bool search_pitch(struct lane_aim *aim, struct lane_pipeline *pipeline, const struct image *frame,
                         struct lane_tracker *tracker)
{
    struct aim_trial *trial = xmalloc(sizeof(*trial));
    const bool first = aim->seen == 1;
    *trial = (struct aim_trial){.pipeline = {.camera = pipeline->camera, .settings = pipeline->settings}};
    trial->pipeline.setup.threads = pipeline->setup.threads;
    if (aim->next == 0)
        aim->turned = !first && aim->blind > 0;
    trial->turned = aim->turned;
    bool ok = try_pitches(aim, trial, frame, first ? LANE_AIMS : AT_ONCE);
    if (ok && aim->next == LANE_AIMS) {
        const struct lane_aim_trial *best = best_trial(aim, aim->turned, horizon(&pipeline->map));
        ok = !best || use_trial(aim, pipeline, trial, frame, best, tracker);
    }
    free(trial);
    return ok;
}

bool lane_aim_search(struct lane_aim *aim, struct lane_pipeline *pipeline, const struct image *frame,
                     struct lane_tracker *tracker)
{
    const int number = aim->seen++;
    if (number == 0) {
        aim->given = aim->pitch = pipeline->camera.pitch;
        aim->yaw = pipeline->camera.yaw;
    }
    const bool wanted = number < FIRST_FRAMES ? !aim->confirmed || aim->blind > 0 : aim->blind >= BLIND_FRAMES;
    if (pipeline->camera.has_points || !(wanted || aim->next > 0))
        return true;
    return search_pitch(aim, pipeline, frame, tracker);
}

// Returns the height at which the lane has its width: the given one, or the nearest usual one.
static double height_of(const struct lane_aim *aim, const struct lane_camera *camera)
{
    const double width = aim->lane_width > 0 ? aim->lane_width : fmin(fmax(aim->width, narrow_lane), wide_lane);
    const bool stays = camera->has_points || (camera->has_height && aim->lane_width <= 0);
    return stays || fabs(width / aim->width - 1) < width_slack ? camera->height : camera->height * width / aim->width;
}

// The same lines on a ground that is `times` as large.
static void scale_lines(struct lane_tracker *tracker, double times)
{
    double *term = tracker->shape.term;
    term[LANE_BEND] /= times;
    term[LANE_TWIST] /= times * times;
    term[LANE_SPREAD] /= times;
    for (int i = 0; i < tracker->tracks; i++) {
        tracker->track[i].line.offset *= times;
        tracker->shape.line[i].offset *= times;
    }
}

bool lane_aim_height(struct lane_aim *aim, struct lane_pipeline *pipeline, const struct image_shape *shape,
                     const struct lane_result *result, struct lane_tracker *tracker, int frames)
{
    struct lane_camera camera = pipeline->camera;
    if (result->state != LANE_SEEN || result->left < 0 || result->right < 0)
        return false;
    const double width = result->shape.line[result->right].offset - result->shape.line[result->left].offset;
    if (fabs(width / aim->width - 1) > other_width || (width > widest_lane && aim->lane_width <= 0))
        aim->widths = 0;
    aim->widths += aim->widths < LONGEST_MEAN;
    aim->width += (width - aim->width) / aim->widths;
    if (aim->widths < (aim->measured ? LATER_FRAMES : frames) || (frames == 1 && aim->lane_width <= 0))
        return false;
    camera.height = height_of(aim, &camera);
    const double times = camera.height / pipeline->camera.height;
    aim->measured = !camera.has_points && (!camera.has_height || aim->lane_width > 0);
    if (times == 1 || !use_camera(pipeline, &camera, shape))
        return false;
    aim->width *= times;
    scale_lines(tracker, times);
    return true;
}

void lane_aim_follow(struct lane_aim *aim, struct lane_pipeline *pipeline, const struct image_shape *shape,
                     const struct lane_result *result, struct lane_tracker *tracker)
{
    struct lane_camera camera = pipeline->camera;
    double *term = tracker->shape.term;
    const bool two = result->state == LANE_SEEN && result->left >= 0 && result->right >= 0;
    aim->blind = two ? 0 : aim->blind + 1;
    if (!two || camera.has_points)
        return;
    aim->found = true;
    aim->frames += aim->frames < LONGEST_MEAN;
    aim->pitch += (true_pitch(&camera, &result->shape) - aim->pitch) / aim->frames;
    aim->yaw += (camera.yaw - atan(result->shape.term[LANE_HEADING]) / degree - aim->yaw) / aim->frames;
    if (fabs(aim->pitch - camera.pitch) > pitch_slack)
        camera.pitch = aim->pitch;
    if (lane_aim_settled(aim) && fabs(aim->yaw - camera.yaw) > yaw_slack)
        camera.yaw = aim->yaw;
    const double pitch = camera.pitch - pipeline->camera.pitch, yaw = camera.yaw - pipeline->camera.yaw;
    if ((pitch != 0 || yaw != 0) && use_camera(pipeline, &camera, shape)) {
        term[LANE_SPREAD] -= tan(pitch * degree) / camera.height;
        term[LANE_HEADING] += tan(yaw * degree);
    }
    lane_aim_height(aim, pipeline, shape, result, tracker, WIDTH_FRAMES);
}

bool lane_aim_settled(const struct lane_aim *aim)
{
    return aim->frames >= SETTLED_FRAMES;
}
