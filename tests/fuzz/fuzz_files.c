// fuzz_files.c: hostile reports of `batch merge`, T4 tables, lists of images, EXIF and XMP data, and images that may
// move; a libFuzzer target, and by itself a run over seeds and their mutations
#include "base/log.h"
#include "batch/report.h"
#include "image/codec/metadata.h"
#include "source/entries.h"
#include "source/video_info.h"
#include "tune/tuner.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_report(const char *path)
{
    struct merge *merge = merge_open(&path, 1);
    if (!merge)
        return;
    const struct merge_sum sum = merge_sum(merge);
    if (sum.shards < 0 || sum.shards_missing > sum.shards || sum.unstarted < 0)
        abort();
    for (int i = 0; i < sum.shards; i++)
        merge_shard_fault(merge, i);
    merge_close(merge);
}

// A table that is read has a result for each configuration, and a best one has a time.
static void check_table(const char *path)
{
    struct t4_table table;
    const bool ok = t4_read(&table, path);
    const int best = t4_best(&table);
    if (!ok && table.space.count > 0)
        abort();
    if (best >= table.space.count || (best >= 0 && !(table.result[best].ms > 0)))
        abort();
    t4_finish(&table);
}

static void check_list(const char *text)
{
    struct entries entries = {0};
    entries_from_lines(&entries, text);
    for (int i = 0; i < entries.count; i++) {
        if (!entries.entry[i].path[0] || strchr(entries.entry[i].path, '\n'))
            abort();
    }
    entries_free(&entries);
}

// Metadata, in an exact block, so that a sanitizer reports reads beyond it.
static void check_metadata(const char *text, size_t size)
{
    const struct metadata_target target = {300, 200, 1 + (int)(size % 8), size % 2, size % 3 == 0, size % 5 < 3};
    struct codec_buffer settled = {0};
    double density[2];
    bool usable;
    uint8_t *data = malloc(size);
    if (!data)
        return;
    memcpy(data, text, size);
    if (!xmp_settle((struct codec_bytes){data, size}, &target, &settled))
        abort();
    codec_buffer_free(&settled);
    exif_fault(data, size, &usable);
    exif_density(data, size, density);
    if (exif_orientation(data, size) > 1 && !usable)
        abort();
    if (exif_settle(data, size, &target) > size)
        abort();
    free(data);
}

// Writes the bytes to a file without a name. In an image, a `~` becomes a NUL, which the text of a seed cannot have.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int file = -1;
    char path[64], *text = malloc(size + 1);
    log_set_level(LOG_SILENT);
    if (file < 0)
        file = memfd_create("fuzz", 0);
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    const bool metadata = size > 0 && strchr("<IM", text[0]), bytes = size > 0 && strchr("IMG\xff", text[0]);
    for (size_t i = 0; bytes && i < size; i++)
        text[i] = (char)(text[i] == '~' ? 0 : text[i]);
    if (ftruncate(file, 0) != 0 || pwrite(file, text, size, 0) != (ssize_t)size)
        abort();
    if (metadata) {
        check_metadata(text, size);
    } else if (bytes) {
        moving_gif(path);
        moving_jpeg(path);
    } else {
        check_report(path);
        check_table(path);
        check_list(text);
    }
    free(text);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

static const char *const seeds[] = {
    "{\"start\":{\"work\":\"w\",\"shard\":1,\"shards\":2,\"files\":2}}\n"
    "{\"input\":\"a\",\"output\":\"b\",\"status\":\"done\"}\n"
    "{\"input\":\"c\",\"output\":\"d\",\"status\":\"failed\",\"error\":\"damaged\"}\n"
    "{\"start\":{\"work\":\"w\",\"shard\":2,\"shards\":2,\"files\":1}}\n"
    "{\"input\":\"a\",\"output\":\"b\",\"status\":\"done\"}\n{\"end\":{}}\n{\"reports_without_start\":3}\n",
    "{\"results\":[{\"configuration\":{\"x\":1,\"y\":\"b\"},\"invalidity\":\"correct\",\"measurements\":[{\"name\":"
    "\"time\",\"value\":1.5,\"unit\":\"ms\"}],\"objectives\":[\"time\"]},\n{\"configuration\":{\"x\":2,\"y\":\"b\"},"
    "\"invalidity\":\"timeout\"}],\"schema_version\":\"1.0.0\"}",
    "a.png\n\n  b b.jpg\r\n./-x\n#c\n\n",
    "GIF89a\x10\x10\x10\x10\x80\x01\x01rgbRGB!\xff\x0bNETSCAPE2.0\x03\x01\x01\x01~,\x01\x01\x01\x01\x08\x01\x08\x01\x01"
    "\x02\x02\x4c\x01~,\x01\x01\x01\x01\x08\x01\x08\x01\x81rgbRGB\x02\x02\x4c\x01~;",
    "II*~\x08~~~\x03~\x0f\x01\x02~\x06~~~\x5e~~~\x12\x01\x03~\x01~~~\x06~~~\x69\x87\x04~\x01~~~\x64~~~\x32~~~\x02~"
    "\x01\x02\x04~\x01~~~\x50~~~\x02\x02\x04~\x01~~~\x0e~~~~~~~......thumb...maker~\x02~\x02\xa0\x04~\x01~~~\x50~~~"
    "\x14\x92\x03~\x02~~~\x50~\x50~~~~~",
    "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
    "<rdf:Description xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\" xmlns:exif='http://ns.adobe.com/exif/1.0/' "
    "xmlns:n=\"http://ns.adobe.com/xmp/note/\" tiff:Orientation=\"6\" exif:PixelXDimension = '40' "
    "n:HasExtendedXMP=\"AB\"><exif:PixelYDimension>30</exif:PixelYDimension><tiff:XResolution>72/1</tiff:XResolution>"
    "<tiff:Orientation/><n:HasExtendedXMP>A<b:c n:d='/>'>x</b:c></n:HasExtendedXMP></rdf:Description></rdf:RDF>",
    "\xff\xd8\xff\xe0~\x04JF\xff\xc0~\x0b\x08~\x10~\x10\x01\x01\x11~\xff\xda~\x08\x01\x01~~?~ab\xff~cd\xff\xd9"
    "\xff\xd8\xff\xe0~\x04JF\xff\xc0~\x0b\x08~\x10~\x10\x01\x01\x11~\xff\xda~\x08\x01\x01~~?~ab\xff~cd\xff\xd9",
};

int main(int argc, char **argv)
{
    return fuzz_texts(
        &(struct fuzz_texts){seeds, sizeof(seeds) / sizeof(*seeds), "0123456789.-e\n\"{}[]:,\\u~<>/= '", 3}, argc,
        argv);
}
#endif
