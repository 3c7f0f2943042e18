// source.c: which kind of source a text means; pacing; the end
#include "source/source.h"

#include "base/clock.h"
#include "base/log.h"
#include "image/codec/codec.h"
#include "image/encode.h"
#include "source/kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000, VIDEO_MAJOR = 81 }; // device number: kernel's devices.txt

const char *const source_help[] = {
    "(nothing)\tthe first camera; the test pattern if there is no camera",
    "camera[:NAME]\ta V4L2 camera by node, number, id or part of its name; --size, --pixel-format and the rate choose "
    "its mode",
    "pattern[:WxH@FPS,FORMAT]\tmoving test pattern; pattern:1280x720@30,nv12 is the default",
    "FILE.png, .jpg, .webp, .tiff, .bmp, .tga, .psd, .gif\tone image, the first frame of a GIF; 16 bits per channel "
    "only in PNG and TIFF; WebP and TIFF only in builds with libwebp and libtiff",
    "FILE.y4m\ta Y4M video: 4:2:0, 4:2:2, 4:4:4 or mono, 8 bits; also a named pipe",
    "-\tY4M on standard input, for example from ffmpeg -f yuv4mpegpipe",
    "raw:FILE\tframes without a header; needs --size and --pixel-format; raw:- is standard input",
    "DIRECTORY\tits images in natural order; images of another size than the first are skipped",
    "@LIST\tthe images named in a text file, one path per line; images of another size than the first are skipped",
    NULL,
};

static const struct {
    const char *word;
    const struct source_kind *kind;
} words[] = {{"pattern", &source_pattern}, {"camera", &source_camera}, {"raw", &source_raw}};

struct color source_color(const struct source_setup *setup, struct color said, enum pixfmt format, int width,
                          int height)
{
    return color_resolve(said, setup->color, format == PIXFMT_GREY, width, height);
}

bool source_size_fits(const struct source_setup *setup, int width, int height, const char *name)
{
    if ((setup->width == 0 || setup->width == width) && (setup->height == 0 || setup->height == height))
        return true;
    log_error("%s has %dx%d pixels, not %dx%d; leave out --size, which is for cameras, the pattern and raw files", name,
              width, height, setup->width, setup->height);
    return false;
}

bool source_convert(struct image *image, const struct source_setup *setup, const char *name)
{
    struct image_shape shape = image->shape;
    shape.format = setup->has_format ? setup->format : PIXFMT_RGBA;
    shape.color = source_color(setup, (struct color){0}, shape.format, shape.width, shape.height);
    if (shape.format == PIXFMT_RGBA) {
        image->shape = shape;
        return true;
    }
    const char *why = "out of memory";
    struct image converted;
    if (!pixfmt_size_ok(shape.format, shape.width, shape.height, &why) || !image_alloc(&converted, &shape)) {
        log_error("cannot convert %s (%dx%d pixels) to %s: %s", name, shape.width, shape.height,
                  pixfmt_info(shape.format)->name, why);
        return false;
    }
    encode_image(&converted, image);
    image_free(image);
    *image = converted;
    return true;
}

// The kind whose word the text begins with, "word" or "word:rest". NULL when it is a path.
static const struct source_kind *kind_of_word(const char *text, const char **rest)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        const size_t length = strlen(words[i].word);
        if (strncmp(text, words[i].word, length) != 0)
            continue;
        if (text[length] == '\0' || text[length] == ':') {
            *rest = text[length] == ':' ? text + length + 1 : NULL;
            return words[i].kind;
        }
    }
    return NULL;
}

// What kind of data a regular file holds, by its first bytes.
static const struct source_kind *kind_of_content(const struct source_setup *setup)
{
    static const char y4m[] = "YUV4MPEG2";
    uint8_t head[CODEC_PROBE_BYTES];
    const int fd = open(setup->text, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, head, sizeof(head));
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (got <= 0) {
        log_error("cannot read %s: %s", setup->text, got < 0 ? strerror(error) : "the file is empty");
        return NULL;
    }
    const size_t size = (size_t)got;
    enum codec_format format;
    const bool picture = codec_probe(head, size, &format);
    if (size >= sizeof(y4m) - 1 && memcmp(head, y4m, sizeof(y4m) - 1) == 0)
        return &source_y4m;
    // TGA is only a guess: where the user says what raw data there is, that counts.
    const bool says_raw = setup->has_format && setup->width > 0;
    if (picture && !(format == CODEC_TGA && says_raw))
        return &source_still;
    if (says_raw)
        return &source_raw;
    log_error("%s is neither an image nor a Y4M video; for other videos run: ffmpeg -i FILE -f yuv4mpegpipe - | "
              "monocle live -; for raw frames add --size and --pixel-format",
              setup->text);
    return NULL;
}

static const struct source_kind *kind_of_path(const struct source_setup *setup)
{
    struct stat status;
    if (stat(setup->text, &status) != 0) {
        log_error("cannot open %s: %s; a source is a file, a directory, -, @LIST, pattern, camera or raw:FILE",
                  setup->text, strerror(errno));
        return NULL;
    }
    if (S_ISREG(status.st_mode))
        return kind_of_content(setup);
    if (S_ISDIR(status.st_mode))
        return &source_list;
    if (S_ISFIFO(status.st_mode))
        return &source_y4m;
    if (S_ISCHR(status.st_mode) && major(status.st_rdev) == VIDEO_MAJOR)
        return &source_camera;
    log_error("cannot open %s: it is not a regular file, directory, named pipe or camera", setup->text);
    return NULL;
}

static const struct source_kind *choose_kind(const struct source_setup *setup, const char **text)
{
    *text = setup->text;
    const struct source_kind *kind = kind_of_word(setup->text, text);
    if (kind)
        return kind;
    if (setup->text[0] == '@')
        return &source_list;
    if (strcmp(setup->text, "-") == 0)
        return &source_y4m;
    return kind_of_path(setup);
}

static struct source *open_kind(const struct source_kind *kind, const struct source_setup *setup, const char *text)
{
    if (setup->compressed && kind != &source_camera) {
        log_error("--pixel-format mjpeg is only for cameras, and the source is not a camera; leave it out");
        return NULL;
    }
    struct source *source = calloc(1, sizeof(*source));
    void *state = calloc(1, kind->state_bytes);
    if (!source || !state) {
        log_error("cannot open the source: out of memory");
        free(source);
        free(state);
        return NULL;
    }
    *source = (struct source){.kind = kind, .state = state, .info.kind = kind->name};
    if (!kind->open(source, setup, text)) {
        source_close(source);
        return NULL;
    }
    if (source->info.live) // a camera has its own pace
        return source;
    if (setup->rate > 0) {
        source->info.rate = setup->rate;
        source->info.rate_numerator = source->info.rate_denominator = 0;
    }
    if (setup->paced) {
        if (source->info.rate <= 0)
            source->info.rate = SOURCE_DEFAULT_RATE;
        source->period_ns = (int64_t)(NS_PER_S / source->info.rate);
        source->info.live = true;
    }
    return source;
}

struct source *source_open(const struct source_setup *setup)
{
    const char *text;
    if (setup->text && setup->text[0] != '\0') {
        const struct source_kind *kind = choose_kind(setup, &text);
        return kind ? open_kind(kind, setup, text) : NULL;
    }
    char camera[CAMERA_PATH];
    const char *why;
    if (camera_first(camera, &why))
        return open_kind(&source_camera, setup, camera);
    if (why) {
        log_error("cannot open camera %s: %s", camera, why);
        return NULL;
    }
    log_info("there is no camera; showing the test pattern");
    return open_kind(&source_pattern, setup, NULL);
}

void source_close(struct source *source)
{
    if (!source)
        return;
    source->kind->close(source);
    free(source->state);
    free(source);
}

const struct source_info *source_info(const struct source *source)
{
    return &source->info;
}

void source_place(struct source *source, struct pages_owner *owner)
{
    source->owner = owner;
}

bool source_holds(const struct source *source, const char *path)
{
    return source->kind->holds && source->kind->holds(source, path);
}

struct source_health source_health(struct source *source)
{
    struct source_health health = {0};
    if (source->kind->health)
        source->kind->health(source, &health);
    return health;
}

bool source_control(struct source *source, int index, int steps, struct source_control *control)
{
    *control = (struct source_control){.why = "the source is not a camera and has no controls"};
    return source->kind->control && source->kind->control(source, index, steps, control);
}

// Sleeps until the next frame is due. False when that is after the deadline, or when a signal came.
static bool wait_due(struct source *source, int64_t deadline_ns)
{
    if (source->due_ns == 0)
        source->due_ns = clock_now_ns();
    if (clock_now_ns() < source->due_ns)
        clock_sleep_until_ns(source->due_ns < deadline_ns ? source->due_ns : deadline_ns);
    return clock_now_ns() >= source->due_ns;
}

// The schedule is kept through short delays; after a long one (a stopped program) it starts anew, without a rush.
static void advance_due(struct source *source)
{
    enum { LATE_NS = 250 * NS_PER_MS };
    const int64_t now = clock_now_ns();
    source->due_ns += source->period_ns;
    if (now - source->due_ns > LATE_NS)
        source->due_ns = now;
}

enum source_status source_next(struct source *source, struct frame *frame, int timeout_ms)
{
    if (source->ending != SOURCE_FRAME)
        return source->ending;
    const int64_t deadline = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + (int64_t)timeout_ms * NS_PER_MS;
    if (source->period_ns > 0 && !wait_due(source, deadline))
        return SOURCE_TIMEOUT;
    const enum source_status status = source->kind->next(source, frame, deadline);
    if (status != SOURCE_FRAME && status != SOURCE_TIMEOUT)
        source->ending = status;
    if (status == SOURCE_FRAME && source->period_ns > 0)
        advance_due(source);
    return status;
}

bool source_reshape(struct source *source)
{
    const bool ok = source->kind->reshape(source);
    source->ending = ok ? SOURCE_FRAME : SOURCE_FAILED;
    return ok;
}

void source_return(struct source *source, const struct frame *frame)
{
    source->kind->give_back(source, frame);
}
