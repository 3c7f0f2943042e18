// shard.c: divides a batch into parts by file names
#include "command/batch/shard.h"

#include "base/hash.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

enum { SHARDS_MAX = 1000000 };

// Parses digits up to the character `end`. Returns -1 for any other text.
static long parse_count(const char *text, char end)
{
    char *rest;
    const long value = *text >= '0' && *text <= '9' ? strtol(text, &rest, 10) : -1;
    return value >= 0 && value <= SHARDS_MAX && *rest == end ? value : -1;
}

// Takes the index from the environment variables of a cluster.
static bool find_index(struct shard *shard)
{
    static const char *const variables[] = {"SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"};
    const char *least = getenv("SLURM_ARRAY_TASK_MIN"), *most = getenv("SLURM_ARRAY_TASK_MAX");
    const long range = least && most ? parse_count(most, '\0') - parse_count(least, '\0') + 1 : 0;
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
        const char *text = getenv(variables[i]);
        const long id = text ? parse_count(text, '\0') : -1;
        if (text && id < 0) {
            log_error("%s is '%s', but must be a whole number for --shard %d", variables[i], text, shard->count);
            return false;
        }
        if (id < 0)
            continue;
        if (i == 0 && range > shard->count) { // the range also counts the tasks that an array with a step leaves out
            log_error(
                "the array has tasks %s to %s, but --shard makes %d parts: two tasks would process the same part; "
                "number the tasks in steps of 1",
                least, most, shard->count);
            return false;
        }
        shard->index = (int)(id % shard->count);
        return true;
    }
    log_error(
        "--shard %d does not say which part; use --shard K/%d, or set SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX",
        shard->count, shard->count);
    return false;
}

bool shard_parse(struct shard *shard, const char *text)
{
    const char *slash = strchr(text, '/');
    const long count = parse_count(slash ? slash + 1 : text, '\0'), number = slash ? parse_count(text, '/') : 1;
    if (count < 1 || number < 1 || number > count) {
        log_error("--shard is '%s', but must be K/N with K from 1 to N, or N in a task of a cluster", text);
        return false;
    }
    *shard = (struct shard){(int)(number % count), (int)count};
    return slash || find_index(shard);
}

bool shard_has(const struct shard *shard, const char *relative)
{
    return hash_64(relative, strlen(relative)) % (uint64_t)shard->count == (uint64_t)shard->index;
}
