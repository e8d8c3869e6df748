/*
 * s3_manifest - the text that makes files in a bucket an artifact.
 *
 *   graphmill artifact v1 6f2b8c1d90e4a735 folder      version, attempt under which the files lie, file | folder
 *   1048576 CURRENT                                    size and name of file 0; the name of the one of a file is "-"
 *   52 MANIFEST-000005                                 ... of file 1; in the order of their names
 *   end
 */
#ifndef STORE_BACKENDS_S3_MANIFEST_H
#define STORE_BACKENDS_S3_MANIFEST_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { S3_ATTEMPT_SIZE = 17, S3_FILE_NAME_SIZE = 128, S3_MANIFEST_MAX = 1 << 20 };

struct s3_file_entry {
    uint64_t size;
    char name[S3_FILE_NAME_SIZE]; /* "" of the one file of a file */
};

/* The attempt of a manifest. Fails: ERROR_CORRUPT naming `key` and the line. All of `text` is looked at. */
MUST_CHECK enum error_code s3_manifest_check(const char *key, const char *text,
                                             char attempt[S3_ATTEMPT_SIZE], struct error *err);
/* The entry behind the first `index` ones of a checked manifest; false: there are no more. */
bool s3_manifest_entry(const char *text, size_t index, struct s3_file_entry *out);

#endif
