// test_build_log.c: places in a compiler's messages
#include "compute/program.h"
#include "unit.h"

static const char text[] = "#line 1 \"plan\"\n"
                           "#define A\n"
                           "#line 1 \"gray.cl\"\n"
                           "// gray\n"
                           "#line 1 \"pixel.cl\"\n"
                           "int x;\n"
                           "#line 3 \"gray.cl\"\n"
                           "broken\n"
                           "more\n"
                           "#line 20\n" // of the same file
                           "last\n";

static void expect(const char *log, const char *want)
{
    char *got = build_log_places(log, text);
    CHECK_TEXT(got, want);
    free(got);
}

int main(void)
{
    expect("<kernel>:8:1: error: broken", "gray.cl:3:1: error: broken");
    expect("<kernel>:9:4: error", "gray.cl:4:4: error");
    expect("<kernel>:11:2: note", "gray.cl:20:2: note");
    expect("<kernel>:6:5: error\n<kernel>:2:1: note", "pixel.cl:1:5: error\nplan:1:1: note");
    expect("error: gray.cl:3:1: as it is", "error: gray.cl:3:1: as it is");
    expect("<kernel>: no number, <kernel>:x, <kernel>:0:1", "<kernel>: no number, <kernel>:x, <kernel>:0:1");
    expect("<kernel>:99:1: past the end", "gray.cl:21:1: past the end");
    expect("", "");
    return check_end(&unit);
}
