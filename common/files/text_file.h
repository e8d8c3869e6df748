/*
 * text_file - writes a text file that appears completely and flushed to disk, or not at all.
 */
#ifndef COMMON_FILES_TEXT_FILE_H
#define COMMON_FILES_TEXT_FILE_H

#include "common/base/error.h"

#include <stdio.h>

/* Writes the text to `file`. It need not report failed stdio calls, because the stream remembers
 * them. */
typedef enum error_code (*text_writer)(void *context, FILE *file, struct error *err);

/* Replaces the file `path` by what `write` writes. After a failure the old file is unchanged.
 * Fails: ERROR_IO naming the file; ERROR_NO_SPACE; as `write` does. */
MUST_CHECK enum error_code text_file_write(const char *path, text_writer write, void *context,
                                           struct error *err);

#endif
