// user_rows.c: compiles users' filters for the cpu path, with the system's C compiler
#include "path/cpu_rows.h"

#include "base/alloc.h"
#include "base/child.h"
#include "base/driver_call.h"
#include "base/file.h"
#include "base/installed_program.h"
#include "base/log.h"
#include "base/vectors.h"
#include "compute/driver_cache.h"
#include "filter/user_filter.h"
#include "path/backend.h"
#include "path/pass_text.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIMIT_S = 60, LIBRARY_MAX = 16 << 20, LOG_BYTES = 4096, OPEN_FILES = 16, NO_PROGRAM = 127 };

// The shell lowers the limits, sends the compiler's messages to child_talk, and becomes the compiler. The compiler's
// temporary files are in the directory that is removed afterwards.
static const char shell[] = "/bin/sh";
static const char script[] = "ulimit -t 60; ulimit -v 4194304; ulimit -f 65536; LC_ALL=C; TMPDIR=.; export LC_ALL "
                             "TMPDIR; cd \"$1\" && shift && exec cc \"$@\" 2>&3";
static const char no_compiler[] = "the cpu path compiles users' filters with the C compiler cc, which is missing; "
                                  "install it (Debian: apt install gcc), or use -p opencl or -p gl";

// ---- the program ----

// Returns the filter as C; the caller frees it.
static char *write_program(const struct filter *filter, char **error)
{
    struct composer c;
    char file[COMPOSE_NAME];
    const struct stage stage = {.filter = filter}, *const stages[] = {&stage};
    snprintf(file, sizeof(file), "%s.cl", filter->name);
    compose_start(&c, false, NULL);
    // GCC would make calls of memcpy and memset from loops.
    fprintf(c.out, "#ifndef __clang__\n#pragma GCC optimize \"no-tree-loop-distribute-patterns\"\n#endif\n");
    compose_file(&c, "language.h");
    compose_file(&c, "common.cl");
    compose_part(&c, "plan");
    fprintf(c.out, "#define USER_FILTER user_filter_%s\n", filter->name);
    if (filter->kind == FILTER_STENCIL)
        fprintf(c.out, "#define USER_STENCIL\n#define USER_RADIUS %d\n", filter->radius);
    if (filter->kind == FILTER_WARP)
        fprintf(c.out, "#define USER_WARP\n");
    if (filter_has_second(filter))
        fprintf(c.out, "#define USER_SECOND\n");
    compose_file(&c, "warp.cl");
    compose_stages(&c, stages, 1);
    compose_file(&c, "user_rows.h");
    return compose_end(&c, error);
}

// ---- the compiler ----

struct messages {
    char text[LOG_BYTES];
    size_t bytes;
};

// Takes a line of the compiler, but no warning.
static bool take_line(void *context, char *line)
{
    struct messages *messages = context;
    if (line && !strstr(line, ": warning: ") && !strstr(line, ": some warnings ") &&
        messages->bytes < sizeof(messages->text) - 1) {
        const size_t room = sizeof(messages->text) - messages->bytes;
        const int used = snprintf(messages->text + messages->bytes, room, "%s\n", line);
        messages->bytes += (size_t)used < room ? (size_t)used : room - 1;
    }
    return !driver_call_interrupted();
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    return remove(path);
}

// Makes a directory that only this user can enter. Returns false with errno set.
static bool make_directory(char path[PATH_MAX])
{
    const char *chosen = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/monocle-filter-XXXXXX", chosen && chosen[0] == '/' ? chosen : "/tmp");
    return mkdtemp(path);
}

// If the limit of open files is too low, the shell fails without a message.
static void explain_silence(int status, char text[LOG_BYTES])
{
    struct rlimit files = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    snprintf(text, LOG_BYTES,
             "cannot compile a filter: cc ended with status %d and without a message; the limit of open files is %llu, "
             "and it needs about 32 (ulimit -n)",
             status, (unsigned long long)files.rlim_cur);
}

// Runs the compiler in the directory, which has the program. Returns the library's bytes, which the caller frees.
static char *run_compiler(const char *directory, size_t *bytes, char **error)
{
    char library[PATH_MAX + 16], why[CHILD_WHY];
    const char *const plain[] = {"sh",
                                 "-c",
                                 script,
                                 "sh",
                                 directory,
                                 "-std=gnu11",
                                 "-O3",
                                 "-Werror=return-type", // else a forgotten return is a black image
                                 "-fPIC",
                                 "-shared",
                                 "-fwrapv",
                                 "-fno-strict-aliasing",
                                 "-fno-math-errno",
                                 "-ffp-contract=off",
                                 "-fmax-errors=5",
                                 "-fno-builtin", // a filter can call nothing but the kernel language
                                 "-nodefaultlibs",
                                 "-fno-stack-protector", // Ubuntu's default, which needs a library
                                 "-Wl,--no-undefined",
                                 "-o",
                                 "filter.so",
                                 "filter.c",
                                 "-lm",
                                 "-lgcc",
                                 strncmp(vectors_name(vectors_level()), "avx", 3) == 0 ? "-mavx2" : NULL,
                                 NULL};
    struct messages messages = {.bytes = 0};
    int value;
    const enum child_end end = child_talk(shell, (char *const *)plain, LIMIT_S * 1000, &value, take_line, &messages);
    if (end == CHILD_EXITED && value == 0) {
        snprintf(library, sizeof(library), "%s/filter.so", directory);
        char *data = file_read(library, LIBRARY_MAX, bytes);
        if (!data)
            path_fail(error, "cannot read the compiled filter");
        return data;
    }
    if (end == CHILD_EXITED && !messages.text[0])
        explain_silence(value, messages.text);
    if (end == CHILD_EXITED)
        path_fail(error, value == NO_PROGRAM ? no_compiler : messages.text);
    else {
        child_explain(end, value, LIMIT_S, LIMIT_S, why);
        snprintf(messages.text, sizeof(messages.text), "cannot compile a filter with cc: %s", why);
        path_fail(error, messages.text);
    }
    return NULL;
}

static char *compile(const char *program, size_t *bytes, char **error)
{
    char directory[PATH_MAX], file[PATH_MAX + 16], why[PATH_MAX + 100];
    char *library = NULL;
    if (!make_directory(directory)) {
        snprintf(why, sizeof(why), "cannot make the directory %s to compile a filter: %s; set TMPDIR to another place",
                 directory, strerror(errno));
        path_fail(error, why);
        return NULL;
    }
    snprintf(file, sizeof(file), "%s/filter.c", directory);
    if (file_replace(AT_FDCWD, file, 0600, false, program, strlen(program))) {
        library = run_compiler(directory, bytes, error);
    } else {
        snprintf(why, sizeof(why), "cannot write %s: %s; set TMPDIR to another place", file, strerror(errno));
        path_fail(error, why);
    }
    nftw(directory, remove_entry, OPEN_FILES, FTW_DEPTH | FTW_PHYS);
    return library;
}

// ---- the library ----

// Loads a library from memory, because the temporary directory may forbid to run programs. The library and its
// descriptor stay open: another library with the same descriptor would have the same name, and dlopen would return
// this one.
static user_row *load(const char *library, size_t bytes, char **error)
{
    char path[64], why[512];
    const int fd = memfd_create("monocle-filter", MFD_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const bool stored = fd >= 0 && file_write_all(fd, library, bytes);
    void *handle = stored ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    user_row *row = NULL;
    if (handle)
        *(void **)&row = dlsym(handle, "user_row");
    if (row)
        return row;
    snprintf(why, sizeof(why), "cannot load the compiled filter: %.400s; use -p opencl or -p gl",
             stored ? dlerror() : strerror(errno));
    path_fail(error, why);
    if (!handle && fd >= 0)
        close(fd);
    return NULL;
}

// Returns the row function from the cache directory, or compiles it.
static user_row *find_row(const struct filter *filter, char **error)
{
    char *program = write_program(filter, error);
    struct cache_entry entry;
    size_t bytes = 0;
    user_row *row = NULL;
    if (!program)
        return NULL;
    char *key = xprintf("%s %s\n%s", MONOCLE_VERSION, vectors_name(vectors_level()), program);
    cache_entry_open(&entry, "so", key, strlen(key));
    cache_entry_check();
    char *library = cache_entry_read(&entry, &bytes);
    if (!library && (library = compile(program, &bytes, error)))
        cache_entry_write(&entry, library, bytes);
    if (library)
        row = load(library, bytes, error);
    cache_entry_close(&entry);
    free(library);
    free(key);
    free(program);
    return row;
}

// Makes the row function, once.
static bool make_row(struct user_filter *user, char **error)
{
    pthread_mutex_lock(&user->lock);
    if (!user->row && !user->why)
        user->row = find_row(&user->filter, &user->why);
    if (!user->row)
        path_fail(error, user->why ? user->why : "cannot compile a user's filter: out of memory");
    const bool ok = user->row;
    pthread_mutex_unlock(&user->lock);
    return ok;
}

bool path_compiles(const struct chain *chain)
{
    char compiler[PATH_MAX];
    bool user = false;
    for (int i = 0; i < chain->count; i++)
        user = user || chain->stage[i].filter->user;
    return !user || program_find("cc", compiler, sizeof(compiler));
}

void path_warn_compiler(enum path_kind kind)
{
    log_warn("the cpu path needs the C compiler cc for users' filters, which is missing; using the %s path",
             path_kind_name(kind));
}

bool user_rows_make(const struct chain *chain, char **error)
{
    for (int i = 0; i < chain->count; i++) {
        struct user_filter *user = chain->stage[i].filter->user;
        if (user && !make_row(user, error))
            return false;
    }
    return true;
}
