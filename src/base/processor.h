// processor.h: names of the processor
#pragma once

enum { PROCESSOR_NAME = 96 };

// Writes the name of the processor's model, such as "AMD EPYC 9R14"; if the system does not know it, the name of the
// machine or of its instruction set.
void processor_model(char text[PROCESSOR_NAME]);
// Writes the name of the processor's vendor, such as "AuthenticAMD" or, on ARM, its number "0x41"; "": unknown.
void processor_vendor(char text[PROCESSOR_NAME]);
