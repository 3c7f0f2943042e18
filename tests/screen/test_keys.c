// test_keys.c: the table of hotkeys, the user's own keys, and the help text
#include "screen/keys.h"
#include "screen/window.h"
#include "unit.h"

static const struct {
    uint32_t key;
    const char *name; // of the action; "": none
} table[] = {
    {'0', "look"},
    {'5', "look"},
    {'9', "look"},
    {'w', "save-look"},
    {'a', "add"},
    {'n', "filter-next"},
    {'b', "filter-back"},
    {'{', "move-left"},
    {'}', "move-right"},
    {WINDOW_KEY_DELETE, "remove"},
    {'u', "undo"},
    {WINDOW_KEY_F1 + 10, "fullscreen"},
    {'p', "path"},
    {'d', "device"},
    {WINDOW_KEY_TAB, "split"},
    {'k', "split-paths"},
    {']', "next"},
    {'[', "previous"},
    {'+', "up"},
    {'=', "up"},
    {'-', "down"},
    {'_', "down"},
    {',', "camera-back"},
    {'.', "camera-next"},
    {'<', "camera-down"},
    {'>', "camera-up"},
    {'t', "tune"},
    {' ', "freeze"},
    {'z', "zoom"},
    {'l', "looks"},
    {'f', "fullscreen"},
    {'m', "mirror"},
    {'M', "flip"},
    {'R', "rotate"},
    {'v', "vsync"},
    {'o', "overlay"},
    {'c', "scope"},
    {'i', "inside"},
    {'s', "screenshot"},
    {'S', "save-both"},
    {'Z', "zoom-output"},
    {'r', "record"},
    {'g', "animation"},
    {'h', "help"},
    {WINDOW_KEY_F1, "help"},
    {'?', "help"},
    {'q', "quit"},
    {'Q', "quit"},
    {WINDOW_KEY_ESCAPE, "back"},
    {'x', ""},
    {0, ""},
    {':', ""},
    {'/', ""},
    {WINDOW_KEY_LEFT, "rewind"},
    {WINDOW_KEY_RIGHT, "forward"},
    {WINDOW_KEY_DOWN, "step-back"},
    {WINDOW_KEY_UP, "step"},
    {WINDOW_KEY_F1 + 5, ""},
    {0x20ac, ""},
};

// Returns the name of the key's action; "": none.
static const char *name_of(const struct keys *keys, uint32_t key, bool repeat)
{
    const struct key_row *row = keys_find(keys, key, repeat);
    return row ? row->name : "";
}

static void test_table(void)
{
    struct keys keys;
    keys_default(&keys);
    bool seen[KEY_ROWS] = {false};
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        const struct key_row *row = keys_find(&keys, table[i].key, false);
        check_that(&unit, strcmp(row ? row->name : "", table[i].name) == 0, "key %#x does %s, not %s", table[i].key,
                   row ? row->name : "nothing", table[i].name);
        if (row)
            seen[row - keys.row] = true;
    }
    for (int i = 0; i < keys.count; i++)
        check_that(&unit, seen[i] && keys.row[i].command.action != KEY_NONE, "no key for %s", keys.row[i].name);
}

// A key that is given twice is one key, and a second one is added to the first.
static void test_twice(void)
{
    struct keys keys;
    char error[256] = "";
    keys_default(&keys);
    CHECK(keys_remap(&keys, "path=x,path=x,path=y", error));
    const struct key_row *row = keys_find(&keys, 'x', false);
    CHECK(row && row->key[0] == 'x' && row->key[1] == 'y' && row->key[2] == 0);
    CHECK_TEXT(name_of(&keys, 'y', false), "path");
}

static void test_repeats(void)
{
    struct keys keys;
    keys_default(&keys);
    for (const char *key = "+-=_[],.<>"; *key; key++)
        check_that(&unit, keys_find(&keys, (uint32_t)*key, true) != NULL, "'%c' repeats", *key);
    for (const char *key = "0pdfmvosrhq "; *key; key++)
        check_that(&unit, keys_find(&keys, (uint32_t)*key, true) == NULL, "'%c' must not repeat", *key);
    CHECK(!keys_find(&keys, WINDOW_KEY_TAB, true));
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
    CHECK_TEXT(name_of(&keys, 'P', false), "path");
    CHECK(!keys_find(&keys, 'p', false));
    CHECK_TEXT(name_of(&keys, 'x', false), "quit");
    CHECK(!keys_find(&keys, 'q', false));
    CHECK(!keys_find(&keys, WINDOW_KEY_ESCAPE, false));
    CHECK_TEXT(name_of(&keys, WINDOW_KEY_F1 + 10, false), "fullscreen");
    CHECK_TEXT(name_of(&keys, WINDOW_KEY_RIGHT, true), "up");
    CHECK_TEXT(name_of(&keys, ',', true), "down");
    CHECK_TEXT(name_of(&keys, 0xe9, false), "split");
    CHECK_TEXT(name_of(&keys, '=', false), "freeze");

    keys_default(&keys);
    CHECK(keys_remap(&keys, "back=F2,quit=x,QUIT=Escape", error)); // the third joins the second
    CHECK_TEXT(name_of(&keys, 'x', false), "quit");
    CHECK_TEXT(name_of(&keys, WINDOW_KEY_ESCAPE, false), "quit");
    CHECK(!keys_find(&keys, 'q', false));
    CHECK(keys_remap(&keys, "path=d,device=p", error)); // two actions exchange their keys
    CHECK_TEXT(name_of(&keys, 'd', false), "path");
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
    CHECK(list.count == keys.count - PAIRS + KEY_GROUPS);
    int found = 0, headings = 0;
    for (int i = 0; i < list.count; i++) {
        const struct key_row *row = &list.row[i];
        check_that(&unit, strlen(row->help) <= COLUMNS, "'%s' is too long", row->help);
        found += row->key[0] == '[' && row->key[1] == WINDOW_KEY_F1 + 1 && row->key[2] == WINDOW_KEY_F1 + 2 &&
                 strcmp(row->help, "select a parameter") == 0;
        found += row->key[0] == '{' && row->key[1] == '}' && row->key[2] == 0;
        found += row->key[0] == 'q' && row->command.action == KEY_QUIT;
        headings += row->heading && row->command.action == KEY_NONE && i + 1 < list.count && !list.row[i + 1].heading;
    }
    CHECK(found == 3);
    CHECK_NUMBER(headings, KEY_GROUPS);
}

int main(void)
{
    test_table();
    test_repeats();
    test_twice();
    test_remap();
    test_refusals();
    test_names();
    test_print();
    test_list();
    return check_end(&unit);
}
