/*
 * artifact_manifest - the text that describes an artifact where the store has no folders.
 *
 * It lists the files of the artifact and names the attempt under which their bytes are stored.
 *
 *   graphmill artifact v1 6f2b8c1d90e4a735 folder      version, attempt, then "file" or "folder"
 *   1048576 CURRENT                                    size and name of file 0 ("-" for a file)
 *   52 MANIFEST-000005                                 ... of file 1; files are sorted by name
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
    char name[ARTIFACT_FILE_SIZE]; /* "" if the artifact is a single file */
};

/* Makes the manifest of the file or folder at `path`, which is to be published as `key`, and draws
 * a random attempt. The caller frees *text with memory_free(). Fails: ERROR_INVALID for a file name
 * that a store cannot hold, or too many files; ERROR_IO. */
MUST_CHECK enum error_code artifact_manifest_make(const char *key, const char *path,
                                                  char attempt[ARTIFACT_ATTEMPT_SIZE], char **text,
                                                  struct error *err);
/* Checks the whole manifest and copies its attempt out. Fails: ERROR_CORRUPT, naming `key` and the
 * line. */
MUST_CHECK enum error_code artifact_manifest_check(const char *key, const char *text,
                                                   char attempt[ARTIFACT_ATTEMPT_SIZE],
                                                   struct error *err);
/* Reads entry `index` of a checked manifest. Returns false if there are no more entries. */
bool artifact_manifest_entry(const char *text, size_t index, struct artifact_file *out);
/* Finds the entry of the file `name` and its number. Returns false if the artifact has no such
 * file. */
bool artifact_manifest_find(const char *text, const char *name, struct artifact_file *out,
                            size_t *number);

#endif
