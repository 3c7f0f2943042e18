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

// A case of monocle's that this peer can do. `run` works on picture `picture` into output `output`.
struct work {
    const char *name, *format;
    std::function<void(int picture, int output)> run;
    std::vector<double> ms = {};
    int runs = 1, next = 0;
};

// A peer at one size: its pictures and what it can do with them.
struct bench {
    size picture;
    std::string cases = ""; // asked for: "CASE@FORMAT;CASE@FORMAT"; empty: all
    int pictures = 0;       // that take turns; 0: by size
    std::string device = "cpu";
    std::vector<work> works = {};
    std::function<void()> finish = [] {};         // waits for what was queued
    std::vector<std::shared_ptr<void>> kept = {}; // memory
};

bool is_asked_for(const bench &b, const char *name, const char *format);
size_t picture_bytes(const char *format, const size &s);
int count_pictures(const bench &b, size_t bytes);
void fill_random(uint8_t *to, size_t bytes);

// Of a list whose members take turns.
template <class item> const item &in_turn(const std::vector<item> &list, int i)
{
    return list[size_t(i) % list.size()];
}

// Each adds what it can do. add_tapi() returns false where OpenCV finds no OpenCL device.
void add_libyuv(bench &b);
void add_opencv(bench &b, int threads);
bool add_tapi(bench &b, int threads);
