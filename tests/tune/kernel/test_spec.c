// test_spec.c: reads descriptions of users' kernels, and refuses wrong ones with one line
#include "tune/kernel/spec.h"

#include "base/log.h"
#include "tune/kernel/user_rig.h"
#include "unit.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#define FIFTY "12345678901234567890123456789012345678901234567890"
#define LONG FIFTY FIFTY FIFTY FIFTY
#define PARAM(name, values) "{\"Name\":\"" name "\",\"Type\":\"int\",\"Values\":" values "}"
#define OUT "{\"Name\":\"out\",\"Type\":\"float\",\"Size\":\"N * max(X)\",\"AccessType\":\"WriteOnly\"}"
#define KERNEL(global, local, arguments)                                                                               \
    "\"Language\":\"OpenCL\",\"KernelName\":\"k\",\"KernelFile\":\"k.cl\",\"GlobalSize\":{\"X\":" global               \
    "},\"LocalSize\":{\"X\":" local "},\"Arguments\":[" arguments "]"
#define SPEC(params, conditions, kernel)                                                                               \
    "{\"ConfigurationSpace\":{\"TuningParameters\":[" params "],\"Conditions\":[" conditions                           \
    "]},\"KernelSpecification\":{" kernel "}}"
#define X_AND_N PARAM("X", "[1,2,4]") "," PARAM("N", "\"[10, 2 ** 5]\"")
#define LONG_PARAM(name) PARAM(name, "[\"" LONG "\"]")
#define IMAGE(name, type, size)                                                                                        \
    "{\"Name\":\"" name "\",\"MemoryType\":\"Image\",\"Type\":\"" type "\",\"Size\":" size "}"
// With launches of two kernels, and vectors `a` and `b` that may change places.
#define PAIR                                                                                                           \
    "{\"Name\":\"a\",\"Type\":\"int\",\"Size\":\"N\"},{\"Name\":\"b\",\"Type\":\"int\",\"Size\":\"N\"},"               \
    "{\"Name\":\"n\",\"Type\":\"int\",\"MemoryType\":\"Scalar\",\"FillValue\":\"100 + X\"},"                           \
    "{\"Name\":\"m\",\"Type\":\"int\",\"MemoryType\":\"Local\",\"Size\":\"4 * X\"},"                                   \
    "{\"Name\":\"fixed\",\"Type\":\"int\",\"Size\":\"N\",\"AccessType\":\"ReadOnly\"}," IMAGE(                         \
        "i", "int", "[\"N\",2]") "," IMAGE("j", "int", "[\"N\",3]")
#define COMPOSED(launches)                                                                                             \
    "{\"ConfigurationSpace\":{\"TuningParameters\":[" X_AND_N "]},\"KernelSpecification\":[{" KERNEL(                  \
        "\"N // 2 ** i\"", "\"X\"",                                                                                    \
        PAIR) "},{\"KernelName\":\"l\",\"GlobalSize\":{\"X\":1},\"LocalSize\":{\"X\":1}}],\"Launches\":" launches "}"
#define GOOD SPEC(X_AND_N, "", KERNEL("\"100 // X\"", "\"X\"", OUT))

static bool read_spec(struct spec *spec, const char *text, char why[SPEC_WHY])
{
    why[0] = '\0';
    return spec_parse(spec, text, "dir/spec.json", why) && spec_enumerate(spec, why);
}

static void test_good(void)
{
    struct spec spec;
    struct spec_run run;
    char why[SPEC_WHY], text[SPACE_TEXT];
    CHECK(read_spec(&spec,
                    SPEC(X_AND_N, "{\"Expression\":\"X * N < 100\",\"Parameters\":[\"X\",\"N\"]},\"N > X\"",
                         "\"GlobalSizeType\":\"OpenCL\",\"CompilerOptions\":[\"-DA\",\"-DB\"]," KERNEL("\"100 // X\"",
                                                                                                       "\"X\"", OUT)),
                    why));
    CHECK_TEXT(why, "");
    CHECK_NUMBER(spec.space.count, 5);
    space_print(&spec.space, 4, text);
    CHECK_TEXT(text, "X=4,N=10");
    CHECK_TEXT(spec.ignored, "");
    CHECK_NUMBER(spec.argument[0].bytes, 32 * 2 * 4); // the largest size: X=2,N=32
    CHECK(spec.argument[0].output);
    CHECK(spec.argument[0].tolerance.method == SPEC_EACH_DEFAULT && spec.argument[0].tolerance.threshold == 1e-4);
    CHECK_TEXT(spec.kernel[0].options, "-DA -DB");
    CHECK_TEXT(spec.directory, "dir/");
    const uint16_t *tuple = space_tuple(&spec.space, 4);
    CHECK(spec_run_open(&run, &spec, false, tuple, why) && run.launches == 1);
    CHECK(run.launch[0].global[0] == 28 && run.launch[0].local[0] == 4); // 25 work-items
    CHECK(run.launch[0].global[1] == 1 && run.launch[0].local[2] == 1);
    spec_run_close(&run);
    spec.kernel[0].groups = true;
    CHECK(spec_run_open(&run, &spec, true, tuple, why)); // there is no reference kernel
    CHECK_NUMBER(run.launch[0].global[0], 100);          // 25 work-groups
    spec.kernel[0].text = strdup("kernel void k() {}");
    char *program = spec_program(&spec, &run.launch[0], tuple);
    CHECK_TEXT(program, "#define X 4\n#define N 10\n#line 1 \"k.cl\"\nkernel void k() {}");
    free(program);
    spec_run_close(&run);
    CHECK(spec_size(&spec, tuple, why));
    CHECK_NUMBER(spec.argument[0].bytes, 10 * 4 * 4);
    spec_finish(&spec);
}

// A description of a CUDA kernel is for the OpenCL kernel of the same name. Its sizes are CUDA's; its options are not
// OpenCL's.
static void test_cuda(void)
{
    struct spec spec;
    char why[SPEC_WHY];
    CHECK(read_spec(&spec,
                    SPEC(X_AND_N, "",
                         "\"Language\":\"CUDA\",\"KernelName\":\"k\",\"KernelFile\":\"a.b/k.cu\","
                         "\"CompilerOptions\":[\"-use_fast_math\"],\"GlobalSize\":{\"X\":3},\"LocalSize\":{\"X\":2},"
                         "\"Arguments\":[" OUT "]"),
                    why));
    CHECK_TEXT(why, "");
    CHECK(spec.kernel[0].cuda && spec.kernel[0].groups);
    CHECK_TEXT(spec.kernel[0].file[0], "a.b/k.cl");
    CHECK_TEXT(spec.kernel[0].options, "");
    CHECK_TEXT(spec.ignored, "CompilerOptions");
    spec_finish(&spec);
}

// FillValue of a scalar is evaluated for each configuration.
static void test_scalar(void)
{
    struct spec spec;
    char why[SPEC_WHY];
    struct spec_run run;
    CHECK(
        read_spec(&spec,
                  SPEC(X_AND_N, "",
                       KERNEL("1", "1", OUT ",{\"Type\":\"int\",\"MemoryType\":\"Scalar\",\"FillValue\":\"N // X\"}")),
                  why));
    CHECK(spec_run_open(&run, &spec, false, space_tuple(&spec.space, 5), why) && run.launch[0].given[1].number == 8);
    spec_run_close(&run);
    CHECK(spec_run_open(&run, &spec, false, space_tuple(&spec.space, 0), why) && run.launch[0].given[1].number == 10);
    spec_run_close(&run);
    spec_finish(&spec);
}

static const char *printed(const struct value *value)
{
    static char text[VALUE_TEXT_MAX];
    value_print(value, text, sizeof(text));
    return text;
}

// Values are as in the description, so that a kernel computes with reals where it has reals.
static void test_values(void)
{
    struct spec spec;
    char why[SPEC_WHY];
    CHECK(read_spec(
        &spec,
        SPEC(PARAM("X", "[2.0, 0.5, 1e30]") "," PARAM("N", "[true, \"a b\"]") "," PARAM("M", "\"[4 / 2, 7 // 2]\""), "",
             "\"Profiling\":0," KERNEL("1", "1",
                                       "{\"Type\":\"int\",\"Size\":1}") "},\"General\":{\"Metrics\":{\"A\":\"1 / "
                                                                        "time\"},\"Objective\":\"A\",\"Minimize\":0"),
        why));
    CHECK(spec.metrics.maximize);
    CHECK_TEXT(printed(&spec.space.param[0].value[0]), "0.5");
    CHECK_TEXT(printed(&spec.space.param[0].value[1]), "2.0");
    CHECK_TEXT(printed(&spec.space.param[0].value[2]), "1e+30");
    CHECK_TEXT(printed(&spec.space.param[1].value[0]), "1");
    CHECK_TEXT(printed(&spec.space.param[1].value[1]), "a b");
    CHECK_TEXT(printed(&spec.space.param[2].value[0]), "2.0");
    CHECK_TEXT(printed(&spec.space.param[2].value[1]), "3");
    CHECK_TEXT(spec.ignored, "Profiling");
    spec_finish(&spec);
}

static const struct {
    const char *text, *why;
} refusals[] = {
    {"", "line 1: "},
    {"[]", "the object KernelSpecification is missing"},
    {"{\"KernelSpecification\":{}}", "the list ConfigurationSpace.TuningParameters is missing or empty"},
    {"{\"KernelSpecification\":7,\"ConfigurationSpace\":{\"TuningParameters\":[" PARAM("X", "[1]") "]}}",
     "KernelSpecification: this member is missing, or is not an object"},
    {"{\"KernelSpecification\":[],\"ConfigurationSpace\":{\"TuningParameters\":[" PARAM("X", "[1]") "]}}",
     "has 0 kernels"},
    {SPEC("7", "", ""), "TuningParameters[0]: Name is missing, or is not a text"},
    {SPEC(PARAM("1x", "[1]"), "", ""), "the name '1x' is not a C identifier"},
    {SPEC(PARAM("X", "[1]") "," PARAM("X", "[1]"), "", ""), "TuningParameters[1]: duplicate name 'X'"},
    {SPEC(PARAM("X", "[]"), "", ""), "the list Values is missing or empty"},
    {SPEC(PARAM("X", "7"), "", ""), "the list Values is missing or empty"},
    {SPEC(PARAM("X", "[{}]"), "", ""), "Values[0] is not a number or text"},
    {SPEC(PARAM("X", "[1,1]"), "", ""), "duplicate value '1'"},
    {SPEC(PARAM("X", "\"[1, 2 +]\""), "", ""), "Values '[1, 2 +]': a number or name is missing"},
    {SPEC(PARAM("X", "[\"a\\nb\"]"), "", ""), "a control character or backslash"},
    {SPEC(PARAM("X", "[\"" LONG "1"
                     "\"]"),
          "", ""),
     "a value has over 200 bytes"},
    {SPEC(LONG_PARAM("A") "," LONG_PARAM("B") "," LONG_PARAM("C") "," LONG_PARAM("D") "," LONG_PARAM(
              "E") "," LONG_PARAM("F"),
          "", ""),
     "a configuration may have over 1023 bytes"},
    {SPEC(PARAM("X", "[\"a\\tb\"]"), "", ""), "a control character or backslash"},
    {SPEC("{\"Name\":\"X\",\"Values\":[1],\"Default\":2}", "", ""), "Default is not one of the values"},
    {SPEC(X_AND_N, "\"X > Q\"", ""), "Conditions[0]: 'X > Q': there is no name 'Q'"},
    {SPEC(X_AND_N, "{}", ""), "Conditions[0]: Expression is missing, or is not a text"},
    {SPEC(X_AND_N, "\"X > 10\"", KERNEL("1", "1", OUT)), "the conditions allow no configuration"},
    {SPEC(X_AND_N, "\"1 // (X - 2) > 0 or 1\"", KERNEL("1", "1", OUT)),
     "condition '1 // (X - 2) > 0 or 1': it divides by zero with X=2"},
    {SPEC(X_AND_N, "", "\"Language\":\"CUDA\",\"KernelName\":\"k\",\"KernelFile\":\"k.cuh\""),
     "KernelSpecification: the kernel 'k.cuh' is CUDA, which is not supported"},
    {SPEC(X_AND_N, "", "\"Language\":\"HIP\""),
     "KernelSpecification: Language is 'HIP', but must be one of OpenCL, CUDA"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"custom\",\"Size\":1,\"TypeSize\":129}")),
     "the Type custom needs TypeSize, 1 to 128 bytes"},
    {SPEC(X_AND_N, "", "\"Language\":7"), "Language is '?'"},
    {SPEC(X_AND_N, "", "\"Modifiers\":[]"), "Modifiers are not supported"},
    {SPEC(X_AND_N, "", ""), "KernelName is missing, or is not a text"},
    {SPEC(X_AND_N, "", KERNEL("null", "1", OUT)), "GlobalSize.X is missing"},
    {SPEC(X_AND_N, "", KERNEL("\"X +\"", "1", OUT)), "GlobalSize.X 'X +': a number or name is missing at 'the end'"},
    {SPEC(X_AND_N, "", KERNEL("\"3 / X\"", "1", OUT)),
     "GlobalSize '3 / X': it is 1.5, but must be a whole number from 1 to 2147483647, with X=2,N=10"},
    {SPEC(X_AND_N, "", KERNEL("\"X - 1\"", "1", OUT)), "GlobalSize 'X - 1': it is 0"},
    {SPEC(X_AND_N, "", KERNEL("\"10 ** 12\"", "1", OUT)), "it is 1e+12"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "")), "Arguments is missing, or is not a list"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "\"in\"")), "Arguments[0]: no earlier argument has the name 'in'"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", OUT "," OUT)), "duplicate name 'out'"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"float\"}")),
     "Arguments[0]: Size is missing; an argument that is one number needs \"MemoryType\": \"Scalar\""},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"float\",\"Size\":0}")),
     "the size of 'argument 0' '0': it is 0, but must be"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"float\",\"Size\":\"10 ** 18\"}")),
     "it is 1e+18, but must be a whole number from 1 to 274877906944, with"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"quarter\",\"Size\":1}")), "Type is 'quarter'"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"float\",\"Size\":1,\"MemoryType\":\"Texture\"}")),
     "MemoryType is 'Texture'"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", IMAGE("i", "float4", "8"))), "Size of an Image is not a list of two"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", IMAGE("i", "float4", "[8]"))), "Size of an Image is not a list of two"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", IMAGE("i", "float4", "[8,\"Y\"]"))), "Size[1] 'Y': there is no name 'Y'"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", IMAGE("i", "float4", "[8,\"X - 1\"]"))),
     "the size of 'i' 'X - 1': it is 0, but must be a whole number from 1 to 8589934592, with X=1"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", IMAGE("i", "float8", "[8,4]"))), "Arguments[0]: an Image needs a Type of 1, 2"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", IMAGE("i", "double", "[8,4]"))), "an Image needs a Type of 1, 2 or 4 numbers"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", IMAGE("i", "custom\",\"TypeSize\":3,\"A\":\"", "[8,4]"))),
     "an Image needs a Type of 1, 2 or 4 numbers"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", IMAGE("i", "int2\",\"Normalized\":1,\"A\":\"", "[8,4]"))),
     "Normalized needs a Type of 8- or 16-bit integers"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", IMAGE("i", "uint8\",\"Normalized\":\"yes", "[8,4]"))),
     "Normalized is not true, false, 1 or 0"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"int\",\"Size\":1,\"Output\":2}")),
     "Output is not true, false, 1 or 0"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", OUT) "},\"General\":{\"Minimize\":\"no\""),
     "General: Minimize is not true, false, 1 or 0"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"int\",\"Size\":1,\"Output\":\"out\"}")),
     "Output is not true, false, 1 or 0"},
    {COMPOSED("[{\"KernelName\":\"l\",\"Swap\":[\"a\",\"i\"]}]"), "'a' and 'i' have different types or sizes"},
    {COMPOSED("[{\"KernelName\":\"l\",\"Swap\":[\"i\",\"j\"]}]"), "'i' and 'j' have different types or sizes"},
    {COMPOSED("[{\"KernelName\":\"l\",\"Arguments\":{\"a\":\"i\"}}]"),
     "Arguments.a is not the name of an argument of the same"},
    {COMPOSED("[{\"KernelName\":\"l\",\"Arguments\":{\"i\":\"a\"}}]"),
     "Arguments.i is not the name of an argument of the same"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"float\",\"Size\":1,\"FillType\":\"Script\"}")),
     "FillType is 'Script'"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"float2\",\"Size\":1,\"FillValue\":[1]}")),
     "FillValue has 1 numbers"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"float\",\"Size\":1,\"FillValue\":\"'a'\"}")),
     "FillValue is not a number"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"float\",\"Size\":1,\"FillType\":\"BinaryRaw\"}")),
     "DataSource is missing, or is not a text"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"int\",\"MemoryType\":\"Scalar\"}")),
     "no argument is a Vector or Image with"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"int\",\"MemoryType\":\"Scalar\",\"FillType\":\"Random\"}")),
     "the FillType of a scalar must be Constant or BinaryRaw"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", OUT) ",\"ReferenceArguments\":[{\"TargetName\":\"q\"}]"),
     "no Vector or Image has the name 'q'"},
    {SPEC(X_AND_N, "",
          KERNEL("1", "1", OUT) ",\"ReferenceArguments\":[{\"TargetName\":\"out\",\"ValidationThreshold\":-1}]"),
     "ValidationThreshold is not a number >= 0"},
    {SPEC(X_AND_N, "",
          KERNEL("1", "1", OUT) ",\"ReferenceArguments\":[{\"TargetName\":\"out\",\"ValidationMethod\":\"x\"}]"),
     "ValidationMethod is 'x', but must be one of SideBySideComparison, "},
    {SPEC(X_AND_N, "", KERNEL("1", "1", "{\"Type\":\"float2\",\"Size\":1,\"FillValue\":[1,\"X\"]}")),
     "FillValue 'X': it must not depend on a parameter"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", OUT) ",\"ReferenceArguments\":[{\"TargetName\":\"out\",\"FillValue\":\"X\"}]"),
     "ReferenceArguments[0]: FillValue 'X': it must not depend on a parameter"},
    {COMPOSED("[{\"KernelName\":\"k\",\"LocalSize\":{\"X\":1}}]"), "Launches[0]: GlobalSize.X is missing"},
    {COMPOSED("[{\"LocalSize\":{\"X\":1},\"Launches\":[{\"KernelName\":\"l\"}]}]"),
     "Launches[0]: GlobalSize, LocalSize and Queue need KernelName"},
    {COMPOSED("[]"), "Launches is not a list"},
    {COMPOSED("7"), "Launches is not a list"},
    {COMPOSED("[{}]"), "Launches[0]: a launch has either KernelName or Launches"},
    {COMPOSED("[{\"KernelName\":\"k\",\"Launches\":[]}]"), "Launches[0]: a launch has either KernelName or Launches"},
    {COMPOSED("[{\"KernelName\":\"k\",\"Repeat\":1,\"While\":1}]"), "at most one of Repeat and While"},
    {COMPOSED("[{\"KernelName\":\"k\"},{\"KernelName\":\"q\"}]"),
     "Launches[1]: no kernel of KernelSpecification has this"},
    {COMPOSED("[{\"Launches\":[{\"KernelName\":\"k\",\"Condition\":\"i\"}]}]"),
     "Launches[0].Launches[0]: Condition 'i': there is no name 'i'"},
    {COMPOSED("[{\"KernelName\":\"k\",\"Repeat\":\"j\"}]"), "Repeat 'j': there is no name 'j'"},
    {COMPOSED("[{\"KernelName\":\"l\",\"Repeat\":\"N / (2 - X)\"}]"),
     "Repeat 'N / (2 - X)': it divides by zero, with i=0,X=2,N=10"},
    {COMPOSED("[{\"KernelName\":\"k\",\"While\":\"i < 9\"}]"),
     "GlobalSize 'N // 2 ** i': it is 0, but must be a whole number from 1 to 2147483647, with i=4,X=1,N=10"},
    {COMPOSED("[{\"KernelName\":\"l\",\"While\":\"X\"}]"), "it has over 4096 launches and repetitions"},
    {COMPOSED("[{\"KernelName\":\"l\",\"Repeat\":4097}]"), "it has over 4096 launches and repetitions"},
    {COMPOSED("[{\"While\":1,\"Launches\":[{\"KernelName\":\"l\",\"Condition\":0}]}]"), "it has over 4096 launches"},
    {COMPOSED("[{\"KernelName\":\"l\",\"Condition\":0}]"), "it launches no kernel"},
    {COMPOSED("[{\"Launches\":[{\"KernelName\":\"l\"}],\"Macros\":{\"M\":1}}]"), "Macros is not an object of a launch"},
    {COMPOSED("[{\"KernelName\":\"l\",\"Macros\":{\"1M\":1}}]"), "the name '1M' is not a C identifier"},
    {COMPOSED("[{\"KernelName\":\"l\",\"Arguments\":{\"q\":1}}]"), "kernel 'l' has no argument 'q'"},
    {COMPOSED("[{\"KernelName\":\"l\",\"Arguments\":{\"a\":\"n\"}}]"),
     "Arguments.a is not the name of an argument of the same MemoryType"},
    {COMPOSED("[{\"KernelName\":\"l\",\"Swap\":[\"a\"]}]"), "Swap is not a list of pairs"},
    {COMPOSED("[{\"KernelName\":\"l\",\"Swap\":[\"a\",\"fixed\"]}]"),
     "Swap[1] is not the name of a Vector or Image with"},
    {SPEC(X_AND_N, "", KERNEL("1", "1", OUT) ",\"ReferenceKernel\":{\"KernelName\":7}"),
     "ReferenceKernel: KernelName is missing, or is not a text"},
};

static void test_refusals(void)
{
    struct spec spec;
    char why[SPEC_WHY];
    for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
        check_that(&unit, !read_spec(&spec, refusals[i].text, why), "'%s' is accepted", refusals[i].text);
        CHECK_HAS(why, refusals[i].why);
        CHECK(!strchr(why, '\n'));
        spec_finish(&spec);
    }
    CHECK(read_spec(&spec, GOOD, why));
    spec_finish(&spec);
}

// A condition counts as soon as its parameters have values, so a space of 10^12 combinations can be read.
static void test_large(void)
{
    static const char values[] = "\"[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\"";
    char params[2048] = "", conditions[1024] = "", text[8192], why[SPEC_WHY];
    struct spec spec;
    for (int i = 0; i < 12; i++) {
        snprintf(params + strlen(params), sizeof(params) - strlen(params), "%s{\"Name\":\"P%d\",\"Values\":%s}",
                 i ? "," : "", i, values);
        if (i > 0)
            snprintf(conditions + strlen(conditions), sizeof(conditions) - strlen(conditions), "%s\"P%d == P%d\"",
                     i > 1 ? "," : "", i, i - 1);
    }
    snprintf(text, sizeof(text), SPEC("%s", "%s", KERNEL("1", "1", "{\"Type\":\"int\",\"Size\":1}")), params,
             conditions);
    CHECK(read_spec(&spec, text, why));
    CHECK_NUMBER(spec.space.count, 10);
    spec_finish(&spec);
    snprintf(text, sizeof(text), SPEC("%s", "%s", KERNEL("1", "1", "{\"Type\":\"int\",\"Size\":1}")), params, "");
    CHECK(!read_spec(&spec, text, why));
    CHECK_HAS(why, "over 1000000 configurations");
    spec_finish(&spec);
    snprintf(text, sizeof(text), SPEC("%s", "%s", KERNEL("1", "1", "{\"Type\":\"int\",\"Size\":1}")), params,
             "\"P0 + P11 == 20\"");
    CHECK(!read_spec(&spec, text, why));
    CHECK_HAS(why, "too many combinations of values");
    spec_finish(&spec);
    // A condition and a size are evaluated once for each combination of their parameters.
    strcpy(strstr(params, ",{\"Name\":\"P6\""), "");
    snprintf(text, sizeof(text), SPEC("%s", "%s", KERNEL("\"P0 + P5 + 1\"", "1", "{\"Type\":\"int\",\"Size\":1}")),
             params, "\"P0 != P5\",\"P1 >= 0\"");
    CHECK(read_spec(&spec, text, why));
    CHECK_NUMBER(spec.space.count, 900000);
    spec_finish(&spec);
}

// A group runs while its condition holds, with other arguments and macros, and its vectors change places.
static void test_launches(void)
{
    struct spec spec;
    struct spec_run run;
    char why[SPEC_WHY];
    CHECK(read_spec(
        &spec,
        COMPOSED("[{\"While\":\"N // 10 ** i > 0\",\"Swap\":[\"a\",\"b\"],\"Launches\":["
                 "{\"KernelName\":\"k\",\"Arguments\":{\"n\":\"7 * i\",\"m\":\"i + 3\"}},"
                 "{\"KernelName\":\"l\",\"Condition\":\"i == X - 1\",\"Repeat\":2,"
                 "\"Arguments\":{\"a\":\"fixed\"},\"Macros\":{\"LAST\":\"i + 0.5\",\"STEP\":\"j\"},"
                 "\"GlobalSize\":{\"X\":\"5 * X\"},\"LocalSize\":{\"X\":2,\"Y\":\"j + 1\"}}]},"
                 "{\"KernelName\":\"l\",\"Condition\":\"X < 4\",\"Repeat\":1,\"Arguments\":{\"n\":\"102 + i\"}}],"
                 "\"Budget\":[{\"Type\":\"ConfigurationCount\",\"BudgetValue\":\"9\"}]"),
        why));
    CHECK_TEXT(why, "");
    CHECK_TEXT(spec.ignored, "Budget.Type or BudgetValue");
    // X=2,N=10: k with i=0, k with i=1, l twice with i=1, l
    if (!CHECK(spec_run_open(&run, &spec, false, space_tuple(&spec.space, 2), why)) || !CHECK(run.launches == 5))
        return;
    const struct spec_launch *launch = run.launch;
    CHECK(launch[0].kernel == &spec.kernel[0] && launch[0].global[0] == 10 &&
          launch[1].global[0] == 6); // 5, rounded up
    CHECK(launch[0].given[0].vector == 0 && launch[0].given[1].vector == 1 && launch[0].given[2].number == 0);
    CHECK(launch[1].given[0].vector == 1 && launch[1].given[1].vector == 0 && launch[1].given[2].number == 7);
    CHECK(launch[0].given[3].bytes == 12 && launch[1].given[3].bytes == 16 && launch[4].given[3].bytes == 32);
    CHECK(launch[2].kernel == &spec.kernel[1] && launch[2].given[0].vector == 4 && launch[2].given[1].vector == 0);
    CHECK(launch[2].global[0] == 10 && launch[2].local[0] == 2 && launch[3].local[1] == 2 && launch[3].global[1] == 2);
    CHECK(!launch[1].macros && !launch[4].macros);
    CHECK_TEXT(launch[2].macros, "#define LAST 1.5\n#define STEP 0\n");
    CHECK_TEXT(launch[3].macros, "#define LAST 1.5\n#define STEP 1\n");
    CHECK(launch[4].given[0].vector == 0 && launch[4].given[2].number == 102 &&
          launch[4].global[0] == 1); // swapped twice
    CHECK(run.vector[0] == 0 && run.vector[1] == 1);
    spec_run_close(&run);
    CHECK(spec_run_open(&run, &spec, false, space_tuple(&spec.space, 4), why) && run.launches == 2); // X=4
    spec_run_close(&run);
    spec_finish(&spec);
}

// The size of a vector and its constant are those of the configuration.
static void test_sizes(void)
{
    struct spec spec;
    char why[SPEC_WHY];
    float data[16];
    CHECK(read_spec(&spec,
                    SPEC(PARAM("X", "[1,2,4]"), "\"X != 2\"",
                         KERNEL("1", "1", "{\"Type\":\"float\",\"Size\":\"16 // X\",\"FillValue\":\"X / 8\"}")),
                    why));
    CHECK_NUMBER(spec.argument[0].bytes, 64);
    CHECK(spec_size(&spec, space_tuple(&spec.space, 1), why) && spec.argument[0].bytes == 16);
    CHECK(spec_fill(&spec, &spec.argument[0], &spec.argument[0].in, data) && data[0] == 0.5f && data[3] == 0.5f);
    CHECK(spec_size(&spec, space_tuple(&spec.space, 0), why) && spec.argument[0].bytes == 64);
    CHECK(spec_fill(&spec, &spec.argument[0], &spec.argument[0].in, data) && data[15] == 0.125f);
    spec_finish(&spec);
    CHECK(read_spec(&spec, SPEC(PARAM("X", "[1,2,4]"), "", KERNEL("1", "1", IMAGE("i", "uchar4", "[37,\"44 // X\"]"))),
                    why));
    CHECK_NUMBER(spec.argument[0].bytes, 37 * 44 * 4);
    CHECK(spec_size(&spec, space_tuple(&spec.space, 2), why) && spec.argument[0].bytes == 37 * 11 * 4);
    CHECK(spec.argument[0].region[0] == 37 && spec.argument[0].region[1] == 11 && spec.argument[0].region[2] == 1);
    spec_finish(&spec);
}

static void fill(const char *type, const char *content, void *data)
{
    char text[2048], why[SPEC_WHY];
    struct spec spec;
    snprintf(text, sizeof(text), SPEC("%s", "", KERNEL("1", "1", "{\"Type\":\"%s\",\"Size\":4,%s}")), PARAM("X", "[1]"),
             type, content);
    if (CHECK(read_spec(&spec, text, why)))
        CHECK(spec_fill(&spec, &spec.argument[0], &spec.argument[0].in, data));
    spec_finish(&spec);
}

static void test_content(void)
{
    float floats[8], again[8];
    uint8_t bytes[4];
    int8_t small[4];
    int64_t wide[4];
    uint64_t words[4];
    fill("float2", "\"FillValue\":[1.5,-2]", floats);
    CHECK(floats[0] == 1.5f && floats[1] == -2 && floats[6] == 1.5f && floats[7] == -2);
    fill("custom", "\"TypeSize\":8,\"FillValue\":[0,0,128,63,0,0,0,192]", floats); // {1.0f, -2.0f}
    CHECK(floats[0] == 1 && floats[1] == -2 && floats[6] == 1 && floats[7] == -2);
    fill("uint8", "\"FillValue\":300", bytes);
    CHECK(bytes[0] == 255 && bytes[3] == 255);
    fill("int8", "\"FillType\":\"Generator\",\"DataSource\":\"-100 * i\"", small);
    CHECK(small[0] == 0 && small[1] == -100 && small[2] == -128);
    fill("int64", "\"FillType\":\"Generator\",\"DataSource\":\"(i - 1) * 10.0 ** 30\"", wide);
    CHECK(wide[0] == INT64_MIN && wide[1] == 0 && wide[2] == INT64_MAX);
    fill("uint64", "\"FillValue\":-5", words);
    CHECK(words[0] == 0);
    fill("uint64", "\"FillValue\":1e30", words);
    CHECK(words[0] == UINT64_MAX);
    fill("float", "\"FillType\":\"Random\",\"FillValue\":10", floats);
    fill("float", "\"FillType\":\"Random\",\"FillValue\":10", again);
    CHECK(memcmp(floats, again, 4 * sizeof(float)) == 0);
    CHECK(floats[0] >= 0 && floats[0] < 10 && floats[0] != floats[1]);
    fill("float", "\"FillType\":\"Random\",\"FillValue\":10,\"RandomSeed\":9", again);
    CHECK(memcmp(floats, again, 4 * sizeof(float)) != 0);
}

// IEEE 754, binary16.
static void test_half(void)
{
    static const struct {
        const char *value;
        uint16_t bits;
    } rows[] = {
        {"1", 0x3c00},
        {"-2", 0xc000},
        {"0.1", 0x2e66},
        {"65504", 0x7bff},
        {"65519", 0x7bff},
        {"65520", 0x7c00},
        {"-1e9", 0xfc00},
        {"2047.9", 0x6800},
        {"2049", 0x6800},
        {"2051", 0x6802},
        {"2.0 ** -14", 0x400},
        {"2.0 ** -24", 1},
        {"2.0 ** -25", 0},
        {"3 * 2.0 ** -26", 1},
        {"0", 0},
        {"1 + 2.0 ** -11", 0x3c00},
    };
    const struct spec_argument argument = {
        .name = "h", .type = {SPEC_FLOAT, 2, 1, 0}, .bytes = 2, .tolerance = {SPEC_EACH, 0.00097}};
    char content[100], why[SPEC_WHY];
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        uint16_t half[4] = {0};
        snprintf(content, sizeof(content), "\"FillValue\":\"%s\"", rows[i].value);
        fill("half", content, half);
        check_that(&unit, half[0] == rows[i].bits && half[3] == rows[i].bits, "%s is %04x", rows[i].value, half[0]);
    }
    CHECK(spec_same(&argument, &(uint16_t){0x3bff}, &(uint16_t){0x3c00}, why));  // 2 ** -11
    CHECK(!spec_same(&argument, &(uint16_t){0x3c01}, &(uint16_t){0x3c00}, why)); // 2 ** -10 = .000977
    CHECK_HAS(why, "h[0] is 1.00098 instead of 1");
    CHECK(spec_same(&argument, &(uint16_t){0x0001}, &(uint16_t){0x8002}, why));
    CHECK(!spec_same(&argument, &(uint16_t){0x7c00}, &(uint16_t){0x3c00}, why));
    CHECK(!spec_same(&argument, &(uint16_t){0x7e00}, &(uint16_t){0x3c00}, why));
}

static void test_same(void)
{
    static const struct {
        enum spec_method method;
        double threshold;
        float got[3];
        bool same;
    } rows[] = {
        {SPEC_EACH, 0.1, {1.05f, 100, -5}, true},
        {SPEC_EACH, 0.1, {1.2f, 100, -5}, false},
        {SPEC_EACH, 0.1, {1, 100, NAN}, false},
        {SPEC_EACH_DEFAULT, 0.1, {1.05f, 109, -5.4f}, true},
        {SPEC_EACH_DEFAULT, 0.1, {1, 111, -5}, false},
        {SPEC_EACH_DEFAULT, 0.1, {1, 100, -5.6f}, false},
        {SPEC_EACH_RELATIVE, 0.1, {1.05f, 109, -5}, true},
        {SPEC_EACH_RELATIVE, 0.1, {1, 111, -5}, false},
        {SPEC_SUM, 2, {1.5f, 101, -5}, true},
        {SPEC_SUM, 2, {2, 101, -6}, false},
        {SPEC_SUM, 2, {1, INFINITY, -5}, false},
    };
    const float want[3] = {1, 100, -5};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct spec_argument argument = {.name = "c",
                                               .type = {SPEC_FLOAT, 4, 1, 0},
                                               .bytes = sizeof(want),
                                               .tolerance = {rows[i].method, rows[i].threshold}};
        char why[SPEC_WHY] = "";
        check_that(&unit, spec_same(&argument, rows[i].got, want, why) == rows[i].same, "row %zu: '%s'", i, why);
        CHECK(rows[i].same == !why[0]);
    }
    struct spec_argument integers = {
        .name = "c", .type = {SPEC_SIGNED, 4, 1, 0}, .bytes = 4, .tolerance = {SPEC_EACH, 1e-4}};
    char why[SPEC_WHY] = "";
    CHECK(!spec_same(&integers, &(int){-7}, &(int){-8}, why));
    CHECK_TEXT(why, "c[0] is -7 instead of -8");
    integers.tolerance.method = SPEC_EACH_DEFAULT;
    CHECK(!spec_same(&integers, &(int){100001}, &(int){100000}, why)); // integers have no tolerance
}

// A child's memory is read-only: a read() to it fails.
static void test_data(void)
{
    struct spec spec;
    struct user_data data, child;
    char why[SPEC_WHY];
    const int zero = open("/dev/zero", O_RDONLY);
    CHECK(read_spec(&spec, GOOD, why) && user_data_open(&data, &spec, -1));
    data.map[data.reference[0]] = 1;
    if (CHECK(user_data_open(&child, &spec, dup(data.fd)))) {
        CHECK(read(zero, child.map + child.reference[0], 1) == -1 && child.map[child.reference[0]] == 1);
        user_data_write(&child, child.map + child.reference[0], "2", 1);
        CHECK(data.map[data.reference[0]] == '2' && read(zero, child.sizes, 1) == -1);
    }
    user_data_close(&child);
    user_data_close(&data);
    spec_finish(&spec);
    close(zero);
}

int main(void)
{
    log_set_level(LOG_SILENT);
    test_good();
    test_cuda();
    test_scalar();
    test_values();
    test_refusals();
    test_large();
    test_launches();
    test_sizes();
    test_content();
    test_half();
    test_same();
    test_data();
    return check_end(&unit);
}
