// page.c: pages of HTML: a template with embedded files, and the results as JSON inside
#include "command/page.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/resource.h"

#include <assert.h>
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

static void write_part(FILE *out, const char *name, const json_t *results)
{
    if (strcmp(name, "results") == 0) {
        json_dump_callback(results, write_escaped, out, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(6));
        return;
    }
    const struct resource *part = resource_find(name);
    assert(part); // the template names only embedded files
    fwrite(part->data, 1, part->size, out);
}

// Replaces each {{name}} of the template by an embedded file or by the results.
static void write_page(FILE *out, const char *template, const json_t *results)
{
    const char *at = (const char *)resource_find(template)->data, *open, *close;
    while ((open = strstr(at, "{{")) && (close = strstr(open, "}}"))) {
        char name[64];
        snprintf(name, sizeof(name), "%.*s", (int)(close - open - 2), open + 2);
        fwrite(at, 1, (size_t)(open - at), out);
        write_part(out, name, results);
        at = close + 2;
    }
    fputs(at, out);
}

bool page_write(struct claim *claim, const char *template, const json_t *results)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = xmemstream(&text, &size);
    write_page(out, template, results);
    xmemclose(out);
    const bool ok = claim_write(claim, text, size);
    if (!ok)
        log_error("cannot write %s: %s", claim->path, strerror(errno));
    free(text);
    return ok;
}
