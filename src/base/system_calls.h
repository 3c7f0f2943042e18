// system_calls.h: system calls of Linux for which musl, the C library of Alpine, has no functions
#pragma once

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

// Closes all descriptors from `first` on. `flags`: 0, or CLOSE_RANGE_CLOEXEC: only in the programs that are started
// from now on. Returns -1 before Linux 5.9, with this flag before 5.11.
static inline int close_from(int first, unsigned flags)
{
    return (int)syscall(SYS_close_range, (unsigned)first, ~0U, flags);
}

// Renames a file; EEXIST if `to` exists. EINVAL or ENOSYS: the file system or the kernel cannot do this.
static inline int rename_unless_exists(const char *from, const char *to)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}
