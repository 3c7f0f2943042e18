// test_source_strip.c: comments and white space disappear from kernel text, and nothing else
#include "path/pass_tuned.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text, *want;
} rows[] = {
    {"", ""},
    {" \t\n ", ""},
    {"int  a;\n\n\tint b; \n", "int a; int b;"},
    {"int a; // one\nint b;", "int a; int b;"},
    {"int/**/a/* x\n y */= 1;", "int a = 1;"},
    {"a /* // */ b // /* \nc */ d", "a b c */ d"},
    {"a /* no end", "a"},
    {"a //", "a"},
    {"a / b", "a / b"},
    {"a /\\\n/ b\nc", "a c"},
    {"// one \\\n two\nint c;", "int c;"},
    {"// one \\\r\n two\r\nint c;", "int c;"},
    {"in\\\nt a;", "int a;"},
    {"\"a  /* b */ // c\"  'x'", "\"a  /* b */ // c\" 'x'"},
    {"\"a\\\"  // b\" // c", "\"a\\\"  // b\""},
    {"'\"' /* a */ '\\'' /* \" */", "'\"' '\\''"},
    {"#error don't  // stop\nint  a;", "#error don't  // stop\nint a;"},
    {"int a;\n#define  X(a)   a\n\n  int b;\n", "int a;\n#define X(a) a\nint b;"},
    {"#define X \\\n  1\nint a;", "#define X 1\nint a;"},
    {"#define X /* 1\n */ 2\n  #if X // 3\n#endif", "#define X 2\n#if X\n#endif"},
    {"a\n/* b */ # define X\nb # c", "a\n# define X\nb # c"},
    {"#line 1 \"a.cl\"\nint a;\n#line 9 \"b.cl\"\n#define X\n#liner\n#line 3 \"a.cl\"", "int a;\n#define X\n#liner\n"},
};

int main(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *text = strdup(rows[i].text);
        if (!CHECK(text != NULL))
            break;
        source_strip(text);
        CHECK_TEXT(text, rows[i].want);
        source_strip(text);
        CHECK_TEXT(text, rows[i].want); // nothing is left to remove
        free(text);
    }
    return check_end(&unit);
}
