/*
 * text_file - a text that stands under its name whole, and flushed to disk, or not at all.
 */
#ifndef COMMON_BASE_TEXT_FILE_H
#define COMMON_BASE_TEXT_FILE_H

#include "common/base/error.h"

#include <stdio.h>

/* Writes the text to `file`; of calls of stdio that fail it says nothing, the stream remembers. */
typedef enum error_code (*text_writer)(void *context, FILE *file, struct error *err);

/* Replaces the file `path` by what `write` writes. A failure leaves what was there. Fails: ERROR_IO naming the file; ERROR_NO_SPACE;
 * what `write` fails with. */
MUST_CHECK enum error_code text_file_write(const char *path, text_writer write, void *context,
                                           struct error *err);

#endif
