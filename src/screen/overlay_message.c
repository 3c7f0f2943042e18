// overlay_message.c: the box at the bottom: a passing note, or an error with its lines
#include "screen/overlay_parts.h"

void message_draw(struct canvas *canvas, const struct overlay *overlay)
{
    enum { WIDEST = 100, ROWS = 24 };
    const struct metrics metrics = metrics_for(canvas, metrics_x_height(canvas, overlay->size));
    const struct letters *letters = &metrics.body;
    const int room = metrics_columns(&metrics, canvas->width - 2 * metrics.margin - 2 * metrics.padding);
    const int height_most = overlay->message_is_error ? canvas->height : canvas->height / 2;
    const int most = (height_most - 2 * metrics.margin - 2 * metrics.padding) / letters->line;
    struct span row[ROWS];
    int rows = 0, columns = 0;
    struct span rest = span_of(overlay->message);
    while (rest.length > 0 && rows < ROWS && rows < most) {
        row[rows] = span_take_line(&rest, room < WIDEST ? room : WIDEST);
        const int length = span_columns(row[rows++]);
        columns = length > columns ? length : columns;
    }
    if (rows == 0)
        return;
    const int width = columns * letters->advance + 2 * metrics.padding;
    const int height = rows * letters->line + metrics.padding * 3 / 2;
    const struct rect box = {(canvas->width - width) / 2, canvas->height - metrics.margin - height, width, height};
    const bool error = overlay->message_is_error;
    canvas_round(canvas, box, metrics.radius, error ? palette.alarm : palette.panel);
    if (error) {
        const int mark = metrics.padding / 4;
        canvas_fill(canvas, (struct rect){box.x, box.y + metrics.radius, mark, box.height - 2 * metrics.radius},
                    palette.alert);
    }
    for (int i = 0; i < rows; i++) {
        const bool first = i == 0;
        const struct paint paint = palette.tone[!error ? OVERLAY_STRONG : first ? OVERLAY_WARNING : OVERLAY_PLAIN];
        canvas_text(canvas, letters, box.x + metrics.padding, box.y + metrics.padding * 3 / 4 + i * letters->line,
                    row[i], paint);
    }
}
