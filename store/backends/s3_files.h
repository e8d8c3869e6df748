/*
 * s3_files - files of the user in a bucket, which is no store: listed, brought here, put there.
 *
 *   s3://BUCKET/PATH[?endpoint=URL&...]       the object PATH, or all objects below PATH/ (s3_address.h has the rest)
 *   s3://BUCKET/PATTERN[?endpoint=URL&...]    all objects whose names fit `*` and `[...]`, as in common/base/file_pattern.h: neither fits a '/', nor
 *                                             a '.' in front of a name. An object that has just this name is meant alone. `?` fits nothing:
 *                                             it is where parameters begin.
 *
 * What is listed has its version in its ETag: an object that is replaced before it is here is told, not mixed.
 */
#ifndef STORE_BACKENDS_S3_FILES_H
#define STORE_BACKENDS_S3_FILES_H

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "common/base/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct s3_files; /* what lies at one address */

bool s3_files_is_address(const char *text); /* does it begin with s3: ? */

/* Looks what there is. End with s3_files_close(); NULL is fine.
 * Fails: ERROR_INVALID for a bad address; ERROR_NOT_FOUND when nothing is there; ERROR_DENIED; ERROR_UNAVAILABLE; ERROR_INPUT for names that are
 * none of files. */
MUST_CHECK enum error_code s3_files_list(const char *address, struct s3_files **out,
                                         struct error *err);
void s3_files_close(struct s3_files *files);

/* Of an address, how many of its bytes are the folder that all of it lies in, without the '/' at the end: what follows is the name of a file or a
 * folder, or a pattern, and then parameters. */
size_t s3_files_folder_size(const char *address);
uint64_t s3_files_bytes(const struct s3_files *files);
/* Adds names, sizes and ETags: another version of anything has another sum. */
void s3_files_add_to_sum(const struct s3_files *files, struct checksum_stream *sum);
/* Makes a file or a folder in `folder`, which is there or not, or what fits the pattern: `path` is what it is here, a pattern again where it
 * was one. Fails: ERROR_UNAVAILABLE when an object was replaced meanwhile;
 * ERROR_IO, ERROR_NO_SPACE; as s3_client.h. */
MUST_CHECK enum error_code s3_files_fetch(const struct s3_files *files, const char *folder,
                                          char path[FILE_PATH_SIZE], struct error *err);

struct s3_sent {
    int64_t files;
    uint64_t bytes;
};

/* Puts the file or the folder `path`, with all in it, at an address where nothing is but files of the same names, which are replaced: one that
 * was broken off is done again.
 * Fails: ERROR_USAGE when others are there; ERROR_NOT_FOUND, ERROR_IO of `path`; ERROR_INPUT when nothing is in it; as s3_client.h. */
MUST_CHECK enum error_code s3_files_send(const char *path, const char *address,
                                         struct s3_sent *sent, struct error *err);

#endif
