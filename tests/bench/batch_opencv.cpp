// batch_opencv.cpp: filters a batch of image files with OpenCV: one file per thread, OpenCV's own threads off
//
//   batch_opencv gray|blur|emboss THREADS OUTPUT-DIRECTORY FILE...
//
// JPEG outputs have quality 90; PNG outputs have OpenCV's default compression. Blur is the 5x5 box; emboss is the nw
// matrix of docs/pixels.md. Prints the number of written files.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

static cv::Mat filter(const cv::Mat &picture, const std::string &kind)
{
    static const cv::Mat emboss = (cv::Mat_<float>(3, 3) << -1, -1, 0, -1, 0, 1, 0, 1, 1);
    cv::Mat result;
    if (kind == "gray")
        cv::cvtColor(picture, result, cv::COLOR_BGR2GRAY);
    else if (kind == "blur")
        cv::blur(picture, result, cv::Size(5, 5), cv::Point(-1, -1), cv::BORDER_REPLICATE);
    else
        cv::filter2D(picture, result, -1, emboss, cv::Point(-1, -1), 128, cv::BORDER_REPLICATE);
    return result;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: batch_opencv gray|blur|emboss THREADS OUTPUT-DIRECTORY FILE...\n");
        return 2;
    }
    const std::string kind = argv[1];
    const std::filesystem::path output = argv[3];
    std::atomic<int> next{4}, done{0};
    cv::setNumThreads(1);
    auto work = [&] {
        for (int i; (i = next++) < argc;) {
            const cv::Mat picture = cv::imread(argv[i], cv::IMREAD_COLOR);
            const std::string to = output / std::filesystem::path(argv[i]).filename();
            if (!picture.empty() && cv::imwrite(to, filter(picture, kind), {cv::IMWRITE_JPEG_QUALITY, 90}))
                done++;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < atoi(argv[2]); i++)
        threads.emplace_back(work);
    for (auto &thread : threads)
        thread.join();
    printf("%d\n", done.load());
    return done == argc - 4 ? 0 : 1;
}
