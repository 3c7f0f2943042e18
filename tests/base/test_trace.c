// test_trace.c: the trace is valid JSON at every moment, with many threads and on full disks
#include "base/trace.h"

#include "close_error.h"
#include "unit.h"

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { THREADS = 4, SPANS = 200, TRACKS = 300, TRACKS_NAMED = 256 };

static char directory[64], path[80];

static json_t *load(void)
{
    json_error_t error;
    json_t *events = json_load_file(path, 0, &error);
    if (!events)
        fprintf(stderr, "%s:%d: %s\n", path, error.line, error.text);
    CHECK(json_is_array(events));
    return events;
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static void test_content(void)
{
    struct trace *trace = trace_open(path, -1);
    json_t *events = load(); // valid before the first span
    const size_t before = json_array_size(events);
    json_decref(events);
    trace_span(trace, "main", "draw", 1234567, 2345678, 3);
    trace_span(trace, "capture \"1\"\n", "n\xc3\xa9 \xff", 5000000000000000, 4000000000000000, 4);
    trace_span(trace, "main", "swap", 2000, 2000, UINT64_MAX / 4);
    events = load(); // valid while it is open
    trace_close(trace);
    CHECK_NUMBER(json_array_size(events), before + 5); // three spans, two track names
    const json_t *name = json_array_get(events, before), *draw = json_array_get(events, before + 1);
    CHECK_TEXT(text_of(name, "ph"), "M");
    CHECK_TEXT(text_of(name, "name"), "thread_name");
    CHECK_TEXT(text_of(json_object_get(name, "args"), "name"), "main");
    CHECK_TEXT(text_of(draw, "ph"), "X");
    CHECK_TEXT(text_of(draw, "name"), "draw");
    CHECK_NUMBER(json_number_value(json_object_get(draw, "ts")), 1234.567);
    CHECK_NUMBER(json_number_value(json_object_get(draw, "dur")), 1111.111);
    CHECK_NUMBER(json_integer_value(json_object_get(json_object_get(draw, "args"), "frame")), 3);
    CHECK(json_equal(json_object_get(draw, "tid"), json_object_get(name, "tid")));
    const json_t *odd = json_array_get(events, before + 3);
    CHECK_TEXT(text_of(json_object_get(json_array_get(events, before + 2), "args"), "name"), "capture \"1\"\n");
    CHECK_NUMBER(json_number_value(json_object_get(odd, "dur")), 0); // never negative
    CHECK(!json_equal(json_object_get(odd, "tid"), json_object_get(name, "tid")));
    CHECK(json_equal(json_object_get(json_array_get(events, before + 4), "tid"), json_object_get(name, "tid")));
    json_decref(events);
}

// Every byte that may appear in a name; the name is longer than the trace keeps.
static void test_names(void)
{
    char name[400];
    for (size_t i = 0; i < sizeof(name) - 1; i++)
        name[i] = (char)(i % 126 + 1);
    name[sizeof(name) - 1] = '\0';
    struct trace *trace = trace_open(path, -1);
    trace_span(trace, name, name, 1, 2, 0);
    for (size_t length = 156; length < 164; length++) { // cut within a character of two bytes, or not
        memset(name, 'a', length);
        strcpy(name + length, "\xc3\xa9");
        trace_span(trace, "main", name, 1, 2, 0);
    }
    trace_close(trace);
    json_t *events = load();
    size_t at;
    const json_t *event;
    json_array_foreach(events, at, event) CHECK(strcmp(text_of(event, "name"), "?") != 0);
    json_decref(events);
}

static void *add_spans(void *argument)
{
    char track[16];
    snprintf(track, sizeof(track), "thread %d", *(int *)argument);
    for (int i = 0; i < SPANS; i++)
        trace_span(*(struct trace **)((char *)argument + sizeof(void *)), track, "work", i, i + 1, (uint64_t)i);
    return NULL;
}

static void test_threads(void)
{
    struct trace *trace = trace_open(path, -1);
    struct {
        int number;
        struct trace *trace;
    } argument[THREADS];
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        argument[i].number = i;
        argument[i].trace = trace;
        CHECK(pthread_create(&thread[i], NULL, add_spans, &argument[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    trace_close(trace);
    json_t *events = load();
    CHECK_NUMBER(json_array_size(events), 1 + THREADS * (SPANS + 1));
    json_decref(events);
}

// Tracks beyond the number of names share the process's own track.
static void test_tracks(void)
{
    struct trace *trace = trace_open(path, -1);
    char track[16];
    for (int i = 0; i < TRACKS; i++) {
        snprintf(track, sizeof(track), "track %d", i);
        trace_span(trace, track, "work", i, i + 1, (uint64_t)i);
    }
    trace_close(trace);
    json_t *events = load();
    CHECK_NUMBER(json_array_size(events), 1 + TRACKS_NAMED + TRACKS);
    const json_t *last = json_array_get(events, json_array_size(events) - 1);
    CHECK_NUMBER(json_integer_value(json_object_get(last, "tid")), 0);
    json_decref(events);
}

// Network file systems report lost data only when the file is closed.
static void test_close(void)
{
    struct trace *trace = trace_open(path, -1);
    trace_span(trace, "main", "draw", 1, 2, 0);
    struct captured captured;
    capture_stderr(&captured);
    close_error = EDQUOT;
    trace_close(trace);
    close_error = 0;
    CHECK_HAS(captured_stderr(&captured), "is incomplete: Disk quota exceeded");
}

// A file that cannot grow, as on a full disk: it stays valid, and close reports the error.
static void test_full(void)
{
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    struct trace *trace = trace_open(path, -1);
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 100; i++)
        trace_span(trace, "main", "draw", i, i + 1, (uint64_t)i);
    setrlimit(RLIMIT_FSIZE, &old); // standard error may be a file too
    struct captured captured;
    capture_stderr(&captured);
    trace_close(trace);
    CHECK_HAS(captured_stderr(&captured), "is incomplete: File too large");
    struct stat status;
    CHECK(stat(path, &status) == 0 && status.st_size <= 1000 && status.st_size > 800);
    json_t *events = load();
    CHECK(json_array_size(events) > 3);
    json_decref(events);
}

static void test_unwritable(void)
{
    static const struct {
        const char *path, *says;
    } cases[] = {{"/nowhere/trace.json", "No such file or directory"}, {"/dev/full", "No space left on device"}};
    for (size_t i = 0; i < 2; i++) {
        struct captured captured;
        capture_stderr(&captured);
        struct trace *trace = trace_open(cases[i].path, -1);
        const char *said = captured_stderr(&captured);
        CHECK(trace == NULL);
        CHECK_HAS(said, cases[i].path);
        CHECK_HAS(said, cases[i].says);
        CHECK(strchr(said, '\n') && !strchr(said, '\n')[1]);
    }
    trace_span(NULL, "main", "draw", 1, 2, 3);
    trace_close(NULL);
}

int main(void)
{
    unit_directory(directory);
    snprintf(path, sizeof(path), "%s/trace.json", directory);
    test_content();
    test_names();
    test_threads();
    test_tracks();
    test_close();
    test_full();
    test_unwritable();
    unlink(path);
    rmdir(directory);
    return check_end(&unit);
}
