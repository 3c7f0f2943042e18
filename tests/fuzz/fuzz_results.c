// fuzz_results.c: hostile results of `bench`; a libFuzzer target, and by itself a run over seeds and their
// mutations
#include "base/log.h"
#include "bench/results.h"
#include "command/bench/figure_table.h"

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

static void print_table(const json_t *result)
{
    const struct bench_test test = {.name = "a.b", .unit = "ms", .definition = "d"};
    const json_t *item;
    struct figure figures[64] = {0};
    int count = 0;
    size_t i;
    json_array_foreach(json_object_get(result, "figures"), i, item)
    {
        if (count < 64 && figure_read(item, &figures[count]))
            count++;
    }
    if (count > 0)
        figure_table_print(&test, figures, count);
    figure_table_verdicts(result);
}

// Each result that is read can be compared with the others, shown as tables, and read again.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *result;
    size_t i;
    char *exact = malloc(size ? size : 1); // so that a sanitizer sees a byte too many
    if (size)
        memcpy(exact, data, size);
    log_set_level(LOG_SILENT);
    json_t *results = results_parse(exact, size, "fuzz");
    free(exact);
    json_array_foreach(results, i, result)
    {
        json_t *compared = json_deep_copy(result);
        results_compare(compared, results);
        print_table(compared);
        char *text = json_dumps(compared, JSON_REAL_PRECISION(6));
        json_t *again = text ? results_parse(text, strlen(text), "fuzz") : NULL;
        if (!again)
            abort();
        json_decref(again);
        json_decref(compared);
        free(text);
    }
    json_decref(results);
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
