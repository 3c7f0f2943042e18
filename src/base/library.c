// library.c: loads shared libraries
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

bool library_load(const char *name, const struct library_function *functions, size_t count)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    bool ok = library;
    for (size_t i = 0; ok && i < count; i++) {
        void *found = dlsym(library, functions[i].name);
        memcpy(functions[i].place, &found, sizeof(found));
        ok = found;
    }
    return ok;
}
