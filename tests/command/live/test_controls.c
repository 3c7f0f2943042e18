// test_controls.c: keys that change a camera's controls, while the camera is lost and when it is back
#include "command/live/controls.h"

#include "unit.h"

static int there; // controls that the camera has now

int __wrap_source_controls(struct source *source, struct source_control control[SOURCE_CONTROLS]);
int __wrap_source_controls(struct source *source, struct source_control control[SOURCE_CONTROLS])
{
    control[0] = (struct source_control){.name = "gain", .value = "5", .maximum = 100, .step = 1};
    return there;
}

bool __wrap_source_set_control(struct source *source, const char *setting, char why[SOURCE_SET_WHY]);
bool __wrap_source_set_control(struct source *source, const char *setting, char why[SOURCE_SET_WHY])
{
    snprintf(why, SOURCE_SET_WHY, "no signal");
    return there > 0;
}

const struct source_info *__wrap_source_info(const struct source *source);
const struct source_info *__wrap_source_info(const struct source *source)
{
    static const struct source_info info = {.controls = true};
    return &info;
}

int main(void)
{
    struct controls controls = {.count = 0};
    struct note note = {.text = ""};
    int count;
    there = 1;
    controls_adjust(&controls, NULL, 1, 0, &note);
    CHECK_TEXT(note.text, "gain 5");
    controls.listed_ns = 0;
    there = 0;
    controls_adjust(&controls, NULL, 0, 1, &note);
    CHECK_TEXT(note.text, "no signal");
    controls_list(&controls, NULL, &count);
    there = 1; // at once
    controls_adjust(&controls, NULL, 0, 1, &note);
    CHECK_TEXT(note.text, "gain 5");
    return check_end(&unit);
}
