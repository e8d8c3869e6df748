/*
 * ogb_links - the held-out edges of an OGB data set of links, from the torch files of its splits
 * (ogb_split_arrays.h), with ingest.edge_split: given.
 *
 *   edge [edges, 2]; or source_node and target_node [edges]; or head and tail [edges], with
 *   relation [edges]
 *   target_node_neg or tail_neg [edges, any]     optional: other targets that form negatives, one
 *                                                row an edge, for infer.ranking: given; head_neg is
 *                                                not read
 *
 * The edges of training are those of raw/, as in OGB's own loader; the training edges in a torch
 * file are not read, and neither are weight and year of held-out edges. edge_neg lists negatives
 * for all edges of a split together. Here a negative always belongs to one edge, so edge_neg is not
 * used, and a note says so.
 */
#ifndef STAGES_INGEST_FORMATS_COLLECTIONS_OGB_LINKS_H
#define STAGES_INGEST_FORMATS_COLLECTIONS_OGB_LINKS_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/formats/collections/ogb_split_arrays.h"

/* Pushes the edges of validation and test, unless settings name files for them. `splits` is open.
 * Fails: ERROR_INPUT naming file, array, row, what was expected and found. */
MUST_CHECK enum error_code ogb_links_push(const struct pipeline_settings *settings,
                                          const struct ogb_split_arrays *splits,
                                          struct dataset_builder *builder, struct error *err);

#endif
