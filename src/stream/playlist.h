// playlist.h: the sources that play one after another
#pragma once

#include <stdbool.h>

// Zeroed is empty. Only playlist.c uses the members.
struct playlist {
    char *text;   // the items, each with its NUL
    char **item;  // texts of sources: source_setup.text
    int count;    // 0 or 1: there is nothing to play after the first source
    int next;     // index of the next item
    int failures; // in a row
};

// Makes a playlist of the sources in `lines`, one per line. Image files that follow one another are one slide show.
// False: out of memory.
bool playlist_init(struct playlist *list, const char *lines);
void playlist_free(struct playlist *list); // accepts a zeroed struct
// Returns the next source, valid until playlist_free. NULL: there is none. `loop`: the first one follows the last one.
const char *playlist_take(struct playlist *list, bool loop);
bool playlist_more(const struct playlist *list, bool loop); // true: playlist_take would return a source
// Reports whether the source could be opened. If none of them can, there is no next source.
void playlist_opened(struct playlist *list, bool ok);
