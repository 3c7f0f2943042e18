// icd.c: an OpenCL driver without devices. TEST_ICD: crash or hang when it is loaded. TEST_ICD_ONLY: only libraries
// with this text in their path misbehave
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void)
{
    const char *how = getenv("TEST_ICD"), *only = getenv("TEST_ICD_ONLY");
    Dl_info self;
    if (!how || (only && (!dladdr((void *)begin, &self) || !strstr(self.dli_fname, only))))
        return;
    if (strcmp(how, "crash") == 0)
        signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
    while (strcmp(how, "hang") == 0)
        pause();
}
