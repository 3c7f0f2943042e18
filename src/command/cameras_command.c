// cameras_command.c: the command that lists the cameras
#include "source/cameras.h"
#include "source/source.h"

#include "base/alloc.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/text.h"
#include "command/shared.h"

#include <jansson.h>
#include <stdlib.h>

static const char *const examples[] = {
    "monocle cameras  list the cameras",
    "monocle cameras --json  list the cameras as JSON",
    "monocle live camera:c920  show the camera whose name or id contains c920",
    NULL,
};
static const char *const details[] = {
    "The list contains video capture nodes, and no metadata or output nodes. monocle cannot use formats in "
    "[brackets]. Passed over: why a run without the name of a camera skips this one, or prefers others.",
    "Select a camera by its node (/dev/video0), its number, or a part of its id, bus or name. The id and the bus (the "
    "port) stay the same when the node numbers change.",
    NULL,
};
static const char *const exits[] = {
    "0\tthe list was printed",
    "1\tstandard output cannot be written",
    "2\twrong arguments",
    "3\tthere is no camera",
    NULL,
};
static void print_offer(const struct camera_offer *offer)
{
    printf("   %s%s%s\t", text_if(!offer->usable, "["), offer->format, text_if(!offer->usable, "]"));
    if (offer->width_least != offer->width || offer->height_least != offer->height)
        printf("%dx%d to ", offer->width_least, offer->height_least);
    printf("%dx%d", offer->width, offer->height);
    for (int i = 0; i < offer->rates; i++)
        printf("%s%.4g", i == 0 ? " at " : ", ", offer->rate[i]);
    puts(offer->rates > 0 ? "/s" : "");
}

// Returns why "monocle" without a name prefers other cameras; NULL if this is a camera of the first choice.
static const char *why_passed(const struct camera_node *node)
{
    if (node->why || node->passed[0])
        return node->why ? node->why : node->passed;
    if (!node->color)
        return "its pictures are grey; cameras with colours come first";
    if (node->converted)
        return "libv4l2 converts its frames; cameras whose formats monocle reads come first";
    return NULL;
}

static void print_camera(const struct camera_node *node, const struct camera_offers *offers)
{
    if (node->why) {
        log_print_line(stdout, "%s  %s", node->path, node->why);
        return;
    }
    log_print_line(stdout, "%s  %s", node->path, node->card);
    log_print_line(stdout, "   id\t%s", node->id[0] ? node->id : "-");
    log_print_line(stdout, "   bus\t%s", node->bus);
    log_print_line(stdout, "   driver\t%s", node->driver);
    if (why_passed(node))
        log_print_line(stdout, "   passed over\t%s", why_passed(node));
    for (int i = 0; i < offers->count; i++)
        print_offer(&offers->offer[i]);
}

static json_t *text_or_null(const char *text)
{
    return text ? text_json(text) : json_null();
}

static json_t *camera_json(const struct camera_node *node, const struct camera_offers *offers)
{
    json_t *array = json_array();
    for (int i = 0; i < offers->count; i++) {
        const struct camera_offer *offer = &offers->offer[i];
        json_t *rates = json_array();
        for (int r = 0; r < offer->rates; r++)
            json_array_append_new(rates, json_thousandths(offer->rate[r]));
        json_array_append_new(array, json_pack("{s:o,s:b,s:i,s:i,s:i,s:i,s:o}", "format", text_json(offer->format),
                                               "usable", (int)offer->usable, "width", offer->width, "height",
                                               offer->height, "width_least", offer->width_least, "height_least",
                                               offer->height_least, "rates", rates));
    }
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "node", text_json(node->path), "name", text_json(node->card),
                     "id", text_json(node->id), "bus", text_json(node->bus), "driver", text_json(node->driver),
                     "problem", text_or_null(node->why), "passed_over", text_or_null(why_passed(node)), "offers",
                     array);
}

static int cameras_run(int argc, char **argv)
{
    struct list_options o = {0};
    struct command_operands operands;
    if (!command_parse(&cameras_command, argc, argv, &o, 0, &operands))
        return operands.code;
    json_t *array = o.json ? json_array() : NULL;
    struct camera_offers *offers = xalloc(sizeof(*offers));
    int nodes, count = 0;
    struct camera_node *all = source_cameras(&nodes);
    for (int i = 0; i < nodes; i++) {
        const struct camera_node *node = &all[i];
        if (node->opened && node->why) // it is no camera
            continue;
        count++;
        offers->count = 0;
        if (!node->why)
            source_offers(node, offers);
        if (o.json)
            json_array_append_new(array, camera_json(node, offers));
        else
            print_camera(node, offers);
    }
    free(all);
    if (o.json)
        print_json(array, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    free(offers);
    if (count > 0)
        return EXIT_OK;
    log_error("no camera found: no /dev/video* node captures video; connect a camera, or load its driver");
    return EXIT_NOTHING;
}

const struct command cameras_command = {
    .name = "cameras",
    .usage = "[options]",
    .summary = "list the cameras and their formats",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = list_options,
    .run = cameras_run,
};
