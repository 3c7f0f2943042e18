// peers.cpp: the same work done by other libraries: libyuv, OpenCV on the CPU, OpenCV on OpenCL (its T-API)
//
//   peers libyuv|opencv|tapi [--sizes WxH,...] [--threads N] [--rounds N] [--pictures N]
//
// Prints rows like those of `monocle bench filters --json`, with the peer's name as the path. Measures as monocle does:
// as many random pictures, two outputs, 10 ms at a time, every case once per round beginning one further each round,
// medians. OpenCV's device is chosen by OPENCV_OPENCL_DEVICE, as ever.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#ifdef HAVE_LIBYUV
#include <libyuv.h>
#endif
#ifdef HAVE_OPENCV
#include <opencv2/core/ocl.hpp>
#include <opencv2/imgproc.hpp>
#endif

namespace
{

const size_t working_set_bytes = size_t(160) << 20, small_pixels = size_t(4) << 20; // as in src/command/bench_memory.c
const double measurement_ms = 10;
const int outputs = 2, runs_max = 64;

struct size {
    int width, height;
};

// A case of monocle's that this peer can do. Run `run` works on picture `picture` into output `output`.
struct work {
    const char *name, *format;
    std::function<void(int picture, int output)> run;
    std::vector<double> ms = {};
    int runs = 1, next = 0;
};

// A peer at one size: its pictures and what it can do with them.
struct bench {
    size picture;
    int pictures = 0; // that take turns; 0: by size
    std::string device = "cpu";
    std::vector<work> works = {};
    std::function<void()> finish = [] {};         // waits for what was queued
    std::vector<std::shared_ptr<void>> kept = {}; // memory
};

int count_pictures(const bench &b, size_t bytes)
{
    const size_t pixels = size_t(b.picture.width) * b.picture.height;
    if (b.pictures > 0 || pixels <= small_pixels)
        return std::max(b.pictures, 1);
    const size_t output = 4 * pixels * outputs;
    return std::max(int(output < working_set_bytes ? (working_set_bytes - output) / bytes : 0), 2);
}

void fill_random(uint8_t *to, size_t bytes)
{
    static uint64_t state = 1;
    for (size_t i = 0; i < bytes; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
        to[i] = uint8_t(state >> 56);
    }
}

// Bytes per pixel, doubled, since NV21 has one and a half.
size_t picture_bytes(const char *format, const size &s)
{
    const size_t doubled = strcmp(format, "nv21") == 0 ? 3 : strcmp(format, "yuyv") == 0 ? 4 : 8;
    return size_t(s.width) * s.height * doubled / 2;
}

[[maybe_unused]] std::vector<uint8_t *> make_buffers(bench &b, int count, size_t bytes)
{
    std::vector<uint8_t *> buffers;
    for (int i = 0; i < count; i++) {
        auto *memory = static_cast<uint8_t *>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
        fill_random(memory, bytes); // also touches every page
        b.kept.emplace_back(memory, std::free);
        buffers.push_back(memory);
    }
    return buffers;
}

// ---- libyuv: one thread, bytes in its own order where it has no other ----

#ifdef HAVE_LIBYUV
void add_libyuv(bench &b)
{
    const int w = b.picture.width, h = b.picture.height;
    auto pictures = [&](const char *format) {
        const size_t bytes = picture_bytes(format, b.picture);
        return make_buffers(b, count_pictures(b, bytes), bytes);
    };
    const auto nv21 = pictures("nv21"), yuyv = pictures("yuyv"), rgba = pictures("rgba");
    const auto out = make_buffers(b, outputs, size_t(4) * w * h);
    const auto sums = make_buffers(b, 1, size_t(16) * w * (h + 1));
    auto at = [](const std::vector<uint8_t *> &list, int i) { return list[size_t(i) % list.size()]; };
    b.works.push_back({"none", "nv21", [=](int p, int o) {
                           const uint8_t *y = at(nv21, p), *vu = y + size_t(w) * h;
                           libyuv::NV21ToABGR(y, w, vu, w, at(out, o), 4 * w, w, h); // ABGR: R G B A in memory
                       }});
    b.works.push_back(
        {"none", "yuyv", [=](int p, int o) { libyuv::YUY2ToARGB(at(yuyv, p), 2 * w, at(out, o), 4 * w, w, h); }});
    b.works.push_back(
        {"gray", "rgba", [=](int p, int o) { libyuv::ARGBGrayTo(at(rgba, p), 4 * w, at(out, o), 4 * w, w, h); }});
    b.works.push_back({"blur=2", "rgba", [=](int p, int o) {
                           libyuv::ARGBBlur(at(rgba, p), 4 * w, at(out, o), 4 * w,
                                            reinterpret_cast<int32_t *>(at(sums, 0)), 4 * w, w, h, 2);
                       }});
}
#endif

// ---- OpenCV: the same calls on the CPU (cv::Mat) and on OpenCL (cv::UMat) ----

#ifdef HAVE_OPENCV
template <class mat> std::vector<mat> make_mats(int count, int rows, int columns, int type)
{
    std::vector<mat> mats;
    for (int i = 0; i < count; i++) {
        cv::Mat random(rows, columns, type);
        fill_random(random.data, random.total() * random.elemSize());
        mat made(rows, columns, type);
        random.copyTo(made);
        mats.push_back(made);
    }
    return mats;
}

template <class mat> struct scratch {
    mat rgba[2], grey, channel[4], most, mask;
};

// Channels below the pixel's largest become 0.
template <class mat> void max_rgb(const mat &from, mat &to, scratch<mat> &s)
{
    std::vector<mat> channels(s.channel, s.channel + 4);
    cv::split(from, channels);
    cv::max(channels[0], channels[1], s.most);
    cv::max(s.most, channels[2], s.most);
    for (int i = 0; i < 3; i++) {
        cv::compare(channels[i], s.most, s.mask, cv::CMP_EQ);
        cv::bitwise_and(channels[i], s.mask, channels[i]);
    }
    cv::merge(channels, to);
}

template <class mat> void gray(const mat &from, mat &to, scratch<mat> &s)
{
    cv::cvtColor(from, s.grey, cv::COLOR_RGBA2GRAY);
    cv::cvtColor(s.grey, to, cv::COLOR_GRAY2RGBA);
}

template <class mat> void blur(const mat &from, mat &to)
{
    cv::blur(from, to, cv::Size(5, 5), cv::Point(-1, -1), cv::BORDER_REPLICATE);
}

// The numbers of src/command/bench_filters_rows.c.
template <class mat> void convolve(const mat &from, mat &to)
{
    static float numbers[25] = {0.11f, -0.07f, 0.23f, 0.05f, -0.13f, 0.31f, 0.17f, -0.29f, 0.41f,
                                0.02f, -0.19f, 0.37f, 0.83f, -0.43f, 0.07f, 0.29f, -0.11f, 0.53f,
                                0.13f, -0.31f, 0.19f, 0.03f, -0.23f, 0.09f, -0.59f};
    cv::filter2D(from, to, -1, cv::Mat(5, 5, CV_32F, numbers), cv::Point(-1, -1), 0, cv::BORDER_REPLICATE);
}

template <class mat> void emboss(const mat &from, mat &to)
{
    static float numbers[9] = {-1, -1, 0, -1, 0, 1, 0, 1, 1};
    cv::filter2D(from, to, -1, cv::Mat(3, 3, CV_32F, numbers), cv::Point(-1, -1), 128, cv::BORDER_REPLICATE);
}

template <class mat> void add_opencv(bench &b)
{
    const int w = b.picture.width, h = b.picture.height;
    auto count = [&](const char *format) { return count_pictures(b, picture_bytes(format, b.picture)); };
    const auto nv21 = make_mats<mat>(count("nv21"), h * 3 / 2, w, CV_8UC1);
    const auto yuyv = make_mats<mat>(count("yuyv"), h, w, CV_8UC2);
    const auto rgba = make_mats<mat>(count("rgba"), h, w, CV_8UC4);
    auto out = std::make_shared<std::vector<mat>>(make_mats<mat>(outputs, h, w, CV_8UC4));
    auto s = std::make_shared<scratch<mat>>();
    auto at = [](const std::vector<mat> &list, int i) -> const mat & { return list[size_t(i) % list.size()]; };
    auto add = [&](const char *name, const char *format, const std::vector<mat> &from,
                   std::function<void(const mat &from, mat &to)> filter) {
        b.works.push_back({name, format, [=](int p, int o) { filter(at(from, p), (*out)[size_t(o)]); }});
    };
    add("none", "nv21", nv21, [](const mat &from, mat &to) { cv::cvtColor(from, to, cv::COLOR_YUV2RGBA_NV21); });
    add("none", "yuyv", yuyv, [](const mat &from, mat &to) { cv::cvtColor(from, to, cv::COLOR_YUV2RGBA_YUYV); });
    add("gray", "rgba", rgba, [s](const mat &from, mat &to) { gray(from, to, *s); });
    add("maxrgb", "rgba", rgba, [s](const mat &from, mat &to) { max_rgb(from, to, *s); });
    add("blur=2", "rgba", rgba, blur<mat>);
    add("convolve", "rgba", rgba, convolve<mat>);
    add("emboss", "rgba", rgba, emboss<mat>);
    add("blur=2,gray,emboss", "nv21", nv21, [s](const mat &from, mat &to) {
        cv::cvtColor(from, s->rgba[0], cv::COLOR_YUV2RGBA_NV21);
        blur(s->rgba[0], s->rgba[1]);
        gray(s->rgba[1], s->rgba[0], *s);
        emboss(s->rgba[0], to);
    });
}

bool add_tapi(bench &b)
{
    cv::ocl::setUseOpenCL(true);
    if (!cv::ocl::useOpenCL())
        return false;
    b.device = cv::ocl::Device::getDefault().name();
    b.finish = [] { cv::ocl::finish(); };
    add_opencv<cv::UMat>(b);
    return true;
}
#endif

// ---- measuring ----

double now_ms()
{
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

double run(bench &b, work &w, int runs)
{
    const double start = now_ms();
    for (int i = 0; i < runs; i++, w.next++)
        w.run(w.next, w.next % outputs);
    b.finish();
    return (now_ms() - start) / runs;
}

void measure(bench &b, int rounds)
{
    for (auto &w : b.works) {
        run(b, w, 4);
        w.runs = int(std::clamp(std::ceil(measurement_ms / run(b, w, 1)), 1.0, double(runs_max)));
    }
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < b.works.size(); i++) {
            auto &w = b.works[(i + size_t(round)) % b.works.size()];
            run(b, w, 1);
            w.ms.push_back(run(b, w, w.runs));
        }
    }
}

double percentile(std::vector<double> values, double percent)
{
    std::sort(values.begin(), values.end());
    const auto rank = size_t(std::ceil(percent / 100 * double(values.size())));
    return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
}

void print(const bench &b, const char *peer, int threads)
{
    for (const auto &w : b.works) {
        const double ms = percentile(w.ms, 50), pixels = double(b.picture.width) * b.picture.height;
        printf("{\"case\":\"%s\",\"format\":\"%s\",\"width\":%d,\"height\":%d,\"path\":\"%s\",\"threads\":%d,"
               "\"device\":\"%s\",\"ms_median\":%.6g,\"ms_p95\":%.6g,\"mpix_s\":%.6g}\n",
               w.name, w.format, b.picture.width, b.picture.height, peer, threads, b.device.c_str(), ms,
               percentile(w.ms, 95), pixels / ms / 1e3);
    }
    fflush(stdout);
}

int usage()
{
    fprintf(stderr, "usage: peers libyuv|opencv|tapi [--sizes WxH,...] [--threads N] [--rounds N] [--pictures N]\n");
    return 2;
}

int skip(const char *why)
{
    fprintf(stderr, "peers: skipped: %s\n", why);
    return 77;
}

// Sets the peer up at one size. Returns 0, or the exit code where it cannot be.
int prepare(bench &b, const std::string &peer, int threads)
{
    (void)b, (void)threads;
#ifdef HAVE_LIBYUV
    if (peer == "libyuv") {
        if (threads != 1)
            return skip("libyuv has one thread");
        add_libyuv(b);
        return 0;
    }
#endif
#ifdef HAVE_OPENCV
    cv::setNumThreads(threads);
    if (peer == "opencv") {
        cv::ocl::setUseOpenCL(false);
        add_opencv<cv::Mat>(b);
        return 0;
    }
    if (peer == "tapi")
        return add_tapi(b) ? 0 : skip("OpenCV finds no OpenCL device");
#endif
    return skip(("built without what " + peer + " needs").c_str());
}

} // namespace

int main(int argc, char **argv)
{
    std::string sizes = "1920x1080,3840x2160";
    int threads = 1, rounds = 10, pictures = 0;
    const struct {
        const char *name;
        int *value;
    } numbers[] = {{"--threads", &threads}, {"--rounds", &rounds}, {"--pictures", &pictures}};
    if (argc < 2 || argc % 2 || argv[1][0] == '-')
        return usage();
    for (int i = 2; i < argc; i += 2) {
        bool known = strcmp(argv[i], "--sizes") == 0;
        if (known)
            sizes = argv[i + 1];
        for (const auto &number : numbers) {
            if (strcmp(argv[i], number.name) == 0) {
                *number.value = std::atoi(argv[i + 1]);
                known = *number.value > 0;
            }
        }
        if (!known)
            return usage();
    }
    for (const char *at = sizes.c_str(); at;) {
        bench b;
        b.pictures = pictures;
        if (sscanf(at, "%dx%d", &b.picture.width, &b.picture.height) != 2)
            return usage();
        const int code = prepare(b, argv[1], threads);
        if (code)
            return code;
        measure(b, rounds);
        print(b, argv[1], threads);
        at = strchr(at, ',');
        at = at ? at + 1 : nullptr;
    }
    return 0;
}
