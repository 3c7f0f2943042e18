// test_choice.c: the choice of a path: the first one, the candidates of a host, the fastest, and when it is timed again
#include "path/choice.h"

#include "unit.h"

static void check_candidates(struct path_offer offer, enum path_kind first, const char *want)
{
    enum path_kind kinds[PATH_KINDS];
    char text[80] = "";
    const int count = path_candidates(&offer, first, kinds);
    for (int i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i > 0 ? " " : "", path_kind_name(kinds[i]));
    CHECK_TEXT(text, want);
}

enum { GPU = 1, SHARES = 2, GL_CPU = 4, GL_GPU = 8, CPU = 16, DEVICE_CPU = 32 };

static struct path_offer offer(unsigned has)
{
    return (struct path_offer){.device = has & (GPU | DEVICE_CPU),
                               .gpu = has & GPU,
                               .shares = has & SHARES,
                               .gl = has & (GL_GPU | GL_CPU),
                               .gl_gpu = has & GL_GPU,
                               .cpu = has & CPU};
}

static void test_first(void)
{
    static const struct {
        unsigned has;
        enum path_kind first;
    } rows[] = {
        {GPU | SHARES | GL_GPU | CPU, PATH_ZEROCOPY},
        {GPU | CPU, PATH_ZEROCOPY},
        {DEVICE_CPU | CPU, PATH_CPU},
        {DEVICE_CPU | GL_GPU | CPU, PATH_GL},
        {GL_CPU | CPU, PATH_CPU},
        {GL_CPU, PATH_GL},
        {CPU, PATH_CPU},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct path_offer o = offer(rows[i].has);
        CHECK_NUMBER(path_first(&o), rows[i].first);
    }
}

static void test_next(void)
{
    const struct path_offer all = offer(GPU | GL_GPU | CPU), gl = offer(GL_CPU | CPU), none = offer(CPU);
    CHECK_NUMBER(path_next(&all, PATH_CPU), PATH_OPENCL);
    CHECK_NUMBER(path_next(&all, PATH_ZEROCOPY), PATH_CPU);
    CHECK_NUMBER(path_next(&gl, PATH_CPU), PATH_GL);
    CHECK_NUMBER(path_next(&gl, PATH_GL), PATH_CPU);
    CHECK_NUMBER(path_next(&none, PATH_CPU), PATH_CPU);
}

static void test_candidates(void)
{
    check_candidates(offer(GPU | SHARES | GL_GPU | CPU), PATH_ZEROCOPY, "zerocopy gl opencl cpu");
    check_candidates(offer(GPU | SHARES | GL_GPU), PATH_ZEROCOPY, "zerocopy gl opencl");
    check_candidates(offer(GPU | GL_GPU | CPU), PATH_ZEROCOPY, "zerocopy gl cpu");
    check_candidates(offer(GPU | CPU), PATH_ZEROCOPY, "zerocopy cpu");
    check_candidates(offer(GPU | SHARES), PATH_ZEROCOPY, "zerocopy opencl"); // with -d
    check_candidates(offer(GPU | SHARES | GL_GPU | CPU), PATH_CPU, "cpu zerocopy gl opencl");
    check_candidates(offer(DEVICE_CPU | GL_GPU | CPU), PATH_GL, "gl cpu");
    check_candidates(offer(DEVICE_CPU | GL_CPU | CPU), PATH_CPU, "cpu");
    check_candidates(offer(GL_CPU), PATH_GL, "gl");
}

static void begin(struct path_choice *choice, const struct path_work *work)
{
    const enum path_kind kinds[] = {PATH_ZEROCOPY, PATH_GL, PATH_CPU};
    path_choice_begin(choice, kinds, 3, work);
}

// The kind must be timed now. The first frames of a path are slow, and one is late.
static void run(struct path_choice *choice, enum path_kind kind, double ms)
{
    for (int i = 0; i < CHOICE_SKIPPED + CHOICE_TIMED; i++) {
        CHECK(path_choice_times(choice));
        CHECK_NUMBER(path_choice_kind(choice), kind);
        path_choice_add(choice, i < CHOICE_SKIPPED || i == CHOICE_SKIPPED + 2 ? 100 : ms);
    }
}

static void check_chosen(const struct path_choice *choice, enum path_kind kind, const char *why)
{
    CHECK(!path_choice_times(choice));
    CHECK_NUMBER(path_choice_kind(choice), kind);
    CHECK_TEXT(choice->why, why);
}

static void test_fastest(void)
{
    static struct path_choice choice;
    const struct path_work work = {.width = 640, .height = 480};
    begin(&choice, &work);
    run(&choice, PATH_ZEROCOPY, 0.57);
    run(&choice, PATH_GL, 0.16);
    run(&choice, PATH_CPU, 0.32);
    check_chosen(&choice, PATH_GL, "auto: gl 0.16 ms, cpu 0.32, zerocopy 0.57");

    // The path in use stays if another one is less than 10 % faster.
    begin(&choice, &work);
    run(&choice, PATH_ZEROCOPY, 1);
    run(&choice, PATH_GL, 0.91);
    run(&choice, PATH_CPU, 1.5);
    check_chosen(&choice, PATH_ZEROCOPY, "auto: zerocopy 1.00 ms, gl 0.91, cpu 1.50");
    begin(&choice, &work);
    run(&choice, PATH_ZEROCOPY, 1);
    run(&choice, PATH_GL, 0.95);
    run(&choice, PATH_CPU, 0.89);
    check_chosen(&choice, PATH_CPU, "auto: cpu 0.89 ms, gl 0.95, zerocopy 1.00");

    // A host without a choice times nothing.
    path_choice_begin(&choice, (const enum path_kind[]){PATH_CPU}, 1, &work);
    CHECK(!path_choice_times(&choice));
    CHECK_NUMBER(path_choice_kind(&choice), PATH_CPU);
}

static void test_refused(void)
{
    static struct path_choice choice;
    const struct path_work work = {.width = 640, .height = 480};
    begin(&choice, &work);
    run(&choice, PATH_ZEROCOPY, 1);
    path_choice_refuse(&choice); // gl
    run(&choice, PATH_CPU, 0.5);
    check_chosen(&choice, PATH_CPU, "auto: cpu 0.50 ms, zerocopy 1.00");
    begin(&choice, &work);
    run(&choice, PATH_ZEROCOPY, 1);
    run(&choice, PATH_GL, 0.5);
    path_choice_refuse(&choice); // cpu
    check_chosen(&choice, PATH_GL, "auto: gl 0.50 ms, zerocopy 1.00");
    path_choice_refuse(&choice); // gl cannot be built a second time
    run(&choice, PATH_ZEROCOPY, 1);
    check_chosen(&choice, PATH_ZEROCOPY, "auto: zerocopy 1.00 ms");
}

static struct path_work work_of(const char *chain, int width, int height, unsigned measures)
{
    char error[CHAIN_ERROR];
    struct path_work work = {.width = width, .height = height, .measures = measures};
    CHECK(chain_parse(&work.chain, chain, error));
    return work;
}

static void test_changes(void)
{
    const struct path_work before = work_of("blur=2,gray", 640, 480, 0);
    const struct {
        struct path_work now;
        enum path_change want;
    } cases[] = {
        {before, WORK_SAME},
        {work_of("blur=9,gray", 640, 480, 0), WORK_LITTLE},
        {work_of("blur=2,gray", 640, 480, MEASURE_HISTOGRAM), WORK_LITTLE},
        {work_of("blur=2,gray", 640, 490, 0), WORK_LITTLE},
        {work_of("blur=2,gray", 800, 600, 0), WORK_MUCH},
        {work_of("blur=2,gray", 320, 480, 0), WORK_MUCH},
        {work_of("blur=2", 640, 480, 0), WORK_MUCH},
        {work_of("blur=2,emboss", 640, 480, 0), WORK_MUCH},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK_NUMBER(path_work_compare(&before, &cases[i].now), cases[i].want);
    struct path_work other = before;
    other.device = 1;
    CHECK_NUMBER(path_work_compare(&before, &other), WORK_MUCH);
}

// After a small change, the path in use is timed. The others follow only if its time has changed much.
static void test_again(void)
{
    static struct path_choice choice;
    const struct path_work work = work_of("blur=2", 640, 480, 0), wider = work_of("blur=9", 640, 480, 0);
    begin(&choice, &work);
    run(&choice, PATH_ZEROCOPY, 1);
    run(&choice, PATH_GL, 0.5);
    run(&choice, PATH_CPU, 0.7);
    path_choice_check(&choice, &wider);
    run(&choice, PATH_GL, 0.7);
    check_chosen(&choice, PATH_GL, "auto: gl 0.50 ms, cpu 0.70, zerocopy 1.00");
    path_choice_check(&choice, &wider);
    run(&choice, PATH_GL, 2);
    run(&choice, PATH_CPU, 2.5);
    run(&choice, PATH_ZEROCOPY, 1.1);
    check_chosen(&choice, PATH_ZEROCOPY, "auto: zerocopy 1.10 ms, gl 2.00, cpu 2.50");
    path_choice_check(&choice, &work);
    run(&choice, PATH_ZEROCOPY, 0.6);
    run(&choice, PATH_GL, 0.5);
    run(&choice, PATH_CPU, 0.7);
    check_chosen(&choice, PATH_GL, "auto: gl 0.50 ms, zerocopy 0.60, cpu 0.70");
}

int main(void)
{
    test_first();
    test_next();
    test_candidates();
    test_fastest();
    test_refused();
    test_changes();
    test_again();
    return check_end(&unit);
}
