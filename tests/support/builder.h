// builder.h: checks the builder of a GL context
#pragma once

#include "base/gl_handles.h"
#include "check.h"

// Makes a texture and a program with the builder, on another thread and then on this one, and draws with them in the
// context, which must be current.
void check_builder(struct check *check, struct gl_context *context);
