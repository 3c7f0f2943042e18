// test_tuned.c: the text database of results: lines, files, trust, merging, and the order of a look-up
#include "compute/tuned.h"

#include "base/resource.h"
#include "scratch.h"
#include "unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { NOBODY = 65534, PROCESS_ENTRIES = 200 };

static struct scratch scratch;
static char user[512], system_file[512];
static int sync_error; // of every fsync; 0: none
static bool unsynced;  // fsync does nothing
static const char *shipped = "";

int __real_fsync(int fd);
int __wrap_fsync(int fd);
const struct resource *__wrap_resource_find(const char *name);

int __wrap_fsync(int fd)
{
    errno = sync_error;
    return sync_error ? -1 : unsynced ? 0 : __real_fsync(fd);
}

const struct resource *__wrap_resource_find(const char *name)
{
    static struct resource resource;
    CHECK_TEXT(name, "assets/tuned.tsv");
    resource = (struct resource){name, (const unsigned char *)shipped, strlen(shipped)};
    return &resource;
}

// An entry of the device "D" at a size; the other members are those of a complete one.
static struct tuned_entry entry_of(const char *pass, const char *size, const char *choice)
{
    return (struct tuned_entry){
        .key = {pass, size, "D", "V", "gpu", "sm_90", "1.0", 132},
        .choice = choice,
        .source = "abc",
        .launches = "",
        .date = "2026-11-23T15:00:00Z",
        .ms = 0.5,
        .default_ms = 1.25,
    };
}

static char *print_line(const struct tuned_entry *entry)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    tuned_entry_print(entry, out);
    fclose(out);
    return text;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, 0600) == 0);
}

static char *read_file(const char *path)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "r");
    const size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    text[size] = '\0';
    if (file)
        fclose(file);
    return text;
}

static void check_said(int want)
{
    const int lines = captured_lines(&scratch.said);
    CHECK_NUMBER(lines, want);
}

// ---- lines ----

#define GOOD "p\t2M\twindow\t0.5\t1.25\t-\tD\tV\tgpu\t-\t132\t1.0\tabc"

static void test_line(void)
{
    struct tuned_entry entry = entry_of("rgba>blur2>buffer", "2M", "window:ROWS=8"), parsed;
    char why[TUNED_WHY] = "", *line = print_line(&entry);
    CHECK_TEXT(line,
               "rgba>blur2>buffer\t2M\twindow:ROWS=8\t0.5000\t1.2500\t2026-11-23T15:00:00Z\tD\tV\tgpu\tsm_90\t132\t"
               "1.0\tabc\n");
    line[strlen(line) - 1] = '\0';
    CHECK(tuned_entry_parse(line, &parsed, why) && tuned_key_compare(&parsed.key, &entry.key) == 0);
    CHECK_TEXT(parsed.choice, entry.choice);
    CHECK_TEXT(parsed.source, "abc");
    CHECK_TEXT(parsed.date, entry.date);
    CHECK(parsed.ms == 0.5 && parsed.default_ms == 1.25);
    free(line);
    entry.key.vendor = "";
    entry.source = "a\tb\nc";
    line = print_line(&entry);
    CHECK_HAS(line, "\tD\t-\tgpu\t");
    CHECK_HAS(line, "\ta b c\n");
    free(line);
    entry.launches = "{\"k\"}";
    line = print_line(&entry);
    CHECK_HAS(line, "\ta b c\t{\"k\"}\n");
    line[strlen(line) - 1] = '\0';
    CHECK(tuned_entry_parse(line, &parsed, why));
    CHECK_TEXT(parsed.launches, "{\"k\"}");
    free(line);
}

static void test_bad_lines(void)
{
    static const struct {
        const char *line, *why;
    } bad[] = {
        {"p", "it has 1 fields"},
        {GOOD "\t{}\tmore", "it has 15 fields"},
        {"-\t2M\twindow\t0.5\t1.25\t-\tD\tV\tgpu\t-\t132\t1.0\tabc", "its field pass"},
        {"\t2M\twindow\t0.5\t1.25\t-\tD\tV\tgpu\t-\t132\t1.0\tabc", "its field pass"},
        {"p\t3M\twindow\t0.5\t1.25\t-\tD\tV\tgpu\t-\t132\t1.0\tabc", "its field size"},
        {"p\t2M\t\t0.5\t1.25\t-\tD\tV\tgpu\t-\t132\t1.0\tabc", "its field choice"},
        {"p\t2M\twindow\t-0.5\t1.25\t-\tD\tV\tgpu\t-\t132\t1.0\tabc", "its field ms"},
        {"p\t2M\twindow\t0.\t1.25\t-\tD\tV\tgpu\t-\t132\t1.0\tabc", "its field ms"},
        {"p\t2M\twindow\t0.5\t1e3\t-\tD\tV\tgpu\t-\t132\t1.0\tabc", "its field default_ms"},
        {"p\t2M\twindow\t0.5\t9999999999\t-\tD\tV\tgpu\t-\t132\t1.0\tabc", "its field default_ms"},
        {"p\t2M\twindow\t0.5\t1.25\t-\tD\tV\tgpu\t-\t1.5\t1.0\tabc", "its field compute_units"},
        {"p\t2M\twindow\t0.5\t1.25\t-\tD\tV\tgpu\t-\t132\t1.0\tabc\r", "its field source"},
        {"p\t2M\twin\033dow\t0.5\t1.25\t-\tD\tV\tgpu\t-\t132\t1.0\tabc", "its field choice"},
    };
    struct tuned_entry entry;
    char copy[256], why[TUNED_WHY] = "";
    strcpy(copy, GOOD);
    CHECK(tuned_entry_parse(copy, &entry, why));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        strcpy(copy, bad[i].line);
        CHECK(!tuned_entry_parse(copy, &entry, why));
        CHECK_HAS(why, bad[i].why);
    }
}

static void test_sizes(void)
{
    static const struct {
        int width, height;
        const char *size;
    } sizes[] = {{1, 1, "1"},        {640, 480, "256K"}, {1280, 720, "1M"},         {1920, 1080, "2M"},
                 {3840, 2160, "8M"}, {32, 32, "1K"},     {1000000, 1000000, "512G"}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        char text[TUNED_SIZE];
        tuned_size(sizes[i].width, sizes[i].height, text);
        CHECK_TEXT(text, sizes[i].size);
        CHECK(tuned_size_log2(text) >= 0);
    }
    CHECK_NUMBER(tuned_size_log2("2M"), 21);
    CHECK_NUMBER(tuned_size_log2("1"), 0);
    CHECK(tuned_size_log2("") < 0 && tuned_size_log2("1 ") < 0 && tuned_size_log2("3M") < 0);
}

// ---- texts ----

static void check_bytes(const char *text, size_t size, int entries, size_t lines, size_t first, const char *says)
{
    struct tuned_list list = {0};
    struct tuned_damage damage;
    char why[TUNED_TEXT_WHY] = "";
    const bool ok = tuned_parse(text, size, &list, &damage, why);
    check_that(&unit, ok == (entries >= 0), "'%.40s' is %s: %s", text, ok ? "used" : "not used", why);
    if (entries >= 0)
        check_that(&unit, list.count == (size_t)entries && damage.lines == lines && damage.first == first,
                   "'%.40s': %zu entries, %zu damaged lines, the first is %zu", text, list.count, damage.lines,
                   damage.first);
    CHECK_HAS(entries < 0 ? why : damage.why, says);
    tuned_list_free(&list);
}

static void check_text(const char *text, int entries, size_t lines, size_t first, const char *says)
{
    check_bytes(text, strlen(text), entries, lines, first, says);
}

static void test_texts(void)
{
    static const char nul[] = "monocle tuned 1\np\t2M\0\n" GOOD;
    char *large = malloc(10000);
    check_text("", 0, 0, 0, "");
    check_text("monocle tuned 1", 0, 0, 0, "");
    check_text("monocle tuned 1\n\n# note\n" GOOD "\n" GOOD "\n", 2, 0, 0, "");
    check_text("monocle tuned 1\nbad\n" GOOD "\nworse\tthan\n" GOOD, 2, 2, 2, "it has 1 fields");
    check_bytes(nul, sizeof(nul) - 1, 1, 1, 2, "not text");
    check_text("\n", -1, 0, 0, "its first line is not 'monocle tuned 1'");
    check_text("monocle tuned\n", -1, 0, 0, "its first line is not");
    check_text("monocle tuned 1x\n", -1, 0, 0, "its first line is not");
    check_text("monocle tuned 12345678\n", -1, 0, 0, "its first line is not");
    check_text("monocle tuned 2\n" GOOD, -1, 0, 0, "version 2, and this program uses version 1");
    memset(large, 'x', 10000);
    memcpy(large, "monocle tuned 1\n", 16);
    check_bytes(large, 10000, 0, 1, 2, "too long");
    free(large);
}

// ---- the user's file ----

static struct tuned_list one(const struct tuned_entry *entry)
{
    struct tuned_list list = {0};
    tuned_list_add(&list, entry);
    return list;
}

static bool merge(const char *pass, const char *choice, const char *date, bool newer, struct tuned_counts *counts)
{
    struct tuned_entry entry = entry_of(pass, "2M", choice);
    entry.date = date;
    struct tuned_list list = one(&entry);
    const bool ok = tuned_merge(&list, newer, counts);
    tuned_list_free(&list);
    return ok;
}

static void check_counts(const struct tuned_counts *counts, size_t added, size_t replaced, size_t skipped)
{
    check_that(&unit, counts->added == added && counts->replaced == replaced && counts->skipped == skipped,
               "%zu added, %zu replaced, %zu skipped", counts->added, counts->replaced, counts->skipped);
}

// Checks the number of entries in the user's file.
static void check_user(size_t want)
{
    struct tuned_list list = {0};
    tuned_level_read(TUNED_USER, &list);
    CHECK_NUMBER(list.count, want);
    tuned_list_free(&list);
}

// Comments and damaged lines stay; an entry replaces all lines with its key.
static void test_merge(void)
{
    struct tuned_counts counts;
    struct stat status;
    char path[PATH_MAX];
    tuned_user_path(path);
    CHECK_TEXT(path, user);
    CHECK(merge("a", "one", "2026-01-01", false, &counts));
    check_counts(&counts, 1, 0, 0);
    CHECK(stat(user, &status) == 0 && (status.st_mode & 0777) == 0600);
    char *text = strdup(read_file(user));
    CHECK(strncmp(text, "monocle tuned 1\n# pass\tsize\t", 28) == 0);
    char *line = strstr(text, "\na\t");
    char *file = malloc(4096);
    snprintf(file, 4096, "monocle tuned 1\n# mine\nbroken%s\n%s", line, line + 1);
    write_file(user, file);
    CHECK(merge("b", "one", "2026-01-01", false, &counts));
    check_counts(&counts, 1, 0, 0);
    CHECK(merge("a", "two", "2025-01-01", true, &counts)); // older
    check_counts(&counts, 0, 0, 1);
    CHECK(merge("a", "two", "2026-01-01", true, &counts)); // of the same time
    check_counts(&counts, 0, 0, 1);
    CHECK_HAS(read_file(user), "a\t2M\tone\t");
    CHECK(merge("a", "two", "2025-01-01", false, &counts));
    check_counts(&counts, 0, 1, 0);
    CHECK(merge("a", "three", "2026-02-01", true, &counts));
    check_counts(&counts, 0, 1, 0);
    CHECK(strncmp(read_file(user), "monocle tuned 1\n# mine\nbroken\n\nb\t", 33) == 0);
    CHECK_HAS(read_file(user), "a\t2M\tthree\t");
    capture_stderr(&scratch.said);
    check_user(2);
    check_said(1);
    CHECK_HAS(scratch.said.text, "tuned:3 is not used: it has 1 fields, but must have 13");
    free(file);
    free(text);
}

static bool has_pass(void *context, const struct tuned_entry *entry)
{
    return strcmp(entry->key.pass, context) == 0;
}

static void test_remove(void)
{
    size_t removed;
    CHECK(tuned_remove(has_pass, "none", &removed) && removed == 0);
    CHECK(tuned_remove(has_pass, "b", &removed) && removed == 1);
    CHECK(strncmp(read_file(user), "monocle tuned 1\n# mine\nbroken\n\na\t", 33) == 0);
}

// The file is unchanged if it cannot be written, or is of another version or kind.
static void test_unchanged(void)
{
    static const struct {
        const char *text, *says;
    } others[] = {
        {"monocle tuned 2\nnew fields\n", "it has version 2, and this program uses version 1; move it away"},
        {"my thesis\n", "its first line is not 'monocle tuned 1'; move it away"},
    };
    struct tuned_counts counts;
    char *before = strdup(read_file(user));
    sync_error = ENOSPC;
    capture_stderr(&scratch.said);
    CHECK(!merge("c", "one", "2026-01-01", false, &counts));
    check_said(1);
    CHECK_HAS(scratch.said.text, "tuned: No space left on device; its entries are unchanged");
    sync_error = 0;
    CHECK_TEXT(read_file(user), before);
    free(before);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        write_file(user, others[i].text);
        capture_stderr(&scratch.said);
        CHECK(!merge("c", "one", "2026-01-01", false, &counts));
        check_said(1);
        CHECK_HAS(scratch.said.text, others[i].says);
        CHECK_TEXT(read_file(user), others[i].text);
        capture_stderr(&scratch.said);
        check_user(0);
        check_said(1);
    }
    write_file(user, "");
    CHECK(merge("c", "one", "2026-01-01", false, &counts));
    check_user(1);
}

// Processes that merge at the same time lose no entry.
static void test_processes(void)
{
    CHECK(unlink(user) == 0);
    unsynced = true; // faster
    for (int process = 0; process < 2; process++) {
        if (fork() != 0)
            continue;
        bool ok = true;
        for (int i = 0; i < PROCESS_ENTRIES; i++) {
            char pass[32];
            struct tuned_counts counts;
            snprintf(pass, sizeof(pass), "pass%d-%d", process, i);
            ok = merge(pass, "one", "2026-01-01", false, &counts) && ok;
        }
        _exit(ok ? 0 : 1);
    }
    for (int process = 0; process < 2; process++) {
        int status = 1;
        CHECK(wait(&status) > 0 && status == 0);
    }
    check_user(2 * PROCESS_ENTRIES);
}

// ---- trust ----

static void check_read(enum tuned_level level, size_t entries, const char *says)
{
    struct tuned_list list = {0};
    capture_stderr(&scratch.said);
    tuned_level_read(level, &list);
    check_said(says[0] ? 1 : 0);
    CHECK_HAS(scratch.said.text, says);
    CHECK_NUMBER(list.count, entries);
    tuned_list_free(&list);
}

static void check_trust(enum tuned_level level, const char *path)
{
    char directory[512], other[600];
    snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(path, '/') - path), path);
    snprintf(other, sizeof(other), "%s.other", path);
    write_file(path, "monocle tuned 1\n" GOOD "\n");
    check_read(level, 1, "");
    CHECK(chmod(path, 0644) == 0);
    check_read(level, 1, "");
    CHECK(chmod(path, 0664) == 0);
    check_read(level, 0, "not a file that only you and root can write");
    CHECK(chmod(path, 0600) == 0 && chmod(directory, 0777) == 0);
    check_read(level, 0, "its directory can be written by other users");
    CHECK(chmod(directory, 0755) == 0);
    if (geteuid() == 0) {
        CHECK(chown(path, NOBODY, 0) == 0);
        check_read(level, 0, "not a file that only you and root can write");
        CHECK(chown(path, 0, 0) == 0 && chown(directory, NOBODY, 0) == 0);
        check_read(level, 0, "its directory belongs to another user");
        CHECK(chown(directory, 0, 0) == 0);
    }
    CHECK(rename(path, other) == 0 && symlink(other, path) == 0);
    check_read(level, 0, "it is a symbolic link");
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    check_read(level, 0, "not a file that only you and root can write");
    CHECK(unlink(path) == 0);
    check_read(level, 0, "");
    CHECK(rename(other, path) == 0 && truncate(path, TUNED_FILE_BYTES + 1) == 0);
    check_read(level, 0, "more than 16 MiB");
    CHECK(unlink(path) == 0);
}

static void test_trust(void)
{
    struct tuned_counts counts;
    char directory[512];
    check_trust(TUNED_USER, user);
    check_trust(TUNED_SYSTEM, system_file);
    snprintf(directory, sizeof(directory), "%s", scratch_path(&scratch, "data/monocle"));
    CHECK(chmod(directory, 0777) == 0);
    capture_stderr(&scratch.said);
    CHECK(!merge("c", "one", "2026-01-01", false, &counts));
    check_said(1);
    CHECK_HAS(scratch.said.text, "its directory can be written by other users");
    CHECK(chmod(directory, 0700) == 0);
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    capture_stderr(&scratch.said);
    CHECK(!merge("c", "one", "2026-01-01", false, &counts));
    check_user(0);
    check_said(1);
    CHECK_HAS(scratch.said.text, "set HOME or XDG_DATA_HOME");
    setenv("HOME", scratch_path(&scratch, "home"), 1); // directories that are missing
    CHECK(merge("c", "one", "2026-01-01", false, &counts));
    check_user(1);
    CHECK(access(scratch_path(&scratch, "home/.local/share/monocle/tuned"), F_OK) == 0);
    setenv("XDG_DATA_HOME", scratch_path(&scratch, "data"), 1);
}

// ---- look-up ----

static void add(struct tuned *tuned, struct tuned_entry entry, const char *choice)
{
    entry.choice = choice;
    tuned_add(tuned, &entry);
}

// All entries for a pass, from the best to the worst.
static void test_order(void)
{
    static const struct {
        const char *choice;
        enum tuned_match match;
        bool stale;
    } want[] = {
        {"exact, later", TUNED_EXACT, false},     {"exact", TUNED_EXACT, false},
        {"driver", TUNED_OTHER_DRIVER, true},     {"near", TUNED_OTHER_SIZE, false},
        {"near, driver", TUNED_OTHER_SIZE, true}, {"far", TUNED_OTHER_SIZE, false},
        {"units", TUNED_ARCHITECTURE, false},     {"architecture", TUNED_ARCHITECTURE, false},
        {"vendor", TUNED_VENDOR_TYPE, false},
    };
    const struct tuned_entry base = entry_of("p", "2M", "");
    struct tuned_entry e = base;
    struct tuned tuned;
    tuned_init(&tuned);
    e.key.device = "E";
    e.key.architecture = "sm_80";
    add(&tuned, e, "vendor");
    e.key.type = "cpu";
    add(&tuned, e, "another type");
    e = base;
    e.key.device = "E";
    e.key.size = "4M";
    add(&tuned, e, "architecture");
    e = base;
    e.key.compute_units = 66; // a part of the device
    add(&tuned, e, "units");
    e = base;
    e.key.size = "256K";
    add(&tuned, e, "far");
    e.key.size = "4M";
    add(&tuned, e, "near");
    e.key.driver = "0.9";
    add(&tuned, e, "near, driver");
    e.key.size = "2M";
    add(&tuned, e, "driver");
    add(&tuned, base, "exact");
    add(&tuned, base, "exact, later");
    e = base;
    e.key.pass = "q";
    add(&tuned, e, "another pass");
    struct tuned_found found = {0};
    size_t i = 0;
    for (; tuned_next(&tuned, &base.key, &found) && i < sizeof(want) / sizeof(*want); i++) {
        CHECK_TEXT(found.entry->choice, want[i].choice);
        check_that(&unit, found.match == want[i].match && found.stale == want[i].stale && found.level == TUNED_RUN,
                   "%s: %s, stale %d", want[i].choice, tuned_match_name(found.match), found.stale);
    }
    CHECK_NUMBER(i, sizeof(want) / sizeof(*want));
    CHECK(!tuned_next(&tuned, &base.key, &found));
    tuned_finish(&tuned);
}

#define LINE(choice, size) "p\t" size "\t" choice "\t0.5\t1.25\t-\tD\tV\tgpu\tsm_90\t132\t1.0\t-\n"

// A later level comes first, but not before a better match of an earlier level. The first directory of the system comes
// before the second.
static void test_levels(void)
{
    static const enum tuned_level levels[] = {TUNED_RUN,    TUNED_USER,    TUNED_SYSTEM,
                                              TUNED_SYSTEM, TUNED_SHIPPED, TUNED_USER};
    static const char *const want[] = {"run", "user", "system", "second", "shipped", "near"};
    char dirs[1024];
    const struct tuned_entry base = entry_of("p", "2M", "run");
    struct tuned tuned;
    shipped = "monocle tuned 1\n" LINE("shipped", "2M");
    write_file(system_file, "monocle tuned 1\n" LINE("system", "2M"));
    CHECK(mkdir(scratch_path(&scratch, "second"), 0755) == 0);
    CHECK(mkdir(scratch_path(&scratch, "second/monocle"), 0755) == 0);
    write_file(scratch_path(&scratch, "second/monocle/tuned"), "monocle tuned 1\n" LINE("second", "2M"));
    int used = snprintf(dirs, sizeof(dirs), ":%s::", scratch_path(&scratch, "system"));
    snprintf(dirs + used, sizeof(dirs) - (size_t)used, "relative:%s:", scratch_path(&scratch, "second"));
    setenv("XDG_DATA_DIRS", dirs, 1);
    write_file(user, "monocle tuned 1\n" LINE("near", "4M") LINE("user", "2M"));
    tuned_init(&tuned);
    tuned_add(&tuned, &base);
    struct tuned_found found = {0};
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        CHECK(tuned_next(&tuned, &base.key, &found));
        CHECK_TEXT(found.entry->choice, want[i]);
        CHECK_NUMBER(found.level, levels[i]);
        CHECK_TEXT(found.entry->source, i == 0 ? "abc" : "");
    }
    CHECK(!tuned_next(&tuned, &base.key, &found));
    tuned_finish(&tuned);
}

int main(void)
{
    if (!scratch_open(&scratch))
        return 1;
    umask(022);
    setenv("XDG_DATA_HOME", scratch_path(&scratch, "data"), 1);
    snprintf(user, sizeof(user), "%s", scratch_path(&scratch, "data/monocle/tuned"));
    setenv("XDG_DATA_DIRS", scratch_path(&scratch, "system"), 1);
    CHECK(mkdir(scratch_path(&scratch, "system"), 0755) == 0);
    CHECK(mkdir(scratch_path(&scratch, "system/monocle"), 0755) == 0);
    snprintf(system_file, sizeof(system_file), "%s", scratch_path(&scratch, "system/monocle/tuned"));
    test_line();
    test_bad_lines();
    test_sizes();
    test_texts();
    test_merge();
    test_remove();
    test_unchanged();
    test_processes();
    test_trust();
    test_order();
    test_levels();
    scratch_close(&scratch);
    return check_end(&unit);
}
