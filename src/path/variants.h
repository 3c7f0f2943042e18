// variants.h: ways to run a pass on a device: the generic kernel, and variants that are faster for some passes
#pragma once

#include "compute/device.h"
#include "filter/plan.h"
#include "image/color.h"
#include "image/pixfmt.h"

enum { VARIANT_PARAMS = 5, VARIANT_VALUES = 8, VARIANT_KERNELS = 2, VARIANT_LAUNCHES = 5, VARIANT_TEXT = 96 };
enum { WINDOW_RADIUS_MAX = 4 }; // largest radius of a stencil that the variants `window` and `inside` fit

// The input and output of a pass: the part that the plan does not define.
struct pass_target {
    enum pixfmt format; // of the pictures it reads, if it is the first pass
    bool to_image;      // it writes an image, not a buffer
    struct color color; // of these pictures, if the format is YUV
};

struct variant_param {
    const char *name;           // NULL ends the list; the macro's name where `build` is set
    bool build;                 // a value is compiled in; otherwise it only changes the launch
    int values[VARIANT_VALUES]; // the legal values, 0-ended
};

struct variant;

// A variant and the values of its parameters.
struct variant_choice {
    const struct variant *variant; // NULL: none yet
    int value[VARIANT_PARAMS];
};

// An NDRange of one of a variant's kernels.
struct variant_launch {
    int kernel;
    size_t offset[2], size[2], local[2];
};

// A pass on a device: all that a variant may depend on.
struct variant_pass {
    const struct pass *pass;
    const struct pass_target *target;
    const struct device_info *device;
};

struct variant {
    const char *name;
    uint64_t devices;   // types of device (DEVICE_GPU, ...) that it is chosen for; on others it runs only on request
    const char *file;   // template in kernels/
    const char *macros; // text before the language, or NULL
    const char *kernel[VARIANT_KERNELS];
    bool wide_loads; // it may read IMAGE_SPARE_BYTES beyond the last pixel
    bool tiles;      // it converts and filters before the stencil once, in local memory; others need a separate pass
    bool windows;    // a stencil may have a file variants/NAME_window.cl for it
    bool computes;   // the template computes the stencil itself
    bool sizes;      // the template needs the reach of the stencil, and the count of arguments in local memory
    struct variant_param param[VARIANT_PARAMS + 1];
    bool (*fits)(const struct variant_pass *of);
    void (*preset)(const struct variant_pass *of, int *value);       // the default values
    bool (*allows)(const struct variant_pass *of, const int *value); // constraints of the device; NULL: none
    // Writes the launches for a picture of this size, in work-groups of at most `most` work-items. Returns their
    // number.
    int (*launches)(const struct variant_pass *of, const int *value, size_t width, size_t height, size_t most,
                    struct variant_launch *launch);
};

// All variants in order of preference. The last one is the generic kernel, which fits every pass. NULL ends the list.
extern const struct variant *const variants[];

// Returns true if a choice can run this pass on this device. Does not probe.
bool variant_fits(const struct variant_choice *choice, const struct variant_pass *of);
// Returns true if local memory holds the arguments of the filters.
bool variant_keeps_arguments(const struct variant_choice *choice);
// Returns a variant with its default values for this pass and device.
struct variant_choice variant_preset(const struct variant *variant, const struct variant_pass *of);

// Completes a choice: default values replace the values 0. Returns true if it then fits and `trusted` accepts it (NULL:
// accepts all). The generic kernel is always trusted.
bool variant_accept(struct variant_choice *choice, const struct variant_pass *of,
                    bool (*trusted)(void *context, const struct variant_choice *choice), void *context);

// Chooses how to run a pass. The candidate is wanted->variant or, if that is NULL, each variant for the device's type
// in turn. Returns the first candidate that fits and that `trusted` accepts (NULL: accepts all), or else the generic
// kernel. Values of `wanted` replace the default values; 0: the default.
struct variant_choice variant_choose(const struct variant_pass *of, const struct variant_choice *wanted,
                                     bool (*trusted)(void *context, const struct variant_choice *choice),
                                     void *context);

// Parses "window" or "window:ROWS=8:GROUP_WIDTH=32:GROUP_HEIGHT=4"; parameters that are left out become 0. Returns
// false for any other text.
bool variant_parse(struct variant_choice *choice, const char *text);
void variant_print(const struct variant_choice *choice, char text[VARIANT_TEXT]);
