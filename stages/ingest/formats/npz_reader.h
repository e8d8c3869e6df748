/*
 * npz_reader - a graph in one .npz archive (format: npz). The names of its arrays say which of these it is:
 *
 *   scipy        indptr, indices, shape, format [, data]       scipy.sparse.save_npz of a CSR or CSC matrix
 *                row, col, shape, format [, data]              of a COO matrix: edges and nothing else
 *   citations    adj_indptr, adj_indices, adj_shape [, adj_data]
 *                attr_indptr, attr_indices, attr_data, attr_shape | attr_matrix
 *                [, labels]                                    the graphs of Shchur et al. 2018 (PyG's Amazon, Coauthor,
 *                                                              CitationFull): undirected, as PyG takes them
 *   node_tasks   edges [edges, 2], node_features, node_labels, train_masks, val_masks, test_masks [splits, nodes]
 *                                                              those of Platonov et al. 2023 (PyG's HeterophilousGraphDataset):
 *                                                              undirected; the split is the first
 *
 * Entries of a matrix are edges from row to column (csr_edges.h). Values are taken as they are: PyG sets positive features of
 * the second kind to 1.
 */
#ifndef STAGES_INGEST_FORMATS_NPZ_READER_H
#define STAGES_INGEST_FORMATS_NPZ_READER_H

#include "common/base/error.h"
#include "stages/ingest/build/dataset_builder.h"

/* Pushes everything of settings->ingest.path into `builder`, which the caller finishes.
 * Fails: ERROR_NOT_FOUND; ERROR_INPUT naming file and array, what was expected and found. */
MUST_CHECK enum error_code npz_reader_run(const struct pipeline_settings *settings,
                                          struct dataset_builder *builder, struct error *err);

#endif
