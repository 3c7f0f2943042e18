// test_batch_memory.c: a lack of memory leaves members out of a line of JSON, and breaks nothing else; images in flight
// take no more memory than the limit, and a thread that waits for memory has none and no image in flight; a signal ends
// a file that is not filtered yet; many new files are several groups
#include "base/json_text.h"
#include "base/log.h"
#include "batch/report.h"
#include "batch/worker.h"

#include "unit.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static long allocations, failing; // the number of the allocation that fails

static void *allocate(size_t size)
{
    return ++allocations == failing ? NULL : malloc(size);
}

static void test_json(void)
{
    const struct input input = {.path = "in/\xff.png"};
    const struct task task = {.input = &input, .output = "out/a.png"};
    const struct outcome outcome = {.task = &task, .status = STATUS_FAILED, .fault = FAULT_READ, .why = "it is locked"};
    json_set_alloc_funcs(allocate, free);
    print_json(batch_report_plan(&outcome, false), JSON_COMPACT);
    const long needed = allocations;
    CHECK(needed > 10);
    for (failing = 1; failing <= needed; failing++) {
        allocations = 0;
        print_json(batch_report_plan(&outcome, false), JSON_COMPACT);
        CHECK(allocations >= failing);
    }
    json_set_alloc_funcs(malloc, free);
}

static void test_limit(void)
{
    const struct tasks tasks = {0};
    struct queue queue;
    queue_init(&queue, &tasks, false, 100);
    CHECK(queue_take_memory(&queue, 60, false));
    CHECK(!queue_take_memory(&queue, 41, false));
    CHECK(queue_take_memory(&queue, 40, true));
    queue_give_memory(&queue, 60);
    CHECK(queue_take_memory(&queue, 60, false) && !queue_take_memory(&queue, 1, false));
    queue_finish(&queue);
}

// A table that grows keeps its rows.
static void test_table(void)
{
    struct row {
        const char *key;
        int number;
    } * row;
    struct key_table table = {0};
    char key[16];
    for (int i = 0; i < 3000; i++) {
        snprintf(key, sizeof(key), "row %d", i);
        row = table_row(&table, key, sizeof(*row));
        row->number += i + 1;
    }
    for (int i = 0; i < 3000; i++) {
        snprintf(key, sizeof(key), "row %d", i);
        row = table_find(&table, key);
        CHECK(row && row->number == i + 1);
    }
    CHECK(!table_find(&table, "row 3000"));
    CHECK_NUMBER(table.count, 3000);
    table_free(&table);
}

static bool refuses;   // the next image, but not its file, finds no memory without waiting
static int waits = -1; // for memory, from 0 on; -1: not counted
static bool delays;    // an image stays in flight until the next one is read, as on a device

bool __real_queue_take_memory(struct queue *queue, uint64_t bytes, bool waiting);
bool __wrap_queue_take_memory(struct queue *queue, uint64_t bytes, bool waiting);

bool __wrap_queue_take_memory(struct queue *queue, uint64_t bytes, bool waiting)
{
    if (refuses && !waiting) {
        refuses = false;
        return false;
    }
    if (waits >= 0 && waits++ > 0)
        CHECK_NUMBER(queue->memory_used, 0); // else two threads could wait for each other
    const bool stuck = delays && waiting && bytes > queue->memory_bytes - queue->memory_used;
    CHECK(!stuck); // the only thread would wait for itself
    if (stuck)
        exit(check_end(&unit));
    return __real_queue_take_memory(queue, bytes, waiting);
}

int __real_runner_lag(const struct runner *runner);
int __wrap_runner_lag(const struct runner *runner);

int __wrap_runner_lag(const struct runner *runner)
{
    return delays ? 1 : __real_runner_lag(runner);
}

static int calls_left = -1; // of process_interrupted, until a signal arrives; -1: none arrives

int __wrap_process_interrupted(void);

int __wrap_process_interrupted(void)
{
    if (calls_left > 0)
        calls_left--;
    return calls_left == 0 ? SIGINT : 0;
}

static const char tga[] = {[2] = 2, [12] = 2, [14] = 1, [16] = 24, [18] = 'a', 'b', 'c', 'd', 'e', 'f'};

static void write_tga(const char *name)
{
    FILE *file = fopen(name, "w");
    CHECK(file && fwrite(tga, sizeof(tga), 1, file) == 1 && fclose(file) == 0);
}

enum { FILES = 3 };

// Filters some files with one worker. Returns how many are done; the others must have failed for this reason.
static int run_worker(struct queue *queue, const char *why)
{
    static char *const names[FILES] = {"0.tga", "1.tga", "2.tga"};
    const struct batch_setup options = {.megapixels = 100, .naming = {0}};
    char outputs[FILES][8] = {"0.png", "1.png", "2.png"};
    struct directory directory = {.path = "", .nearest = "."};
    struct input input[FILES];
    struct task task[FILES];
    const struct tasks tasks = {.row = task, .count = FILES, .chain = &options.chain, .job = ""};
    bool over = false;
    int done = 0;
    for (int i = 0; i < FILES; i++) {
        write_tga(names[i]);
        input[i] = (struct input){.path = names[i], .relative = names[i]};
        task[i] = (struct task){.input = &input[i], .output = outputs[i], .directory = &directory};
    }
    queue_init(queue, &tasks, false, 100); // an image needs more than half
    queue->workers = 1;
    struct worker *worker = worker_open(&(struct worker_setup){
        .options = &options, .queue = queue, .runner = {.chain = &options.chain, .member = -1, .threads = 1}});
    CHECK(worker_start(worker, 1));
    while (!over) {
        struct outcome *next;
        for (struct outcome *o = queue_collect(queue, INT64_MAX, &over); o; o = next) {
            next = o->next;
            CHECK_TEXT(o->why, o->status == STATUS_DONE ? "" : why);
            CHECK(o->status == STATUS_DONE || (o->fault == FAULT_DEVICE && o->output.fd < 0));
            done += o->status == STATUS_DONE;
            output_abandon(&o->output);
            free(o);
        }
    }
    worker_close(worker);
    queue_finish(queue);
    for (int i = 0; i < FILES; i++)
        CHECK(unlink(names[i]) == 0);
    return done;
}

// A thread finishes its image in flight before it waits for the memory of the next one.
static void test_flights(void)
{
    struct queue queue;
    delays = true;
    const int done = run_worker(&queue, "");
    CHECK_NUMBER(done, FILES);
    CHECK_NUMBER(queue.memory_used, 0);
    delays = false;
}

// A signal before or during the decoding of a file ends this file and all later ones, which count as not reached; one
// before it is filtered, too. The files before are whole.
static void test_signal(void)
{
    struct queue queue;
    for (int calls = 1; calls <= 7; calls++) {
        calls_left = calls; // a file that is not interrupted asks twice
        const int done = run_worker(&queue, "interrupted");
        CHECK_NUMBER(done, (calls - 1) / 2);
        CHECK_NUMBER(queue.memory_used, 0);
    }
    calls_left = -1;
}

// A thread that must wait for the memory of an image gives that of its file back, and reads the file again.
static void test_waiting(void)
{
    const struct batch_setup options = {.megapixels = 100, .naming = {0}};
    struct input input = {.path = "waits.tga", .relative = "waits.tga"};
    struct directory directory = {.path = "", .nearest = "."};
    struct task task = {.input = &input, .output = "out.png", .directory = &directory};
    const struct tasks tasks = {.row = &task, .count = 1, .chain = &options.chain, .job = ""};
    struct queue queue;
    struct runner_request request;
    struct codec_settings settings;
    write_tga("waits.tga");
    queue_init(&queue, &tasks, false, 1 << 20);
    struct worker *worker = worker_open(&(struct worker_setup){.options = &options, .queue = &queue});
    refuses = true;
    waits = 0;
    CHECK(worker_sample(worker, &task, &request, &settings));
    CHECK(!refuses);
    CHECK_NUMBER(waits, 2);
    waits = -1;
    CHECK_NUMBER(request.picture->plane[0][5], 'e');
    CHECK_NUMBER(queue.memory_used, 0);
    worker_close(worker);
    queue_finish(&queue);
    CHECK(unlink("waits.tga") == 0);
}

static int polls;  // so often more files arrive; then none
static int writes; // so often a file is written again; then it is not
static char arrivals[64];

int __real_poll(struct pollfd *set, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *set, nfds_t count, int timeout_ms);

int __wrap_poll(struct pollfd *set, nfds_t count, int timeout_ms)
{
    static int number;
    if (writes > 0) {
        char name[96];
        snprintf(name, sizeof(name), "%s/again.png", arrivals);
        close(open(name, O_WRONLY | O_CREAT, 0600));
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        return writes-- > 1;
    }
    if (polls == 0)
        return __real_poll(set, count, timeout_ms);
    for (int i = 0; i < 100; i++) {
        char name[96];
        snprintf(name, sizeof(name), "%s/%04d.png", arrivals, number++);
        close(open(name, O_WRONLY | O_CREAT, 0600));
    }
    return polls-- > 1;
}

// Files that go on to arrive are listed in groups of about a thousand.
static void test_groups(void)
{
    struct watch watch;
    bool failed;
    char name[96];
    unit_directory(arrivals);
    CHECK(watch_open(&watch, (const char *const[]){arrivals}, 1));
    polls = 20;
    CHECK(watch_wait(&watch, -1, &failed) && !failed);
    CHECK_NUMBER(watch.names, 1000);
    CHECK_HAS(watch.name[0], "/0000.png");
    CHECK(watch_wait(&watch, -1, &failed));
    CHECK_HAS(watch.name[0], "/1000.png");
    CHECK(polls == 0 && watch.names >= 900);
    watch_close(&watch);
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof(name), "%s/%04d.png", arrivals, i);
        CHECK(unlink(name) == 0);
    }
    CHECK(rmdir(arrivals) == 0);
}

// A file that is written again and again is listed after a second.
static void test_again(void)
{
    struct watch watch;
    bool failed;
    char name[96];
    unit_directory(arrivals);
    CHECK(watch_open(&watch, (const char *const[]){arrivals}, 1));
    writes = 200;
    CHECK(watch_wait(&watch, -1, &failed) && !failed);
    CHECK_NUMBER(watch.names, 1);
    CHECK(writes > 0);
    writes = 0;
    watch_close(&watch);
    snprintf(name, sizeof(name), "%s/again.png", arrivals);
    CHECK(unlink(name) == 0 && rmdir(arrivals) == 0);
}

static void copy_error(void *context, const char *message)
{
    snprintf(context, 256, "%s", message);
}

// If no more files can be opened, a directory is an input that fails, with its own name, and is not watched.
static void test_no_files(void)
{
    const struct inputs_setup setup = {.operand = (const char *const[]){"/tmp"}, .operands = 1};
    struct inputs inputs = {0};
    struct watch watch;
    struct rlimit limit;
    char message[256] = "";
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    log_set_error_hook(copy_error, message);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, limit.rlim_max});
    CHECK(inputs_gather(&inputs, &setup));
    CHECK(!watch_open(&watch, setup.operand, 1));
    watch_close(&watch);
    setrlimit(RLIMIT_NOFILE, &limit);
    log_set_error_hook(NULL, NULL);
    CHECK_HAS(message, "Too many open files");
    CHECK_NUMBER(inputs.count, 1);
    CHECK(inputs.row[0].fault == FAULT_READ && inputs.row[0].relative == inputs.row[0].path);
    inputs_free(&inputs);
}

int main(void)
{
    test_json();
    test_limit();
    test_table();
    test_waiting();
    test_flights();
    test_signal();
    test_groups();
    test_again();
    test_no_files();
    return check_end(&unit);
}
