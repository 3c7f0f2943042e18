// test_options.c: options from tables: parsing, errors with suggestions, environment, help
#include "base/options.h"

#include "unit.h"

#include <limits.h>
#include <locale.h>

struct values {
    bool loud, quiet;
    const char *file, *device;
    int count, path, free_count;
    double rate;
    struct option_size size;
    struct option_texts names;
};

#define AT(member) offsetof(struct values, member)

static const struct option rows[] = {
    {"loud", 'l', OPTION_FLAG, .help = "make noise", .offset = AT(loud), .excludes = "quiet"},
    {"quiet", 'q', OPTION_FLAG, .help = "make none", .offset = AT(quiet), .excludes = "loud"},
    {"file", 'f', OPTION_TEXT, "FILE", .help = "where to write; default: none", .environment = "TEST_FILE",
     .offset = AT(file), .complete = "file"},
    {"frames", 'n', OPTION_INT, "N", .help = "stop after N; default: 9", .offset = AT(count), .min = 1, .max = 100},
    {"many", 0, OPTION_INT, "N", .help = "without end", .offset = AT(free_count), .min = 1, .max = INT_MAX},
    {"free", 0, OPTION_INT, "N", .help = "any sign", .offset = AT(free_count), .min = -9, .max = 9},
    {"path", 'p', OPTION_CHOICE, .choices = "cpu|opencl|zerocopy", .help = "how", .offset = AT(path)},
    {"rate", 0, OPTION_NUMBER, "R", .help = "pictures per second", .offset = AT(rate), .min = 0.5, .max = 240},
    {"size", 's', OPTION_SIZE, "WxH", .help = "how large", .offset = AT(size)},
    {"device", 'd', OPTION_TEXT, "ON", .choices = "gpu|cpu", .help = "on which", .offset = AT(device)},
    {"name", 'N', OPTION_TEXTS, "NAME", .help = "one of several", .offset = AT(names)},
    {0},
};
static const char *const examples[] = {"monocle test  do it", "monocle test -p cpu  do it there", NULL};
static const char *const details[] = {"A paragraph.", "one\tthe first row", "a longer term\tthe second row", NULL};
static const char *const exits[] = {"0\tdone", "129, 130\tended by a signal", NULL};
static const struct command list = {.name = "test",
                                    .usage = "[FILE] [options]",
                                    .summary = "Tests things.",
                                    .examples = examples,
                                    .details = details,
                                    .exits = exits,
                                    .options = rows,
                                    .complete = "source"};

struct run {
    struct values values;
    const char *operands[16];
    int operand_count;
    enum option_result result;
    char errors[4096];
};

// Parses words separated by spaces; '_' stands for a space within a word.
static struct run parse(const char *line)
{
    struct run run = {.values = {.count = 7, .rate = 30}};
    static char words[1024]; // operands and texts point into it; the next call overwrites it
    char *argv[96] = {"test"}, *rest = NULL;
    int argc = 1;
    snprintf(words, sizeof(words), "%s", line);
    for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        argv[argc++] = w;
    for (char *c = words; c < words + sizeof(words); c++)
        *c = *c == '_' ? ' ' : *c;
    struct captured captured;
    capture_stderr(&captured);
    run.result = options_parse(&list, argc, argv, &run.values, run.operands, &run.operand_count);
    snprintf(run.errors, sizeof(run.errors), "%s", captured_stderr(&captured));
    return run;
}

static void test_right(void)
{
    struct run r = parse("--loud -f out.png in.y4m --frames=12 -pzerocopy --rate 29.97 -s 640x480 -- -x");
    CHECK_NUMBER(r.result, OPTION_OK);
    CHECK_TEXT(r.errors, "");
    CHECK(r.values.loud && !r.values.quiet);
    CHECK_TEXT(r.values.file, "out.png");
    CHECK_NUMBER(r.values.count, 12);
    CHECK_NUMBER(r.values.path, 2);
    CHECK_NUMBER(r.values.rate, 29.97);
    CHECK_NUMBER(r.values.size.width, 640);
    CHECK_NUMBER(r.values.size.height, 480);
    CHECK_NUMBER(r.operand_count, 2);
    CHECK_TEXT(r.operands[0], "in.y4m");
    CHECK_TEXT(r.operands[1], "-x");

    r = parse("- -qf- --free -5");
    CHECK_NUMBER(r.result, OPTION_OK);
    CHECK(r.values.quiet && !r.values.loud);
    CHECK_TEXT(r.values.file, "-");
    CHECK_NUMBER(r.values.free_count, -5);
    CHECK_NUMBER(r.values.count, 7); // its default
    CHECK_NUMBER(r.operand_count, 1);
    CHECK_TEXT(r.operands[0], "-");

    r = parse("-q -4 -0.5");
    CHECK_NUMBER(r.operand_count, 2);
    CHECK_TEXT(r.operands[1], "-0.5");

    CHECK_NUMBER(parse("-n1").values.count, 1);
    CHECK_NUMBER(parse("-n100").values.count, 100);
    CHECK_TEXT(parse("--file=").values.file, "");
    CHECK_TEXT(parse("--file=--loud").values.file, "--loud");
    CHECK_TEXT(parse("-f 0_-1_0").values.file, "0 -1 0");
    CHECK_NUMBER(parse("-q -q -n 5 --frames 5").result, OPTION_OK);
    CHECK_NUMBER(parse("--help").result, OPTION_HELP);
    CHECK_NUMBER(parse("-n 3 -qh").result, OPTION_HELP);
    CHECK_NUMBER(parse("-- --help").result, OPTION_OK);

    r = parse("--name a,b -Nb -q --name=a,b");
    CHECK_NUMBER(r.result, OPTION_OK);
    CHECK_NUMBER(r.values.names.count, 3);
    CHECK_TEXT(r.values.names.text[0], "a,b");
    CHECK_TEXT(r.values.names.text[1], "b");
    CHECK_TEXT(r.values.names.text[2], "a,b");
    CHECK_NUMBER(parse("").values.names.count, 0);
    char many[1024] = "";
    for (int i = 0; i <= OPTION_TEXTS_MAX; i++)
        strcat(many, "-Nx ");
    CHECK_NUMBER(parse(many).result, OPTION_ERROR);
    CHECK_HAS(parse(many).errors, "--name is given more than 64 times");
}

// Options of other programs.
static void test_foreign(void)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"--camera 0", "unknown option --camera; the source needs no option: monocle test clip.mp4, or /dev/video0"},
        {"--verison", "unknown option --verison; did you mean monocle --version?"},
        {"-i x", "unknown option -i; the source needs no option"},
        {"--fps=3", "unknown option --fps; did you mean --rate 30?"},
        {"-fps 3", "unknown option -fps; did you mean --rate 30?"},
        {"--gpu", "unknown option --gpu; did you mean --device gpu?"},
        {"-vf x", "unknown option -v in -vf; monocle test --help"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct run r = parse(cases[i].line);
        CHECK_NUMBER(r.result, OPTION_ERROR);
        CHECK_HAS(r.errors, cases[i].says);
    }
}

static void test_wrong(void)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"--frame 3", "unknown option --frame; did you mean --frames?"},
        {"--framse=3", "unknown option --framse; did you mean --frames?"},
        {"--fre 3", "unknown option --fre; did you mean --free?"},
        {"--hlep", "did you mean --help?"},
        {"--completely-else", "unknown option --completely-else; monocle test --help lists the options"},
        {"--help=3", "--help takes no value; leave out '=3'"},
        {"-x", "unknown option -x; monocle test --help"},
        {"-qx", "unknown option -x in -qx"},
        {"-frames 3", "unknown option -frames; did you mean --frames?"},
        {"--frames", "--frames needs a value; write --frames N"},
        {"-n", "--frames needs a value; write --frames N"},
        {"--file --loud",
         "--file needs a value, but the option --loud follows; if '--loud' is the value, write --file=--loud"},
        {"--frames 0", "--frames is 0, but must be between 1 and 100"},
        {"--frames 101", "between 1 and 100"},
        {"--many 99999999999999", "--many is 99999999999999, but must be between 1 and 2147483647"},
        {"--size 1000001x5", "WIDTHxHEIGHT, such as 640x480, with sides of 1 to 1000000 pixels"},
        {"--frames 1.5", "--frames is '1.5', but must be a whole number"},
        {"--frames 1e1", "whole number"},
        {"--frames 5x", "whole number"},
        {"--frames=", "whole number"},
        {"--free 99999999999", "between -9 and 9"},
        {"--rate nan", "--rate is 'nan', but must be a number"},
        {"--rate 0x10", "must be a number"},
        {"--rate 1,5", "must be a number"},
        {"--rate 5-3", "must be a number"},
        {"--rate 0.1", "between 0.5 and 240"},
        {"--size 640", "--size is '640', but must be WIDTHxHEIGHT"},
        {"--size 0x5", "WIDTHxHEIGHT"},
        {"--size 5x5x", "WIDTHxHEIGHT"},
        {"--size 1000001x5", "WIDTHxHEIGHT"},
        {"--size=-5x5", "WIDTHxHEIGHT"},
        {"--size +5x5", "WIDTHxHEIGHT"},
        {"--size 5x+5", "WIDTHxHEIGHT"},
        {"--size _5x5", "WIDTHxHEIGHT"},
        {"-p gpu", "--path cannot be 'gpu'; did you mean --device gpu?"},
        {"-p opencv", "--path cannot be 'opencv'; did you mean 'opencl'?"},
        {"-p gl", "--path is 'gl', but must be one of cpu, opencl, zerocopy"},
        {"-f=x.png", "-f takes its value without '='; write -f 'x.png' or --file='x.png'"},
        {"-qn=3", "-n takes its value without '='; write -n '3' or --frames='3'"},
        {"--quiet=yes", "--quiet takes no value; leave out '=yes'"},
        {"--frames 5 -n6", "--frames is given twice, as '5' and as '6'"},
        {"-q --loud", "--loud and --quiet contradict each other"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct run r = parse(cases[i].line);
        CHECK_NUMBER(r.result, OPTION_ERROR);
        CHECK_HAS(r.errors, cases[i].says);
        const char *end = strchr(r.errors, '\n');
        CHECK(end && !end[1]); // one line
    }
}

static void test_environment(void)
{
    setenv("TEST_FILE", "a", 1);
    CHECK_TEXT(parse("").values.file, "a");
    CHECK_TEXT(parse("-f b").values.file, "b");
    setenv("TEST_FILE", "", 1);
    CHECK(!parse("").values.file);
    unsetenv("TEST_FILE");
}

static void test_nearest(void)
{
    static const char *const words[] = {"blur", "gray", "maxrgb", "emboss", "screenshot", "none", NULL};
    static const struct {
        const char *word, *nearest;
    } cases[] = {
        {"blur", "blur"},    {"blurr", "blur"}, {"lbur", "blur"},         {"grey", "gray"},   {"mxarbg", "maxrgb"},
        {"embos", "emboss"}, {"emb", "emboss"}, {"screen", "screenshot"}, {"xyzzy", NULL},    {"", NULL},
        {"b", NULL},         {"noen", "none"},  {"quite another", NULL},  {"blurblur", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *nearest = options_nearest(cases[i].word, words);
        if (cases[i].nearest)
            CHECK_TEXT(nearest, cases[i].nearest);
        else
            CHECK(!nearest);
    }
    CHECK_TEXT(options_nearest("opengl", (const char *const[]){"cpu", "opencl", "gl", NULL}), "gl");
    char very_long[200];
    memset(very_long, 'x', sizeof(very_long) - 1);
    very_long[sizeof(very_long) - 1] = '\0';
    CHECK(!options_nearest(very_long, words));
    const char *const longest[] = {very_long + sizeof(very_long) - 49, NULL}; // the longest words that are compared
    char word[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy";
    CHECK_NUMBER(strlen(word), 48);
    CHECK_TEXT(options_nearest(word, longest), longest[0]);
    CHECK(!options_nearest("xxxx", (const char *const[]){very_long, NULL}));
    CHECK(!options_nearest("x", (const char *const[]){"y", NULL})); // no letter in common
}

static void test_help(void)
{
    static const char want[] = "Usage: monocle test [FILE] [options]\n"
                               "\n"
                               "Tests things.\n"
                               "\n"
                               "Examples:\n"
                               "  monocle test         do it\n"
                               "  monocle test -p cpu  do it there\n"
                               "\n"
                               "A paragraph.\n"
                               "\n"
                               "  one            the first row\n"
                               "  a longer term  the second row\n"
                               "\n"
                               "Options:\n"
                               "  -l, --loud       make noise\n"
                               "  -q, --quiet      make none\n"
                               "  -f, --file FILE  where to write; default: none [TEST_FILE]\n"
                               "  -n, --frames N   stop after N (1 to 100); default: 9\n"
                               "      --many N     without end (at least 1)\n"
                               "      --free N     any sign (-9 to 9)\n"
                               "  -p, --path cpu|opencl|zerocopy\n"
                               "                   how\n"
                               "      --rate R     pictures per second (0.5 to 240)\n"
                               "  -s, --size WxH   how large\n"
                               "  -d, --device ON  on which\n"
                               "  -N, --name NAME  one of several\n"
                               "  -h, --help       show this help\n"
                               "\n"
                               "Exit status:\n"
                               "  0         done\n"
                               "  129, 130  ended by a signal\n";
    char got[4096] = "";
    FILE *out = fmemopen(got, sizeof(got), "w");
    options_print_help(&list, out);
    fclose(out);
    CHECK_TEXT(got, want);
}

int main(void)
{
    setlocale(LC_ALL, "de_DE.UTF-8"); // with a decimal comma the results are the same (if this locale is installed)
    test_right();
    test_foreign();
    test_wrong();
    test_environment();
    test_nearest();
    setlocale(LC_ALL, "C");
    test_help();
    return check_end(&unit);
}
