#include "stages/infer/outputs/output_nodes.h"

#include "common/base/memory.h"
#include "stages/infer/outputs/output_lines.h"
#include "store/objects/keys.h"
#include "store/records/dataset/graph_index.h"
#include "store/versions/merged_parts.h"
#include "store/versions/merged_records.h"

#include <inttypes.h>

/* Finds the nodes of one type, in a graph with relations. */
static enum error_code find_type(const struct stage_context *context, uint32_t type,
                                 struct output_nodes *nodes, struct error *err)
{
    const struct type_ranges ranges = partition_book_ranges(context->book);
    const enum error_code rc =
        memory_new(&nodes->own_book, (size_t)ranges.part_count + 1, "the ranges of a type", err);
    if (rc != ERROR_NONE)
        return rc;
    nodes->type = type;
    type_ranges_book(&ranges, nodes->type, nodes->own_book);
    nodes->book = nodes->own_book;
    nodes->count = nodes->book[ranges.part_count];
    const enum error_code found =
        type_permutation_find(&nodes->permutation, &ranges, nodes->type, &nodes->of_type, err);
    store_release_record(&nodes->permutation.view);
    nodes->permutation = nodes->of_type.of;
    nodes->first_node = nodes->of_type.first_node;
    return found == ERROR_NONE
               ? found
               : error_context(err, found, "type %s", context->book->type_name[nodes->type]);
}

/* Returns the number of a partition node; at least nodes->count if it has no outputs. */
static uint32_t number_of(const struct stage_context *context, const struct output_nodes *nodes,
                          uint32_t node)
{
    const struct type_ranges ranges = partition_book_ranges(context->book);
    if (node >= context->book->node_count)
        return UINT32_MAX;
    const int part = type_ranges_part(&ranges, node);
    return type_ranges_type(&ranges, part, node) == nodes->type
               ? type_ranges_number(&ranges, nodes->book, nodes->type, node)
               : UINT32_MAX;
}

/* Checks that the splits fit this partition, and marks them. Their reader has checked that
 * the record is consistent. */
static enum error_code mark_splits(const struct stage_context *context,
                                   const struct node_splits *splits, struct output_nodes *nodes,
                                   struct error *err)
{
    for (int split = 0; split < SPLIT_COUNT; split++) {
        nodes->split_count[split] = splits->count[split];
        for (uint32_t i = 0; i < splits->count[split]; i++) {
            const uint32_t node = splits->node[split][i];
            const uint32_t number = number_of(context, nodes, node);
            if (number >= nodes->count && context->book->type_count)
                return error_set(
                    err, ERROR_CORRUPT, "split %s: expected nodes of type %s, found %" PRIu32,
                    output_split_name[split], context->book->type_name[nodes->type], node);
            if (number >= nodes->count)
                return error_set(err, ERROR_CORRUPT,
                                 "split %s: expected nodes below %" PRIu32 ", found %" PRIu32,
                                 output_split_name[split], nodes->count, node);
            nodes->split_of[number] = (uint8_t)(split + 1);
        }
    }
    return ERROR_NONE;
}

/* Takes the graphs as nodes in a task of graphs, by their numbers in the input. */
static enum error_code take_graphs(const struct stage_context *context, struct output_nodes *nodes,
                                   struct error *err)
{
    const struct partition_book *book = context->book;
    struct graph_index index = {.node_count = 0};
    const enum error_code rc =
        graph_index_of_partition(context->store, book->id, book->node_count, &index, err);
    if (rc != ERROR_NONE)
        return rc;
    nodes->count = index.graph_count;
    nodes->ids = graph_index_ids(&index, &nodes->first_node);
    nodes->ids.view = index.view;
    return ERROR_NONE;
}

static enum error_code read_splits(const struct stage_context *context, struct output_nodes *nodes,
                                   struct error *err)
{
    const char *partition_id = context->book->id;
    struct node_splits splits = {.count = {0}};
    enum error_code rc = merged_part_splits_get(context->store, partition_id, &splits, err);
    if (rc == ERROR_NONE)
        rc = memory_new(&nodes->split_of, nodes->count, "the split of each node", err);
    if (rc == ERROR_NONE)
        rc = mark_splits(context, &splits, nodes, err);
    store_release_record(&splits.view);
    return rc;
}

/* Reads the ids. There is a record only if they are not 0 .. N-1. */
static enum error_code read_ids(const struct stage_context *context, struct output_nodes *nodes,
                                struct error *err)
{
    const char *dataset_id = context->book->dataset_id;
    bool found = false;
    enum error_code rc = merged_ids_find(context->store, dataset_id, &found, &nodes->ids, err);
    if (rc == ERROR_NONE && found && nodes->ids.node_count != context->book->node_count)
        rc = error_set(err, ERROR_CORRUPT,
                       "node ids of %s: expected %" PRIu32 " nodes, found %" PRIu32, dataset_id,
                       context->book->node_count, nodes->ids.node_count);
    return rc;
}

enum error_code output_nodes_open(const struct stage_context *context, uint32_t type,
                                  struct output_nodes *out, struct error *err)
{
    const struct partition_book *book = context->book;
    *out = (struct output_nodes){.count = book->node_count, .book = book->book};
    const bool of_graphs = book->graph_count > 0;
    enum error_code rc = of_graphs
                             ? take_graphs(context, out, err)
                             : merged_permutation_get(context->store, book->id, book->node_count,
                                                      &out->permutation, err);
    if (rc == ERROR_NONE && book->type_count)
        rc = find_type(context, type, out, err);
    if (rc == ERROR_NONE)
        rc = read_splits(context, out, err);
    if (rc == ERROR_NONE && !of_graphs)
        rc = node_columns_get(context->store, book->dataset_id, &out->words, err);
    return rc == ERROR_NONE && !of_graphs ? read_ids(context, out, err) : rc;
}

void output_nodes_release(struct output_nodes *nodes)
{
    column_encoding_release(&nodes->words);
    store_release_record(&nodes->ids.view);
    store_release_record(&nodes->permutation.view);
    memory_free(nodes->split_of);
    memory_free(nodes->own_book);
    type_permutation_release(&nodes->of_type);
    *nodes = (struct output_nodes){0};
}
