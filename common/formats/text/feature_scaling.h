/*
 * feature_scaling - the numbers by which features were normalised and standardised, as a text file.
 *
 *   least,0               normalise_rows: the smallest number of the table, which is subtracted
 *   mean,deviation        standardise: a line for each column follows
 *   0.5,1.25
 *
 * Each of the two may be missing. For a graph with relations there are these lines for each node
 * type with features, after a line `type,` with its name. Numbers have 17 digits, so that exactly
 * the same number is read back.
 */
#ifndef COMMON_FORMATS_TEXT_FEATURE_SCALING_H
#define COMMON_FORMATS_TEXT_FEATURE_SCALING_H

#include "common/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feature_scaling { /* {0} is empty; release with feature_scaling_release() */
    const char *type;    /* for writing: the node type in a graph with relations; borrowed */
    double *mean,
        *deviation; /* [dim], owned; a deviation of 0 means a constant column, which becomes 0 */
    double least;
    uint32_t dim; /* columns with a mean; 0: there are none */
    bool has_least;
};

/* Reads the scaling of a node type, which is empty if the file does not have the type; `type` is
 * NULL for a graph without relations. Fails: ERROR_INPUT naming file, line, the expected and the
 * found value; ERROR_NOT_FOUND, ERROR_IO. */
MUST_CHECK enum error_code feature_scaling_read(const char *path, const char *type,
                                                struct feature_scaling *out, struct error *err);
/* Makes the text of scaling [count], one for each node type, or only one. Owns: *out, with a NUL
 * after its *size bytes; the caller frees it with memory_free(). Fails: ERROR_NO_MEMORY. */
MUST_CHECK enum error_code feature_scaling_text(const struct feature_scaling *scaling, size_t count,
                                                char **out, size_t *size, struct error *err);
/* Writes the text to a file, which appears completely or not at all. Fails: ERROR_IO,
 * ERROR_NO_MEMORY. */
MUST_CHECK enum error_code feature_scaling_write(const char *path,
                                                 const struct feature_scaling *scaling,
                                                 size_t count, struct error *err);
void feature_scaling_release(struct feature_scaling *scaling);

#endif
