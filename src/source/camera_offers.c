// camera_offers.c: which cameras there are and what they offer, for listing
#include "source/camera_device.h"
#include "source/camera_find.h"
#include "source/camera_mode.h"
#include "source/cameras.h"

#include <stdio.h>
#include <string.h>

static void add_rate(struct camera_offer *offer, struct v4l2_fract interval)
{
    if (offer->rates < CAMERA_RATES)
        offer->rate[offer->rates++] = camera_mode_rate(interval);
}

static void list_rates(const struct camera_device *device, uint32_t fourcc, struct camera_offer *offer)
{
    struct v4l2_frmivalenum rate = {
        .pixel_format = fourcc, .width = (uint32_t)offer->width, .height = (uint32_t)offer->height};
    for (; v4l2_ask(device->fd, VIDIOC_ENUM_FRAMEINTERVALS, &rate) == 0; rate.index++) {
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
                      struct camera_about *about)
{
    if (about->offers == CAMERA_MODES)
        return;
    struct camera_mode mode;
    struct camera_offer *offer = &about->offer[about->offers++];
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

static void list_offers(const struct camera_device *device, struct camera_about *about)
{
    struct v4l2_fmtdesc format = {.type = device->type};
    for (; v4l2_ask(device->fd, VIDIOC_ENUM_FMT, &format) == 0; format.index++) {
        struct v4l2_frmsizeenum size = {.pixel_format = format.pixelformat};
        for (; v4l2_ask(device->fd, VIDIOC_ENUM_FRAMESIZES, &size) == 0; size.index++) {
            add_offer(device, format.pixelformat, &size, about);
            if (size.type != V4L2_FRMSIZE_TYPE_DISCRETE)
                break;
        }
    }
}

bool cameras_next(int *next, struct camera_about *about)
{
    struct camera_node node;
    while (camera_node_next(next, &node)) {
        if (node.opened && !node.usable)
            continue;
        *about = (struct camera_about){.why = node.why};
        memcpy(about->path, node.path, sizeof(about->path));
        memcpy(about->name, node.card, sizeof(about->name));
        memcpy(about->driver, node.driver, sizeof(about->driver));
        memcpy(about->bus, node.bus, sizeof(about->bus));
        memcpy(about->id, node.id, sizeof(about->id));
        struct camera_device device;
        if (node.usable && !(about->why = camera_device_open(&device, node.path)))
            list_offers(&device, about);
        if (node.usable)
            camera_device_close(&device);
        return true;
    }
    return false;
}
