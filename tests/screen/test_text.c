// test_text.c: UTF-8 is decoded, and lines are broken to a width
#include "base/text.h"
#include "screen/overlay.h"
#include "unit.h"

#include <stdint.h>

static void test_characters(void)
{
    struct span span = {"a\xc3\xa9\xe2\x88\x9a\xf0\x9f\x98\x80\xff\xc3(\xe2\x88\xc0\xaf\xed", 18};
    static const uint32_t want[] = {'a',    0xe9,   0x221a, 0x1f600, 0xfffd, 0xfffd, '(',
                                    0xfffd, 0xfffd, 0xfffd, 0xfffd,  0xfffd, 0};
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        const uint32_t got = span_next(&span);
        check_that(&unit, got == want[i], "character %zu is %#x, not %#x", i, got, want[i]);
    }
    CHECK_NUMBER(span_columns(span_of("√ to 40 ms")), 10);
    CHECK_NUMBER(span_head(span_of("é√😀x"), 2).length, 5);
    CHECK_NUMBER(span_head(span_of("abc"), 9).length, 3);
}

// The lines of a text with bars between them.
static void check_lines(const char *text, int columns, const char *want)
{
    char got[256] = "";
    struct span rest = span_of(text);
    for (int i = 0; i < 20 && rest.length > 0; i++) {
        const struct span line = span_take_line(&rest, columns);
        check_that(&unit, span_columns(line) <= columns || columns < 1, "'%s': a line is wider than %d", text, columns);
        const size_t used = strlen(got);
        snprintf(got + used, sizeof(got) - used, "%.*s|", (int)line.length, line.text);
    }
    CHECK_TEXT(got, want);
}

static void test_lines(void)
{
    check_lines("", 5, "");
    check_lines("short", 9, "short|");
    check_lines("exact", 5, "exact|");
    check_lines("one two three", 7, "one two|three|");
    check_lines("one two three", 8, "one two|three|");
    check_lines("one two three", 6, "one|two|three|");
    check_lines("unbreakable", 4, "unbr|eaka|ble|");
    check_lines("a\nb\n", 5, "a|b|");
    check_lines("a\n\nb", 5, "a||b|");
    check_lines("one two\nthree", 7, "one two|three|");
    check_lines("one two   \nthree", 7, "one two|three|");
    check_lines("    indented", 6, "    in|dented|");
    check_lines("  in de nted", 7, "  in de|nted|");
    check_lines("ééééé", 2, "éé|éé|é|");
    check_lines("abc", 0, "a|b|c|");
}

static void test_overlay_line(void)
{
    static struct overlay overlay;
    overlay_line(&overlay, OVERLAY_WARNING, "%d%%", 50);
    CHECK_TEXT(overlay.line[0].text, "50%");
    CHECK(overlay.line[0].tone == OVERLAY_WARNING);
    overlay_line(&overlay, OVERLAY_PLAIN, "%0*d", OVERLAY_TEXT - 1, 1);
    CHECK_NUMBER(strlen(overlay.line[1].text), OVERLAY_TEXT - 1);
    overlay_line(&overlay, OVERLAY_PLAIN, "%0*d", OVERLAY_TEXT, 1);
    CHECK_HAS(overlay.line[2].text, "00…");
    char long_text[OVERLAY_TEXT * 2 + 1] = "";
    for (int i = 0; i < OVERLAY_TEXT; i++)
        strcat(long_text, "é");
    overlay_line(&overlay, OVERLAY_PLAIN, "%s", long_text);
    CHECK_HAS(overlay.line[3].text, "éé…");
    CHECK(strchr(overlay.line[3].text, '\xff') == NULL);
    CHECK_NUMBER(overlay.lines, 4);
}

int main(void)
{
    test_characters();
    test_lines();
    test_overlay_line();
    return check_end(&unit);
}
