// spec_data.c: the content of a description's arguments, and the comparison with references
#include "tune/kernel/spec.h"

#include "base/file.h"
#include "base/log.h"
#include "base/random.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- elements ----

static double load(const struct spec_type *type, const void *at)
{
    union {
        int8_t i1;
        int16_t i2;
        int32_t i4;
        int64_t i8;
        float f4;
        double f8;
    } word;
    memcpy(&word, at, (size_t)type->bytes);
    if (type->number == SPEC_FLOAT)
        return type->bytes == 4 ? (double)word.f4 : word.f8;
    const bool is_signed = type->number == SPEC_SIGNED;
    switch (type->bytes) {
    case 1:
        return is_signed ? (double)word.i1 : (double)(uint8_t)word.i1;
    case 2:
        return is_signed ? (double)word.i2 : (double)(uint16_t)word.i2;
    case 4:
        return is_signed ? (double)word.i4 : (double)(uint32_t)word.i4;
    default:
        return is_signed ? (double)word.i8 : (double)(uint64_t)word.i8;
    }
}

// Stores the nearest value that the type has; integers are cut towards 0.
static void store(const struct spec_type *type, void *at, double value)
{
    const bool is_signed = type->number == SPEC_SIGNED;
    const int bits = 8 * type->bytes - (is_signed ? 1 : 0);
    if (type->number == SPEC_FLOAT) {
        const float single = (float)value;
        memcpy(at, type->bytes == 4 ? (const void *)&single : &value, (size_t)type->bytes);
        return;
    }
    uint64_t word;
    if (!(value > (is_signed ? -ldexp(1, bits) : 0))) // also NAN
        word = is_signed ? UINT64_MAX << bits : 0;
    else if (value >= ldexp(1, bits))
        word = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    else
        word = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    memcpy(at, &word, (size_t)type->bytes); // little-endian
}

// ---- content ----

static bool name_i(void *context, const char *name, int length, int64_t index, struct value *value)
{
    *value = value_of_integer(*(const int64_t *)context);
    return length == 1 && name[0] == 'i' && index < 0;
}

static bool fill_file(const struct spec *spec, const struct spec_argument *argument, const char *source, void *data)
{
    size_t bytes = 0;
    char *path = spec_file(spec, source);
    char *content = path ? file_read(path, argument->bytes, &bytes) : NULL;
    if (!content)
        log_error("cannot read '%s' for argument '%s' of %s: %s", source, argument->name, spec->path, strerror(errno));
    else if (bytes != argument->bytes)
        log_error("'%s' has %zu bytes, but argument '%s' of %s has %zu", source, bytes, argument->name, spec->path,
                  argument->bytes);
    else
        memcpy(data, content, bytes);
    free(content);
    free(path);
    return content && bytes == argument->bytes;
}

bool spec_fill(const struct spec *spec, const struct spec_argument *argument, const struct spec_content *content,
               void *data)
{
    const struct spec_type *type = &argument->type;
    const size_t count = argument->bytes / (size_t)type->bytes, size = (size_t)type->bytes;
    uint64_t state = content->seed;
    char why[EXPRESSION_WHY];
    if (content->fill == SPEC_FILE)
        return fill_file(spec, argument, content->source, data);
    // An integer is 0 to the upper bound.
    const double range = content->value[0] + (type->number == SPEC_FLOAT ? 0 : 1);
    for (size_t i = 0; i < count; i++) {
        struct value value = value_of_real(content->value[i % (size_t)type->lanes]);
        int64_t index = (int64_t)i;
        if (content->fill == SPEC_RANDOM)
            value.real = random_unit(&state) * range;
        else if (content->fill == SPEC_GENERATOR &&
                 !expression_evaluate(content->source, name_i, &index, &value, why)) {
            log_error("cannot fill argument '%s' of %s: DataSource '%.80s': %s", argument->name, spec->path,
                      content->source, why);
            return false;
        }
        if (value.kind == VALUE_TEXT) {
            log_error("cannot fill argument '%s' of %s: DataSource '%.80s' is a text", argument->name, spec->path,
                      content->source);
            return false;
        }
        store(type, (char *)data + i * size, value_number(&value));
    }
    return true;
}

// ---- comparison ----

bool spec_same(const struct spec_argument *argument, const void *got, const void *want, char why[SPEC_WHY])
{
    const struct spec_type *type = &argument->type;
    const struct spec_tolerance *tolerance = &argument->tolerance;
    const size_t count = argument->bytes / (size_t)type->bytes, size = (size_t)type->bytes;
    double sum = 0;
    if (memcmp(got, want, argument->bytes) == 0)
        return true;
    for (size_t i = 0; i < count; i++) {
        const char *a_at = (const char *)got + i * size, *b_at = (const char *)want + i * size;
        if (memcmp(a_at, b_at, size) == 0)
            continue;
        const double a = load(type, a_at), b = load(type, b_at), difference = fabs(a - b);
        const double most = tolerance->threshold * (tolerance->method == SPEC_EACH_RELATIVE ? fabs(b) : 1);
        sum += difference;
        if (tolerance->method == SPEC_SUM ? isfinite(sum) : difference <= most)
            continue;
        snprintf(why, SPEC_WHY, "%.30s[%zu] is %.6g instead of %.6g", argument->name, i, a, b);
        return false;
    }
    if (tolerance->method != SPEC_SUM || sum <= tolerance->threshold)
        return true;
    snprintf(why, SPEC_WHY, "the differences of %.30s have the sum %.6g", argument->name, sum);
    return false;
}
