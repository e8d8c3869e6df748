#include "stages/ingest/formats/ogb_reader.h"

#include "common/base/file.h"
#include "common/base/memory.h"
#include "common/formats/delimited.h"
#include "common/formats/line_reader.h"
#include "stages/ingest/formats/feature_text.h"
#include "stages/ingest/formats/folder_edges.h"
#include "stages/ingest/formats/folder_reader.h"
#include "stages/ingest/formats/held_edge_files.h"
#include "stages/ingest/formats/input_files.h"
#include "stages/ingest/formats/integer_column.h"
#include "stages/ingest/formats/label_reader.h"
#include "stages/ingest/formats/ogb_binary.h"
#include "store/records/node_splits.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static const char *const endings[] = {".csv.gz", ".csv.zst", ".csv", NULL};
/* Files beside the edges, with a line an edge. */
static const char *const column_stem[EDGE_COLUMN_COUNT] = {[EDGE_WEIGHT] = "edge_weight",
                                                           [EDGE_TYPE] = "edge_reltype",
                                                           [EDGE_TIME] = "edge_year",
                                                           [EDGE_FEATURE] = "edge-feat"};
enum { PIECE_FLOATS = 1 << 20, GRAPHS_READ = 1 << 16 /* to say how many graphs there are */ };

struct ogb { /* one run */
    const char *path;
    char raw[FILE_PATH_SIZE];
    enum task_kind task;
    bool draws_splits; /* the files of splits are left alone */
    uint64_t node_count;
    struct ogb_binary binary;
    struct dataset_builder *builder;
};

/* The file of a stem; in binary form that of an array. */
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

/* The one number of num-node-list and num-edge-list. */
static enum error_code read_count(const struct ogb *ogb, const char *stem, const char *array,
                                  uint64_t *out, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct integer_column column = {0};
    enum error_code rc = find_needed(ogb, stem, array, path, err);
    if (rc == ERROR_NONE)
        rc = integer_column_read(&column, path, GRAPHS_READ, err);
    if (rc == ERROR_NONE && (column.count != 1 || column.value[0] < 0))
        rc = error_set(err, ERROR_INPUT,
                       "%s: expected one number (a data set of one graph), found %" PRIu64, path,
                       column.count);
    if (rc == ERROR_NONE)
        *out = (uint64_t)column.value[0];
    integer_column_release(&column);
    return rc;
}

/* The highest type in the text file of types, plus one; 0 when there is none. */
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

/* The builder has to know the types before the first edge: as many as the highest number says. */
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
    return ogb->binary.is_there
               ? folder_edges_read_npy(path, files, ogb->builder, found, err)
               : folder_edges_read_csv(path, false, NULL, NULL, files, ogb->builder, found, err);
}

static enum error_code read_edges(const struct ogb *ogb, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct edge_files files = {0};
    uint64_t expected = 0, found = 0;
    enum error_code rc = read_count(ogb, "num-edge-list", "num_edges_list", &expected, err);
    if (rc == ERROR_NONE)
        rc = find_needed(ogb, "edge", "edge_index", path, err);
    if (rc == ERROR_NONE)
        rc = ogb->binary.is_there
                 ? ogb_binary_columns(&ogb->binary, &files, err)
                 : edge_files_open_text(&files, ogb->raw, column_stem, endings, err);
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

struct feature_table { /* one run over node-feat.csv */
    const struct ogb *ogb;
    const char *path;
    uint64_t row_count;  /* taken so far */
    uint64_t piece_rows; /* of them not pushed yet */
    uint64_t piece_limit;
    uint32_t dim;
    float *row; /* [piece_limit, dim] */
};

static enum error_code push_piece(struct feature_table *table, struct error *err)
{
    const uint64_t rows = table->piece_rows;
    table->piece_rows = 0;
    if (rows == 0)
        return ERROR_NONE;
    return dataset_builder_add_features(table->ogb->builder, table->path, table->row, rows,
                                        table->dim, err);
}

static enum error_code set_dim(struct feature_table *table, const struct text_line *line,
                               struct error *err)
{
    struct delimited cursor;
    delimited_begin(&cursor, line->text, line->size, DELIMITER_COMMA);
    const enum error_code rc =
        feature_text_dim(table->path, line->number, cursor, &table->dim, err);
    if (rc != ERROR_NONE)
        return rc;
    table->piece_limit = table->dim < PIECE_FLOATS ? PIECE_FLOATS / table->dim : 1;
    return memory_new(&table->row, table->piece_limit * table->dim, "a piece of the features", err);
}

static enum error_code parse_features(const struct feature_table *table,
                                      const struct text_line *line, float *out, struct error *err)
{
    struct delimited cursor;
    delimited_begin(&cursor, line->text, line->size, DELIMITER_COMMA);
    return feature_text_parse(table->path, line->number, &cursor, 0, table->dim, out, err);
}

static enum error_code take_features(struct feature_table *table, const struct text_line *line,
                                     struct error *err)
{
    enum error_code rc = table->dim ? ERROR_NONE : set_dim(table, line, err);
    if (rc == ERROR_NONE && table->row_count == table->ogb->node_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": expected %" PRIu64 " lines, one for each node, found more",
                       table->path, line->number, table->ogb->node_count);
    if (rc == ERROR_NONE)
        rc = parse_features(table, line, table->row + table->piece_rows * table->dim, err);
    if (rc != ERROR_NONE)
        return rc;
    table->row_count++;
    table->piece_rows++;
    return table->piece_rows == table->piece_limit ? push_piece(table, err) : ERROR_NONE;
}

static enum error_code read_features(const struct ogb *ogb, struct error *err)
{
    char path[FILE_PATH_SIZE];
    struct feature_table table = {.ogb = ogb, .path = path};
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    if (ogb->binary.is_there)
        return ogb_binary_push_features(&ogb->binary, ogb->node_count, ogb->builder, err);
    enum error_code rc = input_files_find(ogb->raw, "node-feat", endings, path, err);
    if (rc != ERROR_NONE || !path[0])
        return rc;
    rc = line_reader_open(path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = line_reader_next(reader, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        rc = take_features(&table, &line, err);
    }
    line_reader_close(reader);
    if (rc == ERROR_NONE && table.row_count != ogb->node_count)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRIu64 ": expected %" PRIu64 " lines, one for each node, found the "
                       "end of the file",
                       path, table.row_count + 1, ogb->node_count);
    if (rc == ERROR_NONE)
        rc = push_piece(&table, err);
    memory_free(table.row);
    return rc;
}

static enum error_code read_labels(const struct ogb *ogb, struct error *err)
{
    char path[FILE_PATH_SIZE];
    const enum error_code rc = ogb->binary.is_there
                                   ? ogb_binary_labels(&ogb->binary, ogb->builder, path, err)
                                   : input_files_find(ogb->raw, "node-label", endings, path, err);
    if (rc != ERROR_NONE || !path[0])
        return rc;
    return label_reader_run(path, ogb->node_count, 0, ogb->task, ogb->builder, err);
}

struct split_folder {
    char path[FILE_PATH_SIZE]; /* "" when there is none yet */
    const char *parent;
};

static enum error_code note_split_folder(void *context, const char *name, struct error *err)
{
    struct split_folder *folder = context;
    struct stat status;
    char path[FILE_PATH_SIZE];
    const enum error_code rc = file_path(path, err, "%s/%s", folder->parent, name);
    if (rc != ERROR_NONE)
        return rc;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return ERROR_NONE;
    if (folder->path[0])
        return error_set(err, ERROR_INPUT, "expected one folder of splits, found %s and %s",
                         folder->path, path);
    memcpy(folder->path, path, sizeof path);
    return ERROR_NONE;
}

static enum error_code read_splits(const struct ogb *ogb, struct error *err)
{
    static const char *const stem[SPLIT_COUNT] = {"train", "valid", "test"};
    char parent[FILE_PATH_SIZE], path[FILE_PATH_SIZE];
    struct split_folder folder = {.parent = parent};
    bool has_splits = false;
    enum error_code rc = file_path(parent, err, "%s/split", ogb->path);
    if (rc == ERROR_NONE)
        rc = file_is_there(parent, &has_splits, err);
    if (rc != ERROR_NONE || ogb->draws_splits || !has_splits)
        return rc;
    rc = file_list(parent, note_split_folder, &folder, err);
    for (int split = 0; rc == ERROR_NONE && folder.path[0] && split < SPLIT_COUNT; split++) {
        rc = input_files_find(folder.path, stem[split], endings, path, err);
        if (rc == ERROR_NONE && path[0])
            rc = folder_reader_split(path, (enum split)split, ogb->node_count, ogb->builder, err);
    }
    return rc;
}

/* Text and arrays are two forms of one graph: one of them would be ignored. */
static enum error_code check_form(const struct ogb *ogb, struct error *err)
{
    char path[FILE_PATH_SIZE];
    if (!ogb->binary.is_there)
        return ERROR_NONE;
    const enum error_code rc = input_files_find(ogb->raw, "edge", endings, path, err);
    if (rc != ERROR_NONE || !path[0])
        return rc;
    return error_set(err, ERROR_INPUT, "expected one of %s and %s, found both", path,
                     ogb->binary.data);
}

enum error_code ogb_reader_run(const struct pipeline_settings *settings,
                               struct dataset_builder *builder, struct error *err)
{
    struct split_shares shares;
    enum error_code rc = pipeline_split_shares(settings, &shares, err);
    struct ogb ogb = {.path = settings->ingest.path,
                      .task = (enum task_kind)settings->ingest.task,
                      .draws_splits = shares.is_random,
                      .builder = builder};
    if (rc == ERROR_NONE)
        rc = file_path(ogb.raw, err, "%s/raw", ogb.path);
    if (rc == ERROR_NONE)
        rc = ogb_binary_open(&ogb.binary, ogb.raw, builder, err);
    if (rc == ERROR_NONE)
        rc = check_form(&ogb, err);
    if (rc == ERROR_NONE)
        rc = read_count(&ogb, "num-node-list", "num_nodes_list", &ogb.node_count, err);
    if (rc == ERROR_NONE)
        rc = dataset_builder_set_nodes(builder, ogb.node_count, STATED_ONCE_IS_BOTH, err);
    if (rc == ERROR_NONE)
        rc = read_edges(&ogb, err);
    if (rc == ERROR_NONE)
        rc = read_features(&ogb, err);
    if (rc == ERROR_NONE && !pipeline_learns_pairs(settings))
        rc = read_labels(&ogb, err);
    if (rc == ERROR_NONE && !pipeline_learns_pairs(settings))
        rc = read_splits(&ogb, err);
    if (rc == ERROR_NONE)
        rc = held_edge_files_push(settings, NULL, builder, err);
    return rc;
}
