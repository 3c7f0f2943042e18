// user_filter.h: filters from users' files: NAME.cl, whose lines `//!` declare them (docs/architecture.md)
#pragma once

#include "filter/filter.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>

enum {
    USER_PARAMS = 4, // parameters
    USER_NAME = 32,  // bytes of a name, with the NUL
    USER_LINE = 256,
    USER_TEXT_MAX = 1 << 18,
    USER_ERROR = 512,
};

// Makes row `y` of the filter on the CPU (kernels/user_rows.h). `args` begin after the facts. What `in` and `step` are:
// - point filter: in[0] is the row, which may be `to`; in[1] is that of the previous output or input
// - stencil: in[0] to in[2 * radius] are the rows around it; `step` is the bytes from one pixel to the next
// - warp: `in` is NULL; `to` gets the places in the input in 1/256 pixel as int32_t: u, and `step` numbers after it v
typedef void user_row(const int32_t *args, const uint8_t *const *in, uint8_t *to, int width, int y, int step);

struct user_param {
    char name[USER_NAME], help[USER_LINE], choices[USER_LINE];
    float scale; // an argument is the value times this, rounded
};

struct user_filter {
    struct filter filter; // filter.user is this struct
    char name[USER_NAME], summary[USER_LINE];
    struct param param[USER_PARAMS + 1];
    struct user_param more[USER_PARAMS]; // of these parameters
    char *text;                          // the file, made safe (user_code.h), NUL-terminated
    struct user_filter *older;           // the filter that it replaced, which chains may still use; NULL: none

    // The row function, which the cpu path compiles at the first use (path/user_rows.c).
    pthread_mutex_t lock; // guards both
    user_row *row;        // NULL: not compiled, or it does not compile
    char *why;            // why it does not compile; NULL: not tried, or it compiles
};

// Makes a filter from the text of a file. Takes over `text`, of `size` bytes and a NUL. NULL on failure: `error` then
// gets one line of plain text with the file's name and the line.
struct user_filter *user_filter_make(const char *name, char *text, size_t size, char error[USER_ERROR]);
void user_filter_free(struct user_filter *user); // accepts NULL

// Computes the arguments of the filter's parameters from their values, after the facts.
void user_filter_prepare(const struct user_filter *user, const struct filter_values *values,
                         struct filter_arguments *arguments);

// ---- the users' filters that are loaded ----

enum { USER_FILTERS = 128 };

// Loads the examples, which are in the binary (assets/filters), then the files NAME.cl of "monocle/filters" in the
// directories of the system's data and of the user's configuration, and then those of `directory` (NULL or "": none). A
// file replaces an earlier one of the same name. Refuses a file that another user can write, or that declares no filter
// (logged at the level info, and the others are loaded). False: `directory` cannot be used (logged).
bool user_filters_load(const char *directory);
// Loads all files again. A changed file makes a new filter, which replaces the old one in the list; chain_renew puts it
// into a chain. If a file is refused (logged as a warning), its old filter stays in the list; `error` gets the line
// about the first such file, or "". Returns true if a filter was replaced.
bool user_filters_reload(char error[USER_ERROR]);
// Sets `path` to directory `index` of user_filters_load, which may not exist. False: there are no more.
bool user_filters_directory(int index, char path[PATH_MAX]);
// Returns true if the file of a filter with this name is refused; `why` gets one line.
bool user_filters_refused(const char *name, char why[USER_ERROR]);

const struct filter *user_filters_at(int index); // NULL after the last one
// Returns the directory that user_filters_load was given; "": none.
const char *user_filters_named(void);
