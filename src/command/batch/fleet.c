// fleet.c: the OpenCL devices of a batch
#include "command/batch/fleet.h"

#include <string.h>

static void add(struct fleet *fleet, const struct device_info *info, int number)
{
    struct fleet_member *member = &fleet->member[fleet->count++];
    *member = (struct fleet_member){.info = *info, .number = number};
    pthread_mutex_init(&member->lock, NULL);
}

bool fleet_init(struct fleet *fleet, const char *text, const char *kernel_dir, const char **why)
{
    struct device_info infos[DEVICE_MAX];
    *fleet = (struct fleet){.kernel_dir = kernel_dir};
    const int count = device_list(infos, why);
    if (count == 0)
        return false;
    *why = NULL;
    if (text && strcmp(text, "all") == 0) {
        // The list begins with the GPUs. A CPU device beside them would compete with the codecs for the CPU.
        for (int i = 0; i < count && infos[i].type == infos[0].type; i++)
            add(fleet, &infos[i], i);
        return true;
    }
    const int chosen = device_choose(infos, count, text);
    if (chosen >= 0)
        add(fleet, &infos[chosen], chosen);
    return chosen >= 0;
}

void fleet_finish(struct fleet *fleet)
{
    for (int i = 0; i < fleet->count; i++) {
        for (int k = 0; k < fleet->member[i].openings; k++)
            device_close(fleet->member[i].device[k]);
        pthread_mutex_destroy(&fleet->member[i].lock);
    }
}

struct device *fleet_device(struct fleet *fleet, int index, const struct device *lost)
{
    struct fleet_member *member = &fleet->member[index];
    pthread_mutex_lock(&member->lock);
    struct device *device = member->openings > 0 ? member->device[member->openings - 1] : NULL;
    // If they differ, another thread has reopened the device already.
    if (device == lost && member->openings < FLEET_OPENINGS) {
        device = device_open(&member->info, NULL, fleet->kernel_dir);
        member->device[member->openings++] = device;
        if (!device)
            member->openings = FLEET_OPENINGS; // no further try; the entries in between stay NULL
    } else if (device == lost) {
        device = NULL;
    }
    pthread_mutex_unlock(&member->lock);
    return device;
}
