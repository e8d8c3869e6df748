/*
 * tu_reader - the text files of the TU Dortmund collection (Morris et al. 2020), many graphs in one
 * dataset (format: tu).
 *
 *   <folder>/NAME_A.txt                 "i, j" an edge, nodes from 1; usually each edge both ways
 *            NAME_graph_indicator.txt   line i: the graph of node i, from 1
 *            NAME_graph_labels.txt      line g: the class of graph g, any integers
 *            NAME_graph_attributes.txt  line g: its numbers, for graph_regression
 *            NAME_node_attributes.txt   line i: numbers of node i
 *            NAME_node_labels.txt       line i: an integer of node i, which becomes columns of 0
 *                                       and 1
 *            train.csv, valid.csv, test.csv   graphs, from 1; if ingest.split is given
 *
 * Features are the attributes, followed by a column for each node label from the least to the
 * largest, as in PyG's TUDataset(use_node_attr). Classes are numbered by their labels, ascending,
 * as in PyG. Files of edges other than NAME_A.txt are not read.
 */
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/files/file.h"
#include "common/formats/text/delimited.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/formats/collections/tu_features.h"
#include "stages/ingest/formats/columns/integer_column.h"
#include "stages/ingest/formats/columns/label_reader.h"
#include "stages/ingest/formats/folders/folder_reader.h"
#include "stages/ingest/formats/shared/input_files.h"
#include "stages/ingest/formats/shared/input_format.h"
#include "store/records/dataset/node_splits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_EDGES = 1 << 16, FIRST_ID = 1 };

struct tu { /* the state of one run */
    const char *folder;
    char name[FILE_PATH_SIZE]; /* NAME, before "_A.txt"; "" until a file is seen */
    enum task_kind task;
    uint64_t node_count;
    struct dataset_builder *builder;
};

/* --- files --- */

static enum error_code note_name(void *context, const char *name, struct error *err)
{
    static const char ending[] = "_A.txt";
    struct tu *tu = context;
    const size_t size = strlen(name);
    if (!input_files_ends_in(name, ending))
        return ERROR_NONE;
    if (tu->name[0])
        return error_set(err, ERROR_INPUT,
                         "%s: expected the files of one dataset, found %s_A.txt and %s", tu->folder,
                         tu->name, name);
    if (size >= sizeof tu->name)
        return error_set(err, ERROR_INPUT, "%s: the name %s is too long", tu->folder, name);
    memcpy(tu->name, name, size - (sizeof ending - 1));
    tu->name[size - (sizeof ending - 1)] = '\0';
    return ERROR_NONE;
}

/* Finds a file; *path is "" when it does not exist. */
static enum error_code find(const struct tu *tu, const char *what, char path[FILE_PATH_SIZE],
                            struct error *err)
{
    bool found = false;
    enum error_code rc = file_path(path, err, "%s/%s_%s.txt", tu->folder, tu->name, what);
    if (rc == ERROR_NONE)
        rc = file_is_there(path, &found, err);
    if (!found)
        path[0] = '\0';
    return rc;
}

static enum error_code find_needed(const struct tu *tu, const char *what, char path[FILE_PATH_SIZE],
                                   struct error *err)
{
    const enum error_code rc = find(tu, what, path, err);
    if (rc == ERROR_NONE && !path[0])
        return error_set(err, ERROR_NOT_FOUND, "%s: expected %s_%s.txt, found no such file",
                         tu->folder, tu->name, what);
    return rc;
}

/* --- graphs and edges --- */

static enum error_code read_graphs(struct tu *tu, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct integer_column graphs = {0};
    enum error_code rc = find_needed(tu, "graph_indicator", path, err);
    if (rc == ERROR_NONE)
        rc = integer_column_read(&graphs, path, UINT32_MAX - 1, err);
    tu->node_count = graphs.count;
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_nodes(tu->builder, tu->node_count, STATED_ONCE_IS_BOTH, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_graphs(tu->builder, path, graphs.first_line, graphs.value,
                                        FIRST_ID, err);
    integer_column_release(&graphs);
    return rc;
}

struct edges { /* a piece of the edges */
    const struct tu *tu;
    const char *path;
    /* line of edge 0 of the piece: each line is an edge, except blank lines at the end of the
     * file */
    int64_t first_line;
    size_t count;
    int64_t source[PIECE_EDGES], target[PIECE_EDGES];
};

static enum error_code push_edges(struct edges *edges, struct error *err)
{
    const struct edge_piece piece = {.where = edges->path,
                                     .first_line = edges->first_line,
                                     .count = edges->count,
                                     .source = edges->source,
                                     .target = edges->target};
    edges->first_line += (int64_t)edges->count;
    edges->count = 0;
    return piece.count ? dataset_builder_add_edges(edges->tu->builder, &piece, err) : ERROR_NONE;
}

static enum error_code take_node(const struct edges *edges, const struct text_line *line,
                                 const struct field *field, int64_t *out, struct error *err)
{
    if (!text_int64(field->text, field->size, out) || *out < FIRST_ID ||
        (uint64_t)*out > edges->tu->node_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64 ": expected a node from 1 to %" PRIu64 ", found '%.*s'",
                         edges->path, line->number, edges->tu->node_count,
                         field->size < 40 ? (int)field->size : 40, field->text);
    *out -= FIRST_ID;
    return ERROR_NONE;
}

static enum error_code take_edge(struct edges *edges, const struct text_line *line,
                                 struct error *err)
{
    struct field field[2];
    const size_t at = edges->count;
    const size_t fields =
        delimited_split(line->text, line->size, delimited_guess(line->text, line->size), field, 2);
    if (fields != 2 || line->number != edges->first_line + (int64_t)at)
        return error_set(err, ERROR_INPUT, "%s:%" PRId64 ": expected 'node, node', found '%.*s'",
                         edges->path, fields == 2 ? edges->first_line + (int64_t)at : line->number,
                         fields == 2       ? 0
                         : line->size < 40 ? (int)line->size
                                           : 40,
                         line->text);
    enum error_code rc = take_node(edges, line, &field[0], &edges->source[at], err);
    if (rc == ERROR_NONE)
        rc = take_node(edges, line, &field[1], &edges->target[at], err);
    if (rc != ERROR_NONE)
        return rc;
    edges->count++;
    return edges->count == PIECE_EDGES ? push_edges(edges, err) : ERROR_NONE;
}

static enum error_code read_edges(const struct tu *tu, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct edges *edges = NULL;
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = find_needed(tu, "A", path, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&edges, 1, "a piece of the edges", err);
    if (rc == ERROR_NONE) {
        edges->tu = tu;
        edges->path = path;
        edges->first_line = 1;
        rc = line_reader_open(path, &reader, err);
    }
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (line.size)
            rc = take_edge(edges, &line, err);
    }
    if (rc == ERROR_NONE)
        rc = push_edges(edges, err);
    line_reader_close(reader);
    memory_free(edges);
    return rc;
}

/* --- labels --- */

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Fills class [count] with the class of each value [count]: its position among the distinct values,
 * ascending. Fails: ERROR_NO_MEMORY. */
static enum error_code number_classes(const int64_t *value, uint64_t count, int32_t *class,
                                      struct error *err)
{
    int64_t *known = NULL;
    uint64_t kinds = 0;
    const enum error_code rc = memory_new(&known, count, "the labels of graphs", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(known, value, count * sizeof *known);
    qsort(known, count, sizeof *known, compare);
    for (uint64_t i = 0; i < count; i++)
        if (kinds == 0 || known[kinds - 1] != known[i])
            known[kinds++] = known[i];
    for (uint64_t i = 0; i < count; i++) {
        const int64_t *at = bsearch(&value[i], known, kinds, sizeof *known, compare);
        class[i] = (int32_t)(at - known);
    }
    memory_free(known);
    return ERROR_NONE;
}

static enum error_code read_classes(const struct tu *tu, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct integer_column labels = {0};
    int32_t *class = NULL;
    enum error_code rc = find_needed(tu, "graph_labels", path, err);
    if (rc == ERROR_NONE)
        rc = integer_column_read(&labels, path, UINT32_MAX - 1, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&class, labels.count, "the classes of graphs", err);
    if (rc == ERROR_NONE)
        rc = number_classes(labels.value, labels.count, class, err);
    const struct label_rows rows = {
        .task = tu->task, .columns = 1, .count = labels.count, .row = class};
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_labels(tu->builder, path, labels.first_line, &rows, err);
    memory_free(class);
    integer_column_release(&labels);
    return rc;
}

static enum error_code read_labels(const struct tu *tu, struct error *err)
{
    char path[FILE_PATH_SIZE];
    if (task_has_classes(tu->task, TASK_HAS_GRAPHS))
        return read_classes(tu, err);
    enum error_code rc = find(tu, "graph_attributes", path, err);
    if (rc == ERROR_NONE && !path[0])
        rc = find_needed(tu, "graph_labels", path, err);
    return rc == ERROR_NONE ? label_reader_run(path, dataset_builder_graphs(tu->builder), 0,
                                               tu->task, tu->builder, err)
                            : rc;
}

static enum error_code read_splits(const struct tu *tu, const struct pipeline_settings *settings,
                                   struct error *err)
{
    static const char *const stem[SPLIT_COUNT] = {"train", "valid", "test"};
    static const char *const endings[] = {".csv", ".csv.gz", ".csv.zst", ".npy", NULL};
    struct split_shares shares;
    char path[FILE_PATH_SIZE];
    enum error_code rc = pipeline_split_shares(settings, &shares, err);
    for (int split = 0; rc == ERROR_NONE && !shares.is_random && split < SPLIT_COUNT; split++) {
        rc = input_files_find(tu->folder, stem[split], endings, path, err);
        if (rc == ERROR_NONE && path[0])
            rc = folder_reader_split(path, (enum split)split, dataset_builder_graphs(tu->builder),
                                     tu->builder, err);
    }
    return rc;
}

static enum error_code tu_run(const struct pipeline_settings *settings, uint64_t memory_bytes,
                              struct dataset_builder *builder, struct error *err)
{
    (void)memory_bytes;
    char attributes[FILE_PATH_SIZE], labels[FILE_PATH_SIZE];
    struct tu tu = {.folder = settings->ingest.path,
                    .task = (enum task_kind)settings->ingest.task,
                    .builder = builder};
    enum error_code rc = file_list(tu.folder, note_name, &tu, err);
    if (rc == ERROR_NONE && !tu.name[0])
        return error_set(err, ERROR_NOT_FOUND,
                         "%s: expected a file NAME_A.txt with the edges of all graphs, found none",
                         tu.folder);
    if (rc == ERROR_NONE)
        rc = read_graphs(&tu, err);
    if (rc == ERROR_NONE)
        rc = read_edges(&tu, err);
    if (rc == ERROR_NONE)
        rc = find(&tu, "node_attributes", attributes, err);
    if (rc == ERROR_NONE)
        rc = find(&tu, "node_labels", labels, err);
    if (rc == ERROR_NONE)
        rc = tu_features_push(attributes, labels, tu.node_count, builder, err);
    if (rc == ERROR_NONE)
        rc = read_labels(&tu, err);
    return rc == ERROR_NONE ? read_splits(&tu, settings, err) : rc;
}

const struct input_format tu_format = {
    .endings = {".txt", ".csv", ".csv.gz", ".csv.zst", ".npy", ".json"},
    .advice = {"add NAME_graph_labels.txt, whose line i is the class of graph i",
               ADVICE_RANDOM_SPLIT},
    .form = "mend it so that NAME_A.txt has a pair of nodes a line, NAME_graph_indicator.txt the "
            "graph of each node, NAME_graph_labels.txt the class of each graph, all numbered from "
            "1",
    .run = tu_run,
};
