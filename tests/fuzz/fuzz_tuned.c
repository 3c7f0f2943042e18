// fuzz_tuned.c: hostile files of tuned entries; a libFuzzer target, and by itself a run over seeds and their mutations
#include "compute/tuned.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const struct tuned_list *list, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    tuned_print_head(out);
    for (size_t i = 0; i < list->count; i++)
        tuned_entry_print(list->entry[i], out);
    fclose(out);
    return text;
}

// The entries that are read from a file, printed and read again are the same.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tuned_list list = {0}, again = {0};
    struct tuned_damage damage;
    char why[TUNED_TEXT_WHY];
    size_t printed, reprinted;
    char *exact = malloc(size ? size : 1); // so that a sanitizer sees a byte too many
    if (size)
        memcpy(exact, data, size);
    tuned_parse(exact, size, &list, &damage, why);
    free(exact);
    char *text = print(&list, &printed);
    if (!tuned_parse(text, printed, &again, &damage, why) || damage.lines > 0)
        abort();
    char *other = print(&again, &reprinted);
    if (again.count != list.count || strcmp(text, other) != 0)
        abort();
    free(other);
    free(text);
    tuned_list_free(&again);
    tuned_list_free(&list);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

#define LINE "rgba>blur2>buffer\t2M\twindow:ROWS=8\t0.5000\t1.25\t-\tD\tV\tgpu\tsm_90\t132\t550.1\tabc"

static const char *const seeds[] = {
    "monocle tuned 1\n" LINE "\n",
    "monocle tuned 1\n# note\n\n" LINE "\n" LINE,
    "monocle tuned 1\n" LINE "\nbroken\nnv12>gray>image\t1\tgeneric\t999999999.9999\t0\t2026\t \t-\t-\t-\t0\t-\t-\n",
    "monocle tuned 2\n" LINE "\n",
};

int main(int argc, char **argv)
{
    return fuzz_texts(&(struct fuzz_texts){seeds, sizeof(seeds) / sizeof(*seeds), "0123456789.-\t\n#KMG ", 3}, argc,
                      argv);
}
#endif
