#include "stages/train-step/step_ahead.h"

bool step_ahead_is_possible(const struct model *model, const struct step_batch *batch)
{
    if (batch->aggregated || model->hop_count == 0)
        return false;
    /* If a layer runs one pass per relation, it can aggregate ahead only the rows of a relation
     * that has a row for every destination. */
    return relation_input_is_possible(model) ||
           (!batch->block[0].edges[0].row && input_aggregation_is_possible(model, &batch->rows[0]));
}

enum error_code step_ahead_begin(struct step_ahead *out, const struct model *model,
                                 struct step_batch *batch, const struct thread_pool *pool,
                                 struct arena *arena, struct error *err)
{
    *out = (struct step_ahead){.batch = batch};
    if (relation_input_is_possible(model))
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
    if (ahead->batch->relations.schema)
        return relation_input_advance(&ahead->batch->relations, tiles, pool);
    const bool is_more = input_aggregation_advance(&ahead->nodes, tiles, pool);
    ahead->batch->aggregated_count = ahead->nodes.aggregated_count;
    return is_more;
}
