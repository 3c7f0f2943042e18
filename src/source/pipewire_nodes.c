// pipewire_nodes.c: the cameras that the PipeWire daemon has, and their modes
#include "source/pipewire_nodes.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pipewire/pipewire.h>
#include <spa/debug/types.h>
#include <spa/param/format-utils.h>
#include <spa/param/video/type-info.h>
#include <spa/pod/iter.h>

enum { OWN_CLIENTS = 16, DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720, RATE_PARTS = 1000 };
#define LOOK_NS ((int64_t)2000000000)

static const char silent[] =
    "the PipeWire daemon does not answer; restart it with: systemctl --user restart pipewire wireplumber";

struct pipewire_nodes {
    struct pipewire *daemon;
    struct pw_registry *registry;
    struct spa_hook listener;
    uint32_t client[OWN_CLIENTS]; // connections of this process
    int clients;
    struct pipewire_node node[PIPEWIRE_NODES];
    int count;
};

static bool is_own_client(const struct pipewire_nodes *nodes, uint32_t id)
{
    for (int i = 0; i < nodes->clients; i++)
        if (nodes->client[i] == id)
            return true;
    return false;
}

static uint32_t number_of(const struct spa_dict *facts, const char *key)
{
    const char *text = spa_dict_lookup(facts, key);
    return text ? (uint32_t)strtoul(text, NULL, 10) : PW_ID_ANY;
}

static void add_node(struct pipewire_nodes *nodes, uint32_t id, const struct spa_dict *facts)
{
    static const char *const buses[] = {[1] = "v4l2", [2] = "-", [3] = "libcamera"};
    const char *name = spa_dict_lookup(facts, PW_KEY_NODE_NAME),
               *card = spa_dict_lookup(facts, PW_KEY_NODE_DESCRIPTION);
    const char *class = spa_dict_lookup(facts, PW_KEY_MEDIA_CLASS);
    const uint32_t client = number_of(facts, PW_KEY_CLIENT_ID), serial = number_of(facts, PW_KEY_OBJECT_SERIAL);
    if (!class || strcmp(class, "Video/Source") != 0 || nodes->count == PIPEWIRE_NODES || is_own_client(nodes, client))
        return;
    struct pipewire_node *node = &nodes->node[nodes->count++];
    *node = (struct pipewire_node){.id = id, .about = {.opened = true, .index = -1, .color = true}};
    snprintf(node->about.path, sizeof(node->about.path), "pipewire:%u", serial == PW_ID_ANY ? id : serial);
    snprintf(node->about.id, sizeof(node->about.id), "%s", text_or(name, ""));
    snprintf(node->about.card, sizeof(node->about.card), "%s", card ? card : node->about.id);
    snprintf(node->about.driver, sizeof(node->about.driver), "pipewire");
    node->rank = 2;
    if (strncmp(node->about.id, "libcamera", 9) == 0)
        node->rank = 3;
    else if (strncmp(node->about.id, "v4l2", 4) == 0)
        node->rank = 1;
    snprintf(node->about.bus, sizeof(node->about.bus), "%s", buses[node->rank]);
    node->about.readable = true;
    if (strncmp(node->about.id, "monocle", 7) == 0)
        node->rank = 0;
    if (node->rank < 2)
        snprintf(node->about.passed, sizeof(node->about.passed), "%s",
                 node->rank == 1 ? "V4L2 has this camera, too" : "it is a virtual camera of monocle");
}

static void registry_global(void *context, uint32_t id, uint32_t permissions, const char *type, uint32_t version,
                            const struct spa_dict *facts)
{
    struct pipewire_nodes *nodes = context;
    if (facts && strcmp(type, PW_TYPE_INTERFACE_Node) == 0)
        add_node(nodes, id, facts);
    else if (facts && strcmp(type, PW_TYPE_INTERFACE_Client) == 0 && nodes->clients < OWN_CLIENTS &&
             number_of(facts, PW_KEY_SEC_PID) == (uint32_t)getpid())
        nodes->client[nodes->clients++] = id;
}

static void registry_remove(void *context, uint32_t id)
{
    struct pipewire_nodes *nodes = context;
    for (int i = 0; i < nodes->clients; i++)
        if (nodes->client[i] == id)
            nodes->client[i--] = nodes->client[--nodes->clients];
    int kept = 0;
    for (int i = 0; i < nodes->count; i++)
        if (nodes->node[i].id != id)
            nodes->node[kept++] = nodes->node[i];
    nodes->count = kept;
}

static const struct pw_registry_events registry_events = {
    .version = PW_VERSION_REGISTRY_EVENTS, .global = registry_global, .global_remove = registry_remove};

struct pipewire_nodes *pipewire_nodes_open(int64_t deadline_ns, char why[CAMERA_WHY])
{
    struct pipewire_nodes *nodes = xalloc(sizeof(*nodes));
    nodes->daemon = pipewire_open(why);
    if (nodes->daemon)
        nodes->registry = pw_core_get_registry(pipewire_core(nodes->daemon), PW_VERSION_REGISTRY, 0);
    if (nodes->registry) {
        pw_registry_add_listener(nodes->registry, &nodes->listener, &registry_events, nodes);
        if (pipewire_sync(nodes->daemon, deadline_ns))
            return nodes;
        snprintf(why, CAMERA_WHY, "%s", silent);
    }
    pipewire_nodes_close(nodes);
    return NULL;
}

void pipewire_nodes_close(struct pipewire_nodes *nodes)
{
    if (!nodes)
        return;
    if (nodes->registry) {
        spa_hook_remove(&nodes->listener);
        pw_proxy_destroy((struct pw_proxy *)nodes->registry);
    }
    pipewire_close(nodes->daemon);
    free(nodes);
}

struct pipewire *pipewire_nodes_daemon(const struct pipewire_nodes *nodes)
{
    return nodes->daemon;
}

const struct pipewire_node *pipewire_nodes_find(const struct pipewire_nodes *nodes, const char *text)
{
    const bool any = !text || text[0] == '\0', number = !any && text[strspn(text, "0123456789")] == '\0';
    const struct pipewire_node *found = NULL;
    int best = 0;
    for (int i = 0; i < nodes->count; i++) {
        const struct pipewire_node *at = &nodes->node[i];
        int fit = at->rank;
        if (number)
            fit = strcmp(at->about.path + strlen("pipewire:"), text) == 0;
        else if (!any)
            fit = camera_fits_name(&at->about, text);
        if (fit > best) {
            found = at;
            best = fit;
        }
    }
    return found;
}

const struct pipewire_node *pipewire_nodes_again(const struct pipewire_nodes *nodes, const struct pipewire_node *known)
{
    for (int i = 0; i < nodes->count; i++)
        if (strcmp(nodes->node[i].about.id, known->about.id) == 0 &&
            strcmp(nodes->node[i].about.card, known->about.card) == 0)
            return &nodes->node[i];
    return NULL;
}

bool pipewire_nodes_has(const struct pipewire_nodes *nodes, uint32_t id)
{
    for (int i = 0; i < nodes->count; i++)
        if (nodes->node[i].id == id)
            return true;
    return false;
}

// ---- modes ----

// The answers to a question for modes
struct answers {
    const struct source_setup *setup; // NULL: chooses no mode
    struct camera_offers *offers;     // NULL: lists none
    struct pipewire_mode *best;       // not `found` before the first mode
};

// The values of a property, which may be a choice of several
struct values {
    const void *at;
    uint32_t count, choice;
};

// Returns no values if the property is missing, or has another type.
static struct values values_of(const struct spa_pod *param, uint32_t key, uint32_t type)
{
    struct values values = {.choice = SPA_CHOICE_None};
    const struct spa_pod_prop *property = spa_pod_find_prop(param, NULL, key);
    const bool choice = property && property->value.type == SPA_TYPE_Choice;
    if (!property || (choice && property->value.size < sizeof(struct spa_pod_choice_body)))
        return values;
    const struct spa_pod *first = spa_pod_get_values(&property->value, &values.count, &values.choice);
    const uint32_t least = type == SPA_TYPE_Id ? sizeof(uint32_t) : sizeof(struct spa_rectangle);
    if (first->type != type || first->size < least)
        return (struct values){.choice = SPA_CHOICE_None};
    values.at = SPA_POD_BODY_CONST(first);
    const uint32_t needs = values.choice == SPA_CHOICE_Range ? 3 : values.choice == SPA_CHOICE_Step ? 4 : 1;
    if (values.count < needs)
        return (struct values){.choice = SPA_CHOICE_None};
    if (values.choice == SPA_CHOICE_None && values.count > 1)
        values.count = 1;
    return values;
}

static bool is_range(const struct values *values)
{
    return values->choice == SPA_CHOICE_Range || values->choice == SPA_CHOICE_Step;
}

// The first value of a choice is its default, and is listed again.
static uint32_t first_of(const struct values *values)
{
    return values->choice == SPA_CHOICE_Enum && values->count > 1;
}

static int side_of(uint32_t pixels)
{
    return pixels > IMAGE_MAX_SIDE ? IMAGE_MAX_SIDE : (int)pixels;
}

static void list_rates(const struct values *rates, struct camera_offer *offer)
{
    const struct spa_fraction *rate = rates->at;
    const uint32_t first = is_range(rates) ? 1 : first_of(rates), end = is_range(rates) ? 3 : rates->count;
    for (uint32_t i = first; i < end && offer->rates < CAMERA_RATES; i++)
        if (rate[i].denom > 0 && rate[i].num > 0)
            offer->rate[offer->rates++] = fmin((double)rate[i].num / rate[i].denom, PIPEWIRE_RATE_MOST);
    if (is_range(rates) && offer->rates == 2) { // highest first
        const double least = offer->rate[0];
        offer->rate[0] = offer->rate[1];
        offer->rate[1] = least;
    }
}

static void consider(const struct answers *answers, const struct pipewire_format *format,
                     const struct camera_offer *offer, bool ranged)
{
    const struct source_setup *setup = answers->setup;
    const bool sized = setup->width > 0;
    const char *why;
    struct pipewire_mode mode = {
        .format = *format, .found = true, .is = {.compressed = format->spa == 0, .format = format->format}};
    if (setup->compressed ? !mode.is.compressed
                          : setup->has_format && (mode.is.compressed || mode.is.format != setup->format))
        return;
    mode.is.width = clamp_int(sized ? setup->width : DEFAULT_WIDTH, offer->width_least, offer->width);
    mode.is.height = clamp_int(sized ? setup->height : DEFAULT_HEIGHT, offer->height_least, offer->height);
    if (!pixfmt_size_ok(mode.is.format, mode.is.width, mode.is.height, &why))
        return;
    const double wanted = setup->rate > 0 ? setup->rate : SOURCE_DEFAULT_RATE;
    for (int i = 0; i < offer->rates || i == 0; i++) {
        double rate = offer->rates > 0 ? offer->rate[i] : 0;
        if (ranged && offer->rates > 1)
            rate = wanted > offer->rate[0] ? offer->rate[0] : wanted < offer->rate[1] ? offer->rate[1] : wanted;
        mode.is.interval = (struct v4l2_fract){rate > 0 ? RATE_PARTS : 0, (uint32_t)(rate * RATE_PARTS + 0.5)};
        if (!answers->best->found || camera_mode_better(setup, &mode.is, &answers->best->is))
            *answers->best = mode;
    }
}

static void add_offer(const struct answers *answers, const struct camera_offer *offer,
                      const struct pipewire_format *format, bool ranged)
{
    struct camera_offers *offers = answers->offers;
    if (offers && offers->count < CAMERA_MODES)
        offers->offer[offers->count++] = *offer;
    if (answers->setup && format)
        consider(answers, format, offer, ranged);
}

// Adds the modes of one format.
static void add_format(const struct answers *answers, const struct pipewire_format *format, const char *name,
                       const struct spa_pod *param)
{
    const struct values sizes = values_of(param, SPA_FORMAT_VIDEO_size, SPA_TYPE_Rectangle);
    const struct values rates = values_of(param, SPA_FORMAT_VIDEO_framerate, SPA_TYPE_Fraction);
    const struct spa_rectangle *size = sizes.at;
    struct camera_offer offer = {.usable = format != NULL};
    snprintf(offer.format, sizeof(offer.format), "%.7s", format ? pipewire_format_name(format) : name);
    list_rates(&rates, &offer);
    const uint32_t end = is_range(&sizes) ? 1 : sizes.count;
    for (uint32_t i = is_range(&sizes) ? 0 : first_of(&sizes); i < end; i++) {
        const bool range = is_range(&sizes);
        offer.width = side_of(size[range ? 2 : i].width);
        offer.height = side_of(size[range ? 2 : i].height);
        offer.width_least = side_of(size[range ? 1 : i].width);
        offer.height_least = side_of(size[range ? 1 : i].height);
        add_offer(answers, &offer, format, is_range(&rates));
    }
}

void pipewire_nodes_read(const struct spa_pod *param, const struct source_setup *setup, struct camera_offers *offers,
                         struct pipewire_mode *mode)
{
    const struct answers all = {.setup = setup, .offers = offers, .best = mode}, *answers = &all;
    uint32_t media, subtype;
    struct pipewire_format format;
    if (!spa_pod_is_object(param) || spa_format_parse(param, &media, &subtype) < 0 || media != SPA_MEDIA_TYPE_video)
        return;
    if (subtype != SPA_MEDIA_SUBTYPE_raw) {
        const char *name = spa_debug_type_find_short_name(spa_type_media_subtype, subtype);
        const bool jpeg = subtype == SPA_MEDIA_SUBTYPE_mjpg && pipewire_format_of(0, &format);
        add_format(answers, jpeg ? &format : NULL, text_or(name, "?"), param);
        return;
    }
    const struct values formats = values_of(param, SPA_FORMAT_VIDEO_format, SPA_TYPE_Id);
    for (uint32_t i = first_of(&formats); i < formats.count; i++) {
        const uint32_t spa = ((const uint32_t *)formats.at)[i];
        const char *name = spa_debug_type_find_short_name(spa_type_video_format, spa);
        if (spa != SPA_VIDEO_FORMAT_UNKNOWN)
            add_format(answers, pipewire_format_of(spa, &format) ? &format : NULL, text_or(name, "?"), param);
    }
}

static void node_param(void *context, int number, uint32_t id, uint32_t index, uint32_t next,
                       const struct spa_pod *param)
{
    const struct answers *answers = context;
    if (id == SPA_PARAM_EnumFormat && param)
        pipewire_nodes_read(param, answers->setup, answers->offers, answers->best);
}

static const struct pw_node_events node_events = {.version = PW_VERSION_NODE_EVENTS, .param = node_param};

bool pipewire_nodes_ask(struct pipewire_nodes *nodes, const struct pipewire_node *node,
                        const struct source_setup *setup, struct camera_offers *offers, struct pipewire_mode *mode,
                        int64_t deadline_ns, char why[CAMERA_WHY])
{
    struct answers answers = {.setup = setup, .offers = offers, .best = mode};
    struct spa_hook listener = {0};
    bool answered = false;
    if (mode)
        *mode = (struct pipewire_mode){0};
    struct pw_node *asked = pw_registry_bind(nodes->registry, node->id, PW_TYPE_INTERFACE_Node, PW_VERSION_NODE, 0);
    if (asked) {
        pw_node_add_listener(asked, &listener, &node_events, &answers);
        pw_node_enum_params(asked, 0, SPA_PARAM_EnumFormat, 0, UINT32_MAX, NULL);
        answered = pipewire_sync(nodes->daemon, deadline_ns);
        spa_hook_remove(&listener);
        pw_proxy_destroy((struct pw_proxy *)asked);
    }
    if (!setup || (answered && mode->found))
        return true;
    if (!answered) {
        snprintf(why, CAMERA_WHY, "%s", silent);
        return false;
    }
    snprintf(why, CAMERA_WHY,
             "camera %s (%s) offers no format, or not the wanted one, that monocle reads; to list the formats, run: "
             "monocle cameras",
             node->about.path, node->about.card);
    return false;
}

// ---- list ----

struct camera_node *pipewire_nodes_list(int *count)
{
    char why[CAMERA_WHY];
    struct pipewire_nodes *nodes = pipewire_nodes_open(clock_now_ns() + LOOK_NS, why);
    *count = nodes ? nodes->count : 0;
    struct camera_node *list = *count > 0 ? xcalloc((size_t)*count, sizeof(*list)) : NULL;
    for (int i = 0; i < *count; i++)
        list[i] = nodes->node[i].about;
    pipewire_nodes_close(nodes);
    return list;
}

void pipewire_nodes_offers(const char *name, struct camera_offers *offers)
{
    char why[CAMERA_WHY];
    const int64_t deadline_ns = clock_now_ns() + LOOK_NS;
    struct pipewire_nodes *nodes = pipewire_nodes_open(deadline_ns, why);
    const struct pipewire_node *at = nodes ? pipewire_nodes_find(nodes, name) : NULL;
    offers->count = 0;
    if (at)
        pipewire_nodes_ask(nodes, at, NULL, offers, NULL, deadline_ns, why);
    pipewire_nodes_close(nodes);
}
