// peers_opencv.cpp: OpenCV's cases for peers.cpp: the same calls on the CPU (cv::Mat) and on OpenCL (cv::UMat)
#include "peers.h"

#include <cmath>
#include <opencv2/core/ocl.hpp>
#include <opencv2/imgproc.hpp>

namespace
{

template <class mat> struct scratch {
    mat rgba[2], grey, channel[4], most, mask, across, down;
};

template <class mat> using call = void (*)(const mat &from, mat &to, scratch<mat> &s);

template <class mat> std::vector<mat> make_mats(int count, const cv::Size &size, int type)
{
    std::vector<mat> mats;
    for (int i = 0; i < count; i++) {
        cv::Mat random(size, type);
        fill_random(random.data, random.total() * random.elemSize());
        mat made(size, type);
        random.copyTo(made);
        mats.push_back(made);
    }
    return mats;
}

template <class mat> std::vector<mat> make_pictures(const bench &b, const std::string &format)
{
    const int w = b.picture.width, h = b.picture.height,
              count = count_pictures(b, picture_bytes(format.c_str(), b.picture));
    if (format == "rgba")
        return make_mats<mat>(count, {w, h}, CV_8UC4);
    if (format == "rgb24" || format == "bgr24")
        return make_mats<mat>(count, {w, h}, CV_8UC3);
    if (format == "yuyv" || format == "uyvy")
        return make_mats<mat>(count, {w, h}, CV_8UC2);
    return make_mats<mat>(count, {w, format == "grey" ? h : h * 3 / 2}, CV_8UC1);
}

template <class mat, int code> void convert(const mat &from, mat &to, scratch<mat> &)
{
    cv::cvtColor(from, to, code);
}

template <class mat> void copy(const mat &from, mat &to, scratch<mat> &)
{
    from.copyTo(to);
}

template <class mat, int how> void turn(const mat &from, mat &to, scratch<mat> &)
{
    cv::flip(from, to, how);
}

// Sets channels below the pixel's largest channel to 0.
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

template <class mat> void threshold(const mat &from, mat &to, scratch<mat> &s)
{
    cv::cvtColor(from, s.grey, cv::COLOR_RGBA2GRAY);
    cv::threshold(s.grey, s.mask, 127, 255, cv::THRESH_BINARY);
    cv::cvtColor(s.mask, to, cv::COLOR_GRAY2RGBA);
}

template <class mat> void invert(const mat &from, mat &to, scratch<mat> &)
{
    cv::bitwise_xor(from, cv::Scalar(255, 255, 255, 0), to);
}

template <class mat> void gamma(const mat &from, mat &to, scratch<mat> &)
{
    static const cv::Mat table = [] {
        cv::Mat made(1, 256, CV_8U);
        for (int i = 0; i < 256; i++)
            made.at<uchar>(i) = uchar(std::lround(255 * std::pow(i / 255.0, 1 / 2.2)));
        return made;
    }();
    cv::LUT(from, table, to);
}

template <class mat> void contrast(const mat &from, mat &to, scratch<mat> &)
{
    from.convertTo(to, -1, 1.5, -63.75);
}

template <class mat> void sepia(const mat &from, mat &to, scratch<mat> &)
{
    static float weights[16] = {0.393f, 0.769f, 0.189f, 0, 0.349f, 0.686f, 0.168f, 0,
                                0.272f, 0.534f, 0.131f, 0, 0,      0,      0,      1};
    cv::transform(from, to, cv::Mat(4, 4, CV_32F, weights));
}

template <class mat> void blur(const mat &from, mat &to, scratch<mat> &)
{
    cv::blur(from, to, cv::Size(5, 5), cv::Point(-1, -1), cv::BORDER_REPLICATE);
}

template <class mat> void weigh(const mat &from, mat &to, int side, float *weights, double added)
{
    cv::filter2D(from, to, -1, cv::Mat(side, side, CV_32F, weights), cv::Point(-1, -1), added, cv::BORDER_REPLICATE);
}

// The numbers of src/bench/filters.c.
template <class mat> void convolve(const mat &from, mat &to, scratch<mat> &)
{
    static float weights[25] = {0.11f, -0.07f, 0.23f, 0.05f, -0.13f, 0.31f, 0.17f, -0.29f, 0.41f,
                                0.02f, -0.19f, 0.37f, 0.83f, -0.43f, 0.07f, 0.29f, -0.11f, 0.53f,
                                0.13f, -0.31f, 0.19f, 0.03f, -0.23f, 0.09f, -0.59f};
    weigh(from, to, 5, weights, 0);
}

template <class mat> void sharpen(const mat &from, mat &to, scratch<mat> &)
{
    static float weights[9] = {0, -1, 0, -1, 5, -1, 0, -1, 0};
    weigh(from, to, 3, weights, 0);
}

template <class mat> void emboss(const mat &from, mat &to, scratch<mat> &)
{
    static float weights[9] = {-1, -1, 0, -1, 0, 1, 0, 1, 1};
    weigh(from, to, 3, weights, 128);
}

template <class mat> void gradient(const mat &from, mat &to, scratch<mat> &s)
{
    cv::Sobel(from, s.across, CV_32F, 1, 0, 3, 1, 0, cv::BORDER_REPLICATE);
    cv::Sobel(from, s.down, CV_32F, 0, 1, 3, 1, 0, cv::BORDER_REPLICATE);
    cv::magnitude(s.across, s.down, s.most);
    s.most.convertTo(to, CV_8U);
}

template <class mat> void grey_gradient(const mat &from, mat &to, scratch<mat> &s)
{
    cv::cvtColor(from, s.grey, cv::COLOR_RGBA2GRAY);
    gradient(s.grey, s.mask, s);
    cv::cvtColor(s.mask, to, cv::COLOR_GRAY2RGBA);
}

template <class mat> void median(const mat &from, mat &to, scratch<mat> &)
{
    cv::medianBlur(from, to, 3);
}

template <class mat> void fused(const mat &from, mat &to, scratch<mat> &s)
{
    cv::cvtColor(from, s.rgba[0], cv::COLOR_YUV2RGBA_NV21);
    blur(s.rgba[0], s.rgba[1], s);
    gray(s.rgba[1], s.rgba[0], s);
    emboss(s.rgba[0], to, s);
}

template <class mat> void histogram(const mat &from, mat &, scratch<mat> &s)
{
    const std::vector<mat> pictures{from};
    for (int channel = 0; channel < 3; channel++)
        cv::calcHist(pictures, {channel}, cv::noArray(), s.most, {256}, {0, 256});
}

// The sums of green, in one strip.
template <class mat, int way> void sums(const mat &from, mat &, scratch<mat> &s)
{
    cv::extractChannel(from, s.grey, 1);
    cv::reduce(s.grey, s.most, way, cv::REDUCE_SUM, CV_32S);
}

template <class mat> void otsu(const mat &from, mat &to, scratch<mat> &s)
{
    cv::cvtColor(from, s.grey, cv::COLOR_RGBA2GRAY);
    cv::threshold(s.grey, s.mask, 0, 255, cv::THRESH_OTSU);
    cv::cvtColor(s.mask, to, cv::COLOR_GRAY2RGBA);
}

// The centre of a bar of three pixels less the brighter side, each a sum of three pixels.
template <class mat> void bars(const mat &from, mat &to, scratch<mat> &s)
{
    static float left[9] = {-1, -1, -1, 1, 1, 1, 0, 0, 0}, right[9] = {0, 0, 0, 1, 1, 1, -1, -1, -1};
    cv::filter2D(from, s.across, CV_16S, cv::Mat(1, 9, CV_32F, left), {-1, -1}, 0, cv::BORDER_REPLICATE);
    cv::filter2D(from, s.down, CV_16S, cv::Mat(1, 9, CV_32F, right), {-1, -1}, 0, cv::BORDER_REPLICATE);
    cv::min(s.across, s.down, s.most);
    s.most.convertTo(to, CV_8U, 1 / 3.0);
}

// The preset `road` of monocle's warp.
template <class mat> void warp(const mat &from, mat &to, const cv::Size &size)
{
    const auto right = float(from.cols - 1), bottom = float(from.rows - 1), w = float(size.width - 1),
               h = float(size.height - 1);
    const cv::Point2f points[] = {{0.45f * right, 0.6f * bottom},
                                  {0.55f * right, 0.6f * bottom},
                                  {right, 0.95f * bottom},
                                  {0, 0.95f * bottom}},
                      corners[] = {{0, 0}, {w, 0}, {w, h}, {0, h}};
    cv::warpPerspective(from, to, cv::getPerspectiveTransform(points, corners), size, cv::INTER_LINEAR,
                        cv::BORDER_REPLICATE);
}

template <class mat> void road(const mat &from, mat &to, scratch<mat> &)
{
    warp(from, to, from.size());
}

// The steps of `monocle lane` before the sums.
template <class mat> void lane(const mat &from, mat &, scratch<mat> &s)
{
    static const cv::Mat table = [] {
        cv::Mat made(1, 256, CV_8U);
        for (int i = 0; i < 256; i++)
            made.at<uchar>(i) = uchar(std::lround(255 * std::sqrt(std::max(i - 3, 0) / 255.0)));
        return made;
    }();
    cv::cvtColor(from, s.rgba[0], cv::COLOR_YUV2RGBA_NV21);
    warp(s.rgba[0], s.rgba[1], {320, 400});
    cv::cvtColor(s.rgba[1], s.grey, cv::COLOR_RGBA2GRAY);
    bars(s.grey, s.mask, s);
    cv::LUT(s.mask, table, s.grey);
    cv::threshold(s.grey, s.mask, 0, 255, cv::THRESH_OTSU);
}

template <class mat> void add_calls(bench &b)
{
    static const struct {
        const char *name, *format;
        call<mat> run;
    } calls[] = {
        {"none", "rgba", copy<mat>},
        {"none", "rgb24", convert<mat, cv::COLOR_RGB2RGBA>},
        {"none", "bgr24", convert<mat, cv::COLOR_BGR2RGBA>},
        {"none", "grey", convert<mat, cv::COLOR_GRAY2RGBA>},
        {"none", "nv12", convert<mat, cv::COLOR_YUV2RGBA_NV12>},
        {"none", "nv21", convert<mat, cv::COLOR_YUV2RGBA_NV21>},
        {"none", "yu12", convert<mat, cv::COLOR_YUV2RGBA_I420>},
        {"none", "yv12", convert<mat, cv::COLOR_YUV2RGBA_YV12>},
        {"none", "yuyv", convert<mat, cv::COLOR_YUV2RGBA_YUYV>},
        {"none", "uyvy", convert<mat, cv::COLOR_YUV2RGBA_UYVY>},
        {"gray", "rgba", gray<mat>},
        {"maxrgb", "rgba", max_rgb<mat>},
        {"blur=2", "rgba", blur<mat>},
        {"convolve", "rgba", convolve<mat>},
        {"convolve=sharpen", "rgba", sharpen<mat>},
        {"emboss", "rgba", emboss<mat>},
        {"sobel", "rgba", gradient<mat>},
        {"gray,sobel", "rgba", grey_gradient<mat>},
        {"sharpen", "rgba", sharpen<mat>},
        {"median", "rgba", median<mat>},
        {"invert", "rgba", invert<mat>},
        {"threshold", "rgba", threshold<mat>},
        {"gamma", "rgba", gamma<mat>},
        {"contrast", "rgba", contrast<mat>},
        {"sepia", "rgba", sepia<mat>},
        {"mirror", "rgba", turn<mat, 1>},
        {"flip", "rgba", turn<mat, 0>},
        {"histogram", "rgba", histogram<mat>},
        {"columns", "rgba", sums<mat, 0>},
        {"rows", "rgba", sums<mat, 1>},
        {"otsu", "rgba", otsu<mat>},
        {"ridge=3", "rgba", bars<mat>},
        {"warp=road", "rgba", road<mat>},
        {"warp=road:320:400,gray,ridge=3,contrast=1:brightness=-3,gamma=2,otsu", "nv21", lane<mat>},
        {"blur=2,gray,emboss", "nv21", fused<mat>},
    };
    const auto out =
        std::make_shared<std::vector<mat>>(make_mats<mat>(outputs, {b.picture.width, b.picture.height}, CV_8UC4));
    const auto s = std::make_shared<scratch<mat>>();
    std::map<std::string, std::vector<mat>> pictures;
    for (const auto &c : calls) {
        if (!is_asked_for(b, c.name, c.format))
            continue;
        auto &from = pictures[c.format];
        if (from.empty())
            from = make_pictures<mat>(b, c.format);
        b.works.push_back(
            {c.name, c.format, [=, run = c.run](int p, int o) { run(in_turn(from, p), (*out)[size_t(o)], *s); }});
    }
}

} // namespace

void add_opencv(bench &b, int threads)
{
    cv::setNumThreads(threads);
    cv::ocl::setUseOpenCL(false);
    add_calls<cv::Mat>(b);
}

bool add_tapi(bench &b, int threads)
{
    cv::setNumThreads(threads);
    cv::ocl::setUseOpenCL(true);
    if (!cv::ocl::useOpenCL())
        return false;
    b.device = cv::ocl::Device::getDefault().name();
    b.finish = [] { cv::ocl::finish(); };
    add_calls<cv::UMat>(b);
    return true;
}
