/*
 * graphsaint_reader - a folder as GraphSAINT's authors hand graphs out (format: graphsaint): Flickr, Yelp, Reddit, AmazonProducts.
 *
 *   adj_full.npz      scipy's CSR of all edges, as they are stored: an undirected one has them both ways
 *   feats.npy         optional: [nodes, columns]
 *   class_map.json    optional: {"node": class} or {"node": [0, 1, ...]} of several labels
 *   role.json         optional: {"tr": [node, ...], "va": [...], "te": [...]}
 *
 * adj_train.npz, the edges among training nodes, is not read: batches of training leave out none of the others.
 */
#ifndef STAGES_INGEST_FORMATS_GRAPHSAINT_READER_H
#define STAGES_INGEST_FORMATS_GRAPHSAINT_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Pushes everything of settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file and key, what was expected and found. */
MUST_CHECK enum error_code graphsaint_reader_run(const struct pipeline_settings *settings,
                                                 struct dataset_builder *builder,
                                                 struct error *err);

#endif
