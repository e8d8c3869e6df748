/*
 * file_kind - what a file is, by its first bytes, where it is no table of text.
 *
 *   "PAR1..."              Parquet: refused, with the line of Python that makes csv of it
 *   "%%MatrixMarket ..."   MatrixMarket: refused as a table of labels, read by the format
 *                          matrix_market
 *   "1,2,0.5"              NULL: nothing is known against reading it as a table
 *
 * A kind more is a row in file_kind.c and, where a few fixed bytes do not tell it, a test in
 * text_kind.c. A file that is packed by gzip or zstd is what it is when it is unpacked.
 */
#ifndef COMMON_FORMATS_FILE_KIND_H
#define COMMON_FORMATS_FILE_KIND_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* These many bytes at the beginning of a file show its kind. */
enum { FILE_KIND_BYTES = 4096 };

struct kind_of_file {
    const char *name;    /* "a Parquet file" */
    const char *format;  /* the ingest.format that reads it; NULL: none does */
    const char *way_out; /* what makes a table or a graph of it; FILE stands for its path */
    /* a reader of lines may read it, though it is no table: MatrixMarket, N-Triples, JSON lines */
    bool has_lines;
};

/* Finds the kind of a file from `size` unpacked bytes at its beginning. NULL: a table, as far as
 * they show. */
const struct kind_of_file *file_kind_find(const void *data, size_t size);

/* Whether the first bytes of a file show that `ingest.format: FORMAT` reads it. */
bool file_kind_is_known(const char *format);

/* Reads the first unpacked bytes of the file at `path`, or of `data` [size] when that is not NULL,
 * into `out` [limit].
 * Fails: ERROR_NOT_FOUND, ERROR_IO, ERROR_INPUT for a damaged packed file. */
MUST_CHECK enum error_code file_kind_peek(const char *path, const void *data, size_t size,
                                          char *out, size_t limit, size_t *got, struct error *err);

/* Refuses what is no table. `data` [size] is the content, as file_kind_peek() has it; `what` says
 * what the table is of: "edges".
 * Fails: ERROR_INPUT naming the path, the kind and the way out; as file_kind_peek(). */
MUST_CHECK enum error_code file_kind_check_table(const char *path, const void *data, size_t size,
                                                 const char *what, struct error *err);
/* Refuses `kind` as a table of `what`. */
enum error_code file_kind_refuse(const struct kind_of_file *kind, const char *path,
                                 const char *what, struct error *err);

#endif
