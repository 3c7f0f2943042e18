// peers_histogram.cpp: a histogram with eight interleaved counters for peers.cpp
#include "peers.h"

#include <cstdlib>
#include <cstring>

namespace
{

const int copies = 8, channels = 3, levels = 256;
using counters = uint32_t[channels][levels];

// Neighbouring pixels use different counters, because they are often equal and would wait for each other.
void count(const uint8_t *rgba, size_t pixels, uint32_t *to)
{
    static counters copy[copies];
    memset(copy, 0, sizeof(copy));
    size_t i = 0;
    for (; i + copies <= pixels; i += copies) {
        for (int k = 0; k < copies; k++) {
            const uint8_t *pixel = rgba + 4 * (i + size_t(k));
            for (int channel = 0; channel < channels; channel++)
                copy[k][channel][pixel[channel]]++;
        }
    }
    for (; i < pixels; i++) {
        for (int channel = 0; channel < channels; channel++)
            copy[0][channel][rgba[4 * i + size_t(channel)]]++;
    }
    for (int at = 0; at < channels * levels; at++) {
        to[at] = 0;
        for (int k = 0; k < copies; k++)
            to[at] += copy[k][at / levels][at % levels];
    }
}

std::shared_ptr<std::vector<std::vector<uint8_t>>> make_pictures(const bench &b)
{
    const size_t bytes = picture_bytes("rgba", b.picture);
    const auto made = std::make_shared<std::vector<std::vector<uint8_t>>>();
    for (int i = 0; i < count_pictures(b, bytes); i++) {
        made->emplace_back(bytes);
        fill_random(made->back().data(), bytes);
    }
    return made;
}

} // namespace

void add_counters(bench &b)
{
    if (!is_asked_for(b, "histogram", "rgba"))
        return;
    const auto pictures = make_pictures(b);
    const size_t pixels = size_t(b.picture.width) * b.picture.height;
    const auto to = std::make_shared<std::vector<uint32_t>>(channels * levels);
    b.works.push_back(
        {"histogram", "rgba", [=](int p, int) { count(in_turn(*pictures, p).data(), pixels, to->data()); }});
}
