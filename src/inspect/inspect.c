// inspect.c: both sides of a query of drivers: the parent, and the child
#include "inspect/inspect.h"

#include "base/child.h"
#include "base/json_text.h"
#include "base/log.h"
#include "compute/driver_guard.h"
#include "source/cameras.h"

#include <dlfcn.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// In seconds. A device compiles kernels, which takes minutes on a slow board or in an emulator.
enum { LIMIT_S = 60, DEVICE_LIMIT_S = 180 };
// The exit status of a complete answer. 0 or 1: the driver ended the process.
enum { DONE = 100 };
#define DATA_LEAST ((size_t)16 << 30)

// ---- the parent ----

static int limit_of(const char *what)
{
    return strcmp(what, INSPECT_DEVICE) == 0 ? DEVICE_LIMIT_S : LIMIT_S;
}

struct answers {
    json_t *all;
    const char *what, *argument;
    struct status_line status;
};

// Adds a line, which is a JSON object; NULL: the child is still at work.
static bool merge(void *context, char *text)
{
    struct answers *answers = context;
    json_t *part = text ? json_loads(text, 0, NULL) : NULL;
    if (json_is_object(part))
        json_object_update(answers->all, part);
    json_decref(part);
    if (!text)
        status_line_tick(&answers->status, "testing %s %s", answers->what, answers->argument);
    return true;
}

json_t *inspect(const char *what, const char *argument, char why[INSPECT_WHY])
{
    char parent[16];
    int value;
    snprintf(parent, sizeof(parent), "%d", (int)getpid());
    char *const arguments[] = {"monocle", "inspect", parent, (char *)what, (char *)argument, NULL};
    struct answers answers = {.all = json_object(), .what = what, .argument = argument};
    const enum child_end end = child_talk(child_program, arguments, limit_of(what) * 1000, &value, merge, &answers);
    status_line_end(&answers.status);
    why[0] = '\0';
    if (end != CHILD_EXITED || value != DONE)
        child_explain(end, value, limit_of(what), limit_of(what), why);
    return answers.all;
}

// ---- the child ----

void inspect_write(json_t *object)
{
    char *line = json_dumps(object, JSON_COMPACT);
    if (line)
        child_write(line);
    free(line);
    json_decref(object);
}

static void load_driver(const char *library)
{
    inspect_write(json_pack("{s:o}", "error", dlopen(library, RTLD_NOW) ? json_string("") : text_json(dlerror())));
    inspect_write(inspect_device_list());
}

static void open_cameras(void)
{
    struct camera_node node;
    for (int next = 0; camera_node_next(&next, &node, NULL);)
        inspect_write(json_pack("{s:{s:o,s:o,s:b,s:b,s:o}}", node.path, "name", text_json(node.card), "driver",
                                text_json(node.driver), "opened", (int)node.opened, "readable", (int)node.readable,
                                "why", text_json(node.why ? node.why : "")));
}

static void answer(const char *what, const char *argument)
{
    if (strcmp(what, INSPECT_OPENCL) == 0)
        inspect_write(inspect_device_list());
    else if (strcmp(what, INSPECT_DRIVER) == 0)
        load_driver(argument);
    else if (strcmp(what, INSPECT_DEVICE) == 0)
        inspect_device(atoi(argument));
    else if (strcmp(what, INSPECT_GL) == 0)
        inspect_gl();
    else
        open_cameras();
}

int inspect_answer(char *const *argv)
{
    child_begin(atoi(argv[1]), child_memory(DATA_LEAST), limit_of(argv[2]));
    drivers_guard_skip();
    answer(argv[2], argv[3]);
    return DONE;
}
