/*
 * key_walk - visits the keys below a folder of a directory store, in the order of their bytes.
 *
 * The order of names in a folder is not the order of keys: "a-b" comes before "a/c" but after "a".
 * The entries of a folder are therefore sorted by their part of the key: a folder with its slash, a
 * record without its suffix.
 */
#ifndef STORE_BACKENDS_DIRECTORY_KEY_WALK_H
#define STORE_BACKENDS_DIRECTORY_KEY_WALK_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdbool.h>

/* The suffix of a record's file, and the name of the file that marks a folder as an artifact. */
#define KEY_WALK_RECORD_SUFFIX ".record"
#define KEY_WALK_ARTIFACT_MARK ".artifact"

/* Returns in *found whether `path` is an artifact: a file that is not a record, or a folder with
 * the mark. A missing path is no artifact. Fails: ERROR_IO if this cannot be found out. */
MUST_CHECK enum error_code key_walk_is_artifact(const char *path, bool *found, struct error *err);
/* Visits the keys in <root>/<prefix> that come after the key `after`. Skips "tmp", "switch" and
 * "logs" at the top, which hold no keys. A missing folder counts as empty. */
MUST_CHECK enum error_code key_walk(const char *root, const char *prefix, const char *after,
                                    store_visitor visit, void *context, struct error *err);

#endif
