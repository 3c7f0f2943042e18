// test_page.c: the page of `bench --report`
#include "base/file.h"
#include "command/page.h"

#include "unit.h"

#include <jansson.h>

// A file that appears during the run is not replaced: the page gets another name.
static void test_page(void)
{
    struct claim claim;
    struct captured said;
    char directory[64], name[80], other[80];
    unit_directory(directory);
    snprintf(name, sizeof(name), "%s/page.html", directory);
    snprintf(other, sizeof(other), "%s/page-2.html", directory);
    json_t *results = json_array();
    CHECK(claim_take(&claim, name) && file_write_atomic(name, "theirs", 6));
    capture_stderr(&said);
    CHECK(page_write(&claim, "assets/report.html", results));
    CHECK_HAS(captured_stderr(&said), "page.html during the run; monocle writes ");
    json_decref(results);
    char *theirs = file_read_text(name, 1000), *page = file_read_text(other, 1 << 24);
    CHECK_TEXT(theirs, "theirs");
    CHECK_HAS(page, "<html");
    free(theirs);
    free(page);
    CHECK(unlink(name) == 0 && unlink(other) == 0 && rmdir(directory) == 0);
}

int main(void)
{
    test_page();
    return check_end(&unit);
}
