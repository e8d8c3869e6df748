/*
 * Everything of the input is taken and checked before the first record is stored, so that bad input
 * leaves nothing behind: edges and feature rows wait in scratch files, labels, splits and ids in
 * memory. Even repeated edges that are refused are looked for in a pass of their own.
 *
 * Memory beyond the budget, a node: 4 bytes for its in-degree, 4 for its out-degree (directed graphs
 * with degree features), and what the input has of 4 for its label (4 a class of multi-label), 1 and 4
 * for splits, 8 or its text for its id.
 */
#include "stages/ingest/dataset_builder.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/ingest/edge_chunk_writer.h"
#include "stages/ingest/edge_sorter.h"
#include "stages/ingest/edge_spool.h"
#include "stages/ingest/feature_maker.h"
#include "stages/ingest/input_lines.h"
#include "stages/ingest/node_targets.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Buffers of fixed size that are held while edges are sorted. */
static const uint64_t sorting_overhead = SCRATCH_FILE_BUFFER_BYTES +
                                         (uint64_t)EDGE_SPOOL_PIECE * EDGE_BYTES_MAX +
                                         (uint64_t)EDGE_SPOOL_PIECE * sizeof(struct spooled_edge);

struct dataset_builder {
    struct dataset_builder_config config;
    struct dataset_schema schema; /* filled as things become known */
    char scratch[FILE_PATH_SIZE];
    enum edge_policy self_loops, duplicates;
    bool reversed;
    struct edge_spool spool;
    struct input_lines lines;
    uint32_t *in_degree;  /* [node_count] */
    uint32_t *out_degree; /* [node_count], while features need it */
    struct node_targets targets;
    struct feature_maker features;
    struct node_ids ids; /* arrays are the builder's own */
    int64_t *id_integer;
    uint64_t *id_offset;
    char *id_text;
    struct edge_chunk_writer writer;
};

/* ---- start ---------------------------------------------------------------------------------- */

static enum error_code start(struct dataset_builder *builder, struct error *err)
{
    const struct dataset_builder_config *config = &builder->config;
    struct dataset_schema *schema = &builder->schema;
    if (!text_copy(schema->id, sizeof schema->id, config->dataset_id) ||
        !text_copy(schema->name, sizeof schema->name, config->name))
        return error_set(err, ERROR_INVALID, "the name of the dataset is too long: %s",
                         config->name);
    builder->self_loops = (enum edge_policy)config->settings->ingest.self_loops;
    builder->duplicates = (enum edge_policy)config->settings->ingest.duplicates;
    builder->reversed = config->settings->ingest.direction == DIRECTION_REVERSED;
    schema->node_type_count = schema->edge_type_count = 1;
    (void)text_copy(schema->node_type[0].name, TYPE_NAME_SIZE, "node");
    (void)text_copy(schema->edge_type[0].name, TYPE_NAME_SIZE, "edge");
    schema->node_id_form = NODE_ID_CONSECUTIVE;
    return store_scratch(config->store, builder->scratch, err);
}

enum error_code dataset_builder_new(const struct dataset_builder_config *config,
                                    struct dataset_builder **out, struct error *err)
{
    struct dataset_builder *builder = NULL;
    *out = NULL;
    enum error_code rc = memory_new(&builder, 1, "a dataset builder", err);
    if (rc != ERROR_NONE)
        return rc;
    builder->config = *config;
    rc = start(builder, err);
    if (rc != ERROR_NONE) {
        dataset_builder_free(builder);
        return rc;
    }
    *out = builder;
    return ERROR_NONE;
}

void dataset_builder_free(struct dataset_builder *builder)
{
    if (!builder)
        return;
    edge_chunk_writer_release(&builder->writer);
    edge_spool_close(&builder->spool);
    feature_maker_close(&builder->features);
    input_lines_release(&builder->lines);
    node_targets_release(&builder->targets);
    memory_free(builder->in_degree);
    memory_free(builder->out_degree);
    memory_free(builder->id_integer);
    memory_free(builder->id_offset);
    memory_free(builder->id_text);
    if (builder->scratch[0]) {
        const enum error_code removed = file_remove_all(builder->scratch, NULL);
        (void)removed; /* store_sweep() takes what stays */
    }
    memory_free(builder);
}

static bool stores_both_ways(const struct pipeline_settings *settings, bool input_undirected)
{
    return settings->ingest.direction == DIRECTION_UNDIRECTED ||
           (settings->ingest.direction == DIRECTION_AUTO && input_undirected);
}

enum error_code dataset_builder_set_nodes(struct dataset_builder *builder, uint64_t node_count,
                                          bool input_undirected, struct error *err)
{
    struct dataset_schema *schema = &builder->schema;
    char path[FILE_PATH_SIZE];
    must(schema->node_count == 0);
    if (node_count == 0)
        return error_set(err, ERROR_INPUT, "empty graph: expected at least one node, found none");
    if (node_count > UINT32_MAX - 1)
        return error_set(err, ERROR_INPUT, "expected at most %u nodes, found %" PRIu64,
                         UINT32_MAX - 1, node_count);
    schema->node_count = schema->node_type[0].node_count = (uint32_t)node_count;
    schema->undirected = stores_both_ways(builder->config.settings, input_undirected);
    builder->targets.node_count = schema->node_count;
    enum error_code rc = memory_new(&builder->in_degree, node_count, "in-degrees of nodes", err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/edges", builder->scratch);
    if (rc == ERROR_NONE)
        rc = edge_spool_open(&builder->spool, path, err);
    if (rc == ERROR_NONE)
        rc = file_path(path, err, "%s/features", builder->scratch);
    if (rc == ERROR_NONE)
        rc = feature_maker_open(&builder->features, path, builder->config.settings,
                                schema->node_count, err);
    return rc;
}

enum error_code dataset_builder_set_types(struct dataset_builder *builder,
                                          const struct node_type *node_type,
                                          uint32_t node_type_count,
                                          const struct edge_type *edge_type,
                                          uint32_t edge_type_count, struct error *err)
{
    struct dataset_schema *schema = &builder->schema;
    uint64_t next = 0;
    if (node_type_count < 1 || node_type_count > NODE_TYPE_COUNT_MAX || edge_type_count < 1 ||
        edge_type_count > EDGE_TYPE_COUNT_MAX)
        return error_set(
            err, ERROR_INPUT, "expected 1 to %d node types and 1 to %d edge types, found %u and %u",
            NODE_TYPE_COUNT_MAX, EDGE_TYPE_COUNT_MAX, node_type_count, edge_type_count);
    for (uint32_t i = 0; i < node_type_count; i++) {
        if (node_type[i].first_node != next)
            return error_set(err, ERROR_INPUT,
                             "node type %s: expected first node %" PRIu64 ", found %u",
                             node_type[i].name, next, node_type[i].first_node);
        next += node_type[i].node_count;
        schema->node_type[i] = node_type[i];
    }
    if (next != schema->node_count)
        return error_set(err, ERROR_INPUT, "node types: expected %u nodes in all, found %" PRIu64,
                         schema->node_count, next);
    for (uint32_t i = 0; i < edge_type_count; i++) {
        schema->edge_type[i] = edge_type[i];
        schema->edge_type[i].edge_count = 0;
    }
    schema->node_type_count = node_type_count;
    schema->edge_type_count = edge_type_count;
    return ERROR_NONE;
}

/* ---- edges ---------------------------------------------------------------------------------- */

static enum error_code check_id(const struct dataset_builder *builder, const char *what, int64_t id,
                                struct error *err)
{
    if (id >= 0 && id < builder->schema.node_count)
        return ERROR_NONE;
    return error_set(err, ERROR_INPUT,
                     "%s %" PRId64 " is out of range: expected a node id from 0 to %u", what, id,
                     builder->schema.node_count - 1);
}

static enum error_code check_attributes(const struct dataset_builder *builder,
                                        const struct edge_piece *piece, size_t i, struct error *err)
{
    if (piece->weight && !isfinite(piece->weight[i]))
        return error_set(err, ERROR_INPUT, "the weight is %g: expected a finite number",
                         (double)piece->weight[i]);
    if (piece->time && !isfinite(piece->time[i]))
        return error_set(err, ERROR_INPUT, "the time is %g: expected a finite number",
                         piece->time[i]);
    if (piece->edge_type && piece->edge_type[i] >= builder->schema.edge_type_count)
        return error_set(err, ERROR_INPUT,
                         "edge type %u is out of range: expected an edge type from 0 to %u",
                         piece->edge_type[i], builder->schema.edge_type_count - 1);
    return ERROR_NONE;
}

static enum error_code count_end(struct dataset_builder *builder, uint32_t node, struct error *err)
{
    if (builder->in_degree[node] == UINT32_MAX)
        return error_set(err, ERROR_INPUT, "more than %u edges end in node %u", UINT32_MAX, node);
    builder->in_degree[node]++;
    return ERROR_NONE;
}

/* A self loop that is removed stays in the spool, so that the place of an edge tells its line. */
static enum error_code count_edge(struct dataset_builder *builder, const struct spooled_edge *edge,
                                  struct error *err)
{
    const bool loop = edge->source == edge->target;
    if (loop && builder->self_loops == EDGES_REFUSE)
        return error_set(err, ERROR_INPUT,
                         "node %u has an edge to itself: expected none (ingest.self_loops: refuse)",
                         edge->source);
    if (loop && builder->self_loops == EDGES_REMOVE) {
        builder->schema.removed_self_loops++;
        return ERROR_NONE;
    }
    enum error_code rc = count_end(builder, edge->target, err);
    if (rc == ERROR_NONE && builder->schema.undirected && !loop)
        rc = count_end(builder, edge->source, err);
    return rc;
}

static enum error_code add_edge(struct dataset_builder *builder, const struct edge_piece *piece,
                                size_t i, struct error *err)
{
    enum error_code rc = check_id(builder, "source", piece->source[i], err);
    if (rc == ERROR_NONE)
        rc = check_id(builder, "target", piece->target[i], err);
    if (rc == ERROR_NONE)
        rc = check_attributes(builder, piece, i, err);
    if (rc != ERROR_NONE)
        return rc;
    const int64_t from = builder->reversed ? piece->target[i] : piece->source[i];
    const int64_t to = builder->reversed ? piece->source[i] : piece->target[i];
    const struct spooled_edge edge = {
        .source = (uint32_t)from,
        .target = (uint32_t)to,
        .weight = piece->weight ? piece->weight[i] : 0.0F,
        .time = piece->time ? piece->time[i] : 0.0,
        .edge_type = piece->edge_type ? piece->edge_type[i] : 0,
    };
    rc = count_edge(builder, &edge, err);
    return rc == ERROR_NONE ? edge_spool_append(&builder->spool, &edge, err) : rc;
}

enum error_code dataset_builder_add_edges(struct dataset_builder *builder,
                                          const struct edge_piece *piece, struct error *err)
{
    struct edge_spool *spool = &builder->spool;
    must(builder->schema.node_count > 0);
    if (piece->count == 0)
        return ERROR_NONE;
    if (spool->edge_count == 0)
        edge_spool_set_attributes(spool, piece->weight != NULL, piece->time != NULL,
                                  piece->edge_type != NULL);
    must(spool->has_weight == (piece->weight != NULL) && spool->has_time == (piece->time != NULL) &&
         spool->has_type == (piece->edge_type != NULL));
    enum error_code rc =
        input_lines_add(&builder->lines, piece->where, piece->first_line, piece->count, err);
    for (size_t i = 0; rc == ERROR_NONE && i < piece->count; i++) {
        rc = add_edge(builder, piece, i, err);
        if (rc != ERROR_NONE)
            return error_context(err, rc, "%s:%" PRId64, piece->where,
                                 piece->first_line + (int64_t)i);
    }
    return rc;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

enum error_code dataset_builder_add_features(struct dataset_builder *builder, const char *where,
                                             const float *rows, uint64_t row_count, uint32_t dim,
                                             struct error *err)
{
    must(builder->schema.node_count > 0);
    return feature_maker_add(&builder->features, where, rows, row_count, dim, err);
}

enum error_code dataset_builder_set_labels(struct dataset_builder *builder, const char *where,
                                           int64_t first_line, const int64_t *label, uint64_t count,
                                           struct error *err)
{
    must(builder->schema.node_count > 0);
    return node_targets_set_labels(&builder->targets, where, first_line, label, count, err);
}

enum error_code dataset_builder_set_multi_labels(struct dataset_builder *builder, const char *where,
                                                 const float *label, uint64_t count,
                                                 uint32_t class_count, struct error *err)
{
    must(builder->schema.node_count > 0);
    return node_targets_set_multi(&builder->targets, where, label, count, class_count, err);
}

enum error_code dataset_builder_set_split(struct dataset_builder *builder, enum split split,
                                          const char *where, int64_t first_line,
                                          const int64_t *node, uint64_t count, struct error *err)
{
    must(builder->schema.node_count > 0);
    return node_targets_set_split(&builder->targets, split, where, first_line, node, count, err);
}

static enum error_code copy_text_ids(struct dataset_builder *builder, const struct node_ids *ids,
                                     struct error *err)
{
    const size_t count = (size_t)ids->node_count + 1;
    const size_t size = ids->offset[ids->node_count];
    enum error_code rc = memory_new(&builder->id_offset, count, "ids of nodes", err);
    if (rc == ERROR_NONE)
        rc = memory_new(&builder->id_text, size, "ids of nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(builder->id_offset, ids->offset, count * sizeof *ids->offset);
    memcpy(builder->id_text, ids->text, size);
    builder->schema.node_id_form = NODE_ID_STRING;
    return ERROR_NONE;
}

enum error_code dataset_builder_set_ids(struct dataset_builder *builder, const struct node_ids *ids,
                                        struct error *err)
{
    must(builder->schema.node_count > 0 && builder->schema.node_id_form == NODE_ID_CONSECUTIVE);
    if (ids->node_count != builder->schema.node_count)
        return error_set(err, ERROR_INPUT, "expected %u ids, one for each node, found %u",
                         builder->schema.node_count, ids->node_count);
    if (!ids->integer)
        return copy_text_ids(builder, ids, err);
    const enum error_code rc =
        memory_new(&builder->id_integer, ids->node_count, "ids of nodes", err);
    if (rc != ERROR_NONE)
        return rc;
    memcpy(builder->id_integer, ids->integer, ids->node_count * sizeof *ids->integer);
    builder->schema.node_id_form = NODE_ID_INTEGER;
    return ERROR_NONE;
}

/* ---- finish: edges -------------------------------------------------------------------------- */

static void count_stored(struct dataset_builder *builder, uint32_t node, const struct edge_row *row,
                         const uint64_t *order, uint32_t kept)
{
    struct dataset_schema *schema = &builder->schema;
    schema->edge_count += kept;
    for (uint32_t i = 0; i < kept; i++) {
        const uint32_t neighbor = (uint32_t)(order[i] >> 32);
        const uint16_t type = row->edge_type ? row->edge_type[(uint32_t)order[i]] : 0;
        schema->self_loop_count += neighbor == node;
        schema->edge_type[type].edge_count++;
        if (builder->out_degree)
            builder->out_degree[neighbor]++;
    }
}

static enum error_code store_row(void *context, uint32_t node, const struct edge_row *row,
                                 const uint64_t *order, uint32_t kept, struct error *err)
{
    struct dataset_builder *builder = context;
    count_stored(builder, node, row, order, kept);
    return edge_chunk_writer_add(&builder->writer, row, order, kept, err);
}

static bool is_repeated(const struct dataset_builder *builder, const struct spooled_edge *edge,
                        const struct spooled_edge *repeated)
{
    const bool same = edge->source == repeated->source && edge->target == repeated->target;
    const bool back = builder->schema.undirected && edge->source == repeated->target &&
                      edge->target == repeated->source;
    return (same || back) && edge->edge_type == repeated->edge_type &&
           edge->time >= repeated->time && edge->time <= repeated->time;
}

/* Reads the spool once more for the first two edges that repeat each other. */
static enum error_code find_repeated(struct dataset_builder *builder,
                                     const struct spooled_edge *repeated, uint64_t index[2],
                                     struct error *err)
{
    struct spooled_edge *piece = NULL;
    uint64_t next = 0;
    int found = 0;
    size_t count = 0;
    enum error_code rc = memory_new(&piece, EDGE_SPOOL_PIECE, "a piece of the edges", err);
    if (rc == ERROR_NONE)
        rc = edge_spool_rewind(&builder->spool, err);
    do {
        if (rc == ERROR_NONE)
            rc = edge_spool_read(&builder->spool, piece, &count, err);
        for (size_t i = 0; rc == ERROR_NONE && i < count && found < 2; i++)
            if (is_repeated(builder, &piece[i], repeated))
                index[found++] = next + i;
        next += count;
    } while (rc == ERROR_NONE && count > 0 && found < 2);
    must(rc != ERROR_NONE || found == 2);
    memory_free(piece);
    return rc;
}

static enum error_code name_repeated(struct dataset_builder *builder,
                                     const struct spooled_edge *repeated, struct error *err)
{
    uint64_t index[2] = {0};
    const char *where[2] = {NULL};
    int64_t line[2] = {0};
    const enum error_code rc = find_repeated(builder, repeated, index, err);
    if (rc != ERROR_NONE)
        return rc;
    for (int i = 0; i < 2; i++)
        input_lines_find(&builder->lines, index[i], &where[i], &line[i]);
    return error_set(err, ERROR_INPUT,
                     "%s:%" PRId64 ": the edge between %u and %u repeats that of %s:%" PRId64
                     ": expected none (ingest.duplicates: refuse)",
                     where[1], line[1], repeated->source, repeated->target, where[0], line[0]);
}

static uint64_t sum_in_degrees(const struct dataset_builder *builder, uint64_t *largest)
{
    uint64_t sum = 0;
    *largest = 0;
    for (uint32_t i = 0; i < builder->schema.node_count; i++) {
        sum += builder->in_degree[i];
        *largest = builder->in_degree[i] > *largest ? builder->in_degree[i] : *largest;
    }
    return sum;
}

/* What the budget leaves for sorting once a chunk and the buffers have their share. */
static enum error_code share_out(const struct dataset_builder *builder,
                                 const struct edge_chunk_needs *needs, uint64_t *sorting,
                                 struct error *err)
{
    const uint64_t budget = builder->config.memory_bytes;
    const uint64_t taken = sorting_overhead + edge_chunk_writer_bytes(needs, &builder->spool);
    char have[32], want[32];
    if (budget <= taken)
        return error_set(err, ERROR_NO_MEMORY,
                         "a chunk of edges and its buffers take %s: expected a memory budget above "
                         "that, found %s",
                         text_size(taken, want), text_size(budget, have));
    *sorting = budget - taken;
    return ERROR_NONE;
}

static enum error_code sort_edges(struct dataset_builder *builder, struct edge_sorter *sorter,
                                  struct error *err)
{
    enum error_code rc = ERROR_NONE;
    if (sorter->duplicates == EDGES_REFUSE) {
        rc = edge_sorter_run(sorter, err);
        if (rc == ERROR_INPUT)
            rc = name_repeated(builder, &sorter->repeated, err);
        sorter->duplicates = EDGES_KEEP; /* there are none */
    }
    sorter->visit = store_row;
    sorter->context = builder;
    if (rc == ERROR_NONE)
        rc = edge_sorter_run(sorter, err);
    if (rc == ERROR_NONE)
        rc = edge_chunk_writer_finish(&builder->writer, err);
    return rc;
}

static enum error_code store_edges(struct dataset_builder *builder, struct error *err)
{
    struct dataset_schema *schema = &builder->schema;
    struct edge_chunk_needs needs = {.node_count = schema->node_count};
    struct edge_sorter sorter = {
        .spool = &builder->spool,
        .node_count = schema->node_count,
        .both_ways = schema->undirected,
        .skip_self_loops = builder->self_loops == EDGES_REMOVE,
        .duplicates = builder->duplicates,
        .in_degree = builder->in_degree,
    };
    needs.edge_count = sum_in_degrees(builder, &needs.largest_row);
    enum error_code rc = share_out(builder, &needs, &sorter.memory_bytes, err);
    if (rc == ERROR_NONE)
        rc = edge_chunk_writer_open(&builder->writer, builder->config.store, schema->id, &needs,
                                    &builder->spool, err);
    if (rc == ERROR_NONE)
        rc = sort_edges(builder, &sorter, err);
    schema->input_edge_rows = builder->spool.edge_count;
    schema->removed_duplicates = sorter.removed_duplicates;
    schema->has_weight = builder->spool.has_weight;
    schema->has_time = builder->spool.has_time;
    schema->has_edge_type = builder->spool.has_type;
    schema->edge_chunk_count = builder->writer.chunk_count;
    edge_chunk_writer_release(&builder->writer);
    edge_spool_close(&builder->spool);
    return rc;
}

/* ---- finish: the rest ----------------------------------------------------------------------- */

/* All that can be wrong with the input but repeated edges, before anything is stored. */
static enum error_code check_all(struct dataset_builder *builder, struct error *err)
{
    const struct pipeline_settings *settings = builder->config.settings;
    struct feature_maker *features = &builder->features;
    char have[32], want[32];
    enum error_code rc = feature_maker_choose(features, settings, err);
    if (rc == ERROR_NONE)
        rc = node_targets_check(&builder->targets, (enum task_choice)settings->ingest.task,
                                &builder->schema.task, err);
    if (rc == ERROR_NONE && feature_maker_bytes(features) > builder->config.memory_bytes)
        rc = error_set(err, ERROR_NO_MEMORY,
                       "a chunk of features takes %s: expected a memory budget of at least that, "
                       "found %s",
                       text_size(feature_maker_bytes(features), want),
                       text_size(builder->config.memory_bytes, have));
    if (rc == ERROR_NONE && features->use_degree && !builder->schema.undirected)
        rc = memory_new(&builder->out_degree, builder->schema.node_count, "out-degrees of nodes",
                        err);
    return rc;
}

static enum error_code store_features(struct dataset_builder *builder, struct error *err)
{
    struct feature_maker *features = &builder->features;
    struct dataset_schema *schema = &builder->schema;
    features->in_degree = builder->in_degree;
    features->out_degree = builder->out_degree ? builder->out_degree : builder->in_degree;
    schema->feature_dim = features->dim;
    (void)text_copy(schema->feature_origin, sizeof schema->feature_origin, features->origin);
    return feature_maker_write(features, builder->config.store, schema->id,
                               &schema->feature_chunk_count, err);
}

static enum error_code store_ids(const struct dataset_builder *builder, struct error *err)
{
    const struct node_ids ids = {
        .node_count = builder->schema.node_count,
        .integer = builder->id_integer,
        .offset = builder->id_offset,
        .text = builder->id_text,
    };
    if (builder->schema.node_id_form == NODE_ID_CONSECUTIVE)
        return ERROR_NONE;
    return node_ids_put(builder->config.store, builder->schema.id, &ids, err);
}

enum error_code dataset_builder_finish(struct dataset_builder *builder,
                                       struct dataset_schema *schema, struct error *err)
{
    must(builder->schema.node_count > 0);
    builder->schema.class_count = builder->targets.class_count;
    builder->schema.train_count = builder->targets.split[SPLIT_TRAIN].count;
    builder->schema.valid_count = builder->targets.split[SPLIT_VALID].count;
    builder->schema.test_count = builder->targets.split[SPLIT_TEST].count;
    enum error_code rc = check_all(builder, err);
    if (rc == ERROR_NONE)
        rc = store_edges(builder, err);
    if (rc == ERROR_NONE)
        rc = store_features(builder, err);
    if (rc == ERROR_NONE)
        rc = node_targets_put(&builder->targets, builder->config.store, builder->schema.id, err);
    if (rc == ERROR_NONE)
        rc = store_ids(builder, err);
    if (rc == ERROR_NONE)
        rc = dataset_schema_put(builder->config.store, &builder->schema, err);
    if (rc == ERROR_NONE && schema)
        *schema = builder->schema;
    return rc;
}
