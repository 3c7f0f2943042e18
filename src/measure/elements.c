// elements.c: the numeric types that tests compute with
#include "measure/elements.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

const struct element elements[ELEMENTS] = {
    [ELEMENT_HALF] = {"half", 2, true, "the device has no half-precision numbers (cl_khr_fp16)"},
    [ELEMENT_FLOAT] = {"float", 4, true, NULL},
    [ELEMENT_DOUBLE] = {"double", 8, true, "the device has no double-precision numbers (cl_khr_fp64)"},
    [ELEMENT_INT] = {"int", 4, false, NULL},
    [ELEMENT_SHORT] = {"short", 2, false, NULL},
    [ELEMENT_CHAR] = {"char", 1, false, NULL},
};

const int element_widths[ELEMENT_WIDTHS] = {1, 2, 4, 8, 16};

bool element_check(const struct element *element, struct session_case *c)
{
    const struct device_info *info = &c->session->device->info;
    cl_uint doubles = 0;
    clGetDeviceInfo(info->id, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, sizeof(doubles), &doubles, NULL);
    const bool has = !element->lacking || (element->bytes == 2 ? info->half : doubles > 0);
    if (!has)
        session_skip(c, "%s", element->lacking);
    return has;
}

static double half_to_double(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return exponent == 31 ? NAN : bits >> 15 ? -size : size;
}

double element_read(const struct element *element, const void *memory, size_t index)
{
    const uint8_t *at = (const uint8_t *)memory + index * element->bytes;
    union {
        double f64;
        float f32;
        int32_t i32;
        int16_t i16;
        int8_t i8;
    } value;
    memcpy(&value, at, element->bytes);
    if (element->is_float)
        return element->bytes == 8 ? value.f64 : element->bytes == 4 ? value.f32 : half_to_double((uint16_t)value.i16);
    return element->bytes == 4 ? value.i32 : element->bytes == 2 ? value.i16 : value.i8;
}

void element_random(const struct element *element, void *memory, size_t count, uint32_t seed)
{
    random_fill(memory, count * element->bytes, seed);
    for (size_t i = 0; element->is_float && i < count; i++) {
        uint8_t *at = (uint8_t *)memory + i * element->bytes;
        uint16_t random;
        memcpy(&random, at, sizeof(random));
        const double number = 0.25 + random / 65536.0 * 0.75;
        const float single = (float)number;
        const uint16_t half = (uint16_t)(0x3400 + random % 0x800); // the bits of 0.25 up to 1
        memcpy(at,
               element->bytes == 8   ? (const void *)&number
               : element->bytes == 4 ? (const void *)&single
                                     : &half,
               element->bytes);
    }
}
