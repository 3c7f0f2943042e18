// merge.c: the reports of several runs as one
#include "command/batch/merge.h"

#include "base/log.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARDS_MAX = 1000000 };

// Exact bytes of a name, also where they are not UTF-8.
static const char *exact(const json_t *row, const char *name, char key[64])
{
    snprintf(key, 64, "%s_hex", name);
    const char *hex = json_string_value(json_object_get(row, key));
    const char *text = json_string_value(json_object_get(row, name));
    return hex ? hex : text ? text : "";
}

static bool find_status(const json_t *row, enum status *status)
{
    const char *text = json_string_value(json_object_get(row, "status"));
    for (int i = 0; text && i < STATUSES; i++) {
        if (strcmp(text, status_name((enum status)i)) == 0) {
            *status = (enum status)i;
            return true;
        }
    }
    return false;
}

static enum fault find_fault(const json_t *row)
{
    const char *text = json_string_value(json_object_get(row, "error"));
    for (int i = FAULT_NONE + 1; text && i < FAULTS; i++) {
        if (strcmp(text, fault_name((enum fault)i)) == 0)
            return (enum fault)i;
    }
    return FAULT_NONE;
}

static struct merge_row *add_row(struct merge *merge, char *key)
{
    if (merge->count == merge->room) {
        const size_t room = merge->room ? merge->room * 2 : 256;
        struct merge_row *larger = realloc(merge->row, room * sizeof(*larger));
        if (!larger)
            return NULL;
        merge->row = larger;
        merge->room = room;
    }
    struct merge_row *row = &merge->row[merge->count++];
    *row = (struct merge_row){.key = key};
    return row;
}

// A file's line. False where there is no memory.
static bool take_file(struct merge *merge, const json_t *json, const char *line, int shard)
{
    char member[64], *key, *copy;
    enum status status;
    if (!find_status(json, &status))
        return ++merge->torn;
    if (asprintf(&key, "%s\n%s", exact(json, "input", member), exact(json, "output", member)) < 0)
        return false;
    size_t index = merge->count;
    const enum name_result result = names_add(&merge->names, key, &index);
    struct merge_row *row = result == NAME_NEW ? add_row(merge, key) : result == NAME_KNOWN ? &merge->row[index] : NULL;
    if (result != NAME_NEW)
        free(key);
    if (!row)
        return false;
    if (row->line && row->status == STATUS_DONE && status == STATUS_DONE && row->shard != shard)
        merge->twice++;
    const enum fault fault = find_fault(json);
    if (row->line && row->status == STATUS_DONE && (status == STATUS_SKIPPED || fault == FAULT_EXISTS))
        return true;
    if (!(copy = strdup(line)))
        return false;
    free(row->line);
    row->line = copy;
    row->status = status;
    row->fault = fault;
    row->shard = shard;
    return true;
}

static void clear_shard(struct merge_shard *shard)
{
    free(shard->start);
    free(shard->end);
    *shard = (struct merge_shard){0};
}

// A run begins. Its shard; 0 where the line makes no sense, -1 where there is no memory.
static int take_start(struct merge *merge, const json_t *start, const char *line)
{
    const json_int_t shard = json_integer_value(json_object_get(start, "shard"));
    const json_int_t shards = json_integer_value(json_object_get(start, "shards"));
    if (shards < 1 || shards > SHARDS_MAX || shard < 1 || shard > shards)
        return 0;
    if (!merge->shard) {
        merge->shards = (int)shards;
        merge->shard = calloc((size_t)shards, sizeof(*merge->shard));
        if (!merge->shard)
            return -1;
    }
    merge->unlike = merge->unlike || merge->shards != shards;
    if (shard > merge->shards)
        return 0;
    struct merge_shard *taken = &merge->shard[shard - 1];
    clear_shard(taken);
    taken->files = (size_t)json_integer_value(json_object_get(start, "files"));
    taken->start = strdup(line);
    return taken->start ? (int)shard : -1;
}

static bool take_end(struct merge_shard *shard, const char *line)
{
    free(shard->end);
    return (shard->end = strdup(line));
}

// A report on its way.
struct source {
    int shard;  // of the run that its lines are in; 0 before any
    bool stray; // a file's line was in no run
    bool told;  // it was put together of others, and tells how many of those were without a start
};

static bool take_line(struct merge *merge, const char *line, size_t size, struct source *source)
{
    json_t *json = json_loadb(line, size, 0, NULL);
    const json_t *start = json_object_get(json, "start");
    bool ok = true;
    if (!json_is_object(json)) {
        merge->torn++;
    } else if (start) {
        source->shard = take_start(merge, start, line);
        ok = source->shard >= 0;
    } else if (json_object_get(json, "end")) {
        ok = source->shard == 0 || take_end(&merge->shard[source->shard - 1], line);
    } else if ((start = json_object_get(json, MERGE_UNSTARTED))) {
        merge->unstarted += (int)json_integer_value(start);
        source->told = true;
    } else {
        source->stray = source->stray || source->shard == 0;
        ok = take_file(merge, json, line, source->shard);
    }
    json_decref(json);
    return ok;
}

bool merge_add(struct merge *merge, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    struct source source = {0};
    bool ok = true;
    while (file && ok && (size = getline(&line, &room, file)) > 0) {
        if (line[size - 1] == '\n')
            line[--size] = '\0';
        ok = size == 0 || take_line(merge, line, (size_t)size, &source);
    }
    free(line);
    const bool read = file && !ferror(file);
    if (!read)
        log_error("cannot read the report %s: %s", path, strerror(errno));
    else if (!ok)
        log_error("there is not enough memory for the report %s", path);
    if (read && ok && !source.told && (source.stray || source.shard == 0)) {
        log_warn("%s does not begin with the start of a run: is it a whole report of a batch?", path);
        merge->unstarted++;
    }
    if (file && file != stdin)
        fclose(file);
    return read && ok;
}

static int by_shard_and_key(const void *a, const void *b)
{
    const struct merge_row *one = a, *other = b;
    return one->shard != other->shard ? one->shard - other->shard : strcmp(one->key, other->key);
}

void merge_sort(struct merge *merge)
{
    if (merge->count > 0)
        qsort(merge->row, merge->count, sizeof(*merge->row), by_shard_and_key);
}

void merge_free(struct merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        free(merge->row[i].key);
        free(merge->row[i].line);
    }
    for (int i = 0; i < merge->shards && merge->shard; i++)
        clear_shard(&merge->shard[i]);
    free(merge->row);
    free(merge->shard);
    names_free(&merge->names);
    *merge = (struct merge){0};
}
