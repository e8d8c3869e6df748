#include "common/nn/input_aggregation.h"

#include "common/nn/layers/layer.h"
#include "common/nn/layers/layer_pass.h"

bool input_aggregation_is_possible(const struct model *model, const struct input_rows *rows)
{
    return !rows->mostly_zero && layer_aggregates_first(&model->layer[0]);
}

enum error_code input_aggregation_begin(struct input_aggregation *out, const struct model *model,
                                        const struct message_block *block,
                                        const struct input_rows *rows, int threads,
                                        struct arena *arena, struct error *err)
{
    const uint32_t dim = model_layer_input_dim(model, 0);
    must(input_aggregation_is_possible(model, rows));
    *out = (struct input_aggregation){
        .block = *block, .rows = *rows, .dim = dim, .scratch_size = layer_pass_scratch(dim)};
    enum error_code rc =
        model->layer[0].type->weigh(&model->layer[0], block, arena, &out->aggregation, err);
    const size_t width = aggregation_width(&out->aggregation, dim);
    if (rc == ERROR_NONE)
        rc = arena_new_bytes(arena, &out->aggregated,
                             block->destination_count * precision_stride(rows->precision, width),
                             precision_bytes(rows->precision), "aggregated rows", err);
    if (rc == ERROR_NONE)
        rc = arena_new(arena, &out->scratch, (size_t)threads * out->scratch_size, "sums", err);
    return rc;
}

static void aggregate_tile(void *context, int64_t tile, int thread)
{
    const struct input_aggregation *m = context;
    const size_t width = aggregation_width(&m->aggregation, m->dim);
    const uint32_t first = m->aggregated_count + (uint32_t)(tile * TILE_ROWS);
    const uint32_t end = layer_pass_tile_end(first, m->block.destination_count);
    aggregation_forward(&m->aggregation, &m->block, &m->rows, m->dim, first, end,
                        m->scratch + (size_t)thread * m->scratch_size,
                        layer_pass_row(m->rows.precision, m->aggregated, width, first));
}

bool input_aggregation_advance(struct input_aggregation *aggregation, int64_t tile_count,
                               struct thread_pool *pool)
{
    const uint32_t left = aggregation->block.destination_count - aggregation->aggregated_count;
    const int64_t tiles = layer_pass_tiles(left);
    if (tile_count >= tiles) {
        thread_pool_run(pool, tiles, aggregate_tile, aggregation);
        aggregation->aggregated_count += left;
        return false;
    }
    thread_pool_run(pool, tile_count, aggregate_tile, aggregation);
    aggregation->aggregated_count += (uint32_t)(tile_count * TILE_ROWS);
    return true;
}
