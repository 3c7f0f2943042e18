// tasks.c: the tasks of a batch: each input of the shard with its output
#include "batch/tasks.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { SHARDS_MAX = 1000000 };

// Parses digits up to the character `end`. Returns -1 for any other text.
static long parse_count(const char *text, char end)
{
    char *rest;
    const long value = *text >= '0' && *text <= '9' ? strtol(text, &rest, 10) : -1;
    return value >= 0 && value <= SHARDS_MAX && *rest == end ? value : -1;
}

// Takes the index from the environment variables of a cluster.
static bool find_index(struct shard *shard)
{
    static const char *const variables[] = {"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"};
    const char *least = getenv("SLURM_ARRAY_TASK_MIN"), *most = getenv("SLURM_ARRAY_TASK_MAX");
    const long range = least && most ? parse_count(most, '\0') - parse_count(least, '\0') + 1 : 0;
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        const char *text = getenv(variables[i]);
        const long id = text ? parse_count(text, '\0') : -1;
        if (text && id < 0) {
            log_error("%s is '%s', but must be a whole number for --shard %d", variables[i], text, shard->count);
            return false;
        }
        if (id < 0)
            continue;
        if (i == 0 && range > shard->count) { // the range also counts the tasks that an array with a step leaves out
            log_error(
                "the array has tasks %s to %s, but --shard makes %d parts: two tasks would process the same part; "
                "number the tasks in steps of 1",
                least, most, shard->count);
            return false;
        }
        shard->index = (int)(id % shard->count);
        return true;
    }
    log_error(
        "--shard %d does not say which part; use --shard K/%d, or set SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX",
        shard->count, shard->count);
    return false;
}

bool shard_parse(struct shard *shard, const char *text)
{
    const char *slash = strchr(text, '/');
    const long count = parse_count(slash ? slash + 1 : text, '\0');
    const long number = slash ? parse_count(text, '/') : 1;
    if (count < 1 || number < 1 || number > count) {
        log_error("--shard is '%s', but must be K/N with K from 1 to N, or N in a task of a cluster", text);
        return false;
    }
    *shard = (struct shard){(int)(number % count), (int)count};
    return slash || find_index(shard);
}

// Returns true if the shard has the file. Hashes the name (XXH3, 64 bits, modulo the count), so a new file moves no
// other file to another shard.
static bool shard_has(const struct shard *shard, const char *relative)
{
    return hash_64(relative, strlen(relative)) % (uint64_t)shard->count == (uint64_t)shard->index;
}

static void mark_clash(struct task *task, const char *rival)
{
    if (task->fault == FAULT_NONE) {
        task->fault = FAULT_CLASH;
        task->rival = rival;
    }
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

struct earlier_output {
    const char *output;
    char *input;
};

void earlier_add(struct earlier *earlier, const struct task *task)
{
    struct earlier_output *row = table_row(&earlier->outputs, task->output, sizeof(*row));
    if (!row->input)
        row->input = xstrdup(task->input->path);
}

struct late_input {
    const char *input;
    char *file; // NULL: the input no longer waits
    struct stat seen;
};

void earlier_wait(struct earlier *earlier, const struct task *task, const char *file)
{
    struct late_input *row = table_row(&earlier->late, task->input->path, sizeof(*row));
    if (!row->file)
        earlier->waiting++;
    free(row->file);
    row->file = xstrdup(file);
    log_warn("%s waits for the file %s, which is missing", task->input->path, file);
}

const char *earlier_ready(struct earlier *earlier)
{
    for (size_t i = 0; i < earlier->late.count; i++) {
        struct late_input *row = earlier->late.row[i];
        struct stat now;
        if (!row->file || stat(row->file, &now) != 0)
            continue;
        const bool whole = !is_newer(&now, &row->seen) && now.st_size == row->seen.st_size;
        row->seen = now;
        if (!whole)
            continue;
        free(row->file);
        row->file = NULL;
        earlier->waiting--;
        return row->input;
    }
    return NULL;
}

void earlier_free(struct earlier *earlier)
{
    for (size_t i = 0; i < earlier->late.count; i++)
        free(((struct late_input *)earlier->late.row[i])->file);
    table_free(&earlier->late);
    for (size_t i = 0; i < earlier->outputs.count; i++)
        free(((struct earlier_output *)earlier->outputs.row[i])->input);
    table_free(&earlier->outputs);
}

// Marks the task if another input made its output in an earlier round.
static void mark_earlier(const struct earlier *earlier, struct task *task)
{
    const struct earlier_output *row = table_find(&earlier->outputs, task->output);
    if (row && strcmp(row->input, task->input->path) != 0)
        mark_clash(task, row->input);
}

// Fills one row per input.
static void name_outputs(struct task *rows, const struct inputs *inputs, const struct naming *naming,
                         struct earlier *earlier)
{
    struct named {
        const char *output;
        struct task *first;
    } * named;
    struct key_table names = {0};
    for (size_t i = 0; i < inputs->count; i++) {
        const struct input *input = &inputs->row[i];
        rows[i] = (struct task){.input = input, .fault = input->fault};
        earlier->inputs++; // also a file with a fault has a number: others keep theirs if it is repaired
        if (input->fault != FAULT_NONE)
            continue;
        rows[i].output = naming_output(naming, input->relative, earlier->inputs);
        named = table_row(&names, rows[i].output, sizeof(*named));
        if (named->first) {
            mark_clash(&rows[i], named->first->input->path);
            mark_clash(named->first, input->path);
        } else {
            named->first = &rows[i];
            mark_earlier(earlier, &rows[i]);
        }
    }
    table_free(&names);
}

// Finds the task's output directory, and adds it if it is new.
static void find_directory(struct tasks *tasks, struct task *task)
{
    char *path = xstrndup(task->output, (size_t)(file_base(task->output) - task->output));
    struct directory *row = table_row(&tasks->directories, path, sizeof(*row));
    size_t length = 0;
    if (!row->nearest) {
        row->error = output_possible(task->output, &length) ? 0 : errno;
        row->nearest = length > 0 ? xstrndup(path, length) : xstrdup(".");
    }
    free(path);
    task->directory = row;
}

static void find_directories(struct tasks *tasks)
{
    for (size_t i = 0; i < tasks->count; i++) {
        if (tasks->row[i].output)
            find_directory(tasks, &tasks->row[i]);
    }
}

static int compare_sources(const void *a, const void *b)
{
    const struct file_id *one = a, *other = b;
    if (one->device != other->device)
        return one->device < other->device ? -1 : 1;
    return one->inode < other->inode ? -1 : one->inode > other->inode;
}

static void add_source(struct tasks *tasks, const char *path)
{
    const struct file_id id = file_id(path);
    if (id.inode == 0)
        return;
    tasks->source = xgrow(tasks->source, tasks->sources, sizeof(id));
    tasks->source[tasks->sources++] = id;
}

static void find_sources(struct tasks *tasks, const struct inputs *inputs, const struct chain *chain)
{
    for (size_t i = 0; i < inputs->count; i++)
        add_source(tasks, inputs->row[i].path);
    for (int k = 0; k < chain->count; k++) {
        const char *file = chain_file(chain, k);
        const bool varies = file && filter_file_varies(&chain->stage[k].values);
        if (file && !varies)
            add_source(tasks, file);
        for (size_t i = 0; varies && i < inputs->count; i++) {
            char *own = naming_file(file, inputs->row[i].relative);
            add_source(tasks, own);
            free(own);
        }
    }
    if (tasks->sources > 0)
        qsort(tasks->source, tasks->sources, sizeof(*tasks->source), compare_sources);
}

void tasks_make(struct tasks *tasks, const struct inputs *inputs, const struct naming *naming,
                const struct chain *chain, const struct shard *shard, enum existing_rule existing, const char *job,
                struct earlier *earlier)
{
    const bool replaces = existing == EXISTING_OVERWRITE || existing == EXISTING_SKIP_NEWER;
    *tasks = (struct tasks){.existing = existing, .chain = chain, .job = job};
    tasks->row = xcalloc(inputs->count + 1, sizeof(*tasks->row));
    name_outputs(tasks->row, inputs, naming, earlier);
    for (size_t i = 0; i < inputs->count; i++) {
        if (shard_has(shard, inputs->row[i].relative))
            tasks->row[tasks->count++] = tasks->row[i];
        else
            free(tasks->row[i].output);
    }
    find_directories(tasks);
    if (replaces)
        find_sources(tasks, inputs, chain);
}

void tasks_free(struct tasks *tasks)
{
    for (size_t i = 0; i < tasks->count; i++)
        free(tasks->row[i].output);
    for (size_t i = 0; i < tasks->directories.count; i++)
        free(((struct directory *)tasks->directories.row[i])->nearest);
    free(tasks->row);
    table_free(&tasks->directories);
    free(tasks->source);
    table_free(&tasks->logged);
    *tasks = (struct tasks){0};
}

uint64_t tasks_hash(const struct tasks *tasks)
{
    uint64_t sum = 0; // a sum does not depend on the order of the files
    for (size_t i = 0; i < tasks->count; i++) {
        const char *input = tasks->row[i].input->path, *output = tasks->row[i].output;
        sum += hash_64(input, strlen(input)) * 3 + (output ? hash_64(output, strlen(output)) : 0);
    }
    return sum;
}

void tasks_clean(const struct tasks *tasks)
{
    for (size_t i = 0; i < tasks->directories.count; i++)
        output_clean_directory(((const struct directory *)tasks->directories.row[i])->path);
}

static bool is_source(const struct tasks *tasks, const struct stat *status)
{
    const struct file_id id = {status->st_dev, status->st_ino};
    return tasks->sources > 0 && bsearch(&id, tasks->source, tasks->sources, sizeof(id), compare_sources);
}

// Returns the permissions of an output: the owner reads and writes; the group and others get no more rights than for
// the file `like`.
static mode_t rights_like(mode_t like)
{
    return (like & 0066) | 0600;
}

// Decides about an output that exists already, as task_open.
static bool existing_allows(const struct tasks *tasks, const struct stat *input, const struct output_mark *mark,
                            struct outcome *outcome)
{
    const enum existing_rule rule = tasks->existing;
    const char *path = outcome->task->output;
    struct stat status;
    outcome->mode = rights_like(input->st_mode);
    outcome->group = input->st_gid;
    if (lstat(path, &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return true;
        return task_fail_writing(outcome, errno);
    }
    if (!S_ISREG(status.st_mode))
        return outcome_fail(outcome, FAULT_EXISTS, "%s exists and is not a regular file", path);
    if (rule == EXISTING_SKIP)
        return outcome_skip(outcome, "the output exists");
    if ((rule == EXISTING_REFUSE || rule == EXISTING_SKIP_NEWER) && output_is_made(path, mark))
        return outcome_skip(outcome, "already done");
    // Replaces an output of another job.
    if (rule == EXISTING_SKIP_NEWER && !is_newer(input, &status) && !output_is_made(path, NULL))
        return outcome_skip(outcome, "the output is newer");
    if (is_source(tasks, &status) || (status.st_dev == input->st_dev && status.st_ino == input->st_ino))
        return outcome_fail(
            outcome, FAULT_SOURCE,
            "the output %s is also an input, or a filter reads it; name another directory for the outputs", path);
    if (rule == EXISTING_REFUSE)
        return outcome_fail(outcome, FAULT_EXISTS,
                            "%s exists; add --overwrite to replace it or --skip-existing to skip it", path);
    outcome->replace = true;
    outcome->mode &= rights_like(status.st_mode);
    return true;
}

// Makes the mark from the job, the input, and the size and time of each file that the filters read for this input.
// Returns false, with the outcome, if the input's own file is missing.
static bool make_mark(const struct tasks *tasks, const struct stat *input, struct outcome *outcome,
                      struct output_mark *mark)
{
    const char *relative = outcome->task->input->relative;
    char *job = xstrdup(tasks->job);
    bool ok = true;
    for (int i = 0; ok && i < tasks->chain->count; i++) {
        const struct stage *stage = &tasks->chain->stage[i];
        const bool varies = filter_file_varies(&stage->values);
        const char *file = chain_file(tasks->chain, i);
        struct stat status = {0};
        if (!file)
            continue;
        char *name = varies ? naming_file(file, relative) : xstrdup(file);
        const bool missing = stat(name, &status) != 0 && varies;
        if (missing && tasks->waits && errno == ENOENT) {
            ok = outcome_skip(outcome, name);
            outcome->fault = FAULT_MISSING;
        } else if (missing)
            ok = outcome_fail(outcome, fault_of_reading(errno), "%s: cannot use the file '%s': %s", stage->filter->name,
                              name, strerror(errno));
        char *more = xprintf("%s\n%lld %lld.%09ld", job, (long long)status.st_size, (long long)status.st_mtim.tv_sec,
                             status.st_mtim.tv_nsec);
        free(job);
        free(name);
        job = more;
    }
    *mark = output_mark_make(job, relative, input);
    free(job);
    return ok;
}

bool task_open(const struct tasks *tasks, struct outcome *outcome, struct task_file *file)
{
    const struct task *task = outcome->task;
    struct stat status;
    *file = (struct task_file){.fd = -1};
    if (task->fault == FAULT_CLASH)
        return outcome_fail(outcome, FAULT_CLASH,
                            "%s has the same output %s; use a template such as -o 'DIR/{stem}-{%s}{ext}'", task->rival,
                            task->output,
                            strcmp(name_extension(task->rival), name_extension(task->input->path)) ? "type" : "n");
    if (task->fault == FAULT_UNSUPPORTED)
        return outcome_fail(outcome, FAULT_UNSUPPORTED,
                            "this format needs a build of monocle with %s; convert the file to PNG or JPEG first",
                            name_missing_library(task->input->path));
    if (task->fault != FAULT_NONE)
        return outcome_fail(outcome, task->fault, "%s", strerror(task->input->error));
    // O_NONBLOCK: a pipe without a writer opens at once.
    file->fd = open(task->input->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file->fd < 0 || fstat(file->fd, &status) != 0)
        return outcome_fail(outcome, fault_of_reading(errno), "%s", strerror(errno));
    if (!S_ISREG(status.st_mode))
        return outcome_fail(outcome, FAULT_READ,
                            S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file");
    file->bytes = (size_t)status.st_size;
    if (!make_mark(tasks, &status, outcome, &file->mark) || !existing_allows(tasks, &status, &file->mark, outcome))
        return false;
    const int error = task->directory->error;
    return error == 0 || task_fail_directory(outcome, error);
}

bool task_fail_writing(struct outcome *outcome, int error)
{
    const char *path = outcome->task->output;
    if (error == EEXIST)
        return outcome_fail(outcome, FAULT_EXISTS, "another program created %s during the run", path);
    return outcome_fail(outcome, fault_of_writing(error), "cannot write %s: %s", path, strerror(error));
}

bool task_fail_directory(struct outcome *outcome, int error)
{
    struct directory *directory = outcome->task->directory;
    directory->error = error;
    outcome->of_directory = true;
    return outcome_fail(outcome, fault_of_writing(error), "cannot write to %s: %s", directory->nearest,
                        strerror(error));
}

void tasks_log(struct tasks *tasks, const struct outcome *outcome)
{
    const struct directory *directory = outcome->of_directory ? outcome->task->directory : NULL;
    char name[PATH_MAX], why[FAULT_WHY]; // escaped: without newlines
    const size_t logged = tasks->logged.count;
    if (directory && table_row(&tasks->logged, directory->nearest, sizeof(char *)) && tasks->logged.count == logged)
        return;
    log_escape(name, sizeof(name), directory ? directory->nearest : outcome->task->input->path);
    log_escape(why, sizeof(why), outcome->why);
    if (directory)
        log_error("cannot write to %s: %s; every file with its output there fails", name, strerror(directory->error));
    else if (outcome->fault == FAULT_FULL)
        log_error("%s: %s; the run stops: free some space and run the same command again", name, why);
    else if (outcome->status == STATUS_FAILED)
        log_error("%s: %s", name, why);
    else if (outcome->status == STATUS_SKIPPED)
        log_info("%s: skipped: %s", name, why);
    else if (why[0])
        log_warn("%s: %s", name, why);
}
