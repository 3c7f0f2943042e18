// budget.h: limits the memory that the threads of a batch use for images in flight
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget {
    pthread_mutex_t lock;
    pthread_cond_t given;
    uint64_t limit, used;
};

void budget_init(struct budget *budget, uint64_t limit);
void budget_finish(struct budget *budget);

// Takes `bytes`, which must not exceed `limit`. If fewer are left, it waits for them (`waiting`) or returns false. A
// thread that waits must hold no bytes, because two such threads could wait for each other. On any thread.
bool budget_take(struct budget *budget, uint64_t bytes, bool waiting);
void budget_give(struct budget *budget, uint64_t bytes);

// Parses bytes with an optional unit: "300M", "2G", "1500K", "1000000". Returns false for any other text.
bool budget_parse(const char *text, uint64_t *bytes);
uint64_t budget_default(void); // half of the memory of the machine or of its container
