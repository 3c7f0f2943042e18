// camera_find.c: which cameras there are, and which one a name means
#include "source/camera_find.h"

#include "base/log.h"
#include "source/camera_device.h"
#include "source/cameras.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODES_MAX = 256 }; // minor numbers of video devices
static const char by_id[] = "/dev/v4l/by-id";

// udev names cameras by maker, model and serial number; the link leads to the node.
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

static void look_at(struct camera_node *node)
{
    struct camera_device device;
    node->why = camera_device_open(&device, node->path);
    node->opened = device.fd >= 0;
    node->usable = !node->why;
    camera_device_close(&device);
    memcpy(node->card, device.card, sizeof(node->card));
    memcpy(node->driver, device.driver, sizeof(node->driver));
    memcpy(node->bus, device.bus, sizeof(node->bus));
    find_id(node);
}

bool camera_node_next(int *next, struct camera_node *node)
{
    while (*next < NODES_MAX) {
        *node = (struct camera_node){0};
        snprintf(node->path, sizeof(node->path), "/dev/video%d", (*next)++);
        if (access(node->path, F_OK) != 0)
            continue;
        look_at(node);
        return true;
    }
    return false;
}

// How well a camera fits a name; 0: not at all.
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

static int fit_known(const struct camera_node *node, const struct camera_node *known)
{
    if (known->id[0] && strcmp(known->id, node->id) == 0)
        return 3;
    if (strcmp(known->card, node->card) != 0 || strcmp(known->driver, node->driver) != 0)
        return 0;
    return strcmp(known->bus, node->bus) == 0 ? 2 : 1;
}

static bool find_path(const char *text, struct camera_node *node, char why[CAMERA_WHY])
{
    char path[256];
    const bool number = text[strspn(text, "0123456789")] == '\0';
    snprintf(path, sizeof(path), "%s%s", number ? "/dev/video" : "", text);
    char *real = realpath(path, NULL); // a link of /dev/v4l leads to the node
    snprintf(node->path, sizeof(node->path), "%.*s", CAMERA_NODE - 1, real ? real : path);
    free(real);
    look_at(node);
    if (!node->usable)
        snprintf(why, CAMERA_WHY, "cannot open camera %s: %s", path, node->why);
    return node->usable;
}

bool camera_find(const char *text, struct camera_node *node, char why[CAMERA_WHY])
{
    *node = (struct camera_node){0};
    const bool any = !text || text[0] == '\0';
    if (!any && (text[0] == '/' || text[0] == '.' || text[strspn(text, "0123456789")] == '\0'))
        return find_path(text, node, why);
    int best = 0;
    struct camera_node at, closed = {0};
    for (int next = 0; !(any && best > 0) && camera_node_next(&next, &at);) {
        const int fit = any ? 1 : fit_name(&at, text);
        if (!at.usable && fit > 0)
            log_info("skipped %s: %s", at.path, at.why);
        if (!at.opened && !closed.why)
            closed = at;
        if (at.usable && best > 0 && fit == best)
            log_info("%s (%s) matches too, but %s comes first", at.path, at.card, node->path);
        if (at.usable && fit > best) {
            *node = at;
            best = fit;
        }
    }
    if (best > 0)
        return true;
    if (closed.why)
        snprintf(why, CAMERA_WHY, "cannot open camera %s: %s", closed.path, closed.why);
    else if (any)
        snprintf(why, CAMERA_WHY, "there is no camera: no device node /dev/video* captures video; plug in a camera");
    else
        snprintf(why, CAMERA_WHY, "there is no camera named %.100s; to list the cameras, run: monocle cameras", text);
    return false;
}

bool camera_find_again(const struct camera_node *known, struct camera_node *node, char why[CAMERA_WHY])
{
    int best = 0;
    const char *reason = "the camera was removed";
    struct camera_node at;
    for (int next = 0; camera_node_next(&next, &at);) {
        const int fit = at.usable ? fit_known(&at, known) : 0;
        if (!at.usable && strcmp(at.path, known->path) == 0)
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

bool cameras_present(void)
{
    struct camera_node node;
    for (int next = 0; camera_node_next(&next, &node);) {
        if (node.usable || !node.opened)
            return true;
        log_info("skipped %s: %s", node.path, node.why);
    }
    return false;
}
