// fuzz_results.c: hostile results of `bench`; a libFuzzer target, and by itself a run over seeds and their
// mutations
#include "base/log.h"
#include "bench/results.h"
#include "command/bench/bench_command.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

// Drops the tables.
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return freopen("/dev/null", "w", stdout) ? 0 : -1;
}

// Each result that is read can be compared with the others, shown as tables, and read again.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct bench_test test = {.name = "a.b", .unit = "ms", .definition = "d"};
    struct bench_results results, again;
    char *exact = malloc(size ? size : 1); // so that a sanitizer sees a byte too many
    if (size)
        memcpy(exact, data, size);
    log_set_level(LOG_SILENT);
    const bool read = results_parse(&results, exact, size, "fuzz");
    free(exact);
    for (int i = 0; read && i < results.count; i++) {
        struct bench_result *compared = &results.result[i];
        results_compare(compared, &results);
        figure_table_print(&test, compared);
        figure_table_verdicts(compared);
        json_t *json = result_json(compared);
        char *text = json_dumps(json, JSON_REAL_PRECISION(6));
        if (!text || !results_parse(&again, text, strlen(text), "fuzz"))
            abort();
        results_free(&again);
        json_decref(json);
        free(text);
    }
    if (read)
        results_free(&results);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

#define DEVICE(name, figures)                                                                                          \
    "{\"format\":1,\"monocle\":\"1\",\"device\":{\"name\":\"" name "\",\"platform\":\"P\",\"driver\":\"2\","           \
    "\"compute_units\":2},\"tests\":{\"a.b\":{\"unit\":\"ms\",\"definition\":\"d\"}},\"figures\":[" figures "]}\n"
#define FIGURE(width, value, spread)                                                                                   \
    "{\"test\":\"a.b\",\"parameters\":{\"type\":\"int\",\"width\":" width "},\"status\":\"ok\",\"value\":" value       \
    ",\"spread\":" spread ",\"rounds\":9,\"checked\":true,\"by_event\":2.5,\"note\":\"n\"}"

static const char *const seeds[] = {
    DEVICE("D", FIGURE("1", "2.5", "0.01") "," FIGURE("2", "1e9", "0")),
    DEVICE("D", FIGURE("1", "3", "0.1") "," FIGURE("1", "9", "1")) DEVICE("E", FIGURE("4", "-2", "0.5")),
    DEVICE("D", "{\"test\":\"a.b\",\"parameters\":{\"part\":\"x\"},\"status\":\"skipped\",\"reason\":\"r\"},"
                "{\"test\":\"a.b\",\"parameters\":{},\"status\":\"failed\",\"reason\":\"it crashed\"}"),
};

int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize(&argc, &argv) != 0)
        return 1;
    return fuzz_texts(&(struct fuzz_texts){seeds, sizeof(seeds) / sizeof(*seeds), "0123456789.-e\n\"{}[]:,\\u", 3},
                      argc, argv);
}
#endif
