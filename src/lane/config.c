// config.c: reads the configuration of the `lane` command
#include "lane/config.h"

#include "base/file.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT = 65536 };

const struct lane_settings lane_settings_default = {
    .contrast = 2, .windows = 40, .window = 0.7, .peak = 0.14, .gap = 1.2, .smoothing = 0.4, .confidence = 0.3};

struct lane_config lane_config_default(void)
{
    return (struct lane_config){.camera = lane_camera_default(), .settings = lane_settings_default};
}

struct key {
    const char *name;
    size_t offset;
    double min, max;
    bool whole;
};
#define AT(member) offsetof(struct lane_settings, member)
static const struct key keys[] = {
    {"contrast", AT(contrast), 1, 1000, false},
    {"windows", AT(windows), 10, 64, true},
    {"window", AT(window), 0.2, 2, false},
    {"peak", AT(peak), 0.02, 1, false},
    {"gap", AT(gap), 0.5, 8, false},
    {"smoothing", AT(smoothing), 0, 0.95, false},
    {"confidence", AT(confidence), 0, 1, false},
};
enum { KEYS = sizeof(keys) / sizeof(*keys) };

static bool set_key(struct lane_settings *settings, const struct key *key, const json_t *value, char error[LANE_ERROR])
{
    const double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
    memcpy((char *)settings + key->offset, &number, sizeof(number));
    if (number >= key->min && number <= key->max && (!key->whole || number == floor(number)))
        return true;
    snprintf(error, LANE_ERROR, "%s must be a %s from %g to %g", key->name, key->whole ? "whole number" : "number",
             key->min, key->max);
    return false;
}

static bool set_member(struct lane_config *config, const char *name, const json_t *value, char error[LANE_ERROR])
{
    for (int i = 0; i < KEYS; i++) {
        if (strcmp(name, keys[i].name) == 0)
            return set_key(&config->settings, &keys[i], value, error);
    }
    return lane_camera_set(&config->camera, name, value, error);
}

bool lane_config_read(struct lane_config *config, const char *path, char error[LANE_ERROR])
{
    char *text = file_read_text(path, FILE_LIMIT);
    if (!text) {
        snprintf(error, LANE_ERROR, "cannot read it: %s", file_read_error());
        return false;
    }
    json_error_t place;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &place), *value;
    const char *name;
    bool ok = json_is_object(object);
    if (!object)
        snprintf(error, LANE_ERROR, "line %d: %s", place.line, place.text);
    else if (!ok)
        snprintf(error, LANE_ERROR, "it must be a JSON object such as {\"height\": 1.4, \"pitch\": 4, \"fov\": 62}");
    json_object_foreach(object, name, value)
    {
        ok = ok && set_member(config, name, value, error);
    }
    json_decref(object);
    free(text);
    return ok;
}
