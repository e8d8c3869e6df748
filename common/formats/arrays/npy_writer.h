/*
 * npy_writer - writes a NumPy array file (npy_header.h) piece by piece.
 */
#ifndef COMMON_FORMATS_ARRAYS_NPY_WRITER_H
#define COMMON_FORMATS_ARRAYS_NPY_WRITER_H

#include "common/files/checksum.h"
#include "common/files/file.h"
#include "common/formats/arrays/npy_header.h"

/* The file has another name next to `path` until it is complete. */
struct npy_writer { /* {0} is a closed writer */
    int fd_plus_one;
    enum npy_type type;
    uint64_t data_offset;
    uint64_t element_count;
    uint64_t elements_left;
    uint64_t flushed;            /* bytes that the system was already asked to write to disk */
    struct checksum_stream *sum; /* checksum of the file so far */
    char path[FILE_PATH_SIZE];
    char temporary[FILE_PATH_SIZE];
};

/* Opens an array [rows, cols] of NPY_F32, NPY_F64, NPY_I64 or NPY_BOOL; [rows] when `cols` is 0. */
MUST_CHECK enum error_code npy_writer_open(struct npy_writer *writer, const char *path,
                                           enum npy_type type, uint64_t rows, uint64_t cols,
                                           struct error *err);
/* Adds the next `count` elements: float, double, int64_t, or one byte of 0 or 1, according to the
 * type. More than the shape has is a bug. */
MUST_CHECK enum error_code npy_writer_add(struct npy_writer *writer, const void *elements,
                                          uint64_t count, struct error *err);
/* Returns the hash of the whole file as it was written, and its bytes. Call it after all elements
 * were added and before npy_writer_finish(). */
struct checksum npy_writer_sum(const struct npy_writer *writer, uint64_t *size_bytes);
/* Flushes the file to disk and renames it. All elements must have been added. */
MUST_CHECK enum error_code npy_writer_finish(struct npy_writer *writer, struct error *err);
/* Removes an unfinished file. */
void npy_writer_close(struct npy_writer *writer);

#endif
