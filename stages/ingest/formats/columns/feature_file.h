/*
 * feature_file - node features of a plain folder, dense or sparse, as dense rows in bounded pieces.
 *
 *   dense   <stem>.npy                             [rows, dim]
 *   sparse  <stem>_indptr.npy   integers [rows+1], from 0, never falling, the last is the entry
 *                               count
 *           <stem>_indices.npy  integers [entries], the column of each entry
 *           <stem>_values.npy   numbers [entries]; entries of one place are added up
 */
#ifndef STAGES_INGEST_FORMATS_COLUMNS_FEATURE_FILE_H
#define STAGES_INGEST_FORMATS_COLUMNS_FEATURE_FILE_H

#include "common/base/error.h"
#include "common/formats/arrays/npy_reader.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdbool.h>
#include <stdint.h>

enum { FEATURE_DIM_MAX = 1 << 20 };

struct feature_file { /* {0} is closed */
    struct npy_reader dense;
    struct npy_reader indptr, indices, values;
    uint64_t row_count;
    uint32_t dim;
    bool is_sparse;
};

/* Opens the dense file `dense_path`, or the three files that begin with `sparse_stem`; the other is
 * NULL. `dim` is the expected number of columns, 0: the number that the file has (sparse: its
 * highest column plus one). Fails: ERROR_INPUT naming file, what was expected and found. */
MUST_CHECK enum error_code feature_file_open(struct feature_file *file, const char *dense_path,
                                             const char *sparse_stem, uint64_t row_count,
                                             uint32_t dim, struct error *err);
void feature_file_close(struct feature_file *file);
/* Pushes all rows into the builder. */
MUST_CHECK enum error_code feature_file_push(struct feature_file *file,
                                             struct dataset_builder *builder, struct error *err);
/* Pushes `row_count` rows of zeros, for nodes whose types have no features. */
MUST_CHECK enum error_code feature_file_push_zeros(struct dataset_builder *builder,
                                                   const char *where, uint64_t row_count,
                                                   uint32_t dim, struct error *err);

#endif
