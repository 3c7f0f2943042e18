// param.c: the words of a parameter's choices
#include "filter/param.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void param_choice_name(const struct param *row, int index, char *text, size_t size)
{
    const char *word = row->choices;
    for (int i = 0; word && i < index; i++) {
        word = strchr(word, '|');
        word = word ? word + 1 : NULL;
    }
    snprintf(text, size, "%.*s", word ? (int)strcspn(word, "|") : 0, word ? word : "");
}

int param_choice_find(const struct param *row, const char *word)
{
    const size_t length = strlen(word);
    int index = 0;
    for (const char *at = row->choices; at; index++) {
        const size_t span = strcspn(at, "|");
        if (span == length && strncasecmp(at, word, length) == 0)
            return index;
        at = at[span] ? at + span + 1 : NULL;
    }
    return -1;
}
