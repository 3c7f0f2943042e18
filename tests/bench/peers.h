// peers.h: images, cases and measurement for all peers of peers.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

const int outputs = 2;

struct size {
    int width, height;
};

// A case that this peer can run. `run` filters picture `picture` into output `output`.
struct work {
    const char *name, *format;
    std::function<void(int picture, int output)> run;
    std::vector<double> ms = {};
    int runs = 1, next = 0;
};

// A peer at one size: its pictures, and the cases that it can run.
struct bench {
    size picture;
    std::string cases = ""; // requested: "CASE@FORMAT;CASE@FORMAT"; empty: all
    int pictures = 0;       // number of pictures, used in turn; 0: by size
    std::string device = "cpu";
    std::vector<work> works = {};
    std::function<void()> finish = [] {};         // waits for queued work
    std::vector<std::shared_ptr<void>> kept = {}; // memory
};

bool is_asked_for(const bench &b, const char *name, const char *format);
size_t picture_bytes(const char *format, const size &s);
int count_pictures(const bench &b, size_t bytes);
void fill_random(uint8_t *to, size_t bytes);

// Returns item `i` of a list, modulo its size.
template <class item> const item &in_turn(const std::vector<item> &list, int i)
{
    return list[size_t(i) % list.size()];
}

// Each adds its cases. add_tapi() returns false if OpenCV finds no OpenCL device.
void add_libyuv(bench &b);
void add_opencv(bench &b, int threads);
bool add_tapi(bench &b, int threads);
void add_counters(bench &b);
