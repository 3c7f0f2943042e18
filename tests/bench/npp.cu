// npp.cu: measures the same cases with NVIDIA's NPP, on a GPU host:
//   nvcc -O2 -o npp tests/bench/npp*.cu -lnppial -lnppicc -lnppidei -lnppif -lnppig -lnppim -lnppist -lnppc
//   tests/bench/compare-peers gpu [--all] --npp ./npp
//
//   npp [--sizes WxH,...] [--rounds N] [--all]
//
// Prints a row of JSON for each case, with "npp" as the path. CUDA events around runs that are
// queued back to back give the times. Several pictures are used in turn, as in src/bench/pool.c. NPP has no
// equivalent of maxrgb. Its emboss is less work than monocle's: NPP's filters have no bias, so 128 is not added.
#include "npp.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

void check(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "npp: %s failed: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    exit(1);
}

// Small differences on purpose: a GPU is faster on zeros than on random data.
Npp8u *make_buffer(size_t bytes)
{
    std::vector<Npp8u> random(bytes);
    static unsigned long long state = 1;
    for (auto &byte : random) {
        state = state * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
        byte = Npp8u(state >> 56);
    }
    return make_copy(random.data(), bytes);
}

Npp8u *make_copy(const void *values, size_t bytes)
{
    Npp8u *buffer;
    check(cudaMalloc(&buffer, bytes) == cudaSuccess, "cudaMalloc");
    check(cudaMemcpy(buffer, values, bytes, cudaMemcpyHostToDevice) == cudaSuccess, "cudaMemcpy");
    return buffer;
}

namespace
{

const size_t working_set_bytes = size_t(160) << 20, small_pixels = size_t(4) << 20;
const double measurement_ms = 10;
const int outputs = 2, runs_max = 64;

Npp32f *make_kernel(const std::vector<float> &numbers)
{
    return reinterpret_cast<Npp32f *>(make_copy(numbers.data(), numbers.size() * sizeof(float)));
}

std::vector<Npp8u *> make_pictures(const bench &b, size_t bytes)
{
    const size_t pixels = size_t(b.width) * b.height, output = 4 * pixels * outputs;
    size_t count = 1;
    if (pixels > small_pixels)
        count = std::max<size_t>(output < working_set_bytes ? (working_set_bytes - output) / bytes : 0, 2);
    std::vector<Npp8u *> pictures;
    for (size_t i = 0; i < count; i++)
        pictures.push_back(make_buffer(bytes));
    return pictures;
}

NppStreamContext make_context()
{
    NppStreamContext c = {};
    cudaDeviceProp properties;
    check(cudaGetDevice(&c.nCudaDeviceId) == cudaSuccess, "cudaGetDevice");
    check(cudaGetDeviceProperties(&properties, c.nCudaDeviceId) == cudaSuccess, "cudaGetDeviceProperties");
    c.nMultiProcessorCount = properties.multiProcessorCount;
    c.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    c.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    c.nSharedMemPerBlock = properties.sharedMemPerBlock;
    c.nCudaDevAttrComputeCapabilityMajor = properties.major;
    c.nCudaDevAttrComputeCapabilityMinor = properties.minor;
    return c;
}

NppStatus convert(const bench &b, const Npp8u *from, Npp8u *to)
{
    const Npp8u *planes[2] = {from, from + size_t(b.width) * b.height};
    return nppiNV21ToRGB_8u_P2C4R_Ctx(planes, b.width, to, 4 * b.width, {b.width, b.height}, b.context);
}

NppStatus gray(const bench &b, const Npp8u *from, Npp8u *to)
{
    static const Npp32f luma[3][4] = {
        {0.299f, 0.587f, 0.114f, 0}, {0.299f, 0.587f, 0.114f, 0}, {0.299f, 0.587f, 0.114f, 0}};
    return nppiColorTwist32f_8u_AC4R_Ctx(from, 4 * b.width, to, 4 * b.width, {b.width, b.height}, luma, b.context);
}

NppStatus blur(const bench &b, const Npp8u *from, Npp8u *to)
{
    const NppiSize size = {b.width, b.height};
    return nppiFilterBoxBorder_8u_C4R_Ctx(from, 4 * b.width, size, {0, 0}, to, 4 * b.width, size, {5, 5}, {2, 2},
                                          NPP_BORDER_REPLICATE, b.context);
}

NppStatus filter(const bench &b, const Npp8u *from, Npp8u *to, const Npp32f *kernel, int side)
{
    const NppiSize size = {b.width, b.height};
    return nppiFilterBorder32f_8u_C4R_Ctx(from, 4 * b.width, size, {0, 0}, to, 4 * b.width, size, kernel, {side, side},
                                          {side / 2, side / 2}, NPP_BORDER_REPLICATE, b.context);
}

void add_works(bench &b, bool all)
{
    const size_t pixels = size_t(b.width) * b.height;
    const auto nv21 = make_pictures(b, pixels * 3 / 2), rgba = make_pictures(b, pixels * 4);
    for (int i = 0; i < outputs; i++)
        b.out.push_back(make_buffer(pixels * 8)); // some cases enlarge the picture
    for (auto &scratch : b.scratch)
        scratch = make_buffer(pixels * 4);
    // The numbers of src/bench/filters.c. NPP turns a kernel by half a circle; the work is the same.
    b.convolution =
        make_kernel({0.11f,  -0.07f, 0.23f, 0.05f,  -0.13f, 0.31f, 0.17f,  -0.29f, 0.41f, 0.02f,  -0.19f, 0.37f, 0.83f,
                     -0.43f, 0.07f,  0.29f, -0.11f, 0.53f,  0.13f, -0.31f, 0.19f,  0.03f, -0.23f, 0.09f,  -0.59f});
    b.emboss = make_kernel({-1, -1, 0, -1, 0, 1, 0, 1, 1});
    const bench *p = &b;
    b.works.push_back({"none", "nv21", nv21, [p](const Npp8u *from, Npp8u *to) { return convert(*p, from, to); }});
    b.works.push_back({"gray", "rgba", rgba, [p](const Npp8u *from, Npp8u *to) { return gray(*p, from, to); }});
    b.works.push_back({"blur=2", "rgba", rgba, [p](const Npp8u *from, Npp8u *to) { return blur(*p, from, to); }});
    b.works.push_back({"convolve", "rgba", rgba,
                       [p](const Npp8u *from, Npp8u *to) { return filter(*p, from, to, p->convolution, 5); }});
    b.works.push_back(
        {"emboss", "rgba", rgba, [p](const Npp8u *from, Npp8u *to) { return filter(*p, from, to, p->emboss, 3); }});
    b.works.push_back({"blur=2,gray,emboss", "nv21", nv21, [p](const Npp8u *from, Npp8u *to) {
                           const NppStatus status[] = {
                               convert(*p, from, p->scratch[0]),
                               blur(*p, p->scratch[0], p->scratch[1]),
                               gray(*p, p->scratch[1], p->scratch[0]),
                               filter(*p, p->scratch[0], to, p->emboss, 3),
                           };
                           return *std::min_element(std::begin(status), std::end(status)); // errors are negative
                       }});
    if (all)
        add_filters(b, rgba);
}

double run(bench &b, work &w, int runs)
{
    float ms;
    check(cudaEventRecord(b.start) == cudaSuccess, "cudaEventRecord");
    for (int i = 0; i < runs; i++, w.next++)
        check(w.run(w.pictures[size_t(w.next) % w.pictures.size()], b.out[size_t(w.next % outputs)]) >= NPP_SUCCESS,
              w.name);
    check(cudaEventRecord(b.end) == cudaSuccess && cudaEventSynchronize(b.end) == cudaSuccess &&
              cudaEventElapsedTime(&ms, b.start, b.end) == cudaSuccess,
          w.name);
    return double(ms) / runs;
}

double percentile(std::vector<double> values, double percent)
{
    std::sort(values.begin(), values.end());
    const auto rank = size_t(std::ceil(percent / 100 * double(values.size())));
    return values[std::min(std::max<size_t>(rank, 1), values.size()) - 1];
}

// Removes cases that this version of NPP refuses.
void remove_refused(bench &b)
{
    const auto refused = [&b](const work &w) {
        const NppStatus status = w.run(w.pictures[0], b.out[0]);
        const bool ok = cudaDeviceSynchronize() == cudaSuccess && status >= NPP_SUCCESS;
        if (!ok)
            fprintf(stderr, "npp: %s: status %d\n", w.name, int(status));
        return !ok;
    };
    b.works.erase(std::remove_if(b.works.begin(), b.works.end(), refused), b.works.end());
}

void measure(bench &b, int rounds)
{
    remove_refused(b);
    for (auto &w : b.works) {
        run(b, w, 4);
        w.runs = int(std::min(std::max(std::ceil(measurement_ms / run(b, w, 1)), 1.0), double(runs_max)));
    }
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < b.works.size(); i++) {
            auto &w = b.works[(i + size_t(round)) % b.works.size()];
            run(b, w, 1);
            w.ms.push_back(run(b, w, w.runs));
        }
    }
}

void print(const bench &b)
{
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, b.context.nCudaDeviceId) == cudaSuccess, "cudaGetDeviceProperties");
    for (const auto &w : b.works) {
        const double ms = percentile(w.ms, 50), pixels = double(b.width) * b.height;
        printf("{\"case\":\"%s\",\"format\":\"%s\",\"width\":%d,\"height\":%d,\"path\":\"npp\",\"threads\":0,"
               "\"device\":\"%s\",\"ms_median\":%.6g,\"ms_p95\":%.6g,\"mpix_s\":%.6g}\n",
               w.name, w.format, b.width, b.height, properties.name, ms, percentile(w.ms, 95), pixels / ms / 1e3);
    }
}

} // namespace

int main(int argc, char **argv)
{
    std::string sizes = "7680x4320";
    int rounds = 10;
    bool all = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0)
            all = true;
        else if (strcmp(argv[i], "--sizes") == 0 && i + 1 < argc)
            sizes = argv[++i];
        else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            rounds = std::max(1, atoi(argv[++i]));
    }
    for (const char *at = sizes.c_str(); at;) {
        bench b;
        if (sscanf(at, "%dx%d", &b.width, &b.height) != 2)
            return 2;
        b.context = make_context();
        check(cudaEventCreate(&b.start) == cudaSuccess && cudaEventCreate(&b.end) == cudaSuccess, "cudaEventCreate");
        add_works(b, all);
        measure(b, rounds);
        print(b);
        at = strchr(at, ',');
        at = at ? at + 1 : nullptr;
    }
    return 0;
}
