// chain_operand.h: detects operands that belong to the value of --filter
#pragma once

#include "command/command.h"

// Finds an operand that is not a file and continues the chain, as in "-f blur=2 gray" or "-f blur 2". `chain` is the
// value of --filter, or NULL. Returns true if there is no such operand. Otherwise logs the correct spelling and returns
// false.
bool chain_operands_none(const struct command_operands *operands, const char *chain);
