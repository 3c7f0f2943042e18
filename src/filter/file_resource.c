// file_resource.c: keeps the numbers that filters make from files
#include "filter/file_resource.h"

#include "base/alloc.h"

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
    struct stat state; // of the file; zeroed: it changed while it was read
    int users;
    bool made; // the resource is complete
};

static struct {
    pthread_mutex_t lock; // guards the list, not the reading of a file
    pthread_cond_t made;
    struct kept_resource *first;
} resources = {.lock = PTHREAD_MUTEX_INITIALIZER, .made = PTHREAD_COND_INITIALIZER};

static bool same_state(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

// Frees the oldest resources without users.
static void free_old(void)
{
    int unused = 0;
    for (struct kept_resource **at = &resources.first; *at;) {
        struct kept_resource *kept = *at;
        if (kept->users > 0 || unused++ < UNUSED_MOST) {
            at = &kept->next;
            continue;
        }
        *at = kept->next;
        free(kept->resource.numbers);
        free(kept->path);
        free(kept);
    }
}

// Returns true for the resource of a file in this state; for NULL, for numbers of a file of this name.
static bool is_of(const struct kept_resource *kept, const char *path, const struct stat *state, resource_maker *make)
{
    return kept->make == make && (state ? same_state(&kept->state, state)
                                        : kept->made && kept->resource.numbers && strcmp(kept->path, path) == 0);
}

static struct kept_resource *add(const char *path, const struct stat *state, resource_maker *make)
{
    struct kept_resource *kept = xalloc(sizeof(*kept));
    kept->path = xstrdup(path);
    kept->make = make;
    kept->state = *state;
    return kept;
}

// Makes the resource, without the lock.
static void fill(struct kept_resource *kept)
{
    struct stat state;
    pthread_mutex_unlock(&resources.lock);
    kept->make(kept->path, &kept->resource);
    const bool same = stat(kept->path, &state) == 0 && same_state(&kept->state, &state);
    pthread_mutex_lock(&resources.lock);
    if (!same)
        kept->state = (struct stat){0};
    kept->made = true;
    pthread_cond_broadcast(&resources.made);
}

static const struct file_resource missing = {.why = "there is no such file"};

static struct kept_resource *get(const char *path, const struct stat *state, resource_maker *make)
{
    struct kept_resource **at = &resources.first, *kept;
    pthread_mutex_lock(&resources.lock);
    while (*at && !is_of(*at, path, state, make))
        at = &(*at)->next;
    const bool found = *at;
    if ((kept = *at))
        *at = kept->next;
    else if (state)
        kept = add(path, state, make);
    if (kept) {
        kept->next = resources.first;
        resources.first = kept;
        kept->users++;
    }
    if (kept && !found)
        fill(kept);
    while (kept && !kept->made)
        pthread_cond_wait(&resources.made, &resources.lock);
    free_old();
    pthread_mutex_unlock(&resources.lock);
    return kept;
}

const struct file_resource *file_resource_get(const char *path, resource_maker *make)
{
    struct stat status, *state = stat(path, &status) == 0 ? &status : NULL;
    struct kept_resource *kept = get(path, state, make);
    return kept ? &kept->resource : &missing;
}

const struct file_resource *file_resource_latest(const char *path, resource_maker *make)
{
    const struct file_resource *now = file_resource_get(path, make);
    struct kept_resource *last = now->numbers ? NULL : get(path, NULL, make);
    if (!last)
        return now;
    file_resource_put(now);
    return &last->resource;
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
