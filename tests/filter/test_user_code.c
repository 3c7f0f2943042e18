// test_user_code.c: the code that the parser of users' filters writes, and the code that it refuses
#include "filter/user_code.h"
#include "filter/user_filter.h"
#include "unit.h"

#include <stdarg.h>

// Puts a function around statements. The caller frees the result.
static char *in_function(const char *statements)
{
    char *text = NULL;
    if (asprintf(&text, "INLINE int f(int x, int y, pixel p)\n{ %s return x; }", statements) < 0)
        abort();
    return text;
}

// Checks that the code becomes one that has `part`.
static void becomes(const char *text, const char *part, int line)
{
    char why[USER_WHY] = "";
    int at = 0;
    char *made = user_code_make("n", true, text, &at, why);
    check_that(&unit, made && strstr(made, part), "line %d: '%s' lacks '%s' (%s)", line, made ? made : "(refused)",
               part, why);
    free(made);
}

// Checks that the code is refused in a line with a text.
static void refused(const char *text, int wanted_line, const char *part, int line)
{
    char why[USER_WHY] = "";
    int at = 0;
    char *made = user_code_make("n", true, text, &at, why);
    check_that(&unit, !made && strstr(why, part) && at == wanted_line && !strchr(why, '\n'),
               "line %d: '%.200s' is not refused in line %d with '%s', but: %d: '%s'", line, text, wanted_line, part,
               at, made ? made : why);
    free(made);
}

static void statements_become(const char *statements, const char *part, int line)
{
    char *text = in_function(statements);
    becomes(text, part, line);
    free(text);
}

static void statements_refused(const char *statements, const char *part, int line)
{
    char *text = in_function(statements);
    refused(text, 2, part, line);
    free(text);
}

#define BECOMES(text, part) becomes(text, part, __LINE__)
#define REFUSED(text, at, part) refused(text, at, part, __LINE__)
#define DOES(statements, part) statements_become(statements, part, __LINE__)
#define CANNOT(statements, part) statements_refused(statements, part, __LINE__)

static void check_divisions(void)
{
    DOES("x = x / 2;", "own_nX_x = own_nX_x / 2;");
    DOES("x = x / 0;", "own_nX_x = user_div( own_nX_x, 0);"); // compilers make a trap of it
    DOES("x = x / 0x0;", "user_div( own_nX_x, 0x0);");
    DOES("x = x % 2;", "own_nX_x = user_mod( own_nX_x, 2);");
    DOES("x /= y;", "own_nX_x = user_div( own_nX_x, own_nX_y);");
    DOES("p.r /= 2;", "own_nX_p.r = user_div( own_nX_p.r, 2);");
    DOES("p\n.r\n%=\ny;", "own_nX_p\n.r = user_mod( own_nX_p .r,\n\nown_nX_y);");
    DOES("x = y * x / y % 3 - 1;", "= user_mod( user_div( own_nX_y * own_nX_x, own_nX_y), 3) - 1;");
    DOES("return x / -y / (x - y);", "return user_div( user_div( own_nX_x, - own_nX_y), (own_nX_x - own_nX_y));");
}

static void check_numbers(void)
{
    DOES("x = 2147483647 + 0x7fffffff + 010;", "2147483647 + 0x7fffffff + 010");
    CANNOT("x = 2147483648;", "2147483648 is not an integer from 0 to 2147483647");
    CANNOT("x = 4294967295;", "4294967295 is not an integer");
    CANNOT("x = 4294967296;", "4294967296 is not an integer");
    CANNOT("x = 0xffffffff;", "0xffffffff is not an integer");
    CANNOT("x = 99999999999999999999;", "9999999 is not an integer");
    CANNOT("x = 1u;", "1u is not");
    CANNOT("x = 1.5;", "1.5 is not");
    CANNOT("x = 09;", "09 is not");
}

// Each way to a pointer or an array.
static void check_memory(void)
{
    REFUSED("#define E\nINLINE int f(int x)\n{\n    int *q = 4096;\n    E *(q + x) = 5;\n    return x;\n}\n", 4,
            "pointers");
    REFUSED("#define E\nINLINE int f(int x)\n{\n    E *(4096) = 5;\n    return x;\n}\n", 4, "pointers");
    CANNOT("UNROLL *(x) = 5;", "pointers");
    CANNOT("x = (int)*x;", "a filter cannot have casts");
    CANNOT("x = (pixel){1, 2, 3, 4}.r;", "casts");
    CANNOT("if (x) *x = 5;", "pointers");
    CANNOT("x = x + &y;", "pointers");
    CANNOT("x = x && *y;", "pointers");
    CANNOT("x = p->r;", "pointers");
    CANNOT("int a[3];", "arrays");
    CANNOT("int a<:3:>;", "'<' cannot stand here");
    CANNOT("int a\?\?(3\?\?);", "'?' cannot stand here");
    CANNOT("int a = x \?\?( y;", "'?' cannot stand here");
    CANNOT("x = \"a\";", "the kernel language has no '\"'");
    CANNOT("arguments a; x = ARG(a, 0);", "a variable of the type arguments needs a value");
    CANNOT("view v; x = tap(v, 0, 0);", "a variable of the type view needs a value");
    CANNOT("switch (x) { int a = 1; case 1: x = a; }", "a switch begins with 'case' or 'default'");
    CANNOT("switch (x) { case 1: int a = 1; x = a; }", "put brackets");
    CANNOT("switch (x) { x = 1; case 1: x = 2; }", "a switch begins with 'case' or 'default'");
    CANNOT("switch (x) { case y: x = 2; }", "a case needs a number");
    CANNOT("switch (x) { case max(1, 2): x = 2; }", "a case needs a number");
    CANNOT("switch (x) { case 9 % 4: x = 2; }", "a case needs a number");
    DOES("switch (x) { case 1: x = 2; default: case -9 / 2 + (1 << 3): }", "case 4 : ; }");
    CANNOT("{ int x = x + 1; }", "the value of 'x' uses another variable of this name");
    CANNOT("for (int y = 2 * y; y < 3; y++) x++;", "the value of 'y' uses another variable");
    BECOMES("INLINE int f(int x) { for (int i = 0; i < 4; i++) { int i = 7; x += i; } return x; }\n",
            "own_nX_i ++) { {");
    REFUSED("STRUCT(s)\nstruct s { view v; };\n", 2, "the members of a struct have the type int");
    REFUSED("struct s { int *a; };\n", 1, "pointers");
    REFUSED("INLINE int *f(int x) { return x; }\n", 1, "pointers");
    REFUSED("INLINE int f(int *x) { return 1; }\n", 1, "pointers");
    REFUSED("INLINE int f(int x)\n{\n    x = f(x);\n    return x;\n}\n", 3, "the function 'f' calls itself");
    REFUSED("#define G f\nINLINE int f(int x)\n{\n    return G(x);\n}\n", 4, "calls itself");
    REFUSED("INLINE int f(int x)\n{\n    return g(x);\n}\nINLINE int g(int x) { return f(x); }\n", 3,
            "no function 'g'");
    REFUSED("INLINE view f(view v) { }\n", 1, "no return");
    REFUSED("INLINE int f(int x) { if (x > 0) return 1; }\n", 1, "no return");
    REFUSED("INLINE int f(int x) { return; }\n", 1, "needs a value");
    BECOMES("INLINE int f(int x) { if (x > 0) return 1; else { return 2; } }\n", "else {");
    BECOMES("INLINE int f(int x) { switch (x) { case 1: return 1; default: return 2; } }\n", "switch");
    REFUSED("INLINE int f(int x) { switch (x) { case 1: break; default: return 2; } }\n", 1, "no return");
    BECOMES("INLINE int f(int x) { switch (x) { case 1: return 1; break; default: { return 2; break; } } }\n", "{");
    REFUSED("INLINE int f(int x) { switch (x) { case 1: return 1; case 2: break; default: return 2; } }\n", 1, "no re");
    REFUSED("INLINE int f(int x) { switch (x) { default: return 1; break; case 2: x = 1; } }\n", 1, "no return");
}

// A `do` runs at least once, unlike other loops, but `break` and `continue` leave its turn.
static void check_loop_returns(void)
{
    static const char *const returning[] = {
        "do { return x; } while (0);",
        "do return x; while (x);",
        "do { if (x) return 1; else return 2; break; } while (x);",
        "do { for (;;) { break; } return x; } while (0);",
        "do { switch (x) { case 1: break; } return x; } while (0);",
        "do { do { return 1; } while (x); } while (x);",
    };
    static const char *const others[] = {
        "do { if (x) break; return x; } while (0);",
        "do { if (x) continue; return x; } while (0);",
        "do { switch (x) { case 1: continue; } return x; } while (0);",
        "do { do { if (x) break; return 1; } while (x); } while (x);",
        "do { x = 1; } while (0);",
        "while (1) { return x; }",
        "for (;;) return x;",
    };
    char text[200];
    for (size_t i = 0; i < sizeof(returning) / sizeof(*returning); i++) {
        snprintf(text, sizeof(text), "INLINE int f(int x) { %s }\n", returning[i]);
        BECOMES(text, "return");
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        snprintf(text, sizeof(text), "INLINE int f(int x) { %s }\n", others[i]);
        REFUSED(text, 1, "no return");
    }
    CANNOT("do { x = 1; } while (x); break;", "'break' stands outside a loop");
}

static void check_macros(void)
{
    BECOMES("#define A 3\n#define F(x, y) ((x) * A / (y))\nINLINE int f(int x) { return F(x + 1, F(x, 2)); }\n",
            "\n\nINLINE int own_nX_f(int own_nX_x) { return( user_div((own_nX_x + 1) * 3, (( user_div((own_nX_x) * 3, "
            "(2)))))); }");
    BECOMES("#define F(a) \\\n  (a + 1) // c\nINLINE int f(int x) { return F\n( 2 ) + F (3); }\n",
            "\n\nINLINE int own_nX_f(int own_nX_x) { return(\n  2 + 1) + (3 + 1);");
    BECOMES("#define F(a) \\\r\n  a\nINLINE int f(int x) { return F(x); }\n", "return own_nX_x;");
    BECOMES("#define M -\nINLINE int f(int x) { return M M x; }\n", "return - - own_nX_x;");
    BECOMES("#define A(x) x\n#define B A\nINLINE int f(int A) { return A + B; }\n", "return own_nX_A + own_nX_A;");
    static const char *const known[] = {"sat8", "luma", "tap", "ARG", "int", "pixel", "if", "return", "INLINE", "min"};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        char text[200];
        snprintf(text, sizeof(text), "#define %s(v) 1\n", known[i]);
        REFUSED(text, 1, "cannot be a macro");
        snprintf(text, sizeof(text), "INLINE int f(int x) { int %s = 1; return x; }\n", known[i]);
        REFUSED(text, 1, "");
        snprintf(text, sizeof(text), "INLINE int %s(int x) { return x; }\n", known[i]);
        REFUSED(text, 1, "");
    }
    REFUSED("#define A 1\n#define A 2\n", 2, "the macro 'A' is defined twice");
    REFUSED("#define A(x) x\nINLINE int f(int x)\n{\n    return A(1, 2);\n}\n", 4, "the macro 'A' has 1 argument");
    REFUSED("#define A A\nINLINE int f(int x)\n{\n    return A;\n}\n", 4, "there is no variable 'A'");
    REFUSED("INLINE int f(int x)\n{\n#define A 1\n    return A;\n}\n", 3, "a #define must stand outside");
    REFUSED("#define A(x) x\nINLINE int f(int x)\n{\n    return A(\n#define B\n1);\n}\n", 5, "must stand outside");
    REFUSED("#define A(x) x\nINLINE int f(int x)\n{\n    return A((1);\n}\n", 4, "has no end");
    REFUSED("#define A 1 ## 2\n", 1, "no '#'");
    REFUSED("#define A(/*) 1\n", 1, "a comment has no end");
    REFUSED("#undef A\n", 1, "#undef is not allowed");
    REFUSED("#abcdefghijklmnopqrstu\n", 1, "#abcdefghijklmnopqrst is not allowed");
}

// Repeats a text. The caller frees the result.
static char *repeated(const char *before, const char *text, int count, const char *after)
{
    const size_t length = strlen(text);
    char *made = malloc(strlen(before) + (size_t)count * length + strlen(after) + 1), *at = made;
    if (!made)
        abort();
    at = stpcpy(at, before);
    for (int i = 0; i < count; i++, at += length)
        memcpy(at, text, length);
    strcpy(at, after);
    return made;
}

static void check_repeated(const char *text, int fits, int refused_count, const char *after, const char *why, int line)
{
    for (int i = 0; i < 2; i++) {
        char *made = repeated("INLINE int f(int x) { ", text, i == 0 ? fits : refused_count, after);
        if (i == 0)
            becomes(made, "own_nX_f", line);
        else
            refused(made, 1, why, line);
        free(made);
    }
}
#define REPEATED(text, fits, too_many, after, why) check_repeated(text, fits, too_many, after, why, __LINE__)

static void check_limits(void)
{
    REPEATED("if (x > 1) x = 1; else ", 200, 202, "x = 2; return x; }", "more than 200 'else if' in a row");
    REPEATED("x = x + 1;", 2000, 20000, "return x; }", "more than 20000 tokens");
    REPEATED("{ ", 1, 200, "} return x; }", "nested more than 64 levels deep");
    REPEATED("if (x > 1) ", 60, 100, "x = 2; return x; }", "nested more than 64 levels deep");
    static const struct {
        const char *text, *why;
        int fits, too_many;
    } terms[] = {{"x + ", "more than 1000 operators", 1000, 1001}, {"~", "nested more than 64 levels", 60, 1000},
                 {"(", "nested more than 64 levels", 0, 1000},     {"x ? x : ", "nested more than 64 levels", 60, 1000},
                 {"x / ", "nested more than 64 levels", 64, 65},   {"sat8(", "nested more than 64 levels", 0, 1000}};
    for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
        char *made = repeated("INLINE int f(int x) { return ", terms[i].text, terms[i].fits, "x; }");
        BECOMES(made, "own_nX_f");
        free(made);
        made = repeated("INLINE int f(int x) { return ", terms[i].text, terms[i].too_many, "x; }");
        REFUSED(made, 1, terms[i].why);
        free(made);
    }
}

static void check_growth(void)
{
    char text[4000] = "#define M0 x + x\n", line[100];
    for (int i = 1; i <= 30; i++) {
        snprintf(line, sizeof(line), "#define M%d M%d + M%d\n", i, i - 1, i - 1);
        strcat(text, line);
    }
    REFUSED(text, 14, "more than 20000 tokens after its macros are expanded");
    strcpy(text, "struct s0 { int a; };\n");
    for (int i = 1; i <= 20; i++) {
        snprintf(line, sizeof(line), "struct s%d { s%d a, b; };\n", i, i - 1);
        strcat(text, line);
    }
    REFUSED(text, 8, "a struct has more than 64 numbers");
    strcpy(text, "INLINE int f0(int x) { return x; }\n");
    for (int i = 1; i <= 30; i++) {
        snprintf(line, sizeof(line), "INLINE int f%d(int x) { return f%d(f%d(x)); }\n", i, i - 1, i - 1);
        strcat(text, line);
    }
    REFUSED(text, 11, "more than 20000 tokens after its macros and calls are expanded");
}

// An order of changes that compilers choose differently.
static void check_order(void)
{
    CANNOT("x = x++;", "changes 'x' and uses it twice");
    CANNOT("x = y++ + y;", "changes 'y' and uses it twice");
    CANNOT("x++ + x;", "changes 'x' and uses it twice");
    CANNOT("p.r = max(p.g++, 1);", "changes 'p' and uses it twice");
    CANNOT("p.r = p.r = x;", "changes 'p' and uses it twice");
    CANNOT("x += x = 1;", "changes 'x' and uses it twice");
    CANNOT("x = (y = 1) + y;", "changes 'y' and uses it twice");
    CANNOT("x = y = y++;", "changes 'y' and uses it twice");
    DOES("p.r = p.g = p.b + p.g;", "own_nX_p.r = own_nX_p.g = own_nX_p.b + own_nX_p.g;");
    CANNOT("x + 1 = 2;", "only variables and their members can be changed");
    CANNOT("(x + y) /= 2;", "only variables and their members can be changed");
    CANNOT("(x = 1) += 2;", "only variables and their members can be changed");
    CANNOT("(x < y)++;", "only variables and their members can be changed");
    DOES("(x) /= 2;", "(own_nX_x) = user_div( (own_nX_x), 2);");
    DOES("((p).r)++;", "((own_nX_p).r) ++;");
    DOES("((x)) = x + 1;", "((own_nX_x)) = own_nX_x + 1;");
    DOES("((x) = x + 1);", "((own_nX_x) = own_nX_x + 1);");
    CANNOT("(p.r) = (p).r = x;", "changes 'p' and uses it twice");
    CANNOT("(x = 1) + x;", "changes 'x' and uses it twice");
    CANNOT("return (x, y);", "',' cannot stand here");
    DOES("x = x + y++;", "own_nX_x = own_nX_x + own_nX_y ++;");
    DOES("while (x-- > 0) y += 2;", "while( ( own_nX_x -- > 0) && user_turns++ < USER_TURNS)");
    DOES("for (int i = 0, j; ; i++, j--) y = i;",
         "{ int user_turns = 0; for(int own_nX_i = 0, own_nX_j = 0;user_turns++");
    DOES("do { x++; } while (x < 5);", "while( ( own_nX_x < 5) && user_turns++ < USER_TURNS);");
}

// Parts of an expression that all compilers evaluate in the same order.
static void check_parts(void)
{
    DOES("x = 1, y = 2;", "own_nX_x = 1, own_nX_y = 2;");
    DOES("x = y++, y = 2;", "own_nX_x = own_nX_y ++, own_nX_y = 2;");
    CANNOT("x = 1, ;", "';' cannot stand here");
    DOES("for (x = 3, y = 4; x < y; x++, y--) ;", "for(own_nX_x = 3, own_nX_y = 4; ( own_nX_x < own_nX_y)");
    DOES("x > 0 ? (x = 1) : (x = x + 2);", "own_nX_x > 0 ? (own_nX_x = 1) : (own_nX_x = own_nX_x + 2);");
    DOES("x = y > 0 ? y++ : y--;", "own_nX_x = own_nX_y > 0 ? own_nX_y ++ : own_nX_y --;");
    DOES("x = y++ > 0 && y > 3;", "=(( own_nX_y ++ > 0 && own_nX_y > 3) ? 1 : 0);");
    DOES("x = y > 0 || y++ > 3 || y > 5;", "=(( own_nX_y > 0 || own_nX_y ++ > 3 || own_nX_y > 5) ? 1 : 0);");
    CANNOT("x = (y > 0 ? y++ : 0) + y;", "changes 'y' and uses it twice");
    CANNOT("x = y + (y > 0 ? 0 : (y = 2));", "changes 'y' and uses it twice");
    CANNOT("x = y > 0 ? y++ + y : 0;", "changes 'y' and uses it twice");
    CANNOT("x = y > 0 ? 0 : y++ + y;", "changes 'y' and uses it twice");
    CANNOT("x = y++ + y > 0 ? 0 : 1;", "changes 'y' and uses it twice");
    CANNOT("x = (x > 0 && y++ > 0) + y;", "changes 'y' and uses it twice");
    CANNOT("x = x > 0 && y++ > y;", "changes 'y' and uses it twice");
    CANNOT("x = x > 0 ? x++ : 1;", "changes 'x' and uses it twice");
}

// GLSL does not mix integers and conditions.
static void check_conditions(void)
{
    DOES("if (x) y = 1; else if (x & 1) y = 2;", "if(((own_nX_x) != 0)) own_nX_y = 1; else if(((own_nX_x & 1) != 0))");
    DOES("if (x < y) y = 1;", "if(own_nX_x < own_nX_y)");
    DOES("if ((x < y)) y = 1;", "if((own_nX_x < own_nX_y))");
    DOES("if (x = y) y++;", "if(((own_nX_x = own_nX_y) != 0))");
    DOES("while (x--) y++;", "while( ((( own_nX_x --) != 0)) && user_turns++ < USER_TURNS)");
    DOES("do y++; while (!x);", "while( ( !(( own_nX_x) != 0)) && user_turns++");
    DOES("for (; x; x--) ;", "for(; ((( own_nX_x) != 0)) && user_turns++");
    DOES("x = y ? 1 : x < y;", "(( own_nX_y) != 0) ? 1 :(( own_nX_x < own_nX_y) ? 1 : 0);");
    DOES("x = x && !y;", "(((( own_nX_x) != 0) && !(( own_nX_y) != 0)) ? 1 : 0);");
    DOES("x = (x < y) + 1;", "=(( (own_nX_x < own_nX_y)) ? 1 : 0) + 1;");
    DOES("x = 1 + -(x == y);", "+ -(( (own_nX_x == own_nX_y)) ? 1 : 0);");
    DOES("x = x < y < 3;", "=(((( own_nX_x < own_nX_y) ? 1 : 0) < 3) ? 1 : 0);");
    DOES("x = (x < y) / !y;", "= user_div((( (own_nX_x < own_nX_y)) ? 1 : 0),(( !(( own_nX_y) != 0)) ? 1 : 0));");
    DOES("x += x > 3;", "own_nX_x +=(( own_nX_x > 3) ? 1 : 0);");
    DOES("x /= y > 3;", "user_div( own_nX_x,(( own_nX_y > 3) ? 1 : 0));");
    DOES("x = max(x > 3, y);", "max(((own_nX_x > 3) ? 1 : 0), own_nX_y);");
    DOES("int z = x > 3; return x == y;", "=(( own_nX_x > 3) ? 1 : 0); return(( own_nX_x == own_nX_y) ? 1 : 0);");
    DOES("switch (x > 3) { case 1 > 0: y = 1; }", "switch(((own_nX_x > 3) ? 1 : 0)) { case 1 :");
    DOES("switch (x) { case 1\n+\n2: y = 1; }", "case 3\n\n : own_nX_y = 1;");
    DOES("x = (x\n<\ny)\n+ 1;", "=(( (own_nX_x\n<\nown_nX_y)) ? 1 : 0)\n+ 1;");
}

static void check_names(void)
{
    DOES("int input = x; pixel q; p = q;", "int own_nX_input = own_nX_x; pixel own_nX_q = user_zero_pixel();");
    DOES("int a; { int b = a; a = b; }", "int own_nX_a = 0;");
    CANNOT("{ int b = 1; } x = b;", "there is no variable 'b'");
    CANNOT("int b = b;", "there is no variable 'b'");
    CANNOT("x = v.base;", "there is no variable 'v'");
    CANNOT("x = sqrt(x);", "there is no function 'sqrt'");
    CANNOT("x = p(x);", "there is no function 'p'");
    CANNOT("int f = 1, g(int);", "a function cannot be declared here");
    CANNOT("x = if (1);", "'if' cannot stand here");
    CANNOT("int x__y = 1;", "belongs to compilers");
    DOES("x = clamp(x, 1, y) + root(x);", "user_clamp(own_nX_x, 1, own_nX_y) + user_root(own_nX_x);");
    BECOMES("STRUCT(s)\nstruct s { int r, kernel; pixel p; };\nINLINE s f(s t) { s u; return u; }\n",
            "\nSTRUCT(own_nX_s) struct own_nX_s { int r, own_nX_kernel; pixel own_nX_p; }; INLINE own_nX_s "
            "user_zero_own_nX_s(void) { own_nX_s zero; zero.r = 0; zero.own_nX_kernel = 0; zero.own_nX_p = "
            "user_zero_pixel(); return zero; }\nINLINE own_nX_s own_nX_f(own_nX_s own_nX_t) { own_nX_s own_nX_u = "
            "user_zero_own_nX_s();");
    BECOMES("INLINE int filter_n(int x) { return x; }\n", "INLINE int filter_n(int own_nX_x)");
    BECOMES("INLINE int f(int filter_n) { return filter_n; }\n", "(int own_nX_filter_n) { return own_nX_filter_n; }");
    BECOMES("STRUCT(s)\nstruct s { int filter_n; };\n", "{ int own_nX_filter_n; }");
    BECOMES("INLINE int f(const int x) { return x; }\n", "INLINE int own_nX_f(int own_nX_x)");
    BECOMES("INLINE int f(view v) { return RADIUS(v); }\n", "return user_radius(own_nX_v);");
    CANNOT("bool b = x < y;", "there is no type 'bool'; a filter computes with int");
    CANNOT("uchar b = 1;", "there is no type 'uchar'; a filter computes with int");
    CANNOT("char b = 1;", "a filter cannot have 'char'; it computes with int");
    CANNOT("x = (uint)x;", "a filter cannot have casts");
    CANNOT("x = (half)3;", "a filter cannot have casts");
    REFUSED("INLINE int f(half x) { return x; }\n", 1, "there is no type 'half'; a filter computes with int");
    DOES("int half = x, uint = half; { int bool = 2; }", "int own_nX_bool = 2;");
    REFUSED("INLINE int f(int x) { return x; }\nINLINE int f(int x) { return x; }\n", 2, "is that of a function");
    REFUSED("int a;\n", 1, "outside functions there can be only functions, structs and #define");
    REFUSED("int f(int x) { return x; }\n", 1, "a function begins with INLINE");
    REFUSED("INLINE int f(int x);\n", 1, "a function cannot be declared without its body");
    REFUSED("/* a\n\xe4 */ \xe4", 2, "the byte 0xe4 is not plain ASCII");
}

// Mistakes that compilers would report, each in other words.
static void check_types(void)
{
    CANNOT("if (p) x = 1;", "a value of the type pixel stands where the type int is needed; use one of its members");
    CANNOT("x = !p;", "type int is needed");
    CANNOT("x = p ? 1 : 2;", "type int is needed");
    CANNOT("x = x ? 1 : p;", "type int is needed");
    CANNOT("p = x ? p : 1;", "a value of the type int stands where the type pixel is needed");
    CANNOT("x = p == p;", "type int is needed");
    CANNOT("x = p;", "type int is needed");
    CANNOT("p = x;", "type pixel is needed");
    CANNOT("p += 1;", "type int is needed");
    CANNOT("p++;", "type int is needed");
    CANNOT("x = -p;", "type int is needed");
    CANNOT("x = x / p;", "type int is needed");
    CANNOT("x = x + p;", "type int is needed");
    CANNOT("x = p && y;", "type int is needed");
    CANNOT("switch (p) { case 1: x = 2; }", "type int is needed");
    CANNOT("int a = p;", "type int is needed");
    CANNOT("place a = p;", "a value of the type pixel stands where the type place is needed");
    CANNOT("return p;", "type int is needed");
    CANNOT("x = sat8(p);", "type int is needed");
    CANNOT("x = luma(x);", "type pixel is needed");
    CANNOT("x = luma(p, x);", "the function 'luma' has 1 parameter; give it as many arguments");
    CANNOT("x = min(x);", "the function 'min' has 2 parameters; give it as many arguments");
    CANNOT("x = min();", "the function 'min' has 2 parameters");
    CANNOT("x = x.r;", "the type int has no member 'r'; correct the name");
    CANNOT("p.x = 3;", "the type pixel has no member 'x'");
    CANNOT("p.rg = 3;", "the type pixel has no member 'rg'");
    DOES("p.r = p.g = luma(p); p = x ? p : p;", "own_nX_p.r = own_nX_p.g = luma(own_nX_p);");
    REFUSED(
        "INLINE void f(int x) { x = 1; }\nINLINE int g(int x)\n{\n    if (f(x))\n        x = 1;\n    return x;\n}\n", 4,
        "a function of the type void has no value; give it the type int and a return");
    REFUSED("INLINE void f(int x) { x = 1; }\nINLINE int g(int x) { x ? f(x) : f(x); return x; }\n", 2, "has no value");
    REFUSED("INLINE int f(int x, pixel p) { return x; }\nINLINE int g(int x) { return f(x); }\n", 2,
            "the function 'f' has 2 parameters");
    REFUSED("INLINE int f(void) { return 1; }\nINLINE int g(int x) { return f(x); }\n", 2, "'f' has 0 parameters");
    REFUSED("INLINE int f(int x, pixel p) { return x; }\nINLINE int g(int x) { return f(x, x); }\n", 2,
            "type pixel is needed");
    BECOMES("struct s { int a; pixel p; };\nINLINE s f(s t) { t.p.r = t.a; return t; }\nINLINE int g(s t) { return "
            "f(f(t)).p.g; }\n",
            "return own_nX_f(own_nX_f(own_nX_t)).own_nX_p.g;");
    REFUSED("struct s { int a; };\nstruct t { int a; };\nINLINE s f(t u) { return u; }\n", 3,
            "a value of the type t stands where the type s is needed");
    REFUSED("struct s { int a; };\nINLINE int f(s t) { return t.b; }\n", 2, "the type s has no member 'b'");
    REFUSED("struct s { int a, a; };\n", 1, "the name 'a' stands here twice; rename one");
    char why[USER_WHY];
    int at;
    check_that(&unit, !user_code_make("n", false, "INLINE int f(view v) { return v.x; }\n", &at, why),
               "a point's view");
}

static void check_places(void)
{
    CANNOT("continue;", "'continue' stands outside a loop; remove it");
    CANNOT("switch (x) { case 1: continue; }", "'continue' stands outside a loop");
    CANNOT("if (x) break;", "'break' stands outside a loop or switch; remove it");
    DOES("while (x) { switch (x) { case 1: continue; default: break; } break; }", "continue;");
    CANNOT("switch (x) { case 1: x = 2; case 1: x = 3; }", "the switch has two cases 1; remove one");
    CANNOT("switch (x) { case 6: x = 2; case -(-2) * 3 + (5 > 9): x = 3; }", "two cases 6");
    CANNOT("switch (x) { case 1: x = 2; case !0 ? 9 / 9 : 4: x = 3; }", "two cases 1");
    CANNOT("switch (x) { case ~0: x = 2; case (1 << 31 | 1) >> 31: x = 3; }", "two cases -1");
    DOES("switch (x) { case 1 << 33: x = 2; }", "case 2 : own_nX_x = 2;");
    DOES("switch (x) { case 1 << 33: x = 2; case 2147483647 + 1: }", "case -2147483647 - 1 : ; }");
    CANNOT("switch (x) { default: x = 2; default: x = 3; }", "the switch has two 'default'; remove one");
    DOES("switch (x) { case 1: switch (y) { case 1: y = 2; default: ; } default: case 2: ; }", "case 2 :");
    CANNOT("int x = 3;", "the variable 'x' is declared twice; rename one");
    CANNOT("int a = 3, a = 4;", "the variable 'a' is declared twice");
    CANNOT("for (int i = 0, i = 1; ; ) ;", "the variable 'i' is declared twice");
    DOES("{ int x = 3; } { int x = 4; } if (x) { int x = 5; } for (int y = 0; y < 3; y++) { int y = 7; }", "= 7;");
    CANNOT("x = 2 y;", "'y' cannot stand here; ';' is missing before it");
}

static void check_const(void)
{
    DOES("const int a = x; x = a;", " int own_nX_a = own_nX_x;"); // GLSL ES would refuse const
    CANNOT("const int a = x; a = 3;", "the variable 'a' is const, so nothing can change it; remove 'const'");
    CANNOT("const pixel q = p; q.r++;", "the variable 'q' is const");
    DOES("const int a = x; { int a = 3; a++; }", "own_nX_a ++;");
    REFUSED("INLINE int f(const int x) { x = 1; return x; }\n", 1, "the variable 'x' is const");
    DOES("int const a = x, b = 1; x = a + b;", " int own_nX_a = own_nX_x, own_nX_b = 1;");
    DOES("for (int const i = 3; x < i; x++) y++;", "int own_nX_i = 3;");
    CANNOT("pixel const q = p; q.r++;", "the variable 'q' is const");
    CANNOT("int const a = 1, b = 2; b = 3;", "the variable 'b' is const");
    REFUSED("INLINE int f(int const x) { x = 1; return x; }\n", 1, "the variable 'x' is const");
    REFUSED("INLINE const int f(int x) { return x; }\n", 1, "only variables and parameters can be const");
    REFUSED("INLINE int const f(int x) { return x; }\n", 1, "only variables and parameters can be const");
    REFUSED("struct s { const int a; };\n", 1, "only variables and parameters can be const");
    CANNOT("struct int k; x = k;", "'int' is no struct of the filter; remove 'struct'");
    CANNOT("const struct pixel q = p;", "'pixel' is no struct of the filter; remove 'struct'");
    CANNOT("struct k; x = 1;", "there is no type 'k'");
    REFUSED("INLINE int f(struct int x) { return x; }\n", 1, "'int' is no struct of the filter");
    REFUSED("INLINE struct int f(int x) { return x; }\n", 1, "'int' is no struct of the filter");
    REFUSED("struct s { struct int a; };\n", 1, "'int' is no struct of the filter");
    REFUSED("struct int { int a; };\n", 1, "the language has the name 'int'");
}

// ARG beyond the parameters is the last one.
static void check_arguments(void)
{
    static const char text[] = "//!SUMMARY a\n//!KIND point\n//!PARAM b\n//!RANGE 0 9\n//!PARAM c\n//!RANGE 0 9\n"
                               "INLINE pixel filter_a(pixel p, int x, int y, arguments args) { return p; }\n";
    const struct filter_values values = {.value = {1, 2}};
    struct filter_arguments arguments = {.count = 0};
    char error[USER_ERROR];
    char *copy = strdup(text);
    struct user_filter *user = copy ? user_filter_make("a", copy, strlen(text), error) : NULL;
    if (!user)
        abort();
    user_filter_prepare(user, &values, &arguments);
    const int32_t *value = arguments.value + FACTS;
    check_that(&unit, value[0] == 256 && value[1] == 512 && value[2] == 512 && value[3] == 512, "ARG: %d, %d, %d, %d",
               value[0], value[1], value[2], value[3]);
    user_filter_free(user);
}

// The names of a compiler's message.
static void check_shown(void)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {{"a.cl:5:3: error: 'own_a_bX_x' undeclared", "a.cl:5:3: error: 'x' undeclared"},
                {"no member 'own_aX_own_aX_b' in 'own_aX_two'", "no member 'own_aX_b' in 'two'"},
                {"user_tap(own_aX_v) user_view user_mod user_turns", "tap(v) view % user_turns"},
                {"own_ own_a own_aX_ own_a_x shown_aX_b 5own_aX_b", "own_ own_a own_aX_ own_a_x shown_aX_b 5own_aX_b"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[100];
        strcpy(text, rows[i].text);
        user_code_show(text);
        check_that(&unit, strcmp(text, rows[i].shown) == 0, "'%s' instead of '%s'", text, rows[i].shown);
    }
}

int main(void)
{
    check_divisions();
    check_numbers();
    check_memory();
    check_loop_returns();
    check_macros();
    check_limits();
    check_growth();
    check_order();
    check_parts();
    check_conditions();
    check_names();
    check_types();
    check_places();
    check_const();
    check_arguments();
    check_shown();
    return check_end(&unit);
}
