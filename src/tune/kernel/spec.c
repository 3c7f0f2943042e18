// spec.c: see spec.h
#include "tune/kernel/spec.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPEC_BYTES = 16 << 20, KERNEL_BYTES = 16 << 20 };

static void finish_kernel(struct spec_kernel *kernel)
{
    free(kernel->name);
    free(kernel->file);
    free(kernel->text);
    for (int i = 0; i < 3; i++) {
        free(kernel->global[i]);
        free(kernel->local[i]);
    }
}

void spec_finish(struct spec *spec)
{
    free(spec->path);
    free(spec->directory);
    space_finish(&spec->space);
    for (int i = 0; i < spec->conditions; i++)
        free(spec->condition[i].text);
    for (int i = 0; i < spec->kernels; i++)
        finish_kernel(&spec->kernel[i]);
    for (int i = 0; i < spec->references; i++)
        finish_kernel(&spec->reference[i]);
    for (int i = 0; i < SPEC_ARGUMENTS; i++) {
        free(spec->argument[i].name);
        free(spec->argument[i].size);
        free(spec->argument[i].in.source);
        free(spec->argument[i].reference.source);
    }
    *spec = (struct spec){.kernels = 0};
}

// ---- files ----

char *spec_file(const struct spec *spec, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s%s", name[0] == '/' ? "" : spec->directory, name) < 0)
        return NULL;
    return path;
}

// A description from elsewhere should not read files that the user does not expect.
static void warn_outside(const struct spec *spec, const char *name)
{
    if (name && (name[0] == '/' || strncmp(name, "../", 3) == 0 || strstr(name, "/../")))
        log_warn("%s reads '%s', which is outside its directory", spec->path, name);
}

static bool load_kernel(const struct spec *spec, struct spec_kernel *kernel)
{
    char *path = spec_file(spec, kernel->file);
    kernel->text = path ? file_read_text(path, KERNEL_BYTES) : NULL;
    if (!kernel->text)
        log_error("cannot read kernel file '%s' of %s: %s", path ? path : kernel->file, spec->path, strerror(errno));
    else if (spec->kernel[0].file == kernel->file || strcmp(spec->kernel[0].file, kernel->file) != 0)
        warn_outside(spec, kernel->file);
    free(path);
    return kernel->text;
}

static bool load_kernels(struct spec *spec, const char *text)
{
    char *all = NULL;
    size_t bytes;
    bool ok = true;
    for (int i = 0; ok && i < spec->kernels; i++)
        ok = load_kernel(spec, &spec->kernel[i]) && spec_find_included(spec, &spec->kernel[i]);
    for (int i = 0; ok && i < spec->references; i++)
        ok = load_kernel(spec, &spec->reference[i]) && spec_find_included(spec, &spec->reference[i]);
    FILE *out = ok ? open_memstream(&all, &bytes) : NULL;
    if (!out)
        return false;
    fputs(text, out);
    for (int i = 0; i < spec->kernels; i++)
        fprintf(out, "%s%s", spec->kernel[i].text, spec->kernel[i].included);
    for (int i = 0; i < spec->references; i++)
        fprintf(out, "%s%s", spec->reference[i].text, spec->reference[i].included);
    fclose(out);
    hash_128_text(all, bytes, spec->hash);
    free(all);
    return true;
}

bool spec_load(struct spec *spec, const char *path)
{
    char why[SPEC_WHY];
    char *text = file_read_text(path, SPEC_BYTES);
    *spec = (struct spec){.kernels = 0};
    if (!text) {
        log_error("cannot read %s: %s; give a description of a kernel (JSON)", path, strerror(errno));
        return false;
    }
    bool ok = spec_parse(spec, text, path, why);
    if (!ok)
        log_error("cannot use %s: %s; see monocle tune --help", path, why);
    ok = ok && load_kernels(spec, text);
    for (int i = 0; ok && i < spec->arguments; i++) {
        const struct spec_argument *argument = &spec->argument[i];
        warn_outside(spec, argument->in.fill == SPEC_FILE ? argument->in.source : NULL);
        warn_outside(spec, argument->reference.fill == SPEC_FILE ? argument->reference.source : NULL);
    }
    free(text);
    return ok;
}
