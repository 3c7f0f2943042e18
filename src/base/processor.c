// processor.c: names of the processor, as Linux reports them
#include "base/processor.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

// Reads the first line that begins with `start`, after its colon if it has one.
static bool read_line(const char *path, const char *start, char text[PROCESSOR_NAME])
{
    FILE *file = fopen(path, "r");
    char line[256];
    bool found = false;
    text[0] = '\0';
    while (file && !found && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':'), *value = colon ? colon + 1 + strspn(colon + 1, " ") : line;
        found = strncmp(line, start, strlen(start)) == 0;
        if (found)
            snprintf(text, PROCESSOR_NAME, "%.*s", (int)strcspn(value, "\n"), value);
    }
    if (file)
        fclose(file);
    return found;
}

// Kernels for ARM have no "model name", but most of them have a device tree.
void processor_model(char text[PROCESSOR_NAME])
{
    struct utsname machine;
    if (!read_line("/proc/cpuinfo", "model name", text) && !read_line("/sys/firmware/devicetree/base/model", "", text))
        snprintf(text, PROCESSOR_NAME, "%s", uname(&machine) == 0 ? machine.machine : "cpu");
}

void processor_vendor(char text[PROCESSOR_NAME])
{
    if (!read_line("/proc/cpuinfo", "vendor_id", text))
        read_line("/proc/cpuinfo", "CPU implementer", text);
}
