/*
 * memory_artifacts - the artifacts of a store in memory: entries of its object_backend
 * (object_store.h).
 */
#ifndef STORE_BACKENDS_MEMORY_MEMORY_ARTIFACTS_H
#define STORE_BACKENDS_MEMORY_MEMORY_ARTIFACTS_H

#include "store/backends/memory/memory_items.h"
#include "store/objects/object_store.h"

MUST_CHECK enum error_code memory_artifact_scratch(void *state, char path[FILE_PATH_SIZE],
                                                   struct error *err);
MUST_CHECK enum error_code memory_artifact_publish(void *state, const char *path, const char *key,
                                                   bool *existed, struct error *err);
MUST_CHECK enum error_code memory_artifact_files(void *state, const char *key,
                                                 object_file_visitor visit, void *context,
                                                 struct error *err);
MUST_CHECK enum error_code memory_artifact_read(void *state, const char *key, const char *file,
                                                uint64_t offset, void *buffer, size_t size,
                                                size_t *got, struct error *err);
/* Removes an artifact. Succeeds if there is none. The caller holds memory_store_lock. */
void memory_artifact_drop(struct memory_place *place, const char *key);

#endif
