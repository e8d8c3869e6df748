/*
 * file_pattern - one file, all files whose names fit `*`, `?` and `[...]`, in ascending order of their names, or a list of such,
 * `[a.csv, b-*.csv]`, in its own order.
 */
#ifndef COMMON_BASE_FILE_PATTERN_H
#define COMMON_BASE_FILE_PATTERN_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* `index`: how many came before. `path` is valid during the call. */
typedef enum error_code (*file_pattern_visitor)(void *context, const char *path, size_t index,
                                                struct error *err);

/* A path without such characters, or one that is there as it is written, is one file, be it there or not.
 * Stops at the first error and returns it. Fails: ERROR_NOT_FOUND when nothing fits; ERROR_NO_MEMORY, ERROR_IO. */
MUST_CHECK enum error_code file_pattern_visit(const char *pattern, file_pattern_visitor visit,
                                              void *context, struct error *err);
/* Whether it may stand for several files. */
bool file_pattern_is_one(const char *path);

/* Whether it is a list, which has a bracket at either end. */
bool file_pattern_is_list(const char *path);
/* The next item of a list, without the blanks around it; *at is NULL before the first, and the list itself is its only item where
 * it is none. false behind the last. Borrows from `path`. */
bool file_pattern_next(const char *path, const char **at, const char **item, size_t *size);

#endif
