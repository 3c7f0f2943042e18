// late.c: linked into the program with --wrap=totals_print: a batch gets the signal LATE_SIGNAL when it has done all
// its files, and has said so
#include "command/batch/record.h"

#include <signal.h>
#include <stdlib.h>

void __real_totals_print(const struct totals *totals, const struct record_run *run, double seconds, int signal,
                         bool json);
void __wrap_totals_print(const struct totals *totals, const struct record_run *run, double seconds, int signal,
                         bool json);

void __wrap_totals_print(const struct totals *totals, const struct record_run *run, double seconds, int signal,
                         bool json)
{
    const char *number = getenv("LATE_SIGNAL");
    __real_totals_print(totals, run, seconds, signal, json);
    if (number)
        raise(atoi(number));
}
