// test_check.c: the exit statuses of test programs
#include "unit.h"

#include <sys/wait.h>

static const char *const names[] = {"one", "other", NULL};

// Runs check_name in a child process. Returns its exit code, or 10 plus the index.
static int name_code(const char *given)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(10 + check_name(given, names));
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
    struct captured captured;
    struct check check = {.name = "some"};
    capture_stderr(&captured);
    const int empty = check_end(&check);
    check_that(&check, true, "right");
    const int passed = check_end(&check);
    check_that(&check, false, "wrong");
    const int failed = check_end(&check);
    CHECK_TEXT(
        captured_stderr(&captured),
        "some: 0 of 0 checks failed\nsome: 0 of 1 checks failed\nsome: failed: wrong\nsome: 1 of 2 checks failed\n");
    CHECK_NUMBER(empty, 1);
    CHECK_NUMBER(passed, 0);
    CHECK_NUMBER(failed, 1);

    capture_stderr(&captured);
    const int unknown = name_code("onne");
    CHECK_TEXT(captured_stderr(&captured), "there is no 'onne' to test; there are: one, other\n");
    CHECK_NUMBER(unknown, 2);
    CHECK_NUMBER(name_code(NULL), 10);
    CHECK_NUMBER(name_code("one"), 10);
    CHECK_NUMBER(name_code("other"), 11);
    return check_end(&unit);
}
