// device_facts.c: the properties of an OpenCL device as JSON
#include "inspect/inspect.h"

#include "base/alloc.h"
#include "base/json_text.h"
#include "compute/device.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Queries that only newer headers have.
enum { NV_PCI_BUS = 0x4008, NV_PCI_SLOT = 0x4009, NV_PCI_DOMAIN = 0x400A };
enum { VERSIONS_MAX = 16, FORMATS_MAX = 512 };

enum fact_kind { FACT_INT, FACT_SIZE, FACT_LONG, FACT_BITS_AS_BYTES, FACT_MEMORY };

struct fact {
    const char *name;
    cl_device_info query;
    enum fact_kind kind;
};

static const struct fact limits[] = {
    {"work_item_dimensions", CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, FACT_INT},
    {"clock_mhz", CL_DEVICE_MAX_CLOCK_FREQUENCY, FACT_INT},
    {"address_bits", CL_DEVICE_ADDRESS_BITS, FACT_INT},
    {"alignment_bytes", CL_DEVICE_MEM_BASE_ADDR_ALIGN, FACT_BITS_AS_BYTES},
    {"allocation_bytes", CL_DEVICE_MAX_MEM_ALLOC_SIZE, FACT_LONG},
    {"constant_bytes", CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, FACT_LONG},
    {"parameter_bytes", CL_DEVICE_MAX_PARAMETER_SIZE, FACT_SIZE},
    {"cache_bytes", CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, FACT_LONG},
    {"cache_line_bytes", CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, FACT_INT},
    {"local_memory", CL_DEVICE_LOCAL_MEM_TYPE, FACT_MEMORY},
    {"image2d_width", CL_DEVICE_IMAGE2D_MAX_WIDTH, FACT_SIZE},
    {"image2d_height", CL_DEVICE_IMAGE2D_MAX_HEIGHT, FACT_SIZE},
    {"image3d_width", CL_DEVICE_IMAGE3D_MAX_WIDTH, FACT_SIZE},
    {"image3d_height", CL_DEVICE_IMAGE3D_MAX_HEIGHT, FACT_SIZE},
    {"image3d_depth", CL_DEVICE_IMAGE3D_MAX_DEPTH, FACT_SIZE},
    {"image_buffer_pixels", CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, FACT_SIZE},
    {"image_array_layers", CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, FACT_SIZE},
    {"timer_ns", CL_DEVICE_PROFILING_TIMER_RESOLUTION, FACT_SIZE},
    {NULL, 0, FACT_INT},
};
static const struct fact preferred[] = {
    {"char", CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, FACT_INT},
    {"short", CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, FACT_INT},
    {"int", CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, FACT_INT},
    {"long", CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, FACT_INT},
    {"half", CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, FACT_INT},
    {"float", CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, FACT_INT},
    {"double", CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, FACT_INT},
    {NULL, 0, FACT_INT},
};
static const struct fact native[] = {
    {"char", CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, FACT_INT},
    {"short", CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, FACT_INT},
    {"int", CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, FACT_INT},
    {"long", CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, FACT_INT},
    {"half", CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, FACT_INT},
    {"float", CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, FACT_INT},
    {"double", CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, FACT_INT},
    {NULL, 0, FACT_INT},
};

static json_t *fact_json(cl_device_id id, const struct fact *fact)
{
    union {
        cl_uint number;
        size_t size;
        cl_ulong large;
    } value = {.large = 0};
    const bool wide = fact->kind == FACT_LONG, size = fact->kind == FACT_SIZE;
    const size_t bytes = wide ? sizeof(value.large) : size ? sizeof(value.size) : sizeof(value.number);
    if (clGetDeviceInfo(id, fact->query, bytes, &value, NULL) != CL_SUCCESS)
        return json_null();
    if (fact->kind == FACT_MEMORY)
        return json_string(value.number == CL_LOCAL ? "local" : value.number == CL_GLOBAL ? "global" : "none");
    if (fact->kind == FACT_BITS_AS_BYTES)
        value.number /= 8;
    return json_integer(wide ? (json_int_t)value.large : size ? (json_int_t)value.size : (json_int_t)value.number);
}

static json_t *facts_json(cl_device_id id, const struct fact *facts)
{
    json_t *object = json_object();
    for (; facts->name; facts++)
        json_object_set_new(object, facts->name, fact_json(id, facts));
    return object;
}

// Returns a text property, which the caller frees. "" if the driver does not have it.
static char *get_text(cl_device_id id, cl_device_info query)
{
    size_t bytes = 0;
    if (clGetDeviceInfo(id, query, 0, NULL, &bytes) != CL_SUCCESS)
        bytes = 0;
    char *text = xalloc(bytes + 1);
    if (bytes > 0 && clGetDeviceInfo(id, query, bytes, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    return text;
}

static json_t *extensions_json(const char *text)
{
    json_t *array = json_array();
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        char name[256];
        const size_t length = strcspn(at, " ");
        snprintf(name, sizeof(name), "%.*s", (int)length, at);
        json_array_append_new(array, text_json(name));
        at += length;
    }
    return array;
}

static bool has_extension(json_t *extensions, const char *name)
{
    size_t i;
    json_t *each;
    json_array_foreach(extensions, i, each)
    {
        if (strcmp(json_string_value(each), name) == 0)
            return true;
    }
    return false;
}

// The extensions that monocle uses.
static json_t *used_json(json_t *extensions)
{
    static const char *const used[] = {
        "cl_khr_gl_sharing",
        "cl_khr_gl_event",
        "cl_khr_external_memory_dma_buf",
        "cl_nv_device_attribute_query",
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++)
        json_object_set_new(object, used[i], json_boolean(has_extension(extensions, used[i])));
    return object;
}

// OpenCL 3.0 lists all versions; before, a device has one.
static json_t *versions_json(cl_device_id id)
{
    cl_name_version versions[VERSIONS_MAX];
    size_t bytes = 0;
    json_t *array = json_array();
    if (clGetDeviceInfo(id, CL_DEVICE_OPENCL_C_ALL_VERSIONS, sizeof(versions), versions, &bytes) == CL_SUCCESS) {
        for (size_t i = 0; i < bytes / sizeof(*versions); i++)
            json_array_append_new(array, json_sprintf("%u.%u", CL_VERSION_MAJOR(versions[i].version),
                                                      CL_VERSION_MINOR(versions[i].version)));
        return array;
    }
    char *text = get_text(id, CL_DEVICE_OPENCL_C_VERSION); // "OpenCL C 1.2 vendor's text"
    static const char prefix[] = "OpenCL C ";
    if (text && strncmp(text, prefix, sizeof(prefix) - 1) == 0) {
        const char *version = text + sizeof(prefix) - 1;
        json_array_append_new(array, json_sprintf("%.*s", (int)strcspn(version, " "), version));
    }
    free(text);
    return array;
}

// "0000:01:00.0", or null.
static json_t *pci_json(cl_device_id id, json_t *extensions)
{
    cl_device_pci_bus_info_khr pci;
    cl_uint bus, slot, domain = 0;
    cl_device_topology_amd amd;
    if (has_extension(extensions, "cl_khr_pci_bus_info") &&
        clGetDeviceInfo(id, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof(pci), &pci, NULL) == CL_SUCCESS)
        return json_sprintf("%04x:%02x:%02x.%x", pci.pci_domain, pci.pci_bus, pci.pci_device, pci.pci_function);
    if (has_extension(extensions, "cl_nv_device_attribute_query") &&
        clGetDeviceInfo(id, NV_PCI_BUS, sizeof(bus), &bus, NULL) == CL_SUCCESS &&
        clGetDeviceInfo(id, NV_PCI_SLOT, sizeof(slot), &slot, NULL) == CL_SUCCESS) {
        if (clGetDeviceInfo(id, NV_PCI_DOMAIN, sizeof(domain), &domain, NULL) != CL_SUCCESS)
            domain = 0;
        return json_sprintf("%04x:%02x:%02x.%x", domain, bus, slot >> 3, slot & 7);
    }
    if (has_extension(extensions, "cl_amd_device_attribute_query") &&
        clGetDeviceInfo(id, CL_DEVICE_TOPOLOGY_AMD, sizeof(amd), &amd, NULL) == CL_SUCCESS &&
        amd.raw.type == CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD)
        return json_sprintf("%04x:%02x:%02x.%x", 0, (unsigned char)amd.pcie.bus, (unsigned char)amd.pcie.device,
                            (unsigned char)amd.pcie.function);
    return json_null();
}

static bool has_format(cl_device_id id, cl_device_info query)
{
    cl_device_fp_config config = 0;
    return clGetDeviceInfo(id, query, sizeof(config), &config, NULL) == CL_SUCCESS && config != 0;
}

static json_t *sizes_json(cl_device_id id)
{
    size_t sizes[VERSIONS_MAX] = {0}, bytes = 0;
    json_t *array = json_array();
    if (clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(sizes), sizes, &bytes) == CL_SUCCESS)
        for (size_t i = 0; i < bytes / sizeof(*sizes); i++)
            json_array_append_new(array, json_integer((json_int_t)sizes[i]));
    return array;
}

json_t *device_facts(const struct device_info *info)
{
    cl_uint vendor = 0;
    char *text = get_text(info->id, CL_DEVICE_EXTENSIONS);
    json_t *extensions = extensions_json(text ? text : "");
    free(text);
    if (clGetDeviceInfo(info->id, CL_DEVICE_VENDOR_ID, sizeof(vendor), &vendor, NULL) != CL_SUCCESS)
        vendor = 0;
    json_t *used = used_json(extensions), *pci = pci_json(info->id, extensions);
    json_t *sizes = sizes_json(info->id);
    return json_pack("{s:o,s:o,s:o,s:b,s:b,s:o,s:o,s:{s:o,s:o},s:o,s:o}", "vendor_id", json_sprintf("0x%04x", vendor),
                     "pci", pci, "opencl_c", versions_json(info->id), "half",
                     (int)has_format(info->id, CL_DEVICE_HALF_FP_CONFIG), "double",
                     (int)has_format(info->id, CL_DEVICE_DOUBLE_FP_CONFIG), "work_item_sizes", sizes, "limits",
                     facts_json(info->id, limits), "vector_widths", "preferred", facts_json(info->id, preferred),
                     "native", facts_json(info->id, native), "extensions_used", used, "extensions", extensions);
}

// ---- image formats ----

struct name {
    cl_uint value;
    const char *text;
};

static const struct name orders[] = {
    {CL_R, "R"},         {CL_A, "A"},         {CL_RG, "RG"},     {CL_RA, "RA"},       {CL_RGB, "RGB"},
    {CL_RGBA, "RGBA"},   {CL_BGRA, "BGRA"},   {CL_ARGB, "ARGB"}, {CL_ABGR, "ABGR"},   {CL_INTENSITY, "INTENSITY"},
    {CL_DEPTH, "DEPTH"}, {CL_sRGBA, "sRGBA"}, {CL_Rx, "Rx"},     {CL_sBGRA, "sBGRA"}, {CL_LUMINANCE, "LUMINANCE"},
    {CL_RGx, "RGx"},     {CL_RGBx, "RGBx"},   {CL_sRGB, "sRGB"}, {CL_sRGBx, "sRGBx"}, {0, NULL},
};
static const struct name types[] = {
    {CL_SNORM_INT8, "SNORM_INT8"},
    {CL_SNORM_INT16, "SNORM_INT16"},
    {CL_UNORM_INT8, "UNORM_INT8"},
    {CL_UNORM_INT16, "UNORM_INT16"},
    {CL_UNORM_SHORT_565, "UNORM_SHORT_565"},
    {CL_UNORM_SHORT_555, "UNORM_SHORT_555"},
    {CL_UNORM_INT_101010, "UNORM_INT_101010"},
    {CL_SIGNED_INT8, "SIGNED_INT8"},
    {CL_SIGNED_INT16, "SIGNED_INT16"},
    {CL_SIGNED_INT32, "SIGNED_INT32"},
    {CL_UNSIGNED_INT8, "UNSIGNED_INT8"},
    {CL_UNSIGNED_INT16, "UNSIGNED_INT16"},
    {CL_UNSIGNED_INT32, "UNSIGNED_INT32"},
    {CL_HALF_FLOAT, "HALF_FLOAT"},
    {CL_FLOAT, "FLOAT"},
    {0, NULL},
};

static const char *name_of(const struct name *names, cl_uint value, char number[16])
{
    for (; names->text; names++)
        if (names->value == value)
            return names->text;
    snprintf(number, 16, "0x%x", value);
    return number;
}

static json_t *formats_json(cl_context context, cl_mem_flags access)
{
    cl_image_format formats[FORMATS_MAX];
    cl_uint count = 0;
    json_t *array = json_array();
    if (clGetSupportedImageFormats(context, access, CL_MEM_OBJECT_IMAGE2D, FORMATS_MAX, formats, &count) != CL_SUCCESS)
        count = 0;
    for (cl_uint i = 0; i < count && i < FORMATS_MAX; i++) {
        char order[16], type[16];
        json_array_append_new(array, json_sprintf("%s/%s", name_of(orders, formats[i].image_channel_order, order),
                                                  name_of(types, formats[i].image_channel_data_type, type)));
    }
    return array;
}

json_t *device_image_formats(const struct device *device)
{
    return json_pack("{s:o,s:o}", "read", formats_json(device->context, CL_MEM_READ_ONLY), "write",
                     formats_json(device->context, CL_MEM_WRITE_ONLY));
}
