// cpu_tuning.h: parameters that change the speed of the cpu path, never its bytes, and their tuning results
#pragma once

#include "base/processor.h"
#include "compute/tuned.h"
#include "filter/chain.h"
#include "image/image.h"

enum cpu_param { CPU_BANDS, CPU_PREFETCH, CPU_STREAM, CPU_PARAMS };
enum { CPU_VALUES = 8, CPU_TUNING_TEXT = 64, CPU_KEY = 512 };

// A parameter, and its legal values in ascending order.
struct cpu_param_info {
    const char *name;
    int values, value[CPU_VALUES];
};
extern const struct cpu_param_info cpu_params[CPU_PARAMS];

enum { CPU_UNSET = -1 };
struct cpu_tuning {
    int value[CPU_PARAMS]; // CPU_UNSET: the default
};

// Parses "rows" or "rows:BANDS=8:PREFETCH=2"; parameters that are left out become CPU_UNSET. False for any other text
// and for illegal values.
bool cpu_tuning_parse(struct cpu_tuning *tuning, const char *text);
void cpu_tuning_print(const struct cpu_tuning *tuning, char text[CPU_TUNING_TEXT]);

struct path_setup;
// Writes the default values. CPU_UNSET: the parameter does not change how this setup runs.
void cpu_tuning_preset(const struct path_setup *setup, struct cpu_tuning *preset);

// A chain on the cpu path as a key of the database: "cpu:nv21>blur2+gray>rgba" on this processor. Do not move or copy
// it: `key` points to its other members.
struct cpu_key {
    struct tuned_key key;
    char chain[CPU_KEY], size[TUNED_SIZE], model[PROCESSOR_NAME], vendor[PROCESSOR_NAME];
};
void cpu_key_make(struct cpu_key *key, const struct chain *chain, const struct image_shape *input, int threads);

// Finds the best entry of the database with legal values. False: there is none among the 50 best entries.
bool cpu_tuned(struct tuned *tuned, const struct cpu_key *key, struct cpu_tuning *tuning, struct tuned_found *found);
