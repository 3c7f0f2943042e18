// output.c: files that pictures and recordings go to
#include "command/live/output.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NUMBERED_FILES = 10000 };

bool output_new_name(char name[OUTPUT_NAME], const char *suffix)
{
    for (int i = 1; i < NUMBERED_FILES; i++) {
        snprintf(name, OUTPUT_NAME, "monocle-%04d.%s", i, suffix);
        const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            close(fd);
            return true;
        }
        if (errno != EEXIST) {
            log_error("cannot make %s in the current directory: %s", name, strerror(errno));
            return false;
        }
    }
    log_error("monocle-0001.%s to monocle-%d.%s all exist; move some away", suffix, NUMBERED_FILES - 1, suffix);
    return false;
}

bool outputs_distinct(const char *source, const char *const *outputs, int count)
{
    const char *file = source ? source : "";
    file += strncmp(file, "raw:", 4) == 0 ? 4 : file[0] == '@';
    for (int i = 0; i < count; i++) {
        if (!outputs[i] || strcmp(outputs[i], "-") == 0)
            continue;
        if (file_same(outputs[i], file)) {
            log_error("%s is the source: writing there would destroy it", outputs[i]);
            return false;
        }
        for (int k = 0; k < i; k++) {
            if (outputs[k] && file_same(outputs[i], outputs[k])) {
                log_error("%s and %s are one file: give each output its own", outputs[k], outputs[i]);
                return false;
            }
        }
    }
    return true;
}

bool output_writable(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        log_error("cannot write %s: it is a directory", path);
        return false;
    }
    const char *slash = strrchr(path, '/');
    char directory[OUTPUT_NAME] = ".";
    if (slash)
        snprintf(directory, sizeof(directory), "%.*s", slash == path ? 1 : (int)(slash - path), path);
    if (access(directory, W_OK | X_OK) != 0) {
        log_error("cannot write %s: %s: %s", path, directory, strerror(errno));
        return false;
    }
    return true;
}

// The usual rates of video as the fractions they are: 29.97 is 30000/1001.
static void rate_fraction(double rate, int *numerator, int *denominator)
{
    if (!(rate > 0))
        rate = 30;
    rate = fmin(fmax(rate, 0.001), 1e6);
    const double ntsc = rate * 1001 / 1000;
    if (fabs(rate - round(rate)) < 0.0005) {
        *numerator = (int)round(rate);
        *denominator = 1;
    } else if (fabs(ntsc - round(ntsc)) < 0.005) {
        *numerator = (int)round(ntsc) * 1000;
        *denominator = 1001;
    } else {
        *numerator = (int)round(rate * 1000);
        *denominator = 1000;
    }
}

bool recorder_open(struct recorder *recorder, const char *path, int width, int height, double rate)
{
    const bool numbered = !path;
    if (numbered) {
        if (!output_new_name(recorder->name, "y4m"))
            return false;
    } else {
        snprintf(recorder->name, sizeof(recorder->name), "%s", path);
    }
    int numerator, denominator;
    rate_fraction(rate, &numerator, &denominator);
    recorder->frames = 0;
    recorder->writer = y4m_writer_open(recorder->name, width, height, numerator, denominator);
    if (!recorder->writer && numbered)
        unlink(recorder->name);
    return recorder->writer != NULL;
}

bool recorder_add(struct recorder *recorder, const struct image *rgba)
{
    if (!y4m_writer_add(recorder->writer, rgba))
        return false;
    recorder->frames++;
    return true;
}

bool recorder_close(struct recorder *recorder)
{
    struct y4m_writer *writer = recorder->writer;
    recorder->writer = NULL;
    return !writer || y4m_writer_close(writer);
}
