// fault.h: what can go wrong with one file, by the names that reports have
#pragma once

#include "image/codec/codec.h"

#include <limits.h>

enum fault {
    FAULT_NONE,
    FAULT_MISSING,     // there is no such input (any more)
    FAULT_READ,        // it cannot be read
    FAULT_LOOP,        // a symbolic link that leads round in a circle
    FAULT_FORMAT,      // no picture
    FAULT_UNSUPPORTED, // a picture of a kind that is not
    FAULT_DAMAGED,     // cut short, or nonsense
    FAULT_LIMIT,       // larger than the limits allow
    FAULT_CLASH,       // another input has the same output
    FAULT_EXISTS,      // the output is there already
    FAULT_SOURCE,      // the output is an input
    FAULT_WRITE,       // the output cannot be written
    FAULT_FULL,        // no space is left for it
    FAULT_MEMORY,      // there is not enough memory
    FAULT_DEVICE,      // the filters could not be run
    FAULTS
};

enum { FAULT_WHY = 2 * PATH_MAX + CODEC_WHY }; // two names and what is the matter with them

const char *fault_name(enum fault fault); // "damaged"; NULL for FAULT_NONE
// What an errno value of reading or writing comes to.
enum fault fault_of_reading(int error);
enum fault fault_of_writing(int error);
enum fault fault_of_codec(enum codec_fault fault);
