// tuned.c: results of tunings: entries, the files with them, and the lookup of the fastest choice
#include "compute/tuned.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/file.h"
#include "base/log.h"
#include "base/resource.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

// ---- entries ----

enum field_kind { FIELD_TEXT, FIELD_NEEDED, FIELD_SIZE, FIELD_UNITS, FIELD_TIME };

#define AT(member) offsetof(struct tuned_entry, member)

// FIELD_NEEDED: a text that must not be empty.
static const struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
} fields[TUNED_FIELDS] = {
    {"pass", FIELD_NEEDED, AT(key.pass)},
    {"size", FIELD_SIZE, AT(key.size)},
    {"choice", FIELD_NEEDED, AT(choice)},
    {"ms", FIELD_TIME, AT(ms)},
    {"default_ms", FIELD_TIME, AT(default_ms)},
    {"date", FIELD_TEXT, AT(date)},
    {"device", FIELD_NEEDED, AT(key.device)},
    {"vendor", FIELD_TEXT, AT(key.vendor)},
    {"type", FIELD_TEXT, AT(key.type)},
    {"architecture", FIELD_TEXT, AT(key.architecture)},
    {"compute_units", FIELD_UNITS, AT(key.compute_units)},
    {"driver", FIELD_TEXT, AT(key.driver)},
    {"source", FIELD_TEXT, AT(source)},
    {"launches", FIELD_TEXT, AT(launches)},
};

static bool is_text(const struct field *field)
{
    return field->kind != FIELD_UNITS && field->kind != FIELD_TIME;
}

static const char **text_of(const struct tuned_entry *entry, const struct field *field)
{
    return (const char **)((const char *)entry + field->offset);
}

static double *time_of(const struct tuned_entry *entry, const struct field *field)
{
    return (double *)((const char *)entry + field->offset);
}

int tuned_key_compare(const struct tuned_key *a, const struct tuned_key *b)
{
    const char *const one[] = {a->pass, a->size, a->device, a->vendor, a->type, a->architecture, a->driver};
    const char *const other[] = {b->pass, b->size, b->device, b->vendor, b->type, b->architecture, b->driver};
    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++) {
        const int order = strcmp(one[i], other[i]);
        if (order != 0)
            return order;
    }
    return (a->compute_units > b->compute_units) - (a->compute_units < b->compute_units);
}

// Returns a copy with copies of its texts, in one block that the caller frees.
static struct tuned_entry *copy_entry(const struct tuned_entry *entry)
{
    size_t bytes = sizeof(*entry);
    for (int i = 0; i < TUNED_FIELDS; i++)
        bytes += is_text(&fields[i]) ? strlen(*text_of(entry, &fields[i])) + 1 : 0;
    struct tuned_entry *copy = xmalloc(bytes);
    *copy = *entry;
    char *at = (char *)(copy + 1);
    for (int i = 0; i < TUNED_FIELDS; i++) {
        if (!is_text(&fields[i]))
            continue;
        *text_of(copy, &fields[i]) = at;
        at = stpcpy(at, *text_of(entry, &fields[i])) + 1;
    }
    return copy;
}

// ---- values ----

enum { LOG2_UNIT = 10, LOG2_MAX = 39 };
static const char units[] = " KMG"; // of 2 ** LOG2_UNIT each

static void print_size(int log2, char text[TUNED_SIZE])
{
    const int unit = log2 / LOG2_UNIT;
    snprintf(text, TUNED_SIZE, "%d%.*s", 1 << log2 % LOG2_UNIT, unit > 0, units + unit);
}

void tuned_size(int width, int height, char text[TUNED_SIZE])
{
    const double pixels = (double)width * height;
    int log2 = 0;
    while (log2 < LOG2_MAX && pixels / (double)(1LL << log2) >= sqrt(2))
        log2++;
    print_size(log2, text);
}

int tuned_size_log2(const char *text)
{
    char size[TUNED_SIZE];
    const size_t digits = strspn(text, "0123456789");
    const char *unit = strchr(units, text[digits] ? text[digits] : units[0]);
    if (digits == 0 || digits > 3 || !unit)
        return -1;
    int log2 = LOG2_UNIT * (int)(unit - units);
    for (int number = atoi(text); number > 1; number /= 2)
        log2++;
    print_size(log2, size);
    return strcmp(size, text) == 0 ? log2 : -1;
}

void tuned_date(char text[TUNED_DATE])
{
    const time_t now = time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || strftime(text, TUNED_DATE, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        text[0] = '\0';
}

// ---- lines ----

enum { PARTS = 10000, PART_DIGITS = 4, WHOLE_DIGITS = 9, UNITS_DIGITS = 6 }; // of numbers

const char *tuned_field_name(int field)
{
    return fields[field].name;
}

const char *tuned_field_text(const struct tuned_entry *entry, int field, char number[TUNED_FIELD])
{
    const struct field *of = &fields[field];
    if (is_text(of))
        return *text_of(entry, of);
    if (of->kind == FIELD_UNITS) {
        snprintf(number, TUNED_FIELD, "%d", entry->key.compute_units);
    } else { // made of integers, so that the locale does not matter
        const long long parts = llround(*time_of(entry, of) * PARTS);
        snprintf(number, TUNED_FIELD, "%lld.%04lld", parts / PARTS, parts % PARTS);
    }
    return number;
}

void tuned_entry_print(const struct tuned_entry *entry, FILE *out)
{
    const int count = *entry->launches ? TUNED_FIELDS : TUNED_FIELDS - 1;
    for (int i = 0; i < count; i++) {
        char number[TUNED_FIELD];
        const char *text = tuned_field_text(entry, i, number);
        for (const char *at = *text ? text : "-"; *at; at++)
            putc(iscntrl((unsigned char)*at) ? ' ' : *at, out);
        putc(i < count - 1 ? '\t' : '\n', out);
    }
}

// Parses "12" or "12.345", with at most these digits. False: it is another text.
static bool parse_number(const char *text, size_t whole_digits, size_t part_digits, double *value)
{
    static const char digits[] = "0123456789";
    const size_t whole = strspn(text, digits);
    const char *part = text[whole] == '.' ? text + whole + 1 : text + whole;
    const size_t parts = strspn(part, digits);
    if (whole == 0 || whole > whole_digits || parts > part_digits || part[parts] || (part[-1] == '.' && parts == 0))
        return false;
    double scale = 1;
    *value = (double)atoll(text);
    for (size_t i = 0; i < parts; i++) {
        scale *= 10;
        *value += (part[i] - '0') / scale;
    }
    return true;
}

static bool parse_field(const struct field *field, char *text, struct tuned_entry *entry)
{
    double value;
    if (field->kind == FIELD_UNITS) {
        if (!parse_number(text, UNITS_DIGITS, 0, &value))
            return false;
        entry->key.compute_units = (int)value;
        return true;
    }
    if (field->kind == FIELD_TIME)
        return parse_number(text, WHOLE_DIGITS, PART_DIGITS, time_of(entry, field));
    for (const char *at = text; *at; at++) {
        if (iscntrl((unsigned char)*at))
            return false;
    }
    *text_of(entry, field) = strcmp(text, "-") == 0 ? "" : text;
    if (field->kind == FIELD_SIZE)
        return tuned_size_log2(text) >= 0;
    return field->kind == FIELD_TEXT || **text_of(entry, field);
}

bool tuned_entry_parse(char *line, struct tuned_entry *entry, char why[TUNED_WHY])
{
    char *rest = line;
    int count = 0;
    *entry = (struct tuned_entry){.launches = ""};
    for (char *text; (text = strsep(&rest, "\t")); count++) {
        if (count < TUNED_FIELDS && !parse_field(&fields[count], text, entry)) {
            snprintf(why, TUNED_WHY, "its field %s is wrong", fields[count].name);
            return false;
        }
    }
    if (count == TUNED_FIELDS || count == TUNED_FIELDS - 1)
        return true;
    snprintf(why, TUNED_WHY, "it has %d fields, but must have %d or %d, separated by tabs", count, TUNED_FIELDS - 1,
             TUNED_FIELDS);
    return false;
}

// ---- files ----

static const char file_name[] = "tuned", lock_name[] = "tuned.lock";
static const char head[] = "monocle tuned ";
enum { VERSION = 1, LINE_BYTES = 4096 };

const char *tuned_level_name(enum tuned_level level)
{
    static const char *const names[TUNED_LEVELS] = {"shipped", "system", "user", "run"};
    return names[level];
}

// ---- lists ----

void tuned_list_add(struct tuned_list *list, const struct tuned_entry *entry)
{
    list->entry = xgrow(list->entry, list->count, sizeof(struct tuned_entry *));
    list->entry[list->count++] = copy_entry(entry);
}

void tuned_list_free(struct tuned_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->entry[i]);
    free(list->entry);
    *list = (struct tuned_list){0};
}

// ---- the text ----

struct line {
    const char *text; // up to the end of the text
    size_t length, number;
    char copy[LINE_BYTES]; // the entry points into it
};

enum line_kind { LINE_NOTE, LINE_ENTRY, LINE_DAMAGED };

// Moves to the next line. A zeroed line is before the first one. False: there is none.
static bool next_line(struct line *line, const char *text, size_t size)
{
    const size_t at = line->text ? (size_t)(line->text - text) + line->length + 1 : 0;
    if (at >= size)
        return false; // an empty text may be NULL
    const char *from = text + at;
    const char *end = memchr(from, '\n', (size_t)(text + size - from));
    line->text = from;
    line->length = end ? (size_t)(end - from) : (size_t)(text + size - from);
    line->number++;
    return true;
}

static enum line_kind read_line(struct line *line, struct tuned_entry *entry, char why[TUNED_WHY])
{
    if (line->length == 0 || line->text[0] == '#')
        return LINE_NOTE;
    if (line->length >= LINE_BYTES || memchr(line->text, '\0', line->length)) {
        snprintf(why, TUNED_WHY, "it is %s", line->length >= LINE_BYTES ? "too long" : "not text");
        return LINE_DAMAGED;
    }
    memcpy(line->copy, line->text, line->length);
    line->copy[line->length] = '\0';
    return tuned_entry_parse(line->copy, entry, why) ? LINE_ENTRY : LINE_DAMAGED;
}

// Moves to the first line of a text and checks it. An empty text is valid.
static bool check_head(struct line *line, const char *text, size_t size, char why[TUNED_TEXT_WHY])
{
    char version[8] = "";
    if (!next_line(line, text, size))
        return true;
    const size_t length = sizeof(head) - 1, digits = line->length - length;
    if (line->length > length && memcmp(line->text, head, length) == 0 && digits < sizeof(version))
        memcpy(version, line->text + length, digits);
    const bool number = version[0] && !version[strspn(version, "0123456789")];
    if (number && atoi(version) == VERSION)
        return true;
    if (number)
        snprintf(why, TUNED_TEXT_WHY, "it has version %s, and this program uses version %d", version, VERSION);
    else
        snprintf(why, TUNED_TEXT_WHY, "its first line is not '%s%d'", head, VERSION);
    return false;
}

bool tuned_parse(const char *text, size_t size, struct tuned_list *list, struct tuned_damage *damage,
                 char why[TUNED_TEXT_WHY])
{
    struct line line = {.text = NULL};
    struct tuned_entry entry;
    char damaged[TUNED_WHY];
    *damage = (struct tuned_damage){0};
    if (!check_head(&line, text, size, why))
        return false;
    while (next_line(&line, text, size)) {
        const enum line_kind kind = read_line(&line, &entry, damaged);
        if (kind == LINE_ENTRY)
            tuned_list_add(list, &entry);
        if (kind == LINE_DAMAGED && damage->lines++ == 0) {
            damage->first = line.number;
            memcpy(damage->why, damaged, sizeof(damaged));
        }
    }
    return true;
}

void tuned_damage_log(const struct tuned_damage *damage, const char *path)
{
    char more[48] = "";
    if (damage->lines > 1)
        snprintf(more, sizeof(more), ", and %zu more damaged lines", damage->lines - 1);
    if (damage->lines > 0)
        log_warn("%s:%zu is not used: %s%s; correct or remove it", path, damage->first, damage->why, more);
}

void tuned_print_head(FILE *out)
{
    fprintf(out, "%s%d\n#", head, VERSION);
    for (int i = 0; i < TUNED_FIELDS; i++)
        fprintf(out, "%s%s", i > 0 ? "\t" : " ", tuned_field_name(i));
    fprintf(out, "\n");
}

// ---- reading ----

static void read_text(const char *path, const char *text, size_t size, struct tuned_list *list)
{
    struct tuned_damage damage;
    char why[TUNED_TEXT_WHY];
    if (!tuned_parse(text, size, list, &damage, why))
        log_warn("%s is not used: %s", path, why);
    tuned_damage_log(&damage, path);
}

// Returns the reason why a file could not be read, from errno.
static const char *read_error(void)
{
    if (errno == EPERM)
        return "it is not a file that only you and root can write; remove it, or change its owner and mode";
    if (errno == EFBIG)
        return "it has more than 16 MiB";
    return errno == ELOOP ? "it is a symbolic link" : strerror(errno);
}

// Reads the file in an open directory, and closes the directory. `directory` -1: there is none.
static void read_file(int directory, const char *place, const char *unsafe, struct tuned_list *list)
{
    char path[PATH_MAX + sizeof(file_name)];
    size_t size;
    snprintf(path, sizeof(path), "%s/%s", place, file_name);
    if (unsafe)
        log_warn("%s is not used: its directory %s; %s", path, unsafe, cache_remedy(unsafe));
    if (directory < 0)
        return;
    char *text = cache_read(directory, file_name, TUNED_FILE_BYTES, &size);
    if (text)
        read_text(path, text, size, list);
    else if (errno != ENOENT)
        log_warn("%s is not used: %s", path, read_error());
    free(text);
    close(directory);
}

static void read_shipped(struct tuned_list *list)
{
    static const char name[] = "assets/tuned.tsv";
    const struct resource *shipped = resource_find(name);
    if (shipped)
        read_text(name, (const char *)shipped->data, shipped->size, list);
}

void tuned_level_read(enum tuned_level level, struct tuned_list *list)
{
    char place[PATH_MAX];
    const char *unsafe;
    size_t at = 0;
    int directory;
    if (level == TUNED_SHIPPED)
        read_shipped(list);
    while (level == TUNED_SYSTEM && data_system_next(place, &at)) {
        directory = cache_open_named(place, false, &unsafe);
        read_file(directory, place, unsafe, list);
    }
    if (level == TUNED_USER) {
        directory = data_open(place, false, &unsafe);
        read_file(directory, place, unsafe, list);
    }
}

// ---- writing ----

void tuned_user_path(char path[PATH_MAX])
{
    char place[PATH_MAX];
    const char *unsafe;
    const int directory = data_open(place, false, &unsafe);
    if (directory >= 0)
        close(directory);
    if (!place[0] || snprintf(path, PATH_MAX, "%s/%s", place, file_name) >= PATH_MAX)
        path[0] = '\0';
}

// A change of the user's file.
struct user_change {
    char path[PATH_MAX + sizeof(file_name)];
    int directory, lock;
    char *old; // its text
    size_t old_size;
};

static bool fail(const struct user_change *change, const char *why)
{
    log_error("cannot write %s: %s; its entries are unchanged", change->path, why);
    return false;
}

// Waits for the lock. On a file system without locks, one of two simultaneous changes may be lost.
static bool lock(struct user_change *change)
{
    change->lock = openat(change->directory, lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (change->lock < 0)
        return false;
    while (flock(change->lock, LOCK_EX) != 0) {
        if (errno != EINTR) {
            log_info("cannot lock %s: %m", change->path);
            break;
        }
    }
    return true;
}

// Locks and reads the user's file. Call change_end in any case.
static bool change_begin(struct user_change *change)
{
    char place[PATH_MAX], why[TUNED_TEXT_WHY];
    const char *unsafe;
    struct line line = {.text = NULL};
    *change = (struct user_change){.lock = -1, .directory = data_open(place, true, &unsafe)};
    snprintf(change->path, sizeof(change->path), "%s/%s", place, file_name);
    if (!place[0]) {
        log_error("cannot store results: set HOME or XDG_DATA_HOME to a directory of your own");
        return false;
    }
    if (change->directory < 0) {
        snprintf(why, sizeof(why), "its directory %s", unsafe ? unsafe : "cannot be opened");
        return fail(change, unsafe ? why : strerror(errno));
    }
    if (!lock(change))
        return fail(change, strerror(errno));
    change->old = cache_read(change->directory, file_name, TUNED_FILE_BYTES, &change->old_size);
    if (!change->old && errno != ENOENT)
        return fail(change, read_error());
    if (!change->old || check_head(&line, change->old, change->old_size, why))
        return true;
    strncat(why, "; move it away", sizeof(why) - strlen(why) - 1);
    return fail(change, why);
}

static void change_end(struct user_change *change)
{
    free(change->old);
    if (change->lock >= 0)
        close(change->lock); // and unlocks it
    if (change->directory >= 0)
        close(change->directory);
}

// Closes `out`, a stream to `text` and `size`. If `changed`, replaces the file by the text. Frees the text.
static bool change_write(struct user_change *change, bool changed, FILE *out, char **text, const size_t *size)
{
    bool ok = true;
    xmemclose(out);
    if (changed && *size > TUNED_FILE_BYTES)
        ok = fail(change, "it would have more than 16 MiB; remove entries with 'monocle tuned clear'");
    else if (changed && !file_replace(change->directory, file_name, 0600, true, *text, *size))
        ok = fail(change, strerror(errno));
    free(*text);
    return ok;
}

// Prints the lines of the old text, except the entries for which `drop` returns true. An empty file gets a head.
static void print_rest(const struct user_change *change, FILE *out,
                       bool (*drop)(void *context, const struct tuned_entry *entry), void *context)
{
    struct line line = {.text = NULL};
    struct tuned_entry entry;
    char why[TUNED_WHY];
    if (change->old_size == 0)
        tuned_print_head(out);
    while (next_line(&line, change->old, change->old_size)) {
        if (line.number > 1 && read_line(&line, &entry, why) == LINE_ENTRY && drop(context, &entry))
            continue;
        fwrite(line.text, 1, line.length, out);
        putc('\n', out);
    }
}

// ---- merge ----

enum merge_state { MERGE_ADDED, MERGE_REPLACED, MERGE_SKIPPED };

struct merge_row {
    const struct tuned_entry *entry;
    size_t number; // in the list
    enum merge_state state;
};

struct line_merge {
    struct merge_row *row; // sorted by key, each key once
    size_t count;
    bool newer;
};

// Compares the keys. Users' kernels with the same name may be different kernels.
static int compare_entry(const void *entry, const void *row)
{
    const struct tuned_entry *one = entry, *other = ((const struct merge_row *)row)->entry;
    const int order = tuned_key_compare(&one->key, &other->key);
    return order != 0 || strncmp(one->key.pass, "kernel:", 7) != 0 ? order : strcmp(one->source, other->source);
}

static int compare_rows(const void *a, const void *b)
{
    const struct merge_row *one = a, *other = b;
    const int order = compare_entry(one->entry, other);
    return order != 0 ? order : (one->number > other->number) - (one->number < other->number);
}

// Sorts the entries. The last one with the same key counts.
static void merge_sort(struct line_merge *merge, const struct tuned_list *entries)
{
    merge->row = xcalloc(entries->count + 1, sizeof(*merge->row));
    for (size_t i = 0; i < entries->count; i++)
        merge->row[i] = (struct merge_row){entries->entry[i], i, MERGE_ADDED};
    qsort(merge->row, entries->count, sizeof(*merge->row), compare_rows);
    for (size_t i = 0; i < entries->count; i++) {
        if (i + 1 == entries->count || compare_entry(merge->row[i].entry, &merge->row[i + 1]) != 0)
            merge->row[merge->count++] = merge->row[i];
    }
}

// Returns true if a new entry replaces this line of the file.
static bool drop_replaced(void *context, const struct tuned_entry *old)
{
    struct line_merge *merge = context;
    struct merge_row *row = bsearch(old, merge->row, merge->count, sizeof(*row), compare_entry);
    if (!row)
        return false;
    const bool skip = merge->newer && strcmp(old->date, row->entry->date) >= 0;
    row->state = skip || row->state == MERGE_SKIPPED ? MERGE_SKIPPED : MERGE_REPLACED;
    return !skip;
}

static bool merge_write(struct user_change *change, struct line_merge *merge, struct tuned_counts *counts)
{
    char *text = NULL;
    size_t size, count[MERGE_SKIPPED + 1] = {0};
    FILE *out = xmemstream(&text, &size);
    print_rest(change, out, drop_replaced, merge);
    for (size_t i = 0; i < merge->count; i++) {
        count[merge->row[i].state]++;
        if (merge->row[i].state != MERGE_SKIPPED)
            tuned_entry_print(merge->row[i].entry, out);
    }
    *counts = (struct tuned_counts){count[MERGE_ADDED], count[MERGE_REPLACED], count[MERGE_SKIPPED]};
    return change_write(change, counts->added + counts->replaced > 0, out, &text, &size);
}

bool tuned_merge(const struct tuned_list *entries, bool newer, struct tuned_counts *counts)
{
    struct user_change change;
    struct line_merge merge = {.newer = newer};
    *counts = (struct tuned_counts){0};
    bool ok = change_begin(&change);
    if (ok) {
        merge_sort(&merge, entries);
        ok = merge_write(&change, &merge, counts);
    }
    free(merge.row);
    change_end(&change);
    return ok;
}

bool tuned_store(const struct tuned_entry *entry)
{
    struct tuned_list list = {0};
    struct tuned_counts counts;
    tuned_list_add(&list, entry);
    const bool ok = tuned_merge(&list, false, &counts);
    tuned_list_free(&list);
    return ok;
}

// ---- removal ----

struct removal {
    bool (*match)(void *context, const struct tuned_entry *entry);
    void *context;
    size_t count;
};

static bool drop_matching(void *context, const struct tuned_entry *old)
{
    struct removal *removal = context;
    const bool drop = removal->match(removal->context, old);
    removal->count += drop;
    return drop;
}

bool tuned_remove(bool (*match)(void *context, const struct tuned_entry *entry), void *context, size_t *removed)
{
    struct user_change change;
    struct removal removal = {match, context, 0};
    char *text = NULL;
    size_t size;
    bool ok = change_begin(&change);
    if (ok) {
        FILE *out = xmemstream(&text, &size);
        print_rest(&change, out, drop_matching, &removal);
        ok = change_write(&change, removal.count > 0, out, &text, &size);
    }
    *removed = removal.count;
    change_end(&change);
    return ok;
}

// ---- lookup ----

void tuned_init(struct tuned *tuned)
{
    *tuned = (struct tuned){.loaded = false};
    pthread_mutex_init(&tuned->lock, NULL);
}

void tuned_finish(struct tuned *tuned)
{
    for (int i = 0; i < TUNED_LEVELS; i++)
        tuned_list_free(&tuned->list[i]);
    pthread_mutex_destroy(&tuned->lock);
}

const char *tuned_match_name(enum tuned_match match)
{
    static const char *const names[] = {
        [TUNED_EXACT] = "same device and size",         [TUNED_OTHER_DRIVER] = "same device, other driver",
        [TUNED_OTHER_SIZE] = "same device, other size", [TUNED_ARCHITECTURE] = "same architecture",
        [TUNED_VENDOR_TYPE] = "same vendor and type",   [TUNED_NONE] = "default",
    };
    return names[match];
}

static bool same(const char *a, const char *b)
{
    return a[0] && strcmp(a, b) == 0;
}

static enum tuned_match match_of(const struct tuned_key *entry, const struct tuned_key *key)
{
    if (!same(entry->pass, key->pass))
        return TUNED_NONE;
    const bool type = same(entry->vendor, key->vendor) && same(entry->type, key->type);
    if (type && same(entry->device, key->device) && entry->compute_units == key->compute_units) {
        if (!same(entry->size, key->size))
            return TUNED_OTHER_SIZE;
        return strcmp(entry->driver, key->driver) == 0 ? TUNED_EXACT : TUNED_OTHER_DRIVER;
    }
    if (same(entry->architecture, key->architecture))
        return TUNED_ARCHITECTURE;
    return type ? TUNED_VENDOR_TYPE : TUNED_NONE;
}

// Returns the rank of an entry for a key; a lower one is better; at least 1. `index`: of the entry in its level.
static uint64_t rank_of(const struct tuned_key *entry, const struct tuned_key *key, enum tuned_match match,
                        enum tuned_level level, size_t index)
{
    const int apart = abs(tuned_size_log2(entry->size) - tuned_size_log2(key->size));
    const bool driver = strcmp(entry->driver, key->driver) != 0;
    return (uint64_t)match << 56 | (uint64_t)apart << 48 | (uint64_t)driver << 40 |
           (uint64_t)(TUNED_LEVELS - level) << 32 | (UINT32_MAX - (uint32_t)index);
}

// Replaces *best by the best entry of a level, if that is better. Considers only entries with a rank above `after`.
static void find_in_level(const struct tuned *tuned, enum tuned_level level, const struct tuned_key *key,
                          uint64_t after, struct tuned_found *best)
{
    const struct tuned_list *list = &tuned->list[level];
    for (size_t i = 0; i < list->count; i++) {
        const struct tuned_key *entry = &list->entry[i]->key;
        const enum tuned_match match = match_of(entry, key);
        if (match == TUNED_NONE)
            continue;
        const uint64_t rank = rank_of(entry, key, match, level, i);
        if (rank <= after || (best->entry && rank >= best->rank))
            continue;
        const bool stale = match <= TUNED_OTHER_SIZE && strcmp(entry->driver, key->driver) != 0;
        *best = (struct tuned_found){list->entry[i], level, match, stale, rank};
    }
}

bool tuned_next(struct tuned *tuned, const struct tuned_key *key, struct tuned_found *found)
{
    struct tuned_found best = {.entry = NULL};
    pthread_mutex_lock(&tuned->lock);
    for (int i = 0; !tuned->loaded && i < TUNED_RUN; i++)
        tuned_level_read((enum tuned_level)i, &tuned->list[i]);
    tuned->loaded = true;
    for (int i = 0; i < TUNED_LEVELS; i++)
        find_in_level(tuned, (enum tuned_level)i, key, found->rank, &best);
    pthread_mutex_unlock(&tuned->lock);
    if (best.entry)
        *found = best;
    return best.entry != NULL;
}

void tuned_add(struct tuned *tuned, const struct tuned_entry *entry)
{
    pthread_mutex_lock(&tuned->lock);
    tuned_list_add(&tuned->list[TUNED_RUN], entry);
    pthread_mutex_unlock(&tuned->lock);
}
