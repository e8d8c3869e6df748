/*
 * scratch_file - a temporary file: written once front to back (or in pieces anywhere), then read
 * front to back any number of times, and removed when closed.
 */
#ifndef STAGES_INGEST_BUILD_EDGES_SCRATCH_FILE_H
#define STAGES_INGEST_BUILD_EDGES_SCRATCH_FILE_H

#include "common/base/error.h"
#include "common/files/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCRATCH_FILE_BUFFER_BYTES = 1 << 18 };

struct scratch_file { /* {0} is closed */
    char path[FILE_PATH_SIZE];
    int fd;
    bool is_open;
    uint8_t *buffer; /* [SCRATCH_FILE_BUFFER_BYTES], bytes not yet written */
    size_t buffered;
    uint64_t size, position;
};

/* Creates the file `path`. Fails: ERROR_IO when it exists; ERROR_NO_MEMORY. */
MUST_CHECK enum error_code scratch_file_open(struct scratch_file *file, const char *path,
                                             struct error *err);
/* Closes and removes the file. Closing a closed one is allowed. */
void scratch_file_close(struct scratch_file *file);
MUST_CHECK enum error_code scratch_file_append(struct scratch_file *file, const void *data,
                                               size_t size, struct error *err);
/* Writes bytes at `offset`, in any order, instead of appending. Holes read as zeros. */
MUST_CHECK enum error_code scratch_file_write_at(struct scratch_file *file, uint64_t offset,
                                                 const void *data, size_t size, struct error *err);
/* Starts reading from the first byte. Nothing may be appended after it. */
MUST_CHECK enum error_code scratch_file_rewind(struct scratch_file *file, struct error *err);
/* Reads the next `size` bytes. Fails: ERROR_IO when the file ends before. */
MUST_CHECK enum error_code scratch_file_read(struct scratch_file *file, void *data, size_t size,
                                             struct error *err);
/* Reads bytes at `offset` of a file that was rewound once. Threads: any number. */
MUST_CHECK enum error_code scratch_file_read_at(const struct scratch_file *file, uint64_t offset,
                                                void *data, size_t size, struct error *err);

#endif
