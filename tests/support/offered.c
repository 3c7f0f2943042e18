// offered.c: -p auto times cpu, opencl and gl on every host; linked into the program with --wrap=path_candidates
#include "path/choice.h"

int __wrap_path_candidates(const struct path_offer *offer, enum path_kind first, enum path_kind kinds[PATH_KINDS]);
int __wrap_path_candidates(const struct path_offer *offer, enum path_kind first, enum path_kind kinds[PATH_KINDS])
{
    int count = 0;
    kinds[count++] = first;
    for (int kind = PATH_CPU; kind <= PATH_GL; kind++) {
        if (kind != (int)first)
            kinds[count++] = (enum path_kind)kind;
    }
    return count;
}
