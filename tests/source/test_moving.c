// test_moving.c: which GIF and JPEG files hold more than one picture
#include "check.h"
#include "scratch.h"

#include "source/video_info.h"

#include <stdio.h>
#include <string.h>

static struct check check = {.name = "moving"};
static struct scratch scratch;

#define LOOP "!\xff\x0bNETSCAPE2.0\3\1\0\0\0"
#define PICTURE ",\0\0\0\0\4\0\4\0\0\2\3,,,\0"                // its block of pixels looks as the begin of pictures
#define COLOURS ",\0\0\0\0\4\0\4\0\x80\x61\x62\x63,,,\2\1;\0" // with its own colour table
#define FRAME "\xff\xc0\0\x0b\x08\0\x10\0\x20\1\1\x11\0"
#define SCAN "\xff\xda\0\3\1ab\xff\0c\xff\xd0\xd8"
#define PART(text)                                                                                                     \
    {                                                                                                                  \
        text, sizeof(text) - 1                                                                                         \
    }

static const struct row {
    const char *name;
    bool gif, moving;
    struct {
        const char *data;
        size_t size;
    } part[10];
} rows[] = {
    {"one picture", true, false, {PART("GIF89a\4\0\4\0\x91\0\0aaabbbcccddd"), PART(PICTURE), PART(";")}},
    {"one picture that repeats", true, false, {PART("GIF89a\4\0\4\0\x11\0\0"), PART(LOOP), PART(PICTURE), PART(";")}},
    {"two pictures", true, true, {PART("GIF89a\4\0\4\0\x91\0\0aaabbbcccddd"), PART(PICTURE), PART(PICTURE), PART(";")}},
    {"two pictures with extensions",
     true,
     true,
     {PART("GIF87a\4\0\4\0\x10\0\0"), PART(LOOP), PART("!\xf9\4\0\7\0\0\0"), PART(COLOURS), PART("!\xfe\2,,\0"),
      PART("\0!\xf9\4\0\7\0\0\0"), PART(PICTURE)}},
    {"a picture that is cut", true, false, {PART("GIF89a\4\0\4\0\x10\0\0"), PART(",\0\0\0\0\4\0\4\0\0\2\x7f,,,")}},
    {"a picture after the end of the GIF",
     true,
     false,
     {PART("GIF89a\4\0\4\0\x10\0\0"), PART(PICTURE), PART(";"), PART(PICTURE)}},
    {"one JPEG", false, false, {PART("\xff\xd8"), PART(FRAME), PART(SCAN), PART("\xff\xd9")}},
    {"two JPEGs",
     false,
     true,
     {PART("\xff\xd8"), PART("\xff\xe1\0\x06\xff\xd8\xff\xc0"), PART(FRAME), PART(SCAN), PART("\xff\xd9"),
      PART("\xff\xd8"), PART(FRAME), PART(SCAN)}},
    {"two JPEGs with zeros between and no end",
     false,
     true,
     {PART("\xff\xd8"), PART(FRAME), PART(SCAN), PART("\0\0\0"), PART("\xff\xd8"), PART(FRAME)}},
    {"a JPEG with a preview of another size",
     false,
     false,
     {PART("\xff\xd8"), PART(FRAME), PART(SCAN), PART("\xff\xd9\xff\xd8"),
      PART("\xff\xc0\0\x0b\x08\0\x10\0\x10\1\1\x11\0"), PART(SCAN)}},
    {"a JPEG with MPF",
     false,
     false,
     {PART("\xff\xd8\xff\xe2\0\x08MPF\0II"), PART(FRAME), PART(SCAN), PART("\xff\xd9\xff\xd8"), PART(FRAME),
      PART(SCAN)}},
    {"a JPEG with a colour profile",
     false,
     true,
     {PART("\xff\xd8\xff\xe2\0\x08ICC_PR"), PART(FRAME), PART(SCAN), PART("\xff\xd9\xff\xd8"), PART(FRAME),
      PART(SCAN)}},
#define PNG_HEAD "\x89PNG\r\n\x1a\n\0\0\0\3IHDR...sum."
#define PNG_FRAMES(count)                                                                                              \
    "\0\0\0\x08"                                                                                                       \
    "acTL\0\0\0" count "\0\0\0\0sum."
    {"a PNG of two frames", false, true, {PART(PNG_HEAD), PART(PNG_FRAMES("\2")), PART("\0\0\0\0IDATsum.")}},
    {"a PNG of one frame", false, false, {PART(PNG_HEAD), PART(PNG_FRAMES("\1")), PART("\0\0\0\0IDATsum.")}},
    {"a PNG with late frames", false, false, {PART(PNG_HEAD), PART("\0\0\0\0IDATsum."), PART(PNG_FRAMES("\2"))}},
    {"a PNG that ends in a chunk", false, false, {PART("\x89PNG\r\n\x1a\n\0\0\1\0IHDR")}},
    {"a JPEG that ends in its head", false, false, {PART("\xff\xd8\xff\xe1\0\x50")}},
};

int main(void)
{
    char data[512];
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t size = 0;
        for (int k = 0; k < 10 && rows[i].part[k].data; k++) {
            memcpy(data + size, rows[i].part[k].data, rows[i].part[k].size);
            size += rows[i].part[k].size;
        }
        scratch_write(&scratch, "file", data, size);
        const char *path = scratch_path(&scratch, "file");
        check_that(&check,
                   (rows[i].gif         ? moving_gif
                    : data[0] == '\x89' ? moving_png
                                        : moving_jpeg)(path) == rows[i].moving,
                   "%s", rows[i].name);
    }
    check_that(&check, !moving_gif("/nowhere") && !moving_jpeg("/nowhere"), "a file that is not there");
    scratch_close(&scratch);
    return check_end(&check);
}
