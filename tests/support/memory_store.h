/*
 * memory_store - a store without files, for tests.
 *
 * What is put lives in a place of some name until memory_store_forget(), so that several opens of one place see the
 * same. Artifacts are files of their own kind: they lie in a temporary folder. The bytes are not counted by
 * memory.h: they are the test's, not those of the code that is tested.
 */
#ifndef TESTS_SUPPORT_MEMORY_STORE_H
#define TESTS_SUPPORT_MEMORY_STORE_H

#include "store/objects/store_backend.h"

/* Scheme "memory"; open it with store_open_on(). */
extern const struct store_backend memory_backend;

/* `name`: of the place that was opened. Puts `size` bytes where the record lies, as a crash or a bad disk would. */
void memory_store_damage(const char *name, const char *key, const void *bytes, size_t size);
/* Frees a place that nobody has open; an unknown one is fine. */
void memory_store_forget(const char *name);

#endif
