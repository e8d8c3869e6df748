/*
 * directory_refs - the refs of a directory store: small files below switch/, replaced by rename.
 *
 * `state` is a struct directory. Each function is the entry of that name in struct object_backend
 * (store/objects/object_store.h), which documents it.
 */
#ifndef STORE_BACKENDS_DIRECTORY_DIRECTORY_REFS_H
#define STORE_BACKENDS_DIRECTORY_DIRECTORY_REFS_H

#include "common/base/error.h"
#include "store/objects/object_store.h"

#include <stdbool.h>
#include <stddef.h>

MUST_CHECK enum error_code directory_ref_get(void *state, const char *name, char *text, size_t size,
                                             struct error *err);
MUST_CHECK enum error_code directory_ref_set(void *state, const char *name, const char *text,
                                             struct error *err);
MUST_CHECK enum error_code directory_ref_exchange(void *state, const char *name,
                                                  const char *expected, const char *text,
                                                  bool *matched, struct error *err);
MUST_CHECK enum error_code directory_ref_list(void *state, store_visitor visit, void *context,
                                              struct error *err);

#endif
