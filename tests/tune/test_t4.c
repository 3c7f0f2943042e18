// test_t4.c: T4 results files: a file is read as it was written; damaged files are refused with one line
#include "tune/tuner.h"

#include "base/file.h"
#include "base/log.h"
#include "unit.h"

#include <math.h>

static char directory[64], path[80];

static char message[1024];
static int messages;

static void note(void *context, const char *text)
{
    (void)context;
    snprintf(message, sizeof(message), "%s", text);
    messages++;
}

static bool reads(struct t4_table *table, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0);
    fclose(file);
    messages = 0;
    message[0] = '\0';
    return t4_read(table, path);
}

#define ROW(values, state, time, unit)                                                                                 \
    "{\"configuration\":{" values "},\"times\":{},\"invalidity\":\"" state                                             \
    "\",\"correctness\":1,\"measurements\":[{\"name\":\"time\",\"value\":" time ",\"unit\":\"" unit                    \
    "\"}],\"objectives\":[\"time\"]}"
#define FILE_OF(rows) "{\"results\":[" rows "],\"schema_version\":\"1.0.0\"}"

static const char good[] = FILE_OF(ROW("\"x\":16,\"tile\":true,\"kind\":\"a b\"", "correct", "0.25", "ms") "," ROW(
    "\"x\":2,\"tile\":false,\"kind\":\"a b\"", "correct", "125",
    "us") "," ROW("\"tile\":true,\"x\":2,\"kind\":\"c\"", "compile", "\"CompilationFailedConfig\"",
                  "") "," ROW("\"x\":0.5,\"tile\":true,\"kind\":\"c\"", "timeout", "-1", ""));

static void check_good(const struct t4_table *table)
{
    static const struct {
        const char *text;
        enum t4_state state;
        double ms;
    } want[] = {{"x=0.5,tile=1,kind=c", T4_TIMEOUT, INFINITY},
                {"x=2,tile=0,kind=a b", T4_CORRECT, 0.125},
                {"x=2,tile=1,kind=c", T4_COMPILE, INFINITY},
                {"x=16,tile=1,kind=a b", T4_CORRECT, 0.25}};
    char text[SPACE_TEXT];
    CHECK_NUMBER(table->space.params, 3);
    CHECK_NUMBER(table->space.count, 4);
    for (int c = 0; c < table->space.count && c < 4; c++) {
        const struct t4_result *result = &table->result[c];
        space_print(&table->space, c, text);
        CHECK_TEXT(text, want[c].text);
        CHECK_NUMBER(result->state, want[c].state);
        CHECK(result->ms == want[c].ms || fabs(result->ms - want[c].ms) < 1e-12);
    }
    CHECK_NUMBER(t4_best(table), 1);
}

static void test_round(void)
{
    struct t4_table table, back;
    if (!CHECK(reads(&table, good)))
        return;
    check_good(&table);
    struct tuner_trial trials[] = {
        {3, 0.25, .run_ms = {0.24, 0.26, 0.25}, .runs = 3, .build_ms = 812.5, .status = PROBE_PASSED},
        {0, INFINITY, .status = PROBE_LATE},
        {2, INFINITY, .status = PROBE_NOT_BUILT},
        {1, 0.125, .run_ms = {0.125}, .runs = 1, .status = PROBE_PASSED},
    };
    struct tuner_state state = {.trial = trials, .trials = 4};
    const struct subject_type type = {.metrics = NULL};
    const struct subject subject = {&type, .space = table.space};
    struct claim claim = {0}, nowhere = {.path = "/nowhere/at/all"};
    snprintf(claim.path, sizeof(claim.path), "%s", path);
    CHECK(t4_write(&subject, &state, "a device", &claim));
    size_t size;
    char *written = file_read(path, 1 << 20, &size);
    CHECK_HAS(written, "\"schema_version\":\"1.0.0\"");
    CHECK_HAS(written, "\"configuration\":{\"x\":16,\"tile\":1,\"kind\":\"a b\"}");
    CHECK_HAS(written, "\"runtimes\":[0.24,0.26,0.25]");
    CHECK_HAS(written, "\"runtimes\":[0.125]");
    CHECK_HAS(written, "\"runtimes\":[]");
    CHECK_HAS(written, "\"invalidity\":\"timeout\",\"correctness\":0,");
    CHECK_HAS(written, "\"invalidity\":\"correct\",\"correctness\":1,");
    CHECK_HAS(written, "\"compilation\":812.5");
    CHECK_HAS(written, "\"device\":\"a device\"");
    free(written);
    if (CHECK(t4_read(&back, path)))
        check_good(&back);
    t4_finish(&back);
    state.trials = 3;
    CHECK(t4_write(&subject, &state, "not UTF-8: \xff", &claim) && t4_read(&back, path));
    CHECK_NUMBER(back.space.count, 3);
    t4_finish(&back);
    messages = 0;
    CHECK(!t4_write(&subject, &state, "a device", &nowhere));
    CHECK_NUMBER(messages, 1);
    CHECK_HAS(message, "cannot write /nowhere/at/all: No such file");
    t4_finish(&table);
}

// The files of other tuners.
static void test_others(void)
{
    static const struct {
        const char *text;
        enum t4_state state[3];
        double ms;
    } rows[] = {
        {"{\"tune_params_keys\":[\"x\"],\"cache\":{\"1\":{\"x\":1,\"time\":\"CompilationFailedConfig\"},"
         "\"2\":{\"x\":2,\"time\":0.5,\"y\":7},\"3\":{\"x\":3,\"time\":\"InvalidConfig\"}}}",
         {T4_COMPILE, T4_CORRECT, T4_CONSTRAINTS},
         0.5},
        {"{\"tune_params_keys\":[\"x\"],\"cache\":{\"1\":{\"x\":1,\"time\":1e20},\"2\":{\"x\":2,\"time\":7},\"3\":"
         "{\"x\":3}}}",
         {T4_RUNTIME, T4_CORRECT, T4_RUNTIME},
         7},
        {"{\"Metadata\":{\"TimeUnit\":\"Nanoseconds\"},\"Results\":["
         "{\"Configuration\":[{\"Name\":\"x\",\"Value\":3}],\"Status\":\"DeviceLimitsExceeded\"},"
         "{\"Configuration\":[{\"Name\":\"x\",\"Value\":1}],\"Status\":\"ValidationFailed\",\"TotalDuration\":1},"
         "{\"Configuration\":[{\"Name\":\"x\",\"Value\":2}],\"Status\":\"Ok\",\"TotalDuration\":250000}]}",
         {T4_CORRECTNESS, T4_CORRECT, T4_CONSTRAINTS},
         0.25},
    };
    struct t4_table table;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (!CHECK(reads(&table, rows[i].text) && table.space.count == 3 && table.space.params == 1))
            continue;
        for (int c = 0; c < 3; c++)
            CHECK_NUMBER(table.result[c].state, rows[i].state[c]);
        CHECK(fabs(table.result[1].ms - rows[i].ms) < 1e-12);
        t4_finish(&table);
    }
}

#define ONE(values, state, time, unit) FILE_OF(ROW(values, state, time, unit))

static const struct {
    const char *text, *message;
} refusals[] = {
    {"", "line 1: "},
    {"{\"results\":[", "line 1: "},
    {"\n\n{\"results\":[}", "line 3: "},
    {"[]", "there is no array 'results', or it is empty"},
    {"7", "line 1: "},
    {"{\"cache\":{}}", "there is no array 'results'"},
    {"{\"cache\":{\"1\":{\"x\":1}}}", "it has 0 parameters"},
    {"{\"cache\":{\"1\":{\"x\":1},\"2\":{}},\"tune_params_keys\":[\"x\",7]}", "results[1]: parameter 'x' is missing"},
    {"{\"Results\":[7]}", "it has 0 parameters"},
    {"{\"Results\":[{\"Configuration\":[{\"Name\":\"x\",\"Value\":1}],\"Status\":\"Ok\"}]}", "is not a number over 0"},
    {"{\"results\":{}}", "there is no array 'results'"},
    {"{\"results\":[]}", "it is empty"},
    {"{\"results\":[],\"results\":[]}", "duplicate object key"},
    {"{\"results\":[3]}", "results[0]: there is no object 'configuration'"},
    {"{\"results\":[{\"configuration\":[1]}]}", "results[0]: there is no object 'configuration'"},
    {"{\"results\":[{\"configuration\":{}}]}", "it has 0 parameters"},
    {"{\"results\":[{\"configuration\":{\"x\":1}}]}", "results[0]: 'invalidity' is not"},
    {"{\"results\":[{\"configuration\":{\"x\":1},\"invalidity\":7}]}", "results[0]: 'invalidity' is not"},
    {"{\"results\":[{\"configuration\":{\"x\":1},\"invalidity\":\"correct\"}]}", "no measurement 'time'"},
    {"{\"results\":[{\"configuration\":{\"x\":1},\"invalidity\":\"correct\",\"measurements\":[1,{}]}]}",
     "no measurement 'time'"},
    {"{\"results\":[{\"configuration\":{\"x\":1},\"invalidity\":\"correct\",\"objectives\":[\"J\"],"
     "\"measurements\":[{\"name\":\"J\",\"value\":3,\"unit\":\"\"}]}]}",
     "measurement 'J' has the unit '', which is not a unit of time"},
    {ONE("\"x\":1", "wrong", "1", "ms"), "'invalidity' is not"},
    {ONE("\"x\":1", "", "1", "ms"), "'invalidity' is not"},
    {ONE("\"x\":null", "correct", "1", "ms"), "parameter 'x' is not a number, text, true or false"},
    {ONE("\"x\":{}", "correct", "1", "ms"), "parameter 'x' is not a number, text, true or false"},
    {ONE("\"x\":99999999999999999999", "correct", "1", "ms"), "too big integer"},
    {ONE("\"x\":1e999", "correct", "1", "ms"), "real number overflow"},
    {ONE("\"x\":NaN", "correct", "1", "ms"), "invalid token near 'NaN'"},
    {ONE("\"x\":1", "correct", "NaN", "ms"), "invalid token near 'NaN'"},
    {ONE("\"x\":1", "correct", "1e-400", "ms"), "is not a number over 0"},
    {ONE("\"x\":1", "correct", "0", "ms"), "is not a number over 0"},
    {ONE("\"x\":1", "correct", "-2", "ms"), "is not a number over 0"},
    {ONE("\"x\":1", "correct", "\"fast\"", "ms"), "is not a number over 0"},
    {ONE("\"x\":1", "correct", "null", "ms"), "is not a number over 0"},
    {ONE("\"x\":1", "correct", "1", "GFLOP/s"), "has the unit 'GFLOP/s', which is not a unit of time"},
    {FILE_OF(ROW("\"x\":1", "correct", "1", "ms") "," ROW("\"x\":1", "compile", "1", "ms")),
     "results[1]: an earlier result has the same configuration"},
    {FILE_OF(ROW("\"x\":1", "correct", "1", "ms") "," ROW("\"y\":1", "correct", "1", "ms")),
     "results[1]: parameter 'x' is missing"},
    {FILE_OF(ROW("\"x\":1", "correct", "1", "ms") "," ROW("\"x\":2,\"y\":1", "correct", "1", "ms")),
     "results[1]: it has parameters that results[0] does not have"},
};

static void test_refusals(void)
{
    struct t4_table table;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
        check_that(&unit, !reads(&table, refusals[i].text), "'%s' is read", refusals[i].text);
        CHECK_NUMBER(messages, 1);
        CHECK_HAS(message, refusals[i].message);
        CHECK_HAS(message, "give a T4 results file");
        CHECK(!strchr(message, '\n'));
        CHECK_NUMBER(table.space.count + table.space.params, 0);
        CHECK(!table.result);
    }
    CHECK(!t4_read(&table, "/nowhere/at/all"));
    CHECK_HAS(message, "cannot read /nowhere/at/all: No such file");
    CHECK(!t4_read(&table, directory));
    CHECK_HAS(message, "Is a directory");
}

// Too many parameters, and a value that is too long.
static void test_limits(void)
{
    char text[8192] = "{\"results\":[{\"configuration\":{";
    struct t4_table table;
    for (int p = 0; p <= SPACE_PARAMS; p++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\"p%d\":1", p ? "," : "", p);
    strcat(text, "}}]}");
    CHECK(!reads(&table, text));
    CHECK_HAS(message, "it has 25 parameters; the limit is 1 to 24");
    snprintf(text, sizeof(text), "{\"results\":[{\"configuration\":{\"x\":\"%0300d\"}}]}", 7);
    CHECK(!reads(&table, text));
    CHECK_HAS(message, "the value of parameter 'x' has over 255 bytes");
}

// Damages the good file in one to three places. t4_read then returns a table, or logs one line.
static void test_damage(void)
{
    static const char bytes[] = "{}[]\",:0123456789eE+-.truefalsn\\ \n\x01\x80\xff";
    unsigned state = 1;
    int refused = 0;
    for (int i = 0; i < 3000; i++) {
        char text[sizeof(good)];
        struct t4_table table;
        memcpy(text, good, sizeof(good));
        for (int k = 0; k <= i % 3; k++) {
            state = state * 1664525 + 1013904223;
            text[(state >> 8) % (sizeof(good) - 1)] = bytes[(state >> 20) % (sizeof(bytes) - 1)];
        }
        if (i % 5 == 0)
            text[(state >> 12) % sizeof(good)] = '\0';
        const bool ok = reads(&table, text);
        check_that(&unit, messages == !ok, "%d lines for '%s'", messages, text);
        refused += !ok;
        t4_finish(&table);
    }
    check_that(&unit, refused > 1500, "%d of 3000 are refused", refused);
}

int main(void)
{
    unit_directory(directory);
    snprintf(path, sizeof(path), "%s/table.json", directory);
    log_set_level(LOG_SILENT);
    log_set_error_hook(note, NULL);
    test_round();
    test_others();
    test_refusals();
    test_limits();
    test_damage();
    log_set_error_hook(NULL, NULL);
    unlink(path);
    rmdir(directory);
    return check_end(&unit);
}
