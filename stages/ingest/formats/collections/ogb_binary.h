/*
 * ogb_binary - the arrays of an OGB data set in binary form (ogbn-papers100M), which has archives
 * instead of text files.
 *
 *   raw/data.npz         edge_index [2, edges], num_nodes_list [graphs], num_edges_list [graphs];
 *                        and, if the set has them, node_feat [nodes, features], edge_feat [edges,
 *                        features], edge_reltype, edge_weight and edge_year [edges]
 *   raw/node-label.npz   node_label [nodes] or [nodes, labels]; NaN: none
 *   raw/graph-label.npz  for sets of many graphs: graph_label [graphs] or [graphs, labels]
 *
 * Further arrays (node_year) are not read. The archives are unpacked into the builder's scratch
 * space, so memory is bounded; the arrays need as much disk as they have bytes. Format:
 * read_binary_graph_raw of ogb/io/read_graph_raw.py.
 */
#ifndef STAGES_INGEST_FORMATS_COLLECTIONS_OGB_BINARY_H
#define STAGES_INGEST_FORMATS_COLLECTIONS_OGB_BINARY_H

#include "common/base/error.h"
#include "common/files/file.h"
#include "stages/ingest/build/dataset_builder.h"
#include "stages/ingest/formats/columns/edge_files.h"
#include "stages/ingest/formats/shared/npz_folder.h"

#include <stdbool.h>
#include <stdint.h>

struct ogb_binary {             /* {0}: a folder of text files */
    bool is_there;              /* raw/data.npz exists */
    char data[FILE_PATH_SIZE];  /* path of raw/data.npz */
    char label[FILE_PATH_SIZE]; /* path of raw/node-label.npz or raw/graph-label.npz */
    const char *label_array;    /* name of the array in it */
    struct npz_folder arrays;   /* unpacked data.npz; borrows `data` */
    struct npz_folder labels;   /* unpacked archive of labels; borrows `label` */
    struct value_notes *notes;  /* the builder's */
};

/* Unpacks raw/data.npz if it exists; of_graphs: labels are of graphs. `binary` must not move
 * afterwards. Fails: as npz_folder_open(). */
MUST_CHECK enum error_code ogb_binary_open(struct ogb_binary *binary, const char *raw,
                                           bool of_graphs, struct dataset_builder *builder,
                                           struct error *err);
/* Opens the columns of edges as edge_files_open() does. Fails: ERROR_INPUT naming array and
 * shape. */
MUST_CHECK enum error_code ogb_binary_columns(const struct ogb_binary *binary,
                                              struct edge_files *files, struct error *err);
/* Pushes the array node_feat if there is one. Fails: ERROR_INPUT naming it, what was expected and
 * found. */
MUST_CHECK enum error_code ogb_binary_push_features(const struct ogb_binary *binary,
                                                    uint64_t node_count,
                                                    struct dataset_builder *builder,
                                                    struct error *err);
/* Unpacks the labels and returns the path of the file, for label_reader.h; "" when there is none.
 * Fails: ERROR_INPUT for an archive without them. */
MUST_CHECK enum error_code ogb_binary_labels(struct ogb_binary *binary,
                                             struct dataset_builder *builder,
                                             char path[FILE_PATH_SIZE], struct error *err);

#endif
