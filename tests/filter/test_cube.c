// test_cube.c: files .cube: values worked out by hand, damaged files, and files that change while they are read
#include "filter/file_resource.h"
#include "filter/plan.h"
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static int made; // calls of make_number

// Makes the number of the file's first byte.
static void make_number(const char *path, struct file_resource *resource)
{
    FILE *file = fopen(path, "r");
    made++;
    resource->numbers = malloc(sizeof(*resource->numbers));
    CHECK(file && resource->numbers);
    *resource->numbers = getc(file);
    resource->count = 1;
    fclose(file);
}

static void make_other(const char *path, struct file_resource *resource)
{
    make_number(path, resource);
    *resource->numbers += 1000;
}

// Writes a file of one byte, in place, that changed at this second.
static void write_byte(const char *name, char byte, int second)
{
    FILE *file = fopen(name, "r+");
    if (!file)
        file = fopen(name, "w");
    CHECK(file && putc(byte, file) == byte && fclose(file) == 0);
    const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    CHECK(utimensat(AT_FDCWD, name, times, 0) == 0);
}

static int number_of(const char *name, resource_maker *make)
{
    const struct file_resource *resource = file_resource_get(name, make);
    const int number = resource->numbers ? *resource->numbers : -1;
    file_resource_put(resource);
    return number;
}

// A file that has gone has its own latest numbers, and a file that was rewritten in place the new ones. Each kind of
// filter has its own numbers, and a few of those without users stay.
static void check_kept(void)
{
    char name[8];
    write_byte("a", 'a', 1);
    write_byte("b", 'b', 1);
    CHECK_NUMBER(number_of("a", make_number), 'a');
    CHECK_NUMBER(number_of("b", make_number), 'b');
    CHECK_NUMBER(number_of("a", make_other), 'a' + 1000);
    CHECK_NUMBER(made, 3);
    CHECK(unlink("a") == 0);
    CHECK_NUMBER(number_of("a", make_number), 'a');
    CHECK_NUMBER(number_of("a", make_other), 'a' + 1000);
    CHECK_NUMBER(number_of("none", make_number), -1);
    write_byte("b", 'c', 2);
    CHECK_NUMBER(number_of("b", make_number), 'c');
    CHECK_NUMBER(made, 4);
    write_byte("b", 'd', 2); // of the same size and time, as a new file with the old one's inode may be
    CHECK_NUMBER(number_of("b", make_number), 'd');
    CHECK_NUMBER(made, 5);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        write_byte(name, 'f', 10 + i);
        CHECK_NUMBER(number_of(name, make_number), 'f');
    }
    CHECK_NUMBER(number_of("f4", make_number), 'f');
    CHECK_NUMBER(made, 10);
    CHECK_NUMBER(number_of("f0", make_number), 'f'); // four newer ones stayed
    CHECK_NUMBER(made, 11);
}

// A plan has the whole table of a file, also when the file was damaged after the chain was parsed. After the plan, the
// table is freed as that of any file without users; then plans and chains are refused.
static void check_plan(void)
{
    static const char cube[] = "LUT_3D_SIZE 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n";
    static struct plan plan;
    struct chain chain;
    char error[CHAIN_ERROR] = "", name[8];
    put_file("plan.cube", cube);
    CHECK(chain_parse(&chain, "lut=plan.cube", error));
    for (int damaged_now = 0; damaged_now < 2; damaged_now++) {
        if (damaged_now)
            put_file("plan.cube", "LUT_3D_SIZE 2\n0 0\n");
        plan_make(&plan, &chain, 8, 8, true);
        CHECK_NUMBER(plan.stage[0].arguments.count, 1 + 768 + 8);
        CHECK(plan_fill(&plan, error));
        plan_free(&plan);
    }
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof(name), "f%d", i);
        write_byte(name, 'f', 20 + i);
        CHECK_NUMBER(number_of(name, make_number), 'f');
    }
    plan_make(&plan, &chain, 8, 8, true);
    CHECK(!plan_fill(&plan, error));
    CHECK_HAS(error, "plan.cube': line 2: an entry must be");
    plan_free(&plan);
    CHECK(!chain_parse(&chain, "lut=plan.cube", error));
    CHECK_HAS(error, "plan.cube': line 2: an entry must be");
}

// `remap` marks places to the right of the picture or below it as outside. The marks follow the colour and the width.
static void check_outside(void)
{
    enum { BITS_AT = 4 };
    static struct plan plan;
    struct chain chain;
    char error[CHAIN_ERROR] = "";
    put_file("places.pgm", "P2 5 2 9\n0 7 8 0 3\n0 0 0 5 4\n"); // x, then y
    CHECK(chain_parse(&chain, "remap=places.pgm", error));
    plan_make(&plan, &chain, 8, 5, true);
    CHECK(plan_fill(&plan, error));
    CHECK_NUMBER(plan.stage[0].arguments.resource[BITS_AT], 1 << 2 | 1 << 3);
    plan_free(&plan);
    CHECK(unlink("places.pgm") == 0);
}

// A Hald picture is as wide as high, and its side is a cube number.
static void check_hald(void)
{
    static const struct {
        int width, height;
        const char *why;
    } rows[] = {
        {8, 8, ""},
        {27, 27, ""},
        {8, 27, "8x27 pixels are not a Hald picture; use 8x8, 27x27, 64x64, ... or 4096x4096"},
        {9, 9, "9x9 pixels are not a Hald picture; use 8x8, 27x27, 64x64, ... or 4096x4096"},
        {1, 1, "1x1 pixels are not a Hald picture; use 8x8, 27x27, 64x64, ... or 4096x4096"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        FILE *file = fopen("hald.tga", "w");
        const uint8_t head[18] = {[2] = 2, [12] = (uint8_t)rows[i].width, [14] = (uint8_t)rows[i].height, [16] = 24};
        CHECK(file && fwrite(head, sizeof(head), 1, file) == 1);
        for (int pixel = 0; pixel < 3 * rows[i].width * rows[i].height; pixel++)
            putc(pixel & 255, file);
        CHECK(fclose(file) == 0);
        const struct file_resource *table = file_resource_get("hald.tga", cube_file);
        CHECK_TEXT(table->why, rows[i].why);
        CHECK((table->numbers != NULL) == (rows[i].why[0] == '\0'));
        CHECK(unlink("hald.tga") == 0);
    }
}

int main(void)
{
    check_kept();
    check_hald();
    check_plan();
    check_outside();
    check_files();
    check_refused();
    check_threads();
    check_damaged();
    check_values();
    return check_end(&unit);
}
