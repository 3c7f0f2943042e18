// user_names.c: the parser of users' filters: names and types
#include "filter/user_parse.h"

#include <ctype.h>
#include <string.h>

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
