/*
 * npy - NumPy's array files: one header, one array in C order.
 *
 *   offset size
 *      0    6   93 4e 55 4d 50 59  ("\x93NUMPY")
 *      6    2   version: 1, 2 or 3, then 0
 *      8    2   header length (version 1), or 4 bytes (2 and 3)
 *     10    .   header: a Python dictionary as text, {'descr': '<f4', 'fortran_order': False,
 *               'shape': (2708, 1433), }, padded with spaces and ended by a line feed
 *      .    .   the elements
 *
 * Read: f2 f4 f8, i1 i2 i4 i8, u1 u2 u4 and b1 of either byte order, up to four dimensions. What is
 * something else (npz, Fortran order, Python objects) is named, with the line of numpy that converts it.
 * Nothing in the header is trusted: it is at most 10,000 bytes (NumPy's own limit), products are checked, and the size of the
 * file must be exactly what the shape says. Elements are read in pieces that the caller sizes, from any
 * place, so memory is bounded and no allocation follows from the header.
 *
 * Format: NEP 1 and numpy.lib.format.
 */
#ifndef COMMON_FORMATS_NPY_H
#define COMMON_FORMATS_NPY_H

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "common/base/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NPY_DIMENSION_MAX = 4, NPY_HEADER_SIZE_MAX = 10000 };

enum npy_type {
    NPY_UNKNOWN,
    NPY_F32,
    NPY_F64,
    NPY_I32,
    NPY_I64,
    NPY_U8,
    NPY_BOOL,
    NPY_F16,
    NPY_I8,
    NPY_I16,
    NPY_U16,
    NPY_U32
};

struct npy_header {
    enum npy_type type;
    bool is_swapped; /* big-endian */
    uint32_t item_size;
    uint32_t dimension_count;
    uint64_t shape[NPY_DIMENSION_MAX];
    uint64_t element_count; /* product of the shape */
    uint64_t data_offset;   /* of the first element in the file */
};

/* Reads a header from the first `size` bytes of a file of `file_size` bytes; `size` is at least the
 * smaller of file_size and NPY_HEADER_SIZE_MAX + 12. `name` stands in messages.
 * Fails: ERROR_INPUT naming the byte offset, what was expected and what was found. */
MUST_CHECK enum error_code npy_header_parse(const uint8_t *data, size_t size, uint64_t file_size,
                                            const char *name, struct npy_header *out,
                                            struct error *err);

struct npy_reader { /* {0} is a closed reader */
    struct npy_header header;
    int fd_plus_one;
    char path[FILE_PATH_SIZE];
};

/* Fails: ERROR_NOT_FOUND, ERROR_IO, ERROR_INPUT. */
MUST_CHECK enum error_code npy_reader_open(struct npy_reader *reader, const char *path,
                                           struct error *err);
void npy_reader_close(struct npy_reader *reader);
bool npy_is_integer(const struct npy_header *header); /* or boolean */

/* Elements [first, first + count) in C order, converted. Out-of-range positions are our own bug.
 * Fails: ERROR_INPUT when the file has become shorter, or (int64) it is not of an integer type. */
MUST_CHECK enum error_code npy_reader_int64(const struct npy_reader *reader, uint64_t first,
                                            size_t count, int64_t *out, struct error *err);
MUST_CHECK enum error_code npy_reader_float(const struct npy_reader *reader, uint64_t first,
                                            size_t count, float *out, struct error *err);

/* Writes a file piece by piece, beside `path` under another name until it is whole. */
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

/* An array [rows, cols] of NPY_F32 or NPY_I64; [rows] when `cols` is 0. */
MUST_CHECK enum error_code npy_writer_open(struct npy_writer *writer, const char *path,
                                           enum npy_type type, uint64_t rows, uint64_t cols,
                                           struct error *err);
/* The next `count` elements: float or int64_t, as the type says. More than the shape is our bug. */
MUST_CHECK enum error_code npy_writer_add(struct npy_writer *writer, const void *elements,
                                          uint64_t count, struct error *err);
/* Hash and bytes of the whole file, when all elements were added and before it is finished: of what was written. */
struct checksum npy_writer_sum(const struct npy_writer *writer, uint64_t *size_bytes);
/* Flushes to disk and gives the file its name. All elements must have been added. */
MUST_CHECK enum error_code npy_writer_finish(struct npy_writer *writer, struct error *err);
/* Removes a file that was not finished. */
void npy_writer_close(struct npy_writer *writer);

#endif
