// file_resource.c: keeps the numbers that filters make from files
#include "filter/file_resource.h"

#include "base/file.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MOST = 1 << 26 };

struct kept_resource {
    struct file_resource resource;
    struct kept_resource *next;
    resource_maker *make;
    struct stat state; // of the file
};

static struct {
    pthread_mutex_t lock; // guards the list
    struct kept_resource *first;
} resources = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool same_state(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

// Finds or adds the resource of the file.
static const struct file_resource *find(const char *path, const struct stat *state, resource_maker *make)
{
    struct kept_resource *kept = resources.first;
    while (kept && (kept->make != make || !same_state(&kept->state, state)))
        kept = kept->next;
    if (kept)
        return &kept->resource;
    kept = calloc(1, sizeof(*kept));
    if (!kept)
        return NULL;
    struct file_resource *made = &kept->resource;
    char *text = file_read_text(path, FILE_MOST);
    if (text)
        made->numbers = make(text, &made->count, made->why);
    else
        snprintf(made->why, sizeof(made->why), "cannot read the file: %s", strerror(errno));
    free(text);
    kept->make = make;
    kept->state = *state;
    kept->next = resources.first;
    resources.first = kept;
    return made;
}

const struct file_resource *file_resource(const char *path, resource_maker *make)
{
    static const struct file_resource missing = {.why = "there is no such file"};
    struct stat state;
    if (stat(path, &state) != 0)
        return &missing;
    pthread_mutex_lock(&resources.lock);
    const struct file_resource *found = find(path, &state, make);
    pthread_mutex_unlock(&resources.lock);
    return found;
}
