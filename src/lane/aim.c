// aim.c: estimates the camera's pitch and yaw from the lane lines
#include "lane/aim.h"

#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REFINES = 3,         // of a search's result
    FIRST_FRAMES = 90,   // are searched, one in SEARCH_EVERY
    SEARCH_EVERY = 10,   //
    BLIND_FRAMES = 30,   // without lines start another search
    SETTLED_FRAMES = 90, //
    LONGEST_MEAN = 600,  // frames
};

static const double degree = 3.14159265358979323846 / 180;
static const double step = 1;          // degrees between the pitches of a search
static const double likely = 10;       // degrees: standard deviation of the pitch from the calibration
static const double least_score = 0.2; // of support times lanes; a search with less finds nothing
static const double clearly = 1.2;     // a better pitch must have this share of the present one's score
static const double fade = 0.8;        // of the scores, from search to search
static const double pitch_slack = 0.15, yaw_slack = 0.5; // degrees: smaller differences do not change the map

// The lines of one frame at one pitch.
struct aim_trial {
    struct lane_pipeline pipeline;
    struct lane_shape shape;
    uint32_t *sums;
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
    const struct lane_table table = lane_pipeline_table(pipeline, trial->sums);
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

// Adds the frame's scores to those of earlier frames. *best: the pitch with the highest score; NAN: the present pitch
// stays. The present pitch is the trial whose horizon is nearest to the row `present`.
static bool search(struct lane_aim *aim, struct aim_trial *trial, const struct image *frame, double present,
                   double *best)
{
    double own[LANE_AIMS], pitch[LANE_AIMS], nearest = INFINITY;
    int top = 0, now = 0;
    for (int i = 0; i < LANE_AIMS; i++) {
        bool possible;
        const double off = (i - LANE_AIMS / 2) * step;
        trial->pipeline.camera.pitch = aim->given + off;
        if (!try_camera(trial, frame, &possible))
            return false;
        own[i] = score_of(&trial->shape) * exp(-off * off / (2 * likely * likely));
        pitch[i] = true_pitch(&trial->pipeline.camera, &trial->shape);
        aim->score[i] = fade * aim->score[i] + own[i];
        top = aim->score[i] > aim->score[top] ? i : top;
        const double away = possible ? fabs(horizon(&trial->pipeline.map) - present) : (double)INFINITY;
        now = away < nearest ? i : now;
        nearest = fmin(nearest, away);
    }
    const bool better = top != now && own[top] > least_score && aim->score[top] > clearly * aim->score[now];
    *best = better ? pitch[top] : (double)NAN;
    return true;
}

// Warns, once, that the lines meet `up` pixels above the horizon of the calibration.
static void warn_misfit(struct lane_aim *aim, const struct lane_camera *camera, double up, double pitch)
{
    const char *side = up < 0 ? "below" : "above";
    if (aim->named && camera->has_points && !isfinite(up))
        log_warn("the lane lines meet, but the sides of %s are parallel in the picture; correct the points",
                 aim->named);
    else if (aim->named && camera->has_points)
        log_warn("the lines meet %.0f pixels %s the horizon of %s; correct the points", fabs(up), side, aim->named);
    else if (aim->named)
        log_warn("the lines meet %.0f pixels %s the horizon of %s: pitch about %.1f", fabs(up), side, aim->named,
                 pitch);
    aim->named = NULL;
}

// Searches the pitch, and uses it, except with points. Returns false on failure (logged).
static bool search_pitch(struct lane_aim *aim, struct lane_pipeline *pipeline, const struct image *frame,
                         struct lane_tracker *tracker)
{
    struct aim_trial *trial = malloc(sizeof(*trial) + LANE_STRIPS * LANE_COLUMNS_MAX * sizeof(*trial->sums));
    double best;
    bool possible = true;
    if (!trial) {
        log_error("cannot find lanes: out of memory");
        return false;
    }
    *trial = (struct aim_trial){.pipeline = {.camera = pipeline->camera, .settings = pipeline->settings}};
    trial->pipeline.camera.has_points = false;
    trial->pipeline.setup.threads = pipeline->setup.threads;
    trial->sums = (uint32_t *)(trial + 1);
    const double before = horizon(&pipeline->map);
    bool ok = search(aim, trial, frame, before, &best);
    const bool moved = isfinite(best);
    for (int i = 0; i < REFINES && ok && moved && possible; i++) {
        trial->pipeline.camera.pitch = best;
        ok = try_camera(trial, frame, &possible);
        best = true_pitch(&trial->pipeline.camera, &trial->shape);
    }
    trial->pipeline.camera.pitch = best;
    ok = ok && (!moved || try_camera(trial, frame, &possible));
    const double up = before - horizon(&trial->pipeline.map);
    if (ok && moved && possible && fabs(up) > tan(step / 2 * degree) * trial->pipeline.map.picture[0]) {
        warn_misfit(aim, &pipeline->camera, up, best);
        if (!pipeline->camera.has_points && use_camera(pipeline, &trial->pipeline.camera, &frame->shape)) {
            aim->frames = 0;
            aim->pitch = best;
            *tracker = (struct lane_tracker){.known = false};
        }
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
    const bool first = number == 0 || number == FIRST_FRAMES / 3 || number == FIRST_FRAMES;
    const bool blind = number < FIRST_FRAMES ? aim->blind > 0 : aim->blind >= BLIND_FRAMES;
    const bool useless = pipeline->camera.has_points && !aim->named; // the points stay
    return number % SEARCH_EVERY > 0 || !(first || blind) || useless || search_pitch(aim, pipeline, frame, tracker);
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
    aim->frames += aim->frames < LONGEST_MEAN;
    aim->pitch += (true_pitch(&camera, &result->shape) - aim->pitch) / aim->frames;
    aim->yaw += (camera.yaw - atan(result->shape.term[LANE_HEADING]) / degree - aim->yaw) / aim->frames;
    if (fabs(aim->pitch - camera.pitch) > pitch_slack)
        camera.pitch = aim->pitch;
    if (lane_aim_settled(aim) && fabs(aim->yaw - camera.yaw) > yaw_slack)
        camera.yaw = aim->yaw;
    const double pitch = camera.pitch - pipeline->camera.pitch, yaw = camera.yaw - pipeline->camera.yaw;
    if ((pitch == 0 && yaw == 0) || !use_camera(pipeline, &camera, shape))
        return;
    term[LANE_SPREAD] -= tan(pitch * degree) / camera.height;
    term[LANE_HEADING] += tan(yaw * degree);
}

bool lane_aim_settled(const struct lane_aim *aim)
{
    return aim->frames >= SETTLED_FRAMES;
}
