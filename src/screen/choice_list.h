// choice_list.h: a list from which the user chooses a row, as plain data, and its drawing
#pragma once

#include <stdbool.h>

struct canvas;
struct image;
struct rect;

enum { CHOICE_ROWS = 64, CHOICE_TEXT = 128 };
enum { CHOICE_WIDTH = 160, CHOICE_HEIGHT = 90 }; // of a row's picture, in pixels; in the window times the content scale

struct choice_list {
    char title[CHOICE_TEXT];            // the first line, with the typed text
    char row[CHOICE_ROWS][CHOICE_TEXT]; // UTF-8; "label\tdetail"
    bool heading[CHOICE_ROWS];          // the row names the group below it, and cannot be chosen
    int rows, selected;                 // rows 0 and an empty title: there is no list
    int most;                           // rows of all pages, without a typed text
    bool above, below;                  // there are more rows
    bool placed;                        // the list is at the pointer, else in the middle
    float x, y;                         // of the pointer, 0..1
    bool large;                         // letters of twice the size
    bool pictured;                      // each row has a picture; the list is at the left, without details
    const struct image *sheet;          // RGBA, with all pictures in a column; NULL: there is none yet
    unsigned sheet_changes;             // of its pixels
    int picture[CHOICE_ROWS];           // number of the row's picture in the sheet; -1: none
};

void choice_list_draw(struct canvas *canvas, const struct choice_list *list);
// Call the others after canvas_begin. Returns the number of rows for which the window has room, from the list's members
// `large` and `pictured`.
int choice_list_room(const struct canvas *canvas, const struct choice_list *list);
// Returns the place of a row's picture.
struct rect choice_list_picture(const struct canvas *canvas, const struct choice_list *list, int row);
// Returns the row at this place, in pixels; -1: none, but inside the list; -2: outside.
int choice_list_row(const struct canvas *canvas, const struct choice_list *list, int x, int y);
