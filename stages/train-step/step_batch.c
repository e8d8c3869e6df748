#include "stages/train-step/step_batch.h"

#include "stages/plan/run_model.h"

/* Of a typed model. */
static void take_types(const struct model *model, const struct prepared_batch *prepared,
                       struct step_batch *out)
{
    const uint32_t target = model->config.types.target_type;
    const struct typed_input types = typed_batch_input(&prepared->typed, target);
    *out = (struct step_batch){.seed_count = types.seed_count,
                               .node_count = types.count[target],
                               .node = types.node[target],
                               .pairs = types.pairs,
                               .seed_weight = prepared->typed.batch.seed_weight,
                               .types = types};
}

/* Of a plain model. */
static void take_nodes(const struct prepared_batch *prepared, struct step_batch *out)
{
    const struct mini_batch *batch = &prepared->batch;
    *out =
        (struct step_batch){.seed_count = batch->seed_count,
                            .node_count = batch->hop_count ? mini_batch_block(batch, 0).source_count
                                                           : batch->seed_count,
                            .node = batch->node,
                            .pairs = batch->pairs,
                            .seed_weight = batch->seed_weight,
                            .rows = prepared->rows,
                            .aggregated = prepared->aggregated};
    if (prepared->aggregated)
        out->aggregated_count = mini_batch_block(batch, 0).destination_count;
    for (int hop = 0; hop < batch->hop_count; hop++)
        out->block[hop] = mini_batch_block(batch, hop);
}

void step_batch_take(const struct model *model, const struct prepared_batch *prepared,
                     struct step_batch *out)
{
    if (model_is_typed(model))
        take_types(model, prepared, out);
    else
        take_nodes(prepared, out);
}

struct model_input step_batch_input(const struct step_batch *batch,
                                    const struct random_stream *dropout)
{
    return (struct model_input){.block = batch->block,
                                .seed_count = batch->seed_count,
                                .rows = batch->rows,
                                .relations = batch->types.block,
                                .type_rows = batch->types.rows,
                                .wants_gradient = batch->types.wants_gradient,
                                .aggregated = batch->aggregated,
                                .aggregated_count = batch->aggregated_count,
                                .aggregated_relations =
                                    batch->relations.schema ? &batch->relations : NULL,
                                .dropout = dropout};
}

int step_batch_nodes(const struct stage_context *context, const struct step_batch *batch,
                     struct embedding_nodes nodes[RELATION_TYPE_COUNT_MAX])
{
    const struct embedding_tensors *tensors = &context->schedule->embeddings;
    for (int i = 0; i < tensors->count; i++) {
        const uint32_t t = tensors->tensor[i].type;
        nodes[i] = (struct embedding_nodes){
            .type = t,
            .feature_dim = run_model_type_dim(context->settings, context->book, t),
            .count = batch->types.block ? batch->types.count[t] : batch->node_count,
            .node = batch->types.block ? batch->types.number[t] : batch->node};
    }
    return tensors->count;
}

enum error_code step_batch_join(const struct stage_context *context,
                                const struct embedding_input *embedding, bool trains,
                                struct arena *arena, struct step_batch *batch, struct error *err)
{
    struct embedding_nodes nodes[RELATION_TYPE_COUNT_MAX];
    const int count = step_batch_nodes(context, batch, nodes);
    const bool is_typed = batch->types.block != NULL;
    enum error_code rc = ERROR_NONE;
    for (int i = 0; i < count && rc == ERROR_NONE; i++) {
        const uint32_t t = nodes[i].type;
        rc = embedding_input_join(context, embedding, &nodes[i], arena,
                                  is_typed ? &batch->types.rows[t] : &batch->rows, err);
        batch->types.wants_gradient[t] = is_typed && trains;
    }
    return rc;
}
