/*
 * ogb_reader - the raw folder of an Open Graph Benchmark data set (format: ogb).
 *
 *   raw/edge.csv.gz           source,target a line, no header
 *   raw/num-node-list.csv.gz  one number; for tasks of graphs one for each graph, whose nodes are
 *                             numbered from 0
 *   raw/num-edge-list.csv.gz  the same for edges, checked
 *   raw/edge-feat.csv.gz      optional: one row of numbers an edge, its features
 *   raw/edge_reltype.csv.gz   optional: the type of an edge, a number from 0
 *   raw/edge_weight.csv.gz    optional: its weight
 *   raw/edge_year.csv.gz      optional: its time
 *   raw/node-feat.csv.gz      optional: one row of numbers a node
 *   raw/node-label.csv.gz     optional: a class a node, or 0 and 1 in several columns; NaN: none
 *   split/<name>/{train,valid,test}.csv.gz    optional; one <name>, or that of ingest.split_name
 *   split/<name>/split_dict.pt, or train.pt, valid.pt and test.pt instead: ogb_split_arrays.h; for
 *                             links ogb_links.h
 *   raw/graph-label.csv.gz    for tasks of graphs, instead of node-label
 *
 * Each may also be unpacked (.csv), or packed by zstd (.csv.zst). Instead of the files of raw/
 * there may be arrays, raw/data.npz and raw/node-label.npz or raw/graph-label.npz (ogb_binary.h).
 * Sets of several node types: ogb_types.h. OGB's package knows whether edges go both ways, but the
 * folder does not say it. For a folder with OGB's name it is known here, too (ogb_direction.h). For
 * another, with direction: auto, a list that names no pair of nodes in both directions is read as
 * undirected, and a note says so. Format: ogb/io/read_graph_raw.py.
 */
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/files/file.h"
#include "common/formats/bytes/usual_advice.h"
#include "stages/ingest/formats/collections/ogb_binary.h"
#include "stages/ingest/formats/collections/ogb_direction.h"
#include "stages/ingest/formats/collections/ogb_links.h"
#include "stages/ingest/formats/collections/ogb_split.h"
#include "stages/ingest/formats/collections/ogb_split_arrays.h"
#include "stages/ingest/formats/collections/ogb_types.h"
#include "stages/ingest/formats/columns/feature_rows.h"
#include "stages/ingest/formats/columns/held_edge_files.h"
#include "stages/ingest/formats/columns/integer_column.h"
#include "stages/ingest/formats/columns/label_reader.h"
#include "stages/ingest/formats/folders/folder_edges.h"
#include "stages/ingest/formats/folders/folder_reader.h"
#include "stages/ingest/formats/folders/unread_files.h"
#include "stages/ingest/formats/shared/input_files.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "store/records/dataset/node_splits.h"

#include <inttypes.h>

static const char *const endings[] = {".csv.gz", ".csv.zst", ".csv", NULL};
/* The files beside the edges, with a line for each edge. */
static const char *const column_stem[EDGE_COLUMN_COUNT] = {[EDGE_WEIGHT] = "edge_weight",
                                                           [EDGE_TYPE] = "edge_reltype",
                                                           [EDGE_TIME] = "edge_year",
                                                           [EDGE_FEATURE] = "edge-feat"};
enum {
    GRAPHS_READ = 1 << 16 /* limit for a message that counts the graphs */,
    GRAPHS_MAX = 1 << 28
};

struct ogb { /* the state of one run */
    const char *path;
    char raw[FILE_PATH_SIZE];
    enum task_kind task;
    bool of_graphs;         /* labels and splits are of graphs */
    const char *split_name; /* ingest.split_name */
    bool draws_splits;      /* the files of splits are not read */
    uint64_t node_count;
    struct integer_column nodes, edges; /* one count for each graph */
    struct ogb_binary binary;
    struct ogb_split_arrays splits; /* from torch files */
    struct dataset_builder *builder;
};

/* Finds the file of a stem; in binary form, the file of an array. */
static enum error_code find_needed(const struct ogb *ogb, const char *stem, const char *array,
                                   char path[FILE_PATH_SIZE], struct error *err)
{
    if (ogb->binary.is_there)
        return npz_folder_need(&ogb->binary.arrays, "", array, path, err);
    const enum error_code rc = input_files_find(ogb->raw, stem, endings, path, err);
    if (rc == ERROR_NONE && !path[0])
        return error_set(err, ERROR_NOT_FOUND, "%s: expected %s.csv.gz, found no such file",
                         ogb->raw, stem);
    return rc;
}

/* Reads num-node-list or num-edge-list: one number, or, for a task of graphs, one for each graph.
 * *sum is their sum. */
static enum error_code read_counts(const struct ogb *ogb, const char *stem, const char *array,
                                   struct integer_column *column, uint64_t *sum, struct error *err)
{
    char path[FILE_PATH_SIZE];
    enum error_code rc = find_needed(ogb, stem, array, path, err);
    *sum = 0;
    if (rc == ERROR_NONE)
        rc = integer_column_read(column, path, ogb->of_graphs ? GRAPHS_MAX : GRAPHS_READ, err);
    if (rc == ERROR_NONE && (ogb->of_graphs ? column->count == 0 : column->count != 1)) {
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected one number (a data set of one graph), found %" PRIu64, path,
                       column->count);
        if (!ogb->of_graphs)
            rc = error_add(
                err, rc,
                "; " ADVICE
                "write `task: graph_classification` below `ingest:` for a data set of many graphs");
    }
    for (uint64_t i = 0; rc == ERROR_NONE && i < column->count; i++) {
        if (column->value[i] < 0 || column->value[i] > UINT32_MAX * (int64_t)GRAPHS_READ)
            rc = error_set(err, ERROR_INPUT, "%s:%" PRIu64 ": expected a count, found %" PRId64,
                           path, (uint64_t)column->first_line + i, column->value[i]);
        *sum += (uint64_t)column->value[i];
    }
    return rc;
}

/* Sets the graph of each node, for a task of graphs. */
static enum error_code set_graphs(const struct ogb *ogb, struct error *err)
{
    int64_t *graph = NULL;
    uint64_t node = 0;
    if (!ogb->of_graphs)
        return ERROR_NONE;
    enum error_code rc = memory_new(&graph, ogb->node_count + 1, "the graph of each node", err);
    for (uint64_t g = 0; rc == ERROR_NONE && g < ogb->nodes.count; g++)
        for (int64_t i = 0; i < ogb->nodes.value[g]; i++)
            graph[node++] = (int64_t)g;
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_graphs(ogb->builder, ogb->raw, 1, graph, 0, err);
    memory_free(graph);
    return rc;
}

/* Sets *type_count to the highest type in the text file of types plus one, or to 0 without such a
 * file. */
static enum error_code count_types(const struct ogb *ogb, uint32_t *type_count, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct edge_text *text = NULL;
    enum error_code rc = input_files_find(ogb->raw, column_stem[EDGE_TYPE], endings, path, err);
    *type_count = 0;
    if (rc != ERROR_NONE || !path[0])
        return rc;
    rc = edge_text_open(path, EDGE_TYPE, &text, err);
    while (rc == ERROR_NONE && !edge_text_is_done(text)) {
        uint16_t type = 0;
        rc = edge_text_read(text, 1, &type, err);
        *type_count = type >= *type_count ? type + 1U : *type_count;
    }
    edge_text_close(text);
    return rc;
}

/* Declares the types, as many as the highest number shows. The builder has to know them before the
 * first edge. */
static enum error_code set_types(const struct ogb *ogb, const struct edge_files *files,
                                 struct error *err)
{
    uint32_t type_count = 0;
    const enum error_code rc = ogb->binary.is_there
                                   ? edge_files_count_types(files, &type_count, err)
                                   : count_types(ogb, &type_count, err);
    if (rc != ERROR_NONE || type_count == 0)
        return rc;
    static struct folder_meta meta; /* too large for the stack */
    meta = (struct folder_meta){.node_count = ogb->node_count};
    const uint32_t edge_type_count = folder_meta_name_types(&meta, type_count);
    return dataset_builder_set_types(ogb->builder, meta.node_type, meta.node_type_count,
                                     meta.edge_type, edge_type_count, err);
}

static enum error_code read_table(const struct ogb *ogb, const char *path,
                                  const struct edge_files *files, uint64_t *found,
                                  struct error *err)
{
    struct edge_ends of_graphs =
        edge_ends_of_graphs(ogb->nodes.value, ogb->edges.value, ogb->nodes.count);
    struct edge_ends *ends = ogb->of_graphs ? &of_graphs : NULL;
    return ogb->binary.is_there
               ? folder_edges_read_npy(path, files, ends, ogb->builder, found, err)
               : folder_edges_read_csv(path, NULL, NULL, files, ends, ogb->builder, found, err);
}

static enum error_code read_edges(struct ogb *ogb, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct edge_files files = {0};
    uint64_t expected = 0, found = 0;
    enum error_code rc =
        read_counts(ogb, "num-edge-list", "num_edges_list", &ogb->edges, &expected, err);
    if (rc == ERROR_NONE && ogb->edges.count != ogb->nodes.count)
        rc = error_set(
            err, ERROR_INPUT,
            "%s: expected as many counts of edges as of nodes, one a graph, found %" PRIu64
            " and %" PRIu64,
            ogb->raw, ogb->edges.count, ogb->nodes.count);
    if (rc == ERROR_NONE)
        rc = dataset_builder_expect_edges(ogb->builder, expected, err);
    if (rc == ERROR_NONE)
        rc = find_needed(ogb, "edge", "edge_index", path, err);
    if (rc == ERROR_NONE)
        rc = ogb->binary.is_there ? ogb_binary_columns(&ogb->binary, &files, err)
                                  : edge_files_open_text(&files, ogb->raw, column_stem, endings,
                                                         dataset_builder_notes(ogb->builder), err);
    if (rc == ERROR_NONE)
        rc = set_types(ogb, &files, err);
    if (rc == ERROR_NONE)
        rc = read_table(ogb, path, &files, &found, err);
    edge_files_close(&files);
    if (rc == ERROR_NONE && found != expected)
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected %" PRIu64 " edges as %s says, found %" PRIu64, path, expected,
                       ogb->binary.is_there ? "num_edges_list" : "num-edge-list", found);
    return rc;
}

static enum error_code read_features(const struct ogb *ogb, struct error *err)
{
    char path[FILE_PATH_SIZE];
    if (ogb->binary.is_there)
        return ogb_binary_push_features(&ogb->binary, ogb->node_count, ogb->builder, err);
    const enum error_code rc = input_files_find(ogb->raw, "node-feat", endings, path, err);
    return rc == ERROR_NONE && path[0] ? feature_rows_push(path, ogb->node_count, ogb->builder, err)
                                       : rc;
}

/* Returns the number of nodes or graphs that have labels and splits. */
static uint64_t subject_count(const struct ogb *ogb)
{
    return ogb->of_graphs ? ogb->nodes.count : ogb->node_count;
}

static enum error_code read_labels(struct ogb *ogb, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const char *stem = ogb->of_graphs ? "graph-label" : "node-label";
    const enum error_code rc = ogb->binary.is_there
                                   ? ogb_binary_labels(&ogb->binary, ogb->builder, path, err)
                                   : input_files_find(ogb->raw, stem, endings, path, err);
    if (rc != ERROR_NONE || !path[0])
        return rc;
    return label_reader_run(path, subject_count(ogb), 0, ogb->task, ogb->builder, err);
}

/* Reads a split from a torch file. */
static enum error_code read_split_array(const struct ogb *ogb, enum split split, struct error *err)
{
    char path[FILE_PATH_SIZE], where[FILE_PATH_SIZE];
    struct integer_column nodes = {0};
    enum error_code rc = ogb_split_arrays_path(&ogb->splits, split, "", path, where, err);
    if (rc == ERROR_NONE && !path[0])
        return error_set(
            err, ERROR_INPUT,
            "%s: expected an array of nodes for this split, or in a dictionary "
            "{'train': ..., 'valid': ..., 'test': ...} one, found another dictionary: " ADVICE
            "write `task: link_prediction` below `ingest:` for one of links",
            ogb->splits.file[split]);
    if (rc == ERROR_NONE)
        rc = integer_column_read(&nodes, path, subject_count(ogb), err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_split(ogb->builder, split, where, nodes.first_line, nodes.value,
                                       nodes.count, err);
    integer_column_release(&nodes);
    return rc;
}

static enum error_code find_splits(struct ogb *ogb, char folder[FILE_PATH_SIZE], struct error *err)
{
    const enum error_code rc = ogb_split_find(ogb->path, ogb->split_name, folder, err);
    return rc == ERROR_NONE ? ogb_split_arrays_find(&ogb->splits, folder, err) : rc;
}

static enum error_code read_splits(struct ogb *ogb, struct error *err)
{
    static const char *const stem[SPLIT_COUNT] = {"train", "valid", "test"};
    char folder[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    if (ogb->draws_splits)
        return ERROR_NONE;
    enum error_code rc = find_splits(ogb, folder, err);
    if (rc == ERROR_NONE)
        rc = ogb_split_arrays_open(&ogb->splits, ogb->builder, err);
    for (int split = 0; rc == ERROR_NONE && folder[0] && split < SPLIT_COUNT; split++) {
        if (ogb->splits.file[split][0]) {
            rc = read_split_array(ogb, (enum split)split, err);
            continue;
        }
        rc = input_files_find(folder, stem[split], endings, path, err);
        if (rc == ERROR_NONE && path[0])
            rc =
                folder_reader_split(path, (enum split)split, subject_count(ogb), ogb->builder, err);
    }
    return rc;
}

/* Pushes the held-out edges of a task of pairs: from files that settings name, or from the set's
 * own split. */
static enum error_code read_links(const struct pipeline_settings *settings, struct ogb *ogb,
                                  struct error *err)
{
    char folder[FILE_PATH_SIZE];
    const bool is_given = pipeline_gives_edges(settings);
    enum error_code rc = find_splits(ogb, folder, err);
    if (rc == ERROR_NONE && ogb->splits.is_there && !is_given &&
        !task_has(settings->ingest.task, TASK_LABELS_EDGES))
        log_warn("%s is not used: write `edge_split: given` below `ingest:` to hold out the edges "
                 "that it lists",
                 ogb->splits.file[SPLIT_TEST]);
    if (rc != ERROR_NONE || !is_given)
        return rc;
    if (!settings->ingest.edge_file[SPLIT_TEST][0] && !ogb->splits.file[SPLIT_TEST][0])
        return error_set(err, ERROR_INPUT,
                         "%s: expected test.pt or split_dict.pt in a folder of split/ for "
                         "ingest.edge_split: given, found none: " ADVICE "name a file with a line "
                         "`source,target` an edge by ingest.test_edges",
                         ogb->path);
    rc = ogb_split_arrays_open(&ogb->splits, ogb->builder, err);
    return rc == ERROR_NONE ? ogb_links_push(settings, &ogb->splits, ogb->builder, err) : rc;
}

/* Refuses a folder with text and arrays: they are two forms of one graph, and one of them would be
 * ignored. */
static enum error_code check_form(const struct ogb *ogb, struct error *err)
{
    char path[FILE_PATH_SIZE];
    if (!ogb->binary.is_there)
        return ERROR_NONE;
    const enum error_code rc = input_files_find(ogb->raw, "edge", endings, path, err);
    if (rc != ERROR_NONE || !path[0])
        return rc;
    return error_set(err, ERROR_INPUT, "expected one of %s and %s, found both" ADVISE_ONE_FILE,
                     path, ogb->binary.data);
}

static enum error_code read_all(const struct pipeline_settings *settings, struct ogb *ogb,
                                struct error *err)
{
    const bool reads_targets = pipeline_reads_targets(settings);
    bool has_types = false;
    enum error_code rc = ogb_types_are_there(ogb->raw, &has_types, err);
    if (rc != ERROR_NONE || has_types)
        return rc == ERROR_NONE ? ogb_types_run(settings, ogb->raw, ogb->builder, err) : rc;
    rc = ogb_binary_open(&ogb->binary, ogb->raw, ogb->of_graphs, ogb->builder, err);
    if (rc == ERROR_NONE)
        rc = check_form(ogb, err);
    if (rc == ERROR_NONE)
        rc =
            read_counts(ogb, "num-node-list", "num_nodes_list", &ogb->nodes, &ogb->node_count, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_nodes(ogb->builder, ogb->node_count, ogb_direction_of(ogb->path),
                                       err);
    if (rc == ERROR_NONE)
        rc = set_graphs(ogb, err);
    if (rc == ERROR_NONE)
        rc = read_edges(ogb, err);
    if (rc == ERROR_NONE)
        rc = read_features(ogb, err);
    if (rc == ERROR_NONE && reads_targets)
        rc = read_labels(ogb, err);
    if (rc == ERROR_NONE && reads_targets)
        rc = read_splits(ogb, err);
    if (rc == ERROR_NONE && !reads_targets)
        rc = read_links(settings, ogb, err);
    return rc == ERROR_NONE ? held_edge_files_push(settings, NULL, ogb->builder, err) : rc;
}

static enum error_code ogb_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                               struct dataset_builder *builder, struct error *err)
{
    (void)memory_bytes;
    struct split_shares shares;
    enum error_code rc = pipeline_split_shares(settings, &shares, err);
    struct ogb ogb = {.path = settings->ingest.path,
                      .task = (enum task_kind)settings->ingest.task,
                      .of_graphs = task_has(settings->ingest.task, TASK_HAS_GRAPHS),
                      .split_name = settings->ingest.split_name,
                      .draws_splits = shares.is_random,
                      .builder = builder};
    if (rc == ERROR_NONE)
        rc = file_path(ogb.raw, err, "%s/raw", ogb.path);
    if (rc == ERROR_NONE)
        rc = read_all(settings, &ogb, err);
    rc = npz_folder_blame(&ogb.binary.arrays, rc, err);
    rc = npz_folder_blame(&ogb.binary.labels, rc, err);
    rc = ogb_split_arrays_blame(&ogb.splits, rc, err);
    integer_column_release(&ogb.nodes);
    integer_column_release(&ogb.edges);
    return rc;
}

static const struct known_file known[] = {
    {"edge", {PACKED_ENDINGS}, {EDGE_ALIASES}},
    {"edge", {PACKED_ENDINGS}, {"edges"}},
    {"num-node-list", {PACKED_ENDINGS}, {"num-nodes"}},
    {"num-edge-list", {PACKED_ENDINGS}, {"num-edges"}},
    {"edge-feat", {PACKED_ENDINGS}, {"edge-features", "edge-attr"}},
    {"edge_reltype", {PACKED_ENDINGS}, {"edge-type", "edge-types"}},
    {"edge_weight", {PACKED_ENDINGS}, {"edge-weights", "weights"}},
    {"edge_year", {PACKED_ENDINGS}, {"edge-time", "edge-times"}},
    {"node-feat", {PACKED_ENDINGS}, {FEATURE_ALIASES}},
    {"node-label", {PACKED_ENDINGS}, {LABEL_ALIASES}},
    {"data", {".npz"}, {NULL}},
    {"node-label", {".npz"}, {NULL}},
    {"graph-label", {PACKED_ENDINGS}, {"graph-labels", "graph-targets"}},
    {"graph-label", {".npz"}, {NULL}},
    {.stem = NULL},
};

const struct input_format ogb_format = {
    .has_folders = true,
    .endings = {".csv", ".csv.gz", ".csv.zst", ".npz", ".npy", ".json", ".pt"},
    .known = known,
    .known_below = "/raw",
    .advice = {"add raw/node-label.csv.gz, whose line i is the class of node i",
               "add split/<name>/train.csv.gz (and valid, test) with a node id a line, or a line "
               "`split: random 60/20/20` below `ingest:`"},
    .form = "mend it so that raw/ has edge.csv, num-node-list.csv, num-edge-list.csv and "
            "node-label.csv without headers (or .gz), or data.npz, and split/<name>/ train, valid "
            "and test",
    .run = ogb_run,
};
