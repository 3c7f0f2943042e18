// fuzz_y4m.c: hostile Y4M films; a libFuzzer target, and without libFuzzer a run over the seeds and their mutations
#include "base/log.h"
#include "image/y4m.h"
#include "source/source.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { FRAMES = 16 }; // a tiny film repeats itself
    log_set_level(LOG_SILENT);
    setenv("PATH", "", 1); // else ffprobe reads each input that is not a film
    struct y4m_header header;
    const char *why;
    y4m_parse_header((const char *)data, size, &header, &why);
    y4m_parse_frame((const char *)data, size);
    char path[64];
    const int fd = memfd_create("film", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    struct source *source = source_open(&(struct source_setup){.text = path, .loop = size % 2 == 0});
    struct frame frame;
    unsigned sum = 0;
    for (int i = 0; source && i < FRAMES && source_next(source, &frame, 0) == SOURCE_FRAME; i++) {
        for (size_t at = 0; at < image_bytes(&frame.image.shape); at++)
            sum += frame.image.plane[0][at];
        source_return(source, &frame);
    }
    source_close(source);
    close(fd);
    return sum == UINT32_MAX; // libFuzzer rejects such an input, which is harmless; the bytes must be read
}

#ifndef FUZZER
static const char *const seeds[] = {
    "YUV4MPEG2 W2 H2 F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\nFRAME\nabcdefFRAME\nghijkl",
    "YUV4MPEG2 W3 H1 C422\nFRAME Xa\n1234567FRAME\n7654321",
    "YUV4MPEG2 W1 H1 Cmono\nFRAME\n1FRAME\n2FRAME\n",
    "YUV4MPEG2 W2 H1 F0:0 C444 It\nFRAME\n123456FRAME\n12345",
    "YUV4MPEG2 W100000 H100000\nFRAME\n",
    "YUV4MPEG2 W-1 H99999999999999999999 F1:0\nFRAME\n",
};

// Knuth's MMIX generator; its high bits are good enough here.
static unsigned next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

// Changes, doubles or removes a few parts.
static size_t mutate(uint8_t *data, size_t size, size_t room, uint64_t *state)
{
    static const char digits[] = "0123456789 :-\nWHFCX";
    for (unsigned n = 1 + next_random(state) % 4; n > 0 && size > 1; n--) {
        const size_t at = next_random(state) % size, length = 1 + next_random(state) % 8;
        switch (next_random(state) % 4) {
        case 0:
            data[at] = (uint8_t)next_random(state);
            break;
        case 1:
            data[at] = (uint8_t)digits[next_random(state) % (sizeof(digits) - 1)];
            break;
        case 2:
            if (size + length <= room && at + length <= size) {
                memmove(data + at + length, data + at, size - at);
                size += length;
            }
            break;
        default:
            if (at + length < size) {
                memmove(data + at, data + at + length, size - at - length);
                size -= length;
            }
            break;
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    enum { ROOM = 4096 };
    const long rounds = argc > 1 ? atol(argv[1]) : FUZZ_ROUNDS;
    uint64_t state = 1;
    uint8_t data[ROOM];
    for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
        LLVMFuzzerTestOneInput((const uint8_t *)seeds[i], strlen(seeds[i]));
    for (long i = 0; i < rounds; i++) {
        const char *seed = seeds[next_random(&state) % (sizeof(seeds) / sizeof(*seeds))];
        const size_t size = strlen(seed);
        memcpy(data, seed, size);
        LLVMFuzzerTestOneInput(data, mutate(data, size, ROOM, &state));
    }
    for (int i = 2; i < argc; i++) { // inputs that once failed
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            perror(argv[i]);
            return 1;
        }
        LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof(data), file));
        fclose(file);
    }
    printf("%ld films tried\n", rounds);
    return 0;
}
#endif
