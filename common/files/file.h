/*
 * file - whole files, folders, and writes that a reader sees completely or not at all.
 */
#ifndef COMMON_FILES_FILE_H
#define COMMON_FILES_FILE_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILE_PATH_SIZE = 1024 };

/* Formats a path like printf. Fails: ERROR_INVALID when it does not fit. */
MUST_CHECK enum error_code file_path(char out[FILE_PATH_SIZE], struct error *err,
                                     const char *format, ...) PRINTF_LIKE(3, 4);

enum file_kind { FILE_ABSENT, FILE_PLAIN, FILE_FOLDER }; /* plain: everything but a folder */
/* Opens a file for reading. The caller closes *fd. A FIFO, a socket, a device and a folder are
 * refused without opening them: a FIFO without a writer would block for ever, and a device such as
 * /dev/zero has no end. So `graphmill run <(make-edges)` is refused, too. Fails: ERROR_NOT_FOUND,
 * ERROR_IO, ERROR_INPUT naming what is there instead of a file. */
MUST_CHECK enum error_code file_open(const char *path, int *fd, struct error *err);
/* Finds out what has a name, following links. If that cannot be found out (EIO, EACCES, a stale
 * handle), the name is not taken for absent: that fails with ERROR_IO. */
MUST_CHECK enum error_code file_look(const char *path, enum file_kind *kind, struct error *err);
/* Finds out whether anything has the name. */
MUST_CHECK enum error_code file_is_there(const char *path, bool *found, struct error *err);
/* Makes the canonical path of `path`: absolute, without "..", without symbolic links as far as it
 * exists. Fails: ERROR_INVALID when it is too long; ERROR_IO. */
MUST_CHECK enum error_code file_absolute(char out[FILE_PATH_SIZE], const char *path,
                                         struct error *err);
/* Returns the size of a file. Fails: ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code file_size(const char *path, uint64_t *bytes, struct error *err);
/* Creates `path` and the folders above it. It is no failure if they exist, or if another process
 * removes empty ones meanwhile. */
MUST_CHECK enum error_code file_make_folders(const char *path, struct error *err);
/* Removes a file, or a folder with its contents. A missing one is no failure. */
MUST_CHECK enum error_code file_remove_all(const char *path, struct error *err);

/* Reads the whole file, and adds a NUL that *size does not count.
 * Owns:  *data belongs to the caller; memory_free().
 * Fails: ERROR_NOT_FOUND, ERROR_IO, ERROR_NO_MEMORY, ERROR_INPUT above `limit` bytes (0: none). */
MUST_CHECK enum error_code file_read(const char *path, size_t limit, char **data, size_t *size,
                                     struct error *err);

/* Reads `size` bytes from `offset` on, fewer (*got) if the file ends. Fails: ERROR_NOT_FOUND,
 * ERROR_IO. */
MUST_CHECK enum error_code file_read_range(const char *path, uint64_t offset, void *buffer,
                                           size_t size, size_t *got, struct error *err);

/* Makes a new file next to `path`, open for reading and writing. Its name is unique over all
 * containers and hosts: <path>.<16 random digits>.tmp. The caller closes *fd. */
MUST_CHECK enum error_code file_create_temporary(const char *path, char temporary[FILE_PATH_SIZE],
                                                 int *fd, struct error *err);
/* Removes the temporary files that killed processes left next to files whose names begin with
 * `prefix`. The caller must know that nobody writes there. */
MUST_CHECK enum error_code file_sweep_temporary(const char *folder, const char *prefix,
                                                struct error *err);
/* Renames the file or folder `from` to `to`, replacing a file of that name. It is no failure if the
 * answer is lost on the way (NFS): the entry that is then at `to` is compared with what `from` was.
 * After a failure errno is that of rename(). */
MUST_CHECK enum error_code file_rename(const char *from, const char *to, struct error *err);

/* Makes `path` a symbolic link to `target`, and replaces an existing one. */
MUST_CHECK enum error_code file_link_replace(const char *path, const char *target,
                                             struct error *err);

/* Writes a new version of `path` that appears completely or not at all: it writes a temporary file
 * next to it and renames that. With `durable`, file and folder are flushed to disk (fsync), so that
 * the content survives a crash after the return. */
MUST_CHECK enum error_code file_replace(const char *path, const void *data, size_t size,
                                        bool durable, struct error *err);

/* Calls `visit` for each name in the folder, sorted by bytes, without "." and "..". Stops at the
 * first error and returns it. Fails: ERROR_NOT_FOUND, ERROR_IO. */
typedef enum error_code (*file_visitor)(void *context, const char *name, struct error *err);
MUST_CHECK enum error_code file_list(const char *folder, file_visitor visit, void *context,
                                     struct error *err);

/* Flushes the content of a file or folder to disk. File systems that cannot flush a folder (EINVAL:
 * some FUSE and SMB mounts) keep its entries safe in other ways, so that counts as success. */
MUST_CHECK enum error_code file_sync(const char *path, struct error *err);
/* Does the same for every file and folder below `path`, and for `path`. */
MUST_CHECK enum error_code file_sync_tree(const char *path, struct error *err);
/* Copies a file, or a folder with its contents. */
MUST_CHECK enum error_code file_copy_tree(const char *from, const char *to, struct error *err);

/* Calls write(2) until everything is written. `path` is for messages. */
MUST_CHECK enum error_code file_write_all(int fd, const void *data, size_t size, const char *path,
                                          struct error *err);
/* Does the same at `offset`: several threads may write to one file. */
MUST_CHECK enum error_code file_write_at(int fd, const void *data, size_t size, uint64_t offset,
                                         const char *path, struct error *err);
/* Calls pread(2) until everything is read. Fails: ERROR_IO, also at the end of the file. */
MUST_CHECK enum error_code file_read_at(int fd, void *data, size_t size, uint64_t offset,
                                        const char *path, struct error *err);
/* Asks the system to begin writing this range to disk, so that a later flush takes less time. It is
 * a hint. */
void file_flush_begin(int fd, uint64_t offset, uint64_t size);

#endif
