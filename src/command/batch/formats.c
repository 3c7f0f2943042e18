// formats.c: formats of image files by their file name extensions
#include "command/batch/formats.h"

#include <string.h>

const char *format_extension(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    const bool stem = dot && (size_t)(dot - name) >= strspn(name, "."); // the leading dots of ".." and ".jpg" begin no
                                                                        // extension
    return stem ? dot : name + strlen(name);
}

const struct codec_info *format_of_file(const char *path)
{
    const char *extension = format_extension(path);
    enum codec_format format;
    return *extension && codec_from_name(extension + 1, &format) ? codec_info(format) : NULL;
}

const char *format_missing_library(const char *path)
{
    const char *extension = format_extension(path);
    return *extension ? codec_missing_library(extension + 1) : NULL;
}

enum codec_format format_number(const struct codec_info *info)
{
    enum codec_format format = (enum codec_format)0;
    codec_from_name(info->name, &format);
    return format;
}
