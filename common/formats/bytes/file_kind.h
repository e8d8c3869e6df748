/*
 * file_kind - recognises by its first bytes a file that is not a text table.
 *
 *   "PAR1..."              Parquet: refused, with the line of Python that converts it to csv
 *   "%%MatrixMarket ..."   MatrixMarket: refused as a table of labels, read by the format
 *                          matrix_market
 *   "1,2,0.5"              NULL: it may be a table
 *
 * A new kind is a row in file_kind.c and, if a few fixed bytes do not identify it, a test in
 * text_kind.c. A file that is compressed by gzip or zstd has the kind of its decompressed bytes.
 */
#ifndef COMMON_FORMATS_BYTES_FILE_KIND_H
#define COMMON_FORMATS_BYTES_FILE_KIND_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* This many bytes at the beginning of a file show its kind. */
enum { FILE_KIND_BYTES = 4096 };

struct kind_of_file {
    const char *name;    /* "a Parquet file" */
    const char *format;  /* the ingest.format that reads it; NULL: none does */
    const char *way_out; /* how to convert it to a table or a graph; FILE stands for its path */
    /* a reader of lines may read it, although it is no table: MatrixMarket, N-Triples, JSON
     * lines */
    bool has_lines;
};

/* Finds the kind of a file from `size` decompressed bytes at its beginning. NULL: as far as they
 * show, it is a table. */
const struct kind_of_file *file_kind_find(const void *data, size_t size);

/* Returns whether the first bytes of a file show that `ingest.format: FORMAT` reads it. */
bool file_kind_is_known(const char *format);

/* Reads the first decompressed bytes of the file at `path`, or of `data` [size] unless that is
 * NULL, into `out` [limit]. Fails: ERROR_NOT_FOUND, ERROR_IO, ERROR_INPUT for a damaged compressed
 * file. */
MUST_CHECK enum error_code file_kind_peek(const char *path, const void *data, size_t size,
                                          char *out, size_t limit, size_t *got, struct error *err);

/* Refuses a file that is no table. `data` [size] is as for file_kind_peek(); `what` says what the
 * table should contain: "edges". Fails: ERROR_INPUT naming the path, the kind and the conversion;
 * as file_kind_peek(). */
MUST_CHECK enum error_code file_kind_check_table(const char *path, const void *data, size_t size,
                                                 const char *what, struct error *err);
/* Refuses `kind` as a table of `what`. */
enum error_code file_kind_refuse(const struct kind_of_file *kind, const char *path,
                                 const char *what, struct error *err);

#endif
