// resource.c: finds embedded files and reads kernels
#include "base/resource.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNEL_MAX_BYTES = 1 << 20 };

const struct resource *resource_find(const char *name)
{
    for (const struct resource *r = resources; r->name; r++) {
        if (strcmp(r->name, name) == 0)
            return r;
    }
    return NULL;
}

char *resource_kernel(const char *file, const char *override_dir)
{
    char path[4096];
    if (override_dir && snprintf(path, sizeof(path), "%s/%s", override_dir, file) < (int)sizeof(path)) {
        size_t size;
        char *text = file_read(path, KERNEL_MAX_BYTES, &size);
        if (text)
            return text;
        if (errno != ENOENT) {
            log_error("cannot read kernel %s: %s", path, strerror(errno));
            return NULL;
        }
    }
    snprintf(path, sizeof(path), "kernels/%s", file);
    const struct resource *embedded = resource_find(path);
    if (!embedded) {
        log_error("there is no kernel named %s", file);
        return NULL;
    }
    char *text = malloc(embedded->size + 1);
    if (!text) {
        log_error("cannot read kernel %s: out of memory", file);
        return NULL;
    }
    memcpy(text, embedded->data, embedded->size);
    text[embedded->size] = '\0';
    return text;
}
