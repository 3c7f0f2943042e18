// test_batch_memory.c: a lack of memory leaves members out of a line of JSON, and breaks nothing else; images in flight
// take no more memory than the limit
#include "base/json_text.h"
#include "batch/queue.h"
#include "batch/record.h"

#include "unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

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
    print_json(record_plan(&outcome, false), JSON_COMPACT);
    const long needed = allocations;
    CHECK(needed > 10);
    for (failing = 1; failing <= needed; failing++) {
        allocations = 0;
        print_json(record_plan(&outcome, false), JSON_COMPACT);
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

int main(void)
{
    test_json();
    test_limit();
    return check_end(&unit);
}
