// pass_tuned.c: names passes in the database of tunings, and finds their tuned variants
#include "path/pass_tuned.h"

#include "base/vectors.h"
#include "path/pass_text.h"
#include "path/source_strip.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the key ----

static __attribute__((format(printf, 2, 3))) void append(char text[PASS_KEY], const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, PASS_KEY - used, format, arguments);
    va_end(arguments);
}

// Appends a filter, after a "+" unless it is the pass's first one.
static void append_filter(char text[PASS_KEY], const struct stage *stage)
{
    append(text, "%s%s", text[strlen(text) - 1] == '>' ? "" : "+", stage->filter->name);
}

void pass_key_print(const struct pass *pass, const struct pass_target *target, char text[PASS_KEY])
{
    text[0] = '\0';
    append(text, "%s%s%s>", pass->reads == PASS_GREY ? "channel" : pixfmt_info(target->format)->name,
           pass->load_mirror ? ":mirror" : "", pass->load_flip ? ":flip" : "");
    for (int i = 0; i < pass->before_count; i++)
        append_filter(text, pass->before[i]);
    if (pass->stencil) {
        append_filter(text, pass->stencil);
        append(text, "%d%s", pass->stencil->arguments.radius, pass->equal_channels ? ":grey" : "");
    }
    if (pass->warp)
        append_filter(text, pass->warp);
    for (int i = 0; i < pass->after_count; i++)
        append_filter(text, pass->after[i]);
    append(text, ">%s%s%s",
           target->to_image            ? "image"
           : pass->writes == PASS_GREY ? "channel"
                                       : "buffer",
           pass->store_mirror ? ":mirror" : "", pass->store_flip ? ":flip" : "");
}

// Writes the compute capability of an NVIDIA device, the vector instructions of a CPU, or "" for any other device.
static void print_architecture(const struct device_info *device, char *text, size_t size)
{
    text[0] = '\0';
    if (device->nv_arch > 0)
        snprintf(text, size, "sm_%d", device->nv_arch);
    else if (device->type & CL_DEVICE_TYPE_CPU)
        snprintf(text, size, "%s", vectors_name(vectors_level()));
}

void pass_key_make(struct pass_key *key, const struct variant_pass *of, int width, int height)
{
    const struct device_info *device = of->device;
    pass_key_print(of->pass, of->target, key->pass);
    tuned_size(width, height, key->size);
    print_architecture(device, key->architecture, sizeof(key->architecture));
    key->key = (struct tuned_key){
        .pass = key->pass,
        .size = key->size,
        .device = device->name,
        .vendor = device->vendor,
        .type = device_type_name(device),
        .architecture = key->architecture,
        .driver = device->driver,
        .compute_units = device->compute_units,
    };
}

bool pass_source(const struct variant_pass *of, const struct variant_choice *choice, const char *kernel_dir,
                 char hash[HASH_TEXT])
{
    char *error = NULL, *text = pass_text(of->pass, of->target, choice, kernel_dir, &error);
    free(error);
    if (!text)
        return false;
    source_strip(text);
    hash_128_text(text, strlen(text), hash);
    free(text);
    return true;
}

// ---- the look-up ----

enum { TUNED_TRIED = 50 }; // entries; more of them would make the start slow

bool pass_tuned(struct device *device, const struct variant_pass *of, int width, int height,
                bool (*trusted)(void *context, const struct variant_choice *choice), void *context,
                struct pass_choice *found)
{
    struct pass_key key;
    struct tuned_found next = {0};
    pass_key_make(&key, of, width, height);
    for (int i = 0; i < TUNED_TRIED && tuned_next(&device->tuned, &key.key, &next); i++) {
        const char *source = next.entry->source;
        char hash[HASH_TEXT];
        struct variant_choice choice;
        if (!variant_parse(&choice, next.entry->choice) || !variant_accept(&choice, of, NULL, NULL))
            continue;
        if (source[0] && (!pass_source(of, &choice, device->kernel_dir, hash) || strcmp(source, hash) != 0))
            continue;
        if (!variant_accept(&choice, of, trusted, context))
            continue;
        *found = (struct pass_choice){choice, next};
        return true;
    }
    return false;
}

static bool same_choice(const struct variant_choice *a, const struct variant_choice *b)
{
    return a->variant == b->variant && memcmp(a->value, b->value, sizeof(a->value)) == 0;
}

int pass_tuned_choices(struct device *device, const struct variant_pass *of, int width, int height,
                       struct variant_choice *choices, int most)
{
    struct pass_key key;
    struct tuned_found next = {0};
    int count = 0;
    pass_key_make(&key, of, width, height);
    for (int i = 0; i < TUNED_TRIED && count < most && tuned_next(&device->tuned, &key.key, &next); i++) {
        struct variant_choice *choice = &choices[count];
        if (!variant_parse(choice, next.entry->choice) || !variant_accept(choice, of, NULL, NULL))
            continue;
        bool known = false;
        for (int k = 0; k < count; k++)
            known = known || same_choice(&choices[k], choice);
        count += known ? 0 : 1;
    }
    return count;
}
