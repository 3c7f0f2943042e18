// spelling.c: the normal form of a file name
#include "command/batch/spelling.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct spelling {
    char *text;
    size_t length;
    size_t direct; // length of the part that has no symbolic links
};

static void add_part(struct spelling *spelling, const char *part, size_t size)
{
    if (spelling->length > 0 && spelling->text[spelling->length - 1] != '/')
        spelling->text[spelling->length++] = '/';
    memcpy(spelling->text + spelling->length, part, size);
    spelling->length += size;
    spelling->text[spelling->length] = '\0';
}

// Handles "..": removes the last part. If that part is a symbolic link, its parent is elsewhere: resolves the link
// first.
static void go_up(struct spelling *spelling)
{
    char real[PATH_MAX];
    struct stat status;
    const char *last = strrchr(spelling->text, '/');
    const bool known = spelling->length > 0 && strcmp(last ? last + 1 : spelling->text, "..") != 0;
    if (!known) {
        add_part(spelling, "..", 2);
        return;
    }
    if (spelling->length > spelling->direct && lstat(spelling->text, &status) == 0 && S_ISLNK(status.st_mode)) {
        add_part(spelling, "..", 2);
        if (realpath(spelling->text, real)) {
            strcpy(spelling->text, real);
            spelling->length = spelling->direct = strlen(real);
        }
        return;
    }
    spelling->length = last ? (size_t)(last - spelling->text) + (last == spelling->text) : 0;
    spelling->text[spelling->length] = '\0';
    if (spelling->direct > spelling->length)
        spelling->direct = spelling->length;
}

char *spelling_plain(const char *directory, const char *path)
{
    const size_t above = strlen(directory);
    const size_t most = above > PATH_MAX ? above : PATH_MAX; // longest result of realpath
    struct spelling spelling = {.text = malloc(most + strlen(path) + 8)};
    if (!spelling.text)
        return NULL;
    strcpy(spelling.text, *path == '/' ? "/" : directory);
    spelling.length = spelling.direct = strlen(spelling.text);
    for (const char *part = path + strspn(path, "/"); *part;) {
        const size_t size = strcspn(part, "/");
        if (size == 2 && strncmp(part, "..", 2) == 0)
            go_up(&spelling);
        else if (size != 1 || *part != '.')
            add_part(&spelling, part, size);
        part += size + strspn(part + size, "/");
    }
    const bool below = above > 0 && strncmp(spelling.text, directory, above) == 0 && spelling.text[above] == '/';
    char *plain = strdup(spelling.text + (below ? above + 1 : 0));
    free(spelling.text);
    return plain;
}
