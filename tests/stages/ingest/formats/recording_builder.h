/*
 * recording_builder - a dataset_builder that stores what readers push, for tests to compare.
 *
 * It defines the functions of dataset_builder.h, so a test that includes it links to these instead
 * of the library's. Include it in one file of a test program, and not together with ingest.c.
 */
#ifndef TESTS_STAGES_INGEST_FORMATS_RECORDING_BUILDER_H
#define TESTS_STAGES_INGEST_FORMATS_RECORDING_BUILDER_H

#include "common/base/memory.h"
#include "stages/ingest/build/dataset_builder.h"

#include "tests/support/no_held_out.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECORDED_EDGES = 1 << 21, RECORDED_IDS = 8192, RECORDED_TEXT = 65536 };

struct dataset_builder {
    uint64_t node_count;
    bool input_undirected;
    enum stated_direction stated;
    uint32_t node_type_count, edge_type_count;
    struct node_type node_type[NODE_TYPE_COUNT_MAX];
    struct edge_type edge_type[EDGE_TYPE_COUNT_MAX];
    uint64_t edge_count;
    int64_t source[RECORDED_EDGES], target[RECORDED_EDGES], line[RECORDED_EDGES];
    struct edge_widths width;
    double column[EDGE_COLUMN_COUNT][RECORDED_EDGES]; /* bytes, of the column's type */
    uint32_t selected_type;
    uint64_t feature_rows;
    uint32_t dim;
    float feature_of[RECORDED_IDS]; /* the first number of each row */
    uint64_t feature_calls;
    double feature_sum;
    float last_row_first, first_row_first;
    uint64_t label_count;
    uint32_t multi_columns;
    int32_t label[RECORDED_EDGES];
    float multi[RECORDED_IDS];
    uint64_t labelled;
    uint64_t split_count[SPLIT_COUNT];
    int64_t split_first[SPLIT_COUNT];
    uint32_t graph_count; /* for a task of graphs */
    int64_t first_graph, first_graph_id;
    char graph_where[FILE_PATH_SIZE];
    struct node_ids ids;
    int64_t integer[RECORDED_IDS];
    uint64_t offset[RECORDED_IDS + 1];
    char text[RECORDED_TEXT];
};

static const char *recorded_time_setting = "auto";
static struct value_notes recorded_notes;
static struct dataset_builder recorded; /* too large for the stack */

static struct dataset_builder *recording_start(void)
{
    memset(&recorded, 0, sizeof recorded);
    recorded_notes = (struct value_notes){0};
    must(!time_format_read(recorded_time_setting, &recorded_notes.time));
    return &recorded;
}

struct value_notes *dataset_builder_notes(struct dataset_builder *builder)
{
    (void)builder;
    return &recorded_notes;
}

static inline int64_t recorded_time_of(size_t edge)
{
    return ((const int64_t *)(const void *)recorded.column[EDGE_TIME])[edge];
}

static inline const float *recorded_weight(void)
{
    return (const float *)(const void *)recorded.column[EDGE_WEIGHT];
}

static inline const uint16_t *recorded_type(void)
{
    return (const uint16_t *)(const void *)recorded.column[EDGE_TYPE];
}

enum error_code dataset_builder_folder(struct dataset_builder *builder, const char *name,
                                       char path[FILE_PATH_SIZE], struct error *err)
{
    static char folder[] = "/tmp/graphmill-recorded-XXXXXX";
    static int number;
    (void)builder;
    if (number == 0)
        assert_non_null(mkdtemp(folder));
    const enum error_code rc = file_path(path, err, "%s/%d-%s", folder, number++, name);
    return rc == ERROR_NONE ? file_make_folders(path, err) : rc;
}

enum error_code dataset_builder_set_nodes(struct dataset_builder *builder, uint64_t node_count,
                                          enum stated_direction stated, struct error *err)
{
    if (node_count == 0)
        return error_set(err, ERROR_INPUT, "empty graph");
    builder->node_count = node_count;
    builder->stated = stated;
    builder->input_undirected = stated == STATED_UNDIRECTED;
    return ERROR_NONE;
}

enum error_code dataset_builder_set_types(struct dataset_builder *builder,
                                          const struct node_type *node_type,
                                          uint32_t node_type_count,
                                          const struct edge_type *edge_type,
                                          uint32_t edge_type_count, struct error *err)
{
    (void)err;
    must(builder->edge_count == 0); /* the real builder checks edges against the types */
    builder->node_type_count = node_type_count;
    builder->edge_type_count = edge_type_count;
    memcpy(builder->node_type, node_type, node_type_count * sizeof *node_type);
    memcpy(builder->edge_type, edge_type, edge_type_count * sizeof *edge_type);
    return ERROR_NONE;
}

void dataset_builder_select_type(struct dataset_builder *builder, uint32_t type)
{
    builder->selected_type = type;
}

enum error_code dataset_builder_add_edges(struct dataset_builder *builder,
                                          const struct edge_piece *piece, struct error *err)
{
    must(builder->node_count > 0);
    for (size_t i = 0; i < piece->count; i++) {
        const uint64_t at = builder->edge_count++;
        const int64_t line = piece->first_line + (int64_t)i;
        must(at < RECORDED_EDGES);
        if (piece->source[i] < 0 || (uint64_t)piece->source[i] >= builder->node_count ||
            piece->target[i] < 0 || (uint64_t)piece->target[i] >= builder->node_count)
            return error_set(err, ERROR_INPUT, "%s:%lld: out of range", piece->where,
                             (long long)line);
        builder->source[at] = piece->source[i];
        builder->target[at] = piece->target[i];
        builder->line[at] = line;
        const struct edge_columns_view *columns = &piece->columns;
        builder->width = columns->width;
        must((at + 1) * edge_widths_bytes(&columns->width) <= sizeof builder->column[0]);
        for (int c = 0; c < EDGE_COLUMN_COUNT; c++)
            if (columns->width.of[c])
                memcpy((char *)builder->column[c] +
                           at * edge_column_bytes((enum edge_column)c, columns->width.of[c]),
                       edge_columns_at(columns, (enum edge_column)c, i),
                       edge_column_bytes((enum edge_column)c, columns->width.of[c]));
    }
    return ERROR_NONE;
}

enum error_code dataset_builder_add_features(struct dataset_builder *builder, const char *where,
                                             const float *rows, uint64_t row_count, uint32_t dim,
                                             struct error *err)
{
    must(builder->feature_rows == 0 || builder->dim == dim || builder->selected_type > 0);
    for (uint64_t i = 0; i < row_count * dim; i++) {
        if (!isfinite(rows[i]))
            return error_set(err, ERROR_INPUT, "%s: row %llu: not finite", where,
                             (unsigned long long)(builder->feature_rows + i / dim));
        builder->feature_sum += (double)rows[i];
    }
    if (builder->feature_rows == 0)
        builder->first_row_first = rows[0];
    builder->last_row_first = rows[(row_count - 1) * dim];
    builder->dim = dim;
    builder->feature_rows += row_count;
    builder->feature_calls++;
    return ERROR_NONE;
}

enum error_code dataset_builder_put_features(struct dataset_builder *builder, const char *where,
                                             int64_t line, uint64_t node, const float *row,
                                             uint32_t dim, struct error *err)
{
    (void)where;
    (void)line;
    (void)err;
    must(node < builder->node_count && node < RECORDED_IDS && dim > 0);
    builder->feature_of[node] = row[0];
    builder->dim = dim;
    builder->feature_rows++;
    return ERROR_NONE;
}

enum error_code dataset_builder_set_labels(struct dataset_builder *builder, const char *where,
                                           int64_t first_line, const struct label_rows *labels,
                                           struct error *err)
{
    (void)where;
    (void)first_line;
    (void)err;
    builder->label_count = labels->count;
    if (labels->task == TASK_MULTI_LABEL) {
        must(labels->count * labels->columns <= RECORDED_IDS);
        memcpy(builder->multi, labels->row, labels->count * labels->columns * sizeof(float));
        builder->multi_columns = labels->columns;
        return ERROR_NONE;
    }
    must(labels->count <= RECORDED_EDGES);
    memcpy(builder->label, labels->row, labels->count * sizeof *builder->label);
    for (uint64_t i = 0; i < labels->count; i++)
        builder->labelled += builder->label[i] >= 0 ? 1 : 0;
    return ERROR_NONE;
}

enum error_code dataset_builder_set_graphs(struct dataset_builder *builder, const char *where,
                                           int64_t first_line, const int64_t *graph,
                                           int64_t first_id, struct error *err)
{
    (void)err;
    for (uint64_t i = 0; i < builder->node_count; i++)
        if (graph[i] - first_id >= builder->graph_count)
            builder->graph_count = (uint32_t)(graph[i] - first_id + 1);
    builder->first_graph = graph[0];
    builder->first_graph_id = first_id;
    (void)snprintf(builder->graph_where, sizeof builder->graph_where, "%s:%" PRId64, where,
                   first_line);
    return ERROR_NONE;
}

uint32_t dataset_builder_graphs(const struct dataset_builder *builder)
{
    return builder->graph_count;
}

enum error_code dataset_builder_set_split(struct dataset_builder *builder, enum split split,
                                          const char *where, int64_t first_line,
                                          const int64_t *node, uint64_t count, struct error *err)
{
    (void)where;
    (void)first_line;
    (void)err;
    builder->split_count[split] = count;
    builder->split_first[split] = count ? node[0] : -1;
    return ERROR_NONE;
}

enum error_code dataset_builder_set_ids(struct dataset_builder *builder, const struct node_ids *ids,
                                        struct error *err)
{
    (void)err;
    must(ids->node_count <= RECORDED_IDS);
    builder->ids.node_count = ids->node_count;
    if (ids->integer) {
        memcpy(builder->integer, ids->integer, ids->node_count * sizeof *ids->integer);
        builder->ids.integer = builder->integer;
        return ERROR_NONE;
    }
    must(ids->offset[ids->node_count] <= RECORDED_TEXT);
    memcpy(builder->offset, ids->offset, (ids->node_count + 1) * sizeof *ids->offset);
    memcpy(builder->text, ids->text, ids->offset[ids->node_count]);
    builder->ids.offset = builder->offset;
    builder->ids.text = builder->text;
    return ERROR_NONE;
}

void dataset_builder_take_times(struct dataset_builder *builder, int64_t *time)
{
    (void)builder;
    memory_free(time);
}

void dataset_builder_take_encoding(struct dataset_builder *builder,
                                   struct column_encoding *encoding)
{
    (void)builder;
    column_encoding_release(encoding);
}

#endif
