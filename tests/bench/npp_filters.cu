// npp_filters.cu: NPP's nearest functions to monocle's filters, for `compare-peers gpu --all`
//
// Differences from monocle: `bilateral` is a disc in three channels without alpha, `lut` is trilinear, `scharr` makes
// one 16-bit channel. `prewitt`, `roberts` and `sobel` are the derivative in one direction, without the root. `canny`
// links along the edge only, and makes one channel. `equalize` and `autolevels` look up fixed values, because NPP does
// not make the table. `scale` by Lanczos has 6 x 6 taps at every size. `erode` and `dilate` also filter alpha.
#include "npp.h"

#include <cmath>

namespace
{

const NppiBorderType border = NPP_BORDER_REPLICATE;

// The arguments that most functions have.
struct call {
    const Npp8u *from;
    Npp8u *to;
    int step;
    NppiSize size;
    NppStreamContext context;
};

struct adder {
    bench &b;
    const std::vector<Npp8u *> &pictures;

    void add(const char *name, std::function<NppStatus(const call &)> run)
    {
        const int width = b.width, height = b.height;
        const NppStreamContext context = b.context;
        b.works.push_back({name, "rgba", pictures, [=](const Npp8u *from, Npp8u *to) {
                               return run({from, to, 4 * width, {width, height}, context});
                           }});
    }
};

template <typename T> T *make_array(const std::vector<T> &values)
{
    return reinterpret_cast<T *>(make_copy(values.data(), values.size() * sizeof(T)));
}

void add_gaussian(adder &a, const char *name, double sigma)
{
    const int radius = int(std::ceil(3 * sigma)), taps = 2 * radius + 1;
    std::vector<Npp32f> weight(taps);
    float sum = 0;
    for (int i = -radius; i <= radius; i++)
        sum += weight[i + radius] = float(std::exp(-i * i / (2 * sigma * sigma)));
    for (auto &w : weight)
        w /= sum;
    const Npp32f *kernel = make_array(weight);
    a.add(name, [=](const call &c) {
        return nppiFilterGaussAdvancedBorder_8u_C4R_Ctx(c.from, c.step, c.size, {0, 0}, c.to, c.step, c.size, taps,
                                                        kernel, border, c.context);
    });
}

void add_bilateral(adder &a, const char *name, int radius, float space, float range)
{
    a.add(name, [=](const call &c) {
        const int step = c.step / 4 * 3;
        return nppiFilterBilateralGaussBorder_8u_C3R_Ctx(c.from, step, c.size, {0, 0}, c.to, step, c.size, radius, 1,
                                                         range * range, space * space, border, c.context);
    });
}

void add_median(adder &a, const char *name, int radius)
{
    const NppiSize mask = {2 * radius + 1, 2 * radius + 1};
    Npp32u bytes = 0;
    check(nppiFilterMedianBorderGetBufferSize_8u_C4R_Ctx({a.b.width, a.b.height}, mask, &bytes, border, a.b.context) ==
              NPP_SUCCESS,
          name);
    Npp8u *buffer = make_buffer(bytes + 1);
    a.add(name, [=](const call &c) {
        return nppiFilterMedianBorder_8u_C4R_Ctx(c.from, c.step, c.size, {0, 0}, c.to, c.step, c.size, mask,
                                                 {radius, radius}, buffer, border, c.context);
    });
}

using morphology = NppStatus(const Npp8u *, int, NppiSize, NppiPoint, Npp8u *, int, NppiSize, const Npp8u *, NppiSize,
                             NppiPoint, NppiBorderType, NppStreamContext);
using morphologies = NppStatus(const Npp8u *, int, NppiSize, NppiPoint, Npp8u *, int, NppiSize, const Npp8u *, NppiSize,
                               NppiPoint, Npp8u *, NppiBorderType, NppStreamContext);

Npp8u *make_mask(int radius, bool disc)
{
    std::vector<Npp8u> mask;
    for (int y = -radius; y <= radius; y++) {
        for (int x = -radius; x <= radius; x++)
            mask.push_back(!disc || x * x + y * y <= radius * radius);
    }
    return make_array(mask);
}

void add_shape(adder &a, const char *name, morphology *run, int radius, bool disc)
{
    const Npp8u *mask = make_mask(radius, disc);
    const int side = 2 * radius + 1;
    a.add(name, [=](const call &c) {
        return run(c.from, c.step, c.size, {0, 0}, c.to, c.step, c.size, mask, {side, side}, {radius, radius}, border,
                   c.context);
    });
}

void add_shapes(adder &a, const char *name, morphologies *run, int radius)
{
    const Npp8u *mask = make_mask(radius, false);
    const int side = 2 * radius + 1;
    int bytes = 0;
    check(nppiMorphGetBufferSize_8u_C4R({a.b.width, a.b.height}, &bytes) == NPP_SUCCESS, name);
    Npp8u *buffer = make_buffer(size_t(bytes) + 1);
    a.add(name, [=](const call &c) {
        return run(c.from, c.step, c.size, {0, 0}, c.to, c.step, c.size, mask, {side, side}, {radius, radius}, buffer,
                   border, c.context);
    });
}

void add_unsharp(adder &a)
{
    int bytes = 0;
    check(nppiFilterUnsharpGetBufferSize_8u_C4R(2, 1, &bytes) == NPP_SUCCESS, "unsharp");
    Npp8u *buffer = make_buffer(size_t(bytes) + 1);
    a.add("unsharp=2:1", [=](const call &c) {
        return nppiFilterUnsharpBorder_8u_C4R_Ctx(c.from, c.step, {0, 0}, c.to, c.step, c.size, 2, 1, 1, 0, border,
                                                  buffer, c.context);
    });
}

void add_edges(adder &a)
{
    a.add("prewitt", [](const call &c) {
        return nppiFilterPrewittHorizBorder_8u_C4R_Ctx(c.from, c.step, c.size, {0, 0}, c.to, c.step, c.size, border,
                                                       c.context);
    });
    a.add("sobel", [](const call &c) {
        return nppiFilterSobelHorizBorder_8u_C4R_Ctx(c.from, c.step, c.size, {0, 0}, c.to, c.step, c.size, border,
                                                     c.context);
    });
    a.add("roberts", [](const call &c) {
        return nppiFilterRobertsDownBorder_8u_C4R_Ctx(c.from, c.step, c.size, {0, 0}, c.to, c.step, c.size, border,
                                                      c.context);
    });
    a.add("laplacian", [](const call &c) {
        return nppiFilterLaplaceBorder_8u_AC4R_Ctx(c.from, c.step, c.size, {0, 0}, c.to, c.step, c.size,
                                                   NPP_MASK_SIZE_3_X_3, border, c.context);
    });
    a.add("scharr", [](const call &c) {
        return nppiGradientVectorScharrBorder_8u16s_C3C1R_Ctx(
            c.from, c.step / 4 * 3, c.size, {0, 0}, nullptr, 0, nullptr, 0, reinterpret_cast<Npp16s *>(c.to), c.step,
            nullptr, 0, c.size, NPP_MASK_SIZE_3_X_3, nppiNormL2, border, c.context);
    });
    int bytes = 0;
    check(nppiFilterCannyBorderGetBufferSize({a.b.width, a.b.height}, &bytes) == NPP_SUCCESS, "canny");
    Npp8u *buffer = make_buffer(size_t(bytes) + 1), *gray = a.b.scratch[0];
    a.add("canny", [=](const call &c) {
        const int step = c.step / 4;
        const NppStatus status = nppiRGBToGray_8u_AC4C1R_Ctx(c.from, c.step, gray, step, c.size, c.context);
        return status < NPP_SUCCESS ? status
                                    : nppiFilterCannyBorder_8u_C1R_Ctx(gray, step, c.size, {0, 0}, c.to, step, c.size,
                                                                       NPP_FILTER_SOBEL, NPP_MASK_SIZE_3_X_3, 40, 100,
                                                                       nppiNormL1, border, buffer, c.context);
    });
}

NppStatus look_up(const call &c, const Npp8u *table)
{
    const Npp8u *tables[3] = {table, table, table};
    return nppiLUTPalette_8u_AC4R_Ctx(c.from, c.step, c.to, c.step, c.size, tables, 8, c.context);
}

void add_tones(adder &a)
{
    const Npp8u *table = make_buffer(256);
    for (const char *name : {"levels=20:220:1.2", "curves=lighter", "exposure", "posterize"})
        a.add(name, [=](const call &c) { return look_up(c, table); });
    for (const char *name : {"sepia", "temperature"}) {
        a.add(name, [](const call &c) {
            static const Npp32f twist[3][4] = {
                {0.39f, 0.77f, 0.19f, 0}, {0.35f, 0.69f, 0.17f, 0}, {0.27f, 0.53f, 0.13f, 0}};
            return nppiColorTwist32f_8u_AC4R_Ctx(c.from, c.step, c.to, c.step, c.size, twist, c.context);
        });
    }
    int levels[3] = {257, 257, 257};
    size_t bytes = 0;
    check(nppiHistogramEvenGetBufferSize_8u_AC4R_Ctx({a.b.width, a.b.height}, levels, &bytes, a.b.context) ==
              NPP_SUCCESS,
          "equalize");
    Npp8u *buffer = make_buffer(bytes + 1);
    Npp32s *counts = make_array(std::vector<Npp32s>(3 * 256));
    for (const char *name : {"equalize", "autolevels"}) {
        a.add(name, [=](const call &c) {
            Npp32s *histogram[3] = {counts, counts + 256, counts + 512}, low[3] = {0, 0, 0}, high[3] = {256, 256, 256};
            int sizes[3] = {257, 257, 257};
            const NppStatus status =
                nppiHistogramEven_8u_AC4R_Ctx(c.from, c.step, c.size, histogram, sizes, low, high, buffer, c.context);
            return status < NPP_SUCCESS ? status : look_up(c, table);
        });
    }
}

void add_cube(adder &a, const char *name, int side)
{
    Npp32u *values = reinterpret_cast<Npp32u *>(make_buffer(size_t(side) * side * side * 4));
    std::vector<Npp8u> level(side);
    for (int i = 0; i < side; i++)
        level[i] = Npp8u(255 * i / (side - 1));
    a.add(name, [=](const call &c) {
        Npp8u *levels = const_cast<Npp8u *>(level.data()), *axes[3] = {levels, levels, levels};
        int counts[3] = {side, side, side};
        return nppiLUT_Trilinear_8u_AC4R_Ctx(c.from, c.step, c.to, c.step, c.size, values, axes, counts, c.context);
    });
}

void add_pictures(adder &a)
{
    const Npp8u *second = make_buffer(size_t(a.b.width) * a.b.height * 4);
    a.add("overlay=picture.png:scale=100", [=](const call &c) {
        return nppiAlphaComp_8u_AC4R_Ctx(second, c.step, c.from, c.step, c.to, c.step, c.size,
                                         NPPI_OP_ALPHA_OVER_PREMUL, c.context);
    });
    a.add("blend=picture.png:multiply", [=](const call &c) {
        return nppiMulScale_8u_C4R_Ctx(c.from, c.step, second, c.step, c.to, c.step, c.size, c.context);
    });
}

void add_scale(adder &a, const char *name, double factor, int method)
{
    a.add(name, [=](const call &c) {
        const NppiSize to = {int(c.size.width * factor), int(c.size.height * factor)};
        return nppiResize_8u_C4R_Ctx(c.from, c.step, c.size, {0, 0, c.size.width, c.size.height}, c.to, 4 * to.width,
                                     to, {0, 0, to.width, to.height}, method, c.context);
    });
}

void add_places(adder &a)
{
    add_scale(a, "scale=factor=0.5:method=area", 0.5, NPPI_INTER_SUPER);
    add_scale(a, "scale=factor=0.25:method=area", 0.25, NPPI_INTER_SUPER);
    add_scale(a, "scale=factor=0.5:method=lanczos", 0.5, NPPI_INTER_LANCZOS);
    add_scale(a, "scale=factor=0.25:method=lanczos", 0.25, NPPI_INTER_LANCZOS);
    add_scale(a, "scale=factor=0.5:method=bilinear", 0.5, NPPI_INTER_LINEAR);
    add_scale(a, "scale=factor=0.5:method=nearest", 0.5, NPPI_INTER_NN);
    a.add("pad=ratio=2", [](const call &c) {
        static const Npp8u black[4] = {0, 0, 0, 255};
        const NppiSize to = {2 * c.size.height, c.size.height};
        return nppiCopyConstBorder_8u_C4R_Ctx(c.from, c.step, c.size, c.to, 4 * to.width, to, 0,
                                              (to.width - c.size.width) / 2, black, c.context);
    });
    a.add("rotate=90", [](const call &c) {
        return nppiTranspose_8u_C4R_Ctx(c.from, c.step, c.to, 4 * c.size.height, c.size, c.context);
    });
    a.add("warp=1.1 0.05 -20 0.02 1.08 -30 1e-5 2e-5 1", [](const call &c) {
        static const double matrix[3][3] = {{1.1, 0.05, -20}, {0.02, 1.08, -30}, {1e-5, 2e-5, 1}};
        const NppiRect all = {0, 0, c.size.width, c.size.height};
        return nppiWarpPerspective_8u_C4R_Ctx(c.from, c.size, c.step, all, c.to, c.step, all, matrix, NPPI_INTER_LINEAR,
                                              c.context);
    });
}

} // namespace

void add_filters(bench &b, const std::vector<Npp8u *> &rgba)
{
    adder a = {b, rgba};
    add_gaussian(a, "gaussian=1", 1);
    add_gaussian(a, "gaussian=3", 3);
    add_gaussian(a, "gaussian=10", 10);
    add_gaussian(a, "gaussian=20", 20);
    add_bilateral(a, "bilateral=4:2:25", 4, 2, 25);
    add_bilateral(a, "bilateral=7:3:30", 7, 3, 30);
    add_median(a, "median", 1);
    add_median(a, "median=2", 2);
    add_median(a, "median=3", 3);
    add_median(a, "median=5", 5);
    add_shape(a, "erode", nppiErodeBorder_8u_C4R_Ctx, 1, false);
    add_shape(a, "erode=3", nppiErodeBorder_8u_C4R_Ctx, 3, false);
    add_shape(a, "erode=10", nppiErodeBorder_8u_C4R_Ctx, 10, false);
    add_shape(a, "erode=3:disc", nppiErodeBorder_8u_C4R_Ctx, 3, true);
    add_shape(a, "erode=10:disc", nppiErodeBorder_8u_C4R_Ctx, 10, true);
    add_shape(a, "dilate=3", nppiDilateBorder_8u_C4R_Ctx, 3, false);
    add_shapes(a, "open=3", nppiMorphOpenBorder_8u_C4R_Ctx, 3);
    add_shapes(a, "close=3", nppiMorphCloseBorder_8u_C4R_Ctx, 3);
    add_unsharp(a);
    add_edges(a);
    add_tones(a);
    add_cube(a, "lut=17.cube", 17);
    add_cube(a, "lut=33.cube", 33);
    add_pictures(a);
    add_places(a);
}
