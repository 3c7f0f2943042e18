// gputimer.c: how long the GPU takes to draw, from timer queries that nobody waits for
#include "screen/gputimer.h"

#include <epoxy/gl.h>

// GL_TIME_ELAPSED of desktop GL and of EXT_disjoint_timer_query are one number.
_Static_assert(GL_TIME_ELAPSED == GL_TIME_ELAPSED_EXT, "timer queries differ");

void gputimer_init(struct gputimer *timer, bool es)
{
    *timer = (struct gputimer){.es = es, .ns = -1};
    timer->works = !es || epoxy_has_gl_extension("GL_EXT_disjoint_timer_query");
    if (timer->works)
        glGenQueries(GPUTIMER_QUERIES, timer->query);
}

void gputimer_finish(struct gputimer *timer)
{
    if (timer->works)
        glDeleteQueries(GPUTIMER_QUERIES, timer->query);
    *timer = (struct gputimer){0};
}

// Takes the results that have arrived. On ES the clock may have jumped (a change of frequency, say); all results since
// are then worthless.
static void collect(struct gputimer *timer)
{
    GLint jumped = GL_FALSE;
    if (timer->es && timer->count > 0)
        glGetIntegerv(GL_GPU_DISJOINT_EXT, &jumped);
    while (timer->count > 0) {
        const unsigned query = timer->query[timer->first];
        GLuint ready = GL_FALSE;
        GLuint64 ns = 0;
        glGetQueryObjectuiv(query, GL_QUERY_RESULT_AVAILABLE, &ready);
        if (!ready)
            return;
        if (timer->es)
            glGetQueryObjectui64vEXT(query, GL_QUERY_RESULT, &ns);
        else
            glGetQueryObjectui64v(query, GL_QUERY_RESULT, &ns);
        if (!jumped)
            timer->ns = (int64_t)ns;
        timer->first = (timer->first + 1) % GPUTIMER_QUERIES;
        timer->count--;
    }
}

void gputimer_begin(struct gputimer *timer)
{
    if (!timer->works)
        return;
    collect(timer);
    timer->running = timer->count < GPUTIMER_QUERIES;
    if (!timer->running)
        return; // all still out: this frame goes unmeasured
    const int at = (timer->first + timer->count) % GPUTIMER_QUERIES;
    timer->count++;
    glBeginQuery(GL_TIME_ELAPSED, timer->query[at]);
}

void gputimer_end(struct gputimer *timer)
{
    if (timer->running)
        glEndQuery(GL_TIME_ELAPSED);
    timer->running = false;
}
