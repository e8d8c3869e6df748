#include "stages/train-step/step_memory.h"

#include "common/base/memory.h"
#include "stages/plan/chain/layer_pipeline.h"
#include "stages/plan/model/run_model.h"
#include "stages/train-step/batch_bounds.h"
#include "stages/train-step/graph_step.h"
#include "stages/train-step/layer_step.h"
#include "stages/train-step/pair_memory.h"
#include "stages/train-step/rows/embedding_input.h"
#include "stages/train-step/step_ahead.h"

#include <math.h>

uint32_t step_memory_count(double count)
{
    return count < (double)UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* The largest possible blocks, from the input side. They have no edges. */
struct counted_blocks {
    struct relation_block block[LAYER_COUNT_MAX];
    uint32_t count[LAYER_COUNT_MAX + 1][RELATION_TYPE_COUNT_MAX];
    struct relation_edges edges[]; /* [hops, relations] */
};

/* A training or evaluation batch of the largest size. */
struct counted_batch { /* {0} is empty */
    const struct stage_context *context;
    const struct model *model;
    const struct edge_use *use;
    bool trains;
    struct batch_bounds bounds;
    struct seed_pairs pairs;
    struct counted_blocks *blocks;
};

static struct relation_edges bound_edges(const struct counted_batch *batch, int layer,
                                         uint32_t relation)
{
    static const float value[1]; /* stand for edge and node values that exist and are not read */
    static const uint32_t row[1];
    const struct batch_bounds *bounds = &batch->bounds;
    const struct relation *ends = partition_book_relation(batch->context->book, relation);
    const int hop = bounds->hop_count - layer;
    const double read = batch_bounds_edges_at(bounds, hop, relation);
    const double targets = bounds->node[hop - 1][ends->target_type];
    const bool lists = bounds->lists_rows, sums = batch->use->weight_sum;
    return (struct relation_edges){
        .block = {.destination_count = step_memory_count(lists ? fmin(read, targets) : targets),
                  .source_count = batch->blocks->count[layer][ends->source_type],
                  .is_bipartite = lists,
                  .degree = lists && batch->model->needs_degree ? row : NULL,
                  .edge_factor = bounds->has_factors ? value : NULL,
                  .edge_value = batch->use->columns >> EDGE_WEIGHT & 1 ? value : NULL,
                  .value_sum = !lists && sums ? value : NULL,
                  .edge_count = (uint64_t)read},
        .row = lists ? row : NULL,
        .source_degree = batch->model->divides_by_ends ? row : NULL,
        .source_sum = sums ? value : NULL,
        .target_sum = lists && sums ? value : NULL};
}

static enum error_code bound_blocks(struct counted_batch *batch, struct error *err)
{
    const struct batch_bounds *bounds = &batch->bounds;
    const int hops = bounds->hop_count;
    const size_t relations = bounds->relation_count;
    char *room = NULL;
    const enum error_code rc = memory_new(
        &room, sizeof *batch->blocks + (size_t)hops * relations * sizeof(struct relation_edges),
        "the largest blocks", err);
    struct counted_blocks *made = batch->blocks = (struct counted_blocks *)(void *)room;
    if (rc != ERROR_NONE)
        return rc;
    for (int h = 0; h <= hops; h++)
        for (uint32_t t = 0; t < bounds->type_count; t++)
            made->count[hops - h][t] = step_memory_count(bounds->node[h][t]);
    for (int layer = 0; layer < hops; layer++) {
        struct relation_edges *edges = made->edges + (size_t)layer * relations;
        for (uint32_t r = 0; r < relations; r++)
            edges[r] = bound_edges(batch, layer, r);
        made->block[layer] =
            (struct relation_block){made->count[layer + 1], made->count[layer], edges};
    }
    return ERROR_NONE;
}

static enum error_code open_batch(const struct stage_context *context, const struct model *model,
                                  const struct edge_use *use, const uint64_t *relation_edges,
                                  bool trains, struct counted_batch *out, struct error *err)
{
    const struct schedule *s = context->schedule;
    *out = (struct counted_batch){
        .context = context,
        .model = model,
        .use = use,
        .trains = trains,
        .pairs = pair_memory_pairs(model, trains ? s->batch_size : s->evaluation_batch_size,
                                   trains ? pipeline_negatives(context->settings)
                                          : pipeline_evaluation_negatives(context->settings))};
    const enum error_code rc =
        batch_bounds_find(context, relation_edges, trains, &out->bounds, err);
    return rc == ERROR_NONE ? bound_blocks(out, err) : rc;
}

static void close_batch(struct counted_batch *batch)
{
    batch_bounds_release(&batch->bounds);
    memory_free(batch->blocks);
}

/* --- the dry run --- */

enum first_rows { ROWS_AGGREGATED_BY_STEP, ROWS_AGGREGATED_AHEAD, ROWS_GIVEN_AGGREGATED };

/* Counts the first layer's rows. Rows that were aggregated between two units lie in the arena
 * (idle_aggregation.h). Given rows lie in the area of a batch, which does not list its rows. */
static enum error_code count_first_rows(const struct counted_batch *counted, enum first_rows rows,
                                        struct step_batch *batch, struct arena *arena)
{
    struct step_ahead ahead;
    if (rows == ROWS_AGGREGATED_BY_STEP || counted->bounds.lists_rows ||
        !step_ahead_is_possible(counted->model, batch))
        return ERROR_NONE;
    if (rows == ROWS_AGGREGATED_AHEAD) {
        const enum error_code rc =
            step_ahead_begin(&ahead, counted->model, batch, counted->context->pool, arena, NULL);
        if (rc != ERROR_NONE)
            return rc;
    } else {
        batch->aggregated = batch; /* any pointer but NULL */
    }
    batch->aggregated_count = batch->block[0].edges[0].block.destination_count;
    return ERROR_NONE;
}

/* Returns the batch in the form that a step has. */
static struct step_batch batch_of(const struct counted_batch *counted)
{
    struct step_batch batch = {.target_type = counted->context->book->target_type,
                               .seed_count = step_memory_count(counted->bounds.seeds),
                               .block = counted->blocks->block};
    for (uint32_t t = 0; t < counted->bounds.type_count; t++) {
        batch.count[t] = counted->blocks->count[0][t];
        batch.rows[t].precision = counted->model->config.precision;
    }
    return batch;
}

static enum error_code count_embeddings(const struct counted_batch *counted,
                                        struct step_batch *batch, struct arena *arena)
{
    const struct stage_context *context = counted->context;
    const struct embedding_tensors *tensors = &context->schedule->embeddings;
    enum error_code rc = ERROR_NONE;
    for (int i = 0; rc == ERROR_NONE && i < tensors->count; i++) {
        const uint32_t type = tensors->tensor[i].type, width = tensors->tensor[i].width;
        batch->wants_gradient[type] = counted->trains;
        rc = embedding_input_count(run_model_type_dim(context->settings, context->book, type) +
                                       width,
                                   width, batch->count[type], counted->trains, arena, NULL);
    }
    return rc;
}

static enum error_code count_graphs(const struct model *model, uint32_t graphs, float *logits,
                                    float *value, const struct model_workspace *workspace,
                                    const struct task *task, bool trains)
{
    struct graph_step step = {
        .model = model, .weights = value, .row = logits, .workspace = workspace, .task = task};
    const enum error_code rc = graph_step_reserve(&step, graphs, trains, NULL);
    step.graph_count = graphs;
    return rc == ERROR_NONE && trains ? graph_step_backward(&step, logits, &value, NULL) : rc;
}

/* Returns the most graphs in a batch. */
static uint32_t graphs_of(const struct stage_context *context, bool trains)
{
    const struct schedule *s = context->schedule;
    return step_memory_count((double)(trains ? s->batch_size : s->evaluation_batch_size));
}

/* Repeats the allocations of a unit of train_step.c in an arena that counts. */
static enum error_code count_pass(const struct counted_batch *counted, enum first_rows rows,
                                  struct arena *arena)
{
    const struct stage_context *context = counted->context;
    const struct model *model = counted->model;
    const bool trains = counted->trains;
    struct model_trace *trace = NULL;
    float *value = NULL, *rest = NULL, *logits = NULL;
    struct step_batch batch = batch_of(counted);
    const struct model_workspace workspace = {.arena = arena, .pool = context->pool};
    enum error_code rc = count_first_rows(counted, rows, &batch, arena);
    if (rc == ERROR_NONE)
        rc = count_embeddings(counted, &batch, arena);
    const struct model_input input = step_batch_input(&batch, NULL);
    /* labels, logits and their gradient; in the evaluation the counts */
    for (int i = 0; rc == ERROR_NONE && i < 3; i++)
        rc = arena_new(arena, &logits, (size_t)batch.seed_count * model_output_dim(model), "logits",
                       NULL);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &value, (size_t)model->value_count, "the gradient", NULL);
    if (rc == ERROR_NONE && trains && context->schedule->keeps_residuals)
        rc = arena_new(arena, &rest, (size_t)model->trained_count, "the rest of it", NULL);
    if (rc == ERROR_NONE)
        rc = model_forward(model, value, &input, &workspace, logits, trains ? &trace : NULL, NULL);
    if (rc == ERROR_NONE && counted->pairs.positive_count)
        rc = pair_memory_count(model, &counted->pairs, batch.seed_count, logits, value, &workspace,
                               trains, NULL);
    if (rc == ERROR_NONE && context->book->graph_count)
        rc = count_graphs(model, graphs_of(context, trains), logits, value, &workspace,
                          task_of(context->book->task), trains);
    if (rc == ERROR_NONE && trains)
        rc = model_backward(model, value, trace, logits, &workspace, value, NULL);
    return rc;
}

/* Returns the bytes that were counted, and releases the arena. They are infinite if counting
 * failed. */
static double bytes_counted(enum error_code rc, struct arena *arena, size_t around)
{
    const double bytes = rc == ERROR_NONE ? (double)arena->used + (double)around : HUGE_VAL;
    arena_release(arena);
    return bytes;
}

/* Returns the bytes of a pass through one layer (layer_step.h). Only a whole step aggregates
 * rows ahead. */
static double layer_bytes(const struct counted_batch *counted, int layer, enum first_rows rows)
{
    struct arena arena = {.counts = true};
    struct step_batch batch = batch_of(counted);
    const struct model_workspace workspace = {.arena = &arena, .pool = counted->context->pool};
    size_t around = 0;
    enum error_code rc = ERROR_NONE;
    if (layer == 0)
        rc = count_first_rows(counted, rows, &batch, &arena);
    const struct model_input input = step_batch_input(&batch, NULL);
    if (rc == ERROR_NONE)
        rc = layer_step_count(counted->model, layer, &input, &workspace, &around);
    return bytes_counted(rc, &arena, around);
}

static double pipeline_bytes(const struct counted_batch *counted, enum first_rows rows)
{
    const struct model *model = counted->model;
    double most = 0;
    for (int layer = 0; layer < model->config.layer_count; layer++)
        most = fmax(most, layer_bytes(counted, layer, rows));
    return most +
           (counted->context->schedule->keeps_residuals ? 4 * (double)model->trained_count : 0);
}

static double pass_bytes(const struct counted_batch *counted, enum first_rows rows)
{
    struct arena arena = {.counts = true};
    if (counted->trains && layer_pipeline_passes(counted->context->schedule) > 0)
        return pipeline_bytes(counted,
                              rows == ROWS_GIVEN_AGGREGATED ? rows : ROWS_AGGREGATED_BY_STEP);
    return bytes_counted(count_pass(counted, rows, &arena), &arena, 0);
}

/* --- records, rows and labels --- */

/* Returns the bytes of the arrays of a mini-batch (mini_batch.h, prepared_batch.h). A node has
 * an id, a number in its type, the seed it belongs to, and a bit or up to four places in the set
 * that finds duplicates. A row has a start, and a place, length and degree if rows are listed.
 * Each node also has the values that the model reads for each relation to its type. */
static double batch_bytes(const struct counted_batch *counted)
{
    const struct batch_bounds *bounds = &counted->bounds;
    const struct partition_book *book = counted->context->book;
    const bool lists = bounds->lists_rows;
    const bool has_degrees = !lists && (counted->model->needs_degree || bounds->has_factors);
    const double of_node = 4.0 * (1 + has_degrees + (bounds->type_count > 1) + bounds->is_disjoint);
    const double of_end = (lists && counted->model->divides_by_ends ? 4 : 0) +
                          (double)edge_use_node_bytes(counted->use);
    const double of_edge = (bounds->has_factors ? 8 : 4) +
                           (double)edge_use_edge_bytes(counted->use, &book->edge_width);
    double ends = 0;
    for (uint32_t r = 0; r < bounds->relation_count; r++)
        ends += bounds->node[bounds->hop_count][partition_book_relation(book, r)->target_type];
    return of_node * bounds->node_count + fmin(16 * bounds->node_count, book->node_count / 8.0) +
           (lists ? 16 : 4) * bounds->row_count + of_end * ends + of_edge * bounds->edge_count +
           (double)bounds->hop_count * bounds->relation_count * sizeof(struct relation_edges);
}

static double nodes_of(const struct partition_book *book, uint32_t type)
{
    const struct type_ranges ranges = partition_book_ranges(book);
    return type_ranges_before(&ranges, ranges.part_count, type);
}

static double all_rows_bytes(const struct stage_context *context, enum precision precision)
{
    double bytes = 0;
    for (uint32_t t = 0; t < partition_book_types(context->book); t++)
        bytes += nodes_of(context->book, t) * (double)precision_bytes(precision) *
                 (double)precision_stride(precision,
                                          run_model_type_dim(context->settings, context->book, t));
    return bytes;
}

static double labels_bytes(const struct partition_book *book, uint32_t label_dim)
{
    return task_has(book->task, TASK_LABELS_NODES)
               ? 4 * nodes_of(book, book->target_type) * label_dim
               : 0;
}

static uint64_t bytes_of(double bytes)
{
    return bytes < 0x1p62 ? (uint64_t)bytes : (uint64_t)1 << 62;
}

struct step_memory step_memory_share(const struct step_needs *needs, double memory_bytes,
                                     uint64_t embedding_bytes)
{
    const double budget = memory_bytes - (double)embedding_bytes;
    const double labels = fmin(needs->labels + (1 << 20), budget / 8);
    const double records = fmin(needs->records, budget / 8);
    const bool rows_fit = budget - labels - records - needs->step >= needs->rows;
    const double step = rows_fit ? needs->step : needs->step_given;
    const double left = budget - labels - records - step;
    return (struct step_memory){.step_bytes = bytes_of(step),
                                .record_bytes = (uint64_t)records,
                                .feature_bytes = (uint64_t)fmax(left, budget / 4),
                                .label_bytes = (uint64_t)labels,
                                .embedding_bytes = embedding_bytes,
                                .rows_fit = rows_fit};
}

/* Divides the budget. The batches in memory are the one in training, the one read ahead, the one
 * counted to choose cached rows, and the one evaluated. A record takes at most about half of its
 * batch and is released after reading. */
static struct step_memory plan(const struct counted_batch *training,
                               const struct counted_batch *validation, uint32_t label_dim)
{
    const struct stage_context *context = training->context;
    const struct model *model = training->model;
    const uint64_t embedding = embedding_input_budget(context);
    const enum first_rows given = embedding ? ROWS_AGGREGATED_BY_STEP : ROWS_GIVEN_AGGREGATED;
    const enum first_rows trained = training->bounds.is_nested ? given : ROWS_AGGREGATED_BY_STEP;
    const double weights = 8 * (double)model->value_count; /* two versions of the weights */
    const struct step_needs needs = {
        .rows = all_rows_bytes(context, model->config.precision),
        .labels = labels_bytes(context->book, label_dim),
        .records = 3.5 * (batch_bytes(training) + pair_memory_bytes(&training->pairs)) +
                   1.5 * (batch_bytes(validation) + pair_memory_bytes(&validation->pairs)) +
                   weights,
        .step = fmax(pass_bytes(training, ROWS_AGGREGATED_BY_STEP),
                     fmax(pass_bytes(training, ROWS_AGGREGATED_AHEAD),
                          pass_bytes(validation, ROWS_AGGREGATED_BY_STEP))),
        .step_given = fmax(pass_bytes(training, trained), pass_bytes(validation, given))};
    return step_memory_share(&needs, (double)context->memory_bytes, embedding);
}

enum error_code step_memory_plan(const struct model *model, const struct stage_context *context,
                                 const struct edge_use *use, uint32_t label_dim,
                                 struct step_memory *out, struct error *err)
{
    struct counted_batch training = {0}, validation = {0};
    uint64_t *edges = NULL;
    enum error_code rc =
        memory_new(&edges, partition_book_relations(context->book), "the edges of relations", err);
    if (rc == ERROR_NONE)
        rc = batch_bounds_edges(context, edges, err);
    if (rc == ERROR_NONE)
        rc = open_batch(context, model, use, edges, true, &training, err);
    if (rc == ERROR_NONE)
        rc = open_batch(context, model, use, edges, false, &validation, err);
    if (rc == ERROR_NONE)
        *out = plan(&training, &validation, label_dim);
    close_batch(&training);
    close_batch(&validation);
    memory_free(edges);
    return rc;
}
