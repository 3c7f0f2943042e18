// cameras.c: finds the cameras, the camera that a name means, and the modes of each
#include "source/cameras.h"

#include "base/log.h"
#include "source/camera_mode.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char by_id[] = "/dev/v4l/by-id";

// Finds the node's id: a link to it that udev names by maker, model and serial number.
static void find_id(struct camera_node *node)
{
    struct stat of_node, of_link;
    DIR *directory = opendir(by_id);
    if (!directory || stat(node->path, &of_node) != 0)
        goto done;
    const struct dirent *entry;
    while ((entry = readdir(directory))) {
        char link[sizeof(by_id) + sizeof(entry->d_name) + 1];
        snprintf(link, sizeof(link), "%s/%s", by_id, entry->d_name);
        if (entry->d_name[0] != '.' && stat(link, &of_link) == 0 && of_link.st_rdev == of_node.st_rdev &&
            S_ISCHR(of_link.st_mode)) {
            snprintf(node->id, sizeof(node->id), "%.*s", CAMERA_ID - 1, entry->d_name);
            break;
        }
    }
done:
    if (directory)
        closedir(directory);
}

static void add_rate(struct camera_offer *offer, struct v4l2_fract interval)
{
    if (offer->rates < CAMERA_RATES)
        offer->rate[offer->rates++] = camera_mode_rate(interval);
}

static void list_rates(const struct camera_device *device, uint32_t fourcc, struct camera_offer *offer)
{
    struct v4l2_frmivalenum rate = {
        .pixel_format = fourcc, .width = (uint32_t)offer->width, .height = (uint32_t)offer->height};
    for (; camera_device_ask(device, VIDIOC_ENUM_FRAMEINTERVALS, &rate) == 0; rate.index++) {
        if (rate.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
            add_rate(offer, rate.discrete);
            continue;
        }
        add_rate(offer, rate.stepwise.min);
        add_rate(offer, rate.stepwise.max);
        return;
    }
}

static void add_offer(const struct camera_device *device, uint32_t fourcc, const struct v4l2_frmsizeenum *size,
                      struct camera_offers *offers)
{
    if (offers->count == CAMERA_MODES)
        return;
    struct camera_mode mode;
    struct camera_offer *offer = &offers->offer[offers->count++];
    *offer = (struct camera_offer){.usable = camera_mode_known(fourcc, &mode)};
    if (offer->usable)
        snprintf(offer->format, sizeof(offer->format), "%s", camera_mode_name(&mode));
    else
        for (int i = 0; i < 4; i++) {
            const char c = (char)(fourcc >> 8 * i & 127);
            offer->format[i] = (char)(c >= ' ' && c < 127 ? c : '?');
        }
    const bool discrete = size->type == V4L2_FRMSIZE_TYPE_DISCRETE;
    offer->width = (int)(discrete ? size->discrete.width : size->stepwise.max_width);
    offer->height = (int)(discrete ? size->discrete.height : size->stepwise.max_height);
    offer->width_least = discrete ? offer->width : (int)size->stepwise.min_width;
    offer->height_least = discrete ? offer->height : (int)size->stepwise.min_height;
    list_rates(device, fourcc, offer);
}

// For a driver that lists no sizes: adds the present size.
static void add_present(const struct camera_device *device, uint32_t fourcc, struct camera_offers *offers)
{
    struct v4l2_format present = {.type = device->type};
    struct v4l2_frmsizeenum size = {.type = V4L2_FRMSIZE_TYPE_DISCRETE};
    if (camera_device_ask(device, VIDIOC_G_FMT, &present) == 0) {
        size.discrete.width = present.fmt.pix.width; // both APIs' structures begin with these members
        size.discrete.height = present.fmt.pix.height;
    }
    add_offer(device, fourcc, &size, offers);
}

static void list_offers(const struct camera_device *device, struct camera_offers *offers)
{
    struct v4l2_fmtdesc format = {.type = device->type};
    for (; camera_device_ask(device, VIDIOC_ENUM_FMT, &format) == 0; format.index++) {
        struct v4l2_frmsizeenum size = {.pixel_format = format.pixelformat};
        for (; camera_device_ask(device, VIDIOC_ENUM_FRAMESIZES, &size) == 0; size.index++) {
            add_offer(device, format.pixelformat, &size, offers);
            if (size.type != V4L2_FRMSIZE_TYPE_DISCRETE)
                break;
        }
        if (size.type == 0)
            add_present(device, format.pixelformat, offers);
    }
}

// Returns true if monocle or libv4l2 reads a format of the camera.
static bool is_readable(struct camera_device *device)
{
    char offered[128];
    camera_mode_list(device, offered);
    if (offered[0] == '\0' && camera_device_convert(device))
        camera_mode_list(device, offered);
    return offered[0] != '\0';
}

// Opens the node and describes it. `offers` may be NULL; otherwise it gets the modes.
static void look_at(struct camera_node *node, struct camera_offers *offers)
{
    struct camera_device device;
    node->why = camera_device_open(&device, node->path);
    node->opened = device.fd >= 0;
    if (offers && !node->why)
        list_offers(&device, offers);
    node->readable = !node->why && is_readable(&device);
    camera_device_close(&device);
    memcpy(node->card, device.card, sizeof(node->card));
    memcpy(node->driver, device.driver, sizeof(node->driver));
    memcpy(node->bus, device.bus, sizeof(node->bus));
    find_id(node);
}

bool camera_node_next(int *next, struct camera_node *node, struct camera_offers *offers)
{
    if (offers)
        offers->count = 0;
    while (*next < CAMERA_NODES) {
        *node = (struct camera_node){0};
        snprintf(node->path, sizeof(node->path), "/dev/video%d", (*next)++);
        if (access(node->path, F_OK) != 0)
            continue;
        look_at(node, offers);
        return true;
    }
    return false;
}

// Returns how well a camera fits a name: 2 exactly, 1 in part, 0 not.
static int fit_name(const struct camera_node *node, const char *text)
{
    const char *const names[] = {node->id, node->bus, node->card};
    int best = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcasecmp(names[i], text) == 0)
            return 2;
        if (strcasestr(names[i], text))
            best = 1;
    }
    return best;
}

static bool same_model(const struct camera_node *a, const struct camera_node *b)
{
    return strcmp(a->card, b->card) == 0 && strcmp(a->driver, b->driver) == 0;
}

void camera_find_twins(const struct camera_node *known, struct camera_twins *twins)
{
    struct camera_node at;
    twins->count = 0;
    for (int next = 0; camera_node_next(&next, &at, NULL);) {
        const bool own = strcmp(at.path, known->path) == 0 || strcmp(at.bus, known->bus) == 0;
        if (!at.why && !own && same_model(&at, known))
            memcpy(twins->bus[twins->count++], at.bus, sizeof(at.bus));
    }
}

static int fit_known(const struct camera_node *node, const struct camera_node *known, const struct camera_twins *twins)
{
    for (int i = 0; i < twins->count; i++)
        if (strcmp(node->bus, twins->bus[i]) == 0)
            return 0;
    if (known->id[0] && strcmp(known->id, node->id) == 0)
        return 3;
    if (!same_model(known, node) || (known->id[0] && node->id[0]))
        return 0;
    return strcmp(known->bus, node->bus) == 0 ? 2 : 1;
}

static bool find_path(const char *text, struct camera_node *node, char why[CAMERA_WHY])
{
    char path[256];
    const bool number = text[strspn(text, "0123456789")] == '\0';
    snprintf(path, sizeof(path), "%s%s", number ? "/dev/video" : "", text);
    char *real = realpath(path, NULL); // the text may be a link in /dev/v4l
    snprintf(node->path, sizeof(node->path), "%.*s", CAMERA_NODE - 1, real ? real : path);
    free(real);
    look_at(node, NULL);
    if (node->why)
        snprintf(why, CAMERA_WHY, "cannot open camera %s: %s", path, node->why);
    return !node->why;
}

// Returns false if the camera gives no picture; `why` has the reason. Does not start a USB camera: this takes a second,
// and USB cameras give pictures.
static bool gives_picture(const struct camera_node *node, char why[CAMERA_WHY])
{
    if (!node->readable)
        snprintf(why, CAMERA_WHY, "it offers no pixel format that monocle or libv4l2 reads");
    return node->readable && (strcmp(node->driver, "uvcvideo") == 0 || camera_gives_picture(node->path, why));
}

// Finds the first camera that gives a picture.
static bool find_first(struct camera_node *node, char why[CAMERA_WHY])
{
    struct camera_node at, closed = {0};
    char reason[CAMERA_WHY];
    int blank = 0;
    *why = '\0';
    for (int next = 0; camera_node_next(&next, &at, NULL);) {
        if (!at.why && gives_picture(&at, reason)) {
            *node = at;
            return true;
        }
        if (!at.why && blank++ == 0)
            snprintf(why, CAMERA_WHY, "no camera gives a picture: %s (%s): %.300s", at.path, at.card, reason);
        log_info("skipped %s (%s): %s", at.path, at.card, at.why ? at.why : reason);
        if (!at.opened && !closed.why)
            closed = at;
    }
    *node = closed;
    if (closed.why)
        snprintf(why, CAMERA_WHY, "cannot open camera %s: %s", closed.path, closed.why);
    else if (blank)
        node->why = "no camera gives a picture";
    else
        snprintf(why, CAMERA_WHY,
                 "there is no camera: no /dev/video* captures video; plug in a camera and start monocle again");
    return false;
}

bool camera_find(const char *text, struct camera_node *node, char why[CAMERA_WHY])
{
    *node = (struct camera_node){0};
    if (!text || text[0] == '\0')
        return find_first(node, why);
    if (text[0] == '/' || text[0] == '.' || text[strspn(text, "0123456789")] == '\0')
        return find_path(text, node, why);
    int best = 0;
    struct camera_node at, closed = {0};
    for (int next = 0; camera_node_next(&next, &at, NULL);) {
        const int fit = fit_name(&at, text);
        if (at.why && fit > 0)
            log_info("skipped %s: %s", at.path, at.why);
        if (!at.opened && !closed.why)
            closed = at;
        if (!at.why && best > 0 && fit == best)
            log_info("%s (%s) also matches; using the first match, %s", at.path, at.card, node->path);
        if (!at.why && fit > best) {
            *node = at;
            best = fit;
        }
    }
    if (best > 0)
        return true;
    *node = closed;
    if (closed.why)
        snprintf(why, CAMERA_WHY, "cannot open camera %s: %s", closed.path, closed.why);
    else
        snprintf(why, CAMERA_WHY, "there is no camera named %.100s; to list the cameras, run: monocle cameras", text);
    return false;
}

bool camera_find_again(const struct camera_node *known, const struct camera_twins *twins, struct camera_node *node,
                       char why[CAMERA_WHY])
{
    int best = 0;
    const char *reason = "the camera was removed";
    struct camera_node at;
    for (int next = 0; camera_node_next(&next, &at, NULL);) {
        const int fit = at.why ? 0 : fit_known(&at, known, twins);
        if (at.why && strcmp(at.path, known->path) == 0)
            reason = at.why;
        if (fit > best) {
            *node = at;
            best = fit;
        }
    }
    if (best == 0)
        snprintf(why, CAMERA_WHY, "%s", reason);
    return best > 0;
}
