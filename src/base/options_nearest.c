// options_nearest.c: which known word was meant
#include "base/options.h"

#include <string.h>

enum { WORD_MAX = 48, PREFIX_MIN = 3 };

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours each cost 1.
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[3][WORD_MAX + 1]; // row i is row[i % 3]; a swap looks two rows back
    for (size_t j = 0; j <= b_length; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *here = row[i % 3];
        const size_t *above = row[(i + 2) % 3], *above2 = row[(i + 1) % 3];
        here[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            const size_t substitute = above[j - 1] + (a[i - 1] != b[j - 1]);
            here[j] = min_size(substitute, min_size(above[j], here[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                here[j] = min_size(here[j], above2[j - 2] + 1);
        }
    }
    return row[a_length % 3][b_length];
}

const char *options_nearest(const char *word, const char *const *words)
{
    const size_t length = strlen(word);
    if (length == 0 || length > WORD_MAX)
        return NULL;
    const char *nearest = NULL;
    size_t least = (length + 2) / 3 + 1; // one mistake in up to 3 letters, two in 6; more is another word
    for (; *words; words++) {
        const size_t other = strlen(*words);
        if (other > WORD_MAX)
            continue;
        size_t apart = distance(word, length, *words, other);
        if (length >= PREFIX_MIN && strncmp(word, *words, length) == 0)
            apart = min_size(apart, 1); // cut short, not misspelt
        if (apart < least && apart < min_size(length, other)) {
            least = apart;
            nearest = *words;
        }
    }
    return nearest;
}
