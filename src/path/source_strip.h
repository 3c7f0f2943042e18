// source_strip.h: OpenCL C text without the parts that do not change the program
#pragma once

// Removes comments, line continuations and #line directives in place, and replaces each run of white space by one
// character. Keeps string and character literals. The program must not use __LINE__ and __FILE__.
void source_strip(char *text);
