/*
 * memory_backend - a store in the memory of one process: "memory:NAME".
 *
 * It is the reference for the contract of a backend, and tests can damage it. Its content stays
 * until the process ends or memory_store_forget() frees it, so that several opens of one name see
 * the same store. Artifacts are bytes here too: they have no path, and a reader gets a copy on disk
 * (artifact_cache.h).
 *
 * Its memory comes from malloc(), not from common/base/memory.h: it stands for the memory of a
 * server, and must not count in tests that measure or limit the memory of the code under test.
 */
#ifndef STORE_BACKENDS_MEMORY_MEMORY_BACKEND_H
#define STORE_BACKENDS_MEMORY_MEMORY_BACKEND_H

#include "store/objects/object_store.h"

extern const struct object_backend memory_backend;

/* Overwrites a record of the place `name` with `size` bytes, as a crash or a bad disk would. */
void memory_store_damage(const char *name, const char *key, const void *bytes, size_t size);
/* Frees the place `name`, which nobody may have open. Does nothing if there is none. */
void memory_store_forget(const char *name);

#endif
