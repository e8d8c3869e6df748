/*
 * made_file - recognises files that may be replaced: those that a command made and that nobody
 * changed since.
 *
 * A file that a command made is marked by the extended attribute user.graphmill, which has its size
 * and the time of its last change. The mark stays with the file when it is renamed, and no longer
 * matches after somebody wrote to it. On a file system without such attributes no file is
 * recognised, and a user who wants a file replaced must say so (--force).
 */
#ifndef PIPELINES_EXPORT_MADE_FILE_H
#define PIPELINES_EXPORT_MADE_FILE_H

#include "common/base/error.h"

/* Checks that `path` may be replaced: it does not exist, is empty, is no regular file (the caller
 * decides about those), is marked, or begins with `words` (NULL: none). Fails: ERROR_INVALID naming
 * --force. */
MUST_CHECK enum error_code made_file_check(const char *path, const char *words, struct error *err);
/* Marks the file. It is no failure if that is impossible. */
void made_file_mark(const char *path);

#endif
