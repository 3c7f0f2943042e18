// choice_list.h: a list from which the user chooses a row, as plain data, and its drawing
#pragma once

#include <stdbool.h>

struct canvas;

enum { CHOICE_ROWS = 14, CHOICE_TEXT = 128 };

struct choice_list {
    char title[CHOICE_TEXT];            // the first line, with the typed text
    char row[CHOICE_ROWS][CHOICE_TEXT]; // UTF-8; "label\tdetail"
    int rows, selected;                 // rows 0 and an empty title: there is no list
    bool above, below;                  // there are more rows
    bool placed;                        // the list is at the pointer, else in the middle
    float x, y;                         // of the pointer, 0..1
};

void choice_list_draw(struct canvas *canvas, const struct choice_list *list);
// Returns the row at this place, in pixels; -1: none, but inside the list; -2: outside. Call after canvas_begin.
int choice_list_row(const struct canvas *canvas, const struct choice_list *list, int x, int y);
