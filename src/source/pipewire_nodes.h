// pipewire_nodes.h: the cameras that the PipeWire daemon has, and their modes
#pragma once

#include "image/pipewire.h"
#include "source/camera_mode.h"

#include <stdint.h>

enum { PIPEWIRE_NODES = 64 };

// A mode, and its format of pipewire.h.
struct pipewire_mode {
    struct camera_mode is;
    struct pipewire_format format;
    bool found;
};

// A node of the daemon. `about` describes it like another camera: the path is "pipewire:SERIAL", the id its node.name,
// the driver "pipewire". The id's beginning tells the bus and the rank.
struct pipewire_node {
    struct camera_node about;
    uint32_t id;
    int rank; // 3: of libcamera, 2: of another producer, 1: of V4L2, 0: of a monocle
};

struct pipewire_nodes;
struct spa_pod;

// Lists the daemon's nodes of the media class Video/Source in the order of their serial numbers, without the virtual
// cameras of this process, from now on. Waits until the list is complete, but not beyond the deadline. Returns NULL,
// with the reason in `why`, if there is no daemon.
struct pipewire_nodes *pipewire_nodes_open(int64_t deadline_ns, char why[CAMERA_WHY]);
void pipewire_nodes_close(struct pipewire_nodes *nodes); // accepts NULL
struct pipewire *pipewire_nodes_daemon(const struct pipewire_nodes *nodes);
// The node for `text`: its serial number, or its name, description or a part of them. NULL or "": the first one of
// libcamera, then of other producers, then of V4L2, but none of monocle. NULL: there is none.
const struct pipewire_node *pipewire_nodes_find(const struct pipewire_nodes *nodes, const char *text);
// Finds the same camera again, by name and description.
const struct pipewire_node *pipewire_nodes_again(const struct pipewire_nodes *nodes, const struct pipewire_node *known);
bool pipewire_nodes_has(const struct pipewire_nodes *nodes, uint32_t id); // the node still exists
// Lists the node's modes, and chooses the mode nearest to the setup as camera_mode_choose does. `setup` NULL: only
// lists; `offers` may be NULL. Returns false, with a message in `why`, if monocle reads none.
bool pipewire_nodes_ask(struct pipewire_nodes *nodes, const struct pipewire_node *node,
                        const struct source_setup *setup, struct camera_offers *offers, struct pipewire_mode *mode,
                        int64_t deadline_ns, char why[CAMERA_WHY]);
// The modes of one description of a node's formats, of which no value is trusted. The mode replaces a worse *mode.
void pipewire_nodes_read(const struct spa_pod *format, const struct source_setup *setup, struct camera_offers *offers,
                         struct pipewire_mode *mode);
// As camera_nodes and camera_offers: connects to the daemon.
struct camera_node *pipewire_nodes_list(int *count);
void pipewire_nodes_offers(const char *name, struct camera_offers *offers);
