// test_driver_call.c: a driver call that does not return is noticed, on the main thread or on any thread
#include "base/driver_call.h"

#include "base/clock.h"
#include "unit.h"

#include <pthread.h>
#include <semaphore.h>

enum { SHORT_MS = 1, LONG_MS = 100000 };
static sem_t called, returns;

static void pause_ms(void)
{
    clock_sleep_until_ns(clock_now_ns() + 3000000);
}

static void *call(void *unused)
{
    driver_call_begin();
    sem_post(&called);
    sem_wait(&returns);
    driver_call_end();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    sem_init(&called, 0, 0);
    sem_init(&returns, 0, 0);
    CHECK(!driver_call_stuck(false, 0) && !driver_call_stuck(true, 0));
    CHECK(pthread_create(&thread, NULL, call, NULL) == 0);
    sem_wait(&called);
    pause_ms();
    CHECK(driver_call_stuck(false, SHORT_MS));
    CHECK(!driver_call_stuck(false, LONG_MS));
    CHECK(!driver_call_stuck(true, SHORT_MS)); // the main thread calls no driver
    driver_call_begin();
    CHECK(!driver_call_stuck(true, LONG_MS));
    pause_ms();
    CHECK(driver_call_stuck(true, SHORT_MS));
    driver_call_end();
    CHECK(!driver_call_stuck(true, 0));
    CHECK(!driver_call_stuck(false, LONG_MS)); // another call has just returned
    sem_post(&returns);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(!driver_call_stuck(false, 0));
    return check_end(&unit);
}
