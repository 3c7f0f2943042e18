// pass_tuned.h: names passes in the database of tunings (compute/tuned.h), and finds their tuned variants
#pragma once

#include "base/hash.h"
#include "compute/tuned.h"
#include "path/variants.h"

enum { PASS_KEY = 512 };

// A pass on a device as a key of the database. Do not move or copy it: `key` points to its other members.
struct pass_key {
    struct tuned_key key;
    char pass[PASS_KEY], size[TUNED_SIZE], architecture[16];
};

// Writes the properties of a pass that its speed depends on, as INPUT>FILTERS>OUTPUT: "nv12>gray+blur2+invert>buffer".
// INPUT is a pixel format, or "channel" for grey pictures between passes. A stencil has its radius, and ":grey" if it
// filters one channel. OUTPUT is "buffer", "channel" or "image". ":mirror" and ":flip" may follow INPUT and OUTPUT.
void pass_key_print(const struct pass *pass, const struct pass_target *target, char text[PASS_KEY]);
// Makes a key of these texts, and of the properties of the device that the speed of kernels depends on.
void pass_key_device(struct pass_key *key, const struct device_info *device);
void pass_key_make(struct pass_key *key, const struct variant_pass *of, int width, int height);

// Writes the hash of the kernel text of a pass and a choice, for tuned_entry.source. Comments and white space do not
// change it. False if pass_text fails (not logged).
bool pass_source(const struct variant_pass *of, const struct variant_choice *choice, const char *kernel_dir,
                 char hash[HASH_TEXT]);

// How the variant of a pass was chosen.
struct pass_choice {
    struct variant_choice choice;
    struct tuned_found tuned; // tuned.entry NULL: the choice is not tuned
};

// Finds the best entry of the device's database that a pass can use: its choice fits and is trusted (variant_accept),
// and the entry is for the same kernel text or for any. False: the pass can use none of the 50 best entries, and *found
// is unchanged.
bool pass_tuned(struct device *device, const struct variant_pass *of, int width, int height,
                bool (*trusted)(void *context, const struct variant_choice *choice), void *context,
                struct pass_choice *found);

// Writes the choices of the device's best 50 entries that fit the pass, for any kernel text, each once: at most `most`.
// Returns their number.
int pass_tuned_choices(struct device *device, const struct variant_pass *of, int width, int height,
                       struct variant_choice *choices, int most);

// ---- text without comments ----

// Removes comments, line continuations and #line directives in place, and replaces each run of white space by one
// character. Keeps string and character literals. The program must not use __LINE__ and __FILE__.
void source_strip(char *text);
