// test_vector.c: compares the operations of base/vector.h with plain C, at the level that MONOCLE_VECTORS names
#include "vector_ops.h"

#include <string.h>

// The argument is the level to test. The test is skipped if the processor lacks this level.
int main(int count, char **level)
{
    struct check check = {.name = "vector"};
    if (count != 2 || strcmp(level[1], vectors_name(vectors_level())) != 0)
        return CHECK_SKIP;
    vector_ops()(&check);
    return check_end(&check);
}
