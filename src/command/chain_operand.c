// chain_operand.c: detects operands that belong to the value of --filter
#include "command/chain_operand.h"

#include "base/log.h"
#include "filter/chain.h"

#include <stdio.h>
#include <unistd.h>

// Parses first, because access is slow for thousands of files on a network.
static bool is_chain(const char *word, const char *text)
{
    struct chain chain;
    char error[CHAIN_ERROR];
    return chain_parse(&chain, text, error) && access(word, F_OK) != 0;
}

bool chain_operands_none(const struct command_operands *operands, const char *chain)
{
    static const char *const joints[] = {",", "="};
    for (int i = 0; i < operands->count; i++) {
        const char *word = operands->word[i];
        for (int k = 0; k < 2; k++) {
            char text[CHAIN_TEXT];
            const char *before = chain ? chain : "", *joint = chain ? joints[k] : "";
            if (snprintf(text, sizeof(text), "%s%s%s", before, joint, word) >= CHAIN_TEXT || !is_chain(word, text))
                continue;
            log_error("there is no file '%s'; did you mean -f '%s'?", word, text);
            return false;
        }
    }
    return true;
}
