// file_resource.c: keeps the numbers that filters make from files
#include "filter/file_resource.h"

#include "base/alloc.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { UNUSED_MOST = 4 }; // resources that are kept although nobody uses them

struct resource_entry {
    struct file_resource resource;
    struct resource_entry *next; // an older one
    resource_maker *make;
    char *path;
    struct stat state; // of the file; zeroed: it changed while it was read
    int users;
    bool made; // the resource is complete
};

static struct {
    pthread_mutex_t lock; // guards the list, not the reading of a file
    pthread_cond_t made;
    struct resource_entry *first;
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
    for (struct resource_entry **at = &resources.first; *at;) {
        struct resource_entry *entry = *at;
        if (entry->users > 0 || unused++ < UNUSED_MOST) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        free(entry->resource.numbers);
        free(entry->path);
        free(entry);
    }
}

// Returns true for the resource of a file in this state; for NULL, for numbers of a file of this name.
static bool is_of(const struct resource_entry *entry, const char *path, const struct stat *state, resource_maker *make)
{
    return entry->make == make && (state ? same_state(&entry->state, state)
                                         : entry->made && entry->resource.numbers && strcmp(entry->path, path) == 0);
}

static struct resource_entry *add(const char *path, const struct stat *state, resource_maker *make)
{
    struct resource_entry *entry = xalloc(sizeof(*entry));
    entry->path = xstrdup(path);
    entry->make = make;
    entry->state = *state;
    return entry;
}

// Makes the resource, without the lock.
static void fill(struct resource_entry *entry)
{
    struct stat state;
    pthread_mutex_unlock(&resources.lock);
    entry->make(entry->path, &entry->resource);
    const bool same = stat(entry->path, &state) == 0 && same_state(&entry->state, &state);
    pthread_mutex_lock(&resources.lock);
    if (!same)
        entry->state = (struct stat){0};
    entry->made = true;
    pthread_cond_broadcast(&resources.made);
}

static const struct file_resource missing = {.why = "there is no such file"};

static struct resource_entry *get(const char *path, const struct stat *state, resource_maker *make)
{
    struct resource_entry **at = &resources.first, *entry;
    pthread_mutex_lock(&resources.lock);
    while (*at && !is_of(*at, path, state, make))
        at = &(*at)->next;
    const bool found = *at;
    if ((entry = *at))
        *at = entry->next;
    else if (state)
        entry = add(path, state, make);
    if (entry) {
        entry->next = resources.first;
        resources.first = entry;
        entry->users++;
    }
    if (entry && !found)
        fill(entry);
    while (entry && !entry->made)
        pthread_cond_wait(&resources.made, &resources.lock);
    free_old();
    pthread_mutex_unlock(&resources.lock);
    return entry;
}

const struct file_resource *file_resource_get(const char *path, resource_maker *make)
{
    struct stat status, *state = stat(path, &status) == 0 ? &status : NULL;
    struct resource_entry *entry = get(path, state, make);
    return entry ? &entry->resource : &missing;
}

const struct file_resource *file_resource_latest(const char *path, resource_maker *make)
{
    const struct file_resource *now = file_resource_get(path, make);
    struct resource_entry *last = now->numbers ? NULL : get(path, NULL, make);
    if (!last)
        return now;
    file_resource_put(now);
    return &last->resource;
}

static void add_users(const struct file_resource *resource, int users)
{
    pthread_mutex_lock(&resources.lock);
    for (struct resource_entry *entry = resources.first; entry; entry = entry->next)
        entry->users += &entry->resource == resource ? users : 0;
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
