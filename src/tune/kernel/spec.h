// spec.h: reads a description of a user's kernel, in the T1 format of the auto-tuning community (JSON)
#pragma once

#include "base/hash.h"
#include "tune/space.h"

// ---- expressions, a part of Python's ----
//
// Numbers, 'texts' and names; NAME[i]; + - * / // % **; == != < <= > >= (also a < b < c); in, not in with a list;
// and, or, not (also && || !); a if condition else b; parentheses; min, max, abs, int, ceil, floor, sqrt, log2.
// As in Python, / gives a real number, // rounds down, and % has the sign of its right operand.

enum { EXPRESSION_TEXT = 4096, EXPRESSION_DEPTH = 32, EXPRESSION_WHY = 160 };

bool value_true(const struct value *value); // neither 0 nor an empty text
// Sets the value of a name, or of name[index] if `index` is not -1. Returns false if there is no such name. `name` is
// not NUL-terminated.
typedef bool expression_names(void *context, const char *name, int length, int64_t index, struct value *value);

// Evaluates an expression. Returns false if it is malformed, has an unknown name, is longer than EXPRESSION_TEXT or
// nested deeper than EXPRESSION_DEPTH, or cannot be computed, such as a division by zero; `why` has the reason.
bool expression_evaluate(const char *text, expression_names *names, void *context, struct value *value,
                         char why[EXPRESSION_WHY]);
// Returns false in the same cases, but not if it only cannot be computed. Calls `names` for each name in the text.
bool expression_check(const char *text, expression_names *names, void *context, char why[EXPRESSION_WHY]);
// Evaluates lists with + between them: "[1, 2, 4]", "[2 ** i for i in range(6) if i != 3]", "range(1, 9)" and
// "list(...)". Calls each(context, value) for its elements, until that returns false. The
// result is as for expression_evaluate; also false, with `why` unchanged, if `each` returned false.
bool expression_list(const char *text, bool (*each)(void *context, const struct value *value), void *context,
                     char why[EXPRESSION_WHY]);

// ---- the description ----

enum {
    SPEC_KERNELS = 8,
    SPEC_FILES = 8, // of a kernel
    SPEC_ARGUMENTS = 32,
    SPEC_CONDITIONS = 64,
    SPEC_LANES = 128, // also bytes of a struct
    SPEC_STEPS = 32,
    SPEC_CHANGES = 8, // of a step
    SPEC_LOOPS = 3,
    SPEC_METRICS = 8,
    SPEC_LAUNCHES = 4096, // of a run, with the repetitions
    SPEC_CONFIGURATIONS = 1000000,
    SPEC_OPTIONS = 200, // bytes of the compiler's options
    SPEC_WHY = 400,
};

enum spec_number { SPEC_SIGNED, SPEC_UNSIGNED, SPEC_FLOAT };

struct spec_type {
    enum spec_number number;
    int bytes, lanes; // of one lane: 1, 2, 4 or 8; a struct has lanes of 1 byte
    int normalized;   // 1: kernels read the integers of an image as -1 to 1 or 0 to 1
};

enum spec_memory { SPEC_VECTOR, SPEC_SCALAR, SPEC_LOCAL };
enum spec_access { SPEC_READ_WRITE, SPEC_READ_ONLY, SPEC_WRITE_ONLY };
enum spec_fill { SPEC_CONSTANT, SPEC_RANDOM, SPEC_GENERATOR, SPEC_FILE };

// The content of an argument, or of the reference of an output.
struct spec_content {
    enum spec_fill fill;
    double value[SPEC_LANES]; // SPEC_CONSTANT: of each lane; SPEC_RANDOM: value[0] is the upper bound
    uint64_t seed;
    // SPEC_CONSTANT: an expression of the value of a scalar, or NULL; SPEC_GENERATOR: an expression of i; SPEC_FILE: a
    // path
    char *source;
};

enum spec_method {
    SPEC_EACH,          // |a - b| <= threshold for each element
    SPEC_EACH_DEFAULT,  // the same, but threshold * |b| for real numbers with |b| > 1, whose last bits differ
    SPEC_EACH_RELATIVE, // |a - b| <= threshold * |b| for each element
    SPEC_SUM,           // the sum of all |a - b| <= threshold
};

struct spec_tolerance {
    enum spec_method method;
    double threshold;
};

struct spec_argument {
    char *name;
    enum spec_memory memory;
    struct spec_type type;
    enum spec_access access;
    char *size;             // an expression: elements, of an image in a row
    char *height;           // an expression: rows of an image, which is otherwise a vector; NULL: it is no image
    uint32_t params;        // bits of the parameters that its size or constant content depends on
    size_t bytes;           // of its content; of a vector: the largest one, after spec_size that of a configuration
    size_t region[3];       // of an image with these bytes, its width, its height and 1
    struct spec_content in; // at the start of each run
    bool output;            // it is compared
    bool has_reference;     // with `reference`; otherwise with the output of the reference kernels
    struct spec_content reference;
    struct spec_tolerance tolerance;
};

struct spec_sizes {
    char *global[3], *local[3]; // expressions
};

struct spec_kernel {
    char *name, *text;      // `text`: the content of the files; NULL before spec_load
    char *file[SPEC_FILES]; // paths
    int files;
    char included[HASH_TEXT]; // the hash of the files that it includes
    char options[SPEC_OPTIONS];
    bool groups; // GlobalSize counts work-groups, not work-items
    bool cuda;   // the description names CUDA kernels; `file` has OpenCL kernels of the same names
    struct spec_sizes sizes;
    int argument[SPEC_ARGUMENTS]; // indexes
    int arguments;
};

// A macro of a launch, or another value of an argument.
struct spec_change {
    char *name, *text; // `text`: an expression, unless `other` is not -1
    int argument;      // -1: `name` is a macro
    int other;         // the vector that takes the place of a vector; -1: none
};

// A launch of a kernel, or a group: the `steps` steps after it. The indices of the repetitions are the names i, j and k
// in its expressions, from the outermost one.
struct spec_step {
    int kernel; // -1: a group
    int steps;
    char *condition;         // NULL: none
    char *again;             // its repetitions: a number, or a condition; NULL: it runs once
    bool counts;             // `again` is a number
    char *queue;             // NULL: 0
    struct spec_sizes sizes; // global[0] NULL: those of the kernel
    struct spec_change change[SPEC_CHANGES];
    int changes;
    int swap[SPEC_CHANGES]; // pairs of vectors that change places after each repetition
    int swaps;
};

struct spec_condition {
    char *text;
    uint32_t params; // bit p: it depends on parameter p
};

// Numbers of a configuration, such as GFLOP/s: expressions, in which `time` is the time in milliseconds.
struct spec_metrics {
    struct spec_metric {
        char *name, *text;
    } list[SPEC_METRICS];
    int count, objective; // objective: index of the metric that is optimized; -1: the time
    bool maximize, timed; // timed: while they are read: expressions may use the name `time`
};

struct spec {
    char *path, *directory;   // of the description; the directory ends with '/' or is empty
    struct space space;       // spec_enumerate adds its configurations
    int preset[SPACE_PARAMS]; // index of each parameter's default value; -1: none
    struct spec_condition condition[SPEC_CONDITIONS];
    int conditions;
    struct spec_kernel kernel[SPEC_KERNELS], reference[SPEC_KERNELS];
    int kernels, references; // no reference kernels: the kernels with the default values
    struct spec_step step[SPEC_STEPS];
    int steps;       // 0: each kernel once, in order
    uint32_t params; // bits of the parameters that the launches depend on
    int loops;       // number of the names i, j and k that expressions may use
    struct spec_metrics metrics;
    struct spec_argument argument[SPEC_ARGUMENTS];
    int arguments;
    struct value problem[3]; // of ProblemSize
    int problems;
    int budget;           // configurations; 0: the description has no such limit
    double fraction;      // of the configurations; 0: no such limit
    double seconds;       // 0: no such limit
    char ignored[200];    // names of members that have no effect; ""
    char hash[HASH_TEXT]; // of the description, the kernels and the files that they include, after spec_load
};

// Reads a description from a text. `path` is its file's name. Checks all expressions, but reads no other file. Returns
// false if the text is not such a description, and writes the reason. The caller calls spec_finish in any case.
bool spec_parse(struct spec *spec, const char *text, const char *path, char why[SPEC_WHY]);
// Reads a description and its kernels from files. Returns false on failure (logged). The caller calls spec_finish in
// any case.
bool spec_load(struct spec *spec, const char *path);
void spec_finish(struct spec *spec);

// Returns the path of a file that the description names. The caller frees it.
char *spec_file(const struct spec *spec, const char *name);

// Adds all configurations that the conditions allow to the space. Returns false if there are none or over
// SPEC_CONFIGURATIONS, or if a size or a condition cannot be computed; writes the reason.
bool spec_enumerate(struct spec *spec, char why[SPEC_WHY]);

// Evaluates an expression with the values of a configuration. NULL: with the largest value of each parameter.
bool spec_evaluate(const struct spec *spec, const char *text, const uint16_t *tuple, struct value *value,
                   char why[SPEC_WHY]);
// Checks an expression. Sets bit p of *params if it depends on parameter p.
bool spec_check(const struct spec *spec, const char *text, uint32_t *params, char why[SPEC_WHY]);

// Sets the sizes of the vectors, and their contents that are expressions, to those of a configuration. Returns false if
// one cannot be computed, and writes the reason.
bool spec_size(struct spec *spec, const uint16_t *tuple, char why[SPEC_WHY]);

// Returns the value of a metric, from the time of a configuration; NAN: it cannot be computed.
double spec_metric(const struct spec *spec, int metric, const uint16_t *tuple, double ms);

// The value of an argument in a launch.
union spec_given {
    int vector;    // index of the argument whose buffer it is
    size_t bytes;  // in local memory
    double number; // of a scalar of one lane
};

struct spec_launch {
    const struct spec_kernel *kernel;
    size_t global[3], local[3];             // `global` is a multiple of `local`
    int queue;                              // 0 or 1
    bool waits;                             // for all earlier launches of the other queue; user_build_open sets it
    char *macros;                           // lines of its program; NULL: none
    union spec_given given[SPEC_ARGUMENTS]; // in the kernel's order
};

// What a configuration launches, in order.
struct spec_run {
    struct spec_launch *launch;
    int launches;
    bool queues;                // a launch is in queue 1
    int vector[SPEC_ARGUMENTS]; // index of the argument in whose buffer each vector is at the end
};

// Computes the launches of the kernels, or of the reference kernels. Returns false if an expression cannot be computed,
// a size is not a whole number from 1, or there are over SPEC_LAUNCHES launches and repetitions; writes the reason. The
// caller calls spec_run_close in any case.
bool spec_run_open(struct spec_run *run, const struct spec *spec, bool reference, const uint16_t *tuple,
                   char why[SPEC_WHY]);
void spec_run_close(struct spec_run *run);
// Returns the text of a launch's program: the parameters as macros, its macros and the files. The caller frees it.
char *spec_program(const struct spec *spec, const struct spec_launch *launch, const uint16_t *tuple);

// Writes the content of an argument, whose type and `bytes` it has. Returns false on failure (logged).
bool spec_fill(const struct spec *spec, const struct spec_argument *argument, const struct spec_content *content,
               void *data);
// Compares an output with its reference, and writes the first difference.
bool spec_same(const struct spec_argument *argument, const void *got, const void *want, char why[SPEC_WHY]);
