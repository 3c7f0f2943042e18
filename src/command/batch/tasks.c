// tasks.c: the tasks of a batch: each input with its output
#include "command/batch/tasks.h"

#include "base/hash.h"
#include "base/log.h"
#include "command/batch/names.h"

#include <stdlib.h>
#include <string.h>

static void mark_clash(struct task *task, const struct input *rival)
{
    if (task->fault == FAULT_NONE) {
        task->fault = FAULT_CLASH;
        task->rival = rival;
    }
}

// Fills one row per input. Returns false if out of memory.
static bool name_all(struct task *rows, const struct inputs *inputs, const struct naming *naming)
{
    struct names names = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < inputs->count; i++) {
        const struct input *input = &inputs->row[i];
        rows[i] = (struct task){.input = input, .fault = input->fault};
        if (input->fault != FAULT_NONE)
            continue;
        rows[i].output = naming_output(naming, input, i + 1);
        size_t earlier = i;
        const enum name_result result = rows[i].output ? names_add(&names, rows[i].output, &earlier) : NAME_NO_MEMORY;
        ok = result != NAME_NO_MEMORY;
        if (result == NAME_KNOWN) {
            mark_clash(&rows[i], &inputs->row[earlier]);
            mark_clash(&rows[earlier], input);
        }
    }
    names_free(&names);
    return ok;
}

bool tasks_make(struct tasks *tasks, const struct inputs *inputs, const struct naming *naming,
                const struct shard *shard)
{
    *tasks = (struct tasks){.row = calloc(inputs->count + 1, sizeof(*tasks->row))};
    if (!tasks->row || !name_all(tasks->row, inputs, naming)) {
        tasks->count = tasks->row ? inputs->count : 0;
        tasks_free(tasks);
        log_error("out of memory for the list of files; name fewer files at a time");
        return false;
    }
    for (size_t i = 0; i < inputs->count; i++) {
        if (shard_has(shard, inputs->row[i].relative))
            tasks->row[tasks->count++] = tasks->row[i];
        else
            free(tasks->row[i].output);
    }
    return true;
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

void tasks_free(struct tasks *tasks)
{
    for (size_t i = 0; i < tasks->count; i++)
        free(tasks->row[i].output);
    free(tasks->row);
    *tasks = (struct tasks){0};
}
