/* Exports a mini-batch of a graph with relations as arrays (export_arrays.h). */
#include "common/base/memory.h"
#include "pipelines/export/step_export.h"
#include "store/versions/merged_parts.h"

#include <stdio.h>

__attribute__((format(printf, 2, 3))) static const char *name_of(char name[STEP_NAME_SIZE],
                                                                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(name, STEP_NAME_SIZE, format, arguments);
    va_end(arguments);
    return name;
}

/* --- by type --- */

static enum error_code add_rows(struct step_export *step, struct step_export_rows *of,
                                struct error *err)
{
    const struct partition_book *own = &step->folder->run.book;
    char name[STEP_NAME_SIZE];
    float *rows = NULL;
    uint32_t dim = 0;
    enum error_code rc = ERROR_NONE;
    if (partition_book_dim(own, of->type) && of->count) {
        rc = step_export_read(step, "features", of, &rows, &dim, err);
        if (rc == ERROR_NONE)
            step_export_add(step, SAFETENSORS_F32,
                            name_of(name, "features.%s", own->type_name[of->type]), of->count, dim,
                            rows);
    }
    if (rc != ERROR_NONE || of->type != own->target_type || !task_has(own->task, TASK_LABELS_NODES))
        return rc;
    of->count = mini_batch_known(&step->batch, of->type, 0); /* the seeds */
    rc = step_export_read(step, "labels", of, &rows, &dim, err);
    return rc == ERROR_NONE ? step_export_labels(step, rows, of->count, dim, err) : rc;
}

static enum error_code add_type(struct step_export *step, uint32_t type,
                                const struct node_permutation *permutation, struct error *err)
{
    const struct partition_book *own = &step->folder->run.book;
    const struct type_ranges ranges = partition_book_ranges(own);
    const struct mini_batch *batch = &step->batch;
    const uint32_t begin = batch->node_begin[type];
    const uint32_t count = batch->node_begin[type + 1] - begin;
    char name[STEP_NAME_SIZE];
    uint32_t *book = NULL, *number = NULL;
    enum error_code rc =
        arena_new(&step->arena, &book, (size_t)own->part_count + 1, "the ranges of a type", err);
    if (rc == ERROR_NONE)
        rc = arena_new(&step->arena, &number, count, "nodes of a type", err);
    if (rc != ERROR_NONE)
        return rc;
    type_ranges_book(&ranges, type, book);
    rc = mini_batch_numbers(batch, type, &ranges, book, number, err);
    if (rc == ERROR_NONE)
        rc = step_export_nodes(step, name_of(name, "mini_batch.node.%s", own->type_name[type]),
                               batch->node + begin, count, permutation, err);
    if (rc == ERROR_NONE)
        rc =
            step_export_integers(step, name_of(name, "mini_batch.hop_end.%s", own->type_name[type]),
                                 batch->hop_end + type * ((size_t)batch->hop_count + 1),
                                 (size_t)batch->hop_count + 1, err);
    struct step_export_rows of = {.type = type, .count = count, .book = book, .number = number};
    return rc == ERROR_NONE ? add_rows(step, &of, err) : rc;
}

/* --- by relation --- */

static enum error_code add_relation(struct step_export *step, uint32_t relation, struct error *err)
{
    const struct mini_batch *batch = &step->batch;
    const uint32_t first_row = batch->row_begin[relation], first = batch->edge_begin[relation];
    const uint32_t rows = batch->row_begin[relation + 1] - first_row;
    const uint32_t edges = batch->edge_begin[relation + 1] - first;
    const uint32_t *start = batch->row_start + first_row + relation, *row = batch->row + first_row;
    char name[STEP_NAME_SIZE];
    int64_t *edge = NULL;
    enum error_code rc =
        arena_new(&step->arena, &edge, 2 * (size_t)edges + 1, "the edges of a mini-batch", err);
    if (rc != ERROR_NONE)
        return rc;
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t e = start[i]; e < start[i + 1]; e++) {
            edge[e] = batch->neighbor[first + e];
            edge[edges + e] = row[i];
        }
    step_export_add(step, SAFETENSORS_I64, name_of(name, "mini_batch.edge_index.%u", relation), 2,
                    edges, edge);
    step->tensor[step->count - 1].dim_count = 2; /* also when there is no edge */
    const uint32_t width = batch->columns.width.of[EDGE_FEATURE];
    if (batch->columns.width.of[EDGE_WEIGHT])
        step_export_add(step, SAFETENSORS_F32, name_of(name, "mini_batch.weight.%u", relation),
                        edges, 0, (const float *)batch->columns.data[EDGE_WEIGHT] + first);
    if (width)
        step_export_add(step, SAFETENSORS_F32,
                        name_of(name, "mini_batch.edge_feature.%u", relation), edges, width,
                        (const float *)batch->columns.data[EDGE_FEATURE] + first * (size_t)width);
    if (!batch->degree)
        return ERROR_NONE;
    rc = step_export_integers(step, name_of(name, "mini_batch.row.%u", relation), row, rows, err);
    return rc == ERROR_NONE
               ? step_export_integers(step, name_of(name, "mini_batch.degree.%u", relation),
                                      batch->degree + first_row, rows, err)
               : rc;
}

enum error_code step_export_relations(struct step_export *step, struct error *err)
{
    const struct partition_book *book = &step->folder->run.book;
    struct node_permutation permutation = {0};
    enum error_code rc =
        merged_permutation_get(step->folder->store, book->id, book->node_count, &permutation, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < step->batch.type_count; t++)
        rc = add_type(step, t, &permutation, err);
    store_release_record(&permutation.view);
    for (uint32_t r = 0; rc == ERROR_NONE && r < step->batch.relation_count; r++)
        rc = add_relation(step, r, err);
    return rc == ERROR_NONE && step->batch.pairs.positive_count ? step_export_pairs(step, err) : rc;
}
