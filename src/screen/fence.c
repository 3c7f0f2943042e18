// fence.c: GL's sync objects
#include "screen/fence.h"

#include <epoxy/gl.h>

enum { WAIT_NS = 1000000000 };

void *fence_put(void)
{
    return glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}

bool fence_wait(void *fence)
{
    if (!fence)
        return false;
    const GLenum result = glClientWaitSync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, WAIT_NS);
    glDeleteSync(fence);
    return result == GL_ALREADY_SIGNALED || result == GL_CONDITION_SATISFIED;
}
