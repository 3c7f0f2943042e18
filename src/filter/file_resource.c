// file_resource.c: keeps the numbers that filters make from files
#include "filter/file_resource.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { UNUSED_MOST = 4 }; // resources that are kept although nobody uses them

struct kept_resource {
    struct file_resource resource;
    struct kept_resource *next; // an older one
    resource_maker *make;
    char *path;
    struct stat state; // of the file
    int users;
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

// Frees the oldest resources without users, but no reason: prepare lends it as a static text.
static void free_old(void)
{
    int unused = 0;
    for (struct kept_resource **at = &resources.first; *at;) {
        struct kept_resource *kept = *at;
        if (kept->users > 0 || !kept->resource.numbers || unused++ < UNUSED_MOST) {
            at = &kept->next;
            continue;
        }
        *at = kept->next;
        free(kept->resource.numbers);
        free(kept->path);
        free(kept);
    }
}

// Finds the latest numbers of a file that has gone: a view continues with them. NULL: there are none.
static struct kept_resource *find_gone(const char *path, resource_maker *make)
{
    struct kept_resource *kept = resources.first;
    while (kept && (kept->make != make || !kept->resource.numbers || strcmp(kept->path, path) != 0))
        kept = kept->next;
    if (kept)
        kept->users++;
    return kept;
}

// Finds or makes the resource of the file, and moves it to the front.
static struct kept_resource *find(const char *path, const struct stat *state, resource_maker *make)
{
    struct kept_resource **at = &resources.first, *kept;
    while (*at && ((*at)->make != make || !same_state(&(*at)->state, state)))
        at = &(*at)->next;
    if ((kept = *at)) {
        *at = kept->next;
    } else {
        kept = calloc(1, sizeof(*kept));
        if (!kept || !(kept->path = strdup(path))) {
            free(kept);
            return NULL;
        }
        kept->make = make;
        kept->state = *state;
        make(path, &kept->resource);
    }
    kept->next = resources.first;
    resources.first = kept;
    kept->users++;
    return kept;
}

static const struct file_resource missing = {.why = "there is no such file"};

const struct file_resource *file_resource_get(const char *path, resource_maker *make)
{
    struct stat state;
    const bool gone = stat(path, &state) != 0;
    pthread_mutex_lock(&resources.lock);
    struct kept_resource *found = gone ? find_gone(path, make) : find(path, &state, make);
    free_old();
    pthread_mutex_unlock(&resources.lock);
    return found ? &found->resource : gone ? &missing : NULL;
}

static void add_users(const struct file_resource *resource, int users)
{
    pthread_mutex_lock(&resources.lock);
    for (struct kept_resource *kept = resources.first; kept; kept = kept->next)
        kept->users += &kept->resource == resource ? users : 0;
    free_old();
    pthread_mutex_unlock(&resources.lock);
}

void file_resource_keep(const struct file_resource *resource)
{
    add_users(resource, 1);
}

void file_resource_put(const struct file_resource *resource)
{
    add_users(resource, -1);
}
