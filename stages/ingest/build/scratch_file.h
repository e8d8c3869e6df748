/*
 * scratch_file - bytes put aside: written once front to back (or
 * in pieces anywhere), then read front to back any number of
 * times, and gone when closed.
 */
#ifndef STAGES_INGEST_BUILD_SCRATCH_FILE_H
#define STAGES_INGEST_BUILD_SCRATCH_FILE_H

#include "common/base/error.h"
#include "common/base/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCRATCH_FILE_BUFFER_BYTES = 1 << 18 };

struct scratch_file { /* {0} is closed */
    char path[FILE_PATH_SIZE];
    int fd;
    bool is_open;
    uint8_t *buffer; /* [SCRATCH_FILE_BUFFER_BYTES], what is not yet written */
    size_t buffered;
    uint64_t size, position;
};

/* A new file at `path`. Fails: ERROR_IO when there is one; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code scratch_file_open(struct scratch_file *file, const char *path,
                                             struct error *err);
/* Closes and removes it; a closed one is fine. */
void scratch_file_close(struct scratch_file *file);
MUST_CHECK enum error_code scratch_file_append(struct scratch_file *file, const void *data,
                                               size_t size, struct error *err);
/* Bytes at `offset`, in any order, instead of appending; holes read as zeros. */
MUST_CHECK enum error_code scratch_file_write_at(struct scratch_file *file, uint64_t offset,
                                                 const void *data, size_t size, struct error *err);
/* From the first byte again. Nothing may be appended after this. */
MUST_CHECK enum error_code scratch_file_rewind(struct scratch_file *file, struct error *err);
/* The next `size` bytes, all of them. Fails: ERROR_IO when the file ends before. */
MUST_CHECK enum error_code scratch_file_read(struct scratch_file *file, void *data, size_t size,
                                             struct error *err);
/* Bytes at `offset`, of a file that was rewound once. Threads: any number. */
MUST_CHECK enum error_code scratch_file_read_at(const struct scratch_file *file, uint64_t offset,
                                                void *data, size_t size, struct error *err);

#endif
