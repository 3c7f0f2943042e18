// codec.c: the table of codecs, and the checks of all formats
#include "base/alloc.h"
#include "image/codec/codec_kind.h"

#include "image/codec/metadata.h"
#include "image/codec/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KIND(format, row) [format] = &row,
static const struct codec_kind *const kinds[CODEC_FORMATS] = {CODEC_LIST(KIND)};

// The row of a codec whose library this build lacks is empty.
#ifdef HAVE_WEBP
#define WEBP_NAMED "WebP, "
#else
#define WEBP_NAMED ""
const struct codec_kind codec_webp;
#endif
#ifdef HAVE_TIFF
#define TIFF_NAMED "TIFF, "
#else
#define TIFF_NAMED ""
const struct codec_kind codec_tiff;
#endif
#ifdef HAVE_GIF
#define GIF_NAMED "GIF, "
#else
#define GIF_NAMED ""
const struct codec_kind codec_gif;
#endif

#ifdef HAVE_HEIF
#define HEIF_NAMED "HEIC, AVIF, "
#else
#define HEIF_NAMED ""
const struct codec_kind codec_heif;
#endif
#ifdef HAVE_JXL
#define JXL_NAMED "JPEG XL, "
#else
#define JXL_NAMED ""
const struct codec_kind codec_jxl;
#endif

static bool is_built(int format)
{
    return kinds[format]->info.name != NULL;
}

// Other image formats, to name them in errors. `library`: builds with this library read them.
static const struct other {
    const char *name, *library;
    size_t at;
    const char *bytes;
    size_t count;
} others[] = {
    {"HDR", NULL, 0, "#?RADIANCE", 10},
    {"HDR", NULL, 0, "#?RGBE", 6},
    {"WebP", "libwebp", 8, "WEBP", 4},
    {"TIFF", "libtiff", 0, "II*\0", 4},
    {"TIFF", "libtiff", 0, "MM\0*", 4},
    {"TIFF", "libtiff", 0, "II+\0", 4},
    {"TIFF", "libtiff", 0, "MM\0+", 4},
    {"JPEG XL", "libjxl", 0, "\xff\x0a", 2},
    {"JPEG XL", "libjxl", 4, "JXL \r\n\x87\n", 8},
    {"JPEG XR", NULL, 0, "II\xbc\0", 4},
    {"JPEG XR", NULL, 0, "II\xbc\1", 4},
    {"GIF", "giflib", 0, "GIF87a", 6},
    {"GIF", "giflib", 0, "GIF89a", 6},
    {"JPEG 2000", NULL, 4, "jP  \r\n\x87\n", 8},
    {"JPEG 2000", NULL, 0, "\xff\x4f\xff\x51", 4},
    {"CRW (camera raw)", NULL, 6, "HEAPCCDR", 8},
    {"MRW (camera raw)", NULL, 0, "\0MRM", 4},
    {"ORF (camera raw)", NULL, 0, "IIRO", 4},
    {"ORF (camera raw)", NULL, 0, "IIRS", 4},
    {"ORF (camera raw)", NULL, 0, "MMOR", 4},
    {"RAF (camera raw)", NULL, 0, "FUJIFILMCCD-RAW", 15},
    {"RW2 (camera raw)", NULL, 0, "IIU\0", 4},
    {"X3F (camera raw)", NULL, 0, "FOVb", 4},
};

// Images in an ISO base media file, by its major brand (ISO 14496-12, 4.3).
static const struct other avif = {.name = "AVIF", .library = "libheif"}, heif = {.name = "HEIF", .library = "libheif"},
                          cr3 = {.name = "CR3 (camera raw)"};
static const struct {
    char brand[5];
    const struct other *other;
} brands[] = {
    {"avif", &avif}, {"avis", &avif}, {"heic", &heif}, {"heix", &heif}, {"heim", &heif},
    {"heis", &heif}, {"hevc", &heif}, {"hevx", &heif}, {"hevm", &heif}, {"hevs", &heif},
    {"mif1", &heif}, {"mif2", &heif}, {"msf1", &heif}, {"crx ", &cr3},
};

static const struct {
    enum codec_remark remark;
    const char *text;
} remarks[] = {
    {CODEC_NO_END, "the file has all pixels, but no end marker (EOI)"},
    {CODEC_DEEP, "its channels have more than 8 bits and are reduced to 8"},
    {CODEC_FRAMES, "it is an animation: all frames but the first are left out"},
    {CODEC_UNPROFILED, "its colour profile is damaged, unknown or not for its pixels, so they count as sRGB"},
    {CODEC_BRIGHT, "it is HDR (PQ or HLG): light above 203 cd/m2 is cut"},
    {CODEC_CLEAR, "its transparency is left out: transparent pixels show their hidden colours"},
};

const char *codec_remark_text(unsigned set)
{
    size_t i = 0;
    while (!(remarks[i].remark & set))
        i++;
    return remarks[i].text;
}

struct codec {
    void *state[CODEC_FORMATS];
    struct codec_buffer exif, xmp, iptc, chunks; // of the file that is written
    bool to_srgb;
    struct profile *profile;
    int converted; // rows of the image that is decoded
};

const struct codec_info *codec_info(enum codec_format format)
{
    static const char *const none[] = {NULL};
    static const struct codec_info other = {.name = "other", .extensions = none};
    return format < CODEC_FORMATS && is_built(format) ? &kinds[format]->info : &other;
}

bool codec_from_name(const char *name, enum codec_format *format)
{
    for (int i = 0; i < CODEC_FORMATS; i++) {
        if (!is_built(i))
            continue;
        const struct codec_info *info = &kinds[i]->info;
        bool found = strcasecmp(name, info->name) == 0;
        for (const char *const *extension = info->extensions; !found && *extension; extension++)
            found = strcasecmp(name, *extension) == 0;
        if (found) {
            *format = (enum codec_format)i;
            return true;
        }
    }
    return false;
}

const char *codec_missing_library(const char *name)
{
    static const char *const libraries[][2] = {{"webp", "libwebp"},  {"tif", "libtiff"},   {"tiff", "libtiff"},
                                               {"gif", "giflib"},    {"heic", "libheif"},  {"heif", "libheif"},
                                               {"hif", "libheif"},   {"avif", "libheif"},  {"heics", "libheif"},
                                               {"heifs", "libheif"}, {"avifs", "libheif"}, {"jxl", "libjxl"}};
    enum codec_format format;
    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
        if (strcasecmp(name, libraries[i][0]) == 0 && !codec_from_name(name, &format))
            return libraries[i][1];
    }
    return NULL;
}

#define DEVELOP "develop it first with darktable-cli, rawtherapee-cli or dcraw"

const char *codec_foreign_name(const char *name)
{
    enum { NOT_RAW = 11 }; // the first of them
    static const char *const names[] = {"jp2", "j2k", "j2c", "jpc", "jpf", "jpx", "jxr", "wdp", "hdp", "hdr", "exr",
                                        "3fr", "arw", "cap", "cr2", "cr3", "crw", "dcr", "dcs", "dng", "eip", "erf",
                                        "fff", "gpr", "iiq", "k25", "kdc", "mef", "mos", "mrw", "nef", "nrw", "orf",
                                        "pef", "raf", "rw2", "rwl", "sr2", "srf", "srw", "x3f"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcasecmp(name, names[i]) == 0)
            return i < NOT_RAW ? "monocle cannot read JPEG 2000, JPEG XR, HDR and OpenEXR files; convert it first with "
                                 "ImageMagick"
                               : "camera raw: " DEVELOP;
    }
    return NULL;
}

const char *codec_misuse(const char *path, bool video)
{
    static const char film[] = "it is a video; use monocle live FILE --headless --record out.mkv";
    static const char *const uses[][2] = {
        {"cube", "it is a table of colours; name an image or a video, and use the table as a filter: -f lut=FILE"},
        {"cl", "it is a kernel; a filter of your own is an option: --filters DIRECTORY -f NAME"},
        {"json", "it is not an image or a video; `monocle tune FILE` reads descriptions of kernels"},
        {"tflite", "it is a network; `monocle matte --install NAME FILE` installs it"},
        {"mp4", film},
        {"mov", film},
        {"mkv", film},
        {"webm", film},
        {"avi", film},
        {"y4m", film},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof(uses) / sizeof(*uses); i++)
        if (strcasecmp(dot + 1, uses[i][0]) == 0)
            return video || uses[i][1] != film ? uses[i][1] : NULL;
    return NULL;
}

// Returns the format, also of an ISO base media file; NULL if the data is none of `others`.
static const struct other *find_other(const uint8_t *data, size_t size)
{
    enum { MAJOR_AT = 8, OTHERS_AT = 16, BRAND = 4 };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (size >= others[i].at + others[i].count &&
            memcmp(data + others[i].at, others[i].bytes, others[i].count) == 0)
            return &others[i];
    const struct other *found = NULL;
    const bool media = size >= OTHERS_AT && memcmp(data + 4, "ftyp", 4) == 0;
    for (size_t i = 0; media && i < sizeof(brands) / sizeof(*brands); i++)
        if (memcmp(data + MAJOR_AT, brands[i].brand, BRAND) == 0)
            found = brands[i].other;
    // mif1 and msf1 say only that it has images; the compatible brands say which.
    for (size_t at = OTHERS_AT; found && at + BRAND <= size && at + BRAND <= CODEC_PROBE_BYTES; at += BRAND)
        if (data[MAJOR_AT] == 'm' && memcmp(data + at, "avi", 3) == 0)
            found = &avif;
    return found;
}

static bool refuse_other(const uint8_t *data, size_t size, struct codec_error *error)
{
    const struct other *other = find_other(data, size);
    if (other->library)
        return codec_refuse(
            error, CODEC_UNSUPPORTED,
            "this build of monocle has no %s and cannot read %s files; convert the file to PNG or JPEG first",
            other->library, other->name);
    return codec_refuse(error, CODEC_UNSUPPORTED, "monocle cannot read %s files; %s", other->name,
                        strstr(other->name, "raw") ? DEVELOP : "convert the file to PNG or JPEG first");
}

bool codec_probe(const void *data, size_t size, enum codec_format *format)
{
    *format = CODEC_OTHER;
    for (int i = 0; i < CODEC_FORMATS; i++) {
        if (!is_built(i))
            continue;
        if (kinds[i]->info.guess && find_other(data, size))
            return true;
        if (kinds[i]->looks_so(data, size)) {
            *format = (enum codec_format)i;
            return true;
        }
    }
    return false;
}

struct codec *codec_open(void)
{
    struct codec *codec = xalloc(sizeof(*codec));
    for (int i = 0; i < CODEC_FORMATS; i++) {
        codec->state[i] = xalloc(kinds[i]->state_bytes);
        if (kinds[i]->open)
            kinds[i]->open(codec->state[i]);
    }
    return codec;
}

void codec_close(struct codec *codec)
{
    if (!codec)
        return;
    for (int i = 0; i < CODEC_FORMATS; i++) {
        if (kinds[i]->close)
            kinds[i]->close(codec->state[i]);
        for (int b = 0; b < kinds[i]->buffers; b++)
            codec_buffer_free((struct codec_buffer *)codec->state[i] + b);
        free(codec->state[i]);
    }
    codec_buffer_free(&codec->exif);
    codec_buffer_free(&codec->xmp);
    codec_buffer_free(&codec->iptc);
    codec_buffer_free(&codec->chunks);
    profile_close(codec->profile);
    free(codec);
}

void codec_to_srgb(struct codec *codec)
{
    codec->to_srgb = true;
}

static bool size_ok(const struct image_shape *shape, uint64_t most_pixels, struct codec_error *error)
{
    const char *why;
    const uint64_t pixels = (uint64_t)shape->width * (uint64_t)shape->height;
    if (shape->width > IMAGE_MAX_SIDE || shape->height > IMAGE_MAX_SIDE)
        return codec_refuse(error, CODEC_TOO_LARGE, "it is wider or higher than %d pixels", IMAGE_MAX_SIDE);
    // Filters work on RGBA, so the limit counts RGBA bytes.
    if (!pixfmt_size_ok(PIXFMT_RGBA, shape->width, shape->height, &why))
        return codec_refuse(error, shape->width < 1 || shape->height < 1 ? CODEC_DAMAGED : CODEC_TOO_LARGE,
                            "it has %dx%d pixels: %s", shape->width, shape->height, why);
    if (most_pixels > 0 && pixels > most_pixels)
        return codec_refuse(error, CODEC_TOO_LARGE, "it has %dx%d pixels, but at most %llu are allowed", shape->width,
                            shape->height, (unsigned long long)most_pixels);
    return true;
}

static bool begin_head(size_t size, struct codec_head *head, struct codec_error *error)
{
    *head = (struct codec_head){.orientation = 1};
    *error = (struct codec_error){0};
    if (size == 0)
        return codec_refuse(error, CODEC_NOT_A_PICTURE, "the file is empty");
    return size <= IMAGE_MAX_BYTES || codec_refuse(error, CODEC_TOO_LARGE, "the file is larger than 1 GiB");
}

static bool density_ok(const double density[2])
{
    enum { MOST = 1000000 };
    return density[0] > 0 && density[1] > 0 && density[0] < MOST && density[1] < MOST;
}

// Removes damaged blocks, and completes orientation and resolution. Pixels that are not square keep their shape; for
// others, a resolution in the EXIF data is more than the shape.
static void check_metadata(struct codec_head *head)
{
    struct codec_metadata *metadata = &head->metadata;
    struct codec_bytes *exif = &metadata->exif, *xmp = &metadata->xmp;
    bool usable = true;
    const char *fault = exif->data ? exif_fault(exif->data, exif->size, &usable) : NULL;
    if (fault)
        codec_lacks(metadata, fault);
    if (!usable)
        *exif = (struct codec_bytes){0};
    while (xmp->size > 0 && xmp->data[xmp->size - 1] == '\0')
        xmp->size--;
    if (xmp->size > 0 && memchr(xmp->data, '\0', xmp->size)) {
        codec_lacks(metadata, "its XMP data are not in UTF-8 and are left out");
        xmp->size = 0;
    }
    if (xmp->size == 0)
        xmp->data = NULL;
    head->orientation = head->upright ? 1 : exif_orientation(exif->data, exif->size);
    if (!density_ok(metadata->aspect))
        metadata->aspect[0] = metadata->aspect[1] = 0;
    if (!density_ok(metadata->density) && metadata->aspect[0] == metadata->aspect[1])
        exif_density(exif->data, exif->size, metadata->density);
    if (!density_ok(metadata->density))
        metadata->density[0] = metadata->density[1] = 0;
    else
        metadata->aspect[0] = metadata->aspect[1] = 0;
}

// Replaces the profile by that of the image's code points.
static void take_codes(struct codec *codec, struct codec_head *head)
{
    enum { TRANSFER_PQ = 16, TRANSFER_HLG = 18 };
    struct codec_metadata *metadata = &head->metadata;
    const int transfer = metadata->codes[1];
    if (metadata->codes[0] == 0 || (metadata->icc.data && !codec->to_srgb))
        return;
    if (!profile_of_codes(&codec->profile, metadata->codes, &metadata->icc))
        head->remarks |= codec->to_srgb && !metadata->icc.data ? CODEC_UNPROFILED : 0;
    else if (codec->to_srgb && metadata->icc.data && (transfer == TRANSFER_PQ || transfer == TRANSFER_HLG))
        head->remarks |= CODEC_BRIGHT;
}

// Prepares the conversion to sRGB. The metadata then describe the converted image. Returns false if the pixels cannot
// be shown without a profile.
static bool check_colours(struct codec *codec, struct codec_head *head, struct codec_error *error)
{
    struct codec_metadata *metadata = &head->metadata;
    const bool grey = head->jpeg == PIXFMT_GREY, deep = head->remarks & CODEC_DEEP;
    const enum profile_pixels pixels = head->inks ? PROFILE_INK : grey ? PROFILE_GREY : PROFILE_RGB;
    const enum pixfmt format = codec_goes_by_rows(head->format) && !grey ? PIXFMT_RGBA : head->shape.format;
    enum profile_use use = PROFILE_UNKNOWN;
    take_codes(codec, head);
    if (codec->to_srgb && metadata->icc.data)
        use = profile_prepare(&codec->profile, metadata->icc, pixels, format, deep);
    if (codec->to_srgb)
        metadata->colours = metadata->icc.data ? CODEC_COLOURS_OWN : CODEC_COLOURS_SRGB;
    if (use == PROFILE_WRONG) {
        head->remarks |= CODEC_UNPROFILED;
        metadata->colours = CODEC_COLOURS_SRGB;
        metadata->icc = (struct codec_bytes){0};
    }
    if (use == PROFILE_SRGB)
        metadata->colours = CODEC_COLOURS_SRGB;
    if (use == PROFILE_CONVERTS) {
        metadata->colours = CODEC_COLOURS_CONVERTED;
        metadata->icc = (struct codec_bytes){0};
        head->profile = codec->profile;
        head->shape.format = format;
    }
    return use == PROFILE_CONVERTS || !head->inks ||
           codec_refuse(error, CODEC_UNSUPPORTED,
                        "CMYK images are read only with their colour profile; convert the image to RGB first");
}

// Reads the head with the codec of head->format.
static bool read_head(struct codec *codec, const void *data, size_t size, uint64_t most_pixels, struct codec_head *head,
                      struct codec_error *error)
{
    const struct codec_kind *kind = kinds[head->format];
    const bool ok = kind->head(codec->state[head->format], data, size, head, error);
    if ((ok || head->shape.width > 0) && !size_ok(&head->shape, most_pixels, error)) // before any other complaint
        return false;
    if (!ok)
        return false;
    head->shape.opaque = !head->alpha;
    check_metadata(head);
    return check_colours(codec, head, error);
}

// Converts the rows from codec->converted to `end`.
static void convert_rows(struct codec *codec, const struct codec_head *head, struct image *image, int end)
{
    for (; head->profile && codec->converted < end; codec->converted++)
        profile_convert(head->profile, image_row(image, 0, codec->converted), image->shape.width);
}

bool codec_name_ok(const char *path, const void *data, size_t size, struct codec_error *error)
{
    enum codec_format format;
    const char *extension = strrchr(path, '.'), *why = extension ? codec_foreign_name(extension + 1) : NULL;
    *error = (struct codec_error){0};
    const bool image = codec_probe(data, size, &format);
    if (!image && (why = codec_misuse(path, true)))
        return codec_refuse(error, CODEC_NOT_A_PICTURE, "%s", why);
    return !why || format != CODEC_TIFF || codec_refuse(error, CODEC_UNSUPPORTED, "%s", why);
}

bool codec_head(struct codec *codec, const void *data, size_t size, uint64_t most_pixels, struct codec_head *head,
                struct codec_error *error)
{
    if (!begin_head(size, head, error))
        return false;
    if (!codec_probe(data, size, &head->format))
        return codec_refuse(error, CODEC_NOT_A_PICTURE,
                            "it is not a JPEG, PNG, " WEBP_NAMED TIFF_NAMED GIF_NAMED HEIF_NAMED JXL_NAMED
                            "BMP, PSD or TGA file");
    if (head->format == CODEC_OTHER)
        return refuse_other(data, size, error);
    return read_head(codec, data, size, most_pixels, head, error);
}

bool codec_head_of(struct codec *codec, enum codec_format format, const void *data, size_t size, uint64_t most_pixels,
                   struct codec_head *head, struct codec_error *error)
{
    if (!begin_head(size, head, error))
        return false;
    head->format = format;
    if (!kinds[format]->looks_so(data, size))
        return codec_refuse(error, CODEC_NOT_A_PICTURE, "it is not in %s format", kinds[format]->info.name);
    return read_head(codec, data, size, most_pixels, head, error);
}

bool codec_decode(struct codec *codec, const void *data, size_t size, const struct codec_head *head,
                  struct image *image, struct codec_error *error)
{
    if (codec_goes_by_rows(head->format))
        return codec_decode_begin(codec, data, size, head, image, error) &&
               codec_decode_rows(codec, head, image, image->shape.height - 1, error) > 0;
    *error = (struct codec_error){0};
    if (!kinds[head->format]->decode(codec->state[head->format], data, size, head, image, error))
        return false;
    codec->converted = head->remarks & CODEC_DEEP ? image->shape.height : 0; // the decoder converts 16 bits
    convert_rows(codec, head, image, image->shape.height);
    return true;
}

bool codec_goes_by_rows(enum codec_format format)
{
    return format < CODEC_FORMATS && kinds[format]->decode_begin;
}

bool codec_decode_begin(struct codec *codec, const void *data, size_t size, const struct codec_head *head,
                        const struct image *image, struct codec_error *error)
{
    *error = (struct codec_error){0};
    codec->converted = 0;
    return kinds[head->format]->decode_begin(codec->state[head->format], data, size, image, error);
}

int codec_decode_rows(struct codec *codec, const struct codec_head *head, struct image *image, int last,
                      struct codec_error *error)
{
    const int done = kinds[head->format]->decode_rows(codec->state[head->format], image, last, error);
    convert_rows(codec, head, image, done);
    return done;
}

// Returns true if the profile is for colour and the file is grey, or the reverse (ICC.1, 7.2.6).
static bool is_misfit(const struct codec_bytes *icc, bool grey)
{
    enum { COLOUR_SPACE_AT = 16 };
    return icc->size >= COLOUR_SPACE_AT + 4 && memcmp(icc->data + COLOUR_SPACE_AT, grey ? "RGB " : "GRAY", 4) == 0;
}

static void leave_unkept(struct codec_error *error, const char *what, const struct codec_kind *kind)
{
    char text[CODEC_WHY];
    snprintf(text, sizeof(text), "its %s left out, because a %s file cannot hold them", what, kind->info.name);
    codec_leave_out(error, text);
}

// Names the PNG chunks that another format cannot hold. It need not hold an explicit sRGB, which is the default.
static void leave_chunks(struct codec_error *error, struct codec_bytes chunks, const struct codec_kind *kind)
{
    enum { HEAD = 8, TYPE_AT = 4 };
    static const uint8_t srgb_gamma[] = {0, 0, 0xb1, 0x8f};
    char names[64] = "PNG chunks";
    for (size_t at = 0; at < chunks.size;) {
        const uint8_t *from = chunks.data + at;
        char name[6] = " ";
        memcpy(name + 1, from + TYPE_AT, 4);
        const bool same = strcmp(name, " sRGB") == 0 ||
                          (strcmp(name, " gAMA") == 0 && memcmp(from + HEAD, srgb_gamma, sizeof(srgb_gamma)) == 0);
        if (!same && !strstr(names, name) && strlen(names) + sizeof(name) < sizeof(names))
            strcat(names, name);
        at += codec_chunk_bytes(from);
    }
    if (!strchr(names + 4, ' '))
        return;
    strcat(names, " are");
    leave_unkept(error, names, kind);
}

// Removes the metadata that the format cannot hold, and names them.
static void remove_unkept(const struct codec_kind *kind, struct codec_metadata *metadata, struct codec_error *error)
{
    if (metadata->iptc.data && !(kind->keeps & CODEC_KEEPS_IPTC)) {
        leave_unkept(error, "IPTC data are", kind);
        metadata->iptc = (struct codec_bytes){0};
    }
    if (metadata->comment.data && !(kind->keeps & CODEC_KEEPS_COMMENT)) {
        leave_unkept(error, "comments are", kind);
        metadata->comment = (struct codec_bytes){0};
    }
    if (metadata->chunks.data && !(kind->keeps & CODEC_KEEPS_CHUNKS)) {
        leave_chunks(error, metadata->chunks, kind);
        metadata->chunks = (struct codec_bytes){0};
    }
}

// Returns true for a PNG chunk that names the colours before a conversion, or (a text of ImageMagick) the place.
static bool is_outdated(const uint8_t *chunk, const struct codec_settings *settings)
{
    enum { HEAD = 8 };
    const struct codec_bytes data = {chunk + HEAD, codec_chunk_bytes(chunk) - HEAD};
    return (settings->metadata.colours == CODEC_COLOURS_CONVERTED && codec_names_colours(chunk)) ||
           (settings->no_place && codec_begins(data, "exif:GPS", 8));
}

// Leaves out such chunks. Returns false if there is no memory.
static bool drop_chunks(struct codec *codec, struct codec_settings *settings)
{
    struct codec_bytes *chunks = &settings->metadata.chunks;
    codec->chunks.size = 0;
    for (size_t at = 0; at < chunks->size; at += codec_chunk_bytes(chunks->data + at)) {
        if (!is_outdated(chunks->data + at, settings) &&
            !codec_buffer_append(&codec->chunks, chunks->data + at, codec_chunk_bytes(chunks->data + at)))
            return false;
    }
    *chunks = (struct codec_bytes){codec->chunks.size > 0 ? codec->chunks.data : NULL, codec->chunks.size};
    return true;
}

static void exchange(double pair[2])
{
    const double first = pair[0];
    pair[0] = pair[1];
    pair[1] = first;
}

// Adapts the metadata to the image. Returns false if there is no memory.
static bool settle(struct codec *codec, const struct image_shape *shape, struct codec_settings *settings)
{
    struct codec_bytes *exif = &settings->metadata.exif, *xmp = &settings->metadata.xmp;
    const struct metadata_target target = {shape->width,
                                           shape->height,
                                           settings->orientation,
                                           settings->turned,
                                           settings->metadata.colours == CODEC_COLOURS_CONVERTED,
                                           settings->no_place};
    codec->exif.size = 0;
    if (settings->turned) {
        exchange(settings->metadata.density);
        exchange(settings->metadata.aspect);
    }
    if (exif->data && codec_buffer_append(&codec->exif, exif->data, exif->size))
        *exif = (struct codec_bytes){codec->exif.data, exif_settle(codec->exif.data, exif->size, &target)};
    else if (exif->data)
        return false;
    if (xmp->data && !xmp_settle(*xmp, &target, &codec->xmp))
        return false;
    if (xmp->data)
        *xmp = (struct codec_bytes){codec->xmp.data, codec->xmp.size};
    if (settings->no_place && settings->metadata.iptc.data) {
        if (!iptc_without_place(settings->metadata.iptc, &codec->iptc))
            return false;
        settings->metadata.iptc =
            (struct codec_bytes){codec->iptc.size > 0 ? codec->iptc.data : NULL, codec->iptc.size};
    }
    return true;
}

// Checks that the image can be encoded, and empties the buffer. Writes the settings to `fitting`, without a profile
// that does not fit and with metadata for the new pixels.
static bool prepare(struct codec *codec, const struct image *image, const struct codec_settings *settings,
                    struct codec_buffer *buffer, struct codec_settings *fitting, struct codec_error *error)
{
    const struct codec_kind *kind = kinds[settings->format];
    const bool can_be_grey = settings->format == CODEC_PNG || settings->format == CODEC_TIFF;
    const bool grey = image->shape.format == PIXFMT_GREY || (settings->grey && can_be_grey);
    *fitting = *settings;
    *error = (struct codec_error){0};
    buffer->size = 0;
    if (kind->encodes == 0)
        return codec_refuse(error, CODEC_UNSUPPORTED, "monocle cannot write %s files", kind->info.name);
    if (!(kind->encodes & 1u << image->shape.format))
        return codec_refuse(error, CODEC_UNSUPPORTED, "%s files cannot be written from %s pixels", kind->info.name,
                            pixfmt_info(image->shape.format)->name);
    for (size_t i = 0; i < sizeof(remarks) / sizeof(*remarks); i++) {
        if (settings->remarks & remarks[i].remark)
            codec_leave_out(error, remarks[i].text);
    }
    if (settings->metadata.left_out[0])
        codec_leave_out(error, settings->metadata.left_out);
    if (!drop_chunks(codec, fitting))
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    remove_unkept(kind, &fitting->metadata, error);
    if (is_misfit(&fitting->metadata.icc, grey))
        fitting->metadata.icc = (struct codec_bytes){0};
    if (fitting->metadata.colours == CODEC_COLOURS_CONVERTED && codec->profile && !grey &&
        settings->format != CODEC_PNG)
        fitting->metadata.icc = profile_srgb(codec->profile); // PNG has a chunk for it
    return settle(codec, &image->shape, fitting) || codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
}

bool codec_encode(struct codec *codec, const struct image *image, const struct codec_settings *settings,
                  struct codec_buffer *buffer, struct codec_error *error)
{
    struct codec_settings fitting;
    if (codec_goes_by_rows(settings->format))
        return codec_encode_begin(codec, image, settings, buffer, error) &&
               codec_encode_rows(codec, image, settings, image->shape.height, error);
    return prepare(codec, image, settings, buffer, &fitting, error) &&
           kinds[settings->format]->encode(codec->state[settings->format], image, &fitting, buffer, error);
}

bool codec_encode_begin(struct codec *codec, const struct image *image, const struct codec_settings *settings,
                        struct codec_buffer *buffer, struct codec_error *error)
{
    struct codec_settings fitting;
    return prepare(codec, image, settings, buffer, &fitting, error) &&
           kinds[settings->format]->encode_begin(codec->state[settings->format], image, &fitting, buffer, error);
}

bool codec_encode_rows(struct codec *codec, const struct image *image, const struct codec_settings *settings, int count,
                       struct codec_error *error)
{
    return kinds[settings->format]->encode_rows(codec->state[settings->format], image, count, error);
}

struct codec_turn codec_turn(int orientation)
{
    // EXIF 2.32, tag 0x0112
    static const struct codec_turn turns[] = {
        [1] = {.mirror = false},
        [2] = {.mirror = true},
        [3] = {.mirror = true, .flip = true},
        [4] = {.flip = true},
        [5] = {.transpose = true},
        [6] = {.transpose = true, .mirror = true},
        [7] = {.transpose = true, .mirror = true, .flip = true},
        [8] = {.transpose = true, .flip = true},
    };
    return turns[orientation >= 1 && orientation <= 8 ? orientation : 1];
}
