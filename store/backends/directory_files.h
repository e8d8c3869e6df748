/*
 * directory_files - how the files of a directory store are written and get their final names.
 *
 * For directory*.c alone; to others a directory store is opaque.
 */
#ifndef STORE_BACKENDS_DIRECTORY_FILES_H
#define STORE_BACKENDS_DIRECTORY_FILES_H

#include "common/base/error.h"
#include "common/base/file.h"
#include "store/backends/scratch_space.h"
#include "store/backends/spare_file.h"
#include "store/backends/written_file.h"
#include "store/objects/object_store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct directory {
    char root[FILE_PATH_SIZE];
    int64_t timeout_ms;
    bool is_local; /* its file system is of this host: files are mapped, and pages made ahead */
    atomic_bool no_links; /* link() was refused once: it is not tried again */
    struct scratch_space scratch;
    struct spare_files spares;
    struct written_files written;
};

/* Cuts the last name off; false when that would leave the store's root. */
bool directory_to_parent(const struct directory *directory, char *path);
/* The folders above `path`, made where they are missing. */
MUST_CHECK enum error_code directory_make_parents(const struct directory *directory,
                                                  const char path[FILE_PATH_SIZE],
                                                  struct error *err);
/* Flushes the folders from `path`'s own up to the store's root. One that is gone was pruned with all in it. */
MUST_CHECK enum error_code directory_flush_folders(const struct directory *directory,
                                                   const char path[FILE_PATH_SIZE],
                                                   struct error *err);
/* Removes the folders above `path` that have become empty. */
void directory_remove_empty_parents(const struct directory *directory,
                                    const char path[FILE_PATH_SIZE]);

/* Writes a body to a new file in tmp/, which stands at `path`, whole, on success. */
MUST_CHECK enum error_code directory_write_temporary(struct directory *directory,
                                                     const struct object_body *body,
                                                     enum store_durability durability,
                                                     char path[FILE_PATH_SIZE], struct error *err);
/* Gives the file `temporary` its final name, unless something has it (*existed). The old name may stay. Most records
 * come to a folder that is there, so folders are made only when the link finds none. Fails: ERROR_UNAVAILABLE when `temporary` is
 * gone, as it is when the store's folder was lost: what it had has to be written again. */
MUST_CHECK enum error_code directory_link_first(struct directory *directory, const char *temporary,
                                                const char *path, bool *existed, struct error *err);
/* The same for a folder, which cannot be linked. */
MUST_CHECK enum error_code directory_rename_first(const struct directory *directory,
                                                  const char *from, const char *path, bool *existed,
                                                  struct error *err);

/* The time by the clock of the file system that the store lies on, in seconds: the hosts that share it may disagree. */
int64_t directory_now(const struct directory *directory);
/* When the file or folder was last written, by that clock. Fails: ERROR_NOT_FOUND; ERROR_IO. */
MUST_CHECK enum error_code directory_written_at(const char path[FILE_PATH_SIZE], int64_t *seconds,
                                                struct error *err);

#endif
