// test_cube.c: files .cube: values worked out by hand, damaged files, and files that change while they are read
#include "filter/lut.h"
#include "unit.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
    const char *text, *why;
} damaged[] = {
    {"", "line 1: the file ends without a table"},
    {"TITLE \"x\"\n\n", "line 3: the file ends without a table"},
    {"LUT_3D_SIZE 1\n", "line 1: the size of a 3D table must be 2 to 128"},
    {"LUT_3D_SIZE 129\n", "line 1: the size of a 3D table must be 2 to 128"},
    {"# x\nLUT_1D_SIZE 65537\n", "line 2: the size of a 1D table must be 2 to 65536"},
    {"LUT_1D_SIZE 2.5\n", "line 1: the size of a 1D table must be 2 to 65536"},
    {"LUT_1D_SIZE 2\nLUT_1D_SIZE 2\n", "line 2: a second table of this kind; one 1D and one 3D table are possible"},
    {"LUT_1D_SIZE 2\n0 0 0\nLUT_3D_SIZE 2\n", "line 3: a size after the first entry"},
    {"LUT_1D_SIZE 2\nLUT_3D_SIZE 2\n0 0 0\n1 1 1\n0 0 0\n", "line 6: the file ends before the table is complete"},
    {"0 0 0\n", "line 1: LUT_1D_SIZE or LUT_3D_SIZE must be before this"},
    {"LUT_1D_SIZE 2\n0 0 0\n", "line 3: the file ends before the table is complete"},
    {"LUT_1D_SIZE 2\n0 0 0\n1 1 1\n1 1 1\n", "line 4: more entries than the table has"},
    {"LUT_1D_SIZE 2\n0 0\n1 1 1\n", "line 2: an entry must be three numbers from -1000000 to 1000000"},
    {"LUT_1D_SIZE 2\n0 0 0 0\n1 1 1\n", "line 2: an entry must be three numbers from -1000000 to 1000000"},
    {"LUT_1D_SIZE 2\n0 0 0x\n1 1 1\n", "line 2: an entry must be three numbers from -1000000 to 1000000"},
    {"LUT_1D_SIZE 2\n0 0 0\n1 1 1e999\n", "line 3: an entry must be three numbers from -1000000 to 1000000"},
    {"LUT_1D_SIZE 2\n0 0 nan\n1 1 1\n", "line 2: an entry must be three numbers from -1000000 to 1000000"},
    {"LUT_1D_SIZE 2\nDOMAIN_MIN 0 0\n", "line 2: the domain must be three numbers"},
    {"LUT_1D_SIZE 2\nDOMAIN_MIN 1 0 0\n0 0 0\n1 1 1", "line 4: the end of the domain must be above its begin"},
    {"LUT_3D_INPUT_RANGE 0\n", "line 1: the input range must be two numbers"},
    {"TITLE \"x\"\nLUT_IN_VIDEO_RANGE\nLUT_1D_SIZE 2\n0 0 0\n1 1 1\n",
     "line 2: video range is not supported; export the table for full (data) levels"},
    {"LUT_3D_SIZE 2\nlut_out_video_range\n",
     "line 2: video range is not supported; export the table for full (data) levels"},
    {"LUT_1D_SIZE 2\r0 0 0\r1 x 1\r", "line 3: an entry must be three numbers from -1000000 to 1000000"},
    {"LUT_2D_SIZE 2\n", "line 1: this is no line of a .cube file"},
    {"\x89PNG\r\n", "line 1: this is no line of a .cube file"},
};

static void check_damaged(void)
{
    for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
        char why[FILTER_WHY] = "";
        int count = 0;
        int32_t *numbers = cube_read(damaged[i].text, &count, why);
        CHECK(!numbers);
        CHECK_TEXT(why, damaged[i].why);
        free(numbers);
    }
}

static void check_values(void)
{
    char why[FILTER_WHY] = "";
    int count = 0;
    // 64 lies at 0.2509, between the entries 0 and 0.5: half of 255 times 0.5019.
    int32_t *line = cube_read("LUT_1D_SIZE 3\r\n0 1 0\r\n0.5 0.5 .25\r\n1 0 1e0\r\n", &count, why);
    CHECK(line && count == 257 && line[0] == 0 && line[1] == 255 << 8 && line[256] == (255 | 255 << 16));
    CHECK(line && line[1 + 64] == (64 | 191 << 8 | 32 << 16));
    free(line);
    line = cube_read("LUT_1D_SIZE 2\r0 1 0\r1 0 1\r", &count, why); // lines of old Macs
    CHECK(line && count == 257 && line[1] == 255 << 8 && line[256] == (255 | 255 << 16));
    free(line);
    // 128 is between 0.2 and 0.7 at 0.6039 of the way.
    int32_t *solid = cube_read(" LUT_3D_SIZE 2 \n\tDOMAIN_MIN 0.2 0 0\nDOMAIN_MAX 0.7 1 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n"
                               "0 0 1\n1 0 1\n0 1 1\n1 0 0.5\n",
                               &count, why);
    CHECK(solid && count == 1 + 768 + 8 && solid[0] == 2);
    CHECK(solid && solid[1 + 51] == 0 && solid[1 + 128] == 155 && solid[1 + 255] == 256 && solid[513 + 255] == 128);
    CHECK(solid && solid[769 + 7] == (1020 | 0 << 10 | 510 << 20) && solid[769 + 1] == 1020);
    free(solid);
    // Entries outside 0..1 are kept.
    solid = cube_read("lut_3d_size 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1.5 -1 5e4\n", &count, why);
    CHECK(solid && count == 1 + 768 + 24 && solid[0] == -2 && solid[769 + 3] == 1020 && solid[769 + 4] == 0);
    CHECK(solid && solid[769 + 21] == 1530 && solid[769 + 22] == -1020 && solid[769 + 23] == 1020000);
    free(solid);
}

static const struct file_resource *resource_of(const char *text)
{
    if (text) {
        FILE *file = fopen("a.cube", "w");
        CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
    }
    return file_resource_get("a.cube", cube_file);
}

// A file is read again after a change only. Earlier numbers stay valid until they are put back; then a few are kept.
static void check_files(void)
{
    CHECK_TEXT(resource_of(NULL)->why, "there is no such file");
    const struct file_resource *first = resource_of("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n");
    CHECK(first->numbers && first->numbers[1 + 9] == 0x090909 && resource_of(NULL) == first);
    const struct file_resource *second = resource_of("LUT_1D_SIZE 2\n1 1 1\n0 0 0\n#\n");
    CHECK(second != first && second->numbers && second->numbers[1] == 0xffffff && first->numbers[1] == 0);
    const struct file_resource *wrong = resource_of("LUT_1D_SIZE 2\n1 1\n");
    CHECK(!wrong->numbers && resource_of(NULL) == wrong);
    CHECK(file_resource_latest("a.cube", cube_file) == second);
    file_resource_put(second);
    CHECK_TEXT(wrong->why, "line 2: an entry must be three numbers from -1000000 to 1000000");
    FILE *file = fopen("damaged.png", "w");
    CHECK(file && fputs("\x89PNG\r\n\x1a\n", file) >= 0 && fclose(file) == 0);
    CHECK(!strstr(file_resource_get("damaged.png", cube_file)->why, ".cube"));
    CHECK_TEXT(file_resource_get(".", cube_file)->why, "Is a directory");
    for (int i = 0; i < 3; i++) {
        file_resource_put(first);
        file_resource_put(second);
    }
}

static struct {
    int reads;
    const char *swapped; // a file that takes the place of the one that is read, meanwhile
    sem_t started, read;
} reader;

// Refuses the file, with its first byte.
static void refuse(const char *path, struct file_resource *made)
{
    FILE *file = fopen(path, "r");
    made->why[0] = file ? (char)fgetc(file) : '?';
    if (file)
        fclose(file);
    reader.reads++;
    if (reader.swapped)
        CHECK(rename(reader.swapped, path) == 0);
}

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void check_refused(void)
{
    char path[8];
    for (int i = 0; i < 7; i++) {
        snprintf(path, sizeof(path), "%d", i % 6);
        if (i < 6)
            put_file(path, "x");
        file_resource_put(file_resource_get(path, refuse));
    }
    CHECK_NUMBER(reader.reads, 7); // the first one was freed, so it was read twice
    // Numbers of a file that is replaced while it is read are not those of the file that was there before, when this
    // one returns.
    put_file("one", "1");
    put_file("two", "2");
    CHECK(link("one", "first") == 0);
    reader.swapped = "two";
    file_resource_put(file_resource_get("one", refuse));
    reader.swapped = NULL;
    CHECK(rename("first", "one") == 0);
    put_file("two", "2");
    reader.reads = 0;
    file_resource_put(file_resource_get("one", refuse));
    CHECK_NUMBER(reader.reads, 1);
}

static void wait_for(sem_t *semaphore)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 20;
    CHECK(sem_timedwait(semaphore, &end) == 0);
}

static void read_slowly(const char *path, struct file_resource *made)
{
    sem_post(&reader.started);
    wait_for(&reader.read);
    refuse(path, made);
}

static void *get_slowly(void *context)
{
    return (void *)file_resource_get("one", read_slowly);
}

// The reading of a file delays only threads that need this file.
static void check_threads(void)
{
    pthread_t first, second;
    void *one, *other;
    sem_init(&reader.started, 0, 0);
    sem_init(&reader.read, 0, 0);
    reader.reads = 0;
    CHECK(pthread_create(&first, NULL, get_slowly, NULL) == 0 && pthread_create(&second, NULL, get_slowly, NULL) == 0);
    wait_for(&reader.started);
    file_resource_put(file_resource_get("two", refuse));
    sem_post(&reader.read);
    CHECK(pthread_join(first, &one) == 0 && pthread_join(second, &other) == 0);
    CHECK(one && one == other && reader.reads == 2);
    CHECK_TEXT(((const struct file_resource *)one)->why, "1");
}

int main(void)
{
    check_files();
    check_refused();
    check_threads();
    check_damaged();
    check_values();
    return check_end(&unit);
}
