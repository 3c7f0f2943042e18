// bench.h: the bench command: its options, and what its measurements share; call all on the main thread
#pragma once

#include "command/cases.h"
#include "path/path.h"

struct json_t; // of jansson
struct samples;

struct bench_options {
    struct option_texts filters;
    const char *sizes, *formats, *measures, *paths, *threads; // lists, separated by commas; NULL: not given
    const char *device;
    int rounds;     // 0: not given
    double seconds; // 0: not given
    int pictures;   // 0: not given
    bool json, csv;
    const char *compare, *report, *kernels, *filter_dir;
};

// A run of the command. The lists come from the options; a measurement fills in those that are empty.
struct bench {
    const struct bench_options *options;
    const char **word; // the operands after the measurement's name
    int words;
    struct cases cases;
    const struct bench_measure *measure[CASES_LIST];
    enum path_kind path[CASES_LIST];
    int thread[CASES_LIST];
    int measures, paths, threads;
    struct bench_memory *memory;
    struct device *device; // NULL: none is open
    struct tuned tuned;    // tuning results for the cpu path
    char cpu_name[128];
    double load;           // average number of processes that ran in the minute before; negative: unknown
    const char *gl_name;   // of the GL context; NULL: none
    struct gl_context *gl; // without a window, current; NULL: none
    struct json_t *base;   // rows to compare with; NULL: none
};

struct measurement {
    const char *name;
    int (*run)(struct bench *bench);               // returns the exit code
    bool takes_words;                              // it may have operands
    struct json_t *(*base_read)(const char *path); // reads the file of --compare; NULL: bench_base_read
};

extern const struct measurement filters_measurement, paths_measurement, variants_measurement, device_measurement;
extern const struct measurement *const measurements[]; // ends with NULL

// ---- filters.c ----

// A measure of RGBA pictures.
struct bench_measure {
    const char *name;
    unsigned measures; // of enum path_measure
    bool levels;       // and the mean and the extremes, which the host computes
};

enum { BENCH_MEASURES = 4 };
extern const struct bench_measure bench_measures[BENCH_MEASURES];

// ---- device.c ----

bool bench_needs_device(const struct bench *bench); // returns true if one of its paths needs a device
// The next two log a failure, and return false if the user gave the paths. Otherwise they remove from the list the
// paths that need a device or GL.
//
// Opens the device if one of the paths needs it.
bool bench_open_device(struct bench *bench, const struct gl_handles *gl);
void bench_close_device(struct bench *bench);
// Opens a GL context without a window, and makes it current, if one of the paths needs it.
bool bench_open_gl(struct bench *bench);
void bench_close_gl(struct bench *bench);
// Writes the processor's name and the instructions in use.
void bench_cpu_name(char name[128]);
// Returns the name of the processor or device that a path runs on.
const char *bench_device_name(const struct bench *bench, enum path_kind path);
// bench_thread_counts returns the number of thread counts that a path is measured with, and bench_threads one of them.
// For a device it is the number of host threads that compute on it, 0 for a GPU.
int bench_thread_counts(const struct bench *bench, enum path_kind path);
int bench_threads(const struct bench *bench, enum path_kind path, int index);

// ---- report.c ----

// How the table shows a member of a row.
struct bench_column {
    enum {
        COLUMN_TEXT, // above the table if all rows have the same text
        COLUMN_WORD, // always in the table
        COLUMN_SIZE,
        COLUMN_NUMBER,
        COLUMN_PERCENT,
    } kind;
    const char *key, *heading; // a NULL heading ends the table
    int digits;                // after the point
};

// Reads the rows of an earlier run's --json as an array, which the caller frees. NULL on failure (logged).
struct json_t *bench_base_read(const char *path);
// Prints the rows as the options say, compares them with bench->base, and frees them. Returns the exit code of a run in
// which `ok` cases were measured without a failure.
int bench_report(const struct bench *bench, struct json_t *rows, const struct bench_column *columns, bool ok);
struct json_t *bench_samples_json(const struct samples *samples);
