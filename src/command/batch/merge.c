// merge.c: combines the reports of several runs and shards
#include "command/batch/merge.h"

#include "base/log.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHARDS_MAX = 1000000,
    LINE_MOST = 1 << 20, // longest line; two names as JSON and in hexadecimal and a message take at most 200 kB
    STRANGE_MOST = 1000, // limit of invalid lines in a row: the file is then not a report
};

// Returns the exact bytes of a name, in hexadecimal if they are not UTF-8.
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

// Adds the line of a file. Returns false if out of memory.
static bool take_file(struct merge *merge, const json_t *json, const char *line, size_t work)
{
    const int shard = work ? merge->work[work - 1].shard : 0;
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
    if (row->shard == shard)
        row->work = work;
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
    row->work = work;
    return true;
}

// Returns the number of a work, and adds it if it is new. Returns 0 if out of memory.
static size_t find_work(struct merge *merge, int shard, const char *text)
{
    char *key;
    if (asprintf(&key, "%d %s", shard, text) < 0)
        return 0;
    size_t index = merge->works;
    const enum name_result result = names_add(&merge->work_names, key, &index);
    struct merge_work *larger =
        result == NAME_NEW ? realloc(merge->work, (merge->works + 1) * sizeof(*larger)) : merge->work;
    if (result == NAME_NEW && larger) {
        merge->work = larger;
        merge->work[merge->works++] = (struct merge_work){.key = key, .shard = shard};
    } else {
        free(key);
    }
    return result != NAME_NO_MEMORY && larger ? index + 1 : 0;
}

// Handles the start line of a run. *work becomes the number of its work; 0 if the line is invalid. Returns false if out
// of memory.
static bool take_start(struct merge *merge, const json_t *start, const char *line, size_t *work)
{
    const char *text = json_string_value(json_object_get(start, "work"));
    const json_int_t shard = json_integer_value(json_object_get(start, "shard"));
    const json_int_t shards = json_integer_value(json_object_get(start, "shards"));
    const json_int_t files = json_integer_value(json_object_get(start, "files"));
    *work = 0;
    if (files < 0 || shards < 1 || shards > SHARDS_MAX || shard < 1 || shard > shards)
        return true;
    if (!merge->shard) {
        merge->shards = (int)shards;
        merge->shard = calloc((size_t)shards, sizeof(*merge->shard));
        if (!merge->shard)
            return false;
    }
    merge->unlike = merge->unlike || merge->shards != shards;
    if (shard > merge->shards)
        return true;
    *work = find_work(merge, (int)shard, text ? text : "");
    if (!*work)
        return false;
    struct merge_shard *taken = &merge->shard[shard - 1];
    free(taken->end);
    *taken = (struct merge_shard){.work = *work};
    struct merge_work *begun = &merge->work[*work - 1];
    free(begun->start);
    begun->files = (size_t)files;
    return (begun->start = strdup(line));
}

static bool take_end(struct merge_shard *shard, const char *line)
{
    free(shard->end);
    return (shard->end = strdup(line));
}

// The state of reading one report
struct source {
    size_t work; // number of the current run's work; 0 before the first run
    bool stray;  // the line of a file preceded the first run
    bool told;   // the report is a merged one, with its own count of reports without a start line
};

static bool take_line(struct merge *merge, const char *line, size_t size, struct source *source)
{
    json_t *json = json_loadb(line, size, 0, NULL);
    const json_t *start = json_object_get(json, "start");
    bool ok = true;
    if (!json_is_object(json)) {
        merge->torn++;
    } else if (start) {
        ok = take_start(merge, start, line, &source->work);
    } else if (json_object_get(json, "end")) {
        ok = source->work == 0 || take_end(&merge->shard[merge->work[source->work - 1].shard - 1], line);
    } else if ((start = json_object_get(json, MERGE_UNSTARTED))) {
        const json_int_t count = json_integer_value(start); // an invalid count means 1
        merge->unstarted += count > 0 && count < INT_MAX - merge->unstarted ? (int)count : 1;
        source->told = true;
    } else {
        source->stray = source->stray || source->work == 0;
        ok = take_file(merge, json, line, source->work);
    }
    json_decref(json);
    return ok;
}

// Reads the next line into `line`, with a NUL instead of the newline. `line` has room for LINE_MOST + 1 bytes; *size
// becomes its length. Returns 1, 0 at the end, or -1 if the line is too long.
static int read_line(FILE *file, char *line, size_t *size)
{
    int c;
    for (*size = 0; (c = getc_unlocked(file)) != EOF && c != '\n'; line[(*size)++] = (char)c) {
        if (*size == LINE_MOST)
            return -1;
    }
    line[*size] = '\0';
    return *size > 0 || c != EOF;
}

// Handles all lines of an open report. Returns false if out of memory, or if the file is not a report: *why then has
// the reason.
static bool take_lines(struct merge *merge, FILE *file, struct source *source, const char **why)
{
    char *line = malloc(LINE_MOST + 1);
    size_t size = 0;
    int got = 0, strange = 0;
    bool ok = line;
    while (ok && strange < STRANGE_MOST && (got = read_line(file, line, &size)) > 0) {
        const size_t torn = merge->torn;
        ok = size == 0 || take_line(merge, line, size, source);
        strange = size == 0 || merge->torn > torn ? strange + 1 : 0;
    }
    free(line);
    if (got < 0)
        *why = "it has a line of more than 1 MiB";
    else if (strange == STRANGE_MOST)
        *why = "1000 lines in a row are not lines of a report";
    return ok && !*why;
}

bool merge_add(struct merge *merge, const char *path)
{
    const bool standard = strcmp(path, "-") == 0;
    const char *spoken = standard ? "standard input" : path;
    FILE *file = standard ? stdin : fopen(path, "re");
    struct source source = {0};
    const char *why = NULL;
    const bool ok = file && take_lines(merge, file, &source, &why);
    const bool read = file && !ferror(file);
    if (!read)
        log_error("cannot read the report %s%s: %s", standard ? "on " : "", spoken,
                  standard && errno == EBADF ? "it is closed" : strerror(errno));
    else if (why)
        log_error("%s is not a report of a batch: %s", spoken, why);
    else if (!ok)
        log_error("cannot read the report %s: out of memory", path);
    if (read && ok && !merge->unlike && !source.told && (source.stray || source.work == 0)) {
        log_warn("%s does not begin with the start line of a run; is the report complete?", spoken);
        merge->unstarted++;
    }
    if (file && file != stdin)
        fclose(file);
    return read && ok;
}

static int by_shard_and_key(const void *a, const void *b)
{
    const struct merge_row *one = a, *other = b;
    if (one->shard != other->shard)
        return one->shard - other->shard;
    if (one->stale != other->stale)
        return other->stale - one->stale;
    return one->work != other->work ? (one->work < other->work ? -1 : 1) : strcmp(one->key, other->key);
}

void merge_sort(struct merge *merge)
{
    for (size_t i = 0; i < merge->works; i++)
        merge->work[i].told = 0;
    for (size_t i = 0; i < merge->count; i++) {
        struct merge_row *row = &merge->row[i];
        row->stale = row->shard > 0 && row->work != merge->shard[row->shard - 1].work;
        if (row->work > 0)
            merge->work[row->work - 1].told++;
    }
    if (merge->count > 0)
        qsort(merge->row, merge->count, sizeof(*merge->row), by_shard_and_key);
}

void merge_free(struct merge *merge)
{
    for (size_t i = 0; i < merge->count; i++) {
        free(merge->row[i].key);
        free(merge->row[i].line);
    }
    for (size_t i = 0; i < merge->works; i++) {
        free(merge->work[i].key);
        free(merge->work[i].start);
    }
    for (int i = 0; i < merge->shards && merge->shard; i++)
        free(merge->shard[i].end);
    free(merge->row);
    free(merge->work);
    free(merge->shard);
    names_free(&merge->names);
    names_free(&merge->work_names);
    *merge = (struct merge){0};
}
