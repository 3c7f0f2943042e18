// file.h: reads and writes whole files, and logs nothing; the output files of a run, from its start to its end
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

// Reads a regular file of at most `limit` bytes and adds a NUL. The caller frees. NULL with errno set on failure: EFBIG
// if the file is larger, EISDIR for a directory, EINVAL for a pipe or device.
char *file_read(const char *path, size_t limit, size_t *size);
// Reads a text in the same way, without a byte order mark, which some editors write.
char *file_read_text(const char *path, size_t limit);
// Returns why the last one of these failed, from errno.
const char *file_read_error(void);

// Read a short text, such as a file of /sys, as a number or as a line without its newline. The number fails with errno
// set if the text does not begin with one. The line is "" on failure.
enum { FILE_WORD = 64 };
bool file_read_number(const char *path, uint64_t *number);
void file_read_word(const char *path, char word[FILE_WORD]);

// Reads the next line of at most `most` bytes into `line`, which has room for one more, with a NUL instead of the
// newline. *size becomes its length. Returns 1, 0 at the end or on failure, or -1 if the line is longer.
int file_read_line(FILE *file, char *line, size_t most, size_t *size);

// Reads an open file from its position to its end, as file_read.
char *file_read_all(int fd, size_t limit, size_t *size);
// Reads an open file as file_read, and closes it. -1: the file did not open, and errno stays.
char *file_take(int fd, size_t limit, size_t *size);
// Writes all bytes to an open file, at its position. False with errno set on failure.
bool file_write_all(int fd, const void *data, size_t size);
// Waits until the disk has the file; true also if its file system cannot tell. False with errno set.
bool file_sync(int fd);
// Returns false, with errno ENOENT, if all names of the open file were removed.
bool file_is_named(int fd);

// Writes a temporary file beside `path` (relative to the open directory, or to AT_FDCWD) with the rights `mode` minus
// the umask, and renames it. Replaces a symbolic link itself. A system crash may truncate the file without `sync`.
// Returns false with errno set on failure, and leaves no temporary file.
bool file_replace(int directory, const char *path, mode_t mode, bool sync, const void *data, size_t size);
// Writes a temporary file in the same directory, syncs and renames it, so that the path has the old bytes or all new
// ones. A symbolic link stays, and its target is replaced or created. A device or pipe is written directly. A file
// without write permission is not replaced (EACCES). A new file has the rights 0666 minus the umask; a file that
// replaces another has no more rights than the old one. Returns false with errno set on failure, and leaves no
// temporary file.
bool file_write_atomic(const char *path, const void *data, size_t size);

// Makes the missing directories above a file. Changes `path` while it runs, and restores it. Returns false with errno
// set.
bool file_make_directories(char *path);

// Creates an empty file under the first name STEM-NUMBERSUFFIX that is free. NUMBER counts from `first` and has at
// least `digits` digits. Returns its descriptor, for writing, or -1 with errno set; EEXIST: no number below
// FILE_NUMBERS is free.
enum { FILE_NUMBERS = 10000 };
int file_create_numbered(char name[PATH_MAX], const char *stem, int first, int digits, const char *suffix);
// As file_create_numbered, for NAME-2.SUFFIX, NAME-3.SUFFIX, ...; `path` is NAME.SUFFIX.
int file_create_after(char name[PATH_MAX], const char *path);
// Creates an empty file. If the file exists, changes `path` to the first free name of file_create_after. If the path is
// a symbolic link to a missing file, creates that file. Returns its descriptor, for writing, or -1 with errno set.
int file_create(char path[PATH_MAX]);

// The identity of a regular file; renaming does not change it. Zero: there is no such file.
struct file_id {
    dev_t device;
    ino_t inode;
};
struct file_id file_id(const char *path);
struct file_id file_id_open(int fd);
// Removes the file if it has this identity. Returns true if the file was removed.
bool file_remove(const char *path, struct file_id id);

// A temporary file with a name of file_create_after. At the end, it replaces the existing file `path`, as
// file_write_atomic does. Meanwhile that file is locked, so that two runs do not replace the same one.
struct file_draft {
    char temporary[PATH_MAX];
    char target[PATH_MAX];
    struct file_id own, replaced; // of these two files
    int locked;                   // descriptor of the file `target`; -1: it did not exist
};
// Makes the temporary file. Returns its descriptor, for writing, which the caller closes before the draft ends. -1 with
// errno set on failure; ESPIPE: the path is a device or a pipe; EWOULDBLOCK: another run writes or replaces the file.
int file_draft_begin(struct file_draft *draft, const char *path);
// Renames the temporary file. False with errno set on failure; it then keeps its name. EEXIST: another program has
// replaced the file `path`, which stays.
bool file_draft_end(struct file_draft *draft);
// Ends the draft without a change of `path`, and without `keep` removes the temporary file.
void file_draft_cancel(struct file_draft *draft, bool keep);

// Returns true if the file can be written: with `atomic` by file_write_atomic, otherwise by opening or creating it.
// Tries it with another file in the same directory. False with errno set.
bool file_writable(const char *path, bool atomic);

// Returns the last part of a path.
const char *file_base(const char *path);
// Writes the directory of a path; "." if it has none.
void file_directory(const char *path, char directory[PATH_MAX]);
// Writes the path of a name that is relative to a directory (NULL: the working directory) or begins with "~/". False:
// it has no room.
bool file_path(const char *name, const char *directory, char *path, size_t size);

// Returns true if two paths name the same file, which need not exist. Always false for character devices such as
// /dev/null, which may have several writers.
bool file_same(const char *a, const char *b);
// Returns true if the path names the open file. Always false for character devices.
bool file_is_open(const char *path, int fd);

// ---- outputs of a run ----

// The name of an output file from the start of a run to its end. If another program creates a file of this name during
// the run, or replaces the file, the run does not replace that file, but writes its output under another name. One
// thread at a time.
struct claim {
    char path[PATH_MAX]; // of the output; claim_make may change it; "": no output
    bool missing;        // the file did not exist at claim_take, and claim_make has not created it yet
    struct file_id own;  // the file that this run may replace; zero: any
};

// Fills in the claim. Creates no file. False with errno set: the file cannot be written.
bool claim_take(struct claim *claim, const char *path);
// Creates the file if it was missing. If another program has created or replaced it meanwhile (logged), uses the first
// free name of NAME-2.SUFFIX, NAME-3.SUFFIX, ... *file: the descriptor of the file that it created, for writing, which
// the caller closes; later the name may be that of another file. -1: no file was missing. False with errno set.
bool claim_make(struct claim *claim, int *file);
// Calls claim_make, then writes the new file, or replaces the older one as file_write_atomic does. False with errno
// set; a file that it created is removed.
bool claim_write(struct claim *claim, const void *data, size_t size);

// An output that grows during the run: the file that the run has created, or a draft that replaces the file at the end.
struct growing {
    bool drafted;
    struct file_draft draft;
};
// Opens the output `name`. *file: the descriptor of claim_make, which stays open also on failure; -1: becomes that of a
// draft, or stays -1 for a pipe or a device, which the caller opens. Locks the file against other runs. Returns NULL,
// or why the file cannot be written.
const char *growing_open(struct growing *growing, const char *name, int *file);
// Call after the descriptor is closed. A `complete` draft replaces the file. If that fails, it keeps its own name. The
// same if it is not complete; without `keep` it is then removed. Logs where it is. Returns false if a complete one
// cannot be renamed; true if another program has replaced the file.
bool growing_close(struct growing *growing, const char *name, bool complete, bool keep);

// ---- edited files ----

// Watches a directory (NULL: none yet). Returns a descriptor above 0, which does not block and which the caller closes;
// -1 with errno set on failure.
int file_watch_open(const char *directory);
// Watches one more directory. Returns its number, or -1 with errno set.
int file_watch_add(int watch, const char *directory);

struct file_event {
    int directory;    // its number
    const char *name; // of the file in it; NULL: the directory itself was removed, or `lost`
    bool written;     // written or moved in; false: deleted
    bool lost;        // too many events arrived at once, and some are missing; `directory` is -1
};
// Calls `take` for each event that has arrived, and returns true if `take` did for one of them. Descriptor 0 or -1:
// returns false.
bool file_watch_take(int watch, bool (*take)(void *context, const struct file_event *event), void *context);
// Returns true if events have arrived, and `wanted` is true for the name of one; or if some are missing.
bool file_watch_any(int watch, bool (*wanted)(const char *name, const void *context), const void *context);
