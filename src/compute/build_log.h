// build_log.h: a compiler's messages with the places a person can find
#pragma once

// NVIDIA's compiler ignores #line and counts lines of the whole text: "<kernel>:51:15". Replaces each such place by the
// file and line that the text's own #line directives give it: "sharpen.cl:5:15". The caller frees; NULL where there is
// no memory.
char *build_log_places(const char *log, const char *text);
