/*
 * export_target - where an export goes: a regular file that appears whole, or what takes bytes as they come.
 *
 * A regular file that is not there yet, is empty or was made by such a command (made_file.h) is written beside itself and renamed; behind a symbolic link it is the
 * file that is replaced, not the link. A pipe, a device or our own stdout is written into: the export is made in a
 * temporary folder first, for its writers rename. Anything else, and a file of somebody's, is refused and stays as it is.
 */
#ifndef PIPELINES_EXPORT_EXPORT_TARGET_H
#define PIPELINES_EXPORT_EXPORT_TARGET_H

#include "common/base/error.h"
#include "common/base/file.h"

#include <stdbool.h>

struct export_target {           /* {0} is closed */
    char path[FILE_PATH_SIZE];   /* for the writer */
    char folder[FILE_PATH_SIZE]; /* temporary; "": the target is a regular file */
    const char *output;          /* borrowed */
    bool is_stdout;              /* so nothing else should be printed there */
};

/* `force`: a file is replaced whoever made it. `words`: what a file of ours says at its beginning, or NULL.
 * Fails: ERROR_INVALID for a folder, a socket, a folder above that is not there, or a file that is not ours. */
MUST_CHECK enum error_code export_target_open(struct export_target *target, const char *output,
                                              bool force, const char *words, struct error *err);
/* When `written`, hands over what lies in `path`. */
MUST_CHECK enum error_code export_target_close(struct export_target *target, bool written,
                                               struct error *err);

#endif
