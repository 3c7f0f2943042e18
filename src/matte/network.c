// network.c: reads a network from a .tflite file, checks it, and runs it
//
// The file is a FlatBuffer: tables of optional fields, which refer to each other by offsets.
#include "matte/network.h"

#include "base/file.h"
#include "base/number.h"
#include "matte/step.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIMENSIONS = 4,
    SIDE_MAX = 1 << 16,
    WINDOW_MAX = 64,           // of a kernel and of a stride
    COUNT_MAX = 4096,          // tensors, operators
    FLOATS_MAX = 16 << 20,     // of all tensors and weights
    WORK_MAX = 1000 * 1000000, // operations of one run
};

// ---- the FlatBuffer ----

struct buffer {
    const uint8_t *data;
    uint64_t size;
    bool broken; // something lies outside
};

// Returns true if the buffer has `count` elements of `bytes` at this place.
static bool has(struct buffer *buffer, uint64_t at, uint64_t count, uint64_t bytes)
{
    const bool inside = at <= buffer->size && count <= (buffer->size - at) / bytes;
    buffer->broken = buffer->broken || !inside;
    return inside;
}

static uint64_t get(struct buffer *buffer, uint64_t at, int bytes)
{
    uint64_t value = 0;
    if (has(buffer, at, 1, (uint64_t)bytes))
        memcpy(&value, buffer->data + at, (size_t)bytes);
    return value;
}

static int32_t get_int(struct buffer *buffer, uint64_t at)
{
    return (int32_t)(uint32_t)get(buffer, at, 4);
}

// Returns the place of a field, or 0 if the table (0: none) lacks it.
static uint64_t field(struct buffer *buffer, uint64_t table, int number)
{
    if (!table)
        return 0;
    const uint64_t names = table - (uint64_t)(int64_t)get_int(buffer, table); // wraps: has() then refuses it
    const uint64_t place = 4 + 2 * (uint64_t)number;
    if (place + 2 > get(buffer, names, 2))
        return 0;
    const uint64_t offset = get(buffer, names + place, 2);
    return offset ? table + offset : 0;
}

static uint64_t follow(struct buffer *buffer, uint64_t at)
{
    return at ? at + get(buffer, at, 4) : 0;
}

// Returns a small number of a field; `missing` if the table lacks it.
static int field_byte(struct buffer *buffer, uint64_t table, int number, int missing)
{
    const uint64_t at = field(buffer, table, number);
    return at ? (int)get(buffer, at, 1) : missing;
}

static int field_int(struct buffer *buffer, uint64_t table, int number, int missing)
{
    const uint64_t at = field(buffer, table, number);
    return at ? get_int(buffer, at) : missing;
}

// Elements of `bytes` each.
struct list {
    uint64_t at;
    uint32_t count;
};

static struct list field_list(struct buffer *buffer, uint64_t table, int number, int bytes)
{
    const uint64_t at = follow(buffer, field(buffer, table, number));
    struct list list = {at + 4, at ? (uint32_t)get(buffer, at, 4) : 0};
    if (!has(buffer, at ? list.at : 0, list.count, (uint64_t)bytes))
        list.count = 0;
    return list;
}

static uint64_t list_table(struct buffer *buffer, struct list list, uint32_t index)
{
    return index < list.count ? follow(buffer, list.at + 4 * (uint64_t)index) : 0;
}

// ---- the network ----

enum tensor_type { TYPE_FLOAT = 0, TYPE_HALF = 1, TYPE_INT = 2 };

struct tensor {
    struct network_tensor values; // first, so that a step's tensor is one of these
    enum tensor_type type;
    struct list constant; // its bytes in the file
    bool made;            // its values are known when the next step runs
    int uses, last;       // by operators, or 1 more for an output of the network; the last one
    int step;             // that makes it; -1: none
};

struct network {
    struct buffer buffer; // only while the file is read
    struct tensor *tensors;
    int tensor_count, input;
    struct list outputs;
    int output[STEP_INPUTS], output_count;
    struct network_step *steps;
    int step_count;
    size_t floats, scratch;
    double work;
    void **blocks; // all memory of tensors and weights
    size_t block_count;
};

// One operator of the file while it is read.
struct operation {
    uint64_t options;
    struct list custom;
    struct tensor *in[STEP_INPUTS], *out;
    struct network_step step;
};

static const char unfit[] = "the shapes do not fit", unknown[] = "it has an option that monocle does not know",
                  no_memory[] = "it needs too much memory";

// Returns memory for zeros, or NULL.
static float *take(struct network *network, size_t count)
{
    if (count > FLOATS_MAX - network->floats)
        return NULL;
    float *block = calloc(count, sizeof(float));
    if (!block)
        return NULL;
    network->floats += count;
    network->blocks[network->block_count++] = block;
    return block;
}

// Gives the tensor the values of a constant. Returns why not, or NULL.
static const char *load_constant(struct network *network, struct tensor *to, const struct tensor *from)
{
    const size_t count = to->values.count, bytes = from->type == TYPE_HALF ? 2 : 4;
    const uint8_t *data = network->buffer.data + from->constant.at;
    if (from->values.count != count || from->constant.count != count * bytes || from->type == TYPE_INT)
        return unfit;
    if (!(to->values.data = take(network, count)))
        return no_memory;
    for (size_t i = 0; i < count; i++) {
        uint16_t half;
        memcpy(bytes == 2 ? (void *)&half : &to->values.data[i], data + i * bytes, bytes);
        if (bytes == 2)
            to->values.data[i] = (float)number_of_half(half);
    }
    to->made = true;
    return NULL;
}

// Reads a constant of at most 8 integers.
static bool load_integers(struct network *network, const struct tensor *from, int count, int values[8])
{
    if (from->type != TYPE_INT || from->constant.count != (uint32_t)count * 4)
        return false;
    for (int i = 0; i < count; i++)
        values[i] = get_int(&network->buffer, from->constant.at + 4 * (uint64_t)i);
    return true;
}

static const char *read_tensor(struct network *network, uint64_t table, struct list constants, struct tensor *tensor)
{
    struct buffer *buffer = &network->buffer;
    const struct list shape = field_list(buffer, table, 0, 4);
    struct network_tensor *values = &tensor->values;
    tensor->type = field_byte(buffer, table, 1, 0);
    tensor->constant =
        field_list(buffer, list_table(buffer, constants, (uint32_t)field_int(buffer, table, 2, 0)), 0, 1);
    tensor->step = -1;
    values->count = 1;
    for (uint32_t i = 0; i < DIMENSIONS; i++) {
        const int side = i < shape.count ? get_int(buffer, shape.at + 4 * i) : 1;
        if (shape.count > DIMENSIONS || side < 1 || side > SIDE_MAX || values->count > FLOATS_MAX / (size_t)side)
            return "a tensor has an unusual shape";
        values->shape[i] = side;
        values->count *= (size_t)side;
    }
    return tensor->constant.count && tensor->type == TYPE_FLOAT ? load_constant(network, tensor, tensor) : NULL;
}

static bool has_shape(const struct network_tensor *tensor, int rows, int columns, int channels)
{
    return tensor->shape[0] == 1 && tensor->shape[1] == rows && tensor->shape[2] == columns &&
           tensor->shape[3] == channels;
}

// ---- operators ----

static bool set_activation(struct network_step *step, int number)
{
    static const enum activation known[] = {[0] = ACTIVATION_NONE, [1] = ACTIVATION_RELU, [3] = ACTIVATION_RELU6};
    if (number < 0 || number == 2 || number > 3)
        return false;
    step->activation = known[number];
    return true;
}

static bool is_constant(const struct network *network, const struct tensor *tensor)
{
    return tensor->values.data && tensor != &network->tensors[network->input];
}

// Enlarges the scratch memory for a step to `rows` rows of `values` values. False: these are too many.
static bool need_scratch(struct network *network, size_t rows, size_t values)
{
    if (values > FLOATS_MAX / rows)
        return false;
    network->scratch = network->scratch > rows * values ? network->scratch : rows * values;
    return true;
}

// Sets the stride and the zeros around the input. Returns false if the output has another size than they give.
static bool set_windows(struct network_step *step, bool same, int stride_x, int stride_y)
{
    const int *in = step->in[0]->shape, *out = step->out->shape;
    const int kernel[2] = {step->kernel_y, step->kernel_x}, stride[2] = {stride_y, stride_x};
    int before[2];
    for (int i = 0; i < 2; i++) {
        if (kernel[i] < 1 || kernel[i] > WINDOW_MAX || stride[i] < 1 || stride[i] > WINDOW_MAX)
            return false;
        const int whole = same ? (in[1 + i] + stride[i] - 1) / stride[i] : (in[1 + i] - kernel[i]) / stride[i] + 1;
        const int missing = (whole - 1) * stride[i] + kernel[i] - in[1 + i];
        if (whole != out[1 + i] || (!same && in[1 + i] < kernel[i]))
            return false;
        before[i] = same && missing > 0 ? missing / 2 : 0;
    }
    step->top = before[0];
    step->left = before[1];
    step->stride_x = stride_x;
    step->stride_y = stride_y;
    return in[0] == 1 && out[0] == 1;
}

// Arranges weights (channels x places x length, in the file) in blocks of output channels, which are places x channels.
static const char *set_weights(struct network *network, struct network_step *step, size_t channels, size_t places,
                               size_t length)
{
    const struct network_tensor *weights = step->in[1], *bias = step->in[2];
    const size_t count = channels * places, filled = (count + STEP_BLOCK - 1) / STEP_BLOCK * STEP_BLOCK;
    if (bias->count != channels || weights->count != count * length)
        return unfit;
    step->weights = take(network, filled * length);
    step->bias = take(network, filled);
    if (!step->weights || !step->bias)
        return no_memory;
    for (size_t n = 0; n < count; n++) {
        const float *from = weights->data + (n % channels * places + n / channels) * length;
        float *to = step->weights + n / STEP_BLOCK * STEP_BLOCK * length + n % STEP_BLOCK;
        step->bias[n] = bias->data[n % channels];
        for (size_t k = 0; k < length; k++)
            to[k * STEP_BLOCK] = from[k];
    }
    return NULL;
}

// The options of both kinds of convolution begin in the same way.
static const char *read_convolution(struct network *network, struct operation *operation)
{
    struct network_step *step = &operation->step;
    struct buffer *buffer = &network->buffer;
    const struct network_tensor *in = step->in[0], *weights = step->in[1], *out = step->out;
    const bool depthwise = step->kind == STEP_DEPTHWISE;
    const uint64_t options = operation->options;
    if (field_int(buffer, options, 4 + depthwise, 1) != 1 || field_int(buffer, options, 5 + depthwise, 1) != 1 ||
        (depthwise && field_int(buffer, options, 3, 1) != 1) ||
        !set_activation(step, field_byte(buffer, options, 3 + depthwise, 0)))
        return unknown;
    step->kernel_y = weights->shape[1];
    step->kernel_x = weights->shape[2];
    const int channels = weights->shape[3];
    if (!is_constant(network, operation->in[1]) || !is_constant(network, operation->in[2]) ||
        in->shape[3] != channels || out->shape[3] != weights->shape[depthwise ? 3 : 0] ||
        (depthwise && weights->shape[0] != 1) ||
        !set_windows(step, field_byte(buffer, options, 0, 0) == 0, field_int(buffer, options, 1, 0),
                     field_int(buffer, options, 2, 0)))
        return unfit;
    const size_t window = (size_t)step->kernel_x * step->kernel_y;
    network->work += (double)out->count * window * (depthwise ? 1 : channels);
    if (depthwise) {
        step->weights = weights->data;
        step->bias = step->in[2]->data;
        return step->in[2]->count == (size_t)channels ? NULL : unfit;
    }
    const size_t columns = (size_t)(out->shape[2] - 1) * step->stride_x + step->kernel_x; // of the rows of windows
    if (!need_scratch(network, columns * step->kernel_y, (size_t)channels))
        return no_memory;
    return set_weights(network, step, (size_t)out->shape[3], 1, window * channels);
}

// MediaPipe's Convolution2DTransposeBias, where the blocks of neighbouring pixels do not overlap.
static const char *read_transposed(struct network *network, struct operation *operation)
{
    struct network_step *step = &operation->step;
    const struct network_tensor *in = step->in[0], *weights = step->in[1], *out = step->out;
    const uint64_t at = operation->custom.at;
    step->kernel_y = weights->shape[1];
    step->kernel_x = weights->shape[2];
    if (operation->custom.count != 12 || get_int(&network->buffer, at) != 1 ||
        get_int(&network->buffer, at + 4) != step->kernel_x || get_int(&network->buffer, at + 8) != step->kernel_y)
        return unknown;
    if (!is_constant(network, operation->in[1]) || !is_constant(network, operation->in[2]) ||
        step->kernel_x > WINDOW_MAX || step->kernel_y > WINDOW_MAX || in->shape[0] != 1 ||
        in->shape[3] != weights->shape[3] ||
        !has_shape(out, in->shape[1] * step->kernel_y, in->shape[2] * step->kernel_x, weights->shape[0]))
        return unfit;
    const size_t window = (size_t)step->kernel_x * step->kernel_y;
    network->work += (double)out->count * in->shape[3];
    if (!need_scratch(network, (size_t)in->shape[2], window * out->shape[3]))
        return no_memory;
    return set_weights(network, step, (size_t)out->shape[3], window, (size_t)in->shape[3]);
}

static const char *read_two(struct network *network, struct operation *operation)
{
    struct network_step *step = &operation->step;
    if (step->in[0]->count < step->in[1]->count) {
        const struct network_tensor *first = step->in[0];
        step->in[0] = step->in[1];
        step->in[1] = first;
    }
    const struct network_tensor *a = step->in[0], *b = step->in[1];
    if (memcmp(a->shape, step->out->shape, sizeof(a->shape)) != 0 ||
        (memcmp(a->shape, b->shape, sizeof(a->shape)) != 0 && !has_shape(b, 1, 1, a->shape[3])))
        return unfit;
    return set_activation(step, field_byte(&network->buffer, operation->options, 0, 0)) ? NULL : unknown;
}

static const char *read_activation(struct network *network, struct operation *operation)
{
    const struct network_step *step = &operation->step;
    return memcmp(step->in[0]->shape, step->out->shape, sizeof(step->out->shape)) == 0 ? NULL : unfit;
}

// A mean of rows and columns, or of a window that is the whole input.
static const char *read_mean(struct network *network, struct operation *operation)
{
    struct network_step *step = &operation->step;
    struct buffer *buffer = &network->buffer;
    const struct network_tensor *in = step->in[0];
    const uint64_t options = operation->options;
    int axes[8];
    network->work += (double)in->count;
    if (operation->in[1]
            ? !load_integers(network, operation->in[1], 2, axes) || axes[0] != 1 || axes[1] != 2
            : field_int(buffer, options, 3, 0) != in->shape[2] || field_int(buffer, options, 4, 0) != in->shape[1] ||
                  !set_activation(step, field_byte(buffer, options, 5, 0)))
        return unknown;
    return has_shape(step->out, 1, 1, in->shape[3]) && in->shape[0] == 1 ? NULL : unfit;
}

static const char *read_resize(struct network *network, struct operation *operation)
{
    struct network_step *step = &operation->step;
    if (field_byte(&network->buffer, operation->options, 2, 0) != 0)
        return unknown;
    step->half_pixels = field_byte(&network->buffer, operation->options, 3, 0) != 0;
    const int *out = step->out->shape;
    return has_shape(step->out, out[1], out[2], step->in[0]->shape[3]) && step->in[0]->shape[0] == 1 ? NULL : unfit;
}

static const char *read_largest(struct network *network, struct operation *operation)
{
    struct network_step *step = &operation->step;
    struct buffer *buffer = &network->buffer;
    const uint64_t options = operation->options;
    step->kernel_x = field_int(buffer, options, 3, 0);
    step->kernel_y = field_int(buffer, options, 4, 0);
    network->work += (double)step->out->count * step->kernel_x * step->kernel_y;
    if (!set_activation(step, field_byte(buffer, options, 5, 0)))
        return unknown;
    return step->in[0]->shape[3] == step->out->shape[3] &&
                   set_windows(step, field_byte(buffer, options, 0, 0) == 0, field_int(buffer, options, 1, 0),
                               field_int(buffer, options, 2, 0))
               ? NULL
               : unfit;
}

static const char *read_pad(struct network *network, struct operation *operation)
{
    struct network_step *step = &operation->step;
    int around[8], sides[DIMENSIONS];
    if (!load_integers(network, operation->in[1], 8, around))
        return unknown;
    for (int i = 0; i < DIMENSIONS; i++) {
        if (around[2 * i] < 0 || around[2 * i] > SIDE_MAX || around[2 * i + 1] < 0 || around[2 * i + 1] > SIDE_MAX)
            return unknown;
        sides[i] = around[2 * i] + step->in[0]->shape[i] + around[2 * i + 1];
    }
    step->top = around[2];
    step->left = around[4];
    step->front = around[6];
    return sides[0] == 1 && has_shape(step->out, sides[1], sides[2], sides[3]) ? NULL : unfit;
}

// Of a reshaped tensor, or of tensors that are joined on their first axis that is longer than 1.
static const char *read_join(struct network *network, struct operation *operation)
{
    const struct network_step *step = &operation->step;
    size_t count = 0;
    for (int i = 0; i < step->inputs; i++)
        count += step->in[i]->count;
    if (step->inputs > 1) {
        const int axis = field_int(&network->buffer, operation->options, 0, 0);
        if (axis != 1 || step->out->shape[0] != 1 || field_byte(&network->buffer, operation->options, 1, 0) != 0)
            return unknown;
        for (int i = 0; i < step->inputs; i++) {
            const int *shape = step->in[i]->shape;
            if (shape[0] != 1 || shape[2] != step->out->shape[2] || shape[3] != step->out->shape[3])
                return unfit;
        }
    }
    return count == step->out->count ? NULL : unfit;
}

static const char *read_half(struct network *network, struct operation *operation)
{
    return operation->in[0]->type == TYPE_HALF ? load_constant(network, operation->out, operation->in[0]) : unknown;
}

enum { CODE_CUSTOM = 32 };

static const struct operator_row {
    int code;            // in the file
    enum step_kind kind; // STEP_KINDS: no step, because the result is a constant
    enum activation activation;
    int inputs; // in the file; 0: at least 1
    int floats; // the first inputs, which must have values; the others are constants of integers
    const char *(*read)(struct network *network, struct operation *operation);
} operators[] = {
    {0, STEP_ADD, ACTIVATION_NONE, 2, 2, read_two},
    {1, STEP_MEAN, ACTIVATION_NONE, 1, 1, read_mean},
    {2, STEP_JOIN, ACTIVATION_NONE, 0, STEP_INPUTS, read_join},
    {3, STEP_CONVOLUTION, ACTIVATION_NONE, 3, 3, read_convolution},
    {4, STEP_DEPTHWISE, ACTIVATION_NONE, 3, 3, read_convolution},
    {6, STEP_KINDS, ACTIVATION_NONE, 1, 0, read_half},
    {14, STEP_ACTIVATION, ACTIVATION_LOGISTIC, 1, 1, read_activation},
    {17, STEP_LARGEST, ACTIVATION_NONE, 1, 1, read_largest},
    {18, STEP_MULTIPLY, ACTIVATION_NONE, 2, 2, read_two},
    {19, STEP_ACTIVATION, ACTIVATION_RELU, 1, 1, read_activation},
    {22, STEP_JOIN, ACTIVATION_NONE, 0, 1, read_join},
    {23, STEP_RESIZE, ACTIVATION_NONE, 2, 1, read_resize},
    {CODE_CUSTOM, STEP_TRANSPOSED, ACTIVATION_NONE, 3, 3, read_transposed},
    {34, STEP_PAD, ACTIVATION_NONE, 2, 1, read_pad},
    {40, STEP_MEAN, ACTIVATION_NONE, 2, 1, read_mean},
    {117, STEP_ACTIVATION, ACTIVATION_HARD_SWISH, 1, 1, read_activation},
};

static const struct operator_row *find_operator(struct network *network, uint64_t code_table)
{
    static const char custom[] = "Convolution2DTransposeBias";
    struct buffer *buffer = &network->buffer;
    const int old = field_byte(buffer, code_table, 0, 0), code = field_int(buffer, code_table, 3, 0);
    const struct list name = field_list(buffer, code_table, 1, 1);
    for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
        if (operators[i].code == (old > code ? old : code) &&
            (operators[i].code != CODE_CUSTOM ||
             (name.count == strlen(custom) && memcmp(buffer->data + name.at, custom, name.count) == 0)))
            return &operators[i];
    }
    return NULL;
}

// Lets the step that makes the input of an activation compute it too. Returns false if it cannot.
static bool join_activation(struct network *network, const struct operation *operation)
{
    const struct tensor *in = operation->in[0];
    if (operation->step.kind != STEP_ACTIVATION || in->step < 0 || in->uses != 1)
        return false;
    struct network_step *step = &network->steps[in->step];
    if (step->activation != ACTIVATION_NONE)
        return false;
    step->activation = operation->step.activation;
    step->out = &operation->out->values;
    operation->out->step = in->step;
    return true;
}

static struct tensor *find_tensor(struct network *network, struct list list, uint32_t index)
{
    const int number = index < list.count ? get_int(&network->buffer, list.at + 4 * index) : -1;
    return number >= 0 && number < network->tensor_count ? &network->tensors[number] : NULL;
}

// Reads an operator with its tensors, and adds its step. Returns why not, or NULL.
static const char *read_operation(struct network *network, uint64_t table, struct list codes)
{
    struct buffer *buffer = &network->buffer;
    const struct operator_row *row =
        find_operator(network, list_table(buffer, codes, (uint32_t)field_int(buffer, table, 0, 0)));
    const struct list in = field_list(buffer, table, 1, 4), out = field_list(buffer, table, 2, 4);
    struct operation operation = {
        .options = follow(buffer, field(buffer, table, 4)),
        .custom = field_list(buffer, table, 5, 1),
        .out = find_tensor(network, out, 0),
    };
    if (!row)
        return "monocle does not know this operator";
    if (out.count != 1 || !operation.out || operation.out->made || operation.out->type != TYPE_FLOAT ||
        (row->inputs ? in.count != (uint32_t)row->inputs : in.count < 1 || in.count > STEP_INPUTS))
        return "its tensors are wrong";
    struct network_step *step = &operation.step;
    step->kind = row->kind;
    step->activation = row->activation;
    step->out = &operation.out->values;
    step->inputs = (int)in.count < row->floats ? (int)in.count : row->floats;
    for (uint32_t i = 0; i < in.count; i++) {
        if (!(operation.in[i] = find_tensor(network, in, i)) || ((int)i < step->inputs && !operation.in[i]->made))
            return "its tensors are wrong";
        step->in[i] = &operation.in[i]->values;
    }
    const char *why = row->read(network, &operation);
    network->work += (double)operation.out->values.count;
    operation.out->made = true;
    if (why || row->kind == STEP_KINDS || join_activation(network, &operation))
        return why;
    operation.out->step = network->step_count;
    network->steps[network->step_count++] = *step;
    return NULL;
}

// Notes how often and when a tensor is used last.
static void count_uses(struct network *network, struct list operations)
{
    for (uint32_t i = 0; i < operations.count; i++) {
        const struct list in = field_list(&network->buffer, list_table(&network->buffer, operations, i), 1, 4);
        for (uint32_t k = 0; k < in.count && k < STEP_INPUTS; k++) {
            struct tensor *tensor = find_tensor(network, in, k);
            if (tensor)
                tensor->uses++;
        }
    }
    for (int i = 0; i < network->output_count; i++)
        network->tensors[network->output[i]].uses++;
}

// Gives the results of the steps memory, which results that are not needed at the same time share.
static const char *share_memory(struct network *network)
{
    struct shared {
        float *data;
        size_t count;
        int busy; // until this step
    } *shared = calloc((size_t)network->step_count + 1, sizeof(*shared));
    int count = 0;
    for (int i = 0; shared && i < network->step_count; i++) {
        for (int k = 0; k < network->steps[i].inputs; k++)
            ((struct tensor *)network->steps[i].in[k])->last = i;
    }
    for (int i = 0; shared && i < network->output_count; i++)
        network->tensors[network->output[i]].last = network->step_count;
    for (int i = 0; shared && i < network->step_count; i++) {
        struct tensor *out = (struct tensor *)network->steps[i].out;
        struct shared *best = NULL;
        for (int k = 0; k < count; k++) {
            if (shared[k].busy < i && shared[k].count >= out->values.count && (!best || shared[k].count < best->count))
                best = &shared[k];
        }
        if (!best) {
            best = &shared[count++];
            best->count = out->values.count;
            if (!(best->data = take(network, best->count))) {
                free(shared);
                return no_memory;
            }
        }
        best->busy = out->last > i ? out->last : i;
        out->values.data = best->data;
    }
    free(shared);
    return shared ? NULL : no_memory;
}

// Checks the only input and the outputs, and gives the input and the scratch rows memory.
static const char *read_ends(struct network *network, uint64_t graph)
{
    struct buffer *buffer = &network->buffer;
    const struct list in = field_list(buffer, graph, 1, 4), out = field_list(buffer, graph, 2, 4);
    struct tensor *input = find_tensor(network, in, 0);
    if (in.count != 1 || !input || input->made || input->type != TYPE_FLOAT || out.count < 1 || out.count > STEP_INPUTS)
        return "it has unusual inputs or outputs";
    network->input = (int)(input - network->tensors);
    input->made = true;
    for (uint32_t i = 0; i < out.count; i++) {
        struct tensor *output = find_tensor(network, out, i);
        if (!output)
            return "it has unusual inputs or outputs";
        network->output[network->output_count++] = (int)(output - network->tensors);
    }
    return (input->values.data = take(network, input->values.count)) ? NULL : no_memory;
}

static const char *finish(struct network *network)
{
    for (int i = 0; i < network->output_count; i++) {
        if (network->tensors[network->output[i]].step < 0)
            return "it does not compute its output";
    }
    if (network->work > WORK_MAX)
        return "it needs too much work";
    float *scratch = take(network, network->scratch + 1);
    for (int i = 0; i < network->step_count; i++)
        network->steps[i].scratch = scratch;
    return scratch ? share_memory(network) : no_memory;
}

static const char *read_all(struct network *network, int *number)
{
    struct buffer *buffer = &network->buffer;
    if (buffer->size < 8 || memcmp(buffer->data + 4, "TFL3", 4) != 0)
        return "it is no .tflite file";
    const uint64_t top = follow(buffer, 0) + get(buffer, 0, 4); // follow(0) is 0
    const struct list codes = field_list(buffer, top, 1, 4), graphs = field_list(buffer, top, 2, 4),
                      constants = field_list(buffer, top, 4, 4);
    const uint64_t graph = list_table(buffer, graphs, 0);
    const struct list tensors = field_list(buffer, graph, 0, 4), operations = field_list(buffer, graph, 3, 4);
    if (graphs.count != 1 || tensors.count > COUNT_MAX || operations.count > COUNT_MAX || operations.count < 1)
        return "it is no network of a known kind";
    network->tensor_count = (int)tensors.count;
    network->tensors = calloc((size_t)tensors.count + 1, sizeof(*network->tensors));
    network->steps = calloc((size_t)operations.count, sizeof(*network->steps));
    network->blocks = calloc((size_t)tensors.count + 3 * (size_t)operations.count + 2, sizeof(*network->blocks));
    if (!network->tensors || !network->steps || !network->blocks)
        return no_memory;
    const char *why = NULL;
    for (uint32_t i = 0; !why && i < tensors.count; i++)
        why = read_tensor(network, list_table(buffer, tensors, i), constants, &network->tensors[i]);
    why = why ? why : read_ends(network, graph);
    if (!why)
        count_uses(network, operations);
    for (uint32_t i = 0; !why && !buffer->broken && i < operations.count; i++) {
        *number = (int)i;
        why = read_operation(network, list_table(buffer, operations, i), codes);
    }
    if (why)
        return why;
    *number = -1;
    return buffer->broken ? "" : finish(network);
}

struct network *network_read(const void *data, size_t size, char why[NETWORK_WHY])
{
    struct network *network = calloc(1, sizeof(*network));
    int number = -1;
    if (network)
        network->buffer = (struct buffer){.data = data, .size = size};
    const char *failed = network ? read_all(network, &number) : no_memory;
    if (failed && network && network->buffer.broken)
        snprintf(why, NETWORK_WHY, "it is damaged: an offset leads outside of it");
    else if (failed && number >= 0)
        snprintf(why, NETWORK_WHY, "operator %d: %s", number, failed);
    else if (failed)
        snprintf(why, NETWORK_WHY, "%s", failed);
    if (!failed) {
        network->buffer = (struct buffer){0};
        return network;
    }
    network_free(network);
    return NULL;
}

struct network *network_open(const char *path, char why[NETWORK_WHY])
{
    size_t size;
    char *data = file_read(path, NETWORK_BYTES, &size);
    if (!data) {
        snprintf(why, NETWORK_WHY, "%s", file_read_error());
        return NULL;
    }
    struct network *network = network_read(data, size, why);
    free(data);
    return network;
}

void network_free(struct network *network)
{
    if (!network)
        return;
    for (size_t i = 0; i < network->block_count; i++)
        free(network->blocks[i]);
    free(network->blocks);
    free(network->steps);
    free(network->tensors);
    free(network);
}

const struct network_tensor *network_input(const struct network *network)
{
    return &network->tensors[network->input].values;
}

const struct network_tensor *network_output(const struct network *network, int index)
{
    return index < network->output_count ? &network->tensors[network->output[index]].values : NULL;
}

double network_work(const struct network *network)
{
    return network->work;
}

void network_run(struct network *network)
{
    step_function *const run = step_run();
    for (int i = 0; i < network->step_count; i++)
        run(&network->steps[i]);
}
