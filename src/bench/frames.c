// frames.c: runs whole frames through a path, some of them in flight, and adds up the times of their parts
#include "bench/frames.h"

#include "base/clock.h"
#include "base/log.h"

#include <string.h>

const char *const frame_part_names[FRAME_PARTS] = {
    [FRAME_LATENCY] = "latency", [FRAME_PINNED] = "pinned",     [FRAME_WAIT] = "wait",
    [FRAME_COPY_IN] = "copy_in", [FRAME_UPLOAD] = "upload",     [FRAME_PASSES] = "passes",
    [FRAME_SHARE] = "share",     [FRAME_DOWNLOAD] = "download", [FRAME_TEXTURE] = "texture",
};

// The beginnings of the stages' names in src/path/opencl.c.
static const struct {
    const char *stage;
    enum frame_part part;
} stage_parts[] = {
    {"copy in", FRAME_COPY_IN}, {"device wait", FRAME_WAIT}, {"upload", FRAME_UPLOAD},     {"pass ", FRAME_PASSES},
    {"acquire", FRAME_SHARE},   {"release", FRAME_SHARE},    {"download", FRAME_DOWNLOAD}, {"map", FRAME_DOWNLOAD},
};

bool frames_open(struct frames *frames, const struct path_setup *setup, const struct pictures *pictures, char **error)
{
    *frames = (struct frames){
        .path = path_open(setup, error), .pictures = pictures, .depth = setup->depth, .gl = setup->textures};
    return frames->path != NULL;
}

void frames_close(struct frames *frames)
{
    path_close(frames->path);
    if (frames->gl)
        upload_finish(&frames->upload);
    *frames = (struct frames){0};
}

static double ms_between(int64_t start_ns, int64_t end_ns)
{
    return (double)(end_ns - start_ns) / 1e6;
}

static void add(struct frames *frames, enum frame_part part, double ms)
{
    frames->part[part].sum_ms += ms;
    frames->part[part].count++;
}

// Adds each part of the frame once, even if several stages belong to it.
static void add_parts(struct frames *frames, const struct path_result *result)
{
    double part_ms[FRAME_PARTS] = {0};
    bool has[FRAME_PARTS] = {false};
    for (int i = 0; i < result->stages; i++) {
        const struct stage_time *stage = &result->stage[i];
        for (size_t k = 0; k < sizeof(stage_parts) / sizeof(*stage_parts); k++) {
            if (strncmp(stage->name, stage_parts[k].stage, strlen(stage_parts[k].stage)) == 0) {
                part_ms[stage_parts[k].part] += ms_between(stage->start_ns, stage->end_ns);
                has[stage_parts[k].part] = true;
            }
        }
    }
    for (int i = 0; i < FRAME_PARTS; i++) {
        if (has[i])
            add(frames, (enum frame_part)i, part_ms[i]);
    }
}

// Waits for the oldest frame and returns the time at which it was finished; 0 on failure (logged).
static int64_t finish_frame(struct frames *frames, int64_t submitted_ns)
{
    struct path_result result;
    if (!path_collect(frames->path, &result))
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
        add(frames, FRAME_TEXTURE, ms_between(start_ns, end_ns));
    }
    const bool copied = result.stages > 0 && strcmp(result.stage[0].name, "copy in") == 0;
    add_parts(frames, &result);
    add(frames, FRAME_LATENCY, ms_between(submitted_ns, end_ns));
    add(frames, FRAME_PINNED, ms_between(copied ? result.stage[0].end_ns : submitted_ns, end_ns));
    return end_ns;
}

// The clock starts and stops with a full pipeline, so that it counts as many starts of frames as ends.
bool frames_run(struct frames *frames, int runs, double *ms)
{
    const int first = frames->depth - 1, last = first + runs, total = last + frames->depth;
    int64_t submitted_ns[PATH_DEPTH_MAX], first_ns = 0;
    for (int i = 0; i < FRAME_PARTS; i++)
        frames->part[i].sum_ms = frames->part[i].count = 0;
    for (int submitted = 0, done = 0; done < total; done++) {
        for (; submitted < total && submitted - done < frames->depth; submitted++) {
            const struct image *picture = &frames->pictures->image[frames->next];
            frames->next = (frames->next + 1) % frames->pictures->count;
            submitted_ns[submitted % frames->depth] = clock_now_ns();
            if (!path_submit(frames->path, picture, NULL))
                return false;
        }
        const int64_t end_ns = finish_frame(frames, submitted_ns[done % frames->depth]);
        if (end_ns == 0)
            return false;
        if (done == first)
            first_ns = end_ns;
        if (done == last)
            *ms = ms_between(first_ns, end_ns) / runs;
    }
    return true;
}

bool frames_first(void *context, struct image *rgba)
{
    const struct frames *frames = context;
    struct path_result result;
    return path_submit(frames->path, &frames->pictures->image[0], NULL) && path_collect(frames->path, &result) &&
           path_read(frames->path, &result, rgba);
}
