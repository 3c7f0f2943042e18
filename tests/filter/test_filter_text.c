// test_filter_text.c: the words of the filter `text`
#include "filter/picture.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct frame_time frame_time = {
    .number = 7, .time_ns = 3723004000000, .clock_s = 86400 + 3661, .source = "/a/b{frame}%F.jpg"};

static void check_words(void)
{
    static const struct {
        const char *text, *expanded;
    } rows[] = {
        {"%F %H:%M:%S", "1970-01-02 01:01:01"},
        {"%-H:%_M:%-S %^b %-d.%0e", "1: 1:1 JAN 2.02"}, // flags
        {"{frame}{frame}, 100%%", "77, 100%"},
        {"{time}", "1:02:03.004"},
        {"é {source}", "é b{frame}%F.jpg"},
        {"{stem}:", "b{frame}%F:"},
        {"frame}", "frame}"},
        {"Cafe\u0301 U\u0308bung", "Caf\u00e9 \u00dcbung"},                                 // names of macOS
        {"a\u0323\u0302\u0438\u0306\u03b1\u0313\u0300=\u0338", "\u1ead\u0439\u1f02\u2260"}, // one mark after the other
    };
    char expanded[TEXT_FILTER_MOST];
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        CHECK(!text_filter_why(rows[i].text));
        text_filter_expand(rows[i].text, &frame_time, expanded);
        CHECK_TEXT(expanded, rows[i].expanded);
    }
    const struct frame_time later = {.number = 1ull << 40, .time_ns = 40ll * 24 * 3600 * 1000000000};
    text_filter_expand("{frame} {time}", &later, expanded); // after 2^31 ms
    CHECK_TEXT(expanded, "1099511627776 960:00:00.000");
    text_filter_expand("{host}", &frame_time, expanded);
    CHECK(strlen(expanded) > 0 && !strchr(expanded, '{'));
    text_filter_expand("{date}{model}.", &(struct frame_time){.source = "/nowhere.jpg"}, expanded);
    CHECK_TEXT(expanded, ".");
}

static void check_long(void)
{
    char text[FILTER_FILE] = "", expanded[TEXT_FILTER_MOST], name[300];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    while (strlen(text) + 9 < sizeof(text))
        strcat(text, "{source}");
    text_filter_expand(text, &(struct frame_time){.source = name}, expanded);
    CHECK(strlen(expanded) > 300 && strlen(expanded) < TEXT_FILTER_MOST);
}

static void check_refused(void)
{
    static const unsigned lao[][2] = {{0xeb1, 0xeb1}, {0xeb4, 0xebc}, {0xec8, 0xecd}};
    static const char *const fields =
        "there is no such field; use {frame}, {time}, {source}, {stem}, {host}, {date} or {model}";
    static const char *const percent = "a % begins a conversion of strftime, such as %H; write %% for a percent sign";
    static const char *const letters =
        "the font lacks a letter, or it is a combining mark or written from right to left; use others";
    CHECK_TEXT(text_filter_why("{name}"), fields);
    CHECK_TEXT(text_filter_why("a{"), fields);
    CHECK_TEXT(text_filter_why("100%"), percent);
    CHECK_TEXT(text_filter_why("%Q"), percent);
    CHECK_TEXT(text_filter_why("%n"), percent);
    CHECK_TEXT(text_filter_why("\u05e9\u05dc\u05d5\u05dd"), letters); // Hebrew
    CHECK_TEXT(text_filter_why("\u0633"), letters);                   // Arabic
    CHECK_TEXT(text_filter_why("\u6f22"), letters);                   // a wide letter
    CHECK_TEXT(text_filter_why("x\u0301"), letters);                  // a mark on a letter
    CHECK_TEXT(text_filter_why("\u00ad"), letters);
    for (int i = 0; i < 3; i++) // Lao letter, mark
        for (unsigned mark = lao[i][0]; mark <= lao[i][1]; mark++) {
            const char text[] = {
                '\xe0', '\xba', '\x81', '\xe0', (char)(0x80 | (mark >> 6 & 63)), (char)(0x80 | (mark & 63)), 0};
            CHECK_TEXT(text_filter_why(text), letters);
        }
    CHECK_TEXT(text_filter_why("\xff"), letters);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
    check_words();
    check_long();
    check_refused();
    return check_end(&unit);
}
