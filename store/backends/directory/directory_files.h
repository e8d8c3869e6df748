/*
 * directory_files - how the files of a directory store are written and get their final names.
 *
 * Only directory*.c may include it; for all other code a directory store is opaque.
 */
#ifndef STORE_BACKENDS_DIRECTORY_DIRECTORY_FILES_H
#define STORE_BACKENDS_DIRECTORY_DIRECTORY_FILES_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "store/backends/directory/spare_file.h"
#include "store/backends/directory/written_file.h"
#include "store/backends/scratch_space.h"
#include "store/objects/object_store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct directory {
    char root[FILE_PATH_SIZE];
    int64_t timeout_ms;
    bool is_local; /* the file system belongs to this host: files are mapped, and pages prepared */
    atomic_bool no_links; /* link() was refused once and is not tried again */
    struct scratch_space scratch;
    struct spare_files spares;
    struct written_files written;
};

/* Removes the last name of `path`. Returns false if that would leave the store's root. */
bool directory_to_parent(const struct directory *directory, char *path);
/* Makes the folders above `path` that are missing. */
MUST_CHECK enum error_code directory_make_parents(const struct directory *directory,
                                                  const char path[FILE_PATH_SIZE],
                                                  struct error *err);
/* Flushes the folders from the one of `path` up to the store's root. A folder that is gone is
 * skipped: it was removed because it was empty. */
MUST_CHECK enum error_code directory_flush_folders(const struct directory *directory,
                                                   const char path[FILE_PATH_SIZE],
                                                   struct error *err);
/* Removes the folders above `path` that have become empty. */
void directory_remove_empty_parents(const struct directory *directory,
                                    const char path[FILE_PATH_SIZE]);

/* Writes a body to a new file in tmp/. On success the whole file is at `path`. */
MUST_CHECK enum error_code directory_write_temporary(struct directory *directory,
                                                     const struct object_body *body,
                                                     enum store_durability durability,
                                                     char path[FILE_PATH_SIZE], struct error *err);
/* Gives the file `temporary` its final name, unless that name is taken (*existed). The old name may
 * remain. The folder of most records exists already, so folders are made only when the link finds
 * none. Fails: ERROR_UNAVAILABLE when `temporary` is gone because the store's folder was lost; the
 * caller must write the bytes again. */
MUST_CHECK enum error_code directory_link_first(struct directory *directory, const char *temporary,
                                                const char *path, bool *existed, struct error *err);
/* Does the same for a folder, which cannot be linked. */
MUST_CHECK enum error_code directory_rename_first(const struct directory *directory,
                                                  const char *from, const char *path, bool *existed,
                                                  struct error *err);

/* Returns the time in seconds by the clock of the store's file system. The hosts that share it may
 * have different clocks. */
int64_t directory_now(const struct directory *directory);
/* Reads when the file or folder was last written, by that clock. Fails: ERROR_NOT_FOUND;
 * ERROR_IO. */
MUST_CHECK enum error_code directory_written_at(const char path[FILE_PATH_SIZE], int64_t *seconds,
                                                struct error *err);

#endif
