// cpu_tuning.c: parameters that change the speed of the cpu path: legal values, text, and entries of the database
#include "path/cpu_tuning.h"

#include "base/vectors.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// BANDS: bands per thread. With more bands, an interrupted thread delays the others less; with fewer bands, fewer rows
// are made twice.
// PREFETCH: stencils prefetch the rows of the input and output of this many calls ahead; 0: none.
// STREAM: 1: a chain without a stencil writes its result with non-temporal stores.
const struct cpu_param_info cpu_params[CPU_PARAMS] = {
    [CPU_BANDS] = {"BANDS", 5, {1, 2, 4, 8, 16}},
    [CPU_PREFETCH] = {"PREFETCH", 4, {0, 1, 2, 4}},
    [CPU_STREAM] = {"STREAM", 2, {0, 1}},
};

// ---- text ----

static const char head[] = "rows";

static int find_param(const char *name, size_t length)
{
    for (int i = 0; i < CPU_PARAMS; i++) {
        if (strlen(cpu_params[i].name) == length && memcmp(cpu_params[i].name, name, length) == 0)
            return i;
    }
    return -1;
}

static bool is_legal(const struct cpu_param_info *param, int value)
{
    for (int i = 0; i < param->values; i++) {
        if (param->value[i] == value)
            return true;
    }
    return false;
}

bool cpu_tuning_parse(struct cpu_tuning *tuning, const char *text)
{
    enum { DIGITS = 4 };
    for (int i = 0; i < CPU_PARAMS; i++)
        tuning->value[i] = CPU_UNSET;
    if (strncmp(text, head, strlen(head)) != 0)
        return false;
    for (text += strlen(head); *text == ':';) {
        const char *name = text + 1;
        const size_t length = strcspn(name, "=");
        const int param = find_param(name, length);
        if (param < 0 || name[length] != '=')
            return false;
        const char *number = name + length + 1;
        const size_t digits = strspn(number, "0123456789");
        if (digits < 1 || digits > DIGITS || !is_legal(&cpu_params[param], atoi(number)))
            return false;
        tuning->value[param] = atoi(number);
        text = number + digits;
    }
    return *text == '\0';
}

void cpu_tuning_print(const struct cpu_tuning *tuning, char text[CPU_TUNING_TEXT])
{
    int used = snprintf(text, CPU_TUNING_TEXT, "%s", head);
    for (int i = 0; i < CPU_PARAMS; i++) {
        if (tuning->value[i] != CPU_UNSET)
            used +=
                snprintf(text + used, (size_t)(CPU_TUNING_TEXT - used), ":%s=%d", cpu_params[i].name, tuning->value[i]);
    }
}

// ---- the database ----

static __attribute__((format(printf, 2, 3))) void append(char text[CPU_KEY], const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, CPU_KEY - used, format, arguments);
    va_end(arguments);
}

static void print_chain(char text[CPU_KEY], const struct chain *chain, enum pixfmt format)
{
    text[0] = '\0';
    append(text, "cpu:%s>", pixfmt_info(format)->name);
    for (int i = 0; i < chain->count; i++) {
        const struct stage *stage = &chain->stage[i];
        append(text, "%s%s", i > 0 ? "+" : "", stage->filter->name);
        if (stage->arguments.radius > 0)
            append(text, "%d", stage->arguments.radius);
    }
    append(text, ">rgba");
}

void cpu_key_make(struct cpu_key *key, const struct chain *chain, const struct image_shape *input, int threads)
{
    print_chain(key->chain, chain, input->format);
    tuned_size(input->width, input->height, key->size);
    processor_model(key->model);
    processor_vendor(key->vendor);
    key->key = (struct tuned_key){
        .pass = key->chain,
        .size = key->size,
        .device = key->model,
        .vendor = key->vendor,
        .type = "cpu",
        .architecture = vectors_name(vectors_level()),
        .driver = "",
        .compute_units = threads,
    };
}

bool cpu_tuned(struct tuned *tuned, const struct cpu_key *key, struct cpu_tuning *tuning, struct tuned_found *found)
{
    enum { TRIED = 50 }; // entries; more of them would make the start slow
    struct tuned_found next = {0};
    for (int i = 0; i < TRIED && tuned_next(tuned, &key->key, &next); i++) {
        if (!cpu_tuning_parse(tuning, next.entry->choice))
            continue;
        *found = next;
        return true;
    }
    return false;
}
