// test_captures.c: captures: they are read as they were written; damaged and unsafe ones are refused with one line
#include "tune/captures.h"

#include "scratch.h"
#include "unit.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static struct scratch scratch;
static char directory[512];

static struct chain chain_of(const char *text)
{
    struct chain chain;
    char error[CHAIN_ERROR];
    CHECK(chain_parse(&chain, text, error));
    return chain;
}

// Makes a frame whose rows and planes have padding, which has the value 0xFF. `format`, width and height are odd cases.
static struct image padded_frame(enum pixfmt format, int width, int height)
{
    static uint8_t memory[1 << 16];
    struct image frame = {
        .shape = {format, width, height, {COLOR_MATRIX_709, COLOR_RANGE_LIMITED}, height % 2},
    };
    uint8_t *at = memory, value = 0;
    memset(memory, 0xFF, sizeof(memory));
    for (int i = 0; i < pixfmt_info(format)->planes; i++) {
        const size_t bytes = pixfmt_row_bytes(format, i, width);
        frame.plane[i] = at;
        frame.stride[i] = bytes + 5;
        for (int y = 0; y < pixfmt_rows(format, i, height); y++) {
            for (size_t x = 0; x < bytes; x++)
                image_row(&frame, i, y)[x] = value++ % 251;
        }
        at += frame.stride[i] * (size_t)pixfmt_rows(format, i, height) + 3;
    }
    return frame;
}

static bool same_pixels(const struct image *a, const struct image *b)
{
    bool same = image_shape_equal(&a->shape, &b->shape);
    for (int i = 0; same && i < pixfmt_info(a->shape.format)->planes; i++) {
        for (int y = 0; y < pixfmt_rows(a->shape.format, i, a->shape.height); y++)
            same = same && memcmp(image_row(a, i, y), image_row(b, i, y),
                                  pixfmt_row_bytes(a->shape.format, i, a->shape.width)) == 0;
    }
    return same;
}

// Every format keeps its pixels, without the padding. The files and their directory belong to this user only.
static void check_kept(void)
{
    const struct chain chain = chain_of("gray,blur=3,contrast=brightness=10");
    struct captures captures;
    struct capture_names names;
    struct capture_entry entry;
    struct stat status;
    bool found[PIXFMT_COUNT] = {false};
    captures_open(&captures, directory);
    for (int format = 0; format < PIXFMT_COUNT; format++) {
        const struct image frame = padded_frame((enum pixfmt)format, 38, 21);
        captures_add(&captures, &chain, "a GPU", format, format % 2 == 1, &frame);
    }
    CHECK(captures_close(&captures));
    CHECK(stat(directory, &status) == 0 && (status.st_mode & 0777) == 0700);
    if (!CHECK(capture_names_open(&names, directory)))
        return;
    CHECK_NUMBER(names.count, PIXFMT_COUNT);
    for (int i = 0; i < names.count; i++) {
        if (!CHECK(capture_read(&entry, &names, i)))
            continue;
        const int format = (int)entry.frame.shape.format;
        const struct image frame = padded_frame((enum pixfmt)format, 38, 21);
        found[format] = true;
        CHECK(same_pixels(&entry.frame, &frame));
        CHECK_TEXT(entry.text, "gray,blur=3,contrast=brightness=10");
        CHECK_TEXT(entry.device, "a GPU");
        CHECK_NUMBER(entry.chain.count, 3);
        CHECK_NUMBER(entry.threads, format);
        CHECK_NUMBER(entry.to_image, format % 2);
        CHECK(fstatat(names.directory, names.name[i]->d_name, &status, 0) == 0 && (status.st_mode & 0777) == 0600);
        capture_free(&entry);
    }
    for (int i = 0; i < PIXFMT_COUNT; i++)
        CHECK(found[i]);
    capture_names_close(&names);
}

static void check_said(int want)
{
    const int lines = captured_lines(&scratch.said);
    CHECK_NUMBER(lines, want);
}

static int count_captures(void)
{
    struct capture_names names;
    const int count = capture_names_open(&names, directory) ? names.count : 0;
    if (count > 0)
        capture_names_close(&names);
    return count;
}

// A capture is written once, and replaces nothing. The directory has a limit.
static void check_once(void)
{
    struct image frame = padded_frame(PIXFMT_GREY, 8, 8);
    struct captures captures;
    char text[32];
    const int before = count_captures();
    captures_open(&captures, directory);
    for (int i = 0; i < 2; i++) {
        const struct chain chain = chain_of("invert");
        captures_add(&captures, &chain, "cpu", 1, false, &frame);
    }
    CHECK_NUMBER(count_captures(), before + 1);
    capture_stderr(&scratch.said);
    for (int i = 1; i < 2 * CAPTURES_MAX; i++) {
        snprintf(text, sizeof(text), "threshold=%d", i);
        const struct chain chain = chain_of(text);
        captures_add(&captures, &chain, "cpu", 1, false, &frame);
    }
    check_said(1);
    CHECK_HAS(scratch.said.text, "has 16 captures already");
    CHECK(captures_close(&captures));
    CHECK_NUMBER(count_captures(), CAPTURES_MAX);
}

static void remove_all(void)
{
    char command[600];
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    CHECK(system(command) == 0);
}

// A full disk gives one message and leaves no file.
static void check_full_disk(void)
{
    struct image frame = padded_frame(PIXFMT_RGBA, 64, 64);
    const struct chain chain = chain_of("invert"), other = chain_of("gray");
    struct rlimit limit, small;
    struct captures captures;
    remove_all();
    captures_open(&captures, directory);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    capture_stderr(&scratch.said);
    setrlimit(RLIMIT_FSIZE, &small);
    captures_add(&captures, &chain, "cpu", 1, false, &frame);
    captures_add(&captures, &other, "cpu", 1, false, &frame);
    setrlimit(RLIMIT_FSIZE, &limit);
    check_said(1);
    CHECK_HAS(scratch.said.text, ".capture: File too large; continuing without captures");
    CHECK(!captures_close(&captures));
    CHECK(rmdir(directory) == 0); // no temporary file is left
}

// ---- damaged files ----

#define HEAD(chain, format, width, height, matrix, output, device)                                                     \
    "{\"monocle_capture\":1,\"chain\":\"" chain "\",\"format\":\"" format "\",\"width\":" width ",\"height\":" height  \
    ",\"matrix\":\"" matrix "\",\"range\":\"full\",\"output\":\"" output "\",\"device\":\"" device "\",\"threads\":1}"
#define GOOD HEAD("invert", "grey", "2", "2", "601", "buffer", "D")

static const struct {
    const char *text, *message;
} refusals[] = {
    {"", "it is not a capture"},
    {GOOD "abcd", "it is not a capture"},
    {"\nabcd", "'[' or '{' expected"},
    {"{\"monocle_capture\":1}\nabcd", "chain"},
    {"[]\nabcd", "Expected object"},
    {GOOD "\nabc", "its frame has 3 bytes instead of 4"},
    {GOOD "\nabcde", "its frame has 5 bytes instead of 4"},
    {GOOD "{}\nabcd", "end of file expected"},
    {"{\"more\":1,\"monocle_capture\":1,\"chain\":\"invert\",\"format\":\"grey\",\"width\":2,\"height\":2,"
     "\"matrix\":\"601\",\"range\":\"full\",\"output\":\"buffer\",\"device\":\"D\",\"threads\":1}\nabcd",
     "more"},
    {"{\"monocle_capture\":2,\"chain\":\"invert\",\"format\":\"grey\",\"width\":2,\"height\":2,"
     "\"matrix\":\"601\",\"range\":\"full\",\"output\":\"buffer\",\"device\":\"D\",\"threads\":1}\nabcd",
     "another version"},
    {HEAD("inver", "grey", "2", "2", "601", "buffer", "D") "\nabcd", "did you mean 'invert'"},
    {HEAD("invert", "gravy", "2", "2", "601", "buffer", "D") "\nabcd", "there is no such pixel format"},
    {HEAD("invert", "grey", "0", "2", "601", "buffer", "D") "\n", "width and height must be 1 to 32768"},
    {HEAD("invert", "grey", "2", "-1", "601", "buffer", "D") "\n", "width and height must be 1 to 32768"},
    {HEAD("invert", "grey", "4294967298", "2", "601", "buffer", "D") "\nabcd", "width and height must be 1 to 32768"},
    {HEAD("invert", "grey", "2.5", "2", "601", "buffer", "D") "\nabcd", "Expected integer, got real"},
    {HEAD("invert", "yuyv", "3", "2", "601", "buffer", "D") "\nabcd", "this pixel format needs an even width"},
    {HEAD("invert", "rgba", "32768", "32768", "601", "buffer", "D") "\n", "an image may take at most 1 GiB"},
    {HEAD("invert", "grey", "2", "2", "auto", "buffer", "D") "\nabcd", "there is no such colour matrix"},
    {HEAD("invert", "grey", "2", "2", "601", "buffer", "D\",\"threads\":-1,\"x\":\"") "\nabcd", "duplicate"},
    {"{\"monocle_capture\":1,\"chain\":\"invert\",\"format\":\"grey\",\"width\":2,\"height\":2,"
     "\"matrix\":\"601\",\"range\":\"full\",\"output\":\"buffer\",\"device\":\"D\",\"threads\":257}\nabcd",
     "the threads must be 0 to 256"},
    {HEAD("invert", "grey", "2", "2", "601", "file", "D") "\nabcd", "the output must be image or buffer"},
    {HEAD("invert", "grey", "2", "2", "601", "buffer", "D\\u0000E") "\nabcd", "\\u0000 is not allowed"},
};

static void check_damage(void)
{
    struct capture_entry entry;
    char why[CAPTURE_WHY];
    CHECK(capture_parse(&entry, GOOD "\nabcd", sizeof(GOOD "\nabcd") - 1, why));
    CHECK(memcmp(entry.frame.plane[0], "abcd", 4) == 0);
    capture_free(&entry);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
        why[0] = '\0';
        CHECK(!capture_parse(&entry, refusals[i].text, strlen(refusals[i].text), why));
        CHECK_HAS(why, refusals[i].message);
    }
    char name[200] = "";
    memset(name, 'x', CAPTURE_DEVICE);
    char *text;
    CHECK(asprintf(&text, HEAD("invert", "grey", "2", "2", "601", "buffer", "%s") "\nabcd", name) > 0);
    CHECK(!capture_parse(&entry, text, strlen(text), why));
    CHECK_HAS(why, "the device's name is too long");
    free(text);
}

// ---- unsafe files ----

static void write_file(const char *path, mode_t mode)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(GOOD "\nabcd", file) >= 0 && fclose(file) == 0 && chmod(path, mode) == 0);
}

// Reads the only capture. Returns false after checking that there is one line with this text.
static bool reads(const char *message)
{
    struct capture_names names;
    struct capture_entry entry;
    capture_stderr(&scratch.said);
    const bool opened = capture_names_open(&names, directory), ok = opened && capture_read(&entry, &names, 0);
    check_said(ok ? 0 : 1);
    if (!ok)
        CHECK_HAS(scratch.said.text, message);
    if (ok)
        capture_free(&entry);
    if (opened)
        capture_names_close(&names);
    return ok;
}

static void check_unsafe(void)
{
    char path[600], target[600];
    snprintf(path, sizeof(path), "%s/a.capture", directory);
    snprintf(target, sizeof(target), "%s/target", directory);
    CHECK(!reads("No such file or directory"));
    CHECK(mkdir(directory, 0700) == 0);
    CHECK(!reads("there are no captures in"));
    write_file(path, 0600);
    CHECK(reads(""));
    CHECK(chmod(path, 0622) == 0 && !reads("a.capture: it is not a file that only you and root can write; remove it"));
    CHECK(unlink(path) == 0);
    write_file(target, 0600);
    CHECK(symlink(target, path) == 0 && !reads("a.capture: it is a symbolic link"));
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0 && !reads("a.capture: it is not a file that"));
    CHECK(unlink(path) == 0);
    write_file(path, 0600);
    CHECK(chmod(directory, 0777) == 0 && !reads("it can be written by other users; name a directory of your own"));
    CHECK(chmod(directory, 0700) == 0);
    if (geteuid() == 0)
        CHECK(chown(directory, 1234, 1234) == 0 && !reads("it belongs to another user"));
    remove_all();
}

int main(void)
{
    if (!scratch_open(&scratch))
        return 1;
    snprintf(directory, sizeof(directory), "%s", scratch_path(&scratch, "captures"));
    check_kept();
    check_once();
    check_full_disk();
    check_damage();
    check_unsafe();
    scratch_close(&scratch);
    return check_end(&unit);
}
