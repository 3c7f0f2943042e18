// resource.c: finds embedded files and reads kernels
#include "base/resource.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { KERNEL_MAX_BYTES = 1 << 20 };

const struct resource *resource_find(const char *name)
{
    for (const struct resource *r = resources; r->name; r++) {
        if (strcmp(r->name, name) == 0)
            return r;
    }
    return NULL;
}

bool resource_check_kernels(const char *dir)
{
    static const char prefix[] = "kernels/";
    const size_t length = sizeof(prefix) - 1;
    int error = ENOENT;
    if (!dir || !dir[0])
        return true;
    for (const struct resource *r = resources; r->name; r++) {
        char path[4096];
        if (strncmp(r->name, prefix, length) != 0)
            continue;
        if (snprintf(path, sizeof(path), "%s/%s", dir, r->name + length) < (int)sizeof(path) && access(path, R_OK) == 0)
            return true;
        error = errno;
    }
    if (error == ENOENT && access(dir, F_OK) == 0)
        log_error("cannot use the kernel directory %s: it contains no kernel of monocle, such as blur.cl; correct "
                  "--kernels or MONOCLE_KERNELS",
                  dir);
    else
        log_error("cannot use the kernel directory %s: %s; correct --kernels or MONOCLE_KERNELS", dir, strerror(error));
    return false;
}

char *resource_kernel(const char *file, const char *override_dir, char why[RESOURCE_WHY])
{
    char path[4096];
    if (override_dir && snprintf(path, sizeof(path), "%s/%s", override_dir, file) < (int)sizeof(path)) {
        char *text = file_read_text(path, KERNEL_MAX_BYTES);
        if (text)
            return text;
        if (errno != ENOENT) {
            snprintf(why, RESOURCE_WHY, "cannot read kernel %.160s: %s", path, file_read_error());
            return NULL;
        }
    }
    snprintf(path, sizeof(path), "kernels/%s", file);
    const struct resource *embedded = resource_find(path);
    if (!embedded) {
        snprintf(why, RESOURCE_WHY, "monocle has no kernel named %s", file);
        return NULL;
    }
    return xstrndup((const char *)embedded->data, embedded->size);
}

bool text_place(const char *text, long number, struct text_place *place)
{
    struct text_place at = {.file = ""};
    for (long n = 1; n < number && *text; n++) {
        text += strncmp(text, "//#", 3) == 0 ? 2 : 0;
        if (sscanf(text, "#line %ld \"%63[^\"]\"", &at.line, at.file) < 1) // the file name may be omitted
            at.line++;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    *place = at;
    return at.file[0] != '\0';
}
