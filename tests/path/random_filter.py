"""random_filter.py: small random filters in the language of docs/user-filters.md, with the same result on all paths

Each expression carries the largest absolute value that it can have, so that no sum or product exceeds 32 bits. A
variable has at most MOST between two statements."""
import random

MOST, LIMIT = 32767, 2**31 - 1
ORDER = "||", "&&", "|", "^", "&", "==", "<", "<<", "+", "*"  # of precedence, from the lowest
ATOM = len(ORDER) + 1
# Keywords of C, OpenCL and GLSL among them; a filter's names are its own.
NAMES = ("input", "sample", "kernel", "out", "global", "flat", "vec2", "texture", "a", "a1", "buffer", "event_t", "mix",
         "abs", "main", "select", "in")
HEADS = {"point": "INLINE pixel filter_%s(pixel p, int x, int y, arguments args)",
         "stencil": "INLINE int filter_%s(view v, arguments args)",
         "warp": "INLINE place filter_%s(place p, arguments args)"}


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.readable, self.changeable, self.calls = [], [], []
        self.free = list(NAMES)
        self.random.shuffle(self.free)
        self.loops = 0
        self.endless = False  # a loop without end; in all, Mesa's llvmpipe ends the loops of a pixel after 65,535 turns

    def one(self, *choices):
        return self.random.choice(choices)

    # ---- expressions: text, largest absolute value, precedence ----

    def leaf(self):
        if self.readable and self.random.random() < 0.7:
            return self.one(*self.readable), MOST, ATOM
        text, value = self.one(("0", 0), ("1", 1), ("2", 2), ("3", 3), ("7", 7), ("017", 15), ("0x1F", 31),
                               ("255", 255), ("1000", 1000), ("ARG(args, 0)", 9), ("WIDTH(args)", 99),
                               ("HEIGHT(args)", 99), ("FRAME(args)", 99), ("K", 12), ("2147483647", LIMIT))
        return text, value, ATOM

    def within(self, node, most):
        """Returns the node, or its remainder if it can exceed `most`."""
        if node[1] <= most:
            return node
        step = self.one(*(step for step in (7, 100, 256, 1009, 32768) if step <= most + 1))
        return "%s %% %d" % (self.bracket(node, ORDER.index("*") + 1), step), step - 1, ORDER.index("*") + 1

    def bracket(self, node, least):
        """Returns the text of an operand, in brackets where they are needed, and sometimes elsewhere."""
        return "(%s)" % node[0] if node[2] < least or self.random.random() < 0.1 else node[0]

    def binary(self, depth):
        kind = self.one("|", "^", "&", "<<", "+", "+", "*", "*", "/", "%")
        level = ORDER.index("*" if kind in "/%" else kind) + 1
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        if kind == "+":
            left, right, kind = self.within(left, LIMIT // 2), self.within(right, LIMIT // 2), self.one("+", "-")
            bound = left[1] + right[1]
        elif kind == "*":
            left, right = self.within(left, MOST), self.within(right, MOST)
            bound = left[1] * right[1]
        elif kind == "<<":
            right = "%s & 7" % self.bracket(right, ORDER.index("&") + 1), 7, ORDER.index("&") + 1
            left, kind = self.within(left, LIMIT >> 8), self.one("<<", ">>")
            bound = max(left[1] << 7, 1)
        elif kind in "/%":
            bound = left[1]
        else:
            left, right = self.within(left, LIMIT >> 2), self.within(right, LIMIT >> 2)
            bound = 2 ** max(left[1], right[1]).bit_length()
        return "%s %s %s" % (self.bracket(left, level), kind, self.bracket(right, level + 1)), bound, level

    def call(self, depth):
        name = self.one("min", "max", "clamp", "sat8", "root", "MEAN", *self.calls)
        if isinstance(name, tuple):
            name, count = name
            return "%s(%s)" % (name, ", ".join(self.small(depth - 1) for _ in range(count))), MOST, ATOM
        nodes = [self.expression(depth - 1) for _ in range({"min": 2, "max": 2, "clamp": 3, "MEAN": 2}.get(name, 1))]
        if name == "MEAN":
            nodes = [self.within(node, LIMIT // 2) for node in nodes]
        bound = {"sat8": 255, "root": 46341}.get(name, max(node[1] for node in nodes))
        return "%s(%s)" % (name, ", ".join(node[0] for node in nodes)), bound, ATOM

    def expression(self, depth):
        kind = self.random.random()
        if depth <= 0 or kind < 0.15:
            return self.leaf()
        if kind < 0.3:
            return self.call(depth)
        if kind < 0.4:
            node = self.within(self.expression(depth - 1), LIMIT - 1)
            return self.one("-", "~") + " " + self.bracket(node, ATOM), node[1] + 1, ATOM - 0.5
        if kind < 0.5:
            test, yes, no = self.test(depth - 1), self.expression(depth - 1), self.expression(depth - 1)
            return "%s ? %s : %s" % (self.bracket(test, 1), yes[0], self.bracket(no, 0)), max(yes[1], no[1]), 0
        if kind < 0.57:
            return self.condition(depth)
        return self.binary(depth)

    def condition(self, depth):
        """Returns a comparison, or a condition of others."""
        kind = self.one("==", "<", "<", "&&", "||", "!") if depth > 1 else "<"
        level = ATOM - 0.5 if kind == "!" else ORDER.index(kind) + 1
        if kind == "!":
            return "!" + self.bracket(self.test(depth - 1), ATOM), 1, level
        part = self.test if kind in ("&&", "||") else self.expression
        left, right = self.bracket(part(depth - 1), level), self.bracket(part(depth - 1), level + 1)
        kind = {"==": self.one("==", "!="), "<": self.one("<", ">", "<=", ">=")}.get(kind, kind)
        return "%s %s %s" % (left, kind, right), 1, level

    def test(self, depth):
        """Returns a condition or an integer."""
        return self.condition(depth) if self.random.random() < 0.7 else self.expression(depth)

    def small(self, depth=3):
        return self.within(self.expression(depth), MOST)[0]

    # ---- statements ----

    def changes(self):
        """Returns changes in parts whose order is fixed."""
        first, second = ("%s = %s" % (self.one(*self.changeable), self.small()) for _ in range(2))
        test = self.bracket(self.test(2), ORDER.index("&&") + 1)
        return self.one("%s, %s;" % (first, second), "%s ? (%s) : (%s);" % (test, first, second),
                        "%s && (%s), %s;" % (test, first, second), "%s || (%s);" % (test, first))

    def change(self):
        if self.random.random() < 0.15:
            return self.changes()
        to = self.one(*self.changeable)
        kind = self.one("=", "=", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--")
        if kind in ("++", "--"):
            return self.one("%s%s; %s %%= 32768;" % (to, kind, to), "%s%s; %s %%= 32768;" % (kind, to, to))
        if kind in ("<<=", ">>="):
            return "%s %s %s & 7; %s %%= 32768;" % (to, kind, self.bracket(self.expression(2), ATOM), to)
        return "%s %s %s;%s" % (to, kind, self.small(), "" if kind in ("=", "/=", "%=") else " %s %%= 32768;" % to)

    def block(self, depth, jumps=()):
        """Returns statements in brackets. The names that they declare end with them."""
        readable, changeable = len(self.readable), len(self.changeable)
        lines = [self.statement(depth - 1) for _ in range(self.random.randint(1, 2))]
        if jumps and self.random.random() < 0.5:
            lines.append("if (%s) %s;" % (self.test(3)[0], self.one(*jumps)))
        del self.readable[readable:], self.changeable[changeable:]
        return "{ %s }" % " ".join(lines)

    def declare(self):
        if not self.free:
            return self.change()
        name = self.free.pop()
        text = "int %s%s;" % (name, self.one("", " = " + self.small()))
        self.readable.append(name)
        self.changeable.append(name)
        return text

    def loop(self, depth):
        self.loops += 1
        jumps, kind = ("break", "continue"), self.random.random() if self.endless else 1
        if kind < 0.15:
            return "while (%s) %s" % (self.test(3)[0], self.block(depth, jumps))
        if kind < 0.3:
            return "do %s while (%s);" % (self.block(depth, jumps), self.test(3)[0])
        i = "i%d" % self.loops
        self.readable.append(i)
        text = "%sfor (int %s = %s; %s < %d; %s++) %s" % (self.one("", "UNROLL "), i, self.one("0", "-1"), i,
                                                        self.random.randint(1, 5), i, self.block(depth, jumps))
        self.readable.remove(i)
        return text

    def statement(self, depth):
        kind = self.random.random()
        if depth <= 0 or kind < 0.5:
            return self.change()
        if kind < 0.6:
            return self.declare()
        if kind < 0.75:
            return "if (%s) %s%s" % (self.test(3)[0], self.block(depth), self.one(
                "", " else " + self.block(depth), " else if (%s) %s" % (self.test(3)[0], self.block(depth))))
        if kind < 0.9:
            return self.loop(depth)
        cases = " ".join("case %s: %s %s" % (value, self.block(depth), self.one("break;", ""))
                         for value in ("0", "1", "K"))
        return "switch (%s) { %s default: %s }" % (self.expression(2)[0], cases, self.block(depth))

    def body(self, readable, changeable, statements):
        self.readable, self.changeable = list(readable), list(changeable)
        return "\n    ".join(self.statement(2) for _ in range(statements))


def filter_text(name, kind, seed):
    """Returns the text of the file NAME.cl."""
    m = Maker(seed)
    text = "//!SUMMARY random\n//!KIND %s\n%s//!PARAM n\n//!TYPE int\n//!RANGE -9 9\n//!DEFAULT %d\n" % (
        kind, "//!RADIUS 2\n" if kind == "stencil" else "", m.random.randint(-9, 9))
    text += "#define K 12\n#define MEAN(a, b) (((a) + (b)) / 2) // a macro\n"
    text += "STRUCT(two)\nstruct two { int in; pixel q; };\n"
    for f in ("f", "g"):
        names = "n", "q.r", "t.in", "t.q.g"
        text += "INLINE int %s(int n, arguments args)\n{\n    pixel q;\n    two t;\n    %s\n    return %s;\n}\n" % (
            f, m.body(names, names, 3), m.small())
        m.calls.append((f + "_", 1))
        text += "#define %s_(n) %s(n, args)\n" % (f, f)
    if kind == "point":
        names = "p.r", "p.g", "p.b", "x", "y"
        end = "p.r = %s & 255;\n    p.g = %s & 255;\n    p.b = %s;\n    return p;"
    elif kind == "warp":
        names, end = ("p.x", "p.y"), "p.x = %s * 3;\n    p.y = %s;\n    return p;"
    else:
        m.calls += [("TAP", 2)]
        text += "#define TAP(x, y) tap(v, x, y)\n"
        names, end = ("v.x", "v.y"), "return %s & 255;"
    m.endless = True
    body = m.body(names, names, 5)
    end %= tuple("(%s)" % m.small() for _ in range(end.count("%")))
    return "%s%s\n{\n    %s\n    %s\n}\n" % (text, HEADS[kind] % name, body, end)


if __name__ == "__main__":
    import sys
    print(filter_text("a", *sys.argv[1:]))
