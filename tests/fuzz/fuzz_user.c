// fuzz_user.c: hostile files of users' filters, declarations and code; a libFuzzer target, and by itself a run over
// seeds and their mutations
#include "filter/user_filter.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

// The code keeps its lines, and the parameters have legal values.
static bool is_sound(const struct user_filter *user, int lines)
{
    struct filter_values values = {.matrix_count = 0};
    struct filter_arguments arguments = {.count = 0};
    for (int i = 0; user->param[i].name; i++) {
        const struct param *row = &user->param[i];
        if (!(row->preset >= row->min && row->preset <= row->max && row->step > 0))
            return false;
        values.value[i] = row->max;
    }
    user_filter_prepare(user, &values, &arguments);
    return count_lines(user->text) == lines && arguments.count == FACTS + USER_PARAMS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), error[USER_ERROR] = ""; // exact size, so that a sanitizer reports reads beyond it
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    const int lines = count_lines(text);
    struct user_filter *user = user_filter_make("a", text, size, error); // takes over the text
    if (user ? !is_sound(user, lines) : !error[0] || strchr(error, '\n'))
        abort();
    user_filter_free(user);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

static const char *const seeds[] = {
    "//!SUMMARY a\n//!KIND point\n//!PARAM b\n//!DESC c\n//!TYPE float\n//!RANGE -1 2.5\n//!DEFAULT 1\n//!STEP 0.5\n"
    "//!SCALE 16\n//!PARAM d\n//!CHOICES e|f\n//!DEFAULT f\nINLINE pixel filter_a(pixel p, int x, int y, arguments "
    "args)\n{\n    p.r = p.g * 2 / -(x % 3).r + ARG(args, 0);\n    return p;\n}\n",
    "//!SUMMARY a\n//!KIND stencil\n//!RADIUS 15\n#define F(x, y) (x / 2) /* g */\n/*\n*/ // h\n"
    "STRUCT(t)\nstruct t { int a, b; pixel p; };\nINLINE int f(t u, int s)\n{\n    u.a /= F(s, F(2, u.b++));\n    "
    "switch (s) { case 1: return u.p.r; default: s += 2; }\n    return s;\n}\n"
    "INLINE int filter_a(view v, arguments args)\n{\n    int s = 0, t2;\n    for (int i = 0; i < 3; i++)\n"
    "        s += tap(v, i, 0x1f) ? 1 : s / i / 3;\n    do {\n        s /= s % 010 == 0 ? 5 : 7;\n"
    "    } while (s > 3 && s != -1);\n    return s << 1 >> 2;\n}\n",
    "//!KIND\n//!PARAM\n//!RANGE 1e38 -1e38\n//!CHOICES a\n",
};

int main(int argc, char **argv)
{
    return fuzz_texts(&(struct fuzz_texts){seeds, sizeof(seeds) / sizeof(*seeds),
                                           "0123456789.-+*/%()[]{}\"'\\:;,<>=!?&|# \n_aefkpDEGIMNORSTU", 8},
                      argc, argv);
}
#endif
