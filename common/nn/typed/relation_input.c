#include "common/nn/typed/relation_input.h"

#include "common/nn/layers/neighbor_weights.h"
#include "common/nn/typed/relation_rows.h"

#include <string.h>

static const char what[] = "the rows of relations"; /* user of the memory, for messages */

bool relation_input_is_possible(const struct model *model)
{
    const struct typed_kind *typed = model->layer[0].typed;
    return typed && typed->sums && model->config.precision == PRECISION_FP32;
}

static enum error_code new_arrays(struct relation_input *out, uint32_t relations,
                                  struct arena *arena, struct error *err)
{
    enum error_code rc = arena_new(arena, &out->columns, relations, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->aggregation, relations, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->aggregated, relations, what, err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->count, relations, what, err);
    return rc;
}

/* Begins one relation with sources of `type`; does nothing if these are projected first. */
static enum error_code begin_relation(struct relation_input *out, const struct model *model,
                                      const struct projection_fold *fold, uint32_t relation,
                                      struct arena *arena, struct error *err)
{
    const uint32_t type = out->schema->relation[relation].source_type;
    const struct message_block *block = &out->edges[relation].block;
    struct model_layer layer = model->layer[0];
    layer.input_dim = fold[type].columns ? fold[type].columns : layer.type_input_dim[type];
    out->columns[relation] = layer.input_dim;
    out->aggregated[relation] = NULL;
    out->count[relation] = 0;
    if (block->destination_count == 0 ||
        (model->config.types.projects[type] && !fold[type].columns))
        return ERROR_NONE;
    const enum error_code rc =
        neighbor_weights(&layer, block, arena, &out->aggregation[relation], err);
    if (rc != ERROR_NONE)
        return rc;
    return arena_new(arena, &out->aggregated[relation],
                     (size_t)block->destination_count * layer.input_dim, what, err);
}

enum error_code relation_input_begin(struct relation_input *out, const struct model *model,
                                     const struct relation_block *block,
                                     const struct input_rows *rows, struct arena *arena,
                                     struct error *err)
{
    struct projection_fold fold[RELATION_TYPE_COUNT_MAX];
    must(relation_input_is_possible(model));
    *out = (struct relation_input){.schema = &model->config.types.schema};
    memcpy(out->rows, rows, out->schema->type_count * sizeof *rows);
    projection_fold_find(model, NULL, block, fold);
    enum error_code rc = relation_rows_find(out->schema, block, arena, &out->edges, err);
    if (rc == ERROR_NONE)
        rc = new_arrays(out, out->schema->relation_count, arena, err);
    for (uint32_t r = 0; rc == ERROR_NONE && r < out->schema->relation_count; r++)
        rc = begin_relation(out, model, fold, r, arena, err);
    return rc;
}

static void aggregate_tile(void *context, int64_t tile, int thread)
{
    const struct relation_input *input = context;
    const uint32_t r = input->at;
    const struct message_block *block = &input->edges[r].block;
    const uint32_t first = input->count[r] + (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, block->destination_count);
    (void)thread;
    aggregation_forward(&input->aggregation[r], block,
                        &input->rows[input->schema->relation[r].source_type], input->columns[r],
                        first, end, NULL, input->aggregated[r] + (size_t)first * input->columns[r]);
}

/* Returns how many rows of the relation are still to be aggregated. */
static uint32_t rows_left(const struct relation_input *input, uint32_t relation)
{
    return input->aggregated[relation]
               ? input->edges[relation].block.destination_count - input->count[relation]
               : 0;
}

bool relation_input_advance(struct relation_input *input, int64_t tile_count,
                            struct thread_pool *pool)
{
    while (input->at < input->schema->relation_count && rows_left(input, input->at) == 0)
        input->at++;
    if (input->at == input->schema->relation_count)
        return false;
    const uint32_t left = rows_left(input, input->at);
    const int64_t tiles = layer_pass_tiles(left);
    thread_pool_run(pool, tiles < tile_count ? tiles : tile_count, aggregate_tile, input);
    input->count[input->at] += tiles <= tile_count ? left : (uint32_t)(tile_count * TILE_ROWS);
    return true;
}
