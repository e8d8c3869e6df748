/*
 * npy_header - NumPy's array files: one header, one array in C order.
 *
 *   offset size
 *      0    6   93 4e 55 4d 50 59  ("\x93NUMPY")
 *      6    2   version: 1, 2 or 3, then 0
 *      8    2   header length (version 1), or 4 bytes (2 and 3)
 *     10    .   header: a Python dictionary as text, {'descr': '<f4', 'fortran_order': False,
 *               'shape': (2708, 1433), }, padded with spaces and ended by a line feed
 *      .    .   the elements
 *
 * Supported: f2 f4 f8, i1 i2 i4 i8, u1 u2 u4 and b1 of either byte order, up to four dimensions.
 * Other files (npz, Python objects, more than two dimensions in Fortran order) are refused, with
 * the line of numpy that converts them. Nothing in the header is trusted: it has at most 10,000
 * bytes (NumPy's own limit), products are checked, and the size of the file must be exactly what
 * the shape requires.
 *
 * Format: NEP 1 and numpy.lib.format.
 */
#ifndef COMMON_FORMATS_ARRAYS_NPY_HEADER_H
#define COMMON_FORMATS_ARRAYS_NPY_HEADER_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NPY_MAGIC "\x93NUMPY" /* the first six bytes */

enum { NPY_DIMENSION_MAX = 4, NPY_PREFIX_SIZE = 12 /* maximum */, NPY_HEADER_SIZE_MAX = 10000 };

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
    bool is_swapped;    /* big-endian */
    bool is_by_columns; /* Fortran order, in two dimensions: the columns follow one another */
    uint32_t item_size;
    uint32_t dimension_count;
    uint64_t shape[NPY_DIMENSION_MAX];
    uint64_t element_count; /* product of the shape */
    uint64_t data_offset;   /* offset of the first element in the file */
};

/* Parses the header in the first `size` bytes of a file of `file_size` bytes; `size` is at least
 * the smaller of file_size and NPY_PREFIX_SIZE + NPY_HEADER_SIZE_MAX. Messages name the file by
 * `name`. Fails: ERROR_INPUT naming the byte offset, what was expected and what was found. */
MUST_CHECK enum error_code npy_header_parse(const uint8_t *data, size_t size, uint64_t file_size,
                                            const char *name, struct npy_header *out,
                                            struct error *err);
/* Does the same for an array whose end is not known: *file_size receives the bytes of header and
 * data according to the header. */
MUST_CHECK enum error_code npy_header_parse_start(const uint8_t *data, size_t size,
                                                  const char *name, struct npy_header *out,
                                                  uint64_t *file_size, struct error *err);
bool npy_is_integer(const struct npy_header *header); /* also true for booleans */

#endif
