// budget.h: the memory that the threads of a batch share for the pictures in flight
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

// Takes so many bytes; where there are not as many left, waits for them, or, not `waiting`, returns false. At most
// `limit` may be asked for. A thread that waits must hold none.
bool budget_take(struct budget *budget, uint64_t bytes, bool waiting);
void budget_give(struct budget *budget, uint64_t bytes);

// "300M", "2G", "1500K" or bytes. False where it is none of these.
bool budget_parse(const char *text, uint64_t *bytes);
uint64_t budget_default(void); // half of the memory of the machine, or of the container
