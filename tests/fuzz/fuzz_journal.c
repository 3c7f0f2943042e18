// fuzz_journal.c: hostile lines of the log of a search; a libFuzzer target, and by itself a run over seeds and
// mutations
#include "tune/journal.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static long results; // lines that were results

static bool source(const struct subject *subject, int configuration, char hash[HASH_TEXT])
{
    if (configuration < 0 || configuration >= subject->space.count)
        abort();
    snprintf(hash, HASH_TEXT, "%032d", configuration);
    return true;
}

static const struct subject_type type = {.source = source};

// A result that is read can be used: its configuration is of the space, and it has a time or has failed.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct subject subject = {.type = &type, .name = "blur"};
    struct tuner_trial trial;
    double spent_s = 0;
    space_init(&subject.space);
    space_add_param(&subject.space, "variant");
    space_add_param(&subject.space, "ROWS");
    space_add_value(&subject.space, 0, "window");
    for (uint16_t i = 0; i < 3; i++) {
        space_add_value(&subject.space, 1, (const char *[]){"1", "2", "4"}[i]);
        space_add(&subject.space, (uint16_t[]){0, i});
    }
    space_sort(&subject.space);
    char *exact = malloc(size ? size : 1); // so that a sanitizer sees a byte too many
    if (size)
        memcpy(exact, data, size);
    const enum journal_line kind = journal_parse(&subject, exact, size, &trial, &spent_s);
    free(exact);
    const bool known = trial.configuration >= 0 && trial.configuration < subject.space.count;
    const bool timed = trial.status == PROBE_PASSED && isfinite(trial.ms) && trial.ms > 0;
    if (kind == JOURNAL_TRIAL && (!known || !(timed || (isinf(trial.ms) && trial.status != PROBE_PASSED)) ||
                                  !isfinite(spent_s) || memchr(trial.why, '\0', sizeof(trial.why)) == NULL))
        abort();
    space_finish(&subject.space);
    results += kind == JOURNAL_TRIAL ? 1 : 0;
    return 0;
}

#ifndef FUZZER
static const char *const seeds[] = {
    "{\"name\":\"blur\",\"source\":\"00000000000000000000000000000001\",\"configuration\":{\"variant\":\"window\","
    "\"ROWS\":\"2\"},\"status\":\"passed\",\"ms\":[1.5,1e-3,2],\"validate_ms\":3,\"build_ms\":0.1,\"why\":\"\","
    "\"spent_s\":12.25}",
    "{\"name\":\"blur\",\"source\":\"00000000000000000000000000000002\",\"configuration\":{\"variant\":\"window\","
    "\"ROWS\":\"4\"},\"status\":\"late\",\"ms\":[],\"validate_ms\":3,\"build_ms\":0,\"why\":\"it hangs\","
    "\"spent_s\":0}",
};
enum { SEEDS = sizeof(seeds) / sizeof(*seeds) };

// Knuth's MMIX generator; its high bits are good enough here.
static unsigned next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

int main(int argc, char **argv)
{
    enum { ROOM = 1024, ROUNDS = 20000 };
    static const char letters[] = "0123456789.-e\"{}[]:,";
    uint64_t state = 1;
    char data[ROOM];
    for (int i = 0; i < SEEDS; i++)
        LLVMFuzzerTestOneInput((const uint8_t *)seeds[i], strlen(seeds[i]));
    if (results != SEEDS)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        const char *seed = seeds[next_random(&state) % SEEDS];
        size_t size = strlen(seed);
        memcpy(data, seed, size);
        for (unsigned n = 1 + next_random(&state) % 3; n > 0; n--)
            data[next_random(&state) % size] = next_random(&state) % 4
                                                   ? letters[next_random(&state) % (sizeof(letters) - 1)]
                                                   : (char)next_random(&state);
        LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    }
    printf("%d lines tried; %ld were results\n", ROUNDS, results);
    return 0;
}
#endif
