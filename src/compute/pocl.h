// pocl.h: a place for the kernels that PoCL compiles, where its own cannot be used
#pragma once

// PoCL, OpenCL on processors, runs kernels from files in its cache. Where it can make none (a home directory that is
// missing, read-only or mounted noexec) it has no device, or compiles nothing; where the file system is full it ends
// the process. Where other users can write, they could have it run programs of theirs.
struct pocl_cache {
    char path[128]; // of the temporary directory; "" where PoCL's own place will do, or no place
    char why[256];  // PoCL's own place, and what is wrong with it
};

// Points POCL_CACHE_DIR at a temporary directory where PoCL's place, that or its own, cannot be used. To be called
// before any thread starts, since the environment may not change behind their backs, and before OpenCL is first used.
void pocl_cache_open(struct pocl_cache *cache);
// Removes the directory. If PoCL has used it, a warning says how its kernels could be kept.
void pocl_cache_close(struct pocl_cache *cache);
