// captures.c: a directory of captures for `monocle tune --from`: a capture is a chain, and a frame that it ran on
#include "tune/captures.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 1, HEAD_BYTES = 4 * CHAIN_TEXT, NAME_BYTES = 32 };
static const char extension[] = ".capture";

// ---- one file ----

// Returns the first line, without its newline. The caller frees it. NULL: the chain is not UTF-8.
static char *print_head(const struct capture_entry *entry)
{
    const struct image_shape *shape = &entry->frame.shape;
    const struct color unset = {0}, color = color_resolve(shape->color, unset, shape->format == PIXFMT_GREY,
                                                          shape->width, shape->height); // RGB may have none
    json_t *head = json_pack(
        "{s:i,s:s,s:s,s:b,s:i,s:i,s:s,s:s,s:s,s:o,s:i}", "monocle_capture", VERSION, "chain", entry->text, "format",
        pixfmt_info(shape->format)->name, "opaque", image_shape_opaque(shape), "width", shape->width, "height",
        shape->height, "matrix", color_matrix_name(color.matrix), "range", color_range_name(color.range), "output",
        entry->to_image ? "image" : "buffer", "device", text_json(entry->device), "threads", entry->threads);
    char *text = json_dumps(head, JSON_COMPACT);
    json_decref(head);
    return text;
}

// Returns the bytes of a file with this first line.
static char *print_file(const char *head, const struct image *frame, size_t *size)
{
    const size_t before = strlen(head) + 1;
    struct image pixels;
    *size = before + image_bytes(&frame->shape);
    char *file = malloc(*size);
    if (!file)
        return NULL;
    snprintf(file, before, "%s", head);
    file[before - 1] = '\n';
    image_wrap(&pixels, &frame->shape, file + before);
    image_copy(&pixels, frame);
    return file;
}

char *capture_print(const struct capture_entry *entry, size_t *size)
{
    char *head = print_head(entry), *file = head ? print_file(head, &entry->frame, size) : NULL;
    free(head);
    return file;
}

static bool refuse(char why[CAPTURE_WHY], const char *text)
{
    snprintf(why, CAPTURE_WHY, "%s", text);
    return false;
}

static bool parse_color(struct color *color, const char *matrix, const char *range)
{
    for (int i = COLOR_MATRIX_601; i <= COLOR_MATRIX_2020; i++) {
        if (strcmp(matrix, color_matrix_name((enum color_matrix)i)) == 0)
            color->matrix = (enum color_matrix)i;
    }
    for (int i = COLOR_RANGE_LIMITED; i <= COLOR_RANGE_FULL; i++) {
        if (strcmp(range, color_range_name((enum color_range)i)) == 0)
            color->range = (enum color_range)i;
    }
    return color->matrix != COLOR_MATRIX_DEFAULT && color->range != COLOR_RANGE_DEFAULT;
}

// Reads the first line. `root` stays owned by the caller.
static bool parse_head(struct capture_entry *entry, json_t *root, struct image_shape *shape, char why[CAPTURE_WHY])
{
    const char *chain, *format, *matrix, *range, *output, *device, *size_why;
    char chain_why[CHAIN_ERROR];
    int opaque = false;
    json_int_t version, width, height, threads;
    json_error_t error;
    if (json_unpack_ex(root, &error, JSON_STRICT, "{s:I,s:s,s:s,s?b,s:I,s:I,s:s,s:s,s:s,s:s,s:I}", "monocle_capture",
                       &version, "chain", &chain, "format", &format, "opaque", &opaque, "width", &width, "height",
                       &height, "matrix", &matrix, "range", &range, "output", &output, "device", &device, "threads",
                       &threads) != 0)
        return refuse(why, error.text);
    if (version != VERSION)
        return refuse(why, "another version of monocle wrote it");
    if (!chain_parse(&entry->chain, chain, chain_why))
        return refuse(why, chain_why);
    if (!pixfmt_from_name(format, &shape->format))
        return refuse(why, "there is no such pixel format");
    shape->opaque = opaque;
    if (width < 1 || width > IMAGE_MAX_SIDE || height < 1 || height > IMAGE_MAX_SIDE)
        return refuse(why, "width and height must be 1 to 32768");
    shape->width = (int)width;
    shape->height = (int)height;
    if (!pixfmt_size_ok(shape->format, shape->width, shape->height, &size_why))
        return refuse(why, size_why);
    if (!parse_color(&shape->color, matrix, range))
        return refuse(why, "there is no such colour matrix or range");
    entry->to_image = strcmp(output, "image") == 0;
    if (!entry->to_image && strcmp(output, "buffer") != 0)
        return refuse(why, "the output must be image or buffer");
    if (threads < 0 || threads > CAPTURE_THREADS)
        return refuse(why, "the threads must be 0 to 256");
    entry->threads = (int)threads;
    if (strlen(device) >= CAPTURE_DEVICE)
        return refuse(why, "the device's name is too long");
    strcpy(entry->device, device);
    return chain_print(&entry->chain, entry->text) || refuse(why, "the chain is too long");
}

bool capture_parse(struct capture_entry *entry, const char *data, size_t size, char why[CAPTURE_WHY])
{
    const char *newline = memchr(data, '\n', size < HEAD_BYTES ? size : HEAD_BYTES);
    struct image_shape shape = {0};
    struct image pixels;
    json_error_t error;
    *entry = (struct capture_entry){0};
    if (!newline)
        return refuse(why, "it is not a capture");
    const size_t before = (size_t)(newline - data) + 1;
    json_t *root = json_loadb(data, before - 1, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return refuse(why, error.text);
    bool ok = parse_head(entry, root, &shape, why);
    json_decref(root);
    if (ok && size - before != image_bytes(&shape)) {
        snprintf(why, CAPTURE_WHY, "its frame has %zu bytes instead of %zu", size - before, image_bytes(&shape));
        ok = false;
    }
    if (ok && !image_alloc(&entry->frame, &shape))
        ok = refuse(why, "out of memory");
    if (!ok) {
        *entry = (struct capture_entry){0};
        return false;
    }
    image_wrap(&pixels, &shape, (char *)data + before); // only read
    image_copy(&entry->frame, &pixels);
    return true;
}

void capture_free(struct capture_entry *entry)
{
    image_free(&entry->frame);
}

// ---- writing ----

static int is_capture(const struct dirent *found)
{
    const size_t length = strlen(found->d_name), end = sizeof(extension) - 1;
    return found->d_name[0] != '.' && length > end && strcmp(found->d_name + length - end, extension) == 0;
}

static void names_free(struct dirent **name, int count)
{
    for (int i = 0; i < count; i++)
        free(name[i]);
    free(name);
}

static void log_unsafe(const char *doing, const char *path, const char *unsafe)
{
    if (unsafe)
        log_error("cannot %s %s: it %s; name a directory of your own", doing, path, unsafe);
    else
        log_error("cannot %s %s: %s", doing, path, strerror(errno));
}

void captures_open(struct captures *captures, const char *path)
{
    const char *unsafe;
    *captures = (struct captures){.path = path, .directory = -1};
    pthread_mutex_init(&captures->lock, NULL);
    if (!path || (captures->directory = cache_open_named(path, true, &unsafe)) >= 0)
        return;
    log_unsafe("capture frames in", path, unsafe);
    captures->failed = true;
}

// Writes a file, unless it exists. False: errno is set.
static bool write_new(struct captures *captures, const char *head, const struct image *frame, char name[NAME_BYTES])
{
    struct dirent **found;
    struct stat status;
    size_t size;
    snprintf(name, NAME_BYTES, "%016llx%s", (unsigned long long)hash_64(head, strlen(head)), extension);
    if (fstatat(captures->directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    const int count = scandir(captures->path, &found, is_capture, NULL);
    if (count < 0)
        return false;
    names_free(found, count);
    if (count >= CAPTURES_MAX) {
        log_warn("%s has %d captures already; remove some to capture more", captures->path, count);
        captures->full = true;
        return true;
    }
    char *file = print_file(head, frame, &size);
    const bool ok = file && cache_write(captures->directory, name, file, size);
    if (ok)
        log_info("captured a frame of %dx%d as %s/%s", frame->shape.width, frame->shape.height, captures->path, name);
    free(file);
    return ok;
}

void captures_add(struct captures *captures, const struct chain *chain, const char *device, int threads, bool to_image,
                  const struct image *frame)
{
    if (!captures->path)
        return;
    char name[NAME_BYTES] = "";
    struct capture_entry *entry = xalloc(sizeof(*entry)); // too large for the stack of a thread
    entry->threads = threads < CAPTURE_THREADS ? threads : CAPTURE_THREADS;
    entry->to_image = to_image;
    entry->frame.shape = frame->shape;
    snprintf(entry->device, sizeof(entry->device), "%s", device);
    chain_print(chain, entry->text);
    char *head = print_head(entry);
    errno = ENOMEM;
    pthread_mutex_lock(&captures->lock);
    if (!captures->failed && !captures->full && !(head && write_new(captures, head, frame, name))) {
        log_error("cannot capture the frame as %s/%s: %s; continuing without captures", captures->path, name,
                  !head ? "the chain's file has a name that is not UTF-8; rename it" : strerror(errno));
        captures->failed = true;
    }
    pthread_mutex_unlock(&captures->lock);
    free(head);
    free(entry);
}

bool captures_close(struct captures *captures)
{
    if (captures->path) {
        pthread_mutex_destroy(&captures->lock);
        if (captures->directory >= 0)
            close(captures->directory);
        captures->path = NULL;
    }
    return !captures->failed;
}

// ---- reading ----

bool capture_names_open(struct capture_names *names, const char *path)
{
    const char *unsafe;
    *names = (struct capture_names){.path = path, .directory = cache_open_named(path, false, &unsafe)};
    if (names->directory < 0) {
        log_unsafe("read the captures in", path, unsafe);
        return false;
    }
    names->count = scandir(path, &names->name, is_capture, alphasort);
    if (names->count > 0)
        return true;
    if (names->count < 0)
        log_error("cannot read the directory %s: %s", path, strerror(errno));
    else
        log_error("there are no captures in %s; make some with `monocle live --capture %s`", path, path);
    capture_names_close(names);
    return false;
}

void capture_names_close(struct capture_names *names)
{
    if (names->count >= 0)
        names_free(names->name, names->count);
    close(names->directory);
}

bool capture_read(struct capture_entry *entry, const struct capture_names *names, int number)
{
    const char *name = names->name[number]->d_name;
    char why[CAPTURE_WHY];
    size_t size;
    char *file = cache_read(names->directory, name, IMAGE_MAX_BYTES + HEAD_BYTES, &size);
    if (!file)
        snprintf(why, sizeof(why), "%s", errno == ELOOP ? "it is a symbolic link" : strerror(errno));
    if (!file && errno == EPERM)
        snprintf(why, sizeof(why), "it is not a file that only you and root can write");
    const bool ok = file && capture_parse(entry, file, size, why);
    if (!ok)
        log_error("cannot use the capture %s/%s: %s; remove it", names->path, name, why);
    free(file);
    return ok;
}
