// pinned.h: host memory that a device copies from by itself: lent to whoever fills pictures, or filled by other drivers
#pragma once

#include "base/pages.h"
#include "compute/dmabuf.h"

// What is taken of it is mapped for good and is memory like any other to the host; its contents can go to the device
// without the host copying them first. All must have been given back before it is closed. Where the device has no more
// it says so once (log_info) and is asked no more. Unless it `lends` what is taken is the system's. It adopts where
// there are calls for that (borrowed). NULL on failure (logged).
struct pages_owner *pinned_open(cl_context context, cl_device_id device, bool lends, const struct dmabuf_calls *calls);
void pinned_close(struct pages_owner *pinned); // takes NULL
// Whether these bytes are memory that it lends. On any thread; NULL has none.
bool pinned_holds(struct pages_owner *pinned, const void *at, size_t bytes);
// The buffer of adopted memory that begins at `at` and has so many bytes, retained. NULL where there is none. Likewise.
cl_mem pinned_adopted(struct pages_owner *pinned, const void *at, size_t bytes);
