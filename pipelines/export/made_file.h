/*
 * made_file - which files are ours to replace: those that a command made before, and that nobody changed since.
 *
 * A file that was made is marked by an extended attribute, user.graphmill, with its size and the time of its last change. It stays
 * with the file when that is renamed, and no longer fits once somebody wrote into it. Where the file system keeps no such attributes,
 * nothing is known to be ours, and who wants a file replaced says so (--force).
 */
#ifndef PIPELINES_EXPORT_MADE_FILE_H
#define PIPELINES_EXPORT_MADE_FILE_H

#include "common/base/error.h"

/* May `path` be replaced? Yes when it is not there, empty, no regular file (what becomes of those is for others to say), marked, or
 * says `words` (NULL: none) in its first bytes. Fails: ERROR_INVALID naming --force. */
MUST_CHECK enum error_code made_file_check(const char *path, const char *words, struct error *err);
/* That it cannot be marked is no failure. */
void made_file_mark(const char *path);

#endif
