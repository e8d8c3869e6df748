/*
 * npz_reader - a graph in one .npz archive (format: npz). The names of its arrays show which of
 * these layouts it has:
 *
 *   scipy        indptr, indices, shape, format [, data]       scipy.sparse.save_npz of a CSR or
 *                                                              CSC matrix
 *                row, col, shape, format [, data]              of a COO matrix: edges and nothing
 *                                                              else
 *   citations    adj_indptr, adj_indices, adj_shape [, adj_data]
 *                attr_indptr, attr_indices, attr_data, attr_shape | attr_matrix
 *                [, labels]                                    the graphs of Shchur et al. 2018
 *                                                              (PyG's Amazon, Coauthor,
 *                                                              CitationFull): undirected, as PyG
 *                                                              reads them
 *   node_tasks   edges [edges, 2], node_features, node_labels,
 *                train_masks, val_masks, test_masks [splits, nodes]
 *                                                              those of Platonov et al. 2023 (PyG's
 *                                                              HeterophilousGraphDataset):
 *                                                              undirected; the first split is read
 *
 * An entry of a matrix is an edge from its row to its column (csr_edges.h). Values are not changed,
 * whereas PyG sets positive features of the second layout to 1.
 */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/arrays/npy_reader.h"
#include "common/formats/arrays/npz_members.h"
#include "stages/ingest/formats/columns/edge_files.h"
#include "stages/ingest/formats/columns/feature_file.h"
#include "stages/ingest/formats/columns/held_edge_files.h"
#include "stages/ingest/formats/columns/label_reader.h"
#include "stages/ingest/formats/folders/folder_edges.h"
#include "stages/ingest/formats/shared/csr_edges.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "stages/ingest/formats/shared/mask_splits.h"
#include "stages/ingest/formats/shared/npz_folder.h"

#include <inttypes.h>
#include <string.h>

struct archive { /* the state of one run */
    const struct pipeline_settings *settings;
    struct dataset_builder *builder;
    struct npz_folder folder;
    bool draws_splits;
};

static const char *const wanted[] = {
    "indptr",      "indices",     "data",        "shape",      "row",         "col",
    "adj_indptr",  "adj_indices", "adj_data",    "adj_shape",  "attr_indptr", "attr_indices",
    "attr_data",   "attr_shape",  "attr_matrix", "labels",     "edges",       "node_features",
    "node_labels", "train_masks", "val_masks",   "test_masks", NULL};

static enum error_code has(const struct archive *a, const char *name, bool *found,
                           struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = npz_folder_find(&a->folder, "", name, path, err);
    *found = rc == ERROR_NONE && path[0];
    return rc;
}

/* Reads the shape of a square matrix, which is the number of nodes. */
static enum error_code square(const struct archive *a, const char *prefix, uint64_t *nodes,
                              struct error *err)
{
    int64_t shape[NPZ_SHAPE];
    const enum error_code rc = npz_folder_shape(&a->folder, prefix, shape, err);
    if (rc == ERROR_NONE && shape[0] != shape[1])
        return error_set(err, ERROR_INPUT,
                         "%s: %sshape: expected as many rows as columns, the nodes, found %" PRId64
                         " x %" PRId64,
                         a->folder.archive, prefix, shape[0], shape[1]);
    *nodes = rc == ERROR_NONE ? (uint64_t)shape[0] : 0;
    return rc;
}

static enum error_code push_matrix(const struct archive *a, const char *prefix, bool is_coo,
                                   bool by_columns, uint64_t nodes, struct error *err)
{
    char indptr[FILE_PATH_SIZE], indices[FILE_PATH_SIZE], data[FILE_PATH_SIZE] = "";
    enum error_code rc =
        npz_folder_need(&a->folder, prefix, is_coo ? "row" : "indptr", indptr, err);
    if (rc == ERROR_NONE)
        rc = npz_folder_need(&a->folder, prefix, is_coo ? "col" : "indices", indices, err);
    if (rc == ERROR_NONE)
        rc = npz_folder_find(&a->folder, prefix, "data", data, err);
    const struct csr_files files = {.indptr = indptr,
                                    .indices = indices,
                                    .data = data[0] ? data : NULL,
                                    .is_coo = is_coo,
                                    .by_columns = by_columns};
    return rc == ERROR_NONE ? csr_edges_push(&files, nodes, a->builder, err) : rc;
}

/* --- scipy --- */

static enum error_code run_scipy(struct archive *a, struct error *err)
{
    char form[16];
    bool is_coo = false;
    uint64_t nodes = 0;
    enum error_code rc = npz_members_text(a->folder.archive, "format", form, sizeof form, err);
    if (rc == ERROR_NONE && strcmp(form, "csr") != 0 && strcmp(form, "csc") != 0 &&
        strcmp(form, "coo") != 0)
        return error_set(err, ERROR_INPUT,
                         "%s: format: expected csr, csc or coo, found '%s': " ADVICE "in Python, "
                         "scipy.sparse.save_npz(\"%s\", matrix.tocsr())",
                         a->folder.archive, form, a->folder.archive);
    is_coo = rc == ERROR_NONE && strcmp(form, "coo") == 0;
    if (rc == ERROR_NONE)
        rc = square(a, "", &nodes, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_nodes(a->builder, nodes, STATED_NOTHING, err);
    return rc == ERROR_NONE ? push_matrix(a, "", is_coo, strcmp(form, "csc") == 0, nodes, err) : rc;
}

/* --- citations --- */

/* Renames scipy's "data" to the name that feature_file.h reads. */
static enum error_code call_values(const struct archive *a, struct error *err)
{
    char data[FILE_PATH_SIZE], values[FILE_PATH_SIZE];
    enum error_code rc = npz_folder_need(&a->folder, "attr_", "data", data, err);
    if (rc == ERROR_NONE)
        rc = file_path(values, err, "%s/attr_values.npy", a->folder.path);
    return rc == ERROR_NONE ? file_rename(data, values, err) : rc;
}

static enum error_code push_attributes(const struct archive *a, uint64_t nodes, struct error *err)
{
    char dense[FILE_PATH_SIZE], sparse[FILE_PATH_SIZE], stem[FILE_PATH_SIZE];
    struct feature_file file = {0};
    int64_t shape[NPZ_SHAPE] = {0, 0};
    enum error_code rc = npz_folder_find(&a->folder, "attr_", "matrix", dense, err);
    if (rc == ERROR_NONE)
        rc = npz_folder_find(&a->folder, "attr_", "indptr", sparse, err);
    if (rc != ERROR_NONE || (!dense[0] && !sparse[0]))
        return rc;
    if (!dense[0])
        rc = npz_folder_shape(&a->folder, "attr_", shape, err);
    if (rc == ERROR_NONE && !dense[0])
        rc = call_values(a, err);
    if (rc == ERROR_NONE)
        rc = file_path(stem, err, "%s/attr", a->folder.path);
    if (rc == ERROR_NONE)
        rc =
            feature_file_open(&file, dense[0] ? dense : NULL, stem, nodes, (uint32_t)shape[1], err);
    if (rc == ERROR_NONE)
        rc = feature_file_push(&file, a->builder, err);
    feature_file_close(&file);
    return rc;
}

static enum error_code push_labels(const struct archive *a, const char *name, uint64_t nodes,
                                   struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = npz_folder_find(&a->folder, "", name, path, err);
    if (rc != ERROR_NONE || !path[0] || !pipeline_reads_targets(a->settings))
        return rc;
    return label_reader_run(path, nodes, 0, (enum task_kind)a->settings->ingest.task, a->builder,
                            err);
}

static enum error_code run_citations(struct archive *a, struct error *err)
{
    uint64_t nodes = 0;
    enum error_code rc = square(a, "adj_", &nodes, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_nodes(a->builder, nodes, STATED_UNDIRECTED, err);
    if (rc == ERROR_NONE)
        rc = push_matrix(a, "adj_", false, false, nodes, err);
    if (rc == ERROR_NONE)
        rc = push_attributes(a, nodes, err);
    return rc == ERROR_NONE ? push_labels(a, "labels", nodes, err) : rc;
}

/* --- node tasks --- */

static enum error_code count_rows(const struct archive *a, const char *name, uint64_t *rows,
                                  struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct npy_reader reader = {0};
    enum error_code rc = npz_folder_need(&a->folder, "", name, path, err);
    if (rc == ERROR_NONE)
        rc = npy_reader_open(&reader, path, err);
    *rows = rc == ERROR_NONE && reader.header.dimension_count ? reader.header.shape[0] : 0;
    npy_reader_close(&reader);
    return rc;
}

static enum error_code push_pairs(const struct archive *a, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const struct edge_files none = {0};
    uint64_t rows = 0;
    const enum error_code rc = npz_folder_need(&a->folder, "", "edges", path, err);
    return rc == ERROR_NONE ? folder_edges_read_npy(path, &none, NULL, a->builder, &rows, err) : rc;
}

static enum error_code push_features(const struct archive *a, uint64_t nodes, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct feature_file file = {0};
    enum error_code rc = npz_folder_need(&a->folder, "", "node_features", path, err);
    if (rc == ERROR_NONE)
        rc = feature_file_open(&file, path, NULL, nodes, 0, err);
    if (rc == ERROR_NONE)
        rc = feature_file_push(&file, a->builder, err);
    feature_file_close(&file);
    return rc;
}

static enum error_code push_masks(const struct archive *a, uint64_t nodes, struct error *err)
{
    static const char *const name[SPLIT_COUNT] = {"train_masks", "val_masks", "test_masks"};
    const char *row_text = a->settings->ingest.split_name;
    char path[FILE_PATH_SIZE];
    int64_t row = 0;
    enum error_code rc = ERROR_NONE;
    if (row_text[0] && (!text_int64(row_text, strlen(row_text), &row) || row < 0))
        rc = error_set(
            err, ERROR_INPUT,
            "ingest.split_name is '%s', expected of npz the number of a row of the masks, "
            "from 0",
            row_text);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++) {
        rc = npz_folder_find(&a->folder, "", name[s], path, err);
        if (rc == ERROR_NONE && path[0])
            rc = mask_splits_push(path, (enum split)s, (uint64_t)row, nodes, a->builder, err);
    }
    return rc;
}

static enum error_code run_node_tasks(struct archive *a, struct error *err)
{
    uint64_t nodes = 0;
    enum error_code rc = count_rows(a, "node_features", &nodes, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_nodes(a->builder, nodes, STATED_UNDIRECTED, err);
    if (rc == ERROR_NONE)
        rc = push_pairs(a, err);
    if (rc == ERROR_NONE)
        rc = push_features(a, nodes, err);
    if (rc == ERROR_NONE)
        rc = push_labels(a, "node_labels", nodes, err);
    if (rc == ERROR_NONE && !a->draws_splits && pipeline_reads_targets(a->settings))
        rc = push_masks(a, nodes, err);
    return rc;
}

/* --- which --- */

static const struct layout {
    const char *mark; /* an array that only this layout has */
    enum error_code (*run)(struct archive *a, struct error *err);
} layouts[] = {{"adj_indptr", run_citations},
               {"node_features", run_node_tasks},
               {"indptr", run_scipy},
               {"row", run_scipy}};

static enum error_code run_layout(struct archive *a, struct error *err)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        bool found = false;
        const enum error_code rc = has(a, layouts[i].mark, &found, err);
        if (rc != ERROR_NONE)
            return rc;
        if (found)
            return layouts[i].run(a, err);
    }
    return error_set(err, ERROR_INPUT,
                     "%s: expected the arrays of a scipy matrix (indptr, indices, shape), of a "
                     "citation graph (adj_indptr, ...) or of node tasks (edges, node_features, "
                     "...), found others",
                     a->folder.archive);
}

static enum error_code npz_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                               struct dataset_builder *builder, struct error *err)
{
    (void)memory_bytes;
    struct split_shares shares;
    struct archive a = {.settings = settings, .builder = builder};
    enum error_code rc = pipeline_split_shares(settings, &shares, err);
    a.draws_splits = rc == ERROR_NONE && shares.is_random;
    if (rc == ERROR_NONE)
        rc = npz_folder_open(&a.folder, settings->ingest.path, "arrays", wanted, builder, err);
    if (rc == ERROR_NONE)
        rc = npz_folder_blame(&a.folder, run_layout(&a, err), err);
    return rc == ERROR_NONE ? held_edge_files_push(settings, NULL, builder, err) : rc;
}

const struct input_format npz_format = {
    .is_file = true,
    .advice = {"the archive needs an array labels (or node_labels) with a class a node",
               ADVICE_RANDOM_SPLIT},
    .form = "save the arrays with numpy.savez() or scipy.sparse.save_npz() again",
    .run = npz_run,
};
