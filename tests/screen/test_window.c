// test_window.c: the user's actions on the window become events; sizes, full screen, no display
//
// test_window CONTEXT | none   "none": without a display
#include "base/clock.h"
#include "builder.h"
#include "screen_test.h"
#include "unit.h"

#include <dlfcn.h>
#include <math.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <X11/Xlib.h>

enum { WAIT_MS = 3000, EVENTS = 512 };

static void do_input(const char *arguments)
{
    char command[512];
    snprintf(command, sizeof(command), "xdotool %s", arguments);
    check_that(&unit, system(command) == 0, "%s", command);
}

// Collects events until there are `count`, or until none arrives for `quiet_ms`.
static int collect(struct window *window, struct window_event *events, int count, int quiet_ms)
{
    int got = 0;
    const int64_t ms = 1000000;
    int64_t end = clock_now_ns() + WAIT_MS * ms;
    while (clock_now_ns() < end) {
        while (got < EVENTS && window_next_event(window, &events[got]))
            got++;
        if (got >= count && end > clock_now_ns() + quiet_ms * ms)
            end = clock_now_ns() + quiet_ms * ms;
        clock_sleep_until_ns(clock_now_ns() + 2 * ms);
    }
    return got;
}

// Discards the events that showing the window caused.
static void settle(struct window *window)
{
    struct window_event events[EVENTS];
    collect(window, events, 0, 100);
}

static void test_keys(struct window *window)
{
    static const struct {
        const char *name;
        uint32_t key;
    } keys[] = {
        {"q", 'q'},
        {"Q", 'Q'},
        {"plus", '+'},
        {"minus", '-'},
        {"equal", '='},
        {"bracketleft", '['},
        {"question", '?'},
        {"7", '7'},
        {"space", ' '},
        {"KP_Add", '+'},
        {"Tab", WINDOW_KEY_TAB},
        {"Return", WINDOW_KEY_ENTER},
        {"KP_Enter", WINDOW_KEY_ENTER},
        {"Left", WINDOW_KEY_LEFT},
        {"Right", WINDOW_KEY_RIGHT},
        {"Up", WINDOW_KEY_UP},
        {"Down", WINDOW_KEY_DOWN},
        {"Home", WINDOW_KEY_HOME},
        {"End", WINDOW_KEY_END},
        {"Prior", WINDOW_KEY_PAGE_UP},
        {"Next", WINDOW_KEY_PAGE_DOWN},
        {"F1", WINDOW_KEY_F1},
        {"F12", WINDOW_KEY_F12},
        {"Escape", WINDOW_KEY_ESCAPE},
    };
    enum { KEYS = sizeof(keys) / sizeof(*keys) };
    do_input("mousemove 100 100"); // without a window manager the pointer's window has the keyboard
    for (int i = 0; i < KEYS; i++) {
        struct window_event events[EVENTS];
        char input[64];
        snprintf(input, sizeof(input), "key %s", keys[i].name);
        do_input(input);
        const int got = collect(window, events, 1, 0);
        check_that(&unit, got == 1 && events[0].type == WINDOW_KEY && events[0].key == keys[i].key && !events[0].repeat,
                   "key %s gives %d events, the first %#x", keys[i].name, got, got ? events[0].key : 0);
    }
    struct window_event events[EVENTS];
    do_input("key ctrl+c alt+x Shift_L Insert");
    const int none = collect(window, events, 0, 100);
    CHECK_NUMBER(none, 0);
}

static void test_repeat(struct window *window)
{
    struct window_event events[EVENTS];
    do_input("keydown plus keydown Left sleep 1.2 keyup Left keyup plus");
    int got = collect(window, events, 3, 100);
    CHECK(got > 3);
    for (int i = 0; i < got; i++)
        check_that(&unit, events[i].type == WINDOW_KEY && events[i].repeat == (i > 1), "event %d of a held key", i);
    do_input("key plus");
    got = collect(window, events, 1, 0);
    CHECK_NUMBER(got, 1);
    CHECK(!events[0].repeat);
}

static void test_drag(struct window *window)
{
    struct window_event events[EVENTS];
    do_input("mousemove 64 48 mousedown 1");
    int got = collect(window, events, 1, 50);
    CHECK_NUMBER(got, 1);
    CHECK(events[0].type == WINDOW_DRAG && fabsf(events[0].x - 0.1f) < 1e-4f && fabsf(events[0].y - 0.1f) < 1e-4f);
    CHECK(events[0].begins);
    do_input("mousemove 100 100 mousemove 320 120 mouseup 1 mousemove 500 400");
    got = collect(window, events, 1, 50);
    CHECK(got >= 1);
    for (int i = 0; i < got; i++)
        CHECK(events[i].type == WINDOW_DRAG && events[i].x < 0.5001f && !events[i].begins);
    CHECK(fabsf(events[got - 1].x - 0.5f) < 1e-4f && fabsf(events[got - 1].y - 0.25f) < 1e-4f);
    // Drags that wait: each press stays, and so does the last place before the next one. After
    // a drag, a press at the same place is no double click.
    do_input("mousemove 64 48 mousedown 1 mousemove 96 48 mousemove 128 48 mouseup 1 mousemove 320 48 mousedown 1 "
             "mousemove 352 48 mouseup 1");
    got = collect(window, events, 4, 50);
    CHECK_NUMBER(got, 4);
    const float places[] = {0.1f, 0.2f, 0.5f, 0.55f};
    for (int i = 0; i < 4; i++)
        CHECK(events[i].begins == (i % 2 == 0) && fabsf(events[i].x - places[i]) < 1e-4f);
    do_input("mousedown 3 mousemove 30 30 mouseup 3");
    got = collect(window, events, 1, 100);
    CHECK_NUMBER(got, 1);
    CHECK_NUMBER(events[0].type, WINDOW_RIGHT_CLICK);
    do_input("mousemove 100 100");
}

// Two presses in one place are a double click, unless the pointer or the time is between them.
static void test_clicks(struct window *window)
{
    static const struct {
        const char *input;
        int count;
        enum window_event_type type[2];
    } cases[] = {
        {"mousemove 100 100 click 1 click 1", 2, {WINDOW_DRAG, WINDOW_DOUBLE_CLICK}},
        {"click 1", 1, {WINDOW_DRAG}},
        {"sleep 0.6 click 1 click 1", 2, {WINDOW_DRAG, WINDOW_DOUBLE_CLICK}},
        {"click 1 mousemove 150 100 click 1", 2, {WINDOW_DRAG, WINDOW_DRAG}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct window_event events[EVENTS];
        do_input(cases[i].input);
        const int got = collect(window, events, cases[i].count, 100);
        CHECK_NUMBER(got, cases[i].count);
        for (int k = 0; k < got && k < cases[i].count; k++) {
            check_that(&unit, events[k].type == cases[i].type[k], "%s: event %d is %d", cases[i].input, k,
                       events[k].type);
            CHECK(events[k].type != WINDOW_DRAG || events[k].begins);
        }
    }
}

// Turns of the wheel add up, unless Ctrl is pressed between them.
static void test_wheel(struct window *window)
{
    struct window_event events[EVENTS];
    do_input("mousemove 64 48 click 4 click 4 click 5 keydown Control_L click 5 keyup Control_L");
    const int got = collect(window, events, 2, 100);
    int plain = 0, zoom = 0;
    for (int i = 0; i < got; i++) {
        CHECK(events[i].type == WINDOW_WHEEL && fabsf(events[i].x - 0.1f) < 1e-4f && fabsf(events[i].y - 0.1f) < 1e-4f);
        plain += events[i].control ? 0 : events[i].steps;
        zoom += events[i].control ? events[i].steps : 0;
    }
    CHECK_NUMBER(plain, 1);
    CHECK_NUMBER(zoom, -1);
}

// GLFW passes the paths of a drop.
static void test_drop(struct window *window)
{
    struct window_event events[EVENTS];
    const char *paths[] = {"/tmp/a file.png", "/tmp/b.png"};
    GLFWwindow *glfw = glfwGetCurrentContext();
    const GLFWdropfun drop = glfwSetDropCallback(glfw, NULL);
    glfwSetDropCallback(glfw, drop);
    if (!CHECK(drop != NULL))
        return;
    CHECK(strcmp(window_dropped(window), "") == 0);
    drop(glfw, 2, paths);
    drop(glfw, 1, paths + 1);
    const int got = collect(window, events, 1, 0);
    CHECK_NUMBER(got, 1);
    CHECK(events[0].type == WINDOW_DROP && strcmp(window_dropped(window), paths[1]) == 0);
    drop(glfw, 2, paths);
    CHECK(collect(window, events, 1, 0) == 1 && strcmp(window_dropped(window), "/tmp/a file.png\n/tmp/b.png") == 0);
}

// More key presses between two frames than the queue holds.
static void test_flood(struct window *window)
{
    struct window_event events[EVENTS];
    char input[400] = "key --delay 0";
    for (int i = 0; i < 100; i++)
        strcat(input, " a");
    for (int i = 0; i < 3; i++)
        do_input(input);
    const int got = collect(window, events, 256, 50);
    CHECK(got >= 256 && got <= 300);
}

static void test_resize(struct screen_test *test)
{
    struct window_event events[EVENTS];
    do_input("search --name '^monocle test$' windowsize 501 333");
    const int got = collect(test->window, events, 1, 50);
    CHECK(got >= 1 && events[0].type == WINDOW_RESIZE);
    test->size = window_size(test->window);
    CHECK_NUMBER(test->size.width, 501);
    CHECK_NUMBER(test->size.height, 333);
    struct image image = noise_image(501, 333, 0, 1);
    const struct scene scene = {.texture = renderer_upload(test->renderer, 0, &image), .width = 501, .height = 333};
    struct image got_image = screen_test_draw(test, &scene);
    check_same(test, &got_image, 0, 0, &image, "after a resize");
    image_free(&got_image);
    image_free(&image);
}

// Acts as the window manager, on a second connection to the X server.
static void test_close(struct window *window)
{
    struct window_event events[EVENTS];
    FILE *search = popen("xdotool search --name '^monocle test$'", "r");
    unsigned long id = 0;
    CHECK(search && fscanf(search, "%lu", &id) == 1);
    if (search)
        pclose(search);
    Display *display = XOpenDisplay(NULL);
    if (!display)
        abort();
    XEvent event = {.xclient = {.type = ClientMessage, .window = id, .format = 32}};
    event.xclient.message_type = XInternAtom(display, "WM_PROTOCOLS", False);
    event.xclient.data.l[0] = (long)XInternAtom(display, "WM_DELETE_WINDOW", False);
    XSendEvent(display, id, False, NoEventMask, &event);
    XCloseDisplay(display);
    const int got = collect(window, events, 1, 0);
    CHECK_NUMBER(got, 1);
    CHECK(events[0].type == WINDOW_CLOSE);
}

static void test_fullscreen(struct window *window)
{
    const struct window_size before = window_size(window);
    for (int i = 0; i < 2; i++) {
        window_set_fullscreen(window, true);
        window_set_fullscreen(window, true);
        settle(window);
        CHECK_NUMBER(window_size(window).width, 1920);
        CHECK_NUMBER(window_size(window).height, 1200);
        window_set_vsync(window, i);
        window_set_fullscreen(window, false);
        settle(window);
        CHECK_NUMBER(window_size(window).width, before.width);
        CHECK_NUMBER(window_size(window).height, before.height);
    }
}

// A window that the window manager has maximised returns to its earlier size.
static void test_filled(struct window *window)
{
    const struct window_size before = window_size(window);
    do_input("search --name '^monocle test$' windowmove 300 200");
    settle(window);
    do_input("search --name '^monocle test$' windowsize 1920 1200 windowmove 0 0");
    settle(window);
    for (int i = 0; i < 2; i++) {
        window_set_fullscreen(window, true);
        settle(window);
        CHECK_NUMBER(window_size(window).width, 1920);
        window_set_fullscreen(window, false);
        settle(window);
        CHECK_NUMBER(window_size(window).width, before.width);
        CHECK_NUMBER(window_size(window).height, before.height);
    }
    do_input("search --name '^monocle test$' getwindowgeometry | grep -q 'Position: 300,200'");
    do_input("search --name '^monocle test$' windowmove 0 0");
    settle(window);
}

static void test_context(const struct screen_test *test)
{
    const struct gl_handles native = window_gl_handles(test->window);
    const char *name = window_gl_name(test->window);
    CHECK((native.glx_context != NULL) == (native.glx_display != NULL));
    CHECK((native.egl_context != NULL) == (native.egl_display != NULL));
    CHECK((native.egl_context != NULL) != (native.glx_context != NULL));
    CHECK(!test->egl || native.egl_context);
    CHECK_HAS(name, native.egl_context ? "over EGL: " : "over GLX: ");
    CHECK_HAS(name, test->es ? "OpenGL ES 3." : " core over ");
    CHECK_NUMBER(window_size(test->window).scale, 1);
    struct gl_context *context = window_gl(test->window);
    CHECK(context && context == window_gl(test->window));
    CHECK_TEXT(context->name, name);
    check_builder(&unit, context);
}

static void test_too_large(struct screen_test *test)
{
    screen_test_open(test, 4000, 1000);
    const struct window_size size = test->size;
    CHECK(size.width <= 1920 && size.width > 1700);
    CHECK(fabs((double)size.width / size.height - 4) < 0.02);
    screen_test_close(test);
    screen_test_open(test, 20000, 200); // the monitor's shape would make it thinner
    CHECK(test->size.width <= 1920 && test->size.width > 1700);
    CHECK_NUMBER(test->size.height, 120);
    screen_test_close(test);
}

static void test_too_small(void)
{
    static const struct {
        int width, height, wide, high;
    } cases[] = {
        {1, 1, 240, 240},     {3, 2, 318, 212},    {160, 120, 320, 240},  {161, 120, 161, 120},
        {300, 200, 300, 200}, {300, 1, 300, 120},  {1, 300, 160, 300},    {2, 100, 160, 200},
        {320, 240, 320, 240}, {80, 119, 160, 238}, {4000, 30, 4000, 120}, {1920, 1080, 1920, 1080},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct window_setup setup = {.width = cases[i].width, .height = cases[i].height};
        window_enlarge(&setup);
        check_that(&unit, setup.width == cases[i].wide && setup.height == cases[i].high, "%dx%d in a window of %dx%d",
                   cases[i].width, cases[i].height, setup.width, setup.height);
    }
}

static void test_no_display(void)
{
    struct captured captured;
    char why[256] = "";
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    capture_stderr(&captured);
    const struct window_setup setup = {.title = "none", .width = 64, .height = 48};
    CHECK(window_open(&setup, why) == NULL);
    CHECK(window_open(&setup, NULL) == NULL);
    setenv("DISPLAY", ":64738", 1);
    CHECK(window_open(&setup, NULL) == NULL);
    window_close(NULL);
    CHECK_TEXT(captured_stderr(&captured), "");
    CHECK_HAS(why, "cannot open the display: ");
    CHECK_HAS(why, "DISPLAY");
}

// OpenCL drivers find the function with dlsym. This program links no GL library that has it.
static void test_published(const struct screen_test *test)
{
    const char *name = test->egl ? "eglGetProcAddress" : "glXGetProcAddress";
    CHECK(!dlsym(RTLD_DEFAULT, name));
    const struct gl_handles native = window_gl_handles(test->window);
    CHECK((test->egl ? native.egl_context : native.glx_context) != NULL);
    CHECK(dlsym(RTLD_DEFAULT, name) != NULL);
}

int main(int argc, char **argv)
{
    struct screen_test test = {.check = &unit};
    static const char *const names[] = {"core", "es", "core-egl", "es-egl", "none", NULL};
    if (strcmp(names[check_name(argv[1], names)], "none") == 0) {
        test_too_small();
        test_no_display();
        return check_end(&unit);
    }
    screen_test_options(&test, argv);
    if (system("command -v xdotool >/dev/null") != 0) {
        fprintf(stderr, "skipped: xdotool is not installed\n");
        return CHECK_SKIP;
    }
    screen_test_open(&test, 640, 480);
    test_published(&test);
    settle(test.window);
    test_context(&test);
    test_keys(test.window);
    test_repeat(test.window);
    test_drag(test.window);
    test_clicks(test.window);
    test_wheel(test.window);
    test_drop(test.window);
    test_flood(test.window);
    test_fullscreen(test.window);
    test_filled(test.window);
    test_resize(&test);
    test_close(test.window);
    screen_test_close(&test);
    test_too_large(&test);
    return check_end(&unit);
}
