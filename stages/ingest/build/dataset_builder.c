/*
 * The whole input is read and checked before the first record is stored, so that bad input leaves
 * nothing behind. Until then edges and feature rows are in scratch files, and labels, splits and
 * ids in memory. Even repeated edges that are refused are searched in a pass of their own.
 *
 * Memory beyond the budget, for each node: 4 bytes for its in-degree; 4 for its out-degree
 * (directed graphs with degree features); and, as far as the input has them, 4 for its label (4 a
 * class of multi-label), 1 and 4 for splits, 8 or its text for its id. Link prediction on one node
 * type takes 5 more until an edge shows that the graph is not bipartite.
 */
#include "stages/ingest/build/dataset_builder.h"

#include "common/base/memory.h"
#include "common/base/text.h"
#include "stages/ingest/build/dataset_edges.h"
#include "stages/ingest/build/memory_held.h"
#include "stages/ingest/build/nodes/declared_types.h"
#include "stages/ingest/build/nodes/feature_maker.h"
#include "stages/ingest/build/nodes/graph_members.h"
#include "stages/ingest/build/nodes/node_targets.h"
#include "stages/ingest/build/nodes/node_time_table.h"
#include "store/records/dataset/dataset_types.h"
#include "store/records/dataset/node_columns.h"

#include <inttypes.h>
#include <string.h>

struct dataset_builder {
    struct dataset_builder_config config;
    struct dataset_schema schema; /* filled step by step */
    char scratch[FILE_PATH_SIZE];
    struct dataset_edges edges;
    enum stated_direction stated;
    struct node_targets targets;
    struct graph_members graphs; /* for a task of graphs, whose targets are then those of graphs */
    struct feature_maker features[NODE_TYPE_COUNT_MAX]; /* one for each type that stays apart */
    uint32_t selected_type;
    bool uses_degree;    /* one of `features` needs degrees */
    struct node_ids ids; /* its arrays belong to the builder */
    int64_t *id_integer;
    uint64_t *id_offset;
    char *id_text;
    struct node_time_table times;
    struct column_encoding encoding;
    struct dataset_notes notes;
    struct value_notes values; /* notes of readers about values */
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
    schema->node_type_count = schema->edge_type_count = 1;
    (void)text_copy(schema->node_type[0].name, TYPE_NAME_SIZE, "node");
    (void)text_copy(schema->edge_type[0].name, TYPE_NAME_SIZE, "edge");
    schema->node_id_form = NODE_ID_CONSECUTIVE;
    schema->has_relations = config->settings->ingest.relations;
    /* the setting was checked before */
    must(!time_format_read(config->settings->ingest.time_format, &builder->values.time));
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
    dataset_edges_close(&builder->edges);
    for (int t = 0; t < NODE_TYPE_COUNT_MAX; t++)
        feature_maker_close(&builder->features[t]);
    node_targets_release(&builder->targets);
    graph_members_release(&builder->graphs);
    column_encoding_release(&builder->encoding);
    dataset_notes_release(&builder->notes);
    memory_free(builder->id_integer);
    memory_free(builder->id_offset);
    memory_free(builder->id_text);
    node_time_table_release(&builder->times);
    /* store_sweep() removes what remains */
    if (builder->scratch[0])
        error_ignore(file_remove_all(builder->scratch, NULL));
    memory_free(builder);
}

enum error_code dataset_builder_note(struct dataset_builder *builder, enum note_kind kind,
                                     struct error *err, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const enum error_code rc = dataset_notes_add(&builder->notes, kind, err, format, values);
    va_end(values);
    return rc;
}

void dataset_builder_note_lacks(struct dataset_builder *builder, uint32_t edge_type,
                                unsigned columns)
{
    must(edge_type < EDGE_TYPE_COUNT_MAX);
    builder->schema.lacks[edge_type] |= columns;
}

struct value_notes *dataset_builder_notes(struct dataset_builder *builder)
{
    return &builder->values;
}

void dataset_builder_take_times(struct dataset_builder *builder, int64_t *time)
{
    must(!builder->targets.time);
    builder->targets.time = time;
}

void dataset_builder_take_encoding(struct dataset_builder *builder,
                                   struct column_encoding *encoding)
{
    column_encoding_release(&builder->encoding);
    builder->encoding = *encoding;
    *encoding = (struct column_encoding){0};
}

enum error_code dataset_builder_folder(struct dataset_builder *builder, const char *name,
                                       char path[FILE_PATH_SIZE], struct error *err)
{
    const enum error_code rc = file_path(path, err, "%s/%s", builder->scratch, name);
    return rc == ERROR_NONE ? file_make_folders(path, err) : rc;
}

/* Returns whether each edge is stored in both directions. With reverses, which are relations of
 * their own, no edge is stored twice in one relation. */
static bool stores_both_ways(const struct pipeline_settings *settings, enum stated_direction stated)
{
    if (settings->ingest.relations && settings->ingest.add_reverse)
        return false;
    return settings->ingest.direction == DIRECTION_UNDIRECTED ||
           (settings->ingest.direction == DIRECTION_AUTO && stated == STATED_UNDIRECTED);
}

/* Opens a maker for each type. When types are declared later, their makers replace the one for all
 * nodes. */
static enum error_code open_features(struct dataset_builder *builder, struct error *err)
{
    const struct dataset_schema *schema = &builder->schema;
    char path[FILE_PATH_SIZE];
    enum error_code rc = ERROR_NONE;
    feature_maker_close(&builder->features[0]);
    for (uint32_t t = 0; rc == ERROR_NONE && t < dataset_type_count(schema); t++) {
        const struct node_type type = dataset_type(schema, t);
        rc = file_path(path, err, "%s/features-%" PRIu32, builder->scratch, t);
        if (rc == ERROR_NONE)
            rc = feature_maker_open(&builder->features[t], path, builder->config.settings,
                                    type.first_node, type.node_count, err);
        if (!schema->has_relations)
            continue;
        builder->features[t].type = schema->node_type[t].name;
        builder->features[t].type_number = t;
    }
    return rc;
}

enum error_code dataset_builder_set_nodes(struct dataset_builder *builder, uint64_t node_count,
                                          enum stated_direction stated, struct error *err)
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
    schema->undirected = stores_both_ways(builder->config.settings, stated);
    builder->stated = stated;
    builder->targets.node_count = schema->node_count;
    builder->targets.expected_classes = (uint32_t)builder->config.settings->ingest.class_count;
    if (schema->has_relations) {
        const struct declared_types types = {schema->node_type, schema->edge_type, 1, 1};
        const enum error_code rc =
            declared_types_take(&types, builder->config.settings, schema, err);
        if (rc != ERROR_NONE)
            return rc;
    }
    enum error_code rc = file_path(path, err, "%s/edges", builder->scratch);
    if (rc == ERROR_NONE)
        rc = dataset_edges_open(&builder->edges, &builder->schema, builder->config.settings, path,
                                err);
    if (rc == ERROR_NONE)
        rc = edge_holdout_init(&builder->edges.holdout, builder->config.settings, schema,
                               builder->config.memory_bytes, err);
    builder->edges.pool = builder->config.pool;
    builder->edges.scale.memory_bytes = builder->config.memory_bytes / 4;
    builder->edges.counts_process = builder->config.counts_process;
    builder->edges.holdout.ids = &builder->targets.ids;
    builder->edges.holdout.labels = &builder->edges.labels;
    const bool asks_direction = builder->config.settings->ingest.direction == DIRECTION_AUTO &&
                                !schema->has_relations &&
                                (stated == STATED_NOTHING || stated == STATED_ONCE_IS_BOTH);
    if (rc == ERROR_NONE)
        rc = dataset_edges_watch_direction(&builder->edges, asks_direction, err);
    return rc == ERROR_NONE ? open_features(builder, err) : rc;
}

enum error_code dataset_builder_set_types(struct dataset_builder *builder,
                                          const struct node_type *node_type,
                                          uint32_t node_type_count,
                                          const struct edge_type *edge_type,
                                          uint32_t edge_type_count, struct error *err)
{
    const struct declared_types types = {node_type, edge_type, node_type_count, edge_type_count};
    const enum error_code rc =
        declared_types_take(&types, builder->config.settings, &builder->schema, err);
    return rc == ERROR_NONE && builder->schema.has_relations ? open_features(builder, err) : rc;
}

enum error_code dataset_builder_add_edges(struct dataset_builder *builder,
                                          const struct edge_piece *piece, struct error *err)
{
    must(builder->schema.node_count > 0);
    return dataset_edges_add(&builder->edges, piece, err);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

void dataset_builder_select_type(struct dataset_builder *builder, uint32_t type)
{
    must(type < builder->schema.node_type_count);
    if (builder->schema.has_relations)
        builder->selected_type = type;
}

enum error_code dataset_builder_add_features(struct dataset_builder *builder, const char *where,
                                             const float *rows, uint64_t row_count, uint32_t dim,
                                             struct error *err)
{
    must(builder->schema.node_count > 0);
    return feature_maker_add(&builder->features[builder->selected_type], where, rows, row_count,
                             dim, err);
}

enum error_code dataset_builder_put_features(struct dataset_builder *builder, const char *where,
                                             int64_t line, uint64_t node, const float *row,
                                             uint32_t dim, struct error *err)
{
    must(node < builder->schema.node_count);
    const uint32_t type = dataset_type_of(&builder->schema, (uint32_t)node);
    return feature_maker_put(&builder->features[type], where, line, node, row, dim, err);
}

enum error_code dataset_builder_set_labels(struct dataset_builder *builder, const char *where,
                                           int64_t first_line, const struct label_rows *labels,
                                           struct error *err)
{
    must(builder->schema.node_count > 0);
    if (builder->edges.holdout.is_wanted)
        return ERROR_NONE;
    return node_targets_set_labels(&builder->targets, where, first_line, labels, err);
}

enum error_code dataset_builder_set_graphs(struct dataset_builder *builder, const char *where,
                                           int64_t first_line, const int64_t *graph,
                                           int64_t first_id, struct error *err)
{
    must(builder->schema.node_count > 0 && !builder->targets.label);
    const enum error_code rc = graph_members_set(&builder->graphs, where, first_line, graph,
                                                 builder->schema.node_count, first_id, err);
    builder->edges.graphs = &builder->graphs;
    builder->targets.node_count = builder->graphs.graph_count;
    builder->targets.subject = "graph";
    builder->targets.first_id = first_id;
    return rc;
}

uint32_t dataset_builder_graphs(const struct dataset_builder *builder)
{
    return builder->graphs.graph_count;
}

enum error_code dataset_builder_set_split(struct dataset_builder *builder, enum split split,
                                          const char *where, int64_t first_line,
                                          const int64_t *node, uint64_t count, struct error *err)
{
    must(builder->schema.node_count > 0);
    if (builder->edges.holdout.is_wanted)
        return ERROR_NONE;
    return node_targets_set_split(&builder->targets, split, where, first_line, node, count, err);
}

/* Returns the edge in the direction in which edges are stored. */
static struct given_edge as_stored(const struct dataset_builder *builder,
                                   const struct given_edge *given)
{
    struct given_edge edge = *given;
    must(builder->schema.node_count > 0);
    if (builder->edges.reversed) {
        edge.source = given->target;
        edge.target = given->source;
    }
    return edge;
}

enum error_code dataset_builder_hold_out(struct dataset_builder *builder, enum held_out split,
                                         const struct given_edge *given, struct error *err)
{
    const struct given_edge edge = as_stored(builder, given);
    const enum error_code rc = edge_holdout_give(&builder->edges.holdout, split, &edge, err);
    if (rc == ERROR_NONE)
        dataset_edges_note_link(&builder->edges, edge.source, edge.target);
    return rc;
}

enum error_code dataset_builder_set_time(struct dataset_builder *builder, int64_t node,
                                         int64_t time, struct error *err)
{
    return node_time_table_set(&builder->times, builder->schema.node_count, node, time, err);
}

enum error_code dataset_builder_give_negatives(struct dataset_builder *builder, enum split split,
                                               const struct given_edge *given, const int64_t *node,
                                               size_t count, struct error *err)
{
    const struct given_edge edge = as_stored(builder, given);
    return given_negatives_add(&builder->edges.holdout.negatives, split, &builder->schema, &edge,
                               node, count, err);
}

uint32_t dataset_builder_edge_types(const struct dataset_builder *builder)
{
    return builder->edges.spool.width.of[EDGE_TYPE] ? dataset_edges_given_types(&builder->edges)
                                                    : 0;
}

int32_t dataset_builder_find_edge_type(const struct dataset_builder *builder, const char *name,
                                       size_t size)
{
    return dataset_edge_type_of(&builder->schema, dataset_builder_edge_types(builder), name, size);
}

/* Returns the ids as they will be stored; without set_ids() they are the numbers themselves. */
static struct node_ids own_ids(const struct dataset_builder *builder)
{
    return (struct node_ids){.node_count = builder->schema.node_count,
                             .integer = builder->id_integer,
                             .offset = builder->id_offset,
                             .text = builder->id_text};
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
    builder->targets.ids = own_ids(builder);
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
    builder->targets.ids = own_ids(builder);
    return ERROR_NONE;
}

/* ---- finish: the rest ----------------------------------------------------------------------- */

static enum error_code expect_training(const struct dataset_builder *builder, struct error *err)
{
    const struct training_advice *advice = builder->config.advice;
    const char *path = builder->config.settings->ingest.path;
    const char *subject = task_subject((enum task_kind)builder->config.settings->ingest.task);
    if (!advice || builder->edges.holdout.is_wanted || builder->targets.expected_classes)
        return ERROR_NONE;
    if (builder->targets.class_count == 0)
        return error_set(err, ERROR_INPUT,
                         "%s: expected labels, found that no %s has a label: " ADVICE "%s", path,
                         subject, advice->labels);
    if (builder->targets.split[SPLIT_TRAIN].count == 0)
        return error_set(err, ERROR_INPUT, "%s: no training %ss: " ADVICE "%s", path, subject,
                         advice->train);
    return ERROR_NONE;
}

enum error_code dataset_builder_expect_edges(const struct dataset_builder *builder,
                                             uint64_t edge_count, struct error *err)
{
    must(builder->schema.node_count > 0);
    return dataset_edges_expect(&builder->edges, edge_count, builder->config.memory_bytes, err);
}

static enum error_code choose_features(struct dataset_builder *builder, struct error *err)
{
    char have[32], want[32], chunk[32];
    const uint64_t held = builder->config.counts_process ? memory_held_bytes() : 0;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < dataset_type_count(&builder->schema); t++) {
        struct feature_maker *features = &builder->features[t];
        rc = feature_maker_choose(features, builder->config.settings, err);
        const uint64_t least = held + feature_maker_bytes(features);
        if (rc == ERROR_NONE && least > builder->config.memory_bytes)
            rc = error_set(err, ERROR_NO_MEMORY,
                           "a chunk of features takes %s%s: expected a memory budget of at least "
                           "%s, found %s: " ADVICE "give more --memory",
                           text_size(feature_maker_bytes(features), chunk),
                           held ? " beside what ingest holds by then" : "", text_size(least, want),
                           text_size(builder->config.memory_bytes, have));
        builder->uses_degree |= features->use_degree;
    }
    return rc;
}

/* Checks the whole input, except for repeated edges, before anything is stored. */
static enum error_code check_all(struct dataset_builder *builder, struct error *err)
{
    const struct pipeline_settings *settings = builder->config.settings;
    struct split_shares shares;
    enum error_code rc = pipeline_split_shares(settings, &shares, err);
    if (rc == ERROR_NONE)
        rc = choose_features(builder, err);
    if (rc == ERROR_NONE && builder->targets.expected_classes && !builder->targets.label)
        rc = node_targets_set_none(&builder->targets, (enum task_kind)settings->ingest.task, err);
    if (rc == ERROR_NONE && shares.is_random && shares.kind != SPLIT_IS_COLUMN &&
        shares.kind != SPLIT_IS_MASKS && !builder->edges.holdout.is_wanted)
        rc = node_targets_draw_splits(&builder->targets, &shares, (uint64_t)settings->seed, err);
    if (rc == ERROR_NONE)
        rc = builder->edges.holdout.is_wanted
                 ? edge_holdout_prepare(&builder->edges.holdout, &builder->edges.spool, err)
                 : node_targets_check(&builder->targets, (enum task_kind)settings->ingest.task,
                                      &builder->schema.task, err);
    if (rc == ERROR_NONE)
        rc = expect_training(builder, err);
    return rc == ERROR_NONE && builder->schema.has_relations
               ? declared_types_find_target(&builder->targets, settings, &builder->schema, err)
               : rc;
}

static enum error_code store_features(struct dataset_builder *builder, struct error *err)
{
    struct dataset_schema *schema = &builder->schema;
    enum error_code rc = ERROR_NONE;
    for (uint32_t t = 0; rc == ERROR_NONE && t < dataset_type_count(schema); t++) {
        struct feature_maker *features = &builder->features[t];
        features->in_degree = builder->edges.in_degree;
        features->out_degree = dataset_edges_out_degree(&builder->edges);
        if (schema->has_relations) {
            schema->node_type[t].feature_dim = features->dim;
            must(text_copy(schema->type_origin[t], FEATURE_ORIGIN_SIZE, features->origin));
        }
        rc = feature_maker_write(features, builder->config.store, schema->id,
                                 &schema->feature_chunk_count, err);
    }
    const struct feature_maker *target = &builder->features[schema->target_type];
    schema->feature_dim = target->dim;
    (void)text_copy(schema->feature_origin, sizeof schema->feature_origin, target->origin);
    return rc;
}

static enum error_code store_ids(const struct dataset_builder *builder, struct error *err)
{
    const struct node_ids ids = own_ids(builder);
    if (builder->schema.node_id_form == NODE_ID_CONSECUTIVE)
        return ERROR_NONE;
    return node_ids_put(builder->config.store, builder->schema.id, &ids, err);
}

static enum error_code summarise(struct dataset_builder *builder, bool one_way, struct error *err)
{
    struct dataset_summary *summary = builder->config.summary;
    const struct dataset_schema *schema = &builder->schema;
    *summary = (struct dataset_summary){
        .is_one_way = one_way,
        .was_made_undirected = one_way && builder->schema.undirected,
        .isolated_nodes = dataset_edges_isolated(&builder->edges),
        .graph_count = builder->graphs.graph_count,
        .notes = builder->notes,
        .loss = &builder->values.loss,
        .back = builder->edges.back,
        .overlap = builder->edges.overlap,
        .merged_repeats = builder->edges.holdout.merged_repeats,
        .passed_sources = builder->edges.holdout.passed_sources,
        .side = {builder->edges.sides.count[0], builder->edges.sides.count[1]},
        .has_groups = edge_sides_are_groups(&builder->edges.sides),
    };
    builder->notes = (struct dataset_notes){0};
    for (uint32_t t = 0; t < dataset_type_count(schema); t++) {
        const struct node_type type = dataset_type(schema, t);
        summary->feature_zeros += builder->features[t].zero_count;
        summary->feature_numbers += (uint64_t)type.node_count * type.feature_dim;
        summary->feature_origin[t] = builder->features[t].origin;
    }
    return dataset_summary_count(summary, &builder->targets, err);
}

/* Notes the unit of times, unless they are stored as they were written. */
static void note_time_unit(struct dataset_builder *builder)
{
    char meaning[32];
    struct dataset_schema *schema = &builder->schema;
    (void)time_format_meaning(&builder->values.time, meaning);
    if ((schema->edge_width.of[EDGE_TIME] || builder->times.time) && strcmp(meaning, "number") != 0)
        must(text_copy(schema->time_unit, sizeof schema->time_unit, meaning));
}

/* Stores the schema, which commits the dataset, with the findings about the data. */
static enum error_code store_schema(struct dataset_builder *builder, bool one_way,
                                    struct error *err)
{
    struct dataset_summary own = {0};
    struct json_writer report = {0};
    if (!builder->config.summary)
        builder->config.summary = &own;
    note_time_unit(builder);
    enum error_code rc = summarise(builder, one_way, err);
    if (rc == ERROR_NONE) {
        dataset_summary_report(builder->config.summary, &builder->schema, builder->config.settings,
                               &report);
        rc = json_writer_finish(&report, err);
    }
    if (rc == ERROR_NONE)
        rc = dataset_schema_put_with_report(builder->config.store, &builder->schema, report.text,
                                            err);
    json_writer_release(&report);
    dataset_summary_release(&own);
    if (builder->config.summary == &own)
        builder->config.summary = NULL;
    return rc;
}

/* Finishes a task of pairs: stores the held-out edges and sets their counts in the schema. */
static enum error_code finish_pairs(struct dataset_builder *builder, struct error *err)
{
    struct edge_holdout *holdout = &builder->edges.holdout;
    struct dataset_schema *schema = &builder->schema;
    const char *path = builder->config.settings->ingest.path;
    schema->task = (enum task_kind)builder->config.settings->ingest.task;
    schema->class_count = /* a link has one score */
        task_has(schema->task, TASK_LABELS_EDGES) ? builder->edges.labels.class_count : 1;
    schema->valid_count = (uint32_t)holdout->held[HELD_OUT_VALID].count;
    schema->test_count = (uint32_t)holdout->held[HELD_OUT_TEST].count;
    if (schema->edge_count == 0)
        return error_set(err, ERROR_INPUT,
                         "%s: no training edges: of %" PRIu64 " edges of the input all are held "
                         "out; expected fewer of them (ingest.edge_split)",
                         path, schema->input_edge_rows);
    (void)edge_sides_count(&builder->edges.sides);
    return edge_holdout_put(holdout, schema->edge_width.of[EDGE_TYPE] != 0, &builder->edges.sides,
                            builder->config.store, err);
}

enum error_code dataset_builder_finish(struct dataset_builder *builder,
                                       struct dataset_schema *schema, struct error *err)
{
    must(builder->schema.node_count > 0);
    bool one_way = false;
    enum error_code rc = dataset_edges_settle(
        &builder->edges, builder->stated == STATED_ONCE_IS_BOTH, &one_way, err);
    if (rc == ERROR_NONE)
        rc = check_all(builder, err);
    builder->schema.class_count = builder->targets.class_count;
    builder->schema.train_count = builder->targets.split[SPLIT_TRAIN].count;
    builder->schema.valid_count = builder->targets.split[SPLIT_VALID].count;
    builder->schema.test_count = builder->targets.split[SPLIT_TEST].count;
    if (rc == ERROR_NONE)
        rc = dataset_edges_write(&builder->edges, builder->config.store,
                                 builder->config.memory_bytes, builder->uses_degree, err);
    if (rc == ERROR_NONE && builder->edges.holdout.is_wanted)
        rc = finish_pairs(builder, err);
    if (rc == ERROR_NONE)
        rc = store_features(builder, err);
    if (rc == ERROR_NONE)
        rc = node_targets_put(&builder->targets, builder->config.store, builder->schema.id, err);
    if (rc == ERROR_NONE)
        rc = graph_members_put(&builder->graphs, builder->config.store, builder->schema.id, err);
    if (rc == ERROR_NONE)
        rc = store_ids(builder, err);
    if (rc == ERROR_NONE && (builder->encoding.class_count || builder->encoding.column_count))
        rc = node_columns_put(builder->config.store, builder->schema.id, &builder->encoding, err);
    if (rc == ERROR_NONE)
        rc = node_time_table_put(&builder->times, builder->schema.node_count, builder->config.store,
                                 builder->schema.id, err);
    if (rc == ERROR_NONE)
        rc = store_schema(builder, one_way, err);
    if (rc == ERROR_NONE && schema)
        *schema = builder->schema;
    return rc;
}
