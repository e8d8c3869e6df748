#include "stages/train-step/step_batch.h"

#include "stages/plan/model/run_model.h"

void step_batch_take(const struct stage_context *context, const struct prepared_batch *prepared,
                     struct step_batch *out)
{
    const struct mini_batch *batch = &prepared->batch;
    *out = (struct step_batch){.target_type = context->book->target_type,
                               .seed_count = batch->seed_count,
                               .seed_weight = batch->seed_weight,
                               .pairs = batch->pairs,
                               .block = prepared->block,
                               .aggregated = prepared->aggregated};
    for (uint32_t t = 0; t < mini_batch_types(batch); t++) {
        out->count[t] = prepared_batch_count(prepared, t);
        out->node[t] = batch->node + mini_batch_node_begin(batch, t);
        out->number[t] = prepared->number[t];
        out->rows[t] = prepared->rows[t];
    }
    if (prepared->aggregated)
        out->aggregated_count = prepared->block[0].destination_count[0];
}

struct model_input step_batch_input(const struct step_batch *batch,
                                    const struct random_stream *dropout)
{
    return (struct model_input){.relations = batch->block,
                                .type_rows = batch->rows,
                                .wants_gradient = batch->wants_gradient,
                                .seed_count = batch->seed_count,
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
            .count = batch->count[t],
            .node = batch->number[t]};
    }
    return tensors->count;
}

enum error_code step_batch_join(const struct stage_context *context,
                                const struct embedding_input *embedding, bool trains,
                                struct arena *arena, struct step_batch *batch, struct error *err)
{
    struct embedding_nodes nodes[RELATION_TYPE_COUNT_MAX];
    const int count = step_batch_nodes(context, batch, nodes);
    enum error_code rc = ERROR_NONE;
    for (int i = 0; i < count && rc == ERROR_NONE; i++) {
        const uint32_t t = nodes[i].type;
        rc = embedding_input_join(context, embedding, &nodes[i], arena, &batch->rows[t], err);
        batch->wants_gradient[t] = trains;
    }
    return rc;
}
