// answer.h: what the child process of a test writes to its parent: lines of JSON (base/child.h)
#pragma once

#include "measure/figure.h"

void answer_figure(const struct figure *figure);
struct session;
void answer_failure(const struct session *session); // of the whole test, with the last error that was logged
void answer_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
