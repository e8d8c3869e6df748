/*
 * npy_writer - writes a NumPy array file (npy_header.h) piece by piece.
 */
#ifndef COMMON_FORMATS_NPY_WRITER_H
#define COMMON_FORMATS_NPY_WRITER_H

#include "common/base/checksum.h"
#include "common/base/file.h"
#include "common/formats/npy_header.h"

/* The file lies beside `path` under another name until it is whole. */
struct npy_writer { /* {0} is a closed writer */
    int fd_plus_one;
    enum npy_type type;
    uint64_t data_offset;
    uint64_t element_count;
    uint64_t elements_left;
    uint64_t flushed;            /* bytes that the system was asked to write to disk */
    struct checksum_stream *sum; /* of the file so far */
    char path[FILE_PATH_SIZE];
    char temporary[FILE_PATH_SIZE];
};

/* An array [rows, cols] of NPY_F32, NPY_F64, NPY_I64 or NPY_BOOL; [rows] when `cols` is 0. */
MUST_CHECK enum error_code npy_writer_open(struct npy_writer *writer, const char *path,
                                           enum npy_type type, uint64_t rows, uint64_t cols,
                                           struct error *err);
/* The next `count` elements: float, double, int64_t or one byte of 0 or 1, as the type says. More than the shape is our bug. */
MUST_CHECK enum error_code npy_writer_add(struct npy_writer *writer, const void *elements,
                                          uint64_t count, struct error *err);
/* Hash and bytes of the whole file, when all elements were added and before it is finished: of what was written. */
struct checksum npy_writer_sum(const struct npy_writer *writer, uint64_t *size_bytes);
/* Flushes to disk and gives the file its name. All elements must have been added. */
MUST_CHECK enum error_code npy_writer_finish(struct npy_writer *writer, struct error *err);
/* Removes a file that was not finished. */
void npy_writer_close(struct npy_writer *writer);

#endif
