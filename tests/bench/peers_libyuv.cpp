// peers_libyuv.cpp: libyuv's cases for peers.cpp: one thread; libyuv's own byte order if it lacks RGBA
#include "peers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <libyuv.h>

namespace
{

using byte = uint8_t;
using call = void (*)(const byte *from, byte *to, byte *scratch, int w, int h);

std::vector<byte *> make_buffers(bench &b, int count, size_t bytes)
{
    std::vector<byte *> buffers;
    for (int i = 0; i < count; i++) {
        auto *memory = static_cast<byte *>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
        fill_random(memory, bytes); // also touches every page
        b.kept.emplace_back(memory, std::free);
        buffers.push_back(memory);
    }
    return buffers;
}

template <auto convert, int bytes> void packed(const byte *from, byte *to, byte *, int w, int h)
{
    convert(from, bytes * w, to, 4 * w, w, h);
}

template <auto convert> void semiplanar(const byte *from, byte *to, byte *, int w, int h)
{
    convert(from, w, from + size_t(w) * h, w, to, 4 * w, w, h);
}

template <auto convert, int across, int down, bool v_first = false>
void planar(const byte *from, byte *to, byte *, int w, int h)
{
    const byte *first = from + size_t(w) * h, *second = first + size_t(w / across) * (h / down);
    convert(from, w, v_first ? second : first, w / across, v_first ? first : second, w / across, to, 4 * w, w, h);
}

void flip(const byte *from, byte *to, byte *, int w, int h)
{
    libyuv::ARGBCopy(from, 4 * w, to, 4 * w, w, -h);
}

void blur(const byte *from, byte *to, byte *scratch, int w, int h)
{
    libyuv::ARGBBlur(from, 4 * w, to, 4 * w, reinterpret_cast<int32_t *>(scratch), 4 * w, w, h, 2);
}

void threshold(const byte *from, byte *to, byte *, int w, int h)
{
    libyuv::ARGBGrayTo(from, 4 * w, to, 4 * w, w, h);
    libyuv::ARGBQuantize(to, 4 * w, 65536 / 128, 255, 0, 0, 0, w, h);
}

void gamma(const byte *from, byte *to, byte *, int w, int h)
{
    static const auto table = [] {
        std::vector<byte> made(1024);
        for (int i = 0; i < 1024; i++)
            made[size_t(i)] = byte(i % 4 == 3 ? i / 4 : std::lround(255 * std::pow(i / 4 / 255.0, 1 / 2.2)));
        return made;
    }();
    libyuv::ARGBCopy(from, 4 * w, to, 4 * w, w, h);
    libyuv::ARGBColorTable(to, 4 * w, table.data(), 0, 0, w, h);
}

// Coefficients of 1, x, x squared and cubed, of each channel.
void contrast(const byte *from, byte *to, byte *, int w, int h)
{
    static const float numbers[16] = {-63.75f, -63.75f, -63.75f, 0, 1.5f, 1.5f, 1.5f, 1};
    libyuv::ARGBPolynomial(from, 4 * w, to, 4 * w, numbers, w, h);
}

// Weights in 6 bits of fraction.
void sepia(const byte *from, byte *to, byte *, int w, int h)
{
    static const int8_t weights[16] = {25, 49, 12, 0, 22, 44, 11, 0, 17, 34, 8, 0, 0, 0, 0, 64};
    libyuv::ARGBColorMatrix(from, 4 * w, to, 4 * w, weights, w, h);
}

const struct {
    const char *name, *format;
    call run;
} calls[] = {
    {"none", "rgba", packed<libyuv::ARGBCopy, 4>},
    {"none", "rgb24", packed<libyuv::RGB24ToARGB, 3>}, // libyuv: RGB24 is B G R in memory, RAW is R G B
    {"none", "bgr24", packed<libyuv::RAWToARGB, 3>},
    {"none", "grey", packed<libyuv::I400ToARGB, 1>},
    {"none", "nv12", semiplanar<libyuv::NV12ToABGR>}, // ABGR: R G B A in memory
    {"none", "nv21", semiplanar<libyuv::NV21ToABGR>},
    {"none", "yu12", planar<libyuv::I420ToABGR, 2, 2>},
    {"none", "yv12", planar<libyuv::I420ToABGR, 2, 2, true>},
    {"none", "yuyv", packed<libyuv::YUY2ToARGB, 2>},
    {"none", "uyvy", packed<libyuv::UYVYToARGB, 2>},
    {"none", "422p", planar<libyuv::I422ToABGR, 2, 1>},
    {"none", "444p", planar<libyuv::I444ToABGR, 1, 1>},
    {"gray", "rgba", packed<libyuv::ARGBGrayTo, 4>},
    {"blur=2", "rgba", blur},
    {"gray,sobel", "rgba", packed<libyuv::ARGBSobel, 4>}, // of luma alone
    {"threshold", "rgba", threshold},
    {"gamma", "rgba", gamma},
    {"contrast", "rgba", contrast},
    {"sepia", "rgba", sepia},
    {"mirror", "rgba", packed<libyuv::ARGBMirror, 4>},
    {"flip", "rgba", flip},
};

} // namespace

void add_libyuv(bench &b)
{
    const int w = b.picture.width, h = b.picture.height;
    const auto out = make_buffers(b, outputs, size_t(4) * w * h);
    const auto sums = make_buffers(b, 1, size_t(16) * w * (h + 1));
    std::map<std::string, std::vector<byte *>> pictures;
    for (const auto &c : calls) {
        if (!is_asked_for(b, c.name, c.format))
            continue;
        auto &from = pictures[c.format];
        const size_t bytes = picture_bytes(c.format, b.picture);
        if (from.empty())
            from = make_buffers(b, count_pictures(b, bytes), bytes);
        b.works.push_back({c.name, c.format,
                           [=, run = c.run](int p, int o) { run(in_turn(from, p), in_turn(out, o), sums[0], w, h); }});
    }
}
