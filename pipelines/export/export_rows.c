/* Exports the rows of all nodes: reads them from shards in the order of the partition, and writes
 * one array in the order of the input. */
#include "common/base/host.h"
#include "common/base/memory.h"
#include "pipelines/export/export_arrays.h"
#include "pipelines/export/export_ids.h"
#include "pipelines/export/row_table.h"
#include "pipelines/export/step_export.h"
#include "stages/plan/chain/chain.h"
#include "stages/plan/model/run_model.h"
#include "store/features/feature_source.h"
#include "store/records/partition/node_permutation.h"
#include "store/records/round/snapshot.h"
#include "store/versions/merged_parts.h"

#include <string.h>

enum { PIECE_ROWS = 4096 };

/* The nodes whose rows are written: all, or in a graph with relations those of one type. */
struct nodes {
    uint32_t type;
    const uint32_t *book; /* [part_count + 1] */
    uint32_t *own_book;   /* owned, like the fields below */
    struct node_permutation all;
    struct type_permutation of_type;
};

static void close_nodes(struct nodes *nodes)
{
    store_release_record(&nodes->all.view);
    type_permutation_release(&nodes->of_type);
    memory_free(nodes->own_book);
}

static const struct node_permutation *permutation_of(const struct nodes *nodes)
{
    return nodes->own_book ? &nodes->of_type.of : &nodes->all;
}

static enum error_code open_nodes(const struct run_folder *folder, uint32_t type,
                                  struct nodes *nodes, struct error *err)
{
    const struct partition_book *book = &folder->run.book;
    const struct type_ranges ranges = partition_book_ranges(book);
    *nodes = (struct nodes){.type = type, .book = book->book};
    enum error_code rc =
        merged_permutation_get(folder->store, book->id, book->node_count, &nodes->all, err);
    if (rc != ERROR_NONE || !book->type_count)
        return rc;
    rc = memory_new(&nodes->own_book, (size_t)book->part_count + 1, "the ranges of a type", err);
    if (rc != ERROR_NONE)
        return rc;
    type_ranges_book(&ranges, type, nodes->own_book);
    nodes->book = nodes->own_book;
    return type_permutation_find(&nodes->all, &ranges, type, &nodes->of_type, err);
}

/* Opens the rows of a layer of inference. With learnable embeddings `layer` may be 0. */
static enum error_code open_layer(const struct run_folder *folder, const struct nodes *nodes,
                                  int layer, struct feature_source **out, struct error *err)
{
    const struct run_binding *run = &folder->run;
    struct snapshot snapshot = {0};
    const float *value = NULL;
    char tensor[TENSOR_NAME_SIZE];
    enum error_code rc = snapshot_get_current(folder->store, run->plan.id, &snapshot, err);
    if (rc != ERROR_NONE)
        return rc;
    const struct weights_identity identity =
        weights_identity_of(&snapshot, run->schedule.infers_best, &value);
    const bool ended = chain_weights_version(&run->schedule, &snapshot) >= 0;
    store_release_record(&snapshot.view);
    if (!ended)
        return error_set(err, ERROR_NOT_FOUND, "run %s has not ended: nothing is inferred yet",
                         run->plan.id);
    layer_tensor_of_type(nodes->type, tensor);
    const struct feature_source_config config = {
        .store = folder->store,
        .origin = FEATURES_OF_INFER_LAYER,
        .id = run->plan.id,
        .layer = layer,
        .weights = &identity,
        .part_count = run->book.part_count,
        .book = nodes->book,
        .tensor = tensor,
        .budget_bytes = host_memory_bytes() / 4,
    };
    return feature_source_open(&config, out, err);
}

static enum error_code open_last_layer(const struct run_folder *folder, const struct nodes *nodes,
                                       struct feature_source **out, struct error *err)
{
    if (folder->run.schedule.infers_some)
        return error_set(
            err, ERROR_INVALID,
            "run %s is inference of some nodes, which keeps no rows beside its outputs",
            folder->run.plan.id);
    return open_layer(folder, nodes, folder->run.schedule.layer_count, out, err);
}

static enum error_code open_input(const struct run_folder *folder, const struct nodes *nodes,
                                  struct feature_source **out, struct error *err)
{
    const struct embedding_tensors *learnt = &folder->run.schedule.embeddings;
    if (learnt->count == 0)
        return error_set(err, ERROR_INVALID,
                         "run %s has no learnable embedding: train-step.embedding is 0",
                         folder->run.plan.id);
    if (!embedding_tensor_of(learnt, nodes->type))
        return error_set(err, ERROR_INVALID, "run %s learns no rows of type %s: expected --type %s",
                         folder->run.plan.id, folder->run.book.type_name[nodes->type],
                         folder->run.book.type_name[learnt->tensor[0].type]);
    return open_layer(folder, nodes, 0, out, err);
}

/* Writes the columns from `first_column` on. */
static enum error_code write_piece(struct feature_source *source, const uint32_t *node,
                                   uint32_t count, uint32_t first_column, float *piece,
                                   struct row_table *table, struct error *err)
{
    struct feature_rows rows = {0};
    const enum error_code rc = feature_source_fetch(source, node, count, &rows, err);
    if (rc != ERROR_NONE)
        return rc;
    const size_t dim = rows.dim - first_column;
    for (size_t i = 0; i < count; i++)
        memcpy(piece + i * dim, feature_row(&rows, i) + first_column, dim * sizeof *piece);
    return row_table_add(table, piece, count, err);
}

static enum error_code write_rows(struct feature_source *source,
                                  const struct node_permutation *permutation, uint32_t first_column,
                                  const struct row_table_config *config, struct error *err)
{
    const uint32_t node_count = config->row_count;
    struct row_table table = {.csv = NULL};
    float *piece = NULL;
    enum error_code rc =
        memory_new(&piece, (size_t)PIECE_ROWS * config->column_count, "a piece of rows", err);
    if (rc == ERROR_NONE)
        rc = row_table_open(&table, config, err);
    for (uint32_t first = 0, count = 0; rc == ERROR_NONE && first < node_count; first += count) {
        count = node_count - first < PIECE_ROWS ? node_count - first : PIECE_ROWS;
        rc = write_piece(source, permutation->to_partition + first, count, first_column, piece,
                         &table, err);
    }
    if (rc == ERROR_NONE)
        rc = row_table_finish(&table, err);
    row_table_close(&table);
    memory_free(piece);
    return rc;
}

static enum error_code open_features(const struct run_folder *folder, const struct nodes *nodes,
                                     struct feature_source **out, struct error *err)
{
    const struct partition_book *book = &folder->run.book;
    const struct feature_source_config config = {
        .store = folder->store,
        .origin = FEATURES_OF_PARTITION,
        .id = book->id,
        .node_type = nodes->type,
        .part_count = book->part_count,
        .book = nodes->book,
        .tensor = "features",
        .budget_bytes = host_memory_bytes() / 4,
    };
    return feature_source_open(&config, out, err);
}

typedef enum error_code (*rows_opener)(const struct run_folder *folder, const struct nodes *nodes,
                                       struct feature_source **out, struct error *err);

/* The rows to export, and the names of their columns in text. */
struct exported_rows {
    rows_opener open;
    uint32_t type, first_column;
    const char *column;
    bool by_class; /* each column belongs to a class */
};

static enum error_code export_rows(const struct run_folder *folder,
                                   const struct exported_rows *what,
                                   const struct array_target *target, struct error *err)
{
    struct nodes nodes;
    struct export_ids ids = {.of = {.node_count = 0}};
    struct feature_source *source = NULL;
    enum error_code rc = open_nodes(folder, what->type, &nodes, err);
    if (rc == ERROR_NONE)
        rc = what->open(folder, &nodes, &source, err);
    if (rc == ERROR_NONE && target->is_csv)
        rc = export_ids_open(folder, &ids, err);
    if (rc == ERROR_NONE) {
        const struct row_table_config config = {
            .path = target->path,
            .is_csv = target->is_csv,
            .row_count = permutation_of(&nodes)->node_count,
            .column_count = feature_source_dim(source) - what->first_column,
            .id_column = "node",
            .column = what->column,
            .words = what->by_class ? &ids.words : NULL,
            .ids = &ids.of,
            .first_node = nodes.own_book ? nodes.of_type.first_node : 0};
        rc = write_rows(source, permutation_of(&nodes), what->first_column, &config, err);
    }
    close_nodes(&nodes);
    export_ids_close(&ids);
    feature_source_close(source);
    return rc;
}

/* Finds a type by name; for NULL the type that has labels and splits. */
static enum error_code find_type(const struct partition_book *book, const char *name, uint32_t *out,
                                 struct error *err)
{
    *out = book->target_type;
    if (!name)
        return ERROR_NONE;
    for (*out = 0; *out < book->type_count; (*out)++)
        if (strcmp(book->type_name[*out], name) == 0)
            return ERROR_NONE;
    return error_set(err, ERROR_USAGE, "--type is '%s', expected %s%s", name,
                     book->type_count ? "one of the node types, such as "
                                      : "nothing: the graph has no relations",
                     book->type_count ? book->type_name[0] : "");
}

static enum error_code export_logits_of_graphs(const struct run_folder *folder,
                                               const struct array_target *target, struct error *err)
{
    struct nodes nodes;
    struct feature_source *source = NULL;
    enum error_code rc = open_nodes(folder, 0, &nodes, err);
    if (rc == ERROR_NONE)
        rc = open_last_layer(folder, &nodes, &source, err);
    if (rc == ERROR_NONE)
        rc = export_graph_logits(folder, source, target, err);
    close_nodes(&nodes);
    feature_source_close(source);
    return rc;
}

enum error_code export_logits(const struct run_folder *folder, const struct array_target *target,
                              struct error *err)
{
    const struct exported_rows logits = {.open = open_last_layer,
                                         .type = folder->run.book.target_type,
                                         .column = "logit",
                                         .by_class = true};
    if (folder->run.book.graph_count > 0)
        return export_logits_of_graphs(folder, target, err);
    return export_rows(folder, &logits, target, err);
}

enum error_code export_features(const struct run_folder *folder, const char *type,
                                const struct array_target *target, struct error *err)
{
    struct exported_rows features = {.open = open_features, .column = "feat"};
    const enum error_code rc = find_type(&folder->run.book, type, &features.type, err);
    return rc == ERROR_NONE ? export_rows(folder, &features, target, err) : rc;
}

enum error_code export_embedding(const struct run_folder *folder, const char *type,
                                 const struct array_target *target, struct error *err)
{
    const struct run_binding *run = &folder->run;
    struct exported_rows learnt = {.open = open_input, .column = "embedding"};
    const enum error_code rc = find_type(&run->book, type, &learnt.type, err);
    if (rc != ERROR_NONE)
        return rc;
    learnt.first_column = run_model_type_dim(&run->settings, &run->book, learnt.type);
    return export_rows(folder, &learnt, target, err);
}
