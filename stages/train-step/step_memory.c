#include "stages/train-step/step_memory.h"

#include "common/nn/input_aggregation.h"
#include "stages/plan/layer_pipeline.h"
#include "stages/plan/run_model.h"
#include "stages/train-step/batch_bounds.h"
#include "stages/train-step/embedding_input.h"
#include "stages/train-step/graph_step.h"
#include "stages/train-step/layer_step.h"
#include "stages/train-step/pair_memory.h"

#include <math.h>

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

uint32_t step_memory_count(double count)
{
    return count < (double)UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* The largest blocks that there can be; they have no edges to look at. */
static void bound_blocks(const struct model *model, const struct batch_bounds *hops,
                         const struct edge_use *use, struct message_block *block)
{
    static const float value[1]; /* of edges and nodes: there, but not read */

    const int hop_count = model->hop_count;
    for (int hop = 0; hop < hop_count; hop++)
        block[hop] = (struct message_block){
            .destination_count = step_memory_count(hops->node[hop_count - 1 - hop]),
            .source_count = step_memory_count(hops->node[hop_count - hop]),
            .edge_value = use->columns >> EDGE_WEIGHT & 1 ? value : NULL,
            .edge_factor = hops->has_factors ? value : NULL,
            .value_sum = use->weight_sum ? value : NULL,
            .edge_count = (uint64_t)hops->edge[hop_count - hop]};
}

enum first_rows { ROWS_AGGREGATED_BY_STEP, ROWS_AGGREGATED_AHEAD, ROWS_GIVEN_AGGREGATED };

/* Rows that were aggregated between two units lie in the arena (idle_aggregation.h); those of a batch out of the
 * budget do not. */
static enum error_code count_first_rows(const struct model *model, enum first_rows rows,
                                        struct thread_pool *pool, struct arena *arena,
                                        struct model_input *input, struct error *err)
{
    struct input_aggregation ahead = {0};
    if (rows == ROWS_AGGREGATED_BY_STEP || !input_aggregation_is_possible(model, &input->rows))
        return ERROR_NONE;
    input->aggregated_count = input->block[0].destination_count;
    input->aggregated = input; /* anywhere but NULL */
    if (rows == ROWS_GIVEN_AGGREGATED)
        return ERROR_NONE;
    const enum error_code rc = input_aggregation_begin(&ahead, model, input->block, &input->rows,
                                                       thread_pool_size(pool), arena, err);
    input->aggregated = ahead.aggregated;
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

/* Graphs of a batch at most. */
static uint32_t graphs_of(const struct stage_context *context, bool trains)
{
    const struct schedule *s = context->schedule;
    return step_memory_count((double)(trains ? s->batch_size : s->evaluation_batch_size));
}

/* What train_step.c does in a unit, in an arena that counts. */
static enum error_code count_pass(const struct model *model, const struct batch_bounds *hops,
                                  const struct seed_pairs *pairs, const struct edge_use *use,
                                  enum first_rows rows, bool trains,
                                  const struct stage_context *context, struct arena *arena)
{
    const uint32_t embedding = (uint32_t)context->settings->train_step.embedding;
    struct message_block block[LAYER_COUNT_MAX];
    struct model_trace *trace = NULL;
    float *value = NULL, *rest = NULL, *logits = NULL, *input_gradient = NULL;
    struct model_input input = {.block = block,
                                .seed_count = step_memory_count(hops->node[0]),
                                .rows = {.precision = model->config.precision}};
    const struct model_workspace workspace = {.arena = arena, .pool = context->pool};
    bound_blocks(model, hops, use, block);
    enum error_code rc = count_first_rows(model, rows, context->pool, arena, &input, NULL);
    if (rc == ERROR_NONE && embedding)
        rc = embedding_input_count(model_layer_input_dim(model, 0), embedding,
                                   step_memory_count(hops->node[model->hop_count]), trains, arena,
                                   NULL);
    /* Labels, logits and their slope, or what is counted in the evaluation. */
    for (int i = 0; rc == ERROR_NONE && i < 3; i++)
        rc = arena_new(arena, &logits, (size_t)input.seed_count * model_output_dim(model), "logits",
                       NULL);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &value, (size_t)model->value_count, "the gradient", NULL);
    if (rc == ERROR_NONE && trains && context->schedule->keeps_residuals)
        rc = arena_new(arena, &rest, (size_t)model->trained_count, "the rest of it", NULL);
    if (rc == ERROR_NONE)
        rc = model_forward(model, value, &input, &workspace, logits, trains ? &trace : NULL, NULL);
    if (rc == ERROR_NONE && pairs->positive_count)
        rc = pair_memory_count(model, pairs, input.seed_count, logits, value, &workspace, trains,
                               NULL);
    if (rc == ERROR_NONE && context->book->graph_count)
        rc = count_graphs(model, graphs_of(context, trains), logits, value, &workspace,
                          task_of(context->book->task), trains);
    if (rc == ERROR_NONE && trains && embedding)
        rc = model_backward_to_input(model, value, trace, logits, &workspace, value,
                                     &input_gradient, NULL);
    else if (rc == ERROR_NONE && trains)
        rc = model_backward(model, value, trace, logits, &workspace, value, NULL);
    return rc;
}

/* The same of a pass through one layer (layer_step.h); rows that are aggregated ahead are those of a whole step alone. */
static double layer_bytes(const struct model *model, int layer, const struct batch_bounds *hops,
                          const struct edge_use *use, enum first_rows rows,
                          const struct stage_context *context)
{
    struct message_block block[LAYER_COUNT_MAX];
    struct arena arena = {.counts = true};
    struct model_input input = {.block = block,
                                .seed_count = step_memory_count(hops->node[0]),
                                .rows = {.precision = model->config.precision}};
    const struct model_workspace workspace = {.arena = &arena, .pool = context->pool};
    size_t around = 0;
    bound_blocks(model, hops, use, block);
    enum error_code rc = ERROR_NONE;
    if (layer == 0)
        rc = count_first_rows(model, rows, context->pool, &arena, &input, NULL);
    if (rc == ERROR_NONE)
        rc = layer_step_count(model, layer, &input, &workspace, &around);
    const double bytes = rc == ERROR_NONE ? (double)arena.used + (double)around : HUGE_VAL;
    arena_release(&arena);
    return bytes;
}

static double pipeline_bytes(const struct model *model, const struct batch_bounds *hops,
                             const struct edge_use *use, enum first_rows rows,
                             const struct stage_context *context)
{
    double most = 0;
    for (int layer = 0; layer < model->config.layer_count; layer++)
        most = larger(most, layer_bytes(model, layer, hops, use, rows, context));
    return most + (context->schedule->keeps_residuals ? 4 * (double)model->trained_count : 0);
}

/* Infinite when not even that could be found out. */
static double pass_bytes(const struct model *model, const struct batch_bounds *hops,
                         const struct seed_pairs *pairs, const struct edge_use *use,
                         enum first_rows rows, bool trains, const struct stage_context *context)
{
    struct arena arena = {.counts = true};
    if (trains && layer_pipeline_passes(context->schedule) > 0)
        return pipeline_bytes(model, hops, use,
                              rows == ROWS_GIVEN_AGGREGATED ? rows : ROWS_AGGREGATED_BY_STEP,
                              context);
    const enum error_code rc = count_pass(model, hops, pairs, use, rows, trains, context, &arena);
    const double bytes = rc == ERROR_NONE ? (double)arena.used : HUGE_VAL;
    arena_release(&arena);
    return bytes;
}

/* The arrays of a mini-batch, and a bit for each node of the graph that checks it. */
static double batch_bytes(const struct model *model, const struct batch_bounds *hops,
                          const struct edge_use *use, const struct partition_book *book)
{
    const int hop_count = model->hop_count;
    const bool has_degrees = model->needs_degree || hops->has_factors;
    const double nodes = hops->node[hop_count] * (has_degrees ? 2 : 1);
    const double of_edge = (double)edge_use_edge_bytes(use, &book->edge_width) +
                           (double)(hops->has_factors ? sizeof(float) : 0);
    const double of_node = (double)edge_use_node_bytes(use);
    return 4 * (nodes + hops->row_count + hops->edge_count) + of_edge * hops->edge_count +
           of_node * hops->node[hop_count] + book->node_count / 8.0;
}

static uint64_t bytes_of(double bytes)
{
    return bytes < 0x1p62 ? (uint64_t)bytes : (uint64_t)1 << 62;
}

struct step_memory step_memory_share(const struct step_needs *needs, double memory_bytes,
                                     uint64_t embedding_bytes)
{
    const double budget = memory_bytes - (double)embedding_bytes;
    const double labels = smaller(needs->labels + (1 << 20), budget / 8);
    const double records = smaller(needs->records, budget / 8);
    const bool rows_fit = budget - labels - records - needs->step >= needs->rows;
    const double step = rows_fit ? needs->step : needs->step_given;
    const double left = budget - labels - records - step;
    return (struct step_memory){.step_bytes = bytes_of(step),
                                .record_bytes = (uint64_t)records,
                                .feature_bytes = (uint64_t)larger(left, budget / 4),
                                .label_bytes = (uint64_t)labels,
                                .embedding_bytes = embedding_bytes,
                                .rows_fit = rows_fit};
}

struct step_memory step_memory_plan(const struct model *model, const struct stage_context *context,
                                    const struct edge_use *use, uint32_t label_dim)
{
    const struct pipeline_settings *settings = context->settings;
    const uint64_t embedding = embedding_input_budget(context);
    const double nodes = context->book->node_count;
    const enum precision precision = model->config.precision;
    const double rows =
        nodes * (double)precision_bytes(precision) *
        (double)precision_stride(precision, run_model_feature_dim(settings, context->book));
    const int hop_count = model->hop_count;
    const struct batch_bounds training = batch_bounds_of_training(context, hop_count);
    const struct batch_bounds validation = batch_bounds_of_validation(context, hop_count);
    const struct seed_pairs pairs = pair_memory_pairs(model, context->schedule->batch_size,
                                                      pipeline_negatives(context->settings));
    const struct seed_pairs valid_pairs =
        pair_memory_pairs(model, context->schedule->evaluation_batch_size,
                          pipeline_evaluation_negatives(context->settings));
    const double weights = 8 * (double)model->value_count; /* two versions of the record */
    /* Those trained on, read ahead, and looked at to choose the rows that are kept; and the one evaluated on. A
     * record is about half of its batch at most, and is given back when that was read. */
    const double batches =
        3.5 * (batch_bytes(model, &training, use, context->book) + pair_memory_bytes(&pairs)) +
        1.5 *
            (batch_bytes(model, &validation, use, context->book) + pair_memory_bytes(&valid_pairs));
    const double step = larger(
        pass_bytes(model, &training, &pairs, use, ROWS_AGGREGATED_BY_STEP, true, context),
        larger(pass_bytes(model, &training, &pairs, use, ROWS_AGGREGATED_AHEAD, true, context),
               pass_bytes(model, &validation, &valid_pairs, use, ROWS_AGGREGATED_BY_STEP, false,
                          context)));
    const enum first_rows given = embedding ? ROWS_AGGREGATED_BY_STEP : ROWS_GIVEN_AGGREGATED;
    const enum first_rows trained = training.is_nested ? given : ROWS_AGGREGATED_BY_STEP;
    const struct step_needs needs = {
        .rows = rows,
        .labels = 4 * nodes * label_dim,
        .records = batches + weights,
        .step = step,
        .step_given =
            larger(pass_bytes(model, &training, &pairs, use, trained, true, context),
                   pass_bytes(model, &validation, &valid_pairs, use, given, false, context))};
    return step_memory_share(&needs, (double)context->memory_bytes, embedding);
}
