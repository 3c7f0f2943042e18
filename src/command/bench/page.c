// page.c: the page of --report: a template with the chart library, and the results as JSON inside
#include "command/bench/bench_command.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/resource.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Writes JSON without the letters that mean something to HTML: it cannot end the script element that contains it.
static int write_escaped(const char *text, size_t size, void *out)
{
    for (size_t i = 0; i < size; i++) {
        if (strchr("<>&", text[i]) && text[i])
            fprintf(out, "\\u%04x", (unsigned)text[i]);
        else
            fputc(text[i], out);
    }
    return ferror(out) ? -1 : 0;
}

static bool write_part(FILE *out, const char *name, const json_t *results)
{
    if (strcmp(name, "results") == 0)
        return json_dump_callback(results, write_escaped, out, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6)) == 0;
    const struct resource *part = resource_find(name);
    return part && fwrite(part->data, 1, part->size, out) == part->size;
}

// Replaces each {{name}} of the template by an embedded file or by the results.
static bool write_page(FILE *out, const json_t *results)
{
    const struct resource *page = resource_find("assets/report.html");
    const char *at = page ? (const char *)page->data : NULL, *open, *close;
    bool ok = at != NULL;
    while (ok && (open = strstr(at, "{{")) && (close = strstr(open, "}}"))) {
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)(close - open - 2), open + 2);
        ok = fwrite(at, 1, (size_t)(open - at), out) == (size_t)(open - at) && write_part(out, name, results);
        at = close + 2;
    }
    return ok && fputs(at, out) >= 0;
}

bool page_write(struct claim *claim, const json_t *results)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = xmemstream(&text, &size);
    write_page(out, results);
    xmemclose(out);
    const bool ok = claim_write(claim, text, size);
    if (!ok)
        log_error("cannot write %s: %s", claim->path, strerror(errno));
    free(text);
    return ok;
}
