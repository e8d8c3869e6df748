/*
 * memory_backend - a store in the memory of one process: "memory:NAME".
 *
 * The reference of what a backend promises, and the one that tests damage. What is put stays until the process ends or
 * forgets it, so several opens of one name see the same. Artifacts are bytes here, too: they have no path, and whoever
 * reads one gets a copy on disk (artifact_cache.h). Its bytes come from malloc() and not from common/base/memory.h: they
 * stand for a server's, and are not those of the code that is measured or made to run out of memory.
 */
#ifndef STORE_BACKENDS_MEMORY_BACKEND_H
#define STORE_BACKENDS_MEMORY_BACKEND_H

#include "store/objects/object_store.h"

extern const struct object_backend memory_backend;

/* `name`: of the place that was opened. Puts `size` bytes where the record lies, as a crash or a bad disk would. */
void memory_store_damage(const char *name, const char *key, const void *bytes, size_t size);
/* Frees a place that nobody has open; an unknown one is fine. */
void memory_store_forget(const char *name);

#endif
