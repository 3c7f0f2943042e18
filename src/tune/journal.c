// journal.c: the log of the configurations that a run has tried, with which --resume continues the run
#include "tune/journal.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/file.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { JOURNAL_BYTES = 64 << 20, KEPT_S = 30 * 24 * 3600 };
static const char extension[] = ".trials";

static const char *const status_names[] = {
    [PROBE_PASSED - PROBE_ANSWERS] = "passed",
    [PROBE_WRONG - PROBE_ANSWERS] = "wrong",
    [PROBE_NOT_BUILT - PROBE_ANSWERS] = "not-built",
    [PROBE_NOT_RUN - PROBE_ANSWERS] = "not-run",
    [PROBE_NOT_OPENED - PROBE_ANSWERS] = "not-opened",
    [PROBE_UNKNOWN - PROBE_ANSWERS] = "unknown",
    [PROBE_LATE - PROBE_ANSWERS] = "late",
};
enum { STATUSES = sizeof(status_names) / sizeof(*status_names) };

struct journal {
    const struct subject *subject;
    char name[JOURNAL_NAME], path[PATH_MAX + JOURNAL_NAME]; // for messages
    int file;
    bool failed; // adds no more
    struct tuner_trial *trial;
    int trials;
    double spent_s;
};

// ---- a line ----

static json_t *values_json(const struct space *space, int configuration)
{
    const uint16_t *tuple = space_tuple(space, configuration);
    json_t *values = json_object();
    for (int p = 0; p < space->params; p++)
        json_object_set_new(values, space->param[p].name, json_string(space->param[p].value[tuple[p]]));
    return values;
}

// Returns the configuration with these values; -1: the space does not have it.
static int find_values(const struct space *space, const json_t *values)
{
    uint16_t tuple[SPACE_PARAMS];
    if (json_object_size(values) != (size_t)space->params)
        return -1;
    for (int p = 0; p < space->params; p++) {
        const char *text = json_string_value(json_object_get(values, space->param[p].name));
        const int value = text ? space_find_value(space, p, text) : -1;
        if (value < 0)
            return -1;
        tuple[p] = (uint16_t)value;
    }
    return space_find(space, tuple);
}

static bool read_time(const json_t *value, double *time)
{
    static const double most = 1e9; // so that it has less than 2^63 ns
    *time = json_number_value(value);
    return json_is_number(value) && *time >= 0 && *time <= most;
}

// Reads the members that describe the result.
static bool read_result(const json_t *row, struct tuner_trial *trial, double *spent_s)
{
    const char *status = json_string_value(json_object_get(row, "status"));
    const char *why = json_string_value(json_object_get(row, "why"));
    const json_t *ms = json_object_get(row, "ms");
    int s = 0;
    while (s < STATUSES && status && strcmp(status_names[s], status) != 0)
        s++;
    bool ok = status && s < STATUSES && why && read_time(json_object_get(row, "validate_ms"), &trial->validate_ms) &&
              read_time(json_object_get(row, "build_ms"), &trial->build_ms) &&
              read_time(json_object_get(row, "spent_s"), spent_s);
    if (!ok)
        return false;
    trial->status = (enum probe_status)(PROBE_ANSWERS + s);
    trial->ms = INFINITY;
    snprintf(trial->why, sizeof(trial->why), "%s", why);
    if (trial->status != PROBE_PASSED)
        return true;
    for (size_t i = 0; ok && i < TUNER_RUNS; i++)
        ok = read_time(json_array_get(ms, i), &trial->run_ms[i]) && trial->run_ms[i] > 0;
    if (ok)
        trial->ms = tuner_median(trial->run_ms);
    return ok && json_array_size(ms) == TUNER_RUNS;
}

enum journal_line journal_parse(const struct subject *subject, const char *line, size_t size, struct tuner_trial *trial,
                                double *spent_s)
{
    char source[HASH_TEXT];
    json_t *row = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *values = json_object_get(row, "configuration");
    const char *text = json_string_value(json_object_get(row, "source"));
    *trial = (struct tuner_trial){.configuration = -1};
    enum journal_line kind = JOURNAL_DAMAGED;
    if (text && json_is_object(values) && read_result(row, trial, spent_s)) {
        trial->configuration = find_values(&subject->space, values);
        const bool same = trial->configuration >= 0 && subject->type->source(subject, trial->configuration, source) &&
                          strcmp(source, text) == 0;
        kind = same ? JOURNAL_TRIAL : JOURNAL_OTHER;
    }
    json_decref(row);
    return kind;
}

// Returns the line with its newline; the caller frees it. NULL: the program text cannot be made.
static char *print_line(const struct subject *subject, const struct tuner_trial *trial, double spent_s, size_t *size)
{
    char source[HASH_TEXT], why[4 * VERDICT_TEXT], *text = NULL;
    json_t *ms = json_array();
    log_escape(why, sizeof(why), trial->why); // a driver's text may not be UTF-8
    for (int i = 0; i < TUNER_RUNS && !isinf(trial->ms); i++)
        json_array_append_new(ms, json_real(trial->run_ms[i]));
    const bool has_source = subject->type->source(subject, trial->configuration, source);
    json_t *row =
        json_pack("{s:s,s:s,s:o,s:s,s:o,s:f,s:f,s:s,s:f}", "name", subject->name, "source", has_source ? source : "",
                  "configuration", values_json(&subject->space, trial->configuration), "status",
                  status_names[trial->status - PROBE_ANSWERS], "ms", ms, "validate_ms", trial->validate_ms, "build_ms",
                  trial->build_ms, "why", why, "spent_s", spent_s);
    if (row && has_source) {
        FILE *out = xmemstream(&text, size);
        json_dumpf(row, out, JSON_COMPACT);
        fputc('\n', out);
        xmemclose(out);
    }
    json_decref(row);
    return text;
}

// ---- reading ----

static void add_trial(struct journal *journal, const struct tuner_trial *trial)
{
    for (int i = 0; i < journal->trials; i++) {
        if (journal->trial[i].configuration == trial->configuration) {
            journal->trial[i] = *trial;
            return;
        }
    }
    journal->trial = xgrow(journal->trial, (size_t)journal->trials, sizeof(*trial));
    journal->trial[journal->trials++] = *trial;
}

// Reads the results of the file. *torn: its last line has no newline.
static bool read_trials(struct journal *journal, bool *torn)
{
    size_t size, number = 0, damaged = 0, first = 0;
    char *text = file_read_all(journal->file, JOURNAL_BYTES, &size);
    if (!text)
        return false;
    *torn = size > 0 && text[size - 1] != '\n';
    for (char *line = text, *end; line < text + size; line = end + 1) {
        struct tuner_trial trial;
        double spent_s;
        end = memchr(line, '\n', (size_t)(text + size - line));
        if (!end)
            end = text + size;
        number++;
        const enum journal_line kind = journal_parse(journal->subject, line, (size_t)(end - line), &trial, &spent_s);
        if (kind == JOURNAL_DAMAGED && end > line && damaged++ == 0)
            first = number;
        if (kind != JOURNAL_TRIAL)
            continue;
        add_trial(journal, &trial);
        journal->spent_s = fmax(journal->spent_s, spent_s);
    }
    free(text);
    if (damaged > 0)
        log_warn("%s:%zu is not used: the line is damaged%s; its configuration is measured again", journal->path, first,
                 damaged > 1 ? ", and so are later lines" : "");
    return true;
}

// ---- opening ----

// Returns the reason why a file is not used; NULL if it is.
static const char *why_refused(int file)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode))
        return "it is not a regular file";
    const char *unsafe = cache_unsafe(&status);
    if (!unsafe && flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return "another run uses it";
    return unsafe;
}

// Removes the logs that no run has written to for a long time, except this journal's. The run that made them failed or
// was killed, so it did not remove them.
static void remove_old(const struct journal *journal, int directory)
{
    const int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = copy >= 0 ? fdopendir(copy) : NULL;
    const time_t now = time(NULL);
    struct stat status;
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        const char *name = entry->d_name, *end = strrchr(name, '.');
        if (end && strcmp(end, extension) == 0 && strcmp(name, journal->name) != 0 &&
            fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mtime < now - KEPT_S)
            unlinkat(directory, name, 0);
    }
    if (entries)
        closedir(entries);
    else if (copy >= 0)
        close(copy);
}

// Opens the file. Returns the reason of a failure, otherwise NULL.
static const char *open_file(struct journal *journal, bool resume)
{
    char place[PATH_MAX] = "";
    const char *unsafe;
    bool torn = false;
    const int directory = cache_open(place, &unsafe);
    snprintf(journal->path, sizeof(journal->path), "%s/%s", place, journal->name);
    if (directory < 0)
        return unsafe ? unsafe : "the cache directory cannot be opened";
    remove_old(journal, directory);
    journal->file =
        openat(directory, journal->name, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    const int saved = errno;
    close(directory);
    if (journal->file < 0)
        return strerror(saved);
    const char *why = why_refused(journal->file);
    if (why)
        return why;
    if (resume ? !read_trials(journal, &torn) : ftruncate(journal->file, 0) != 0)
        return strerror(errno);
    return torn && !file_write_all(journal->file, "\n", 1) ? strerror(errno) : NULL;
}

struct journal *journal_open(const struct subject *subject, bool resume)
{
    char *key = subject->type->key ? subject->type->key(subject) : NULL, hash[HASH_TEXT];
    if (!key)
        return NULL;
    struct journal *journal = xalloc(sizeof(*journal));
    hash_128_text(key, strlen(key), hash);
    free(key);
    journal->subject = subject;
    journal->file = -1;
    snprintf(journal->name, sizeof(journal->name), "%s%s", hash, extension);
    const char *why = open_file(journal, resume);
    if (!why)
        return journal;
    log_message(resume ? LOG_WARN : LOG_INFO, "the log of pass %s, %s, cannot be used: %s; this run cannot be resumed",
                subject->name, journal->path, why);
    journal_close(journal);
    return NULL;
}

void journal_close(struct journal *journal)
{
    if (!journal)
        return;
    if (journal->file >= 0)
        close(journal->file); // and unlocks it
    free(journal->trial);
    free(journal);
}

void journal_name(const struct journal *journal, char name[JOURNAL_NAME])
{
    memcpy(name, journal->name, sizeof(journal->name));
}

void journal_remove(const char *name)
{
    char place[PATH_MAX];
    const char *unsafe;
    const int directory = cache_open(place, &unsafe);
    if (directory < 0)
        return;
    unlinkat(directory, name, 0);
    close(directory);
}

// ---- using ----

int journal_trials(const struct journal *journal, const struct tuner_trial **trials, double *spent_s)
{
    *trials = journal ? journal->trial : NULL;
    *spent_s = journal ? journal->spent_s : 0;
    return journal ? journal->trials : 0;
}

void journal_add(struct journal *journal, const struct tuner_trial *trial, double spent_s)
{
    size_t size;
    if (!journal || journal->failed)
        return;
    char *line = print_line(journal->subject, trial, spent_s, &size);
    errno = ENOMEM;
    journal->failed = !line || !file_write_all(journal->file, line, size);
    if (journal->failed)
        log_warn("cannot write %s: %s; this run cannot be resumed from here", journal->path, strerror(errno));
    free(line);
}
