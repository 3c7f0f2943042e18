"""hostile_filters.py: users' filters that would end a compiler, or monocle, or change other filters"""
HEAD = "//!SUMMARY a test\n//!KIND point\n"


def code(name, statements, before=""):
    """Returns the text of the file NAME.cl. The statements are line 5 if nothing is before the function."""
    return "%s%sINLINE pixel filter_%s(pixel p, int x, int y, arguments args)\n{\n    %s\n    return p;\n}\n" % (
        HEAD, before, name, statements)


def hostile_filters(name):
    """Returns texts of the file NAME.cl, each with the line of its fault and the message."""
    structs = "STRUCT(s0)\nstruct s0 { int a; };\n" + "".join(
        "STRUCT(s%d)\nstruct s%d { s%d a, b; };\n" % (i, i, i - 1) for i in range(1, 20))
    macros = "#define M0 x + x\n" + "".join("#define M%d M%d + M%d\n" % (i, i - 1, i - 1) for i in range(1, 30))
    tokens = "the code has more than 20000 tokens after its macros are expanded"
    return [
        (code(name, "int *q = 4096; E *(q + x) = 5;", "#define E\n"), 6, "a filter cannot have pointers"),
        (code(name, "int t??(2??);"), 5, "'?' cannot stand here"),
        (code(name, "", "#define sat8(v) ((v) & 1)\n"), 3, "'sat8' cannot be a macro: the language has this name"),
        (code(name, "if (x == 0) p.r = 0; " + "else if (x == 1) p.r = 1; " * 6000), 5, tokens),
        (code(name, "if (x == 0) p.r = 0; " + "else if (x == 1) p.r = 1; " * 300), 5,
         "there are more than 200 'else if' in a row"),
        (code(name, "p.r = x%s;" % ("+x" * 100_000)), 5, tokens),
        (code(name, "p.r = x%s;" % (" + x" * 9_000)), 5, "an expression has more than 1000 operators"),
        (code(name, "p.r = %sx;" % ("~" * 200_000)), 5, tokens),
        (code(name, "p.r = %sx;" % ("~" * 19_000)), 5, "the code is nested more than 64 levels deep"),
        (code(name, "s19 a;", structs), 18, "a struct has more than 64 numbers"),
        (code(name, "p.r = M29;", macros), 16, tokens),
        (code(name, "p.r = %s1%s;" % ("(" * 5000, ")" * 5000)), 5, "the code is nested more than 64 levels deep"),
    ]
