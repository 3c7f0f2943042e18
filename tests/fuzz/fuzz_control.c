// fuzz_control.c: hostile lines of the control socket; a libFuzzer target, and by itself a run over seeds and mutations
#include "control/request.h"

#include <jansson.h>
#include <stdlib.h>

#include "fuzz_texts.h"

static long commands; // lines that were requests

// A request that is read can be carried out, and an error is one line that a reply can quote.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request request;
    char error[REQUEST_ERROR];
    char *exact = malloc(size ? size : 1); // so that a sanitizer sees a byte too many
    if (size)
        memcpy(exact, data, size);
    const bool ok = request_parse(&request, exact, size, error);
    free(exact);
    for (int i = 0; ok && i < request.arguments; i++) {
        char text[REQUEST_TEXT];
        long long number;
        if (request_text(request.argument[i], text) && !memchr(text, '\0', sizeof(text)))
            abort();
        if (request_number(request.argument[i], &number) && number < 0)
            abort();
    }
    if (ok && (!request.command || request.arguments > REQUEST_ARGUMENTS))
        abort();
    json_t *quoted = ok ? NULL : json_string(error);
    if (!ok && (!quoted || strchr(error, '\n')))
        abort();
    json_decref(quoted);
    request_free(&request);
    commands += ok ? 1 : 0;
    return 0;
}

#ifndef FUZZER
static const char *const seeds[] = {
    "{\"command\":[\"get_property\",\"chain\"],\"request_id\":1}",
    "{\"command\":[\"set_property\",\"param/blur/radius\",2.5e0],\"request_id\":-9223372036854775808}",
    "{\"command\":[\"set_property\",\"paused\",true],\"request_id\":9223372036854775807}",
    "{\"command\":[\"observe_property\",18446744073709551616,\"\\u00e9\\ud83d\\ude00\"]}",
    "{\"command\":[\"wait_frame\",\"300\",null,[],{},1e999,-0.0,\"\",\"\"]}",
    "{\"command\":[[[[[[[[]]]]]]]],\"async\":false}",
};

int main(int argc, char **argv)
{
    const struct fuzz_texts texts = {seeds, sizeof(seeds) / sizeof(*seeds), "0123456789.-e\"{}[]:,\\u", 4};
    const int status = fuzz_texts(&texts, argc, argv);
    if (commands < FUZZ_ROUNDS / 20) {
        printf("only %ld lines were requests\n", commands);
        return 1;
    }
    return status;
}
#endif
