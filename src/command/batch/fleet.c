// fleet.c: the OpenCL devices of a batch
#include "command/batch/fleet.h"

#include <string.h>

bool fleet_init(struct fleet *fleet, const char *text, const char *kernel_dir, const char **why)
{
    struct device_info infos[DEVICE_MAX];
    *fleet = (struct fleet){.kernel_dir = kernel_dir};
    pthread_mutex_init(&fleet->lock, NULL);
    const int count = device_list(infos, why);
    if (count == 0)
        return false;
    *why = NULL;
    if (text && strcmp(text, "all") == 0) {
        for (int i = 0; i < count; i++)
            fleet->member[fleet->count++] = (struct fleet_member){.info = infos[i], .number = i};
        return true;
    }
    const int chosen = device_choose(infos, count, text);
    if (chosen >= 0)
        fleet->member[fleet->count++] = (struct fleet_member){.info = infos[chosen], .number = chosen};
    return chosen >= 0;
}

void fleet_finish(struct fleet *fleet)
{
    for (int i = 0; i < fleet->count; i++) {
        for (int k = 0; k < fleet->member[i].openings; k++)
            device_close(fleet->member[i].device[k]);
    }
    pthread_mutex_destroy(&fleet->lock);
}

struct device *fleet_device(struct fleet *fleet, int index, const struct device *lost)
{
    struct fleet_member *member = &fleet->member[index];
    pthread_mutex_lock(&fleet->lock);
    struct device *device = member->openings > 0 ? member->device[member->openings - 1] : NULL;
    // Another thread may have opened it anew since.
    if (device == lost && member->openings < FLEET_OPENINGS) {
        device = device_open(&member->info, NULL, fleet->kernel_dir);
        member->device[member->openings++] = device;
        if (!device)
            member->openings = FLEET_OPENINGS; // no more tries; the rows in between stay NULL
    } else if (device == lost) {
        device = NULL;
    }
    pthread_mutex_unlock(&fleet->lock);
    return device;
}
