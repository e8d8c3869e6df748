/*
 * export_target - the destination of an export: a regular file that appears complete, or a stream.
 *
 * A regular file that does not exist, is empty, or was made by such a command (made_file.h) is
 * written under another name next to it and renamed; if it is a symbolic link, the file that the
 * link points to is replaced. A pipe, a device or our own stdout is written to directly; the export
 * is first made in a temporary folder, because its writers rename. Anything else, such as a file
 * that somebody else made, is refused and left unchanged.
 */
#ifndef PIPELINES_EXPORT_EXPORT_TARGET_H
#define PIPELINES_EXPORT_EXPORT_TARGET_H

#include "common/base/error.h"
#include "common/files/file.h"

#include <stdbool.h>

struct export_target {           /* {0} is closed */
    char path[FILE_PATH_SIZE];   /* the file that the writer writes */
    char folder[FILE_PATH_SIZE]; /* a temporary folder; "": the target is a regular file */
    const char *output;          /* borrowed */
    bool is_stdout;              /* the caller should print nothing else there */
};

/* Opens the target. `force` replaces a file, whoever made it. `words` is the beginning of a file
 * that graphmill wrote, or NULL. Fails: ERROR_INVALID for a folder, a socket, a missing folder
 * above, or a file that graphmill did not make. */
MUST_CHECK enum error_code export_target_open(struct export_target *target, const char *output,
                                              bool force, const char *words, struct error *err);
/* If `written`, publishes what is in `path`. */
MUST_CHECK enum error_code export_target_close(struct export_target *target, bool written,
                                               struct error *err);

#endif
