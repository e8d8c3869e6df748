/* folder_texts - visits the text files of a folder whose names have a given suffix. */
#ifndef PIPELINES_REPORT_FOLDER_TEXTS_H
#define PIPELINES_REPORT_FOLDER_TEXTS_H

#include "common/base/error.h"

#include <stddef.h>

/* `text` [size] is valid during the call. */
typedef enum error_code (*folder_text_visitor)(void *context, const char *text, size_t size,
                                               struct error *err);

/* Calls `visit` for each file in the order of their names. A missing folder counts as empty. Fails:
 * ERROR_IO, ERROR_NO_MEMORY; as `visit` does. */
MUST_CHECK enum error_code folder_texts_each(const char *folder, const char *suffix,
                                             folder_text_visitor visit, void *context,
                                             struct error *err);

#endif
