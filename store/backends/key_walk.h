/*
 * key_walk - the keys below a folder of a directory store, in the order of their bytes.
 *
 * The order of names in a folder is not the order of keys ("a-b" comes before "a/c" and after "a"), so a
 * folder's entries are sorted as keys see them: a folder with its slash, a record without its suffix.
 */
#ifndef STORE_BACKENDS_KEY_WALK_H
#define STORE_BACKENDS_KEY_WALK_H

#include "common/base/error.h"
#include "store/objects/store.h"

#include <stdbool.h>

/* The suffix of a record's file, and the mark inside an artifact that is a folder. */
#define KEY_WALK_RECORD_SUFFIX ".record"
#define KEY_WALK_ARTIFACT_MARK ".artifact"

/* Whether `path` is an artifact: a file that is no record, or a folder with the mark. A missing one is none.
 * Fails: ERROR_IO when it cannot be told. */
MUST_CHECK enum error_code key_walk_is_artifact(const char *path, bool *found, struct error *err);
/* Visits what lies in <root>/<prefix> behind the key `after`, but for what is not kept under keys ("tmp", "switch" and
 * "logs" at the top). A missing folder is an empty one. */
MUST_CHECK enum error_code key_walk(const char *root, const char *prefix, const char *after,
                                    store_visitor visit, void *context, struct error *err);

#endif
