// budget.c: limits the memory that the threads of a batch use for images in flight
#include "command/batch/budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void budget_init(struct budget *budget, uint64_t limit)
{
    *budget = (struct budget){.limit = limit};
    pthread_mutex_init(&budget->lock, NULL);
    pthread_cond_init(&budget->given, NULL);
}

void budget_finish(struct budget *budget)
{
    pthread_cond_destroy(&budget->given);
    pthread_mutex_destroy(&budget->lock);
}

bool budget_take(struct budget *budget, uint64_t bytes, bool waiting)
{
    pthread_mutex_lock(&budget->lock);
    while (waiting && bytes > budget->limit - budget->used)
        pthread_cond_wait(&budget->given, &budget->lock);
    const bool ok = bytes <= budget->limit - budget->used;
    if (ok)
        budget->used += bytes;
    pthread_mutex_unlock(&budget->lock);
    return ok;
}

void budget_give(struct budget *budget, uint64_t bytes)
{
    pthread_mutex_lock(&budget->lock);
    budget->used -= bytes;
    pthread_cond_broadcast(&budget->given);
    pthread_mutex_unlock(&budget->lock);
}

bool budget_parse(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    const unsigned long long value = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    *bytes = (uint64_t)value << shift;
    return (!*end || (unit && !end[1])) && *bytes >> shift == value;
}

uint64_t budget_default(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : (uint64_t)1 << 30;
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "re");
    unsigned long long most;
    if (file && fscanf(file, "%llu", &most) == 1 && most < bytes)
        bytes = most;
    if (file)
        fclose(file);
    return bytes / 2;
}
