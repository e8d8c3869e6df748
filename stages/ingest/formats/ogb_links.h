/*
 * ogb_links - the held-out edges of an OGB data set of links, from the files of torch that its splits are (ogb_split_arrays.h), with
 * ingest.edge_split: given.
 *
 *   edge [edges, 2]; or source_node and target_node [edges]; or head and tail [edges], with relation [edges]
 *   target_node_neg or tail_neg [edges, any]     optional: other targets of pairs that are no edges, one row an edge, for
 *                                                infer.ranking: given; head_neg is not read
 *
 * Edges of training are those of raw/, as OGB's own loader has it; what a file has for them is not read, and neither are weight
 * and year of held-out edges. edge_neg lists pairs for all edges of a split together, and a pair here is always one of an
 * edge: it is not used, which is said.
 */
#ifndef STAGES_INGEST_FORMATS_OGB_LINKS_H
#define STAGES_INGEST_FORMATS_OGB_LINKS_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/formats/ogb_split_arrays.h"

/* Pushes the edges of validation and test whose files no setting names. `splits` is open. Fails: ERROR_INPUT naming file, array, row,
 * what was expected and found. */
MUST_CHECK enum error_code ogb_links_push(const struct pipeline_settings *settings,
                                          const struct ogb_split_arrays *splits,
                                          struct dataset_builder *builder, struct error *err);

#endif
