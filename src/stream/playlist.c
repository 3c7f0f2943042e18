// playlist.c: the sources that play one after another
#include "stream/playlist.h"

#include "source/source.h"

#include <stdlib.h>
#include <string.h>

bool playlist_init(struct playlist *list, const char *lines)
{
    const size_t bytes = strlen(lines) + 1;
    size_t most = 1, used = 0;
    for (const char *at = lines; *at; at++)
        most += *at == '\n';
    *list = (struct playlist){.text = malloc(bytes + most * sizeof("@\n")), .item = calloc(most, sizeof(char *))};
    if (!list->text || !list->item) {
        playlist_free(list);
        return false;
    }
    bool slides = false;
    for (const char *line = lines;; line++) {
        const size_t length = strcspn(line, "\n");
        memcpy(list->text + used, line, length);
        list->text[used + length] = '\0';
        const bool image = most > 1 && source_is_image_name(list->text + used);
        if (image && slides)
            list->text[used - 1] = '\n'; // in place of the NUL
        else
            list->item[list->count++] = list->text + used;
        if (image && !slides) {
            memmove(list->text + used + 2, list->text + used, length + 1);
            memcpy(list->text + used, "@\n", 2);
            used += 2;
        }
        slides = image;
        used += length + 1;
        line += length;
        if (!*line)
            return true;
    }
}

void playlist_free(struct playlist *list)
{
    free(list->text);
    free(list->item);
    *list = (struct playlist){0};
}

bool playlist_more(const struct playlist *list, bool loop)
{
    return list->failures < list->count && (list->next < list->count || (loop && list->count > 1));
}

const char *playlist_take(struct playlist *list, bool loop)
{
    return playlist_more(list, loop) ? list->item[list->next++ % list->count] : NULL;
}

void playlist_opened(struct playlist *list, bool ok)
{
    list->failures = ok ? 0 : list->failures + 1;
}
