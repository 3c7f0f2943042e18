// directories.c: the directories of the outputs, each listed once
#include "command/batch/directories.h"

#include "base/log.h"
#include "command/batch/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Finds the row of the task's output directory, and adds the row if it is new. Returns false if out of memory.
static bool find(struct directories *directories, struct names *names, struct task *task)
{
    const char *slash = strrchr(task->output, '/');
    char *path = strndup(task->output, slash ? (size_t)(slash - task->output) + 1 : 0);
    size_t index = directories->count, length = 0;
    const enum name_result result = path ? names_add(names, path, &index) : NAME_NO_MEMORY;
    if (result == NAME_NEW) {
        struct directory *row = &directories->row[directories->count++];
        row->path = path;
        row->error = output_possible(task->output, &length) ? 0 : errno;
        row->nearest = length > 0 ? strndup(path, length) : strdup(".");
    } else {
        free(path);
    }
    task->directory = &directories->row[index];
    return result != NAME_NO_MEMORY && task->directory->nearest;
}

bool directories_make(struct directories *directories, struct tasks *tasks)
{
    struct names names = {0};
    *directories = (struct directories){.row = calloc(tasks->count + 1, sizeof(*directories->row))};
    bool ok = directories->row;
    for (size_t i = 0; ok && i < tasks->count; i++)
        ok = !tasks->row[i].output || find(directories, &names, &tasks->row[i]);
    names_free(&names);
    if (!ok)
        log_error("out of memory for the list of files; name fewer files at a time");
    return ok;
}

void directories_tell(struct directories *directories, const struct directory *directory)
{
    char name[PATH_MAX];
    size_t index = 0;
    if (names_add(&directories->told, directory->nearest, &index) == NAME_KNOWN)
        return;
    log_escape(name, sizeof(name), directory->nearest);
    log_error("cannot write to %s: %s; every file with its output there fails", name, strerror(directory->error));
}

void directories_clean(const struct directories *directories)
{
    for (size_t i = 0; i < directories->count; i++)
        output_clean_directory(directories->row[i].path);
}

void directories_free(struct directories *directories)
{
    for (size_t i = 0; i < directories->count; i++) {
        free(directories->row[i].path);
        free(directories->row[i].nearest);
    }
    free(directories->row);
    names_free(&directories->told);
    *directories = (struct directories){0};
}
