/*
 * ogb_reader - the raw folder of an Open Graph Benchmark data set (format: ogb).
 *
 *   raw/edge.csv.gz           source,target a line, no header
 *   raw/num-node-list.csv.gz  one number; of tasks of graphs one a graph, whose nodes are numbered from 0 each
 *   raw/num-edge-list.csv.gz  the same of edges, checked
 *   raw/edge-feat.csv.gz      optional: one row of numbers an edge, its features
 *   raw/edge_reltype.csv.gz   optional: the type of an edge, a number from 0
 *   raw/edge_weight.csv.gz    optional: its weight
 *   raw/edge_year.csv.gz      optional: its time
 *   raw/node-feat.csv.gz      optional: one row of numbers a node
 *   raw/node-label.csv.gz     optional: a class a node, or 0 and 1 in several columns; NaN: none
 *   split/<name>/{train,valid,test}.csv.gz    optional; one <name>, or that of ingest.split_name
 *   split/<name>/split_dict.pt, or train.pt, valid.pt and test.pt in their place: ogb_split_arrays.h; of links ogb_links.h
 *   raw/graph-label.csv.gz    of tasks of graphs, in place of node-label
 *
 * Each may also be unpacked (.csv), or packed by zstd (.csv.zst). In place of the files of raw/ there may be arrays, raw/data.npz and
 * raw/node-label.npz or raw/graph-label.npz (ogb_binary.h). Sets of several node types: ogb_types.h. Whether edges go both ways OGB says in its package, not
 * here: of a folder with OGB's name it is known (ogb_direction.h); of another, with direction: auto, a list that names no pair of
 * nodes in both directions is taken as undirected, and that is said.
 * Format: ogb/io/read_graph_raw.py.
 */
#ifndef STAGES_INGEST_FORMATS_OGB_READER_H
#define STAGES_INGEST_FORMATS_OGB_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Pushes everything of settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND, ERROR_INPUT naming file, line, what was expected and found. */
MUST_CHECK enum error_code ogb_reader_run(const struct pipeline_settings *settings,
                                          struct dataset_builder *builder, struct error *err);

#endif
