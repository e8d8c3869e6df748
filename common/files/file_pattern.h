/*
 * file_pattern - the files that a path stands for: one file; all files whose names match `*`, `?`
 * and `[...]`, in ascending order of their names; or a list of these, `[a.csv, b-*.csv]`, in its
 * own order.
 */
#ifndef COMMON_FILES_FILE_PATTERN_H
#define COMMON_FILES_FILE_PATTERN_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* `index` is the number of files before this one. `path` is valid during the call. */
typedef enum error_code (*file_pattern_visitor)(void *context, const char *path, size_t index,
                                                struct error *err);

/* Calls `visit` for each file. A path without these characters, or one that exists literally, is
 * one file, whether it exists or not. Stops at the first error and returns it. Fails:
 * ERROR_NOT_FOUND when nothing matches; ERROR_NO_MEMORY, ERROR_IO. */
MUST_CHECK enum error_code file_pattern_visit(const char *pattern, file_pattern_visitor visit,
                                              void *context, struct error *err);
/* Returns whether the path may stand for several files. */
bool file_pattern_is_one(const char *path);

/* Returns whether the path is a list, in brackets. */
bool file_pattern_is_list(const char *path);
/* Finds the next item of a list, without the blanks around it. *at is NULL before the first item. A
 * path that is not a list is its only item. Returns false after the last item. Borrows from
 * `path`. */
bool file_pattern_next(const char *path, const char **at, const char **item, size_t *size);

#endif
