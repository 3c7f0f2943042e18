// test_batch_choose.c: the estimates from which a batch chooses its path
//
// The costs are those of 3840x2160 JPEG files on a host with 32 processors and an H200, where 480 and 2400 files took
// 1.2 and 6.3 s by cpu, 2.6 and 6.5 s by opencl with 32 jobs, and 18.6 and 13.4 s with 8 jobs and 2400 files.
#include "batch/worker.h"

#include "unit.h"

static const struct cost cpu = {.codec_ms = 58, .filter_ms = 25};
static const struct cost opencl = {.codec_ms = 58, .filter_ms = 3, .device_ms = 0.4, .open_ms = 50};

static void faster(size_t files, int jobs, bool device)
{
    const double cpu_ms = cost_batch_ms(&cpu, files, jobs, 0), opencl_ms = cost_batch_ms(&opencl, files, jobs, 1);
    if (!CHECK((opencl_ms < cpu_ms) == device))
        printf("%zu files, %d jobs: %.0f ms by cpu, %.0f by opencl\n", files, jobs, cpu_ms, opencl_ms);
}

int main(void)
{
    faster(480, 32, false); // opening paths takes longer than it saves
    faster(10000, 32, true);
    faster(2400, 8, true); // few processors for the codecs
    faster(1, 8, false);

    // A device that is slower than the processors is the limit, and a second one halves it.
    const struct cost slow = {.codec_ms = 8, .filter_ms = 0, .device_ms = 10};
    CHECK(cost_batch_ms(&slow, 100, 8, 1) == 1000);
    CHECK(cost_batch_ms(&slow, 100, 8, 2) == 500);
    CHECK(cost_batch_ms(&slow, 100, 1, 2) == 800);
    return check_end(&unit);
}
