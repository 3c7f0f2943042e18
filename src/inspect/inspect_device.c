// inspect_device.c: the OpenCL devices: their list, the facts of one, and what it can do; in a child (inspect.h)
#include "compute/cl.h"
#include "inspect/inspect.h"

#include "base/alloc.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/text.h"
#include "compute/device.h"
#include "image/image.h"
#include "path/path.h"
#include "screen/window.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- facts ----

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
    size_t bytes = size ? sizeof(value.size) : sizeof(value.number);
    if (wide)
        bytes = sizeof(value.large);
    if (clGetDeviceInfo(id, fact->query, bytes, &value, NULL) != CL_SUCCESS)
        return json_null();
    if (fact->kind == FACT_MEMORY) {
        if (value.number == CL_LOCAL)
            return json_string("local");
        return json_string(value.number == CL_GLOBAL ? "global" : "none");
    }
    if (fact->kind == FACT_BITS_AS_BYTES)
        value.number /= 8;
    if (wide)
        return json_integer((json_int_t)value.large);
    return json_integer(size ? (json_int_t)value.size : (json_int_t)value.number);
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

// Returns the properties that need no context; `monocle devices --help` lists the members. A property that the driver
// does not have is null.
static json_t *device_facts(const struct device_info *info)
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

// Returns {"read": ["RGBA/UNORM_INT8", ...], "write": [...]}: the formats of 2D images.
static json_t *device_image_formats(const struct device *device)
{
    return json_pack("{s:o,s:o}", "read", formats_json(device->context, CL_MEM_READ_ONLY), "write",
                     formats_json(device->context, CL_MEM_WRITE_ONLY));
}

// ---- the list ----

static json_t *info_json(int number, const struct device_info *info)
{
    json_t *row =
        json_pack("{s:i,s:o,s:s,s:o,s:o,s:o,s:o}", "number", number, "name", text_json(info->name), "type",
                  device_type_name(info), "vendor", text_json(info->vendor), "platform", text_json(info->platform_name),
                  "version", text_json(info->version), "driver", text_json(info->driver));
    json_object_update_new(row, json_pack("{s:i,s:I,s:I,s:I,s:b,s:b,s:b}", "compute_units", info->compute_units,
                                          "max_work_group", (json_int_t)info->max_work_group, "memory_bytes",
                                          (json_int_t)info->memory_bytes, "local_bytes", (json_int_t)info->local_bytes,
                                          "images", (int)info->images, "host_unified", (int)info->host_unified,
                                          "gl_event", (int)info->gl_event));
    return row;
}

json_t *inspect_device_list(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why = "";
    const int count = device_list(devices, &why);
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(array, info_json(i, &devices[i]));
    return json_pack("{s:o,s:s}", "devices", array, "why", why);
}

// ---- the sharing modes ----

enum { SIDE = 16, WHY = 256 };

struct sharing_mode {
    const char *name;
    bool works;
    char why[256]; // one line: why it works or fails
};

// Runs one frame through an empty chain. Returns true if the pixels come back unchanged; otherwise `why` has the
// reason.
static bool run_frame(struct path *path, const struct image_shape *shape, char why[256])
{
    struct image frame = {0}, back = {0};
    struct path_result result;
    bool same = false;
    if (image_alloc(&frame, shape) && image_alloc(&back, shape)) {
        const size_t bytes = image_bytes(shape);
        for (size_t i = 0; i < bytes; i++)
            frame.plane[0][i] = (uint8_t)(i * 37 + i / 64);
        same = path_submit(path, &frame, NULL) && path_collect(path, &result) && path_read(path, &result, &back) &&
               memcmp(frame.plane[0], back.plane[0], bytes) == 0;
    }
    if (!same)
        snprintf(why, 256, "%s",
                 path_info(path)->lost ? "the device was lost during a test frame" : "the test frame has wrong pixels");
    image_free(&frame);
    image_free(&back);
    return same;
}

// Opens a path on the device and runs a frame. Returns true if the path uses the sharing mode `name` and the frame is
// correct.
static bool try_mode(struct device *device, enum path_kind kind, struct gl_context *gl, const char *name, char why[256])
{
    const struct chain chain = {.count = 0};
    const struct path_setup setup = {
        .kind = kind,
        .device = device,
        .input = {.format = PIXFMT_RGBA, .width = SIDE, .height = SIDE},
        .chain = &chain,
        .gl = gl,
        .textures = gl != NULL,
    };
    char *error = NULL;
    struct path *path = path_open(&setup, &error);
    bool works = false;
    if (!path)
        snprintf(why, 256, "%.*s", (int)strcspn(text_or(error, "?"), "\n"), text_or(error, "?"));
    else if (strcmp(path_info(path)->sharing, name) == 0)
        works = run_frame(path, &setup.input, why);
    else
        snprintf(why, 256, "%s", path_info(path)->why);
    path_close(path);
    free(error);
    return works;
}

// Tests gl-shared with a window. If the mode failed with another window API before, appends the second reason.
static void probe_shared(const struct device_info *info, struct window *window, struct sharing_mode *mode)
{
    const struct gl_handles gl = window_gl_handles(window);
    struct device *device = device_open(info, &gl, NULL);
    char why[256] = "";
    if (device && device->shares_gl)
        mode->works = try_mode(device, PATH_ZEROCOPY, window_gl(window), mode->name, why);
    else
        snprintf(why, sizeof(why), "%s", device ? device->sharing_why : "cannot open the device");
    if (mode->works)
        snprintf(mode->why, sizeof(mode->why), "shares textures with %s", window_gl_name(window));
    else
        snprintf(mode->why + strlen(mode->why), sizeof(mode->why) - strlen(mode->why), "%sover %s: %.100s",
                 text_if(mode->why[0], "; "), gl.glx_context ? "GLX" : "EGL", why);
    device_close(device);
}

// The last error that a function logged, which nobody sees in a child.
struct last_error {
    char text[WHY];
};

static void keep_error(void *context, const char *message)
{
    snprintf(((struct last_error *)context)->text, WHY, "%s", message);
}

// Writes the modes tested so far. The parent knows the others as not tested.
static void write_mode(const struct sharing_mode *mode)
{
    inspect_write(json_pack("{s:{s:b,s:o}}", mode->name, "works", (int)mode->works, "why", text_json(mode->why)));
}

static void inspect_alone(struct device *device, const char *error)
{
    struct sharing_mode mapped = {.name = "mapped"}, opencl = {.name = "opencl"};
    if (!device) {
        snprintf(mapped.why, WHY, "%s", error[0] ? error : "cannot open the device");
        snprintf(opencl.why, WHY, "%s", mapped.why);
    } else if (!device->info.host_unified)
        snprintf(mapped.why, WHY, "the device does not share the host's memory");
    else if ((mapped.works = try_mode(device, PATH_ZEROCOPY, NULL, mapped.name, mapped.why)))
        snprintf(mapped.why, WHY, "the device shares the host's memory");
    write_mode(&mapped);
    if (device && (opencl.works = try_mode(device, PATH_OPENCL, NULL, opencl.name, opencl.why)))
        snprintf(opencl.why, WHY, "the kernels compile and run");
    write_mode(&opencl);
}

// Tests gl-shared with a hidden window, over GLX and then over EGL.
static void inspect_shared(const struct device_info *info)
{
    struct sharing_mode shared = {.name = "gl-shared"};
    for (int egl = 0; egl < 2 && !shared.works; egl++) {
        const struct window_setup setup = {.width = SIDE, .height = SIDE, .egl = egl == 1, .hidden = true};
        char why[256] = "";
        struct window *window = window_open(&setup, why);
        if (window)
            probe_shared(info, window, &shared);
        else if (egl == 0)
            snprintf(shared.why, WHY, "not tested: cannot open a window: %.200s", why);
        window_close(window);
    }
    write_mode(&shared);
}

void inspect_device(int number)
{
    struct device_info devices[DEVICE_MAX];
    struct last_error error = {.text = ""};
    const char *why;
    const int count = device_list(devices, &why);
    if (number < 0 || number >= count)
        return;
    inspect_write(device_facts(&devices[number]));
    log_set_error_hook(keep_error, &error);
    struct device *device = device_open(&devices[number], NULL, NULL);
    inspect_write(json_pack("{s:b}", "opens", device != NULL));
    if (device)
        inspect_write(json_pack("{s:o}", "image_formats", device_image_formats(device)));
    inspect_alone(device, error.text);
    device_close(device);
    if (device)
        inspect_shared(&devices[number]);
    log_set_error_hook(NULL, NULL);
}
