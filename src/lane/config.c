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

const struct lane_settings lane_settings_default = {.contrast = 2, .smoothing = 0.4};

struct lane_config lane_config_default(void)
{
    return (struct lane_config){.camera = lane_camera_default(), .settings = lane_settings_default};
}

struct key {
    const char *name;
    size_t offset;
    double min, max;
};
#define AT(member) offsetof(struct lane_settings, member)
static const struct key keys[] = {
    {"contrast", AT(contrast), 1, 1000},
    {"smoothing", AT(smoothing), 0, 0.95},
};
enum { KEYS = sizeof(keys) / sizeof(*keys) };

static bool set_key(struct lane_settings *settings, const struct key *key, const json_t *value, char error[LANE_ERROR])
{
    const double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
    memcpy((char *)settings + key->offset, &number, sizeof(number));
    if (number >= key->min && number <= key->max)
        return true;
    snprintf(error, LANE_ERROR, "%s must be a number from %g to %g", key->name, key->min, key->max);
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
