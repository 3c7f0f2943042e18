// trials_csv.c: the tried configurations of a run as a CSV file (RFC 4180)
#include "tune/study/trials_csv.h"

#include "base/json_text.h"
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 11 };

static const char *status_name(enum probe_status status)
{
    static const char *const names[] = {
        [PROBE_PASSED - PROBE_ANSWERS] = "correct",     [PROBE_WRONG - PROBE_ANSWERS] = "correctness",
        [PROBE_NOT_BUILT - PROBE_ANSWERS] = "compile",  [PROBE_NOT_RUN - PROBE_ANSWERS] = "runtime",
        [PROBE_NOT_OPENED - PROBE_ANSWERS] = "runtime", [PROBE_UNKNOWN - PROBE_ANSWERS] = "runtime",
        [PROBE_LATE - PROBE_ANSWERS] = "timeout",
    };
    return names[status - PROBE_ANSWERS];
}

static void print_row(FILE *out, const char *const field[FIELDS])
{
    for (int i = 0; i < FIELDS; i++) {
        csv_print(out, field[i]);
        fputs(i + 1 < FIELDS ? "," : "\r\n", out);
    }
}

// Writes milliseconds with a decimal point in every locale. INFINITY: "".
static const char *ms_text(double ms, char text[32])
{
    const long long ns = isfinite(ms) ? llround(ms * 1e6) : 0;
    text[0] = '\0';
    if (isfinite(ms))
        snprintf(text, 32, "%lld.%06lld", ns / 1000000, ns % 1000000);
    return text;
}

static void print_trial(FILE *out, const struct trials_place *place, const struct subject *subject,
                        const struct tuner_trial *trial)
{
    char size[32] = "", configuration[SUBJECT_TEXT], ms[32], build_ms[32];
    if (place->width > 0)
        snprintf(size, sizeof(size), "%dx%d", place->width, place->height);
    subject->type->print(subject, trial->configuration, configuration);
    print_row(out, (const char *const[FIELDS]){place->device, place->chain, place->format, size,
                                               place->plan ? place->plan : "", subject->name, configuration,
                                               status_name(trial->status), ms_text(trial->ms, ms),
                                               ms_text(trial->build_ms, build_ms), trial->why});
}

bool trials_csv_write(struct trials_csv *csv, struct claim *claim, const struct trials_place *place,
                      const struct subject *subject, const struct tuner_state *state)
{
    static const char *const head[FIELDS] = {"device",        "chain",  "format", "size",     "plan", "pass",
                                             "configuration", "status", "ms",     "build_ms", "why"};
    if (!csv->out && (csv->out = open_memstream(&csv->text, &csv->size)))
        print_row(csv->out, head);
    for (int i = 0; csv->out && i < state->trials; i++)
        print_trial(csv->out, place, subject, &state->trial[i]);
    if (!csv->out || fflush(csv->out) != 0 || ferror(csv->out))
        errno = ENOMEM;
    else if (claim_write(claim, csv->text, csv->size))
        return true;
    log_error("cannot write %s: %s", claim->path, strerror(errno));
    return false;
}

void trials_csv_finish(struct trials_csv *csv)
{
    if (csv->out)
        fclose(csv->out);
    free(csv->text);
    *csv = (struct trials_csv){0};
}
