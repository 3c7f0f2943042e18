// options.c: the arguments of the batch command and what they ask for
#include "command/batch/batch.h"

#include "base/log.h"
#include "base/resource.h"
#include "command/device_option.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct batch_options, member)

enum { MEMORY_LEAST = 16 << 20 };

static const struct option options[] = {
    {"filter", 'f', OPTION_TEXT, "CHAIN",
     .help = "filters, such as 'blur=2,gray'; `monocle filters` lists them; none: convert only", .offset = AT(filters),
     .complete = "filter"},
    {"output", 'o', OPTION_TEXT, "OUTPUT", .offset = AT(output), .complete = "directory",
     .help = "directory of the outputs, or a template with {dir}, {stem}, {ext} and {n}"},
    {"recursive", 'r', OPTION_FLAG, .help = "descend into directories of directories", .offset = AT(recursive)},
    {"files-from", 0, OPTION_TEXT, "FILE", .help = "take names from a file, one a line; - is standard input",
     .offset = AT(files_from), .complete = "file"},
    {"null", '0', OPTION_FLAG, .help = "those names end with a NUL, as of `find -print0`", .offset = AT(null)},
    {"path", 'p', OPTION_CHOICE, .choices = "auto|cpu|opencl", .offset = AT(path),
     .help = "where the filters run; auto: cpu for less than 100 files, else what a short measurement finds faster "
             "(default: auto)"},
    DEVICE_OPTION(AT(device), "; all: every GPU, else every device", "|all"),
    {"jobs", 'J', OPTION_INT, "N", .help = "files under way at once; one per CPU without this", .offset = AT(jobs),
     .min = 1, .max = 256},
    {"memory", 0, OPTION_TEXT, "BYTES", .offset = AT(memory),
     .help = "memory for pictures under way, such as 500M or 2G; half of the machine's without this"},
    {"max-megapixels", 0, OPTION_INT, "N", .help = "refuse pictures with more", .offset = AT(megapixels), .min = 1,
     .max = 268},
    {"overwrite", 0, OPTION_FLAG, .help = "replace outputs that exist", .offset = AT(overwrite),
     .excludes = "skip-existing|skip-newer"},
    {"skip-existing", 0, OPTION_FLAG, .help = "leave outputs that exist", .offset = AT(skip_existing),
     .excludes = "skip-newer"},
    {"skip-newer", 0, OPTION_FLAG,
     .help = "leave outputs that are no older than their inputs, unless another job made them; replace others",
     .offset = AT(skip_newer)},
    {"format", 0, OPTION_TEXT, "FORMAT",
     .help = "jpeg, png or, in builds with their libraries, webp and tiff; the input's without this, else png",
     .choices = "jpeg|png|webp|tiff", .offset = AT(format)},
    {"quality", 0, OPTION_INT, "N",
     .help = "of JPEG and WebP, which loses nothing at 100; the input's without this, else 90", .offset = AT(quality),
     .min = 1, .max = 100},
    {"subsampling", 0, OPTION_CHOICE, .choices = "keep|420|422|444", .help = "chroma of JPEG; the input's without this",
     .offset = AT(subsampling)},
    {"compression", 0, OPTION_INT, "N", .help = "of PNG and TIFF: 1 is quick, 9 small", .offset = AT(compression),
     .min = 1, .max = 9},
    {"metadata", 0, OPTION_CHOICE, .choices = "keep|strip", .offset = AT(metadata),
     .help = "whether profile, EXIF and XMP data are carried over; keep without this"},
    {"orientation", 0, OPTION_CHOICE, .choices = "apply|keep", .offset = AT(orientation),
     .help = "stand pictures upright as their EXIF data say, as without this, or filter pixels as they lie"},
    {"shard", 0, OPTION_TEXT, "K/N", .offset = AT(shard),
     .help = "only the Kth of N parts; N alone: K is SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX"},
    {"report", 0, OPTION_TEXT, "FILE", .help = "append a line of JSON for every file", .offset = AT(report),
     .complete = "file"},
    {"json", 'j', OPTION_FLAG, .help = "the summary as JSON; with --dry-run a line for every file", .offset = AT(json)},
    {"dry-run", 'n', OPTION_FLAG, .help = "print what would be done, and do nothing", .offset = AT(dry_run)},
    {"fail-fast", 0, OPTION_FLAG, .help = "stop at the first file that fails", .offset = AT(fail_fast)},
    {"kernels", 0, OPTION_TEXT, "DIR", .help = "take the kernels (.cl files) that DIR has from there",
     .environment = "MONOCLE_KERNELS", .offset = AT(kernels), .complete = "directory"},
    {"log-level", 0, OPTION_CHOICE, .choices = "silent|error|warn|info|debug", .help = "how much is told",
     .offset = AT(log_level)},
    {0},
};
static const char *const examples[] = {
    "monocle batch -f 'blur=2,emboss' -o out photos  every picture in photos, under the same name in out",
    "monocle batch -r -f gray -o 'out/{dir}{stem}-gray.png' photos  the whole tree, renamed, as PNG",
    "monocle batch --files-from - --null -f sobel -o out  names from another program, such as find -print0",
    "monocle batch -r -f gray -o out --shard 3/16 --report 3.jsonl photos  a sixteenth of the work",
    NULL,
};
static const char *const details[] = {
    "The same command run again is a no-op for what is done: an output is marked with what made it (an extended "
    "attribute, where the file system has these). Any other file in an output's place is an error for that input, "
    "unless --overwrite, --skip-existing or --skip-newer tells what to do.",
    "Outputs are written under a temporary name, synced and renamed: a file is there whole or not at all, whatever "
    "happens. What fails is told in one line, and the other files go on. `monocle report merge` puts the reports of "
    "several runs together.",
    NULL,
};
const struct option_list batch_list = {
    .command = "batch",
    .usage = "[options] -f CHAIN -o OUTPUT FILE|DIRECTORY...",
    .summary = "filter picture files, thousands of them",
    .examples = examples,
    .details = details,
    .options = options,
    .complete = "file",
};

// What decides the bytes of the outputs.
static char *job_text(const struct batch *batch)
{
    const struct batch_options *o = &batch->options;
    char *text;
    const int size =
        asprintf(&text, "%s\n%d %d %d %d %d%s%s", batch->filters, o->quality, o->subsampling, o->compression,
                 o->metadata, o->orientation, o->kernels ? "\n" : "", o->kernels ? o->kernels : "");
    if (size >= 0)
        return text;
    log_error("there is not enough memory");
    return NULL;
}

static bool take_memory(struct batch *batch)
{
    uint64_t bytes = budget_default();
    if (batch->options.memory && (!budget_parse(batch->options.memory, &bytes) || bytes < MEMORY_LEAST)) {
        log_error("--memory is '%s', but must be at least 16M, such as 500M or 2G", batch->options.memory);
        return false;
    }
    batch->budget.limit = bytes;
    return true;
}

static bool take_chain(struct batch *batch)
{
    char error[CHAIN_ERROR];
    if (!chain_parse(&batch->chain, batch->options.filters, error)) {
        log_error("%s", error);
        return false;
    }
    if (batch->chain.count > CHAIN_MAX - 2 && batch->options.orientation == 0) {
        log_error("the chain has %d filters; a batch takes %d, since standing pictures upright takes two; "
                  "--orientation keep takes %d",
                  batch->chain.count, CHAIN_MAX - 2, CHAIN_MAX);
        return false;
    }
    return chain_print(&batch->chain, batch->filters);
}

static void set_rules(struct batch *batch)
{
    const struct batch_options *o = &batch->options;
    batch->rules = (struct work_rules){
        .existing = o->overwrite       ? EXISTING_OVERWRITE
                    : o->skip_existing ? EXISTING_SKIP
                    : o->skip_newer    ? EXISTING_SKIP_NEWER
                                       : EXISTING_REFUSE,
        .job = batch->job,
        .chain = &batch->chain,
        .quality = o->quality,
        .subsampling = o->subsampling,
        .compression = o->compression,
        .strip = o->metadata != 0,
        .keep_turned = o->orientation != 0,
        .most_pixels = (uint64_t)o->megapixels * 1000000,
        .hashes = o->report != NULL,
    };
}

// Options that could have no effect are a mistake. False where there are such (logged).
static bool options_agree(const struct batch *batch)
{
    const struct batch_options *o = &batch->options;
    const struct codec_info *format = batch->naming.format; // of all outputs; NULL: it depends
    const unsigned of = format ? 1u << format_number(format) : ~0u;
    const char *lost = o->quality && !(of & (1u << CODEC_JPEG | 1u << CODEC_WEBP))      ? "--quality"
                       : o->subsampling && !(of & 1u << CODEC_JPEG)                     ? "--subsampling"
                       : o->compression && !(of & (1u << CODEC_PNG | 1u << CODEC_TIFF)) ? "--compression"
                                                                                        : NULL;
    if (lost) {
        log_error("%s says nothing of %s files, which all outputs are to be; leave out one or the other", lost,
                  format->name);
        return false;
    }
    return o->path != BATCH_CPU || device_option_unused(o->device);
}

// Arguments to what the user wants. False where they are wrong (logged).
static bool take_options(struct batch *batch, const struct command_operands *operands)
{
    const struct batch_options *o = &batch->options;
    if (o->log_level >= 0)
        log_set_level((enum log_level)o->log_level);
    if (!o->output) {
        log_error("where shall the outputs go? name a directory with -o");
        return false;
    }
    if (!o->filters) {
        log_error("no filter is given: add one, such as -f gray, or -f none to convert only");
        return false;
    }
    if (operands->count == 0 && !o->files_from) {
        log_error("which files? usage: monocle %s %s", batch_list.command, batch_list.usage);
        return false;
    }
    if (o->null && !o->files_from) {
        log_error("--null tells how the names of --files-from end; give both or neither");
        return false;
    }
    batch->shard = (struct shard){0, 1};
    if (!take_chain(batch) || !take_memory(batch) || (o->shard && !shard_parse(&batch->shard, o->shard)) ||
        !naming_init(&batch->naming, o->output, o->format) || !options_agree(batch) ||
        !resource_check_kernels(o->kernels))
        return false;
    batch->job = job_text(batch);
    set_rules(batch);
    return batch->job;
}

bool batch_parse(struct batch *batch, int argc, char **argv, struct command_operands *operands, int *code)
{
    batch->options = (struct batch_options){.log_level = -1};
    if (!command_parse(&batch_list, argc, argv, &batch->options, INT_MAX, operands, code))
        return false;
    *code = EXIT_USAGE;
    return take_options(batch, operands);
}
