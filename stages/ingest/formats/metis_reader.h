/*
 * metis_reader - an undirected graph as METIS and Chaco keep it (format: metis).
 *
 *   % comments
 *   nodes edges [fmt [constraints]]     fmt: three digits, 1 where there are vertex sizes, vertex weights, edge weights
 *   [size] [weight ...] v1 [w1] v2 [w2] ...       line i is node i: its neighbours, from 1
 *
 * An edge is in the lines of both its ends, with the same weight; what is in one of them alone is refused. Sizes and weights of nodes
 * are passed over. Plain or gzip. Labels, features and splits lie beside it (node_files.h), by the numbers of nodes here.
 *
 * Format: METIS 5 manual, section 4.1.1.
 */
#ifndef STAGES_INGEST_FORMATS_METIS_READER_H
#define STAGES_INGEST_FORMATS_METIS_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

#include <stdint.h>

/* Pushes everything of settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file, line, what was expected and found. */
MUST_CHECK enum error_code metis_reader_run(const struct pipeline_settings *settings,
                                            uint64_t memory_bytes, struct dataset_builder *builder,
                                            struct error *err);

#endif
