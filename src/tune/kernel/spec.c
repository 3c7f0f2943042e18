// spec.c: see spec.h
#include "tune/kernel/spec.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "compute/cl.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPEC_BYTES = 16 << 20, KERNEL_BYTES = 16 << 20 };

static void finish_sizes(struct spec_sizes *sizes)
{
    for (int i = 0; i < 3; i++) {
        free(sizes->global[i]);
        free(sizes->local[i]);
    }
}

static void finish_kernel(struct spec_kernel *kernel)
{
    free(kernel->name);
    for (int i = 0; i < kernel->files; i++)
        free(kernel->file[i]);
    free(kernel->text);
    finish_sizes(&kernel->sizes);
}

static void finish_step(struct spec_step *step)
{
    free(step->condition);
    free(step->again);
    free(step->queue);
    finish_sizes(&step->sizes);
    for (int i = 0; i < step->changes; i++) {
        free(step->change[i].name);
        free(step->change[i].text);
    }
}

void spec_finish(struct spec *spec)
{
    for (int i = 0; i < spec->steps; i++)
        finish_step(&spec->step[i]);
    free(spec->path);
    free(spec->directory);
    space_finish(&spec->space);
    for (int i = 0; i < spec->conditions; i++)
        free(spec->condition[i].text);
    for (int i = 0; i < spec->metrics.count; i++) {
        free(spec->metrics.list[i].name);
        free(spec->metrics.list[i].text);
    }
    for (int i = 0; i < SPEC_KERNELS; i++) {
        finish_kernel(&spec->kernel[i]);
        finish_kernel(&spec->reference[i]);
    }
    for (int i = 0; i < SPEC_ARGUMENTS; i++) {
        free(spec->argument[i].name);
        free(spec->argument[i].size);
        free(spec->argument[i].height);
        free(spec->argument[i].in.source);
        free(spec->argument[i].reference.source);
    }
    *spec = (struct spec){.kernels = 0};
}

// ---- files ----

char *spec_file(const struct spec *spec, const char *name)
{
    return xprintf("%s%s", name[0] == '/' ? "" : spec->directory, name);
}

// ---- included files ----

enum { FILES = 256, FILE_BYTES = 16 << 20, DIRECTORIES = 32 };

struct include_finder {
    FILE *out; // gets the texts of the files, with their names
    char *file[FILES];
    int files;
    char options[SPEC_OPTIONS];
    const char *directory[DIRECTORIES]; // of the options -I
    int directories;
};

// Finds the directories of the options "-I directory" and "-Idirectory".
static void find_directories(struct include_finder *finder)
{
    char *rest = finder->options;
    bool next = false;
    for (char *word; (word = strsep(&rest, " \t"));) {
        const char *directory = strncmp(word, "-I", 2) == 0 ? word + 2 : "";
        if (next)
            directory = word;
        next = strcmp(word, "-I") == 0;
        if (*directory && finder->directories < DIRECTORIES)
            finder->directory[finder->directories++] = directory;
    }
}

static void follow(struct include_finder *finder, const char *path, const char *text);

// Adds a file, once, and the files that it includes.
static void add(struct include_finder *finder, const char *directory, int length, const char *name, int name_length)
{
    if (name[0] == '/')
        length = 0;
    char *path = xprintf("%.*s%s%.*s", length, directory, length > 0 && directory[length - 1] != '/' ? "/" : "",
                         name_length, name);
    char *text = file_read_text(path, FILE_BYTES);
    bool known = !text || finder->files == FILES;
    for (int i = 0; i < finder->files && !known; i++)
        known = file_same(finder->file[i], path);
    if (known) {
        free(text);
        free(path);
        return;
    }
    finder->file[finder->files++] = path;
    // The path depends on the current directory.
    fprintf(finder->out, "%.*s\n%s\n", name_length, name, text);
    follow(finder, path, text);
    free(text);
}

// Adds the files that the text of a file includes.
static void follow(struct include_finder *finder, const char *path, const char *text)
{
    const char *slash = strrchr(path, '/');
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *at = line + strspn(line, " \t");
        if (*at != '#')
            continue;
        at += 1 + strspn(at + 1, " \t");
        if (strncmp(at, "include", 7) != 0)
            continue;
        at += 7 + strspn(at + 7, " \t");
        const char *name = at + 1;
        const int length = (int)strcspn(name, "\">\n");
        if ((*at != '"' && *at != '<') || length == 0 || length > PATH_MAX)
            continue;
        add(finder, path, slash ? (int)(slash + 1 - path) : 0, name, length);
        add(finder, "", 0, name, length);
        for (int i = 0; i < finder->directories; i++)
            add(finder, finder->directory[i], (int)strlen(finder->directory[i]), name, length);
    }
}

// Sets kernel->included to the hash of all files that the kernel's files include, directly or indirectly. Looks in the
// directory of the including file, in the current directory and in the directories of the options -I. Does not expand
// macros.
static void find_included(const struct spec *spec, struct spec_kernel *kernel)
{
    char *texts = NULL;
    size_t bytes;
    struct include_finder *finder = xalloc(sizeof(*finder));
    finder->out = xmemstream(&texts, &bytes);
    memcpy(finder->options, kernel->options, sizeof(finder->options));
    find_directories(finder);
    for (int i = 0; i < kernel->files; i++) {
        char *path = spec_file(spec, kernel->file[i]); // of each file, for the names that are in its directory
        follow(finder, path, kernel->text);
        free(path);
    }
    xmemclose(finder->out);
    hash_128_text(texts, bytes, kernel->included);
    for (int i = 0; i < finder->files; i++)
        free(finder->file[i]);
    free(finder);
    free(texts);
}

// ---- a description ----

// A description from elsewhere should not read files that the user does not expect.
static void warn_outside(const struct spec *spec, const char *name)
{
    if (name && (name[0] == '/' || strncmp(name, "../", 3) == 0 || strstr(name, "/../")))
        log_warn("%s reads '%s', which is outside its directory", spec->path, name);
}

// Writes the directive by which a compiler's messages name the file.
static void print_place(FILE *out, const char *file)
{
    fprintf(out, "#line 1 \"%s\"\n", strpbrk(file, "\"\\\n") ? "kernel" : file);
}

// Adds the directory of a file to the options, if they have room and it has no spaces.
static void add_directory(struct spec_kernel *kernel, const char *path)
{
    const char *slash = strrchr(path, '/');
    const int length = slash && slash > path ? (int)(slash - path) : 1; // "/" of "/k.cl", or "."
    char option[SPEC_OPTIONS];
    const size_t used = strlen(kernel->options);
    const int bytes = snprintf(option, sizeof(option), "%s-I%.*s", used > 0 ? " " : "", length, slash ? path : ".");
    if (bytes < (int)(sizeof(kernel->options) - used) && strcspn(path, " \t\"'") >= (size_t)length &&
        !compute_lists(kernel->options, option + (used > 0)))
        strcat(kernel->options, option);
}

static bool load_kernel(const struct spec *spec, struct spec_kernel *kernel)
{
    bool ok = true;
    size_t bytes;
    FILE *out = xmemstream(&kernel->text, &bytes);
    for (int i = 0; ok && i < kernel->files; i++) {
        char *path = spec_file(spec, kernel->file[i]), *text = file_read_text(path, KERNEL_BYTES);
        ok = text != NULL;
        if (!ok && kernel->cuda)
            log_error("cannot use %s: its kernel is CUDA, and there is no OpenCL kernel '%s'", spec->path, path);
        else if (!ok)
            log_error("cannot read kernel file '%s' of %s: %s", path, spec->path, file_read_error());
        else if (kernel->cuda)
            log_warn("%s has a CUDA kernel; monocle runs the OpenCL kernel '%s'", spec->path, path);
        else if (kernel == &spec->kernel[0] || strcmp(spec->kernel[0].file[0], kernel->file[i]) != 0)
            warn_outside(spec, kernel->file[i]);
        if (ok && i > 0)
            print_place(out, kernel->file[i]);
        if (ok)
            fprintf(out, "%s%s", text, i + 1 < kernel->files ? "\n" : "");
        add_directory(kernel, path);
        free(text);
        free(path);
    }
    xmemclose(out);
    if (ok)
        find_included(spec, kernel);
    return ok;
}

static bool load_kernels(struct spec *spec, const char *text)
{
    char *all = NULL;
    size_t bytes;
    bool ok = true;
    for (int i = 0; ok && i < spec->kernels; i++)
        ok = load_kernel(spec, &spec->kernel[i]);
    for (int i = 0; ok && i < spec->references; i++)
        ok = load_kernel(spec, &spec->reference[i]);
    if (!ok)
        return false;
    FILE *out = xmemstream(&all, &bytes);
    fputs(text, out);
    for (int i = 0; i < spec->kernels; i++)
        fprintf(out, "%s%s", spec->kernel[i].text, spec->kernel[i].included);
    for (int i = 0; i < spec->references; i++)
        fprintf(out, "%s%s", spec->reference[i].text, spec->reference[i].included);
    xmemclose(out);
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
        log_error("cannot read %s: %s; give a description of a kernel (JSON)", path, file_read_error());
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

char *spec_program(const struct spec *spec, const struct spec_launch *launch, const uint16_t *tuple)
{
    const struct spec_kernel *kernel = launch->kernel;
    char *text = NULL;
    size_t bytes;
    FILE *out = xmemstream(&text, &bytes);
    for (int p = 0; p < spec->space.params; p++) {
        char value[VALUE_TEXT_MAX];
        value_print(&spec->space.param[p].value[tuple[p]], value, sizeof(value));
        fprintf(out, "#define %s %s\n", spec->space.param[p].name, value);
    }
    fputs(launch->macros ? launch->macros : "", out);
    if (kernel->included[0])
        fprintf(out, "// included: %s\n", kernel->included); // for the keys of cached programs
    print_place(out, kernel->file[0]);
    fputs(kernel->text, out);
    xmemclose(out);
    return text;
}

// ---- elements ----

// Rounds to the nearest value, or to the even one of two.
static uint16_t half_of(double value)
{
    const double size = fabs(value);
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (isnan(value))
        return 0x7e00;
    if (size >= 65520)
        return sign | 0x7c00;
    const int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    // A fraction of 1024 or 2048 carries into the exponent.
    const int fraction = (int)rint(ldexp(size, 10 - exponent));
    return (uint16_t)(sign | ((exponent + 14) * 1024 + fraction));
}

static double load(const struct spec_type *type, const void *at)
{
    const int unused = 64 - 8 * type->bytes;
    uint64_t word = 0; // little-endian
    float single;
    double real;
    memcpy(&word, at, (size_t)type->bytes);
    memcpy(&single, &word, sizeof(single));
    memcpy(&real, &word, sizeof(real));
    if (type->number == SPEC_UNSIGNED)
        return (double)word;
    if (type->number == SPEC_SIGNED)
        return (double)((int64_t)(word << unused) >> unused);
    if (type->bytes == 2)
        return number_of_half((uint16_t)word);
    return type->bytes == 4 ? (double)single : real;
}

// Stores the nearest value that the type has; integers are cut towards 0.
static void store(const struct spec_type *type, void *at, double value)
{
    const bool is_signed = type->number == SPEC_SIGNED;
    const int bits = 8 * type->bytes - (is_signed ? 1 : 0);
    if (type->number == SPEC_FLOAT) {
        const float single = (float)value;
        const uint16_t half = half_of(value);
        memcpy(at, type->bytes == 2 ? &half : type->bytes == 4 ? (const void *)&single : &value, (size_t)type->bytes);
        return;
    }
    const double least = is_signed ? -ldexp(1, bits) : 0;
    uint64_t word;
    if (!(value > least)) // also NAN
        word = is_signed ? UINT64_MAX << bits : 0;
    else if (value >= ldexp(1, bits))
        word = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    else
        word = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    memcpy(at, &word, (size_t)type->bytes); // little-endian
}

// ---- content ----

static bool name_i(void *context, const char *name, int length, int64_t index, struct value *value)
{
    *value = value_of_integer(*(const int64_t *)context);
    return length == 1 && name[0] == 'i' && index < 0;
}

static bool fill_file(const struct spec *spec, const struct spec_argument *argument, const char *source, void *data)
{
    size_t bytes = 0;
    char *path = spec_file(spec, source);
    char *content = file_read(path, argument->bytes, &bytes);
    if (!content && errno == EFBIG)
        log_error("'%s' has over %zu bytes, the size of argument '%s' of %s", source, argument->bytes, argument->name,
                  spec->path);
    else if (!content)
        log_error("cannot read '%s' for argument '%s' of %s: %s", source, argument->name, spec->path,
                  file_read_error());
    else if (bytes != argument->bytes)
        log_error("'%s' has %zu bytes, but argument '%s' of %s has %zu", source, bytes, argument->name, spec->path,
                  argument->bytes);
    else
        memcpy(data, content, bytes);
    free(content);
    free(path);
    return content && bytes == argument->bytes;
}

bool spec_fill(const struct spec *spec, const struct spec_argument *argument, const struct spec_content *content,
               void *data)
{
    const struct spec_type *type = &argument->type;
    const size_t count = argument->bytes / (size_t)type->bytes, size = (size_t)type->bytes;
    uint64_t state = content->seed;
    char why[EXPRESSION_WHY];
    if (content->fill == SPEC_FILE)
        return fill_file(spec, argument, content->source, data);
    // An integer is 0 to the upper bound.
    const double range = content->value[0] + (type->number == SPEC_FLOAT ? 0 : 1);
    for (size_t i = 0; i < count; i++) {
        struct value value = value_of_real(content->value[i % (size_t)type->lanes]);
        int64_t index = (int64_t)i;
        if (content->fill == SPEC_RANDOM)
            value.real = random_unit(&state) * range;
        else if (content->fill == SPEC_GENERATOR &&
                 !expression_evaluate(content->source, name_i, &index, &value, why)) {
            log_error("cannot fill argument '%s' of %s: DataSource '%.80s': %s", argument->name, spec->path,
                      content->source, why);
            return false;
        }
        if (value.kind == VALUE_TEXT) {
            log_error("cannot fill argument '%s' of %s: DataSource '%.80s' is a text", argument->name, spec->path,
                      content->source);
            return false;
        }
        store(type, (char *)data + i * size, value_number(&value));
    }
    return true;
}

// ---- comparison ----

bool spec_same(const struct spec_argument *argument, const void *got, const void *want, char why[SPEC_WHY])
{
    const struct spec_type *type = &argument->type;
    const struct spec_tolerance *tolerance = &argument->tolerance;
    const size_t count = argument->bytes / (size_t)type->bytes, size = (size_t)type->bytes;
    double sum = 0;
    if (memcmp(got, want, argument->bytes) == 0)
        return true;
    for (size_t i = 0; i < count; i++) {
        const char *a_at = (const char *)got + i * size, *b_at = (const char *)want + i * size;
        if (memcmp(a_at, b_at, size) == 0)
            continue;
        const double a = load(type, a_at), b = load(type, b_at), difference = fabs(a - b);
        const bool large = tolerance->method == SPEC_EACH_DEFAULT && type->number == SPEC_FLOAT && fabs(b) > 1;
        const double most = tolerance->threshold * (large || tolerance->method == SPEC_EACH_RELATIVE ? fabs(b) : 1);
        sum += difference;
        if (tolerance->method == SPEC_SUM ? isfinite(sum) : difference <= most)
            continue;
        snprintf(why, SPEC_WHY, "%.30s[%zu] is %.6g instead of %.6g", argument->name, i, a, b);
        return false;
    }
    if (tolerance->method != SPEC_SUM || sum <= tolerance->threshold)
        return true;
    snprintf(why, SPEC_WHY, "the differences of %.30s have the sum %.6g", argument->name, sum);
    return false;
}
