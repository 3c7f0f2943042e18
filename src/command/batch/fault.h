// fault.h: the reasons why a file can fail, and their names in reports
#pragma once

#include "image/codec/codec.h"

#include <limits.h>

enum fault {
    FAULT_NONE,
    FAULT_MISSING,     // the input does not exist
    FAULT_READ,        // the input cannot be read
    FAULT_LOOP,        // the path is a symbolic-link loop
    FAULT_FORMAT,      // the input is not an image
    FAULT_UNSUPPORTED, // the image has an unsupported format
    FAULT_DAMAGED,     // the input is truncated or damaged
    FAULT_LIMIT,       // the file or the image exceeds a size limit
    FAULT_CLASH,       // another input has the same output
    FAULT_EXISTS,      // the output exists already
    FAULT_SOURCE,      // the output is an input
    FAULT_WRITE,       // the output cannot be written
    FAULT_FULL,        // the disk or the quota is full
    FAULT_MEMORY,      // out of memory
    FAULT_DEVICE,      // the filters failed
    FAULTS
};

enum { FAULT_WHY = 2 * PATH_MAX + CODEC_WHY }; // room for two names and a codec's message

const char *fault_name(enum fault fault); // "damaged"; NULL for FAULT_NONE
// Each returns the fault for an errno value of a read or a write, or for an error of a codec.
enum fault fault_of_reading(int error);
enum fault fault_of_writing(int error);
enum fault fault_of_codec(enum codec_fault fault);
