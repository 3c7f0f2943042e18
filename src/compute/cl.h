// cl.h: includes the OpenCL headers (other files include <CL/cl.h> through it); checks and names results
#pragma once

#define CL_TARGET_OPENCL_VERSION 120 // which every driver has
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdbool.h>

// Returns true for CL_SUCCESS. Otherwise logs "cannot DOING: CL_NAME (-5): advice" and returns false.
bool compute_ok(cl_int result, const char *doing);
// Writes the same line to `text`.
void compute_describe(char *text, size_t size, cl_int result, const char *doing);
const char *compute_result_name(cl_int result); // "CL_OUT_OF_RESOURCES"
// Returns true if `extensions`, separated by blanks, has this one.
bool compute_lists(const char *extensions, const char *name);
// Call clBuildProgram, clFinish and clWaitForEvents. These may never return, so they count as driver calls
// (base/driver_call.h).
cl_int compute_build(cl_program program, cl_device_id device, const char *options);
cl_int compute_finish(cl_command_queue queue);
cl_int compute_wait(cl_uint count, const cl_event *events);
// Returns true if the device is lost or broken, so that another attempt on it is pointless.
bool compute_device_lost(cl_int result);
