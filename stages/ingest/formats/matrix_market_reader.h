/*
 * matrix_market_reader - the adjacency matrix of a graph as NIST's Matrix Market has it (format: matrix_market).
 *
 *   %%MatrixMarket matrix coordinate real|integer|pattern general|symmetric
 *   % comments
 *   rows columns entries
 *   i j [value]           nodes count from 1: an edge from i to j, and its weight
 *
 * Of a symmetric matrix each entry beside the diagonal is there once and is an edge both ways; a general one is directed, as SuiteSparse has
 * it. Dense arrays, complex numbers, and matrices that are skew-symmetric or Hermitian are no graphs. Plain or gzip.
 * Labels, features and splits lie beside it (node_files.h), by the numbers of nodes here.
 *
 * Format: Boisvert, Pozo, Remington 1996, NISTIR 5935.
 */
#ifndef STAGES_INGEST_FORMATS_MATRIX_MARKET_READER_H
#define STAGES_INGEST_FORMATS_MATRIX_MARKET_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdint.h>

/* Pushes everything of settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file, line, what was expected and found. */
MUST_CHECK enum error_code matrix_market_reader_run(const struct pipeline_settings *settings,
                                                    uint64_t memory_bytes,
                                                    struct dataset_builder *builder,
                                                    struct error *err);

#endif
