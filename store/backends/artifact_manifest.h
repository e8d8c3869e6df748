/*
 * artifact_manifest - the text that makes files in a place without folders an artifact.
 *
 *   graphmill artifact v1 6f2b8c1d90e4a735 folder      version, attempt under which the files lie, file | folder
 *   1048576 CURRENT                                    size and name of file 0; the name of the one of a file is "-"
 *   52 MANIFEST-000005                                 ... of file 1; in the order of their names
 *   end
 */
#ifndef STORE_BACKENDS_ARTIFACT_MANIFEST_H
#define STORE_BACKENDS_ARTIFACT_MANIFEST_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARTIFACT_ATTEMPT_SIZE = 17, ARTIFACT_FILE_SIZE = 128, ARTIFACT_MANIFEST_MAX = 1 << 20 };

struct artifact_file {
    uint64_t size;
    char name[ARTIFACT_FILE_SIZE]; /* "" of the one file of a file */
};

/* The manifest of the file or folder at `path`, which is to be published as `key`, under a random attempt. *text:
 * memory_free(). Fails: ERROR_INVALID for names that are none, or too many; ERROR_IO. */
MUST_CHECK enum error_code artifact_manifest_make(const char *key, const char *path,
                                                  char attempt[ARTIFACT_ATTEMPT_SIZE], char **text,
                                                  struct error *err);
/* The attempt of a manifest. Fails: ERROR_CORRUPT naming `key` and the line. All of `text` is looked at. */
MUST_CHECK enum error_code artifact_manifest_check(const char *key, const char *text,
                                                   char attempt[ARTIFACT_ATTEMPT_SIZE],
                                                   struct error *err);
/* The entry behind the first `index` ones of a checked manifest; false: there are no more. */
bool artifact_manifest_entry(const char *text, size_t index, struct artifact_file *out);
/* The entry of the file `name`, and its number. */
bool artifact_manifest_find(const char *text, const char *name, struct artifact_file *out,
                            size_t *number);

#endif
