/*
 * graphml_reader - a graph in GraphML, plain, gzip or zstd, read as it passes (format: graphml).
 *
 *   <graphml>
 *     <key id="d0" for="node" attr.name="label" attr.type="string"/>
 *     <key id="d1" for="edge" attr.name="weight" attr.type="double"/>
 *     <graph edgedefault="undirected">
 *       <node id="alice"><data key="d0">red</data></node>
 *       <edge source="alice" target="bob"><data key="d1">2.5</data></edge>
 *
 * attr.name says what is read (graphml_keys.h). Of nodes: label, class or y, a class by word or
 * number (class_words.h); feat, feat_0, feat_1,
 * ... or x_0, x_1, ..., numbers that are the features, in the order of their keys, of all nodes or
 * of none; train_mask, val_mask and
 * test_mask, booleans. Of edges: weight; an edge without one has the key's <default>, or 1. The
 * settings label_columns and
 * feature_columns name other keys. Keys that say none of these are not read. A label that is
 * different in each node is refused, since
 * it is a name (Gephi and networkx write such). Refused by line: a DOCTYPE (entities), several
 * graphs or graphs in nodes, hyperedges,
 * an edge whose own direction is another.
 *
 * The file is read twice: ids first. Format: http://graphml.graphdrawing.org/specification.html.
 */
#ifndef STAGES_INGEST_FORMATS_GRAPHML_READER_H
#define STAGES_INGEST_FORMATS_GRAPHML_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Pushes everything of settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file and line, what was expected and found. */
MUST_CHECK enum error_code graphml_reader_run(const struct pipeline_settings *settings,
                                              struct dataset_builder *builder, struct error *err);

#endif
