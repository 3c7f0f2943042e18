// test_alloc.c: small blocks are zeroed and grow; without memory, the process ends with one line
#include "base/alloc.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool no_memory;
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return no_memory ? NULL : __real_malloc(bytes);
}

static size_t reallocated; // bytes of the last realloc
void *__real_realloc(void *block, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes)
{
    reallocated = bytes;
    return __real_realloc(block, bytes);
}

static void test_texts(void)
{
    char *block = xcalloc(3, 5), *text = xprintf("%d %s", 7, "words"), *part = xstrndup("pixels", 3), *stream = NULL;
    static const char zeros[15];
    size_t size = 0;
    CHECK(memcmp(block, zeros, sizeof(zeros)) == 0);
    CHECK_TEXT(text, "7 words");
    CHECK_TEXT(part, "pix");
    FILE *out = xmemstream(&stream, &size);
    fputs("line", out);
    xmemclose(out);
    CHECK_TEXT(stream, "line");
    CHECK_NUMBER(size, 4);
    free(block);
    free(text);
    free(part);
    free(stream);
    free(xalloc(0));
    free(xmalloc(0));
}

static void test_grow(void)
{
    enum { COUNT = 1000 };
    int *list = NULL;
    bool room = true, kept = true;
    for (int i = 0; i < COUNT; i++) {
        list = xgrow(list, (size_t)i, sizeof(*list));
        room = room && reallocated >= (size_t)(i + 1) * sizeof(*list);
        list[i] = i;
    }
    CHECK(room);
    for (int i = 0; i < COUNT; i++)
        kept = kept && list[i] == i;
    CHECK(kept);
    free(list);
}

static void run_out(void)
{
    no_memory = true;
    xmalloc(8);
}

static void grow_too_far(void)
{
    free(xgrow(NULL, (size_t)1 << 62, 16));
}

static void test_end(void (*run)(void))
{
    static const char expected[] = "monocle: error: out of memory\n";
    char text[128] = "";
    int pipe_ends[2], status = 0;
    if (!CHECK(pipe(pipe_ends) == 0))
        return;
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipe_ends[1], STDERR_FILENO);
        run();
        _exit(0);
    }
    close(pipe_ends[1]);
    const ssize_t size = read(pipe_ends[0], text, sizeof(text) - 1);
    CHECK_NUMBER(size, sizeof(expected) - 1);
    CHECK_TEXT(text, expected);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1);
    close(pipe_ends[0]);
}

int main(void)
{
    test_texts();
    test_grow();
    test_end(run_out);
    test_end(grow_too_far);
    return check_end(&unit);
}
