// driver_call.c: counts calls of drivers that may never return
#include "base/driver_call.h"

#include "base/clock.h"

#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

// Lock-free, because a signal handler reads them.
struct running {
    atomic_int calls;
    _Atomic int64_t changed_ns;
};
static struct driver_calls {
    struct running main_thread, all;
    atomic_bool interrupted;
} driver_calls;

static void add(struct running *running, int calls)
{
    atomic_store(&running->changed_ns, clock_now_ns());
    atomic_fetch_add(&running->calls, calls);
}

static void change(int calls)
{
    add(&driver_calls.all, calls);
    if (gettid() == getpid())
        add(&driver_calls.main_thread, calls);
}

void driver_call_begin(void)
{
    change(1);
}

void driver_call_end(void)
{
    change(-1);
}

void driver_call_interrupt(void)
{
    atomic_store(&driver_calls.interrupted, true);
}

bool driver_call_interrupted(void)
{
    return atomic_load(&driver_calls.interrupted);
}

bool driver_call_stuck(bool main_thread, int ms)
{
    struct running *running = main_thread ? &driver_calls.main_thread : &driver_calls.all;
    return atomic_load(&running->calls) > 0 &&
           clock_now_ns() - atomic_load(&running->changed_ns) >= (int64_t)ms * 1000000;
}
