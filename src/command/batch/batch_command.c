// batch_command.c: the `batch` command: prints the plan, the progress and the summary
#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/resource.h"
#include "base/text.h"
#include "batch/batch.h"
#include "batch/names.h"
#include "command/command.h"
#include "command/looks.h"
#include "command/shared.h"
#include "filter/user_filter.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct batch_options {
    struct batch_setup setup;
    const char *filters, *look, *output, *memory, *format, *part; // as given; or NULL
    const char *filter_dir;
    bool overwrite, skip_existing, skip_newer, json;
    int log_level;
    char *job; // setup.job
};

// ---- options ----

#define AT(member) offsetof(struct batch_options, member)

enum { MEMORY_LEAST = 16 << 20 };

static const struct option option_rows[] = {
    FILTER_OPTION(AT(filters), "; default with --format: none, which only converts"),
    LOOK_OPTION(AT(look)),
    {"output", 'o', OPTION_TEXT, "OUTPUT", .offset = AT(output), .complete = "directory",
     .help = "directory of the outputs, or a name template with {dir}, {stem}, {type}, {ext} and {n}"},
    {"recursive", 'r', OPTION_FLAG, .help = "search subdirectories too", .offset = AT(setup.recursive)},
    {"files-from", 0, OPTION_TEXT, "FILE",
     .help = "read the names of the input files from FILE, one per line; - means standard input",
     .offset = AT(setup.files_from), .complete = "file"},
    {"null", '0', OPTION_FLAG, .help = "expect a NUL byte after each name in --files-from, as from `find -print0`",
     .offset = AT(setup.null)},
    {"path", 'p', OPTION_CHOICE, .choices = "auto|cpu|opencl|gl", .offset = AT(setup.path),
     .help = "path that runs the filters; auto: opencl from 100 files on if estimated 15 % faster, else cpu; default: "
             "auto"},
    DEVICE_OPTION(AT(setup.device), "; all: all GPUs, else all devices", "|all"),
    {"jobs", 'J', OPTION_INT, "N", .help = "number of files in flight; default: one per CPU", .offset = AT(setup.jobs),
     .min = 1, .max = 256},
    {"memory", 0, OPTION_TEXT, "BYTES", .offset = AT(memory),
     .help = "memory limit for images in flight, such as 500M or 2G; default: half of the memory of the "
             "machine or container"},
    {"max-megapixels", 0, OPTION_INT, "N", .help = "refuse images with more than N megapixels; default: 268",
     .offset = AT(setup.megapixels), .min = 1, .max = 268},
    {"overwrite", 0, OPTION_FLAG, .help = "replace existing outputs", .offset = AT(overwrite),
     .excludes = "skip-existing|skip-newer"},
    {"skip-existing", 0, OPTION_FLAG, .help = "skip inputs whose output exists", .offset = AT(skip_existing),
     .excludes = "skip-newer"},
    {"skip-newer", 0, OPTION_FLAG,
     .help = "replace an output that is older than its input or from another job; skip the other inputs",
     .offset = AT(skip_newer)},
    {"format", 0, OPTION_TEXT, "FORMAT",
     .help = "output format: jpeg, png, webp or tiff, if built in; default: the format of the input, else png",
     .choices = "jpeg|png|webp|tiff", .offset = AT(format)},
    {"quality", 0, OPTION_INT, "N",
     .help = "quality of JPEG and WebP; default: the quality of the input, else 90; 100: lossless WebP",
     .offset = AT(setup.encoding.quality), .min = 1, .max = 100},
    {"subsampling", 0, OPTION_CHOICE, .choices = "keep|420|422|444",
     .help = "chroma subsampling of JPEG; default: keep, as in the input", .offset = AT(setup.encoding.subsampling)},
    {"compression", 0, OPTION_INT, "N", .help = "compression of PNG and TIFF, from fastest to smallest; default: 1",
     .offset = AT(setup.encoding.compression), .min = 1, .max = 9},
    {"metadata", 0, OPTION_CHOICE, .choices = "keep|strip|no-location", .offset = AT(setup.encoding.metadata),
     .help = "keep or remove EXIF, XMP and other metadata, or remove only the place of a photograph; default: keep"},
    {"color", 0, OPTION_CHOICE, .choices = "srgb|keep", .offset = AT(setup.encoding.keep_color),
     .help = "convert images with another colour profile to sRGB, or keep pixels and profile; default: srgb, if this "
             "build has lcms2"},
    {"orientation", 0, OPTION_CHOICE, .choices = "apply|keep", .offset = AT(setup.encoding.keep_orientation),
     .help = "rotate images upright by their EXIF orientation, or keep them as stored; default: apply"},
    {"shard", 0, OPTION_TEXT, "K/N", .offset = AT(part),
     .help = "process part K of N; N alone: take K from SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX"},
    {"report", 0, OPTION_TEXT, "FILE", .help = "append one line of JSON per file to FILE", .offset = AT(setup.report),
     .complete = "file"},
    JSON_OPTION(AT(json), "print the summary as JSON; with --dry-run: one line per file"),
    {"dry-run", 'n', OPTION_FLAG, .help = "print the plan and process no file", .offset = AT(setup.dry_run)},
    {"watch", 0, OPTION_FLAG, .offset = AT(setup.watch),
     .excludes = "recursive|files-from|dry-run|shard|fail-fast|overwrite",
     .help = "filter the files in the directories, then each new file, until a signal; default: --skip-newer"},
    {"no-sync", 0, OPTION_FLAG, .offset = AT(setup.no_sync),
     .help = "do not sync outputs to the disk; a power failure may lose or damage them"},
    {"fail-fast", 0, OPTION_FLAG, .help = "stop at the first file that fails", .offset = AT(setup.fail_fast)},
    KERNELS_OPTION(AT(setup.kernels), ""),
    FILTERS_OPTION(AT(filter_dir)),
    LOG_LEVEL_OPTION(AT(log_level)),
    {0},
};
static const char *const examples[] = {
    "monocle batch -f 'blur=2,emboss' -o out photos  write each filtered image of photos to out, under the same name",
    "monocle batch -r -f gray -o 'out/{dir}{stem}-gray.png' photos  filter a directory tree into PNG files with new "
    "names",
    "monocle batch --files-from - --null -f sobel -o out  take the names from another program, such as find -print0",
    "monocle batch -f scale=most=1280 --format jpeg --watch -o out incoming  shrink each image that arrives",
    "monocle batch -r -f gray -o out --shard 3/16 --report 3.jsonl photos  process part 3 of 16",
    NULL,
};
static const char *const details[] = {
    "Run the same command again to continue an interrupted run: monocle skips finished outputs. It marks each output "
    "with an extended attribute, if the file system has them. If another file already has an output's name, the input "
    "fails. "
    "--overwrite, --skip-existing and --skip-newer change this.",
    "The name template of --output may have these fields:",
    "{dir}\tdirectory of the file below the named directory",
    "{stem}\tname of the file without extension",
    "{type}\textension of the file without dot, such as heic",
    "{ext}\textension of the output, such as .png",
    "{n}\tnumber of the file, such as 000001",
    "A file of a filter may have them, too, but not {n}; an image without its file fails: within='mattes/{stem}.png'",
    "-p auto takes the cpu path for fewer than 100 files. For 100 files or more, it estimates the time of both paths "
    "from one file, and takes opencl if its time is at least 15 % shorter. With -d or --kernels, it takes opencl.",
    "-p gl filters with GL shaders, without a window. It needs no OpenCL. -p auto never takes it.",
    "monocle writes each output under a temporary name, syncs it and renames it. An output is therefore always "
    "complete. If a file fails, monocle logs one line and continues. `monocle report merge` combines the reports of "
    "several runs.",
    NULL,
};
static const char *const exits[] = {
    "0\tevery file is done or skipped",
    "1\tsome files failed, or the report or the summary could not be written",
    "2\twrong arguments",
    "3\tno file is done or skipped",
    "4\ta device was lost, and no path could continue",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM before every file was done; with --watch, a signal that arrives "
    "while no file is in flight gives 0 or 1",
    NULL,
};
// Returns a hash of the texts of the users' filters in the chain, in order; 0: there are none.
static uint64_t hash_filters(const struct chain *chain)
{
    uint64_t hash = 0;
    for (int i = 0; i < chain->count; i++) {
        const struct user_filter *user = chain->stage[i].filter->user;
        if (user)
            hash = hash * 31 + hash_64(user->text, strlen(user->text));
    }
    return hash;
}

// Returns the text of all options that decide the bytes of the outputs. The output's name decides its format.
static char *job_text(const struct batch_options *o)
{
    char users[32] = "";
    const uint64_t hash = hash_filters(&o->setup.chain);
    if (hash)
        snprintf(users, sizeof(users), "\n%016llx", (unsigned long long)hash);
    return xprintf("%s\n%d %d %d %d %d %d%s%s%s", o->setup.chain_text, o->setup.encoding.quality,
                   o->setup.encoding.subsampling, o->setup.encoding.compression, o->setup.encoding.metadata,
                   o->setup.encoding.keep_orientation, o->setup.encoding.keep_color, text_if(o->setup.kernels, "\n"),
                   text_or(o->setup.kernels, ""), users);
}

// Parses bytes with an optional unit: "300M", "2G", "1500K", "1000000". Returns false for any other text.
static bool parse_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    const unsigned long long value = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    *bytes = (uint64_t)value << shift;
    return (!*end || (unit && !end[1])) && *bytes >> shift == value;
}

// Returns half of the memory of the machine or of its container.
static uint64_t default_memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : (uint64_t)1 << 30;
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "re");
    unsigned long long most;
    if (file && fscanf(file, "%llu", &most) == 1 && most < bytes)
        bytes = most;
    if (file)
        fclose(file);
    return bytes / 2;
}

static bool take_memory(struct batch_options *o)
{
    o->setup.memory_bytes = default_memory_bytes();
    if (!o->memory || (parse_bytes(o->memory, &o->setup.memory_bytes) && o->setup.memory_bytes >= MEMORY_LEAST))
        return true;
    log_error("--memory is '%s', but must be at least 16M, such as 500M or 2G", o->memory);
    return false;
}

static bool take_chain(struct batch_options *o)
{
    if (!look_parse(o->look, o->filters, NULL, &o->setup.chain))
        return false;
    if (o->setup.chain.count > CHAIN_MAX - 2 && !o->setup.encoding.keep_orientation) {
        log_error("the chain has %d filters; at most %d are possible, or %d with --orientation keep",
                  o->setup.chain.count, CHAIN_MAX - 2, CHAIN_MAX);
        return false;
    }
    for (int i = 0; i < o->setup.chain.count; i++) {
        const struct stage *stage = &o->setup.chain.stage[i];
        if (filter_file_varies(&stage->values) && !naming_file_check(stage->filter->name, stage->values.file))
            return false;
    }
    return chain_print(&o->setup.chain, o->setup.chain_text);
}

// Returns false (logged) if an option would have no effect.
static bool options_agree(const struct batch_options *o)
{
    const struct codec_info *format = o->setup.naming.format; // format of all outputs; NULL: they may differ
    const struct batch_encoding *encoding = &o->setup.encoding;
    const char *lost = NULL;
    if (format && encoding->quality && !format->quality)
        lost = "--quality";
    else if (format && encoding->subsampling && !format->subsampling)
        lost = "--subsampling";
    else if (format && encoding->compression && !format->compression)
        lost = "--compression";
    if (lost) {
        log_error("%s has no effect on %s, the format of all outputs; leave out one or the other", lost, format->name);
        return false;
    }
    const char *path = o->setup.path == BATCH_CPU ? "cpu" : NULL;
    if (o->setup.path == BATCH_GL)
        path = "gl";
    return !path || device_options_unused(o->setup.device, o->setup.kernels, path);
}

// Checks and converts the arguments. Returns false if they are wrong (logged).
static bool convert_options(struct batch_options *o, const struct command_operands *operands)
{
    log_set_level((enum log_level)o->log_level);
    if (!user_filters_load(o->filter_dir) || !chain_operands_none(operands, o->filters))
        return false;
    if (!o->output) {
        log_error("no output is given; name a directory with -o");
        return false;
    }
    if (!o->filters && !o->look && !o->format) {
        log_error("no filter is given; add one, such as -f gray or --look ink, or --format to convert only");
        return false;
    }
    if (!o->filters && !o->look)
        o->filters = "none";
    if (operands->count == 0 && !o->setup.files_from) {
        log_error("no input file is given; usage: monocle %s %s", batch_command.name, batch_command.usage);
        return false;
    }
    if (o->setup.null && !o->setup.files_from) {
        log_error("--null works only with --files-from; add --files-from or leave out --null");
        return false;
    }
    o->setup.shard = (struct shard){0, 1};
    o->setup.existing = EXISTING_REFUSE;
    if (o->overwrite)
        o->setup.existing = EXISTING_OVERWRITE;
    else if (o->skip_existing)
        o->setup.existing = EXISTING_SKIP;
    else if (o->skip_newer || o->setup.watch)
        o->setup.existing = EXISTING_SKIP_NEWER;
    if (!take_chain(o) || !take_memory(o) || (o->part && !shard_parse(&o->setup.shard, o->part)) ||
        !naming_init(&o->setup.naming, o->output, o->format) || !options_agree(o) ||
        !resource_check_kernels(o->setup.kernels))
        return false;
    o->setup.job = o->job = job_text(o);
    return true;
}

// Parses the arguments. Returns false if there is nothing to run; operands->code is then the exit code. options_finish
// is needed in either case.
static bool options_take(struct batch_options *o, int argc, char **argv, struct command_operands *operands)
{
    *o = (struct batch_options){.log_level = LOG_WARN};
    return command_parse(&batch_command, argc, argv, o, INT_MAX, operands) && convert_options(o, operands);
}

static void options_finish(struct batch_options *o)
{
    naming_finish(&o->setup.naming);
    free(o->job);
}

// ---- the command ----

enum {
    PROGRESS_NS = 200000000, // between updates of the progress
    MINUTE_S = 60,
    HOUR_S = 3600,
};

// The context of the hooks
struct printer {
    const struct command_operands *operands;
    bool dry_run, json;
    int64_t progress_ns; // time of the next update of the progress
    bool progress_shown;
    bool announced; // that the run waits for files
};

static void clear_progress(struct printer *printer)
{
    if (printer->progress_shown)
        status_line_show("");
    printer->progress_shown = false;
}

static void print_file(void *context, const struct outcome *outcome, bool planned)
{
    struct printer *printer = context;
    const char *input = outcome->task->input->path;
    clear_progress(printer);
    if (printer->json) {
        if (printer->dry_run)
            print_json(batch_report_plan(outcome, planned), JSON_COMPACT);
        return;
    }
    if (planned)
        log_print_line(stdout, "%s -> %s%s", input, outcome->task->output, outcome->replace ? " (replaced)" : "");
    else if (outcome->status == STATUS_SKIPPED)
        log_print_line(stdout, "%s skipped: %s", input, outcome->why);
}

static void end_plan(void *context, size_t left_out)
{
    const struct printer *printer = context;
    if (left_out > 0 && !printer->json)
        printf("%zu left out (outputs of earlier runs)\n", left_out);
}

// Shows one line on the terminal, which is updated in place.
static void show_progress(void *context, const struct totals *totals, size_t files, int64_t start_ns)
{
    struct printer *printer = context;
    const size_t *status = totals->status;
    const size_t worked = status[STATUS_DONE] + status[STATUS_FAILED], left = files - worked - status[STATUS_SKIPPED];
    const int64_t now_ns = clock_now_ns();
    const double seconds = (double)(now_ns - start_ns) / 1e9;
    const double rate = seconds > 0 ? (double)worked / seconds : 0;
    char text[192];
    if (now_ns < printer->progress_ns || !status_line_possible())
        return;
    snprintf(text, sizeof(text), "%zu of %zu", files - left, files);
    if (status[STATUS_FAILED] > 0)
        text_append(text, sizeof(text), ", %zu failed", status[STATUS_FAILED]);
    if (rate > 0) {
        const long left_s = (long)((double)left / rate + 0.5), minutes = left_s / MINUTE_S, s = left_s % MINUTE_S;
        text_append(text, sizeof(text), ", %.1f per second, ", rate);
        if (left_s >= HOUR_S)
            text_append(text, sizeof(text), "%ld:%02ld:%02ld left", left_s / HOUR_S, minutes % MINUTE_S, s);
        else
            text_append(text, sizeof(text), "%ld:%02ld left", minutes, s);
    }
    status_line_show(text);
    printer->progress_ns = now_ns + PROGRESS_NS;
    printer->progress_shown = true;
}

// Prints the path of the run, and how many of its files the cpu path filtered instead.
static void print_path(const struct totals *totals, const struct batch_run *run)
{
    printf(", path %s", run->path);
    if (run->path_why[0])
        printf(" (%s)", run->path_why);
    if (totals->on_cpu > 0 && strcmp(run->path, "cpu") != 0)
        printf("; the cpu path filtered %zu", totals->on_cpu);
    putchar('\n');
}

static void print_totals(void *context, const struct totals *totals, const struct batch_run *run, double seconds,
                         int signal)
{
    struct printer *printer = context;
    const size_t *status = totals->status;
    const size_t left = totals_left(totals, run);
    clear_progress(printer);
    if (printer->json) {
        print_json(batch_report_summary(totals, run, seconds, signal), JSON_COMPACT | JSON_REAL_PRECISION(9));
        return;
    }
    printf("%zu of %zu files done", status[STATUS_DONE], run->files);
    if (seconds > 0 && status[STATUS_DONE] > 0)
        printf(" in %.1f s (%.1f per second)", seconds, (double)status[STATUS_DONE] / seconds);
    if (status[STATUS_SKIPPED] > totals->waiting)
        printf(", %zu skipped (their outputs exist)", status[STATUS_SKIPPED] - totals->waiting);
    if (totals->waiting > 0)
        printf(", %zu waiting for a file of a filter", totals->waiting);
    if (status[STATUS_FAILED] > 0)
        printf(", %zu failed", status[STATUS_FAILED]);
    if (left > 0)
        printf(", %zu not reached", left);
    if (run->left_out > 0)
        printf(", %zu left out (outputs of earlier runs)", run->left_out);
    print_path(totals, run);
}

static void print_waiting(void *context)
{
    struct printer *printer = context;
    if (!printer->announced && !printer->json)
        log_print_line(stdout, "watching %s%s for new images; Ctrl+C ends", printer->operands->word[0],
                       printer->operands->count > 1 ? " and other directories" : "");
    printer->announced = true;
    fflush(stdout); // the summary of this round, for a reader of a pipe
}

static int run(int argc, char **argv)
{
    struct batch_options options;
    struct command_operands operands;
    if (options_take(&options, argc, argv, &operands)) {
        struct printer printer = {.operands = &operands, .dry_run = options.setup.dry_run, .json = options.json};
        const struct batch_hooks hooks = {&printer, print_file, end_plan, show_progress, print_totals, print_waiting};
        operands.code = batch_run(&options.setup, &hooks, operands.word, operands.count);
    }
    options_finish(&options);
    return operands.code;
}

const struct command batch_command = {
    .name = "batch",
    .usage = "[options] -f CHAIN -o OUTPUT FILE|DIRECTORY...",
    .summary = "filter many image files",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = option_rows,
    .complete = "file",
    .run = run,
};
