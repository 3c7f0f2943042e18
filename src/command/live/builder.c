// builder.c: the thread that builds paths
#include "command/live/builder.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

#include <stdlib.h>

enum job_state { JOB_NONE, JOB_ASKED, JOB_RUNNING, JOB_DONE };

struct job {
    enum job_state state;
    struct build_result result;
};

struct builder {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool quit;
    struct job job[BUILDER_LANES];
};

static void run(struct build_result *result)
{
    struct build *build = &result->build;
    build->setup.chain = &build->chain;
    if (build->path) {
        result->ok = path_prepare(build->path, &build->chain, &result->error);
        return;
    }
    result->opened = path_open(&build->setup, &result->error);
    result->ok = result->opened != NULL;
}

static struct job *next_job(struct builder *b)
{
    for (int i = 0; i < BUILDER_LANES; i++) {
        if (b->job[i].state == JOB_ASKED)
            return &b->job[i];
    }
    return NULL;
}

static void *builder_main(void *argument)
{
    struct builder *b = argument;
    pthread_mutex_lock(&b->lock);
    while (!b->quit) {
        struct job *job = next_job(b);
        if (!job) {
            pthread_cond_wait(&b->changed, &b->lock);
            continue;
        }
        job->state = JOB_RUNNING;
        pthread_mutex_unlock(&b->lock);
        run(&job->result);
        pthread_mutex_lock(&b->lock);
        job->state = JOB_DONE;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

struct builder *builder_open(void)
{
    struct builder *b = calloc(1, sizeof(*b));
    if (!b) {
        log_error("cannot start the builder: out of memory");
        return NULL;
    }
    pthread_mutex_init(&b->lock, NULL);
    thread_condition_init(&b->changed);
    if (!thread_start(&b->thread, builder_main, b, "builder")) {
        pthread_cond_destroy(&b->changed);
        pthread_mutex_destroy(&b->lock);
        free(b);
        return NULL;
    }
    return b;
}

static bool is_running(const struct builder *b)
{
    for (int i = 0; i < BUILDER_LANES; i++) {
        if (b->job[i].state == JOB_RUNNING)
            return true;
    }
    return false;
}

bool builder_close(struct builder *b, int patience_ms)
{
    if (!b)
        return true;
    const int64_t deadline_ns = clock_now_ns() + (int64_t)patience_ms * 1000000;
    pthread_mutex_lock(&b->lock);
    b->quit = true;
    pthread_cond_broadcast(&b->changed);
    while (is_running(b) && thread_wait(&b->changed, &b->lock, deadline_ns))
        ;
    const bool left = is_running(b);
    pthread_mutex_unlock(&b->lock);
    if (left)
        return false;
    pthread_join(b->thread, NULL);
    for (int i = 0; i < BUILDER_LANES; i++) {
        path_close(b->job[i].result.opened);
        free(b->job[i].result.error);
    }
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
    return true;
}

void builder_ask(struct builder *b, int lane, const struct build *build)
{
    pthread_mutex_lock(&b->lock);
    struct job *job = &b->job[lane];
    job->result = (struct build_result){.build = *build};
    job->state = JOB_ASKED;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

bool builder_take(struct builder *b, int lane, struct build_result *result, bool wait)
{
    pthread_mutex_lock(&b->lock);
    struct job *job = &b->job[lane];
    while (wait && (job->state == JOB_ASKED || job->state == JOB_RUNNING))
        pthread_cond_wait(&b->changed, &b->lock);
    const bool done = job->state == JOB_DONE;
    if (done) {
        *result = job->result;
        job->result.opened = NULL;
        job->result.error = NULL;
        job->state = JOB_NONE;
    }
    pthread_mutex_unlock(&b->lock);
    return done;
}
