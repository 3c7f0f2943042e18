// spec_read.c: reads a description of a user's kernel from JSON
#include "base/alloc.h"
#include "base/text.h"
#include "tune/kernel/spec.h"

#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 64, VALUE_MAX = 200 };
static const struct spec_tolerance default_tolerance = {SPEC_EACH_DEFAULT, 1e-4}; // KTT's threshold

// The state while a description is read.
struct reader {
    struct spec *spec;
    char where[96];  // "KernelSpecification.Arguments[2]"
    uint32_t params; // bits of the parameters of the expressions so far, except for those of vectors
    bool composed;   // the kernels have Launches
    char *why;
};

static bool refuse(struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Writes the reason. Always returns false.
static bool refuse(struct reader *reader, const char *format, ...)
{
    va_list arguments;
    const int used = snprintf(reader->why, SPEC_WHY, "%s%s", reader->where, reader->where[0] ? ": " : "");
    va_start(arguments, format);
    vsnprintf(reader->why + used, SPEC_WHY - (size_t)used, format, arguments);
    va_end(arguments);
    text_join_lines(reader->why);
    return false;
}

// ---- members ----

// Notes a member that has no effect.
static void note(struct reader *reader, const char *key)
{
    char *list = reader->spec->ignored;
    const size_t used = strlen(list);
    if (!strstr(list, key))
        snprintf(list + used, sizeof(reader->spec->ignored) - used, "%s%s", used > 0 ? ", " : "", key);
    text_join_lines(list);
}

// Notes the members that have no effect.
static void note_ignored(struct reader *reader, const json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        bool found = false;
        for (int i = 0; known[i] && !found; i++)
            found = strcmp(known[i], key) == 0;
        if (!found)
            note(reader, key);
    }
}

// Copies a name or an expression, in one line. Returns true.
static bool copy_text(char **to, const char *text)
{
    free(*to);
    *to = xstrdup(text);
    text_join_lines(*to);
    return true;
}

// Returns a text member. NULL: refused.
static const char *need_text(struct reader *reader, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_string(value) && json_string_length(value) > 0)
        return json_string_value(value);
    refuse(reader, "%s is missing, or is not a text", key);
    return NULL;
}

// Copies an expression, which may be a number in JSON.
static bool take_expression(struct reader *reader, const json_t *value, const char *key, char **to)
{
    const struct value constant = value_of_json(value);
    char number[VALUE_TEXT_MAX], why[SPEC_WHY];
    uint32_t params;
    value_print(&constant, number, sizeof(number));
    if (constant.kind == VALUE_NONE)
        return refuse(reader, "%s is missing, or is not an expression", key);
    const char *text = json_is_string(value) ? json_string_value(value) : number;
    if (!spec_check(reader->spec, text, &params, why))
        return refuse(reader, "%s '%.60s': %s", key, text, why);
    reader->params |= params;
    return copy_text(to, text);
}

// Returns the index of a text member in `words`, which end with NULL; `missing` if there is no such member; -1:
// refused.
static int find_choice(struct reader *reader, const json_t *object, const char *key, const char *const *words,
                       int missing)
{
    const json_t *value = json_object_get(object, key);
    if (!value)
        return missing;
    for (int i = 0; json_is_string(value) && words[i]; i++) {
        if (strcasecmp(words[i], json_string_value(value)) == 0)
            return i;
    }
    char list[SPEC_WHY] = "";
    for (int i = 0; words[i]; i++) // one of them may be empty
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", list[0] && words[i][0] ? ", " : "",
                 words[i]);
    refuse(reader, "%s is '%.40s', but must be one of %s", key, json_is_string(value) ? json_string_value(value) : "?",
           list);
    return -1;
}

// Reads a member that is true, false, 1 or 0. If it is missing, *flag stays.
static bool read_flag(struct reader *reader, const json_t *json, const char *key, bool *flag)
{
    const json_t *member = json_object_get(json, key);
    const struct value value = member ? value_of_json(member) : value_of_integer(*flag);
    *flag = value.integer != 0;
    return (value.kind == VALUE_INTEGER && value.integer == *flag) ||
           refuse(reader, "%s is not true, false, 1 or 0", key);
}

// ---- the parameters ----

static bool is_identifier(const char *name)
{
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_')
        length++;
    return length > 0 && length < NAME_BYTES && !name[length] && !isdigit((unsigned char)name[0]);
}

struct values {
    struct reader *reader;
    int param;
    bool refused;
};

static bool check_value(struct values *values, const struct value *value)
{
    struct space *space = &values->reader->spec->space;
    char text[VALUE_TEXT_MAX];
    value_print(value, text, sizeof(text));
    bool plain = strlen(text) <= VALUE_MAX;
    for (const char *at = text; *at && plain; at++)
        plain = !iscntrl((unsigned char)*at) && *at != '\\'; // a stored result has no tabs
    if (!plain)
        return refuse(values->reader, "a value has over %d bytes, or a control character or backslash", VALUE_MAX);
    if (space_find_value(space, values->param, *value) >= 0)
        return refuse(values->reader, "duplicate value '%s'", text);
    return space_add_value(space, values->param, *value) >= 0 ||
           refuse(values->reader, "there are over %d values", SPACE_VALUES);
}

static bool add_value(void *context, const struct value *value)
{
    struct values *values = context;
    values->refused = !check_value(values, value);
    return !values->refused;
}

static bool add_values(struct reader *reader, int param, const json_t *list)
{
    struct values values = {reader, param, false};
    const json_t *element;
    size_t i;
    char why[EXPRESSION_WHY] = "";
    if (json_is_string(list) && !expression_list(json_string_value(list), add_value, &values, why))
        return values.refused ? false : refuse(reader, "Values '%.60s': %s", json_string_value(list), why);
    json_array_foreach((json_t *)list, i, element)
    {
        const struct value value = value_of_json(element);
        if (value.kind == VALUE_NONE)
            return refuse(reader, "Values[%zu] is not a number or text", i);
        if (!add_value(&values, &value))
            return false;
    }
    return reader->spec->space.param[param].values > 0 || refuse(reader, "the list Values is missing or empty");
}

static bool read_param(struct reader *reader, const json_t *json)
{
    static const char *const known[] = {"Name", "Type", "Values", "Default", NULL};
    struct spec *spec = reader->spec;
    const char *name = need_text(reader, json, "Name");
    if (!name)
        return false;
    if (!is_identifier(name))
        return refuse(reader, "the name '%.70s' is not a C identifier of up to %d bytes", name, NAME_BYTES - 1);
    if (space_find_param(&spec->space, name) >= 0)
        return refuse(reader, "duplicate name '%s'", name);
    const int param = space_add_param(&spec->space, name);
    if (param < 0)
        return refuse(reader, "there are over %d parameters", SPACE_PARAMS);
    if (!add_values(reader, param, json_object_get(json, "Values")))
        return false;
    note_ignored(reader, json, known);
    space_sort_values(&spec->space, param);
    const json_t *preset = json_object_get(json, "Default");
    spec->preset[param] = preset ? space_find_value(&spec->space, param, value_of_json(preset)) : -1;
    return !preset || spec->preset[param] >= 0 || refuse(reader, "Default is not one of the values");
}

// The database has a configuration as a text.
static bool check_length(struct reader *reader)
{
    const struct space *space = &reader->spec->space;
    char text[VALUE_TEXT_MAX];
    size_t bytes = 0;
    for (int p = 0; p < space->params; p++) {
        size_t longest = 0;
        for (int v = 0; v < space->param[p].values; v++) {
            value_print(&space->param[p].value[v], text, sizeof(text));
            longest = strlen(text) > longest ? strlen(text) : longest;
        }
        bytes += strlen(space->param[p].name) + longest + 2; // "NAME=VALUE,"
    }
    return bytes <= SPACE_TEXT ||
           refuse(reader, "a configuration may have over %d bytes; shorten names and values", SPACE_TEXT - 1);
}

static bool read_condition(struct reader *reader, const json_t *json)
{
    struct spec *spec = reader->spec;
    struct spec_condition *condition = &spec->condition[spec->conditions];
    const char *text = json_is_string(json) ? json_string_value(json) : need_text(reader, json, "Expression");
    char why[SPEC_WHY];
    if (!text)
        return false;
    if (spec->conditions == SPEC_CONDITIONS)
        return refuse(reader, "there are over %d conditions", SPEC_CONDITIONS);
    if (!spec_check(spec, text, &condition->params, why))
        return refuse(reader, "'%.80s': %s", text, why);
    spec->conditions++;
    return copy_text(&condition->text, text);
}

static bool read_space(struct reader *reader, const json_t *json)
{
    static const char *const known[] = {"TuningParameters", "Conditions", NULL};
    const json_t *list = json_object_get(json, "TuningParameters"), *element;
    size_t i;
    if (json_array_size(list) == 0)
        return refuse(reader, "the list ConfigurationSpace.TuningParameters is missing or empty");
    json_array_foreach((json_t *)list, i, element)
    {
        snprintf(reader->where, sizeof(reader->where), "TuningParameters[%zu]", i);
        if (!read_param(reader, element))
            return false;
    }
    snprintf(reader->where, sizeof(reader->where), "TuningParameters");
    if (!check_length(reader))
        return false;
    json_array_foreach(json_object_get(json, "Conditions"), i, element)
    {
        snprintf(reader->where, sizeof(reader->where), "Conditions[%zu]", i);
        if (!read_condition(reader, element))
            return false;
    }
    reader->where[0] = '\0';
    note_ignored(reader, json, known);
    return true;
}

// ---- the arguments ----

// Reads the size of a struct.
static bool read_struct(struct reader *reader, const json_t *json, struct spec_type *type)
{
    const json_int_t bytes = json_integer_value(json_object_get(json, "TypeSize"));
    if (bytes < 1 || bytes > SPEC_LANES)
        return refuse(reader, "the Type custom needs TypeSize, 1 to %d bytes", SPEC_LANES);
    type->lanes = (int)bytes;
    return true;
}

static bool read_type(struct reader *reader, const json_t *json, struct spec_type *type)
{
    static const struct {
        const char *name;
        enum spec_number number;
        int bytes;
    } types[] = {
        {"bool", SPEC_UNSIGNED, 1},   {"custom", SPEC_UNSIGNED, 1}, // a struct: bytes
        {"half", SPEC_FLOAT, 2},      {"float", SPEC_FLOAT, 4},     {"double", SPEC_FLOAT, 8},
        {"int8", SPEC_SIGNED, 1},     {"int16", SPEC_SIGNED, 2},    {"int32", SPEC_SIGNED, 4},
        {"int64", SPEC_SIGNED, 8},    {"uint8", SPEC_UNSIGNED, 1},  {"uint16", SPEC_UNSIGNED, 2},
        {"uint32", SPEC_UNSIGNED, 4}, {"uint64", SPEC_UNSIGNED, 8}, {"char", SPEC_SIGNED, 1},
        {"uchar", SPEC_UNSIGNED, 1},  {"short", SPEC_SIGNED, 2},    {"ushort", SPEC_UNSIGNED, 2},
        {"int", SPEC_SIGNED, 4},      {"uint", SPEC_UNSIGNED, 4},   {"long", SPEC_SIGNED, 8},
        {"ulong", SPEC_UNSIGNED, 8},
    };
    static const int lanes[] = {1, 2, 4, 8, 16};
    const char *name = need_text(reader, json, "Type");
    char text[NAME_BYTES];
    bool normalized = false;
    if (!read_flag(reader, json, "Normalized", &normalized))
        return false;
    for (size_t l = 0; name && l < sizeof(lanes) / sizeof(*lanes); l++) {
        for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++) {
            snprintf(text, sizeof(text), lanes[l] > 1 ? "%s%d" : "%s", types[t].name, lanes[l]);
            if (strcasecmp(text, name) != 0)
                continue;
            *type = (struct spec_type){types[t].number, types[t].bytes, lanes[l], normalized};
            return strcmp(types[t].name, "custom") != 0 || read_struct(reader, json, type);
        }
    }
    return name &&
           refuse(reader,
                  "Type is '%.40s', but must be half, float, double, int8 to int64, uint8 to uint64, bool, custom, or "
                  "a vector such as float4",
                  name);
}

// Refuses an expression that depends on the configuration or on a repetition.
static bool check_fixed(struct reader *reader, const char *text)
{
    struct spec *spec = reader->spec;
    const int loops = spec->loops;
    uint32_t params;
    char why[SPEC_WHY] = "it must not depend on a parameter";
    spec->loops = 0;
    const bool ok = spec_check(spec, text, &params, why) && params == 0;
    spec->loops = loops;
    return ok || refuse(reader, "FillValue '%.60s': %s", text, why);
}

// Reads FillType, FillValue, DataSource and RandomSeed. `fixed`: the content is the same for all configurations.
static bool read_content(struct reader *reader, const json_t *json, const struct spec_type *type, bool fixed,
                         struct spec_content *content)
{
    static const char *const words[] = {"Constant", "Random", "Generator", "BinaryRaw", "Uninitialized", NULL};
    const json_t *value = json_object_get(json, "FillValue"), *seed = json_object_get(json, "RandomSeed");
    const int fill = find_choice(reader, json, "FillType", words, SPEC_CONSTANT);
    if (fill < 0)
        return false;
    content->fill = fill <= SPEC_FILE ? (enum spec_fill)fill : SPEC_CONSTANT;
    content->seed = json_is_integer(seed) ? (uint64_t)json_integer_value(seed) : 1 + (uint64_t)reader->spec->arguments;
    if (json_is_array(value) && json_array_size(value) != (size_t)type->lanes)
        return refuse(reader, "FillValue has %zu numbers, but the type has %d", json_array_size(value), type->lanes);
    for (int i = 0; i < type->lanes; i++) {
        const json_t *lane = json_is_array(value) ? json_array_get(value, (size_t)i) : value;
        struct value number = value_of_real(fill == SPEC_RANDOM ? 1 : 0);
        char why[SPEC_WHY];
        if (json_is_string(lane)) {
            if (!spec_evaluate(reader->spec, json_string_value(lane), NULL, &number, why))
                return refuse(reader, "FillValue '%.60s': %s", json_string_value(lane), why);
            if (fixed ? !check_fixed(reader, json_string_value(lane))
                      : !take_expression(reader, lane, "FillValue", &content->source))
                return false;
        } else if (json_is_number(lane)) {
            number = value_of_real(json_number_value(lane));
        } else if (value) {
            return refuse(reader, "FillValue is not a number");
        }
        content->value[i] = value_number(&number);
        if (number.kind == VALUE_TEXT)
            return refuse(reader, "FillValue is not a number");
    }
    if (content->fill < SPEC_GENERATOR)
        return true;
    const char *source = need_text(reader, json, "DataSource");
    return source && copy_text(&content->source, source);
}

static int find_argument(const struct spec *spec, const char *name)
{
    for (int i = 0; i < spec->arguments; i++) {
        if (strcmp(spec->argument[i].name, name) == 0)
            return i;
    }
    return -1;
}

// Reads the size of an image, and checks that the type is one of a pixel.
static bool read_image(struct reader *reader, const json_t *size, struct spec_argument *argument)
{
    const struct spec_type *type = &argument->type;
    if ((type->lanes != 1 && type->lanes != 2 && type->lanes != 4) || type->bytes > 4)
        return refuse(reader, "an Image needs a Type of 1, 2 or 4 numbers with up to 32 bits, such as uint8 or float4");
    if (type->normalized && (type->number == SPEC_FLOAT || type->bytes > 2))
        return refuse(reader, "Normalized needs a Type of 8- or 16-bit integers, such as uint8");
    if (json_array_size(size) != 2)
        return refuse(reader, "Size of an Image is not a list of two expressions, width and height");
    return take_expression(reader, json_array_get(size, 0), "Size[0]", &argument->size) &&
           take_expression(reader, json_array_get(size, 1), "Size[1]", &argument->height);
}

static bool read_argument(struct reader *reader, const json_t *json)
{
    enum { IMAGE = 4 };
    static const char *const known[] = {"Normalized", "Name",      "Type",     "MemoryType", "AccessType",
                                        "FillType",   "FillValue", "TypeSize", "DataSource", "RandomSeed",
                                        "Size",       "Output",    NULL};
    static const char *const words[] = {"Vector", "Scalar", "Local", "Symbol", [IMAGE] = "Image", NULL};
    static const enum spec_memory memories[] = {SPEC_VECTOR, SPEC_SCALAR, SPEC_LOCAL, SPEC_SCALAR, SPEC_VECTOR};
    static const char *const accesses[] = {"ReadWrite", "ReadOnly", "WriteOnly", NULL};
    struct spec *spec = reader->spec;
    const json_t *name = json_object_get(json, "Name"), *size = json_object_get(json, "Size");
    char number[32];
    if (spec->arguments == SPEC_ARGUMENTS)
        return refuse(reader, "there are over %d arguments", SPEC_ARGUMENTS);
    snprintf(number, sizeof(number), "argument %d", spec->arguments);
    const char *text = json_is_string(name) ? json_string_value(name) : number;
    if (find_argument(spec, text) >= 0)
        return refuse(reader, "duplicate name '%.60s'; to use an argument again, write only its name", text);
    struct spec_argument *argument = &spec->argument[spec->arguments];
    argument->tolerance = default_tolerance;
    const int word = find_choice(reader, json, "MemoryType", words, 0);
    const int access = find_choice(reader, json, "AccessType", accesses, SPEC_READ_WRITE);
    if (word < 0 || access < 0 || !copy_text(&argument->name, text))
        return false;
    spec->arguments++;
    const enum spec_memory memory = argument->memory = memories[word];
    spec->loops = reader->composed && memory != SPEC_VECTOR ? SPEC_LOOPS : 0;
    argument->access = (enum spec_access)access;
    note_ignored(reader, json, known + (word != IMAGE));
    if (!read_flag(reader, json, "Output", &argument->output) || !read_type(reader, json, &argument->type))
        return false;
    if (memory == SPEC_VECTOR && !size)
        return refuse(reader, "Size is missing; an argument that is one number needs \"MemoryType\": \"Scalar\"");
    if (word == IMAGE ? !read_image(reader, size, argument)
                      : memory != SPEC_SCALAR && !take_expression(reader, size, "Size", &argument->size))
        return false;
    if (memory == SPEC_LOCAL)
        return true;
    argument->bytes = (size_t)argument->type.bytes * (size_t)argument->type.lanes;
    if (!read_content(reader, json, &argument->type, argument->type.lanes > 1, &argument->in))
        return false;
    if (memory == SPEC_SCALAR && argument->in.fill != SPEC_CONSTANT && argument->in.fill != SPEC_FILE)
        return refuse(reader, "the FillType of a scalar must be Constant or BinaryRaw");
    return true;
}

static bool read_arguments(struct reader *reader, const json_t *json, const char *where, struct spec_kernel *kernel)
{
    struct spec *spec = reader->spec;
    const json_t *list = json_object_get(json, "Arguments"), *element;
    size_t i;
    if (!list && kernel != &spec->kernel[0]) { // the same as the first kernel's
        memcpy(kernel->argument, spec->kernel[0].argument, sizeof(kernel->argument));
        kernel->arguments = spec->kernel[0].arguments;
        return true;
    }
    if (json_array_size(list) == 0 || json_array_size(list) > SPEC_ARGUMENTS)
        return refuse(reader, "Arguments is missing, or is not a list of 1 to %d elements", SPEC_ARGUMENTS);
    json_array_foreach((json_t *)list, i, element)
    {
        snprintf(reader->where, sizeof(reader->where), "%s.Arguments[%zu]", where, i);
        const uint32_t params = reader->params;
        int index = spec->arguments;
        reader->params = 0;
        if (json_is_string(element))
            index = find_argument(spec, json_string_value(element));
        else if (!read_argument(reader, element))
            return false;
        if (index < 0)
            return refuse(reader, "no earlier argument has the name '%.60s'", json_string_value(element));
        spec->argument[index].params |= reader->params;
        reader->params = params | (spec->argument[index].memory == SPEC_VECTOR ? 0 : reader->params);
        kernel->argument[kernel->arguments++] = index;
    }
    return true;
}

// ---- the kernels ----

static bool read_size(struct reader *reader, const json_t *json, const char *key, char *size[3])
{
    static const char *const names[] = {"X", "Y", "Z"};
    const json_t *object = json_object_get(json, key);
    char name[32];
    for (int i = 0; i < 3; i++) {
        const json_t *value = json_object_get(object, names[i]);
        snprintf(name, sizeof(name), "%s.%s", key, names[i]);
        if (!value && i > 0 ? !copy_text(&size[i], "1") : !take_expression(reader, value, name, &size[i]))
            return false;
    }
    return true;
}

static bool read_sizes(struct reader *reader, const json_t *json, struct spec_sizes *sizes)
{
    return read_size(reader, json, "GlobalSize", sizes->global) && read_size(reader, json, "LocalSize", sizes->local);
}

static bool read_options(struct reader *reader, const json_t *value, char options[SPEC_OPTIONS])
{
    const size_t count = json_is_array(value) ? json_array_size(value) : value != NULL;
    for (size_t i = 0; i < count; i++) {
        const json_t *option = json_is_array(value) ? json_array_get(value, i) : value;
        const size_t used = strlen(options);
        if (!json_is_string(option))
            return refuse(reader, "CompilerOptions is not a text or a list of texts");
        if ((size_t)snprintf(options + used, SPEC_OPTIONS - used, "%s%s", used > 0 ? " " : "",
                             json_string_value(option)) >= SPEC_OPTIONS - used)
            return refuse(reader, "CompilerOptions has over %d bytes", SPEC_OPTIONS - 1);
    }
    return true;
}

static bool read_tolerance(struct reader *reader, const json_t *json, struct spec_tolerance *tolerance)
{
    static const char *const methods[] = {[SPEC_EACH] = "SideBySideComparison",
                                          [SPEC_EACH_DEFAULT] = "",
                                          [SPEC_EACH_RELATIVE] = "SideBySideRelativeComparison",
                                          [SPEC_SUM] = "AbsoluteDifference",
                                          NULL};
    const json_t *threshold = json_object_get(json, "ValidationThreshold");
    const int method =
        find_choice(reader, json, "ValidationMethod", methods, threshold ? SPEC_EACH : (int)tolerance->method);
    if (method < 0)
        return false;
    tolerance->method = (enum spec_method)method;
    if (threshold && !(json_is_number(threshold) && json_number_value(threshold) >= 0))
        return refuse(reader, "ValidationThreshold is not a number >= 0");
    if (threshold)
        tolerance->threshold = json_number_value(threshold);
    return true;
}

static bool read_references(struct reader *reader, const json_t *list)
{
    const json_t *element;
    size_t i;
    json_array_foreach((json_t *)list, i, element)
    {
        snprintf(reader->where, sizeof(reader->where), "ReferenceArguments[%zu]", i);
        const char *name = need_text(reader, element, "TargetName");
        if (!name)
            return false;
        const int index = find_argument(reader->spec, name);
        struct spec_argument *argument = index < 0 ? NULL : &reader->spec->argument[index];
        if (!argument || argument->memory != SPEC_VECTOR)
            return refuse(reader, "no Vector or Image has the name '%.60s'", name);
        argument->output = argument->has_reference = true;
        if (!read_content(reader, element, &argument->type, true, &argument->reference) ||
            !read_tolerance(reader, element, &argument->tolerance))
            return false;
    }
    return true;
}

static bool read_problem(struct reader *reader, const json_t *value)
{
    struct spec *spec = reader->spec;
    const size_t count = json_is_array(value) ? json_array_size(value) : value != NULL;
    for (size_t i = 0; i < count && spec->problems < 3; i++) {
        const json_t *element = json_is_array(value) ? json_array_get(value, i) : value;
        char why[EXPRESSION_WHY] = "it is not a number";
        struct value *number = &spec->problem[spec->problems++];
        *number = value_of_integer(json_integer_value(element));
        if (!json_is_integer(element) &&
            !(json_is_string(element) && expression_evaluate(json_string_value(element), NULL, NULL, number, why)))
            return refuse(reader, "ProblemSize[%zu]: %s", i, why);
    }
    return true;
}

// Replaces the path of a CUDA kernel by that of the OpenCL kernel that other projects keep next to it.
static bool take_twin(struct reader *reader, char *file)
{
    char *suffix = strrchr(file, '.');
    if (!suffix || strcmp(suffix, ".cu") != 0)
        return refuse(reader, "the kernel '%.80s' is CUDA, which is not supported", file);
    strcpy(suffix, ".cl");
    return true;
}

// Reads a path or a list of paths; by default, those of the first kernel.
static bool read_files(struct reader *reader, const json_t *json, struct spec_kernel *kernel)
{
    const struct spec_kernel *first = &reader->spec->kernel[0];
    const int count = json_is_array(json) ? (int)json_array_size(json) : json ? 1 : first->files;
    if (count < 1 || count > SPEC_FILES)
        return refuse(reader, "KernelFile is missing, or is not a text or a list of 1 to %d texts", SPEC_FILES);
    for (int i = 0; i < count; i++) {
        const json_t *file = json_is_array(json) ? json_array_get(json, (size_t)i) : json;
        const char *text = json ? json_string_value(file) : first->file[i];
        if (!text || !text[0])
            return refuse(reader, "KernelFile is not a text or a list of texts");
        copy_text(&kernel->file[kernel->files++], text);
        if (json && kernel->cuda && !take_twin(reader, kernel->file[i]))
            return false;
    }
    return true;
}

static bool read_kernel(struct reader *reader, const json_t *json, const char *where, struct spec_kernel *kernel)
{
    static const char *const known[] = {"CompilerOptions",     "Language",
                                        "KernelName",          "KernelFile",
                                        "GlobalSizeType",      "GlobalSize",
                                        "LocalSize",           "Arguments",
                                        "ReferenceArguments",  "ReferenceKernel",
                                        "ProblemSize",         "ValidationMethod",
                                        "ValidationThreshold", NULL};
    static const char *const types[] = {"OpenCL", "CUDA", NULL};
    snprintf(reader->where, sizeof(reader->where), "%s", where);
    if (!json_is_object(json))
        return refuse(reader, "this member is missing, or is not an object");
    const int language = find_choice(reader, json, "Language", types, 0);
    const int type = language < 0 ? -1 : find_choice(reader, json, "GlobalSizeType", types, language);
    if (type < 0)
        return false;
    if (json_object_get(json, "Modifiers"))
        return refuse(reader, "Modifiers are not supported; write GlobalSize and LocalSize as expressions");
    kernel->groups = type == 1;
    kernel->cuda = language == 1;
    reader->spec->loops = reader->composed ? SPEC_LOOPS : 0;
    const char *name = need_text(reader, json, "KernelName");
    if (!name || !copy_text(&kernel->name, name) || !read_files(reader, json_object_get(json, "KernelFile"), kernel) ||
        (reader->spec->problems == 0 && !read_problem(reader, json_object_get(json, "ProblemSize"))))
        return false;
    note_ignored(reader, json, known + kernel->cuda); // the options are of another compiler
    if (!read_sizes(reader, json, &kernel->sizes) ||
        (!kernel->cuda && !read_options(reader, json_object_get(json, "CompilerOptions"), kernel->options)) ||
        !read_arguments(reader, json, where, kernel))
        return false;
    return read_references(reader, json_object_get(json, "ReferenceArguments"));
}

// Reads one object, or an array of them.
static bool read_kernels(struct reader *reader, const json_t *json, const char *name, struct spec_kernel *kernel,
                         int *kernels)
{
    const size_t count = json_is_array(json) ? json_array_size(json) : 1;
    char where[48];
    if (count == 0 || count > SPEC_KERNELS)
        return refuse(reader, "%s has %zu kernels, but must have 1 to %d", name, count, SPEC_KERNELS);
    for (size_t i = 0; i < count; i++) {
        snprintf(where, sizeof(where), json_is_array(json) ? "%s[%zu]" : "%s", name, i);
        (*kernels)++; // also if it is refused: spec_finish frees it
        if (!read_kernel(reader, json_is_array(json) ? json_array_get(json, i) : json, where, &kernel[i]))
            return false;
    }
    return true;
}

static bool read_reference(struct reader *reader, const json_t *json)
{
    struct spec *spec = reader->spec;
    if (!json)
        return true;
    reader->composed = false;
    if (!read_kernels(reader, json, "ReferenceKernel", spec->reference, &spec->references))
        return false;
    snprintf(reader->where, sizeof(reader->where), "ReferenceKernel");
    struct spec_tolerance tolerance = default_tolerance;
    if (!read_tolerance(reader, json_is_array(json) ? json_array_get(json, 0) : json, &tolerance))
        return false;
    for (int i = 0; i < spec->arguments; i++) {
        if (!spec->argument[i].has_reference)
            spec->argument[i].tolerance = tolerance;
    }
    return true;
}

// ---- the launches ----

// Adds a macro, or the value of an argument of the kernel.
static bool read_change(struct reader *reader, struct spec_step *step, const char *name, const json_t *value,
                        bool macro)
{
    const struct spec *spec = reader->spec;
    struct spec_change *change = &step->change[step->changes];
    if (step->changes == SPEC_CHANGES)
        return refuse(reader, "it has over %d Macros and Arguments", SPEC_CHANGES);
    step->changes++;
    copy_text(&change->name, name);
    change->argument = change->other = -1;
    if (macro)
        return is_identifier(name) ? take_expression(reader, value, name, &change->text)
                                   : refuse(reader, "the name '%.70s' is not a C identifier", name);
    const struct spec_kernel *kernel = &spec->kernel[step->kernel];
    bool found = false;
    change->argument = find_argument(spec, name);
    for (int i = 0; i < kernel->arguments; i++)
        found = found || kernel->argument[i] == change->argument;
    if (!found)
        return refuse(reader, "kernel '%.60s' has no argument '%.60s'", kernel->name, name);
    const struct spec_argument *argument = &spec->argument[change->argument];
    if (argument->memory != SPEC_VECTOR)
        return argument->type.lanes == 1 || argument->memory == SPEC_LOCAL
                   ? take_expression(reader, value, name, &change->text)
                   : refuse(reader, "argument '%.60s' is not one number", name);
    change->other = json_is_string(value) ? find_argument(spec, json_string_value(value)) : -1;
    const struct spec_argument *other = change->other < 0 ? NULL : &spec->argument[change->other];
    return (other && other->memory == SPEC_VECTOR && !other->height == !argument->height) ||
           refuse(reader, "Arguments.%.60s is not the name of an argument of the same MemoryType", name);
}

static bool read_changes(struct reader *reader, const json_t *json, struct spec_step *step)
{
    static const char *const keys[] = {"Macros", "Arguments"};
    const char *name;
    json_t *value;
    for (int i = 0; i < 2; i++) {
        json_t *object = json_object_get(json, keys[i]);
        if (object && (!json_is_object(object) || step->kernel < 0))
            return refuse(reader, "%s is not an object of a launch with KernelName", keys[i]);
        json_object_foreach(object, name, value)
        {
            if (!read_change(reader, step, name, value, i == 0))
                return false;
        }
    }
    return true;
}

// Reads the names of pairs of vectors.
static bool read_swap(struct reader *reader, const json_t *list, struct spec_step *step)
{
    const struct spec *spec = reader->spec;
    const json_t *element;
    size_t i;
    if (list && (json_array_size(list) == 0 || json_array_size(list) % 2 || json_array_size(list) > SPEC_CHANGES))
        return refuse(reader, "Swap is not a list of pairs of names, at most %d", SPEC_CHANGES / 2);
    json_array_foreach((json_t *)list, i, element)
    {
        const int index = json_is_string(element) ? find_argument(spec, json_string_value(element)) : -1;
        const struct spec_argument *argument = index < 0 ? NULL : &spec->argument[index];
        if (!argument || argument->memory != SPEC_VECTOR || argument->access == SPEC_READ_ONLY)
            return refuse(reader,
                          "Swap[%zu] is not the name of a Vector or Image with AccessType WriteOnly or ReadWrite", i);
        step->swap[step->swaps++] = index;
        const struct spec_argument *before = &spec->argument[step->swap[i & ~(size_t)1]];
        if (memcmp(&before->type, &argument->type, sizeof(argument->type)) != 0 ||
            strcmp(before->size, argument->size) != 0 ||
            strcmp(text_or(before->height, ""), text_or(argument->height, "")) != 0)
            return refuse(reader, "Swap: '%.60s' and '%.60s' have different types or sizes", before->name,
                          argument->name);
    }
    return true;
}

static bool read_steps(struct reader *reader, const json_t *list, const char *where);

// Reads how often the step runs, and the launch or the group.
static bool read_step(struct reader *reader, const json_t *json, const char *where, struct spec_step *step)
{
    struct spec *spec = reader->spec;
    const json_t *group = json_object_get(json, "Launches"), *name = json_object_get(json, "KernelName");
    const json_t *condition = json_object_get(json, "Condition"), *repeat = json_object_get(json, "Repeat");
    const json_t *again = repeat ? repeat : json_object_get(json, "While");
    const int loops = spec->loops;
    step->counts = repeat != NULL;
    if (condition && !take_expression(reader, condition, "Condition", &step->condition))
        return false;
    if (again && loops == SPEC_LOOPS)
        return refuse(reader, "there are over %d repetitions in each other", SPEC_LOOPS);
    spec->loops += again != NULL;
    if ((repeat && json_object_get(json, "While")) || (group != NULL) == (name != NULL))
        return refuse(reader, "a launch has either KernelName or Launches, and at most one of Repeat and While");
    if (again && !take_expression(reader, again, repeat ? "Repeat" : "While", &step->again))
        return false;
    for (int k = 0; name && k < spec->kernels; k++) {
        if (!json_is_string(name) || strcmp(spec->kernel[k].name, json_string_value(name)) != 0)
            continue;
        if (step->kernel >= 0)
            return refuse(reader, "two kernels of KernelSpecification have this KernelName");
        step->kernel = k;
    }
    if (name && step->kernel < 0)
        return refuse(reader, "no kernel of KernelSpecification has this KernelName");
    const bool sized = json_object_get(json, "GlobalSize") || json_object_get(json, "LocalSize");
    const json_t *queue = json_object_get(json, "Queue");
    if ((sized || queue) && group)
        return refuse(reader, "GlobalSize, LocalSize and Queue need KernelName");
    if (queue && !take_expression(reader, queue, "Queue", &step->queue))
        return false;
    if (sized && !read_sizes(reader, json, &step->sizes))
        return false;
    if (!read_changes(reader, json, step) || !read_swap(reader, json_object_get(json, "Swap"), step))
        return false;
    const int number = spec->steps;
    if (group && !read_steps(reader, group, where))
        return false;
    step->steps = spec->steps - number;
    spec->loops = loops;
    return true;
}

static bool read_steps(struct reader *reader, const json_t *list, const char *where)
{
    static const char *const known[] = {"KernelName", "Condition", "Repeat",   "While", "GlobalSize", "LocalSize",
                                        "Macros",     "Arguments", "Launches", "Swap",  "Queue",      NULL};
    struct spec *spec = reader->spec;
    const json_t *element;
    char here[80];
    size_t i;
    if (list && json_array_size(list) == 0)
        return refuse(reader, "Launches is not a list");
    json_array_foreach((json_t *)list, i, element)
    {
        snprintf(here, sizeof(here), "%.40s%sLaunches[%zu]", where, where[0] ? "." : "", i);
        snprintf(reader->where, sizeof(reader->where), "%s", here);
        if (spec->steps == SPEC_STEPS)
            return refuse(reader, "there are over %d launches", SPEC_STEPS);
        struct spec_step *step = &spec->step[spec->steps++];
        step->kernel = -1;
        note_ignored(reader, element, known);
        if (!read_step(reader, element, here, step))
            return false;
    }
    return true;
}

// ---- the description ----

static void read_budget(struct reader *reader, const json_t *list)
{
    struct spec *spec = reader->spec;
    const json_t *element;
    size_t i;
    if (list && !json_is_array(list))
        note(reader, "Budget");
    json_array_foreach((json_t *)list, i, element)
    {
        const char *type = json_string_value(json_object_get(element, "Type"));
        const double value = json_number_value(json_object_get(element, "BudgetValue"));
        if (type && strcmp(type, "ConfigurationCount") == 0 && value >= 1 && value <= 1e6)
            spec->budget = (int)value;
        else if (type && strcmp(type, "ConfigurationFraction") == 0 && value > 0 && value <= 1)
            spec->fraction = value;
        else if (type && strcmp(type, "TuningDuration") == 0 && value > 0 && value <= 1e6)
            spec->seconds = value;
        else
            note(reader, "Budget.Type or BudgetValue");
    }
}

// Reads the metrics, and which one is optimized.
static bool read_general(struct reader *reader, const json_t *json)
{
    struct spec *spec = reader->spec;
    const json_t *objective = json_object_get(json, "Objective"), *metrics = json_object_get(json, "Metrics");
    const char *name, *wanted = json_is_string(objective) ? json_string_value(objective) : "time";
    bool minimize = true;
    json_t *value;
    snprintf(reader->where, sizeof(reader->where), "General");
    if (!read_flag(reader, json, "Minimize", &minimize))
        return false;
    snprintf(reader->where, sizeof(reader->where), "General.Metrics");
    if ((objective && !json_is_string(objective)) || (metrics && !json_is_object(metrics)))
        return refuse(reader, "it is not an object, or Objective is not a text");
    spec->metrics.objective = -1;
    spec->metrics.maximize = !minimize;
    spec->metrics.timed = true;
    json_object_foreach((json_t *)metrics, name, value)
    {
        if (spec->metrics.count == SPEC_METRICS)
            return refuse(reader, "there are over %d metrics", SPEC_METRICS);
        struct spec_metric *metric = &spec->metrics.list[spec->metrics.count++];
        if (!copy_text(&metric->name, name) || !take_expression(reader, value, name, &metric->text))
            return false;
        if (strcmp(name, wanted) == 0)
            spec->metrics.objective = spec->metrics.count - 1;
    }
    spec->metrics.timed = false;
    if (spec->metrics.objective >= 0 || (strcmp(wanted, "time") == 0 && !spec->metrics.maximize))
        return true;
    if (spec->metrics.count > 0)
        return refuse(reader, "no metric has the name '%.60s' of Objective", wanted);
    note(reader, "Objective"); // such as that of a program that defines GFLOPs itself
    spec->metrics.maximize = false;
    return true;
}

// Decides which arguments are compared: the marked ones, or else all that are written.
static bool choose_outputs(struct reader *reader)
{
    struct spec *spec = reader->spec;
    bool marked = false, any = false;
    for (int i = 0; i < spec->arguments; i++)
        marked = marked || spec->argument[i].output;
    for (int i = 0; i < spec->arguments; i++) {
        struct spec_argument *argument = &spec->argument[i];
        const bool written = argument->memory == SPEC_VECTOR && argument->access != SPEC_READ_ONLY;
        if (argument->output && !written)
            return refuse(
                reader, "argument '%s' is an output, but not a Vector or Image with AccessType WriteOnly or ReadWrite",
                argument->name);
        argument->output = marked ? argument->output : written;
        any = any || argument->output;
    }
    return any || refuse(reader, "no argument is a Vector or Image with AccessType WriteOnly or ReadWrite");
}

static bool read_spec(struct reader *reader, const json_t *json)
{
    static const char *const known[] = {
        "General", "ConfigurationSpace", "KernelSpecification", "ReferenceKernel", "Budget", "Launches", NULL};
    struct spec *spec = reader->spec;
    const json_t *kernels = json_object_get(json, "KernelSpecification"), *reference;
    if (!json_is_object(json) || !kernels)
        return refuse(reader, "the object KernelSpecification is missing");
    const json_t *first = json_is_array(kernels) ? json_array_get(kernels, 0) : kernels;
    if (!(reference = json_object_get(json, "ReferenceKernel")))
        reference = json_object_get(first, "ReferenceKernel");
    note_ignored(reader, json, known);
    read_budget(reader, json_object_get(json, "Budget"));
    const json_t *launches = json_object_get(json, "Launches");
    reader->composed = launches != NULL;
    if (!read_space(reader, json_object_get(json, "ConfigurationSpace")) ||
        !read_kernels(reader, kernels, "KernelSpecification", spec->kernel, &spec->kernels))
        return false;
    // The launches may use arguments that only the reference kernels have.
    if (!read_reference(reader, reference))
        return false;
    spec->loops = 0;
    if (!read_steps(reader, launches, ""))
        return false;
    spec->params = reader->params;
    if (!read_general(reader, json_object_get(json, "General")))
        return false;
    reader->where[0] = '\0';
    return choose_outputs(reader);
}

bool spec_parse(struct spec *spec, const char *text, const char *path, char why[SPEC_WHY])
{
    struct reader reader = {.spec = spec, .why = why};
    json_error_t error;
    *spec = (struct spec){.kernels = 0};
    const char *slash = strrchr(path, '/');
    spec->path = xstrdup(path);
    spec->directory = xstrndup(path, slash ? (size_t)(slash + 1 - path) : 0);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        return refuse(&reader, "it is not JSON: line %d: %s", error.line, error.text);
    const bool ok = read_spec(&reader, json);
    json_decref(json);
    return ok;
}
