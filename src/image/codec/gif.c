// gif.c: the first frame of GIF files, on their logical screen, by giflib; their metadata
#include "image/codec/codec_kind.h"

#include <string.h>

#include <gif_lib.h>

enum {
    EMPTY_MOST = 1 << 24, // most pixels of the screen if the file has too few bytes for all of them
    OPAQUE = 255,
    CODE_BITS_MOST = 8, // of an index: GIF89a, appendix F
    NONE = -1,          // no transparent colour
};

struct gif {
    struct codec_buffer row;
    struct codec_buffer comment, icc; // of the last head
};

// A file in memory. Behind its end there is a block terminator: some files leave it out.
struct gif_file {
    const uint8_t *data;
    size_t size, at;
};

// The first frame. The file has been read up to its pixels.
struct gif_frame {
    GifFileType *file; // close it with frame_close
    struct gif_file stream;
    int transparent;   // index of the transparent colour, or NONE
    int width, height; // of the screen; a screen without a size has that of the frame
};

static bool looks_so(const uint8_t *data, size_t size)
{
    return size >= 6 && (memcmp(data, "GIF87a", 6) == 0 || memcmp(data, "GIF89a", 6) == 0);
}

static int read_bytes(GifFileType *file, GifByteType *to, int wanted)
{
    struct gif_file *stream = file->UserData;
    const size_t left = stream->size - stream->at;
    const size_t count = (size_t)wanted < left ? (size_t)wanted : left;
    memcpy(to, stream->data + stream->at, count);
    stream->at += count;
    if (count > 0 || wanted != 1)
        return (int)count;
    to[0] = 0; // an empty block
    return 1;
}

static bool refuse(const struct gif_frame *frame, int code, struct codec_error *error)
{
    const char *why = GifErrorString(code);
    if (code == D_GIF_ERR_NOT_ENOUGH_MEM)
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    if (code == D_GIF_ERR_READ_FAILED || frame->stream.at >= frame->stream.size)
        return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
    return codec_refuse(error, CODEC_DAMAGED, "the image is damaged (giflib: %s)", why ? why : "no reason given");
}

static void frame_close(struct gif_frame *frame)
{
    if (frame->file)
        DGifCloseFile(frame->file, NULL);
    frame->file = NULL;
}

// Reads an extension. The graphics control extension names the transparent colour.
static bool read_extension(struct gif_frame *frame)
{
    GifByteType *block; // its first byte is its length
    GraphicsControlBlock control;
    int code;
    if (DGifGetExtension(frame->file, &code, &block) == GIF_ERROR)
        return false;
    if (code == GRAPHICS_EXT_FUNC_CODE && block && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
        frame->transparent = control.TransparentColor;
    while (block)
        if (DGifGetExtensionNext(frame->file, &block) == GIF_ERROR)
            return false;
    return true;
}

// Reads up to the pixels of the first frame. Close the frame in any case.
static bool frame_open(struct gif_frame *frame, const uint8_t *data, size_t size, struct codec_error *error)
{
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    int code = 0;
    *frame = (struct gif_frame){.stream = {data, size, 0}, .transparent = NONE};
    frame->file = DGifOpen(&frame->stream, read_bytes, &code);
    if (!frame->file)
        return refuse(frame, code, error);
    while (type != IMAGE_DESC_RECORD_TYPE) {
        if (DGifGetRecordType(frame->file, &type) == GIF_ERROR)
            return refuse(frame, frame->file->Error, error);
        if (type == TERMINATE_RECORD_TYPE)
            return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: it has no frame");
        if (type == EXTENSION_RECORD_TYPE && !read_extension(frame))
            return refuse(frame, frame->file->Error, error);
    }
    if (DGifGetImageDesc(frame->file) == GIF_ERROR) {
        // giflib stops at the byte with the number of bits.
        if (frame->stream.at < size && data[frame->stream.at - 1] > CODE_BITS_MOST)
            return codec_refuse(error, CODEC_UNSUPPORTED, "GIF files with indices of %d bits are not supported",
                                data[frame->stream.at - 1]);
        return refuse(frame, frame->file->Error, error);
    }
    const GifImageDesc *image = &frame->file->Image;
    frame->width = frame->file->SWidth > 0 ? frame->file->SWidth : image->Left + image->Width;
    frame->height = frame->file->SHeight > 0 ? frame->file->SHeight : image->Top + image->Height;
    if (image->Width == 0 || image->Height == 0)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its first frame has no pixels");
    return true;
}

// Returns true if the frame covers the screen.
static bool is_covered(const struct gif_frame *frame)
{
    const GifImageDesc *image = &frame->file->Image;
    return image->Left == 0 && image->Top == 0 && image->Width >= frame->width && image->Height >= frame->height;
}

static bool read_head(const struct gif_frame *frame, size_t size, struct codec_head *head, struct codec_error *error)
{
    const uint64_t pixels = (uint64_t)frame->file->Image.Width * (uint64_t)frame->file->Image.Height;
    const uint64_t screen = (uint64_t)frame->width * (uint64_t)frame->height;
    head->shape = (struct image_shape){.format = PIXFMT_RGBA, .width = frame->width, .height = frame->height};
    head->jpeg = PIXFMT_YU12;
    head->alpha = frame->transparent != NONE || !is_covered(frame);
    if (!codec_can_hold(size, pixels / CODEC_LZW_MOST, error))
        return false;
    return screen <= EMPTY_MOST || codec_can_hold(size, screen / CODEC_LZW_MOST, error);
}

// Returns the place behind blocks, which an empty block ends; at most `size`.
static size_t skip_blocks(const uint8_t *data, size_t size, size_t at)
{
    while (at < size && data[at] != 0)
        at += 1 + (size_t)data[at];
    return at < size ? at + 1 : size;
}

// Appends the content of blocks. Returns false if there is no memory.
static bool join_blocks(struct codec_buffer *buffer, const uint8_t *data, size_t at, size_t end)
{
    bool ok = true;
    for (; ok && at < end && data[at] != 0; at += 1 + (size_t)data[at]) {
        const size_t left = end - at - 1;
        ok = codec_buffer_append(buffer, data + at + 1, data[at] < left ? data[at] : left);
    }
    return ok;
}

// Takes XMP data, which are not cut into blocks. A trailer leads readers of blocks to the empty block: 1, 255, 254 ...
// 0 (XMP specification, part 3, "GIF 89a").
static void take_xmp(const uint8_t *data, size_t at, size_t end, struct codec_metadata *metadata)
{
    enum { TRAILER = 258 }; // bytes, with the empty block
    if (end - at > TRAILER && data[end - TRAILER] == 1 && data[end - TRAILER + 1] == 255)
        metadata->xmp = (struct codec_bytes){data + at, end - at - TRAILER};
    else
        codec_lacks(metadata, "its XMP data are damaged and are left out");
}

static bool take_extension(struct gif *gif, const uint8_t *data, size_t at, size_t end, struct codec_metadata *metadata)
{
    enum { NAME = 12 }; // bytes of an application's block
    const int code = data[at + 1];
    const size_t blocks = at + 2;
    if (code == COMMENT_EXT_FUNC_CODE)
        return codec_buffer_append(&gif->comment, "\n", gif->comment.size > 0) &&
               join_blocks(&gif->comment, data, blocks, end);
    if (code != APPLICATION_EXT_FUNC_CODE || end - at < 2 + NAME)
        return true;
    if (memcmp(data + blocks, "\x0bXMP DataXMP", NAME) == 0)
        take_xmp(data, blocks + NAME, end, metadata);
    if (memcmp(data + blocks, "\x0bICCRGBG1012", NAME) == 0)
        return join_blocks(&gif->icc, data, blocks + NAME, end);
    return true;
}

static size_t table_bytes(int flags)
{
    return flags & 0x80 ? (size_t)6 << (flags & 7) : 0;
}

// Counts the frames, and reads the metadata of the whole file, because comments may follow the frames: comments, one
// per line, XMP, ICC profile. Returns false if there is no memory.
static bool read_rest(struct gif *gif, const uint8_t *data, size_t size, struct codec_head *head)
{
    enum { SCREEN = 13, SCREEN_FLAGS = 10, FRAME = 11, FRAME_FLAGS = 9 }; // bytes, and places
    struct codec_metadata *metadata = &head->metadata;
    bool ok = true;
    int frames = 0;
    gif->comment.size = gif->icc.size = 0;
    for (size_t at = SCREEN + table_bytes(data[SCREEN_FLAGS]), end; ok && at + 2 < size; at = end) {
        if (data[at] == ',' && at + FRAME <= size) {
            frames++;
            end = skip_blocks(data, size, at + FRAME + table_bytes(data[at + FRAME_FLAGS]));
        } else if (data[at] == '!') {
            end = skip_blocks(data, size, at + 2);
            ok = take_extension(gif, data, at, end, metadata);
        } else {
            break;
        }
    }
    if (gif->comment.size > 0)
        metadata->comment = (struct codec_bytes){gif->comment.data, gif->comment.size};
    if (gif->icc.size > 0)
        metadata->icc = (struct codec_bytes){gif->icc.data, gif->icc.size};
    head->remarks = frames > 1 ? CODEC_FRAMES : 0;
    return ok;
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    struct gif_frame frame;
    const bool ok = frame_open(&frame, data, size, error) && read_head(&frame, size, head, error);
    frame_close(&frame);
    return ok && (read_rest(state, data, size, head) || codec_refuse(error, CODEC_NO_MEMORY, "out of memory"));
}

// Writes a colour of the table; black for an index beyond it. Without a table, the index is a level of grey.
static void put_colour(const ColorMapObject *map, int index, int alpha, uint8_t to[4])
{
    const GifByteType level = (GifByteType)(map ? 0 : index);
    const GifColorType other = {level, level, level};
    const GifColorType *colour = map && index < map->ColorCount ? &map->Colors[index] : &other;
    to[0] = colour->Red;
    to[1] = colour->Green;
    to[2] = colour->Blue;
    to[3] = (uint8_t)alpha;
}

// Fills the screen with its background colour, transparent: viewers show the page behind it.
static void put_screen(const struct gif_frame *frame, struct image *image)
{
    uint8_t colour[4];
    put_colour(frame->file->SColorMap, frame->file->SBackGroundColor, 0, colour);
    for (int y = 0; y < frame->height; y++)
        for (int x = 0; x < frame->width; x++)
            memcpy(image_row(image, 0, y) + 4 * (size_t)x, colour, sizeof(colour));
}

// Reads a row of the frame. Pixels outside the screen are dropped.
static bool read_row(struct gif_frame *frame, struct gif *gif, struct image *image, int y)
{
    const GifImageDesc *desc = &frame->file->Image;
    const ColorMapObject *map = desc->ColorMap ? desc->ColorMap : frame->file->SColorMap;
    if (DGifGetLine(frame->file, gif->row.data, desc->Width) == GIF_ERROR)
        return false;
    for (int x = 0; x < desc->Width && desc->Left + x < frame->width && desc->Top + y < frame->height; x++) {
        const int index = gif->row.data[x];
        put_colour(map, index, index == frame->transparent ? 0 : OPAQUE,
                   image_row(image, 0, desc->Top + y) + 4 * (size_t)(desc->Left + x));
    }
    return true;
}

static bool decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error)
{
    static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2}; // GIF89a, appendix E: interlaced rows
    struct gif *gif = state;
    struct gif_frame frame;
    bool ok = frame_open(&frame, data, size, error);
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = frame.width, .height = frame.height};
    ok = ok && codec_fits(image, &shape, error);
    if (ok && !codec_buffer_room(&gif->row, (size_t)frame.file->Image.Width))
        ok = codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    if (ok && !is_covered(&frame))
        put_screen(&frame, image);
    const bool interlaced = ok && frame.file->Image.Interlace;
    for (int pass = 0; ok && pass < (interlaced ? 4 : 1); pass++)
        for (int y = interlaced ? first[pass] : 0; ok && y < frame.file->Image.Height; y += interlaced ? step[pass] : 1)
            ok = read_row(&frame, gif, image, y) || refuse(&frame, frame.file->Error, error);
    frame_close(&frame);
    return ok;
}

static const char *const extensions[] = {"gif", NULL};

const struct codec_kind codec_gif = {
    .info = {.name = "gif", .extensions = extensions},
    .state_bytes = sizeof(struct gif),
    .buffers = 3,
    .looks_so = looks_so,
    .head = head_of,
    .decode = decode,
};
