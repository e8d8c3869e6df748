/*
 * file - whole files, folders, and writing so that a reader never sees half of anything.
 */
#ifndef COMMON_BASE_FILE_H
#define COMMON_BASE_FILE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILE_PATH_SIZE = 1024 };

/* Joins into `out` [FILE_PATH_SIZE] like printf. Fails: ERROR_INVALID when it does not fit. */
MUST_CHECK enum error_code file_path(char out[FILE_PATH_SIZE], struct error *err,
                                     const char *format, ...) PRINTF_LIKE(3, 4);

enum file_kind { FILE_ABSENT, FILE_PLAIN, FILE_FOLDER }; /* plain: all but a folder */
/* Opens a file for reading. The caller closes *fd. Refuses a FIFO, a socket, a device and a folder
 * without opening it: a FIFO without a writer would block for ever, and a device such as /dev/zero
 * has no end. So `graphmill run <(make-edges)` is refused, too.
 * Fails: ERROR_NOT_FOUND, ERROR_IO, ERROR_INPUT naming what stands there instead of a file. */
MUST_CHECK enum error_code file_open(const char *path, int *fd, struct error *err);
/* What stands under a name, links followed. What cannot be looked at (EIO, EACCES, a stale handle)
 * is not absent: that fails with ERROR_IO. */
MUST_CHECK enum error_code file_look(const char *path, enum file_kind *kind, struct error *err);
/* The same, when it does not matter what it is. */
MUST_CHECK enum error_code file_is_there(const char *path, bool *found, struct error *err);
/* The one path of what lies at `path`: absolute, without "..", without symbolic links as far as it
 * exists.
 * Fails: ERROR_INVALID when it is too long; ERROR_IO. */
MUST_CHECK enum error_code file_absolute(char out[FILE_PATH_SIZE], const char *path,
                                         struct error *err);
/* Fails: ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code file_size(const char *path, uint64_t *bytes, struct error *err);
/* Creates `path` and the folders above it; existing ones are fine, and so is it when someone
 * removes empty ones meanwhile. */
MUST_CHECK enum error_code file_make_folders(const char *path, struct error *err);
/* Removes a file or a folder with all in it; a missing one is fine. */
MUST_CHECK enum error_code file_remove_all(const char *path, struct error *err);

/* The whole file, with a NUL behind it that *size does not count.
 * Owns:  *data belongs to the caller; memory_free().
 * Fails: ERROR_NOT_FOUND, ERROR_IO, ERROR_NO_MEMORY, ERROR_INPUT above `limit` bytes (0: none). */
MUST_CHECK enum error_code file_read(const char *path, size_t limit, char **data, size_t *size,
                                     struct error *err);

/* Reads `size` bytes from `offset` on, fewer (*got) where the file ends. Fails: ERROR_NOT_FOUND,
 * ERROR_IO. */
MUST_CHECK enum error_code file_read_range(const char *path, uint64_t offset, void *buffer,
                                           size_t size, size_t *got, struct error *err);

/* A new file beside `path`, open for reading and writing, under a name that nobody else has, in
 * whatever container or on whatever host: <path>.<16 random digits>.tmp. The caller closes *fd. */
MUST_CHECK enum error_code file_create_temporary(const char *path, char temporary[FILE_PATH_SIZE],
                                                 int *fd, struct error *err);
/* Removes what processes that were killed left under such names beside the files whose names begin
 * with `prefix`. For whoever knows that nobody writes there. */
MUST_CHECK enum error_code file_sweep_temporary(const char *folder, const char *prefix,
                                                struct error *err);
/* Gives the file or folder `from` the name `to`, over a file that has it. An answer lost on the way
 * (NFS) is no failure: what then stands at `to` is compared with what `from` was. errno is
 * rename()'s after a failure. */
MUST_CHECK enum error_code file_rename(const char *from, const char *to, struct error *err);

/* Makes `path` a symbolic link to `target`, over one that is there. */
MUST_CHECK enum error_code file_link_replace(const char *path, const char *target,
                                             struct error *err);

/* Writes a new version of `path` that appears whole or not at all: a temporary file beside it, then
 * rename. With `durable`, file and folder are flushed to disk (fsync) first. */
MUST_CHECK enum error_code file_replace(const char *path, const void *data, size_t size,
                                        bool durable, struct error *err);

/* Calls `visit` for each name in the folder, sorted by bytes, "." and ".." left out. Stops at the
 * first error and returns it. Fails: ERROR_NOT_FOUND, ERROR_IO. */
typedef enum error_code (*file_visitor)(void *context, const char *name, struct error *err);
MUST_CHECK enum error_code file_list(const char *folder, file_visitor visit, void *context,
                                     struct error *err);

/* Flushes a file's or folder's content to disk. File systems that cannot flush a folder (EINVAL:
 * some FUSE and SMB mounts) keep its entries some other way; that is success. */
MUST_CHECK enum error_code file_sync(const char *path, struct error *err);
/* The same for every file and folder below `path`, itself included. */
MUST_CHECK enum error_code file_sync_tree(const char *path, struct error *err);
/* Copies a file or a folder with all in it. */
MUST_CHECK enum error_code file_copy_tree(const char *from, const char *to, struct error *err);

/* write(2) until all is written. `path` is for the message. */
MUST_CHECK enum error_code file_write_all(int fd, const void *data, size_t size, const char *path,
                                          struct error *err);
/* The same at `offset`: threads may write to one file side by side. */
MUST_CHECK enum error_code file_write_at(int fd, const void *data, size_t size, uint64_t offset,
                                         const char *path, struct error *err);
/* pread(2) until all is read. Fails: ERROR_IO, also where the file ends. */
MUST_CHECK enum error_code file_read_at(int fd, void *data, size_t size, uint64_t offset,
                                        const char *path, struct error *err);
/* Asks the system to begin writing to disk what stands there, so that a flush later has less to
 * wait for. A hint. */
void file_flush_begin(int fd, uint64_t offset, uint64_t size);

#endif
