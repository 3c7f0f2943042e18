// passes_json.h: how a path runs its passes, as JSON
#pragma once

#include "path/path.h"

struct json_t; // of jansson

// Returns how a path runs its passes, as a JSON array.
struct json_t *passes_json(const struct path_pass *pass, int passes);
