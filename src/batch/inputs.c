// inputs.c: finds the input files from operands, directories and lists, and waits for new ones
#include "batch/inputs.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "batch/names.h"
#include "batch/output.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A directory in the walk, linked to its parents, to detect symbolic-link loops
struct place {
    const struct place *parent;
    dev_t device;
    ino_t inode;
};

enum {
    INPUTS_MAX = 10000000,
    NAMELESS_MAX = 1 << 20, // limit of empty names in a row, because a file such as /dev/zero has no end
};

static const char too_many[] = "there are more than 10 million files; name fewer at a time";

struct walk {
    const struct inputs_setup *setup;
    struct inputs *inputs;
    const char *directory;  // the working directory; "": unknown
    struct place outputs;   // the directory of the outputs; inode 0: none
    bool among_outputs;     // the operand is the directory of the outputs
    struct key_table names; // normal names of the inputs
    const char *stopped;    // why the walk stopped; NULL: it goes on
    size_t taken;           // names so far, repeated ones too
};

// Adds an input, unless there is one of the same normal name. Takes over `path`; the input's relative name begins at
// offset `relative`. Sets walk->stopped if there are too many.
static void add(struct walk *walk, char *path, size_t relative, enum fault fault, int error)
{
    struct inputs *inputs = walk->inputs;
    const size_t names = walk->names.count;
    char *name = name_normal(walk->directory, path);
    table_row(&walk->names, name, sizeof(char *));
    free(name);
    if (walk->taken++ == INPUTS_MAX)
        walk->stopped = too_many;
    if (walk->names.count == names) {
        free(path);
        return;
    }
    inputs->row = xgrow(inputs->row, inputs->count, sizeof(*inputs->row));
    inputs->row[inputs->count++] =
        (struct input){.path = path, .relative = path + relative, .fault = fault, .error = error};
}

static char *join(const char *directory, const char *name)
{
    const char *slash = *directory && directory[strlen(directory) - 1] == '/' ? "" : "/";
    return xprintf("%s%s%s", directory, slash, name);
}

static bool is_around(const struct place *place, const struct stat *status)
{
    for (; place; place = place->parent) {
        if (place->inode == status->st_ino && place->device == status->st_dev)
            return true;
    }
    return false;
}

static void walk_directory(struct walk *walk, char *path, size_t relative, const struct place *parent);

// Handles one entry of a directory. Takes over `path`.
static void walk_entry(struct walk *walk, char *path, size_t relative, int type, const struct place *place)
{
    enum codec_format format;
    const bool known = name_format(path, &format), picture = known || name_missing_library(path);
    struct stat status = {0};
    int error = 0;
    if (type == DT_LNK || type == DT_UNKNOWN) {
        error = stat(path, &status) == 0 ? 0 : errno;
        type = IFTODT(status.st_mode);
    }
    const bool file = !error && type == DT_REG && picture, directory = !error && type == DT_DIR;
    const bool made = file && walk->among_outputs && output_is_made(path, NULL);
    walk->inputs->made += made;
    const char *extension = name_extension(path);
    if (type == DT_REG && *extension && codec_foreign_name(extension + 1)) {
        walk->inputs->foreign = xgrow(walk->inputs->foreign, walk->inputs->foreigns, sizeof(char *));
        walk->inputs->foreign[walk->inputs->foreigns++] = xstrdup(path);
    }
    walk->inputs->directories += directory && !walk->setup->recursive;
    if (error && (picture || (walk->setup->recursive && error == ELOOP)))
        add(walk, path, relative, fault_of_reading(error), error);
    else if (directory && walk->setup->recursive)
        walk_directory(walk, path, relative, place);
    else if (file && !made)
        add(walk, path, relative, known ? FAULT_NONE : FAULT_UNSUPPORTED, 0);
    else
        free(path);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

// Takes over `path`. `parent` is NULL for an operand.
static void walk_directory(struct walk *walk, char *path, size_t relative, const struct place *parent)
{
    struct stat status;
    struct dirent **entries = NULL;
    int error = stat(path, &status) == 0 ? 0 : errno;
    const bool outputs = !error && walk->outputs.inode && is_around(&walk->outputs, &status);
    if (outputs && parent) {
        free(path);
        return;
    }
    if (!parent)
        walk->among_outputs = outputs;
    if (!error && is_around(parent, &status))
        error = ELOOP;
    const int count = error ? -1 : scandir(path, &entries, visible, by_name);
    if (count < 0) {
        error = error ? error : errno;
        add(walk, path, parent ? relative : 0, fault_of_reading(error), error);
        return;
    }
    const struct place place = {parent, status.st_dev, status.st_ino};
    for (int i = 0; i < count; i++) {
        if (!walk->stopped)
            walk_entry(walk, join(path, entries[i]->d_name), relative, entries[i]->d_type, &place);
        free(entries[i]);
    }
    free(entries);
    free(path);
}

static void walk_operand(struct walk *walk, const char *operand)
{
    struct stat status;
    char *path = xstrdup(operand);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        size_t length = strlen(path);
        while (length > 1 && path[length - 1] == '/')
            path[--length] = '\0';
        walk_directory(walk, path, length + (path[length - 1] != '/'), NULL);
        return;
    }
    add(walk, path, (size_t)(file_base(operand) - operand), FAULT_NONE, 0); // task_open checks the type
}

// Returns true if the path stays below the working directory: it is relative and has no part "..".
static bool is_below(const char *path)
{
    const char *part = path;
    while (*part && strncmp(part, "../", 3) != 0 && strcmp(part, "..") != 0) {
        part += strcspn(part, "/");
        part += strspn(part, "/");
    }
    return *path != '/' && !*part;
}

static void take_name(struct walk *walk, const char *name)
{
    static const char order_mark[] = "\xef\xbb\xbf";
    if (!walk->setup->null && walk->inputs->count == 0 && strncmp(name, order_mark, 3) == 0)
        name += 3;
    if (!*name)
        return;
    while (name[0] == '.' && name[1] == '/')
        name += 2 + strspn(name + 2, "/");
    add(walk, xstrdup(name), is_below(name) ? 0 : (size_t)(file_base(name) - name), FAULT_NONE, 0);
}

// Reads the next name up to the byte `end`, and skips empty names. Returns 1, 0 at the end of the list, or -1 if the
// name is too long or NAMELESS_MAX names in a row are empty.
static int read_name(FILE *file, int end, char name[PATH_MAX])
{
    size_t size = 0, nameless = 0;
    int c;
    do {
        if (nameless++ == NAMELESS_MAX)
            return -1;
        for (size = 0; (c = getc_unlocked(file)) != EOF && c != end; name[size++] = (char)c) {
            if (size == PATH_MAX - 1)
                return -1;
        }
        size -= end == '\n' && size > 0 && name[size - 1] == '\r'; // CR LF ends a line
    } while (size == 0 && c != EOF);
    name[size] = '\0';
    return size > 0;
}

static bool take_list(struct walk *walk, const char *from)
{
    const bool standard = strcmp(from, "-") == 0;
    const char *spoken = standard ? "on standard input" : from;
    FILE *file = standard ? stdin : fopen(from, "re");
    char name[PATH_MAX];
    int got = 0;
    while (file && !walk->stopped && (got = read_name(file, walk->setup->null ? '\0' : '\n', name)) > 0)
        take_name(walk, name);
    const bool read = file && !ferror(file);
    if (!read)
        log_error("cannot read the list %s: %s", spoken, standard && errno == EBADF ? "it is closed" : strerror(errno));
    else if (got < 0)
        log_error(
            "the list %s has a name of more than %d bytes, or a million empty names; it must contain file names, %s",
            spoken, PATH_MAX - 1, walk->setup->null ? "each ending with a NUL byte" : "one per line");
    if (file && file != stdin)
        fclose(file);
    return read && got >= 0;
}

bool inputs_gather(struct inputs *inputs, const struct inputs_setup *setup)
{
    char *directory = getcwd(NULL, 0);
    struct walk walk = {.setup = setup, .inputs = inputs, .directory = directory ? directory : ""};
    struct stat status;
    if (setup->outputs && stat(setup->outputs, &status) == 0)
        walk.outputs = (struct place){NULL, status.st_dev, status.st_ino};
    const bool listed = !setup->files_from || take_list(&walk, setup->files_from);
    for (int i = 0; listed && i < setup->operands && !walk.stopped; i++)
        walk_operand(&walk, setup->operand[i]);
    table_free(&walk.names);
    free(directory);
    if (listed && walk.stopped)
        log_error("%s", walk.stopped);
    return listed && !walk.stopped;
}

void inputs_free(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        free(inputs->row[i].path);
    for (size_t i = 0; i < inputs->foreigns; i++)
        free(inputs->foreign[i]);
    free(inputs->row);
    free(inputs->foreign);
    *inputs = (struct inputs){0};
}

// ---- files that arrive later ----

enum {
    SETTLE_MS = 100,       // files that arrive at most this long after another are filtered together
    SETTLE_MOST_MS = 1000, // ... but none is waited for after this time: a file may be written again for ever
    NAMES_MAX = 1000,      // ... and after this number
};

bool watch_open(struct watch *watch, const char *const *path, int count)
{
    *watch = (struct watch){.fd = file_watch_open(NULL)};
    if (watch->fd < 0) {
        log_error("--watch cannot watch directories: %s; raise ulimit -n, or the sysctl fs.inotify.max_user_instances",
                  strerror(errno));
        return false;
    }
    if (count > WATCH_DIRECTORIES) {
        log_error("--watch can watch %d directories, but %d are given", WATCH_DIRECTORIES, count);
        return false;
    }
    for (int i = 0; i < count; i++) {
        const int number = file_watch_add(watch->fd, path[i]);
        if (number < 0) {
            log_error("cannot watch %s: %s", path[i], strerror(errno));
            return false;
        }
        watch->directory[watch->directories++] = (struct watch_directory){number, path[i]};
    }
    return true;
}

static void forget_names(struct watch *watch)
{
    for (int i = 0; i < watch->names; i++)
        free(watch->name[i]);
    watch->names = 0;
}

void watch_close(struct watch *watch)
{
    forget_names(watch);
    free(watch->name);
    close(watch->fd);
}

void watch_add(struct watch *watch, const char *path)
{
    for (int i = 0; i < watch->names; i++) {
        if (strcmp(watch->name[i], path) == 0)
            return;
    }
    watch->name = xgrow(watch->name, (size_t)watch->names, sizeof(*watch->name));
    watch->name[watch->names++] = xstrdup(path);
}

static void add_name(struct watch *watch, const char *directory, const char *name)
{
    enum codec_format format;
    if (name[0] == '.' || !name_format(name, &format))
        return;
    char *path = join(directory, name);
    watch_add(watch, path);
    free(path);
}

static bool take_event(void *context, const struct file_event *event)
{
    struct watch *watch = context;
    if (event->lost) {
        log_warn("too many files arrived at once, and some were missed; run the command again to filter them");
        return true;
    }
    for (int i = 0; i < WATCH_DIRECTORIES && watch->directory[i].path; i++) {
        struct watch_directory *directory = &watch->directory[i];
        if (directory->id != event->directory)
            continue;
        if (event->name && event->written)
            add_name(watch, directory->path, event->name);
        if (!event->name) {
            log_error("the directory %s was removed; monocle no longer watches it", directory->path);
            directory->id = -1;
            watch->directories--;
        }
    }
    return true;
}

bool watch_wait(struct watch *watch, int most_ms, bool *failed)
{
    int64_t first_ns = 0; // when the first file arrived
    *failed = false;
    forget_names(watch);
    while (!process_interrupted() && watch->directories > 0) {
        struct pollfd ready = {.fd = watch->fd, .events = POLLIN};
        const int count = poll(&ready, 1, watch->names > 0 ? SETTLE_MS : most_ms);
        if (count == 0 || watch->names >= NAMES_MAX || (first_ns > 0 && clock_ms_since(first_ns) > SETTLE_MOST_MS))
            return true;
        if (count > 0)
            file_watch_take(watch->fd, take_event, watch);
        first_ns = watch->names > 0 && first_ns == 0 ? clock_now_ns() : first_ns;
    }
    *failed = !process_interrupted();
    return false;
}
