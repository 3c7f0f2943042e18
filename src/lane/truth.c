// truth.c: see truth.h
#include "lane/truth.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "road/road.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool truth_open(struct truth *truth, const char *path, const struct source_info *info)
{
    *truth = (struct truth){.road = info->road};
    if (!path)
        return true;
    if (!info->road) {
        log_error("--truth needs a source whose lane lines are known, such as road:seed=7; %s is none", info->name);
        return false;
    }
    if (!claim_take(&truth->claim, path)) {
        log_error("cannot write %s (--truth): %s; name another file", path, strerror(errno));
        return false;
    }
    truth->lines = xmemstream(&truth->text, &truth->size);
    return true;
}

static json_t *frame_json(const struct road_spec *road, uint64_t frame)
{
    char name[ROAD_NAME];
    struct road_truth lines;
    json_t *rows = json_array(), *lanes = json_array();
    road_frame_name(road, frame, name);
    road_truth(road, frame, &lines);
    for (int i = 0; i < ROAD_TRUTH_ROWS; i++)
        json_array_append_new(rows, json_integer(lines.y[i]));
    for (int line = 0; line < lines.lines; line++) {
        json_t *lane = json_array();
        for (int i = 0; i < ROAD_TRUTH_ROWS; i++) {
            const double x = lines.x[line][i];
            json_array_append_new(lane, x < 0 ? json_integer(-2) : json_real(round(x * 100) / 100));
        }
        json_array_append_new(lanes, lane);
    }
    return json_pack("{s:s,s:o,s:o}", "raw_file", name, "h_samples", rows, "lanes", lanes);
}

bool truth_add(struct truth *truth, uint64_t frame)
{
    if (!truth->lines)
        return true;
    json_t *json = frame_json(truth->road, frame);
    const bool ok = json && json_dumpf(json, truth->lines, JSON_COMPACT | JSON_REAL_PRECISION(8)) == 0 &&
                    fputc('\n', truth->lines) != EOF;
    json_decref(json);
    if (!ok)
        log_error("cannot add a frame to %s (--truth): out of memory", truth->claim.path);
    return ok;
}

bool truth_close(struct truth *truth)
{
    if (!truth->lines)
        return true;
    const bool complete = fclose(truth->lines) == 0;
    if (!complete)
        errno = ENOMEM;
    const bool ok = truth->size == 0 || (complete && claim_write(&truth->claim, truth->text, truth->size));
    if (!ok)
        log_error("cannot write %s (--truth): %s", truth->claim.path, strerror(errno));
    free(truth->text);
    *truth = (struct truth){.lines = NULL};
    return ok;
}
