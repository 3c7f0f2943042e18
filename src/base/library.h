// library.h: shared libraries that are loaded at run time, because most runs do not need them
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct library_function {
    const char *name;
    void *place; // address of the function pointer
};

// Loads the library, which stays loaded, and finds its functions. Returns false if the library or a function is
// missing.
bool library_load(const char *name, const struct library_function *functions, size_t count);
