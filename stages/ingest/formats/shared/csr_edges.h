/*
 * csr_edges - the edges of a sparse adjacency matrix whose arrays are .npy files, as scipy.sparse
 * stores them.
 *
 *   CSR, CSC   indptr [rows + 1], indices [entries], data [entries]
 *   COO        row [entries], col [entries], data [entries]
 *
 * An entry (i, j) is an edge from node i to node j, and data its weight. If all of data is 1, the
 * edges have no weights. An entry of 0 is an edge, too, because scipy stores every entry that was
 * set.
 */
#ifndef STAGES_INGEST_FORMATS_SHARED_CSR_EDGES_H
#define STAGES_INGEST_FORMATS_SHARED_CSR_EDGES_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdbool.h>
#include <stdint.h>

struct csr_files {
    const char *indptr, *indices; /* paths; for COO row and col */
    const char *data;             /* NULL: no weights */
    bool is_coo, by_columns;      /* by_columns: a CSC matrix, whose rows of indptr are targets */
};

/* Pushes all entries. Fails: ERROR_INPUT naming file and offset, what was expected and what was
 * found. */
MUST_CHECK enum error_code csr_edges_push(const struct csr_files *files, uint64_t node_count,
                                          struct dataset_builder *builder, struct error *err);

#endif
