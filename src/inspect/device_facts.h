// device_facts.h: the properties of an OpenCL device as JSON, for scripts and for `monocle devices --all`
#pragma once

struct device;
struct device_info;
struct json_t;

// Returns the properties that need no context; `monocle devices --help` lists the members. A property that the driver
// does not have is null. NULL if out of memory.
struct json_t *device_facts(const struct device_info *info);
// Returns {"read": ["RGBA/UNORM_INT8", ...], "write": [...]}: the formats of 2D images. NULL if out of memory.
struct json_t *device_image_formats(const struct device *device);
