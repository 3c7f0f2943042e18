// batch_codec.c: measures libjpeg-turbo alone on a batch: decodes all inputs to planes and encodes all outputs
//
//   batch_codec COUNT INPUT... OUTPUT...
//
// The arguments are COUNT inputs, then the COUNT outputs of a filter. The clock starts when all files are read and the
// planes of the outputs are decoded. The program filters and writes nothing. It prints milliseconds of processor time
// per image.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <turbojpeg.h>

enum { QUALITY = 90, ALIGN = 1, FLAGS = TJFLAG_ACCURATEDCT | TJFLAG_NOREALLOC };

// A file, and its planes, contiguous in memory.
struct picture {
    unsigned char *data, *planes;
    unsigned long size;
    int width, height, sampling;
};

static bool read_whole(const char *name, struct picture *picture)
{
    FILE *file = fopen(name, "rb");
    if (!file)
        return false;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    picture->size = size > 0 ? (unsigned long)size : 0;
    picture->data = malloc(picture->size);
    const bool whole = picture->data && fread(picture->data, 1, picture->size, file) == picture->size;
    fclose(file);
    return whole;
}

static bool take(tjhandle decoder, const char *name, struct picture *picture)
{
    int space;
    if (!read_whole(name, picture) || tjDecompressHeader3(decoder, picture->data, picture->size, &picture->width,
                                                          &picture->height, &picture->sampling, &space) != 0)
        return false;
    picture->planes = tjAlloc((int)tjBufSizeYUV2(picture->width, ALIGN, picture->height, picture->sampling));
    return picture->planes != NULL;
}

static bool decode(tjhandle decoder, struct picture *picture)
{
    return tjDecompressToYUV2(decoder, picture->data, picture->size, picture->planes, picture->width, ALIGN,
                              picture->height, FLAGS) == 0;
}

static bool encode(tjhandle encoder, const struct picture *picture, unsigned char *room)
{
    unsigned long size = tjBufSize(picture->width, picture->height, picture->sampling);
    return tjCompressFromYUV(encoder, picture->planes, picture->width, ALIGN, picture->height, picture->sampling, &room,
                             &size, QUALITY, FLAGS) == 0;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 0;
    if (count < 1 || argc != 2 + 2 * count) {
        fprintf(stderr, "usage: batch_codec COUNT INPUT... OUTPUT...\n");
        return 2;
    }
    tjhandle decoder = tjInitDecompress(), encoder = tjInitCompress();
    struct picture *pictures = calloc(2 * (size_t)count, sizeof(*pictures));
    unsigned long most = 0;
    for (int i = 0; i < 2 * count; i++) {
        struct picture *picture = &pictures[i];
        if (!take(decoder, argv[2 + i], picture) || !decode(decoder, picture)) {
            fprintf(stderr, "batch_codec: %s is no JPEG file\n", argv[2 + i]);
            return 1;
        }
        const unsigned long size = tjBufSize(picture->width, picture->height, picture->sampling);
        most = size > most ? size : most;
    }
    unsigned char *room = tjAlloc((int)most);
    bool fine = room != NULL;
    const clock_t start = clock();
    for (int i = 0; i < count && fine; i++)
        fine = decode(decoder, &pictures[i]) && encode(encoder, &pictures[count + i], room);
    const clock_t end = clock();
    if (fine)
        printf("%.4f\n", 1e3 * (double)(end - start) / CLOCKS_PER_SEC / count);
    else
        fprintf(stderr, "batch_codec: the codec failed: %s\n", tjGetErrorStr2(encoder));
    for (int i = 0; i < 2 * count; i++) {
        free(pictures[i].data);
        tjFree(pictures[i].planes);
    }
    free(pictures);
    tjFree(room);
    tjDestroy(decoder);
    tjDestroy(encoder);
    return fine ? 0 : 1;
}
