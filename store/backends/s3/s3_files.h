/*
 * s3_files - lists, downloads and uploads files of the user in a bucket. The bucket need not be a
 * store.
 *
 *   s3://BUCKET/PATH[?endpoint=URL&...]       the object PATH, or all objects below PATH/
 *                                             (s3_address.h lists the parameters)
 *   s3://BUCKET/PATTERN[?endpoint=URL&...]    all objects whose names match `*` and `[...]`, as in
 *                                             common/files/file_pattern.h: neither matches a '/',
 *                                             nor a '.' at the start of a name. If an object has
 *                                             exactly this name, only that object is meant. `?` is
 *                                             no wildcard: parameters begin there.
 *
 * The list has the ETag of each object. If an object is replaced before it was downloaded, the
 * download fails, so that versions are never mixed.
 */
#ifndef STORE_BACKENDS_S3_S3_FILES_H
#define STORE_BACKENDS_S3_S3_FILES_H

#include "common/base/error.h"
#include "common/files/checksum.h"
#include "common/files/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct s3_files; /* The objects at one address. */

bool s3_files_is_address(const char *text); /* Returns whether `text` begins with "s3:". */

/* Lists the objects at `address`. The caller ends *out with s3_files_close(), which accepts NULL.
 * Fails: ERROR_INVALID for a bad address; ERROR_NOT_FOUND when there is no object; ERROR_DENIED;
 * ERROR_UNAVAILABLE; ERROR_INPUT for object names that cannot be file names. */
MUST_CHECK enum error_code s3_files_list(const char *address, struct s3_files **out,
                                         struct error *err);
void s3_files_close(struct s3_files *files);

/* Returns how many bytes of an address name the folder that holds all its objects, without the '/'
 * at the end. The name of a file or folder, or a pattern, follows, and then the parameters. */
size_t s3_files_folder_size(const char *address);
uint64_t s3_files_bytes(const struct s3_files *files);
/* Adds names, sizes and ETags to `sum`, so that it changes when any object does. */
void s3_files_add_to_sum(const struct s3_files *files, struct checksum_stream *sum);
/* Downloads the objects into `folder`, which is made if it is missing. `path` receives the path of
 * the file or folder; for a pattern, a pattern of local files. Fails: ERROR_UNAVAILABLE when an
 * object was replaced meanwhile; ERROR_IO, ERROR_NO_SPACE; as s3_client.h. */
MUST_CHECK enum error_code s3_files_fetch(const struct s3_files *files, const char *folder,
                                          char path[FILE_PATH_SIZE], struct error *err);

struct s3_sent {
    int64_t files;
    uint64_t bytes;
};

/* Uploads the file `path`, or the folder `path` with everything in it. The address may hold only
 * files of the same names, which are replaced, so that an upload that was interrupted can be
 * repeated. Fails: ERROR_USAGE when other objects are there; ERROR_NOT_FOUND, ERROR_IO for `path`;
 * ERROR_INPUT when the folder is empty; as s3_client.h. */
MUST_CHECK enum error_code s3_files_send(const char *path, const char *address,
                                         struct s3_sent *sent, struct error *err);

#endif
