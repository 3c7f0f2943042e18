// programs.c: keeps the programs that a device has built
#include "compute/programs.h"

#include <stdlib.h>
#include <string.h>

void programs_init(struct programs *programs)
{
    *programs = (struct programs){.added = 0};
    pthread_mutex_init(&programs->lock, NULL);
}

static void drop(struct built_program *built)
{
    if (built->program)
        clReleaseProgram(built->program);
    free(built->key);
    *built = (struct built_program){0};
}

void programs_forget(struct programs *programs)
{
    pthread_mutex_lock(&programs->lock);
    for (int i = 0; i < PROGRAMS_KEPT; i++)
        drop(&programs->built[i]);
    pthread_mutex_unlock(&programs->lock);
}

void programs_finish(struct programs *programs)
{
    programs_forget(programs);
    pthread_mutex_destroy(&programs->lock);
}

cl_program programs_find(struct programs *programs, const char *key, size_t key_bytes)
{
    cl_program found = NULL;
    pthread_mutex_lock(&programs->lock);
    for (int i = 0; i < PROGRAMS_KEPT && !found; i++) {
        const struct built_program *built = &programs->built[i];
        if (built->program && built->key_bytes == key_bytes && memcmp(built->key, key, key_bytes) == 0)
            found = built->program;
    }
    if (found)
        clRetainProgram(found);
    pthread_mutex_unlock(&programs->lock);
    return found;
}

void programs_add(struct programs *programs, char *key, size_t key_bytes, cl_program program)
{
    pthread_mutex_lock(&programs->lock);
    struct built_program *built = &programs->built[programs->added++ % PROGRAMS_KEPT];
    drop(built);
    clRetainProgram(program);
    *built = (struct built_program){key, key_bytes, program};
    pthread_mutex_unlock(&programs->lock);
}
