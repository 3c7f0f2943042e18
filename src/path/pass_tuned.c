// pass_tuned.c: names passes in the database of tunings, and finds their tuned variants
#include "path/pass_tuned.h"

#include "base/text.h"
#include "base/vectors.h"
#include "path/pass_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the key ----

// Appends a filter, after a "+" unless it is the pass's first one.
static void append_filter(char text[PASS_KEY], const struct stage *stage)
{
    text_append(text, PASS_KEY, "%s%s", text[strlen(text) - 1] == '>' ? "" : "+", stage->filter->name);
}

static void append_turns(char text[PASS_KEY], bool mirror, bool flip)
{
    if (mirror)
        text_append(text, PASS_KEY, ":mirror");
    if (flip)
        text_append(text, PASS_KEY, ":flip");
}

void pass_key_print(const struct pass *pass, const struct pass_target *target, char text[PASS_KEY])
{
    text[0] = '\0';
    text_append(text, PASS_KEY, "%s", pass->reads == PASS_GREY ? "channel" : pixfmt_info(target->format)->name);
    append_turns(text, pass->load_mirror, pass->load_flip);
    text_append(text, PASS_KEY, ">");
    for (int i = 0; i < pass->before_count; i++)
        append_filter(text, pass->before[i]);
    if (pass->stencil) {
        append_filter(text, pass->stencil);
        text_append(text, PASS_KEY, "%d%s", pass->stencil->arguments.radius, pass->equal_channels ? ":grey" : "");
    }
    if (pass->warp)
        append_filter(text, pass->warp);
    for (int i = 0; i < pass->after_count; i++)
        append_filter(text, pass->after[i]);
    if (target->to_image)
        text_append(text, PASS_KEY, ">image");
    else
        text_append(text, PASS_KEY, pass->writes == PASS_GREY ? ">channel" : ">buffer");
    append_turns(text, pass->store_mirror, pass->store_flip);
}

// Writes the compute capability of an NVIDIA device, the vector instructions of a CPU, or "" for any other device.
static void print_architecture(const struct device_info *device, char *text, size_t size)
{
    text[0] = '\0';
    if (device->nv_arch > 0)
        snprintf(text, size, "sm_%d", device->nv_arch);
    else if (device->type & DEVICE_CPU)
        snprintf(text, size, "%s", vectors_name(vectors_level()));
}

void pass_key_device(struct pass_key *key, const struct device_info *device)
{
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

void pass_key_make(struct pass_key *key, const struct variant_pass *of, int width, int height)
{
    pass_key_print(of->pass, of->target, key->pass);
    tuned_size(width, height, key->size);
    pass_key_device(key, of->device);
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
    for (int i = 0; i < TUNED_TRIED && tuned_next(device->tuned, &key.key, &next); i++) {
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
    for (int i = 0; i < TUNED_TRIED && count < most && tuned_next(device->tuned, &key.key, &next); i++) {
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

// ---- text without comments ----

static void join_lines(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        const bool ends_line = at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'));
        if (ends_line)
            at += at[1] == '\r' ? 3 : 2;
        else
            *to++ = *at++;
    }
    *to = '\0';
}

// Returns the length of the comment at the beginning of a text; 0: there is none. A line comment ends before the
// newline.
static size_t comment_length(const char *text)
{
    if (strncmp(text, "//", 2) == 0)
        return strcspn(text, "\n");
    if (strncmp(text, "/*", 2) != 0)
        return 0;
    const char *end = strstr(text + 2, "*/");
    return end ? (size_t)(end + 2 - text) : strlen(text);
}

// Returns the length of the string or character literal at the beginning of a text; 0: there is none. A literal
// without an end ends before the newline.
static size_t literal_length(const char *text)
{
    size_t length = 1;
    if (*text != '"' && *text != '\'')
        return 0;
    while (text[length] && text[length] != '\n' && text[length] != *text)
        length += text[length] == '\\' && text[length + 1] ? 2 : 1;
    return length + (text[length] == *text ? 1 : 0);
}

// Newlines around directives remain, because they end them. Other newlines are white space.
void source_strip(char *text)
{
    char *to = text;
    bool gap = false, line_starts = true, directive = false;
    join_lines(text);
    for (const char *at = text; *at;) {
        const size_t comment = comment_length(at), literal = literal_length(at), length = literal > 0 ? literal : 1;
        if (comment > 0 || strchr(" \t\r\v\f\n", *at)) {
            if (*at == '\n') {
                line_starts = true;
                if (directive)
                    *to++ = '\n';
                directive = false;
            }
            gap = true;
            at += comment > 0 ? comment : 1;
            continue;
        }
        if (line_starts && strncmp(at, "#line ", 6) == 0) {
            at += strcspn(at, "\n");
            continue;
        }
        if (line_starts && *at == '#') {
            directive = true;
            if (to > text && to[-1] != '\n')
                *to++ = '\n';
        }
        line_starts = false;
        if (gap && to > text && to[-1] != '\n')
            *to++ = ' ';
        gap = false;
        memmove(to, at, length);
        to += length;
        at += length;
    }
    *to = '\0';
}
