// lists.c: the options that are lists, taken apart
#include "command/bench/bench.h"

#include "base/log.h"
#include "command/device_option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_BYTES = 64, THREADS_MAX = 256 };

static bool take_size(struct bench_wish *wish, const char *item)
{
    if (options_parse_size(item, &wish->size[wish->sizes++]))
        return true;
    log_error("--sizes is '%s', but must be WIDTHxHEIGHT, such as 1920x1080", item);
    return false;
}

static bool take_format(struct bench_wish *wish, const char *item)
{
    if (pixfmt_from_name(item, &wish->format[wish->formats++]))
        return true;
    const char *names[PIXFMT_COUNT + 1] = {NULL};
    for (int i = 0; i < PIXFMT_COUNT; i++)
        names[i] = pixfmt_info((enum pixfmt)i)->name;
    const char *nearest = options_nearest(item, names);
    if (nearest)
        log_error("--formats: there is no pixel format '%s'; did you mean %s?", item, nearest);
    else
        log_error("--formats: there is no pixel format '%s'; use a format such as rgba, nv21 or yuyv", item);
    return false;
}

static bool take_path(struct bench_wish *wish, const char *item)
{
    const char *names[PATH_KINDS + 1] = {NULL};
    for (int i = 0; i < PATH_KINDS; i++) {
        names[i] = path_kind_name((enum path_kind)i);
        if (strcmp(item, names[i]) == 0) {
            wish->path[wish->paths++] = (enum path_kind)i;
            return true;
        }
    }
    const char *nearest = options_nearest(item, names);
    if (nearest)
        log_error("--path: there is no path '%s'; did you mean %s?", item, nearest);
    else
        log_error("--path: there is no path '%s'; the paths are %s", item, PATH_CHOICES);
    return false;
}

static bool take_threads(struct bench_wish *wish, const char *item)
{
    char *end;
    const long threads = strtol(item, &end, 10);
    if (*end || item[0] < '0' || item[0] > '9' || threads < 1 || threads > THREADS_MAX) {
        log_error("--threads is '%s', but must be between 1 and %d", item, THREADS_MAX);
        return false;
    }
    wish->thread[wish->threads++] = (int)threads;
    return true;
}

static bool take_items(struct bench_wish *wish, const char *option, const char *text,
                       bool (*take)(struct bench_wish *wish, const char *item))
{
    int items = 0;
    for (const char *at = text; at; items++) {
        const size_t length = strcspn(at, ",");
        char item[ITEM_BYTES];
        if (items == BENCH_LIST || length >= sizeof(item)) {
            log_error("--%s: '%s' is too long; give at most %d items", option, text, BENCH_LIST);
            return false;
        }
        snprintf(item, sizeof(item), "%.*s", (int)length, at);
        if (!take(wish, item))
            return false;
        at = at[length] ? at + length + 1 : NULL;
    }
    return true;
}

bool bench_add_chain(struct bench_wish *wish, const char *text)
{
    char error[CHAIN_ERROR];
    if (wish->chains == BENCH_CHAINS) {
        log_error("--filter: there are more than %d chains; measure them in several runs", BENCH_CHAINS);
        return false;
    }
    struct bench_chain *added = &wish->chain[wish->chains++];
    added->text = text;
    if (chain_parse(&added->chain, text, error))
        return true;
    log_error("--filter: %s", error);
    return false;
}

static bool take_chains(struct bench_wish *wish, const struct option_texts *texts)
{
    for (int i = 0; i < texts->count; i++) {
        if (strcmp(texts->text[i], "all") != 0) {
            if (!bench_add_chain(wish, texts->text[i]))
                return false;
            continue;
        }
        for (int k = 0; filters[k]; k++) {
            if (!bench_add_chain(wish, filters[k]->name))
                return false;
        }
    }
    return true;
}

bool bench_parse_lists(struct bench_wish *wish, const struct bench_options *options)
{
    const struct {
        const char *option, *text;
        bool (*take)(struct bench_wish *wish, const char *item);
    } lists[] = {
        {"sizes", options->sizes, take_size},
        {"formats", options->formats, take_format},
        {"path", options->paths, take_path},
        {"threads", options->threads, take_threads},
    };
    wish->options = options;
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        if (lists[i].text && !take_items(wish, lists[i].option, lists[i].text, lists[i].take))
            return false;
    }
    if (wish->paths > 0 && !bench_needs_device(wish) && !device_option_unused(options->device))
        return false;
    return take_chains(wish, &options->filters);
}
