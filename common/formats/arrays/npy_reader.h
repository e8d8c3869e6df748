/*
 * npy_reader - reads the elements of a NumPy array file, as int64 or float.
 *
 * The caller chooses size and position of the pieces, so memory is bounded, and nothing is
 * allocated because of the header (npy_header.h).
 */
#ifndef COMMON_FORMATS_ARRAYS_NPY_READER_H
#define COMMON_FORMATS_ARRAYS_NPY_READER_H

#include "common/files/file.h"
#include "common/formats/arrays/npy_header.h"
#include "common/formats/text/float_loss.h"

struct npy_reader { /* {0} is a closed reader */
    struct npy_header header;
    int fd_plus_one;
    char path[FILE_PATH_SIZE];
    struct float_loss
        *loss; /* notes integers that npy_reader_float() changes; may be NULL. Borrowed */
};

/* Opens a file. Fails: ERROR_NOT_FOUND, ERROR_IO, ERROR_INPUT. */
MUST_CHECK enum error_code npy_reader_open(struct npy_reader *reader, const char *path,
                                           struct error *err);
void npy_reader_close(struct npy_reader *reader);

/* Read the elements [first, first + count) in C order, converted. A position out of range is a bug.
 * Fail: ERROR_INPUT when the file has become shorter, or (int64) its type is no integer. */
MUST_CHECK enum error_code npy_reader_int64(const struct npy_reader *reader, uint64_t first,
                                            size_t count, int64_t *out, struct error *err);
MUST_CHECK enum error_code npy_reader_float(const struct npy_reader *reader, uint64_t first,
                                            size_t count, float *out, struct error *err);

#endif
