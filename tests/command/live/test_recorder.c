// test_recorder.c: recordings of the live view: their counts, their names, and a disk that fails at the end
#include "base/clock.h"
#include "command/live/outputs.h"
#include "sink/recording.h"

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

static void add(struct outputs *outputs, int frames)
{
    const struct image_shape shape = {.width = outputs->width, .height = outputs->height};
    struct image image;
    CHECK(image_alloc(&image, &shape));
    memset(image.memory, 0, image_bytes(&shape));
    for (int i = 0; i < frames; i++)
        CHECK(outputs_add_frame(outputs, &image, true));
    image_free(&image);
}

// A film without frames is removed, but a file that existed before stays.
static void test_without_frames(struct outputs *outputs)
{
    struct captured captured;
    for (int there = 0; there < 2; there++) {
        const int fd = there ? open("empty.y4m", O_WRONLY | O_CREAT, 0666) : -1;
        CHECK(!there || close(fd) == 0);
        CHECK(outputs_start_recording(outputs, "empty.y4m", 0));
        CHECK(access("empty.y4m", F_OK) == 0);
        capture_stderr(&captured);
        CHECK(outputs_end_recording(outputs));
        const bool removed = strstr(captured_stderr(&captured), "no frame was recorded; empty.y4m is removed");
        CHECK_NUMBER(removed, !there);
        CHECK_NUMBER(access("empty.y4m", F_OK) == 0, there);
    }

    // It begins again if the frame size changes.
    CHECK(outputs_start_recording(outputs, "none.y4m", 0));
    CHECK(outputs_resize(outputs, 4, 2)); // the same size
    CHECK_TEXT(outputs->file.name, "none.y4m");
    CHECK(outputs_resize(outputs, 6, 2));
    CHECK_TEXT(outputs->file.name, "none.y4m");
    CHECK(access("none.y4m", F_OK) == 0);
    CHECK(outputs_end_recording(outputs));
    CHECK(access("none.y4m", F_OK) != 0);
}

// Lets a thread end the recording, and waits for it.
static void end_on_thread(struct outputs *outputs)
{
    outputs_toggle_recording(outputs, false, false);
    while (!recording_ended(outputs->ending.recording))
        clock_sleep_until_ns(clock_now_ns() + 1000000);
}

// If a thread cannot end a recording, the next one is not affected.
static void test_ending(struct outputs *outputs, const struct source_info *slow)
{
    struct captured captured;
    bool error;
    capture_stderr(&captured);
    CHECK(outputs_start_recording(outputs, "bad.y4m", 0));
    add(outputs, 1);
    disk_fails = true;
    end_on_thread(outputs);
    disk_fails = false;
    CHECK(outputs_start_recording(outputs, "good.y4m", 0));
    add(outputs, 5);
    CHECK(outputs_resize(outputs, 7, 3));
    CHECK_TEXT(outputs->file.name, "good-2.y4m");
    CHECK(!outputs_follow(outputs, false));
    CHECK(outputs_end_failure(outputs) && strstr(outputs_end_failure(outputs), "bad.y4m"));
    captured_stderr(&captured);

    // The seconds are those of the rate at its start.
    add(outputs, 10);
    outputs_set_source(outputs, slow);
    end_on_thread(outputs);
    CHECK(outputs_follow(outputs, false));
    CHECK(!outputs_end_failure(outputs));
    CHECK_HAS(note_text(outputs->note, &error), "recorded 0.4 s to good-2.y4m");
}

static void remove_files(void)
{
    static const char *const names[] = {"empty.y4m", "monocle-0001.y4m", "film.y4m",   "film-2.y4m", "film-4.y4m",
                                        "bad.y4m",   "good.y4m",         "good-2.y4m", NULL};
    for (const char *const *name = names; *name; name++)
        CHECK(unlink(*name) == 0);
}

int main(void)
{
    static struct outputs outputs;
    struct note note = {0};
    const struct source_info info = {.shape = {.width = 4, .height = 2}, .rate = 25};
    const struct source_info slow = {.shape = {.width = 4, .height = 2}, .rate = 0.2};
    struct captured captured;
    char directory[64];
    bool error;
    unit_directory(directory);
    CHECK(chdir(directory) == 0);

    CHECK(outputs_open(&outputs, NULL, &info, 4, 2, NULL, &note));
    CHECK(outputs_end_recording(&outputs));           // no frame was recorded
    outputs_toggle_recording(&outputs, false, false); // the key r names the file
    CHECK_TEXT(outputs.file.name, "monocle-0001.y4m");
    CHECK_HAS(note_text(&note, &error), "monocle-0001.y4m, lossless; ");
    add(&outputs, 3);
    CHECK_NUMBER(outputs.file.frames, 3);
    outputs.file.left_out = 2;
    capture_stderr(&captured);
    CHECK(outputs_end_recording(&outputs));
    CHECK_HAS(captured_stderr(&captured), "2 frames are missing from monocle-0001.y4m: its reader stalled");

    test_without_frames(&outputs);

    // The next recording counts from zero.
    CHECK(outputs_start_recording(&outputs, "film.y4m", 0));
    CHECK_NUMBER(outputs.file.frames, 0);
    CHECK_NUMBER(outputs.file.left_out, 0);
    add(&outputs, 1);
    CHECK(outputs_resize(&outputs, 5, 3));
    CHECK_TEXT(outputs.file.name, "film-2.y4m");
    CHECK_HAS(note_text(&note, &error), "film.y4m ends after 1 frame, and the recording continues in film-2.y4m");
    CHECK(!error);
    CHECK_NUMBER(outputs.file.frames, 0);
    add(&outputs, 1);

    // A recording that cannot be finished is not continued in another file.
    disk_fails = true;
    capture_stderr(&captured);
    CHECK(!outputs_resize(&outputs, 4, 2));
    CHECK_HAS(captured_stderr(&captured), "film-2.y4m");
    CHECK(!outputs.file.recording);
    CHECK(access("film-3.y4m", F_OK) != 0);
    CHECK(outputs_start_recording(&outputs, "film-4.y4m", 0));
    add(&outputs, 1);
    capture_stderr(&captured);
    CHECK(!outputs_end_recording(&outputs));
    CHECK_HAS(captured_stderr(&captured), "film-4.y4m");

    disk_fails = false;
    test_ending(&outputs, &slow);
    remove_files();
    outputs_close(&outputs);
    CHECK(chdir("/") == 0 && rmdir(directory) == 0);
    return check_end(&unit);
}
