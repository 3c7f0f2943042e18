// tuned_entry.c: a result of a tuning, and its line in a text file
#include "compute/tuned_entry.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

struct tuned_entry *tuned_entry_copy(const struct tuned_entry *entry)
{
    size_t bytes = sizeof(*entry);
    for (int i = 0; i < TUNED_FIELDS; i++)
        bytes += is_text(&fields[i]) ? strlen(*text_of(entry, &fields[i])) + 1 : 0;
    struct tuned_entry *copy = malloc(bytes);
    if (!copy)
        return NULL;
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
    for (int i = 0; i < TUNED_FIELDS; i++) {
        char number[TUNED_FIELD];
        const char *text = tuned_field_text(entry, i, number);
        for (const char *at = *text ? text : "-"; *at; at++)
            putc(iscntrl((unsigned char)*at) ? ' ' : *at, out);
        putc(i < TUNED_FIELDS - 1 ? '\t' : '\n', out);
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
    *entry = (struct tuned_entry){0};
    for (char *text; (text = strsep(&rest, "\t")); count++) {
        if (count < TUNED_FIELDS && !parse_field(&fields[count], text, entry)) {
            snprintf(why, TUNED_WHY, "its field %s is wrong", fields[count].name);
            return false;
        }
    }
    if (count == TUNED_FIELDS)
        return true;
    snprintf(why, TUNED_WHY, "it has %d fields, but must have %d, separated by tabs", count, TUNED_FIELDS);
    return false;
}
