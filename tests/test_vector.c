// test_vector.c: the operations of base/vector.h beside plain C, at the level that MONOCLE_VECTORS names
#include "vector_ops.h"

#include <string.h>

// The argument is the level to test; skips it if the processor lacks that level.
int main(int count, char **level)
{
    struct check check = {.name = "vector"};
    if (count != 2 || strcmp(level[1], vectors_name(vectors_level())) != 0)
        return CHECK_SKIP;
    vector_ops()(&check);
    return check_end(&check);
}
