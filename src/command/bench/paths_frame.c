// paths_frame.c: frames in flight through a path and on to a texture, each step timed
#include "command/bench/paths.h"

#include "base/clock.h"
#include "base/log.h"

#include <string.h>

// By the beginning of a stage's name, src/path/opencl_times.c.
static const struct {
    const char *stage;
    enum frame_part part;
} stage_parts[] = {
    {"copy in", PART_COPY_IN}, {"upload", PART_UPLOAD},     {"pass ", PART_PASSES}, {"acquire", PART_SHARE},
    {"release", PART_SHARE},   {"download", PART_DOWNLOAD}, {"map", PART_DOWNLOAD},
};

static double ms_between(int64_t start_ns, int64_t end_ns)
{
    return (double)(end_ns - start_ns) / 1e6;
}

static void add(struct frame_figure *figure, double ms)
{
    figure->sum_ms += ms;
    figure->count++;
}

// Every part that the frame went through counts once for it, however many stages it has.
static void add_parts(struct frames_bench *frames, const struct path_result *result)
{
    double part_ms[PARTS] = {0};
    bool has[PARTS] = {false};
    for (int i = 0; i < result->stages; i++) {
        const struct stage_time *stage = &result->stage[i];
        for (size_t k = 0; k < sizeof(stage_parts) / sizeof(*stage_parts); k++) {
            if (strncmp(stage->name, stage_parts[k].stage, strlen(stage_parts[k].stage)) == 0) {
                part_ms[stage_parts[k].part] += ms_between(stage->start_ns, stage->end_ns);
                has[stage_parts[k].part] = true;
            }
        }
    }
    for (int i = 0; i < PARTS; i++) {
        if (has[i])
            add(&frames->part[i], part_ms[i]);
    }
}

// When the frame's pixels lay where the device reaches them; `submitted_ns` where they always did.
static int64_t pinned_ns(const struct path_result *result, int64_t submitted_ns)
{
    return result->stages > 0 && strcmp(result->stage[0].name, "copy in") == 0 ? result->stage[0].end_ns : submitted_ns;
}

// Takes the oldest frame to its end. Gives the time it got there; 0 on failure (logged).
static int64_t finish_frame(struct frames_bench *frames, int64_t submitted_ns)
{
    struct path_result result;
    bool lost;
    if (!path_collect(frames->path, &result, &lost))
        return 0;
    int64_t end_ns = clock_now_ns();
    if (frames->gl && !result.texture) {
        const int64_t start_ns = end_ns;
        if (!upload_picture(&frames->upload, &result.image))
            return 0;
        if (!upload_wait()) {
            log_error("GL did not finish the upload of a frame to a texture");
            return 0;
        }
        end_ns = clock_now_ns();
        add(&frames->part[PART_TEXTURE], ms_between(start_ns, end_ns));
    }
    add_parts(frames, &result);
    add(&frames->latency, ms_between(submitted_ns, end_ns));
    add(&frames->pinned, ms_between(pinned_ns(&result, submitted_ns), end_ns));
    return end_ns;
}

static void forget(struct frames_bench *frames)
{
    for (int i = 0; i < PARTS; i++)
        frames->part[i].sum_ms = frames->part[i].count = 0;
    frames->latency.sum_ms = frames->latency.count = 0;
    frames->pinned.sum_ms = frames->pinned.count = 0;
}

// Leaves out the frames that fill the pipe: time runs from the end of the last of these.
bool frames_run(void *context, int runs, struct trial_time *time)
{
    struct frames_bench *frames = context;
    const int total = runs + frames->depth;
    int64_t submitted_ns[PATH_DEPTH_MAX], first_ns = 0, end_ns = 0;
    bool lost;
    forget(frames);
    for (int submitted = 0, done = 0; done < total; done++) {
        for (; submitted < total && submitted - done < frames->depth; submitted++) {
            const struct image *picture = &frames->pictures->image[frames->next];
            frames->next = (frames->next + 1) % frames->pictures->count;
            submitted_ns[submitted % frames->depth] = clock_now_ns();
            if (!path_submit(frames->path, picture, 0, &lost))
                return false;
        }
        end_ns = finish_frame(frames, submitted_ns[done % frames->depth]);
        if (end_ns == 0)
            return false;
        if (done == frames->depth - 1)
            first_ns = end_ns;
    }
    time->ms = time->wall_ms = ms_between(first_ns, end_ns) / runs;
    return true;
}

static void keep(struct frame_figure *figure)
{
    if (figure->count > 0)
        samples_add(&figure->ms, figure->sum_ms / figure->count);
}

void frames_keep(void *context)
{
    struct frames_bench *frames = context;
    for (int i = 0; i < PARTS; i++)
        keep(&frames->part[i]);
    keep(&frames->latency);
    keep(&frames->pinned);
}

bool frames_first(struct frames_bench *frames, struct image *rgba)
{
    struct path_result result;
    bool lost;
    return path_submit(frames->path, &frames->pictures->image[0], 0, &lost) &&
           path_collect(frames->path, &result, &lost) && path_read(frames->path, &result, rgba);
}

void frames_finish(struct frames_bench *frames)
{
    path_close(frames->path);
    if (frames->gl)
        upload_finish(&frames->upload);
    for (int i = 0; i < PARTS; i++)
        samples_free(&frames->part[i].ms);
    samples_free(&frames->latency.ms);
    samples_free(&frames->pinned.ms);
}
