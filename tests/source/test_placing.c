// test_placing.c: sources write their frames to memory of another owner: the same bytes, and all memory is returned
#include "lender.h"
#include "pictures.h"
#include "scratch.h"
#include "unit.h"

#include "image/imagefile.h"
#include "source/capture.h"

enum { WIDTH = 34, HEIGHT = 22, FRAMES = 9, PATIENCE_MS = 2000 };

// Compares two instances of a source frame by frame; one of them changes its memory.
static void compare(const struct source_setup *setup)
{
    struct lender lender = lender_of(LENDER_PIECES), other = lender_of(LENDER_PIECES), poor = lender_of(0);
    struct source *plain = source_open(setup), *placed = source_open(setup);
    if (!CHECK(plain && placed))
        return;
    struct pages_owner *const turns[] = {NULL,        &lender.owner, &lender.owner, &lender.owner, &poor.owner,
                                         &poor.owner, &other.owner,  NULL,          NULL};
    struct frame want, got;
    for (int i = 0; i < FRAMES; i++) {
        source_set_owner(placed, turns[i]);
        CHECK(source_next(plain, &want, PATIENCE_MS) == SOURCE_FRAME);
        CHECK(source_next(placed, &got, PATIENCE_MS) == SOURCE_FRAME);
        CHECK(want.number == got.number && same_images(&want.image, &got.image));
        const size_t needed = image_bytes(&got.image.shape) + IMAGE_SPARE_BYTES;
        CHECK(got.image.reach_bytes >= needed || (want.image.reach_bytes == 0 && !got.image.owner));
        if (turns[i] != &poor.owner) // this owner has no memory: the image stays
            check_that(&unit,
                       lender_holds(&lender, &got.image) == (turns[i] == &lender.owner) &&
                           lender_holds(&other, &got.image) == (turns[i] == &other.owner),
                       "%s: frame %d lies in the wrong place", setup->text, i);
        source_return(plain, &want);
        source_return(placed, &got);
    }
    CHECK_NUMBER(lender.taken, 1); // one buffer is enough, because no frame is lent
    source_close(plain);
    source_close(placed);
    CHECK(lender_out(&lender) == 0 && lender_out(&other) == 0 && lender_out(&poor) == 0);
}

// A lent frame neither moves nor changes.
static void test_lent(const struct source_setup *setup)
{
    struct lender lender = lender_of(LENDER_PIECES), other = lender_of(LENDER_PIECES);
    struct source *source = source_open(setup);
    struct frame old, next;
    source_set_owner(source, &lender.owner);
    CHECK(source_next(source, &old, PATIENCE_MS) == SOURCE_FRAME);
    const uint8_t *at = old.image.plane[0], first = *at;
    source_set_owner(source, &other.owner);
    for (int i = 0; i < 2 * SOURCE_LENT; i++) {
        CHECK(source_next(source, &next, PATIENCE_MS) == SOURCE_FRAME);
        CHECK(lender_holds(&lender, &old.image) && *at == first && !lender_holds(&lender, &next.image));
        source_return(source, &next);
    }
    source_return(source, &old);
    for (int i = 0; i < SOURCE_LENT + 1; i++) {
        CHECK(source_next(source, &next, PATIENCE_MS) == SOURCE_FRAME);
        CHECK(lender_holds(&other, &next.image));
        source_return(source, &next);
    }
    CHECK_NUMBER(lender_out(&lender), 0);
    source_close(source);
    CHECK_NUMBER(lender_out(&other), 0);
}

// The owner changes while the capture thread runs.
static void test_running(void)
{
    struct lender lender = lender_of(LENDER_PIECES);
    struct source *source = source_open(&(struct source_setup){.text = "pattern:34x22"});
    struct capture *capture = capture_start(source, NULL);
    for (int i = 0; i < 200; i++) {
        struct frame frame;
        source_set_owner(source, i / 10 % 2 ? &lender.owner : NULL);
        CHECK(capture_take(capture, &frame, PATIENCE_MS) == SOURCE_FRAME);
        CHECK_NUMBER(frame.number, i);
        source_return(source, &frame);
    }
    capture_stop(capture, CAPTURE_STOP_MS);
    CHECK(lender.taken > 0);
    source_close(source);
    CHECK_NUMBER(lender_out(&lender), 0);
}

static void write_still(struct scratch *scratch, const char *name)
{
    struct image image;
    if (!image_alloc(&image, &(struct image_shape){.width = WIDTH, .height = HEIGHT}))
        abort();
    for (size_t i = 0; i < image.memory_bytes; i++)
        image.plane[0][i] = (uint8_t)(i * 11 % 253);
    imagefile_write_png(scratch_path(scratch, name), &image, NULL);
    image_free(&image);
}

int main(void)
{
    struct scratch scratch;
    uint8_t bytes[FRAMES * WIDTH * HEIGHT * 3 / 2];
    char film[560], still[512];
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 7 / 5 % 251);
    snprintf(film, sizeof(film), "raw:%s", scratch_write(&scratch, "film.nv12", bytes, sizeof(bytes)));
    write_still(&scratch, "still.png");
    snprintf(still, sizeof(still), "%s", scratch_path(&scratch, "still.png"));

    const struct source_setup setups[] = {
        {.text = "pattern:34x22"},
        {.text = "pattern:33x7,rgb24"},
        {.text = "pattern:64x32,rgba"}, // whole pages
        {.text = film, .width = WIDTH, .height = HEIGHT, .has_format = true, .format = PIXFMT_NV12, .loop = true},
        {.text = still, .loop = true},
        {.text = still, .loop = true, .has_format = true, .format = PIXFMT_NV21},
    };
    for (size_t i = 0; i < sizeof(setups) / sizeof(*setups); i++) {
        compare(&setups[i]);
        test_lent(&setups[i]);
    }
    test_running();
    scratch_close(&scratch);
    return check_end(&unit);
}
