// bench.h: the measurements of the bench command, and what the user asks of them
#pragma once

#include "base/options.h"
#include "filter/chain.h"
#include "image/image.h"
#include "path/path.h"

struct json_t; // of jansson

struct bench_options {
    struct option_texts filters;
    const char *sizes, *formats, *paths, *threads; // lists with commas; NULL: not given
    const char *device;
    int rounds;     // 0: not given
    double seconds; // 0: not given
    int pictures;   // 0: not given
    bool json, csv;
    const char *compare, *kernels;
};

enum { BENCH_LIST = 16, BENCH_CHAINS = OPTION_TEXTS_MAX };

struct bench_chain {
    const char *text; // as the user wrote it
    struct chain chain;
};

// The options taken apart. A count of 0 means that the measurement chooses.
struct bench_wish {
    const struct bench_options *options;
    struct bench_chain chain[BENCH_CHAINS];
    struct option_size size[BENCH_LIST];
    enum pixfmt format[BENCH_LIST];
    enum path_kind path[BENCH_LIST];
    int thread[BENCH_LIST];
    int chains, sizes, formats, paths, threads;
};

struct measurement {
    const char *name;
    int (*run)(struct bench_wish *wish); // fills in what it chooses; returns the exit code
};

extern const struct measurement *const measurements[]; // NULL-ended

bool bench_add_chain(struct bench_wish *wish, const char *text); // false: logged

// ---- lists.c ----

// False where an option is wrong (logged).
bool bench_parse_lists(struct bench_wish *wish, const struct bench_options *options);

// ---- device.c ----

bool bench_needs_device(const struct bench_wish *wish); // whether one of its paths does
// The device for those of `paths` that need one; paths are taken from the list where there is none and the user asked
// for none. *device stays NULL where none is needed. False where nothing can be done (logged).
bool bench_open_device(struct bench_wish *wish, const struct device_gl *gl, struct device **device);
// Fills in one thread, and one per CPU, where the user names no numbers.
void bench_default_threads(struct bench_wish *wish);
// The processor's name, and which of its instructions are used.
void bench_cpu_name(char name[128]);
// Threads of the host that compute on an OpenCL device; 0 where it has processors of its own.
int bench_device_threads(const struct device *device);

// ---- check.c ----

// What a chain makes of a picture, filter by filter, by the cpu path. The caller frees. False: logged.
bool bench_expect(const struct image *picture, const struct chain *chain, struct image *rgba);
// Whether the pictures are equal; logs `what` and the first difference where they are not.
bool bench_same(const struct image *got, const struct image *want, const char *what);

// ---- report.c ----

// How a row's member is shown to people.
struct bench_column {
    enum {
        COLUMN_TEXT, // stands above the table where all rows have the same
        COLUMN_WORD, // never does
        COLUMN_SIZE,
        COLUMN_NUMBER,
        COLUMN_PERCENT,
    } kind;
    const char *key, *heading; // a NULL heading ends the table
    int digits;                // behind the point
};

// Prints rows as the options ask, and against the base where there is one. Returns the exit code.
int bench_report(const struct bench_wish *wish, struct json_t *rows, const struct json_t *base,
                 const struct bench_column *columns);
// Text that may be no UTF-8, which JSON cannot say.
struct json_t *bench_json_text(const char *text);

// ---- compare.c ----

// The rows of an earlier run's --json, as an array the caller frees. NULL on failure (logged).
struct json_t *bench_base_read(const char *path);
// Adds to each row what it was in the base and the verdict. Returns how many became slower.
int bench_compare(struct json_t *rows, const struct json_t *base);
