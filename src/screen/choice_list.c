// choice_list.c: a list from which the user chooses a row, and its drawing
#include "screen/choice_list.h"

#include "screen/canvas.h"

#include <string.h>

enum { X_HEIGHT = 8, ACROSS = 45, COLUMNS = 84, DETAIL = 16 }; // letters; a narrower window has smaller ones

static const struct paint panel = {12, 15, 21, 236}, mark = {36, 66, 116, 255}, title_tone = {255, 255, 255, 255},
                          label_tone = {255, 255, 255, 255}, detail_tone = {190, 198, 210, 255};

struct layout {
    struct letters letters;
    int padding, columns;
    struct rect box;
};

// Returns the place, moved to at most `most`, or 0 if this is negative.
static int place_within(int at, int most)
{
    if (at < most)
        return at;
    return most > 0 ? most : 0;
}

static struct layout layout_of(const struct canvas *canvas, const struct choice_list *list)
{
    const int usual = canvas_pixels(canvas, X_HEIGHT), fitting = canvas->width / ACROSS;
    const int x_height = fitting < usual ? fitting : usual;
    struct layout at = {.letters = canvas_letters(canvas, fitting < 5 ? 5 : x_height)};
    at.padding = at.letters.line * 3 / 5;
    const int room = (canvas->width - 2 * at.padding) / at.letters.advance;
    at.columns = room < COLUMNS ? room : COLUMNS;
    at.box.width = at.columns * at.letters.advance + 2 * at.padding;
    at.box.height = (list->rows + 1) * at.letters.line + 2 * at.padding;
    const int x = list->placed ? (int)(list->x * (float)canvas->width) : (canvas->width - at.box.width) / 2;
    const int most =
        (CHOICE_ROWS + 1) * at.letters.line + 2 * at.padding; // the first line stays while the list shrinks
    const int y = list->placed ? (int)(list->y * (float)canvas->height) : (canvas->height - most) / 2;
    const int right = canvas->width - at.box.width, bottom = canvas->height - at.box.height;
    at.box.x = place_within(x, right);
    at.box.y = place_within(y, bottom);
    return at;
}

static void draw_row(struct canvas *canvas, const struct layout *at, const char *text, int y)
{
    const char *tab = strchr(text, '\t');
    const struct span label = {text, tab ? (size_t)(tab - text) : strlen(text)};
    const int x = at->box.x + at->padding, used = span_columns(label) + 1;
    const int column = used > DETAIL ? used : DETAIL;
    canvas_text_within(canvas, &at->letters, x, y, label, at->columns, label_tone);
    if (tab && column < at->columns)
        canvas_text_within(canvas, &at->letters, x + column * at->letters.advance, y, span_of(tab + 1),
                           at->columns - column, detail_tone);
}

void choice_list_draw(struct canvas *canvas, const struct choice_list *list)
{
    const struct layout at = layout_of(canvas, list);
    const int line = at.letters.line, x = at.box.x + at.padding;
    int y = at.box.y + at.padding;
    canvas_round(canvas, at.box, line * 2 / 5, panel);
    canvas_text(canvas, &at.letters, x, y, span_head(span_of(list->title), at.columns - 4), title_tone);
    static const char *const arrows[2][2] = {{"", "  ↓"}, {"↑", "↑ ↓"}};
    const char *more = arrows[list->above][list->below];
    canvas_text(canvas, &at.letters, x + (at.columns - 3) * at.letters.advance, y, span_of(more), detail_tone);
    for (int i = 0; i < list->rows; i++) {
        y += line;
        if (i == list->selected)
            canvas_fill(canvas, (struct rect){at.box.x, y, at.box.width, line}, mark);
        draw_row(canvas, &at, list->row[i], y);
    }
}

int choice_list_row(const struct canvas *canvas, const struct choice_list *list, int x, int y)
{
    const struct layout at = layout_of(canvas, list);
    const int row = (y - at.box.y - at.padding) / at.letters.line - 1;
    if (x < at.box.x || y < at.box.y || x >= at.box.x + at.box.width || y >= at.box.y + at.box.height)
        return -2;
    return row >= 0 && row < list->rows ? row : -1;
}
