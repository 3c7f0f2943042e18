// test_log.c: the text of a message on a terminal, and foreign text as JSON
#include "base/json_text.h"
#include "base/log.h"

#include "unit.h"

#include <jansson.h>

static const char *escaped(const char *text)
{
    static char out[256];
    const size_t length = log_escape(out, sizeof(out), text);
    CHECK_NUMBER(length, strlen(out));
    return out;
}

static void test_kept(void)
{
    static const char *const kept[] = {
        "",
        "plain ASCII ~ !",
        "tab\there",
        "\xc2\xa0", // the first character behind the control characters
        "Bär, €, 日本, \xf0\x9f\x98\x80",
        "\xed\x9f\xbf\xee\x80\x80", // around the surrogates
        "\xf4\x8f\xbf\xbf",         // the last character of Unicode
    };
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        CHECK_TEXT(escaped(kept[i]), kept[i]);
}

static void test_escaped(void)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"red\x1b[31m", "red\\x1b[31m"},
        {"bell\a\b\r\n\x7f", "bell\\x07\\x08\\x0d\\x0a\\x7f"},
        {"\xc2\x9b"
         "31m",
         "\\xc2\\x9b31m"},                   // a control character of two bytes
        {"\xe2\x80\xae", "\\xe2\\x80\\xae"}, // it turns the text around
        {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"}, // the same in an overlong form
        {"\xc0\x9b \xc1\xbf", "\\xc0\\x9b \\xc1\\xbf"},
        {"\xf0\x82\x82\x9b", "\\xf0\\x82\\x82\\x9b"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, // a surrogate
        {"\xf4\x90\x80\x80 \xf5 \xff", "\\xf4\\x90\\x80\\x80 \\xf5 \\xff"},
        {"cut \xe2\x82", "cut \\xe2\\x82"},
        {"cut \xf0\x9f\x98", "cut \\xf0\\x9f\\x98"},
        {"latin \xe9t\xe9", "latin \\xe9t\\xe9"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        CHECK_TEXT(escaped(rows[i].text), rows[i].want);
}

static void test_fits(void)
{
    char out[6] = "#####";
    CHECK_NUMBER(log_escape(out, sizeof(out), "abcdefgh"), 5);
    CHECK_TEXT(out, "abcde");
    CHECK_NUMBER(log_escape(out, sizeof(out), "ab\x1b"), 2); // no part of an escape sequence
    CHECK_TEXT(out, "ab");
    CHECK_NUMBER(log_escape(out, sizeof(out), "abc\xe2\x82\xac"), 3); // no part of a character
    CHECK_TEXT(out, "abc");
    CHECK_NUMBER(log_escape(out, 1, "a"), 0);
    CHECK_TEXT(out, "");
    CHECK_NUMBER(log_escape(NULL, 0, "a"), 0);
}

static void test_messages(void)
{
    struct captured c;
    capture_stderr(&c);
    log_error("cannot open %s: it is %d", "x\x1b]0;title\ay", 7);
    log_message(LOG_WARN + LOG_LINES, "the compiler says:\n%s\n\n", "a.cl:1: error\n\tx\n   ^");
    log_error("%s: %s", "a\nmonocle: error: forged", "b\r\n\xc2\x9b");
    log_info("not shown");
    CHECK_TEXT(captured_stderr(&c), "monocle: error: cannot open x\\x1b]0;title\\x07y: it is 7\n"
                                    "monocle: warning: the compiler says:\n  a.cl:1: error\n  \tx\n     ^\n"
                                    "monocle: error: a\\x0amonocle: error: forged: b\\x0d\\x0a\\xc2\\x9b\n");
    char huge[5000];
    memset(huge, '\x1b', sizeof(huge) - 1);
    huge[sizeof(huge) - 1] = '\0';
    capture_stderr(&c);
    log_error("%s", huge);
    const char *said = captured_stderr(&c);
    CHECK_HAS(said, "\\x1b\\x1b\n");
    memset(huge, '\n', sizeof(huge) - 1);
    capture_stderr(&c);
    log_error("a%sb", huge);
    CHECK_HAS(captured_stderr(&c), "monocle: error: a\\x0a\\x0a");
}

// Lines of any length are printed; newlines in their texts are escaped.
static void test_line(void)
{
    char name[3000], *text, wanted[4 * sizeof(name)] = "";
    size_t size;
    FILE *out = open_memstream(&text, &size);
    memset(name, '\x1b', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    for (size_t i = 0; i < sizeof(name) - 1; i++)
        strcat(wanted, "\\x1b");
    log_print_line(out, "%s", name);
    log_print_line(out, "two\n%s -> %d", "lines\t€", 7);
    fclose(out);
    CHECK(strncmp(text, wanted, strlen(wanted)) == 0);
    CHECK_TEXT(text + strlen(wanted), "\ntwo\\x0alines\t€ -> 7\n");
    free(text);
}

static void test_once(void)
{
    struct captured c;
    capture_stderr(&c);
    for (int i = 0; i < 3; i++) {
        log_warn_once("one");
        log_warn_once("two: 100 %s");
    }
    CHECK_TEXT(captured_stderr(&c), "monocle: warning: one\nmonocle: warning: two: 100 %s\n");
}

// Bytes that are not part of UTF-8 are replaced, and no others.
static void test_json(void)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", ""},
        {"Bär \xf0\x9f\x98\x80", "Bär \xf0\x9f\x98\x80"},
        {"Bär\xff 日\x80.png", "Bär\xef\xbf\xbd 日\xef\xbf\xbd.png"},
        {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"}, // a cut character
        {"\xc0\xaf\n\xed\xa0\x80",
         "\xef\xbf\xbd\xef\xbf\xbd\n\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, // an overlong form, a surrogate
        {"\xef\xbf\xbd\xff", "\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        json_t *value = text_json(rows[i].text);
        CHECK_TEXT(json_string_value(value), rows[i].want);
        json_decref(value);
    }
}

int main(void)
{
    test_json();
    test_kept();
    test_escaped();
    test_fits();
    test_messages();
    test_line();
    test_once();
    return check_end(&unit);
}
