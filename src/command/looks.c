// looks.c: named filter chains: reads, finds, saves and lists them
#include "command/looks.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/file.h"
#include "base/log.h"
#include "base/options.h"
#include "base/resource.h"
#include "base/text.h"
#include "command/shared.h"
#include "filter/user_filter.h"
#include "matte/matte.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_MOST = 1 << 20, WARNINGS = 5 };
static const char file_name[] = "looks";

static bool is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t length = strlen(name);
    return length > 0 && length <= LOOK_NAME && name[strspn(name, letters)] == '\0';
}

const struct look *looks_find(const struct looks *looks, const char *name)
{
    for (int i = 0; i < looks->count; i++) {
        if (strcmp(looks->look[i].name, name) == 0)
            return &looks->look[i];
    }
    return NULL;
}

// Adds one look. False: it is wrong; `why` then gets the reason. `first`: the first look of the same text. Files are
// relative to `directory`.
static bool add(struct looks *looks, const struct look *look, int first, const char *directory, char why[CHAIN_ERROR])
{
    struct chain chain;
    char text[CHAIN_TEXT];
    bool files = false;
    if (!look->chain) {
        snprintf(why, CHAIN_ERROR, "write 'name = chain', such as 'soft = blur=3,gamma=1.4'");
        return false;
    }
    if (!is_name(look->name)) {
        snprintf(why, CHAIN_ERROR, "a name has 1 to %d letters, digits, '-' and '_'", LOOK_NAME);
        return false;
    }
    if (strlen(look->chain) >= CHAIN_TEXT) {
        snprintf(why, CHAIN_ERROR, "a chain has at most %d bytes", CHAIN_TEXT - 1);
        return false;
    }
    if (!chain_parse_from(&chain, look->chain, directory, why))
        return false;
    for (int i = 0; i < chain.count; i++)
        files = files || chain_file(&chain, i);
    const struct look *known = looks_find(looks, look->name);
    if (!known && looks->count == LOOKS_MAX) {
        snprintf(why, CHAIN_ERROR, "there are more than %d looks", LOOKS_MAX);
        return false;
    }
    if (known && known - looks->look < first)
        return true;
    struct look *to = known ? &looks->look[known - looks->look] : &looks->look[looks->count++];
    free(to->whole);
    *to = *look;
    if (files && chain_print(&chain, text))
        to->chain = to->whole = xstrdup(text);
    return true;
}

// Adds the looks of a text with lines "name = chain", which it changes. A look replaces an earlier one of the same
// text, but not one that was there before. Leaves out bad lines; `warns`: with a warning for each of the first ones.
static void add_text(struct looks *looks, char *text, bool users, bool warns, const char *file)
{
    const int first = looks->count;
    int line = 0, bad = 0;
    struct look look = {.users = users};
    char *name, *chain, why[CHAIN_ERROR], directory[PATH_MAX];
    file_directory(file, directory);
    while (text_next_setting(&text, &line, &name, &chain)) {
        look.name = name;
        look.chain = chain;
        if (!add(looks, &look, first, directory, why) && warns && bad++ < WARNINGS)
            log_warn("%s:%d: %s; this look is left out", file, line, why);
    }
    if (bad > WARNINGS)
        log_warn("%s: more looks are left out: %d", file, bad - WARNINGS);
}

static void add_users(struct looks *looks, bool warns)
{
    char path[PATH_MAX];
    const char *unsafe;
    char *text = looks->text[0] = config_read(file_name, FILE_MOST, path, &unsafe);
    if (text) {
        add_text(looks, text, true, warns, path);
    } else if (warns && errno != ENOENT && errno != ENOTDIR) {
        char why[CONFIG_WHY];
        config_explain(path, unsafe, FILE_MOST, why);
        log_warn("the looks in %s are not used: %s", path, why);
    }
}

// Returns true for a name that looks_save gives.
static bool is_saved(const char *name)
{
    return strncmp(name, "look-", 5) == 0 && name[5] && !name[5 + strspn(name + 5, "0123456789")];
}

// Moves the saved looks to the end, in their order.
static void move_saved(struct looks *looks)
{
    struct look saved[LOOKS_MAX];
    int others = 0, count = 0;
    for (int i = 0; i < looks->count; i++) {
        if (is_saved(looks->look[i].name))
            saved[count++] = looks->look[i];
        else
            looks->look[others++] = looks->look[i];
    }
    memcpy(&looks->look[others], saved, (size_t)count * sizeof(*saved));
}

void looks_open(struct looks *looks, bool warns)
{
    const struct resource *shipped = resource_find("assets/looks");
    *looks = (struct looks){0};
    add_users(looks, warns);
    if (shipped) {
        looks->text[1] = xstrndup((const char *)shipped->data, shipped->size);
        add_text(looks, looks->text[1], false, false, shipped->name);
    }
    move_saved(looks);
}

void looks_close(struct looks *looks)
{
    for (int i = 0; i < LOOK_TEXTS; i++)
        free(looks->text[i]);
    for (int i = 0; i < looks->count; i++)
        free(looks->look[i].whole);
    *looks = (struct looks){0};
}

bool look_mattes_ready(const struct chain *chain, char error[CHAIN_ERROR])
{
    char why[MATTE_WHY];
    for (int i = 0; i < chain->count; i++) {
        const struct stage *stage = &chain->stage[i];
        if (!filter_sees_frame(stage->filter) || stage->values.value[0] == 0 || matte_ready(stage->values.file, why))
            continue;
        snprintf(error, CHAIN_ERROR, "matte: %s", why);
        return false;
    }
    return true;
}

bool look_parse_part(const char *text, enum chain_part which, const char *directory, struct chain *chain)
{
    char error[CHAIN_ERROR];
    if (chain_parse_part(chain, which, text, directory, error)) {
        if (!look_mattes_ready(chain, error)) {
            log_error("%s", error);
            return false;
        }
        chain_warn_useless(chain);
        return true;
    }
    struct looks *looks = xalloc(sizeof(*looks));
    looks_open(looks, false);
    if (which == PART_LOOK && looks_find(looks, text))
        log_error("there is no filter '%s', but a look; use --look %s", text, text);
    else
        log_error("%s", error);
    looks_close(looks);
    free(looks);
    return false;
}

void looks_describe_unknown(const struct looks *looks, const char *name, char why[CHAIN_ERROR])
{
    const char *names[LOOKS_MAX + 1] = {NULL}, *dot = strrchr(name, '.');
    for (int i = 0; i < looks->count; i++)
        names[i] = looks->look[i].name;
    if (dot && strcasecmp(dot, ".cube") == 0)
        snprintf(why, CHAIN_ERROR, "there is no look '%.80s'; a .cube file is a filter: -f lut=FILE", name);
    else
        options_unknown(why, CHAIN_ERROR, "look", name, names, "'monocle looks' lists the looks");
}

bool look_has(const struct look *look, const struct chain *chain)
{
    char present[CHAIN_TEXT], text[CHAIN_TEXT], error[CHAIN_ERROR];
    struct chain own;
    return chain_parse(&own, look->chain, error) && chain_print(&own, text) &&
           chain_print_part(chain, PART_LOOK, present) && strcmp(present, text) == 0;
}

const struct look *looks_with(struct looks *looks, const struct chain *chain)
{
    char text[CHAIN_TEXT];
    if (!chain_print_part(chain, PART_LOOK, text))
        return NULL;
    if (strcmp(text, looks->asked) == 0)
        return looks->found;
    strcpy(looks->asked, text);
    looks->found = NULL;
    for (int i = 0; i < looks->count && !looks->found; i++)
        looks->found = look_has(&looks->look[i], chain) ? &looks->look[i] : NULL;
    return looks->found;
}

bool look_parse(const char *name, const char *more, const char *directory, struct chain *chain)
{
    struct looks *looks = xalloc(sizeof(*looks));
    char error[CHAIN_ERROR];
    if (name)
        looks_open(looks, true);
    const struct look *look = name ? looks_find(looks, name) : NULL;
    const bool known = look || !name;
    if (!known && filter_find(name))
        snprintf(error, sizeof(error), "there is no look '%s', but a filter; use -f %s", name, name);
    else if (!known)
        looks_describe_unknown(looks, name, error);
    if (!known)
        log_error("%s", error);
    char *text = xprintf("%s%s%s", look ? look->chain : "", text_if(look && more, ","), more ? more : "");
    const bool ok = known && look_parse_part(text, PART_LOOK, directory, chain);
    free(text);
    looks_close(looks);
    free(looks);
    return ok;
}

bool looks_save(struct looks *looks, const struct chain *chain, char name[LOOK_NAME + 1], char why[CHAIN_ERROR])
{
    char text[CHAIN_TEXT], line[CHAIN_TEXT + LOOK_NAME + 8], path[PATH_MAX];
    struct looks now;
    bool ok = chain_print_part(chain, PART_LOOK, text);
    looks_open(&now, false); // another window may have saved looks
    for (int i = 1; snprintf(name, LOOK_NAME + 1, "look-%d", i) && looks_find(&now, name);)
        i++;
    looks_close(&now);
    snprintf(line, sizeof(line), "%s = %s", name, text);
    if (!ok || !config_append(file_name, FILE_MOST, line)) {
        const char *cause = ok ? strerror(errno) : "the chain is too long";
        if (ok && errno == EPERM)
            cause = "another user can write the file or its directory";
        config_path(file_name, path);
        snprintf(why, CHAIN_ERROR, "cannot save the look in %.150s: %s", path[0] ? path : "$XDG_CONFIG_HOME/monocle",
                 cause);
        return false;
    }
    looks_close(looks);
    looks_open(looks, false);
    return true;
}

// ---- the command ----

static const char *const examples[] = {
    "monocle looks  list all looks",
    "monocle looks --json  list all looks as JSON",
    "monocle live photo.jpg --look ink  show an image with a look",
    NULL,
};
static const char *const details[] = {
    "A look is a name and a filter chain. In the window, the keys 1 to 9 select the first nine looks, and the key w "
    "saves the current chain as a look. Your looks are in $XDG_CONFIG_HOME/monocle/looks (default: "
    "~/.config/monocle/looks), one per line: 'soft = blur=3,gamma=1.4'. They precede the looks of monocle and replace "
    "those of the same name. Saved looks (look-1, look-2, ...) come last; give one another name to move it to the "
    "front.",
    NULL,
};
static const char *const exits[] = {
    "0\tthe list was printed",
    "1\tstandard output cannot be written",
    "2\twrong arguments",
    NULL,
};
static int looks_run(int argc, char **argv)
{
    struct list_options o = {0};
    struct command_operands operands;
    if (!command_parse(&looks_command, argc, argv, &o, 0, &operands))
        return operands.code;
    if (!user_filters_load(getenv("MONOCLE_FILTERS")))
        return EXIT_USAGE;
    struct looks *looks = xalloc(sizeof(*looks));
    looks_open(looks, true);
    json_t *array = o.json ? json_array() : NULL;
    for (int i = 0; i < looks->count; i++) {
        const struct look *look = &looks->look[i];
        if (o.json)
            json_array_append_new(array, json_pack("{s:s,s:o,s:b}", "name", look->name, "chain", text_json(look->chain),
                                                   "user", look->users));
        else
            log_print_line(stdout, "%-*s %s", LOOK_NAME / 2, look->name, look->chain);
    }
    if (o.json)
        print_json(array, JSON_INDENT(2));
    looks_close(looks);
    free(looks);
    return EXIT_OK;
}

const struct command looks_command = {
    .name = "looks",
    .usage = "[options]",
    .summary = "list the looks: filter chains with a name",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = list_options,
    .run = looks_run,
};
