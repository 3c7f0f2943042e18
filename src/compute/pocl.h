// pocl.h: a temporary directory for the kernels that PoCL compiles, if its own cannot be used
#pragma once

// PoCL (OpenCL on CPUs) loads kernels from files in its cache directory. If it cannot create them there (the home
// directory is missing, read-only or mounted noexec), it has no device or compiles nothing. On a full file system it
// ends the process. Other users who can write there could make it run their code.
struct pocl_cache {
    char path[128]; // temporary directory; "": PoCL's own is used, or none can be made
    char why[256];  // PoCL's own directory, and its fault
};

// If PoCL's directory (POCL_CACHE_DIR or its default) cannot be used, makes a temporary one and sets POCL_CACHE_DIR to
// it. Call before any thread starts, because setenv is not thread-safe, and before the first use of OpenCL.
void pocl_cache_open(struct pocl_cache *cache);
// Removes the temporary directory. Logs a warning, with advice, if PoCL has used it.
void pocl_cache_close(struct pocl_cache *cache);
