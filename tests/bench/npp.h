// npp.h: a case of npp.cu, and what its functions need
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <npp.h>

struct work {
    const char *name, *format; // name: monocle's chain
    std::vector<Npp8u *> pictures;
    std::function<NppStatus(const Npp8u *from, Npp8u *to)> run;
    std::vector<double> ms = {};
    int runs = 1, next = 0;
};

struct bench {
    int width, height;
    NppStreamContext context = {};
    cudaEvent_t start, end;
    std::vector<Npp8u *> out;
    Npp8u *scratch[2];
    Npp32f *convolution, *emboss; // kernels lie in the device's memory
    std::vector<work> works;
};

// Exits if it failed.
void check(bool ok, const char *what);
// Returns memory of the device with random bytes.
Npp8u *make_buffer(size_t bytes);
// Returns memory of the device with these values.
Npp8u *make_copy(const void *values, size_t bytes);
// Adds the cases of `compare-peers gpu --all` from RGBA pictures.
void add_filters(bench &b, const std::vector<Npp8u *> &rgba);
