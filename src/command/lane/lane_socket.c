// lane_socket.c: the properties of a `lane` run
#include "command/lane/lane_socket.h"

#include "control/status.h"
#include "stream/stream.h"

#include <jansson.h>

static json_t *state(void *context)
{
    const struct lane_latest *latest = context;
    struct status status;
    json_t *object = json_object();
    status_read(latest->stream, &status);
    status_add_source(&status, object);
    status_add_state(&status, object);
    return object;
}

static json_t *get_lines(const struct controlled *run, const char *rest, char why[PROPERTY_WHY])
{
    const struct lane_latest *latest = run->context;
    return latest->frame.file ? lane_json(&latest->frame, &latest->map, &latest->result) : json_null();
}

static const struct property rows[] = {
    {"lines", .type = PROPERTY_OBJECT, .get = get_lines,
     .help = "lines of the last frame, as printed by --json, or null"},
    {"path", .type = PROPERTY_TEXT, .help = "path that runs the pipeline"},
    {"device", .type = PROPERTY_TEXT, .help = "OpenCL device of the path"},
    {"chain", .type = PROPERTY_TEXT, .help = "filter chain of the pipeline"},
    {0},
};

void lane_controlled(struct controlled *run, struct lane_latest *latest)
{
    *run = (struct controlled){.stream = latest->stream, .own = rows, .context = latest, .state = state};
}
