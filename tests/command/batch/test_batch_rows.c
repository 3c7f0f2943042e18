// test_batch_rows.c: if decoding or encoding by rows fails, the batch stops processing that file
//
// Linked with --wrap: the codec's calls for rows are counted, and the encoder can be made to fail.
#include "codec_files.h"
#include "command/command.h"
#include "scratch.h"
#include "unit.h"

enum { SIDE = 512, NEVER = -1 };

static struct {
    int decoded, encoded; // calls
    int encode_fails_at;
    bool failed;
    int late; // calls after a failure
} calls;

int __real_codec_decode_rows(struct codec *codec, const struct codec_head *head, struct image *image, int last,
                             struct codec_error *error);
int __wrap_codec_decode_rows(struct codec *codec, const struct codec_head *head, struct image *image, int last,
                             struct codec_error *error);
bool __real_codec_encode_rows(struct codec *codec, const struct image *image, const struct codec_settings *settings,
                              int count, struct codec_error *error);
bool __wrap_codec_encode_rows(struct codec *codec, const struct image *image, const struct codec_settings *settings,
                              int count, struct codec_error *error);

int __wrap_codec_decode_rows(struct codec *codec, const struct codec_head *head, struct image *image, int last,
                             struct codec_error *error)
{
    const int rows = __real_codec_decode_rows(codec, head, image, last, error);
    calls.decoded++;
    calls.late += calls.failed;
    calls.failed = calls.failed || rows == 0;
    return rows;
}

bool __wrap_codec_encode_rows(struct codec *codec, const struct image *image, const struct codec_settings *settings,
                              int count, struct codec_error *error)
{
    calls.late += calls.failed;
    if (calls.encoded++ == calls.encode_fails_at) {
        *error = (struct codec_error){.fault = CODEC_NO_MEMORY, .why = "the test says so"};
        calls.failed = true;
        return false;
    }
    return __real_codec_encode_rows(codec, image, settings, count, error);
}

// Runs the command on this many percent of the file. Returns its exit code.
static int run(struct scratch *scratch, const struct codec_buffer *file, int percent, int encode_fails_at)
{
    char in[512], out[512];
    snprintf(out, sizeof(out), "%s", scratch_path(scratch, "out.jpg"));
    snprintf(in, sizeof(in), "%s", scratch_write(scratch, "in.jpg", file->data, file->size * (size_t)percent / 100));
    char *argv[] = {"batch", "-p", "cpu", "-f", "blur=2", "--jobs", "1", "--overwrite", "-o", out, in, NULL};
    calls.decoded = calls.encoded = calls.late = 0;
    calls.failed = false;
    calls.encode_fails_at = encode_fails_at;
    capture_stderr(&scratch->said);
    const int code = batch_command.run(sizeof(argv) / sizeof(*argv) - 1, argv);
    captured_stderr(&scratch->said);
    return code & ~EXIT_SETTLED;
}

int main(void)
{
    struct codec_buffer file = {0};
    struct scratch scratch;
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    jpeg_make(&file, SIDE, SIDE, &(struct jpeg_wish){0});
    CHECK_NUMBER(run(&scratch, &file, 100, NEVER), EXIT_OK);
    const int decoded = calls.decoded, encoded = calls.encoded;
    CHECK(decoded >= SIDE / (1 + CODEC_ROWS_MORE) && encoded >= SIDE / (1 + CODEC_ROWS_MORE) && calls.late == 0);

    unlink(scratch_path(&scratch, "out.jpg"));
    CHECK_NUMBER(run(&scratch, &file, 50, NEVER), EXIT_NOTHING);
    CHECK(calls.failed && calls.late == 0);
    CHECK(calls.decoded > decoded / 4 && calls.decoded < decoded * 3 / 4 && calls.encoded < encoded);
    CHECK(access(scratch_path(&scratch, "out.jpg"), F_OK) != 0);

    CHECK_NUMBER(run(&scratch, &file, 100, 3), EXIT_NOTHING);
    CHECK(calls.failed && calls.late == 0 && calls.decoded < decoded);
    CHECK_HAS(scratch.said.text, "cannot encode the image: the test says so");
    CHECK(access(scratch_path(&scratch, "out.jpg"), F_OK) != 0);
    codec_buffer_free(&file);
    scratch_close(&scratch);
    return check_end(&unit);
}
