// cl.h: the one way to the OpenCL headers, and how results are checked
#pragma once

#define CL_TARGET_OPENCL_VERSION 300 // for memory.c alone; all else is 1.2, which every driver has
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdbool.h>

// True for CL_SUCCESS; otherwise logs "cannot DOING: CL_NAME (-5): advice" and returns false.
bool compute_ok(cl_int result, const char *doing);
// Writes the same line to `text`.
void compute_describe(char *text, size_t size, cl_int result, const char *doing);
const char *compute_result_name(cl_int result); // "CL_OUT_OF_RESOURCES"
// Whether the device itself is gone or broken, so that trying again on it is pointless.
bool compute_device_lost(cl_int result);
