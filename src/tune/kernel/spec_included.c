// spec_included.c: finds the files that a user's kernel includes
#include "base/file.h"
#include "tune/kernel/spec.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 256, FILE_BYTES = 16 << 20, DIRECTORIES = 32 };

struct include_finder {
    FILE *out; // gets the texts of the files, with their names
    char *file[FILES];
    int files;
    char options[SPEC_OPTIONS];
    const char *directory[DIRECTORIES]; // of the options -I
    int directories;
};

// Finds the directories of the options "-I directory" and "-Idirectory".
static void find_directories(struct include_finder *finder)
{
    char *rest = finder->options;
    bool next = false;
    for (char *word; (word = strsep(&rest, " \t"));) {
        const char *directory = next ? word : strncmp(word, "-I", 2) == 0 ? word + 2 : "";
        next = strcmp(word, "-I") == 0;
        if (*directory && finder->directories < DIRECTORIES)
            finder->directory[finder->directories++] = directory;
    }
}

static void follow(struct include_finder *finder, const char *path, const char *text);

// Adds a file, once, and the files that it includes.
static void add(struct include_finder *finder, const char *directory, int length, const char *name, int name_length)
{
    char *path = NULL;
    if (name[0] == '/')
        length = 0;
    if (asprintf(&path, "%.*s%s%.*s", length, directory, length > 0 && directory[length - 1] != '/' ? "/" : "",
                 name_length, name) < 0)
        return;
    bool known = finder->files == FILES;
    for (int i = 0; i < finder->files && !known; i++)
        known = strcmp(finder->file[i], path) == 0;
    char *text = known ? NULL : file_read_text(path, FILE_BYTES);
    if (!text) {
        free(path);
        return;
    }
    finder->file[finder->files++] = path;
    fprintf(finder->out, "%s\n%s\n", path, text);
    follow(finder, path, text);
    free(text);
}

// Adds the files that the text of a file includes.
static void follow(struct include_finder *finder, const char *path, const char *text)
{
    const char *slash = strrchr(path, '/');
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *at = line + strspn(line, " \t");
        if (*at != '#')
            continue;
        at += 1 + strspn(at + 1, " \t");
        if (strncmp(at, "include", 7) != 0)
            continue;
        at += 7 + strspn(at + 7, " \t");
        const char *name = at + 1;
        const int length = (int)strcspn(name, "\">\n");
        if ((*at != '"' && *at != '<') || length == 0 || length > PATH_MAX)
            continue;
        add(finder, path, slash ? (int)(slash + 1 - path) : 0, name, length);
        add(finder, "", 0, name, length);
        for (int i = 0; i < finder->directories; i++)
            add(finder, finder->directory[i], (int)strlen(finder->directory[i]), name, length);
    }
}

bool spec_find_included(const struct spec *spec, struct spec_kernel *kernel)
{
    char *path = spec_file(spec, kernel->file), *texts = NULL;
    size_t bytes;
    struct include_finder *finder = calloc(1, sizeof(*finder));
    bool ok = finder && path && (finder->out = open_memstream(&texts, &bytes));
    if (ok) {
        memcpy(finder->options, kernel->options, sizeof(finder->options));
        find_directories(finder);
        follow(finder, path, kernel->text);
        ok = fclose(finder->out) == 0;
    }
    if (ok)
        hash_128_text(texts, bytes, kernel->included);
    for (int i = 0; finder && i < finder->files; i++)
        free(finder->file[i]);
    free(finder);
    free(texts);
    free(path);
    return ok;
}
