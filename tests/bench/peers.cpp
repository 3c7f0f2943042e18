// peers.cpp: measures the same cases with other libraries: libyuv, OpenCV on the CPU, OpenCV on OpenCL (its
// T-API), and a histogram with eight interleaved counters
//
//   peers libyuv|opencv|tapi|counters [--sizes WxH,...] [--threads N] [--rounds N] [--pictures N]
//                                     [--cases CASE@FORMAT;...]
//
// Prints a row of JSON for each case, with the peer's name as the path. Measures as monocle does:
// the same number of random pictures, two outputs, runs of 10 ms, medians. A round runs every case once; the next round
// begins with the next case. OpenCV's variable OPENCV_OPENCL_DEVICE selects its device.
#include "peers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace
{

const size_t working_set_bytes = size_t(160) << 20, small_pixels = size_t(4) << 20; // as in src/bench/pool.c
const double measurement_ms = 10;
const int runs_max = 64;

} // namespace

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

size_t picture_bytes(const char *format, const size &s)
{
    static const std::map<std::string, size_t> halves_of_pixel = {
        {"grey", 2}, {"nv12", 3}, {"nv21", 3},  {"yu12", 3},  {"yv12", 3}, {"yuyv", 4},
        {"uyvy", 4}, {"422p", 4}, {"rgb24", 6}, {"bgr24", 6}, {"444p", 6}, {"rgba", 8},
    };
    return size_t(s.width) * s.height * halves_of_pixel.at(format) / 2;
}

bool is_asked_for(const bench &b, const char *name, const char *format)
{
    const std::string all = ";" + b.cases + ";";
    return b.cases.empty() || all.find(std::string(";") + name + "@" + format + ";") != std::string::npos;
}

namespace
{

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
    fprintf(stderr, "usage: peers libyuv|opencv|tapi|counters [--sizes WxH,...] [--threads N] [--rounds N]\n"
                    "                                         [--pictures N] [--cases CASE@FORMAT;...]\n");
    return 2;
}

int skip(const char *why)
{
    fprintf(stderr, "peers: skipped: %s\n", why);
    return 77;
}

// Sets the peer up at one size. Returns 0, or the exit code if that fails.
int prepare(bench &b, const std::string &peer, int threads)
{
    (void)b, (void)threads;
    if (peer == "counters") {
        if (threads != 1)
            return skip("this histogram has one thread");
        add_counters(b);
        return 0;
    }
#ifdef HAVE_LIBYUV
    if (peer == "libyuv") {
        if (threads != 1)
            return skip("libyuv has one thread");
        add_libyuv(b);
        return 0;
    }
#endif
#ifdef HAVE_OPENCV
    if (peer == "opencv") {
        add_opencv(b, threads);
        return 0;
    }
    if (peer == "tapi")
        return add_tapi(b, threads) ? 0 : skip("OpenCV finds no OpenCL device");
#endif
    return skip(("built without what " + peer + " needs").c_str());
}

} // namespace

int main(int argc, char **argv)
{
    std::string sizes = "1920x1080,3840x2160", cases;
    int threads = 1, rounds = 10, pictures = 0;
    const struct {
        const char *name;
        int *value;
    } numbers[] = {{"--threads", &threads}, {"--rounds", &rounds}, {"--pictures", &pictures}};
    if (argc < 2 || argc % 2 || argv[1][0] == '-')
        return usage();
    for (int i = 2; i < argc; i += 2) {
        const std::string option = argv[i];
        bool known = option == "--sizes" || option == "--cases";
        if (known)
            (option == "--sizes" ? sizes : cases) = argv[i + 1];
        for (const auto &number : numbers) {
            if (option == number.name) {
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
        b.cases = cases;
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
