// test_settings.c: undo of changes of the chain; users' filters that are edited
#include "stream/settings.h"

#include "filter/user_filter.h"

#include "unit.h"

static struct edits edits;
static struct settings settings;

static void begin(const char *chain)
{
    struct chain parsed;
    char error[CHAIN_ERROR];
    CHECK(chain_parse(&parsed, chain, error));
    edits = (struct edits){.count = 0};
    settings_init(&settings, &parsed, -1);
}

// Changes the selected parameter, as the keys `up` and `down` do.
static void change(float value)
{
    int stage, param;
    CHECK(settings_selected(&settings, &stage, &param));
    edits_keep(&edits, &settings, EDIT_VALUE);
    settings.chain.stage[stage].values.value[param] = value;
}

static void check_values(float first, float second)
{
    CHECK_NUMBER(settings.chain.stage[0].values.value[0], first);
    CHECK_NUMBER(settings.chain.stage[1].values.value[0], second);
}

// Changes of one parameter are undone at once, those of another one before them alone.
static void check_runs(void)
{
    begin("blur=2,blur=3");
    settings_select(&settings, 0);
    change(4);
    change(5);
    settings_select(&settings, 1);
    change(6);
    change(7);
    check_values(5, 7);
    CHECK(edits_undo(&edits, &settings));
    check_values(5, 3);
    CHECK(edits_undo(&edits, &settings));
    check_values(2, 3);
    CHECK(!edits_undo(&edits, &settings));
}

// A change after an undo begins another run.
static void check_after_undo(void)
{
    begin("blur=2,blur=3");
    settings_select(&settings, 0);
    change(4);
    CHECK(edits_undo(&edits, &settings));
    change(5);
    change(6);
    CHECK(edits_undo(&edits, &settings));
    check_values(2, 3);
    settings_select(&settings, 0);
    change(7);
    CHECK(edits_move(&edits, &settings, 1));
    settings_select(&settings, 0);
    change(8);
    CHECK(edits_undo(&edits, &settings));
    check_values(3, 7);
    change(9);
    CHECK(edits_undo(&edits, &settings));
    check_values(3, 7);
    CHECK(edits_undo(&edits, &settings));
    check_values(7, 3);
}

// The oldest changes are forgotten, the newest are undone in order.
static void check_full(void)
{
    begin("blur=2,blur=3");
    for (int i = 0; i < EDITS + 3; i++) {
        edits_keep(&edits, &settings, EDIT_ALONE);
        settings.chain.stage[0].values.value[0] = (float)(10 + i);
    }
    for (int i = EDITS + 1; i >= 2; i--) {
        CHECK(edits_undo(&edits, &settings));
        check_values((float)(10 + i), 3);
    }
    CHECK(!edits_undo(&edits, &settings));
}

// A put filter replaces the selected stage only if that has the same filter.
static void check_put(void)
{
    struct chain put;
    char error[CHAIN_ERROR];
    CHECK(chain_parse(&put, "blur=9,gamma=2", error));
    begin("blur=2,blur=3");
    settings_select(&settings, 0);
    CHECK(edits_put(&edits, &settings, &put.stage[0]));
    check_values(9, 3);
    CHECK(edits_put(&edits, &settings, &put.stage[1]));
    CHECK(settings.chain.count == 3 && settings.chain.stage[1].filter == put.stage[1].filter);
    check_values(9, 2);
    CHECK(edits_undo(&edits, &settings));
    CHECK(edits_undo(&edits, &settings));
    check_values(2, 3);
    begin("blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,"
          "blur=1");
    CHECK(!edits_put(&edits, &settings, &put.stage[1]));
    CHECK(!edits_undo(&edits, &settings));
}

// The same key again restores the words of the camera's part, whatever they are; four turns are none.
static void check_orientation(void)
{
    static const struct {
        const char *before, *mirrored, *flipped, *turned;
        struct orientation is;
    } rows[] = {
        {"none", "mirror", "flip", "rotate", {.angle = 0}},
        {"mirror", "none", "mirror,flip", "rotate=270,mirror", {.mirror = true, .back = true}},
        {"mirror,crop=9", "mirror,crop=9,mirror", "mirror,crop=9,flip", "mirror,crop=9,rotate", {.mirror = true}},
        {"crop=9,mirror", "crop=9", "crop=9,mirror,flip", "crop=9,rotate=270,mirror", {.mirror = true, .back = true}},
        {"mirror,flip", "flip", "mirror", "rotate,mirror,flip", {.mirror = true, .flip = true}},
        {"rotate=180", "rotate=180,mirror", "rotate=180,flip", "rotate=270", {.angle = 180}},
        {"mirror,rotate=-90",
         "mirror,rotate=-90,mirror",
         "mirror,rotate=-90,flip",
         "mirror",
         {true, false, 270, false}},
        {"rotate=5", "rotate=5,mirror", "rotate=5,flip", "rotate=5,rotate", {.angle = 0}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct chain camera, one;
        char error[CHAIN_ERROR], text[CHAIN_TEXT];
        CHECK(chain_parse(&camera, rows[i].before, error));
        const struct orientation is = settings_orientation(&camera), want = rows[i].is;
        check_that(&unit,
                   is.mirror == want.mirror && is.flip == want.flip && is.angle == want.angle && is.back == want.back,
                   "%s: %d %d %d %d", rows[i].before, is.mirror, is.flip, is.angle, is.back);
        for (int key = 0; key < 3; key++) {
            const char *const after[] = {rows[i].mirrored, rows[i].flipped, rows[i].turned};
            struct orientation to = is;
            to.mirror ^= key == 0;
            to.flip ^= key == 1;
            to.angle = (is.angle + (key == 2 ? (is.back ? 270 : 90) : 0)) % 360;
            one = camera;
            CHECK(settings_orient(&one, &to) && chain_print(&one, text));
            check_that(&unit, strcmp(text, after[key]) == 0, "%s: %s, not %s", rows[i].before, text, after[key]);
            CHECK(settings_orient(&one, &is) && chain_print(&one, text));
            check_that(&unit, key == 2 || strcmp(text, rows[i].before) == 0, "%s again: %s", rows[i].before, text);
        }
    }
    begin("blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,blur=1,"
          "blur=1");
    CHECK(!settings_orient(&settings.chain, &(struct orientation){.mirror = true}));
    CHECK(!settings_orient(&settings.chain, &(struct orientation){.angle = 90}));
}

// Another filter is selected at its first parameter, and a removed one at the filter behind it.
static void check_selected(void)
{
    int stage = -1, param = -1;
    begin("contrast=2:9,blur=3");
    settings.selected = 1; // the brightness
    CHECK(edits_filter(&edits, &settings, 1));
    CHECK_NUMBER(settings.selected, 0);
    settings_select(&settings, 1);
    CHECK(edits_remove(&edits, &settings) && settings_selected(&settings, &stage, &param));
    CHECK_NUMBER(stage, 0);
}

static void write_filter(const char *path, const char *name, const char *params, const char *red)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fprintf(file,
                          "//!SUMMARY a test\n//!KIND point\n%s"
                          "INLINE pixel filter_%s(pixel p, int x, int y, arguments args)\n"
                          "{\n    p.r = %s;\n    return p;\n}\n",
                          params, name, red) > 0);
    CHECK(file && fclose(file) == 0);
}

// An undo brings back a user's filter as its file is now.
static void check_edited(const char *path)
{
    char error[USER_ERROR];
    begin("mine,blur=3");
    const struct filter *before = settings.chain.stage[0].filter;
    settings_select(&settings, 0);
    CHECK(edits_remove(&edits, &settings));
    write_filter(path, "mine", "", "222");
    CHECK(user_filters_reload(error));
    CHECK(edits_undo(&edits, &settings));
    CHECK(settings.chain.count == 2 && settings.chain.stage[0].filter == filter_find("mine"));
    CHECK(settings.chain.stage[0].filter != before);
}

// If an edited filter fails, the one that runs stays in its place, with the first parameter if the selected one is
// gone.
static void check_restored(const char *path)
{
    char error[USER_ERROR];
    begin("mine,other");
    const struct chain runs = settings.chain;
    write_filter(
        path, "mine",
        "//!PARAM a\n//!TYPE int\n//!RANGE 0 9\n//!DEFAULT 1\n//!PARAM b\n//!TYPE int\n//!RANGE 0 9\n//!DEFAULT 2\n",
        "ARG(args, 0) + ARG(args, 1)");
    CHECK(user_filters_reload(error));
    chain_renew(&settings.chain);
    CHECK(settings.chain.stage[0].filter != runs.stage[0].filter);
    settings.selected = 2; // the other filter
    settings_restore_filters(&settings, &runs);
    CHECK(settings.chain.stage[0].filter == runs.stage[0].filter);
    CHECK(settings.chain.stage[1].filter == runs.stage[1].filter);
    CHECK_NUMBER(settings.selected, 0);
}

static void check_users(void)
{
    char directory[64], mine[80], other[80];
    unit_directory(directory);
    snprintf(mine, sizeof(mine), "%s/mine.cl", directory);
    snprintf(other, sizeof(other), "%s/other.cl", directory);
    write_filter(mine, "mine", "", "1");
    write_filter(other, "other", "", "2");
    CHECK(user_filters_load(directory));
    check_edited(mine);
    check_restored(mine);
    CHECK(unlink(mine) == 0 && unlink(other) == 0 && rmdir(directory) == 0);
}

// The filters that bring a result to another size, worked out by hand.
static void check_fit(void)
{
    static const struct {
        const char *chain;
        int width, height, fit;
        const char *fitted;
    } rows[] = {
        {"invert", 640, 480, FIT_LETTERBOX, "invert"},
        {"invert", 320, 240, FIT_LETTERBOX, "invert,scale=320:240"},
        {"rotate=90", 640, 480, FIT_LETTERBOX, "rotate,scale=360:480,pad=640:480"},
        {"rotate=90", 640, 480, FIT_FILL, "rotate,scale=640:853,crop=640:480"},
        {"crop=640:100", 640, 480, FIT_LETTERBOX, "crop=640:100,pad=640:480"},
        {"crop=1:480", 2, 2, FIT_LETTERBOX, "crop=1:480,scale=1:2,pad=2:2"},
        {"none", 1, 1, FIT_FILL, "scale=1:1"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[CHAIN_TEXT];
        begin(rows[i].chain);
        CHECK(settings_fit(&settings.chain, &(struct image_shape){.width = 640, .height = 480}, rows[i].width,
                           rows[i].height, rows[i].fit));
        chain_print(&settings.chain, text);
        CHECK_TEXT(text, rows[i].fitted);
    }
    static const char *const titles[][2] = {{"text=hi,invert", "crop=640:100,pad=640:480,text=hi,invert"},
                                            {"rotate=90", "crop=640:100,rotate,scale=75:480,pad=640:480"}};
    for (int i = 0; i < 2; i++) {
        char text[CHAIN_TEXT], error[CHAIN_ERROR];
        struct chain part;
        begin("crop=640:100");
        CHECK(chain_parse(&part, titles[i][0], error) && settings_put_part(&settings, PART_TITLES, &part, error));
        CHECK(
            settings_fit(&settings.chain, &(struct image_shape){.width = 640, .height = 480}, 640, 480, FIT_LETTERBOX));
        chain_print(&settings.chain, text);
        CHECK_TEXT(text, titles[i][1]);
    }
    begin("rotate=90,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray,gray");
    CHECK(!settings_fit(&settings.chain, &(struct image_shape){.width = 640, .height = 480}, 640, 480, FIT_LETTERBOX));
    CHECK_NUMBER(settings.chain.count, 15);
}

// Puts the parts after one another, into the chain of an empty view.
static void begin_parts(const char *camera, const char *look, const char *titles)
{
    const char *const text[CHAIN_PARTS] = {camera, look, titles};
    char error[CHAIN_ERROR];
    struct chain part;
    begin("none");
    for (int i = 0; i < CHAIN_PARTS; i++)
        CHECK(chain_parse(&part, text[i], error) &&
              settings_put_part(&settings, (enum chain_part)(i + PART_CAMERA), &part, error));
}

static void check_parts_are(const char *camera, const char *look, const char *titles)
{
    const char *const want[CHAIN_PARTS] = {camera, look, titles};
    char text[CHAIN_TEXT];
    for (int i = 0; i < CHAIN_PARTS; i++)
        CHECK(chain_print_part(&settings.chain, (enum chain_part)(i + PART_CAMERA), text) &&
              strcmp(text, want[i]) == 0);
}

static void select_named(const char *name)
{
    for (int i = 0; i < settings.chain.count; i++) {
        if (strcmp(settings.chain.stage[i].filter->name, name) == 0)
            settings_select(&settings, i);
    }
}

// A part changes alone. A new look is selected; else the selected filter of another part stays selected. Changes by
// hand stay inside a part.
static void check_parts(void)
{
    int stage, param;
    char error[CHAIN_ERROR];
    struct chain part;
    begin_parts("mirror,rotate", "blur=3,gray", "text");
    CHECK(settings_selected(&settings, &stage, &param) && stage == 2); // the look's first parameter
    select_named("text");
    CHECK(chain_parse(&part, "sepia,gamma,sharpen", error) && settings_put_part(&settings, PART_LOOK, &part, error));
    check_parts_are("mirror,rotate", "sepia,gamma,sharpen", "text");
    CHECK(settings_selected(&settings, &stage, &param) && stage == 3);
    select_named("text");
    CHECK(chain_parse(&part, "flip", error) && settings_put_part(&settings, PART_CAMERA, &part, error));
    CHECK(settings_selected(&settings, &stage, &param) && stage == 4 && param == 0);
    CHECK(chain_parse(&part, "mirror,rotate", error) && settings_put_part(&settings, PART_CAMERA, &part, error));
    CHECK(settings_selected(&settings, &stage, &param) && stage == 5 && param == 0);
    CHECK(!edits_move(&edits, &settings, -1));
    CHECK(edits_add(&edits, &settings, filter_find("invert")));
    CHECK(edits_add(&edits, &settings, filter_find("overlay")));
    check_parts_are("mirror,rotate", "sepia,gamma,sharpen,invert", "text,overlay");
    select_named("sepia");
    CHECK(!edits_move(&edits, &settings, -1) && edits_filter(&edits, &settings, 1));
    select_named("mirror");
    CHECK(edits_add(&edits, &settings, filter_find("gray")) && edits_remove(&edits, &settings));
    select_named("mirror");
    CHECK(edits_move(&edits, &settings, 1) && edits_remove(&edits, &settings));
    check_parts_are("rotate", "saturation,gamma,sharpen,invert", "text,overlay");
    for (int i = 0; i < 6; i++)
        CHECK(edits_undo(&edits, &settings));
    check_parts_are("mirror,rotate", "sepia,gamma,sharpen,invert", "text");
}

// A part that leaves no room for the others is refused, and nothing changes.
static void check_full_parts(void)
{
    char error[CHAIN_ERROR];
    struct chain part;
    begin_parts("mirror", "gray,gray,gray,gray,gray,gray,gray,gray,gray,gray", "text");
    CHECK(chain_parse(&part, "text,text,text,text,text,text", error));
    CHECK(!settings_put_part(&settings, PART_TITLES, &part, error) &&
          strcmp(error, "titles: camera, chain and titles have at most 16 filters together") == 0);
    check_parts_are("mirror", "gray,gray,gray,gray,gray,gray,gray,gray,gray,gray", "text");
}

int main(void)
{
    check_parts();
    check_full_parts();
    check_fit();
    check_users();
    check_selected();
    check_runs();
    check_after_undo();
    check_full();
    check_put();
    check_orientation();
    return check_end(&unit);
}
