// names.c: names of files, and tables that a name finds
#include "batch/names.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/options.h"
#include "base/text.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WHOLE "{dir}{stem}{ext}"

const char *name_extension(const char *path)
{
    const char *name = file_base(path), *dot = strrchr(name, '.');
    // The leading dots of ".." and ".jpg" do not begin an extension.
    const bool stem = dot && (size_t)(dot - name) >= strspn(name, ".");
    return stem ? dot : name + strlen(name);
}

bool name_format(const char *path, enum codec_format *format)
{
    const char *extension = name_extension(path);
    return *extension && codec_from_name(extension + 1, format);
}

const char *name_missing_library(const char *path)
{
    const char *extension = name_extension(path);
    return *extension ? codec_missing_library(extension + 1) : NULL;
}

struct spelling {
    char *text;
    size_t length;
    size_t direct; // length of the part that has no symbolic links
};

static void add_part(struct spelling *spelling, const char *part, size_t size)
{
    if (spelling->length > 0 && spelling->text[spelling->length - 1] != '/')
        spelling->text[spelling->length++] = '/';
    memcpy(spelling->text + spelling->length, part, size);
    spelling->length += size;
    spelling->text[spelling->length] = '\0';
}

// Handles "..": removes the last part. If that part is a symbolic link, its parent is elsewhere: resolves the link
// first.
static void go_up(struct spelling *spelling)
{
    char real[PATH_MAX];
    struct stat status;
    const char *last = strrchr(spelling->text, '/');
    const bool known = spelling->length > 0 && strcmp(last ? last + 1 : spelling->text, "..") != 0;
    if (!known) {
        add_part(spelling, "..", 2);
        return;
    }
    if (spelling->length > spelling->direct && lstat(spelling->text, &status) == 0 && S_ISLNK(status.st_mode)) {
        add_part(spelling, "..", 2);
        if (realpath(spelling->text, real)) {
            strcpy(spelling->text, real);
            spelling->length = spelling->direct = strlen(real);
        }
        return;
    }
    spelling->length = last ? (size_t)(last - spelling->text) + (last == spelling->text) : 0;
    spelling->text[spelling->length] = '\0';
    if (spelling->direct > spelling->length)
        spelling->direct = spelling->length;
}

char *name_normal(const char *directory, const char *path)
{
    const size_t above = strlen(directory);
    const size_t most = above > PATH_MAX ? above : PATH_MAX; // longest result of realpath
    struct spelling spelling = {.text = xmalloc(most + strlen(path) + 8)};
    strcpy(spelling.text, *path == '/' ? "/" : directory);
    spelling.length = spelling.direct = strlen(spelling.text);
    for (const char *part = path + strspn(path, "/"); *part;) {
        const size_t size = strcspn(part, "/");
        if (size == 2 && strncmp(part, "..", 2) == 0)
            go_up(&spelling);
        else if (size != 1 || *part != '.')
            add_part(&spelling, part, size);
        part += size + strspn(part + size, "/");
    }
    const bool below = above > 0 && strncmp(spelling.text, directory, above) == 0 && spelling.text[above] == '/';
    char *normal = xstrdup(spelling.text + (below ? above + 1 : 0));
    free(spelling.text);
    return normal;
}

enum place { PLACE_DIR, PLACE_STEM, PLACE_TYPE, PLACE_EXT, PLACE_N, PLACES };

static const char *const places[PLACES + 1] = {"dir", "stem", "type", "ext", "n", NULL};

// Returns the field in the braces at `text`; PLACES if it is unknown.
static enum place find_place(const char *text)
{
    const size_t size = strcspn(text + 1, "}");
    for (int i = 0; i < PLACES; i++) {
        if (strlen(places[i]) == size && strncmp(places[i], text + 1, size) == 0 && text[1 + size])
            return (enum place)i;
    }
    return PLACES;
}

// `numbered`: {n} is a field, too.
static bool check_places(const char *where, const char *template, bool numbered)
{
    const char *all = numbered ? "{dir}, {stem}, {type}, {ext} and {n}" : "{dir}, {stem}, {type} and {ext}";
    for (const char *brace = strchr(template, '{'); brace; brace = strchr(brace + 1, '{')) {
        if (find_place(brace) < (numbered ? PLACES : PLACE_N))
            continue;
        if (!strchr(brace, '}')) {
            log_error("%s has an unclosed brace: %s; the fields are %s", where, brace, all);
            return false;
        }
        char word[32];
        snprintf(word, sizeof(word), "%.*s", (int)strcspn(brace + 1, "}"), brace + 1);
        const char *near = options_nearest(word, places);
        log_error("%s has the unknown field {%s}%s%s%s; the fields are %s", where, word,
                  text_if(near, ", did you mean {"), text_or(near, ""), text_if(near, "}?"), all);
        return false;
    }
    return true;
}

enum { FORMAT_LIST = 128 };

// Writes the names of the formats that monocle writes.
static void list_formats(char list[FORMAT_LIST])
{
    list[0] = '\0';
    for (int i = 0; i < CODEC_FORMATS; i++) {
        const struct codec_info *info = codec_info((enum codec_format)i);
        if (info->writes)
            text_append(list, FORMAT_LIST, "%s%s", text_if(list[0], ", "), info->name);
    }
}

static bool find_format(struct naming *naming, const char *name)
{
    enum codec_format format;
    char list[FORMAT_LIST];
    naming->format = name && codec_from_name(name, &format) ? codec_info(format) : NULL;
    if (!name || (naming->format && naming->format->writes))
        return true;
    list_formats(list);
    log_error("--format is '%s', but must be one of %s", name, list);
    return false;
}

static const struct codec_info *format_info(const char *path)
{
    enum codec_format format;
    return name_format(path, &format) ? codec_info(format) : NULL;
}

// Takes the format from the template's own extension, if any. It must agree with --format.
static bool take_extension(struct naming *naming, const char *format)
{
    const struct codec_info *own = format_info(naming->template);
    if (!own || own == naming->format)
        return true;
    if (naming->format) {
        log_error("--output ends in %s, but --format is %s; leave out one of them", name_extension(naming->template),
                  format);
        return false;
    }
    naming->format = own;
    if (own->writes)
        return true;
    log_error("--output ends in %s, a format that monocle cannot write", name_extension(naming->template));
    return false;
}

// Returns false if a template ends in an extension that names no format (logged). An extension with a field is none.
static bool check_extension(const char *template)
{
    const char *extension = name_extension(template);
    char list[FORMAT_LIST];
    if (!*extension || strchr(extension, '{') || format_info(template))
        return true;
    list_formats(list);
    log_error("--output ends in %s, but the formats are %s; end it in one of them or in {ext}", extension, list);
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

// Returns the directory before the template's first field.
static char *fixed_directory(const char *template)
{
    size_t size = strcspn(template, "{");
    while (size > 0 && template[size - 1] != '/')
        size--;
    return size > 0 ? xstrndup(template, size) : xstrdup(".");
}

bool naming_init(struct naming *naming, const char *output, const char *format)
{
    const bool places_given = strchr(output, '{') != NULL, one_file = !places_given && format_info(output);
    const size_t length = strlen(output);
    const char *behind = "";
    *naming = (struct naming){0};
    if (!length) {
        log_error("--output is empty; name a directory or a template");
        return false;
    }
    if (strcmp(output, "-") == 0) {
        log_error("--output cannot be standard output (-); name a directory or a template");
        return false;
    }
    if (!find_format(naming, format) || !check_places("--output", output, true) ||
        (places_given && !format && !check_extension(output)))
        return false;
    if (!places_given && !one_file) {
        behind = output[length - 1] == '/' ? WHOLE : "/" WHOLE;
    } else if (output[length - 1] == '/' || ends_with(output, "{dir}")) {
        behind = "{stem}{ext}";
    } else if (!one_file && !format_info(output) && !ends_with(output, "{ext}")) {
        behind = "{ext}";
    }
    naming->template = xprintf("%s%s", output, behind);
    naming->directory = one_file ? NULL : fixed_directory(naming->template);
    return take_extension(naming, format);
}

void naming_finish(struct naming *naming)
{
    free(naming->template);
    free(naming->directory);
    *naming = (struct naming){0};
}

static void print_place(FILE *out, enum place place, const struct naming *naming, const char *relative, size_t number)
{
    const char *name = file_base(relative), *extension = name_extension(relative);
    const struct codec_info *own = format_info(relative);
    switch (place) {
    case PLACE_DIR:
        fprintf(out, "%.*s", (int)(name - relative), relative);
        break;
    case PLACE_STEM:
        fprintf(out, "%.*s", (int)(extension - name), name);
        break;
    case PLACE_TYPE:
        fprintf(out, "%s", extension + (*extension == '.'));
        break;
    case PLACE_EXT:
        if (own && own->writes && (!naming->format || naming->format == own))
            fprintf(out, "%s", extension);
        else if (naming->format)
            fprintf(out, ".%s", naming->format->extensions[0]);
        else
            fprintf(out, ".png");
        break;
    default:
        fprintf(out, "%06zu", number);
        break;
    }
}

// Removes repeated slashes and "." parts, so that equal paths are equal texts.
static void tidy(char *path)
{
    char *to = path;
    for (const char *from = path; *from; from++) {
        const bool begins = to == path || to[-1] == '/';
        if (*from == '/' && begins && to != path)
            continue;
        if (begins && to != path && from[0] == '.' && from[1] == '/')
            from++;
        else
            *to++ = *from;
    }
    *to = '\0';
}

char *naming_output(const struct naming *naming, const char *relative, size_t number)
{
    char *path = NULL;
    size_t size;
    FILE *out = xmemstream(&path, &size);
    for (const char *at = naming->template; *at;) {
        if (*at == '{') {
            print_place(out, find_place(at), naming, relative, number);
            at += strcspn(at, "}") + 1;
        } else {
            fputc(*at++, out);
        }
    }
    xmemclose(out);
    tidy(path);
    return path;
}

bool naming_file_check(const char *filter, const char *text)
{
    return check_places(filter, text, false);
}

char *naming_file(const char *text, const char *relative)
{
    return naming_output(&(struct naming){.template = (char *)text}, relative, 0);
}

// ---- tables: open addressing, at most half full ----

enum { FIRST_ROOM = 1024 };

static const char *key_of(const void *row)
{
    return *(const char *const *)row;
}

// Returns the slot of the key, or the free slot where it belongs.
static size_t *find_slot(const struct key_table *table, const char *key)
{
    size_t at = hash_64(key, strlen(key)) & (table->room - 1);
    while (table->slot[at] && strcmp(key_of(table->row[table->slot[at] - 1]), key) != 0)
        at = (at + 1) & (table->room - 1);
    return &table->slot[at];
}

static void table_grow(struct key_table *table)
{
    const size_t room = table->room ? table->room * 2 : FIRST_ROOM;
    table->row = xrealloc(table->row, room / 2 * sizeof(*table->row));
    free(table->slot);
    table->slot = xcalloc(room, sizeof(*table->slot));
    table->room = room;
    for (size_t i = 0; i < table->count; i++)
        *find_slot(table, key_of(table->row[i])) = i + 1;
}

void *table_row(struct key_table *table, const char *key, size_t row_bytes)
{
    if (table->count * 2 >= table->room)
        table_grow(table);
    size_t *slot = find_slot(table, key);
    if (*slot)
        return table->row[*slot - 1];
    const size_t size = strlen(key) + 1;
    void *row = xalloc(row_bytes + size);
    *(const char **)row = memcpy((char *)row + row_bytes, key, size);
    table->row[table->count] = row;
    *slot = ++table->count;
    return row;
}

void *table_find(const struct key_table *table, const char *key)
{
    const size_t at = table->room ? *find_slot(table, key) : 0;
    return at ? table->row[at - 1] : NULL;
}

void table_free(struct key_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->row[i]);
    free(table->row);
    free(table->slot);
    *table = (struct key_table){0};
}
