// test_recorder.c: recordings of the live view: their counts, their names, and a disk that fails at the end
#include "command/live/outputs.h"

#include "unit.h"

#include <errno.h>
#include <fcntl.h>

static bool disk_fails;

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
    if (!disk_fails)
        return __real_fsync(fd);
    errno = EIO;
    return -1;
}

static void add(struct recorder *recorder, int frames)
{
    const struct image_shape shape = {.width = 4, .height = 2};
    struct image image;
    CHECK(image_alloc(&image, &shape));
    memset(image.memory, 0, image_bytes(&shape));
    for (int i = 0; i < frames; i++)
        CHECK(recorder_add(recorder, &image, true));
    image_free(&image);
}

// A film without frames is removed, but a file that existed before stays.
static void test_without_frames(struct recorder *recorder, const struct source_info *info)
{
    struct captured captured;
    for (int there = 0; there < 2; there++) {
        const int fd = there ? open("empty.y4m", O_WRONLY | O_CREAT, 0666) : -1;
        CHECK(!there || close(fd) == 0);
        CHECK(recorder_open(recorder, "empty.y4m", info));
        CHECK(access("empty.y4m", F_OK) == 0);
        capture_stderr(&captured);
        CHECK(recorder_close(recorder));
        const bool removed = strstr(captured_stderr(&captured), "no frame was recorded; empty.y4m is removed");
        CHECK_NUMBER(removed, !there);
        CHECK_NUMBER(access("empty.y4m", F_OK) == 0, there);
    }
}

int main(void)
{
    static struct recorder recorder;
    const struct source_info info = {.shape = {.width = 4, .height = 2}, .rate = 25};
    struct captured captured;
    char directory[64];
    unit_directory(directory);
    CHECK(chdir(directory) == 0);

    CHECK(recorder_close(&recorder)); // no frame was recorded
    CHECK(recorder_open(&recorder, NULL, &info));
    CHECK_TEXT(recorder.name, "monocle-0001.y4m");
    add(&recorder, 3);
    CHECK_NUMBER(recorder.frames, 3);
    recorder.left_out = 2;
    capture_stderr(&captured);
    CHECK(recorder_close(&recorder));
    CHECK_HAS(captured_stderr(&captured), "2 frames are missing from monocle-0001.y4m: its reader stalled");

    test_without_frames(&recorder, &info);

    // The next recording counts from zero.
    CHECK(recorder_open(&recorder, "film.y4m", &info));
    CHECK_NUMBER(recorder.frames, 0);
    CHECK_NUMBER(recorder.left_out, 0);
    add(&recorder, 1);
    CHECK(recorder_continue(&recorder, &info));
    CHECK_TEXT(recorder.name, "film-2.y4m");
    CHECK_NUMBER(recorder.frames, 0);
    add(&recorder, 1);

    // A recording that cannot be finished is not continued in another file.
    disk_fails = true;
    capture_stderr(&captured);
    CHECK(!recorder_continue(&recorder, &info));
    CHECK_HAS(captured_stderr(&captured), "film-2.y4m");
    CHECK(!recorder.writer);
    CHECK(access("film-3.y4m", F_OK) != 0);
    CHECK(recorder_open(&recorder, "film-4.y4m", &info));
    add(&recorder, 1);
    capture_stderr(&captured);
    CHECK(!recorder_close(&recorder));
    CHECK_HAS(captured_stderr(&captured), "film-4.y4m");

    for (const char *const *name =
             (const char *const[]){"empty.y4m", "monocle-0001.y4m", "film.y4m", "film-2.y4m", "film-4.y4m", NULL};
         *name; name++)
        CHECK(unlink(*name) == 0);
    CHECK(chdir("/") == 0 && rmdir(directory) == 0);
    return check_end(&unit);
}
