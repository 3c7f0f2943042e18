// opencl_path.h: the parts of an OpenCL path, shared by the files that make one up
#pragma once

#include "compute/texture.h"
#include "path/backend.h"
#include "path/pass_text.h"

// What the kernels know of a picture's memory; handed over as the int8 of kernels/pass.cl.
struct opencl_layout {
    cl_int width, height;
    cl_int stride[PIXFMT_PLANES];     // bytes
    cl_int offset[PIXFMT_PLANES - 1]; // bytes, of planes 1 and 2; plane 0 begins at 0
    cl_int to_stride;                 // of the output, in pixels
};
_Static_assert(sizeof(struct opencl_layout) == sizeof(cl_int8), "the layout is an int8 to the kernels");

// Bytes that a load may reach beyond the last pixel, where a work-item makes a block.
enum { OPENCL_WIDE_LOAD = IMAGE_SPARE_BYTES };

struct opencl_path;

struct opencl_pass {
    cl_program program;
    struct variant_choice choice;
    cl_kernel kernel[VARIANT_KERNELS]; // the variant's
    cl_mem arguments;
    char name[140]; // of its stage time
};

// What a chain compiles to.
struct opencl_build {
    struct plan plan;
    struct opencl_pass pass[PLAN_PASSES];
    cl_mem between[2]; // pictures between passes; NULL with a single pass
};

// The parts of opencl_build_make, for probes. `tiles`: a pass may convert and filter before its stencil
// (variant.tiles).
void opencl_plan_make(struct plan *plan, const struct opencl_path *path, const struct chain *chain, bool tiles);
char *opencl_pass_text(const struct opencl_path *path, const struct pass *pass, const struct image_shape *from,
                       bool to_image, const struct variant_choice *choice, char **error);
const char *opencl_pass_options(const struct opencl_path *path, const struct variant_choice *choice);
bool opencl_pass_make(const struct opencl_path *path, const struct pass *pass, const struct image_shape *from,
                      bool to_image, const struct variant_choice *choice, struct opencl_pass *built, char **error);
void opencl_pass_free(struct opencl_pass *built);
// Enqueues a pass. *first and *last are the events of its first and last launches. If there is one launch, its event is
// retained twice.
cl_int opencl_pass_run(const struct opencl_path *path, const struct opencl_pass *built, const struct pass *pass,
                       cl_command_queue queue, const struct opencl_layout *layout, cl_mem from, cl_mem to,
                       cl_event after, cl_event *first, cl_event *last);

struct opencl_build *opencl_build_make(const struct opencl_path *path, const struct chain *chain, char **error);
void opencl_build_free(void *build); // a struct opencl_build, or NULL

// Where a picture's planes lie in a device buffer: rows 16-byte aligned, so that wide loads are possible. The output's
// stride is that of an RGBA picture of the same size laid out so. Returns bytes, with room for a wide load that begins
// in the last row.
size_t opencl_layout_make(struct opencl_layout *layout, const struct image_shape *shape);
// The layout of a frame as it lies in memory, from its first plane on, for kernels that read it so. Returns its bytes;
// 0 where they cannot: rows or planes are not aligned, or how far its memory goes is not known.
size_t opencl_layout_in_place(struct opencl_layout *layout, const struct image *frame);
// Copies a frame to memory laid out as opencl_layout_make has it.
void opencl_layout_copy(const struct opencl_layout *layout, uint8_t *to, const struct image *frame);

// Results as YUV too: path/opencl_encode.c. All zero without.
struct opencl_encoder {
    cl_program program;
    cl_kernel kernel;
    size_t bytes; // of an encoded picture, without padding
};

struct opencl_encoded {
    cl_mem buffer;
    // Memory that downloads go to, mapped for good at `at`. NULL where `buffer` is the host's memory itself, which is
    // mapped there while the host has it.
    cl_mem pinned;
    uint8_t *at;
    cl_event first, last, fetch;
};

// One frame in flight, or lent.
struct opencl_slot {
    cl_mem staging;      // pinned memory that uploads come from; NULL where input is host memory itself
    uint8_t *staging_at; // mapped for good
    cl_mem input;
    size_t input_bytes;          // may grow: a frame that comes as it lies in memory has its own strides
    cl_mem lent;                 // the frame's own memory as the input; NULL where it was copied or uploaded
    struct opencl_layout layout; // of whichever it is
    bool copied;                 // by the host, into staging or input
    cl_mem output;               // buffer; NULL with a texture
    cl_mem pinned;               // OUTPUT_READ: memory that downloads go to ...
    uint8_t *pinned_at;          // ... mapped for good
    uint8_t *mapped;             // OUTPUT_MAPPED: the output while it is in the host's hands
    struct shared_texture shared;
    struct opencl_encoded encoded;
    uint64_t tag;
    int64_t copy_start_ns, copy_end_ns; // of that copy
    int64_t enqueued_ns;                // host time right before the first event was queued
    cl_event handed_back; // the frame's memory, to the driver that fills it; NULL where it was not taken from there
    cl_event upload, acquire, first[PLAN_PASSES], last[PLAN_PASSES], download;
};

struct opencl_path {
    struct path path;
    struct device *device;
    enum output output;
    struct variant_choice wanted;                                 // its variant is NULL: the best one
    cl_command_queue upload_queue, compute_queue, download_queue; // one and the same where memory is shared
    struct opencl_layout input_layout;
    size_t input_bytes, output_bytes;
    bool copies;                                 // the device does not take the host's memory
    int64_t shift_ns, shifted_ns;                // host time less device time, and when that was found; 0: not yet
    struct opencl_slot slot[PATH_DEPTH_MAX + 1]; // one more than in flight: the collected one stays valid
    int slots, write_slot, read_slot, lent_slot; // lent_slot -1: none
    struct opencl_encoder encoder;
};

// Sets input, device, output, wanted variant, layouts and sizes. To build and run passes, a path needs these and the
// queues.
void opencl_choose(struct opencl_path *path, const struct path_setup *setup, enum output output);
// Sets the variant for the next chains; `variant` as in path_setup.
void opencl_want(struct opencl_path *path, const char *variant);
// An output as those passes write it, the caller's to release: a buffer with these flags, too, or a texture's stand-in.
cl_mem opencl_output_make(const struct opencl_path *path, cl_mem_flags flags, cl_int *result);

// Enqueues all passes of a chain after the event `after` (NULL: at once). `layout` is that of the picture in `from`.
// The caller releases the events of the passes' first and last launches, even on failure.
cl_int opencl_run(const struct opencl_path *path, struct opencl_build *build, cl_command_queue queue, cl_mem from,
                  const struct opencl_layout *layout, cl_mem to, cl_event after, cl_event *first, cl_event *last);

// Returns a buffer of zeros for kernels to read. Oclgrind reports reads of a buffer that was never written; these
// reports would hide real faults.
cl_mem opencl_zeros(const struct opencl_path *path, size_t bytes, cl_int *result);

// Runs a new chain once on scratch memory: a driver may finish compiling only when a kernel first runs (PoCL does, for
// every size of work-group, and takes seconds), which must not happen on the frame path. On any thread.
bool opencl_warm_up(const struct opencl_path *path, struct opencl_build *build, char **error);

// Brings a frame to where the slot's kernels read it; slot->upload is the event of that, NULL where it lies there.
cl_int opencl_upload(struct opencl_path *path, struct opencl_slot *slot, const struct image *frame);

// The stage times of a finished slot, device stamps moved to the host clock.
void opencl_slot_times(struct opencl_path *path, const struct opencl_slot *slot, struct path_result *result);

// Compiles the encoder, if there shall be one, and runs it once. False on failure: *error as in path_open.
bool opencl_encoder_open(struct opencl_path *path, char **error);
void opencl_encoder_close(struct opencl_path *path);
// Enqueues the encoding of a slot's output behind `after`, and its way to host memory.
cl_int opencl_encode(struct opencl_path *path, struct opencl_slot *slot, cl_event after);
// Takes the encoded picture back from its last user.
cl_int opencl_encoded_reclaim(struct opencl_path *path, struct opencl_slot *slot);

void opencl_release_event(cl_event *event); // sets it to NULL; takes one that is
// The largest work-group that the device and the kernel allow.
size_t opencl_group_limit(const struct device_info *info, cl_kernel kernel);
