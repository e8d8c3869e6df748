#include "stages/ingest/formats/folders/dgl_csv_nodes.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/formats/bytes/usual_advice.h"
#include "common/formats/text/line_reader.h"
#include "stages/ingest/formats/columns/feature_text.h"

#include <inttypes.h>
#include <string.h>

enum { FIELDS_MAX = 256, PIECE_FLOATS = 1 << 18 };
enum column { NODE_ID, LABEL, TRAIN_MASK, VALID_MASK, TEST_MASK, FEATURES, GRAPH_ID, COLUMN_COUNT };

struct table { /* one pass */
    const struct dgl_csv_nodes *nodes;
    int place[COLUMN_COUNT]; /* the field of each column; -1: no such column */
    size_t field_count;
    uint64_t row_count;
};

typedef enum error_code (*row_taker)(void *context, const struct table *table,
                                     const struct field *field, int64_t line, struct error *err);

static enum error_code take_header(struct table *table, const struct text_line *line,
                                   struct error *err)
{
    const char *const name[COLUMN_COUNT] = {
        table->nodes->file->id, "label", "train_mask", "val_mask", "test_mask", "feat", "graph_id"};
    struct field field[FIELDS_MAX];
    table->field_count = delimited_split_line(line, table->nodes->delimiter, field, FIELDS_MAX);
    for (int c = 0; c < COLUMN_COUNT; c++) {
        table->place[c] = -1;
        for (size_t f = 0; f < table->field_count && f < FIELDS_MAX; f++)
            if (field_is(&field[f], name[c]))
                table->place[c] = (int)f;
    }
    if (table->field_count <= FIELDS_MAX && table->place[NODE_ID] >= 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64
                     ": expected a header of at most %d columns with %s, found '%.*s'",
                     table->nodes->file->path, line->number, FIELDS_MAX, name[NODE_ID],
                     line->size < 60 ? (int)line->size : 60, line->text);
}

static enum error_code take_line(struct table *table, const struct text_line *line, row_taker take,
                                 void *context, struct error *err)
{
    struct field field[FIELDS_MAX];
    const size_t found = delimited_split_line(line, table->nodes->delimiter, field, FIELDS_MAX);
    char extent[DELIMITED_EXTENT_SIZE];
    if (found != table->field_count)
        return error_set(err, ERROR_INPUT,
                         "%s:%" PRId64
                         ": expected %zu columns as the header has, found %zu%s" ADVISE_COLUMNS,
                         table->nodes->file->path, line->number, table->field_count, found,
                         delimited_extent(line, extent));
    const enum error_code rc = take(context, table, field, line->number, err);
    table->row_count++;
    return rc;
}

static enum error_code visit(struct table *table, row_taker take, void *context, struct error *err)
{
    struct line_reader *reader = NULL;
    struct text_line line;
    bool found = true;
    enum error_code rc = line_reader_open(table->nodes->file->path, &reader, err);
    while (rc == ERROR_NONE) {
        rc = delimited_read(reader, &table->nodes->delimiter, &line, &found, err);
        if (rc != ERROR_NONE || !found)
            break;
        if (line.number == 1)
            rc = take_header(table, &line, err);
        else if (line.size)
            rc = take_line(table, &line, take, context, err);
    }
    line_reader_close(reader);
    return rc == ERROR_NONE && table->row_count == 0
               ? error_set(err, ERROR_INPUT, "%s: expected a header and a line a node, found none",
                           table->nodes->file->path)
               : rc;
}

/* --- the first pass --- */

struct ids {
    struct dgl_csv_nodes *nodes;
    char graph[32]; /* the graph of the first line */
};

static enum error_code check_graph(struct ids *ids, const struct table *table,
                                   const struct field *field, int64_t line, struct error *err)
{
    const struct field *graph = table->place[GRAPH_ID] >= 0 ? &field[table->place[GRAPH_ID]] : NULL;
    if (!graph || graph->size >= sizeof ids->graph)
        return ERROR_NONE;
    if (table->row_count == 0)
        memcpy(ids->graph, graph->text, graph->size);
    if (strlen(ids->graph) == graph->size && memcmp(ids->graph, graph->text, graph->size) == 0)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": graph_id: expected one graph, '%s' as in the first line, "
                     "found '%.*s'",
                     table->nodes->file->path, line, ids->graph, (int)graph->size, graph->text);
}

static enum error_code take_id(void *context, const struct table *table, const struct field *field,
                               int64_t line, struct error *err)
{
    struct ids *ids = context;
    struct dgl_csv_nodes *nodes = ids->nodes;
    const struct field *id = &field[table->place[NODE_ID]];
    struct delimited list;
    int64_t number = -1;
    enum error_code rc = check_graph(ids, table, field, line, err);
    if (rc == ERROR_NONE && named_nodes_find(&nodes->names, id) >= 0)
        rc = error_set(err, ERROR_INPUT,
                       "%s:%" PRId64 ": '%.*s' is the id of an earlier line already: expected one "
                       "line a node",
                       nodes->file->path, line, id->size < 40 ? (int)id->size : 40, id->text);
    if (rc == ERROR_NONE)
        rc = named_nodes_note(&nodes->names, id, "node", nodes->file->path, line, err);
    nodes->is_numbered &=
        text_int64(id->text, id->size, &number) && number == (int64_t)table->row_count;
    if (rc != ERROR_NONE || table->row_count || table->place[FEATURES] < 0)
        return rc;
    const struct field *feat = &field[table->place[FEATURES]];
    delimited_begin(&list, feat->text, feat->size, DELIMITER_COMMA);
    return feature_text_dim(nodes->file->path, line, list, &nodes->dim, err);
}

enum error_code dgl_csv_nodes_read_ids(struct dgl_csv_nodes *nodes, struct error *err)
{
    struct table table = {.nodes = nodes};
    struct ids ids = {.nodes = nodes};
    named_nodes_init(&nodes->names, true, 0);
    nodes->is_numbered = true;
    const enum error_code rc = visit(&table, take_id, &ids, err);
    if (rc == ERROR_NONE)
        named_nodes_finish(&nodes->names);
    return rc;
}

void dgl_csv_nodes_release(struct dgl_csv_nodes *nodes)
{
    named_nodes_release(&nodes->names);
}

/* --- the second --- */

struct values {
    const struct dgl_csv_nodes *nodes;
    uint32_t type;
    struct typed_graph *graph;
    struct dataset_builder *builder;
    float *row; /* [piece_limit, dim] */
    uint64_t piece_rows, piece_limit;
};

static enum error_code push_piece(struct values *values, struct error *err)
{
    const uint64_t rows = values->piece_rows;
    values->piece_rows = 0;
    return rows ? dataset_builder_add_features(values->builder, values->nodes->file->path,
                                               values->row, rows, values->nodes->dim, err)
                : ERROR_NONE;
}

static enum error_code take_features(struct values *values, const struct field *feat, int64_t line,
                                     struct error *err)
{
    struct delimited list;
    const uint32_t dim = values->nodes->dim;
    delimited_begin(&list, feat->text, feat->size, DELIMITER_COMMA);
    const enum error_code rc = feature_text_parse(
        values->nodes->file->path, line, &list, 0, dim, values->row + values->piece_rows * dim,
        &dataset_builder_notes(values->builder)->loss, err);
    if (rc != ERROR_NONE)
        return rc;
    return ++values->piece_rows == values->piece_limit ? push_piece(values, err) : ERROR_NONE;
}

static enum error_code take_mask(const struct values *values, const struct table *table,
                                 enum split split, const struct field *mask, int64_t line,
                                 struct error *err)
{
    const int64_t node = (int64_t)table->row_count;
    if (field_is(mask, "1") || field_is(mask, "true") || field_is(mask, "1.0"))
        return typed_graph_take_split(values->graph, values->type, split, values->nodes->file->path,
                                      line, &node, 1, err);
    if (field_is(mask, "0") || field_is(mask, "false") || field_is(mask, "0.0"))
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": expected a mask of 0 and 1, or False and True, found '%.*s'",
                     values->nodes->file->path, line, mask->size < 40 ? (int)mask->size : 40,
                     mask->text);
}

static enum error_code take_values(void *context, const struct table *table,
                                   const struct field *field, int64_t line, struct error *err)
{
    struct values *values = context;
    enum error_code rc = ERROR_NONE;
    if (table->place[FEATURES] >= 0)
        rc = take_features(values, &field[table->place[FEATURES]], line, err);
    if (rc == ERROR_NONE && table->place[LABEL] >= 0)
        rc = typed_graph_take_label(values->graph, values->type, table->row_count,
                                    &field[table->place[LABEL]], values->nodes->file->path, line,
                                    err);
    for (int s = 0; rc == ERROR_NONE && s < SPLIT_COUNT; s++)
        if (table->place[TRAIN_MASK + s] >= 0)
            rc = take_mask(values, table, (enum split)s, &field[table->place[TRAIN_MASK + s]], line,
                           err);
    return rc;
}

enum error_code dgl_csv_nodes_push(const struct dgl_csv_nodes *nodes, uint32_t type,
                                   struct typed_graph *graph, struct dataset_builder *builder,
                                   struct error *err)
{
    struct table table = {.nodes = nodes};
    struct values values = {.nodes = nodes, .type = type, .graph = graph, .builder = builder};
    enum error_code rc = ERROR_NONE;
    values.piece_limit = nodes->dim && nodes->dim < PIECE_FLOATS ? PIECE_FLOATS / nodes->dim : 1;
    dataset_builder_select_type(builder, type);
    rc = memory_new(&values.row, values.piece_limit * nodes->dim + 1, "a piece of the features",
                    err);
    if (rc == ERROR_NONE)
        rc = visit(&table, take_values, &values, err);
    if (rc == ERROR_NONE)
        rc = push_piece(&values, err);
    memory_free(values.row);
    return rc;
}
