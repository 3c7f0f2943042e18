// tasks.h: the tasks of a batch: each input of the shard with its output
#pragma once

#include "base/file.h"
#include "batch/inputs.h"
#include "batch/names.h"
#include "batch/outcome.h"
#include "filter/chain.h"

#include <stdatomic.h>

// A part of a batch. File names alone decide about it, so that machines need not communicate.
struct shard {
    int index, count; // 0 to count - 1; a count of 1 means all files
};

// Parses "K/N", with K from 1, or "N". For "N", the index is SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX modulo N:
// tasks may count from 0 or from 1, and a repeated task gets the same files. Returns false on failure (logged).
bool shard_parse(struct shard *shard, const char *text);

enum existing_rule {
    EXISTING_REFUSE,    // the task fails, or is skipped if an earlier run of the same job made the output
    EXISTING_OVERWRITE, // replace the output
    EXISTING_SKIP,      // skip the task
    // Skip the task if the same job made the output. Also skip it if the output is not older than the input, unless
    // another job made the output. Otherwise replace the output.
    EXISTING_SKIP_NEWER,
};

// A directory of outputs
struct directory {
    const char *path; // ends with a slash; "" is the working directory
    char *nearest;    // the directory or, if it is missing, its nearest existing parent; must be writable
    atomic_int error; // errno value of a failure to make a file there; 0: none so far
};

struct task {
    const struct input *input;
    char *output;
    struct directory *directory; // directory of the output; NULL: there is no output
    const char *rival;           // FAULT_CLASH: the path of another input that has the same output
    enum fault fault;
};

// The earlier rounds of --watch. Initialise with zeros.
struct earlier {
    struct key_table outputs; // their files, each with its input
    size_t inputs;
    struct key_table late;      // inputs that wait for a file of a filter
    size_t waiting;             // their number
    const char *const *watched; // directories, which must get no outputs
    int watches;
};

// Records which input made the task's output.
void earlier_add(struct earlier *earlier, const struct task *task);
// Records that the input waits for this file (logged).
void earlier_wait(struct earlier *earlier, const struct task *task, const char *file);
// Returns an input that need no longer wait, because its file has the time and size of the last call; NULL: none.
const char *earlier_ready(struct earlier *earlier);
void earlier_free(struct earlier *earlier);

// Initialise with zeros.
struct tasks {
    struct task *row; // tasks of this shard only
    size_t count;
    bool waits; // a task whose own file of a filter is missing is skipped with FAULT_MISSING; `why` is the file
    struct key_table directories; // of struct directory, by path
    struct key_table logged;      // values of `nearest` whose errors were logged
    // All inputs, and the files that the chain reads. An output must not replace one of these files, whatever its name
    // is.
    struct file_id *source; // sorted by device and inode
    size_t sources;
    enum existing_rule existing;
    const struct chain *chain;
    const char *job;
};

// Names the outputs of all inputs, marks inputs that share an output with FAULT_CLASH, and keeps the tasks of the
// shard. Checks whether files can be created in the directories of the outputs. `job` is the text of everything that
// decides the bytes of the outputs. An input also fails if an input of an earlier round made its output. The numbers
// {n} continue from `earlier`, which also counts these inputs. The inputs, `chain`, `job` and `earlier` must outlive
// the tasks.
void tasks_make(struct tasks *tasks, const struct inputs *inputs, const struct naming *naming,
                const struct chain *chain, const struct shard *shard, enum existing_rule existing, const char *job,
                struct earlier *earlier);
void tasks_free(struct tasks *tasks);
uint64_t tasks_hash(const struct tasks *tasks); // hash of all input and output names, independent of their order
// Removes the temporary files that killed runs left in the directories of the outputs.
void tasks_clean(const struct tasks *tasks);

// The input of a task
struct task_file {
    int fd; // -1: not open
    size_t bytes;
    struct output_mark mark; // for the output
};

// Opens the input of outcome->task and decides whether to process it. If so, returns true and sets `replace`, `mode`
// and `group` of the outcome. Otherwise returns false, and the outcome is skipped or failed. The caller closes file->fd
// in either case. On any thread.
bool task_open(const struct tasks *tasks, struct outcome *outcome, struct task_file *file);
// Sets the outcome to failed because its output cannot be written. `error` is an errno value. Always returns false.
bool task_fail_writing(struct outcome *outcome, int error);
// Sets the outcome to failed because no file can be created in the output's directory, and stores the error for later
// tasks. Always returns false. On any thread.
bool task_fail_directory(struct outcome *outcome, int error);
// Logs a failure, the reason for skipping, or a warning, in one line. Logs the failure of a directory only once for all
// directories with the same `nearest`. Call on one thread only.
void tasks_log(struct tasks *tasks, const struct outcome *outcome);
