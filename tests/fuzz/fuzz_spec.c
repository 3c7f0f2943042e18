// fuzz_spec.c: hostile descriptions of kernels, and expressions; a libFuzzer target, and by itself a run over seeds and
// their mutations. An input that begins with '{' is a description, any other an expression.
#include "base/log.h"
#include "tune/kernel/spec.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILL_BYTES = 4096 };

static bool names(void *context, const char *name, int length, int64_t index, struct value *value)
{
    (void)context;
    *value = value_of_integer(length + index);
    return name[0] == 'x';
}

// A value that can be computed is finite.
static void try_expression(const char *text)
{
    char why[EXPRESSION_WHY] = "";
    struct value value;
    const bool ok = expression_evaluate(text, names, NULL, &value, why);
    if (ok ? value.kind != VALUE_TEXT && !isfinite(value_number(&value)) : !why[0])
        abort();
    if (ok && !expression_check(text, names, NULL, why))
        abort();
}

// Each launch has sizes.
static void try_configuration(const struct spec *spec, int configuration)
{
    struct spec_run run;
    char why[SPEC_WHY] = "";
    const bool ok = spec_run_open(&run, spec, false, space_tuple(&spec->space, configuration), why);
    if (!ok && !why[0])
        abort();
    for (int i = 0; ok && i < run.launches; i++) {
        if (run.launch[i].local[0] == 0 || run.launch[i].global[0] % run.launch[i].local[0] != 0)
            abort();
    }
    spec_run_close(&run);
}

static void try_spec(const char *text)
{
    struct spec spec;
    char why[SPEC_WHY] = "", *data = malloc(FILL_BYTES);
    const bool ok = data && spec_parse(&spec, text, "spec.json", why) && spec_enumerate(&spec, why);
    for (int i = 0; ok && i < spec.arguments; i++) {
        const struct spec_argument *argument = &spec.argument[i];
        if (argument->memory != SPEC_LOCAL && argument->bytes <= FILL_BYTES && argument->in.fill != SPEC_FILE)
            spec_fill(&spec, argument, &argument->in, data);
    }
    if (ok) {
        try_configuration(&spec, 0);
        try_configuration(&spec, spec.space.count - 1);
    } else if (!why[0] || strchr(why, '\n')) {
        abort();
    }
    spec_finish(&spec);
    free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); // exact size, so that a sanitizer reports reads beyond it
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    log_set_level(LOG_SILENT);
    if (text[0] == '{')
        try_spec(text);
    else
        try_expression(text);
    free(text);
    return 0;
}

#ifndef FUZZER
#include "fuzz_texts.h"

static const char *const seeds[] = {
    "{\"ConfigurationSpace\":{\"TuningParameters\":[{\"Name\":\"X\",\"Values\":\"[1, 2, 2 ** 3]\",\"Default\":2},"
    "{\"Name\":\"K\",\"Values\":[\"a\",0.5,true]}],\"Conditions\":[{\"Expression\":\"X > 1 or K == 'a'\"}]},"
    "\"KernelSpecification\":{\"Language\":\"OpenCL\",\"KernelName\":\"k\",\"KernelFile\":\"k.cl\",\"ProblemSize\":[8,"
    "9],"
    "\"GlobalSize\":{\"X\":\"ProblemSize[0] * X\"},\"LocalSize\":{\"X\":\"X\",\"Y\":1},\"CompilerOptions\":[\"-w\"],"
    "\"Arguments\":[{\"Name\":\"n\",\"Type\":\"int32\",\"MemoryType\":\"Scalar\",\"FillValue\":3},"
    "{\"Name\":\"o\",\"Type\":\"float4\",\"Size\":\"ProblemSize[1] * "
    "max(X)\",\"FillType\":\"Random\",\"FillValue\":2.5},"
    "{\"Type\":\"uint8\",\"Size\":7,\"FillType\":\"Generator\",\"DataSource\":\"i * 3 if i < 4 else -1\"}],"
    "\"ReferenceArguments\":[{\"TargetName\":\"o\",\"FillType\":\"BinaryRaw\",\"DataSource\":\"o.bin\"}]},"
    "\"Budget\":[{\"Type\":\"ConfigurationCount\",\"BudgetValue\":10}],\"General\":{}}",
    "{\"ConfigurationSpace\":{\"TuningParameters\":[{\"Name\":\"X\",\"Values\":[1]}]},\"KernelSpecification\":[{"
    "\"KernelName\":\"k\",\"KernelFile\":\"k.cl\",\"GlobalSize\":{\"X\":1},\"LocalSize\":{\"X\":1},\"Arguments\":["
    "{\"Name\":\"o\",\"Type\":\"int\",\"Size\":1},{\"Name\":\"l\",\"Type\":\"int\",\"Size\":\"X\",\"MemoryType\":"
    "\"Local\"}]},"
    "{\"KernelName\":\"k\",\"GlobalSize\":{\"X\":1},\"LocalSize\":{\"X\":1},\"Arguments\":[\"o\"]}],"
    "\"ReferenceKernel\":{\"KernelName\":\"r\",\"GlobalSize\":{\"X\":1},\"LocalSize\":{\"X\":1}}}",
    "{\"ConfigurationSpace\":{\"TuningParameters\":[{\"Name\":\"X\",\"Values\":[1,2]}]},\"KernelSpecification\":{"
    "\"KernelName\":\"k\",\"KernelFile\":\"k.cl\",\"GlobalSize\":{\"X\":\"8 // 2 ** i\"},\"LocalSize\":{\"X\":1},"
    "\"Arguments\":[{\"Name\":\"a\",\"Type\":\"int\",\"Size\":8},{\"Name\":\"b\",\"Type\":\"int\",\"Size\":8},"
    "{\"Name\":\"n\",\"Type\":\"int\",\"MemoryType\":\"Scalar\"}]},\"Launches\":[{\"While\":\"i < X\",\"Launches\":["
    "{\"KernelName\":\"k\",\"Repeat\":\"X\",\"Condition\":\"X > 1 or i\",\"Arguments\":{\"n\":\"i + j\",\"a\":\"b\"},"
    "\"Macros\":{\"M\":\"j\"},\"GlobalSize\":{\"X\":\"8 - i\"},\"LocalSize\":{\"X\":1}}],\"Swap\":[\"a\",\"b\"]}]}",
    "(x + xy[2]) // 3 % 4 ** 2 - -1.5e2 / x if not x in [1, 2] and x < 3 <= 4 or 'a' == \"b\" else max(x, abs(-2), 7)",
};

int main(int argc, char **argv)
{
    return fuzz_texts(
        &(struct fuzz_texts){seeds, sizeof(seeds) / sizeof(*seeds), "0123456789.-+*/%()[]{}\"':,<>=! xXaein", 8}, argc,
        argv);
}
#endif
