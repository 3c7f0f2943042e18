// live_tuning.c: tunes the passes of a path's chain while frames run
#include "tune/live_tuning.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/thread.h"
#include "compute/driver_cache.h"
#include "path/opencl_chain.h"
#include "path/rig.h"
#include "tune/passes.h"
#include "tune/search.h"
#include "tune/tuner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the workbench: other variants of a path's chain, compared and timed on a copy of a frame ----

// What a path runs.
struct workbench_job {
    struct opencl_target target;
    struct chain chain; // held
    bool tiles;
    struct pass_choice choice[PLAN_PASSES];
    int passes;
};

struct workbench {
    struct workbench_job job; // `choice` changes with workbench_use
    struct opencl_chain *current;
    struct rig *rig;            // with the frame
    struct image expected, got; // results
};

enum { PART_ROWS = 64, PART_SHARE = 8, TIMED_RUNS = 3 }; // a part of a frame has 64 rows, or an eighth if that is more

// Fills a job, whose chain the caller releases (chain_hold). False: the path needs no device, its user has chosen the
// variant, or a filter gets its previous output.
static bool workbench_job_of(struct workbench_job *job, const struct path *path)
{
    const struct opencl_target *target = path_target(path);
    const struct opencl_chain *chain = path_chain(path);
    bool previous = false; // a candidate would not have the previous output of the path's own chain
    for (int i = 0; target && i < chain->plan.count; i++)
        previous = previous || pass_remembers(&chain->plan.pass[i]);
    if (!target || target->wanted.variant || previous)
        return false;
    *job = (struct workbench_job){
        .target = *target, .chain = chain->plan.chain, .tiles = chain->tiles, .passes = chain->plan.count};
    chain_hold(&job->chain);
    for (int i = 0; i < job->passes; i++)
        job->choice[i] = (struct pass_choice){chain->pass[i].choice, chain->pass[i].tuned};
    return true;
}

static bool fail(char why[VERDICT_TEXT], const char *text)
{
    snprintf(why, VERDICT_TEXT, "%.*s", VERDICT_TEXT - 1, text);
    return false;
}

// Builds the chain with another choice for a pass. The caller closes it. NULL on failure: `why` has the reason.
static struct opencl_chain *workbench_build(const struct workbench *bench, int pass,
                                            const struct variant_choice *choice, char why[VERDICT_TEXT])
{
    const struct workbench_job *job = &bench->job;
    struct pass_choice choices[PLAN_PASSES];
    char *error = NULL;
    memcpy(choices, job->choice, sizeof(choices));
    choices[pass] = (struct pass_choice){.choice = *choice};
    struct opencl_chain *chain = rig_chain_with(bench->rig, &job->chain, job->tiles, choices, &error);
    if (!chain)
        fail(why, error ? error : "out of memory");
    free(error);
    return chain;
}

static bool run_and_read(struct workbench *bench, struct opencl_chain *chain, struct image *to)
{
    double ms;
    return rig_chain_try(bench->rig, chain, 0, 0, &ms) == CL_SUCCESS && rig_read(bench->rig, to);
}

// Builds the job's chain and runs it on the frame. After a failure, `why` has the reason; the caller closes the
// workbench in any case. The job's chain must stay held and the device must stay open. All functions are for one
// thread; the path may be closed meanwhile.
static bool workbench_open(struct workbench *bench, const struct workbench_job *job, const struct image *frame,
                           char why[VERDICT_TEXT])
{
    struct image_shape rgba = {.width = job->target.input.width, .height = job->target.input.height};
    const struct path_setup setup = {.device = job->target.device, .input = job->target.input};
    char error[CHAIN_ERROR];
    chain_output_size(&job->chain, &rgba.width, &rgba.height, error); // the path's result has this size
    *bench = (struct workbench){.job = *job};
    if (!image_alloc(&bench->expected, &rgba) || !image_alloc(&bench->got, &rgba))
        return fail(why, "out of memory");
    bench->rig = rig_open(&setup, 1, job->target.to_image);
    if (!bench->rig || !rig_fill(bench->rig, 0, frame))
        return fail(why, "the device cannot store a frame");
    bench->current = workbench_build(bench, 0, &job->choice[0].choice, why);
    return bench->current &&
           (run_and_read(bench, bench->current, &bench->expected) || fail(why, "the device has failed"));
}

static void workbench_close(struct workbench *bench)
{
    rig_chain_close(bench->current);
    rig_close(bench->rig);
    image_free(&bench->expected);
    image_free(&bench->got);
    *bench = (struct workbench){.rig = NULL};
}

// Sets *ms to the time of a pass on a part of the frame, on the device's clock. False on failure.
static bool workbench_time(struct workbench *bench, struct opencl_chain *chain, int pass, double *ms)
{
    const int part = bench->job.target.input.height / PART_SHARE / 2 * 2, rows = part > PART_ROWS ? part : PART_ROWS;
    double one;
    *ms = 0;
    for (int i = 0; i <= TIMED_RUNS; i++) { // the first run is not timed
        if (rig_chain_try(bench->rig, chain, rows, pass, &one) != CL_SUCCESS || one <= 0)
            return false;
        if (i > 0 && (*ms == 0 || one < *ms))
            *ms = one;
    }
    return true;
}

// Returns true if the chain makes the same result of the frame as the job's chain.
static bool workbench_same(struct workbench *bench, struct opencl_chain *chain)
{
    return run_and_read(bench, chain, &bench->got) && rig_same(&bench->got, &bench->expected, 4);
}

// From now on, a pass has this choice, for which this run has a new result (tuned_add). `chain` runs it.
static void workbench_use(struct workbench *bench, struct opencl_chain *chain, int pass)
{
    struct workbench_job *job = &bench->job;
    const struct pass_target target = opencl_pass_target(&job->target, &chain->plan, pass);
    const struct variant_pass of = {&chain->plan.pass[pass], &target, &job->target.device->info};
    struct pass_choice found;
    job->choice[pass] = (struct pass_choice){.choice = chain->pass[pass].choice};
    if (pass_tuned(job->target.device, &of, job->target.input.width, job->target.input.height, NULL, NULL, &found))
        job->choice[pass].tuned = found.tuned;
    chain->pass[pass].tuned = job->choice[pass].tuned;
}

// ---- tuning ----

enum { BUDGET = 80, IDLE = 12, REST_NS = 1000000000 }; // configurations: all, and after the fastest one
enum { FRAMES_FEW = 4, FRAMES_ALL = 16 };              // pairs of frames of a trial; the first pair is not used
enum { JOBS = 2 };                                     // configurations that are validated at the same time
enum { LATE_MAX = 2, UNTIMED_MAX = 100 };              // frames of a trial
static const double slow = 1.5;    // a candidate is not tried on frames if it takes this much longer
static const double busy_max = .7; // share of a frame's time

// ---- state ----

// A chain from the tuning's thread to the frames, and back.
struct offer {
    enum { OFFER_NONE, OFFER_TRY, OFFER_ADOPT, OFFER_ANSWERED } state;
    struct opencl_chain *chain; // owned by the tuning's thread, unless the path has adopted it
    int pass;
    bool ok, wins;      // the answer: the chain was tried or adopted; it replaces the current one
    double ms, base_ms; // medians of the chain and of the current one; 0: unknown
};

// A comparison of the offered chain with the path's chain: pairs of frames, in the order ABBA.
struct trial {
    int frames;
    int late, untimed;        // frames of the offered chain that took too long; frames without times
    double ms[2][FRAMES_ALL]; // of the path's chain, and of the offered chain
};

struct live_tuning {
    pthread_t thread;
    pthread_mutex_t lock; // guards the members below
    pthread_cond_t changed;
    bool ends, rests;
    unsigned number; // of the job
    bool has_job;
    struct workbench_job job;
    struct image frame; // a copy of a frame; owned by the thread while `wanted` is false
    bool wanted;
    struct offer offer;
    struct live_tuning_state state;
    bool news; // the state has changed much
    bool done; // the thread ends
    struct trial trial;
    bool running, candidate; // a frame of the trial is in flight; it runs the offered chain
    bool paused;             // by live_tuning_pause
    int64_t submitted_ns;    // 0: no frame is in flight
    int64_t rests_until_ns;
    double budget_ms;
    uint64_t skipped;
};

// ---- the frames ----

// Ends the offer. Hold the lock.
static void answer(struct live_tuning *o, bool ok)
{
    if (o->offer.state == OFFER_TRY || o->offer.state == OFFER_ADOPT) {
        o->offer.state = OFFER_ANSWERED;
        o->offer.ok = ok;
        pthread_cond_broadcast(&o->changed);
    }
    o->running = o->candidate = false;
    o->trial = (struct trial){.frames = 0};
}

// Ends the job. Hold the lock.
static void forget(struct live_tuning *o)
{
    answer(o, false);
    o->has_job = false;
    chain_release(&o->job.chain);
    o->number++;
    o->wanted = false;
    pthread_cond_broadcast(&o->changed);
}

static void begin_job(struct live_tuning *o, const struct path *path)
{
    o->has_job = true;
    o->number++;
    o->state = (struct live_tuning_state){.phase = LIVE_TUNING_NOTHING};
    if (!workbench_job_of(&o->job, path))
        return;
    o->state.phase = LIVE_TUNING_TUNING;
    pthread_cond_broadcast(&o->changed);
}

static void set_rest(struct live_tuning *o)
{
    const bool rests = o->paused || clock_now_ns() < o->rests_until_ns;
    if (o->rests && !rests)
        pthread_cond_broadcast(&o->changed);
    o->rests = rests;
}

// Prepares a frame of a trial.
static void try_frame(struct live_tuning *o, struct path *path)
{
    o->running = !o->rests;
    if (o->rests) {
        o->trial.frames &= ~1; // a pair must be of adjacent frames
        return;
    }
    o->candidate = (o->trial.frames + 1) / 2 % 2 == 1;
    if (o->candidate)
        path_try(path, o->offer.chain);
}

bool live_tuning_submit(struct live_tuning *o, struct path *path, const struct image *frame)
{
    if (path_info(path)->in_flight > 0)
        return false;
    pthread_mutex_lock(&o->lock);
    set_rest(o);
    if (!o->has_job && !o->paused && !o->ends && o->state.phase != LIVE_TUNING_ENDED)
        begin_job(o, path);
    if (o->wanted && image_shape_equal(&o->frame.shape, &frame->shape)) {
        image_copy(&o->frame, frame);
        o->wanted = false;
        pthread_cond_broadcast(&o->changed);
    }
    if (o->offer.state == OFFER_ADOPT) {
        path_adopt(path, o->offer.chain);
        answer(o, true);
        o->news = true;
    } else if (o->offer.state == OFFER_TRY) {
        try_frame(o, path);
    }
    const bool news = o->news;
    o->news = false;
    o->submitted_ns = clock_now_ns();
    pthread_mutex_unlock(&o->lock);
    return news;
}

// Returns the device's time of the trial's pass in a frame; 0: unknown.
static double pass_ms(const struct live_tuning *o, const struct path_result *result)
{
    const char *name = o->offer.chain->pass[o->offer.pass].name;
    double ms = 0;
    for (int i = 0; i < result->stages; i++) {
        const struct stage_time *stage = &result->stage[i];
        if (stage->clock == STAGE_DEVICE && strcmp(stage->name, name) == 0)
            ms += (double)(stage->end_ns - stage->start_ns) / 1e6;
    }
    return ms;
}

// Compares the two chains after some pairs of frames. Hold the lock.
static void judge(struct live_tuning *o)
{
    struct trial *trial = &o->trial;
    const int count = trial->frames / 2 - 1;
    const struct samples base = {.value = trial->ms[0] + 1, .count = count};
    const struct samples own = {.value = trial->ms[1] + 1, .count = count};
    double ratios[FRAMES_ALL], noise;
    for (int i = 0; i < count; i++)
        ratios[i] = base.value[i] / own.value[i];
    const double ratio = values_percentile(ratios, (size_t)count, 50);
    struct offer *offer = &o->offer;
    offer->ms = samples_percentile(&own, 50);
    offer->base_ms = samples_percentile(&base, 50);
    const bool all = count + 1 == FRAMES_ALL;
    offer->wins = all && ratio > compare_least(&base, &noise);
    if (all || ratio <= 1 + TUNER_GAIN_MIN)
        answer(o, true);
}

// Adds the time of a trial's frame. Hold the lock.
static void add_time(struct live_tuning *o, double ms)
{
    struct trial *trial = &o->trial;
    if (ms <= 0) {
        trial->frames &= ~1;
        if (++trial->untimed == UNTIMED_MAX)
            answer(o, false);
        return;
    }
    trial->ms[o->candidate][trial->frames / 2] = ms;
    if (++trial->frames % 2 == 0 && (trial->frames / 2 == FRAMES_FEW || trial->frames / 2 == FRAMES_ALL))
        judge(o);
}

// A frame needed too much of its time. Hold the lock.
static void rest(struct live_tuning *o, double ms)
{
    o->rests_until_ns = clock_now_ns() + REST_NS;
    if (o->running && o->candidate && ms > 0 && ++o->trial.late == LATE_MAX) {
        o->offer.ms = ms;
        answer(o, true);
    }
}

void live_tuning_collect(struct live_tuning *o, const struct path_result *result)
{
    const int64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&o->lock);
    const double frame_ms = o->submitted_ns > 0 ? (double)(now_ns - o->submitted_ns) / 1e6 : 0;
    const double ms = o->running ? pass_ms(o, result) : 0;
    if (o->budget_ms > 0 && frame_ms > busy_max * o->budget_ms)
        rest(o, ms);
    else if (o->running)
        add_time(o, ms);
    o->running = o->candidate = false;
    o->submitted_ns = 0;
    pthread_mutex_unlock(&o->lock);
}

void live_tuning_pace(struct live_tuning *o, double budget_ms, uint64_t skipped)
{
    pthread_mutex_lock(&o->lock);
    if (skipped > o->skipped)
        o->rests_until_ns = clock_now_ns() + REST_NS;
    o->budget_ms = budget_ms;
    o->skipped = skipped;
    pthread_mutex_unlock(&o->lock);
}

void live_tuning_forget(struct live_tuning *o)
{
    pthread_mutex_lock(&o->lock);
    forget(o);
    pthread_mutex_unlock(&o->lock);
}

// Ends the tuning, unless job `number` is over.
static void end(struct live_tuning *o, unsigned number, const char *why)
{
    pthread_mutex_lock(&o->lock);
    if (o->number == number && !o->ends) {
        o->state.phase = LIVE_TUNING_ENDED;
        snprintf(o->state.why, sizeof(o->state.why), "%s", why);
        o->news = true;
        forget(o);
        log_warn("the tuning has ended: %s", why);
    }
    pthread_mutex_unlock(&o->lock);
}

bool live_tuning_frame_failed(struct live_tuning *o)
{
    pthread_mutex_lock(&o->lock);
    const bool candidate = o->candidate;
    const unsigned number = o->number;
    pthread_mutex_unlock(&o->lock);
    if (candidate)
        end(o, number, "a frame failed with a new configuration");
    return candidate;
}

void live_tuning_pause(struct live_tuning *o, bool pause)
{
    pthread_mutex_lock(&o->lock);
    o->paused = pause;
    if (!pause && o->state.phase == LIVE_TUNING_ENDED)
        o->state.phase = LIVE_TUNING_WAITING;
    set_rest(o);
    pthread_mutex_unlock(&o->lock);
}

struct live_tuning_state live_tuning_describe(struct live_tuning *o)
{
    pthread_mutex_lock(&o->lock);
    set_rest(o);
    struct live_tuning_state state = o->state;
    state.paused = o->rests && state.phase == LIVE_TUNING_TUNING;
    pthread_mutex_unlock(&o->lock);
    return state;
}

// ---- the thread ----

// The tuning of a pass.
struct tuning {
    struct live_tuning *live;
    unsigned number; // of the job
    struct workbench *bench;
    struct subject *subject;
    int pass;
    int current;                   // configuration in use; -1: not in the space
    double base_ms, gain, part_ms; // of the current one: time in frames, gain so far, time on a part of a frame
    bool replaced;
    struct workers *workers; // that validate
    struct tuner_trial candidate[JOBS];
};

// Waits while the tuning rests. Returns false if the job is over.
static bool go_on(struct live_tuning *o, unsigned number)
{
    pthread_mutex_lock(&o->lock);
    while (o->rests && !o->ends && o->number == number)
        pthread_cond_wait(&o->changed, &o->lock);
    const bool on = !o->ends && o->number == number;
    pthread_mutex_unlock(&o->lock);
    return on;
}

// Gives a chain to the frames and waits. *result is the answer. Returns false if there is none, because the job is over
// or the device reports no times. The chain then stays the caller's.
static bool give(const struct tuning *t, struct opencl_chain *chain, bool adopt, struct offer *result)
{
    struct live_tuning *o = t->live;
    pthread_mutex_lock(&o->lock);
    bool ok = !o->ends && o->number == t->number;
    if (ok) {
        o->offer = (struct offer){.state = adopt ? OFFER_ADOPT : OFFER_TRY, .chain = chain, .pass = t->pass};
        while (o->offer.state != OFFER_ANSWERED)
            pthread_cond_wait(&o->changed, &o->lock);
        *result = o->offer;
        ok = result->ok;
        o->offer = (struct offer){.state = OFFER_NONE};
    }
    pthread_mutex_unlock(&o->lock);
    return ok;
}

// Stores the result of the current configuration, and lets the path report it. Takes over the chain, which runs it.
static void keep(struct tuning *t, struct opencl_chain *chain, double ms)
{
    struct offer offer;
    if (t->current >= 0)
        t->subject->type->store(t->subject, t->current, ms, ms * t->gain);
    workbench_use(t->bench, chain, t->pass);
    if (!give(t, chain, true, &offer))
        opencl_chain_close(chain);
}

// Compares a candidate that is valid with the current configuration on frames. Takes over the chain. Returns its time;
// NAN: the job is over.
static double try_on_frames(struct tuning *t, int configuration, struct opencl_chain *chain, double part_ms)
{
    struct offer offer;
    if (!give(t, chain, false, &offer)) {
        opencl_chain_close(chain);
        end(t->live, t->number, "the device does not report the times of its commands");
        return NAN;
    }
    if (offer.base_ms > 0)
        t->base_ms = offer.base_ms;
    if (!offer.wins || configuration == t->current) {
        opencl_chain_close(chain);
        return offer.ms;
    }
    t->current = configuration;
    t->part_ms = part_ms;
    t->gain *= offer.base_ms / offer.ms;
    t->base_ms = offer.ms;
    t->replaced = true;
    keep(t, chain, offer.ms);
    return offer.ms;
}

// Returns the time of a configuration that was validated. INFINITY: it failed, and `why` has the reason. NAN: the job
// is over.
static double try_candidate(struct tuning *t, struct tuner_trial *candidate)
{
    struct workbench *bench = t->bench;
    const int configuration = candidate->configuration;
    const struct variant_choice choice = tune_pass_choice(t->subject, configuration);
    char *const why = candidate->why;
    double part_ms, none;
    if (candidate->status != PROBE_PASSED)
        return INFINITY;
    struct opencl_chain *chain = workbench_build(bench, t->pass, &choice, why);
    bool ok = chain && workbench_time(bench, chain, t->pass, &part_ms);
    const bool is_slow = ok && t->base_ms > 0 && part_ms > slow * t->part_ms;
    if (ok && !is_slow && workbench_same(bench, chain))
        return try_on_frames(t, configuration, chain, part_ms);
    opencl_chain_close(chain);
    if (is_slow)
        return t->base_ms * part_ms / t->part_ms;
    if (chain)
        snprintf(why, VERDICT_TEXT, "%s", ok ? "it computes wrong bytes" : "it does not run");
    if (!ok && !workbench_time(bench, bench->current, t->pass, &none)) {
        end(t->live, t->number, "the device has failed");
        return NAN;
    }
    return INFINITY;
}

static void report(const struct tuning *t, int tried, int total, int failed)
{
    struct live_tuning *o = t->live;
    pthread_mutex_lock(&o->lock);
    if (o->number == t->number) {
        struct live_tuning_state *state = &o->state;
        snprintf(state->pass, sizeof(state->pass), "%s", t->subject->name);
        state->tried = tried;
        state->total = total;
        state->failed = failed;
        state->gain = t->gain;
    }
    pthread_mutex_unlock(&o->lock);
}

// Tries configurations until no better one is likely. Returns false if the job is over.
static bool search(struct tuning *t, struct search *search)
{
    const int space = t->subject->space.count, total = space < BUDGET ? space : BUDGET;
    int tried = 0, failed = 0, idle = 0;
    double best_ms = INFINITY;
    report(t, tried, total, failed);
    while (idle < IDLE && tried < total) {
        const int most = total - tried < JOBS ? total - tried : JOBS;
        if (!go_on(t->live, t->number))
            return false;
        const int count = tuner_validate(t->subject, search, t->workers, t->candidate, most);
        if (count == 0)
            break;
        for (int i = 0; i < count; i++) {
            struct tuner_trial *candidate = &t->candidate[i];
            char text[SUBJECT_TEXT];
            const double ms = go_on(t->live, t->number) ? try_candidate(t, candidate) : NAN;
            if (isnan(ms))
                return false;
            search_tell(search, candidate->configuration, ms);
            tried++;
            idle = isinf(best_ms) || ms * (1 + TUNER_GAIN_MIN) < best_ms ? 0 : idle + 1;
            best_ms = idle == 0 ? ms : best_ms;
            if (isinf(ms)) {
                failed++;
                t->subject->type->print(t->subject, candidate->configuration, text);
                log_info("pass %s does not run with %s: %s", t->subject->name, text, candidate->why);
            }
            report(t, tried, total, failed);
        }
    }
    return true;
}

// Counts the pass. If no configuration was faster, stores the current one, so that the pass counts as tuned.
static void finish_pass(struct tuning *t)
{
    struct live_tuning *o = t->live;
    char why[VERDICT_TEXT];
    if (!t->replaced) {
        struct opencl_chain *chain = workbench_build(t->bench, t->pass, &t->bench->job.choice[t->pass].choice, why);
        double ms;
        if (chain && workbench_time(t->bench, chain, t->pass, &ms) && workbench_same(t->bench, chain))
            keep(t, chain, t->base_ms);
        else
            opencl_chain_close(chain);
    }
    pthread_mutex_lock(&o->lock);
    if (o->number == t->number) {
        o->state.tuned++;
        o->state.faster += t->replaced;
    }
    pthread_mutex_unlock(&o->lock);
}

// Returns false if the job is over.
static bool tune_pass(struct live_tuning *o, unsigned number, struct workbench *bench, int pass)
{
    const struct workbench_job *job = &bench->job;
    const struct tune_target target = {
        .device = job->target.device,
        .chain = &job->chain,
        .input = job->target.input,
        .to_image = job->target.to_image,
        .low_priority = true, // so that the children take no time from the frames
    };
    struct tuning t = {.live = o, .number = number, .bench = bench, .pass = pass, .gain = 1};
    t.subject = tune_pass_open(&target, job->tiles, pass);
    t.current = t.subject->used = tune_pass_find(t.subject, &job->choice[pass].choice);
    t.subject->has_used = t.current >= 0;
    t.workers = workers_open(JOBS);
    struct search *of = subject_search(t.subject, false, 1);
    const bool timed = workbench_time(bench, bench->current, pass, &t.part_ms);
    if (!timed)
        end(o, number, "the device does not report the times of its commands");
    bool ok = timed && search(&t, of);
    if (ok && t.base_ms > 0) {
        finish_pass(&t);
    } else if (ok) { // children cannot be started, or all frames are late
        char why[sizeof(o->state.why)];
        snprintf(why, sizeof(why), "no configuration of pass %.60s could be timed; see --log-level info",
                 t.subject->name);
        end(o, number, why);
        ok = false;
    }
    search_close(of);
    workers_close(t.workers);
    subject_close(t.subject);
    return ok;
}

// Waits for a copy of a frame. Returns false if the job is over.
static bool await_frame(struct live_tuning *o, unsigned number, const struct image_shape *shape)
{
    image_free(&o->frame);
    if (!image_alloc(&o->frame, shape)) {
        end(o, number, "out of memory");
        return false;
    }
    pthread_mutex_lock(&o->lock);
    o->wanted = o->number == number;
    while (o->wanted && !o->ends && o->number == number)
        pthread_cond_wait(&o->changed, &o->lock);
    o->wanted = false;
    const bool ok = !o->ends && o->number == number;
    pthread_mutex_unlock(&o->lock);
    return ok;
}

// Tunes the passes that have no result for this device, driver and size.
static void tune_job(struct live_tuning *o, unsigned number, const struct workbench_job *job)
{
    struct workbench *bench = xalloc(sizeof(*bench)); // too large for the stack
    char why[VERDICT_TEXT];
    bool ok = await_frame(o, number, &job->target.input);
    if (ok && !workbench_open(bench, job, &o->frame, why)) {
        end(o, number, why);
        ok = false;
    }
    for (int i = 0; ok && i < job->passes; i++) {
        const struct tuned_found *tuned = &job->choice[i].tuned;
        if (!tuned->entry || tuned->match != TUNED_EXACT)
            ok = tune_pass(o, number, bench, i);
    }
    pthread_mutex_lock(&o->lock);
    if (ok && o->number == number) {
        o->state.phase = LIVE_TUNING_DONE;
        o->news = true;
    }
    pthread_mutex_unlock(&o->lock);
    workbench_close(bench);
    free(bench);
}

static void *run(void *context)
{
    struct live_tuning *o = context;
    struct workbench_job *job = xalloc(sizeof(*job));
    unsigned number = 0;
    pthread_mutex_lock(&o->lock);
    while (!o->ends) {
        if (number == o->number || !o->has_job || o->state.phase != LIVE_TUNING_TUNING) {
            pthread_cond_wait(&o->changed, &o->lock);
            continue;
        }
        number = o->number;
        *job = o->job;
        chain_hold(&job->chain);
        pthread_mutex_unlock(&o->lock);
        tune_job(o, number, job);
        chain_release(&job->chain);
        pthread_mutex_lock(&o->lock);
    }
    o->done = true;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    free(job);
    return NULL;
}

// ---- open and close ----

struct live_tuning *live_tuning_open(void)
{
    struct live_tuning *o = xalloc(sizeof(*o));
    pthread_mutex_init(&o->lock, NULL);
    thread_condition_init(&o->changed);
    if (thread_start(&o->thread, run, o, "tuning"))
        return o;
    pthread_mutex_destroy(&o->lock);
    pthread_cond_destroy(&o->changed);
    free(o);
    return NULL;
}

bool live_tuning_close(struct live_tuning *o, int patience_ms)
{
    if (!o)
        return true;
    const int64_t deadline_ns = clock_now_ns() + (int64_t)patience_ms * 1000000;
    pthread_mutex_lock(&o->lock);
    o->ends = true;
    forget(o);
    while (!o->done && thread_wait(&o->changed, &o->lock, deadline_ns))
        ;
    const bool done = o->done;
    pthread_mutex_unlock(&o->lock);
    if (!done)
        return false;
    pthread_join(o->thread, NULL);
    image_free(&o->frame);
    pthread_mutex_destroy(&o->lock);
    pthread_cond_destroy(&o->changed);
    free(o);
    return true;
}
