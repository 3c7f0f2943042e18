// test_keys.c: the table of hotkeys, the user's own keys, and the help text
#include "screen/keys.h"
#include "screen/window.h"
#include "unit.h"

static const struct {
    uint32_t key;
    enum action action;
} table[] = {
    {'0', ACTION_LOOK},
    {'5', ACTION_LOOK},
    {'9', ACTION_LOOK},
    {'w', ACTION_SAVE_LOOK},
    {'a', ACTION_ADD},
    {'n', ACTION_FILTER_NEXT},
    {'b', ACTION_FILTER_PREVIOUS},
    {'{', ACTION_MOVE_LEFT},
    {'}', ACTION_MOVE_RIGHT},
    {WINDOW_KEY_DELETE, ACTION_REMOVE},
    {'u', ACTION_UNDO},
    {WINDOW_KEY_F1 + 10, ACTION_FULLSCREEN},
    {'p', ACTION_PATH},
    {'d', ACTION_DEVICE},
    {WINDOW_KEY_TAB, ACTION_SPLIT},
    {'k', ACTION_SPLIT_PATHS},
    {']', ACTION_STAGE_NEXT},
    {'[', ACTION_STAGE_PREVIOUS},
    {'+', ACTION_VALUE_UP},
    {'=', ACTION_VALUE_UP},
    {'-', ACTION_VALUE_DOWN},
    {'_', ACTION_VALUE_DOWN},
    {',', ACTION_CONTROL_PREVIOUS},
    {'.', ACTION_CONTROL_NEXT},
    {'<', ACTION_CONTROL_DOWN},
    {'>', ACTION_CONTROL_UP},
    {'t', ACTION_TUNE},
    {' ', ACTION_FREEZE},
    {'f', ACTION_FULLSCREEN},
    {'m', ACTION_MIRROR},
    {'v', ACTION_VSYNC},
    {'o', ACTION_OVERLAY},
    {'c', ACTION_SCOPE},
    {'s', ACTION_SCREENSHOT},
    {'S', ACTION_SCREENSHOT_BOTH},
    {'r', ACTION_RECORD},
    {'g', ACTION_ANIMATION},
    {'h', ACTION_HELP},
    {WINDOW_KEY_F1, ACTION_HELP},
    {'?', ACTION_HELP},
    {'q', ACTION_QUIT},
    {'Q', ACTION_QUIT},
    {WINDOW_KEY_ESCAPE, ACTION_BACK},
    {'x', ACTION_NONE},
    {0, ACTION_NONE},
    {':', ACTION_NONE},
    {'/', ACTION_NONE},
    {WINDOW_KEY_LEFT, ACTION_SEEK_BACK},
    {WINDOW_KEY_RIGHT, ACTION_SEEK_FORWARD},
    {WINDOW_KEY_DOWN, ACTION_STEP_BACK},
    {WINDOW_KEY_UP, ACTION_STEP_FORWARD},
    {WINDOW_KEY_F1 + 5, ACTION_NONE},
    {0x20ac, ACTION_NONE},
};

static void test_table(void)
{
    struct keys keys;
    keys_default(&keys);
    bool seen[ACTION_COUNT] = {true};
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        const enum action action = keys_find(&keys, table[i].key, false);
        check_that(&unit, action == table[i].action, "key %#x does %d, not %d", table[i].key, action, table[i].action);
        seen[action] = true;
    }
    for (int action = 0; action < ACTION_COUNT; action++)
        check_that(&unit, seen[action], "no key for action %d", action);
}

static void test_repeats(void)
{
    struct keys keys;
    keys_default(&keys);
    for (const char *key = "+-=_[],.<>"; *key; key++)
        check_that(&unit, keys_find(&keys, (uint32_t)*key, true) != ACTION_NONE, "'%c' repeats", *key);
    for (const char *key = "0pdfmvosrhq "; *key; key++)
        check_that(&unit, keys_find(&keys, (uint32_t)*key, true) == ACTION_NONE, "'%c' must not repeat", *key);
    CHECK(keys_find(&keys, WINDOW_KEY_TAB, true) == ACTION_NONE);
}

static void test_remap(void)
{
    struct keys keys;
    char error[256] = "";
    keys_default(&keys);
    CHECK(keys_remap(
        &keys,
        "path=P,quit=x,back=F12,fullscreen=F11,up=right,forward=F9,camera-back=F4,down=,,split=é,freeze==", error));
    CHECK_TEXT(error, "");
    CHECK(keys_find(&keys, 'P', false) == ACTION_PATH);
    CHECK(keys_find(&keys, 'p', false) == ACTION_NONE);
    CHECK(keys_find(&keys, 'x', false) == ACTION_QUIT);
    CHECK(keys_find(&keys, 'q', false) == ACTION_NONE);
    CHECK(keys_find(&keys, WINDOW_KEY_ESCAPE, false) == ACTION_NONE);
    CHECK(keys_find(&keys, WINDOW_KEY_F1 + 10, false) == ACTION_FULLSCREEN);
    CHECK(keys_find(&keys, WINDOW_KEY_RIGHT, true) == ACTION_VALUE_UP);
    CHECK(keys_find(&keys, ',', true) == ACTION_VALUE_DOWN);
    CHECK(keys_find(&keys, 0xe9, false) == ACTION_SPLIT);
    CHECK(keys_find(&keys, '=', false) == ACTION_FREEZE);

    keys_default(&keys);
    CHECK(keys_remap(&keys, "back=F2,quit=x,QUIT=Escape", error)); // the third joins the second
    CHECK(keys_find(&keys, 'x', false) == ACTION_QUIT);
    CHECK(keys_find(&keys, WINDOW_KEY_ESCAPE, false) == ACTION_QUIT);
    CHECK(keys_find(&keys, 'q', false) == ACTION_NONE);
    CHECK(keys_remap(&keys, "path=d,device=p", error)); // two actions exchange their keys
    CHECK(keys_find(&keys, 'd', false) == ACTION_PATH);
    CHECK(keys_remap(&keys, "", error));
}

static void test_refusals(void)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"pth=x", "no action 'pth'; did you mean path?"},
        {"path", "not of the form"},
        {"=x", "not of the form"},
        {"path=", "is not a key"},
        {"path=xy", "'xy' is not a key"},
        {"path=F13", "'F13' is not a key"},
        {"path=\xff", "is not a key"},
        {"path=\xc3", "is not a key"},
        {"path=\t", "is not a key"},
        {"path=q", "'q' has two actions, path and quit"},
        {"quit=escape", "'Esc' has two actions, back and quit"},
        {"path=x,device=x", "'x' has two actions, path and device"},
        {"path=5", "'5' has two actions, look and path"},
        {"look=x", "the digits select the looks"},
        {"path=,x", "expected a comma"},
        {"path=x,,device=y", "not of the form"},
        {"quit=F2,quit=F3,quit=F4,quit=F5,quit=F6,quit=F7,quit=F8", "more than 6 keys"},
    };
    struct keys keys, before;
    keys_default(&keys);
    before = keys;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char error[256] = "";
        check_that(&unit, !keys_remap(&keys, cases[i].text, error), "'%s' must be refused", cases[i].text);
        CHECK_HAS(error, cases[i].error);
        check_that(&unit, memcmp(&keys, &before, sizeof(keys)) == 0, "'%s' changes the keys", cases[i].text);
    }
}

static void test_names(void)
{
    static const struct {
        uint32_t key;
        const char *name;
    } cases[] = {
        {WINDOW_KEY_TAB, "Tab"},
        {'q', "q"},
        {' ', "Space"},
        {WINDOW_KEY_ESCAPE, "Esc"},
        {WINDOW_KEY_F12, "F12"},
        {WINDOW_KEY_LEFT, "Left"},
        {0xe9, "é"},
        {0x20ac, "€"},
        {0x1f600, "😀"},
        {0, ""},
        {WINDOW_KEY_F12 + 1, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char name[16];
        keys_key_name(cases[i].key, name);
        CHECK_TEXT(name, cases[i].name);
    }
}

static void test_print(void)
{
    struct keys keys;
    char *text = NULL, error[256];
    size_t size = 0;
    keys_default(&keys);
    CHECK(keys_remap(&keys, "path=x", error));
    FILE *out = open_memstream(&text, &size);
    keys_print(&keys, out);
    fclose(out);
    CHECK_HAS(text, "  0-9        look        select a look");
    CHECK_HAS(text, "  x          path        use the next path");
    CHECK_HAS(text, "  h F1 ?     help        show or hide this list\n");
    free(text);
}

// Opposite actions are one row. In a window of 640x480 pixels, two blocks of rows with 37 columns fit.
static void test_list(void)
{
    enum { COLUMNS = 37, PAIRS = 8 };
    struct keys keys, list;
    char error[256];
    keys_default(&keys);
    CHECK(keys_remap(&keys, "next=F2,next=F3", error));
    keys_list(&keys, &list);
    CHECK(list.count == keys.count - PAIRS);
    int found = 0;
    for (int i = 0; i < list.count; i++) {
        const struct key_row *row = &list.row[i];
        check_that(&unit, strlen(row->help) <= COLUMNS, "'%s' is too long", row->help);
        found += row->key[0] == '[' && row->key[1] == WINDOW_KEY_F1 + 1 && row->key[2] == WINDOW_KEY_F1 + 2 &&
                 strcmp(row->help, "select a parameter") == 0;
        found += row->key[0] == '{' && row->key[1] == '}' && row->key[2] == 0;
        found += row->key[0] == 'q' && row->action == ACTION_QUIT;
    }
    CHECK(found == 3);
}

int main(void)
{
    test_table();
    test_repeats();
    test_remap();
    test_refusals();
    test_names();
    test_print();
    test_list();
    return check_end(&unit);
}
