/*
 * feature_scaling - what features were normalised and standardised by, as a text file.
 *
 *   least,0               normalise_rows: the smallest number of the whole table, which is taken off
 *   mean,deviation        standardise: a line for each column follows
 *   0.5,1.25
 *
 * Each part may be missing. Of a graph with relations there are these lines for each node type with features, behind a line
 * `type,` and its name. Numbers have 17 digits, so that what is read is what was written, to the bit.
 */
#ifndef COMMON_FORMATS_FEATURE_SCALING_H
#define COMMON_FORMATS_FEATURE_SCALING_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feature_scaling { /* {0} is empty; release with feature_scaling_release() */
    const char *type;    /* for writing: of a graph with relations, which node type's; borrowed */
    double *mean,
        *deviation; /* [dim], owned; a deviation of 0: a constant column, which becomes 0 */
    double least;
    uint32_t dim; /* columns with a mean; 0: there are none */
    bool has_least;
};

/* `type`: that of this node type, and an empty one when the file has none; NULL: of a graph without relations.
 * Fails: ERROR_INPUT naming file, line, what was expected and found; ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code feature_scaling_read(const char *path, const char *type,
                                                struct feature_scaling *out, struct error *err);
/* scaling [count]: of as many node types, or one. *out, with a NUL behind its *size bytes, is the caller's: memory_free().
 * Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code feature_scaling_text(const struct feature_scaling *scaling, size_t count,
                                                char **out, size_t *size, struct error *err);
/* The same as a file: writes the file whole or not at all. Fails: ERROR_IO, ERROR_NO_MEMORY. */
MUST_CHECK enum error_code feature_scaling_write(const char *path,
                                                 const struct feature_scaling *scaling,
                                                 size_t count, struct error *err);
void feature_scaling_release(struct feature_scaling *scaling);

#endif
