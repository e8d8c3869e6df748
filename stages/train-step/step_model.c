#include "stages/train-step/step_model.h"

struct model_input step_model_input(const struct model *model, struct step_batch *batch,
                                    const struct random_stream *dropout)
{
    struct model_input input = {.seed_count = batch->seed_count, .dropout = dropout};
    if (model_is_typed(model)) {
        input.relations = batch->block;
        input.type_rows = batch->rows;
        input.wants_gradient = batch->wants_gradient;
        input.aggregated_relations = batch->relations.schema ? &batch->relations : NULL;
        return input;
    }
    for (int hop = 0; hop < model->hop_count; hop++)
        batch->plain[hop] = batch->block[hop].edges[0].block;
    input.block = batch->plain;
    input.rows = batch->rows[0];
    input.aggregated = batch->aggregated;
    input.aggregated_count = batch->aggregated_count;
    return input;
}

enum error_code step_model_backward(const struct model *model, const float *value,
                                    const struct step_batch *batch, struct model_trace *trace,
                                    const float *slope, const struct model_workspace *workspace,
                                    float *gradient, const float *of_input[RELATION_TYPE_COUNT_MAX],
                                    struct error *err)
{
    float *of_rows = NULL;
    enum error_code rc = ERROR_NONE;
    if (batch->wants_gradient[0] && !model_is_typed(model))
        rc =
            model_backward_to_input(model, value, trace, slope, workspace, gradient, &of_rows, err);
    else
        rc = model_backward(model, value, trace, slope, workspace, gradient, err);
    for (uint32_t t = 0; rc == ERROR_NONE && t < RELATION_TYPE_COUNT_MAX; t++)
        if (batch->wants_gradient[t])
            of_input[t] = of_rows ? of_rows : model_input_gradient(trace, t);
    return rc;
}

bool step_model_leaves_out_zeros(const struct model *model)
{
    return model->config.precision == PRECISION_FP32 && /* bf16 has dense products alone */
           !model_is_typed(model);
}

bool step_ahead_is_possible(const struct model *model, const struct step_batch *batch)
{
    return model_is_typed(model)
               ? relation_input_is_possible(model)
               : !batch->aggregated && input_aggregation_is_possible(model, &batch->rows[0]);
}

enum error_code step_ahead_begin(struct step_ahead *out, const struct model *model,
                                 struct step_batch *batch, const struct thread_pool *pool,
                                 struct arena *arena, struct error *err)
{
    *out = (struct step_ahead){.model = model, .batch = batch};
    if (model_is_typed(model))
        return relation_input_begin(&batch->relations, model, &batch->block[0], batch->rows, arena,
                                    err);
    const enum error_code rc =
        input_aggregation_begin(&out->nodes, model, &batch->block[0].edges[0].block,
                                &batch->rows[0], thread_pool_size(pool), arena, err);
    batch->aggregated = out->nodes.aggregated;
    return rc;
}

bool step_ahead_advance(struct step_ahead *ahead, int64_t tiles, struct thread_pool *pool)
{
    if (model_is_typed(ahead->model))
        return relation_input_advance(&ahead->batch->relations, tiles, pool);
    const bool is_more = input_aggregation_advance(&ahead->nodes, tiles, pool);
    ahead->batch->aggregated_count = ahead->nodes.aggregated_count;
    return is_more;
}
