// road.c: the source road: a synthetic road, whose lane lines are known
#include "road/road.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/options.h"
#include "base/text.h"
#include "source/generated.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct road {
    struct generated generated;
    struct road_spec spec;
    struct road_painter *painter;
};

static bool parse_seed(const char *text, struct road_spec *spec)
{
    char *end;
    errno = 0;
    const unsigned long long seed = strtoull(text, &end, 10);
    spec->seed = (uint32_t)seed;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && seed <= UINT32_MAX;
}

static bool parse_level(const char *text, struct road_spec *spec)
{
    const char *names[ROAD_LEVELS + 1];
    char list[128] = "";
    for (int i = 0; i <= ROAD_LEVELS; i++)
        names[i] = road_level_name(i);
    for (int i = 0; i < ROAD_LEVELS; i++) {
        if (strcmp(text, names[i]) == 0) {
            spec->level = (enum road_level)i;
            return true;
        }
        text_append(list, sizeof(list), "%s%s", text_if(i > 0, ", "), names[i]);
    }
    const char *nearest = options_nearest(text, names);
    log_error("cannot open road: there is no level '%s'%s%s%s; the levels are %s", text,
              text_if(nearest, "; did you mean "), text_or(nearest, ""), text_if(nearest, "?"), list);
    return false;
}

// Takes the parts "seed=" and "level=" out of the text. The other parts, which generated_open parses, remain in `rest`.
static bool parse_text(const char *text, struct road_spec *spec, char *rest, size_t size)
{
    char *copy = xstrdup(text), *next = copy;
    bool ok = true;
    *rest = '\0';
    for (char *part; ok && (part = strsep(&next, ","));) {
        if (strncmp(part, "level=", 6) == 0) {
            ok = parse_level(part + 6, spec);
        } else if (strncmp(part, "seed=", 5) == 0) {
            ok = parse_seed(part + 5, spec);
            if (!ok)
                log_error("cannot open road: the seed '%s' is not a number from 0 to %u", part + 5, UINT32_MAX);
        } else if (strncmp(part, "size=", 5) != 0 && strchr(part, '=')) {
            log_error("cannot open road: there is no setting '%s'; the settings are level, seed and size", part);
            ok = false;
        } else {
            part += strncmp(part, "size=", 5) == 0 ? 5 : 0;
            const size_t used = strlen(rest);
            ok = (size_t)snprintf(rest + used, size - used, "%s%s", used > 0 ? "," : "", part) < size - used;
            if (!ok)
                log_error("cannot open road:%s: the text is too long", text);
        }
    }
    free(copy);
    return ok;
}

static void draw_row(const struct source *source, uint64_t number, int y, int x0, int x1, uint8_t *rgba)
{
    road_painter_row(((const struct road *)source->state)->painter, y, rgba);
}

static void draw_road(struct source *source, int slot, uint64_t number)
{
    road_painter_begin(((struct road *)source->state)->painter, number);
    generated_draw(source, slot, number, NULL);
}

static bool road_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct road *road = source->state;
    const struct image_shape *shape = &source->info.shape;
    char rest[64];
    road->generated = (struct generated){.draw = draw_road, .row = draw_row};
    if (!parse_text(text ? text : "", &road->spec, rest, sizeof(rest)) ||
        !generated_open(source, setup, rest, "synthetic road"))
        return false;
    if (shape->width < ROAD_WIDTH_MIN || shape->height < ROAD_HEIGHT_MIN) {
        log_error("cannot draw a road of %dx%d pixels; it needs at least %dx%d", shape->width, shape->height,
                  ROAD_WIDTH_MIN, ROAD_HEIGHT_MIN);
        return false;
    }
    road->spec.width = shape->width;
    road->spec.height = shape->height;
    road->spec.rate = source->info.rate;
    source->info.road = &road->spec;
    road_name(&road->spec, source->info.name);
    road->painter = road_painter_open(&road->spec);
    if (!road->painter)
        log_error("cannot draw the road: out of memory");
    return road->painter;
}

static void road_close(struct source *source)
{
    struct road *road = source->state;
    road_painter_close(road->painter);
    generated_close(source);
}

extern const struct source_kind source_road;
const struct source_kind source_road = {
    .name = "road",
    .help = {"road[:seed=N,level=LEVEL,size=WxH@FPS,FORMAT]\tsynthetic road whose lane lines are known; levels: clean, "
             "worn, shadows, pitch, cars, rain, night, concrete, street, empty, changes, merge, mixed"},
    .word = true,
    .endless = true,
    .state_bytes = sizeof(struct road),
    .open = road_open,
    .close = road_close,
    .next = generated_next,
};
