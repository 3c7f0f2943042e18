// virtual_kind.h: the interface of a kind of virtual camera; virtual_camera.c lists the nodes and starts the threads
#pragma once

#include "sink/virtual_camera.h"

#include <pthread.h>

// A node. The state of its kind begins with it.
struct virtual_node {
    const struct virtual_kind *kind;
    char name[300];           // for messages; set by `open`
    struct image_shape shape; // of the frames
    int64_t period_ns;
    pthread_t thread;
    bool started;

    pthread_mutex_t lock;           // guards the members below, and those of the kind that its thread changes
    bool stop;                      // the thread must end
    struct virtual_camera_state at; // without `sent`
};

struct virtual_kind {
    size_t bytes; // size of the state, which is zeroed before open
    // Opens the node `text` for frames of this shape, whose format and colour it may change unless they are `chosen`.
    // Sets the name. False on failure (logged).
    bool (*open)(struct virtual_node *node, const char *text, bool chosen);
    void *(*run)(void *node);                 // the thread
    void (*wake)(struct virtual_node *node);  // `stop` is set; locked
    void (*close)(struct virtual_node *node); // without the thread; also after a failed open
    // As virtual_camera_send; locked. `counts`: the frame is counted if it is skipped.
    bool (*send)(struct virtual_node *node, const struct image *frame, bool counts);
    void (*look)(struct virtual_node *node); // updates at.watched; locked. NULL: it is always up to date
};

extern const struct virtual_kind virtual_pipewire; // the text is the node's name
