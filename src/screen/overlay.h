// overlay.h: what the overlay shows, as plain data, and its drawing
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct canvas;
struct keys;

// ---- a list from which the user chooses a row ----

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

// Call these after canvas_begin. Returns the number of rows for which the window has room, from the list's members
// `large` and `pictured`.
int choice_list_room(const struct canvas *canvas, const struct choice_list *list);
// Returns the place of a row's picture.
struct rect choice_list_picture(const struct canvas *canvas, const struct choice_list *list, int row);
// Returns the row at this place, 0..1; -1: none, but inside the list; -2: outside.
int choice_list_row(const struct canvas *canvas, const struct choice_list *list, float across, float down);

// ---- the overlay ----

enum { OVERLAY_LINES = 48, OVERLAY_TEXT = 320, OVERLAY_STAGES = 24, OVERLAY_HISTORY = 120 };

enum overlay_size { OVERLAY_OFF, OVERLAY_SMALL, OVERLAY_FULL, OVERLAY_LARGE, OVERLAY_SIZES };

enum overlay_tone { OVERLAY_PLAIN, OVERLAY_DIM, OVERLAY_STRONG, OVERLAY_WARNING };

struct overlay_line {
    char text[OVERLAY_TEXT]; // UTF-8; "label\tvalue" shows a dim label in a column of its own
    enum overlay_tone tone;
};

struct overlay_stage {
    char name[64];
    double ms; // median of the last frames
    double p95_ms;
    bool device;                    // measured by the device's clock
    float history[OVERLAY_HISTORY]; // ms, oldest first
    int history_count;
};

// A graph of numbers that were measured in the picture.
enum { SCOPE_CURVES = 3, SCOPE_POINTS = 256 };
struct overlay_scope {
    char name[OVERLAY_TEXT];                 // above the graph
    float curve[SCOPE_CURVES][SCOPE_POINTS]; // 0 to 1
    int curves;                              // 3: red, green, blue; 1: brightness; 0: no graph
    int points;
};

struct overlay {
    enum overlay_size
        size; // SMALL: the first line, strong lines and warnings; FULL: all; LARGE: all, twice the letter size
    struct overlay_line line[OVERLAY_LINES];
    int lines;
    struct overlay_stage stage[OVERLAY_STAGES];
    int stages;
    struct overlay_scope scope; // shown with each size of the overlay
    double budget_ms;           // time available for one frame, marked in the graphs; 0: unknown
    const struct keys *keys;    // for the list of keys; borrowed
    bool help;                  // the list of keys covers the picture
    struct choice_list list;    // drawn above all
    char message[512];          // a note, or a compile error with several lines; "": none
    bool message_is_error;
    bool message_is_trouble; // the message is shown even if the overlay is off, because the picture is at fault
};

// Appends a line, printf-like. A long line is cut with an ellipsis; a full overlay stays unchanged.
void overlay_line(struct overlay *overlay, enum overlay_tone tone, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void overlay_draw(struct canvas *canvas, const struct overlay *overlay);
