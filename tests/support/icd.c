// icd.c: an OpenCL driver without devices. TEST_ICD: crash or hang when it is loaded
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void)
{
    const char *how = getenv("TEST_ICD");
    if (how && strcmp(how, "crash") == 0)
        signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
    while (how && strcmp(how, "hang") == 0)
        pause();
}
