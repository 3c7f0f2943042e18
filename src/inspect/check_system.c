// check_system.c: checks the directories that monocle writes, and other programs
#include "inspect/doctor_checks.h"

#include "base/cache.h"
#include "base/file.h"
#include "base/installed_program.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Counts the files in an open directory, and closes it.
static void count_files(int directory, int *files, double *megabytes)
{
    DIR *list = fdopendir(directory);
    const struct dirent *entry;
    double bytes = 0;
    *files = 0;
    while (list && (entry = readdir(list))) {
        struct stat status;
        if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
            continue;
        *files += 1;
        bytes += (double)status.st_size;
    }
    *megabytes = bytes / 1e6;
    if (list)
        closedir(list);
    else
        close(directory);
}

static bool is_writable(const char *directory)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof(path), "%s/.monocle-probe", directory) < PATH_MAX && file_writable(path, false);
}

// Reports a directory that could not be opened. `use`: what monocle stores there.
static void report_unusable(struct doctor *doctor, const char *path, const char *unsafe, const char *variable,
                            const char *use)
{
    char fix[PATH_MAX + 64];
    if (unsafe && strstr(unsafe, "other users"))
        snprintf(fix, sizeof(fix), "chmod go-w %s", path);
    else
        snprintf(fix, sizeof(fix), "export %s=DIR   # a directory that only you can write", variable);
    doctor_report(doctor, FINDING_PROBLEM, fix, "monocle cannot store %s: %s %s", use, path[0] ? path : "HOME",
                  unsafe ? unsafe : "cannot be made");
}

void check_cache(struct doctor *doctor)
{
    static const char use[] = "compiled kernels, and compiles them at every start";
    char path[PATH_MAX] = "";
    const char *unsafe, *pocl = getenv("POCL_CACHE_DIR");
    const int directory = cache_open(path, &unsafe);
    if (directory < 0)
        report_unusable(doctor, path, unsafe, "XDG_CACHE_HOME", use);
    else if (!is_writable(path)) {
        close(directory);
        report_unusable(doctor, path, "cannot be written", "XDG_CACHE_HOME", use);
    } else {
        int files;
        double megabytes;
        count_files(directory, &files, &megabytes);
        doctor_report(doctor, FINDING_OK, NULL, "%s has %d files, %.1f MB", path, files, megabytes);
    }
    if (pocl && strstr(pocl, "/monocle-pocl-")) // pocl.h
        doctor_report(doctor, FINDING_WARNING, "export POCL_CACHE_DIR=DIR   # a directory that only you can write",
                      "PoCL cannot store compiled kernels in its own directory, and compiles them at every start");
}

void check_results(struct doctor *doctor)
{
    char path[PATH_MAX];
    const char *unsafe;
    const int directory = data_open(path, false, &unsafe);
    if (directory < 0 && !unsafe && errno == ENOENT && path[0]) {
        doctor_report(doctor, FINDING_OK, NULL, "there are no tuning results of your own yet");
        return;
    }
    if (directory < 0) {
        report_unusable(doctor, path, unsafe, "XDG_DATA_HOME", "tuning results");
        return;
    }
    close(directory);
    if (is_writable(path))
        doctor_report(doctor, FINDING_OK, NULL, "%s can be written", path);
    else
        report_unusable(doctor, path, "cannot be written", "XDG_DATA_HOME", "tuning results");
}

void check_programs(struct doctor *doctor)
{
    char path[PATH_MAX];
    if (program_find("cc", path, sizeof(path)))
        doctor_report(doctor, FINDING_OK, NULL, "the C compiler cc is installed");
    else
        doctor_report(doctor, FINDING_WARNING, "sudo apt install gcc",
                      "the C compiler cc is not installed; the cpu path needs it for users' filters");
    if (program_find("ffmpeg", path, sizeof(path)))
        doctor_report(doctor, FINDING_OK, NULL, "ffmpeg is installed");
    else
        doctor_report(doctor, FINDING_WARNING, "sudo apt install ffmpeg",
                      "ffmpeg is not installed; monocle needs it to read and to make videos other than Y4M");
}
