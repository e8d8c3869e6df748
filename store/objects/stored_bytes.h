/*
 * stored_bytes - the bytes of one record as a backend returns them, 64-byte aligned.
 *
 * Small records are on the heap. Large ones are mapped if their file is on a local disk. Reading 1
 * GiB thus needs no copy, and reading 1 KB no system calls to map it and no page faults.
 */
#ifndef STORE_OBJECTS_STORED_BYTES_H
#define STORE_OBJECTS_STORED_BYTES_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STORED_BYTES_MAP_FROM = 1 << 20 };

struct stored_bytes { /* {0} is empty */
    uint8_t *data;
    size_t size;
    bool mapped;
};

/* Allocates `size` bytes on the heap. */
MUST_CHECK enum error_code stored_bytes_new(struct stored_bytes *out, size_t size,
                                            struct error *err);
/* Reads a whole file; with `may_map` a large one is mapped, not copied. Fails: ERROR_NOT_FOUND,
 * ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code stored_bytes_read(struct stored_bytes *out, const char *path,
                                             bool may_map, struct error *err);
void stored_bytes_release(struct stored_bytes *bytes);

#endif
