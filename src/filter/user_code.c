// user_code.c: parses the statements, functions and structs of a user's filter, and rewrites them
#include "filter/user_code.h"

#include "base/alloc.h"
#include "filter/user_parse.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- statements ----

static bool take_statement(struct code *c, bool *returns);

// Writes the next statement of a list. *returns: the statements before it always return. A `break` or `continue` after
// them never runs, so it ends neither the switch nor the turn of the loop around it.
static bool take_next(struct code *c, bool *returns)
{
    bool *const breaks = c->breaks, *const loop = c->loop;
    const bool broken = breaks && *breaks, left = loop && *loop, dead = *returns;
    if (!take_statement(c, returns))
        return false;
    if (dead && breaks)
        *breaks = broken;
    if (dead && loop)
        *loop = left;
    *returns = *returns || dead;
    return true;
}

// Writes statements up to a closing bracket, which is left.
static bool take_statements(struct code *c, bool *returns)
{
    const int variables = c->variables.count;
    *returns = false;
    while (!code_is(c, "}")) {
        if (!take_next(c, returns))
            return false;
    }
    c->variables.count = variables;
    return true;
}

// Gives a variable the value 0, because its initial value would differ between paths.
static bool append_zero(struct code *c, const struct type *type)
{
    char text[OWN_NAME + 20], own[OWN_NAME];
    if (!type->known) {
        code_print_own(c, type->named, own);
        snprintf(text, sizeof(text), " = user_zero_%s()", own);
    } else if (strcmp(type->known->word, "int") == 0)
        snprintf(text, sizeof(text), " = 0");
    else if (strcmp(type->known->word, "pixel") == 0 || strcmp(type->known->word, "place") == 0)
        snprintf(text, sizeof(text), " = user_zero_%s()", type->known->word);
    else
        return code_fail(c, "a variable of the type %s needs a value", type->known->word);
    return code_append(c, text);
}

// Refuses "int a = a + 1" where there is an outer a: C reads the new variable, GLSL the outer one.
static bool check_value(struct code *c, const struct user_token *name)
{
    const struct user_token *after = c->next;
    for (const struct user_token *t = name + 1; t < after; t++) {
        if (t->kind == TOKEN_WORD && code_same_name(t, name) && !user_token_is(t - 1, ".")) {
            c->next = t;
            return code_fail(c, "the value of '%.*s' uses another variable of this name; rename one", SHOWN(name));
        }
    }
    return true;
}

// Writes "int a = 1, b".
static bool take_declaration(struct code *c)
{
    struct type type;
    if (c->in_switch)
        return code_fail(c, "put brackets { } around the variables of a case");
    bool constant;
    if (!code_take_const_type(c, &type, &constant))
        return false;
    if (type.numbers == 0)
        return code_fail(c, "a variable cannot have the type void");
    for (;;) {
        const struct user_token *name = c->next;
        if (name->kind != TOKEN_WORD)
            return code_fail_here(c);
        if (user_token_is(name + 1, "("))
            return code_fail(c, "a function cannot be declared here");
        if (user_word_is_known(name))
            return code_fail(c, "the language has the name '%.*s'; choose another one", SHOWN(name));
        if (!code_take_own(c))
            return false;
        if (code_is(c, "=") ? !code_take(c) || !code_take_value(c, &type, NULL) : !append_zero(c, &type))
            return false;
        if (!check_value(c, name))
            return false;
        const struct user_token *after = c->next;
        c->next = name; // a variable cannot be used in its own initial value
        struct own *own = code_declare(c, &c->variables, &type);
        if (!own)
            return false;
        own->constant = constant;
        c->next = after;
        if (!code_is(c, ","))
            return true;
        if (!code_take(c))
            return false;
    }
}

// Writes the statement of a loop or condition. It cannot be a declaration, unless it is in brackets.
static bool take_body(struct code *c, bool *returns)
{
    const int variables = c->variables.count;
    const bool in_switch = c->in_switch;
    c->in_switch = false;
    if (code_is_type(c))
        return code_fail(c, "put brackets { } around the declaration");
    const bool ok = take_statement(c, returns);
    c->variables.count = variables;
    c->in_switch = in_switch;
    return ok;
}

// Writes the parts of a statement or of a `for`: "a = 1, b++".
static bool take_parts(struct code *c, const char *end)
{
    while (!code_is(c, end)) {
        if (!code_take_whole(c, false))
            return false;
        if (!code_is(c, ","))
            break;
        if (!code_take(c))
            return false;
        if (code_is(c, end))
            return code_fail_here(c);
    }
    return code_take_mark(c, end);
}

static bool take_if(struct code *c, bool *returns)
{
    bool all = true, ends;
    for (int branches = 0;; branches++) {
        if (branches > USER_BRANCHES)
            return code_fail(c, "there are more than %d 'else if' in a row", USER_BRANCHES);
        if (!code_take(c) || !code_take_mark(c, "(") || !code_take_whole(c, true) || !code_take_mark(c, ")") ||
            !take_body(c, &ends))
            return false;
        all = all && ends;
        if (!code_is(c, "else"))
            return true;
        if (!code_take(c))
            return false;
        if (!code_is(c, "if"))
            break;
    }
    if (!take_body(c, &ends))
        return false;
    *returns = all && ends;
    return true;
}

// Writes the condition of a loop, which also counts the turns.
static bool take_condition(struct code *c, const char *end)
{
    static const char turn[] = "user_turns++ < USER_TURNS";
    c->loops = true;
    if (code_is(c, end))
        return code_append(c, turn);
    return code_append(c, " (") && code_take_whole(c, true) && code_append(c, ") && ") && code_append(c, turn);
}

// *returns: the first turn always returns.
static bool take_loop_body(struct code *c, bool *returns)
{
    bool *const breaks = c->breaks, *const loop = c->loop, left = false;
    c->breaks = NULL;
    c->loop = &left;
    const bool ok = take_body(c, returns);
    c->breaks = breaks;
    c->loop = loop;
    *returns = *returns && !left;
    return ok;
}

static bool take_for(struct code *c)
{
    const int variables = c->variables.count, scope = c->scope;
    const bool in_switch = c->in_switch;
    bool returns; // a body that may have no turn
    c->in_switch = false;
    c->scope = variables;
    if (code_is(c, "UNROLL") && !code_take(c))
        return false;
    if (!code_is(c, "for"))
        return code_fail_here(c);
    if (!code_take(c) || !code_take_mark(c, "("))
        return false;
    const bool begun = code_is_type(c) ? take_declaration(c) && code_take_mark(c, ";") : take_parts(c, ";");
    // In GLSL, the body in { } and the loop's variable have one scope.
    const bool ok = begun && take_condition(c, ";") && code_take_mark(c, ";") && take_parts(c, ")") &&
                    code_append(c, " {") && take_loop_body(c, &returns) && code_append(c, " }");
    c->variables.count = variables;
    c->scope = scope;
    c->in_switch = in_switch;
    return ok;
}

static bool take_while(struct code *c)
{
    bool returns; // a body that may have no turn
    return code_take(c) && code_take_mark(c, "(") && take_condition(c, ")") && code_take_mark(c, ")") &&
           take_loop_body(c, &returns);
}

static bool take_do(struct code *c, bool *returns)
{
    return code_take(c) && take_loop_body(c, returns) && code_take_mark(c, "while") && code_take_mark(c, "(") &&
           take_condition(c, ")") && code_take_mark(c, ")") && code_take_mark(c, ";");
}

// Writes "case 1 + 2:" as "case 3:". Compilers differ in the functions, variables and shifts that are constants.
// `first`: of the labels of this switch.
static bool take_label(struct code *c, int first)
{
    const int divisions = c->divisions;
    const struct user_token *at = c->next + 1;
    int *label = &c->label[c->labels];
    char number[24];
    if (!code_take(c))
        return false;
    const size_t left = c->size;
    const int line = c->line;
    if (!code_take_value(c, &code_int, label))
        return false;
    while (at < c->next && at->kind != TOKEN_WORD)
        at++;
    if (at < c->next || c->divisions > divisions)
        return code_fail(c, "a case needs a number, without variables, functions and %%");
    for (int i = first; i < c->labels; i++) {
        if (c->label[i] == *label)
            return code_fail(c, "the switch has two cases %d; remove one", *label);
    }
    c->labels++;
    c->size = left;
    c->line = line;
    snprintf(number, sizeof(number), *label == INT_MIN ? " %d - 1" : " %d", *label + (*label == INT_MIN));
    return code_append(c, number) && code_take_mark(c, ":");
}

// Takes a label or a statement of a switch.
static bool take_case(struct code *c, int first, bool *ends)
{
    if (code_is(c, "default"))
        return code_take(c) && code_take_mark(c, ":");
    return code_is(c, "case") ? take_label(c, first) : take_next(c, ends);
}

static bool take_cases(struct code *c, bool *returns)
{
    bool all = false, label = false, ends = false;
    const int first = c->labels;
    if (!code_is(c, "}") && !code_is(c, "default") && !code_is(c, "case"))
        return code_fail(c, "a switch begins with 'case' or 'default'");
    while (!code_is(c, "}")) {
        const bool rest = code_is(c, "default");
        if (rest && all)
            return code_fail(c, "the switch has two 'default'; remove one");
        all = all || rest;
        label = rest || code_is(c, "case");
        ends = ends && !label;
        c->in_switch = true;
        if (!take_case(c, first, &ends))
            return false;
        *returns = all && ends;
    }
    c->labels = first;
    return !label || code_append(c, " ;");
}

static bool take_switch(struct code *c, bool *returns)
{
    const bool in_switch = c->in_switch;
    bool *const outer = c->breaks, breaks = false;
    if (!code_take(c) || !code_take_mark(c, "(") || !code_take_value(c, &code_int, NULL) || !code_take_mark(c, ")") ||
        !code_take_mark(c, "{"))
        return false;
    c->breaks = &breaks;
    const bool ok = take_cases(c, returns);
    c->in_switch = in_switch;
    c->breaks = outer;
    *returns = *returns && !breaks;
    return ok && code_take(c);
}

static bool take_return(struct code *c)
{
    if (!code_take(c))
        return false;
    const bool value = c->result.numbers > 0;
    if (code_is(c, ";") == value)
        return code_fail(c, value ? "'return' needs a value" : "a function of the type void returns no value");
    return (!value || code_take_value(c, &c->result, NULL)) && code_take_mark(c, ";");
}

// Writes a statement. Sets *returns to true if the code after it never runs.
static bool take_kind(struct code *c, bool *returns)
{
    if (code_is(c, "{")) {
        const bool in_switch = c->in_switch;
        const int scope = c->scope;
        c->in_switch = false;
        c->scope = c->variables.count;
        const bool ok = code_take(c) && take_statements(c, returns);
        c->in_switch = in_switch;
        c->scope = scope;
        return ok && code_take(c);
    }
    if (code_is(c, "if"))
        return take_if(c, returns);
    if (code_is(c, "for") || code_is(c, "UNROLL"))
        return take_for(c);
    if (code_is(c, "while"))
        return take_while(c);
    if (code_is(c, "do"))
        return take_do(c, returns);
    if (code_is(c, "switch"))
        return take_switch(c, returns);
    if (code_is(c, "return"))
        return *returns = take_return(c);
    if (code_is(c, "continue") && !c->loop)
        return code_fail(c, "'continue' stands outside a loop; remove it");
    if (code_is(c, "break") && !c->loop && !c->breaks)
        return code_fail(c, "'break' stands outside a loop or switch; remove it");
    if (code_is(c, "break") || code_is(c, "continue")) {
        *(code_is(c, "break") && c->breaks ? c->breaks : c->loop) = true;
        return code_take(c) && code_take_mark(c, ";");
    }
    return code_is_type(c) ? take_declaration(c) && code_take_mark(c, ";") : take_parts(c, ";");
}

static bool take_statement(struct code *c, bool *returns)
{
    *returns = false;
    if (!code_enter(c) || !take_kind(c, returns))
        return false;
    c->depth--;
    return true;
}

// ---- functions and structs ----

static bool take_parameters(struct code *c)
{
    struct type type;
    if (!code_take_mark(c, "("))
        return false;
    if (code_is(c, "void") && user_token_is(c->next + 1, ")") && !code_take(c))
        return false;
    while (!code_is(c, ")")) {
        bool constant;
        if (!code_take_const_type(c, &type, &constant))
            return false;
        if (type.numbers == 0)
            return code_fail(c, "a parameter cannot have the type void");
        struct own *own = code_declare(c, &c->variables, &type);
        if (!own || !code_add_field(c, c->fields, &type) || !code_take_own(c))
            return false;
        own->constant = constant;
        if (!code_is(c, ")") && (!code_take_mark(c, ",") || code_is(c, ")")))
            return code_is(c, ")") ? code_fail_here(c) : false;
    }
    return code_take(c);
}

static const char outside[] = "outside functions there can be only functions, structs and #define; of a constant: "
                              "#define NAME 3";

// Writes the body of a function.
static bool take_function_body(struct code *c)
{
    static const char turns[] = " int user_turns = 0;";
    bool returns;
    if (!code_take(c))
        return false;
    const size_t begin = c->size;
    if (!take_statements(c, &returns))
        return false;
    if (c->result.numbers > 0 && !returns)
        return code_fail(c, "the end of the function '%.*s' has no return", SHOWN(c->function));
    return (!c->loops || code_insert(c, begin, turns, strlen(turns))) && code_take(c);
}

static bool take_function(struct code *c)
{
    struct type type;
    c->variables.count = c->scope = c->size_tokens = c->depth = c->labels = 0;
    c->loops = c->in_switch = false;
    c->breaks = c->loop = NULL;
    if (!code_take(c) || !code_take_type(c, &type))
        return false;
    const struct user_token *name = c->next;
    const struct own *declared = code_declare(c, &c->functions, &type);
    if (!declared)
        return false;
    struct own own = *declared;
    c->functions.count--; // the function cannot call itself
    if (!user_token_is(name + 1, "("))
        return code_fail(c, "%s", outside);
    if (!code_take_own(c) || !take_parameters(c))
        return false;
    if (code_is(c, ";"))
        return code_fail(c, "a function cannot be declared without its body; define it above its first use");
    if (!code_is(c, "{"))
        return code_fail(c, "%s", outside);
    c->function = name;
    c->result = type;
    own.fields = c->fields - own.first;
    if (!take_function_body(c))
        return false;
    c->function = NULL;
    own.size = c->size_tokens;
    c->functions.at[c->functions.count++] = own;
    return true;
}

// Writes the members of a struct, and to `zero` the code that sets them to 0. Returns their numbers; 0: failure.
static int take_members(struct code *c, FILE *zero)
{
    struct type type;
    char own[OWN_NAME];
    int numbers = 0;
    const int first = c->fields;
    while (!code_is(c, "}")) {
        if (!code_take_type(c, &type))
            return 0;
        const char *word = type.known ? type.known->word : "";
        if (type.numbers == 0 || strcmp(word, "view") == 0 || strcmp(word, "arguments") == 0) {
            code_fail(c, "the members of a struct have the type int, pixel, place or that of another struct");
            return 0;
        }
        do {
            const size_t begin = c->size;
            if (numbers > 0 && code_is(c, ",") && !code_take(c))
                return 0;
            if (!code_add_field(c, first, &type) || !code_take_member(c))
                return 0;
            const char *member = c->out + begin + strspn(c->out + begin, ", \n");
            fprintf(zero, " zero.%s = ", member);
            if (!type.known)
                code_print_own(c, type.named, own);
            if (strcmp(word, "int") == 0)
                fputs("0;", zero);
            else
                fprintf(zero, "user_zero_%s();", type.known ? word : own);
            if ((numbers += type.numbers) > USER_STRUCT) {
                code_fail(c, "a struct has more than %d numbers", USER_STRUCT);
                return 0;
            }
        } while (code_is(c, ","));
        if (!code_take_mark(c, ";"))
            return 0;
    }
    if (numbers == 0)
        code_fail(c, "a struct needs a member");
    return numbers;
}

// Writes "struct name { ... };" with STRUCT(name) before it, and a function that returns one of zeros.
static bool take_struct_text(struct code *c, FILE *zero)
{
    const struct user_token *name = c->next + 1;
    char text[OWN_NAME];
    code_print_own(c, name, text);
    c->next++;
    const struct own *declared = code_declare(c, &c->structs, &(struct type){.named = name});
    if (!declared)
        return false;
    struct own own = *declared;
    c->structs.count--; // a struct cannot be a member of itself
    c->next--;
    fprintf(zero, " INLINE %s user_zero_%s(void) { %s zero;", text, text, text);
    if (!code_append_space(c, c->next) || !code_append(c, "STRUCT(") || !code_append(c, text) || !code_append(c, ")") ||
        !code_take(c) || !code_take_own(c) || !code_take_mark(c, "{"))
        return false;
    const int numbers = take_members(c, zero);
    if (numbers == 0 || !code_take(c) || !code_take_mark(c, ";"))
        return false;
    own.type.numbers = numbers;
    own.fields = c->fields - own.first;
    c->structs.at[c->structs.count++] = own;
    fputs(" return zero; }", zero);
    return true;
}

static bool take_struct(struct code *c)
{
    char *text = NULL;
    size_t bytes;
    FILE *zero = xmemstream(&text, &bytes);
    c->size_tokens = 0;
    bool ok = take_struct_text(c, zero);
    xmemclose(zero);
    ok = ok && code_append(c, text);
    free(text);
    return ok;
}

// Skips STRUCT(name), which take_struct writes. Returns false if something else stands there.
static bool skip_struct_macro(struct code *c)
{
    const struct user_token *at = c->next;
    for (int i = 0; i < 4; i++) {
        if (at[i].kind == TOKEN_END)
            return false;
    }
    c->next += 4;
    return user_token_is(at + 1, "(") && user_token_is(at + 3, ")") && code_is(c, "struct") &&
           code_same_name(at + 2, c->next + 1);
}

static bool take_unit(struct code *c)
{
    if (code_is(c, "INLINE"))
        return take_function(c);
    if (code_is(c, "STRUCT") && !skip_struct_macro(c))
        return code_fail(c, "write: STRUCT(name) struct name { int member; };");
    if (code_is(c, "struct"))
        return take_struct(c);
    if (code_is(c, ";"))
        return code_take(c);
    if (code_is_type(c) && c->next[1].kind == TOKEN_WORD && user_token_is(c->next + 2, "("))
        return code_fail(c, "a function begins with INLINE");
    return code_fail(c, "%s", outside);
}

// Writes the line ends after the last token, so that the text has as many lines as the file.
static bool take_end(struct code *c)
{
    return code_append_space(c, c->next);
}

char *user_code_make(const char *name, bool stencil, const char *text, int *line, char why[USER_WHY])
{
    struct user_tokens tokens;
    struct code *c = xalloc(sizeof(*c));
    char *made = NULL;
    if (user_tokens_read(&tokens, text, line, why)) {
        *c = (struct code){
            .name = name, .stencil = stencil, .next = tokens.at, .line = 1, .fail_line = line, .why = why};
        bool ok = true;
        while (ok && c->next->kind != TOKEN_END)
            ok = take_unit(c);
        if (ok && take_end(c))
            made = c->out;
        else
            free(c->out);
    }
    user_tokens_free(&tokens);
    free(c);
    return made;
}

// ---- names ----

enum { VOID, INT, PIXEL, PLACE, VIEW, ARGUMENTS };

static const struct known types[] = {[VOID] = {.word = "void", .safe = "void"},
                                     [INT] = {.word = "int", .safe = "int", .numbers = 1},
                                     [PIXEL] = {.word = "pixel", .safe = "pixel", .numbers = 4},
                                     [PLACE] = {.word = "place", .safe = "place", .numbers = 2},
                                     [VIEW] = {.word = "view", .safe = "user_view", .numbers = 4},
                                     [ARGUMENTS] = {.word = "arguments", .safe = "user_arguments", .numbers = 1},
                                     {.word = NULL}},
                          functions[] = {{"sat8", "sat8", 0, 1, {INT}},
                                         {"luma", "luma", 0, 1, {PIXEL}},
                                         {"root", "user_root", 0, 1, {INT}},
                                         {"min", "min", 0, 2, {INT, INT}},
                                         {"max", "max", 0, 2, {INT, INT}},
                                         {"clamp", "user_clamp", 0, 3, {INT, INT, INT}},
                                         {"tap", "user_tap", 0, 3, {VIEW, INT, INT}},
                                         {"RADIUS", "user_radius", 0, 1, {VIEW}},
                                         {"ARG", "user_arg", 0, 2, {ARGUMENTS, INT}},
                                         {"WIDTH", "WIDTH", 0, 1, {ARGUMENTS}},
                                         {"HEIGHT", "HEIGHT", 0, 1, {ARGUMENTS}},
                                         {"FRAME", "FRAME", 0, 1, {ARGUMENTS}},
                                         {"TIME", "TIME", 0, 1, {ARGUMENTS}},
                                         {.word = "/", .safe = "user_div"},
                                         {.word = "%", .safe = "user_mod"},
                                         {.word = NULL}};

// The members of the language's types, which keep their names.
static const char *const members[][5] = {
    [PIXEL] = {"r", "g", "b", "a"}, [PLACE] = {"x", "y"}, [VIEW] = {"x", "y", "radius"}, [ARGUMENTS] = {NULL}};

const struct type code_int = {&types[INT], NULL, 1};

// ---- names ----

// Returns the name that the filter's author wrote for a word of the new text, which has `length` bytes.
static const char *shown_word(const char *word, size_t *length)
{
    const size_t name =
        strncmp(word, "own_", 4) == 0 ? 4 + strspn(word + 4, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
    if (name > 0 && name + 2 < *length && strncmp(word + name, "X_", 2) == 0) {
        *length -= name + 2;
        return word + name + 2;
    }
    for (const struct known *lists[] = {functions, types}, **list = lists; list < lists + 2; list++) {
        for (const struct known *row = *list; row->word; row++) {
            if (strlen(row->safe) == *length && memcmp(row->safe, word, *length) == 0) {
                *length = strlen(row->word);
                return row->word;
            }
        }
    }
    return word;
}

void user_code_show(char *text)
{
    char *to = text;
    while (*text) {
        size_t length = 0;
        while (isalnum((unsigned char)text[length]) || text[length] == '_')
            length++;
        char *const after = text + (length > 0 ? length : 1);
        const char *shown = length > 0 ? shown_word(text, &length) : text;
        length = length > 0 ? length : 1;
        memmove(to, shown, length);
        to += length;
        text = after;
    }
    *to = '\0';
}

bool code_same_name(const struct user_token *a, const struct user_token *b)
{
    return a->length == b->length && memcmp(a->text, b->text, (size_t)a->length) == 0;
}

const struct own *code_find(const struct owns *owns, const struct user_token *name)
{
    for (int i = owns->count - 1; i >= 0; i--) {
        if (code_same_name(owns->at[i].name, name))
            return &owns->at[i];
    }
    return NULL;
}

static const struct known *find_known(const struct known *row, const struct user_token *word)
{
    while (row->word && !user_token_is(word, row->word))
        row++;
    return row->word ? row : NULL;
}

const struct known *code_find_function(const struct user_token *word)
{
    return find_known(functions, word);
}

struct own *code_declare(struct code *c, struct owns *owns, const struct type *type)
{
    const struct user_token *name = c->next;
    bool ok = name->kind == TOKEN_WORD || code_fail_here(c);
    if (ok && user_word_is_known(name))
        ok = code_is(c, "const") ? code_fail_type(c)
                                 : code_fail(c, "the language has the name '%.*s'; choose another one", SHOWN(name));
    if (ok && (code_find(&c->functions, name) || code_find(&c->structs, name)))
        ok = code_fail(c, "the name '%.*s' is that of a function or struct; choose another one", SHOWN(name));
    for (int i = c->scope; ok && owns == &c->variables && i < owns->count; i++) {
        if (code_same_name(owns->at[i].name, name))
            ok = code_fail(c, "the variable '%.*s' is declared twice; rename one", SHOWN(name));
    }
    if (ok && owns->count == NAMES)
        ok = code_fail(c, "the code has more than %d names", NAMES);
    if (!ok)
        return NULL;
    owns->at[owns->count] = (struct own){.name = name, .type = *type, .first = c->fields};
    return &owns->at[owns->count++];
}

bool code_add_field(struct code *c, int first, const struct type *type)
{
    for (int i = first; i < c->fields; i++) {
        if (code_same_name(c->field[i].name, c->next))
            return code_fail(c, "the name '%.*s' stands here twice; rename one", SHOWN(c->next));
    }
    c->field[c->fields++] = (struct member){c->next, *type};
    return true;
}

// ---- types ----

struct type code_known_type(int index)
{
    return (struct type){&types[index], NULL, types[index].numbers};
}

bool code_is_type(const struct code *c)
{
    return code_is(c, "const") || code_is(c, "struct") || find_known(types, c->next) || code_find(&c->structs, c->next);
}

bool code_fail_type(struct code *c)
{
    if (code_is(c, "const"))
        return code_fail(c, "only variables and parameters can be const; remove 'const'");
    return code_fail(c, "there is no type '%.*s'; a filter computes with int", SHOWN(c->next));
}

bool code_take_type(struct code *c, struct type *type)
{
    const bool named = code_is(c, "struct");
    c->next += named;
    const struct known *known = find_known(types, c->next);
    const struct own *own = code_find(&c->structs, c->next);
    if (known == &types[VIEW] && !c->stencil)
        return code_fail(c, "only a filter with KIND stencil has the type view");
    if (known && named)
        return code_fail(c, "'%s' is no struct of the filter; remove 'struct'", known->word);
    if (known) {
        *type = code_known_type((int)(known - types));
        return code_take_as(c, known->safe, strlen(known->safe));
    }
    if (c->next->kind != TOKEN_WORD)
        return code_fail_here(c);
    if (!own)
        return code_fail_type(c);
    *type = own->type;
    return code_take_own(c);
}

bool code_take_const_type(struct code *c, struct type *type, bool *constant)
{
    const bool before = code_is(c, "const");
    c->next += before; // GLSL ES has const only for constant expressions
    if (!code_take_type(c, type))
        return false;
    const bool after = code_is(c, "const");
    c->next += after;
    *constant = before || after;
    return true;
}

// For messages.
static struct user_token shown(const struct type *type)
{
    return type->known ? (struct user_token){.text = type->known->word, .length = (int)strlen(type->known->word)}
                       : *type->named;
}

bool code_check_type(struct code *c, const struct user_token *begin, const struct type *wanted, const struct type *type)
{
    if (type->known == wanted->known && (type->known || type->named == wanted->named))
        return true;
    const struct user_token is = shown(type), must = shown(wanted);
    c->next = begin;
    if (type->numbers == 0)
        return code_fail(c, "a function of the type void has no value; give it the type %.*s and a return",
                         SHOWN(&must));
    return code_fail(c, "a value of the type %.*s stands where the type %.*s is needed%s", SHOWN(&is), SHOWN(&must),
                     wanted->known == &types[INT] ? "; use one of its members" : "");
}

// ---- members ----

bool code_take_member(struct code *c)
{
    if (c->next->kind != TOKEN_WORD || user_word_is_known(c->next))
        return code_fail_here(c);
    for (int type = 0; type <= ARGUMENTS; type++) {
        for (const char *const *name = members[type]; *name; name++) {
            if (code_is(c, *name))
                return code_take(c);
        }
    }
    return code_take_own(c);
}

bool code_take_member_of(struct code *c, struct type *type)
{
    const struct user_token is = shown(type);
    if (type->known) {
        const char *const *name = members[type->known - types];
        while (*name && !code_is(c, *name))
            name++;
        *type = code_int;
        if (*name)
            return code_take(c);
    } else {
        const struct own *own = code_find(&c->structs, type->named);
        for (int i = own->first; i < own->first + own->fields; i++) {
            if (!code_same_name(c->field[i].name, c->next))
                continue;
            *type = c->field[i].type;
            return code_take_member(c);
        }
    }
    return c->next->kind == TOKEN_WORD
               ? code_fail(c, "the type %.*s has no member '%.*s'; correct the name", SHOWN(&is), SHOWN(c->next))
               : code_fail_here(c);
}
