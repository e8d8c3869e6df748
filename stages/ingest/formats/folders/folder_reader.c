#include "stages/ingest/formats/folders/folder_reader.h"

#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/formats/bytes/usual_advice.h"
#include "stages/ingest/build/nodes/named_nodes.h"
#include "stages/ingest/formats/columns/feature_file.h"
#include "stages/ingest/formats/columns/held_edge_files.h"
#include "stages/ingest/formats/columns/integer_column.h"
#include "stages/ingest/formats/columns/keyed_file.h"
#include "stages/ingest/formats/columns/label_reader.h"
#include "stages/ingest/formats/columns/node_files.h"
#include "stages/ingest/formats/columns/sparse_columns.h"
#include "stages/ingest/formats/folders/folder_edges.h"
#include "stages/ingest/formats/folders/folder_meta.h"
#include "stages/ingest/formats/folders/unread_files.h"
#include "stages/ingest/formats/shared/input_files.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "store/records/dataset/node_splits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const table_endings[] = {".csv", ".csv.gz", ".csv.zst", ".npy", NULL};

struct folder { /* the state of one run */
    const char *path;
    enum task_kind task;
    bool of_graphs;             /* labels and splits are of graphs */
    bool draws_splits;          /* the files of splits are not read */
    bool has_relations;         /* node types and relations stay apart */
    const char *sparse_columns; /* ingest.sparse_columns */
    struct folder_meta meta;
    struct named_nodes names; /* empty: ids are the numbers of nodes */
    struct dataset_builder *builder;
};

/* Declares the types: those of the type files, and default names for the others. The builder has to
 * know them before the first edge. */
static enum error_code set_types(struct folder *folder, const char *edges,
                                 const struct edge_files *files, struct error *err)
{
    struct folder_meta *meta = &folder->meta;
    uint32_t found = 0;
    enum error_code rc = ERROR_NONE;
    if (meta->edge_type_count == 0)
        rc = edge_files_count_types(files, &found, err);
    if (rc == ERROR_NONE && meta->edge_type_count == 0 && found == 0 &&
        !input_files_ends_in(edges, ".npy"))
        rc = folder_edges_count_types(edges, meta->edge_label, &found, err);
    if (rc != ERROR_NONE || (meta->node_type_count == 0 && found == 0))
        return rc;
    const uint32_t edge_type_count = folder_meta_name_types(meta, found);
    return dataset_builder_set_types(folder->builder, meta->node_type, meta->node_type_count,
                                     meta->edge_type, edge_type_count, err);
}

struct naming {
    struct named_nodes *names;
    const char *path;
};

static enum error_code note_name(void *context, const struct field *id, struct delimited *values,
                                 int64_t line, struct error *err)
{
    const struct naming *naming = context;
    (void)values;
    if (named_nodes_find(naming->names, id) >= 0)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64
                         ": '%.*s' is the id of an earlier line already: expected one "
                         "line a node",
                         naming->path, line, id->size < 40 ? (int)id->size : 40, id->text);
    return named_nodes_note(naming->names, id, "node", naming->path, line, err);
}

static enum error_code read_names(struct folder *folder, struct error *err)
{
    static const char *const endings[] = {".csv", ".csv.gz", ".csv.zst", NULL};
    char path[FILE_PATH_SIZE];
    struct keyed_file file = {.path = path, .form = KEYED_ID_ONLY};
    struct naming naming = {&folder->names, path};
    enum error_code rc = input_files_find(folder->path, "node-ids", endings, path, err);
    if (rc != ERROR_NONE || !path[0])
        return rc;
    named_nodes_init(&folder->names, true, 0);
    rc = keyed_file_visit(&file, &folder->names, note_name, &naming, err);
    keyed_file_release(&file);
    if (rc == ERROR_NONE && folder->names.ids.count != folder->meta.node_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected %" PRIu64 " ids, one for each node, found %" PRIu64, path,
                       folder->meta.node_count, folder->names.ids.count);
    if (rc != ERROR_NONE)
        return rc;
    named_nodes_finish(&folder->names);
    const struct node_ids ids = node_id_assigner_view(&folder->names.ids);
    return dataset_builder_set_ids(folder->builder, &ids, err);
}

/* Returns the ids, or NULL when the folder has none. */
static const struct named_nodes *names_of(const struct folder *folder)
{
    return folder->names.ids.count ? &folder->names : NULL;
}

static enum error_code read_edges(struct folder *folder, struct error *err)
{
    char path[FILE_PATH_SIZE];
    uint64_t row_count = 0;
    const int64_t expected = folder->meta.edge_rows;
    enum error_code rc = input_files_find(folder->path, "edges", table_endings, path, err);
    if (rc != ERROR_NONE)
        return rc;
    if (!path[0])
        return error_set(err, ERROR_NOT_FOUND,
                         "%s: expected edges.csv (plain, .gz or .zst) or edges.npy, found none",
                         folder->path);
    if (names_of(folder) && input_files_ends_in(path, ".npy"))
        return error_set(err, ERROR_INPUT,
                         "%s holds numbers, but node-ids.csv says that nodes have ids: expected "
                         "edges.csv with these ids, or no node-ids.csv",
                         path);
    struct edge_files files;
    rc = edge_files_open(&files, folder->path, dataset_builder_notes(folder->builder), err);
    if (rc == ERROR_NONE)
        rc = set_types(folder, path, &files, err);
    if (rc == ERROR_NONE)
        rc = input_files_ends_in(path, ".npy")
                 ? folder_edges_read_npy(path, &files, NULL, folder->builder, &row_count, err)
                 : folder_edges_read_csv(path, &folder->meta, names_of(folder), &files, NULL,
                                         folder->builder, &row_count, err);
    edge_files_close(&files);
    if (rc == ERROR_NONE && expected >= 0 && row_count != (uint64_t)expected)
        return error_set(err, ERROR_INPUT,
                         "%s: expected %" PRId64 " edges as meta.json says, found %" PRIu64, path,
                         expected, row_count);
    return rc;
}

/* Sets *out to the columns that the features of a node type (NULL: of the only one) must have; 0:
 * the number in their files. */
static enum error_code find_columns(const struct folder *folder, const char *type, bool is_sparse,
                                    uint32_t *out, struct error *err)
{
    const uint32_t of_meta = folder->has_relations ? 0 : folder->meta.feature_dim;
    uint32_t of_setting = 0;
    const enum error_code rc =
        is_sparse ? sparse_columns_of(folder->sparse_columns, type, &of_setting, err) : ERROR_NONE;
    *out = of_meta ? of_meta : of_setting;
    if (rc != ERROR_NONE || !of_meta || !of_setting || of_meta == of_setting)
        return rc;
    return error_set(err, ERROR_INPUT,
                     "%s/meta.json: \"num_features\": expected %" PRIu32
                     " as ingest.sparse_columns says, found %" PRIu32,
                     folder->path, of_setting, of_meta);
}

/* Opens the features <prefix>feat..., dense or sparse. *found is false when there are none. `type`:
 * as in find_columns(). */
static enum error_code open_features(const struct folder *folder, const char *type,
                                     const char *dense_stem, const char *sparse_stem,
                                     uint64_t row_count, struct feature_file *file, bool *found,
                                     struct error *err)
{
    char dense[FILE_PATH_SIZE], sparse[FILE_PATH_SIZE], indptr[FILE_PATH_SIZE];
    bool is_dense = false, is_sparse = false;
    enum error_code rc = file_path(dense, err, "%s/%s.npy", folder->path, dense_stem);
    if (rc == ERROR_NONE)
        rc = file_path(sparse, err, "%s/%s", folder->path, sparse_stem);
    if (rc == ERROR_NONE)
        rc = file_path(indptr, err, "%s/%s_indptr.npy", folder->path, sparse_stem);
    if (rc == ERROR_NONE)
        rc = file_is_there(dense, &is_dense, err);
    if (rc == ERROR_NONE)
        rc = file_is_there(indptr, &is_sparse, err);
    if (rc != ERROR_NONE)
        return rc;
    *found = is_dense || is_sparse;
    if (is_dense && is_sparse)
        return error_set(err, ERROR_INPUT, "expected one of %s and %s, found both" ADVISE_ONE_FILE,
                         dense, indptr);
    if (!*found)
        return ERROR_NONE;
    uint32_t columns = 0;
    rc = find_columns(folder, type, is_sparse, &columns, err);
    return rc == ERROR_NONE
               ? feature_file_open(file, is_dense ? dense : NULL, sparse, row_count, columns, err)
               : rc;
}

static enum error_code read_plain_features(const struct folder *folder, struct error *err)
{
    struct feature_file file = {0};
    bool found = false;
    enum error_code rc = open_features(folder, NULL, "node-feat", "feat", folder->meta.node_count,
                                       &file, &found, err);
    if (rc == ERROR_NONE && found)
        rc = feature_file_push(&file, folder->builder, err);
    feature_file_close(&file);
    return rc;
}

/* Opens the features of each node type, and finds their common width. */
static enum error_code open_typed(const struct folder *folder, struct feature_file *file,
                                  uint32_t *dim, struct error *err)
{
    enum error_code rc = ERROR_NONE;
    for (uint32_t i = 0; rc == ERROR_NONE && i < folder->meta.node_type_count; i++) {
        const struct node_type *type = &folder->meta.node_type[i];
        char stem[TYPE_NAME_SIZE + 8];
        bool found = false;
        (void)snprintf(stem, sizeof stem, "%s-feat", type->name);
        rc = open_features(folder, type->name, stem, stem, type->node_count, &file[i], &found, err);
        if (rc != ERROR_NONE || !found)
            continue;
        if (*dim && file[i].dim != *dim && !folder->has_relations)
            return error_set(
                err, ERROR_INPUT,
                "%s: features of type %s: expected %" PRIu32
                " columns as other types have, found %" PRIu32 "; " ADVICE
                "write `relations: true` below `ingest:`, which lets each type have its own width",
                folder->path, type->name, *dim, file[i].dim);
        *dim = file[i].dim;
    }
    return rc;
}

static enum error_code read_typed_features(const struct folder *folder, struct error *err)
{
    struct feature_file file[NODE_TYPE_COUNT_MAX] = {0};
    uint32_t dim = 0;
    enum error_code rc = open_typed(folder, file, &dim, err);
    for (uint32_t i = 0; rc == ERROR_NONE && dim && i < folder->meta.node_type_count; i++) {
        dataset_builder_select_type(folder->builder, i);
        /* this type has no features */
        if (folder->has_relations && !file[i].dim)
            continue;
        rc = file[i].dim ? feature_file_push(&file[i], folder->builder, err)
                         : feature_file_push_zeros(folder->builder, folder->path,
                                                   folder->meta.node_type[i].node_count, dim, err);
    }
    for (uint32_t i = 0; i < NODE_TYPE_COUNT_MAX; i++)
        feature_file_close(&file[i]);
    return rc;
}

/* Pushes the features. A folder with node types may also have one feature file for all nodes. */
static enum error_code read_features(const struct folder *folder, bool has_node_types,
                                     struct error *err)
{
    char path[FILE_PATH_SIZE];
    static const char *const dense[] = {".npy", NULL};
    const enum error_code rc = input_files_find(folder->path, "node-feat", dense, path, err);
    if (rc != ERROR_NONE)
        return rc;
    if (folder->has_relations && path[0] && folder->meta.node_type_count > 1)
        return error_set(err, ERROR_INPUT,
                         "%s has rows for the nodes of all types: expected a file <type>-feat.npy "
                         "for each type that has features, or `relations: false` below `ingest:`",
                         path);
    return has_node_types && !path[0] ? read_typed_features(folder, err)
                                      : read_plain_features(folder, err);
}

/* Reads the graph of each node, for a task of graphs. */
static enum error_code read_graphs(const struct folder *folder, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct integer_column graphs = {0};
    if (!folder->of_graphs)
        return ERROR_NONE;
    enum error_code rc = input_files_find(folder->path, "node-graph", table_endings, path, err);
    if (rc == ERROR_NONE && !path[0])
        return error_set(
            err, ERROR_NOT_FOUND,
            "%s: expected node-graph.csv, node-graph.csv.gz or node-graph.npy with the "
            "number of each node's graph, found none",
            folder->path);
    if (rc == ERROR_NONE)
        rc = integer_column_read(&graphs, path, folder->meta.node_count, err);
    if (rc == ERROR_NONE && graphs.count != folder->meta.node_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected %" PRIu64 " graph ids, one for each node, found %" PRIu64,
                       path, folder->meta.node_count, graphs.count);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_graphs(folder->builder, path, graphs.first_line, graphs.value, 0,
                                        err);
    integer_column_release(&graphs);
    return rc;
}

static enum error_code read_labels(const struct folder *folder, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const struct folder_meta *meta = &folder->meta;
    const enum error_code rc = input_files_find(
        folder->path, folder->of_graphs ? "graph-label" : "node-label", table_endings, path, err);
    if (rc != ERROR_NONE || !path[0])
        return rc;
    return label_reader_run(
        path, folder->of_graphs ? dataset_builder_graphs(folder->builder) : meta->node_count,
        meta->class_count, folder->task, folder->builder, err);
}

enum error_code folder_reader_split(const char *path, enum split split, uint64_t node_count,
                                    struct dataset_builder *builder, struct error *err)
{
    struct integer_column nodes = {0};
    enum error_code rc = integer_column_read(&nodes, path, node_count, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_split(builder, split, path, nodes.first_line, nodes.value,
                                       nodes.count, err);
    integer_column_release(&nodes);
    return rc;
}

static enum error_code read_split(const struct folder *folder, const char *path, enum split split,
                                  struct error *err)
{
    struct keyed_file file = {.path = path, .form = KEYED_ID_ONLY};
    if (!names_of(folder) || folder->of_graphs)
        return folder_reader_split(path, split, folder->meta.node_count, folder->builder, err);
    const enum error_code rc =
        node_files_push_split(&file, split, &folder->names, folder->builder, err);
    keyed_file_release(&file);
    return rc;
}

static enum error_code read_splits(const struct folder *folder, struct error *err)
{
    static const char *const stem[SPLIT_COUNT] = {"train", "valid", "test"};
    char path[FILE_PATH_SIZE];
    enum error_code rc = ERROR_NONE;
    for (int split = 0; rc == ERROR_NONE && !folder->draws_splits && split < SPLIT_COUNT; split++) {
        rc = input_files_find(folder->path, stem[split], table_endings, path, err);
        if (rc == ERROR_NONE && path[0])
            rc = read_split(folder, path, (enum split)split, err);
    }
    return rc;
}

static enum error_code read_folder(const struct pipeline_settings *settings, struct folder *folder,
                                   struct error *err)
{
    const struct folder_meta *meta = &folder->meta;
    const bool reads_targets = pipeline_reads_targets(settings);
    enum error_code rc = folder_meta_read(folder->path, &folder->meta, err);
    folder->meta.edge_label = pipeline_edge_label(settings);
    if (rc == ERROR_NONE && folder->has_relations)
        rc = folder_meta_read_relations(folder->path, &folder->meta, err);
    const bool has_node_types = meta->node_type_count > 0;
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_nodes(folder->builder, meta->node_count,
                                       !meta->says_direction ? STATED_NOTHING
                                       : meta->is_directed   ? STATED_DIRECTED
                                                             : STATED_UNDIRECTED,
                                       err);
    if (rc == ERROR_NONE)
        rc = read_names(folder, err);
    if (rc == ERROR_NONE)
        rc = read_graphs(folder, err);
    if (rc == ERROR_NONE)
        rc = read_edges(folder, err);
    if (rc == ERROR_NONE)
        rc = sparse_columns_check(folder->sparse_columns, meta->node_type, meta->node_type_count,
                                  err);
    if (rc == ERROR_NONE)
        rc = read_features(folder, has_node_types, err);
    if (rc == ERROR_NONE && reads_targets)
        rc = read_labels(folder, err);
    if (rc == ERROR_NONE && reads_targets)
        rc = read_splits(folder, err);
    if (rc == ERROR_NONE)
        rc = held_edge_files_push(settings, names_of(folder), folder->builder, err);
    return rc;
}

static enum error_code folder_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                                  struct dataset_builder *builder, struct error *err)
{
    (void)memory_bytes;
    struct split_shares shares;
    struct folder *folder = NULL;
    enum error_code rc = pipeline_split_shares(settings, &shares, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&folder, 1, "what a folder's meta.json says", err);
    if (rc != ERROR_NONE)
        return rc;
    *folder = (struct folder){.path = settings->ingest.path,
                              .task = (enum task_kind)settings->ingest.task,
                              .of_graphs = task_has(settings->ingest.task, TASK_HAS_GRAPHS),
                              .draws_splits = shares.is_random,
                              .has_relations = settings->ingest.relations,
                              .sparse_columns = settings->ingest.sparse_columns,
                              .builder = builder};
    rc = read_folder(settings, folder, err);
    named_nodes_release(&folder->names);
    memory_free(folder);
    return rc;
}

static const struct known_file known[] = {
    {"meta", {".json"}, {"metadata"}},
    {"edges", {TABLE_ENDINGS}, {EDGE_ALIASES}},
    {"edges", {TABLE_ENDINGS}, {"edge"}},
    {"node-feat", {".npy"}, {FEATURE_ALIASES}},
    {"feat_indptr", {".npy"}, {"node-feat-indptr", "indptr"}},
    {"feat_indices", {".npy"}, {"node-feat-indices", "indices"}},
    {"feat_values", {".npy"}, {"node-feat-values", "values"}},
    {"node-label", {TABLE_ENDINGS}, {LABEL_ALIASES}},
    {"node-graph",
     {TABLE_ENDINGS},
     {"graph-id", "graph-ids", "graph-indicator", "node-graphs", "batch"}},
    {"graph-label", {TABLE_ENDINGS}, {"graph-labels", "graph-targets"}},
    {"node-ids",
     {".csv", ".csv.gz", ".csv.zst"},
     {"nodes", "ids", "node-id", "node-names", "names", "nodelist"}},
    {"train", {TABLE_ENDINGS}, {TRAIN_ALIASES}},
    {"valid", {TABLE_ENDINGS}, {VALID_ALIASES}},
    {"test", {TABLE_ENDINGS}, {TEST_ALIASES}},
    {"node-types", {".csv"}, {"node-type", "ntypes"}},
    {"edge-types", {".csv"}, {"etypes"}},
    {"relations", {".csv"}, {NULL}},
    {"edge-weight", {".npy"}, {"edge-weights", "weights"}},
    {"edge-type", {".npy"}, {"edge-type"}},
    {"edge-time", {".npy"}, {"edge-times", "timestamps"}},
    {"edge-id", {".npy"}, {"edge-ids"}},
    {"edge-feat", {".npy"}, {"edge-features", "edge-attr"}},
    {.stem = NULL},
};

const struct input_format folder_format = {
    .endings = {".csv", ".csv.gz", ".csv.zst", ".npy", ".json"},
    .known = known,
    .known_below = "",
    .has_meta = true,
    .advice = {"add node-label.csv, whose line i is the class of node i (-1: none)",
               "add train.csv (and valid.csv, test.csv) with a node id a line, or a line `split: "
               "random 60/20/20` below `ingest:`"},
    .form = "mend it so that meta.json has num_nodes and directed, edges.csv a header src,dst and "
            "an edge a line, and other files a line a node, or are .npy",
    .run = folder_run,
};
