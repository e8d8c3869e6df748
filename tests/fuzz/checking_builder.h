/*
 * checking_builder - a dataset_builder for fuzzers that only checks what readers push.
 *
 * It defines the functions of dataset_builder.h; include it in one file of a program.
 */
#ifndef TESTS_FUZZ_CHECKING_BUILDER_H
#define TESTS_FUZZ_CHECKING_BUILDER_H

#include "common/base/error.h"
#include "common/base/memory.h"
#include "stages/ingest/build/dataset_builder.h"
#include "store/records/dataset/node_ids.h"

#include "tests/support/no_held_out.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

struct dataset_builder {
    uint64_t node_count, edge_count, id_count, feature_rows, label_count;
    uint32_t dim, edge_feature_width;
};

struct value_notes *dataset_builder_notes(struct dataset_builder *builder)
{
    static struct value_notes notes;
    (void)builder;
    notes = (struct value_notes){0};
    return &notes;
}

enum error_code dataset_builder_set_nodes(struct dataset_builder *builder, uint64_t node_count,
                                          enum stated_direction stated, struct error *err)
{
    (void)stated;
    (void)err;
    builder->node_count = node_count;
    return ERROR_NONE;
}

enum error_code dataset_builder_add_edges(struct dataset_builder *builder,
                                          const struct edge_piece *piece, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < piece->count; i++) {
        must(piece->source[i] >= 0 && (uint64_t)piece->source[i] < builder->node_count);
        must(piece->target[i] >= 0 && (uint64_t)piece->target[i] < builder->node_count);
        double value = 0.0;
        must(edge_columns_not_finite(&piece->columns, i, &value) == EDGE_COLUMN_COUNT);
    }
    const uint32_t width = piece->columns.width.of[EDGE_FEATURE];
    must(builder->edge_count == 0 || width == builder->edge_feature_width);
    builder->edge_feature_width = width;
    builder->edge_count += piece->count;
    return ERROR_NONE;
}

enum error_code dataset_builder_set_ids(struct dataset_builder *builder, const struct node_ids *ids,
                                        struct error *err)
{
    (void)err;
    builder->id_count = ids->node_count;
    return ERROR_NONE;
}

enum error_code dataset_builder_put_features(struct dataset_builder *builder, const char *where,
                                             int64_t line, uint64_t node, const float *row,
                                             uint32_t dim, struct error *err)
{
    (void)where;
    (void)err;
    must(line >= 0 && node < builder->node_count);
    must(dim > 0 && (builder->dim == 0 || builder->dim == dim));
    for (uint32_t i = 0; i < dim; i++)
        must(isfinite(row[i]));
    builder->dim = dim;
    builder->feature_rows++;
    return ERROR_NONE;
}

enum error_code dataset_builder_set_types(struct dataset_builder *builder,
                                          const struct node_type *node_type,
                                          uint32_t node_type_count,
                                          const struct edge_type *edge_type,
                                          uint32_t edge_type_count, struct error *err)
{
    uint64_t nodes = 0;
    (void)err;
    for (uint32_t i = 0; i < node_type_count; i++) {
        must(node_type[i].first_node == nodes);
        nodes += node_type[i].node_count;
    }
    must(nodes == builder->node_count && node_type_count <= NODE_TYPE_COUNT_MAX);
    for (uint32_t i = 0; i < edge_type_count; i++)
        must(edge_type[i].source_type < node_type_count &&
             edge_type[i].target_type < node_type_count);
    return ERROR_NONE;
}

void dataset_builder_select_type(struct dataset_builder *builder, uint32_t type)
{
    (void)builder;
    must(type < NODE_TYPE_COUNT_MAX);
}

enum error_code dataset_builder_add_features(struct dataset_builder *builder, const char *where,
                                             const float *rows, uint64_t row_count, uint32_t dim,
                                             struct error *err)
{
    (void)where;
    (void)err;
    must(rows && dim > 0);
    builder->feature_rows += row_count;
    must(builder->feature_rows <= builder->node_count);
    return ERROR_NONE;
}

enum error_code dataset_builder_set_labels(struct dataset_builder *builder, const char *where,
                                           int64_t first_line, const struct label_rows *labels,
                                           struct error *err)
{
    const struct task *task = task_of(labels->task);
    const uint32_t classes = task->class_count(labels->row, labels->count, labels->columns);
    const char *row = labels->row;
    (void)where;
    (void)first_line;
    must(labels->count == builder->node_count && classes <= CLASS_COUNT_MAX);
    for (uint64_t i = 0; i < labels->count; i++, row += 4 * (size_t)task->label_width(classes))
        must(task->label_check(row, classes, err) == ERROR_NONE);
    builder->label_count = labels->count;
    return ERROR_NONE;
}

/* Archives have a fuzzer of their own (fuzz_npz.c) and are not unpacked here. */
enum error_code dataset_builder_folder(struct dataset_builder *builder, const char *name,
                                       char path[FILE_PATH_SIZE], struct error *err)
{
    (void)builder;
    path[0] = '\0';
    return error_set(err, ERROR_INPUT, "%s is not unpacked", name);
}

enum error_code dataset_builder_set_graphs(struct dataset_builder *builder, const char *where,
                                           int64_t first_line, const int64_t *graph,
                                           int64_t first_id, struct error *err)
{
    (void)builder;
    (void)where;
    (void)err;
    must(first_line >= 0 && graph && first_id >= 0);
    return ERROR_NONE;
}

uint32_t dataset_builder_graphs(const struct dataset_builder *builder)
{
    (void)builder;
    return 1;
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

enum error_code dataset_builder_set_split(struct dataset_builder *builder, enum split split,
                                          const char *where, int64_t first_line,
                                          const int64_t *node, uint64_t count, struct error *err)
{
    (void)split;
    (void)where;
    (void)err;
    must(first_line >= 0 && count >= 1);
    for (uint64_t i = 0; i < count; i++)
        must(node[i] >= 0 && (uint64_t)node[i] < builder->node_count);
    return ERROR_NONE;
}

#endif
