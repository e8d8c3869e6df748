/*
 * hgb_reader - a graph of several types as the Heterogeneous Graph Benchmark keeps it: a folder of
 * text files whose columns a tab
 * separates (format: hgb).
 *
 *   node.dat         id, name, type[, features]    0 <tab> Ann <tab> 0 <tab> 0.5,1,0      ids from 0, types from 0
 *   link.dat         source, target, type[, weight]
 *   label.dat        id, name, type, classes       training nodes; `0,3` are two classes of a node, and the task has several labels
 *   label.dat.test   the same                      test nodes; there is no validation split: `split: random 60/20/20` makes one
 *   link.dat.test    links of the test, with ingest.edge_split: given
 *
 * All links of a type join the same two node types. Types and relations are called by their
 * numbers. Nodes lie by type; where
 * the ids do not, outputs still have the ids. Format: https://github.com/THUDM/HGB.
 */
#ifndef STAGES_INGEST_FORMATS_HGB_READER_H
#define STAGES_INGEST_FORMATS_HGB_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Pushes everything of the folder settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file and line, what was expected and found. */
MUST_CHECK enum error_code hgb_reader_run(const struct pipeline_settings *settings,
                                          struct dataset_builder *builder, struct error *err);

#endif
