// output_files.c: names of output files; refuses paths that would overwrite an input or fail at the end of a run; opens
// and completes the files
#include "stream/output_files.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "image/imagefile.h"
#include "sink/recording.h"
#include "source/entries.h"
#include "stream/outputs.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char last_name[] = "monocle-last.png";

// ---- names ----

// Returns ".mp4"; "": none.
static const char *suffix_of(const char *path)
{
    const char *name = file_base(path), *dot = strrchr(name, '.');
    return dot && dot > name ? dot : name + strlen(name);
}

bool output_check_recording(const char *path)
{
    const char *end = suffix_of(path);
    const bool named = end > path && end[-1] != '/'; // other checks refuse "" and "directory/"
    if (!named || !output_is_file(path) || recording_has_format(path))
        return true;
    log_error("%s: monocle records MP4, MOV, MKV, WebM, GIF, WebP and Y4M; name it %.*s.mp4", path, (int)(end - path),
              path);
    return false;
}

// Returns true if a path is a name of standard output, or of the file or pipe that it is redirected to.
static bool is_stdout(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", NULL};
    for (int i = 0; names[i]; i++) {
        if (strcmp(path, names[i]) == 0)
            return true;
    }
    // A device such as /dev/null may have several writers, so file_is_open is false for it.
    return file_is_open(path, STDOUT_FILENO);
}

bool output_is_file(const char *path)
{
    struct stat status;
    return !is_stdout(path) && (stat(path, &status) != 0 || S_ISREG(status.st_mode));
}

static int log_name(const char *name)
{
    if (errno == EEXIST)
        log_error("no name before %s is free; move some of the files to another directory", name);
    else
        log_error("cannot create %s%s: %s", name, strchr(name, '/') ? "" : " in the current directory",
                  strerror(errno));
    return -1;
}

int output_new_name(char name[OUTPUT_NAME], const char *suffix)
{
    const int file = file_create_numbered(name, "monocle", 1, 4, suffix);
    return file < 0 ? log_name(name) : file;
}

int output_name_after(char name[OUTPUT_NAME], const char *first)
{
    const int file = file_create_after(name, first);
    return file < 0 ? log_name(name) : file;
}

// Creates the file for a picture that was made from an image file by a look or a chain.
static int new_name_like(char name[OUTPUT_NAME], const char *like, const struct chain *chain, const char *look)
{
    enum { STEM_MOST = 120, NAME_MOST = 200 }; // bytes; a file name has at most 255
    const char *base = file_base(like);
    const size_t length = (size_t)(suffix_of(like) - base);
    snprintf(name, OUTPUT_NAME, "%.*s", length < STEM_MOST ? (int)length : STEM_MOST, base);
    if (look)
        text_append(name, OUTPUT_NAME, "-%s", look);
    for (int i = 0; !look && chain && i < chain->count && strlen(name) < NAME_MOST; i++) {
        const char *filter = chain->stage[i].filter->name;
        if (strcmp(filter, "none") != 0)
            text_append(name, OUTPUT_NAME, "-%s", filter);
    }
    text_append(name, OUTPUT_NAME, ".png");
    const int file = file_create(name);
    return file < 0 ? log_name(name) : file;
}

bool output_claim_new(struct claim *claim, const char *like, const struct chain *chain, const char *look)
{
    const int file =
        like && like[0] ? new_name_like(claim->path, like, chain, look) : output_new_name(claim->path, ".png");
    claim->missing = false;
    claim->own = file_id_open(file);
    if (file >= 0)
        close(file);
    return file >= 0;
}

// Writes a picture under a new name. On failure returns false (logged) and leaves no file.
static bool save_new(const struct image *picture, const char *like, char name[OUTPUT_NAME])
{
    struct claim claim;
    if (!output_claim_new(&claim, like, NULL, NULL))
        return false;
    const bool ok = imagefile_write_claimed(&claim, picture, like);
    if (!ok)
        file_remove(claim.path, claim.own);
    memcpy(name, claim.path, sizeof(claim.path));
    return ok;
}

void output_place(const char *name, char text[OUTPUT_NAME])
{
    char path[PATH_MAX];
    const char *home = getenv("HOME");
    const size_t length = home ? strlen(home) : 0;
    if (!realpath(name, path))
        snprintf(text, OUTPUT_NAME, "%s", name);
    else if (length > 1 && strncmp(path, home, length) == 0 && path[length] == '/')
        snprintf(text, OUTPUT_NAME, "~%s", path + length);
    else
        snprintf(text, OUTPUT_NAME, "%s", path);
}

bool output_save_last(const struct image *picture, const struct source *source, const char *text, const char *like,
                      char name[OUTPUT_NAME])
{
    struct stat status;
    char file[OUTPUT_NAME], room[PATH_MAX];
    const char *path = source_path(text, room);
    const bool none = lstat(last_name, &status) != 0,
               ours = none || (S_ISREG(status.st_mode) && !source_holds(source, last_name) &&
                               !(path && file_same(path, last_name)));
    snprintf(file, sizeof(file), "%s", last_name);
    if (!(ours ? imagefile_write_png(file, picture, like) : save_new(picture, like, file)))
        return false;
    if (!realpath(file, name))
        snprintf(name, OUTPUT_NAME, "%s", file);
    return true;
}

bool output_last_possible(void)
{
    if (file_writable(last_name, true))
        return true;
    log_error("cannot create %s in the current directory: %s", last_name, strerror(errno));
    return false;
}

// ---- the options ----

// Returns false if the suffix names another format than PNG (logged).
static bool check_picture(const char *path)
{
    static const char *const others[] = {"jpg", "jpeg", "jpe", "bmp", "tga", "tif", "tiff", "ppm", "psd", NULL};
    const char *end = suffix_of(path);
    bool other = recording_has_format(path);
    for (int i = 0; others[i] && *end; i++)
        other = other || strcasecmp(end + 1, others[i]) == 0;
    if (other)
        log_error("%s: monocle writes screenshots as PNG; name it %.*s.png", path, (int)(end - path), path);
    return !other;
}

#define AT(member) offsetof(struct output_options, member)

// The options that name an output file.
static const struct output_row {
    const char *option;
    size_t offset;                   // of the path in struct output_options
    const char *dash;                // why the path cannot be "-"; NULL: it can
    bool (*check)(const char *path); // of the format; false is logged; NULL: there is one format
    bool replaced;                   // also without --overwrite
    bool whole;                      // written at the end: no pipe
} outputs[OUTPUT_KINDS] = {
    [OUTPUT_RECORD] = {"--record", AT(record), .check = output_check_recording},
    [OUTPUT_SCREENSHOT] = {"--screenshot", AT(screenshot), .dash = "only --record can; name a file",
                           .check = check_picture, .whole = true},
    [OUTPUT_TRUTH] = {"--truth", AT(truth), .dash = "name a file, or /dev/stdout to print it", .replaced = true},
    [OUTPUT_TRACE] = {"--trace", AT(trace), .dash = "only --record can; name a file", .whole = true},
    [OUTPUT_CONTROLS] = {"--save-controls", AT(save_controls), .dash = "name a file, or /dev/stdout to print them",
                         .replaced = true},
};

static const char *path_of(const struct output_options *options, int index)
{
    return *(const char *const *)((const char *)options + outputs[index].offset);
}

// Returns the path if it names a file; NULL if it is not given, empty or "-".
static const char *file_of(const struct output_options *options, int index)
{
    const char *path = path_of(options, index);
    return path && path[0] && strcmp(path, "-") != 0 ? path : NULL;
}

// Returns false if the path is "-" or has a wrong format (logged).
static bool check_name(const struct output_row *output, const char *path)
{
    if (output->dash && strcmp(path, "-") == 0) {
        log_error("%s cannot be -; %s", output->option, output->dash);
        return false;
    }
    return !output->check || output->check(path);
}

int output_files_settle(const struct output_options *o)
{
    enum { GARBAGE = 2 };
    if (o->settle >= 0)
        return o->settle;
    return o->record || o->screenshot ? GARBAGE : 0;
}

bool output_files_check(struct output_options *o, bool json)
{
    const char *on_stdout = json ? "--json" : NULL;
    for (int i = 0; i < OUTPUT_KINDS; i++) {
        const char *path = path_of(o, i);
        if (!path)
            continue;
        if (!check_name(&outputs[i], path))
            return false;
        if (!is_stdout(path))
            continue;
        if (on_stdout) {
            log_error("%s and %s both write to standard output; use a file for one of them", on_stdout,
                      outputs[i].option);
            return false;
        }
        on_stdout = outputs[i].option;
        o->on_stdout = true;
    }
    if (o->record && is_stdout(o->record))
        o->record = "-";
    const char *wrong = NULL;
    if (o->record && strcmp(o->record, "-") == 0 && isatty(STDOUT_FILENO))
        wrong = "--record - would write video to the terminal; redirect standard output";
    else if (o->record_quality && !(o->record && recording_has_quality(o->record)))
        wrong = "--record-quality needs --record with .mp4, .mov, .mkv, .webm or .webp";
    if (wrong)
        log_error("%s", wrong);
    return !wrong;
}

static bool is_cl(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && strcmp(dot, ".cl") == 0;
}

// Returns true if the path is a kernel in the directory, or if the directory cannot be read; both are logged.
static bool is_kernel(const char *path, const char *directory)
{
    struct entries entries = {0};
    bool found = false;
    if (!entries_from_directory(&entries, directory, is_cl))
        return true;
    for (int i = 0; i < entries.count && !found; i++)
        found = file_same(path, entries.entry[i].path);
    entries_free(&entries);
    if (found)
        log_error("the output %s is a kernel file in %s; name another output", path, directory);
    return found;
}

// Returns true if the output would overwrite an input or an output of the rows before it (logged).
static bool overwrites(const struct output_options *o, const struct output_inputs *in, int index)
{
    char room[PATH_MAX];
    const char *path = file_of(o, index), *source = source_path(in->source, room);
    for (int i = 0; i < index; i++) {
        const char *before = file_of(o, i);
        if (before && file_same(path, before)) {
            log_error("the outputs %s and %s are the same file; name another file for one", before, path);
            return true;
        }
    }
    if (source && file_same(path, source))
        log_error("the output %s is the source; name another output", path);
    else if (in->file && file_same(path, in->file))
        log_error("the output %s is the file of %s; name another output", path, in->option);
    else if (in->chain && chain_reads(in->chain, path))
        log_error("a filter of the chain reads the output %s; name another output", path);
    else
        return in->kernels && is_kernel(path, in->kernels);
    return true;
}

// Returns true if the path is a pipe (logged), whose reader a run would wait for.
static bool is_pipe(const char *path)
{
    struct stat status;
    const bool pipe = stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
    if (pipe)
        log_error("cannot write %s: it is a pipe; name a file", path);
    return pipe;
}

// Returns true if the output is an impossible pipe, or would replace a file, and the user does not allow this (logged).
static bool replaces(const struct output_options *o, int index)
{
    const char *path = file_of(o, index);
    if (path && outputs[index].whole && is_pipe(path))
        return true;
    const bool exists = path && output_is_file(path) && access(path, F_OK) == 0;
    if (!exists || o->overwrite || outputs[index].replaced)
        return false;
    log_error("%s exists; name another file, or add --overwrite", path);
    return true;
}

// Logs why an output cannot be written and what to do. `error` is the errno of file_writable.
static void log_unwritable(const char *option, const char *path, int error)
{
    char directory[PATH_MAX], link[PATH_MAX] = "";
    file_directory(path, directory);
    if (error == EISDIR)
        log_error("cannot write %s (%s): it is a directory; name a file in it", path, option);
    else if (error == ENAMETOOLONG)
        log_error("cannot write %s (%s): %s; a file name may have at most 255 bytes", path, option, strerror(error));
    else if (access(path, F_OK) == 0)
        log_error("cannot write %s (%s): %s; name another file", path, option, strerror(error));
    else if (readlink(path, link, sizeof(link) - 1) > 0)
        log_error("cannot write %s (%s): it is a link to %s: %s; name another file", path, option, link,
                  strerror(error));
    else if (access(directory, F_OK) != 0 && errno == ENOENT)
        log_error("cannot write %s (%s): there is no directory %s; create it or name another place", path, option,
                  directory);
    else
        log_error("cannot write %s (%s): cannot create a file in %s (%s); name another place", path, option,
                  strchr(path, '/') ? directory : "the current directory", strerror(error));
}

enum exit_code output_files_claim(struct output_files *files, const struct output_options *o,
                                  const struct output_inputs *in)
{
    files->options = o;
    for (int i = 0; i < OUTPUT_KINDS; i++) {
        if (file_of(o, i) && overwrites(o, in, i))
            return EXIT_USAGE;
    }
    for (int i = 0; i < OUTPUT_KINDS; i++) {
        if (replaces(o, i))
            return EXIT_USAGE;
    }
    for (int i = 0; i < OUTPUT_KINDS; i++) {
        const char *path = path_of(o, i);
        if (path && !path[0]) {
            log_error("%s has an empty file name; name a file", outputs[i].option);
            return EXIT_NOTHING;
        }
        if (file_of(o, i) && !claim_take(&files->claim[i], path)) {
            log_unwritable(outputs[i].option, path, errno);
            return EXIT_NOTHING;
        }
    }
    return EXIT_OK;
}

bool output_files_spare(const struct output_options *o, const struct source *source)
{
    for (int i = 0; i < OUTPUT_KINDS; i++) {
        const char *path = file_of(o, i);
        if (path && source_holds(source, path)) {
            log_error("the output %s is the source; name another output", path);
            return false;
        }
    }
    return true;
}

bool output_files_allow_screenshot(const struct output_files *files, const struct outputs *running,
                                   const struct output_inputs *in, const struct source *source, const char *path)
{
    const struct output_options *o = files->options;
    char room[PATH_MAX];
    const char *read = source_path(in->source, room);
    const struct outputs_facts facts = outputs_describe(running);
    const char *recording = facts.recording ? facts.recording : facts.ending;
    bool written = recording && file_same(path, recording);
    for (int i = 0; i < OUTPUT_KINDS; i++) {
        const char *output = file_of(o, i);
        written = written || (output && file_same(path, output));
    }
    if (!check_picture(path))
        return false;
    if (source_holds(source, path) || (read && file_same(path, read)))
        log_error("the output %s is the source; name another output", path);
    else if (chain_reads(in->chain, path))
        log_error("a filter of the chain reads the output %s; name another output", path);
    else if (written)
        log_error("the run already writes %s; name another output", path);
    else if (is_pipe(path))
        return false;
    else if (!o->overwrite && output_is_file(path) && access(path, F_OK) == 0)
        log_error("%s exists; name another file, or start the run with --overwrite", path);
    else
        return true;
    return false;
}

// ---- the run ----

static bool open_trace(struct output_files *files, struct meter *meter)
{
    struct claim *claim = &files->claim[OUTPUT_TRACE];
    struct growing *growing = &files->trace;
    int file;
    const char *why = claim_make(claim, &file) ? growing_open(growing, claim->path, &file) : strerror(errno);
    if (why) {
        log_error("cannot write the trace to %s: %s", claim->path, why);
        return false;
    }
    meter->trace = trace_open(claim->path, file);
    if (!meter->trace && file >= 0 && !growing->drafted)
        file_remove(claim->path, claim->own);
    return meter->trace;
}

static bool start_recording(struct output_files *files, struct outputs *running)
{
    struct claim *claim = &files->claim[OUTPUT_RECORD];
    if (strcmp(files->options->record, "-") == 0)
        strcpy(claim->path, "-");
    return outputs_start_recording(running, claim, files->options->record_quality) &&
           outputs_await_start(running, OUTPUTS_START_NS);
}

bool output_files_open(struct output_files *files, struct outputs *running, struct meter *meter)
{
    const struct output_options *o = files->options;
    return (!o->trace || open_trace(files, meter)) && (!o->record || start_recording(files, running));
}

bool output_files_save(struct output_files *files, const struct image *picture, const char *like, const char *missing)
{
    const char *path = files->options->screenshot;
    if (path && picture)
        return imagefile_write_claimed(&files->claim[OUTPUT_SCREENSHOT], picture, like);
    if (!path || process_interrupted())
        return true; // a signal ended the run before the first picture
    log_error("cannot write the screenshot %s: %s", path, missing);
    return false;
}

bool output_files_close_trace(struct output_files *files, struct meter *meter)
{
    const bool opened = meter->trace != NULL, complete = trace_close(meter->trace);
    meter->trace = NULL;
    return growing_close(&files->trace, files->claim[OUTPUT_TRACE].path, opened && complete, opened) && complete;
}
